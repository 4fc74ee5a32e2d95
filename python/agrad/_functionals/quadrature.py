"""Defines quad, which integrates functions of one variable, with derivatives with respect to limits and parameters.

The integral is a sum over the nodes of a partition, which is data; so derivatives with respect to parameters are integrals of
the integrand's derivatives, over the same nodes. Limits enter by Leibniz's rule: from the limit of the partition to the limit
itself, both of the same value, the integral is a Gauss rule on an interval of length zero, whose derivatives are right.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from agrad._core import Array, Comparison, DomainError, ShapeError, SolverError, places_between, quadrature_operation
from agrad._functionals.arguments import plain, tolerance
from agrad._functionals.implicit import orders_ahead
from agrad._functionals.integrand import Integrand
from agrad._functionals.over_body import body_of, run_over
from agrad._loops.control_flow import cond, scan
from agrad._loops.run import pieces
from agrad._record.arguments import check_callable, check_one_of, further_arguments, positive_number, real_values, vector, whole
from agrad._record.recording import innermost, name_of
from agrad._transforms.custom import stop_gradient
from agrad._transforms.settled import settled

__all__ = ["integral", "quad"]

METHODS = {"gauss_kronrod": 0, "double_exponential": 1}
_GROUP, _NODES = 8, 21  # intervals at the start, which are also summed at once, and the nodes of each


def quad(
    f: Callable[..., Any],
    a: Any,
    b: Any,
    args: tuple[Any, ...] = (),
    *,
    rtol: float = 1e-8,
    atol: float = 0.0,
    method: str = "gauss_kronrod",
    points: Any = (),
    limit: int = 100,
) -> tuple[Any, Any]:
    """Integrate a function of one variable from a to b, with derivatives with respect to limits and parameters.

    Parameters
    ----------
    f : callable
        ``f(x, *args)`` returns a number or an array, for a number x. f may capture recorded values.
    a, b : float
        The limits; either may be infinite, and a may be above b. Differentiable where finite.
    args : tuple
        Further arguments of f: any nested structures of numbers and arrays.
    rtol, atol : float
        The error estimate must be at most ``max(atol, rtol * L)``, where L is the integral of abs(f). The same holds with rtol
        for derivatives of f with respect to all recorded values that f uses, of first and second order in one direction.
    method : {"gauss_kronrod", "double_exponential"}
        "gauss_kronrod" bisects the interval and applies Gauss and Kronrod's rule of 21 nodes to the parts;
        "double_exponential" does so after the substitution x = tanh(pi / 2 sinh(t)) or its like for infinite intervals,
        which removes singularities at the limits.
    points : array-like
        Places of peaks, kinks and singularities between a and b, at which the interval is divided first; places outside have
        no effect.
    limit : int
        The most intervals.

    Returns
    -------
    value : float, numpy.ndarray or Array
        The integral, of the shape of f's results; differentiable.
    error : float, numpy.ndarray or Array
        The estimate of the integral's absolute error; without derivatives.

    Raises
    ------
    SolverError
        The tolerance is not reached; f is not finite at a place between the limits; f is zero at all of more than a thousand
        nodes, so that a peak between them would be missed (a place in `points` says that the user has looked).
    ShapeError, TypeError, DomainError
        f returns no numbers; an argument is of a wrong shape, type or value.

    Notes
    -----
    Derivatives with respect to parameters are integrals of derivatives of f, derivatives with respect to limits are values of
    f at the limits (Leibniz's rule), to second order; where f is infinite at a limit, so is the derivative. A compiled
    function divides the interval again in each run. Where f has first derivatives only, errors of derivatives are not
    estimated; where f has second derivatives only, as densities with a `normal_lpdf` have, there are no Hessians. Where a
    derivative of f is not finite at a node, it counts as 0 in the estimate.

    A peak that is narrower than the distance of nodes, at first 168 of them, and that stands on a broad part, is missed, as
    by every rule: pass its place in `points`. In an infinite interval nodes are dense near zero, or near the finite limit.

    Nodes are rounded to floating-point numbers, so that near a limit other than 0 a singularity is resolved to a relative
    distance of 1e-16 only, which the error estimate includes. Shift the variable such that the singularity is at 0.

    In the right-hand side of a differential equation, which cannot raise, an integral that fails is nan.

    References
    ----------
    Piessens, de Doncker-Kapenga, Überhuber and Kahaner (1983), QUADPACK. Takahasi and Mori (1974), Double exponential formulas
    for numerical integration, Publications of the RIMS 9:721.

    Examples
    --------
    >>> import numpy as np, agrad as ag
    >>> value, error = ag.quad(lambda x: np.exp(-x * x), -np.inf, np.inf)
    >>> round(value, 10), error < 1e-8
    (1.7724538509, True)
    >>> area = lambda p: ag.quad(lambda x, k: x**k, 0.0, p[0], (p[1],))[0]  # b**(k + 1) / (k + 1)
    >>> ag.grad(area)(np.array([1.0, 2.0])).round(6)
    array([ 1.      , -0.111111])
    """
    function = "quad"
    check_callable(function, "f", f, "x")
    given = further_arguments(function, args)
    tolerances = positive_number(function, "rtol", rtol), tolerance(function, "atol", atol)
    label = f"{function}({name_of(f)})"
    check_one_of(function, "method", method, METHODS)
    return integral(label, lambda x, _: f(x, *given), a, b, tolerances, method, points, whole(function, "limit", limit))


def integral(
    label: str,
    f: Callable[[Any, Any], Any],
    a: Any,
    b: Any,
    tolerances: tuple[float, float],
    method: str,
    points: Any,
    limit: int,
    *,
    takes_distance: bool = False,
) -> tuple[Any, Any]:
    """Returns the integral and its error for a function of x and of the distance to the nearer limit; `label` is for messages.

    `takes_distance`: near the limits f uses the distance, so that rounding of x does no harm.
    """
    a, b = (_limit(label, name, x) for name, x in (("a", a), ("b", b)))
    points = _places(label, points)
    least = _GROUP + 1 + len(points)
    if limit < least:
        raise DomainError(f"{label}: limit is {limit}, but must be at least {least}, {_GROUP + 1} more than points has")
    kinds, sign = [_kind(x) for x in (a, b)], 1.0
    if kinds[0] > kinds[1] or (kinds[0] == kinds[1] != 0):
        a, b, kinds, sign = b, a, kinds[::-1], -1.0
    places = places_between(METHODS[method], *(float(plain(x)) for x in (a, b)))
    integrand = Integrand(label, f, places)
    if kinds[0] == kinds[1] != 0:
        integrand.flat(places[0], np.nan)
        nothing = np.zeros(integrand.shape)
        return (nothing, nothing) if nothing.shape else (0.0, 0.0)
    division = _divided(integrand, [a, b, *points], places[0], METHODS[method], tolerances, limit, takes_distance)

    def complain() -> NoReturn:
        raise SolverError(_complaint(label, integrand, division))

    value = _sum_over(integrand, division.nodes) if isinstance(division.value, Array) else division.value
    for x, kind, way in ((a, kinds[0], -1.0), (b, kinds[1], 1.0)):
        if kind == 0 and isinstance(x, Array):
            value = value + way * _to_limit(integrand, x, has_distance=kinds == [0, 0])
    value = settled(division.is_accurate, sign * value, complain)
    own = division.error[: integrand.size]
    if integrand.shape:
        return np.reshape(value, integrand.shape), np.reshape(own, integrand.shape)
    return (value[0], own[0]) if isinstance(value, Array) else (float(value[0]), float(own[0]))


@dataclass
class _Division:
    """The division of an interval, without derivatives: whether the integral is accurate, and what it is a sum over."""

    is_accurate: Any
    count: Any  # of intervals
    odd: Any  # a place at which the integrand is not finite; nan if there is none
    has_values: Any
    value: Any
    error: Any  # of the integrand's results, and then of their derivatives
    allowed: Any
    nodes: tuple[Any, ...]  # whether a group of intervals is used, weights, places, distances; empty outside of recordings


def _divided(
    integrand: Integrand,
    ends: list[Any],
    inside: float,
    method: int,
    tolerances: tuple[float, float],
    limit: int,
    takes_distance: bool,
) -> _Division:
    """Divides the interval between the first two of `ends`, first at the others."""
    gives_nodes = innermost() is not None

    def at_place(at: Any) -> Any:
        return integrand.flat(at[0], at[1])

    def at_nodes(at: Any) -> Any:
        return integrand.with_tangents(at[:_NODES], at[_NODES:])

    operands: Any = stop_gradient(np.stack([np.reshape(x, ()) for x in ends]))
    if gives_nodes:
        body = body_of(integrand.label, at_nodes, np.repeat([inside, np.nan], _NODES))
    else:
        body = body_of(integrand.label, at_place, np.array([inside, np.nan]))
    size = integrand.size
    components = size * (1 + integrand.orders)
    options = size, len(ends) - 2, *tolerances, limit, takes_distance, gives_nodes
    flat = run_over(quadrature_operation(body.paths, method, *options), body, operands)
    shapes: list[tuple[int, ...]] = [(), (), (), (), (size,), (components,), (components,)]
    is_truth = [True, False, False, True, False, False, False]
    groups = -(-limit // _GROUP)
    if gives_nodes:
        shapes += [(groups,), *[(groups, _GROUP * _NODES)] * 3]
        is_truth += [True, False, False, False]
    is_accurate, count, odd, has_values, value, error, allowed, *nodes = pieces(flat, 0, is_truth, shapes)
    return _Division(is_accurate, count, odd, has_values, value, error, allowed, tuple(nodes))


def _limit(label: str, name: str, x: Any) -> Any:
    values = real_values(label, name, x)
    if values.ndim:
        raise ShapeError(f"{label}: {name} is of shape {values.shape}, but must be a number")
    if np.isnan(values):
        raise DomainError(f"{label}: {name} is nan, but must be a number or infinite")
    return x if isinstance(x, Array) else values.item()


def _places(label: str, points: Any) -> Any:
    """Returns the places at which the interval is divided first, without derivatives."""
    points = stop_gradient(vector(label, "points", points))

    def complain() -> NoReturn:
        raise DomainError(f"{label}: points[{np.argmax(np.isnan(plain(points)))}] is nan, but must be a number")

    return settled(np.all(~np.isnan(points)), points, complain) if len(points) else points


def _kind(x: Any) -> int:
    """Returns 0 for a finite limit, 1 for infinity and -1 for minus infinity; in a compiled function each is a path."""
    if isinstance(x, Array) and x.recording.on_comparison == Comparison.refuses:
        return 0
    return 1 if x == np.inf else -1 if x == -np.inf else 0


def _sum_over(integrand: Integrand, nodes: tuple[Any, ...]) -> Any:
    """Returns the integrals over the intervals of a division together, with derivatives."""

    def of_group(weights: Any, x: Any, distance: Any) -> Any:
        return weights @ integrand.at(x, distance)

    def add(total: Any, group: Any) -> tuple[Any, None]:
        is_used, *rest = group
        return total + cond(is_used, of_group, lambda *_: np.zeros(integrand.size), *rest), None

    return scan(add, np.zeros(integrand.size), nodes)[0]


def _to_limit(integrand: Integrand, x: Any, *, has_distance: bool) -> Any:
    """Returns zeros with the derivatives of an integral with respect to its upper limit x.

    A Gauss rule of n nodes is exact for the first 2 n orders of derivatives.
    """
    fixed = stop_gradient(x)
    nodes, weights = np.polynomial.legendre.leggauss((orders_ahead() + 1) // 2)
    width = x - fixed
    moved = width * (nodes + 1) / 2
    # the distance is that to the limit's value, as at the nodes
    inner = integrand.at(fixed + moved, -moved if has_distance else np.full(len(nodes), np.nan))
    is_finite = np.isfinite(stop_gradient(inner))
    regular = (width / 2 * weights) @ np.where(is_finite, inner, 0.0)
    return np.where(np.all(is_finite, axis=0), regular, np.sqrt(width))  # else a slope that is infinite


def _complaint(label: str, integrand: Integrand, found: _Division) -> str:
    error, allowed, odd = (plain(each) for each in (found.error, found.allowed, found.odd))
    count = int(plain(found.count))
    if not np.isnan(odd):
        return (
            f"{label}: result at x = {float(odd)} is not finite, but must be finite between the limits; divide at a singularity"
        )
    if not plain(found.has_values):
        return (
            f"{label}: result is 0 at all of {_NODES * count} nodes, but must be other than 0 at one, or a peak between the "
            "nodes would be missed; divide at the peak, or at any place between the limits if the integrand is 0"
        )
    worst = int(np.argmax(error - allowed))
    order, entry = divmod(worst, integrand.size)
    what = ("error", "error of first derivatives", "error of second derivatives")[order]
    index = "" if integrand.shape == () else f"[{', '.join(map(str, np.unravel_index(entry, integrand.shape)))}]"
    return (
        f"{label}: estimate of the {what}{index} is {error[worst]:.3g}, but must be at most {allowed[worst]:.3g}; after "
        f"{count} intervals; allow more intervals or a larger error, divide at peaks and singularities, shift a singularity at "
        "a limit to 0, or try the other method"
    )
