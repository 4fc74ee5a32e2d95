"""The table of one-step methods, which C++ has (solve/one_step/methods.hpp)."""

from __future__ import annotations

from typing import NamedTuple

from agrad._core import one_step_methods

__all__ = ["METHODS", "OneStepMethod"]


class OneStepMethod(NamedTuple):
    """One entry of the table."""

    name: str
    text: str
    order: int
    #: How far an explicit method is stable along the negative real axis, in units of the step size.
    real_stability: float
    #: Whether the method solves linear equations with the Jacobian.
    has_factors: bool

    @property
    def is_explicit(self) -> bool:
        """Whether stability limits the steps."""
        return self.real_stability > 0


#: The methods by their names, "auto" first, which is the default.
METHODS = {row[0]: OneStepMethod(*row) for row in sorted(one_step_methods(), key=lambda row: row[0] != "auto")}
