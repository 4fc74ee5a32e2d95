"""Computes second derivatives: Hessians and products of Hessians with vectors, forward over reverse.

The program runs forwards on numbers with tangents, and the reverse pass propagates adjoints with tangents: the adjoints of the
inputs are the gradient, and their tangents are the gradient's derivatives in these directions, eight at once.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from agrad._core import ResultKind
from agrad._record.trees import split
from agrad._transforms.base import Arguments, OfScalar, Transformation
from agrad._transforms.by_name import copy_with
from agrad._transforms.engine import Engine
from agrad._transforms.parameters import ArgNums, Parameters
from agrad._transforms.sparse import ColouredHessian, dense_or_sparse

__all__ = ["hessian", "hvp"]


class SecondOrder(OfScalar):
    """A transformation by Hessian products: `directions` chooses the directions, `finish` computes the result."""

    orders = 2
    instead = "take differences of its gradient"

    def of_engine(self, engine: Engine, parameters: Parameters, beside: Any) -> Any:
        return self.with_aux(self.finish(engine.hessian_products(self.directions(parameters)), parameters), beside)

    @abstractmethod
    def directions(self, parameters: Parameters) -> Any:
        """Returns the directions in the space of the parameters, a row for each."""

    @abstractmethod
    def finish(self, products: Any, parameters: Parameters) -> Any:
        """Returns the result from the products, a row for each."""


class Hessian(SecondOrder):
    """See :func:`hessian`."""

    name = "hessian"

    def directions(self, parameters: Parameters) -> np.ndarray[Any, Any]:
        return np.eye(sum(leaf.size for leaf in parameters.leaves))

    def finish(self, products: Any, parameters: Parameters) -> Any:
        rows = split(products, parameters.shapes)  # parts of the gradient; the first axis counts directions
        return parameters.together([self._of_leaf(np.moveaxis(part, 0, -1), parameters) for part in rows])

    def _of_leaf(self, part: Any, parameters: Parameters) -> Any:
        return parameters.together(split(part, parameters.shapes))


class HessianProduct(SecondOrder):
    """See :func:`hvp`."""

    plan = ResultKind.hessian_product
    name = "hvp"
    along: Any

    def bind(self, args: tuple[Any, ...]) -> tuple[Transformation, tuple[Any, ...]]:
        if len(args) < 2:
            raise TypeError(
                f"{self.label}: number of positional arguments is {len(args)}, but must be at least 2; the vector comes last, "
                "after the function's own"
            )
        return copy_with(self, direction=args[-1]), args[:-1]

    def prepare(self, parameters: Parameters) -> None:
        self.along = parameters.direction(self.name, "vector", self.direction)

    def directions(self, parameters: Parameters) -> Any:
        return self.along[np.newaxis]

    def finish(self, products: Any, parameters: Parameters) -> Any:
        return parameters.together(split(products[0], parameters.shapes))


def hessian(
    function: Callable[Arguments, Any],
    argnums: ArgNums = 0,
    *,
    has_aux: bool = False,
    sparse: bool = False,
    return_info: bool = False,
) -> Callable[Arguments, Any]:
    """Make a function that returns the Hessian of `function`: the Jacobian of its gradient.

    Parameters
    ----------
    function : callable
        Returns a scalar (see :func:`value_and_grad`).
    argnums : int or sequence of int
        The positional arguments to differentiate with respect to.
    has_aux : bool
        The function returns ``(value, aux)``; the new function returns ``(hessian, aux)``.
    sparse : bool
        Return a :class:`scipy.sparse.csr_array`, computed from as few products as the pattern of the recorded function allows.
    return_info : bool
        With ``sparse``: return ``(hessian, info)``, where info is a :class:`Sparsity` with the pattern and the number of
        colours, that is of products.

    Returns
    -------
    callable
        With the arguments of `function`. For an array of shape s the result is an array of shape s + s. For a nested structure
        the result is this structure with, in the place of each leaf, the structure again: ``hessian["a"]["b"]`` is the
        derivative of the gradient's part ``"a"`` with respect to ``"b"``, of the shape of a followed by the shape of b. For a
        sequence of argnums the result is a tuple of tuples. With ``sparse`` the result is a single matrix, whose rows and
        columns are the entries of all leaves of the differentiated arguments in their order, each leaf in C order. Entries of
        the pattern that happen to be zero are stored.

    Raises
    ------
    ShapeError
        (When called) the function's value is no scalar.
    TypeError
        As :func:`value_and_grad`: for example an argument to differentiate with respect to is an integer; or `return_info`
        is given without `sparse`.
    NotImplementedError
        (When called) an operation has first derivatives only, as a solve by CVODES has.
    ValueError
        (When called) with ``sparse``, the pattern has more than 2**28 entries.

    Notes
    -----
    Columns are computed forward over reverse, eight in a run; the result is not symmetrised. :func:`hvp` computes the product
    with a single vector in a single run. A sparse Hessian needs a product for each colour of a star colouring of the pattern
    (Gebremedhin, Manne and Pothen, SIAM Review 47, 2005), and is symmetric to the bit.

    Examples
    --------
    >>> import numpy as np, agrad as ag
    >>> ag.hessian(lambda x: x[0] ** 3 * x[1])(np.array([1.0, 2.0]))
    array([[12.,  3.],
           [ 3.,  0.]])
    >>> ag.hessian(lambda x: np.sum(x[1:] * x[:-1] ** 2), sparse=True)(np.ones(1000)).nnz
    2997
    """
    kinds = Hessian, ColouredHessian
    return dense_or_sparse(*kinds, function, argnums, has_aux=has_aux, sparse=sparse, return_info=return_info)


def hvp(function: Callable[..., Any], argnums: ArgNums = 0, *, has_aux: bool = False) -> Callable[..., Any]:
    """Make a function that returns the product of the Hessian of `function` and a vector, without the Hessian.

    Parameters
    ----------
    function : callable
        Returns a scalar (see :func:`value_and_grad`).
    argnums : int or sequence of int
        The positional arguments to differentiate with respect to.
    has_aux : bool
        The function returns ``(value, aux)``; the new function returns ``(product, aux)``.

    Returns
    -------
    callable
        With the arguments of `function` and, as the last positional argument, the vector: of the structure and shapes of the
        differentiated argument, or a tuple of such for a sequence of argnums. Returns the product in the same structure.

    Raises
    ------
    ShapeError
        (When called) the function's value is no scalar, or a part of the vector is of another shape than the argument's.
    TypeError
        The vector has another structure than the argument.
    NotImplementedError
        (When called) an operation has first derivatives only, as a solve by CVODES has.

    Examples
    --------
    >>> import numpy as np, agrad as ag
    >>> ag.hvp(lambda x, a: np.sum(a * x**4))(np.ones(2), 0.5, np.array([1.0, 10.0]))
    array([ 6., 60.])
    """
    return HessianProduct(function, argnums, has_aux=has_aux)
