"""Describes the results of a batched function for a row: the form, and whether leaves are booleans, integers or reals."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from agrad._core import Array, Recording
from agrad._record.structure import Outputs
from agrad._record.trees import flatten

__all__ = ["KINDS", "RowOutputs", "of_kind"]

#: The kinds of results; where a result is of different kinds in different rows, all rows get the later kind.
KINDS = "bif"
_LARGEST = 2**53  # integers up to this size are numbers of float64


class RowOutputs(Outputs):
    """The function's result for a row, with the kind of each leaf: booleans, integers or real numbers."""

    def __init__(self, label: str, row: Recording, result: Any) -> None:
        super().__init__(row, result)
        self.kinds = [_kind_of(label, leaf) for leaf in flatten(result)[0]]

    @property
    def parts(self) -> list[Any]:
        """The leaves, each as one line of entries."""
        ends = np.cumsum([math.prod(shape) for shape in self.shapes], dtype=int)
        return [self.joined[end - math.prod(shape) : end] for shape, end in zip(self.shapes, ends, strict=True)]

    def join(self, label: str, before: RowOutputs | None) -> None:
        """Raises unless the structure is that of the rows before; leaves of different kinds become integers or real numbers."""
        if before is None:
            return
        if (self.structure, self.shapes) != (before.structure, before.shapes):
            raise TypeError(
                f"{label}: result is of different structures or shapes in different rows, but must be of one structure "
                "and shape"
            )
        self.kinds = [max(pair, key=KINDS.index) for pair in zip(self.kinds, before.kinds, strict=True)]


def of_kind(kind: str, x: Any) -> Any:
    """Returns the results of all rows in the dtype of their kind; recorded ones of booleans are conditions."""
    if isinstance(x, Array):
        return x.with_slots(x.slots, condition=kind == "b")
    return x if kind == "f" else x != 0 if kind == "b" else x.astype(np.int64)


def _kind_of(label: str, leaf: Any) -> str:
    """Returns the kind of a leaf of a result; raises for integers that float64 has not."""
    values = leaf if isinstance(leaf, Array) else np.asarray(leaf)
    kind = values.dtype.kind
    integers: list[Any] = []
    if kind in "iu" and values.size:
        integers = [values.min(), values.max()]
    elif kind == "O":
        integers = [each for each in values.flat if isinstance(each, int)]
    if any(abs(int(each)) > _LARGEST for each in integers):
        raise OverflowError(
            f"{label}: result is {leaf!r}, but must be at most 2**53 in size where it is an integer, because the results of "
            "rows are joined as float64; look large integers up after the call"
        )
    return "i" if kind == "u" else kind if kind in "bi" else "f"
