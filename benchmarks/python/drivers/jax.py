"""JAX in float64 under jit. Long loops are written with `lax.scan`: unrolled ones take minutes to compile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import jax.scipy
import jaxlib
import numpy as np
from cases import Case, Library

jax.config.update("jax_enable_x64", True)

VERSIONS = {"jax": jax.__version__, "jaxlib": jaxlib.__version__, "numpy": np.__version__}
LIBRARY = Library(
    np=jnp,
    array=jnp.stack,
    logsumexp=jax.scipy.special.logsumexp,
    solve_triangular=jax.scipy.linalg.solve_triangular,
    asarray=jnp.asarray,
    own=jax,
)
RECORDING, COMPILING = "eager", "jit"
LONGEST_LOOP = 10_000  # unrolled by jit: 1000 operations take 1.4 s, 10 000 take 30
SECOND_ORDER = ("jit",)


def variants(case: Case) -> list[tuple[str, str]]:
    return [("jit", "scan" if "scan" in case.forms else "numpy")]


def gradient(function: Callable[[Any], Any], point: np.ndarray, variant: str) -> Callable[[], tuple[float, np.ndarray]]:
    transformed = jax.value_and_grad(function)
    if variant == "jit":
        transformed = jax.jit(transformed)
    else:
        point = jnp.asarray(point)

    def call() -> tuple[float, np.ndarray]:
        value, result = transformed(point)
        return float(value), np.asarray(result)

    return call


def product(function: Callable[[Any], Any], point: np.ndarray, vector: np.ndarray, variant: str) -> Callable[[], np.ndarray]:
    transformed = jax.jit(lambda x, v: jax.jvp(jax.grad(function), (x,), (v,))[1])
    return lambda: np.asarray(transformed(point, vector))


def hessian(function: Callable[[Any], Any], point: np.ndarray, variant: str) -> Callable[[], np.ndarray]:
    transformed = jax.jit(jax.hessian(function))
    return lambda: np.asarray(transformed(point))
