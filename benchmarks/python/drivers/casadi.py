"""CasADi: graphs of scalars (sx) and of matrices (mx), called with buffers bound once, its quickest way; `call` binds none.

With gcc the graph's C code is compiled (-O3 -march=native). Cases whose graph of scalars has millions of nodes are taken
as matrices only; there is no derivative of a Cholesky factor of matrices.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import casadi as ca
import numpy as np
from cases import Case, Library

VERSIONS = {"casadi": ca.__version__, "numpy": np.__version__}
RECORDING, COMPILING = "sx", "sx"
LONGEST_LOOP = 1_000_000
SECOND_ORDER = ("sx", "mx")
_COMPILER = {"jit": True, "compiler": "shell", "jit_options": {"compiler": "gcc", "flags": ["-O3", "-march=native"]}}
_MATRICES_ONLY = ("logistic_large", "perceptron")
_SCALARS_ONLY = ("gaussian_process_50", "network")


def _logaddexp(a: Any, b: Any) -> Any:
    return ca.fmax(a, b) + ca.log1p(ca.exp(-ca.fabs(a - b)))


def _asarray(x: np.ndarray) -> Any:
    return ca.DM(x) if x.dtype.kind == "f" else x.tolist()


LIBRARY = Library(
    np=SimpleNamespace(
        exp=ca.exp,
        log=ca.log,
        log1p=ca.log1p,
        sin=ca.sin,
        tanh=ca.tanh,
        diag=ca.diag,
        sum=ca.sum1,
        logaddexp=_logaddexp,
        linalg=SimpleNamespace(cholesky=lambda matrix: ca.chol(matrix).T),
    ),
    array=lambda parts: ca.vertcat(*parts),
    logsumexp=ca.logsumexp,
    solve_triangular=lambda matrix, right, lower: ca.solve(matrix, right),
    asarray=_asarray,
    own=ca,
)


def variants(case: Case) -> list[tuple[str, str]]:
    if case.name == "gaussian_process_200":  # a graph of 4 million scalars
        return []
    kinds = ["mx"] if case.name in _MATRICES_ONLY else ["sx"] if case.name in _SCALARS_ONLY else ["sx", "mx"]
    form = "columns" if "columns" in case.forms else "numpy"
    return [(kind + way, form) for kind in kinds for way in ("", " call", " gcc")]


def _symbols(variant: str, n: int) -> Any:
    return (ca.MX if variant.startswith("mx") else ca.SX).sym("x", n)


def _function(variant: str, inputs: list[Any], outputs: list[Any]) -> Any:
    outputs = [ca.densify(output) for output in outputs]
    return ca.Function("f", inputs, outputs, _COMPILER if variant.endswith("gcc") else {})


def _bound(function: Any, inputs: list[np.ndarray], shapes: list[tuple[int, ...]]) -> Callable[[], list[np.ndarray]]:
    """The function with arrays bound to its arguments and results; results are in CasADi's order, by columns."""
    buffer, evaluate = function.buffer()
    inputs = [np.ascontiguousarray(x) for x in inputs]
    results = [np.zeros(shape) for shape in shapes]
    for place, x in enumerate(inputs):
        buffer.set_arg(place, memoryview(x))
    for place, result in enumerate(results):
        buffer.set_res(place, memoryview(result.reshape(-1)))
    held = function, buffer, inputs

    def call(_: Any = held) -> list[np.ndarray]:
        evaluate()
        return results

    return call


def gradient(function: Callable[[Any], Any], point: np.ndarray, variant: str) -> Callable[[], tuple[float, np.ndarray]]:
    x = _symbols(variant, point.size)
    value = function(x)
    compiled = _function(variant, [x], [value, ca.gradient(value, x)])
    if variant.endswith("call"):

        def call() -> tuple[float, np.ndarray]:
            result, slope = compiled(point)
            return float(result), slope.full().ravel()

        return call
    run = _bound(compiled, [point], [(1,), (point.size,)])

    def bound_call() -> tuple[float, np.ndarray]:
        result, slope = run()
        return result[0], slope

    return bound_call


def product(function: Callable[[Any], Any], point: np.ndarray, vector: np.ndarray, variant: str) -> Callable[[], np.ndarray]:
    x, v = _symbols(variant, point.size), _symbols(variant, point.size)
    along = ca.jtimes(ca.gradient(function(x), x), x, v)
    run = _bound(_function(variant, [x, v], [along]), [point, vector], [(point.size,)])
    return lambda: run()[0]


def hessian(function: Callable[[Any], Any], point: np.ndarray, variant: str) -> Callable[[], np.ndarray]:
    x = _symbols(variant, point.size)
    run = _bound(_function(variant, [x], [ca.hessian(function(x), x)[0]]), [point], [(point.size, point.size)])
    return lambda: run()[0]
