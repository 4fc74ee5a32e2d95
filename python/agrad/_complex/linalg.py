"""Defines functions of ``np.linalg`` for complex recorded matrices.

A complex matrix Z = A + i B is the real one [[A, -B], [B, A]] of twice the size: its solutions, inverse and pseudoinverse are
those of Z, and its determinant is |det Z|^2. So solves, inverses and logarithms of determinants have the operations and errors
of real matrices, whose pivots count rows of real parts before those of imaginary parts. The determinant itself is an operation
of its own, which is analytic at singular matrices, too.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from agrad._complex.array import ComplexArray, Pair, complex_array, full_pair, recording_of
from agrad._complex.ufuncs import power_of
from agrad._core import ShapeError
from agrad._record.matrices import apply, row

__all__ = ["functions"]

_SLOGDET = cast(Any, type(np.linalg.slogdet(np.eye(1))))


def _parts(recording: Any, a: Any) -> list[Any]:
    """Returns the real and the imaginary parts, recorded."""
    if isinstance(a, (list, tuple)):
        a = np.stack(a)
    return [recording.array(part) for part in full_pair(a)]


def _matrices(name: str, a: Any, square: bool = True) -> list[Any]:
    parts = _parts(recording_of(a), a)
    shape = parts[0].shape
    if len(shape) < 2 or (square and shape[-1] != shape[-2]):
        condition = "of square matrices (..., n, n)" if square else "a matrix or a stack of matrices"
        raise ShapeError(f"np.linalg.{name}: a is of shape {shape}, but must be {condition}")
    return parts


def _block(re: Any, im: Any) -> Any:
    """Returns [[A, -B], [B, A]]."""
    rows = np.concatenate([re, -im], axis=-1), np.concatenate([im, re], axis=-1)
    return np.concatenate(rows, axis=-2)


def _upper_and_lower(y: Any, rows: int, axis: int = -2) -> ComplexArray:
    upper, lower = np.split(y, [rows], axis=axis)
    return ComplexArray(upper.copy(), lower.copy())


def _solve(a: Any, b: Any) -> ComplexArray:
    recording = recording_of(a, b)
    re, im = _parts(recording, a)
    n = re.shape[-1] if re.ndim else 0
    if re.ndim < 2 or re.shape[-2] != n:
        raise ShapeError(f"np.linalg.solve: a is of shape {re.shape}, but must be of square matrices (..., n, n)")
    right = _parts(recording, b)
    axis = -1 if right[0].ndim == 1 else -2
    if right[0].ndim == 0 or right[0].shape[axis] != n:
        raise ShapeError(
            f"np.linalg.solve: b is of shape {right[0].shape}, but must be a vector or matrices with {n} rows, because a is "
            f"of shape {re.shape}"
        )
    return _upper_and_lower(np.linalg.solve(_block(re, im), np.concatenate(right, axis=axis)), n, axis)


def _inv(a: Any) -> ComplexArray:
    re, im = _matrices("inv", a)
    n = re.shape[-1]
    return _upper_and_lower(np.linalg.inv(_block(re, im))[..., :n], n)


def _pinv(a: Any, *options: Any, **named: Any) -> ComplexArray:
    re, im = _matrices("pinv", a, square=False)
    m, n = re.shape[-2:]
    if "rtol" in named and named["rtol"] is None:
        named["rtol"] = float(np.finfo(float).eps) * max(m, n)  # of this matrix, not of the one of twice the size
    return _upper_and_lower(np.linalg.pinv(_block(re, im), *options, **named)[..., :m], n)


def _det(a: Any) -> ComplexArray:
    parts = _matrices("det", a)
    (y,) = apply(row("complex_determinant"), np.concatenate(parts, axis=-1))
    return ComplexArray(y[..., 0, 0].copy(), y[..., 0, 1].copy())


def _slogdet(a: Any) -> Any:
    """Has the sign of a matrix that is divided by the n-th root of |det a|, whose determinant does not over- or underflow."""
    re, im = _matrices("slogdet", a)
    n = max(re.shape[-1], 1)
    log = 0.5 * np.linalg.slogdet(_block(re, im)).logabsdet
    scale = np.exp(np.where(np.isfinite(log), log, 0.0) / -n)[..., np.newaxis, np.newaxis]
    det = _det(ComplexArray(re * scale, im * scale))
    return _SLOGDET(det / np.where(np.isfinite(log), np.abs(det), 1.0), log)


def _matrix_power(a: Any, n: Any) -> ComplexArray:
    parts = _matrices("matrix_power", a)
    power = operator.index(n)
    if power == 0:
        return complex_array(recording_of(a), Pair(np.eye(parts[0].shape[-1]), None), parts[0].shape)
    base = ComplexArray(*parts) if power > 0 else _inv(a)
    return cast(ComplexArray, power_of(base, abs(power), np.matmul))


#: NumPy's function -> the same for complex recorded arrays.
functions: dict[Callable[..., Any], Callable[..., Any]] = {
    np.linalg.solve: _solve,
    np.linalg.inv: _inv,
    np.linalg.pinv: _pinv,
    np.linalg.det: _det,
    np.linalg.slogdet: _slogdet,
    np.linalg.matrix_power: _matrix_power,
}
