"""Nested: transformations inside of a function that is being recorded.

The user's function is recorded where the recording around it stands, and its sweep back, or its tangents, become more
operations of that recording. They can be differentiated again, as often as one likes, and compiled with the rest. Values of
the recording around it may be used in the function as they are: derivatives with respect to them come out right. A function of
plain arguments that uses none is recorded by itself, as it is outside.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from agrad._core import Array, Recording
from agrad._record.trees import flatten

__all__ = ["Part", "has_recorded", "known"]


class Part:
    """What a function records of some inputs: from the making of this object on, until `end` is called."""

    def __init__(self, recording: Recording, inputs: Sequence[Any]) -> None:
        self.recording = recording
        self.inputs = [recording.copied(recording.array(x)) for x in inputs]
        self.begin = self.last = recording.operations

    def end(self) -> None:
        """What is recorded from now on is no part of it; called again, what was recorded since is."""
        self.last = self.recording.operations

    def adjoints(self, output: Array, seeds: Any) -> Array:
        """The adjoints of all inputs, one after the other."""
        return self.recording.adjoints(self.begin, self.last, output, seeds, self.inputs)

    def tangents(self, output: Array, along: Any) -> Array:
        """The tangent of the output, in its shape, for a direction of all inputs, one after the other."""
        return self.recording.tangents(self.begin, self.last, self.inputs, along, output)

    def rows(self, output: Array) -> Any:
        """The Jacobian's rows, one for each entry of the output."""
        return self._stacked([self.adjoints(output, row) for row in np.eye(output.size)], 0, output.size)

    def columns(self, output: Array) -> Any:
        """The same by columns, one for each entry of the inputs."""
        n = self.size
        return self._stacked([np.ravel(self.tangents(output, column)) for column in np.eye(n)], 1, output.size)

    def _stacked(self, parts: list[Any], axis: int, rows: int) -> Any:
        return np.stack(parts, axis=axis) if parts else self.recording.array(np.zeros((rows, self.size)))

    @property
    def size(self) -> int:
        return sum(x.size for x in self.inputs)


def has_recorded(tree: Any) -> bool:
    """Whether a leaf is a recorded value."""
    return any(isinstance(leaf, Array) for leaf in flatten(tree)[0])


def known(result: Any, arguments: Any) -> Any:
    """The result, with plain values for what depends on nothing recorded, unless an argument was recorded."""
    if has_recorded(arguments):
        return result
    leaves, together, _ = flatten(result)
    return together([_plain(leaf) for leaf in leaves])


def _plain(leaf: Any) -> Any:
    if not isinstance(leaf, Array) or leaf.is_active:
        return leaf
    values = leaf.recorded_values
    return float(values) if values.ndim == 0 else values
