"""Logistic regression with a normal prior: a product with a matrix and a packet of exponentials."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from cases.case import Case, Data, Library


def make(rows: int, columns: int) -> tuple[Data, np.ndarray]:
    random = np.random.default_rng(rows + columns)
    x = random.normal(size=(rows, columns))
    truth = 0.3 * random.normal(size=columns)
    y = (random.random(rows) < 1 / (1 + np.exp(-x @ truth))).astype(float)
    return Data(x=x, y=y, outcome=y.astype(int).tolist()), 0.3 * random.normal(size=columns)


def log_density(library: Library, data: Data) -> Any:
    np, x, y = library.np, data.x, data.y

    def function(beta: Any) -> Any:
        eta = x @ beta
        return np.sum(y * eta - np.logaddexp(0.0, eta)) - 0.5 * np.sum(beta**2)

    return function


def with_densities(library: Library, data: Data) -> Any:
    ag, y = library.own, np.asarray(data.outcome)

    def function(beta: Any) -> Any:
        return ag.bernoulli_logit_glm_lpmf(y, data.x, 0.0, beta) + ag.normal_lpdf(beta, 0.0, 1.0, propto=True)

    return function


def by_hand(data: Data) -> Any:
    x, y = data.x, data.y

    def gradient(beta: np.ndarray) -> tuple[float, np.ndarray]:
        eta = x @ beta
        small = np.exp(-np.abs(eta))
        value = y @ eta - np.maximum(eta, 0).sum() - np.log1p(small).sum() - 0.5 * (beta @ beta)
        probability = np.where(eta < 0, small, 1.0) / (1 + small)
        return value, (y - probability) @ x - beta

    return gradient


_FORMS = {"numpy": log_density, "density": with_densities}
CASES = [
    Case("logistic_small", "logistic regression, 1000 x 10", partial(make, 1000, 10), _FORMS, by_hand, ("product", "hessian")),
    Case("logistic_large", "logistic regression, 10 000 x 100", partial(make, 10000, 100), _FORMS, by_hand),
]
