"""Defines truncated distributions: those of the values between two ends, where other values are not observed.

Everything follows from the distribution's own functions, above all from `logbetween`, which keeps its digits in both tails.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from agrad._core import checked
from agrad._stats.between import in_order
from agrad._stats.call import given, plain
from agrad._stats.cut import Cut
from agrad._stats.derived import from_both_sides
from agrad._stats.distributions import Distribution, Frozen
from agrad._stats.truncated_means import truncated_mean

__all__ = ["Truncated", "truncate"]

_LEAST = -690.0  # the logarithm of a probability that quantiles still have all digits of


class Truncated(Cut):
    """A distribution of which only values from lb to ub are observed."""

    _function = "truncate"

    def __init__(self, distribution: Distribution | Frozen | Truncated, lb: Any, ub: Any) -> None:
        super().__init__(distribution, lb, ub)
        name = "log probability from lb to ub"
        self._log_mass = checked("stats.truncate", name, "finite", self.distribution.logbetween(self.lb, self.ub))

    def _log_density(self, method: str, x: Any) -> Any:
        x = self._given(method, x)
        inside = (x >= self.lb) & (x <= self.ub)
        return plain(np.where(inside, self._of(method, x) - self._log_mass, -np.inf))

    def logcdf(self, x: Any) -> Any:
        """Return the logarithm of the probability of a value up to x."""
        x = self._given("logcdf", x)
        value = from_both_sides(self._log_share_up_to(x), self._log_share_beyond(x))
        is_below = x < self.lb if self._is_discrete else x <= self.lb
        return plain(np.where(is_below, -np.inf, np.where(x >= self.ub, 0.0, value)))

    def logsf(self, x: Any) -> Any:
        """Return the logarithm of the probability of a value beyond x."""
        x = self._given("logsf", x)
        value = from_both_sides(self._log_share_beyond(x), self._log_share_up_to(x))
        is_below = x < self.lb if self._is_discrete else x <= self.lb
        return plain(np.where(x >= self.ub, -np.inf, np.where(is_below, 0.0, value)))

    def _log_share_up_to(self, x: Any) -> Any:
        return self.distribution.logbetween(self.lb, self._between_ends(x)) - self._log_mass

    def _log_share_beyond(self, x: Any) -> Any:
        begin = np.floor(x) + 1 if self._is_discrete else x
        return self.distribution.logbetween(self._between_ends(begin), self.ub) - self._log_mass

    def ppf(self, q: Any) -> Any:
        """Return the value up to which the probability is q; for counts the smallest one with cdf(k) >= q.

        Raises
        ------
        DomainError
            The probability from lb to ub is below 1e-300, where quantiles have no digits.
        """
        q = self._given("ppf", q, "q", "between 0 and 1")
        value = self._quantile("ppf", q, 1 - q)
        return plain(self._next_count(value, lambda k: self.cdf(k) >= q) if self._is_discrete else value)

    def isf(self, q: Any) -> Any:
        """Return the value beyond which the probability is q; for counts the smallest one with sf(k) <= q.

        Raises
        ------
        DomainError
            The probability from lb to ub is below 1e-300, where quantiles have no digits.
        """
        q = self._given("isf", q, "q", "between 0 and 1")
        value = self._quantile("isf", 1 - q, q)
        return plain(self._next_count(value, lambda k: self.sf(k) <= q) if self._is_discrete else value)

    def _quantile(self, method: str, share_below: Any, share_above: Any) -> Any:
        mass = np.where(self._log_mass < _LEAST, 0.0, np.exp(self._log_mass))
        mass = self._given(method, mass, "probability from lb to ub", "positive")
        below, above = self._log_below(), self.distribution.logsf(self.ub)
        is_upper = below > above
        of_lower = self.distribution.ppf(np.where(is_upper, 0.5, np.minimum(np.exp(below) + share_below * mass, 1.0)))
        of_upper = self.distribution.isf(np.where(is_upper, np.minimum(np.exp(above) + share_above * mass, 1.0), 0.5))
        return self._between_ends(np.where(is_upper, of_upper, of_lower))

    def logbetween(self, lower: Any, upper: Any) -> Any:
        """Return the logarithm of the probability of a value between lower and upper, for counts both included."""
        lower, upper = in_order("stats.truncate.logbetween", ("lower", "upper"), (given(lower), given(upper)))
        is_apart = (upper < self.lb) | (lower > self.ub)
        ends = (np.where(is_apart, self.lb, self._between_ends(end)) for end in (lower, upper))
        return plain(np.where(is_apart, -np.inf, self.distribution.logbetween(*ends) - self._log_mass))

    def between(self, lower: Any, upper: Any) -> Any:
        """Return the probability of a value between lower and upper, for counts both included."""
        return plain(np.exp(self.logbetween(lower, upper)))

    def mean(self) -> Any:
        """Return the mean, of a normal, uniform, gamma, chi-square, exponential, lognormal or beta distribution or of counts.

        Raises
        ------
        TypeError
            The distribution is another one, of which there is no formula.
        """
        return plain(truncated_mean(self.distribution, self.lb, self.ub, self._log_mass))

    def support(self) -> tuple[Any, Any]:
        """Return the ends between which values lie."""
        lower, upper = self.distribution.support()
        least, largest = (np.ceil(self.lb), np.floor(self.ub)) if self._is_discrete else (self.lb, self.ub)
        return plain(np.maximum(lower, least)), plain(np.minimum(upper, largest))


def truncate(distribution: Distribution | Frozen | Truncated, lb: Any = -np.inf, ub: Any = np.inf) -> Truncated:
    """Return the distribution of the values that lie from lb to ub, where other values are not observed.

    Parameters
    ----------
    distribution : Distribution or Frozen
        A distribution of `agrad.stats`, usually with parameters: ``stats.norm(mu, sigma)``, or a truncated one.
    lb, ub : number, array-like or recorded array
        The ends, of which both belong to the values; all arguments broadcast.

    Returns
    -------
    Truncated
        With the methods logpdf, pdf (logpmf, pmf for counts), logcdf, cdf, logsf, sf, logbetween, between, ppf, isf, median,
        mean, support and rvs.

    Raises
    ------
    DomainError
        An end is nan, lb exceeds ub, or there are no values between them.
    TypeError
        The first argument is no distribution with a distribution function.

    Notes
    -----
    The density is the distribution's divided by the probability from lb to ub (`logbetween`), whose logarithm keeps its digits
    in both tails. Derivatives by the parameters, by x and by the ends are those of the quotient.

    Examples
    --------
    >>> import agrad as ag
    >>> float(ag.stats.truncate(ag.stats.norm(0.0, 1.0), 40.0).logpdf(40.5))  # where the probability underflows
    -16.4354965194...
    """
    return Truncated(distribution, lb, ub)
