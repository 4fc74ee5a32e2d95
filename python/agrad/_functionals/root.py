"""Defines root, which solves systems of equations, with derivatives by the implicit function theorem."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from agrad._core import SolverError
from agrad._functionals.arguments import of_shape, plain, residual_of, start_of, tolerance
from agrad._functionals.implicit import follow
from agrad._functionals.search import METHODS, SINGULAR, STUCK, UNDEFINED, End, Limits, search_root
from agrad._record.arguments import check_callable, check_one_of, further_arguments, positive_number, whole
from agrad._record.printed import Printed
from agrad._record.recording import name_of
from agrad._transforms.settled import settled

__all__ = ["RootResult", "root", "solved"]


@dataclass(repr=False)
class RootResult(Printed):
    """The result of :func:`root`.

    Attributes
    ----------
    x : float, numpy.ndarray or Array
        The root, of the shape of x0; differentiable.
    success : bool
        True; a search that does not succeed raises.
    fun : float, numpy.ndarray or Array
        The function's value at x, what is left of zero; without derivatives.
    nit : float or Array
        The number of steps.
    """

    x: Any
    success: bool = True
    fun: Any = float("nan")
    nit: Any = float("nan")


def root(
    f: Callable[..., Any],
    x0: Any,
    args: tuple[Any, ...] = (),
    *,
    method: str = "powell",
    rtol: float = 1e-10,
    atol: float = 0.0,
    ftol: float = np.inf,
    max_steps: int = 200,
) -> RootResult:
    """Solve a system of equations ``f(x, *args) = 0``, with derivatives by the implicit function theorem.

    Parameters
    ----------
    f : callable
        ``f(x, *args)`` returns as many equations as x has entries: a number for a number, else an array or a list. f may
        capture recorded values, and is differentiable. It may raise DomainError or SolverError, or return nan or infinity,
        where its argument is outside of its domain: a step to there is shortened.
    x0 : float or array-like
        The x to start from, in the domain of f. Of several roots the result is one to which the method leads; derivatives with
        respect to x0 are zero.
    args : tuple
        Further arguments of f: any nested structures of numbers and arrays.
    method : {"powell", "newton"}
        "powell" is Powell's hybrid method, which falls back on the gradient of the sum of squares within a trust region;
        "newton" is Newton's method with damping, which takes fewer steps where x0 is near the root.
    rtol, atol : float
        The search ends where no entry of the next step of Newton's method is longer than ``rtol * size + atol``; size is the
        larger of the same entry of x and x0. An entry near zero, which has no size, may also end where the step before
        agrees to ``sqrt(rtol)`` with the step that the Jacobian at its end gives, which shows quadratic convergence; its step
        must be short by the size of the largest entry.
    ftol : float
        What the largest equation may be off at the root, besides.
    max_steps : int
        The most steps, rejected ones included.

    Returns
    -------
    RootResult
        With x, of the shape of x0.

    Raises
    ------
    SolverError
        The Jacobian is singular at the root (as at a double root) or on the way; the method found a place where f is least
        but not zero; f is not finite at x0; `max_steps` did not suffice.
    ShapeError, TypeError, DomainError
        f returns another number of equations than x has entries; an argument is of a wrong shape, type or value. A DomainError
        of f at x0 is raised, too.

    Notes
    -----
    With J the Jacobian and f_p the derivative of f with respect to a parameter, dx = -J^-1 f_p dp; the Jacobian that the
    search ends with is factorised once more for that. Derivatives are exact to every order that f itself has, and the search
    is not differentiated. A compiled function searches again in each run.

    In the right-hand side of a differential equation, which cannot raise, a failed search gives nan.

    References
    ----------
    Powell (1970), A hybrid method for nonlinear equations, in Rabinowitz (ed.), Numerical Methods for Nonlinear Algebraic
    Equations. Deuflhard (2011), Newton Methods for Nonlinear Problems, section 3.3.

    Examples
    --------
    >>> import numpy as np, agrad as ag
    >>> kepler = lambda e: ag.root(lambda E, e: E - e * np.sin(E) - 1.0, 1.0, (e,)).x
    >>> round(kepler(0.5), 6), round(ag.grad(kepler)(0.5), 6)
    (1.498701, 1.034667)
    """
    function = "root"
    limits = Limits(
        positive_number(function, "rtol", rtol),
        tolerance(function, "atol", atol),
        tolerance(function, "ftol", ftol),
        whole(function, "max_steps", max_steps, least=1),
    )
    check_one_of(function, "method", method, METHODS)
    return solved(function, f, x0, further_arguments(function, args), method, limits)


def solved(
    function: str, f: Callable[..., Any], x0: Any, args: tuple[Any, ...], method: str, limits: Limits, guess: str = "x0"
) -> RootResult:
    """Returns the root for checked arguments; `function` and `guess` are the names of the function and of x0 in messages."""
    check_callable(function, "f", f, "x")
    start, shape = start_of(function, x0, guess)
    residual = residual_of(function, f, shape, args, guess)
    label = f"{function}({name_of(f)})"
    end = search_root(label, residual, start, method, limits)

    def complain() -> NoReturn:
        raise SolverError(_complaint(label, end))

    x = follow(residual, end.x, settled(end.is_found, end.inverse, complain))
    return RootResult(of_shape(x, shape), True, of_shape(end.value, shape), end.steps)


def _complaint(label: str, end: End) -> str:
    at, how = plain(end.x).tolist(), plain(end.how)
    at = at[0] if len(at) == 1 else at
    off = float(np.max(np.abs(plain(end.value))))
    if how == UNDEFINED:
        return f"{label}: result or Jacobian at x = {at} is not finite, but must be finite; start elsewhere"
    if how == SINGULAR:
        return (
            f"{label}: Jacobian at x = {at} is singular, but must be of full rank, to find a root and its derivatives; the "
            f"largest equation is off by {off:.3g}"
        )
    if how == STUCK:
        return (
            f"{label}: largest equation at x = {at} is {off:.3g}, but must be 0 at a root; no step makes the equations "
            "smaller; start elsewhere"
        )
    return (
        f"{label}: number of steps is {int(plain(end.steps))}, but must suffice; the largest equation is off by {off:.3g} at "
        f"x = {at}; raise max_steps, allow a larger error, or start elsewhere"
    )
