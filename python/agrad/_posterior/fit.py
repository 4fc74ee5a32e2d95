"""Defines Fit, the maximum of a log density, with errors of what is computed from it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import optree

from agrad._core import LinAlgError
from agrad._posterior.joint import OfParameters
from agrad._transforms.jacobians import jacobian as jacobian_of

__all__ = ["Fit"]

_MOST_CHECKED = 1000  # free numbers up to which the curvature at the end is computed
_SINGULAR = 1e-12  # relative to the largest eigenvalue of the Hessian


class Fit:
    """The maximum of a log density, as :meth:`LogDensity.optimize` finds it.

    Attributes
    ----------
    x : numpy.ndarray, (size,)
        The free numbers.
    values : tree
        The parameters' values.
    log_density : float
        The log density there, with the log Jacobian where it was asked for.
    gradient : numpy.ndarray, (size,)
    success : bool
        Whether the gradient is as small as the tolerance and no direction leads upwards.
    message : str
        Why the search ended, and what is wrong if there is no success.
    rejected : dict
        Why points were rejected during the search, and how often.
    others : list of Fit
        The distinct maxima below this one that other starting points led to.
    """

    def __init__(
        self,
        model: Any,
        x: np.ndarray,
        value: float,
        gradient: np.ndarray,
        jacobian: bool,
        tolerance: float,
        message: str,
        rejected: dict[str, int],
        drift: np.ndarray | None,
    ) -> None:
        self.model, self.x, self.log_density, self.gradient = model, x, float(value), gradient
        self.jacobian, self.rejected = jacobian, rejected
        self.values = model.constrain(x)
        self.others: list[Fit] = []
        self._hessian: np.ndarray | None = None
        self._drift = drift
        self.success, self.message = self._judged(tolerance, message)

    def _judged(self, tolerance: float, message: str) -> tuple[bool, str]:
        if not np.isfinite(self.log_density):
            return False, message
        worst = int(np.argmax(np.abs(self.gradient))) if self.x.size else 0
        if self.x.size and abs(self.gradient[worst]) > 10 * tolerance * max(1.0, abs(self.log_density)):
            name = self.model.unconstrained_names[worst]
            return False, f"the derivative with respect to {name} is {self.gradient[worst]:.2g}; {message}"
        if self._drift is not None:
            along = self._direction(self._drift)
            return False, f"the log density approaches its supremum, but has no maximum, along {along}: a bound or a flat tail"
        if self.x.size > _MOST_CHECKED:
            return True, f"{message} The curvature was not checked: there are more than {_MOST_CHECKED} free numbers."
        w, v = self._spectrum()
        if w.size and w[0] < -1e-6 * max(1.0, float(w[-1])):
            return False, f"the log density grows on along {self._direction(v[:, 0])}: this is no maximum"
        return True, message

    @property
    def hessian(self) -> np.ndarray:
        """The Hessian of the log density with respect to the free numbers, (size, size)."""
        if self._hessian is None:
            found: np.ndarray = self.model.hessian(self.x, jacobian=self.jacobian)
            self._hessian = found
        return self._hessian

    def _spectrum(self) -> tuple[np.ndarray, np.ndarray]:
        w, v = np.linalg.eigh(-self.hessian)
        return w, v

    def _direction(self, v: np.ndarray) -> str:
        """Returns a direction in words: its largest components with the names of the free numbers."""
        order = np.argsort(-np.abs(v))[:3]
        parts = [f"{v[n]:+.2f} {self.model.unconstrained_names[n]}" for n in order if abs(v[n]) > 0.1]
        return " ".join(parts)

    def covariance(self) -> np.ndarray:
        """Return the inverse of minus the Hessian: the covariance of the free numbers, to leading order.

        Raises
        ------
        LinAlgError
            The Hessian is singular or the point no maximum; the message names the direction.
        """
        if self._drift is not None:
            raise LinAlgError(f"Fit: fit is no maximum, but must be one to have a covariance; {self.message}")
        w, v = self._spectrum()
        if w.size and w[0] <= _SINGULAR * max(float(w[-1]), 0.0):
            raise LinAlgError(
                f"Fit: hessian is singular or indefinite, but must be negative definite; along {self._direction(v[:, 0])} its "
                f"eigenvalue is {-w[0]:.2g}; the data do not determine this direction"
            )
        covariance: np.ndarray = (v / w) @ v.T
        return covariance

    def delta(self, f: Callable[..., Any] | None = None) -> tuple[Any, Any]:
        """Estimate a function of the parameters and its standard errors by the delta method.

        Parameters
        ----------
        f : callable, optional
            ``f(p)``, or ``f(p, data)`` where the log density has data; written with NumPy. Without it: the parameters' values.

        Returns
        -------
        estimate, errors : trees
            The function's value, and a standard error for each of its numbers.

        Raises
        ------
        LinAlgError
            See :meth:`covariance`.
        """
        data = () if self.model.data is None or f is None else (self.model.data,)
        of_free = OfParameters(f, self.model.declared)
        estimate, covariance = of_free(self.x, *data), self.covariance()
        slopes = jacobian_of(of_free)(self.x, *data)

        def error_of(slope: Any) -> Any:
            rows = np.reshape(slope, (-1, self.x.size))
            return np.sqrt(np.einsum("ri,ij,rj->r", rows, covariance, rows)).reshape(np.shape(slope)[:-1])[()]

        return estimate, optree.tree_map(error_of, slopes)

    def standard_errors(self) -> Any:
        """Return the standard errors of the parameters' values, a tree like `values`."""
        return self.delta()[1]

    def __repr__(self) -> str:
        state = "maximum" if self.success else "no maximum"
        others = f", {len(self.others)} other maxima" if self.others else ""
        return f"<{state} of {self.model!r}: log density {self.log_density:.6g}{others}; {self.message}>"
