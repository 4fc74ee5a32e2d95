"""Hierarchical regression: 5000 rows in 100 groups with intercepts of their own, gathered by an index."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cases.case import Case, Data, Library

_ROWS, _GROUPS, _COLUMNS = 5000, 100, 3


def make() -> tuple[Data, np.ndarray]:
    random = np.random.default_rng(51)
    group = random.integers(0, _GROUPS, _ROWS)
    x = random.normal(size=(_ROWS, _COLUMNS))
    intercept = 1.0 + 0.7 * random.normal(size=_GROUPS)
    y = intercept[group] + x @ np.array([0.5, -0.3, 0.2]) + 0.8 * random.normal(size=_ROWS)
    point = np.concatenate([[0.9, -0.4, -0.2], 0.3 * random.normal(size=_COLUMNS), 0.7 * random.normal(size=_GROUPS)])
    return Data(x=x, y=y, group=group), point


def _parts(theta: Any) -> tuple[Any, ...]:
    return theta[0], theta[1], theta[2], theta[3 : 3 + _COLUMNS], theta[3 + _COLUMNS :]


def log_density(library: Library, data: Data) -> Any:
    np = library.np

    def function(theta: Any) -> Any:
        mu, log_tau, log_sigma, beta, z = _parts(theta)
        intercept = mu + np.exp(log_tau) * z
        residual = (data.y - intercept[data.group] - data.x @ beta) * np.exp(-log_sigma)
        prior = np.sum(z**2) + np.sum(beta**2) + np.sum(theta[:3] ** 2)
        return -0.5 * np.sum(residual**2) - _ROWS * log_sigma - 0.5 * prior

    return function


def with_densities(library: Library, data: Data) -> Any:
    ag = library.own

    def function(theta: Any) -> Any:
        mu, log_tau, log_sigma, beta, z = _parts(theta)
        intercept = mu + np.exp(log_tau) * z
        location = intercept[data.group] + data.x @ beta
        likelihood = ag.normal_lpdf(data.y, location, np.exp(log_sigma), propto=True)
        return likelihood + ag.normal_lpdf(theta, 0.0, 1.0, propto=True)

    return function


def by_hand(data: Data) -> Any:
    y, x, group = data.y, data.x, data.group

    def gradient(theta: np.ndarray) -> tuple[float, np.ndarray]:
        mu, log_tau, log_sigma, beta, z = _parts(theta)
        tau, inverse = math.exp(log_tau), math.exp(-log_sigma)
        residual = (y - (mu + tau * z)[group] - x @ beta) * inverse
        squares = residual @ residual
        scaled = residual * inverse
        of_group = np.bincount(group, scaled, _GROUPS)
        result = -theta
        result[0] += of_group.sum()
        result[1] += tau * (of_group @ z)
        result[2] += squares - _ROWS
        result[3 : 3 + _COLUMNS] += scaled @ x
        result[3 + _COLUMNS :] += tau * of_group
        return -0.5 * squares - _ROWS * log_sigma - 0.5 * (theta @ theta), result

    return gradient


CASES = [
    Case(
        "hierarchical",
        "hierarchical regression, 5000 rows, 100 groups",
        make,
        {"numpy": log_density, "density": with_densities},
        by_hand,
        ("product", "hessian"),
    )
]
