"""Solvers by CVODES with forward sensitivities: ode_bdf, ode_adams, each with _tol."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agrad._core import ForwardMethod
from agrad._ode_algebra import Algebra
from agrad._ode_options import ADAMS, BDF, each_state, positive_number, simple_options, whole
from agrad._ode_record import RightHandSide, solve_initial_value_problem

__all__ = ["SENSITIVITIES", "forward_method", "ode_adams", "ode_adams_tol", "ode_bdf", "ode_bdf_tol"]

_CORRECTORS = {"forward": 2, "simultaneous": 1, "auto": 2}

#: How `solve_ivp` finds derivatives by CVODES.
SENSITIVITIES = ("adjoint", *_CORRECTORS)


def forward_method(
    function: str,
    tolerances: dict[str, Any],
    max_num_steps: int,
    method: int = BDF,
    sensitivities: str = "forward",
    algebra: Algebra = Algebra(),  # noqa: B008 - it cannot change
) -> Callable[[int], ForwardMethod]:
    """What makes CVODES with forward sensitivities for so many states; tolerances under the user's names of them."""
    (relative_name, relative), (absolute_name, absolute) = tolerances.items()

    def make(states: int) -> ForwardMethod:
        weighed = sensitivities == "auto"
        adjoint = simple_options(function, tolerances, max_num_steps, method, algebra)(states) if weighed else None
        return ForwardMethod(
            function,
            method,
            _CORRECTORS[sensitivities],
            positive_number(function, relative_name, relative),
            each_state(function, absolute_name, absolute, states),
            whole(function, "max_num_steps", max_num_steps),
            algebra.made(function, states),
            adjoint,
        )

    return make


_TEXT = """Solve an initial value problem by CVODES' {what}; derivatives are integrated forwards with it.

    Beside the n states there are n sensitivities of them to each initial value and each parameter that a derivative is
    wanted for, under error control. A sweep back is one product with them, so all rows of a Jacobian cost one integration;
    for the gradient of a loss with respect to many parameters :func:`ode_adjoint_tol` is cheaper.

    Parameters
    ----------
    f : callable
        The right-hand side ``f(t, y, *args)``, written with NumPy; see :func:`ode_adjoint_tol_ctl`.
    y0 : array-like, shape (n,)
        The state at t0.
    t0 : float
        The initial time.
    times : array-like, shape (k,)
        Output times, increasing, all after t0.
{tolerances}    *args
        Further arguments of f: any nested structures of numbers and arrays.

    Returns
    -------
    numpy.ndarray or Array, shape (k, n)
        The states at the output times, recorded when y0, t0, times or one of args is.

    Raises
    ------
    ShapeError, DomainError, SolverError
        As :func:`ode_adjoint_tol_ctl`.

    Notes
    -----
    As the sensitivities take part in the error control, a solve without derivatives takes other steps, and its values differ
    within the tolerances. {rest}

    References
    ----------
    Hindmarsh and Serban, User Documentation for CVODES, section 2.6.
    """

_TOLERANCES = """    relative_tolerance, absolute_tolerance : float, float or array-like of shape (n,)
        Of the states, and of x times each sensitivity to x, which is in the states' units.
    max_num_steps : int
        The most steps between two output times.
"""


def _with_tolerances(name: str, method: int, what: str) -> Callable[..., Any]:
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
        make = forward_method(name, tolerances, max_num_steps, method)
        return solve_initial_value_problem(name, f, y0, t0, times, make, args)[0]

    return _named(solve, name, what, _TOLERANCES, "")


def _usual(name: str, method: int, what: str) -> Callable[..., Any]:
    def solve(f: RightHandSide, y0: Any, t0: Any, times: Any, *args: Any) -> Any:
        make = forward_method(name, {"relative_tolerance": 1e-6, "absolute_tolerance": 1e-6}, 1_000_000, method)
        return solve_initial_value_problem(name, f, y0, t0, times, make, args)[0]

    rest = f"Tolerances are\n    1e-6 and there are at most 1e6 steps; :func:`{name}_tol` takes others."
    return _named(solve, name, what, "", rest)


def _named(solve: Callable[..., Any], name: str, what: str, tolerances: str, rest: str) -> Callable[..., Any]:
    solve.__name__ = solve.__qualname__ = name
    solve.__doc__ = _TEXT.format(what=what, tolerances=tolerances, rest=rest)
    return solve


_BDF, _ADAMS = "BDF, for stiff systems", "Adams methods, for systems that are not stiff"
ode_bdf, ode_bdf_tol = _usual("ode_bdf", BDF, _BDF), _with_tolerances("ode_bdf_tol", BDF, _BDF)
ode_adams, ode_adams_tol = _usual("ode_adams", ADAMS, _ADAMS), _with_tolerances("ode_adams_tol", ADAMS, _ADAMS)
