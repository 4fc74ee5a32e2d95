"""Splits calls of compiled functions into signature and inputs, and records aux."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from agrad._core import Array, Recording
from agrad._record.constants import advice, is_constant
from agrad._record.keys import key_of
from agrad._record.structure import Outputs
from agrad._record.trees import as_plain, check_kind, flatten, is_number, orders_of_keys, split
from agrad._record.whole import is_whole
from agrad._transforms.compiled.static import Static, StaticArguments
from agrad._transforms.engine import held

__all__ = ["FLOAT64", "Aux", "Signature", "copied", "leaf_name"]

FLOAT64 = np.dtype(np.float64)

_SELF = 2  # the place of a method's instance behind the arguments and the keyword arguments


def _orders(tree: tuple[Any, ...], structure: Any) -> tuple[Any, ...]:
    """Returns the orders of the keys of dicts in a call's arguments, on which the recorded function may depend."""
    if not tree[1] and structure.num_nodes == structure.num_leaves + 3:  # nothing is nested in the arguments
        return ()
    return orders_of_keys(tree)


def leaf_name(path: Any) -> str:
    """Returns the name in messages of a leaf of a call's arguments: ``argument 0['rates']``, or ``self.rates``."""
    if path[0].entry == _SELF:
        return str(path[1:].codify("self"))
    return str(path[2:].codify(f"argument {path[1].entry}"))


class Signature:
    """A call: the inputs of the program, and the key of all other properties that the recording depends on."""

    def __init__(self, args: tuple[Any, ...], kwargs: dict[str, Any], *instance: Any, keeps_integers: bool = False) -> None:
        """Splits a call; with `keeps_integers` arrays of integers and booleans are constants."""
        tree = (args, kwargs, *instance)  # of a method there is an instance
        leaves, self.together, self.structure = flatten(tree)
        if any(type(leaf) is not np.ndarray and isinstance(leaf, np.ndarray) for leaf in leaves):
            self._check_kinds(leaves)
        self.leaves = [as_plain(leaf) for leaf in leaves]
        #: The type of each leaf that is an input: float64, or the type of integers or booleans; None for a constant.
        self.types = [_type_of_input(leaf, keeps_integers) for leaf in self.leaves]
        pairs = list(zip(self.leaves, self.types, strict=True))
        self.inputs = [np.asarray(leaf, dtype=float) for leaf, dtype in pairs if dtype is not None]
        static = tuple(key_of(leaf) for leaf, dtype in pairs if dtype is None)
        shapes, orders = tuple(x.shape for x in self.inputs), _orders(tree, self.structure)
        self.key = (self.structure, tuple(self.types), shapes, static, orders)

    def _check_kinds(self, leaves: list[Any]) -> None:
        for leaf, path in zip(leaves, self.structure.accessors(), strict=True):
            check_kind("compile", lambda path=path: leaf_name(path), leaf)  # type: ignore[misc]

    def check_constants(self, function: str, static: StaticArguments, begin: int) -> None:
        """Raises for the first leaf that is no input and may change while a recording keeps it."""
        for leaf, dtype, path in zip(self.leaves, self.types, self.structure.accessors(), strict=True):
            if dtype is not None or isinstance(leaf, Static) or is_constant(leaf):
                continue
            name = leaf_name(path)
            if not isinstance(leaf, Hashable):
                what = f"is {leaf!r}, but must be numbers, an array of numbers or hashable"
            else:
                what = f"is of type {type(leaf).__name__}, but must be numbers, immutable, or a structure of these"
            first = static.name_of(0) if path[0].entry == _SELF else path[1].entry
            argument = first if isinstance(first, str) else static.name_of(first + begin)
            raise TypeError(f"{function}: {name} {what}, because a change would not be seen; {advice(leaf, argument)}")

    def with_inputs(self, inputs: list[Any]) -> Any:
        """Returns the arguments of the call with the inputs replaced, and copies of other arrays, which recordings keep."""
        fresh = iter(inputs)
        pairs = zip(self.leaves, self.types, strict=True)
        return self.together([_copied(leaf) if dtype is None else next(fresh) for leaf, dtype in pairs])

    def recorded_inputs(self, recording: Recording) -> list[Array]:
        """Returns the inputs as arrays of a recording; those of integers and booleans are data."""
        types = [dtype for dtype in self.types if dtype is not None]
        inputs = [recording.input(x) for x in self.inputs]
        return [x if dtype == FLOAT64 else x.as_data(dtype) for x, dtype in zip(inputs, types, strict=True)]


def _type_of_input(leaf: Any, keeps_integers: bool) -> np.dtype[Any] | None:
    if is_number(leaf):
        return FLOAT64
    return np.dtype(leaf.dtype.type) if not keeps_integers and is_whole(leaf) else None


def _copied(leaf: Any) -> Any:
    """Returns a copy of an array, into which the caller may write, a static argument itself, and any other leaf unchanged."""
    if isinstance(leaf, Static):
        return leaf.value
    return leaf.copy() if isinstance(leaf, np.ndarray) else leaf


def copied(tree: Any) -> Any:
    """Returns arguments with copies of arrays, and static arguments in place of their marks."""
    leaves, together, _ = flatten(tree)
    return together(map(_copied, leaves))


class Aux:
    """The aux of a function: a program of its own computes the recorded arrays, other objects are those of the recording."""

    def __init__(self, recording: Recording, aux: Any) -> None:
        self._leaves, self._together, _ = flatten(aux)
        recorded = [leaf for leaf in self._leaves if isinstance(leaf, Array)]
        outputs = Outputs(recording, recorded)
        self._shapes, self._program = outputs.shapes, recording.program(outputs.joined) if recorded else None
        self._leaves = [None if isinstance(leaf, Array) else _copied(leaf) for leaf in self._leaves]
        self._is_recorded = [isinstance(leaf, Array) for leaf in flatten(aux)[0]]
        self._types = [leaf.dtype if leaf.is_data else FLOAT64 for leaf in recorded]

    def of(self, inputs: list[Any]) -> Any:
        """Returns aux for inputs; raises PathLeftError where the path does not hold for them."""
        flat = np.zeros(0) if self._program is None else held(self._program.forward(inputs))
        parts = split(flat, self._shapes)
        fresh = iter([x if dtype == FLOAT64 else dtype.type(x) if np.ndim(x) == 0 else x.astype(dtype)
                      for x, dtype in zip(parts, self._types, strict=True)])  # fmt: skip
        pairs = zip(self._leaves, self._is_recorded, strict=True)
        return self._together([next(fresh) if is_recorded else _copied(leaf) for leaf, is_recorded in pairs])
