"""Draws of counts and of outcomes 0 and 1, as int64."""

from __future__ import annotations

from typing import Any

import numpy as np

from agrad._random.conditions import fail_unless
from agrad._random.sampler import Argument, Numbers, Seed, Size, sampler
from agrad._random.standard import (
    LARGEST_RATE,
    as_counts,
    binomial,
    exponential,
    gamma_power,
    generator_of,
    hypergeometric,
    log_gamma,
    logistic,
    poisson,
    share,
)

__all__ = [
    "bernoulli_logit_glm_rng",
    "bernoulli_logit_rng",
    "bernoulli_rng",
    "beta_binomial_rng",
    "beta_neg_binomial_rng",
    "binomial_rng",
    "discrete_range_rng",
    "hypergeometric_rng",
    "neg_binomial_2_log_rng",
    "neg_binomial_2_rng",
    "neg_binomial_rng",
    "poisson_log_rng",
    "poisson_rng",
    "skellam_rng",
    "yule_simon_rng",
]


@sampler("bernoulli_lpmf")
def bernoulli_rng(theta: Numbers, *, rng: Seed = None, size: Size = None) -> Any:
    """Draw outcomes that are 1 with probability theta, else 0."""
    return (generator_of(rng).random(size) < theta).astype(np.int64)


@sampler("bernoulli_logit_lpmf")
def bernoulli_logit_rng(alpha: Numbers, *, rng: Seed = None, size: Size = None) -> Any:
    """Draw outcomes that are 1 with log odds alpha, else 0."""
    return (logistic(generator_of(rng), alpha.shape) < alpha).astype(np.int64)


@sampler(
    x=Argument("finite", "np"),
    alpha=Argument("finite", "n", may_be_number=True),
    beta=Argument("finite", "p"),
)
def bernoulli_logit_glm_rng(x: Numbers, alpha: Numbers, beta: Numbers, *, rng: Seed = None, size: Size = None) -> Any:
    """Draw outcomes that are 1 with log odds alpha + x @ beta, else 0, one for each row of x."""
    log_odds = alpha + (x @ beta[..., None])[..., 0]
    fail_unless(np.isfinite(log_odds), "bernoulli_logit_glm_rng", "alpha + x @ beta", log_odds, "finite")
    return (logistic(generator_of(rng), log_odds.shape) < log_odds).astype(np.int64)


@sampler("binomial_lpmf")
def binomial_rng(N: Numbers, theta: Numbers, *, rng: Seed = None, size: Size = None) -> Any:  # noqa: N803
    """Draw the number of successes in N trials, each with probability theta."""
    return binomial(generator_of(rng), N, theta)


@sampler("beta_binomial_lpmf")
def beta_binomial_rng(N: Numbers, alpha: Numbers, beta: Numbers, *, rng: Seed = None, size: Size = None) -> Any:  # noqa: N803
    """Draw the number of successes in N trials whose common probability is a beta number of shapes alpha and beta."""
    return binomial(generator_of(rng), N, share(generator_of(rng), alpha, beta))


def _countable_rate(function: str, lambda_: Any) -> None:
    fail_unless(lambda_ <= LARGEST_RATE, function, "lambda_", lambda_, "at most 2^52, so that doubles count")


def _countable_log_rate(function: str, alpha: Any) -> None:
    fail_unless(np.exp(alpha) <= LARGEST_RATE, function, "alpha", alpha, "at most log(2^52), so that doubles count")


@sampler("poisson_lpmf", _countable_rate)
def poisson_rng(lambda_: Numbers, *, rng: Seed = None, size: Size = None) -> Any:
    """Draw Poisson counts with rate lambda, at most 2^52."""
    return poisson(generator_of(rng), "poisson_rng", lambda_)


@sampler("poisson_log_lpmf", _countable_log_rate)
def poisson_log_rng(alpha: Numbers, *, rng: Seed = None, size: Size = None) -> Any:
    """Draw Poisson counts with log rate alpha, at most log(2^52)."""
    return poisson(generator_of(rng), "poisson_log_rng", np.exp(alpha))


def _countable_rates(function: str, mu1: Any, mu2: Any) -> None:
    for name, rate in (("mu1", mu1), ("mu2", mu2)):
        fail_unless(rate <= LARGEST_RATE, function, name, rate, "at most 2^52, so that doubles count")


