"""Gaussian-process regression: covariance matrix, its Cholesky factor, a triangular solve."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
import scipy.linalg

from cases.case import Case, Data, Library


def make(n: int) -> tuple[Data, np.ndarray]:
    random = np.random.default_rng(n)
    x = np.sort(random.uniform(-3, 3, n))
    y = np.sin(x) + 0.3 * random.normal(size=n)
    return Data(y=y, squares=(x[:, None] - x) ** 2, identity=np.eye(n)), np.array([0.1, -0.1, -1.0])


def log_density(library: Library, data: Data) -> Any:
    np = library.np

    def function(theta: Any) -> Any:
        log_amplitude, log_length, log_noise = theta[0], theta[1], theta[2]
        smooth = np.exp(2 * log_amplitude - 0.5 * np.exp(-2 * log_length) * data.squares)
        lower = np.linalg.cholesky(smooth + np.exp(2 * log_noise) * data.identity)
        white = library.solve_triangular(lower, data.y, lower=True)
        return -0.5 * np.sum(white**2) - np.sum(np.log(np.diag(lower))) - 0.5 * np.sum(theta**2)

    return function


def by_hand(data: Data) -> Any:
    y, squares = data.y, data.squares
    n = y.size

    def gradient(theta: np.ndarray) -> tuple[float, np.ndarray]:
        precision, noise = math.exp(-2 * theta[1]), math.exp(2 * theta[2])
        smooth = np.exp(2 * theta[0] - 0.5 * precision * squares)
        covariance = smooth.copy()
        covariance.flat[:: n + 1] += noise
        lower = scipy.linalg.cholesky(covariance, lower=True, check_finite=False)
        weights = scipy.linalg.cho_solve((lower, True), y, check_finite=False)
        half, _ = scipy.linalg.lapack.dpotri(lower, lower=1)
        inverse = half + np.tril(half, -1).T - np.triu(half, 1)
        adjoint = 0.5 * (np.outer(weights, weights) - inverse)
        weighted = adjoint * smooth
        result = np.array([2 * weighted.sum(), precision * np.vdot(weighted, squares), 2 * noise * np.trace(adjoint)])
        return -0.5 * (y @ weights) - np.log(lower.diagonal()).sum() - 0.5 * (theta @ theta), result - theta

    return gradient


CASES = [
    Case(f"gaussian_process_{n}", f"Gaussian process, n = {n}", partial(make, n), {"numpy": log_density}, by_hand)
    for n in (50, 200)
]
