"""Defines transforms of matrices: Cholesky factors of correlation and covariance matrices, and these matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from agrad._constraints.transform import Shape, Transform, require, whole_number
from agrad._core import DomainError, ShapeError
from agrad._random.conditions import fail_indefinite

__all__ = ["cholesky_correlation", "cholesky_covariance", "correlation", "covariance"]

#: How far diagonals of plain correlation matrices, and the two triangles of symmetric ones, may be from what they must be.
_TOLERANCE = 1e-8


def spread(free: Any, rows: np.ndarray, columns: np.ndarray, shape: Shape) -> Any:
    """Returns the matrix that has the free numbers at the given entries and zeros elsewhere."""
    places = np.full(shape, len(rows))
    places[rows, columns] = np.arange(len(rows))
    return np.concatenate([free, np.zeros(1)])[places]


def _log_sech(x: Any) -> Any:
    """log(sqrt(1 - tanh(x)^2)), also where tanh(x) rounds to 1."""
    return np.log(2.0) - np.logaddexp(x, -x)


def _require_symmetric(name: str, value: np.ndarray) -> None:
    require(name, value, np.isfinite(value), "finite")
    scale = np.sqrt(np.abs(np.outer(np.diagonal(value), np.diagonal(value))))
    wrong = np.argwhere(~(np.abs(value - value.T) <= _TOLERANCE * scale))
    if wrong.size:
        i, j = (int(k) for k in wrong[0])
        raise DomainError(
            f"{name}.unconstrain: value[{i}, {j}] is {value[i, j]}, but must be value[{j}, {i}] = {value[j, i]},"
            " because the matrix is symmetric"
        )


def _factor(name: str, value: Any) -> Any:
    """Returns the Cholesky factor."""
    try:
        return np.linalg.cholesky(value)
    except np.linalg.LinAlgError:
        fail_indefinite(f"{name}.unconstrain", "value", value)


def _require_lower(name: str, value: np.ndarray) -> None:
    require(name, value, (np.triu(value, 1) == 0), "0, above the diagonal")
    is_elsewhere = np.eye(value.shape[0], value.shape[1]) == 0
    require(name, value, is_elsewhere | (value > 0), "positive, on the diagonal")
    require(name, value, np.isfinite(value), "finite")


class _CholeskyCorrelation(Transform):
    """Row i has i partial correlations, tanh of free numbers, each times what the entries before leave of the norm."""

    def __init__(self, n: int, name: str = "cholesky_correlation") -> None:
        n = whole_number(name, "n", n)
        self.name, self.shape, self.free_shape = name, (n, n), (n * (n - 1) // 2,)
        self._rows, self._columns = np.tril_indices(n, -1)

    def _logs(self, free: Any) -> tuple[Any, Any]:
        """Returns the free numbers as a matrix, and the logarithms of what is left of each row's norm before an entry."""
        x = spread(free, self._rows, self._columns, self.shape)
        terms = _log_sech(x)
        return x, np.cumsum(terms, 1) - terms

    def _constrain(self, free: Any) -> Any:
        x, log_rest = self._logs(free)
        return (np.tanh(x) + np.eye(len(x))) * np.exp(log_rest)

    def _log_jacobian(self, free: Any) -> Any:
        _, log_rest = self._logs(free)
        return 2.0 * np.sum(_log_sech(free)) + np.sum(log_rest[self._rows, self._columns])

    def _unconstrain(self, value: Any) -> Any:
        later = value[:, 1:]
        rest = np.flip(np.cumsum(np.flip(later * later, 1), 1), 1)  # entry j: the sum of the squares behind entry j
        return np.arcsinh(value[self._rows, self._columns] / np.sqrt(rest[self._rows, self._columns]))

    def _check(self, value: np.ndarray) -> None:
        _require_lower(self.name, value)
        norms = np.linalg.norm(value, axis=1)
        for i in np.flatnonzero(~(np.abs(norms - 1) <= _TOLERANCE)):
            raise DomainError(f"{self.name}.unconstrain: value[{i}] has the norm {norms[i]}, but must have the norm 1")


class _Correlation(_CholeskyCorrelation):
    def __init__(self, n: int) -> None:
        super().__init__(n, "correlation")

    def _constrain(self, free: Any) -> Any:
        factor = super()._constrain(free)
        is_diagonal = np.eye(len(factor), dtype=bool)
        return np.where(is_diagonal, 1.0, factor @ factor.T)

    def _log_jacobian(self, free: Any) -> Any:
        _, log_rest = self._logs(free)
        n = self.shape[0]
        below = np.arange(n - 1, -1, -1)  # the entries below the diagonal of each column are multiplied by its diagonal
        return super()._log_jacobian(free) + np.sum(below * np.diagonal(log_rest))

    def _unconstrain(self, value: Any) -> Any:
        return super()._unconstrain(_factor(self.name, value))

    def _check(self, value: np.ndarray) -> None:
        diagonal = np.diagonal(value)
        for i in np.flatnonzero(~(np.abs(diagonal - 1) <= _TOLERANCE)):
            raise DomainError(f"correlation.unconstrain: value[{i}, {i}] is {diagonal[i]}, but must be 1")
        _require_symmetric(self.name, value)


