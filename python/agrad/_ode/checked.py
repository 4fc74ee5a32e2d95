"""Checks of a solve's gradient by a second tolerance."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any

from agrad._core import CheckedMethod, OdeMethod
from agrad._ode.options import positive_number

__all__ = ["allowed_difference", "checked", "finer_tolerance"]

_FINEST, _USUAL = 1e-13, 1e-3


def finer_tolerance(relative: Any) -> Any:
    """The relative tolerance of the second solution: a hundredth, as far as double precision goes."""
    return max(float(relative) * 1e-2, min(float(relative), _FINEST)) if isinstance(relative, Real) else relative


def allowed_difference(function: str, given: bool | float) -> float:
    """The largest relative difference of gradients that is not warned of."""
    return _USUAL if given is True else positive_number(function, "gradient_check", given)


def checked(
    make: Callable[[int], OdeMethod], make_second: Callable[[int], OdeMethod], allowed: float
) -> Callable[[int], CheckedMethod]:
    """What makes the first method with its gradients compared with the second one's."""
    return lambda states: CheckedMethod(make(states), make_second(states), allowed)
