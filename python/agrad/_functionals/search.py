"""Searches for roots by Newton's method and by Powell's hybrid method, as loops that are recorded once.

Both linearise the equations at each x by a QR factorisation of the Jacobian with columns scaled to length 1, so that the
scale of an unknown has no influence. A step to a point outside of the equations' domain is a step that is too long. Read first:
``root``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from agrad import linalg
from agrad._functionals.implicit import searched
from agrad._functionals.trial import trial
from agrad._transforms.custom import stop_gradient
from agrad._transforms.jacobians import jacobian

__all__ = [
    "FOUND",
    "METHODS",
    "MOST_CHANGE",
    "RUNNING",
    "SINGULAR",
    "STUCK",
    "UNDEFINED",
    "Limits",
    "Linear",
    "last_step",
    "search",
]

#: How a search ended. RUNNING after the last step means that the steps did not suffice.
RUNNING, FOUND, SINGULAR, STUCK, UNDEFINED = range(5)
MOST_CHANGE = 0.25  # of the Jacobian in the last step: at a double root each step halves it
_SMALLEST = 1e-12  # of damping factors and trust regions, relative to the step of Newton's method

Residual = Callable[[Any], Any]


@dataclass
class Limits:
    """The tolerances of a search: of the unknowns, and of the residual."""

    rtol: float
    atol: float
    ftol: float
    max_steps: int

    def allows(self, step: Any, x: Any, start: Any, before: Any, again: Any) -> Any:
        """Returns whether Newton's step from x is short, each entry compared with its own size at x or at the start.

        An entry of which the root is zero has no size. It is short, too, where the step before, computed again with the
        derivatives at its end, is the same: then the steps converge quadratically, down to rounding. `before` is that step,
        nan where it was none of Newton's, and `again` is the same step, computed at x.
        """
        sizes = np.maximum(np.abs(x), np.abs(start))
        is_short = np.abs(step) <= self.rtol * sizes + self.atol
        is_same = np.abs(again - before) <= np.sqrt(self.rtol) * np.abs(before)
        return np.all(is_short | is_same) & (np.max(np.abs(step)) <= self.rtol * np.max(sizes) + self.atol)


def last_step(step: Any, value: Any, is_whole: Any, is_accepted: Any, before: Any) -> Any:
    """Returns the last accepted step beside the residual at its start, as two rows; nan unless it was Newton's whole step."""
    return np.where(is_accepted, np.where(is_whole, np.stack([step, value]), np.nan), before)


class Linear:
    """The equations around x: residual, Jacobian, and the step of Newton's method."""

    def __init__(self, residual: Residual, x: Any) -> None:
        n = x.shape[0]
        self.value = residual(x)
        self.matrix = stop_gradient(jacobian(residual)(x))
        is_finite = np.all(np.isfinite(self.matrix)) & np.all(np.isfinite(self.value))
        matrix = np.where(is_finite, self.matrix, np.eye(n))
        length = np.sqrt(np.sum(matrix**2, axis=0))
        self.scale = np.where(length > 0, length, 1.0)
        self.q, upper = np.linalg.qr(matrix / self.scale)
        pivots = np.abs(np.diag(upper))
        least = n * np.finfo(float).eps
        self.is_finite, self.is_regular = is_finite, np.min(pivots) > least
        self.upper = upper + np.diag(np.where(pivots > least, 0.0, 1.0))
        self.step = self.correction(self.value)

    def correction(self, value: Any) -> Any:
        """Returns the step of Newton's method for a residual `value`, with the Jacobian at x."""
        value = np.where(np.isfinite(value), value, 0.0)
        return -linalg.solve_triangular(self.upper, self.q.T @ value) / self.scale

    def length(self, step: Any) -> Any:
        """Returns the length of a step in the scale of the columns."""
        return np.sqrt(np.sum((self.scale * step) ** 2))

    def changes(self, matrix: Any) -> Any:
        """Returns how far another Jacobian is from that at x: the largest entry of the relative change, in scaled columns."""
        difference = (matrix - self.matrix) / self.scale
        is_finite = np.all(np.isfinite(difference))
        change = linalg.solve_triangular(self.upper, self.q.T @ np.where(is_finite, difference, 0.0))
        return np.where(is_finite, np.max(np.abs(change)), np.inf)

    def status(self, x: Any, start: Any, last: Any, limits: Limits) -> Any:
        """Returns FOUND, UNDEFINED or RUNNING, for the present x."""
        is_near = limits.allows(self.step, x, start, last[0], self.correction(last[1]))
        is_found = is_near & (np.max(np.abs(self.value)) <= limits.ftol) & self.is_regular
        return np.where(self.is_finite, np.where(is_found, float(FOUND), float(RUNNING)), float(UNDEFINED))


