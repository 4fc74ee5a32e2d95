"""Describes the plan of a signature for the compiled part (bindings/programs/call.hpp).

A plan reads numbers from the arguments and builds results without Python. Plans know plain trees only: dicts with string keys,
lists, tuples, floats, arrays of numbers and booleans, and strings, integers, booleans and None as constants. Calls with other
arguments, such as dataclasses, do without a plan, which is slower.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from agrad._core import CallPlan, ResultKind
from agrad._record.whole import is_whole

__all__ = ["plan_of", "result_of"]


class _NotPlainError(Exception):
    """The tree contains an object that plans do not know."""


class _Place:
    """Stands for a leaf of a result: the index of the first number, and the shape."""

    def __init__(self, begin: int, shape: tuple[int, ...]) -> None:
        self.begin, self.shape = begin, shape


def _described(tree: Any, place: Iterator[int] | None) -> tuple[Any, ...]:
    """Returns a tree as bindings/programs/call.hpp describes it; `place` yields the first index of a leaf that is no _Place."""
    kind = type(tree)
    if kind is _Place:
        return ("array", tree.begin, tree.shape) if tree.shape else ("number", tree.begin)
    if place is not None and (kind is float or kind is np.float64):
        return "number", next(place)
    if place is not None and kind is np.ndarray and tree.dtype.kind == "f":
        return "array", next(place), tree.shape
    if place is not None and kind is np.ndarray and is_whole(tree):
        return "array", next(place), tree.shape, np.dtype(tree.dtype.type)
    if kind in (list, tuple):
        return kind.__name__, [_described(each, place) for each in tree]
    if kind is dict and all(type(key) is str for key in tree):
        keys = list(tree) if place is None else sorted(tree)  # optree takes leaves in the order of sorted keys
        described = {key: _described(tree[key], place) for key in keys}
        return "dict", list(tree), [described[key] for key in tree]
    if kind in (int, bool, str, type(None)):
        return "constant", tree
    raise _NotPlainError


def plan_of(
    args: tuple[Any, ...], begins: Sequence[int], required: ResultKind, inputs: int, of_vector: Sequence[int] | None = None
) -> CallPlan | None:
    """Returns a plan without paths for such calls, with inputs from `begins` on; None for arguments that plans do not know.

    The leaves of a vector as last argument begin at `of_vector`; plans do not accept integers in the vector.
    """
    try:
        if of_vector is None:
            return CallPlan(_described(args, iter(begins)), required, inputs)
        *own, vector = args
        places = iter(of_vector)
        kind, children = _described(tuple(own), iter(begins))
        children.append(_described(vector, places))
        return CallPlan((kind, children), required, inputs) if next(places, None) is None else None
    except _NotPlainError:
        return None


def result_of(together: Any, begins: Sequence[int], shapes: Sequence[tuple[int, ...]]) -> tuple[Any, ...] | None:
    """Returns the description of a result with leaves in a single vector; None for a result that plans do not know."""
    try:
        return _described(together([_Place(begin, shape) for begin, shape in zip(begins, shapes, strict=True)]), None)
    except _NotPlainError:
        return None
