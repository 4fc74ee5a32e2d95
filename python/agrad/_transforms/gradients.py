"""Defines grad and value_and_grad, which compute gradients by a single reverse pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from agrad._core import ResultKind
from agrad._record.trees import split
from agrad._transforms.base import Arguments, OfScalar, Result, Transformation
from agrad._transforms.engine import Engine
from agrad._transforms.parameters import ArgNums, Parameters

__all__ = ["Grad", "ValueAndGrad", "grad", "value_and_grad"]

_ONE = np.ones(())
_ONE.flags.writeable = False


class ValueAndGrad(OfScalar):
    """See :func:`value_and_grad`."""

    name = "value_and_grad"
    plan = ResultKind.value_and_gradient

    def of_engine(self, engine: Engine, parameters: Parameters, beside: Any) -> Any:
        value, flat = engine.value_and_vjp(_ONE)
        return self.with_aux(self.finish(self.number(value), flat, parameters), beside)

    def finish(self, value: Any, flat: Any, parameters: Parameters) -> Any:
        return value, parameters.together(split(flat, parameters.shapes))

    def with_aux(self, result: Any, aux: Any) -> Any:
        value, gradient = result
        return super().with_aux(value, aux), gradient


class Grad(ValueAndGrad):
    """See :func:`grad`."""

    name = "grad"
    plan = ResultKind.gradient

    def finish(self, value: Any, flat: Any, parameters: Parameters) -> Any:
        return parameters.together(split(flat, parameters.shapes))

    def with_aux(self, result: Any, aux: Any) -> Any:
        return Transformation.with_aux(self, result, aux)


def value_and_grad(
    function: Callable[Arguments, Result], argnums: ArgNums = 0, *, has_aux: bool = False
) -> Callable[Arguments, tuple[Result, Any]]:
    """Make a function that returns the value of `function` and its gradient.

    Parameters
    ----------
    function : callable
        Returns a scalar; written with NumPy. Its parameters are floating-point numbers, arrays, or nested dicts, lists, tuples
        and dataclasses of them. Integers, booleans, strings and None in these are data, which are passed unchanged, and the
        gradient has None in their place. Attributes of a dataclass have to be fields; attributes that a subclass of a
        namedtuple has beside its entries are not passed on.
    argnums : int or sequence of int
        The positional arguments to differentiate with respect to.
    has_aux : bool
        The function returns ``(value, aux)``; aux, any nested structure, is returned as plain values, or recorded ones
        inside of a recorded function.

    Returns
    -------
    callable
        With the arguments of `function`; returns ``(value, gradient)``, or ``((value, aux), gradient)``. The gradient has
        the structure of the argument, or is a tuple of such for a sequence of argnums.

    Raises
    ------
    ShapeError
        (When called) the function's value is no scalar.
    TypeError
        `function` is not callable, or `argnums` is no integer and no sequence of integers. (When called) an argument to
        differentiate with respect to is missing, complex, or has no floating-point number (write 3.0 for 3); the value is no
        real number; a recorded value is used where only a plain number can be used.

    Notes
    -----
    The function is recorded at each call, so any Python control flow is right. :func:`compile` records once.

    Examples
    --------
    >>> import agrad as ag
    >>> ag.value_and_grad(lambda p: p["a"] ** 2 * p["b"])({"a": 3.0, "b": 2.0})
    (18.0, {'a': 12.0, 'b': 9.0})
    """
    return ValueAndGrad(function, argnums, has_aux=has_aux)


def grad(function: Callable[Arguments, Any], argnums: ArgNums = 0, *, has_aux: bool = False) -> Callable[Arguments, Any]:
    """Make a function that returns the gradient of `function`; as :func:`value_and_grad` without the value.

    Parameters
    ----------
    function : callable
        Returns a scalar (see :func:`value_and_grad`).
    argnums : int or sequence of int
        The positional arguments to differentiate with respect to.
    has_aux : bool
        The function returns ``(value, aux)``; the new function returns ``(gradient, aux)``.

    Returns
    -------
    callable
        With the arguments of `function`; returns the gradient in the structure of the argument, or a tuple of such for a
        sequence of argnums; with `has_aux` ``(gradient, aux)``.

    Raises
    ------
    ShapeError
        (When called) the function's value is no scalar.
    TypeError
        As :func:`value_and_grad`: for example an argument to differentiate with respect to is an integer.

    Examples
    --------
    >>> import numpy as np, agrad as ag
    >>> ag.grad(lambda x: np.sum(x**2))(np.array([1.0, 2.0]))
    array([2., 4.])
    """
    return Grad(function, argnums, has_aux=has_aux)
