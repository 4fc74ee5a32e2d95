"""Indices that are data: an operand of a gather, of sums into places and of assignments; a mask's entries are read."""

from __future__ import annotations

from typing import Any

import numpy as np

from agrad._core import Array, ShapeError, elementwise_rows, pick, search, sort
from agrad._record.nested import Part
from agrad._record.whole import read

__all__ = ["assigned", "item", "scattered", "take", "take_along_axis"]

_rows = {row.name: row for row in elementwise_rows()}
_add = _rows["add"]


def item(table: Array, key: Any) -> Any:
    """Returns ``table[key]``, where the key has data."""
    parts = _parts(key)
    if not any(isinstance(each, Array) for each in parts):
        return table[tuple(parts)]
    places = parts[0] if table.ndim == len(parts) == 1 and table.size else _places(table.shape, parts)
    found = pick(table if table.ndim == 1 else np.ravel(table), places) if np.size(places) else _nothing(table, places)
    return found.as_data(table.dtype) if table.is_data else found


def scattered(x: Any, key: Any, v: Any) -> Any:
    """Returns x with v added at ``x[key]``, where the key has integers that are data: by the reverse pass of the gather."""
    places = _places(x.shape, _parts(key))
    if np.size(places) == 0:
        return x.copy()
    gather = Part(x.recording, [np.zeros(x.size)])
    found = pick(gather.inputs[0], places)
    gather.end()
    return x + np.reshape(gather.adjoints(found, np.broadcast_to(x.recording.array(v), places.shape)), x.shape)


def assigned(x: Array, key: Any, v: Array) -> Any:
    """Returns x after ``x[key] = v``, where the key has data; None where the key is plain once masks are read.

    Where a place occurs several times the last value counts, as in NumPy: the places are sorted together with their numbers.
    """
    parts = _parts(key)
    if not any(isinstance(each, Array) for each in parts):
        return None
    places = _places(x.shape, parts)
    m, n = np.size(places), x.size
    if m == 0:
        return x.copy()
    own = np.reshape(v, v.shape[max(v.ndim - places.ndim, 0) :])  # NumPy ignores leading axes of length 1
    values = np.ravel(np.broadcast_to(own, places.shape))
    begins = np.arange(n) * float(m)
    ordered = sort(_add(_rows["multiply"](np.ravel(places), float(m)), np.arange(float(m))), 0)[0]
    before = search(ordered, x.recording.array(begins + m), False)
    last = pick(np.concatenate([[-1.0], ordered]), before)
    number = _rows["subtract"](last, begins)
    source = _rows["select"](_rows["greater_equal"](number, 0.0), _add(number, float(n)), np.arange(float(n)))
    return np.reshape(pick(np.concatenate([np.ravel(x), values]), source), x.shape)


def _parts(key: Any) -> list[Any]:
    """Returns the parts of a key, with the entries of masks; raises where a part is recorded and no data."""
    parts = [_without_masks(each) for each in (key if isinstance(key, tuple) else (key,))]
    for each in parts:
        if isinstance(each, Array) and not each.is_data:
            raise TypeError(
                "index: argument is a recorded value beside integers, but must be plain; choose between recorded values with "
                "np.where"
            )
    return parts


def _without_masks(part: Any) -> Any:
    """Returns a part of a key, with the plain entries of a mask, which decide the shape of the result."""
    return read(part) if isinstance(part, Array) and part.is_data and part.is_condition else part


def _nothing(table: Array, places: Any) -> Array:
    return table.with_slots(np.zeros(np.shape(places), np.uint32), condition=False)


def _places(shape: tuple[int, ...], parts: list[Any]) -> Any:
    """Returns the places of the entries of an array in C order, of the shape of the result.

    A place is a sum over the axes, so NumPy's own indexing of helping arrays tells which entry of each index belongs to it.
    """
    axes = _axes(len(shape), parts)
    zeros = [np.zeros(x.shape, np.intp) if isinstance(x, Array) else x for x in parts]
    for x, axis in zip(parts, axes, strict=True):
        if isinstance(x, Array) and x.size and shape[axis] == 0:
            raise IndexError(f"index: array is of shape {shape}, but must have entries along axis {axis}")
    places: Any = np.arange(int(np.prod(shape))).reshape(shape)[tuple(zeros)]
    if places.size == 0:
        return places
    for n, (x, axis) in enumerate(zip(parts, axes, strict=True)):
        if not isinstance(x, Array):
            continue
        along = np.arange(x.size).reshape([-1 if d == axis else 1 for d in range(len(shape))])
        helping = np.broadcast_to(along, [x.size if d == axis else length for d, length in enumerate(shape)])
        key = (*zeros[:n], np.arange(x.size).reshape(x.shape), *zeros[n + 1 :])
        entries = helping[key]
        stride = int(np.prod(shape[axis + 1 :]))
        starts = pick(x.recording.array(np.arange(shape[axis]) * stride), x)  # checks and turns places from the end
        places = _add(places, starts.with_slots(np.ravel(starts.slots)[entries], condition=False))
    return places


def _axes(ndim: int, parts: list[Any]) -> list[int]:
    """Returns the axis to which each part of a key belongs."""
    used = [0 if x is None or x is Ellipsis else np.ndim(x) if _is_mask(x) else 1 for x in parts]
    axes, axis = [], 0
    for x, n in zip(parts, used, strict=True):
        axes.append(axis)
        axis += ndim - sum(used) if x is Ellipsis else n
    if axis > ndim:
        raise IndexError(f"index: number of indices is {axis}, but must be at most {ndim}, the number of dimensions")
    return axes


def _is_mask(x: Any) -> bool:
    return type(x) is not Array and isinstance(x, (np.ndarray, list)) and np.asarray(x).dtype.kind == "b"


def take(a: Any, indices: Array, axis: Any = None) -> Any:
    """Returns np.take of a table, recorded or plain, for indices that are data."""
    table: Any = _table(a, indices)
    if axis is None:
        return np.ravel(table)[indices]
    axis = np.arange(table.ndim)[axis]
    key = (*[slice(None)] * int(axis), indices)
    return table[key]


def take_along_axis(arr: Any, indices: Array, axis: Any = -1) -> Any:
    """Returns np.take_along_axis of a table, recorded or plain, for indices that are data."""
    table: Any = _table(arr, indices)
    if axis is None:
        table, axis = np.ravel(table), 0
    if table.ndim != indices.ndim:
        raise ShapeError(
            f"take_along_axis: indices is of {indices.ndim} dimensions, but must have as many as arr, which has {table.ndim}"
        )
    axis = int(np.arange(table.ndim)[axis])
    lengths = enumerate(table.shape)
    grid: list[Any] = [np.arange(n).reshape([-1 if d == k else 1 for d in range(table.ndim)]) for k, n in lengths]
    grid[axis] = indices
    return table[tuple(grid)]


def _table(a: Any, indices: Array) -> Any:
    if isinstance(a, Array):
        return a
    plain = np.asarray(a)
    table = indices.recording.array(plain)
    return table.as_data(plain.dtype) if plain.dtype.kind in "iub" else table
