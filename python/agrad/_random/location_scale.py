"""Draws of distributions on the whole line, on an interval, and of angles."""

from __future__ import annotations

from typing import Any

import numpy as np

from agrad._random.conditions import fail_unless
from agrad._random.sampler import Numbers, Seed, Size, sampler
from agrad._random.standard import exponential, gamma_power, generator_of, logistic
from agrad._record.on_demand import scipy_special

__all__ = [
    "cauchy_rng",
    "double_exponential_rng",
    "exp_mod_normal_rng",
    "generalized_extreme_value_rng",
    "gumbel_rng",
    "logistic_rng",
    "lognormal_rng",
    "normal_rng",
    "skew_double_exponential_rng",
    "skew_normal_rng",
    "std_normal_rng",
    "student_t_rng",
    "uniform_rng",
    "von_mises_rng",
]


@sampler("std_normal_lpdf")
def std_normal_rng(*, rng: Seed = None, size: Size = None) -> Any:
    """Draw standard normal numbers."""
    return generator_of(rng).standard_normal(size)


@sampler("normal_lpdf")
def normal_rng(mu: Numbers, sigma: Numbers, *, rng: Seed = None, size: Size = None) -> Any:
    """Draw normal numbers with mean mu and standard deviation sigma."""
    return mu + sigma * generator_of(rng).standard_normal(size)


@sampler("lognormal_lpdf")
def lognormal_rng(mu: Numbers, sigma: Numbers, *, rng: Seed = None, size: Size = None) -> Any:
    """Draw numbers whose logarithms are normal with mean mu and standard deviation sigma."""
    return np.exp(mu + sigma * generator_of(rng).standard_normal(size))


@sampler("student_t_lpdf")
def student_t_rng(nu: Numbers, mu: Numbers, sigma: Numbers, *, rng: Seed = None, size: Size = None) -> Any:
    """Draw from Student's t distribution with nu degrees of freedom, location mu and scale sigma.

    For small nu many draws are beyond the range of doubles and infinite.
    """
    normal = generator_of(rng).standard_normal(size)
    return mu + normal * gamma_power(generator_of(rng), nu / 2, nu / 2, -0.5, sigma)


@sampler("cauchy_lpdf")
def cauchy_rng(mu: Numbers, sigma: Numbers, *, rng: Seed = None, size: Size = None) -> Any:
    """Draw Cauchy numbers with location mu and scale sigma."""
    return mu + sigma * generator_of(rng).standard_cauchy(size)


@sampler("double_exponential_lpdf")
def double_exponential_rng(mu: Numbers, sigma: Numbers, *, rng: Seed = None, size: Size = None) -> Any:
    """Draw double exponential (Laplace) numbers with location mu and scale sigma: a difference of exponential numbers."""
    source = generator_of(rng)
    return mu + sigma * (exponential(source, mu.shape) - exponential(source, mu.shape))


@sampler("skew_double_exponential_lpdf", tau="between 0 and 1, not 0 or 1")
def skew_double_exponential_rng(mu: Numbers, sigma: Numbers, tau: Numbers, *, rng: Seed = None, size: Size = None) -> Any:
    """Draw skew double exponential numbers with location mu, scale sigma and probability tau of a draw below mu."""
    source = generator_of(rng)
    return mu + 0.5 * sigma * (exponential(source, mu.shape) / tau - exponential(source, mu.shape) / (1 - tau))


@sampler("gumbel_lpdf")
def gumbel_rng(mu: Numbers, beta: Numbers, *, rng: Seed = None, size: Size = None) -> Any:
    """Draw Gumbel numbers with location mu and scale beta."""
    return mu - beta * np.log(exponential(generator_of(rng), mu.shape))


@sampler("generalized_extreme_value_lpdf")
def generalized_extreme_value_rng(mu: Numbers, sigma: Numbers, xi: Numbers, *, rng: Seed = None, size: Size = None) -> Any:
    """Draw generalized extreme values with location mu, scale sigma and shape xi."""
    e = -np.log(exponential(generator_of(rng), mu.shape))
    return mu + sigma * e * scipy_special.exprel(xi * e)


@sampler("logistic_lpdf")
def logistic_rng(mu: Numbers, sigma: Numbers, *, rng: Seed = None, size: Size = None) -> Any:
    """Draw logistic numbers with location mu and scale sigma."""
    return mu + sigma * logistic(generator_of(rng), mu.shape)


@sampler("skew_normal_lpdf")
def skew_normal_rng(xi: Numbers, omega: Numbers, alpha: Numbers, *, rng: Seed = None, size: Size = None) -> Any:
    """Draw skew normal numbers with location xi, scale omega and shape alpha."""
    source, norm = generator_of(rng), np.hypot(1.0, alpha)
    positive, other = np.abs(source.standard_normal(size)), source.standard_normal(size)
    return xi + omega * (alpha / norm * positive + other / norm)


@sampler("exp_mod_normal_lpdf")
def exp_mod_normal_rng(mu: Numbers, sigma: Numbers, lambda_: Numbers, *, rng: Seed = None, size: Size = None) -> Any:
    """Draw sums of a normal number (mu, sigma) and an exponential number of rate lambda."""
    source = generator_of(rng)
    return mu + sigma * source.standard_normal(size) + exponential(source, mu.shape) / lambda_


def _is_interval(function: str, alpha: Any, beta: Any) -> None:
    fail_unless(alpha < beta, function, "beta", beta, "greater than alpha")


@sampler("uniform_lpdf", _is_interval)
def uniform_rng(alpha: Numbers, beta: Numbers, *, rng: Seed = None, size: Size = None) -> Any:
    """Draw uniform numbers between alpha and beta, alpha < beta."""
    share = generator_of(rng).random(size)
    return np.clip(alpha * (1 - share) + beta * share, alpha, beta)


@sampler("von_mises_lpdf")
def von_mises_rng(mu: Numbers, kappa: Numbers, *, rng: Seed = None, size: Size = None) -> Any:
    """Draw von Mises angles, from mu - pi to mu + pi, with location mu and concentration kappa.

    A wrapped Cauchy angle with the best scale is accepted by a comparison of densities, as by Best and Fisher (1979), Applied
    Statistics 28:152, here by the square of the sine of half of the angle, in which nothing cancels. A normal number takes the
    place of the angle where its variance is so small that the sine is the angle to all digits.
    """
    source = generator_of(rng)
    angle = np.array(source.standard_normal(size) / np.sqrt(kappa))
    waiting = np.array(kappa < 1e16)
    while np.any(waiting):
        k = kappa[waiting]
        root = np.hypot(1.0, 2 * k)
        q = 2 * k + 4 * k * k / (1 + root)  # the squared scale of the Cauchy variable is 1 / (1 + q)
        best = np.where(q > 0, 2 * k / ((1 + root) * np.where(q > 0, q, 1)), 0)  # where the ratio of densities is largest
        t = source.standard_cauchy(k.shape) / np.sqrt(1 + q)
        s = t * t / (1 + t * t)
        log_ratio = -2 * k * (s - best) + np.log1p(q * s) - np.log1p(q * best)
        accepted = exponential(source, k.shape) >= -log_ratio
        angle[waiting] = np.where(accepted, 2 * np.arctan(t), angle[waiting])
        waiting[waiting] = ~accepted
    return mu + angle
