"""agrad: compiled (recorded at the first call), plain (recorded at each call), and bound (compiled, its buffers bound once).

The form `density` has agrad's fused densities where a case has them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg
from cases import Case, Library

import agrad as ag

VERSIONS = {"agrad": ag.__version__, "numpy": np.__version__}
RECORDING, COMPILING = "plain", "compiled"
LONGEST_LOOP = 1_000_000
SECOND_ORDER = ("compiled", "plain")


def _logsumexp(x: Any, axis: int) -> Any:
    """SciPy's function where agrad has none: by pairs."""
    parts = [np.take(x, k, axis=axis) for k in range(x.shape[axis])]
    return functools.reduce(np.logaddexp, parts)


_linalg, _special = getattr(ag, "linalg", None), getattr(ag, "special", None)
LIBRARY = Library(
    np=np,
    array=ag.array,
    logsumexp=getattr(_special, "logsumexp", _logsumexp),
    solve_triangular=getattr(_linalg, "solve_triangular", scipy.linalg.solve_triangular),
    own=ag,
)
_CAN_BIND = hasattr(ag.compile(ag.value_and_grad(np.sum)), "bind")


def variants(case: Case) -> list[tuple[str, str]]:
    names = ["compiled", "bound", "plain"] if _CAN_BIND else ["compiled", "plain"]
    return [(name, form) for form in ("numpy", "density") if form in case.forms for name in names]


def gradient(function: Callable[[Any], Any], point: np.ndarray, variant: str) -> Callable[[], tuple[float, np.ndarray]]:
    transformed = ag.value_and_grad(function)
    if variant == "plain":
        return lambda: transformed(point)
    compiled = ag.compile(transformed)
    return compiled.bind(point) if variant == "bound" else lambda: compiled(point)


def product(function: Callable[[Any], Any], point: np.ndarray, vector: np.ndarray, variant: str) -> Callable[[], np.ndarray]:
    transformed = ag.hvp(function)
    chosen = transformed if variant == "plain" else ag.compile(transformed)
    return lambda: chosen(point, vector)


def hessian(function: Callable[[Any], Any], point: np.ndarray, variant: str) -> Callable[[], np.ndarray]:
    transformed = ag.hessian(function)
    chosen = transformed if variant == "plain" else ag.compile(transformed)
    return lambda: chosen(point)
