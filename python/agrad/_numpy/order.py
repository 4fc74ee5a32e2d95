"""Order: sorting, quantiles, and indices, most of which are integers and so must be known when the function is recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from agrad._core import Array, pick, reduce, search
from agrad._core import sort as sort_along
from agrad._numpy.axes import axes_of, axis_of, check_plain_options, recorded, with_axes_last
from agrad._numpy.choosing import where
from agrad._record.structure import find_recording

__all__ = ["by_values", "functions", "picked"]


def _sort(a: Array, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
    x = a.ravel() if axis is None else a
    return sort_along(x, axis_of(-1 if axis is None else axis, x.ndim))[0]


def _quantile(
    a: Array,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: Any = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
) -> Any:
    check_plain_options("np.quantile", None, out)
    if weights is not None:
        raise TypeError("np.quantile: weights are given, but must be None for a recorded array")
    if find_recording(q) is not None:
        raise TypeError("np.quantile: q is recorded, but must be plain numbers")
    x, axes = with_axes_last(a, axis)
    n = x.shape[-1]
    if n == 0:
        raise ValueError(f"np.quantile: argument is of shape {a.shape}, but must have entries along the axis")
    place = np.asarray(np.quantile(np.arange(float(n)), q, method=method))  # the same weights for any sorted entries
    below = np.floor(place).astype(int)
    weight = place - below
    inputs: Any = sort_along(x, x.ndim - 1)[0]
    low, high = (np.moveaxis(inputs[..., n0], range(x.ndim - 1, x.ndim - 1 + place.ndim), range(place.ndim)) for n0 in
                 (below, np.minimum(below + 1, n - 1)))  # fmt: skip
    weight = weight.reshape(place.shape + (1,) * (x.ndim - 1))
    y = where(weight > 0, low + (high - low) * weight, low)
    y = where(np.isnan(inputs[..., -1]), np.nan, y)  # nans are sorted to the end
    if keepdims:
        y = np.reshape(y, place.shape + tuple(1 if d in axes else length for d, length in enumerate(a.shape)))
    return y


def _percentile(a: Array, q: Any, *args: Any, **kwargs: Any) -> Any:
    return _quantile(a, np.true_divide(q, 100), *args, **kwargs)


def _median(a: Array, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: bool = False) -> Any:
    return _quantile(a, 0.5, axis, out, keepdims=keepdims)


def _place_of_extreme(name: str) -> Callable[..., Any]:
    def place(a: Array, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> Any:
        check_plain_options(f"np.{name}", None, out)
        axes = axes_of(axis, a.ndim)
        x, keeps_all = (a.reshape(-1), keepdims) if axis is None else (a, False)
        found = reduce(name, x, [0] if axis is None else axes, keepdims and not keeps_all)
        places = found.recorded_values.astype(np.intp)
        if found.known_values is None:
            bool(np.all(found == places))  # a guard: another index in a later run is another path
        return places.reshape((1,) * a.ndim) if keeps_all else places[()]

    return place


def _by_values(function: Callable[..., Any], hint: str) -> Callable[..., Any]:
    """Returns a function with results of integers, for recordings that do not run again with other values."""

    def plain(x: Any) -> Any:
        if not isinstance(x, Array):
            return x
        values = x.known_values
        if values is None:
            raise TypeError(
                f"{x.recording.function}: np.{function.__name__} of a recorded array is integers that depend on the values, "
                f"but must be known when the function is recorded; {hint}"
            )
        return values

    def by_values(*args: Any, **kwargs: Any) -> Any:
        return function(*map(plain, args), **{name: plain(x) for name, x in kwargs.items()})

    return by_values


_SORT, _LOOK_UP, _CHOOSE = (
    "write np.sort, which each run computes from its own values",
    "compare with np.where, or look values up with np.interp",
    "choose between values with np.where",
)


def _search(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    """Returns integers where the values are known, else a recorded array of whole numbers, which each run computes."""
    if not any(isinstance(x, Array) and x.known_values is None for x in (a, v)):
        return _by_values(np.searchsorted, _LOOK_UP)(a, v, side, sorter)
    if sorter is not None:
        raise TypeError("np.searchsorted: sorter is given, but must be None for recorded values; sort the table itself")
    if side not in ("left", "right"):
        raise ValueError(f"np.searchsorted: side is {side!r}, but must be 'left' or 'right'")
    return search(a, v, side == "right")


def picked(table: Any, places: Array) -> Any:
    """Returns ``table[places]`` for recorded places, whole numbers that each run computes."""
    table = recorded(table, places)[0]
    row = table.shape[1:]
    width = int(np.prod(row))
    if table.shape[0] == 0 or width == 0:
        raise IndexError(f"index: array is of shape {table.shape}, but must have entries where the index is a recorded value")
    from_end = np.where(places < 0, places + table.shape[0], places)
    entries = from_end if not row else np.reshape(from_end, (-1, 1)) * width + np.arange(width)
    return np.reshape(pick(np.ravel(table), entries), (*places.shape, *row))


#: Functions whose results are integers that depend on values.
by_values: dict[Callable[..., Any], Callable[..., Any]] = {
    np.argsort: _by_values(np.argsort, _SORT),
    np.argpartition: _by_values(np.argpartition, _SORT),
    np.digitize: _by_values(np.digitize, _LOOK_UP),
    np.nonzero: _by_values(np.nonzero, _CHOOSE),
    np.flatnonzero: _by_values(np.flatnonzero, _CHOOSE),
    np.argwhere: _by_values(np.argwhere, _CHOOSE),
}
#: The functions for recorded arrays by NumPy's functions.
functions: dict[Callable[..., Any], Callable[..., Any]] = {
    np.sort: _sort,
    np.median: _median,
    np.quantile: _quantile,
    np.percentile: _percentile,
    np.argmax: _place_of_extreme("argmax"),
    np.argmin: _place_of_extreme("argmin"),
    np.searchsorted: _search,
    **by_values,
}
