"""Structure: reshaping, slicing and joining recorded arrays, by letting NumPy work on their slots.

A recorded array knows where in the recording each of its entries is. Moving entries about is therefore NumPy's own
function applied to the array of slots; nothing is recorded and nothing is computed when the program runs. Slot 0 is the
constant zero, so the zeros that ``np.tril`` or ``np.diag`` fill in are right as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from agrad._core import Array, Recording, ShapeError
from agrad._trees import flatten

__all__ = ["Outputs", "array", "find_recording", "output_of", "structural"]

#: Functions of one array (and options), which it is moved about by.
_OF_ONE: tuple[Callable[..., Any], ...] = (
    np.reshape, np.ravel, np.transpose, np.swapaxes, np.moveaxis, np.rollaxis, np.squeeze, np.expand_dims,
    np.broadcast_to, np.flip, np.fliplr, np.flipud, np.roll, np.rot90, np.tile, np.repeat, np.take, np.take_along_axis,
    np.diagonal, np.diag, np.tril, np.triu, np.atleast_1d, np.atleast_2d, np.atleast_3d, np.split, np.array_split,
    np.hsplit, np.vsplit, np.delete,
)  # fmt: skip
#: Functions of a sequence of arrays, which they are joined by.
_OF_SEQUENCE: tuple[Callable[..., Any], ...] = (
    np.concatenate, np.stack, np.hstack, np.vstack, np.dstack, np.column_stack, np.block,
)  # fmt: skip


def find_recording(*arguments: Any) -> Recording | None:
    """The innermost recording among recorded arrays in (nested lists and tuples of) arguments; None without any."""
    found: Recording | None = None
    for argument in arguments:
        if isinstance(argument, Array):
            recording: Recording | None = argument.recording
        elif isinstance(argument, (list, tuple)):
            recording = find_recording(*argument)
        else:
            continue
        if recording is not None and (found is None or recording.depth > found.depth):
            found = recording
    return found


def _slots(recording: Recording, x: Any) -> Any:
    if isinstance(x, (list, tuple)):
        return [_slots(recording, each) for each in x]
    return recording.array(x).slots


def _arrays(anchor: Array, result: Any) -> Any:
    if isinstance(result, (np.ndarray, np.generic)):
        return anchor.with_slots(result)
    return type(result)(_arrays(anchor, each) for each in result)


def _of_one(function: Callable[..., Any]) -> Callable[..., Any]:
    def moved(x: Array, *options: Any, **named: Any) -> Any:
        return _arrays(x, function(x.slots, *options, **named))

    return moved


def _of_sequence(function: Callable[..., Any]) -> Callable[..., Any]:
    def joined(arrays: Sequence[Any], *options: Any, **named: Any) -> Any:
        recording = find_recording(*arrays)
        assert recording is not None, "NumPy calls this for recorded arrays only"
        return _arrays(recording.array(0.0), function(_slots(recording, list(arrays)), *options, **named))

    return joined


#: NumPy's function -> the same for recorded arrays.
structural: dict[Callable[..., Any], Callable[..., Any]] = {
    **{function: _of_one(function) for function in _OF_ONE},
    **{function: _of_sequence(function) for function in _OF_SEQUENCE},
    np.compress: lambda condition, x, axis=None: x.with_slots(np.compress(condition, x.slots, axis)),
}


def output_of(recording: Recording, name: str, x: Any) -> Array:
    """What a user's function returned, under a name for messages, as an array of its recording."""
    if x is None:
        raise TypeError(f"{recording.function}: {name} is None, but must be real numbers; does the function return?")
    try:
        return recording.array(array(x) if isinstance(x, (list, tuple)) else x)
    except ShapeError:
        raise
    except (TypeError, ValueError) as error:
        raise TypeError(f"{recording.function}: {name} is {x!r}, but must be real numbers") from error


class Outputs:
    """A nested structure that a user's function returned, as one array of its recording, and how it is put together again."""

    def __init__(self, recording: Recording, result: Any) -> None:
        leaves, self.together, self.structure = flatten(result)
        paths = self.structure.accessors()
        outputs = [output_of(recording, path.codify("result"), leaf) for path, leaf in zip(paths, leaves, strict=True)]
        self.shapes = [x.shape for x in outputs]
        slots = np.concatenate([x.slots.ravel() for x in outputs] or [np.zeros(0, np.uint32)])
        self.joined = recording.array(0.0).with_slots(slots)


def array(x: Any) -> Any:
    """An array of numbers and recorded values, as ``np.array`` makes of numbers.

    Parameters
    ----------
    x : number, array, recorded array, or nested sequences of them of equal shapes
        The entries.

    Returns
    -------
    Array or numpy.ndarray
        A recorded array when one of the entries is recorded, else a float64 NumPy array.

    Raises
    ------
    ShapeError
        The parts have different shapes.

    Notes
    -----
    ``np.array([a, b])`` cannot see that ``a`` and ``b`` are recorded; that is what this function is for.
    ``np.stack([a, b])`` and ``np.concatenate([a, b])`` work as they are.
    """
    if isinstance(x, Array):
        return x
    recording = find_recording(x) if isinstance(x, (list, tuple)) else None
    if recording is None:
        return np.array(x, dtype=float)
    try:
        slots = np.array(_slots(recording, x))
    except ValueError as error:
        raise ShapeError(
            "array: parts are of different shapes, but must be of one; join pieces of different lengths with np.concatenate"
        ) from error
    return recording.array(0.0).with_slots(slots)
