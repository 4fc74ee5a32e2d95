"""Checks and converts the arguments and results that functions of functions have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from agrad._core import Array, DomainError, ShapeError
from agrad._ode.arguments import real_values
from agrad._record.recording import name_of
from agrad._record.structure import as_one
from agrad._transforms.custom import stop_gradient

__all__ = ["of_shape", "plain", "residual_of", "scalar_of", "start_of", "tolerance"]


def tolerance(function: str, name: str, x: Any) -> float:
    """Returns a tolerance that may be zero or infinite."""
    values = real_values(function, name, x)
    if values.ndim or not values >= 0:
        raise DomainError(f"{function}: {name} is {x}, but must be a number that is not negative")
    return values.item()


def start_of(function: str, x0: Any) -> tuple[Any, tuple[int, ...]]:
    """Returns x0 as a vector without derivatives, and the shape of x0."""
    x0 = as_one(x0)
    values = real_values(function, "x0", x0)
    if values.size == 0:
        raise ShapeError(f"{function}: x0 is of shape {values.shape}, but must have an entry at least")
    return np.reshape(stop_gradient(x0) if isinstance(x0, Array) else values, (-1,)), values.shape


def residual_of(function: str, f: Callable[..., Any], shape: tuple[int, ...], args: tuple[Any, ...]) -> Callable[[Any], Any]:
    """Returns f as a function from vectors to vectors."""
    label = f"{function}({name_of(f)})"
    size = int(np.prod(shape, dtype=int))

    def residual(x: Any) -> Any:
        value = f(of_shape(x, shape), *args)
        if value is None:
            raise TypeError(f"{label}: result is None, but must be an equation for each entry of x0; does the function return?")
        value = as_one(value)
        value = value if isinstance(value, Array) else real_values(label, "result", value)
        if value.size != size:
            raise ShapeError(
                f"{label}: result is of shape {value.shape}, but must be of shape {shape}; one equation for each entry of x0"
            )
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
        value = f(*args)
        if value is None:
            raise TypeError(f"{label}: result is None, but must be a number; does the function return?")
        if np.shape(value) != ():
            raise ShapeError(f"{label}: result is of shape {np.shape(value)}, but must be a number")
        return value if isinstance(value, Array) else real_values(label, "result", value).item()

    return scalar
