"""Defines minimize, which finds minima of functions, with derivatives by the implicit function theorem."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from agrad._core import SolverError
from agrad._functionals.arguments import of_shape, plain, scalar_of, start_of, tolerance
from agrad._functionals.implicit import follow, judged, searched
from agrad._functionals.search import FOUND, MOST_CHANGE, RUNNING, SINGULAR, STUCK, UNDEFINED, Limits, last_step
from agrad._functionals.trial import trial
from agrad._record.arguments import check_callable, further_arguments, positive_number, whole
from agrad._record.printed import Printed
from agrad._record.recording import name_of
from agrad._transforms.custom import stop_gradient
from agrad._transforms.gradients import grad
from agrad._transforms.hessian import hessian
from agrad._transforms.settled import settled

__all__ = ["MinimumResult", "minimize", "minimum"]

_MOST_DAMPING = 1e12  # times the largest eigenvalue of the Hessian at the start


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


class Quadratic:
    """A function around x: value, gradient, and the Hessian by eigenvalues and eigenvectors."""

    def __init__(self, f: Callable[[Any], Any], curvature: Callable[[Any], Any], x: Any) -> None:
        self.value, gradient, matrix = (stop_gradient(each) for each in (f(x), grad(f)(x), curvature(x)))
        self.is_finite = np.isfinite(self.value) & np.all(np.isfinite(gradient)) & np.all(np.isfinite(matrix))
        self.matrix = np.where(self.is_finite, (matrix + matrix.T) / 2, np.eye(x.shape[0]))
        self.gradient = np.where(self.is_finite, gradient, 0.0)
        self.curvatures, self.directions = np.linalg.eigh(self.matrix)
        self.largest = np.max(np.abs(self.curvatures))
        self.is_definite = np.min(self.curvatures) > x.shape[0] * np.finfo(float).eps * self.largest

    def step(self, damping: Any, gradient: Any = None) -> Any:
        """Returns Newton's step with the absolute values of the curvatures, each plus a damping; by default from x."""
        floor = np.finfo(float).eps * np.where(self.largest > 0, self.largest, 1.0)
        curvatures = np.maximum(np.abs(self.curvatures), floor) + damping
        return -self.directions @ ((self.directions.T @ (self.gradient if gradient is None else gradient)) / curvatures)

    def changes(self, matrix: Any) -> Any:
        """Returns how far another Hessian is from that at x: the largest entry of the relative change."""
        curvatures = np.where(self.curvatures > 0, self.curvatures, np.inf)
        return np.max(np.abs(self.directions.T @ (matrix - self.matrix) @ self.directions / curvatures))


#: Whether the search may end at x, from the function around x, Newton's step, x and the last step.
IsNear = Callable[[Quadratic, Any, Any, Any], Any]


def _advance(
    f: Callable[[Any], Any], here: Quadratic, x: Any, damping: Any, last: Any, is_near: IsNear
) -> tuple[Any, Any, Any, Any]:
    """Returns the next x, damping, status and last step of the search."""
    newton = here.step(0.0)
    status = np.where(is_near(here, newton, x, last), np.where(here.is_definite, float(FOUND), float(SINGULAR)), float(RUNNING))
    status = np.where(here.is_finite, status, float(UNDEFINED))
    step = here.step(damping)
    value = trial(f, x + step, x)
    predicted = -(here.gradient @ step) - 0.5 * (step @ here.matrix @ step)
    gain = np.where(np.isfinite(value), here.value - value, -np.inf)
    noise = 10 * np.finfo(float).eps * np.abs(here.value)  # near the minimum values differ by rounding
    is_accepted = (gain > 1e-4 * predicted) | (np.abs(gain) <= noise)
    is_good = is_accepted & ((gain > 0.5 * predicted) | (np.abs(gain) <= noise))
    least = 1e-3 * here.largest + 1e-300
    less = np.where(damping > 4 * least, damping / 4, 0.0)
    grown = np.where(is_good, less, np.where(is_accepted, damping, np.maximum(4 * damping, least)))
    is_stuck = grown > _MOST_DAMPING * (here.largest + 1e-300)
    status = np.where((status == RUNNING) & is_stuck, float(STUCK), status)
    last = last_step(newton, here.gradient, damping == 0, is_accepted, last)
    return np.where((status == RUNNING) & is_accepted, x + step, x), grown, status, last


def minimum(
    label: str,
    f: Callable[[Any], Any],
    start: Any,
    limits: Limits,
    curvature: Callable[[Any], Any] | None = None,
    is_near: IsNear | None = None,
    explain: Callable[[Any], None] | None = None,
) -> tuple[Any, Any]:
    """Returns the minimum of a function of vectors, with derivatives, and the number of steps.

    `label` is for messages; `curvature` returns the Hessian where there is a cheaper way to it, `is_near` whether Newton's step
    from x may be the last one, if `limits` does not say it; `explain` raises where it finds a reason why the search failed,
    given the x at which it ended.
    """

    def is_short(here: Quadratic, newton: Any, x: Any, last: Any) -> Any:
        return limits.allows(newton, x, start, last[0], here.step(0.0, last[1]))

    may_end = is_near or is_short
    curvature = hessian(f) if curvature is None else curvature

    def advance(carry: Any) -> Any:
        x, damping, _, last, count = carry
        return *_advance(f, Quadratic(f, curvature, x), x, damping, last, may_end), count + 1.0

    def goes_on(carry: Any) -> Any:
        return (carry[2] == RUNNING) & (carry[4] < limits.max_steps)

    begin = (start, 0.0, float(RUNNING), np.full((2, start.shape[0]), np.nan), 0.0)
    x, _, status, _, count = searched(goes_on, advance, begin, limits.max_steps)

    def complain() -> NoReturn:
        if explain is not None:
            explain(x)
        raise SolverError(_complaint(label, x, status, count))

    def judge(found: tuple[Any, ...]) -> tuple[Any, ...]:
        x, status, *_ = found
        near = Quadratic(f, curvature, x)
        moved = x + np.where(status == FOUND, near.step(0.0), 0.0)
        x = np.where(np.isfinite(trial(f, moved, x)), moved, x)
        matrix = Quadratic(f, curvature, x).matrix
        status = np.where((status == FOUND) & (near.changes(matrix) > MOST_CHANGE), float(SINGULAR), status)
        is_found = status == FOUND
        return x, status, is_found, np.where(is_found, matrix, unit)

    unit = np.eye(start.shape[0])
    x, status, is_found, matrix = judged(judge, (x, status, False, unit))
    return follow(grad(f), x, settled(is_found, matrix, complain)), count


def _complaint(label: str, x: Any, status: Any, count: Any) -> str:
    at, how = plain(x).tolist(), float(plain(status))
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
        f"{label}: number of steps is {int(plain(count))}, but must suffice; x = {at}; raise max_steps, start elsewhere, "
        "or see that the function has a minimum"
    )
