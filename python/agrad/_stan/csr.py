"""Sparse matrices by compressed rows, under Stan's names.

A matrix of m rows and n columns has values w row by row, their columns v, and for each row the place u of its first value in w;
u has m + 1 entries, the last of which is the number of values. That is ``data``, ``indices`` and ``indptr`` of
``scipy.sparse.csr_array``; columns and places count from 0. Values and vectors may be recorded, the pattern (v, u) is plain. A
matrix whose values are all plain is quicker as an array of SciPy, whose product with a recorded vector is an operation.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from agrad._core import Array, DomainError, ShapeError
from agrad._record.documentation import documented
from agrad._record.on_demand import scipy_sparse

__all__ = [
    "csr_extract",
    "csr_extract_u",
    "csr_extract_v",
    "csr_extract_w",
    "csr_matrix_times_vector",
    "csr_to_dense_matrix",
]

_PARAMETERS = {
    "a": "array-like, (m, n)\nA plain matrix; its values decide the pattern.",
    "m": "int\nThe number of rows.",
    "n": "int\nThe number of columns.",
    "w": "array-like or recorded, (values,)\nThe values, row by row.",
    "v": "array-like of int, (values,)\nThe columns of the values, from 0.",
    "u": "array-like of int, (m + 1,)\nThe places of the rows' first values, and the number of values.",
    "b": "array-like or recorded, (n,)\nThe vector.",
}
_NO_MATRIX = {"TypeError": "The matrix is recorded.", "ShapeError": "The matrix does not have two axes."}
_NO_PATTERN = {
    "ShapeError": "The shapes of the arguments do not fit m, n and each other.",
    "DomainError": "A column or a place is out of range or no whole number, or the places decrease.",
}


@documented(_PARAMETERS, "(w, v, u)\nThe values, their columns, and the places of the rows' first values.", _NO_MATRIX)
def csr_extract(a: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find the entries of a matrix that are not zero."""
    if isinstance(a, Array):
        raise TypeError("csr_extract: a is recorded, but must be plain; its values decide which entries there are")
    a = np.asarray(a, dtype=float)
    if a.ndim != 2:
        raise ShapeError(f"csr_extract: a has shape {a.shape}, but must have shape (m, n)")
    rows, columns = np.nonzero(a)
    return a[rows, columns], columns, np.searchsorted(rows, np.arange(len(a) + 1))


@documented(_PARAMETERS, "numpy.ndarray, (values,)\nThe values.", _NO_MATRIX)
def csr_extract_w(a: Any) -> np.ndarray:
    """Find the values of a matrix that are not zero, row by row; see `csr_extract`."""
    return csr_extract(a)[0]


@documented(_PARAMETERS, "numpy.ndarray of int, (values,)\nThe columns, from 0.", _NO_MATRIX)
def csr_extract_v(a: Any) -> np.ndarray:
    """Find the columns of the values that are not zero, row by row; see `csr_extract`."""
    return csr_extract(a)[1]


@documented(
    _PARAMETERS, "numpy.ndarray of int, (m + 1,)\nThe places, from 0; the last entry is the number of values.", _NO_MATRIX
)
def csr_extract_u(a: Any) -> np.ndarray:
    """Find the places of the rows' first values among the values that are not zero; see `csr_extract`."""
    return csr_extract(a)[2]


@documented(_PARAMETERS, "Array or numpy.ndarray, (m,)\nThe product.", _NO_PATTERN)
def csr_matrix_times_vector(m: int, n: int, w: Any, v: Any, u: Any, b: Any) -> Any:
    """Multiply a sparse matrix with a vector."""
    name = "csr_matrix_times_vector"
    w, rows, columns = _entries(name, m, n, w, v, u)
    b = b if isinstance(b, Array) else np.asarray(b, dtype=float)
    if b.shape != (n,):
        raise ShapeError(f"{name}: b has shape {b.shape}, but must have shape ({n},)")
    return _sums(rows, m) @ (w * b[columns])


@documented(_PARAMETERS, "Array or numpy.ndarray, (m, n)\nThe matrix.", _NO_PATTERN)
def csr_to_dense_matrix(m: int, n: int, w: Any, v: Any, u: Any) -> Any:
    """Write a sparse matrix with its zeros; values at one place are added."""
    w, rows, columns = _entries("csr_to_dense_matrix", m, n, w, v, u)
    return np.reshape(_sums(rows * n + columns, m * n) @ w, (m, n))


def _sums(places: np.ndarray, size: int) -> Any:
    """Returns the matrix that adds values at their places."""
    count = len(places)
    return scipy_sparse.csr_array((np.ones(count), (places, np.arange(count))), shape=(size, count))


def _entries(name: str, m: int, n: int, w: Any, v: Any, u: Any) -> tuple[Any, np.ndarray, np.ndarray]:
    """Returns the values, their rows and their columns, checked."""
    w = w if isinstance(w, Array) else np.asarray(w, dtype=float)
    columns, starts = (np.asarray(x) for x in (v, u))
    if w.ndim != 1:
        raise ShapeError(f"{name}: w has shape {w.shape}, but must have one axis")
    for argument, x, length in (("v", columns, len(w)), ("u", starts, m + 1)):
        if x.shape != (length,):
            raise ShapeError(f"{name}: {argument} has shape {x.shape}, but must have shape ({length},)")
        if x.size and not np.issubdtype(x.dtype, np.integer):
            raise DomainError(f"{name}: {argument} is of type {x.dtype}, but must be of whole numbers")
    for k in np.flatnonzero((columns < 0) | (columns >= n)):
        raise DomainError(f"{name}: v[{k}] is {columns[k]}, but must be a column, 0 to {n - 1}; columns count from 0")
    if starts[0] != 0 or starts[-1] != len(w):
        raise DomainError(
            f"{name}: u is from {starts[0]} to {starts[-1]}, but must be from 0 to {len(w)}, the number of values"
        )
    for k in np.flatnonzero(starts[1:] < starts[:-1]):  # not by a difference: that of unsigned numbers is never negative
        raise DomainError(f"{name}: u[{k + 1}] is {starts[k + 1]}, but must be at least u[{k}] = {starts[k]}")
    places: Any = starts.astype(np.int64)
    return w, np.repeat(np.arange(m), np.diff(places)), columns.astype(np.int64)
