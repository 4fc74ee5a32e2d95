"""Special functions of numbers, NumPy arrays and recorded arrays, in SciPy's spelling.

Elementwise functions are agrad's own (``agrad.elementwise``) under the names of ``scipy.special``, whose ufuncs accept recorded
arrays, too. This module defines ``logsumexp``, ``softmax`` and ``log_softmax``, which SciPy has for plain arrays only, and
``log_cumsum_exp``.
"""

from __future__ import annotations

import functools
import math
import sys
from typing import Any

import numpy as np

from agrad._core import cumulate, elementwise_rows, reduce, stop_gradient
from agrad._numpy.axes import axes_of, recorded
from agrad._record.foreign import stand_for_foreign
from agrad._record.on_demand import scipy_special
from agrad._record.structure import array, find_recording
from agrad._stan import elementwise


def logsumexp(
    a: Any, axis: int | tuple[int, ...] | None = None, b: Any = None, keepdims: bool = False, return_sign: bool = False
) -> Any:
    """Compute the logarithm of the sum of exponentials, log(sum(b exp(a))), without overflow.

    Parameters
    ----------
    a : array-like or recorded array
        The exponents; -inf contributes nothing.
    axis : int, tuple of int or None
        The axes of the sum; None means all axes.
    b : array-like or recorded array, optional
        Weights, broadcast against `a`. Where a weight is zero the exponent may be anything.
    keepdims : bool
        Keep the axes, with length 1.
    return_sign : bool
        Must be False for recorded arrays.

    Returns
    -------
    Array, numpy.ndarray or float
        Of `a`'s shape without the axes; -inf for an empty sum, nan for a negative sum.

    Notes
    -----
    The derivative with respect to an exponent is the exponent's share of the sum, see :func:`softmax`, and exact for exponents
    of any size. The derivative of a sum with exponents -inf only is zero, and several exponents +inf have equal shares.

    Examples
    --------
    >>> import numpy as np, agrad as ag
    >>> ag.grad(ag.special.logsumexp)(np.array([1000.0, 1000.0, -np.inf]))
    array([0.5, 0.5, 0. ])
    """
    a, b = (array(x) if isinstance(x, (list, tuple)) else x for x in (a, b))
    if find_recording(a, b) is None:
        return scipy_special.logsumexp(a, axis=axis, b=b, keepdims=keepdims, return_sign=return_sign)
    if return_sign:
        raise TypeError("logsumexp: return_sign is True, but must be False for a recorded array; weights must be positive")
    if b is None:
        (x,) = recorded(a)
        return reduce("logsumexp", x, axes_of(axis, x.ndim), keepdims)
    both: Any = np.broadcast_arrays(*recorded(a, b))
    x, weights = both
    return reduce("logsumexp", x, axes_of(axis, x.ndim), keepdims, weights)


def log_softmax(x: Any, axis: int | tuple[int, ...] | None = None) -> Any:
    """Compute the logarithm of :func:`softmax`, x - logsumexp(x).

    Parameters
    ----------
    x : array-like or recorded array
        The exponents.
    axis : int, tuple of int or None
        The axes along which the shares add up to 1; None means all axes.

    Returns
    -------
    Array or numpy.ndarray
        Of `x`'s shape.
    """
    x = array(x) if isinstance(x, (list, tuple)) else x
    if find_recording(x) is None:
        return scipy_special.log_softmax(x, axis=axis)
    if x.size == 0:
        return x.copy()

    def total(parts: Any) -> Any:
        return np.sum(parts, axis=axis, keepdims=True)

    largest = stop_gradient(np.max(x, axis=axis, keepdims=True))  # for large x the difference would be inexact
    top = np.where(np.isfinite(largest), largest, 0.0)
    is_top, powers = stop_gradient(x) == top, np.exp(x - top)
    others = total(np.where(is_top, 0.0, powers))
    # Where a share is near 1, 1 - share keeps its digits: the largest exponent, with its derivatives, stands before the sum.
    is_certain = (total(is_top) == 1) & (others < 1)
    before = np.where(is_certain, total(np.where(is_top, x, 0.0)), top)
    below = np.where(is_certain & is_top, 0.0, x - before)
    of_certain = np.log1p(others * np.exp(top - before))
    return below - np.where(is_certain, of_certain, np.log(others + total(np.where(is_top, powers, 0.0))))


