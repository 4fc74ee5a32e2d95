"""Defines the functions of ``np.linalg`` for recorded arrays, by an operation of the program for each matrix.

The compiled part has the rules. This module adds NumPy's conventions: stacks of matrices ``(..., n, n)``, right-hand sides that
are vectors, named results, and checks of shapes with the caller's names. Functions of symmetric matrices use the symmetric part
``(a + a.T) / 2``, where NumPy reads a single triangle. ``agrad.linalg`` has further functions.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, cast

import numpy as np

from agrad._core import ShapeError
from agrad._record.foreign import stand_for_foreign
from agrad._record.matrices import apply, row
from agrad._record.structure import find_recording

__all__ = ["apply", "functions", "recorded", "row", "solve_with", "square"]

_EIGH, _SVD, _QR, _SLOGDET = (
    cast(Any, type(f(np.eye(1)))) for f in (np.linalg.eigh, np.linalg.svd, np.linalg.qr, np.linalg.slogdet)
)
_EPS = float(np.finfo(float).eps)
#: NumPy's default of an option for which None has a meaning.
_UNSET = getattr(np, "_NoValue", None)


# ---- what all functions share ----------------------------------------------------------------------------------------


def recorded(*arguments: Any) -> list[Any]:
    """Returns all arguments as arrays of the recording of the recorded arguments."""
    recording = find_recording(*arguments)
    assert recording is not None, "NumPy calls this for recorded arrays only"
    return [recording.array(x) for x in arguments]


def _fail(name: str, argument: str, x: Any, condition: str) -> NoReturn:
    raise ShapeError(f"{name}: {argument} is of shape {x.shape}, but must be {condition}")


def _refuse(name: str, option: str, value: Any, condition: str, why: str) -> NoReturn:
    raise TypeError(f"{name}: {option} is {value!r}, but must be {condition} for recorded arrays; {why}")


def _matrices(name: str, a: Any) -> Any:
    (x,) = recorded(a)
    if x.ndim < 2:
        _fail(name, "a", x, "a matrix or a stack of matrices")
    return x


def square(name: str, a: Any) -> Any:
    """Returns the argument as an array of square matrices; raises for other shapes."""
    x = _matrices(name, a)
    if x.shape[-1] != x.shape[-2]:
        _fail(name, "a", x, "of square matrices (..., n, n)")
    return x


def solve_with(name: str, run: Callable[..., tuple[Any, ...]], a: Any, b: Any, rows: int) -> Any:
    """Returns the solution of an operation on a and b; b is a vector or a stack of matrices with `rows` rows, as in NumPy 2."""
    if b.ndim == 0 or b.shape[max(b.ndim - 2, 0)] != rows:
        _fail(name, "b", b, f"a vector or matrices with {rows} rows, because a is of shape {a.shape}")
    if b.ndim > 1:
        _check_lead(name, a, b)
        return apply(run, a, b)[0]
    x = apply(run, a, np.reshape(b, (-1, 1)))[0]
    return np.reshape(x, x.shape[:-1])


def _check_lead(name: str, a: Any, b: Any) -> None:
    try:
        np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    except ValueError as error:
        text = f"{name}: arguments are of shapes {a.shape} and {b.shape}, but must be stacks that broadcast together"
        raise ShapeError(text) from error


def _scalars(y: Any) -> Any:
    return np.reshape(y, y.shape[:-2])


def _vectors(y: Any) -> Any:
    return np.reshape(y, y.shape[:-1])


def _transposed(a: Any) -> Any:
    return np.swapaxes(a, -1, -2)


# ---- equations and determinants --------------------------------------------------------------------------------------


def _solve(a: Any, b: Any) -> Any:
    a, b = recorded(a, b)
    a = square("np.linalg.solve", a)
    return solve_with("np.linalg.solve", row("solve"), a, b, a.shape[-1])


def _inv(a: Any) -> Any:
    return apply(row("inverse"), square("np.linalg.inv", a))[0]


def _det(a: Any) -> Any:
    return _scalars(apply(row("determinant"), square("np.linalg.det", a))[0])


def _slogdet(a: Any) -> Any:
    return _SLOGDET(*map(_scalars, apply(row("slogdet"), square("np.linalg.slogdet", a))))


def _cholesky(a: Any, /, *, upper: bool = False) -> Any:
    (factor,) = apply(row("cholesky"), square("np.linalg.cholesky", a))
    return _transposed(factor) if upper else factor


def _cutoff(name: str, option: str, value: Any) -> Any:
    """Returns the plain numbers, as 1 x 1 matrices, up to which times the largest singular values count as zero."""
    if find_recording(value) is not None:
        _refuse(name, option, value, "a plain number", "a rank does not change smoothly with it")
    return np.asarray(value, dtype=float)[..., np.newaxis, np.newaxis]


def _lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    """Has a recorded rank, which may change from call to call, and sums of squares as residuals also of deficient rank."""
    name = "np.linalg.lstsq"
    a, b = recorded(a, b)
    if a.ndim != 2:
        _fail(name, "a", a, "a matrix")
    if b.ndim not in (1, 2) or b.shape[0] != a.shape[0]:
        _fail(name, "b", b, f"a vector or a matrix with {a.shape[0]} rows")
    right = np.reshape(b, (b.shape[0], -1)) if b.size else np.reshape(b, (b.shape[0], *(b.shape[1:] or (1,))))
    m, n = a.shape
    cutoff = _cutoff(name, "rcond", _EPS * max(m, n) if rcond is None else rcond)
    cutoff = np.where(cutoff < 0, _EPS / 2, cutoff)  # LAPACK's machine precision
    if m >= n:
        (x,) = row("least_squares")(a, right, cutoff)
    else:
        x = row("pseudoinverse")(a.T, cutoff)[0].T @ right
    residuals = np.sum((right - a @ x) ** 2, axis=0) if m > n else a.recording.array(np.zeros(0))
    s = _svdvals(a)
    rank = np.sum(s > float(np.squeeze(cutoff)) * s[0]) if s.size else 0
    return np.reshape(x, (n, *b.shape[1:])), residuals, rank, s


def _pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = _UNSET) -> Any:
    name = "np.linalg.pinv"
    if rcond is not None and rtol is not _UNSET:
        raise ValueError(f"{name}: rcond and rtol are given, but must not be given both; rtol is the newer name")
    a = _matrices(name, a)
    if rcond is None:
        rcond = 1e-15 if rtol is _UNSET else _EPS * max(a.shape[-2:]) if rtol is None else rtol
    cutoff = a.recording.array(_cutoff(name, "rcond", rcond))
    if a.shape[-2] >= a.shape[-1]:
        return apply(row("pseudoinverse"), a, cutoff)[0]
    return _transposed(apply(row("pseudoinverse"), _transposed(a), cutoff)[0])


# ---- decompositions --------------------------------------------------------------------------------------------------


def _check_triangle(name: str, triangle: Any) -> None:
    if str(triangle).upper() not in ("L", "U"):
        raise ValueError(f"{name}: UPLO is {triangle!r}, but must be 'L' or 'U'")


def _eigh(a: Any, UPLO: str = "L") -> Any:  # noqa: N803
    _check_triangle("np.linalg.eigh", UPLO)
    values, vectors = apply(row("symmetric_eigen"), square("np.linalg.eigh", a))
    return _EIGH(_vectors(values), vectors)


def _eigvalsh(a: Any, UPLO: str = "L") -> Any:  # noqa: N803
    _check_triangle("np.linalg.eigvalsh", UPLO)
    return _vectors(apply(row("symmetric_eigenvalues"), square("np.linalg.eigvalsh", a))[0])


def _svdvals(a: Any, /) -> Any:
    return _vectors(apply(row("singular_values"), _matrices("np.linalg.svd", a))[0])


def _svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    if not compute_uv:
        return _svdvals(a)
    a = _matrices("np.linalg.svd", a)
    if full_matrices and a.shape[-1] != a.shape[-2]:
        why = "the vectors that complete a basis have no derivatives"
        _refuse("np.linalg.svd", "full_matrices", True, "False", why)
    u, s, v = apply(row("svd"), a)
    return _SVD(u, _vectors(s), _transposed(v))


def _qr(a: Any, mode: str = "reduced") -> Any:
    a = _matrices("np.linalg.qr", a)
    m, n = a.shape[-2:]
    if mode not in ("reduced", "r") and not (mode == "complete" and m <= n):
        _refuse("np.linalg.qr", "mode", mode, "'reduced' or 'r'", "the columns that complete a basis have no derivatives")
    q, r = apply(row("qr", 1), a[..., :m] if m < n else a)
    if m < n:
        r = np.concatenate([r, _transposed(q) @ a[..., m:]], axis=-1)
    return r if mode == "r" else _QR(q, r)


# ---- norms -----------------------------------------------------------------------------------------------------------


def _root(s: Any, p: float = 2.0) -> Any:
    """Computes the root s ** (1 / p) of a sum of powers; where all terms are 0, the norm's gradient is 0, a subgradient."""
    return np.sqrt(s) if p == 2 else s ** (1 / p)


