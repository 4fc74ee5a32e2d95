"""Checks and converts the arguments and results that functions of functions have in common."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from agrad._core import Array, DomainError, ShapeError
from agrad._record.arguments import as_array, real_values
from agrad._record.recording import name_of
from agrad._transforms.custom import stop_gradient

__all__ = ["of_shape", "plain", "residual_of", "result_of", "scalar_of", "start_of", "tolerance"]


def tolerance(function: str, name: str, x: Any) -> float:
    """Returns a tolerance that may be zero or infinite."""
    if type(x) is float and x >= 0:
        return x
    values = real_values(function, name, x)
    if values.ndim or not values >= 0:
        raise DomainError(f"{function}: {name} is {x}, but must be a number that is not negative")
    return values.item()


def result_of(label: str, value: Any, expected: str, name: str = "result") -> Any:
    """Returns the result of a user's function as an array, recorded or not; `expected` is what it must be."""
    if value is None:
        raise TypeError(f"{label}: {name} is None, but must be {expected}; does the function return?")
    return as_array(label, name, value)


def start_of(function: str, x0: Any, name: str = "x0") -> tuple[Any, tuple[int, ...]]:
    """Returns x0 as a vector without derivatives, and the shape of x0; `name` is the argument's name in messages."""
    start = as_array(function, name, x0)
    if start.size == 0:
        raise ShapeError(f"{function}: {name} is of shape {start.shape}, but must have an entry at least")
    return np.reshape(stop_gradient(start), (-1,)), start.shape


def residual_of(
    function: str, f: Callable[..., Any], shape: tuple[int, ...], args: tuple[Any, ...], guess: str
) -> Callable[[Any], Any]:
    """Returns f as a function from vectors to vectors; `guess` is the name of the start in messages."""
    label = f"{function}({name_of(f)})"
    size, expected = math.prod(shape), f"an equation for each entry of {guess}"

    def residual(x: Any) -> Any:
        value = result_of(label, f(of_shape(x, shape), *args), expected)
        if value.size != size:
            raise ShapeError(f"{label}: result is of shape {value.shape}, but must be of shape {shape}; {expected}")
        return np.reshape(value, (-1,))

    return residual


def of_shape(x: Any, shape: tuple[int, ...]) -> Any:
    if shape:
        return np.reshape(x, shape)
    return x[0] if isinstance(x, Array) else float(x[0])


def plain(x: Any) -> Any:
    """Returns the values of x for a message."""
    return x.recorded_values if isinstance(x, Array) else np.asarray(x)


def scalar_of(label: str, f: Callable[..., Any]) -> Callable[..., Any]:
    """Returns f with results that are numbers; `label` is the name in messages."""

    def scalar(*args: Any) -> Any:
        value = result_of(label, f(*args), "a number")
        if value.shape != ():
            raise ShapeError(f"{label}: result is of shape {value.shape}, but must be a number")
        return value if isinstance(value, Array) else value.item()

    return scalar
