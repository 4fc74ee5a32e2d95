"""Computes a checksum of the Python code that a function runs, which shows whether the code was edited since a recording.

The function's own code counts, and that of the user's functions and classes that the function names, closes over or has as
defaults, at any depth. Code of Python's library, NumPy, SciPy and agrad does not count, and neither do line numbers and data.
"""

from __future__ import annotations

import functools
import hashlib
import sys
import types
from collections.abc import Iterator
from typing import Any

from agrad._transforms.by_name import ByName
from agrad._transforms.compiled.paths import WithPaths

__all__ = ["code_of"]

_LIBRARIES = {"agrad", "numpy", "scipy", "optree", "builtins", *sys.stdlib_module_names} - {"__main__"}
_MOST_ENTRIES = 100  # of a list or a dict that are searched for functions


def code_of(function: Any) -> str:
    """Returns the checksum, which is the same in each process with the same version of Python and the same code."""
    sum_of = hashlib.blake2b(digest_size=16)
    seen: dict[int, Any] = {}  # the objects, which live as long as their ids are compared
    todo = [function]
    while todo:
        thing = todo.pop()
        if id(thing) not in seen and not isinstance(thing, _DATA):
            seen[id(thing)] = thing
            own, others = _taken_apart(thing)
            for part in own:
                sum_of.update(part)
            todo += reversed(others)
    return sum_of.hexdigest()


_DATA = (int, float, complex, str, bytes, type(None))


def _taken_apart(thing: Any) -> tuple[Iterator[bytes], list[Any]]:
    """Returns the description of an object's own code, and the objects from which the code goes on."""
    none: Iterator[bytes] = iter(())
    if isinstance(thing, types.FunctionType):
        return (none, []) if _is_of_library(thing.__module__) else (_described_function(thing), _reached(thing))
    if isinstance(thing, type):
        return none, [] if _is_of_library(thing.__module__) else [*thing.__bases__, *_members(thing)]
    if isinstance(thing, types.MethodType):
        return none, [thing.__func__, thing.__self__]
    if isinstance(thing, (staticmethod, classmethod)):
        return none, [thing.__func__]
    if isinstance(thing, property):
        return none, [thing.fget]
    if isinstance(thing, (functools.partial, functools.cached_property)):
        return none, [thing.func, *getattr(thing, "args", ()), *getattr(thing, "keywords", {}).values()]
    if isinstance(thing, WithPaths):
        return none, [thing.transformation or thing.function]
    if isinstance(thing, ByName):
        return none, [each for name, each in vars(thing).items() if not name.startswith("__")]
    if isinstance(thing, (list, tuple)):
        return none, list(thing[:_MOST_ENTRIES])
    if isinstance(thing, dict):
        return none, list(thing.values())[:_MOST_ENTRIES]
    if isinstance(thing, types.ModuleType):
        return none, []
    kept = getattr(thing, "__dict__", {}) if not _is_of_library(type(thing).__module__) else {}
    wrapped = getattr(thing, "__wrapped__", None)  # as functools.lru_cache has
    return none, [type(thing), wrapped, *(each for name, each in kept.items() if not name.startswith("_agrad"))]


def _members(kind: type) -> list[Any]:
    """Returns the attributes of a class in the order of their names; Python adds some of them when a class is first used."""
    members = sorted(vars(kind).items())
    return [member for name, member in members if name not in ("__dict__", "__weakref__") and not name.startswith("_abc_")]


def _reached(function: types.FunctionType) -> list[Any]:
    """Returns the objects that the code of a function names, closes over, or has as defaults."""
    found = [cell.cell_contents for cell in function.__closure__ or () if cell != _EMPTY]
    found += [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    names = list(dict.fromkeys(_names(function.__code__)))
    named = [function.__globals__[name] for name in names if name in function.__globals__]
    todo = [each for each in named if isinstance(each, types.ModuleType)]
    seen: set[int] = set()
    while todo:  # attributes of modules have their names in the code, as in models.decay(x)
        module = todo.pop()
        if id(module) not in seen and not _is_of_library(module.__name__):
            seen.add(id(module))
            attributes = [vars(module)[name] for name in names if name in vars(module)]
            todo += [each for each in attributes if isinstance(each, types.ModuleType)]
            named += attributes
    return found + named


def _names(code: types.CodeType) -> Iterator[str]:
    """Yields the names of globals and attributes in the code, and in the functions within."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


def _described_function(function: types.FunctionType) -> Iterator[bytes]:
    yield from _described(function.__code__)
    for default in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
        yield _text_of(default).encode(errors="backslashreplace") if isinstance(default, _DATA) else b"other"


def _described(code: types.CodeType) -> Iterator[bytes]:
    """Yields bytes that determine what the code does."""
    yield code.co_code
    yield getattr(code, "co_exceptiontable", b"")
    counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    yield repr((code.co_name, counts, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)).encode()
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _described(constant)
        else:
            yield _text_of(constant).encode(errors="backslashreplace")


def _text_of(constant: Any) -> str:
    """Returns the text of a constant; that of a set is the same in all processes."""
    if isinstance(constant, frozenset):
        return f"{{{', '.join(sorted(map(_text_of, constant)))}}}"
    if isinstance(constant, tuple):
        return f"({', '.join(map(_text_of, constant))})"
    return repr(constant)


def _is_of_library(module: Any) -> bool:
    return str(module).partition(".")[0] in _LIBRARIES


_EMPTY = types.CellType()
