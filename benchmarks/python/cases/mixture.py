"""A mixture of two normal densities, 1000 points: exponentials and logarithms of vectors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cases.case import Case, Data, Library

_POINTS = 1000


def make() -> tuple[Data, np.ndarray]:
    random = np.random.default_rng(2)
    first = random.random(_POINTS) < 0.35
    y = np.where(first, -1.5, 1.0) + np.where(first, 0.6, 0.9) * random.normal(size=_POINTS)
    return Data(y=y), np.array([-1.2, 0.8, -0.4, 0.1, -0.5])


def log_density(library: Library, data: Data) -> Any:
    np, y = library.np, data.y

    def function(theta: Any) -> Any:
        low, log_gap, log_sigma, log_other_sigma, logit = theta[0], theta[1], theta[2], theta[3], theta[4]
        log_weight = -np.log1p(np.exp(-logit))
        a = log_weight - log_sigma - 0.5 * ((y - low) * np.exp(-log_sigma)) ** 2
        b = log_weight - logit - log_other_sigma - 0.5 * ((y - low - np.exp(log_gap)) * np.exp(-log_other_sigma)) ** 2
        return np.sum(np.logaddexp(a, b)) - 0.5 * np.sum(theta**2)

    return function


def by_hand(data: Data) -> Any:
    y = data.y

    def gradient(theta: np.ndarray) -> tuple[float, np.ndarray]:
        low, log_gap, log_sigma, log_other_sigma, logit = theta.tolist()
        gap, scale, other = math.exp(log_gap), math.exp(-log_sigma), math.exp(-log_other_sigma)
        weight = 1 / (1 + math.exp(-logit))
        u, v = (y - low) * scale, (y - low - gap) * other
        a = math.log(weight) - log_sigma - 0.5 * u**2
        b = math.log1p(-weight) - log_other_sigma - 0.5 * v**2
        total = np.logaddexp(a, b)
        mine = np.exp(a - total)
        theirs = 1 - mine
        of_high = other * (theirs @ v)
        result = -theta
        result[0] += scale * (mine @ u) + of_high
        result[1] += gap * of_high
        result[2] += mine @ (u**2 - 1)
        result[3] += theirs @ (v**2 - 1)
        result[4] += mine.sum() - _POINTS * weight
        return total.sum() - 0.5 * (theta @ theta), result

    return gradient


CASES = [Case("mixture", "Gaussian mixture, 1000 points", make, {"numpy": log_density}, by_hand, ("product", "hessian"))]
