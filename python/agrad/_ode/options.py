"""Converts users' options to `OdeOptions`, `StepMethod` and others, with checks; messages have the user's names of options."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from agrad._core import Array, ErrorControl, OdeOptions, ShapeError, StepMethod
from agrad._ode.algebra import Algebra
from agrad._ode.arguments import check_one_of, positive, positive_number, real_values, whole

__all__ = [
    "ADAMS",
    "BDF",
    "Steps",
    "Tolerances",
    "all_options",
    "each_state",
    "never_zero",
    "simple_options",
    "step_method",
]

Tolerances = float | Sequence[float] | np.ndarray[Any, Any]

ADAMS, BDF = 1, 2
#: Replaces an absolute tolerance of zero: no state is as small by chance, and squares of errors divided by it are finite.
_LEAST = 1e-100
#: Replaces the least tolerance for adjoints and quadratures, which begin at zero and so need a larger tolerance.
_LEAST_OF_ADJOINTS = 1e-8
_HERMITE, _POLYNOMIAL = 1, 2


def never_zero(function: str, name: str, x: Any) -> Any:
    """Returns the tolerances, with zeros, which SciPy allows, replaced by the least tolerance."""
    if isinstance(x, Array):
        return x
    values = real_values(function, name, x)
    return np.where(values == 0, _LEAST, values) if (values == 0).any() else x


def each_state(function: str, name: str, x: Any, states: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Returns a tolerance for each state; a single tolerance holds for all states."""
    values = positive(function, name, x)
    if values.ndim == 0:
        return np.full(states, values)
    if values.size != states:
        raise ShapeError(f"{function}: {name} is of length {values.size}, but must be of length {states}; one for each state")
    return values


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
        quadrature = positive(function, "absolute_tolerance_quadrature", absolute_tolerance_quadrature)
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
    check_one_of(function, "error_control", name, ErrorControl.__members__)
    return ErrorControl.__members__[name]


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
