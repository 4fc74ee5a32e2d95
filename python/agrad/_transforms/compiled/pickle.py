"""Pickles compiled functions: the function by its name, and the recorded programs.

A call's arguments are stored as a tree with a mark in place of each array, from which the signature can be computed again, and
so are results. Programs are bytes with a checksum of their own (cpp/include/agrad/program/store/portable.hpp); a seal, a second
checksum over the function, the signatures and the results, shows at loading whether the pickle was changed. Programs that hold
more than data (Python callbacks) are not pickled: the unpickled function records again at its first call.
"""

from __future__ import annotations

import enum
import hashlib
import importlib
import operator
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import optree

from agrad import _core
from agrad._record.keys import leaf_of
from agrad._record.trees import flatten
from agrad._transforms.by_name import ByName, method_place, place_of
from agrad._transforms.compiled.paths import Path, WithPaths

__all__ = ["example_of", "pickled_form", "read_program"]

_FORMAT = 2  # of the tuples below


class _Input:
    """Stands for an array or number that is an input of a program."""

    __slots__ = ("shape",)

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape

    def __reduce__(self) -> tuple[Any, ...]:
        return _Input, (self.shape,)


def example_of(key: Any, of_shape: Callable[[tuple[int, ...]], Any] = np.zeros) -> Any:
    """Returns arguments and keyword arguments with this signature; `of_shape` makes the inputs from their shapes."""
    structure, is_input, shapes, constants, _ = key
    shape_of, constant_of = iter(shapes), iter(constants)
    leaves = [of_shape(next(shape_of)) if is_number else leaf_of(next(constant_of)) for is_number in is_input]
    return optree.tree_unflatten(structure, leaves)


def read_program(stored: bytes) -> _core.Program:
    """Returns the program from its bytes."""
    return _core.program_of(stored)


def pickled_form(compiled: WithPaths) -> tuple[Any, ...]:
    """Returns the pair for pickle: a function, and arguments with which this function makes the same compiled function.

    A method is pickled as an attribute of its instance, without the programs, because the instance may change before the copy
    is made; the method of the copy records again.
    """
    method = method_place(compiled)
    if method is not None:
        return getattr, method
    entries = []
    for key, paths in compiled.recorded():
        states = [state for state in (path.to_state() for path in paths) if state is not None]
        if states:
            entries.append((example_of(key, _Input), states))
    function: Any = compiled.transformation or compiled.function
    control = compiled.error_control
    place = place_of(compiled)
    if place is not None:
        return _named, (_FORMAT, _seal(type(compiled), (*place, control), entries), *place, entries)
    seal = _seal(type(compiled), (function, control), entries)
    return _restored, (_FORMAT, seal, type(compiled), function, control, entries)


def _named(version: Any, seal: Any, module: Any, name: Any, entries: Any) -> WithPaths:
    _check_format(version)
    _check(all(isinstance(each, str) for each in (module, name)))
    compiled = operator.attrgetter(name)(importlib.import_module(module))
    _check_seal(seal, type(compiled), (module, name, getattr(compiled, "error_control", None)), entries)
    return _with_entries(compiled, entries)


def _restored(version: Any, seal: Any, kind: Any, function: Any, control: Any, entries: Any) -> WithPaths:
    _check_format(version)
    _check_seal(seal, kind, (function, control), entries)
    compiled: WithPaths = kind(function, control)
    return _with_entries(compiled, entries)


def _with_entries(compiled: WithPaths, entries: list[Any]) -> WithPaths:
    for example, states in entries:
        leaves, together, _ = flatten(example)
        args, kwargs = together([np.zeros(leaf.shape) if isinstance(leaf, _Input) else leaf for leaf in leaves])
        paths: list[Path] = [Path.of_state(state) for state in states]
        sizes = [int(np.prod(leaf.shape, dtype=int)) for leaf in leaves if isinstance(leaf, _Input)]
        for path in paths:
            _check(path.program.input_size == sum(sizes))
            _check(path.program.output_size == sum(int(np.prod(shape, dtype=int)) for shape in path.shapes))
        compiled.add_recorded(args, kwargs, paths)
    return compiled


# ---- the seal


def _check_format(version: Any) -> None:
    if version != _FORMAT:
        raise ValueError(
            f"compile: format of the pickle is version {version!r}, but must be version {_FORMAT}; record the function again"
        )


def _check(holds: bool) -> None:
    if not holds:
        raise ValueError("compile: the pickle is damaged, but must be as it was pickled; record the function again")


def _check_seal(seal: Any, kind: Any, function: Any, entries: Any) -> None:
    _check(isinstance(kind, type) and issubclass(kind, WithPaths))
    try:
        found = _seal(kind, function, entries)
    except (AttributeError, IndexError, TypeError, ValueError):  # the pickle has another form
        found = ""
    _check(seal == found)


def _seal(kind: Any, function: Any, entries: Any) -> str:
    """Returns a checksum of all data that determine the computation, except for the code of Python functions."""
    sum_of = hashlib.blake2b(digest_size=16)
    for part in _described((kind, function)):
        sum_of.update(part)
    for example, states in entries:
        for part in _described_tree(example):
            sum_of.update(part)
        for program, result, shapes, comparisons in states:
            sum_of.update(program)
            for part in (*_described_tree(result), *_described((shapes, comparisons))):
                sum_of.update(part)
    return sum_of.hexdigest()


def _described_tree(tree: Any) -> Iterator[bytes]:
    leaves, _, structure = flatten(tree)
    yield re.sub(r" at 0x[0-9a-f]+", "", str(structure)).encode()
    for leaf in leaves:
        yield from _described(leaf)


def _described(thing: Any) -> Iterator[bytes]:
    """Yields bytes that describe an object and do not depend on the process; only the class of objects of unknown types."""
    kind = type(thing)
    yield f"({kind.__module__}.{kind.__qualname__}".encode()
    if thing is None or isinstance(thing, (bool, int, float, complex, str, bytes)):
        yield repr(thing).encode(errors="backslashreplace")
    elif isinstance(thing, enum.Enum):
        yield thing.name.encode()
    elif isinstance(thing, np.ndarray) and thing.dtype.kind != "O":
        yield f"{thing.dtype if thing.dtype.names else thing.dtype.str}{thing.shape}".encode()
        if thing.dtype.kind == "T":  # the bytes are addresses
            yield from _described(thing.ravel().tolist())
        else:
            yield thing.tobytes()
    elif isinstance(thing, (tuple, list)):
        for each in thing:
            yield from _described(each)
    elif isinstance(thing, dict):
        for name, each in thing.items():
            yield from _described(name)
            yield from _described(each)
    elif isinstance(thing, _Input):
        yield from _described(thing.shape)
    elif callable(thing):
        yield f"{getattr(thing, '__module__', None)}.{getattr(thing, '__qualname__', None)}".encode()
    if isinstance(thing, ByName):
        for name, each in sorted(vars(thing).items()):
            if not name.startswith("_"):
                yield from _described((name, each))
    yield b")"
