"""The gradients by hand, in NumPy, recursions of numbers in plain Python. Nothing is recorded: that is the floor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy
from cases import Case, Library

VERSIONS = {"numpy": np.__version__, "scipy": scipy.__version__}
LIBRARY = Library(np=np, array=np.array, logsumexp=None, solve_triangular=None)
RECORDING, COMPILING = "values only", None
LONGEST_LOOP = 1_000_000
SECOND_ORDER = ()


def variants(case: Case) -> list[tuple[str, str]]:
    return [("by hand", "by_hand")]


def gradient(function: Callable[[Any], Any], point: np.ndarray, variant: str) -> Callable[[], Any]:
    """The function itself: there is no gradient without a hand."""
    return lambda: (function(point), None)
