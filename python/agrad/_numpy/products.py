"""Products of arrays: functions by products of matrices and outer products."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from agrad._core import Array, matmul
from agrad._numpy.axes import check_plain_options, recorded

__all__ = ["functions"]


def _dot(a: Any, b: Any, out: Any = None) -> Any:
    check_plain_options("np.dot", None, out)
    x, y = recorded(a, b)
    if x.ndim == 0 or y.ndim == 0:
        return x * y
    return matmul(x, y) if y.ndim <= 2 else np.tensordot(x, y, (-1, -2))


def _inner(a: Any, b: Any) -> Any:
    x, y = recorded(a, b)
    return x * y if x.ndim == 0 or y.ndim == 0 else np.tensordot(x, y, (-1, -1))


def _vdot(a: Any, b: Any) -> Any:
    return matmul(*(x.reshape(-1) for x in recorded(a, b)))


def _outer(a: Any, b: Any, out: Any = None) -> Any:
    check_plain_options("np.outer", None, out)
    x, y = recorded(a, b)
    return x.reshape(-1, 1) * y.reshape(1, -1)


def _tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    x, y = recorded(a, b)
    over: Any
    if isinstance(axes, (int, np.integer)):
        over = list(range(x.ndim - axes, x.ndim)), list(range(axes))
    else:
        over = tuple(list(np.atleast_1d(part)) for part in axes)
    summed = [[n % z.ndim for n in part] for z, part in zip((x, y), over, strict=True)]
    lengths = [[z.shape[n] for n in part] for z, part in zip((x, y), summed, strict=True)]
    if lengths[0] != lengths[1]:
        raise ValueError(f"np.tensordot: lengths of the axes summed over are {lengths[0]} and {lengths[1]}, but must be equal")
    remaining = [[n for n in range(z.ndim) if n not in part] for z, part in zip((x, y), summed, strict=True)]
    shape = tuple(x.shape[n] for n in remaining[0]) + tuple(y.shape[n] for n in remaining[1])
    count = math.prod(lengths[0])
    rows, columns = (math.prod(z.shape[n] for n in part) for z, part in zip((x, y), remaining, strict=True))
    left = np.transpose(x, [*remaining[0], *summed[0]]).reshape(rows, count)
    right = np.transpose(y, [*summed[1], *remaining[1]]).reshape(count, columns)
    return matmul(left, right).reshape(shape).copy()


def _kron(a: Any, b: Any) -> Any:
    x, y = recorded(a, b)
    ndim = max(x.ndim, y.ndim)
    x, y = (z.reshape((1,) * (ndim - z.ndim) + z.shape) for z in (x, y))
    shape = tuple(m * n for m, n in zip(x.shape, y.shape, strict=True))
    product = np.expand_dims(x, tuple(range(1, 2 * ndim, 2))) * np.expand_dims(y, tuple(range(0, 2 * ndim, 2)))
    return product.reshape(shape).copy()


def _cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: Any = None) -> Any:
    x, y = recorded(a, b)
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = np.moveaxis(x, axisa, -1), np.moveaxis(y, axisb, -1)
    if x.shape[-1] != 3 or y.shape[-1] != 3:
        raise ValueError(f"np.cross: lengths of the vectors are {x.shape[-1]} and {y.shape[-1]}, but must be 3")
    after, before = [1, 2, 0], [2, 0, 1]
    z = x[..., after] * y[..., before] - x[..., before] * y[..., after]
    return z if z.ndim == 1 else np.moveaxis(z, -1, axisc)


def _trace(a: Array, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None) -> Any:
    check_plain_options("np.trace", dtype, out)
    return np.sum(np.diagonal(a, offset, axis1, axis2), axis=-1)


def _convolve(a: Any, v: Any, mode: str = "full") -> Any:
    x, y = np.atleast_1d(*recorded(a, v))
    if x.ndim != 1 or y.ndim != 1 or x.size == 0 or y.size == 0:
        raise ValueError(
            f"np.convolve: arguments are of shapes {x.shape} and {y.shape}, but must be vectors that are not empty"
        )
    if y.size > x.size:
        x, y = y, x
    n, m = x.size, y.size
    places = {"full": slice(None), "same": slice((m - 1) // 2, (m - 1) // 2 + n), "valid": slice(m - 1, n)}
    if mode not in places:
        raise ValueError(f"np.convolve: mode is {mode!r}, but must be 'full', 'same' or 'valid'")
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(x, m - 1), m)
    return matmul(windows[places[mode]], y[::-1])


def _correlate(a: Any, v: Any, mode: str = "valid") -> Any:
    x, y = np.atleast_1d(*recorded(a, v))
    if y.size > x.size:
        return _correlate(y, x, mode)[::-1].copy()
    return _convolve(x, y[::-1], mode)


def _cov(
    m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: Any = None, fweights: Any = None, aweights: Any = None
) -> Any:
    if fweights is not None or aweights is not None:
        raise TypeError("np.cov: fweights and aweights are given, but must be None for recorded arrays")
    parts = [np.atleast_2d(x) for x in (recorded(m) if y is None else recorded(m, y))]
    x = np.concatenate([part if rowvar or part.shape[0] == 1 else part.T for part in parts])
    deviation = x - np.mean(x, axis=1, keepdims=True)
    freedom = x.shape[1] - ((0 if bias else 1) if ddof is None else ddof)
    return np.squeeze(matmul(deviation, deviation.T) / float(freedom))


def _corrcoef(x: Any, y: Any = None, rowvar: bool = True) -> Any:
    c = _cov(x, y, rowvar)
    if c.ndim == 0:
        return c / c
    deviations = np.sqrt(np.diagonal(c))
    return np.clip(c / deviations[:, None] / deviations[None, :], -1, 1)


#: The functions for recorded arrays by NumPy's functions.
functions: dict[Callable[..., Any], Callable[..., Any]] = {
    np.dot: _dot,
    np.inner: _inner,
    np.vdot: _vdot,
    np.outer: _outer,
    np.tensordot: _tensordot,
    np.kron: _kron,
    np.cross: _cross,
    np.trace: _trace,
    np.convolve: _convolve,
    np.correlate: _correlate,
    np.cov: _cov,
    np.corrcoef: _corrcoef,
}