def softmax(x: Any, axis: int | tuple[int, ...] | None = None) -> Any:
    """Compute the shares exp(x) / sum(exp(x)), without overflow.

    Parameters
    ----------
    x : array-like or recorded array
        The exponents; -inf has the share 0.
    axis : int, tuple of int or None
        The axes along which the shares add up to 1; None means all axes.

    Returns
    -------
    Array or numpy.ndarray
        Of `x`'s shape.
    """
    x = array(x) if isinstance(x, (list, tuple)) else x
    if find_recording(x) is None:
        return scipy_special.softmax(x, axis=axis)
    axes = axes_of(axis, x.ndim)
    remaining = [d for d in range(x.ndim) if d not in axes]
    order = [*remaining, *axes]
    together = np.transpose(x, order)
    lines: Any = np.reshape(together, (*(x.shape[d] for d in remaining), math.prod(x.shape[d] for d in axes)))
    return np.transpose(np.reshape(cumulate("softmax", lines, len(remaining)), together.shape), np.argsort(order))


def log_cumsum_exp(x: Any, axis: int = -1) -> Any:
    """Compute the logarithms of the cumulative sums of exponentials, log(cumsum(exp(x))), without overflow.

    Parameters
    ----------
    x : array-like or recorded array
        The exponents; -inf contributes nothing.
    axis : int
        The axis along which the sums are.

    Returns
    -------
    Array or numpy.ndarray
        Of `x`'s shape. A sum keeps its digits, also where later exponents are far larger.

    Raises
    ------
    numpy.exceptions.AxisError
        x has no such axis.

    Notes
    -----
    Sums of 2, 4, 8, ... neighbours are joined by ``np.logaddexp``, so that an array of n entries takes log2(n) operations.

    Examples
    --------
    >>> import numpy as np, agrad as ag
    >>> ag.special.log_cumsum_exp(np.array([-1000.0, -1000.0, 0.0]))
    array([-1000.        ,  -999.30685282,     0.        ])
    """
    x = array(x) if isinstance(x, (list, tuple)) else x
    y = np.moveaxis(x if find_recording(x) is not None else np.asarray(x, dtype=float), axis, -1)
    reach = 1  # of an entry's sum, itself included
    while reach < y.shape[-1]:
        y = np.concatenate([y[..., :reach], np.logaddexp(y[..., reach:], y[..., :-reach])], axis=-1)
        reach *= 2
    return np.moveaxis(y, -1, axis) * 1.0


_OWN = ["log_cumsum_exp", "log_softmax", "logsumexp", "softmax"]
stand_for_foreign(__name__, _OWN)


@functools.cache
def _by_name() -> dict[str, Any]:
    """Returns the elementwise functions by the names of SciPy's ufuncs."""
    own_of = {row.ufunc: row.name for row in elementwise_rows()}
    names = [name for name in own_of if isinstance(getattr(scipy_special, name, None), np.ufunc)]
    return {name: getattr(elementwise, own_of[name]) for name in names}


def __getattr__(name: str) -> Any:
    """Return an elementwise function, or the list of all names; SciPy is asked for its names at the first use."""
    if name == "__all__":
        return [*_OWN, *_by_name()]
    if name.startswith("__") or name not in _by_name():
        raise AttributeError(f"module 'agrad.special' has no attribute {name!r}", name=name, obj=sys.modules[__name__])
    return globals().setdefault(name, _by_name()[name])


def __dir__() -> list[str]:
    return sorted([*_OWN, *_by_name()])
