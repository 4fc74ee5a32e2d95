"""References: the gradient by hand of every case, compared with differences before anything is compared with it.

Central differences of sixth order along random directions, and along every coordinate where these are few. Their error is
some 1e-10 of the derivative, so a wrong term shows and a rounding error does not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from cases import CASES, Case

__all__ = ["difference", "hessian_reference", "product_reference", "reference", "relative_error"]

_WEIGHTS = ((1, 0.75), (2, -0.15), (3, 1 / 60))
_MOST_COORDINATES, _DIRECTIONS = 16, 4


def difference(function: Callable[[np.ndarray], Any], x: np.ndarray, direction: np.ndarray, h: float) -> Any:
    """The derivative of a function at x along a direction."""
    return sum(w * (function(x + k * h * direction) - function(x - k * h * direction)) for k, w in _WEIGHTS) / h


def relative_error(given: np.ndarray, right: np.ndarray) -> float:
    """The largest difference as a share of the largest entry; infinite where there is a nan or another shape."""
    given, right = np.asarray(given, dtype=float), np.asarray(right, dtype=float)
    if given.shape != right.shape or not np.isfinite(given).all():
        return float("inf")
    return float(np.max(np.abs(given - right)) / np.max(np.abs(right)))


def reference(case: Case) -> dict[str, Any]:
    """Value and gradient by hand, and how far differences are from them, as a share of the gradient's norm."""
    data, point = case.make()
    function = case.by_hand(data)
    value, gradient = function(point)
    random = np.random.default_rng(6)
    directions = list(np.eye(point.size)) if point.size <= _MOST_COORDINATES else []
    directions += [each / np.linalg.norm(each) for each in random.normal(size=(_DIRECTIONS, point.size))]
    scale = np.linalg.norm(gradient)
    error = (
        max(abs(difference(lambda x: function(x)[0], point, each, case.step) - gradient @ each) for each in directions) / scale
    )
    return {"value": float(value), "gradient": gradient, "error": float(error)}


def hessian_reference(case: Case) -> np.ndarray:
    """The Hessian by differences of the gradient by hand."""
    data, point = case.make()
    function = case.by_hand(data)
    rows = [difference(lambda x: function(x)[1], point, unit, case.step) for unit in np.eye(point.size)]
    matrix = np.array(rows)
    return (matrix + matrix.T) / 2


def product_reference(case: Case) -> np.ndarray:
    """The Hessian times `vector_for(case)`, by differences of the gradient by hand."""
    data, point = case.make()
    function = case.by_hand(data)
    return difference(lambda x: function(x)[1], point, vector_for(case), case.step)


def vector_for(case: Case) -> np.ndarray:
    """The vector that Hessians are multiplied with."""
    return np.linspace(-1.0, 1.0, case.make()[1].size)


if __name__ == "__main__":
    for each in CASES.values():
        print(f"{each.name}: {reference(each)['error']:.1e}")
