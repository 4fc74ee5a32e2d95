"""New arrays: zeros, ones and other values, as recorded arrays, which can be written into; grids; properties of arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from agrad._core import Array
from agrad._numpy.axes import check_plain_options, recorded
from agrad._record.structure import array

__all__ = ["creators", "functions"]


def _filled_like(
    name: str,
    x: Array,
    value: Any,
    dtype: Any = None,
    order: Any = "K",
    subok: bool = True,
    shape: Any = None,
    device: Any = None,
) -> Any:
    shape = x.shape if shape is None else shape
    if dtype is not None and np.dtype(dtype).kind in "iub":
        return np.full(shape, value, dtype)  # indices and masks are data
    check_plain_options(name, dtype, None)
    slots = x.recording.array(value).slots
    return x.with_slots(np.broadcast_to(slots, shape), condition=False).copy()


def _zeros_like(a: Array, *options: Any, **named: Any) -> Any:
    return _filled_like("np.zeros_like", a, 0.0, *options, **named)


def _ones_like(a: Array, *options: Any, **named: Any) -> Any:
    return _filled_like("np.ones_like", a, 1.0, *options, **named)


def _full_like(a: Array, fill_value: Any, *options: Any, **named: Any) -> Any:
    return _filled_like("np.full_like", a, fill_value, *options, **named)


def _linspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, retstep: bool = False, dtype: Any = None, axis: int = 0
) -> Any:
    check_plain_options("np.linspace", dtype, None)
    first, last = np.broadcast_arrays(*recorded(start, stop))
    parts = num - 1 if endpoint else num
    t = np.arange(num).reshape((-1,) + (1,) * first.ndim) / max(parts, 1)
    points = first + t * (last - first)
    if endpoint and num > 1:
        points[-1] = last
    points = points if axis == 0 else np.moveaxis(points, 0, axis)
    return (points, (last - first) / parts if parts > 0 else np.nan) if retstep else points


def _logspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: Any = 10.0, dtype: Any = None, axis: int = 0
) -> Any:
    if np.ndim(base):
        base = np.expand_dims(base, axis)
    return base ** np.linspace(start, stop, num, endpoint, dtype=dtype, axis=axis)


def _geomspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0) -> Any:
    first, last = np.broadcast_arrays(*recorded(start, stop))
    sign = np.sign(first)
    points = np.exp(np.linspace(np.log(first * sign), np.log(last * sign), num, endpoint, dtype=dtype, axis=axis))
    return points * np.expand_dims(sign, axis) if points.ndim > 1 else points * sign


def _size(a: Array, axis: Any = None) -> int:
    if axis is None:
        return a.size
    return int(np.prod([a.shape[n] for n in (axis if isinstance(axis, tuple) else (axis,))], dtype=int))


def _result_type(*arguments: Any) -> np.dtype[Any]:
    return np.result_type(*(x.dtype if isinstance(x, Array) else x for x in arguments))


def _text(a: Array, *_: Any, **__: Any) -> str:
    return repr(a)


#: The functions for recorded arrays by NumPy's functions.
functions: dict[Callable[..., Any], Callable[..., Any]] = {
    np.zeros_like: _zeros_like,
    np.empty_like: _zeros_like,
    np.ones_like: _ones_like,
    np.full_like: _full_like,
    np.linspace: _linspace,
    np.logspace: _logspace,
    np.geomspace: _geomspace,
    np.shape: lambda a: a.shape,
    np.ndim: lambda a: a.ndim,
    np.size: _size,
    np.result_type: _result_type,
    np.iscomplexobj: lambda x: False,
    np.isrealobj: lambda x: True,
    np.real: lambda val: val.copy(),
    np.imag: lambda val: np.zeros_like(val),
    np.array_str: _text,
    np.array_repr: _text,
    np.array2string: _text,
}


def _created_by(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda like, *args, **kwargs: like.recording.array(function(*args, **kwargs)).copy()


def _array(like: Array, object: Any, dtype: Any = None, **options: Any) -> Any:
    check_plain_options("np.array", dtype, None)
    created = like.recording.array(array(object)).copy()
    ndmin = options.get("ndmin", 0)
    return created if created.ndim >= ndmin else created.reshape((1,) * (ndmin - created.ndim) + created.shape)


#: NumPy's functions with an argument ``like``, for a recorded `like`: each makes an array of the recording of `like`.
creators: dict[Callable[..., Any], Callable[..., Any]] = {
    **{function: _created_by(function) for function in (np.zeros, np.ones, np.empty, np.full, np.eye, np.identity, np.arange)},
    np.array: _array,
    np.asarray: _array,
}
creators[np.empty] = _created_by(np.zeros)  # uninitialised memory is no constant
