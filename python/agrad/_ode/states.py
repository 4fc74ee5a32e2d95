"""Converts states that are a matrix or a tree of arrays to the vector of the solvers, and back."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import optree

from agrad._core import Array, ShapeError
from agrad._ode.events import Event, Interruptions, with_functions
from agrad._ode.result import OdeResult
from agrad._record.arguments import as_array, real_values
from agrad._record.recording import name_of
from agrad._record.trees import flatten

__all__ = ["States", "states_of"]


@dataclass(frozen=True)
class States:
    """The structure of a state and the shapes of the state's arrays, which follow each other in the vector."""

    structure: Any
    shapes: tuple[tuple[int, ...], ...]

    def apart(self, y: Any, *, times_first: bool = False) -> Any:
        """Returns the structure from a vector of states; a further axis of times is the last of each array, or the first."""
        leaves, begin = [], 0
        for shape in self.shapes:
            end = begin + math.prod(shape)
            of_times = y.shape[:-1] if times_first else y.shape[1:]
            part = y[..., begin:end] if times_first else y[begin:end]
            leaves.append(np.reshape(part, of_times + shape if times_first else shape + of_times))
            begin = end
        return optree.tree_unflatten(self.structure, leaves)

    def joined(self, label: str, result: Any) -> Any:
        """Returns the vector from a result of a user's function, which has the structure of the state."""
        parts = []
        for name, leaf, shape in zip(self.names("result"), self._leaves(label, "result", result), self.shapes, strict=True):
            part = as_array(label, name, leaf)
            if part.shape != shape:
                raise ShapeError(f"{label}: {name} is of shape {part.shape}, but must be of shape {shape}, as the state is")
            parts.append(np.ravel(part))
        return np.concatenate(parts)

    def tolerances(self, function: str, name: str, given: Any) -> Any:
        """Returns a single tolerance unchanged, or a vector with a tolerance for each state from a structure of tolerances."""
        if _is_number(given):
            return given
        parts = []
        for where, leaf, shape in zip(self.names(name), self._leaves(function, name, given), self.shapes, strict=True):
            values = real_values(function, where, leaf)
            try:
                parts.append(np.ravel(np.broadcast_to(values, shape)))
            except ValueError:
                hint = "a number, or one for each entry"
                raise ShapeError(
                    f"{function}: {where} is of shape {values.shape}, but must be of shape {shape}; {hint}"
                ) from None
        return np.concatenate(parts)

    def names(self, name: str) -> list[str]:
        """Returns the names of the arrays for messages."""
        return [path.codify(name) for path in self.structure.accessors()]

    def _leaves(self, label: str, name: str, tree: Any) -> list[Any]:
        """Returns the parts of a tree in the places of the state's arrays; a part may be a list of numbers."""
        try:
            return list(self.structure.flatten_up_to(tree))
        except ValueError:
            raise TypeError(f"{label}: {name} is {tree!r}, but must be of the structure of y0") from None

    def function(self, solver: str, f: Callable[..., Any], *, is_state: bool = True) -> Callable[..., Any]:
        """Returns a user's function of the structure as a function of the vector; the result is a state, or else a number."""
        return _OfVector(self, solver, f, is_state)

    def interruptions(self, solver: str, given: Interruptions | None) -> Interruptions | None:
        """Returns the same doses, events and stops, with functions of the vector."""
        if given is None or given.events is None:
            return given
        return replace(given, events=[self._event(solver, event) for event in given.events])

    def _event(self, solver: str, event: Event) -> Event:
        return with_functions(event, partial(self.function, solver, is_state=False), partial(self.function, solver))

    def structured(self, result: OdeResult) -> OdeResult:
        """Returns the result with states of the structure."""
        result.y, hits, sol = self.apart(result.y), result._hits, result.sol
        if hits is not None:
            result._hits = partial(self._structured_hits, hits)
        if sol is not None:
            result.sol = _StructuredSolution(self, sol)
        return result

    def _structured_hits(self, hits: Callable[[], tuple[list[Any], list[Any]]]) -> tuple[list[Any], list[Any]]:
        times, states = hits()
        return times, [self.apart(each, times_first=True) for each in states]


@dataclass(frozen=True)
class _OfVector:
    states: States
    solver: str
    given: Callable[..., Any]
    is_state: bool

    @property
    def __name__(self) -> str:
        return name_of(self.given)

    def __call__(self, t: Any, y: Any, *args: Any) -> Any:
        result = self.given(t, self.states.apart(y), *args)
        if result is None or not self.is_state:
            return result
        return self.states.joined(f"{self.solver}({self.__name__})", result)


@dataclass(frozen=True)
class _StructuredSolution:
    """The function of `dense_output`."""

    states: States
    sol: Callable[[Any], Any]

    def __call__(self, t: Any) -> Any:
        return self.states.apart(self.sol(t))


def states_of(function: str, y0: Any) -> tuple[States | None, Any]:
    """Returns the structure of an initial state and the state as a vector; None and y0 itself where y0 is a vector."""
    if isinstance(y0, (list, tuple)) and all(type(each) is float for each in y0):
        return None, y0
    leaves, _, structure = flatten(y0, is_leaf=_is_plain)
    is_one = len(leaves) == 1 and structure.is_leaf()
    if is_one and _ndim(y0) <= 1:
        return None, y0
    names = [path.codify("y0") for path in structure.accessors()]
    arrays = [as_array(function, name, leaf) for name, leaf in zip(names, leaves, strict=True)]
    parts = [np.ravel(each) for each in arrays]
    return States(structure, tuple(each.shape for each in arrays)), np.concatenate(parts) if parts else np.zeros(0)


def _is_plain(x: Any) -> bool:
    """Returns whether a list or tuple holds only numbers, perhaps nested: an array and no structure."""
    return isinstance(x, (list, tuple)) and all(_is_plain(each) or _is_number(each) for each in x)


def _is_number(x: Any) -> bool:
    return not (isinstance(x, (list, tuple, dict)) or dataclasses.is_dataclass(x) or _ndim(x) > 0)


def _ndim(x: Any) -> int:
    if isinstance(x, (np.ndarray, Array)):
        return x.ndim
    if isinstance(x, (list, tuple)):
        return 1 + max((_ndim(each) for each in x), default=0)
    return 0
