"""A hidden Markov model with three states: the forward algorithm in logarithms, 100 steps in a Python loop."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cases.case import Case, Data, Library

_STEPS, _STATES = 100, 3


def make() -> tuple[Data, np.ndarray]:
    random = np.random.default_rng(33)
    transition = np.array([[0.9, 0.05, 0.05], [0.1, 0.8, 0.1], [0.05, 0.1, 0.85]])
    mean = np.array([-2.0, 0.0, 2.0])
    states = [0]
    for _ in range(_STEPS - 1):
        states.append(random.choice(_STATES, p=transition[states[-1]]))
    y = mean[states] + 0.7 * random.normal(size=_STEPS)
    point = np.concatenate([np.log(transition).ravel(), mean, [-0.2]]) + 0.2 * random.normal(size=13)
    return Data(y=y), point


def log_density(library: Library, data: Data) -> Any:
    np, logsumexp = library.np, library.logsumexp

    def function(theta: Any) -> Any:
        weights, mean, log_sigma = theta[:9].reshape((3, 3)), theta[9:12], theta[12]
        transition = weights - logsumexp(weights, axis=1)[:, None]
        emission = -0.5 * ((data.y[:, None] - mean) * np.exp(-log_sigma)) ** 2 - log_sigma
        forward = emission[0] - math.log(3)
        for t in range(1, _STEPS):
            forward = logsumexp(forward[:, None] + transition, axis=0) + emission[t]
        return logsumexp(forward, axis=0) - 0.5 * np.sum(theta**2)

    return function


def with_scan(library: Library, data: Data) -> Any:
    np, logsumexp, scan = library.np, library.logsumexp, library.own.lax.scan

    def function(theta: Any) -> Any:
        weights, mean, log_sigma = theta[:9].reshape((3, 3)), theta[9:12], theta[12]
        transition = weights - logsumexp(weights, axis=1)[:, None]
        emission = -0.5 * ((data.y[:, None] - mean) * np.exp(-log_sigma)) ** 2 - log_sigma

        def step(forward: Any, seen: Any) -> tuple[Any, None]:
            return logsumexp(forward[:, None] + transition, axis=0) + seen, None

        forward, _ = scan(step, emission[0] - math.log(3), emission[1:])
        return logsumexp(forward, axis=0) - 0.5 * np.sum(theta**2)

    return function


def of_columns(library: Library, data: Data) -> Any:
    np, logsumexp, join = library.np, library.logsumexp, library.array

    def function(theta: Any) -> Any:
        mean, log_sigma = theta[9:12], theta[12]
        rows = [theta[3 * i : 3 * i + 3] for i in range(3)]
        rows = [row - logsumexp(row) for row in rows]
        into = [join([row[j] for row in rows]) for j in range(3)]
        scale = np.exp(-log_sigma)
        seen = [-0.5 * ((float(y) - mean) * scale) ** 2 - log_sigma for y in data.y.full().ravel()]
        forward = seen[0] - math.log(3)
        for each in seen[1:]:
            forward = join([logsumexp(forward + column) for column in into]) + each
        return logsumexp(forward) - 0.5 * np.sum(theta**2)

    return function


def by_hand(data: Data) -> Any:
    y = data.y

    def gradient(theta: np.ndarray) -> tuple[float, np.ndarray]:
        weights, mean, log_sigma = theta[:9].reshape(3, 3), theta[9:12], theta[12]
        scale = math.exp(-log_sigma)
        transition = np.exp(weights - weights.max(axis=1, keepdims=True))
        transition /= transition.sum(axis=1, keepdims=True)
        residual = (y[:, None] - mean) * scale
        log_emission = -0.5 * residual**2 - log_sigma
        largest = log_emission.max(axis=1)
        emission = np.exp(log_emission - largest[:, None])
        filtered, norm = np.empty((_STEPS, 3)), np.empty(_STEPS)
        state = emission[0] / 3
        for t in range(_STEPS):
            if t > 0:
                state = (filtered[t - 1] @ transition) * emission[t]
            norm[t] = state.sum()
            filtered[t] = state / norm[t]
        smoothed, ahead, pairs = np.empty((_STEPS, 3)), np.ones(3), np.zeros((3, 3))
        smoothed[-1] = filtered[-1]
        for t in range(_STEPS - 1, 0, -1):
            later = emission[t] * ahead / norm[t]
            pairs += np.outer(filtered[t - 1], later)
            ahead = transition @ later
            smoothed[t - 1] = filtered[t - 1] * ahead
        pairs *= transition
        result = -theta
        result[:9] += (pairs - transition * pairs.sum(axis=1, keepdims=True)).ravel()
        result[9:12] += scale * np.sum(smoothed * residual, axis=0)
        result[12] += np.sum(smoothed * (residual**2 - 1))
        return np.log(norm).sum() + largest.sum() - 0.5 * (theta @ theta), result

    return gradient


CASES = [
    Case(
        "hidden_markov",
        "hidden Markov model, 100 steps x 3 states",
        make,
        {"numpy": log_density, "scan": with_scan, "columns": of_columns},
        by_hand,
    )
]
