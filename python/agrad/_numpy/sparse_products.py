"""Computes products of SciPy's sparse matrices with recorded arrays, by a product of numbers for each stored entry."""

from __future__ import annotations

from typing import Any

import numpy as np

from agrad._core import Array, ShapeError
from agrad._numpy.updates import add_at

__all__ = ["product"]


def product(a: Any, b: Any) -> Any:
    """Returns the product a @ b of a sparse matrix and a recorded array, in either order."""
    if isinstance(a, Array):
        return np.swapaxes(product(b.T, np.swapaxes(a, -1, -2)), -1, -2) if a.ndim > 1 else product(b.T, a)
    rows, columns = a.shape
    if b.ndim not in (1, 2) or b.shape[0] != columns:
        raise ShapeError(f"matmul: arguments are of shapes {a.shape} and {b.shape}, but must fit: (n, k) @ (k,) or (k, m)")
    entries = a.tocoo()
    if entries.data.dtype.kind not in "fiub":
        raise TypeError(f"matmul: argument is a sparse matrix of dtype {entries.data.dtype}, but must be real")
    values = entries.data.astype(float).reshape((-1,) + (1,) * (b.ndim - 1))
    place, other = entries.row.astype(np.intp), entries.col.astype(np.intp)
    nothing: Any = np.zeros((rows, *b.shape[1:]), like=b)
    return add_at(nothing, place, values * b[other])
