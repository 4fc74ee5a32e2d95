"""NumPy's functions for recorded arrays: ``functions`` says which function of ours stands for which of NumPy's.

Those that only move entries about are in ``moving``, and nothing is recorded for them. A new function goes into the module
that it belongs to and into the dictionary at that module's end, from which the lists in the documentation are made.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agrad._numpy import calculus, choosing, einsum, making, moving, nans, order, products, reductions

__all__ = ["functions", "groups"]

groups = (moving, making, reductions, nans, order, choosing, products, einsum, calculus)
functions: dict[Callable[..., Any], Callable[..., Any]] = {
    function: ours for group in groups for function, ours in group.functions.items()
}
