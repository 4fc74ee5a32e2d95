"""Finds the maximum of a log density by SciPy's trust regions, from one or several starting points.

Minus infinity, the value of a rejected point, is no answer for a line search, which then reports success at the start. A trust
region takes such a step for a failure and shortens it.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from agrad._posterior.fit import Fit
from agrad._record.on_demand import scipy_optimize

__all__ = ["maximum_of"]

_MOST_EXACT = 200  # free numbers up to which steps use the whole Hessian, and not its products with vectors
_POLISHES = 4  # steps of Newton's method at the end
_SMALL = 1e-9  # a step, relative to the numbers, or a change of the log density, at which there is nothing to polish
_DIGITS = 1e-6  # relative difference of two maxima that count as one


class _Search:
    """Minus the log density, for SciPy."""

    def __init__(self, model: Any, jacobian: bool) -> None:
        self.model, self.jacobian = model, jacobian
        self.at: np.ndarray | None = None
        self.found: tuple[float, np.ndarray] = (np.inf, np.zeros(0))

    def value(self, x: np.ndarray) -> float:
        if self.at is None or not np.array_equal(x, self.at):
            value, gradient = self.model.log_density_gradient(x, jacobian=self.jacobian)
            self.at, self.found = x.copy(), (-value, -gradient)
        return self.found[0]

    def gradient(self, x: np.ndarray) -> np.ndarray:
        self.value(x)
        return self.found[1]

    def hessian(self, x: np.ndarray) -> np.ndarray:
        if not np.isfinite(self.value(x)):  # SciPy asks for the Hessian at points that it then rejects
            return np.eye(x.size)
        found: np.ndarray = -self.model.hessian(x, jacobian=self.jacobian)
        return found

    def product(self, x: np.ndarray, v: np.ndarray) -> np.ndarray:
        if not np.isfinite(self.value(x)):
            return v
        found: np.ndarray = -self.model.hvp(x, v, jacobian=self.jacobian)
        return found


def _run(model: Any, start: np.ndarray, jacobian: bool, max_iterations: int, tolerance: float) -> Fit:
    before = Counter(model.reasons)
    search, drift = _Search(model, jacobian), None
    options = {"gtol": tolerance, "maxiter": max_iterations}
    if not np.isfinite(search.value(start)):
        message, x = "the log density is not finite at the starting point", start
    else:
        if model.size <= _MOST_EXACT:
            ways: dict[str, Any] = {"method": "trust-exact", "hess": search.hessian}
        else:
            ways = {"method": "trust-ncg", "hessp": search.product}
        found = scipy_optimize.minimize(search.value, start, jac=search.gradient, options=options, **ways)
        message, x = found.message, found.x
        x, drift = _polished(search, x)
    value, gradient = model.log_density_gradient(x, jacobian=jacobian)
    rejected = dict(Counter(model.reasons) - before)
    return Fit(model, x, value, gradient, jacobian, tolerance, message, rejected, drift)


def _polished(search: _Search, x: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """Returns the point after some steps of Newton's method, and the direction in which the point goes on and on, or None.

    At a maximum the gradient falls with the square of the distance. Where the density approaches its supremum at a bound or at
    infinity, each step is as long as the one before.
    """
    if not 0 < x.size <= _MOST_EXACT:
        return x, None
    lengths, step = [], np.zeros_like(x)
    for _ in range(_POLISHES):
        gradient = search.gradient(x)
        try:
            step = -np.linalg.solve(search.hessian(x), gradient)
        except (ValueError, RuntimeError):  # singular, or outside of the domain
            return x, None
        lengths.append(float(np.max(np.abs(step) / (1.0 + np.abs(x)))))
        if lengths[-1] < _SMALL or search.value(x + step) > search.value(x) + _SMALL:
            return x, None
        x = x + step
    return x, step if lengths[-1] > 0.3 * lengths[0] else None


def maximum_of(model: Any, starts: list[np.ndarray], jacobian: bool, max_iterations: int, tolerance: float) -> Fit:
    """Return the best fit of those from several starting points; its `others` are the distinct maxima below."""
    fits = sorted((_run(model, x, jacobian, max_iterations, tolerance) for x in starts), key=_rank)
    best = fits[0]
    for each in fits[1:]:
        if each.success and all(_differ(each, other) for other in [best, *best.others]):
            best.others.append(each)
    return best


def _rank(fit: Fit) -> tuple[bool, float]:
    return not fit.success, -fit.log_density


def _differ(a: Fit, b: Fit) -> bool:
    scale = 1.0 + np.maximum(np.abs(a.x), np.abs(b.x))
    return abs(a.log_density - b.log_density) > _DIGITS * (1 + abs(b.log_density)) or bool(
        np.any(np.abs(a.x - b.x) > 1e-3 * scale)
    )
