"""Splits the arguments that a transformation differentiates with respect to into leaves, and joins leaves again."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import Any

from agrad._core import Recording
from agrad._record.trees import direction, flatten, is_data, parameter

__all__ = ["ArgNums", "Parameters", "as_places"]

ArgNums = int | Sequence[int]


def as_places(function: str, argnums: ArgNums) -> tuple[bool, tuple[int, ...]]:
    """Returns whether argnums is a single number, and argnums as a tuple."""
    try:
        single = not isinstance(argnums, Sequence)
        return single, tuple(map(operator.index, [argnums] if single else argnums))  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{function}: argnums is {argnums!r}, but must be an int or a sequence of ints") from None


class Parameters:
    """The arguments that a transformation differentiates with respect to, as leaves in float64."""

    def __init__(self, function: str, args: tuple[Any, ...], argnums: ArgNums, within: Recording | None = None) -> None:
        self.within = within  # the recording whose values are allowed as leaves
        self.single, self.places = as_places(function, argnums)
        for place in self.places:
            if not -len(args) <= place < len(args):
                raise TypeError(
                    f"{function}: argnums is {place}, but must be the place of a positional argument; {len(args)} were given"
                )
        self._places_from_0 = [place % len(args) for place in self.places]
        if len({*self._places_from_0}) < len(self.places):
            raise TypeError(f"{function}: argnums is {argnums}, but must be different places")
        leaves, self._together, self._structure = flatten(tuple([args[place] for place in self.places]))
        self._is_data = self._which_are_data(leaves)
        self._has_data = True in self._is_data
        self._where = [n for n, other in enumerate(self._is_data) if not other]
        self.leaves = [parameter(function, self.label, k, leaves[n], within) for k, n in enumerate(self._where)]
        self.shapes = [leaf.shape for leaf in self.leaves]

    def _which_are_data(self, leaves: list[Any]) -> list[bool]:
        """Returns which leaves within structures are data; no leaf is where all would be, so that `parameter` raises."""
        found = [is_data(leaf) for leaf in leaves]
        if True not in found or all(found):
            return [False] * len(leaves)
        return [len(path) > 1 and other for path, other in zip(self._structure.accessors(), found, strict=True)]

    def label(self, n: int) -> str:
        """Returns the name of a leaf in messages: ``argument 0['rates'][2]``."""
        path = self._structure.accessors()[self._where[n]]
        return str(path[1:].codify(f"argument {self._places_from_0[path[0].entry]}"))

    def put(self, args: tuple[Any, ...], leaves: Iterable[Any]) -> list[Any]:
        """Returns the arguments with the parameters' leaves replaced."""
        replaced, fresh = list(args), iter(leaves)
        if self._has_data:
            given = flatten(tuple(args[place] for place in self.places))[0]
            leaves = [leaf if other else next(fresh) for leaf, other in zip(given, self._is_data, strict=True)]
        for place, tree in zip(self.places, self._together(leaves), strict=True):
            replaced[place] = tree
        return replaced

    def together(self, leaves: Iterable[Any]) -> Any:
        """Returns leaves, one for each parameter, in the structure of the differentiated arguments; None for data."""
        if self._has_data:
            fresh = iter(leaves)
            leaves = [None if other else next(fresh) for other in self._is_data]
        trees = self._together(leaves)
        return trees[0] if self.single else tuple(trees)

    def of(self, args: tuple[Any, ...]) -> list[Any]:
        """Returns the leaves of such arguments that are parameters."""
        leaves = flatten(tuple(args[place] for place in self.places))[0]
        return [leaves[n] for n in self._where]

    def direction(self, function: str, name: str, tree: Any) -> Any:
        """Returns a direction in the structure of the differentiated arguments as a vector; `name` is for messages."""
        if not self.single and not isinstance(tree, (tuple, list)):
            raise TypeError(f"{function}: {name} is {tree!r}, but must be a tuple, one for each differentiated argument")
        like = f"argument {self._places_from_0[0]}" if self.single else "the differentiated arguments"
        trees = (tree,) if self.single else tuple(tree)
        fresh = iter(self.shapes)
        shapes = [None if other else next(fresh) for other in self._is_data]
        return direction(function, name, trees, like, self._structure, shapes, skip=int(self.single), within=self.within)
