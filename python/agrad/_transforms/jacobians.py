"""Computes Jacobians by the cheaper mode, by tangents (forward mode, columns), or by adjoints (reverse mode, rows)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agrad._core import Array, Recording
from agrad._record.structure import Outputs, of_rows, output_of
from agrad._record.trees import split
from agrad._transforms.base import Arguments, Transformation, separate
from agrad._transforms.engine import Engine
from agrad._transforms.parameters import ArgNums, Parameters
from agrad._transforms.sparse import ColouredJacobian, dense_or_sparse

__all__ = ["Jacobian", "jacfwd", "jacobian", "jacrev"]


class Jacobian(Transformation):
    """See :func:`jacobian`. `aux` is a pair: the user's aux, and the form of the result, which may be a structure of arrays."""

    name = "jacobian"

    def split_result(self, recording: Recording, result: Any) -> tuple[Array, Any]:
        value, aux = separate(self.label, result, self.has_aux)
        outputs = Outputs(recording, output_of(recording, "result", value) if isinstance(value, (list, type(None))) else value)
        self.check_real(outputs.holds_truths)
        return outputs.joined, (aux, outputs)

    def outputs_of(self, recording: Recording, output: Array, beside: Any) -> tuple[Outputs, Any]:
        aux, outputs = beside
        return outputs, aux

    def beside(self, aux: Any, form: Any) -> Any:
        return aux, form

    def matrix(self, engine: Engine) -> Any:
        """Returns the rows of the joined outputs."""
        return engine.jacobian()

    def of_engine(self, engine: Engine, parameters: Parameters, beside: Any) -> Any:
        return self.finish(self.matrix(engine), parameters, beside)

    def finish(self, rows: Any, parameters: Parameters, aux: Any) -> Any:
        """Returns the result from the rows of the joined outputs."""

        def of_one(own: Any, shape: tuple[int, ...]) -> Any:
            return parameters.together(split(own.reshape((*shape, own.shape[-1])), parameters.shapes))

        users, form = aux
        return self.with_aux(of_rows(form, rows, of_one), users)


class ForwardJacobian(Jacobian):
    """See :func:`jacfwd`."""

    name = "jacfwd"
    instead = "use jacrev"

    def matrix(self, engine: Engine) -> Any:
        return engine.columns()


class ReverseJacobian(Jacobian):
    """See :func:`jacrev`."""

    name = "jacrev"

    def matrix(self, engine: Engine) -> Any:
        return engine.rows()


def jacobian(
    function: Callable[Arguments, Any],
    argnums: ArgNums = 0,
    *,
    has_aux: bool = False,
    sparse: bool = False,
    return_info: bool = False,
) -> Callable[Arguments, Any]:
    """Make a function that returns the Jacobian of `function`.

    Parameters
    ----------
    function : callable
        Returns an array, a list, which :func:`agrad.array` joins, or a nested structure (tuple, dict, dataclass) of arrays.
    argnums : int or sequence of int
        The positional arguments to differentiate with respect to.
    has_aux : bool
        The function returns ``(value, aux)``; the new one returns ``(jacobian, aux)``.
    sparse : bool
        Return a :class:`scipy.sparse.csr_array`, computed from as few products as the pattern of the recorded function allows.
    return_info : bool
        With ``sparse``: return ``(jacobian, info)``, where info is a :class:`Sparsity` with the pattern and the number of
        colours, that is of products.

    Returns
    -------
    callable
        With the arguments of `function`; returns, in the structure of the argument, arrays of the output's shape followed
        by the leaf's shape. Where the function returns a structure, that structure with such a result in the place of each
        array: ``jacobian["y"]["rate"]``. With ``sparse`` the result is a single matrix: rows are the entries of the output in
        C order, columns the entries of all leaves of the differentiated arguments in their order. Entries of the pattern that
        happen to be zero are stored, so that the structure is the same at every point of a recorded path.

    Raises
    ------
    TypeError
        As :func:`value_and_grad`: for example an argument to differentiate with respect to is an integer; or `return_info`
        is given without `sparse`.
    ValueError
        (When called) with ``sparse``, the pattern has more than 2**28 entries.

    Examples
    --------
    >>> import numpy as np, agrad as ag
    >>> ag.jacobian(lambda x: x**2)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    >>> matrix, info = ag.jacobian(lambda x: np.sin(x[1:] - x[:-1]), sparse=True, return_info=True)(np.zeros(1000))
    >>> matrix.shape, matrix.nnz, info.colours
    ((999, 1000), 1998, 2)
    """
    kinds = Jacobian, ColouredJacobian
    return dense_or_sparse(*kinds, function, argnums, has_aux=has_aux, sparse=sparse, return_info=return_info)


def jacfwd(function: Callable[Arguments, Any], argnums: ArgNums = 0, *, has_aux: bool = False) -> Callable[Arguments, Any]:
    """Make a function that returns the Jacobian of `function` by forward mode: a run computes eight columns.

    Parameters
    ----------
    function : callable
        Returns an array, a list, which :func:`agrad.array` joins, or a nested structure of arrays.
    argnums : int or sequence of int
        The positional arguments to differentiate with respect to.
    has_aux : bool
        The function returns ``(value, aux)``; the new function returns ``(jacobian, aux)``.

    Returns
    -------
    callable
        As :func:`jacobian`, which chooses the mode automatically.

    Raises
    ------
    TypeError
        As :func:`value_and_grad`: for example an argument to differentiate with respect to is an integer.
    NotImplementedError
        (When called) an operation has no tangents, as a :func:`custom_vjp`.

    Examples
    --------
    >>> import numpy as np, agrad as ag
    >>> ag.jacfwd(lambda x: [x**2, x**3, np.exp(0.0 * x)])(2.0)
    array([ 4., 12.,  0.])
    """
    return ForwardJacobian(function, argnums, has_aux=has_aux)


def jacrev(function: Callable[Arguments, Any], argnums: ArgNums = 0, *, has_aux: bool = False) -> Callable[Arguments, Any]:
    """Make a function that returns the Jacobian of `function` by reverse mode: a forward pass, and a reverse pass for each row.

    Parameters
    ----------
    function : callable
        Returns an array, a list, which :func:`agrad.array` joins, or a nested structure of arrays.
    argnums : int or sequence of int
        The positional arguments to differentiate with respect to.
    has_aux : bool
        The function returns ``(value, aux)``; the new function returns ``(jacobian, aux)``.

    Returns
    -------
    callable
        As :func:`jacobian`, which chooses the mode automatically.

    Raises
    ------
    TypeError
        As :func:`value_and_grad`: for example an argument to differentiate with respect to is an integer.

    Examples
    --------
    >>> import numpy as np, agrad as ag
    >>> ag.jacrev(lambda x: np.sum(x**2))(np.array([1.0, 2.0]))
    array([2., 4.])
    """
    return ReverseJacobian(function, argnums, has_aux=has_aux)
