"""Reductions and cumulative functions along axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from agrad._core import Array, cumulate, reduce
from agrad._numpy.axes import axes_of, axis_of, check_plain_options, recorded
from agrad._numpy.choosing import where as choose

__all__ = ["functions", "reducers"]


def _sum(
    a: Array,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Any:
    if dtype is not None or out is not None:
        check_plain_options("np.sum", dtype, out)
    if where is not None:
        a = choose(where, a, 0.0)
    y = reduce("sum_along", a, axes_of(axis, a.ndim), keepdims)
    return y if initial is None else y + initial


def _prod(
    a: Array,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Any:
    check_plain_options("np.prod", dtype, out)
    if where is not None:
        a = choose(where, a, 1.0)
    y = reduce("product_along", a, axes_of(axis, a.ndim), keepdims)
    return y if initial is None else y * initial


def _extreme(name: str, of_two: Callable[..., Any]) -> Callable[..., Any]:
    def extreme(
        a: Array, axis: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = None
    ) -> Any:
        check_plain_options(f"np.{name}", None, out)
        if where is not None:
            if initial is None:
                raise ValueError(f"np.{name}: initial is None, but must be a number where `where` leaves entries out")
            a = choose(where, a, initial)
        axes = axes_of(axis, a.ndim)
        if initial is not None and any(a.shape[n] == 0 for n in axes):
            shape = _sum(a, axis, keepdims=keepdims).shape
            return a.recording.array(np.broadcast_to(initial, shape))
        y = reduce(name, a, axes, keepdims)
        return y if initial is None else of_two(y, initial)

    return extreme


_max, _min = _extreme("max", np.maximum), _extreme("min", np.minimum)


def _ptp(a: Array, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    return _max(a, axis, out, keepdims) - _min(a, axis, out, keepdims)


def _count(a: Array, axis: Any, where: Any, keepdims: bool) -> Any:
    """Returns the number of entries in each average: a number, or an array where a mask leaves entries out."""
    if where is None:
        return float(np.prod([a.shape[n] for n in axes_of(axis, a.ndim)]))
    return np.sum(np.broadcast_to(where, a.shape), axis=axis, keepdims=keepdims) * 1.0


def _mean(a: Array, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = None) -> Any:
    return _sum(a, axis, dtype, out, keepdims, where=where) / _count(a, axis, where, keepdims)


def _var(
    a: Array,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: Any = None,
    mean: Any = None,
    correction: float | None = None,
) -> Any:
    check_plain_options("np.var", dtype, out)
    deviation = a - (_mean(a, axis, keepdims=True, where=where) if mean is None else mean)
    freedom = _count(a, axis, where, keepdims) - (ddof if correction is None else correction)
    return _sum(deviation * deviation, axis, keepdims=keepdims, where=where) / freedom


def _std(*args: Any, **kwargs: Any) -> Any:
    return np.sqrt(_var(*args, **kwargs))


def _average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: bool = False) -> Any:
    if weights is None:
        x = recorded(a)[0]
        mean, total = _mean(x, axis, keepdims=keepdims), _count(x, axis, None, keepdims)
    else:
        x, w = recorded(a, weights)
        if w.shape != x.shape:
            if w.ndim != 1 or axis is None or w.size != x.shape[axis]:
                raise ValueError(
                    f"np.average: weights is of shape {w.shape}, but must be of the shape of a, {x.shape}, or a vector of the "
                    "length of one axis that is given"
                )
            w = np.expand_dims(w, [n for n in range(x.ndim) if n != axis_of(axis, x.ndim)])
            w = recorded(np.broadcast_to(w, x.shape))[0]
        total = _sum(w, axis, keepdims=keepdims)
        mean = _sum(x * w, axis, keepdims=keepdims) / total
    return (mean, np.broadcast_to(total, mean.shape)) if returned else mean


def _of_truths(name: str, plain: Callable[..., Any]) -> Callable[..., Any]:
    def of_truths(a: Array, axis: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = None) -> Any:
        check_plain_options(f"np.{plain.__name__}", None, out)
        truths: Any = a if a.is_condition else np.not_equal(a, 0.0)
        if where is not None:
            truths = choose(where, truths, name == "min")
        if a.size == 0:
            return plain(np.zeros(a.shape, bool), axis=axis, keepdims=keepdims)
        return reduce(name, truths, axes_of(axis, a.ndim), keepdims)

    return of_truths


_any, _all = _of_truths("max", np.any), _of_truths("min", np.all)


def _count_nonzero(a: Array, axis: Any = None, *, keepdims: bool = False) -> Any:
    nonzero: Any = np.not_equal(a, 0.0)
    return _sum(nonzero, axis, keepdims=keepdims)


def _cumulative(name: str, kernel: str) -> Callable[..., Any]:
    def cumulative(a: Array, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        check_plain_options(f"np.{name}", dtype, out)
        x = a.ravel() if axis is None else a
        return cumulate(kernel, x, axis_of(0 if axis is None else axis, x.ndim))

    return cumulative


_cumsum, _cumprod = _cumulative("cumsum", "cumulative_sum"), _cumulative("cumprod", "cumulative_product")


def _running(name: str, of_two: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a function for the cumulative maximum or minimum, by doubling: over 1, 2, 4 entries and so on."""

    def running(a: Array, axis: Any = 0, dtype: Any = None, out: Any = None) -> Any:
        check_plain_options(f"np.{name}.accumulate", dtype, out)
        y: Any = np.swapaxes(a, axis_of(axis, a.ndim), 0)
        shift = 1
        while shift < len(y):
            y = np.concatenate([y[:shift], of_two(y[shift:], y[:-shift])])
            shift *= 2
        return np.swapaxes(y, 0, axis).copy()

    return running


def _logsumexp(a: Array, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    check_plain_options("np.logaddexp.reduce", dtype, out)
    return reduce("logsumexp", a, axes_of(axis, a.ndim), keepdims)


#: The functions for recorded arrays by NumPy's functions.
functions: dict[Callable[..., Any], Callable[..., Any]] = {
    np.sum: _sum,
    np.prod: _prod,
    np.max: _max,
    np.amax: _max,
    np.min: _min,
    np.amin: _min,
    np.ptp: _ptp,
    np.mean: _mean,
    np.var: _var,
    np.std: _std,
    np.average: _average,
    np.any: _any,
    np.all: _all,
    np.count_nonzero: _count_nonzero,
    np.cumsum: _cumsum,
    np.cumprod: _cumprod,
}
#: The methods ``reduce`` and ``accumulate`` of ufuncs, by the ufunc's and the method's name.
reducers: dict[tuple[str, str], Callable[..., Any]] = {
    ("add", "reduce"): _sum,
    ("multiply", "reduce"): _prod,
    ("maximum", "reduce"): _max,
    ("minimum", "reduce"): _min,
    ("logical_and", "reduce"): _all,
    ("logical_or", "reduce"): _any,
    ("logaddexp", "reduce"): _logsumexp,
    ("add", "accumulate"): _cumsum,
    ("multiply", "accumulate"): _cumprod,
    ("maximum", "accumulate"): _running("maximum", np.maximum),
    ("minimum", "accumulate"): _running("minimum", np.minimum),
}
