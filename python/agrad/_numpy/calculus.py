"""Differences, integrals, interpolation and polynomials: functions by other functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from agrad._core import Array, interpolate, scatter_add
from agrad._numpy.axes import axis_of, check_plain_options, recorded
from agrad._numpy.choosing import where
from agrad._numpy.whole_index import scattered
from agrad._record.structure import find_recording
from agrad._record.whole import read
from agrad._stan import elementwise

__all__ = ["functions"]


def _along(x: Any, axis: int, part: Any) -> Any:
    """Returns a part of an array along an axis."""
    return x[(slice(None),) * axis + (part,)]


def _diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    if n < 0:
        raise ValueError(f"np.diff: n is {n}, but must not be negative")
    axis = axis_of(axis, np.ndim(a))
    x = a.copy() if isinstance(a, Array) else a
    ends = []
    for end in (prepend, append):
        shape = [1 if d == axis else length for d, length in enumerate(x.shape)]
        ends.append([] if end is None else [np.broadcast_to(end, shape) if np.ndim(end) == 0 else end])
    if prepend is not None or append is not None:
        x = np.concatenate([*ends[0], x, *ends[1]], axis)
    for _ in range(n):
        x = _along(x, axis, slice(1, None)) - _along(x, axis, slice(None, -1))
    return x


def _ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    x = _diff(recorded(ary)[0].reshape(-1))
    return np.concatenate([np.ravel(part) for part in (to_begin, x, to_end) if part is not None])


def _slope(f: Any, spacing: Any, axis: int, edge_order: int) -> Any:
    """Computes np.gradient along an axis: second-order differences, at the ends of first or second order."""
    n = f.shape[axis]
    if n < edge_order + 1:
        raise ValueError(f"np.gradient: length of axis {axis} is {n}, but must be at least {edge_order + 1}")
    column = (-1,) + (1,) * (f.ndim - axis - 1)
    steps = np.diff(spacing) if np.ndim(spacing) == 1 else np.broadcast_to(spacing, (n - 1,))

    def at(place: Any) -> Any:
        return _along(f, axis, place)

    h = np.reshape(steps, column)
    left, right = h[:-1], h[1:]
    inner = (
        -(right / (left * (left + right))) * at(slice(None, -2))
        + ((right - left) / (left * right)) * at(slice(1, -1))
        + (left / (right * (left + right))) * at(slice(2, None))
    )
    ends = [(at(1) - at(0)) / steps[0], (at(-1) - at(-2)) / steps[-1]]
    if edge_order == 2:
        for end, (s, t, places) in enumerate([(steps[0], steps[1], (0, 1, 2)), (steps[-1], steps[-2], (-1, -2, -3))]):
            weights = -(2.0 * s + t) / (s * (s + t)), (s + t) / (s * t), -s / (t * (s + t))
            sign = 1.0 if end == 0 else -1.0
            ends[end] = sum(sign * w * at(place) for w, place in zip(weights, places, strict=True))
    return np.concatenate([np.expand_dims(ends[0], axis), inner, np.expand_dims(ends[1], axis)], axis)


def _gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    f, *_ = recorded(f, *varargs)
    axes = list(range(f.ndim)) if axis is None else [axis_of(n, f.ndim) for n in np.atleast_1d(axis)]
    spacings = varargs or (1.0,)
    if len(spacings) == 1 and np.ndim(spacings[0]) == 0:
        spacings = spacings * len(axes)
    if len(spacings) != len(axes) or edge_order not in (1, 2):
        raise TypeError(
            f"np.gradient: number of spacings is {len(spacings)}, but must be {len(axes)}; edge_order must be 1 or 2"
        )
    slopes = [_slope(f, h, n, edge_order) for h, n in zip(spacings, axes, strict=True)]
    return slopes[0] if len(slopes) == 1 else tuple(slopes)


def _trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    y = recorded(y, x if x is not None else dx)[0]
    axis = axis_of(axis, y.ndim)
    if x is None:
        steps: Any = dx
    else:
        steps = np.diff(x) if np.ndim(x) == 1 else np.diff(x, axis=axis)
        if np.ndim(x) == 1:
            steps = np.reshape(steps, (-1,) + (1,) * (y.ndim - axis - 1))
    heights = _along(y, axis, slice(1, None)) + _along(y, axis, slice(None, -1))
    return np.sum(steps * heights, axis=axis) / 2.0


def _interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    if period is not None:
        if find_recording(xp, period) is not None or not period:
            raise TypeError("np.interp: period is given, but must be None for recorded xp, else a number other than 0")
        period = abs(period)
        xp = np.asarray(xp, dtype=float) % period
        order = np.argsort(xp)
        xp = np.concatenate([xp[order[-1:]] - period, xp[order], xp[order[:1]] + period])
        fp = np.stack(recorded(fp, x)[:1])[0][np.concatenate([order[-1:], order, order[:1]])]
        return interpolate(np.stack(recorded(x, fp)[:1])[0] % period, xp, fp)
    at, points, values = recorded(x, xp, fp)
    y = interpolate(at, points, values)
    if left is not None:
        y = where(at < points[0], left, y)
    return y if right is None else where(at > points[-1], right, y)


def _polyval(p: Any, x: Any) -> Any:
    p, x = recorded(p, x)
    y = np.zeros_like(x)
    for coefficient in p:
        y = y * x + coefficient
    return y


def _vander(x: Any, N: Any = None, increasing: bool = False) -> Any:  # noqa: N803
    x = recorded(x)[0]
    if x.ndim != 1:
        raise ValueError(f"np.vander: argument is of shape {x.shape}, but must be a vector")
    count = x.size if N is None else N
    factors = np.concatenate([np.ones((x.size, min(count, 1))), np.repeat(x[:, None], max(count - 1, 0), 1)], axis=1)
    powers = np.cumprod(np.zeros_like(x[:, None]) + factors, axis=1)
    return powers if increasing else powers[:, ::-1].copy()


def _round(a: Array, decimals: int = 0, out: Any = None) -> Any:
    check_plain_options("np.round", None, out)
    if decimals == 0:
        return np.rint(a)
    scale = 10.0 ** abs(decimals)
    return np.rint(a * scale) / scale if decimals > 0 else np.rint(a / scale) * scale


def _bincount(x: Any, /, weights: Any = None, minlength: int = 0) -> Any:
    if isinstance(x, Array) and x.is_data:
        if bool(np.all((x >= 0) & (x < minlength))):  # a guard: then the length does not depend on x
            return scattered(np.zeros_like(weights, shape=(minlength,)), x, weights)
        x = read(x)
    if find_recording(x) is not None:
        raise TypeError("np.bincount: argument 0 is recorded, but must be plain whole numbers")
    x = np.asarray(x)
    length = len(np.bincount(x, minlength=minlength))
    return scatter_add(np.zeros_like(weights, shape=(length,)), weights, x)


_TRAPEZOID = {getattr(np, name): _trapezoid for name in ("trapezoid", "trapz") if name in np.__dict__}


def _polyfit(x: Any, y: Any, deg: int, rcond: Any = None, full: bool = False, w: Any = None, cov: Any = False) -> Any:
    if full or cov:
        raise TypeError("np.polyfit: full or cov is given, but must not be of recorded arrays; use np.linalg.lstsq")
    points, values = recorded(x, y)
    powers, right = np.vander(points, int(deg) + 1), values
    if w is not None:
        powers = powers * np.reshape(w, (-1, 1))
        right = right * np.reshape(w, (-1,) + (1,) * (right.ndim - 1))
    scale = np.sqrt(np.sum(powers * powers, axis=0))
    found = np.linalg.lstsq(powers / scale, right, rcond)[0]
    return found / np.reshape(scale, (-1,) + (1,) * (right.ndim - 1))


#: The functions for recorded arrays by NumPy's functions.
functions: dict[Callable[..., Any], Callable[..., Any]] = {
    np.polyfit: _polyfit,
    np.diff: _diff,
    np.ediff1d: _ediff1d,
    np.gradient: _gradient,
    **_TRAPEZOID,
    np.interp: _interp,
    np.polyval: _polyval,
    np.vander: _vander,
    np.round: _round,
    np.around: _round,
    np.fix: lambda x: np.trunc(x),
    np.bincount: _bincount,
    **{getattr(np, name): getattr(elementwise, name) for name in ("sinc", "i0")},  # NumPy functions, but no ufuncs
}
