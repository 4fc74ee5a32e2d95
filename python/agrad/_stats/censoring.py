"""Defines censored distributions: those of the reports of an instrument that shows its limits for values beyond them."""

from __future__ import annotations

from typing import Any

import numpy as np

from agrad._stats.call import plain
from agrad._stats.cut import Cut
from agrad._stats.distributions import Distribution, Frozen
from agrad._stats.truncation import Truncated

__all__ = ["Censored", "censor"]


class Censored(Cut):
    """A distribution of which values up to lb are reported as lb, and values from ub on as ub.

    At the ends the functions `logpdf` and `logpmf` are logarithms of the probabilities of these reports, between the ends of
    the density or mass; outside of the ends they are -inf.
    """

    _function = "censor"
    _has_density = False

    def _log_density(self, method: str, x: Any) -> Any:
        x = self._given(method, x)
        beyond = self.distribution.logsf(np.ceil(self.ub) - 1 if self._is_discrete else self.ub)
        inside = (x > self.lb) & (x < self.ub)
        inner = self._of(method, x)
        at_ends = np.where(x == self.lb, self.distribution.logcdf(self.lb), np.where(x == self.ub, beyond, -np.inf))
        return plain(np.where(inside, inner, at_ends))

    def logcdf(self, x: Any) -> Any:
        """Return the logarithm of the probability of a report up to x."""
        x = self._given("logcdf", x)
        return plain(np.where(x < self.lb, -np.inf, np.where(x >= self.ub, 0.0, self.distribution.logcdf(x))))

    def logsf(self, x: Any) -> Any:
        """Return the logarithm of the probability of a report beyond x."""
        x = self._given("logsf", x)
        return plain(np.where(x < self.lb, 0.0, np.where(x >= self.ub, -np.inf, self.distribution.logsf(x))))

    def ppf(self, q: Any) -> Any:
        """Return the report up to which the probability is q."""
        value = self.distribution.ppf(self._given("ppf", q, "q", "between 0 and 1"))
        return plain(self._between_ends(value))

    def support(self) -> tuple[Any, Any]:
        """Return the ends between which reports lie."""
        lower, upper = self.distribution.support()
        return plain(self._between_ends(lower)), plain(self._between_ends(upper))


def censor(distribution: Distribution | Frozen | Truncated, lb: Any = -np.inf, ub: Any = np.inf) -> Censored:
    """Return the distribution of reports of an instrument that shows lb for values up to lb, and ub for values from ub on.

    Parameters
    ----------
    distribution : Distribution or Frozen
        A distribution of `agrad.stats`, usually with parameters: ``stats.norm(mu, sigma)``, or a truncated one.
    lb, ub : number, array-like or recorded array
        The limits of quantification; all arguments broadcast.

    Returns
    -------
    Censored
        With the methods logpdf, pdf (logpmf, pmf for counts), logcdf, cdf, logsf, sf, ppf, median, support and rvs. `logpdf` is
        the term of a log likelihood: `logcdf(lb)` for an observation at lb, `logsf(ub)` for one at ub, and `logpdf(x)` between
        them.

    Raises
    ------
    DomainError
        An end is nan, or lb exceeds ub.
    TypeError
        The first argument is no distribution with a distribution function.

    Notes
    -----
    An observation of which an interval is known has the log likelihood `logbetween(lower, upper)`.

    Examples
    --------
    >>> import agrad as ag
    >>> float(ag.stats.censor(ag.stats.expon(), ub=2.0).logpdf(2.0))
    -2.0
    """
    return Censored(distribution, lb, ub)
