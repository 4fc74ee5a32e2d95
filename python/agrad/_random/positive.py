"""Draws of distributions of positive numbers, and of numbers between 0 and 1."""

from __future__ import annotations

from typing import Any

import numpy as np

from agrad._random.sampler import Numbers, Seed, Size, sampler
from agrad._random.standard import exponential, gamma_power, generator_of, logistic, share
from agrad._record.on_demand import scipy_special

__all__ = [
    "beta_proportion_rng",
    "beta_rng",
    "chi_square_rng",
    "exponential_rng",
    "frechet_rng",
    "gamma_rng",
    "generalized_pareto_rng",
    "half_cauchy_rng",
    "half_normal_rng",
    "inv_chi_square_rng",
    "inv_gamma_rng",
    "inv_gaussian_rng",
    "loglogistic_rng",
    "pareto_rng",
    "pareto_type_2_rng",
    "rayleigh_rng",
    "scaled_inv_chi_square_rng",
    "weibull_rng",
]


@sampler("exponential_lpdf")
def exponential_rng(beta: Numbers, *, rng: Seed = None, size: Size = None) -> Any:
    """Draw exponential numbers with rate beta."""
    return exponential(generator_of(rng), beta.shape) / beta


@sampler("gamma_lpdf")
def gamma_rng(alpha: Numbers, beta: Numbers, *, rng: Seed = None, size: Size = None) -> Any:
    """Draw gamma numbers with shape alpha and rate beta.

    For small alpha many draws are below the range of doubles and 0.
    """
    return gamma_power(generator_of(rng), alpha, beta)


@sampler("chi_square_lpdf")
def chi_square_rng(nu: Numbers, *, rng: Seed = None, size: Size = None) -> Any:
    """Draw chi-square numbers with nu degrees of freedom."""
    return gamma_power(generator_of(rng), nu / 2, 0.5)


@sampler("inv_gamma_lpdf")
def inv_gamma_rng(alpha: Numbers, beta: Numbers, *, rng: Seed = None, size: Size = None) -> Any:
    """Draw numbers whose reciprocals are gamma numbers with shape alpha and rate beta."""
    return gamma_power(generator_of(rng), alpha, beta, -1.0)


@sampler("inv_chi_square_lpdf")
def inv_chi_square_rng(nu: Numbers, *, rng: Seed = None, size: Size = None) -> Any:
    """Draw numbers whose reciprocals are chi-square numbers with nu degrees of freedom."""
    return gamma_power(generator_of(rng), nu / 2, 0.5, -1.0)


@sampler("scaled_inv_chi_square_lpdf")
def scaled_inv_chi_square_rng(nu: Numbers, s: Numbers, *, rng: Seed = None, size: Size = None) -> Any:
    """Draw nu s^2 divided by chi-square numbers with nu degrees of freedom."""
    return gamma_power(generator_of(rng), nu / 2, nu / 2, -0.5, s) ** 2


@sampler("weibull_lpdf")
def weibull_rng(alpha: Numbers, sigma: Numbers, *, rng: Seed = None, size: Size = None) -> Any:
    """Draw Weibull numbers with shape alpha and scale sigma."""
    return np.exp(np.log(sigma) + np.log(exponential(generator_of(rng), alpha.shape)) / alpha)


@sampler("frechet_lpdf")
def frechet_rng(alpha: Numbers, sigma: Numbers, *, rng: Seed = None, size: Size = None) -> Any:
    """Draw Fréchet numbers with shape alpha and scale sigma."""
    return np.exp(np.log(sigma) - np.log(exponential(generator_of(rng), alpha.shape)) / alpha)


@sampler("generalized_pareto_lpdf")
def generalized_pareto_rng(mu: Numbers, sigma: Numbers, xi: Numbers, *, rng: Seed = None, size: Size = None) -> Any:
    """Draw generalized Pareto numbers from mu on with scale sigma and shape xi."""
    e = exponential(generator_of(rng), mu.shape)
    return mu + sigma * e * scipy_special.exprel(xi * e)


@sampler("half_normal_lpdf")
def half_normal_rng(sigma: Numbers, *, rng: Seed = None, size: Size = None) -> Any:
    """Draw the sizes of normal numbers with mean 0 and standard deviation sigma."""
    return sigma * np.abs(generator_of(rng).standard_normal(sigma.shape))


@sampler("half_cauchy_lpdf")
def half_cauchy_rng(sigma: Numbers, *, rng: Seed = None, size: Size = None) -> Any:
    """Draw the sizes of Cauchy numbers with location 0 and scale sigma."""
    return sigma * np.abs(generator_of(rng).standard_cauchy(sigma.shape))


@sampler("inv_gaussian_lpdf")
def inv_gaussian_rng(mu: Numbers, lambda_: Numbers, *, rng: Seed = None, size: Size = None) -> Any:
    """Draw inverse Gaussian numbers with mean mu and shape lambda.

    Each is one of the two numbers at which the exponent of the density is that of a normal number.

    Source: Michael, Schucany and Haas (1976), The American Statistician 30:88.
    """
    source = generator_of(rng)
    w = 0.5 * source.standard_normal(mu.shape) ** 2 * (mu / lambda_)
    factor = 1 + w + np.sqrt(w) * np.sqrt(w + 2)  # of the larger number; its inverse is that of the smaller one
    is_smaller = source.random(mu.shape) * (1 + 1 / factor) < 1
    return np.where(is_smaller, mu / factor, mu * factor)


@sampler("rayleigh_lpdf")
def rayleigh_rng(sigma: Numbers, *, rng: Seed = None, size: Size = None) -> Any:
    """Draw Rayleigh numbers with scale sigma."""
    return sigma * np.sqrt(2 * exponential(generator_of(rng), sigma.shape))


@sampler("loglogistic_lpdf")
def loglogistic_rng(alpha: Numbers, beta: Numbers, *, rng: Seed = None, size: Size = None) -> Any:
    """Draw log-logistic numbers with scale alpha and shape beta."""
    return np.exp(np.log(alpha) + logistic(generator_of(rng), alpha.shape) / beta)


@sampler("pareto_lpdf")
def pareto_rng(y_min: Numbers, alpha: Numbers, *, rng: Seed = None, size: Size = None) -> Any:
    """Draw Pareto numbers from y_min on with shape alpha."""
    return y_min * np.exp(exponential(generator_of(rng), y_min.shape) / alpha)


@sampler("pareto_type_2_lpdf")
def pareto_type_2_rng(mu: Numbers, lambda_: Numbers, alpha: Numbers, *, rng: Seed = None, size: Size = None) -> Any:
    """Draw Pareto numbers of the second type (Lomax) from mu on with scale lambda and shape alpha."""
    return mu + lambda_ * np.expm1(exponential(generator_of(rng), mu.shape) / alpha)


@sampler("beta_lpdf")
def beta_rng(alpha: Numbers, beta: Numbers, *, rng: Seed = None, size: Size = None) -> Any:
    """Draw beta numbers with shapes alpha and beta."""
    return share(generator_of(rng), alpha, beta)


@sampler("beta_proportion_lpdf")
def beta_proportion_rng(mu: Numbers, kappa: Numbers, *, rng: Seed = None, size: Size = None) -> Any:
    """Draw beta numbers with mean mu and precision kappa: of shapes mu kappa and (1 - mu) kappa."""
    kappa = np.maximum(kappa, 1e-100)  # below, all draws are 0 or 1 with the same probabilities
    return share(generator_of(rng), np.maximum(mu * kappa, 5e-324), (1 - mu) * kappa)
