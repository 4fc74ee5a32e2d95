"""Splits the arguments of a batched function into the leaves that have rows and those that are the same in all rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from agrad._core import Array, ShapeError
from agrad._record.trees import axes_of, flatten

__all__ = ["Batch"]


class Batch:
    """The arguments of a call as leaves: which leaves have rows, and the leaves with the axis of rows first."""

    def __init__(self, label: str, args: tuple[Any, ...], kwargs: dict[str, Any], in_axes: Any) -> None:
        self.leaves, self._together, self._structure = flatten((args, kwargs))
        self._label = label
        by_argument = in_axes if isinstance(in_axes, (tuple, list)) else (in_axes,) * len(args)
        if len(by_argument) != len(args):
            raise TypeError(
                f"{label}: in_axes has {len(by_argument)} entries, but must have one entry for each positional argument; "
                f"{len(args)} were given"
            )
        axes = axes_of(label, "in_axes", (tuple(by_argument), dict.fromkeys(kwargs, 0)), (args, kwargs))
        self.axes = {place: axis for place, axis in enumerate(axes) if axis is not None}  # of the leaves that have rows
        self.places = list(self.axes)
        if not self.places:
            raise ValueError(f"{label}: in_axes is {in_axes!r}, but must have an axis for at least one argument")
        self.rows = self._count_rows()
        whole = [place for place in self.places if _is_whole(self.leaves[place])]
        self.places = [place for place in self.places if place not in whole]
        self._whole = {place: np.moveaxis(np.asarray(self.leaves[place]), self.axes[place], 0) for place in whole}

    def groups(self) -> list[np.ndarray[Any, Any]]:
        """Returns groups of rows with equal integers and booleans, which the function gets as plain values."""
        if not self._whole or self.rows == 0:
            return [np.arange(self.rows)]
        found: dict[Any, list[int]] = {}
        for row in range(self.rows):
            found.setdefault(tuple(values[row].tobytes() for values in self._whole.values()), []).append(row)
        return [np.array(rows) for rows in found.values()]

    @property
    def has_whole(self) -> bool:
        """Whether leaves of integers or booleans have rows."""
        return bool(self._whole)

    def _name(self, place: int) -> str:
        path = self._structure.accessors()[place]
        return str(path[2:].codify(f"argument {path[1].entry}"))

    def _count_rows(self) -> int:
        rows = None
        for place in self.places:
            leaf, axis = self.leaves[place], self.axes[place]
            values = leaf if isinstance(leaf, Array) else np.asarray(leaf)
            if values.dtype.kind not in "fiub":
                raise TypeError(
                    f"{self._label}: {self._name(place)} is {leaf!r}, but must be real numbers; None for it in in_axes "
                    "passes it unchanged"
                )
            if not -values.ndim <= axis < values.ndim:
                raise ShapeError(
                    f"{self._label}: {self._name(place)} is of shape {values.shape}, but must have an axis {axis}, as in_axes "
                    "says; None for it in in_axes uses it in all rows"
                )
            if rows is not None and values.shape[axis] != rows:
                raise ShapeError(
                    f"{self._label}: {self._name(place)} has {values.shape[axis]} rows along axis {axis}, but must have "
                    f"{rows}, as {self._name(self.places[0])}"
                )
            rows = values.shape[axis]
        assert rows is not None, "one leaf at least has rows"
        return int(rows)

    def with_rows(self, rows: Sequence[Any], number: int = 0) -> Any:
        """Returns the arguments of a row: `rows` in place of the leaves of numbers, and the row's integers and booleans."""
        leaves = list(self.leaves)
        for place, values in self._whole.items():
            if self.rows == 0:
                values = np.zeros((1, *values.shape[1:]), values.dtype)
            leaves[place] = values[number].copy() if values.ndim > 1 else values[number].item()
        for place, row in zip(self.places, rows, strict=True):
            leaves[place] = row
        return self._together(leaves)

    def rows_first(self, leaf_at: Callable[[Any], Any]) -> list[Any]:
        """Returns the leaves that have rows, with the rows along the first axis."""
        return [np.moveaxis(leaf_at(self.leaves[place]), self.axes[place], 0) for place in self.places]


def _is_whole(leaf: Any) -> bool:
    return not isinstance(leaf, Array) and np.asarray(leaf).dtype.kind in "iub"
