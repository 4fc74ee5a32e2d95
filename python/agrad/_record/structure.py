"""Structure: which recording arrays belong to, and joining them, by letting NumPy work on their slots.

A recorded array knows where in the recording each of its entries is. Moving entries about is therefore NumPy's own
function applied to the array of slots (``_numpy.moving``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from agrad._core import Array, Recording, ShapeError
from agrad._record.objects import holds_objects, recording_within
from agrad._record.trees import flatten

__all__ = ["Outputs", "array", "arrays_of", "as_one", "find_recording", "of_rows", "output_of", "slots_of"]


def find_recording(*arguments: Any) -> Recording | None:
    """The innermost recording among recorded arrays in (nested lists, tuples and arrays of) arguments; None without any."""
    found: Recording | None = None
    for argument in arguments:
        if isinstance(argument, Array):
            recording: Recording | None = argument.recording
        elif isinstance(argument, (list, tuple)):
            recording = find_recording(*argument)
        elif holds_objects(argument):
            recording = recording_within(argument)
        else:
            continue
        if recording is not None and (found is None or recording.depth > found.depth):
            found = recording
    return found


def as_one(x: Any) -> Any:
    """Lists, tuples and NumPy's arrays of objects that hold recorded values as one recorded array; everything else as it is."""
    return x if isinstance(x, Array) or find_recording(x) is None else array(x)


def slots_of(recording: Recording, x: Any) -> Any:
    """The slots of an array, or of arrays in nested lists and tuples."""
    if isinstance(x, (list, tuple)):
        return [slots_of(recording, each) for each in x]
    return recording.array(x).slots


def arrays_of(anchor: Array, result: Any, slots: Any) -> Any:
    """What NumPy made of an array's slots, as arrays; those that share the memory of the slots are views for NumPy."""
    if isinstance(result, np.ndarray):
        return anchor.with_slots(result, slots if np.may_share_memory(result, slots) else None)
    if isinstance(result, np.generic):
        return anchor.with_slots(result)
    return type(result)(arrays_of(anchor, each, slots) for each in result)


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
        self.holds_truths = any(x.is_condition for x in outputs)
        slots = np.concatenate([x.slots.ravel() for x in outputs] or [np.zeros(0, np.uint32)])
        self.joined = recording.array(0.0).with_slots(slots)


def of_rows(form: Any, rows: Any, made: Callable[[Any, tuple[int, ...]], Any]) -> Any:
    """A structure with ``made(its rows, its shape)`` in the place of each array; `form` has its `shapes` and `together`."""
    ends = np.cumsum([int(np.prod(shape, dtype=int)) for shape in form.shapes], dtype=int)
    parts = zip([0, *ends[:-1]], ends, form.shapes, strict=True)
    return form.together([made(rows[begin:end], shape) for begin, end, shape in parts])


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
    ``np.array([a, b])`` of recorded ``a`` and ``b`` is a NumPy array of objects, which agrad takes wherever it takes a
    recorded array; what NumPy computes with it goes entry by entry, and some functions refuse it. ``ag.array`` makes one
    recorded array, which all of them take. ``np.stack([a, b])`` and ``np.concatenate([a, b])`` do, too.
    """
    if isinstance(x, Array):
        return x.copy()
    recording = find_recording(x)
    if recording is None:
        return np.array(x, dtype=float)
    try:
        slots = np.array(slots_of(recording, x))
    except ValueError as error:
        raise ShapeError(
            "array: parts are of different shapes, but must be of one; join pieces of different lengths with np.concatenate"
        ) from error
    return recording.array(0.0).with_slots(slots)
