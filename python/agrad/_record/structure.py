"""Finds the recording of arrays, and joins recorded arrays by NumPy's functions on slots.

A recorded array has a slot in the recording for each entry. To move entries, NumPy's own function is therefore applied to the
array of slots (``_numpy.moving``).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from agrad._core import Array, Recording, ShapeError
from agrad._record.objects import holds_objects, recording_within
from agrad._record.trees import flatten

__all__ = ["Outputs", "array", "arrays_of", "as_one", "find_recording", "of_rows", "output_of", "slots_of"]


def find_recording(*arguments: Any) -> Recording | None:
    """Returns the innermost recording of recorded arrays in arguments (or nested lists, tuples, arrays of them), or None."""
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
    """Returns a recorded array for lists, tuples and arrays of objects with recorded values, and any other x unchanged."""
    return x if isinstance(x, Array) or find_recording(x) is None else array(x)


def slots_of(recording: Recording, x: Any) -> Any:
    """Returns the slots of an array, or of arrays in nested lists and tuples."""
    if isinstance(x, (list, tuple)):
        return [slots_of(recording, each) for each in x]
    return recording.array(x).slots


def arrays_of(anchor: Array, result: Any, slots: Any) -> Any:
    """Returns NumPy's results on slots as recorded arrays; results that share memory with `slots` become views."""
    if isinstance(result, np.ndarray):
        return anchor.with_slots(result, slots if np.may_share_memory(result, slots) else None)
    if isinstance(result, np.generic):
        return anchor.with_slots(result)
    return type(result)(arrays_of(anchor, each, slots) for each in result)


def output_of(recording: Recording, name: str, x: Any) -> Array:
    """Returns the result of a user's function as an array of the recording; `name` is for messages."""
    if x is None:
        raise TypeError(f"{recording.function}: {name} is None, but must be real numbers; does the function return?")
    try:
        return recording.array(array(x) if isinstance(x, (list, tuple)) else x)
    except ShapeError:
        raise
    except (TypeError, ValueError) as error:
        raise TypeError(f"{recording.function}: {name} is {x!r}, but must be real numbers") from error


class Outputs:
    """The nested structure of a user function's results as a single recorded array, with the data to restore the structure."""

    def __init__(self, recording: Recording, result: Any) -> None:
        leaves, self.together, self.structure = flatten(result)
        paths = self.structure.accessors()
        outputs = [output_of(recording, path.codify("result"), leaf) for path, leaf in zip(paths, leaves, strict=True)]
        self.shapes = [x.shape for x in outputs]
        self.holds_truths = any(x.is_condition for x in outputs)
        slots = np.concatenate([x.slots.ravel() for x in outputs] or [np.zeros(0, np.uint32)])
        self.joined = recording.array(0.0).with_slots(slots)


def of_rows(form: Any, rows: Any, part_of: Callable[[Any, tuple[int, ...]], Any]) -> Any:
    """Returns a structure with ``part_of(rows, shape)`` in the place of each array; `form` has `shapes` and `together`."""
    ends = np.cumsum([math.prod(shape) for shape in form.shapes], dtype=int)
    parts = zip([0, *ends[:-1]], ends, form.shapes, strict=True)
    return form.together([part_of(rows[begin:end], shape) for begin, end, shape in parts])


def array(x: Any) -> Any:
    """Make an array of numbers and recorded values, as ``np.array`` does of numbers.

    Parameters
    ----------
    x : number, array, recorded array, or nested sequences of them of equal shapes
        The entries.

    Returns
    -------
    Array or numpy.ndarray
        A recorded array if an entry is recorded, else a float64 NumPy array.

    Raises
    ------
    ShapeError
        The parts have different shapes.

    Notes
    -----
    ``np.array([a, b])`` of recorded ``a`` and ``b`` is a NumPy array of objects, which agrad accepts in place of a recorded
    array; NumPy computes with such an array entry by entry, and some functions refuse. ``ag.array`` makes a recorded array,
    which all these functions accept. ``np.stack([a, b])`` and ``np.concatenate([a, b])`` do so, too.
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
            "array: parts are of different shapes, but must be of one shape; join pieces of different lengths with "
            "np.concatenate"
        ) from error
    return recording.array(0.0).with_slots(slots)
