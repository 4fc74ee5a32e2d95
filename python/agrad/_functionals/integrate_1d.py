"""Defines Stan's names of quadrature, with Stan's order of arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agrad._functionals.arguments import tolerance
from agrad._functionals.quadrature import integral
from agrad._ode.arguments import check_callable, positive_number, whole
from agrad._record.recording import name_of

__all__ = [
    "integrate_1d",
    "integrate_1d_double_exponential",
    "integrate_1d_double_exponential_tol",
    "integrate_1d_gauss_kronrod",
    "integrate_1d_gauss_kronrod_tol",
]

_RTOL = 2.0**-26  # the root of the distance of floating-point numbers at 1
_DEPTH = 15


def _integrate(function: str, method: str, f: Any, a: Any, b: Any, tolerances: Any, depth: int, args: tuple[Any, ...]) -> Any:
    check_callable(function, "integrand", f, "x, xc")
    rtol, atol = (
        positive_number(function, "relative_tolerance", tolerances[0]),
        tolerance(function, "absolute_tolerance", tolerances[1]),
    )
    limit = 8 * (2 + depth)
    label, takes_distance = f"{function}({name_of(f)})", method == "double_exponential"

    def integrand(x: Any, distance: Any) -> Any:
        return f(x, distance if takes_distance else float("nan"), *args)

    return integral(label, integrand, a, b, (rtol, atol), method, (), limit, takes_distance=takes_distance)[0]


def integrate_1d_gauss_kronrod_tol(
    integrand: Callable[..., Any],
    a: Any,
    b: Any,
    relative_tolerance: float,
    absolute_tolerance: float,
    max_depth: int,
    *args: Any,
) -> Any:
    """Integrate ``integrand(x, xc, *args)`` from a to b by Gauss and Kronrod's rule.

    Parameters
    ----------
    integrand : callable
        ``integrand(x, xc, *args)`` returns a number; xc is nan.
    a, b : float
        The limits, which may be infinite.
    relative_tolerance, absolute_tolerance : float
        As `rtol` and `atol` of :func:`quad`.
    max_depth : int
        There are at most 8 (max_depth + 2) intervals.
    *args
        Further arguments of the integrand.

    Returns
    -------
    float or Array
        The integral, with the derivatives of :func:`quad`.

    Raises
    ------
    SolverError, ShapeError, TypeError, DomainError
        See :func:`quad`.
    """
    function = "integrate_1d_gauss_kronrod_tol"
    depth = whole(function, "max_depth", max_depth, least=0)
    tolerances = relative_tolerance, absolute_tolerance
    return _integrate(function, "gauss_kronrod", integrand, a, b, tolerances, depth, args)


def integrate_1d_gauss_kronrod(integrand: Callable[..., Any], a: Any, b: Any, *args: Any) -> Any:
    """Integrate ``integrand(x, xc, *args)`` from a to b by Gauss and Kronrod's rule, to a relative tolerance of 1.5e-8.

    See :func:`integrate_1d_gauss_kronrod_tol`.

    Examples
    --------
    >>> import numpy as np, agrad as ag
    >>> tail = lambda mu: ag.integrate_1d_gauss_kronrod(lambda x, xc, m: np.exp(ag.normal_lpdf(x, m, 1.0)), 0.0, np.inf, mu)
    >>> round(tail(0.3), 6), round(ag.grad(tail)(0.3), 6)
    (0.617911, 0.381388)
    """
    return _integrate("integrate_1d_gauss_kronrod", "gauss_kronrod", integrand, a, b, (_RTOL, 0.0), _DEPTH, args)


def integrate_1d_double_exponential_tol(
    integrand: Callable[..., Any],
    a: Any,
    b: Any,
    relative_tolerance: float,
    absolute_tolerance: float,
    max_refinements: int,
    *args: Any,
) -> Any:
    """Integrate ``integrand(x, xc, *args)`` from a to b after a double exponential substitution.

    As :func:`integrate_1d_gauss_kronrod_tol`, with `max_refinements` in the place of `max_depth`: there are at most
    8 (max_refinements + 2) intervals of the variable of the substitution. xc is the distance to the nearer limit, a - x or
    b - x, without the rounding of x, and nan in an infinite interval. Near a limit other than 0 a singular integrand must be
    written with xc: at b = 1, ``1 - x`` is ``xc``. A derivative with respect to a limit takes the integrand at that limit,
    where xc is 0, the distance to the limit's value.
    """
    function = "integrate_1d_double_exponential_tol"
    depth = whole(function, "max_refinements", max_refinements, least=0)
    tolerances = relative_tolerance, absolute_tolerance
    return _integrate(function, "double_exponential", integrand, a, b, tolerances, depth, args)


def integrate_1d_double_exponential(integrand: Callable[..., Any], a: Any, b: Any, *args: Any) -> Any:
    """Integrate ``integrand(x, xc, *args)`` from a to b after a double exponential substitution, to 1.5e-8.

    See :func:`integrate_1d_double_exponential_tol`.

    Examples
    --------
    >>> import numpy as np, agrad as ag
    >>> def power(x, xc, k):  # (1 - x)**k, singular at 1
    ...     return np.where(xc > 0, xc, 1 - x) ** k
    >>> round(ag.integrate_1d_double_exponential(power, 0.0, 1.0, -0.5), 8)
    2.0
    """
    return _integrate("integrate_1d_double_exponential", "double_exponential", integrand, a, b, (_RTOL, 0.0), _DEPTH, args)


def integrate_1d(
    integrand: Callable[..., Any], a: Any, b: Any, theta: Any, x_r: Any, x_i: Any, relative_tolerance: float = _RTOL
) -> Any:
    """Integrate ``integrand(x, xc, theta, x_r, x_i)`` from a to b after a double exponential substitution.

    The older form of :func:`integrate_1d_double_exponential`, with parameters and data as three arguments.

    Parameters
    ----------
    integrand : callable
        ``integrand(x, xc, theta, x_r, x_i)`` returns a number.
    a, b : float
        The limits, which may be infinite.
    theta, x_r, x_i : anything
        The further arguments of the integrand.
    relative_tolerance : float
        As `rtol` of :func:`quad`.

    Returns
    -------
    float or Array
        The integral, with the derivatives of :func:`quad`.

    Raises
    ------
    SolverError, ShapeError, TypeError, DomainError
        See :func:`quad`.
    """
    tolerances, args = (relative_tolerance, 0.0), (theta, x_r, x_i)
    return _integrate("integrate_1d", "double_exponential", integrand, a, b, tolerances, _DEPTH, args)
