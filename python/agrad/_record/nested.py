"""Records transformations inside of a function that is being recorded.

The user's function is recorded in the recording around the call, and the function's reverse pass, or tangents, become further
operations of that recording. These can be differentiated again, to any order, and compiled with the rest. The function may use
values of the recording around the call; derivatives with respect to these values are right. A function of plain arguments that
uses no such values has a recording of its own, as outside.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from agrad._core import Array, Recording
from agrad._record.trees import flatten

__all__ = ["Part", "capture", "has_recorded", "known"]


class Part:
    """The part of a recording between the construction of this object and the call of `end`: a function of `inputs`."""

    def __init__(self, recording: Recording, inputs: Sequence[Any]) -> None:
        self.recording = recording
        self.inputs = [recording.variable(recording.array(x)) for x in inputs]
        self.begin = self.last = recording.operations

    def end(self) -> None:
        """Ends the part at the last operation; a second call includes the operations recorded since."""
        self.last = self.recording.operations

    def adjoints(self, output: Array, seeds: Any) -> Array:
        """Returns the adjoints of all inputs in a single vector."""
        return self.recording.adjoints(self.begin, self.last, output, seeds, self.inputs)

    def tangents(self, output: Array, along: Any) -> Array:
        """Returns the tangent of the output, in the output's shape, for a direction: a single vector for all inputs."""
        return self.recording.tangents(self.begin, self.last, self.inputs, along, output)

    def rows(self, output: Array) -> Any:
        """Returns the Jacobian by adjoints, row by row: a row for each entry of the output."""
        return self._stacked([self.adjoints(output, row) for row in np.eye(output.size)], 0, output.size)

    def columns(self, output: Array) -> Any:
        """Returns the Jacobian by tangents, column by column: a column for each entry of the inputs."""
        n = self.size
        return self._stacked([np.ravel(self.tangents(output, column)) for column in np.eye(n)], 1, output.size)

    def _stacked(self, parts: list[Any], axis: int, rows: int) -> Any:
        return np.stack(parts, axis=axis) if parts else self.recording.array(np.zeros((rows, self.size)))

    @property
    def size(self) -> int:
        return sum(x.size for x in self.inputs)


def has_recorded(tree: Any) -> bool:
    """Returns whether a leaf is a recorded value."""
    return any(isinstance(leaf, Array) for leaf in flatten(tree)[0])


def capture(recording: Recording, aux: Any) -> None:
    """Captures values of other recordings in aux, as operations on them do, so that they do not become plain numbers."""
    if aux is None:
        return
    for leaf in flatten(aux)[0]:
        if isinstance(leaf, Array):
            recording.array(leaf)


def known(result: Any, arguments: Any) -> Any:
    """Returns the result with plain values for leaves that depend on no recorded value, unless an argument was recorded."""
    if has_recorded(arguments):
        return result
    leaves, together, _ = flatten(result)
    return together([_plain(leaf) for leaf in leaves])


def _plain(leaf: Any) -> Any:
    if not isinstance(leaf, Array) or leaf.is_active:
        return leaf
    values = leaf.recorded_values
    return float(values) if values.ndim == 0 else values
