"""Converts the arguments of SciPy's solve_ivp that help the implicit methods, and handles `vectorized`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from agrad._core import Array
from agrad._ode.algebra import Algebra
from agrad._record.recording import name_of
from agrad._record.structure import array

__all__ = ["Vectorized", "algebra_of"]


@dataclass(frozen=True)
class Vectorized:
    """A right-hand side of several states at once, which is called with a single column, y of shape (n, 1), as in SciPy."""

    function: Callable[..., Any]

    @property
    def __name__(self) -> str:
        return name_of(self.function)

    def __call__(self, t: Any, y: Any, *args: Any) -> Any:
        slope = self.function(t, np.reshape(y, (-1, 1)), *args)
        if slope is None:
            return None
        return np.ravel(slope if isinstance(slope, (Array, np.ndarray)) else array(slope))


def algebra_of(function: str, linear_solver: str, jac_sparsity: Any, lband: int | None, uband: int | None) -> Algebra:
    """Returns the linear algebra; where only one half-bandwidth is given, the other is 0, as in SciPy."""
    if lband is None and uband is None:
        return Algebra(linear_solver, jac_sparsity)
    if jac_sparsity is not None:
        raise ValueError(f"{function}: jac_sparsity is given, but must not be with lband or uband, which say the same")
    return Algebra(linear_solver, (lband or 0, uband or 0), "(lband, uband)")
