"""Pickling of compiled functions: the function by its name, the recorded programs as they are.

A call's arguments are kept as their tree with a mark in place of each array, from which the signature can be made again, and
so are results. Programs of external operations (solvers, Python callbacks) stay behind: they are recorded again where the
function is unpickled, at its first call.
"""

from __future__ import annotations

import importlib
import operator
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import optree

from agrad._trees import flatten

if TYPE_CHECKING:
    from agrad._inspect import Inspected

__all__ = ["example_of", "taken_apart"]


class _Input:
    """Stands for an array or number that a program is called with."""

    __slots__ = ("shape",)

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape

    def __reduce__(self) -> tuple[Any, ...]:
        return _Input, (self.shape,)


def example_of(key: Any, of_shape: Callable[[tuple[int, ...]], Any] = np.zeros) -> Any:
    """Arguments and keyword arguments that have the signature; inputs are made by their shapes."""
    structure, is_input, shapes, constants = key
    shape_of, constant_of = iter(shapes), iter(constants)
    leaves = [of_shape(next(shape_of)) if is_number else _thawed(next(constant_of)) for is_number in is_input]
    return optree.tree_unflatten(structure, leaves)


def _thawed(frozen: Any) -> Any:
    """The leaf that `_compile._frozen` froze."""
    if len(frozen) == 3:
        dtype, shape, content = frozen
        return np.frombuffer(content, dtype).reshape(shape)
    return frozen[1]


def _is_named(compiled: Inspected[...]) -> bool:
    """Whether the function's name stands for the compiled function, as it does after ``@ag.compile``."""
    name = getattr(compiled, "__qualname__", "")
    try:
        return bool(operator.attrgetter(name)(sys.modules[compiled.__module__]) is compiled)
    except (AttributeError, KeyError):
        return False


def taken_apart(compiled: Inspected[...]) -> tuple[Any, ...]:
    """What pickle wants: a function, and arguments of which it makes the same compiled function."""
    recorded = [(key, [path for path in paths if not path.program.externals]) for key, paths in compiled.recorded()]
    entries = [(example_of(key, _Input), paths) for key, paths in recorded if paths]
    if _is_named(compiled):
        name: Any = compiled
        return _named, (name.__module__, name.__qualname__, entries)
    return _restored, (type(compiled), compiled.transformation or compiled.function, entries)


def _named(module: str, name: str, entries: list[Any]) -> Inspected[...]:
    return _with_entries(operator.attrgetter(name)(importlib.import_module(module)), entries)


def _restored(kind: type[Inspected[...]], function: Any, entries: list[Any]) -> Inspected[...]:
    return _with_entries(kind(function), entries)


def _with_entries(compiled: Inspected[...], entries: list[Any]) -> Inspected[...]:
    for example, paths in entries:
        leaves, together, _ = flatten(example)
        args, kwargs = together([np.zeros(leaf.shape) if isinstance(leaf, _Input) else leaf for leaf in leaves])
        compiled.add_recorded(args, kwargs, paths)
    return compiled
