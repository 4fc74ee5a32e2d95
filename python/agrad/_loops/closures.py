"""Finds recorded values that functions close over, and copies functions so that later changes of variables have no effect."""

from __future__ import annotations

import functools
import types
from collections.abc import Sequence
from typing import Any

from agrad._core import Array, Comparison

__all__ = ["frozen", "reached"]

_MOST_REACHED = 1000  # objects in a search for recorded values


def frozen(function: Any, known: dict[int, Any] | None = None) -> Any:
    """Returns a copy of the function with the present values of the variables that the function closes over.

    Python reads these variables when the function is called, and in ``for k in ...: cond(x > k, lambda: k * x, ...)`` a branch
    that is recorded in a later run would read another k than the k of its iteration.
    """
    known = {} if known is None else known
    if id(function) in known:
        return known[id(function)]
    if isinstance(function, types.FunctionType) and function.__closure__:
        cells = tuple(types.CellType() for _ in function.__closure__)
        copy = types.FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__, cells)
        copy.__kwdefaults__, copy.__qualname__ = function.__kwdefaults__, function.__qualname__
        copy.__dict__.update(function.__dict__)
        known[id(function)] = copy  # a function may close over itself
        for cell, given in zip(cells, function.__closure__, strict=True):
            if given != _EMPTY:
                cell.cell_contents = frozen(given.cell_contents, known)
        return copy
    if isinstance(function, types.MethodType):
        return types.MethodType(frozen(function.__func__, known), function.__self__)
    if isinstance(function, functools.partial):
        return functools.partial(frozen(function.func, known), *function.args, **function.keywords)
    return function.with_slots(function.slots) if isinstance(function, Array) else function


def reached(roots: Sequence[Any], depth: int, *, is_run_again: bool) -> list[Array]:
    """Returns recorded arrays that functions hold and later paths may need, of recordings that run again with other values.

    `is_run_again`: whether a recording around the body runs again, as vmap's recording of a row does for other rows; then
    arrays of all recordings around count.
    """
    found: list[Array] = []
    seen: set[int] = set()
    todo = list(roots)
    while todo and len(seen) < _MOST_REACHED:
        x = todo.pop()
        if id(x) in seen:
            continue
        seen.add(id(x))
        if isinstance(x, Array):
            around = x.recording
            again = is_run_again or around.on_comparison != Comparison.answers
            if x.is_active and around.is_open and around.depth < depth and again:
                found.append(x)
        elif isinstance(x, types.FunctionType):
            todo += [cell.cell_contents for cell in x.__closure__ or () if cell != _EMPTY]
            todo += [*(x.__defaults__ or ()), *(x.__kwdefaults__ or {}).values()]
        elif isinstance(x, types.MethodType):
            todo += [x.__func__, x.__self__]
        elif isinstance(x, functools.partial):
            todo += [x.func, *x.args, *x.keywords.values()]
        elif isinstance(x, (list, tuple)):
            todo += x[:_MOST_REACHED]
        elif isinstance(x, dict):
            todo += x.values()
        elif not isinstance(x, (type, types.ModuleType)) and hasattr(x, "__dict__"):
            todo += vars(x).values()
    return found


_EMPTY = types.CellType()
