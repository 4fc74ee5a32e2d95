"""Functions of time from data: polygons, steps and cubic curves through points."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from agrad._core import Array
from agrad._numpy.order import picked
from agrad._record.structure import find_recording

__all__ = ["interpolate"]

#: The least number of points of each kind.
_LEAST = {"linear": 1, "previous": 1, "next": 1, "cubic": 4, "pchip": 3}


def interpolate(times: Any, values: Any, kind: str = "linear") -> Callable[[Any], Any]:
    """Returns a function of time through data, for the right-hand side of a differential equation.

    Steps of `solve_ivp` end where the function jumps or where a piece begins (for ``"linear"`` at the features of plain data),
    so no pulse is passed over. The function's values are differentiable with respect to time, `values` and `times`.

    Parameters
    ----------
    times : array_like, shape (n,)
        Increasing and finite; plain or recorded.
    values : array_like, shape (n,)
        The values at these times; plain or recorded.
    kind : {"linear", "previous", "next", "cubic", "pchip"}
        Straight pieces; the value of the last or of the next time (at a time its own value); a cubic spline with two
        continuous derivatives (not-a-knot, n >= 4); monotone cubic pieces with one (Fritsch and Butland, n >= 3).

    Returns
    -------
    callable
        ``u(t)`` for a number or an array t. Before the first and after the last time it is the value there.

    Raises
    ------
    ValueError
        For an unknown kind, shapes that differ, too few points, and plain times that do not increase.

    Notes
    -----
    A lookup takes O(log n). ``"cubic"`` solves a dense system of n equations once. The pitfall: with ``"previous"`` the data
    jump, so a derivative with respect to `times` needs a solve, where the stop moves; that of ``u(t)`` at a plain t is zero.

    Examples
    --------
    >>> import agrad as ag
    >>> heating = ag.interpolate([0.0, 6.0, 22.0], [15.0, 20.0, 15.0], kind="previous")
    >>> float(heating(7.5))
    20.0
    """
    if kind not in _LEAST:
        raise ValueError(f"interpolate: kind is {kind!r}, but must be one of {', '.join(map(repr, _LEAST))}")
    times, values = (x if isinstance(x, Array) else _vector(x) for x in (times, values))
    if np.ndim(times) != 1 or np.shape(times) != np.shape(values) or np.size(times) < _LEAST[kind]:
        raise ValueError(
            f"interpolate: times and values are of shapes {np.shape(times)} and {np.shape(values)}, but must be vectors of the "
            f"same length, at least {_LEAST[kind]} for kind={kind!r}"
        )
    if not isinstance(times, Array) and not (np.all(np.isfinite(times)) and np.all(np.diff(times) > 0)):
        raise ValueError("interpolate: times are not finite or do not increase, but must; sort them and drop repeats")
    if kind == "linear":
        return lambda t: np.interp(t, times, values)
    if kind == "previous":
        before = np.concatenate([values[:1], values])
        return lambda t: _entries(before, np.searchsorted(times, t, side="right"))
    if kind == "next":
        after = np.concatenate([values, values[-1:]])
        return lambda t: _entries(after, np.searchsorted(times, t))
    return _cubic(times, values, _spline_slopes(times, values) if kind == "cubic" else _monotone_slopes(times, values))


def _vector(x: Any) -> Any:
    return np.stack(list(x)) if find_recording(x) is not None else np.asarray(x, dtype=float)


def _entries(table: Any, places: Any) -> Any:
    return picked(table, places) if isinstance(places, Array) else table[places]


def _cubic(times: Any, values: Any, slopes: Any) -> Callable[[Any], Any]:
    """Returns the cubic pieces with these values and slopes."""
    h = np.diff(times)
    secants = np.diff(values) / h
    bends = (3.0 * secants - 2.0 * slopes[:-1] - slopes[1:]) / h
    twists = (slopes[:-1] + slopes[1:] - 2.0 * secants) / h**2
    inner, first, last = times[1:-1], times[0], times[-1]

    def at(t: Any) -> Any:
        j = np.searchsorted(inner, t, side="right")
        y, s, b, c, begin = (_entries(x, j) for x in (values[:-1], slopes[:-1], bends, twists, times[:-1]))
        away = np.minimum(np.maximum(t, first), last) - begin
        return y + away * (s + away * (b + away * c))

    return at


def _spline_slopes(times: Any, values: Any) -> Any:
    """Returns the slopes for which second derivatives are continuous, and third ones at the first and last inner point."""
    h = np.diff(times)
    secants, n = np.diff(values) / h, np.size(times)
    left, right = times[2] - times[0], times[-1] - times[-3]
    zeros = np.zeros(n - 2)
    rows = [np.concatenate([np.stack([h[1], left]), zeros])]
    for i in range(1, n - 1):
        inner = np.stack([h[i], 2.0 * (h[i - 1] + h[i]), h[i - 1]])
        rows.append(np.concatenate([zeros[: i - 1], inner, zeros[: n - i - 2]]))
    rows.append(np.concatenate([zeros, np.stack([right, h[-2]])]))
    first = ((h[0] + 2.0 * left) * h[1] * secants[0] + h[0] ** 2 * secants[1]) / left
    last = (h[-1] ** 2 * secants[-2] + (2.0 * right + h[-1]) * h[-2] * secants[-1]) / right
    inner = 3.0 * (h[1:] * secants[:-1] + h[:-1] * secants[1:])
    return np.linalg.solve(np.stack(rows), np.concatenate([np.stack([first]), inner, np.stack([last])]))


def _monotone_slopes(times: Any, values: Any) -> Any:
    """Returns the slopes of Fritsch and Butland: weighted harmonic means of secants, zero where these differ in sign."""
    h = np.diff(times)
    m = np.diff(values) / h
    u, v = 2.0 * h[1:] + h[:-1], h[1:] + 2.0 * h[:-1]
    agree = m[:-1] * m[1:] > 0.0
    inner = np.where(agree, (u + v) * m[:-1] * m[1:] / np.where(agree, u * m[1:] + v * m[:-1], 1.0), 0.0)
    ends = [_end_slope(h[0], h[1], m[0], m[1]), _end_slope(h[-1], h[-2], m[-1], m[-2])]
    return np.concatenate([np.stack(ends[:1]), inner, np.stack(ends[1:])])


def _end_slope(h0: Any, h1: Any, m0: Any, m1: Any) -> Any:
    slope = ((2.0 * h0 + h1) * m0 - h0 * m1) / (h0 + h1)
    steep = (np.sign(m0) != np.sign(m1)) & (np.abs(slope) > 3.0 * np.abs(m0))
    return np.where(np.sign(slope) != np.sign(m0), 0.0, np.where(steep, 3.0 * m0, slope))
