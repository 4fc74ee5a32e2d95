"""Draws of categories, which count from 0, of their numbers in many trials, and of simplexes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator

from agrad._random.conditions import ordered, simplex
from agrad._random.sampler import Argument, Numbers, Seed, Size, sampler
from agrad._random.standard import binomial, exponential, generator_of, logistic, shares
from agrad._record.on_demand import scipy_special

__all__ = [
    "categorical_logit_rng",
    "categorical_rng",
    "dirichlet_multinomial_rng",
    "dirichlet_rng",
    "multinomial_logit_rng",
    "multinomial_rng",
    "ordered_logistic_rng",
    "ordered_probit_rng",
]

_SIMPLEX = Argument("a number, not nan", "k", simplex, "Nonnegative, of sum 1")
_CUTPOINTS = Argument("a number, not nan", "k", ordered, "Finite and increasing")
_TRIALS = Argument("a whole number, not negative")


@sampler(theta=_SIMPLEX)
def categorical_rng(theta: Numbers, *, rng: Seed = None, size: Size = None) -> Any:
    """Draw categories, from 0 on, with probabilities theta.

    Of exponential numbers with these rates the first is that of the category.
    """
    return np.argmin(exponential(generator_of(rng), theta.shape) / theta, axis=-1)


@sampler(beta=Argument("finite", "k"))
def categorical_logit_rng(beta: Numbers, *, rng: Seed = None, size: Size = None) -> Any:
    """Draw categories, from 0 on, with log odds beta: with probabilities softmax(beta)."""
    return np.argmax(beta - np.log(exponential(generator_of(rng), beta.shape)), axis=-1)


@sampler(eta=Argument("finite"), c=_CUTPOINTS)
def ordered_logistic_rng(eta: Numbers, c: Numbers, *, rng: Seed = None, size: Size = None) -> Any:
    """Draw the number of cutpoints c below a logistic number with location eta."""
    return np.sum((eta + logistic(generator_of(rng), eta.shape))[..., None] > c, axis=-1)


@sampler(eta=Argument("finite"), c=_CUTPOINTS)
def ordered_probit_rng(eta: Numbers, c: Numbers, *, rng: Seed = None, size: Size = None) -> Any:
    """Draw the number of cutpoints c below a normal number with mean eta and standard deviation 1."""
    return np.sum((eta + generator_of(rng).standard_normal(size))[..., None] > c, axis=-1)


@sampler(alpha=Argument("positive and finite", "k"))
def dirichlet_rng(alpha: Numbers, *, rng: Seed = None, size: Size = None) -> Any:
    """Draw simplexes of Dirichlet's distribution with concentrations alpha."""
    return shares(generator_of(rng), alpha)


def _numbers(rng: Generator, theta: Any, trials: Any) -> Any:
    """Returns how often each category of probabilities theta is drawn: each a binomial number of what is left."""
    left, counts = np.array(trials), np.zeros(theta.shape, dtype=np.int64)
    rest = np.flip(np.cumsum(np.flip(theta, -1), -1), -1)  # of a category and those behind it
    for k in range(theta.shape[-1] - 1):
        share = np.where(rest[..., k] > 0, np.minimum(theta[..., k] / rest[..., k], 1.0), 0.0)
        counts[..., k] = binomial(rng, left, share)
        left = left - counts[..., k]
    counts[..., -1] = left
    return counts


@sampler(theta=_SIMPLEX, N=_TRIALS)
def multinomial_rng(theta: Numbers, N: Numbers, *, rng: Seed = None, size: Size = None) -> Any:  # noqa: N803
    """Draw how often each category occurs in N trials with probabilities theta."""
    return _numbers(generator_of(rng), theta, N)


@sampler(gamma=Argument("finite", "k"), N=_TRIALS)
def multinomial_logit_rng(gamma: Numbers, N: Numbers, *, rng: Seed = None, size: Size = None) -> Any:  # noqa: N803
    """Draw how often each category occurs in N trials with probabilities softmax(gamma)."""
    return _numbers(generator_of(rng), scipy_special.softmax(gamma, -1), N)


@sampler(alpha=Argument("positive and finite", "k"), N=_TRIALS)
def dirichlet_multinomial_rng(alpha: Numbers, N: Numbers, *, rng: Seed = None, size: Size = None) -> Any:  # noqa: N803
    """Draw how often each category occurs in N trials whose probabilities are a draw of Dirichlet's distribution."""
    return _numbers(generator_of(rng), shares(generator_of(rng), alpha), N)
