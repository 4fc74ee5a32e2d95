"""Defines zero-inflated and hurdle distributions: mixtures of a distribution with a point at zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from agrad._core import checked
from agrad._stan.elementwise import log1m, log_mix
from agrad._stats.call import given, plain
from agrad._stats.derived import Derived, from_both_sides
from agrad._stats.distributions import Distribution, Frozen
from agrad._stats.truncation import Truncated

__all__ = ["Inflated", "hurdle", "zero_inflate"]


class Inflated(Derived):
    """A distribution of values that are 0 with the probability p, and else those of another distribution."""

    _function = "zero_inflate"
    _needs = ("logcdf", "logsf", "ppf", "isf")
    _has_density = False

    def __init__(self, distribution: Distribution | Frozen | Truncated, p: Any) -> None:
        super().__init__(distribution)
        self.p = checked(f"stats.{self._function}", "p", "between 0 and 1", given(p))

    def __repr__(self) -> str:
        return f"agrad.stats.{self._function}({self.distribution!r}, {self.p!r})"

    def _log_density(self, method: str, x: Any) -> Any:
        x = self._given(method, x)
        inner = self._of(method, x)
        at_zero = log_mix(self.p, 0.0, inner) if self._is_discrete else np.log(self.p)
        return plain(np.where(x == 0, at_zero, log1m(self.p) + inner))

    def logcdf(self, x: Any) -> Any:
        """Return the logarithm of the probability of a value up to x."""
        x = self._given("logcdf", x)
        others, beyond = self.distribution.logcdf(x), self._log_others_beyond(x)
        return plain(np.where(x >= 0, from_both_sides(log_mix(self.p, 0.0, others), beyond), log1m(self.p) + others))

    def logsf(self, x: Any) -> Any:
        """Return the logarithm of the probability of a value beyond x."""
        x = self._given("logsf", x)
        others, up_to = self.distribution.logsf(x), log1m(self.p) + self.distribution.logcdf(x)
        return plain(np.where(x >= 0, self._log_others_beyond(x), from_both_sides(log_mix(self.p, 0.0, others), up_to)))

    def _log_others_beyond(self, x: Any) -> Any:
        return log1m(self.p) + self.distribution.logsf(x)

    def ppf(self, q: Any) -> Any:
        """Return the value up to which the probability is q; for counts the smallest one with cdf(k) >= q."""
        q = self._given("ppf", q, "q", "between 0 and 1")
        value = self._quantile(q, 1 - q)
        return plain(self._next_count(value, lambda k: self.cdf(k) >= q) if self._is_discrete else value)

    def isf(self, q: Any) -> Any:
        """Return the value beyond which the probability is q; for counts the smallest one with sf(k) <= q."""
        q = self._given("isf", q, "q", "between 0 and 1")
        value = self._quantile(1 - q, q)
        return plain(self._next_count(value, lambda k: self.sf(k) <= q) if self._is_discrete else value)

    def _quantile(self, share_below: Any, share_above: Any) -> Any:
        """Return the quantile with these shares on both sides: beyond zero by the share above, which keeps its digits."""
        others = np.where(self.p < 1, 1 - self.p, 1.0)
        below, above = share_below / others, share_above / others
        is_below = below < np.exp(self.distribution.logcdf(-1.0 if self._is_discrete else 0.0))
        is_above = above < np.exp(self.distribution.logsf(0.0))
        of_lower = self.distribution.ppf(np.where(is_below, below, 0.5))
        of_upper = self.distribution.isf(np.where(is_above, above, 0.5))
        return np.where(self.p < 1, np.where(is_below, of_lower, np.where(is_above, of_upper, 0.0)), 0.0)

    def mean(self) -> Any:
        """Return the mean."""
        return plain((1 - self.p) * self.distribution.mean())

    def var(self) -> Any:
        """Return the variance."""
        return plain((1 - self.p) * (self.distribution.var() + self.p * self.distribution.mean() ** 2))

    def std(self) -> Any:
        """Return the standard deviation."""
        return plain(np.sqrt(self.var()))

    def support(self) -> tuple[Any, Any]:
        """Return the ends between which values lie."""
        lower, upper = self.distribution.support()
        return plain(np.minimum(lower, 0.0)), plain(np.maximum(upper, 0.0))


def zero_inflate(distribution: Distribution | Frozen | Truncated, p: Any) -> Inflated:
    """Return the distribution of values that are 0 with the probability p, and else those of a distribution.

    Parameters
    ----------
    distribution : Distribution, Frozen or Truncated
        A distribution of `agrad.stats`, usually with parameters: ``stats.poisson(mu)``, ``stats.gamma(a, scale=s)``.
    p : number, array-like or recorded array
        The probability of a further zero; all arguments broadcast. Between 0 and 1.

    Returns
    -------
    Inflated
        With the methods logpdf, pdf (logpmf, pmf for counts), logcdf, cdf, logsf, sf, ppf, isf, median, mean, var, std, support
        and rvs, as far as the distribution has them. Of numbers that are no counts, `logpdf` is log(p) at 0, a probability,
        and elsewhere the logarithm of the density times 1 - p, which is the term of a log likelihood.

    Raises
    ------
    DomainError
        p is no probability.
    TypeError
        The first argument is no distribution with distribution functions and quantiles.

    Notes
    -----
    A count of 0 has the probability p + (1 - p) f(0); :func:`hurdle` has zeros of one kind alone.

    References
    ----------
    Lambert (1992), Technometrics 34:1.

    Examples
    --------
    >>> import agrad as ag
    >>> float(ag.stats.zero_inflate(ag.stats.poisson(2.0), 0.25).pmf(0))
    0.3515...
    """
    return Inflated(distribution, p)


def hurdle(distribution: Distribution | Frozen | Truncated, p: Any) -> Inflated:
    """Return the distribution of values that are 0 with the probability p, and else positive ones of a distribution.

    Parameters
    ----------
    distribution : Distribution, Frozen or Truncated
        A distribution of `agrad.stats`; of counts those from 1 on are taken, by :func:`truncate`, of other numbers all.
    p : number, array-like or recorded array
        The probability of 0; all arguments broadcast. Between 0 and 1.

    Returns
    -------
    Inflated
        With the methods of :func:`zero_inflate`.

    Raises
    ------
    DomainError
        p is no probability, or there are no positive values.
    TypeError
        The first argument is no distribution with distribution functions and quantiles.

    References
    ----------
    Mullahy (1986), Journal of Econometrics 33:341.

    Examples
    --------
    >>> import agrad as ag
    >>> float(ag.stats.hurdle(ag.stats.poisson(2.0), 0.25).pmf(0))
    0.25
    """
    is_discrete = Inflated(distribution, p)._is_discrete
    return Inflated(Truncated(distribution, 1, np.inf) if is_discrete else distribution, p)
