"""Defines Stan's names of solvers of equations, with Stan's order of arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from agrad._functionals.arguments import tolerance
from agrad._functionals.root import solved
from agrad._functionals.search import Limits
from agrad._ode.arguments import positive_number, whole

__all__ = [
    "algebra_solver",
    "algebra_solver_newton",
    "solve_newton",
    "solve_newton_tol",
    "solve_powell",
    "solve_powell_tol",
]

_RTOL = 1e-10


def _solve(
    function: str, method: str, f: Any, y_guess: Any, args: tuple[Any, ...], tolerances: tuple[str, Any, Any], max_steps: Any
) -> Any:
    """Returns the root; the first of the tolerances is the name of the second in messages."""
    name, step, residual = tolerances
    limits = Limits(
        positive_number(function, name, step),
        0.0,
        tolerance(function, "f_tol", residual),
        whole(function, "max_steps", max_steps, least=1),
    )
    return solved(function, f, y_guess, args, method, limits, guess="y_guess").x


def solve_newton(f: Callable[..., Any], y_guess: Any, *args: Any) -> Any:
    """Solve ``f(y, *args) = 0`` by Newton's method with damping, with derivatives by the implicit function theorem.

    See :func:`root`, of which these are the arguments in Stan's order.

    Examples
    --------
    >>> import numpy as np, agrad as ag
    >>> ag.solve_newton(lambda y, a: y**2 - a, np.ones(2), np.array([2.0, 9.0])).round(6)
    array([1.414214, 3.      ])
    """
    return _solve("solve_newton", "newton", f, y_guess, args, ("scaling_step", _RTOL, np.inf), 200)


def solve_newton_tol(f: Callable[..., Any], y_guess: Any, scaling_step: float, f_tol: float, max_steps: int, *args: Any) -> Any:
    """Solve ``f(y, *args) = 0`` by Newton's method with damping, to given tolerances.

    Parameters
    ----------
    f : callable
        ``f(y, *args)`` returns as many equations as y has entries.
    y_guess : array-like
        The y to start from.
    scaling_step : float
        The relative length of a step with which the search ends.
    f_tol : float
        What the largest equation may be off.
    max_steps : int
        The most steps.
    *args
        Further arguments of f.

    Returns
    -------
    numpy.ndarray or Array
        The root, with the derivatives of :func:`root`.

    Raises
    ------
    SolverError, ShapeError, TypeError, DomainError
        See :func:`root`.
    """
    return _solve("solve_newton_tol", "newton", f, y_guess, args, ("scaling_step", scaling_step, f_tol), max_steps)


def solve_powell(f: Callable[..., Any], y_guess: Any, *args: Any) -> Any:
    """Solve ``f(y, *args) = 0`` by Powell's hybrid method, with derivatives by the implicit function theorem.

    See :func:`root`, of which these are the arguments in Stan's order.
    """
    return _solve("solve_powell", "powell", f, y_guess, args, ("rel_tol", _RTOL, np.inf), 200)


def solve_powell_tol(f: Callable[..., Any], y_guess: Any, rel_tol: float, f_tol: float, max_steps: int, *args: Any) -> Any:
    """Solve ``f(y, *args) = 0`` by Powell's hybrid method, to given tolerances.

    As :func:`solve_newton_tol`, with `rel_tol` in the place of `scaling_step`.
    """
    return _solve("solve_powell_tol", "powell", f, y_guess, args, ("rel_tol", rel_tol, f_tol), max_steps)


def algebra_solver(
    f: Callable[..., Any],
    y_guess: Any,
    theta: Any,
    x_r: Any,
    x_i: Any,
    rel_tol: float = _RTOL,
    f_tol: float = 1e-6,
    max_steps: int = 1000,
) -> Any:
    """Solve ``f(y, theta, x_r, x_i) = 0`` by Powell's hybrid method.

    The older form of :func:`solve_powell_tol`, with parameters and data as three arguments. See :func:`root` for derivatives
    and exceptions.
    """
    return _solve("algebra_solver", "powell", f, y_guess, (theta, x_r, x_i), ("rel_tol", rel_tol, f_tol), max_steps)


def algebra_solver_newton(
    f: Callable[..., Any],
    y_guess: Any,
    theta: Any,
    x_r: Any,
    x_i: Any,
    rel_tol: float = _RTOL,
    f_tol: float = 1e-6,
    max_steps: int = 1000,
) -> Any:
    """Solve ``f(y, theta, x_r, x_i) = 0`` by Newton's method with damping.

    The older form of :func:`solve_newton_tol`, with parameters and data as three arguments. See :func:`root` for derivatives
    and exceptions.
    """
    return _solve("algebra_solver_newton", "newton", f, y_guess, (theta, x_r, x_i), ("rel_tol", rel_tol, f_tol), max_steps)