def _vector_norm(x: Any, p: Any, axes: Any, keepdims: bool) -> Any:
    if p is None or p == 2:
        return _root(np.sum(x * x, axis=axes, keepdims=keepdims))
    if p == np.inf:
        return np.max(np.abs(x), axis=axes, keepdims=keepdims)
    if p == -np.inf:
        return np.min(np.abs(x), axis=axes, keepdims=keepdims)
    if p == 1:
        return np.sum(np.abs(x), axis=axes, keepdims=keepdims)
    if isinstance(p, str) or p == 0:
        condition = "a number other than 0"
        _refuse("np.linalg.norm", "ord", p, condition, "the others are no norms of vectors or have no derivatives")
    return _root(np.sum(np.abs(x) ** float(p), axis=axes, keepdims=keepdims), float(p))


def _matrix_norm(x: Any, p: Any, axes: tuple[int, int], keepdims: bool) -> Any:
    rows, columns = axes
    if p is None or p == "fro":
        return _root(np.sum(x * x, axis=axes, keepdims=keepdims))
    if p in (1, -1, np.inf, -np.inf):
        over, left = (rows, columns) if abs(p) == 1 else (columns, rows)
        sums = np.sum(np.abs(x), axis=over, keepdims=True)
        y = (np.max if p > 0 else np.min)(sums, axis=left, keepdims=True)
    elif p in (2, -2, "nuc"):
        s = _svdvals(np.moveaxis(x, axes, (-2, -1)))
        y = np.sum(s, axis=-1) if p == "nuc" else s[..., 0 if p == 2 else -1]
        return np.expand_dims(y, sorted(n % x.ndim for n in axes)) if keepdims else y
    else:
        raise ValueError(f"np.linalg.norm: ord is {p!r}, but must be 'fro', 'nuc', 1, -1, 2, -2, inf or -inf for matrices")
    return y if keepdims else np.squeeze(y, axis=axes)


