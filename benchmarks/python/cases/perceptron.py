"""Multilayer perceptrons, two products of matrices and tanh: 100-50-1 on 500 rows, and one of a million weights on 200 rows.

The first call of the second one shows what it takes to record and order a program of large arrays.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from cases.case import Case, Data, Library


def make(rows: int, inputs: int, hidden: int) -> tuple[Data, np.ndarray]:
    random = np.random.default_rng(100)
    x = random.normal(size=(rows, inputs))
    y = np.sin(x[:, 0]) + 0.1 * random.normal(size=rows)
    ends = [inputs * hidden + k * hidden for k in range(3)]
    return Data(x=x, y=y, shape=(inputs, hidden), ends=ends), random.normal(size=ends[2] + 1) / np.sqrt(inputs)


def log_density(library: Library, data: Data) -> Any:
    np, x, y, ends = library.np, data.x, data.y, data.ends

    def function(theta: Any) -> Any:
        weights, bias = theta[: ends[0]].reshape(data.shape), theta[ends[0] : ends[1]]
        out = np.tanh(x @ weights + bias) @ theta[ends[1] : ends[2]] + theta[ends[2]]
        return -0.5 * np.sum((y - out) ** 2) - 0.5 * np.sum(theta**2)

    return function


def with_densities(library: Library, data: Data) -> Any:
    ag, x, y, ends = library.own, data.x, data.y, data.ends

    def function(theta: Any) -> Any:
        weights, bias = theta[: ends[0]].reshape(data.shape), theta[ends[0] : ends[1]]
        out = np.tanh(x @ weights + bias) @ theta[ends[1] : ends[2]] + theta[ends[2]]
        return ag.normal_lpdf(y, out, 1.0, propto=True) + ag.normal_lpdf(theta, 0.0, 1.0, propto=True)

    return function


def of_columns(library: Library, data: Data) -> Any:
    np, x, y, ca, ends = library.np, data.x, data.y, library.own, data.ends

    def function(theta: Any) -> Any:
        weights, bias = ca.reshape(theta[: ends[0]], *data.shape[::-1]).T, theta[ends[0] : ends[1]]
        hidden = np.tanh(x @ weights + ca.repmat(bias.T, x.shape[0], 1))
        out = hidden @ theta[ends[1] : ends[2]] + theta[ends[2]]
        return -0.5 * np.sum((y - out) ** 2) - 0.5 * np.sum(theta**2)

    return function


def by_hand(data: Data) -> Any:
    x, y, ends = data.x, data.y, data.ends

    def gradient(theta: np.ndarray) -> tuple[float, np.ndarray]:
        outer = theta[ends[1] : ends[2]]
        hidden = np.tanh(x @ theta[: ends[0]].reshape(data.shape) + theta[ends[0] : ends[1]])
        residual = y - hidden @ outer - theta[-1]
        of_hidden = residual[:, None] * outer * (1 - hidden**2)
        result = -theta
        result[: ends[0]] += (x.T @ of_hidden).ravel()
        result[ends[0] : ends[1]] += of_hidden.sum(axis=0)
        result[ends[1] : ends[2]] += residual @ hidden
        result[-1] += residual.sum()
        return -0.5 * (residual @ residual) - 0.5 * (theta @ theta), result

    return gradient


_FORMS = {"numpy": log_density, "density": with_densities, "columns": of_columns}
CASES = [
    Case("perceptron", "MLP 100-50-1, 500 rows", partial(make, 500, 100, 50), _FORMS, by_hand, ("product",)),
    Case("perceptron_large", "MLP 1000-1000-1, 200 rows", partial(make, 200, 1000, 1000), {"numpy": log_density}, by_hand),
]
