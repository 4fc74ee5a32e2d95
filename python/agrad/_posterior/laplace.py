"""Defines the normal approximation of a density at its maximum."""

from __future__ import annotations

from typing import Any

import numpy as np

from agrad._core import DomainError
from agrad._posterior.fit import Fit

__all__ = ["NormalDraws", "draws_of"]


class NormalDraws:
    """Draws from the normal approximation of a density of free numbers at its maximum.

    Attributes
    ----------
    x : numpy.ndarray, (draws, size)
        The free numbers.
    values : tree
        The parameters' values, arrays with `draws` values.
    log_density, log_approximation : numpy.ndarray, (draws,)
        Of the density and of its approximation, both of the free numbers. Their difference is the logarithm of an importance
        weight.
    fit : Fit
        The maximum.
    """

    def __init__(self, fit: Fit, x: np.ndarray, log_approximation: np.ndarray) -> None:
        self.fit, self.x, self.log_approximation = fit, x, log_approximation
        self.values: Any = fit.model.constrain(x)
        self.log_density: np.ndarray = fit.model.log_density(x)

    def __repr__(self) -> str:
        return f"<{len(self.x)} draws from the normal approximation of {self.fit.model!r}>"


def draws_of(fit: Fit, draws: int, seed: Any) -> NormalDraws:
    if not fit.success:
        raise DomainError(f"LogDensity.laplace: the search has found no maximum: {fit.message}")
    n = fit.x.size
    half = np.linalg.cholesky(fit.covariance())
    z = np.random.default_rng(seed).standard_normal((draws, n))
    constant = -0.5 * n * np.log(2 * np.pi) - np.sum(np.log(np.diag(half)))
    return NormalDraws(fit, fit.x + z @ half.T, constant - 0.5 * np.sum(z**2, axis=1))
