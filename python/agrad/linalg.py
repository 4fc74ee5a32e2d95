"""Linear algebra without a dispatching function in NumPy, with the names of ``scipy.linalg``.

Functions of ``np.linalg`` with derivatives work on recorded arrays directly. The functions of this module accept numbers, NumPy
arrays and recorded arrays; for plain arrays SciPy's functions are called. Matrices may be stacked: ``(..., n, n)`` is recorded
as an operation for each matrix.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from agrad._core import ShapeError
from agrad._numpy.linalg import apply, recorded, row, solve_with, square
from agrad._record.foreign import stand_for_foreign
from agrad._record.on_demand import scipy_linalg
from agrad._record.recording import open_recording
from agrad._record.structure import find_recording

__all__ = ["block_diag", "cho_factor", "cho_solve", "expm", "log_determinant", "solve", "solve_triangular"]
stand_for_foreign(__name__, __all__)


def solve(a: Any, b: Any, *, assume_a: str | None = None) -> Any:
    """Compute the solution x of ``a @ x = b``.

    Parameters
    ----------
    a : array-like or recorded, (..., n, n)
        Invertible.
    b : array-like or recorded, (n,) or (..., n, k)
        Right-hand sides.
    assume_a : {None, "gen", "pos"}
        "pos": `a` is symmetric positive definite, and only the symmetric part of `a` counts; this takes half the time.

    Returns
    -------
    Array or numpy.ndarray
        Of the shape of `b`.

    Raises
    ------
    LinAlgError
        `a` is singular, or not positive definite with "pos"; the message has the pivot.
    """
    if assume_a not in (None, "gen", "pos"):
        raise ValueError(f"solve: assume_a is {assume_a!r}, but must be None, 'gen' or 'pos'")
    if find_recording(a, b) is None:
        if assume_a == "pos":  # SciPy reads one triangle
            a = np.asarray(a)
            if a.ndim >= 2 and a.shape[-1] == a.shape[-2]:
                a = (a + np.conj(np.swapaxes(a, -1, -2))) / 2
        return scipy_linalg.solve(a, b, assume_a=assume_a)
    a, b = recorded(a, b)
    square("solve", a)
    return solve_with("solve", row("solve_spd" if assume_a == "pos" else "solve"), a, b, a.shape[-1])


def _is_transposed(trans: Any) -> bool:
    if trans not in (0, 1, 2, "N", "T", "C"):
        raise ValueError(f"solve_triangular: trans is {trans!r}, but must be 0, 1, 2, 'N', 'T' or 'C'")
    return trans not in (0, "N")


def solve_triangular(a: Any, b: Any, trans: Any = 0, lower: bool = False, unit_diagonal: bool = False) -> Any:
    """Compute the solution x of ``a @ x = b`` for a triangular matrix, by substitution.

    Parameters
    ----------
    a : array-like or recorded, (..., n, n)
        Only the upper or the lower triangle is read; other entries have derivative zero.
    b : array-like or recorded, (n,) or (..., n, k)
        Right-hand sides.
    trans : {0, 1, 2, "N", "T", "C"}
        1, 2, "T", "C": solves with the transposed triangle.
    lower : bool
        Whether the lower triangle is read.
    unit_diagonal : bool
        The diagonal is not read; its entries count as 1.

    Returns
    -------
    Array or numpy.ndarray
        Of the shape of `b`.

    Raises
    ------
    LinAlgError
        The diagonal has a zero.
    """
    is_transposed = _is_transposed(trans)
    if find_recording(a, b) is None:
        return scipy_linalg.solve_triangular(a, b, trans, lower, unit_diagonal)
    a, b = recorded(a, b)
    square("solve_triangular", a)
    # The rule reads a row-major matrix as the transposed matrix, with the other triangle.
    options = (0 if lower else 1) + (0 if is_transposed else 2) + (4 if unit_diagonal else 0)
    return solve_with("solve_triangular", row("solve_triangular", options), a, b, a.shape[-1])


def cho_factor(a: Any, lower: bool = False) -> tuple[Any, bool]:
    """Compute the Cholesky factor of a symmetric positive definite matrix, for `cho_solve`.

    Parameters
    ----------
    a : array-like or recorded, (..., n, n)
        Symmetric positive definite; of a recorded matrix the symmetric part counts.
    lower : bool
        Whether the lower factor is returned, else the transposed factor.

    Returns
    -------
    c : Array or numpy.ndarray
        The factor; the other triangle of a plain factor is undefined, as in SciPy.
    lower : bool
        The argument `lower`.

    Raises
    ------
    LinAlgError
        `a` is not positive definite; the message has the pivot.
    """
    if find_recording(a) is None:
        plain: tuple[Any, bool] = scipy_linalg.cho_factor(a, lower)
        return plain
    (factor,) = apply(row("cholesky"), square("cho_factor", *recorded(a)))
    return (factor if lower else np.swapaxes(factor, -1, -2)), lower


def cho_solve(c_and_lower: tuple[Any, bool], b: Any) -> Any:
    """Compute the solution x of ``a @ x = b`` from the Cholesky factor of `a`.

    Parameters
    ----------
    c_and_lower : (array-like or recorded (..., n, n), bool)
        The result of `cho_factor`.
    b : array-like or recorded, (n,) or (..., n, k)
        Right-hand sides.

    Returns
    -------
    Array or numpy.ndarray
        Of the shape of `b`.
    """
    c, lower = c_and_lower
    if find_recording(c, b) is None:
        return scipy_linalg.cho_solve((c, lower), b)
    if np.ndim(b) == 1:  # with a stack of factors the vector would become a matrix
        return np.squeeze(cho_solve(c_and_lower, np.expand_dims(b, 1)), -1)
    half = solve_triangular(c, b, trans=0 if lower else 1, lower=lower)
    return solve_triangular(c, half, trans=1 if lower else 0, lower=lower)


def expm(a: Any) -> Any:
    """Compute the exponential of a square matrix.

    Parameters
    ----------
    a : array-like or recorded, (..., n, n)
        Finite.

    Returns
    -------
    Array or numpy.ndarray
        Of the shape of `a`.

    Raises
    ------
    DomainError
        An entry is not finite.
    """
    if find_recording(a) is None:
        return scipy_linalg.expm(a)
    return apply(row("matrix_exp"), square("expm", *recorded(a)))[0]


def log_determinant(a: Any, *, spd: bool = False) -> Any:
    """Compute the logarithm of the absolute value of the determinant.

    Parameters
    ----------
    a : array-like or recorded, (..., n, n)
        Invertible.
    spd : bool
        `a` is symmetric positive definite, and only the symmetric part of `a` counts; this takes half the time.

    Returns
    -------
    Array, float or numpy.ndarray
        Of the shape of the stack; 0 for a matrix of order 0.

    Raises
    ------
    LinAlgError
        `a` is singular, or not positive definite with `spd`.

    Notes
    -----
    ``np.linalg.slogdet`` also returns the sign, and minus infinity where this function raises.
    """
    is_plain = find_recording(a) is None
    if is_plain:
        with open_recording("log_determinant") as recording:
            return log_determinant(recording.array(np.asarray(a, dtype=float)), spd=spd).recorded_values[()]
    (y,) = apply(row("log_determinant_spd" if spd else "log_determinant"), square("log_determinant", *recorded(a)))
    return np.reshape(y, y.shape[:-2])


def block_diag(*arrays: Any) -> Any:
    """Make a matrix with the given matrices along the diagonal and zeros elsewhere.

    Parameters
    ----------
    *arrays : array-like or recorded, up to two dimensions
        A vector counts as a matrix with a single row, a number as a 1 x 1 matrix.

    Returns
    -------
    Array or numpy.ndarray
        Derivatives cost nothing: entries are moved when the function is recorded.
    """
    recording = find_recording(*arrays)
    if recording is None:
        return scipy_linalg.block_diag(*arrays)
    x = [recording.array(each) for each in arrays]
    for n, each in enumerate(x):
        if each.ndim > 2:
            raise ShapeError(f"block_diag: arrays[{n}] is of shape {each.shape}, but must be a matrix, a vector or a number")
    places = scipy_linalg.block_diag(*(each.slots for each in x))  # slot 0 is the constant zero
    return x[0].with_slots(np.asarray(places, np.uint32))


def __dir__() -> list[str]:
    return sorted(__all__)
