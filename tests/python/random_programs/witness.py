"""Derivatives of a random program along a direction, by differences in extended precision, with how far they can be trusted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

__all__ = ["Witness", "along"]

#: Weights of the values at -4 to 4 steps in the first three derivatives (Fornberg 1988), of order 8, 8 and 6.
WEIGHTS = np.array(
    [
        [3, -32, 168, -672, 0, 672, -168, 32, -3],
        [-9, 128, -1008, 8064, -14350, 8064, -1008, 128, -9],
        [-7, 72, -338, 488, 0, -488, 338, -72, 7],
    ],
    np.longdouble,
) / np.array([[840], [5040], [240]], np.longdouble)


class Witness(NamedTuple):
    """The value and the first three derivatives, and by how much differences with two steps disagree."""

    values: Any
    errors: Any


def along(f: Callable[[Any], Any], x: Any, direction: Any, h: float = 1e-3) -> Witness:
    """The value and the derivatives of f(x + s direction) at s = 0."""
    x, direction = np.asarray(x, np.longdouble), np.asarray(direction, np.longdouble)

    def differences(step: Any) -> Any:
        values = np.array([f(x + k * step * direction) for k in range(-4, 5)])
        return np.array([values[4], *(WEIGHTS @ values / step ** np.arange(1, 4))])

    fine, coarse = differences(np.longdouble(h)), differences(np.longdouble(1.5 * h))
    return Witness(fine.astype(float), np.abs(fine - coarse).astype(float))
