"""Computes a checksum of the Python code that a function runs, which shows whether the code was edited since a recording.

The function's own code counts, and that of the user's functions and classes that the function names, closes over or has as
defaults, at any depth. Code of Python's library, NumPy, SciPy and agrad does not count, and neither do line numbers and data.
"""

from __future__ import annotations

import functools
import hashlib
import sys
import types
from collections.abc import Iterator, Sequence
from typing import Any

from agrad._transforms.by_name import ByName
from agrad._transforms.compiled.paths import WithPaths

__all__ = ["code_of", "named_by", "walked"]

_LIBRARIES = {"agrad", "numpy", "scipy", "optree", "builtins", *sys.stdlib_module_names} - {"__main__"}
_MOST_ENTRIES = 100  # of a list or a dict that are searched for functions


def walked(function: Any) -> list[types.FunctionType]:
    """Returns the user's functions that a function reaches, in an order that the code determines."""
    found: list[types.FunctionType] = []
    seen: dict[int, Any] = {}  # the objects, which live as long as their ids are compared
    todo = [function]
    while todo:
        thing = todo.pop()
        if id(thing) not in seen and not isinstance(thing, _DATA):
            seen[id(thing)] = thing
            if isinstance(thing, types.FunctionType) and not _is_of_library(thing.__module__):
                found.append(thing)
            todo += reversed(_others(thing))
    return found


def code_of(functions: Sequence[types.FunctionType]) -> str:
    """Returns the checksum, which is the same in each process with the same version of Python and the same code."""
    sum_of = hashlib.blake2b(digest_size=16)
    for function in functions:
        for part in _described_function(function):
            sum_of.update(part)
    return sum_of.hexdigest()


_DATA = (int, float, complex, str, bytes, type(None))


def _others(thing: Any) -> list[Any]:
    """Returns the objects from which the code of an object goes on."""
    if isinstance(thing, types.FunctionType):
        return [] if _is_of_library(thing.__module__) else _reached(thing)
    if isinstance(thing, type):
        return [] if _is_of_library(thing.__module__) else [*thing.__bases__, *_members(thing)]
    if isinstance(thing, types.MethodType):
        return [thing.__func__, thing.__self__]
    if isinstance(thing, (staticmethod, classmethod)):
        return [thing.__func__]
    if isinstance(thing, property):
        return [thing.fget]
    if isinstance(thing, (functools.partial, functools.cached_property)):
        return [thing.func, *getattr(thing, "args", ()), *getattr(thing, "keywords", {}).values()]
    if isinstance(thing, WithPaths):
        return [thing.transformation or thing.function]
    if isinstance(thing, ByName):
        return [each for name, each in vars(thing).items() if not name.startswith("__")]
    if isinstance(thing, (list, tuple)):
        return list(thing[:_MOST_ENTRIES])
    if isinstance(thing, dict):
        return list(thing.values())[:_MOST_ENTRIES]
    if isinstance(thing, types.ModuleType):
        return []
    kept = getattr(thing, "__dict__", {})
    wrapped = kept.get("__wrapped__")  # as functools.lru_cache has
    kept = {} if _is_of_library(type(thing).__module__) else kept
    return [type(thing), wrapped, *(each for name, each in kept.items() if not name.startswith("_agrad"))]


def _members(kind: type) -> list[Any]:
    """Returns the attributes of a class in the order of their names; Python adds some of them when a class is first used."""
    members = sorted(vars(kind).items())
    return [member for name, member in members if name not in ("__dict__", "__weakref__") and not name.startswith("_abc_")]


def _reached(function: types.FunctionType) -> list[Any]:
    """Returns the objects that the code of a function names, closes over, or has as defaults."""
    return [*named_by(function).values(), *(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]


def named_by(function: types.FunctionType) -> dict[str, Any]:
    """Returns the objects that the code of a function names: of closures, globals, and attributes of modules and objects."""
    closure = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    found = {name: cell.cell_contents for name, cell in closure if cell != _EMPTY}
    names = list(dict.fromkeys(_names(function.__code__)))
    found |= {name: function.__globals__[name] for name in names if name in function.__globals__ and name not in found}
    seen: set[int] = set()
    todo = list(found.items())
    while todo:  # the code has the names of attributes, as in models.decay(x)
        at, thing = todo.pop(0)
        if id(thing) in seen or not _has_attributes(thing):
            continue
        seen.add(id(thing))
        attributes = {f"{at}.{name}": vars(thing)[name] for name in names if name in vars(thing)}
        todo += attributes.items()
        found |= attributes
    return found


def _has_attributes(thing: Any) -> bool:
    """Returns whether an object is a user's module or an object of a user's class, whose attributes are searched by name."""
    if isinstance(thing, types.ModuleType):
        return not _is_of_library(thing.__name__)
    return hasattr(thing, "__dict__") and not isinstance(thing, type) and not _is_of_library(type(thing).__module__)


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
