"""Defines what distributions that are made of other distributions have in common: methods that follow from their logarithms."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from agrad._core import checked
from agrad._random.sampler import NO_DERIVATIVE, generator, shape_of
from agrad._record.composed import composed_methods
from agrad._record.structure import find_recording
from agrad._stan.elementwise import log1m_exp
from agrad._stats.call import given, plain
from agrad._stats.distributions import Distribution, Frozen
from agrad._transforms.custom import stop_gradient

__all__ = ["Derived", "from_both_sides"]

_HALF = np.log(0.5)


class Derived(ABC):
    """A distribution that is made of another one, of which it needs methods."""

    _function = ""  # of agrad.stats, which makes the distribution
    _needs: tuple[str, ...] = ()
    _values = "a parameter"  # of which recorded ones have no random numbers
    _has_density = True  # of numbers, without probabilities at single ones that are no counts

    def __init__(self, distribution: object) -> None:
        name = f"stats.{self._function}"
        if isinstance(distribution, Distribution):
            distribution = distribution()
        if not (isinstance(distribution, Frozen) or (isinstance(distribution, Derived) and distribution._has_density)):
            kind = type(distribution).__name__
            raise TypeError(f"{name}: distribution is of the type {kind}, but must be one of agrad.stats, as stats.norm(0, 1)")
        self.distribution: Any = distribution
        if isinstance(distribution, Derived):
            self._is_discrete: bool = distribution._is_discrete
            return
        for method in self._needs:
            if method not in distribution.dist.methods:
                raise TypeError(f"{name}: distribution is {distribution.dist!r}, but must be one with the method {method}")
        self._is_discrete = distribution.dist._family.is_discrete

    def __init_subclass__(cls) -> None:
        composed_methods(cls)

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
            raise TypeError(f"{name}: {self._values} is a recorded value, {NO_DERIVATIVE}")
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

    @abstractmethod
    def support(self) -> tuple[Any, Any]:
        """Return the ends between which values lie."""

    def _given(self, method: str, x: Any, name: str = "x", condition: str = "a number, not nan") -> Any:
        return checked(f"stats.{self._function}.{method}", name, condition, given(x))

    def _of(self, method: str, x: Any) -> Any:
        """Return the logarithm of the density or mass of the distribution, by the name of the method that asks for it."""
        return getattr(self.distribution, method if method.startswith("log") else f"log{method}")(x)

    def _next_count(self, k: Any, is_reached: Any) -> Any:
        """Return the first count at or next to k for which a condition of quantiles holds, which a rounding may miss by one."""
        least, largest = self.support()
        k = np.minimum(np.maximum(k, least), largest)
        k = np.where((k > least) & is_reached(k - 1), k - 1, k)
        return np.where((k < largest) & ~is_reached(k), k + 1, k)


def from_both_sides(of_part: Any, of_rest: Any) -> Any:
    """Return the logarithm of the probability of a part: near 1 by that of the rest, which has the digits there.

    The derivatives stay those of the part, because those of second order by the rest would cancel.
    """
    part, rest = stop_gradient(of_part), stop_gradient(of_rest)
    is_most = part > _HALF
    return of_part + np.where(is_most, log1m_exp(np.where(is_most, rest, _HALF)) - np.where(is_most, part, 0.0), 0.0)
