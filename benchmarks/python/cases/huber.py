"""Huber's loss of a regression of 100 000 rows: a choice by `where` between arrays beside a narrow product.

The gradient is that of 8 coefficients, or of all rows: as many numbers as there are data.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cases.case import Case, Data, Library

_ROWS, _COLUMNS = 100_000, 8


def make() -> tuple[Data, np.ndarray]:
    random = np.random.default_rng(0)
    x = random.normal(size=(_ROWS, _COLUMNS))
    return Data(x=x, y=random.normal(size=_ROWS)), random.normal(size=_COLUMNS)


def _total(np: Any, rest: Any) -> Any:
    size = np.abs(rest)
    return np.sum(np.where(size < 1, 0.5 * rest * rest, size - 0.5))


def loss(library: Library, data: Data) -> Any:
    np, x, y = library.np, data.x, data.y

    def function(theta: Any) -> Any:
        return _total(np, x @ theta - y)

    return function


def by_hand(data: Data) -> Any:
    x, y = data.x, data.y

    def gradient(theta: np.ndarray) -> tuple[float, np.ndarray]:
        rest = x @ theta - y
        size = np.abs(rest)
        near = size < 1
        value = np.where(near, 0.5 * rest * rest, size - 0.5).sum()
        return value, np.where(near, rest, np.sign(rest)) @ x

    return gradient


def make_rows() -> tuple[Data, np.ndarray]:
    data, beta = make()
    return Data(beta=beta, y=data.y), data.x.ravel()


def loss_of_rows(library: Library, data: Data) -> Any:
    np, beta, y = library.np, data.beta, data.y

    def function(theta: Any) -> Any:
        return _total(np, theta.reshape(_ROWS, _COLUMNS) @ beta - y)

    return function


def rows_by_hand(data: Data) -> Any:
    beta, y = data.beta, data.y

    def gradient(theta: np.ndarray) -> tuple[float, np.ndarray]:
        rest = theta.reshape(_ROWS, _COLUMNS) @ beta - y
        size = np.abs(rest)
        near = size < 1
        value = np.where(near, 0.5 * rest * rest, size - 0.5).sum()
        return value, np.multiply.outer(np.where(near, rest, np.sign(rest)), beta).ravel()

    return gradient


CASES = [
    Case("huber", "Huber's loss, 100 000 x 8", make, {"numpy": loss}, by_hand, step=1e-5),
    Case("huber_rows", "Huber's loss, by its 100 000 x 8 rows", make_rows, {"numpy": loss_of_rows}, rows_by_hand),
]
