"""Defines what truncated and censored distributions have in common: a distribution with two ends, and functions of these."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from agrad._core import checked
from agrad._random.sampler import NO_DERIVATIVE, generator, shape_of
from agrad._record.structure import find_recording
from agrad._stats.between import in_order
from agrad._stats.call import given, plain
from agrad._stats.distributions import Distribution, Frozen

__all__ = ["Cut"]


class Cut(ABC):
    """A distribution with two ends lb and ub, which are checked."""

    _function = ""

    def __init__(self, distribution: object, lb: Any, ub: Any) -> None:
        name = f"stats.{self._function}"
        if not isinstance(distribution, (Distribution, Frozen)):
            kind = type(distribution).__name__
            raise TypeError(f"{name}: distribution is of the type {kind}, but must be one of agrad.stats, as stats.norm(0, 1)")
        self.distribution = distribution() if isinstance(distribution, Distribution) else distribution
        dist = self.distribution.dist
        if "logbetween" not in dist.methods:
            raise TypeError(f"{name}: distribution is {dist!r}, but must be one with the method logbetween")
        self.lb, self.ub = in_order(name, ("lb", "ub"), (lb, ub))
        self._is_discrete = dist._family.is_discrete

    def __repr__(self) -> str:
        return f"agrad.stats.{self._function}({self.distribution!r}, {self.lb!r}, {self.ub!r})"

    def logpdf(self, x: Any) -> Any:
        """Return the logarithm of the density at x."""
        return self._log_density("logpdf", x)

    def pdf(self, x: Any) -> Any:
        """Return the density at x."""
        return plain(np.exp(self._log_density("pdf", x)))

    def logpmf(self, k: Any) -> Any:
        """Return the logarithm of the probability of k, for counts."""
        return self._log_density("logpmf", k)

    def pmf(self, k: Any) -> Any:
        """Return the probability of k, for counts."""
        return plain(np.exp(self._log_density("pmf", k)))

    def cdf(self, x: Any) -> Any:
        """Return the probability of a value up to x."""
        return plain(np.exp(self.logcdf(x)))

    def sf(self, x: Any) -> Any:
        """Return the probability of a value beyond x."""
        return plain(np.exp(self.logsf(x)))

    def median(self) -> Any:
        """Return the median."""
        return self.ppf(0.5)

    def rvs(self, size: Any = None, *, random_state: Any = None) -> Any:
        """Return random numbers of the shape `size`, by the quantiles of numbers that are uniform between 0 and 1."""
        name = f"stats.{self._function}.rvs"
        median = self.median()
        if find_recording(median) is not None:
            raise TypeError(f"{name}: a parameter or an end is a recorded value, {NO_DERIVATIVE}")
        rng = generator(name, random_state, "random_state")
        return self.ppf(rng.uniform(size=shape_of(name, size, {"all": np.shape(median)})))

    @abstractmethod
    def _log_density(self, method: str, x: Any) -> Any:
        """Return the logarithm of the density or mass at x, for the method of this name."""

    @abstractmethod
    def logcdf(self, x: Any) -> Any:
        """Return the logarithm of the probability of a value up to x."""

    @abstractmethod
    def logsf(self, x: Any) -> Any:
        """Return the logarithm of the probability of a value beyond x."""

    @abstractmethod
    def ppf(self, q: Any) -> Any:
        """Return the value up to which the probability is q."""

    def _given(self, method: str, x: Any, name: str = "x", condition: str = "a number, not nan") -> Any:
        return checked(f"stats.{self._function}.{method}", name, condition, given(x))

    def _of(self, method: str, x: Any) -> Any:
        """Return the logarithm of the density or mass of the distribution, by the name of the method that asks for it."""
        return getattr(self.distribution, method if method.startswith("log") else f"log{method}")(x)

    def _between_ends(self, x: Any) -> Any:
        """Return x, or the end beyond which x lies."""
        return np.where(x < self.lb, self.lb, np.where(x > self.ub, self.ub, x))

    def _log_below(self) -> Any:
        """Return the logarithm of the probability of values below lb, or for numbers up to lb."""
        return self.distribution.logcdf(np.ceil(self.lb) - 1 if self._is_discrete else self.lb)