def newton_step(residual: Residual, x: Any, damping: Any, start: Any, last: Any, limits: Limits) -> tuple[Any, Any, Any, Any]:
    """Returns the next x, damping factor, status and last step of Newton's method.

    A damped step is accepted where Newton's correction at its end, with the old Jacobian, is shorter than the step itself
    by the factor 1 - damping / 4. Source: Deuflhard (2011), section 3.3, the natural monotonicity test.
    """
    here = Linear(residual, x)
    status = here.status(x, start, last, limits)
    status = np.where((status == RUNNING) & ~here.is_regular, float(SINGULAR), status)
    there = x + damping * here.step
    value = trial(residual, there, x)
    left = here.length(here.correction(value))
    is_accepted = np.all(np.isfinite(value)) & (left <= (1 - damping / 4) * here.length(here.step))
    grown = np.where(is_accepted, np.minimum(1.0, 2 * damping), damping / 2)
    status = np.where((status == RUNNING) & (grown < _SMALLEST), float(STUCK), status)
    last = last_step(here.step, here.value, damping == 1, is_accepted, last)
    return np.where((status == RUNNING) & is_accepted, there, x), grown, status, last


def powell_step(residual: Residual, x: Any, radius: Any, start: Any, last: Any, limits: Limits) -> tuple[Any, Any, Any, Any]:
    """Returns the next x, trust radius, status and last step of Powell's hybrid method.

    The step goes along the gradient of the sum of squares and bends towards Newton's step, up to the radius; the Jacobian is
    computed at each x. A radius of 0 stands for Newton's step. Source: Powell (1970), in Numerical Methods for Nonlinear
    Algebraic Equations, ed. Rabinowitz, page 87; Moré and Sorensen's update of the radius.
    """
    here = Linear(residual, x)
    status = here.status(x, start, last, limits)
    newton = here.length(here.step)
    radius = np.where(radius > 0, radius, np.maximum(newton, here.length(x)))
    slope = (here.matrix.T @ here.value) / here.scale  # of half the sum of squares, for scaled unknowns
    slope = np.where(np.isfinite(slope), slope, 0.0)
    steepness = np.sqrt(np.sum(slope**2))
    along = here.matrix @ (slope / here.scale)
    bottom = np.where(steepness > 0, steepness**3 / np.maximum(np.sum(along**2), 1e-300), 0.0)  # the length to Cauchy's point
    cauchy = -np.minimum(bottom, radius) * slope / np.where(steepness > 0, steepness, 1.0)
    rest = here.scale * here.step - cauchy
    a, b, c = np.sum(rest**2), np.sum(rest * cauchy), np.sum(cauchy**2) - radius**2
    part = np.where(a > 0, -c / np.maximum(b + np.sqrt(np.maximum(b * b - a * c, 0.0)), 1e-300), 0.0)
    bent = cauchy + np.where(here.is_regular & (bottom < radius), np.minimum(np.maximum(part, 0.0), 1.0), 0.0) * rest
    is_whole = here.is_regular & (newton <= radius)
    scaled = np.where(is_whole, here.scale * here.step, bent)
    step = scaled / here.scale
    there = x + step
    value = trial(residual, there, x)
    before, after = np.sum(here.value**2), np.sum(value**2)
    predicted = before - np.sum((here.value + here.matrix @ step) ** 2)
    gain = np.where(np.isfinite(after), before - after, -1.0)
    ratio = np.where(predicted > 0, gain / np.maximum(predicted, 1e-300), 0.0)
    length = np.sqrt(np.sum(scaled**2))
    is_accepted = ratio > 1e-4
    grown = np.where(ratio < 0.25, 0.25 * length, np.where(ratio > 0.75, np.maximum(radius, 2 * length), radius))
    is_stuck = (grown <= _SMALLEST * np.minimum(newton, here.length(x))) | (steepness == 0) | (grown <= 0)
    singular = np.where(here.is_regular, float(STUCK), float(SINGULAR))
    status = np.where((status == RUNNING) & is_stuck, singular, status)
    last = last_step(here.step, here.value, is_whole, is_accepted, last)
    return np.where((status == RUNNING) & is_accepted, there, x), np.where(grown > 0, grown, 1e-300), status, last


METHODS = {"newton": (newton_step, 1.0), "powell": (powell_step, 0.0)}


def search(residual: Residual, x0: Any, method: str, limits: Limits) -> tuple[Any, Any, Any]:
    """Returns x, the status and the number of steps, all without derivatives."""
    step, control = METHODS[method]
    begin = stop_gradient(x0)

    def goes_on(carry: Any) -> Any:
        _, _, status, _, count = carry
        return (status == RUNNING) & (count < limits.max_steps)

    def advance(carry: Any) -> Any:
        x, own, _, last, count = carry
        return *step(residual, x, own, begin, last, limits), count + 1.0

    start = (x0, control, float(RUNNING), np.full((2, begin.shape[0]), np.nan), 0.0)
    x, _, status, _, count = searched(goes_on, advance, start, limits.max_steps)
    return x, status, count
