"""Defines derivatives by hand: custom_vjp, custom_jvp and stop_gradient. Read next: ``custom_functions``."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar, cast, overload

from agrad import _core
from agrad._core import Array
from agrad._record.trees import flatten
from agrad._transforms.custom_functions import CustomJvp, CustomVjp

__all__ = ["custom_jvp", "custom_vjp", "stop_gradient"]

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
Tree = TypeVar("Tree")


def stop_gradient(x: Tree) -> Tree:
    """Return the same values, as constants for every derivative.

    Parameters
    ----------
    x : number, array, recorded array, or nested structure of them
        Leaves that are not recorded, such as strings, are returned unchanged.

    Returns
    -------
    the same structure
        With recorded values that have the same values and no derivatives.

    Raises
    ------
    ScopeError
        x contains a recorded value of a call or tape that has ended.

    Notes
    -----
    A compiled function computes the values at each call; only derivatives do not pass.

    Examples
    --------
    >>> import agrad as ag
    >>> ag.grad(lambda x: ag.stop_gradient(x) * x)(3.0)
    3.0
    """
    if isinstance(x, Array):
        return cast(Tree, _core.stop_gradient(x))
    leaves, together, _ = flatten(x)
    stopped: Tree = together([_core.stop_gradient(leaf) if isinstance(leaf, Array) else leaf for leaf in leaves])
    return stopped


@overload
def custom_vjp(function: Callable[Arguments, Result], /) -> CustomVjp[Arguments, Result]: ...
@overload
def custom_vjp(
    *, nondiff_argnums: int | Sequence[int] = ()
) -> Callable[[Callable[Arguments, Result]], CustomVjp[Arguments, Result]]: ...
def custom_vjp(function: Any = None, /, *, nondiff_argnums: int | Sequence[int] = ()) -> Any:
    """Give a function a reverse-mode derivative by hand; a decorator.

    Parameters
    ----------
    function : callable
        Takes positional arguments: numbers, arrays, nested structures of them, and other objects, which are passed unchanged.
    nondiff_argnums : int or sequence of int
        The arguments that have no derivative, such as functions and options; they are never recorded values.

    Returns
    -------
    CustomVjp
        The function, with the methods ``defvjp(fwd, bwd)`` and ``defvjps(vjp, ...)``, one of which must be called.

    Raises
    ------
    ShapeError, TypeError
        (When called or in the reverse pass) results or cotangents have a wrong structure or shape.

    Notes
    -----
    The function, fwd and bwd are called with plain numbers (float for a scalar) and NumPy arrays, so they may call anything:
    SciPy, a table, a program. Each run of a compiled function calls them again, under the interpreter lock; their exceptions
    pass unchanged. fwd is called when a reverse pass follows, otherwise the function.

    Reverse mode of first order works (``grad``, ``jacobian``, ``jacrev``, ``vjp``, tapes); ``jvp``, ``jacfwd``, ``hessian``
    and ``hvp`` raise NotImplementedError, see :func:`custom_jvp`.

    Examples
    --------
    >>> import agrad as ag
    >>> from scipy.special import jv
    >>> @ag.custom_vjp
    ... def bessel(x):
    ...     return jv(0, x)
    >>> bessel.defvjp(lambda x: (jv(0, x), x), lambda x, cotangent: (-jv(1, x) * cotangent,))
    >>> round(ag.grad(bessel)(1.0), 6)
    -0.440051
    """
    if function is None:
        return functools.partial(CustomVjp, nondiff_argnums=nondiff_argnums)
    return CustomVjp(function, nondiff_argnums)


@overload
def custom_jvp(function: Callable[Arguments, Result], /) -> CustomJvp[Arguments, Result]: ...
@overload
def custom_jvp(
    *, nondiff_argnums: int | Sequence[int] = (), plain: bool = False
) -> Callable[[Callable[Arguments, Result]], CustomJvp[Arguments, Result]]: ...
def custom_jvp(function: Any = None, /, *, nondiff_argnums: int | Sequence[int] = (), plain: bool = False) -> Any:
    """Give a function a forward-mode derivative by hand; a decorator.

    Parameters
    ----------
    function : callable
        Takes positional arguments, as for :func:`custom_vjp`.
    nondiff_argnums : int or sequence of int
        The arguments that have no derivative, such as functions and options; they are never recorded values.
    plain : bool
        The function and its derivative must get plain numbers and NumPy arrays. Both are then called at each run, as with
        :func:`custom_vjp`; a reverse pass calls the derivative once for each entry of the arguments, and forward mode and
        second derivatives raise NotImplementedError.

    Returns
    -------
    CustomJvp
        The function, with the methods ``defjvp(jvp)`` and ``defjvps(jvp, ...)``, one of which must be called.

    Raises
    ------
    ShapeError, TypeError
        (When called) the tangent is not of the result's structure and shapes.

    Notes
    -----
    Unless `plain`, both functions are written with NumPy on recorded values; both are recorded with the function around
    them and run without Python when that function is compiled. All modes follow: tangents, adjoints (a derivative that is
    linear in the tangents has a reverse pass), and second derivatives, which are derivatives of the derivative by hand.

    Examples
    --------
    >>> import numpy as np, agrad as ag
    >>> @ag.custom_jvp
    ... def log1pexp(x):
    ...     return np.log(1 + np.exp(x))
    >>> @log1pexp.defjvp
    ... def _(primals, tangents):
    ...     (x,), (t,) = primals, tangents
    ...     return log1pexp(x), t / (1 + np.exp(-x))
    >>> ag.grad(log1pexp)(0.0), ag.hessian(log1pexp)(0.0)
    (0.5, 0.25)
    """
    if function is None:
        return functools.partial(CustomJvp, nondiff_argnums=nondiff_argnums, plain=plain)
    return CustomJvp(function, nondiff_argnums, plain)
