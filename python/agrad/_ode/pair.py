"""Defines the two functions of a solver of the RFC: with default tolerances, and with tolerances as arguments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from agrad._core import OdeMethod
from agrad._ode.problem import states_at
from agrad._ode.record import RightHandSide

__all__ = ["SolverPair"]

_TEXT = """Solve an initial value problem by {what}.
{about}
    Parameters
    ----------
    f : callable
        The right-hand side ``f(t, y, *args)``, written with NumPy; see :func:`ode_adjoint_tol_ctl`.
    y0 : array-like, shape (n,)
        The state at t0.
    t0 : float
        The initial time.
    times : array-like, shape (k,)
        The output times, increasing and after t0.
{tolerances}    *args
        Further arguments of f: any nested structures of numbers and arrays.

    Returns
    -------
    numpy.ndarray or Array, shape (k, n)
        The states at the output times; recorded if y0, t0, times or one of args is recorded.

    Raises
    ------
    ShapeError, DomainError, SolverError
        As :func:`ode_adjoint_tol_ctl`.

    Notes
    -----
    {notes}{rest}
{references}    """

_TOLERANCES = """    relative_tolerance, absolute_tolerance : float, float or array-like of shape (n,)
        {of}
    max_num_steps : int
        The maximum number of steps between two output times.
"""


@dataclass(frozen=True)
class SolverPair:
    """The parts of the functions `name` and `name`_tol.

    `make_options` makes a method from a function's name, tolerances keyed by the user's names, and the maximum number of
    steps. The other members are parts of the docstring: the method, more about the method, the meaning of the tolerances,
    notes and references.
    """

    name: str
    make_options: Callable[[str, dict[str, Any], int], Callable[[int], OdeMethod]]
    what: str
    tolerances_of: str
    notes: str
    about: str = ""
    references: str = ""

    def usual(self) -> Callable[..., Any]:
        """Returns the function with default tolerances."""

        def solve(f: RightHandSide, y0: Any, t0: Any, times: Any, *args: Any) -> Any:
            make = self.make_options(self.name, {"relative_tolerance": 1e-6, "absolute_tolerance": 1e-6}, 1_000_000)
            return states_at(self.name, f, y0, t0, times, make, args)

        rest = f"\n    Tolerances are 1e-6 and max_num_steps is 1e6; :func:`{self.name}_tol` has them as arguments."
        return self._named(solve, self.name, "", rest)

    def with_tolerances(self) -> Callable[..., Any]:
        """Returns the function with tolerances as arguments."""
        name = f"{self.name}_tol"

        def solve(
            f: RightHandSide,
            y0: Any,
            t0: Any,
            times: Any,
            relative_tolerance: float,
            absolute_tolerance: Any,
            max_num_steps: int,
            *args: Any,
        ) -> Any:
            tolerances = {"relative_tolerance": relative_tolerance, "absolute_tolerance": absolute_tolerance}
            make = self.make_options(name, tolerances, max_num_steps)
            return states_at(name, f, y0, t0, times, make, args)

        return self._named(solve, name, _TOLERANCES.format(of=self.tolerances_of), "")

    def _named(self, solve: Callable[..., Any], name: str, tolerances: str, rest: str) -> Callable[..., Any]:
        solve.__name__ = solve.__qualname__ = name
        solve.__doc__ = _TEXT.format(
            what=self.what, about=self.about, tolerances=tolerances, notes=self.notes, rest=rest, references=self.references
        )
        return solve