def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    (x,) = recorded(x)
    if x.size == 0:
        with np.errstate(divide="ignore"):
            return x.recording.array(np.linalg.norm(np.zeros(x.shape), ord, axis, keepdims))
    if axis is None and ord is None:
        y = _vector_norm(np.ravel(x), None, None, False)
        return np.reshape(y, (1,) * x.ndim) if keepdims else y
    axes = tuple(range(x.ndim)) if axis is None else (axis if isinstance(axis, tuple) else (operator.index(axis),))
    np.empty((1,) * x.ndim).sum(axes)  # raises NumPy's own error for wrong axes
    if len(axes) not in (1, 2):
        raise ValueError(
            f"np.linalg.norm: axis is {axis!r} of {x.ndim}, but must be one or two; write np.ravel(x) for a vector"
        )
    return (_vector_norm(x, ord, axes[0], keepdims)) if len(axes) == 1 else _matrix_norm(x, ord, (axes[0], axes[1]), keepdims)


def _all_axes_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    (x,) = recorded(x)
    if axis is not None and not isinstance(axis, tuple):
        return _norm(x, ord, axis, keepdims)
    axes = tuple(range(x.ndim)) if axis is None else tuple(n % x.ndim for n in axis)
    remaining = [n for n in range(x.ndim) if n not in axes]
    lines = np.reshape(np.transpose(x, [*remaining, *axes]), [*(x.shape[n] for n in remaining), -1])
    y = _vector_norm(lines, ord, -1, False)
    return np.reshape(y, [1 if n in axes else x.shape[n] for n in range(x.ndim)]) if keepdims else y


def _cond(x: Any, p: Any = None) -> Any:
    (x,) = recorded(x)
    if x.size == 0:
        np.linalg.cond(np.zeros(x.shape), p)  # raises NumPy's own error
    if p in (None, 2, -2):
        s = _svdvals(_matrices("np.linalg.cond", x))
        return s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]
    x = square("np.linalg.cond", x)
    return _norm(x, p, (-2, -1)) * _norm(_inv(x), p, (-2, -1))


