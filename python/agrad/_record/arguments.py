"""Checks and converts the arguments that the public functions have in common; messages have users' names of arguments."""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from agrad._core import Array, DomainError, ShapeError
from agrad._record.structure import as_one, find_recording

__all__ = [
    "RightHandSide",
    "Values",
    "as_array",
    "as_given",
    "check_callable",
    "check_one_of",
    "further_arguments",
    "positive",
    "positive_number",
    "real_values",
    "vector",
    "whole",
]

RightHandSide = Callable[..., Any]
Values = np.ndarray[Any, np.dtype[np.float64]]


def real_values(function: str, name: str, x: Any) -> Values:
    """Returns the values of an argument, recorded or not, as a float64 array that nothing else refers to."""
    try:
        values = x.recorded_values if isinstance(x, Array) else np.asarray(x)
    except ValueError:
        raise ShapeError(f"{function}: {name} is ragged, but must be an array of real numbers") from None
    if values.dtype.kind not in "fiub":
        raise TypeError(f"{function}: {name} is of dtype {values.dtype}, but must be real numbers")
    return values.astype(np.float64)


def as_array(function: str, name: str, x: Any) -> Any:
    """Returns an argument or a result as an array, recorded or not."""
    x = as_one(x)
    return x if isinstance(x, Array) else real_values(function, name, x)


def vector(function: str, name: str, x: Any) -> Any:
    """Returns a number, sequence or array, possibly recorded, as a vector."""
    x = as_array(function, name, x)
    if x.ndim > 1:
        raise ShapeError(f"{function}: {name} is of shape {x.shape}, but must be a vector")
    return x if x.ndim == 1 else np.reshape(x, (-1,))


def as_given(function: str, name: str, x: Any) -> Any:
    """Returns an argument unchanged, or joined as a recorded vector where an entry is recorded."""
    return x if x is None or find_recording((x,)) is None else vector(function, name, x)


def further_arguments(function: str, args: Any) -> tuple[Any, ...]:
    """Returns `args` as a tuple, which is empty for None, SciPy's default."""
    if args is None:
        return ()
    if not isinstance(args, (tuple, list)):
        raise TypeError(
            f"{function}: args is of type {type(args).__name__}, but must be a tuple; write args=(x,) for one argument"
        )
    return tuple(args)


def check_callable(function: str, name: str, f: Any, arguments: str = "t, y") -> None:
    """Raises where a user's function is not callable; `name` is the argument's name in the message."""
    if not callable(f):
        raise TypeError(f"{function}: {name} is {f!r}, but must be callable as {name}({arguments}, ...)")


def check_one_of(function: str, name: str, value: Any, known: Iterable[str]) -> None:
    """Raises where the value is none of the known names."""
    names = tuple(known)
    if value not in names:
        raise ValueError(f"{function}: {name} is {value!r}, but must be one of {', '.join(map(repr, names))}")


def positive(function: str, name: str, x: Any) -> Values:
    """Returns a tolerance or a vector of tolerances; raises where an entry is not positive and finite."""
    if isinstance(x, Array):
        raise TypeError(f"{function}: {name} is a recorded value, but must be plain; a tolerance has no derivative")
    values = real_values(function, name, x)
    if values.ndim > 1:
        raise ShapeError(f"{function}: {name} is of shape {values.shape}, but must be a number or a vector")
    bad = np.flatnonzero(~((values > 0) & np.isfinite(values)))
    if bad.size:
        index = f"[{bad[0]}]" if values.ndim else ""
        raise DomainError(f"{function}: {name}{index} is {values.flat[bad[0]]}, but must be positive and finite")
    return values


def positive_number(function: str, name: str, x: Any) -> float:
    if type(x) is float and 0 < x < math.inf:
        return x
    values = positive(function, name, x)
    if values.ndim:
        raise ShapeError(f"{function}: {name} is of shape {values.shape}, but must be a number")
    return values.item()


def whole(function: str, name: str, x: Any, *, least: int | None = None) -> int:
    """Returns a whole number; raises where the number is below `least`."""
    try:
        number = operator.index(x)
    except TypeError:
        raise TypeError(f"{function}: {name} is {x!r}, but must be a whole number") from None
    if abs(number) > sys.maxsize:
        raise DomainError(f"{function}: {name} is {number}, but must be at most {sys.maxsize}")
    if least is not None and number < least:
        raise DomainError(f"{function}: {name} is {number}, but must be at least {least}")
    return number
