"""Converts a system whose mass matrix is recorded to one with a constant mass matrix, whose derivatives are states."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from agrad._core import Array, DomainError, ShapeError
from agrad._ode.algebra import Algebra
from agrad._ode.implicit import ImplicitSystem
from agrad._ode.problem import PosedProblem
from agrad._ode.record import check_result
from agrad._record.arguments import Values, real_values, vector
from agrad._record.recording import name_of
from agrad._record.structure import as_one, find_recording

__all__ = ["with_recorded_mass"]


@dataclass(frozen=True)
class _Residual:
    """M y' - f(t, y), of which M is the first of the further arguments."""

    solver: str
    slope: Callable[..., Any]

    @property
    def __name__(self) -> str:
        return name_of(self.slope)

    def __call__(self, t: Any, y: Any, yp: Any, mass: Any, *args: Any) -> Any:
        label, found = f"{self.solver}({self.__name__})", self.slope(t, y, *args)
        if found is None:
            return None
        found = vector(label, "result", found)
        check_result(label, found, np.shape(y)[0], "slope")
        return mass @ yp - found


def with_recorded_mass(
    posed: PosedProblem, fun: Callable[..., Any], mass_matrix: Any, algebra: Algebra
) -> tuple[ImplicitSystem | None, PosedProblem]:
    """Returns the system and its problem, where a mass matrix is recorded; for other mass matrices the problem as it is."""
    if mass_matrix is None or hasattr(mass_matrix, "tocsr") or find_recording((mass_matrix,)) is None:
        return None, posed
    function, n = posed.function, posed.states.size
    if algebra.jac_sparsity is not None:
        raise ValueError(f"{function}: {algebra.name} is given, but must not be where mass_matrix is recorded")
    mass = as_one(mass_matrix)
    values = real_values(function, "mass_matrix", mass)
    if values.shape != (n, n):
        hint = "a row and a column for each state"
        raise ShapeError(f"{function}: mass_matrix is of shape {values.shape}, but must be of shape ({n}, {n}); {hint}")
    differential = (values != 0).any(axis=0)
    _check(function, mass, values, differential)
    system = ImplicitSystem(function, _Residual(function, fun), np.eye(n)[:, differential], 1)
    rest = np.zeros(system.size - n)  # F is linear in the derivatives, so any guess is good enough
    args = (mass, *posed.args)
    return system, replace(posed, y0=np.concatenate([posed.y0, rest]), states=np.concatenate([posed.states, rest]), args=args)


def _check(function: str, mass: Any, values: Values, differential: Any) -> None:
    """Raises unless the derivatives of the states whose columns are not zero follow from M y', now and nearby."""
    for i, j in np.argwhere(~np.isfinite(values))[:1]:
        raise DomainError(f"{function}: mass_matrix[{i}, {j}] is {values[i, j]}, but must be finite")
    for j in np.flatnonzero(differential == 0).tolist():
        if isinstance(mass[:, j], Array) and mass[:, j].is_active:
            raise DomainError(
                f"{function}: mass_matrix[:, {j}] is zero and recorded, but must be plain zeros; write [[m, 0.0], [0.0, 0.0]] "
                "for m * M, so that no parameter makes the state differential"
            )
    scaled = values[:, differential] / np.abs(values[:, differential]).max(axis=0, initial=0)
    if np.linalg.matrix_rank(scaled) < scaled.shape[1]:
        raise ValueError(
            f"{function}: mass_matrix is recorded and has dependent columns, but must have independent ones beside those of "
            "zeros; solve_dae takes other ones"
        )
