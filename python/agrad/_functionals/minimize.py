"""Defines minimize, which finds minima of functions, with derivatives by the implicit function theorem."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from agrad._core import SolverError
from agrad._functionals.arguments import of_shape, plain, scalar_of, start_of, tolerance
from agrad._functionals.implicit import follow
from agrad._functionals.search import SINGULAR, STUCK, UNDEFINED, End, Limits, search_minimum
from agrad._record.arguments import check_callable, further_arguments, positive_number, whole
from agrad._record.printed import Printed
from agrad._record.recording import name_of
from agrad._transforms.gradients import grad
from agrad._transforms.settled import settled

__all__ = ["MinimumResult", "minimize", "minimum"]


@dataclass(repr=False)
class MinimumResult(Printed):
    """The result of :func:`minimize`.

    Attributes
    ----------
    x : float, numpy.ndarray or Array
        The minimum's place, of the shape of x0; differentiable.
    fun : float or Array
        The function's value at x; differentiable.
    success : bool
        True; a search that does not succeed raises.
    nit : float or Array
        The number of steps.
    """

    x: Any
    fun: Any
    success: bool = True
    nit: Any = float("nan")


def minimize(
    f: Callable[..., Any],
    x0: Any,
    args: tuple[Any, ...] = (),
    *,
    rtol: float = 1e-10,
    atol: float = 0.0,
    max_steps: int = 200,
) -> MinimumResult:
    """Find a local minimum of a function ``f(x, *args)``, with derivatives by the implicit function theorem.

    The method is Newton's with the Hessian's eigenvalues: a step goes downhill along every eigenvector, and is damped where f
    does not fall, or where the step ends outside of the domain of f. It takes a Hessian and its eigenvalues in each step, so it
    is for up to some hundred unknowns.

    Parameters
    ----------
    f : callable
        ``f(x, *args)`` returns a number. f may capture recorded values, and has second derivatives. It may raise DomainError or
        SolverError, or return nan or infinity, where its argument is outside of its domain.
    x0 : float or array-like
        The x to start from, in the domain of f. Of several minima the result is one to which the method leads; derivatives with
        respect to x0 are zero.
    args : tuple
        Further arguments of f: any nested structures of numbers and arrays.
    rtol, atol : float
        The search ends where no entry of the next step of Newton's method is longer than ``rtol * size + atol``; size is the
        larger of the same entry of x and x0. An entry near zero, which has no size, may also end where the step before
        agrees to ``sqrt(rtol)`` with the step that the Hessian at its end gives, which shows quadratic convergence; its step
        must be short by the size of the largest entry.
    max_steps : int
        The most steps, rejected ones included.

    Returns
    -------
    MinimumResult
        With x, of the shape of x0, and fun.

    Raises
    ------
    SolverError
        The Hessian at the end is not positive definite, as at a saddle or in a valley without a bottom; f is not finite at x0;
        `max_steps` did not suffice, because f has no minimum, for example.
    ShapeError, TypeError, DomainError
        f returns no number; an argument is of a wrong shape, type or value. A DomainError of f at x0 is raised, too.

    Notes
    -----
    With H the Hessian, g the gradient and g_p its derivative with respect to a parameter, dx = -H^-1 g_p dp. Derivatives are
    exact to every order that the gradient has, and the search is not differentiated; first derivatives of x take second
    derivatives of f. A compiled function searches again in each run. In the right-hand side of a differential equation, which
    cannot raise, a failed search gives nan.

    References
    ----------
    Nocedal and Wright (2006), Numerical Optimization, sections 3.4 and 4.1.

    Examples
    --------
    >>> import numpy as np, agrad as ag
    >>> mode = lambda k: ag.minimize(lambda x, k: np.exp(x) - k * x, 0.0, (k,)).x  # log(k)
    >>> round(mode(2.0), 6), round(ag.grad(mode)(2.0), 6), round(ag.hessian(mode)(2.0), 6)
    (0.693147, 0.5, -0.25)
    """
    function = "minimize"
    limits = Limits(
        positive_number(function, "rtol", rtol),
        tolerance(function, "atol", atol),
        np.inf,
        whole(function, "max_steps", max_steps, least=1),
    )
    check_callable(function, "f", f, "x")
    start, shape = start_of(function, x0)
    given = further_arguments(function, args)
    value = scalar_of(f"{function}({name_of(f)})", lambda x: f(of_shape(x, shape), *given))
    x, count = minimum(f"{function}({name_of(f)})", value, start, limits)
    return MinimumResult(of_shape(x, shape), value(x), True, count)


def minimum(
    label: str,
    f: Callable[[Any], Any],
    start: Any,
    limits: Limits,
    *,
    curvature: Callable[[Any], Any] | None = None,
    deviations: float = 0.0,
    explain: Callable[[Any], None] | None = None,
) -> tuple[Any, Any]:
    """Returns the minimum of a function of vectors, with derivatives, and the number of steps.

    `label` is for messages; `curvature` returns the Hessian where there is a cheaper way to it; where `deviations` is positive,
    the search ends at a step of so many standard deviations; `explain` raises where it finds a reason why the search failed,
    given the x at which it ended.
    """
    slope = grad(f)
    with_derivatives = curvature and (lambda x: (f(x), slope(x), curvature(x)))
    end = search_minimum(label, f, start, limits, with_derivatives, deviations)

    def complain() -> NoReturn:
        if explain is not None:
            explain(end.x)
        raise SolverError(_complaint(label, end))

    return follow(slope, end.x, settled(end.is_found, end.inverse, complain)), end.steps


def _complaint(label: str, end: End) -> str:
    at, how = plain(end.x).tolist(), plain(end.how)
    at = at[0] if len(at) == 1 else at
    if how == UNDEFINED:
        return f"{label}: result or its derivatives at x = {at} are not finite, but must be finite; start elsewhere"
    if how == SINGULAR:
        return (
            f"{label}: Hessian at x = {at} is singular or indefinite, but must be positive definite, at a minimum; the place "
            "is a saddle, a maximum, part of a valley or of a plateau; start elsewhere"
        )
    if how == STUCK:
        return (
            f"{label}: result at x = {at} does not fall along its slope, but must, to find a minimum; a derivative may be "
            "wrong, or the function have a kink"
        )
    return (
        f"{label}: number of steps is {int(plain(end.steps))}, but must suffice; x = {at}; raise max_steps, start elsewhere, "
        "or see that the function has a minimum"
    )