class _CholeskyCovariance(Transform):
    """The entries below the diagonal are free, and those on the diagonal are exp of free numbers; row by row."""

    def __init__(self, m: int, n: int, name: str = "cholesky_covariance") -> None:
        m, n = whole_number(name, "m", m), whole_number(name, "n", n)
        if m < n:
            raise ShapeError(f"{name}: m is {m}, but must be at least n = {n}")
        self._rows, self._columns = np.tril_indices(m, 0, n)
        self.name, self.shape, self.free_shape = name, (m, n), (len(self._rows),)
        self._diagonal = np.flatnonzero(self._rows == self._columns)

    def _constrain(self, free: Any) -> Any:
        is_diagonal = self._rows == self._columns
        entries = np.where(is_diagonal, np.exp(np.where(is_diagonal, free, 0.0)), free)
        return spread(entries, self._rows, self._columns, self.shape)

    def _log_jacobian(self, free: Any) -> Any:
        return np.sum(free[self._diagonal])

    def _unconstrain(self, value: Any) -> Any:
        entries = value[self._rows, self._columns]
        is_diagonal = self._rows == self._columns
        return np.where(is_diagonal, np.log(np.where(is_diagonal, entries, 1.0)), entries)

    def _check(self, value: np.ndarray) -> None:
        _require_lower(self.name, value)


class _Covariance(_CholeskyCovariance):
    def __init__(self, n: int) -> None:
        super().__init__(n, n, "covariance")

    def _constrain(self, free: Any) -> Any:
        factor = super()._constrain(free)
        return factor @ factor.T

    def _log_jacobian(self, free: Any) -> Any:
        n = self.shape[0]
        factors = np.arange(n + 1, 1, -1)  # of column j: n - j entries of the matrix, and the exponential
        return n * np.log(2.0) + np.sum(factors * free[self._diagonal])

    def _unconstrain(self, value: Any) -> Any:
        return super()._unconstrain(_factor(self.name, value))

    def _check(self, value: np.ndarray) -> None:
        _require_symmetric(self.name, value)


def cholesky_correlation(n: int) -> Transform:
    """Lower triangular matrices with positive diagonals and rows of norm one: Cholesky factors of correlation matrices.

    Parameters
    ----------
    n : int
        The number of rows and columns, 1 or more.

    Returns
    -------
    Transform
        From n (n - 1) / 2 free numbers to matrices of shape (n, n).

    Raises
    ------
    ShapeError
        n is no whole number of 1 or more.

    Notes
    -----
    The n (n - 1) / 2 free numbers are, row by row, the inverse hyperbolic tangents of partial correlations (Lewandowski,
    Kurowicka and Joe 2009). The log Jacobian is that of the entries below the diagonal.
    """
    return _CholeskyCorrelation(n)


def correlation(n: int) -> Transform:
    """Correlation matrices: symmetric, positive definite, with ones on the diagonal; see `cholesky_correlation`.

    Parameters
    ----------
    n : int
        The number of rows and columns, 1 or more.

    Returns
    -------
    Transform
        From n (n - 1) / 2 free numbers to matrices of shape (n, n).

    Raises
    ------
    ShapeError
        n is no whole number of 1 or more.

    Notes
    -----
    A model that needs the matrix's factor anyway takes `cholesky_correlation`, which is quicker and more accurate.
    """
    return _Correlation(n)


def cholesky_covariance(m: int, n: int | None = None) -> Transform:
    """Lower triangular matrices of m rows and n columns, m >= n, with positive diagonals.

    Parameters
    ----------
    m : int
        The number of rows, 1 or more.
    n : int, optional
        The number of columns, 1 to m; by default `m`.

    Returns
    -------
    Transform
        From m n - n (n - 1) / 2 free numbers to matrices of shape (m, n).

    Raises
    ------
    ShapeError
        m or n is no whole number of 1 or more, or m is less than n.

    Notes
    -----
    The free numbers are the entries row by row, logarithms of those on the diagonal.
    """
    return _CholeskyCovariance(m, m if n is None else n)


def covariance(n: int) -> Transform:
    """Covariance matrices: symmetric and positive definite, from n (n + 1) / 2 free numbers; see `cholesky_covariance`.

    Parameters
    ----------
    n : int
        The number of rows and columns, 1 or more.

    Returns
    -------
    Transform
        From n (n + 1) / 2 free numbers to matrices of shape (n, n).

    Raises
    ------
    ShapeError
        n is no whole number of 1 or more.
    """
    return _Covariance(n)
