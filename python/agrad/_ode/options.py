"""Converts users' options to `OdeOptions`, `StepMethod` and others, with checks; messages have the user's names of options."""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from agrad._core import Array, DomainError, ErrorControl, OdeOptions, ShapeError, StepMethod
from agrad._ode.algebra import Algebra
from agrad._ode.record import real_values

__all__ = [
    "ADAMS",
    "BDF",
    "Steps",
    "Tolerances",
    "all_options",
    "each_state",
    "never_zero",
    "positive_number",
    "simple_options",
    "step_method",
    "whole",
]

Tolerances = float | Sequence[float] | np.ndarray[Any, Any]

ADAMS, BDF = 1, 2
#: Replaces an absolute tolerance of zero: no state is as small by chance, and squares of errors divided by it are finite.
_LEAST = 1e-100
#: Replaces the least tolerance for adjoints and quadratures, which begin at zero and so need a larger tolerance.
_LEAST_OF_ADJOINTS = 1e-8
_HERMITE, _POLYNOMIAL = 1, 2


def _positive(function: str, name: str, x: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
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


def never_zero(function: str, name: str, x: Any) -> Any:
    """Returns the tolerances, with zeros, which SciPy allows, replaced by the least tolerance."""
    if isinstance(x, Array):
        return x
    values = real_values(function, name, x)
    return np.where(values == 0, _LEAST, values) if (values == 0).any() else x


def positive_number(function: str, name: str, x: Any) -> float:
    values = _positive(function, name, x)
    if values.ndim:
        raise ShapeError(f"{function}: {name} is of shape {values.shape}, but must be a number")
    return values.item()


def each_state(function: str, name: str, x: Any, states: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Returns a tolerance for each state; a single tolerance holds for all states."""
    values = _positive(function, name, x)
    if values.ndim == 0:
        return np.full(states, values)
    if values.size != states:
        raise ShapeError(f"{function}: {name} is of length {values.size}, but must be of length {states}; one for each state")
    return values


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


class Steps(NamedTuple):
    """Options of the steps; the last two are for one-step methods only."""

    first_step: float | None = None
    max_step: float = math.inf
    max_memory: float = 1e9
    error_control: str = "auto"

    def sizes(self, function: str) -> tuple[float, float]:
        """Returns the size of the first step, 0 where the solver is to choose, and the largest size."""
        first = 0.0 if self.first_step is None else positive_number(function, "first_step", self.first_step)
        return first, math.inf if _is_infinite(self.max_step) else positive_number(function, "max_step", self.max_step)


def _is_infinite(x: Any) -> bool:
    return isinstance(x, Real) and x == math.inf


def all_options(
    function: str,
    relative_tolerance_forward: float,
    absolute_tolerance_forward: Tolerances,
    relative_tolerance_backward: float,
    absolute_tolerance_backward: Tolerances,
    relative_tolerance_quadrature: float,
    absolute_tolerance_quadrature: Tolerances,
    max_num_steps: int,
    num_steps_between_checkpoints: int,
    interpolation_polynomial: int,
    solver_forward: int,
    solver_backward: int,
    algebra: Algebra = Algebra(),  # noqa: B008 - immutable
    steps: Steps = Steps(),  # noqa: B008
) -> Callable[[int], OdeOptions]:
    """Returns a function that makes the options for a number of states, from the RFC's options in its order and agrad's own."""

    def make(states: int) -> OdeOptions:
        quadrature = _positive(function, "absolute_tolerance_quadrature", absolute_tolerance_quadrature)
        return OdeOptions(
            function,
            positive_number(function, "relative_tolerance_forward", relative_tolerance_forward),
            each_state(function, "absolute_tolerance_forward", absolute_tolerance_forward, states),
            positive_number(function, "relative_tolerance_backward", relative_tolerance_backward),
            each_state(function, "absolute_tolerance_backward", absolute_tolerance_backward, states),
            positive_number(function, "relative_tolerance_quadrature", relative_tolerance_quadrature),
            quadrature if quadrature.ndim else quadrature.item(),
            whole(function, "max_num_steps", max_num_steps),
            whole(function, "num_steps_between_checkpoints", num_steps_between_checkpoints),
            whole(function, "interpolation_polynomial", interpolation_polynomial),
            whole(function, "solver_forward", solver_forward),
            whole(function, "solver_backward", solver_backward),
            algebra.made(function, states),
            *steps.sizes(function),
        )

    return make


def simple_options(
    function: str,
    tolerances: dict[str, Any],
    max_num_steps: int,
    method: int = BDF,
    algebra: Algebra = Algebra(),  # noqa: B008 - immutable
    steps: Steps = Steps(),  # noqa: B008
) -> Callable[[int], OdeOptions]:
    """Returns the same from two tolerances, keyed by the user's names; the others are derived as in the RFC."""
    (relative_name, relative), (absolute_name, absolute) = tolerances.items()

    def make(states: int) -> OdeOptions:
        same = positive_number(function, relative_name, relative)
        each = each_state(function, absolute_name, absolute, states)
        of_adjoints = np.where(each > _LEAST, each, _LEAST_OF_ADJOINTS)
        derived = (same, each / 10, same, of_adjoints / 3, same, float(of_adjoints.min()))
        # Adams takes long steps of high order; cubic interpolation between these steps is too inaccurate.
        interpolation = _POLYNOMIAL if method == ADAMS else _HERMITE
        return all_options(function, *derived, max_num_steps, 250, interpolation, method, method, algebra, steps)(states)

    return make


def error_control_named(function: str, name: str) -> ErrorControl:
    """Returns the core's code for the error control, by its name."""
    known = ErrorControl.__members__
    if name not in known:
        raise ValueError(f"{function}: error_control is {name!r}, but must be one of {', '.join(map(repr, known))}")
    return known[name]


def step_method(
    function: str,
    name: str,
    tolerances: dict[str, Any],
    max_num_steps: int,
    steps: Steps = Steps(),  # noqa: B008 - immutable
    algebra: Algebra = Algebra(),  # noqa: B008
) -> Callable[[int], StepMethod]:
    """Returns a function that makes a one-step method for a number of states; `tolerances` has the user's names as keys."""
    (relative_name, relative), (absolute_name, absolute) = tolerances.items()
    control = error_control_named(function, steps.error_control)

    def make(states: int) -> StepMethod:
        return StepMethod(
            name,
            positive_number(function, relative_name, relative),
            each_state(function, absolute_name, absolute, states),
            whole(function, "max_num_steps", max_num_steps),
            *steps.sizes(function),
            positive_number(function, "max_memory", steps.max_memory),
            algebra.made(function, states),
            control,
        )

    return make
