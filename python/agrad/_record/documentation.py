"""Completes the docstrings of functions that have parameters, results and errors in common."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

__all__ = ["documented"]

Function = TypeVar("Function", bound=Callable[..., Any])


def documented(
    parameters: Mapping[str, str], returns: str, raises: Mapping[str, str], names: tuple[str, ...] = ()
) -> Callable[[Function], Function]:
    """Returns a decorator that inserts the sections Parameters, Returns and Raises after the text of a docstring.

    `parameters` maps names to types and meanings, separated by a line break; the section has the function's parameters, or
    those in `names`. `returns` is such a text of the result, and `raises` maps errors to their conditions.
    """

    def decorate(function: Function) -> Function:
        kinds = {
            name: "*" * (each.kind is each.VAR_POSITIONAL) for name, each in inspect.signature(function).parameters.items()
        }
        entries = [f"{kinds.get(name, '')}{name} : {parameters[name]}" for name in names or kinds]
        errors = [f"{error}\n{condition}" for error, condition in raises.items()]
        sections = [_section("Parameters", entries), _section("Returns", [returns]), _section("Raises", errors)]
        text, *others = re.split(r"\n\n(?=\w+\n---)", inspect.cleandoc(function.__doc__ or ""))
        function.__doc__ = "\n\n".join([text, *sections, *others]) + "\n"
        return function

    return decorate


def _section(title: str, entries: list[str]) -> str:
    """Returns a section of numpydoc, in which all lines of an entry but the first are indented."""
    lines = [entry.replace("\n", "\n    ") for entry in entries]
    return "\n".join([title, "-" * len(title), *lines])
