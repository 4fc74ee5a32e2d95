"""Splits calls of compiled functions into signature and inputs, and records aux."""

from __future__ import annotations

from typing import Any

import numpy as np

from agrad._core import Array, Recording
from agrad._record.keys import key_of
from agrad._record.structure import Outputs
from agrad._record.trees import as_plain, check_kind, flatten, is_number, orders_of_keys, split
from agrad._transforms.engine import held

__all__ = ["Aux", "Signature"]


def _orders(args: tuple[Any, ...], kwargs: dict[str, Any], structure: Any) -> tuple[Any, ...]:
    """Returns the orders of the keys of dicts in a call's arguments, on which the recorded function may depend."""
    if not kwargs and structure.num_nodes == structure.num_leaves + 3:  # nothing is nested in the two parts of the pair
        return ()
    return orders_of_keys((args, kwargs))


class Signature:
    """A call: the inputs of the program, and the key of all other properties that the recording depends on."""

    def __init__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        leaves, self.together, self.structure = flatten((args, kwargs))
        if any(type(leaf) is not np.ndarray and isinstance(leaf, np.ndarray) for leaf in leaves):
            self._check_kinds(leaves)
        self.leaves = [as_plain(leaf) for leaf in leaves]
        self.is_input = [is_number(leaf) for leaf in self.leaves]
        self.inputs = [np.asarray(leaf, dtype=float) for leaf in self.leaves if is_number(leaf)]
        static = tuple(key_of(leaf) for leaf in self.leaves if not is_number(leaf))
        shapes, orders = tuple(x.shape for x in self.inputs), _orders(args, kwargs, self.structure)
        self.key = (self.structure, tuple(self.is_input), shapes, static, orders)

    def _check_kinds(self, leaves: list[Any]) -> None:
        for leaf, path in zip(leaves, self.structure.accessors(), strict=True):
            check_kind("compile", lambda path=path: path[2:].codify(f"argument {path[1].entry}"), leaf)  # type: ignore[misc]

    def check_hashable(self, function: str) -> None:
        """Raises for the first leaf that is neither a number nor hashable."""
        for leaf, path in zip(self.leaves, self.structure.accessors(), strict=True):
            try:
                hash(key_of(leaf))
            except TypeError:
                name = path[2:].codify(f"argument {path[1].entry}")
                raise TypeError(
                    f"{function}: {name} is {leaf!r}, but must be numbers, an array of numbers or hashable"
                ) from None

    def with_inputs(self, inputs: list[Any]) -> Any:
        """Returns the arguments of the call with the inputs replaced, and copies of other arrays, which recordings keep."""
        fresh = iter(inputs)
        pairs = zip(self.leaves, self.is_input, strict=True)
        return self.together([next(fresh) if is_input else _copied(leaf) for leaf, is_input in pairs])


def _copied(leaf: Any) -> Any:
    """Returns a copy of an array, into which the caller may write, and any other leaf unchanged."""
    return leaf.copy() if isinstance(leaf, np.ndarray) else leaf


class Aux:
    """The aux of a function: a program of its own computes the recorded arrays, other objects are those of the recording."""

    def __init__(self, recording: Recording, aux: Any) -> None:
        self._leaves, self._together, _ = flatten(aux)
        recorded = [leaf for leaf in self._leaves if isinstance(leaf, Array)]
        outputs = Outputs(recording, recorded)
        self._shapes, self._program = outputs.shapes, recording.program(outputs.joined) if recorded else None
        self._leaves = [None if isinstance(leaf, Array) else _copied(leaf) for leaf in self._leaves]
        self._is_recorded = [isinstance(leaf, Array) for leaf in flatten(aux)[0]]

    def of(self, inputs: list[Any]) -> Any:
        """Returns aux for inputs; raises PathLeftError where the path does not hold for them."""
        flat = np.zeros(0) if self._program is None else held(self._program.forward(inputs))
        fresh = iter(split(flat, self._shapes))
        pairs = zip(self._leaves, self._is_recorded, strict=True)
        return self._together([next(fresh) if is_recorded else _copied(leaf) for leaf, is_recorded in pairs])
