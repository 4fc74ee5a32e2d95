"""Defines transforms of vectors: ordered vectors, simplexes, vectors that sum to zero, unit vectors, matrices of simplexes."""

from __future__ import annotations

import math
from typing import Any, NoReturn

import numpy as np

from agrad._constraints.transform import Transform, require, whole_number
from agrad._core import Array, DomainError, ShapeError
from agrad._transforms.custom import stop_gradient
from agrad._transforms.settled import settled
from agrad.special import log_softmax, logsumexp, softmax

__all__ = [
    "log_simplex",
    "ordered",
    "positive_ordered",
    "simplex",
    "stochastic_columns",
    "stochastic_rows",
    "sum_to_zero",
    "unit_vector",
]

#: How far sums and norms of plain values may be from what they must be.
_TOLERANCE = 1e-8
#: The smallest number of all digits; that a unit vector's largest free number may be.
_SMALLEST = float(np.finfo(float).tiny)


def contrasts_to_values(free: Any) -> Any:
    """Returns n numbers that sum to zero from n - 1 coordinates, along the last axis, without a change of length.

    The coordinates belong to the orthonormal vectors (1, ..., 1, -k, 0, ..., 0) / sqrt(k (k + 1)) with k ones.
    """
    k = np.arange(1, np.shape(free)[-1] + 1)
    steps = free / np.sqrt(k * (k + 1.0))
    nothing = np.zeros((*np.shape(free)[:-1], 1))
    sums = np.flip(np.cumsum(np.flip(steps, -1), -1), -1)
    return np.concatenate([sums, nothing], -1) - np.concatenate([nothing, k * steps], -1)


def values_to_contrasts(values: Any) -> Any:
    """Returns the coordinates of contrasts_to_values; a constant added to all values changes nothing."""
    k = np.arange(1, np.shape(values)[-1])
    # Differences from the neighbour first: a large constant that all values share cancels before anything is rounded.
    steps = values[..., :-1] - values[..., 1:]
    return np.cumsum(k * steps, -1) / np.sqrt(k * (k + 1.0))


class _Ordered(Transform):
    def __init__(self, name: str, n: int, is_positive: bool) -> None:
        self.name, self._is_positive = name, is_positive
        self.shape = self.free_shape = (whole_number(name, "n", n),)

    def _constrain(self, free: Any) -> Any:
        first = np.exp(free[:1]) if self._is_positive else free[:1]
        return np.cumsum(np.concatenate([first, np.exp(free[1:])]))

    def _log_jacobian(self, free: Any) -> Any:
        return np.sum(free if self._is_positive else free[1:]) + 0.0 * free[0]

    def _unconstrain(self, value: Any) -> Any:
        first = np.log(value[:1]) if self._is_positive else value[:1]
        return np.concatenate([first, np.log(value[1:] - value[:-1])])

    def _check(self, value: np.ndarray) -> None:
        before = np.concatenate([[0.0 if self._is_positive else -np.inf], value[:-1]])
        first = ", and the first one positive" if self._is_positive else ""
        require(self.name, value, value > before, f"greater than the entry before it{first}")


class _Simplex(Transform):
    """Simplexes along the last or the first axis, as softmax of numbers that sum to zero."""

    def __init__(self, name: str, shape: tuple[int, ...], axis: int = -1) -> None:
        self.name, self.shape, self._axis = name, shape, axis
        self.free_shape = (*shape[:-1], shape[-1] - 1) if axis == -1 else (shape[0] - 1, *shape[1:])

    def _turned(self, x: Any) -> Any:
        """Returns an array with simplexes along the last axis, or such an array turned back."""
        return x if self._axis == -1 else x.T

    def _constrain(self, free: Any) -> Any:
        return self._turned(softmax(contrasts_to_values(self._turned(free)), axis=-1))

    def _log_jacobian(self, free: Any) -> Any:
        n = self.shape[self._axis]
        simplexes = math.prod(self.shape) // n
        return np.sum(log_softmax(contrasts_to_values(self._turned(free)), axis=-1)) + 0.5 * simplexes * np.log(n)

    def _unconstrain(self, value: Any) -> Any:
        return self._turned(values_to_contrasts(np.log(self._turned(value))))

    def _check(self, value: Any) -> None:
        require(self.name, value, value > 0, "positive")
        sums = np.sum(value, self._axis)
        wrong = ~(np.abs(sums - 1) <= _TOLERANCE)
        if np.any(wrong):
            place = tuple(int(k) for k in np.argwhere(wrong)[0])
            index = "".join(f"[{':, ' * (self._axis == 0)}{k}]" for k in place)
            raise DomainError(f"{self.name}.unconstrain: value{index} sums to {sums[place]}, but must sum to 1")


