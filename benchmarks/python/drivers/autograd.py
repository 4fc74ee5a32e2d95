"""HIPS autograd: records NumPy at each call."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import autograd
import autograd.numpy as anp
import autograd.scipy.linalg
import autograd.scipy.special
import numpy as np
from cases import Case, Library

VERSIONS = {"autograd": version("autograd"), "numpy": np.__version__}
LIBRARY = Library(
    np=anp,
    array=anp.array,
    logsumexp=autograd.scipy.special.logsumexp,
    solve_triangular=autograd.scipy.linalg.solve_triangular,
    own=autograd,
)
RECORDING, COMPILING = "eager", None
LONGEST_LOOP = 1_000_000
SECOND_ORDER = ("eager",)


def variants(case: Case) -> list[tuple[str, str]]:
    return [("eager", "numpy")]


def gradient(function: Callable[[Any], Any], point: np.ndarray, variant: str) -> Callable[[], tuple[float, np.ndarray]]:
    transformed = autograd.value_and_grad(function)
    return lambda: transformed(point)


def product(function: Callable[[Any], Any], point: np.ndarray, vector: np.ndarray, variant: str) -> Callable[[], np.ndarray]:
    transformed = autograd.hessian_vector_product(function)
    return lambda: transformed(point, vector)


def hessian(function: Callable[[Any], Any], point: np.ndarray, variant: str) -> Callable[[], np.ndarray]:
    transformed = autograd.hessian(function)
    return lambda: transformed(point)
