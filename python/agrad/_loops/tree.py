"""Handles the nested structures of a loop's inputs and of a body's results: leaves are numbers, booleans or None."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from agrad._core import Array, Recording, ShapeError
from agrad._record.structure import output_of
from agrad._record.trees import flatten

__all__ = ["Leaves", "joined"]


class Leaves:
    """The leaves of a tree that are not None, as recorded or plain arrays of float64, with the names for messages."""

    def __init__(
        self, function: str, name: str, tree: Any, *, takes_integers: bool = False, recording: Recording | None = None
    ) -> None:
        """Flattens the tree; with a recording, the tree is the result of a user's function in this recording."""
        self.name = name
        leaves, self._together, self.structure = flatten(tree)
        paths = [path.codify(name) for path in self.structure.accessors()]
        self._is_none = [leaf is None for leaf in leaves]
        self.names = [path for path, leaf in zip(paths, leaves, strict=True) if leaf is not None]
        given = [leaf for leaf in leaves if leaf is not None]
        self.arrays: list[Any] = []
        self.is_truth: list[bool] = []
        for label, leaf in zip(self.names, given, strict=True):
            if recording is not None:
                values: Any = output_of(recording, label, leaf)
            elif isinstance(leaf, Array):
                values = leaf if leaf.recording.is_open else leaf * 1.0  # raises, as the recording has ended
            else:
                values = _plain(function, label, leaf, takes_integers)
            self.is_truth.append(values.dtype.kind == "b")
            self.arrays.append(values if isinstance(values, Array) else values.astype(np.float64, copy=False))
        self.shapes: list[tuple[int, ...]] = [x.shape for x in self.arrays]
        self.sizes: list[int] = [x.size for x in self.arrays]

    def forget(self) -> None:
        """Removes the arrays, which keep the recording alive; the description stays."""
        self.arrays = []

    def together(self, leaves: Iterable[Any]) -> Any:
        """Returns the tree with other leaves in place of the leaves that are not None."""
        fresh = iter(leaves)
        return self._together([None if is_none else next(fresh) for is_none in self._is_none])

    def check_like(self, function: str, other: Leaves) -> None:
        """Raises unless structure, shapes and dtypes equal those of `other`: init, or the result on another path."""
        is_init = other.name != self.name
        if self.structure != other.structure or self._is_none != other._is_none:
            reference = f"of the structure of {other.name}" if is_init else "of the structure that it has on another path"
            raise TypeError(f"{function}: {self.name} {self._difference(other)}, but must be {reference}")
        for name, x, y, a, b in zip(self.names, self.shapes, other.shapes, self.is_truth, other.is_truth, strict=True):
            reference = f"in {other.name}{name.removeprefix(self.name)}" if is_init else "on another path"
            if x != y:
                raise ShapeError(f"{function}: {name} is of shape {x}, but must be of shape {y}, as {reference}")
            if a != b:
                kinds = ("float64", "bool")
                raise TypeError(f"{function}: {name} is of dtype {kinds[a]}, but must be of dtype {kinds[b]}, as {reference}")

    def _difference(self, other: Leaves) -> str:
        mine, others = ({name.removeprefix(x.name) for name in x.names} for x in (self, other))
        missing, new = sorted(others - mine), sorted(mine - others)
        if missing and new == [""]:
            return "is one array"
        if missing:
            return f"has no number in {missing[0]}" if missing[0] else "is no number"
        if new:
            return f"has a number in {new[0]}" if new[0] else "is a number"
        return "has a different structure"


def _plain(function: str, label: str, leaf: Any, takes_integers: bool) -> Any:
    try:
        values = np.asarray(leaf)
    except ValueError:
        raise ShapeError(f"{function}: {label} is ragged, but must be an array of real numbers") from None
    kind = values.dtype.kind
    if kind in "fb" or (kind in "iu" and takes_integers):
        return values
    if kind in "iu":
        raise TypeError(
            f"{function}: {label} is of dtype {values.dtype}, but must be floating-point or bool; write 0.0 for 0, because "
            "carries are float64, which is exact for integers up to 2**53"
        )
    if kind == "c":
        raise TypeError(f"{function}: {label} is complex, but must be real; carry real and imaginary parts")
    raise TypeError(f"{function}: {label} is {leaf!r}, but must be a number or an array; use None for nothing")


def joined(arrays: Sequence[Any]) -> Any:
    """Returns the plain entries of all arrays in a single vector."""
    return np.concatenate([np.ravel(x) for x in arrays]) if arrays else np.zeros(0)
