"""Seals the pickle of a compiled function: a checksum of the data that determine the computation.

The function and other callable objects count by their names. The main program's names are the same in the processes of
multiprocessing, which import the program under another name.
"""

from __future__ import annotations

import enum
import hashlib
import re
from collections.abc import Iterator
from datetime import date, time, timedelta
from numbers import Number
from typing import Any

import numpy as np

from agrad._core import Array
from agrad._record.trees import flatten
from agrad._transforms.by_name import ByName
from agrad._transforms.compiled.paths import WithPaths
from agrad._transforms.compiled.static import Static

__all__ = ["Input", "check", "check_seal", "described", "seal_of"]

_WRITTEN_OUT = (type(None), str, bytes, date, time, timedelta, Number)  # whose text determines them
_MAIN_OF_CHILDREN = "__mp_main__"  # multiprocessing's name for __main__ in the processes that it starts by spawn or forkserver


class Input:
    """Stands for an array or number that is an input of a program."""

    __slots__ = ("dtype", "shape")

    def __init__(self, shape: tuple[int, ...], dtype: Any) -> None:
        self.shape, self.dtype = shape, np.dtype(dtype)

    def __reduce__(self) -> tuple[Any, ...]:
        return Input, (self.shape, self.dtype.str)


def check(holds: bool) -> None:
    """Raises where a pickle is not as it was made."""
    if not holds:
        raise ValueError("compile: the pickle is damaged, but must be as it was pickled; record the function again")


def check_seal(seal: Any, kind: Any, function: Any, entries: Any) -> None:
    """Raises where the data are not those of the seal."""
    check(isinstance(kind, type) and issubclass(kind, WithPaths))
    try:
        found = seal_of(kind, function, entries)
    except (AttributeError, IndexError, TypeError, ValueError):  # the pickle has another form
        found = ""
    check(seal == found)


def seal_of(kind: Any, function: Any, entries: Any) -> str:
    """Returns a checksum of all data that determine the computation, except for the code of Python functions."""
    sum_of = hashlib.blake2b(digest_size=16)
    for part in described((kind, function)):
        sum_of.update(part)
    for example, states in entries:
        for part in _described_tree(example):
            sum_of.update(part)
        for program, result, *others in states:
            sum_of.update(program)
            for part in (*_described_tree(result), *described(others)):
                sum_of.update(part)
    return sum_of.hexdigest()


def _described_tree(tree: Any) -> Iterator[bytes]:
    leaves, _, structure = flatten(tree)
    yield re.sub(r" at 0x[0-9a-f]+", "", str(structure)).encode()
    for leaf in leaves:
        yield from described(leaf)


def described(thing: Any) -> Iterator[bytes]:
    """Yields bytes that describe an object and do not depend on the process; only the class of objects of unknown types."""
    kind = type(thing)
    yield f"({_name_of(kind)}".encode()
    if kind is Array:
        pass
    elif isinstance(thing, _WRITTEN_OUT) and not isinstance(thing, (enum.Enum, np.generic)):
        text = hex(thing) if isinstance(thing, int) else repr(thing)  # hex knows no limit of digits
        yield text.encode(errors="backslashreplace")
    elif isinstance(thing, enum.Enum):
        yield thing.name.encode()
    elif isinstance(thing, (np.ndarray, np.generic)) and thing.dtype.kind != "O":
        yield f"{thing.dtype if thing.dtype.names else thing.dtype.str}{thing.shape}".encode()
        if thing.dtype.kind == "T":  # the bytes are addresses
            yield from described(thing.ravel().tolist())
        else:
            yield thing.tobytes()
    elif isinstance(thing, (tuple, list)):
        for each in thing:
            yield from described(each)
    elif isinstance(thing, (set, frozenset)):
        yield from sorted(b"".join(described(each)) for each in thing)
    elif isinstance(thing, dict):
        for name, each in thing.items():
            yield from described(name)
            yield from described(each)
    elif isinstance(thing, (Input, Static)):
        yield from described((thing.shape, thing.dtype.str) if isinstance(thing, Input) else thing.value)
    elif isinstance(thing, slice):
        yield from described((thing.start, thing.stop, thing.step))
    elif callable(thing):
        yield _name_of(thing).encode()
    if isinstance(thing, ByName):
        for name, each in sorted(vars(thing).items()):
            if not name.startswith("_"):
                yield from described((name, each))
    yield b")"


def _name_of(thing: Any) -> str:
    """Returns the module and the name of a class or another callable object, the same ones in all processes."""
    module = getattr(thing, "__module__", None)
    return f"{'__main__' if module == _MAIN_OF_CHILDREN else module}.{getattr(thing, '__qualname__', None)}"
