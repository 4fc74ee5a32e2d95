"""Checks of the parameters of distributions as a whole: of vectors, of matrices, and of several parameters together.

Conditions on single entries are those of the densities, by their texts; `agrad._core.checked` evaluates them.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from agrad._core import DomainError, LinAlgError, multivariate_rows

__all__ = [
    "TOO_LARGE",
    "cholesky_factor",
    "fail_indefinite",
    "fail_unless",
    "is_whole",
    "ordered",
    "positive_definite",
    "simplex",
]

#: The least whole number of which a double may be the rounding of another one.
TOO_LARGE = 2.0**53
#: How far the sum of a simplex may be from 1, and the two triangles of a symmetric matrix from each other.
_TOLERANCE = 1e-8


def is_whole(condition: str) -> bool:
    """Whether only whole numbers meet a condition."""
    return condition.startswith("a whole number")


def _indices(place: tuple[int, ...]) -> str:
    return f"[{', '.join(map(str, place))}]" if place else ""


def fail_unless(holds: Any, function: str, argument: str, x: Any, condition: str) -> None:
    """Raises DomainError with the first entry of x for which `holds`, of a shape to which x broadcasts, is false."""
    if np.all(holds):
        return
    at = np.broadcast_to(np.arange(x.size).reshape(x.shape), np.shape(holds))[~np.asarray(holds)][0]
    first = tuple(map(int, np.unravel_index(at, x.shape)))
    raise DomainError(f"{function}: {argument}{_indices(first)} is {float(x[first])}, but must be {condition}")


def simplex(function: str, argument: str, x: np.ndarray) -> None:
    """Raises DomainError unless each vector has nonnegative entries with the sum 1."""
    fail_unless(x >= 0, function, argument, x, "nonnegative")
    total = x.sum(-1)
    for place in np.argwhere(~(np.abs(total - 1) <= _TOLERANCE))[:1]:
        where = tuple(map(int, place))
        raise DomainError(f"{function}: {argument}{_indices(where)} is of sum {float(total[where])}, but must be of sum 1")


def ordered(function: str, argument: str, x: np.ndarray) -> None:
    """Raises DomainError unless each vector has finite entries, each larger than the one before."""
    fail_unless(np.isfinite(x), function, argument, x, "finite")
    holds = np.concatenate([np.ones_like(x[..., :1], dtype=bool), np.diff(x) > 0], -1)
    fail_unless(holds, function, argument, x, "larger than the entry before")


def cholesky_factor(function: str, argument: str, x: np.ndarray) -> None:
    """Raises DomainError unless each matrix is lower triangular with a positive diagonal."""
    fail_unless(np.isfinite(x), function, argument, x, "finite")
    above = np.triu(np.ones(x.shape[-2:], dtype=bool), 1)
    fail_unless(~above | (x == 0), function, argument, x, "0, above the diagonal")
    on = np.eye(x.shape[-1], dtype=bool)
    fail_unless(~on | (x > 0), function, argument, x, "positive, on the diagonal")


def positive_definite(function: str, argument: str, x: np.ndarray) -> None:
    """Raises DomainError unless each matrix is symmetric and positive definite."""
    fail_unless(np.isfinite(x), function, argument, x, "finite")
    scale = np.abs(np.diagonal(x, axis1=-2, axis2=-1)).max(-1, initial=0.0)[..., None, None]
    fail_unless(np.abs(x - np.swapaxes(x, -1, -2)) <= _TOLERANCE * scale, function, argument, x, "that of the transposed place")
    try:
        np.linalg.cholesky(x)
    except np.linalg.LinAlgError:
        fail_indefinite(function, argument, x)


#: The density whose check finds the pivot of a matrix that is not positive definite.
_DENSITY = next(row for row in multivariate_rows() if row.name == "multi_normal_lpdf")


def fail_indefinite(function: str, argument: str, x: np.ndarray) -> NoReturn:
    """Raises LinAlgError with the pivot of the first of symmetric matrices that has no Cholesky factor, as densities do."""
    where, text = "", "is not positive definite, but must be positive definite"
    centre = np.zeros(x.shape[-1])
    for place in np.ndindex(x.shape[:-2]):
        try:
            _DENSITY(centre, centre, x[place])
        except DomainError as error:
            where, text = _indices(place), str(error).partition(f": {_DENSITY.arguments[2][0]} ")[2]
            break
    raise LinAlgError(f"{function}: {argument}{where} {text}")
