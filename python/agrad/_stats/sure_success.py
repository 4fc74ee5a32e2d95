"""Defines the negative binomial distribution for a probability of success up to 1, where every count is 0.

The rules of the compiled part have the odds p / (1 - p), which are infinite there. The rows of this file take p and have at
p = 1 the values of the limit, with derivatives from within to second order: probabilities of counts beyond 1 have none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from agrad._core import DensityRow
from agrad._record.structure import find_recording
from agrad._stats.changed_row import ChangedRow
from agrad._stats.families import Family
from agrad.random import neg_binomial_rng

__all__ = ["with_sure_success"]


def _log_cdf(k: Any, n: Any, p: Any) -> Any:
    """Return the logarithm of the probability of at most k near p = 1, exact for counts of 0 and 1."""
    of_one = n * np.log(p)
    return np.where(k < 0, -np.inf, np.where(k < 1, of_one, np.where(k < 2, of_one + np.log1p(n * (1 - p)), 0.0)))


def _log_sf(k: Any, n: Any, p: Any) -> Any:
    within = np.log(-np.expm1(np.where((k >= 0) & (k < 2), _log_cdf(np.minimum(k, 1.0), n, p), -np.inf)))
    return np.where(k < 2, within, -np.inf)


def _log_between(lower: Any, upper: Any, n: Any, p: Any) -> Any:
    of_one = np.log(np.exp(_log_cdf(upper, n, p)) - np.exp(_log_cdf(lower - 1, n, p)))
    return np.where(lower < 1, _log_cdf(upper, n, p), np.where(lower < 2, of_one, -np.inf))


_AT_ONE: dict[str, Callable[..., Any]] = {
    "lpmf": lambda k, n, p: np.where(k == 0, n * np.log(p), -np.inf),
    "cdf": lambda k, n, p: np.exp(_log_cdf(k, n, p)),
    "lcdf": _log_cdf,
    "lccdf": _log_sf,
    "lbetween": _log_between,
}


def _terms(row: DensityRow, at_one: Callable[..., Any]) -> Callable[..., Any]:
    """Return the entries of a row as a function of arguments of which p is the last one, not the odds."""

    def terms(*arguments: Any) -> Any:
        *others, p = arguments
        is_sure = np.equal(p, 1)
        if find_recording(p) is None and not np.any(is_sure):
            return row.terms(*others, _odds(p))
        general = row.terms(*others, _odds(np.where(is_sure, 0.5, p)))
        with np.errstate(all="ignore"):  # logarithms of 0
            return np.where(is_sure, at_one(*others, p), general)[()]

    return terms


def _odds(p: Any) -> Any:
    return p / (1 - p)


def _draw(n: Any, p: Any, *, rng: Any, size: Any) -> Any:
    """Draw negative binomial counts with a probability of success p, 0 where it is 1."""
    is_sure = np.equal(p, 1)
    return np.where(is_sure, 0, neg_binomial_rng(n, _odds(np.where(is_sure, 0.5, p)), rng=rng, size=size))


def with_sure_success(family: Family) -> Family:
    """Return the negative binomial family with functions of p."""
    condition = family.parameters["p"]
    rows: dict[str, Any] = {
        end: ChangedRow(family.densities[end], condition, _terms(family.densities[end], at_one))
        for end, at_one in _AT_ONE.items()
    }
    number, _ = family.argument_functions
    return replace(family, densities=rows, argument_functions=(number, lambda n, p, loc: p), draw=_draw)
