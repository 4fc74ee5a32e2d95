"""Checks and converts the options of the steps: tolerances, the number and the sizes of steps, linear algebra."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from agrad._core import Array, ErrorControl, OdeAlgebra, ShapeError
from agrad._ode.algebra import Algebra, MassEntries
from agrad._record.arguments import Values, check_one_of, positive, positive_number, real_values, whole

__all__ = ["LEAST_TOLERANCE", "StepOptions", "Tolerances", "step_options", "tolerances_of"]

Tolerances = float | Sequence[float] | np.ndarray[Any, Any]

#: Replaces an absolute tolerance of zero: no state is so small by chance, and squares of errors divided by it are finite.
LEAST_TOLERANCE = 1e-100


class StepOptions(NamedTuple):
    """The checked options of the steps, in the order of `StepMethod`; each method reads the options that it has."""

    relative_tolerance: float
    absolute_tolerance: Values  # of each state
    max_num_steps: int
    first_step: float  # 0 where the solver is to choose
    max_step: float
    max_memory: float
    algebra: OdeAlgebra
    error_control: ErrorControl
    mass: MassEntries | None = None

    def finer(self, error_control: ErrorControl) -> StepOptions:
        """Returns the options with a hundredth of the tolerances, but not below the finest for double precision."""
        relative = self.relative_tolerance
        return self._replace(
            relative_tolerance=max(relative * 1e-2, min(relative, 1e-13)),
            absolute_tolerance=self.absolute_tolerance * 1e-2,
            error_control=error_control,
        )


def step_options(
    function: str,
    states: int,
    tolerances: tuple[float, Values],
    max_num_steps: Any,
    first_step: Any = None,
    max_step: Any = math.inf,
    max_memory: Any = 1e9,
    algebra: Algebra = Algebra(),  # noqa: B008 - immutable
    error_control: str = "auto",
    *,
    least_steps: int | None = None,
) -> StepOptions:
    """Returns the options of the steps of a solve for a number of states."""
    check_one_of(function, "error_control", error_control, ErrorControl.__members__)
    is_unlimited = isinstance(max_step, Real) and max_step == math.inf
    return StepOptions(
        *tolerances,
        whole(function, "max_num_steps", max_num_steps, least=least_steps),
        0.0 if first_step is None else positive_number(function, "first_step", first_step),
        math.inf if is_unlimited else positive_number(function, "max_step", max_step),
        positive_number(function, "max_memory", max_memory),
        algebra.to_core(function, states),
        ErrorControl.__members__[error_control],
    )


def tolerances_of(
    function: str, states: int, names: tuple[str, str], relative: Any, absolute: Any, *, allows_zero: bool = False
) -> tuple[float, Values]:
    """Returns the relative tolerance and the absolute tolerance of each state; `names` are the user's names of the two.

    A single absolute tolerance holds for all states. With `allows_zero` zeros, which SciPy allows, become the least tolerance.
    """
    if allows_zero and not isinstance(absolute, Array):
        values = real_values(function, names[1], absolute)
        absolute = np.where(values == 0, LEAST_TOLERANCE, values)
    single, each = positive_number(function, names[0], relative), positive(function, names[1], absolute)
    if each.ndim == 0:
        return single, np.full(states, each)
    if each.size != states:
        raise ShapeError(f"{function}: {names[1]} is of length {each.size}, but must be of length {states}; one for each state")
    return single, each
