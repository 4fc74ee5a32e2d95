"""Moving entries about: NumPy's own functions, applied to the slots of recorded arrays.

No operation is recorded, so a run of the program has no cost. Slot 0 is the constant zero, so the zeros that ``np.tril``,
``np.diag`` or ``np.pad`` fill in are right as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from agrad._core import Array
from agrad._numpy.axes import check_plain_options, recorded
from agrad._record.structure import arrays_of, find_recording, slots_of

__all__ = ["functions", "of_one", "writers"]

#: Functions of a single array (and options).
of_one: tuple[Callable[..., Any], ...] = (
    np.reshape, np.ravel, np.transpose, np.swapaxes, np.moveaxis, np.rollaxis, np.squeeze, np.expand_dims,
    np.broadcast_to, np.flip, np.fliplr, np.flipud, np.roll, np.rot90, np.tile, np.repeat, np.take, np.take_along_axis,
    np.diagonal, np.diag, np.diagflat, np.tril, np.triu, np.split, np.array_split, np.hsplit, np.vsplit, np.dsplit,
    np.delete, np.resize, np.copy, np.lib.stride_tricks.sliding_window_view,
    np.matrix_transpose, *([np.unstack] if hasattr(np, "unstack") else []),  # unstack is of NumPy 2.1
)  # fmt: skip
#: Functions that join a sequence of arrays.
_OF_SEQUENCE: tuple[Callable[..., Any], ...] = (
    np.concatenate, np.stack, np.hstack, np.vstack, np.dstack, np.column_stack, np.block,
)  # fmt: skip
#: Functions of any number of arrays.
_OF_SEVERAL: tuple[Callable[..., Any], ...] = (
    np.atleast_1d, np.atleast_2d, np.atleast_3d, np.meshgrid, np.broadcast_arrays,
)  # fmt: skip


#: The index of the argument `out` after the arrays: NumPy would write slots into `out`.
_OUT = {np.take: 2, np.concatenate: 1, np.stack: 1}


def _check_out(function: Callable[..., Any], options: tuple[Any, ...], named: dict[str, Any]) -> None:
    at = _OUT.get(function)
    if at is not None:
        check_plain_options(f"np.{function.__name__}", None, named.get("out", options[at] if len(options) > at else None))


def _of_one(function: Callable[..., Any]) -> Callable[..., Any]:
    def moved(x: Any, *options: Any, **named: Any) -> Any:
        _check_out(function, options, named)
        whole: Array = recorded(x)[0] if isinstance(x, (list, tuple)) else x
        slots = whole.slots
        return arrays_of(whole, function(slots, *options, **named), slots)

    return moved


def _of_sequence(function: Callable[..., Any]) -> Callable[..., Any]:
    def joined(arrays: Sequence[Any], *options: Any, **named: Any) -> Any:
        _check_out(function, options, named)
        recording = find_recording(*arrays)
        assert recording is not None, "NumPy calls this for recorded arrays only"
        truths = all(np.dtype(bool) == getattr(x, "dtype", None) for x in arrays)
        result = function(slots_of(recording, list(arrays)), *options, **named)
        return recording.array(0.0).with_slots(result, condition=truths)

    return joined


def _of_several(function: Callable[..., Any]) -> Callable[..., Any]:
    def moved(*arrays: Any, **options: Any) -> Any:
        given = recorded(*arrays)
        slots = [x.slots for x in given]
        result = function(*slots, **options)
        if not isinstance(result, (list, tuple)):
            return arrays_of(given[0], result, slots[0])
        return type(result)(arrays_of(x, each, s) for x, each, s in zip(given, result, slots, strict=True))

    return moved


def _insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    x, given = recorded(arr, values)
    return x.with_slots(np.insert(x.slots, obj, given.slots, axis), condition=False)


def _append(arr: Any, values: Any, axis: Any = None) -> Any:
    x, given = recorded(arr, values)
    return x.with_slots(np.append(x.slots, given.slots, axis), condition=False)


_PADS = ("constant", "edge", "reflect", "symmetric", "wrap", "empty")


def _pad(array: Array, pad_width: Any, mode: Any = "constant", *, constant_values: Any = 0, **options: Any) -> Any:
    if mode not in _PADS:
        raise TypeError(f"np.pad: mode is {mode!r}, but must be one of {', '.join(_PADS)} for a recorded array")
    if options.get("reflect_type", "even") != "even":
        raise TypeError(
            f"np.pad: reflect_type is {options['reflect_type']!r}, but must be 'even' for a recorded array; "
            "write 2 * edge - np.pad(..., reflect_type='even')"
        )
    if mode == "constant":
        options["constant_values"] = array.recording.array(constant_values).slots
    return array.with_slots(np.pad(array.slots, pad_width, "constant" if mode == "empty" else mode, **options))


def _put_along_axis(arr: Array, indices: Any, values: Any, axis: Any) -> None:
    slots = arr.slots
    np.put_along_axis(slots, indices, arr.recording.array(values).slots, axis)
    arr[...] = arr.with_slots(slots)


def _put(a: Array, ind: Any, v: Any, mode: Any = "raise") -> None:
    slots = a.slots
    np.put(slots, ind, a.recording.array(v).slots, mode)
    a[...] = a.with_slots(slots)


def _fill_diagonal(a: Array, val: Any, wrap: bool = False) -> None:
    slots = a.slots
    np.fill_diagonal(slots, a.recording.array(val).slots, wrap)
    a[...] = a.with_slots(slots)


def _copyto(dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> None:
    if not isinstance(dst, Array):
        raise TypeError(
            "np.copyto: dst is a NumPy array, but must be made by agrad to hold recorded values; make it by np.zeros_like of a "
            "recorded array, or np.zeros(shape, like=x)"
        )
    dst[...] = np.where(where, src, dst)


#: Functions that write into their first argument.
writers: tuple[Callable[..., Any], ...] = (np.put_along_axis, np.put, np.fill_diagonal, np.copyto)
#: The functions for recorded arrays by NumPy's functions.
functions: dict[Callable[..., Any], Callable[..., Any]] = {
    **{function: _of_one(function) for function in of_one},
    **{function: _of_sequence(function) for function in _OF_SEQUENCE},
    **{function: _of_several(function) for function in _OF_SEVERAL},
    np.compress: lambda condition, a, axis=None: a.with_slots(np.compress(condition, a.slots, axis)),
    np.extract: lambda condition, arr: arr.with_slots(np.extract(condition, arr.slots)),
    np.insert: _insert,
    np.append: _append,
    np.pad: _pad,
    np.put_along_axis: _put_along_axis,
    np.put: _put,
    np.fill_diagonal: _fill_diagonal,
    np.copyto: _copyto,
}
