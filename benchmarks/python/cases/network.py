"""A mass-action network: 152 reactions A + B -> C + D of 60 species in a loop, 971 operations of scalars.

Two products a reaction, 608 gains and losses that take 548 additions and subtractions, and the product with a vector of
weights, which makes a number of the rates of change: 304 + 548 + 119. The gradient is with respect to the
concentrations and the rate constants.
"""

from __future__ import annotations

import operator
from functools import reduce
from typing import Any

import numpy as np

from cases.case import Case, Data, Library

_SPECIES, _REACTIONS = 60, 152


def make() -> tuple[Data, np.ndarray]:
    random = np.random.default_rng(971)

    def cover() -> np.ndarray:  # every species at least once
        return np.concatenate([random.permutation(_SPECIES), random.integers(0, _SPECIES, 2 * _REACTIONS - _SPECIES)])

    consumed, produced = (random.permutation(cover()).reshape(2, _REACTIONS) for _ in range(2))
    weights = random.normal(size=_SPECIES)
    point = random.uniform(0.5, 2.0, _SPECIES + _REACTIONS)
    return Data(consumed=consumed.tolist(), produced=produced.tolist(), weights=weights.tolist()), point


def rate_of_change(library: Library, data: Data) -> Any:
    (left, right), (first, second) = data.consumed, data.produced

    def function(theta: Any) -> Any:
        x, k = theta[:_SPECIES], theta[_SPECIES:]
        x, k = [x[i] for i in range(_SPECIES)], [k[i] for i in range(_REACTIONS)]
        gains: list[list[Any]] = [[] for _ in x]
        losses: list[list[Any]] = [[] for _ in x]
        for rate, a, b, c, d in zip(k, left, right, first, second, strict=True):
            speed = rate * x[a] * x[b]
            losses[a].append(speed)
            losses[b].append(speed)
            gains[c].append(speed)
            gains[d].append(speed)
        changes = [reduce(operator.add, gain) - reduce(operator.add, loss) for gain, loss in zip(gains, losses, strict=True)]
        return reduce(operator.add, [weight * change for weight, change in zip(data.weights, changes, strict=True)])

    return function


def _worth(data: Data) -> np.ndarray:
    """What one unit of each reaction's speed adds to the result."""
    weights = np.asarray(data.weights)
    return weights[np.asarray(data.produced)].sum(axis=0) - weights[np.asarray(data.consumed)].sum(axis=0)


def by_hand(data: Data) -> Any:
    worth, (left, right) = _worth(data), np.asarray(data.consumed)

    def gradient(theta: np.ndarray) -> tuple[float, np.ndarray]:
        x, k = theta[:_SPECIES], theta[_SPECIES:]
        a, b = x[left], x[right]
        of_rate = worth * a * b
        scaled = worth * k
        of_x = np.bincount(left, scaled * b, _SPECIES) + np.bincount(right, scaled * a, _SPECIES)
        return float(of_rate @ k), np.concatenate([of_x, of_rate])

    return gradient


CASES = [
    Case("network", "mass-action network, 971 scalar operations", make, {"numpy": rate_of_change}, by_hand, operations=971)
]
