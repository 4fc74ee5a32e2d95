"""GARCH(1,1), 500 points: a recursion of scalars in a Python loop, joined to a vector afterwards."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cases.case import Case, Data, Library

_STEPS = 500


def make() -> tuple[Data, np.ndarray]:
    random = np.random.default_rng(500)
    y, variance = np.empty(_STEPS), 1.0
    for t in range(_STEPS):
        shock = math.sqrt(variance) * random.normal()
        y[t] = 0.1 + shock
        variance = 0.2 + 0.3 * shock**2 + 0.5 * variance
    return Data(y=y), np.array([0.05, -1.3, -0.8, 0.6])


def _coefficients(np: Any, theta: Any) -> tuple[Any, Any, Any, Any]:
    alpha = 1 / (1 + np.exp(-theta[2]))
    return theta[0], np.exp(theta[1]), alpha, (1 - alpha) / (1 + np.exp(-theta[3]))


def log_density(library: Library, data: Data) -> Any:
    np = library.np

    def function(theta: Any) -> Any:
        mu, omega, alpha, beta = _coefficients(np, theta)
        shock = (data.y - mu) ** 2
        variance = omega / (1 - alpha - beta)
        variances = [variance]
        for t in range(_STEPS - 1):
            variance = omega + alpha * shock[t] + beta * variance
            variances.append(variance)
        variances = library.array(variances)
        return -0.5 * np.sum(np.log(variances) + shock / variances) - 0.5 * np.sum(theta**2)

    return function


def with_scan(library: Library, data: Data) -> Any:
    np, scan = library.np, library.own.lax.scan

    def function(theta: Any) -> Any:
        mu, omega, alpha, beta = _coefficients(np, theta)
        shock = (data.y - mu) ** 2

        def step(variance: Any, before: Any) -> tuple[Any, Any]:
            variance = omega + alpha * before + beta * variance
            return variance, variance

        first = omega / (1 - alpha - beta)
        _, rest = scan(step, first, shock[:-1])
        variances = np.concatenate([first[None], rest])
        return -0.5 * np.sum(np.log(variances) + shock / variances) - 0.5 * np.sum(theta**2)

    return function


def by_hand(data: Data) -> Any:
    y = data.y

    def gradient(theta: np.ndarray) -> tuple[float, np.ndarray]:
        mu, log_omega, logit_alpha, logit_share = theta.tolist()
        omega = math.exp(log_omega)
        alpha, share = 1 / (1 + math.exp(-logit_alpha)), 1 / (1 + math.exp(-logit_share))
        beta = (1 - alpha) * share
        rest = 1 - alpha - beta
        deviation = y - mu
        shock = deviation**2
        squares = shock.tolist()
        variance = omega / rest
        variances = [variance]
        for square in squares[:-1]:
            variance = omega + alpha * square + beta * variance
            variances.append(variance)
        each = np.array(variances)
        inverse = 1 / each
        direct = (-0.5 * (1 - shock * inverse) * inverse).tolist()
        adjoints, adjoint = [0.0] * _STEPS, 0.0
        for t in range(_STEPS - 1, -1, -1):
            adjoint = direct[t] + beta * adjoint
            adjoints[t] = adjoint
        later = np.array(adjoints[1:])
        of_first = adjoints[0] * omega / rest**2
        of_beta = later @ each[:-1] + of_first
        of_alpha = later @ shock[:-1] + of_first - share * of_beta
        of_shock = -0.5 * inverse
        of_shock[:-1] += alpha * later
        result = -theta
        result[0] -= 2 * (of_shock @ deviation)
        result[1] += omega * (later.sum() + adjoints[0] / rest)
        result[2] += of_alpha * alpha * (1 - alpha)
        result[3] += of_beta * beta * (1 - share)
        return -0.5 * (np.log(each) + shock * inverse).sum() - 0.5 * (theta @ theta), result

    return gradient


CASES = [
    Case("garch", "GARCH(1,1), 500 points", make, {"numpy": log_density, "scan": with_scan}, by_hand, ("product", "hessian"))
]
