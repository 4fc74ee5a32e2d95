"""Standard draws, of which the functions for users are made: exact where NumPy's are not, or refuse.

Gamma draws of small shapes underflow, so they are made on the logarithmic scale. Counts of large rates and populations are
split until NumPy's rejection, whose acceptance loses its digits there, has small ones only.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator

from agrad._core import DomainError
from agrad._random.sampler import Seed
from agrad._record.on_demand import scipy_special

__all__ = [
    "LARGEST_RATE",
    "as_counts",
    "binomial",
    "exponential",
    "gamma_power",
    "generator_of",
    "hypergeometric",
    "log_gamma",
    "logistic",
    "poisson",
    "share",
    "shares",
]

#: Counts up to which NumPy's rejection is exact: it compares logarithms of the size of a count with an error of 1e-16 of that.
_LARGE = 1e9
#: The largest rate of a Poisson distribution: its counts are below 2^53.
LARGEST_RATE = 2.0**52


def generator_of(rng: Seed) -> Generator:
    """Returns the generator that `sampler` passed to a function."""
    assert isinstance(rng, Generator)
    return rng


def exponential(rng: Generator, shape: tuple[int, ...]) -> Any:
    """Returns standard exponential draws, none of them 0, so that they have logarithms."""
    return np.maximum(rng.standard_exponential(shape), 2.0**-60)


def logistic(rng: Generator, shape: tuple[int, ...]) -> Any:
    """Returns standard logistic draws: the logarithm of a ratio of exponential draws, which has digits in both tails."""
    return np.log(exponential(rng, shape) / exponential(rng, shape))


# ---- gamma -----------------------------------------------------------------------------------------------------------


def _gamma_and_log(rng: Generator, shape: Any) -> tuple[Any, Any]:
    """Returns standard gamma draws and their logarithms, which are finite where the draws underflow.

    A draw of shape a < 1 is one of shape a + 1 times a uniform draw to the power 1 / a, whose logarithm is exponential.
    """
    small = shape < 1
    draw = rng.standard_gamma(np.where(small, shape + 1, shape))
    logs = np.log(draw) - np.where(small, exponential(rng, shape.shape) / shape, 0.0)
    return np.where(small, np.exp(logs), draw), logs


def log_gamma(rng: Generator, shape: Any) -> Any:
    """Returns logarithms of standard gamma draws."""
    return _gamma_and_log(rng, shape)[1]


def gamma_power(rng: Generator, shape: Any, rate: Any, power: float = 1.0, factor: Any = 1.0) -> Any:
    """Returns factor * (G / rate)^power of standard gamma draws G."""
    draw, logs = _gamma_and_log(rng, shape)
    on_logarithms = np.exp(np.log(factor) + power * (logs - np.log(rate)))
    return np.where(shape < 1, on_logarithms, factor * (draw / rate) ** power)


def shares(rng: Generator, shape: Any) -> Any:
    """Returns gamma draws divided by their sum along the last axis: a draw of Dirichlet's distribution.

    Below shapes of 1e-100 all of the sum is one draw, whichever the scale of the shapes.
    """
    largest = shape.max(-1, keepdims=True)
    draw, logs = _gamma_and_log(rng, shape * np.where(largest < 1e-100, 1e-100 / largest, 1.0))
    draw = draw / draw.max(-1, keepdims=True)
    direct = draw / draw.sum(-1, keepdims=True)
    return np.where(shape.min(-1, keepdims=True) < 1, scipy_special.softmax(logs, -1), direct)


def share(rng: Generator, a: Any, b: Any) -> Any:
    """Returns beta draws of shapes a and b."""
    return shares(rng, np.stack(np.broadcast_arrays(a, b), -1))[..., 0]


# ---- counts ----------------------------------------------------------------------------------------------------------


def as_counts(function: str, x: Any, why: str) -> Any:
    """Returns whole numbers as int64; raises DomainError where one is beyond those that doubles count."""
    if np.any(wrong := ~(np.abs(x) < 2 * LARGEST_RATE)):
        raise DomainError(
            f"{function}: a draw is {float(x[wrong].flat[0])}, but must be below 2^53, so that doubles count; {why}"
        )
    return x.astype(np.int64)


def binomial(rng: Generator, n: Any, p: Any) -> Any:
    """Returns binomial draws.

    Many trials are split at the middle one of n ordered uniform numbers, which is beta distributed: either it and all before
    are successes, or none behind it is.
    Source: Devroye, Non-uniform random variate generation (1986), section X.4.3.
    """
    n, p = np.array(n, dtype=float), np.array(p, dtype=float)
    count = np.zeros(n.shape)
    while np.any(large := n > _LARGE):
        m, q = n[large], p[large]
        middle = np.floor(m / 2) + 1
        u = share(rng, middle, m + 1 - middle)
        beyond = q < u
        count[large] += np.where(beyond, 0.0, middle)
        n[large] = np.where(beyond, middle - 1, m - middle)
        p[large] = np.clip(np.where(beyond, q / u, (q - u) / (1 - u)), 0.0, 1.0)
    return (count + rng.binomial(n.astype(np.int64), p)).astype(np.int64)


def poisson(rng: Generator, function: str, rate: Any, why: str = "") -> Any:
    """Returns Poisson draws; raises DomainError for rates beyond `LARGEST_RATE`.

    A large rate is a time, in which many of the expected events pass at once: the time of the last is gamma distributed.
    Source: Ahrens and Dieter (1974), Computing 12:223.
    """
    rate = np.array(rate, dtype=float)
    if np.any(wrong := ~(rate <= LARGEST_RATE)):
        first = float(rate[wrong].flat[0])
        raise DomainError(f"{function}: a rate of counts is {first}, but must be at most 2^52, so that doubles count; {why}")
    count = np.zeros(rate.shape)
    while np.any(large := rate > _LARGE):
        t = rate[large]
        m = np.floor(t * 0.875)
        last = rng.standard_gamma(m)
        passed = last < t
        count[large] += np.where(passed, m, 0.0)
        if np.any(late := ~passed):  # the others of these events are uniform up to the last
            within = np.zeros(t.shape)
            within[late] = binomial(rng, m[late] - 1, t[late] / last[late])
            count[large] += within
        rate[large] = np.where(passed, t - last, 0.0)
    return (count + rng.poisson(rate)).astype(np.int64)


def hypergeometric(rng: Generator, draws: Any, a: Any, b: Any) -> Any:
    """Returns the numbers of successes in draws without replacement from a successes and b failures.

    In a sequence of all of them, the number of failures before the middle success is beta binomial. The part of the sequence
    that is drawn whole, or not at all, is left out, with half of the successes.
    """
    draws, a, b = (np.array(x, dtype=float) for x in (draws, a, b))
    count = np.zeros(draws.shape)
    while np.any(large := np.maximum(a, b) >= _LARGE):
        n, good, bad = draws[large], a[large], b[large]
        middle = np.floor((good + 1) / 2)
        before = binomial(rng, bad, share(rng, np.maximum(middle, 1.0), good + 1 - middle))
        passed = (middle + before <= n) & (middle > 0)
        count[large] += np.where(passed, middle, 0.0)
        n = np.where(passed, n - middle - before, n)
        good, bad = np.where(passed, good - middle, middle - 1), np.where(passed, bad - before, before)
        is_done = (good <= 0) | (n <= 0)
        draws[large], a[large], b[large] = (np.where(is_done, 0.0, x) for x in (n, good, bad))
    return (count + rng.hypergeometric(*(x.astype(np.int64) for x in (a, b, draws)))).astype(np.int64)
