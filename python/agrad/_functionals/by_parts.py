"""Defines reduce_sum, reduce_sum_static and map_rect, which compute functions of data part by part."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from agrad._core import Array, ShapeError
from agrad._functionals.arguments import result_of
from agrad._record.arguments import check_callable, whole

__all__ = ["map_rect", "reduce_sum", "reduce_sum_static"]


def reduce_sum(f: Callable[..., Any], x: Any, grainsize: int, *shared: Any) -> Any:
    """Sum a function over the entries of x: ``f(x, 0, len(x), *shared)``.

    Parameters
    ----------
    f : callable
        ``f(x_part, start, end, *shared)`` returns the sum of the terms of ``x_part``, which is ``x[start:end]``. Places count
        from 0, and `end` is the place after the last one.
    x : array or sequence
        What is divided, along its first axis.
    grainsize : int
        How many entries a part should have, 1 or more; a recommendation, which has no effect here.
    *shared
        Further arguments of f.

    Returns
    -------
    float or Array
        The sum; 0.0 where x is empty, and f is not called then.

    Raises
    ------
    ShapeError, TypeError
        f returns no number; x is no array and no sequence.

    Notes
    -----
    f is called once, with all of x: a recorded function runs in a single thread, and whole arrays are what agrad records
    best. :func:`reduce_sum_static` divides x.

    Examples
    --------
    >>> import numpy as np, agrad as ag
    >>> from agrad import stan
    >>> y, x = np.array([1.0, 2.0, 4.0]), np.array([0.0, 1.0, 2.0])
    >>> part = lambda y, start, end, b: stan.normal_lpdf(y, b * x[start:end], 1.0)
    >>> round(ag.grad(lambda b: stan.reduce_sum(part, y, 1, b))(1.0), 6)
    5.0
    """
    whole("reduce_sum", "grainsize", grainsize, least=1)
    return _sum_of_parts("reduce_sum", f, x, max(_length("reduce_sum", "x", x), 1), shared)


def reduce_sum_static(f: Callable[..., Any], x: Any, grainsize: int, *shared: Any) -> Any:
    """Sum a function over the entries of x in parts of `grainsize` entries, in the order of x.

    Parameters
    ----------
    f, x, *shared
        See :func:`reduce_sum`.
    grainsize : int
        How many entries each part has, 1 or more; the last part may have fewer.

    Returns
    -------
    float or Array
        The sum; 0.0 where x is empty.

    Raises
    ------
    ShapeError, TypeError
        f returns no number; x is no array and no sequence.
    """
    return _sum_of_parts("reduce_sum_static", f, x, whole("reduce_sum_static", "grainsize", grainsize, least=1), shared)


def _sum_of_parts(function: str, f: Callable[..., Any], x: Any, size: int, shared: tuple[Any, ...]) -> Any:
    check_callable(function, "f", f, "x_part, start, end")
    total: Any = 0.0
    length = _length(function, "x", x)
    for start in range(0, length, size):
        end = min(start + size, length)
        name = f"result of f for entries {start} to {end}"
        part = result_of(function, f(x[start:end], start, end, *shared), "a number", name)
        if part.shape != ():
            raise ShapeError(f"{function}: {name} is of shape {part.shape}, but must be a number")
        total = total + part
    return total


def map_rect(f: Callable[..., Any], phi: Any, theta: Sequence[Any], x_r: Sequence[Any], x_i: Sequence[Any]) -> Any:
    """Call a function for each of several jobs, and join the results.

    Parameters
    ----------
    f : callable
        ``f(phi, theta_n, x_r_n, x_i_n)`` returns a number or a vector.
    phi : anything
        What all jobs share.
    theta, x_r, x_i : sequences of equal length
        The parameters, real data and integer data of each job.

    Returns
    -------
    numpy.ndarray or Array
        The results in the order of the jobs, one vector.

    Raises
    ------
    ShapeError
        theta, x_r and x_i are of different lengths; a result is a matrix.
    TypeError
        f returns nothing, or no numbers; theta, x_r or x_i is no array and no sequence.

    Notes
    -----
    The jobs are recorded one after the other and run in a single thread. Where all jobs have equal shapes, :func:`vmap`
    records f once for all.

    Examples
    --------
    >>> import numpy as np, agrad as ag
    >>> from agrad import stan
    >>> job = lambda phi, theta, x_r, x_i: phi[0] * theta * x_r
    >>> stan.map_rect(job, np.array([2.0]), np.ones((2, 2)), np.array([[1.0, 2.0], [3.0, 4.0]]), [[], []])
    array([2., 4., 6., 8.])
    """
    function = "map_rect"
    check_callable(function, "f", f, "phi, theta, x_r, x_i")
    jobs = _length(function, "theta", theta)
    for name, x in (("x_r", x_r), ("x_i", x_i)):
        length = _length(function, name, x)
        if length != jobs:
            raise ShapeError(f"{function}: {name} is of length {length}, but must be of length {jobs}, as theta is")
    results = [_vector(function, n, f(phi, theta[n], x_r[n], x_i[n])) for n in range(jobs)]
    return np.concatenate(results) if results else np.zeros(0)


def _length(function: str, name: str, x: Any) -> int:
    """Returns the length of an array or of a sequence, which has places and parts."""
    if isinstance(x, (Array, np.ndarray)) and x.ndim == 0:
        raise TypeError(f"{function}: {name} is a number, but must be an array or a sequence")
    if not hasattr(x, "__len__") or not hasattr(x, "__getitem__") or isinstance(x, Mapping):
        raise TypeError(f"{function}: {name} is of type {type(x).__name__}, but must be an array or a sequence")
    return len(x)


def _vector(function: str, n: int, result: Any) -> Any:
    name, expected = f"result of job {n}", "a number or a vector"
    result = result_of(function, result, expected, name)
    if result.ndim > 1:
        raise ShapeError(f"{function}: {name} is of shape {result.shape}, but must be {expected}")
    return np.reshape(result, (-1,))
