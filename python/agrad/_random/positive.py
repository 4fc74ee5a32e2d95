"""Draws of distributions of positive numbers, and of numbers between 0 and 1."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import exprel

from agrad._random.sampler import Numbers, Seed, Size, sampler
from agrad._random.standard import exponential, gamma_power, generator_of, logistic, share

__all__ = [
    "beta_proportion_rng",
    "beta_rng",
    "chi_square_rng",
    "exponential_rng",
    "frechet_rng",
    "gamma_rng",
    "generalized_pareto_rng",
    "inv_chi_square_rng",
    "inv_gamma_rng",
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
    return mu + sigma * e * exprel(xi * e)


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
