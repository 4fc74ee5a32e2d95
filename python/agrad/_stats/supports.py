"""Defines supports of distributions: the ends between which the values lie.

Those of a continuous distribution are its quantiles at 0 and 1, but for von Mises', whose density has a period. The others are
in a table, as functions of the shapes, for loc 0 and scale 1; distributions on whole numbers need them also for their
quantiles.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["SUPPORTS"]

_INFINITY = np.inf

SUPPORTS: dict[str, Callable[..., tuple[Any, Any]]] = {
    "vonmises": lambda kappa: (-_INFINITY, _INFINITY),  # of a density with a period
    "bernoulli": lambda p: (0.0, 1.0),
    "betabinom": lambda n, a, b: (0.0, n),
    "betanbinom": lambda n, a, b: (0.0, _INFINITY),
    "binom": lambda n, p: (0.0, n),
    "hypergeom": lambda M, n, N: (np.maximum(0.0, N - (M - n)), np.minimum(n, N)),  # noqa: N803
    "nbinom": lambda n, p: (0.0, _INFINITY),
    "poisson": lambda mu: (0.0, _INFINITY),
    "randint": lambda low, high: (low, high - 1.0),
    "skellam": lambda mu1, mu2: (-_INFINITY, _INFINITY),
    "yulesimon": lambda alpha: (1.0, _INFINITY),
}
