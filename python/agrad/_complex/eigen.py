"""Defines ``np.linalg.eig`` and ``eigvals`` for real and complex recorded matrices.

A complex matrix is an operation's argument of shape (n, 2 n), the real parts and then the imaginary parts; eigenvalues are
(n, 2), eigenvectors (n, 2 n). Results are always complex, because what is recorded does not depend on values; NumPy returns
real arrays where all eigenvalues are real. Eigenvectors have norm 1 and a largest entry that is real, as NumPy's, and
positive, which derivatives keep.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np

from agrad._complex.array import ComplexArray, full_pair, is_complex, recording_of
from agrad._core import ShapeError
from agrad._record.foreign import stand_for_foreign
from agrad._record.matrices import apply, row

__all__ = ["functions"]

_EIG = cast(Any, type(np.linalg.eig(np.eye(1))))


def _decomposed(function: Callable[..., Any], operation: str, a: Any) -> list[Any]:
    """Returns an operation's results for a matrix or a stack of matrices."""
    recording = recording_of(a)
    if isinstance(a, (list, tuple)):
        a = np.stack(a)
    shape = np.shape(a)
    if len(shape) < 2 or shape[-1] != shape[-2]:
        name = f"np.linalg.{function.__name__}"
        raise ShapeError(f"{name}: a is of shape {shape}, but must be of square matrices (..., n, n)")
    if not is_complex(a):
        return apply(row(operation), recording.array(a))
    return apply(row(operation), np.concatenate([recording.array(part) for part in full_pair(a)], axis=-1))


def _values(w: Any) -> ComplexArray:
    return ComplexArray(w[..., 0].copy(), w[..., 1].copy())


def _eigvals(a: Any) -> ComplexArray:
    return _values(_decomposed(np.linalg.eigvals, "general_eigenvalues", a)[0])


def _eig(a: Any) -> Any:
    w, v = _decomposed(np.linalg.eig, "general_eigen", a)
    n = v.shape[-2]
    return _EIG(_values(w), ComplexArray(v[..., :n].copy(), v[..., n:].copy()))


#: NumPy's function -> the same for recorded arrays.
functions: dict[Callable[..., Any], Callable[..., Any]] = {np.linalg.eig: _eig, np.linalg.eigvals: _eigvals}
stand_for_foreign("np.linalg", [each.__name__ for each in functions])
