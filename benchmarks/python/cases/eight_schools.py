"""Eight schools (Rubin 1981), parameters not centred: ten numbers, some fifteen operations, so all is overhead."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cases.case import Case, Data, Library


def make() -> tuple[Data, np.ndarray]:
    effect = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
    error = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])
    return Data(effect=effect, error=error), np.concatenate([[1.2, 0.7], np.random.default_rng(8).normal(size=8)])


def log_density(library: Library, data: Data) -> Any:
    np, effect, error = library.np, data.effect, data.error

    def function(theta: Any) -> Any:
        mu, log_tau, z = theta[0], theta[1], theta[2:]
        tau = np.exp(log_tau)
        residual = (effect - mu - tau * z) / error
        prior = 0.5 * (mu / 5.0) ** 2 + np.log1p((tau / 5.0) ** 2) - log_tau
        return -0.5 * np.sum(residual**2) - 0.5 * np.sum(z**2) - prior

    return function


def with_densities(library: Library, data: Data) -> Any:
    ag = library.own

    def function(theta: Any) -> Any:
        mu, log_tau, z = theta[0], theta[1], theta[2:]
        tau = np.exp(log_tau)
        return (
            ag.normal_lpdf(data.effect, mu + tau * z, data.error, propto=True)
            + ag.normal_lpdf(z, 0.0, 1.0, propto=True)
            + ag.normal_lpdf(mu, 0.0, 5.0, propto=True)
            - np.log1p((tau / 5.0) ** 2)
            + log_tau
        )

    return function


def by_hand(data: Data) -> Any:
    effect, error = data.effect, data.error

    def gradient(theta: np.ndarray) -> tuple[float, np.ndarray]:
        mu, log_tau, z = theta[0], theta[1], theta[2:]
        tau = math.exp(log_tau)
        square = (tau / 5) ** 2
        residual = (effect - mu - tau * z) / error
        scaled = residual / error
        result = np.empty(10)
        result[0] = scaled.sum() - mu / 25
        result[1] = tau * (scaled @ z) - 2 * square / (1 + square) + 1
        result[2:] = tau * scaled - z
        prior = 0.5 * (mu / 5) ** 2 + math.log1p(square) - log_tau
        return -0.5 * (residual @ residual) - 0.5 * (z @ z) - prior, result

    return gradient


CASES = [Case("eight_schools", "eight schools", make, {"numpy": log_density, "density": with_densities}, by_hand)]
