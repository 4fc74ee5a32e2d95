"""Fits the model: mode of the posterior, check of the gradient, Hessian, standard errors and means by Laplace's method.

All results use a single compiled function, the log posterior with its gradient through the differential equation.
Read next: report.py, plot.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

import agrad as ag
from agrad.demo.model import METHODS, UNKNOWNS, Vector, first_guess, log_likelihood, log_posterior

__all__ = ["Fit", "fit_model"]


@dataclass(frozen=True)
class Fit:
    """The result of the fit.

    Attributes
    ----------
    mode : numpy.ndarray, shape (8,)
        Mode of the density of the unknowns' logarithms.
    covariance : numpy.ndarray, shape (8, 8)
        Covariance of the logarithms: the inverse of the negative Hessian at the mode.
    means : numpy.ndarray, shape (8,)
        Posterior means of the unknowns (not of the logarithms), by Laplace's method.
    iterations, gradients : int
        The optimiser's iterations and gradients.
    gradient_difference : float
        Largest relative difference between the gradient at the mode and central differences.
    """

    mode: Vector
    covariance: Vector
    means: Vector
    iterations: int
    gradients: int
    gradient_difference: float

    @property
    def standard_errors(self) -> Vector:
        """Laplace standard errors of the unknowns, from standard errors of the logarithms by the delta method."""
        return np.exp(self.mode) * np.sqrt(np.diag(self.covariance))


def fit_model(progress: Callable[[str], None], method: str = METHODS[0]) -> Fit:
    """Fit the model by a method of METHODS; `progress` is called with a text for each stage of the work."""
    progress("recording the log posterior")
    compiled = ag.compile(ag.value_and_grad(log_posterior))

    def value_and_gradient(u: Vector) -> tuple[float, Vector]:
        return compiled(u, method)

    mode, iterations, gradients = _find_mode(value_and_gradient, progress)
    progress("checking the gradient by central differences")
    difference = _gradient_difference(value_and_gradient(mode)[1], mode, method)
    progress("Hessian at the mode")
    covariance = _covariance(value_and_gradient, mode)
    means = np.empty_like(mode)
    for k, name in enumerate(UNKNOWNS):
        progress(f"posterior mean of {name}")
        means[k] = _posterior_mean(value_and_gradient, mode, covariance, k)
    return Fit(mode, covariance, means, iterations, gradients, difference)


ValueAndGradient = Callable[[Vector], tuple[float, Vector]]


def _find_mode(value_and_gradient: ValueAndGradient, progress: Callable[[str], None]) -> tuple[Vector, int, int]:
    """Maximise with SciPy's BFGS; return the mode, and the numbers of iterations and gradients."""
    calls = 0

    def loss(u: Vector) -> tuple[float, Vector]:
        nonlocal calls
        calls += 1
        value, gradient = value_and_gradient(u)
        progress(f"finding the mode: gradient {calls}, log posterior {value:.6f}")
        return -value, -gradient

    found = minimize(loss, first_guess(), jac=True, method="BFGS", options={"gtol": 1e-4})
    # Near the mode a line search fails where the remaining gain is below CVODES' noise.
    left_to_gain = found.jac @ found.hess_inv @ found.jac / 2
    if not (found.success or left_to_gain < 1e-7):
        raise RuntimeError(f"demo: the optimiser found no mode after {found.nit} iterations: {found.message}")
    return found.x, found.nit, calls


def _central_differences(f: Callable[[Vector], Vector | float], x: Vector, step: float = 1e-3) -> Vector:
    """Return fourth-order central differences of f along each coordinate of x; a row for each."""

    def second_order(h: float) -> Vector:
        return np.array([(np.asarray(f(x + h * e)) - f(x - h * e)) / (2 * h) for e in np.eye(x.size)])

    return (4 * second_order(step) - second_order(2 * step)) / 3


def _gradient_difference(gradient: Vector, mode: Vector, method: str = METHODS[0]) -> float:
    """Return the largest relative difference between a gradient of the log posterior at the mode and central differences.

    The gradient at a mode is zero, because the contributions of data and prior cancel, so no difference can be relative to the
    gradient. Each component's difference is therefore relative to the data's contribution: the gradient of the log likelihood,
    which goes through the differential equation. Values are computed together with a gradient: without a gradient the error
    control of the steps ignores derivatives.
    """
    compiled = ag.compile(ag.value_and_grad(log_posterior))
    difference = gradient - _central_differences(lambda u: compiled(u, method)[0], mode)
    return float(np.max(np.abs(difference / ag.grad(log_likelihood)(mode, method))))


def _covariance(value_and_gradient: ValueAndGradient, u: Vector) -> Vector:
    """Return the inverse of the negative Hessian, by differences of exact gradients."""
    hessian = _central_differences(lambda x: value_and_gradient(x)[1], u)
    return np.linalg.inv(-(hessian + hessian.T) / 2)


def _posterior_mean(value_and_gradient: ValueAndGradient, mode: Vector, covariance: Vector, k: int) -> float:
    """Return the posterior mean of unknown k: the integral of exp(log posterior + u_k) over that of exp(log posterior).

    Each integral is computed by Laplace's method at its own mode, and most of the two errors cancels: with n observations the
    mean is right to order 1/n^2, the mode only to order 1/n (Tierney and Kadane 1986, equation 2.2). For the error scales this
    is the difference between 0.22 and 0.25.
    """
    tilt = np.eye(mode.size)[k]
    u = mode
    for _ in range(20):  # Newton's method with the Hessian at the mode, which is nearby
        step = covariance @ (value_and_gradient(u)[1] + tilt)
        u = u + step
        if np.max(np.abs(step)) < 1e-6:
            break
    exponent = value_and_gradient(u)[0] + u[k] - value_and_gradient(mode)[0]
    determinants = np.linalg.slogdet(_covariance(value_and_gradient, u))[1] - np.linalg.slogdet(covariance)[1]
    return float(np.exp(exponent + determinants / 2))
