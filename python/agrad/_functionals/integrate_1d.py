"""Defines Stan's names of quadrature, with Stan's order of arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agrad._functionals.arguments import tolerance
from agrad._functionals.quadrature import integral
from agrad._record.arguments import check_callable, positive_number, whole
from agrad._record.documentation import documented
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

_PARAMETERS = {
    "integrand": "callable\nA function of x, of xc and of further arguments, written with NumPy; returns a number or an array.",
    "a": "float\nThe limit from which to integrate; may be infinite, or above b.",
    "b": "float\nThe limit up to which to integrate; may be infinite.",
    "theta": "anything\nThe parameters, which are an argument of the integrand: any nested structure of numbers and arrays.",
    "x_r": "anything\nReal data, an argument of the integrand.",
    "x_i": "anything\nInteger data, an argument of the integrand.",
    "relative_tolerance": "float\nThe error allowed relative to the integral of the absolute value; `rtol` of :func:`quad`.",
    "absolute_tolerance": "float\nThe allowed absolute error, `atol` of :func:`quad`; not negative.",
    "max_depth": "int\nAt most 8 (max_depth + 2) intervals are used.",
    "max_refinements": "int\nAt most 8 (max_refinements + 2) intervals of the variable of the substitution are used.",
    "args": "anything\nFurther arguments of the integrand: any nested structures of numbers and arrays.",
}
_RESULT = "float, numpy.ndarray or Array\nThe integral, of the shape of the results, with the derivatives of :func:`quad`."
_ERRORS = {
    "SolverError": "The error is too large with the most intervals, or the integrand is not finite, or 0 at all nodes.",
    "ShapeError": "A limit is an array, or the integrand returns arrays of different shapes.",
    "DomainError": "A limit is nan, or a tolerance or the most intervals are out of range.",
    "TypeError": "The integrand is not callable or returns no numbers; an argument is of another type.",
}
_quadrature = documented(_PARAMETERS, _RESULT, _ERRORS)


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


@_quadrature
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

    Here xc is nan.
    """
    function = "integrate_1d_gauss_kronrod_tol"
    depth = whole(function, "max_depth", max_depth, least=0)
    tolerances = relative_tolerance, absolute_tolerance
    return _integrate(function, "gauss_kronrod", integrand, a, b, tolerances, depth, args)


@_quadrature
def integrate_1d_gauss_kronrod(integrand: Callable[..., Any], a: Any, b: Any, *args: Any) -> Any:
    """Integrate ``integrand(x, xc, *args)`` from a to b by Gauss and Kronrod's rule, to a relative tolerance of 1.5e-8.

    Here xc is nan. :func:`integrate_1d_gauss_kronrod_tol` has the tolerances as arguments.

    Examples
    --------
    >>> import numpy as np, agrad as ag
    >>> from agrad import stan
    >>> tail = lambda mu: stan.integrate_1d_gauss_kronrod(lambda x, xc, m: np.exp(stan.normal_lpdf(x, m, 1.0)), 0.0, np.inf, mu)
    >>> round(tail(0.3), 6), round(ag.grad(tail)(0.3), 6)
    (0.617911, 0.381388)
    """
    return _integrate("integrate_1d_gauss_kronrod", "gauss_kronrod", integrand, a, b, (_RTOL, 0.0), _DEPTH, args)


@_quadrature
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

    Here xc is the distance to the nearer limit, a - x or b - x, without the rounding of x, and nan in an infinite interval.
    Near a limit other than 0 a singular integrand must be written with xc: at b = 1, ``1 - x`` is ``xc``. A derivative with
    respect to a limit takes the integrand at that limit, where xc is 0, the distance to the limit's value.
    """
    function = "integrate_1d_double_exponential_tol"
    depth = whole(function, "max_refinements", max_refinements, least=0)
    tolerances = relative_tolerance, absolute_tolerance
    return _integrate(function, "double_exponential", integrand, a, b, tolerances, depth, args)


@_quadrature
def integrate_1d_double_exponential(integrand: Callable[..., Any], a: Any, b: Any, *args: Any) -> Any:
    """Integrate ``integrand(x, xc, *args)`` from a to b after a double exponential substitution, to 1.5e-8.

    :func:`integrate_1d_double_exponential_tol` explains xc, and has the tolerances as arguments.

    Examples
    --------
    >>> import numpy as np, agrad as ag
    >>> from agrad import stan
    >>> def power(x, xc, k):  # (1 - x)**k, singular at 1
    ...     return np.where(xc > 0, xc, 1 - x) ** k
    >>> round(stan.integrate_1d_double_exponential(power, 0.0, 1.0, -0.5), 8)
    2.0
    """
    return _integrate("integrate_1d_double_exponential", "double_exponential", integrand, a, b, (_RTOL, 0.0), _DEPTH, args)


@_quadrature
def integrate_1d(
    integrand: Callable[..., Any], a: Any, b: Any, theta: Any, x_r: Any, x_i: Any, relative_tolerance: float = _RTOL
) -> Any:
    """Integrate ``integrand(x, xc, theta, x_r, x_i)`` from a to b after a double exponential substitution.

    This is the older form of :func:`integrate_1d_double_exponential`, with parameters and data as three arguments.
    """
    tolerances, args = (relative_tolerance, 0.0), (theta, x_r, x_i)
    return _integrate("integrate_1d", "double_exponential", integrand, a, b, tolerances, _DEPTH, args)