class _LogSimplex(Transform):
    """Logarithms of simplexes: log_softmax of numbers that sum to zero."""

    def __init__(self, n: int) -> None:
        self.name = "log_simplex"
        self.shape = (whole_number(self.name, "n", n),)
        self.free_shape = (self.shape[0] - 1,)

    def _constrain(self, free: Any) -> Any:
        return log_softmax(contrasts_to_values(free), axis=-1)

    def _log_jacobian(self, free: Any) -> Any:
        return self._constrain(free)[-1] + 0.5 * np.log(self.shape[0])

    def _unconstrain(self, value: Any) -> Any:
        return values_to_contrasts(value)

    def _check(self, value: np.ndarray) -> None:
        require(self.name, value, np.isfinite(value), "finite")
        total = float(logsumexp(value))
        if not abs(total) <= _TOLERANCE:
            raise DomainError(f"{self.name}.unconstrain: exp(value) sums to {np.exp(total)}, but must sum to 1")


class _SumToZero(Transform):
    def __init__(self, shape: int | tuple[int, int]) -> None:
        self.name = "sum_to_zero"
        sizes = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
        if len(sizes) not in (1, 2):
            raise ShapeError(f"sum_to_zero: shape is {shape}, but must be a whole number or two")
        self.shape = tuple(whole_number(self.name, "shape", n) for n in sizes)
        self.free_shape = tuple(n - 1 for n in self.shape)

    def _constrain(self, free: Any) -> Any:
        value = contrasts_to_values(free)
        return value if len(self.shape) == 1 else contrasts_to_values(value.T).T

    def _log_jacobian(self, free: Any) -> Any:
        return np.sum(free * 0.0)

    def _unconstrain(self, value: Any) -> Any:
        free = values_to_contrasts(value)
        return free if len(self.shape) == 1 else values_to_contrasts(free.T).T

    def _check(self, value: np.ndarray) -> None:
        scale = max(1.0, float(np.max(np.abs(value))))
        for axis in range(value.ndim):
            with np.errstate(invalid="ignore"):  # of inf - inf
                sums = np.atleast_1d(np.sum(value, axis))
            worst = sums[np.argmax(np.abs(sums))]
            if not (np.isfinite(worst) and abs(worst) <= _TOLERANCE * scale):
                raise DomainError(f"sum_to_zero.unconstrain: value sums to {worst} along axis {axis}, but must sum to 0")


class _UnitVector(Transform):
    def __init__(self, n: int) -> None:
        self.name = "unit_vector"
        self.shape = self.free_shape = (whole_number(self.name, "n", n),)

    def _constrain(self, free: Any) -> Any:
        largest = np.max(np.abs(stop_gradient(free)))

        def complain() -> NoReturn:
            size = largest.recorded_values if isinstance(largest, Array) else largest
            number = f"of size {size}, of which derivatives overflow" if size else "0"
            raise DomainError(
                f"unit_vector.constrain: free is {number}, but must have an entry of {_SMALLEST:.3g} or more in size"
            )

        # Squares of the entries themselves can leave the range.
        scaled = free / settled(~(largest < _SMALLEST), largest, complain)
        return scaled / np.linalg.norm(scaled)

    def _log_jacobian(self, free: Any) -> Any:
        return -0.5 * np.sum(free * free)

    def _unconstrain(self, value: Any) -> Any:
        return value * 1.0

    def _check(self, value: np.ndarray) -> None:
        norm = np.linalg.norm(value)
        if not abs(norm - 1) <= _TOLERANCE:
            raise DomainError(f"unit_vector.unconstrain: value has the norm {norm}, but must have the norm 1")


def ordered(n: int) -> Transform:
    """Vectors whose entries increase: the first entry is free, and each step is ``exp`` of a free number.

    Parameters
    ----------
    n : int
        The number of entries, 1 or more.

    Returns
    -------
    Transform
        From n free numbers to vectors of shape (n,).

    Raises
    ------
    ShapeError
        n is no whole number of 1 or more.
    """
    return _Ordered("ordered", n, False)


