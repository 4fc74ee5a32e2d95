"""Marks functions of agrad whose recorded operations make one function, tested as a whole, such as a distribution's quantile.

Inside of such a function a zero times an infinite slope is zero; between the functions that a user composes the rule of
docs/functions.md holds, "Zero times infinity". The functions must not call functions of the user.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from agrad._core import set_composing

__all__ = ["composed", "composed_methods"]

F = TypeVar("F", bound=Callable[..., Any])


def composed(function: F) -> F:
    """Return the function such that what it records is marked."""

    @wraps(function)
    def marked(*arguments: Any, **named: Any) -> Any:
        before = set_composing(True)
        try:
            return function(*arguments, **named)
        finally:
            set_composing(before)

    return marked  # type: ignore[return-value]


def composed_methods(kind: type) -> None:
    """Mark the functions that a class defines itself."""
    for name, function in list(vars(kind).items()):
        if callable(function) and (name == "__init__" or not name.startswith("__")):
            setattr(kind, name, composed(function))
