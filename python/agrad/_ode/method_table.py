"""Reads the table of one-step methods from C++ (solve/one_step/methods.hpp)."""

from __future__ import annotations

from typing import NamedTuple

from agrad._core import one_step_methods

__all__ = ["METHODS", "OneStepMethod"]


class OneStepMethod(NamedTuple):
    """An entry of the table."""

    name: str
    text: str
    order: int
    #: The stability border of an explicit method on the negative real axis: step size times decay rate; 0 of other methods.
    real_stability: float
    #: Whether the method solves linear equations with the Jacobian.
    has_factors: bool

    @property
    def is_explicit(self) -> bool:
        """Whether the method is explicit, so that stability may limit the steps."""
        return self.real_stability > 0


#: The methods by their names; "auto", the default, comes first.
METHODS = {row[0]: OneStepMethod(*row) for row in sorted(one_step_methods(), key=lambda row: row[0] != "auto")}