# ---- products --------------------------------------------------------------------------------------------------------


def _matrix_power(a: Any, n: Any) -> Any:
    x = square("np.linalg.matrix_power", a)
    power = operator.index(n)
    if power == 0:
        return x.recording.array(np.broadcast_to(np.eye(x.shape[-1]), x.shape).copy())
    x, power = (x, power) if power > 0 else (_inv(x), -power)
    result = None
    while power:
        if power & 1:
            result = x if result is None else np.matmul(result, x)
        power >>= 1
        x = np.matmul(x, x) if power else x
    return result


def _cheapest(sizes: Sequence[int]) -> dict[tuple[int, int], int]:
    """Returns where to split the product of matrices i to j, by dynamic programming over the numbers of multiplications."""
    n = len(sizes) - 1
    cost = {(i, i): 0 for i in range(n)}
    split: dict[tuple[int, int], int] = {}
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            costs = {k: cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1] for k in range(i, j)}
            split[i, j] = min(costs, key=costs.__getitem__)
            cost[i, j] = costs[split[i, j]]
    return split


def _multi_dot(arrays: Sequence[Any], *, out: Any = None) -> Any:
    if out is not None:
        _refuse("np.linalg.multi_dot", "out", out, "None", "use the function's result")
    x = recorded(*arrays)
    inner = [n for n in (0, len(x) - 1) if x[n].ndim == 1]
    if len(x) < 2 or any(each.ndim != 2 and not (each.ndim == 1 and n in inner) for n, each in enumerate(x)):
        raise ShapeError(
            f"np.linalg.multi_dot: arrays are of shapes {[each.shape for each in x]}, but must be two matrices or more, "
            "the first and the last of which may be vectors"
        )
    sizes = [
        1 if x[0].ndim == 1 else x[0].shape[0],
        *(each.shape[0] for each in x[1:]),
        1 if x[-1].ndim == 1 else x[-1].shape[1],
    ]
    split = _cheapest(sizes)

    def product(i: int, j: int) -> Any:
        return x[i] if i == j else np.matmul(product(i, split[i, j]), product(split[i, j] + 1, j))

    return product(0, len(x) - 1)


#: The functions for recorded arrays by NumPy's functions.
functions: dict[Callable[..., Any], Callable[..., Any]] = {
    np.linalg.solve: _solve,
    np.linalg.inv: _inv,
    np.linalg.det: _det,
    np.linalg.slogdet: _slogdet,
    np.linalg.cholesky: _cholesky,
    np.linalg.lstsq: _lstsq,
    np.linalg.pinv: _pinv,
    np.linalg.eigh: _eigh,
    np.linalg.eigvalsh: _eigvalsh,
    np.linalg.svd: _svd,
    np.linalg.qr: _qr,
    np.linalg.norm: _norm,
    np.linalg.cond: _cond,
    np.linalg.matrix_power: _matrix_power,
    np.linalg.multi_dot: _multi_dot,
    np.linalg.svdvals: _svdvals,
    np.linalg.vector_norm: _all_axes_norm,
    np.linalg.matrix_norm: lambda x, /, *, keepdims=False, ord="fro": _norm(x, ord, (-2, -1), keepdims),
    np.linalg.matrix_transpose: lambda x, /: _transposed(_matrices("np.linalg.matrix_transpose", x)),
    np.linalg.matmul: lambda x1, x2, /: np.matmul(x1, x2),
    np.linalg.vecdot: lambda x1, x2, /, *, axis=-1: np.sum(np.multiply(x1, x2), axis=axis),
    np.linalg.outer: lambda x1, x2, /: np.outer(x1, x2),
    np.linalg.cross: lambda x1, x2, /, *, axis=-1: np.cross(x1, x2, axis=axis),
    np.linalg.tensordot: lambda x1, x2, /, *, axes=2: np.tensordot(x1, x2, axes),
    np.linalg.diagonal: lambda x, /, *, offset=0: np.diagonal(x, offset, -2, -1),
    np.linalg.trace: lambda x, /, *, offset=0, dtype=None: np.trace(x, offset, -2, -1, dtype),
}
stand_for_foreign("np.linalg", [each.__name__ for each in functions if getattr(np.linalg, each.__name__, None) is each])
