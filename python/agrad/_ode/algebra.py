"""Converts the user's choice of linear algebra for the implicit methods to `OdeAlgebra`, and the user's mass matrix."""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

import numpy as np

from agrad._core import DomainError, OdeAlgebra, ShapeError
from agrad._ode.method_table import METHODS, Method
from agrad._record.arguments import check_one_of, real_values
from agrad._record.structure import find_recording

__all__ = ["LINEAR_SOLVERS", "Algebra", "MassEntries", "mass_entries", "method_with_mass"]

#: The entries of a mass matrix: the ends of the rows, the columns, the values.
MassEntries = tuple[Any, Any, Any]

LINEAR_SOLVERS = ("auto", "dense", "banded", "sparse", "gmres")


class Algebra(NamedTuple):
    """The name of the linear algebra, and the pattern of the Jacobian as SciPy's `jac_sparsity` describes a pattern."""

    linear_solver: str = "auto"
    jac_sparsity: Any = None
    name: str = "jac_sparsity"  # of the pattern in messages

    @property
    def is_chosen(self) -> bool:
        """Whether the user chose another linear algebra than the default."""
        return self.linear_solver != "auto" or self.jac_sparsity is not None

    def check(self, function: str, method: Method) -> None:
        """Raises where the method cannot use this linear algebra."""
        check_one_of(function, "linear_solver", self.linear_solver, LINEAR_SOLVERS)
        if self.is_chosen and not (method.has_factors or method.is_multistep):
            raise ValueError(
                f"{function}: linear_solver or {self.name} is given, but must not be for {method.name!r}; "
                "the method solves no linear equations"
            )
        if self.linear_solver == "gmres" and method.has_factors:
            raise ValueError(
                f"{function}: linear_solver is 'gmres', but must be another one for {method.name!r}; the method needs factors, "
                "'BDF' and 'Adams' take 'gmres'"
            )
        if self.linear_solver == "gmres" and self.jac_sparsity is not None:
            raise ValueError(f"{function}: {self.name} is given, but must not be for 'gmres', which uses products by df/dy")

    def to_core(self, function: str, states: int) -> OdeAlgebra:
        """Returns the argument of the compiled methods for a number of states."""
        widths, rows, columns = _described(function, self.name, self.jac_sparsity, states)
        return OdeAlgebra(self.linear_solver, self.name, widths, rows, columns)


def _described(function: str, name: str, given: Any, states: int) -> tuple[Any, Any, Any]:
    """Returns half-bandwidths, or the ends of the rows and the columns of a compressed matrix, or neither of them."""
    if given is None:
        return None, None, None
    if isinstance(given, tuple) and len(given) == 2:
        try:
            return tuple(operator.index(width) for width in given), None, None
        except TypeError:
            if name != "jac_sparsity":
                raise TypeError(f"{function}: {name} is {given!r}, but must be whole numbers") from None
    given = given if hasattr(given, "tocsr") else np.asarray(given)
    if given.dtype.kind not in "fiub":
        raise TypeError(
            f"{function}: jac_sparsity is of dtype {given.dtype}, but must be numbers; an entry is other than zero "
            "where df/dy may be"
        )
    if given.shape != (states, states):
        raise ShapeError(
            f"{function}: jac_sparsity is of shape {given.shape}, but must be of shape ({states}, {states}); "
            "a row and a column for each state, or a pair (lower, upper) of half-bandwidths"
        )
    rows, columns = given.nonzero()
    return None, *_compressed(rows, columns, states)[:2]


def method_with_mass(function: str, method: Method, mass_matrix: Any) -> Method:
    """Returns the method for a system with a mass matrix, if one is given; raises for a method that cannot solve it."""
    if mass_matrix is None:
        return method
    method = METHODS["Rodas5P"] if method.name == "auto" else method
    if not method.has_factors:
        hint = "'Rodas5P' and 'Rodas4' take one, and solve_dae"
        raise ValueError(f"{function}: mass_matrix is given, but must not be for {method.name!r}; {hint}")
    return method


def mass_entries(function: str, given: Any, states: int) -> MassEntries | None:
    """Returns the entries of a mass matrix, an array or scipy.sparse matrix of numbers, for a number of states."""
    if given is None:
        return None
    if find_recording((given,)) is not None:
        hint = "divide the equations of fun by what is recorded, or use solve_ivp"
        raise TypeError(f"{function}: mass_matrix is recorded, but must be plain numbers; {hint}")
    matrix = given.tocsr().tocoo() if hasattr(given, "tocsr") else real_values(function, "mass_matrix", given)
    if matrix.shape != (states, states):
        raise ShapeError(
            f"{function}: mass_matrix is of shape {matrix.shape}, but must be of shape ({states}, {states}); "
            "a row and a column for each state"
        )
    rows, columns = matrix.nonzero() if isinstance(matrix, np.ndarray) else (matrix.row, matrix.col)
    values = matrix[rows, columns] if isinstance(matrix, np.ndarray) else real_values(function, "mass_matrix", matrix.data)
    for k in np.flatnonzero(~np.isfinite(values))[:1]:
        raise DomainError(f"{function}: mass_matrix[{rows[k]}, {columns[k]}] is {values[k]}, but must be finite")
    ends, columns, order = _compressed(rows, columns, states)
    return ends, columns, values[order]


def _compressed(rows: Any, columns: Any, states: int) -> tuple[Any, Any, Any]:
    """Returns the ends of the rows and the columns of entries, row after row, and the order of the entries."""
    order = np.lexsort((columns, rows))
    ends = np.searchsorted(rows[order], np.arange(states), side="right")
    return ends.astype(np.uint64), columns[order].astype(np.uint32), order
