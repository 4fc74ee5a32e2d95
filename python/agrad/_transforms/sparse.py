"""Computes sparse Jacobians and Hessians from as many products as the pattern has colours, and returns scipy.sparse matrices.

The pattern comes from the recorded program, so the pattern holds at every point of the recorded path. Columns without a common
row get the same colour and share a direction; a star colouring of a symmetric matrix needs even fewer. In a compiled function
pattern and colouring are computed once for each path.
"""

from __future__ import annotations

import weakref
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from agrad._core import Program, SparseHessian, SparseJacobian
from agrad._transforms.base import OfScalar, Transformation
from agrad._transforms.engine import Engine, ProgramEngine, RecordingEngine, held
from agrad._transforms.parameters import ArgNums, Parameters

__all__ = ["ColouredHessian", "ColouredJacobian", "Sparsity", "dense_or_sparse"]


@dataclass(frozen=True, eq=False)
class Sparsity:
    """Data on the computation of a sparse Jacobian or Hessian; see ``return_info`` of :func:`jacobian` and :func:`hessian`.

    Attributes
    ----------
    pattern : scipy.sparse.csr_array of bool
        The entries that may be other than zero, as in SciPy's ``jac_sparsity``.
    colours : int
        The number of products that the matrix is computed from.
    groups : numpy.ndarray of int
        The colour of each column (of each row where the mode is "reverse"), -1 for a column without entries.
    mode : str
        "forward" (products with tangents, sums of columns), "reverse" (products with adjoints, sums of rows), or for
        Hessians "forward over reverse".
    """

    pattern: Any
    colours: int
    groups: np.ndarray[Any, np.dtype[np.int32]]
    mode: str


def _csr(entries: np.ndarray[Any, Any], analysis: SparseJacobian | SparseHessian) -> Any:
    from scipy.sparse import csr_array  # imported at the first use, because the import takes longer than agrad's

    return csr_array((entries, analysis.indices, analysis.indptr), shape=analysis.shape)


class Sparse(Transformation):
    """The common part of sparse Jacobians and Hessians: an analysis for each program, kept as long as the program."""

    nests = False
    keeps_integers = True

    def __init__(self, function: Callable[..., Any], argnums: ArgNums, *, has_aux: bool, return_info: bool) -> None:
        super().__init__(function, argnums, has_aux=has_aux)
        self.return_info = return_info
        self._analyses: weakref.WeakKeyDictionary[Program, Any] = weakref.WeakKeyDictionary()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_analyses"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _analyses=weakref.WeakKeyDictionary())

    def of_engine(self, engine: Engine, parameters: Parameters, beside: Any) -> Any:
        of = engine.program() if isinstance(engine, RecordingEngine) else engine
        assert isinstance(of, ProgramEngine), "sparse matrices do not nest"
        analysis = self._analyses.get(of.program)
        if analysis is None:
            analysis = self._analyses[of.program] = self.analyse(of.program, np.arange(of.program.input_size)[of.required])
        matrix = _csr(held(analysis.entries(of.program, of.inputs)), analysis)
        return self.with_aux((matrix, self._info(analysis)) if self.return_info else matrix, beside)

    @abstractmethod
    def analyse(self, program: Program, required: Any) -> SparseJacobian | SparseHessian:
        """Returns the analysis of a program with respect to some inputs."""

    def _info(self, analysis: SparseJacobian | SparseHessian) -> Sparsity:
        mode = "forward over reverse"
        if isinstance(analysis, SparseJacobian):
            mode = "reverse" if analysis.by_rows else "forward"
        pattern = _csr(np.ones(analysis.indices.size, bool), analysis)
        return Sparsity(pattern, analysis.colours, analysis.groups, mode)


class ColouredJacobian(Sparse):
    """The transformation of :func:`agrad.jacobian` with ``sparse``."""

    name = "jacobian"

    def analyse(self, program: Program, required: Any) -> SparseJacobian:
        return SparseJacobian(program, required)


class ColouredHessian(Sparse, OfScalar):
    """The transformation of :func:`agrad.hessian` with ``sparse``."""

    name = "hessian"
    instead = "take differences of its gradient"

    def analyse(self, program: Program, required: Any) -> SparseHessian:
        self.check_order(program, 2)
        return SparseHessian(program, required)


def dense_or_sparse(
    dense: type[Transformation],
    coloured: type[Sparse],
    function: Callable[..., Any],
    argnums: ArgNums,
    *,
    has_aux: bool,
    sparse: bool,
    return_info: bool,
) -> Transformation:
    """Returns the transformation of a function, which `sparse` chooses; only the sparse one has `return_info`."""
    if sparse:
        return coloured(function, argnums, has_aux=has_aux, return_info=return_info)
    if return_info:
        raise TypeError(f"{dense.name}: return_info is True, but must be False unless sparse is True")
    return dense(function, argnums, has_aux=has_aux)
