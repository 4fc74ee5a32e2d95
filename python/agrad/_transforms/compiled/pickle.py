"""Pickles compiled functions: the function by its name, and the recorded programs.

A call's arguments are stored as a tree with a mark in place of each array, from which the signature can be computed again, and
so are results. Programs are bytes with a checksum of their own (cpp/include/agrad/program/store/portable.hpp); a seal, a second
checksum over the function's name, the signatures and the results (seal.py), shows at loading whether the pickle was changed.
The unpickled function records again what is left out: programs that hold more than data (Python callbacks), and programs of
other code than the function's code at loading (code.py). What cannot be read raises at loading; in a process of
multiprocessing, where a pool would lose the error and wait for ever, it raises when the function is used.
"""

from __future__ import annotations

import functools
import importlib
import multiprocessing
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import optree

from agrad import _core
from agrad._record.keys import leaf_of
from agrad._record.trees import flatten
from agrad._transforms.by_name import method_place, place_of
from agrad._transforms.compiled.code import code_of, walked
from agrad._transforms.compiled.paths import Path, WithPaths
from agrad._transforms.compiled.seal import Input, check, check_seal, seal_of

__all__ = ["example_of", "pickled_form", "read_program"]

_FORMAT = 4  # of the tuples below


def example_of(key: Any, of_shape: Callable[..., Any] = np.zeros) -> Any:
    """Returns a call (args, kwargs, instance of a method) with this signature; `of_shape` makes inputs from shape and dtype."""
    structure, types, shapes, constants, _ = key
    shape_of, constant_of = iter(shapes), iter(constants)
    leaves = [leaf_of(next(constant_of)) if dtype is None else of_shape(next(shape_of), dtype) for dtype in types]
    return optree.tree_unflatten(structure, leaves)


class Unreadable:
    """Stands for what a process of multiprocessing could not read; raises the error where it is used."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise self._error

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise self._error


def _told_by_use(read: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a function for pickle to call, which never raises in a process of multiprocessing."""

    @functools.wraps(read)
    def result(*stored: Any) -> Any:
        try:
            return read(*stored)
        except Exception as error:
            if multiprocessing.parent_process() is None:
                raise
            return Unreadable(error)

    return result


@_told_by_use
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
            entries.append((example_of(key, Input), states))
    function: Any = compiled.transformation or compiled.function
    options = _options_of(compiled)
    place = place_of(compiled)
    if place is not None:
        return _named, (_FORMAT, seal_of(type(compiled), (*place, options), entries), *place, entries)
    seal = seal_of(type(compiled), (function, options), entries)
    return _restored, (_FORMAT, seal, type(compiled), function, options, entries)


@_told_by_use
def _named(version: Any, seal: Any, module: Any, name: Any, entries: Any) -> WithPaths:
    _check_format(version)
    check(all(isinstance(each, str) for each in (module, name)))
    compiled = operator.attrgetter(name)(importlib.import_module(module))
    check_seal(seal, type(compiled), (module, name, _options_of(compiled)), entries)
    return _with_entries(compiled, entries)


@_told_by_use
def _restored(version: Any, seal: Any, kind: Any, function: Any, options: Any, entries: Any) -> WithPaths:
    _check_format(version)
    check_seal(seal, kind, (function, options), entries)
    compiled: WithPaths = kind(function, *options)
    return _with_entries(compiled, entries)


def _with_entries(compiled: WithPaths, entries: list[Any]) -> WithPaths:
    code = code_of(walked(compiled.transformation or compiled.function)) if entries else ""
    for example, states in entries:
        leaves, together, _ = flatten(example)
        arguments = together([np.zeros(leaf.shape, leaf.dtype) if isinstance(leaf, Input) else leaf for leaf in leaves])
        paths: list[Path] = [Path.of_state(state) for state in states]
        sizes = [int(np.prod(leaf.shape, dtype=int)) for leaf in leaves if isinstance(leaf, Input)]
        for path in paths:
            check(path.program.input_size == sum(sizes))
            check(path.program.output_size == sum(int(np.prod(shape, dtype=int)) for shape in path.shapes))
        paths = [path for path in paths if path.code == code]
        if paths:
            compiled.add_recorded(arguments, paths)
    return compiled


def _options_of(compiled: Any) -> tuple[Any, ...] | None:
    """Returns the options of compile; None for another object."""
    return (compiled.error_control, compiled.static.names, compiled.check) if isinstance(compiled, WithPaths) else None


def _check_format(version: Any) -> None:
    if version != _FORMAT:
        raise ValueError(
            f"compile: format of the pickle is version {version!r}, but must be version {_FORMAT}; record the function again"
        )
