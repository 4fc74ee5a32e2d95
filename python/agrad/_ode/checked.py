"""Checks the gradient of a solve by a second solve with smaller tolerances."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any

from agrad._core import CheckedMethod, OdeMethod
from agrad._ode.arguments import positive_number

__all__ = ["allowed_difference", "checked", "finer_tolerance"]

_FINEST, _USUAL = 1e-13, 1e-3


def finer_tolerance(relative: Any) -> Any:
    """Returns the relative tolerance of the second solve: a hundredth, but not below the finest for double precision."""
    return max(float(relative) * 1e-2, min(float(relative), _FINEST)) if isinstance(relative, Real) else relative


def allowed_difference(function: str, given: bool | float) -> float:
    """Returns the largest relative difference of the two gradients without a warning."""
    return _USUAL if given is True else positive_number(function, "gradient_check", given)


def checked(
    make: Callable[[int], OdeMethod], make_second: Callable[[int], OdeMethod], allowed: float
) -> Callable[[int], CheckedMethod]:
    """Returns a function that makes the first method, with gradients that are compared with the gradients of the second."""
    return lambda states: CheckedMethod(make(states), make_second(states), allowed)
