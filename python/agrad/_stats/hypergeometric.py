"""Defines the distribution functions of the hypergeometric distribution, which are sums of masses.

They are rows as those of the compiled part are, with the names of a family's functions. All arguments are counts, so there are
no derivatives; recorded arguments may change from run to run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from agrad._core import DomainError, density_rows
from agrad._record.structure import find_recording
from agrad._stats.families import Family
from agrad._transforms.custom import custom_vjp, stop_gradient

__all__ = ["with_distribution_functions"]

_MASS = next(row for row in density_rows() if row.name == "hypergeometric_lpmf")
_MOST_DEVIATION = 1e6  # so that some nine million masses are added in about a second
_WIDTH = 32  # the masses that follow from one logarithm, by ratios, whose rounding errors add up
_NEGLIGIBLE = 2.0**-60


def _masses(begin: Any, step: float, N: float, a: float, b: float) -> Any:  # noqa: N803
    """Return the logarithms of the masses at `begin`, and rows of the masses from there on, divided by the first of each."""
    k = begin[:, np.newaxis] + step * np.arange(_WIDTH - 1)
    low = np.minimum(k, k + step)  # the lower count of two neighbours
    rising, falling = (a - low, N - low), (low + 1, b - N + low + 1)
    over, under = (rising, falling) if step > 0 else (falling, rising)
    ratios = (over[0] / under[0]) * (over[1] / under[1])
    rows = np.cumprod(np.concatenate([np.ones((len(begin), 1)), ratios], axis=1), axis=1)  # 0 beyond the support
    return _MASS.terms(begin, N, a, b), rows


def _log_sum(first: float, last: float, step: float, *counts: float) -> float:
    """Return the logarithm of the sum of the masses from `first` on, away from the mode, to `last`.

    Masses beyond the mode fall faster than a geometric series of the last two, so that what is left is known.
    """
    at, rows, leading = first, 1, float(_MASS.terms(first, *counts))
    sums = []
    while (last - at) * step >= 0:
        begin = at + step * _WIDTH * np.arange(min(rows, abs(last - at) // _WIDTH + 1))
        logs, shares = _masses(begin, step, *counts)
        is_counted = (last - begin[:, np.newaxis] - step * np.arange(_WIDTH)) * step >= 0
        masses = np.where(is_counted, np.exp(logs - leading)[:, np.newaxis] * shares, 0.0)
        sums.append(float(np.sum(masses)))
        before, end = masses[-1, -2:].tolist()
        if end < before and end * end <= _NEGLIGIBLE * sums[0] * (before - end):
            break
        at, rows = at + step * _WIDTH * len(begin), min(2 * rows, 2048)
    return leading + math.log(math.fsum(sums))


def _support(N: float, a: float, b: float) -> tuple[float, float]:  # noqa: N803
    return max(0.0, N - b), min(N, a)


def _mode(N: float, a: float, b: float) -> float:  # noqa: N803
    return math.floor((N + 1) * ((a + 1) / (a + b + 2)))


def _check_deviation(N: float, a: float, b: float) -> None:  # noqa: N803
    every = a + b
    deviation = math.sqrt(N * (a / every) * (b / every) * ((every - N) / max(every - 1, 1.0)))
    if deviation > _MOST_DEVIATION:
        raise DomainError(
            f"stats.hypergeom: standard deviation is {deviation:.3g}, but must be at most {_MOST_DEVIATION:g}, so that masses"
            " can be added"
        )


def _log_tails(n: float, N: float, a: float, b: float) -> tuple[float, float]:  # noqa: N803
    """Return the logarithms of the probabilities of at most n, and of more than n, successes."""
    lower, upper = _support(N, a, b)
    if n < lower or n >= upper:
        return (-math.inf, 0.0) if n < lower else (0.0, -math.inf)
    _check_deviation(N, a, b)
    is_below = n < _mode(N, a, b)
    of_shorter = _log_sum(n, lower, -1.0, N, a, b) if is_below else _log_sum(n + 1, upper, 1.0, N, a, b)
    of_longer = math.log1p(-math.exp(min(of_shorter, 0.0)))
    return (of_shorter, of_longer) if is_below else (of_longer, of_shorter)


def _cdf(n: float, *counts: float) -> float:
    lower, upper = _log_tails(n, *counts)
    return math.exp(lower) if lower < upper else -math.expm1(upper)


def _log_between(lower: float, upper: float, *counts: float) -> float:
    """Return the logarithm of the probability of at least `lower` and at most `upper` successes."""
    least, most = _support(*counts)
    lower, upper = max(lower, least), min(upper, most)
    if lower > upper:
        return -math.inf
    outside = math.exp(_log_tails(lower - 1, *counts)[0]) + math.exp(_log_tails(upper, *counts)[1])
    if outside < 0.5:
        return math.log1p(0.0 - outside)
    mode = min(max(_mode(*counts), lower), upper)
    below = _log_sum(mode, lower, -1.0, *counts)
    return float(np.logaddexp(below, _log_sum(mode + 1, upper, 1.0, *counts))) if mode < upper else below


#: The functions by the ends of their names.
_FUNCTIONS: Mapping[str, Callable[..., float]] = {
    "cdf": _cdf,
    "lcdf": lambda n, *counts: _log_tails(n, *counts)[0],
    "lccdf": lambda n, *counts: _log_tails(n, *counts)[1],
    "lbetween": _log_between,
}


@dataclass(frozen=True)
class _Row:
    """A distribution function: its name, the names and conditions of its arguments, and its terms."""

    name: str
    of: Callable[..., float]

    @property
    def arguments(self) -> list[tuple[str, str]]:
        names = ("lower", "upper") if self.of is _log_between else ("n",)
        return [*((name, "a whole number") for name in names), *_MASS.arguments[1:]]

    def _of_numbers(self, *given: Any) -> Any:
        arguments = np.broadcast_arrays(*(np.asarray(x, dtype=float) for x in given))
        entries = [self.of(*entry) for entry in zip(*(x.ravel().tolist() for x in arguments), strict=True)]
        return np.reshape(np.array(entries, dtype=float), arguments[0].shape)

    def terms(self, *arguments: Any) -> Any:
        """Return the entries of broadcast arguments."""
        if find_recording(*arguments) is None:
            return self._of_numbers(*arguments)[()]
        function = custom_vjp(self._of_numbers)
        function.defvjp(
            lambda *x: (self._of_numbers(*x), [np.zeros(np.shape(each)) for each in x]), lambda zeros, _: tuple(zeros)
        )
        return stop_gradient(function(*stop_gradient(arguments)))


def with_distribution_functions(family: Family) -> Family:
    """Return the hypergeometric family with its distribution functions."""
    rows: dict[str, Any] = {end: _Row(f"{family.rule}_{end}", of) for end, of in _FUNCTIONS.items()}
    return replace(family, densities={**family.densities, **rows})
