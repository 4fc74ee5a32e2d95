"""The total variation of an image of 512 x 512 points: shifted arrays, squares and roots, limited by memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from cases.case import Case, Data, Library

_WIDTH = 512
_SMALL = 1e-6


def make() -> tuple[Data, np.ndarray]:
    random = np.random.default_rng(0)
    return Data(), (0.1 * random.normal(size=(_WIDTH, _WIDTH)).cumsum(axis=0)).ravel()


def variation(library: Library, data: Data) -> Any:
    np = library.np

    def function(theta: Any) -> Any:
        u = theta.reshape(_WIDTH, _WIDTH)
        down, right = u[1:, :-1] - u[:-1, :-1], u[:-1, 1:] - u[:-1, :-1]
        return np.sum(np.sqrt(down * down + right * right + _SMALL))

    return function


def by_hand(data: Data) -> Any:
    def gradient(theta: np.ndarray) -> tuple[float, np.ndarray]:
        u = theta.reshape(_WIDTH, _WIDTH)
        corner = u[:-1, :-1]
        down, right = u[1:, :-1] - corner, u[:-1, 1:] - corner
        length = np.sqrt(down * down + right * right + _SMALL)
        total = length.sum()
        down /= length
        right /= length
        result = np.zeros_like(u)
        result[1:, :-1] += down
        result[:-1, 1:] += right
        down += right
        result[:-1, :-1] -= down
        return total, result.ravel()

    return gradient


CASES = [Case("total_variation", "total variation, 512 x 512", make, {"numpy": variation}, by_hand, ("product",))]