@sampler("skellam_lpmf", _countable_rates)
def skellam_rng(mu1: Numbers, mu2: Numbers, *, rng: Seed = None, size: Size = None) -> Any:
    """Draw differences of two Poisson counts with rates mu1 and mu2, each at most 2^52."""
    source = generator_of(rng)
    return poisson(source, "skellam_rng", mu1) - poisson(source, "skellam_rng", mu2)


@sampler("neg_binomial_lpmf")
def neg_binomial_rng(alpha: Numbers, beta: Numbers, *, rng: Seed = None, size: Size = None) -> Any:
    """Draw negative binomial counts: Poisson counts whose rates are gamma numbers with shape alpha and rate beta."""
    rate = gamma_power(generator_of(rng), alpha, beta)
    return poisson(generator_of(rng), "neg_binomial_rng", rate, "alpha / beta is too large")


@sampler("neg_binomial_2_lpmf")
def neg_binomial_2_rng(mu: Numbers, phi: Numbers, *, rng: Seed = None, size: Size = None) -> Any:
    """Draw negative binomial counts with mean mu and shape phi; for large phi they are Poisson counts."""
    rate = gamma_power(generator_of(rng), phi, phi, 1.0, mu)
    return poisson(generator_of(rng), "neg_binomial_2_rng", rate, "mu is too large or phi too small")


@sampler("neg_binomial_2_log_lpmf")
def neg_binomial_2_log_rng(eta: Numbers, phi: Numbers, *, rng: Seed = None, size: Size = None) -> Any:
    """Draw negative binomial counts with log mean eta and shape phi."""
    source = generator_of(rng)
    log_share = np.where(phi < 1, log_gamma(source, phi) - np.log(phi), np.log(gamma_power(source, phi, phi)))
    return poisson(source, "neg_binomial_2_log_rng", np.exp(eta + log_share), "eta is too large or phi too small")


@sampler("beta_neg_binomial_lpmf")
def beta_neg_binomial_rng(r: Numbers, alpha: Numbers, beta: Numbers, *, rng: Seed = None, size: Size = None) -> Any:
    """Draw counts of failures before the r-th success, whose probability is a beta number of shapes alpha and beta.

    Raises DomainError where a count has a rate beyond 2^52, which is frequent for small alpha.
    """
    source = generator_of(rng)
    rate = np.exp(log_gamma(source, r) + log_gamma(source, beta) - log_gamma(source, alpha))
    return poisson(source, "beta_neg_binomial_rng", rate, "alpha is too small")


@sampler("yule_simon_lpmf")
def yule_simon_rng(alpha: Numbers, *, rng: Seed = None, size: Size = None) -> Any:
    """Draw Yule-Simon counts, from 1 on, with shape alpha: geometric counts, minus whose log probability is exponential.

    Raises DomainError where a count is beyond 2^53, which is frequent for small alpha.
    """
    source = generator_of(rng)
    log_success = -exponential(source, alpha.shape) / alpha
    failure = np.where(log_success > -0.6, np.log(-np.expm1(log_success)), np.log1p(-np.exp(log_success)))
    return as_counts("yule_simon_rng", 1 + np.floor(exponential(source, alpha.shape) / -failure), "alpha is too small")


def _not_empty(function: str, l: Any, u: Any) -> None:  # noqa: E741
    fail_unless(l <= u, function, "u", u, "l or greater")


@sampler("discrete_range_lpmf", _not_empty)
def discrete_range_rng(l: Numbers, u: Numbers, *, rng: Seed = None, size: Size = None) -> Any:  # noqa: E741
    """Draw whole numbers from l to u, both included."""
    return generator_of(rng).integers(l, u, endpoint=True)


def _enough(function: str, N: Any, a: Any, b: Any) -> None:  # noqa: N803
    fail_unless(a + b >= N, function, "N", N, "at most a + b")


@sampler("hypergeometric_lpmf", _enough)
def hypergeometric_rng(N: Numbers, a: Numbers, b: Numbers, *, rng: Seed = None, size: Size = None) -> Any:  # noqa: N803
    """Draw the number of successes in N draws without replacement from a successes and b failures."""
    return hypergeometric(generator_of(rng), N, a, b)
