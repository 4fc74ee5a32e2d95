"""Finite differences of plain NumPy functions, for comparison."""

from collections.abc import Callable
from typing import Any

import numpy as np

_WEIGHTS = {1: 3 / 4, 2: -3 / 20, 3: 1 / 60}  # central, of order 6


def jacobian_by_differences(f: Callable[[Any], Any], x: Any, step: float = 1e-3) -> np.ndarray:
    """The Jacobian of f at an array or number x, of shape f(x).shape + x.shape; f must accept plain NumPy arrays."""
    x = np.asarray(x, dtype=float)
    columns = []
    for place in range(x.size):
        h = step * max(1.0, abs(x.flat[place]))
        total: Any = 0.0
        for n, weight in _WEIGHTS.items():
            for sign in (1, -1):
                moved = x.copy()
                moved.flat[place] += sign * n * h
                total = total + sign * weight * np.asarray(f(moved if x.ndim else moved[()]), dtype=float)
        columns.append(total / h)
    shape = np.shape(f(x if x.ndim else x[()]))
    return np.stack(columns, axis=-1).reshape(shape + x.shape) if columns else np.zeros(shape + x.shape)
