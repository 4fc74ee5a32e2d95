"""Defines Stan's names of solvers of equations, with Stan's order of arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from agrad._functionals.arguments import tolerance
from agrad._functionals.root import solved
from agrad._functionals.search import Limits
from agrad._record.arguments import positive_number, whole
from agrad._record.documentation import documented

__all__ = [
    "algebra_solver",
    "algebra_solver_newton",
    "solve_newton",
    "solve_newton_tol",
    "solve_powell",
    "solve_powell_tol",
]

_RTOL = 1e-10

_STEP = "float\nThe relative length of Newton's step with which the search ends, `rtol` of :func:`root`; positive."
_PARAMETERS = {
    "f": "callable\nReturns as many equations as y has entries, as an array or a list; written with NumPy.",
    "y_guess": "array-like\nThe y to start from; without derivatives.",
    "theta": "anything\nThe parameters, which are an argument of f: any nested structure of numbers and arrays.",
    "x_r": "anything\nReal data, an argument of f.",
    "x_i": "anything\nInteger data, an argument of f.",
    "scaling_step": _STEP,
    "rel_tol": _STEP,
    "f_tol": "float\nThe largest absolute value that an equation may have at the root.",
    "max_steps": "int\nThe most steps, rejected ones included.",
    "args": "anything\nFurther arguments of f: any nested structures of numbers and arrays.",
}
_RESULT = "float, numpy.ndarray or Array\nThe root, of the shape of y_guess, with the derivatives of :func:`root`."
_ERRORS = {
    "SolverError": "No root was found: the Jacobian is singular, no step makes the equations smaller, f is not finite at the\n"
    "start, or the steps did not suffice.",
    "ShapeError": "f returns another number of equations than y has entries, or y_guess is empty.",
    "DomainError": "A tolerance is negative or nan, the tolerance of the step is 0 or infinite, or `max_steps` is below 1.",
    "TypeError": "f is not callable or returns no numbers; an argument is of another type.",
}
_solver = documented(_PARAMETERS, _RESULT, _ERRORS)


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


@_solver
def solve_newton(f: Callable[..., Any], y_guess: Any, *args: Any) -> Any:
    """Solve ``f(y, *args) = 0`` by Newton's method with damping, with derivatives by the implicit function theorem.

    :func:`root` has these arguments in another order, and describes the method.

    Examples
    --------
    >>> import numpy as np, agrad as ag
    >>> from agrad import stan
    >>> stan.solve_newton(lambda y, a: y**2 - a, np.ones(2), np.array([2.0, 9.0])).round(6)
    array([1.414214, 3.      ])
    """
    return _solve("solve_newton", "newton", f, y_guess, args, ("scaling_step", _RTOL, np.inf), 200)


@_solver
def solve_newton_tol(f: Callable[..., Any], y_guess: Any, scaling_step: float, f_tol: float, max_steps: int, *args: Any) -> Any:
    """Solve ``f(y, *args) = 0`` by Newton's method with damping, to given tolerances; see :func:`root`."""
    return _solve("solve_newton_tol", "newton", f, y_guess, args, ("scaling_step", scaling_step, f_tol), max_steps)


@_solver
def solve_powell(f: Callable[..., Any], y_guess: Any, *args: Any) -> Any:
    """Solve ``f(y, *args) = 0`` by Powell's hybrid method, with derivatives by the implicit function theorem.

    :func:`root` has these arguments in another order, and describes the method.
    """
    return _solve("solve_powell", "powell", f, y_guess, args, ("rel_tol", _RTOL, np.inf), 200)


@_solver
def solve_powell_tol(f: Callable[..., Any], y_guess: Any, rel_tol: float, f_tol: float, max_steps: int, *args: Any) -> Any:
    """Solve ``f(y, *args) = 0`` by Powell's hybrid method, to given tolerances; see :func:`root`."""
    return _solve("solve_powell_tol", "powell", f, y_guess, args, ("rel_tol", rel_tol, f_tol), max_steps)


@_solver
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

    This is the older form of :func:`solve_powell_tol`, with parameters and data as three arguments.
    """
    return _solve("algebra_solver", "powell", f, y_guess, (theta, x_r, x_i), ("rel_tol", rel_tol, f_tol), max_steps)


@_solver
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

    This is the older form of :func:`solve_newton_tol`, with parameters and data as three arguments.
    """
    return _solve("algebra_solver_newton", "newton", f, y_guess, (theta, x_r, x_i), ("rel_tol", rel_tol, f_tol), max_steps)
