"""Solvers of the RFC's family by one-step methods: ode_tsit5, ode_rk45, ode_ckrk, ode_dop853, ode_rodas4, each with _tol."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agrad._ode_options import step_method
from agrad._ode_record import RightHandSide, solve_initial_value_problem

__all__ = [
    "METHODS",
    "ode_ckrk",
    "ode_ckrk_tol",
    "ode_dop853",
    "ode_dop853_tol",
    "ode_rk45",
    "ode_rk45_tol",
    "ode_rodas4",
    "ode_rodas4_tol",
    "ode_tsit5",
    "ode_tsit5_tol",
]

#: What the methods are called in `solve_ivp`, and what they are.
METHODS = {
    "auto": "Tsit5, and Rodas4 from where the system turns stiff",
    "Tsit5": "Tsitouras' method of order 5, the first choice for systems that are not stiff",
    "RK45": "Dormand and Prince's method of order 5",
    "CKRK": "Cash and Karp's method of order 5, for solutions that change abruptly",
    "DOP853": "Dormand and Prince's method of order 8, for tight tolerances",
    "Rodas4": "Hairer and Wanner's Rosenbrock method of order 4, for stiff systems",
}

_TEXT = """Solve an initial value problem by {what}.

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
    Array or numpy.ndarray, shape (k, n)
        The states at the output times, recorded when y0, t0, times or one of args is.

    Raises
    ------
    ShapeError, DomainError, SolverError
        As :func:`ode_adjoint_tol_ctl`.

    Notes
    -----
    The gradient is the exact one of the computed solution for the accepted step sizes (a discrete adjoint){order}. {rest}
    """

_TOLERANCES = """    relative_tolerance, absolute_tolerance : float, float or array-like of shape (n,)
        Of each step's error.
    max_num_steps : int
        The most steps between two output times.
"""


def _with_tolerances(name: str, method: str) -> Callable[..., Any]:
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
        make = step_method(name, method, tolerances, max_num_steps)
        return solve_initial_value_problem(name, f, y0, t0, times, make, args)[0]

    return _named(solve, name, method, _TOLERANCES, f"Method {method!r} of :func:`solve_ivp`.")


def _usual(name: str, method: str) -> Callable[..., Any]:
    def solve(f: RightHandSide, y0: Any, t0: Any, times: Any, *args: Any) -> Any:
        make = step_method(name, method, {"relative_tolerance": 1e-6, "absolute_tolerance": 1e-6}, 1_000_000)
        return solve_initial_value_problem(name, f, y0, t0, times, make, args)[0]

    rest = f"Tolerances are 1e-6 and there are at most 1e6 steps; :func:`{name}_tol` takes others."
    return _named(solve, name, method, "", rest)


def _named(solve: Callable[..., Any], name: str, method: str, tolerances: str, rest: str) -> Callable[..., Any]:
    order = "" if method == "Rodas4" else ", and has second derivatives\n    with respect to y0 and args"
    solve.__name__ = solve.__qualname__ = name
    solve.__doc__ = _TEXT.format(what=METHODS[method], tolerances=tolerances, order=order, rest=rest)
    return solve


ode_tsit5, ode_tsit5_tol = _usual("ode_tsit5", "Tsit5"), _with_tolerances("ode_tsit5_tol", "Tsit5")
ode_rk45, ode_rk45_tol = _usual("ode_rk45", "RK45"), _with_tolerances("ode_rk45_tol", "RK45")
ode_ckrk, ode_ckrk_tol = _usual("ode_ckrk", "CKRK"), _with_tolerances("ode_ckrk_tol", "CKRK")
ode_rodas4, ode_rodas4_tol = _usual("ode_rodas4", "Rodas4"), _with_tolerances("ode_rodas4_tol", "Rodas4")
ode_dop853, ode_dop853_tol = _usual("ode_dop853", "DOP853"), _with_tolerances("ode_dop853_tol", "DOP853")
