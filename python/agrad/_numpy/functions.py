"""Collects agrad's replacements of NumPy's functions for recorded arrays in the dictionary ``functions``.

Functions that only move entries are in ``moving`` and record no operations. A new function goes into the module of its kind
and into the dictionary at that module's end. The lists in the documentation have the start of each module's docstring as title.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agrad._numpy import calculus, choosing, creation, einsum, moving, nans, order, products, reductions

__all__ = ["functions", "groups"]

groups = (moving, creation, reductions, nans, order, choosing, products, einsum, calculus)
functions: dict[Callable[..., Any], Callable[..., Any]] = {
    function: ours for group in groups for function, ours in group.functions.items()
}
