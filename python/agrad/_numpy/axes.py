"""Defines the common parts of functions along axes: normalised axes, and options that are for plain arrays only."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from agrad._core import Array, Recording
from agrad._record.structure import find_recording

__all__ = ["axes_of", "axis_of", "check_plain_options", "recorded", "with_axes_last"]


def axes_of(axis: Any, ndim: int) -> list[int]:
    """Returns the axes, ascending and from 0; None means all."""
    if axis is None:
        return list(range(ndim))
    if type(axis) is int and 0 <= axis < ndim:
        return [axis]
    np.empty((1,) * ndim).sum(axis)  # raises NumPy's own error for a wrong axis; numbers may have axis 0
    return sorted(operator.index(n) % ndim for n in (axis if isinstance(axis, tuple) else (axis,))) if ndim else []


def axis_of(axis: Any, ndim: int) -> int:
    """Returns an axis, counted from 0."""
    if not -ndim <= operator.index(axis) < ndim:
        np.empty((1,) * ndim).sum(axis)
    return operator.index(axis) % ndim


def recorded(*arguments: Any) -> list[Any]:
    """Returns all arguments as arrays of the recording of the recorded arguments."""
    recording: Recording | None = find_recording(*arguments)
    assert recording is not None, "NumPy calls this for recorded arrays only"
    return [recording.array(joined(recording, x)) for x in arguments]


def joined(recording: Recording, x: Any) -> Any:
    """Returns nested sequences with recorded parts as a single array, and any other x unchanged."""
    if isinstance(x, (list, tuple)) and find_recording(x) is not None:
        return np.stack([recording.array(joined(recording, each)) for each in x])
    return x


def with_axes_last(x: Array, axis: Any) -> tuple[Array, list[int]]:
    """Returns the array with the axes moved to the end and joined to a single axis, and the axes."""
    axes = axes_of(axis, x.ndim)
    remaining = [n for n in range(x.ndim) if n not in axes]
    shape = [x.shape[n] for n in remaining]
    length = int(np.prod([x.shape[n] for n in axes], dtype=int))
    return x.with_slots(np.transpose(x.slots, [*remaining, *axes]).reshape((*shape, length))), axes


def check_plain_options(function: str, dtype: Any, out: Any) -> None:
    """Raises for options that are for plain arrays only."""
    if out is not None:
        raise TypeError(f"{function}: out is given, but must be None for recorded arrays; use the function's result")
    if dtype is not None and np.dtype(dtype) != np.float64:
        raise TypeError(f"{function}: dtype is {np.dtype(dtype)}, but must be float64; recorded arrays have no other")
