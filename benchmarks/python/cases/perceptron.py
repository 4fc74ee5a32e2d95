"""A multilayer perceptron 100-50-1 on 500 rows: two products of matrices and tanh."""

from __future__ import annotations

from typing import Any

import numpy as np

from cases.case import Case, Data, Library

_ROWS, _INPUTS, _HIDDEN = 500, 100, 50
_ENDS = _INPUTS * _HIDDEN, _INPUTS * _HIDDEN + _HIDDEN, _INPUTS * _HIDDEN + 2 * _HIDDEN


def make() -> tuple[Data, np.ndarray]:
    random = np.random.default_rng(100)
    x = random.normal(size=(_ROWS, _INPUTS))
    y = np.sin(x[:, 0]) + 0.1 * random.normal(size=_ROWS)
    return Data(x=x, y=y), 0.1 * random.normal(size=_ENDS[2] + 1)


def log_density(library: Library, data: Data) -> Any:
    np, x, y = library.np, data.x, data.y

    def function(theta: Any) -> Any:
        weights, bias = theta[: _ENDS[0]].reshape((_INPUTS, _HIDDEN)), theta[_ENDS[0] : _ENDS[1]]
        out = np.tanh(x @ weights + bias) @ theta[_ENDS[1] : _ENDS[2]] + theta[_ENDS[2]]
        return -0.5 * np.sum((y - out) ** 2) - 0.5 * np.sum(theta**2)

    return function


def with_densities(library: Library, data: Data) -> Any:
    ag, x, y = library.own, data.x, data.y

    def function(theta: Any) -> Any:
        weights, bias = theta[: _ENDS[0]].reshape((_INPUTS, _HIDDEN)), theta[_ENDS[0] : _ENDS[1]]
        out = np.tanh(x @ weights + bias) @ theta[_ENDS[1] : _ENDS[2]] + theta[_ENDS[2]]
        return ag.normal_lpdf(y, out, 1.0, propto=True) + ag.normal_lpdf(theta, 0.0, 1.0, propto=True)

    return function


def of_columns(library: Library, data: Data) -> Any:
    np, x, y, ca = library.np, data.x, data.y, library.own

    def function(theta: Any) -> Any:
        weights, bias = ca.reshape(theta[: _ENDS[0]], _HIDDEN, _INPUTS).T, theta[_ENDS[0] : _ENDS[1]]
        hidden = np.tanh(x @ weights + ca.repmat(bias.T, _ROWS, 1))
        out = hidden @ theta[_ENDS[1] : _ENDS[2]] + theta[_ENDS[2]]
        return -0.5 * np.sum((y - out) ** 2) - 0.5 * np.sum(theta**2)

    return function


def by_hand(data: Data) -> Any:
    x, y = data.x, data.y

    def gradient(theta: np.ndarray) -> tuple[float, np.ndarray]:
        outer = theta[_ENDS[1] : _ENDS[2]]
        hidden = np.tanh(x @ theta[: _ENDS[0]].reshape(_INPUTS, _HIDDEN) + theta[_ENDS[0] : _ENDS[1]])
        residual = y - hidden @ outer - theta[-1]
        of_hidden = residual[:, None] * outer * (1 - hidden**2)
        result = -theta
        result[: _ENDS[0]] += (x.T @ of_hidden).ravel()
        result[_ENDS[0] : _ENDS[1]] += of_hidden.sum(axis=0)
        result[_ENDS[1] : _ENDS[2]] += residual @ hidden
        result[-1] += residual.sum()
        return -0.5 * (residual @ residual) - 0.5 * (theta @ theta), result

    return gradient


_FORMS = {"numpy": log_density, "density": with_densities, "columns": of_columns}
CASES = [Case("perceptron", "MLP 100-50-1, 500 rows", make, _FORMS, by_hand)]