def positive_ordered(n: int) -> Transform:
    """Vectors of positive entries that increase: the first entry and each step are ``exp`` of a free number.

    Parameters
    ----------
    n : int
        The number of entries, 1 or more.

    Returns
    -------
    Transform
        From n free numbers, the logarithms of the first entry and of the steps, to vectors of shape (n,).

    Raises
    ------
    ShapeError
        n is no whole number of 1 or more.
    """
    return _Ordered("positive_ordered", n, True)


def simplex(n: int) -> Transform:
    """Vectors of n positive entries that sum to one: ``softmax`` of n numbers that sum to zero, from n - 1 free numbers.

    Parameters
    ----------
    n : int
        The number of entries, 1 or more.

    Returns
    -------
    Transform
        From n - 1 free numbers to vectors of shape (n,).

    Raises
    ------
    ShapeError
        n is no whole number of 1 or more.

    Notes
    -----
    The free numbers are the isometric log ratios (Egozcue et al. 2003), which treat all entries alike. The log Jacobian is that
    of the first n - 1 entries.
    """
    return _Simplex("simplex", (whole_number("simplex", "n", n),))


def log_simplex(n: int) -> Transform:
    """Logarithms of vectors of n positive entries that sum to one, which keep their digits where an entry underflows.

    Parameters
    ----------
    n : int
        The number of entries, 1 or more.

    Returns
    -------
    Transform
        From n - 1 free numbers, those of :func:`simplex`, to logarithms of shape (n,).

    Raises
    ------
    ShapeError
        n is no whole number of 1 or more.

    Notes
    -----
    The log Jacobian is that of the first n - 1 logarithms. So a density of the logarithms is to be added to it: that of a
    simplex, as ``stan.dirichlet_lpdf(np.exp(value), alpha)``, plus ``np.sum(value[:-1])``.
    """
    return _LogSimplex(n)


def stochastic_rows(m: int, n: int) -> Transform:
    """Matrices of m rows, each a simplex of n entries; see `simplex`.

    Parameters
    ----------
    m, n : int
        The numbers of rows and of columns, 1 or more.

    Returns
    -------
    Transform
        From free numbers of shape (m, n - 1), a row for each row, to matrices of shape (m, n).

    Raises
    ------
    ShapeError
        m or n is no whole number of 1 or more.
    """
    return _Simplex("stochastic_rows", (whole_number("stochastic_rows", "m", m), whole_number("stochastic_rows", "n", n)))


def stochastic_columns(m: int, n: int) -> Transform:
    """Matrices of n columns, each a simplex of m entries; see `simplex`.

    Parameters
    ----------
    m, n : int
        The numbers of rows and of columns, 1 or more.

    Returns
    -------
    Transform
        From free numbers of shape (m - 1, n), a column for each column, to matrices of shape (m, n).

    Raises
    ------
    ShapeError
        m or n is no whole number of 1 or more.
    """
    name = "stochastic_columns"
    return _Simplex(name, (whole_number(name, "m", m), whole_number(name, "n", n)), axis=0)


def sum_to_zero(shape: int | tuple[int, int]) -> Transform:
    """Vectors that sum to zero, or matrices whose rows and columns sum to zero.

    Parameters
    ----------
    shape : int or two of int
        The length of the vectors, or the numbers of rows and columns; 1 or more.

    Returns
    -------
    Transform
        From free numbers of a shape with each length smaller by 1.

    Raises
    ------
    ShapeError
        `shape` has more than two lengths, or a length is no whole number of 1 or more.

    Notes
    -----
    The map is linear and leaves lengths as they are: independent standard normal free numbers give a value whose entries have
    equal variances 1 - 1/n and equal covariances. The log Jacobian, of that map onto the plane of such vectors, is 0.
    """
    return _SumToZero(shape)


def unit_vector(n: int) -> Transform:
    """Vectors of norm one: n free numbers divided by their norm.

    Parameters
    ----------
    n : int
        The number of entries, 1 or more.

    Returns
    -------
    Transform
        From n free numbers, which must not all be 0, to vectors of shape (n,).

    Raises
    ------
    ShapeError
        n is no whole number of 1 or more.
    DomainError
        (By `constrain`) no free number is at least 2.23e-308 in size, so that derivatives are no numbers.

    Notes
    -----
    The norm of the free numbers has no effect on the value. `log_jacobian` is the log density of a normal distribution, up to a
    constant, which gives the norm a distribution and the value the uniform one.
    """
    return _UnitVector(n)
