"""NumPy's protocols for recorded arrays: ufuncs, functions, methods.

``np.exp(x)`` of a recorded array comes here through ``__array_ufunc__``, ``np.sum(x)`` through ``__array_function__``.
Ufuncs find the rule that carries their name (the rows of the compiled part are the only list); functions that move
entries about are in ``_structure``; the few that compute are below.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from agrad._core import Array, ShapeError, elementwise_rows, product, sum_groups
from agrad._structure import array, find_recording, structural

__all__ = ["array", "where"]

_rows = {row.name: row for row in elementwise_rows()}


# ---- functions that compute ------------------------------------------------------------------------------------------


def _axes(axis: Any, ndim: int) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(ndim))
    np.empty((1,) * ndim).sum(axis)  # raises NumPy's own error for an axis that is not there
    return tuple(n % ndim for n in (axis if isinstance(axis, tuple) else (axis,)))


def _sum(x: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    axes = _axes(axis, x.ndim)
    kept = [n for n in range(x.ndim) if n not in axes]
    shape = [1 if n in axes else x.shape[n] for n in range(x.ndim)] if keepdims else [x.shape[n] for n in kept]
    groups = int(np.prod([x.shape[n] for n in kept], dtype=int))
    together = x.with_slots(np.transpose(x.slots, [*kept, *axes]).ravel())
    return np.reshape(sum_groups(together, groups), shape)


def _mean(x: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    count = np.prod([x.shape[n] for n in _axes(axis, x.ndim)])
    return _sum(x, axis, keepdims=keepdims) / float(count)


def _var(x: Any, axis: Any = None, *, ddof: float = 0, keepdims: bool = False) -> Any:
    count = float(np.prod([x.shape[n] for n in _axes(axis, x.ndim)])) - ddof
    deviation = x - _mean(x, axis, keepdims=True)
    return _sum(deviation * deviation, axis, keepdims=keepdims) / count


def _std(x: Any, axis: Any = None, *, ddof: float = 0, keepdims: bool = False) -> Any:
    return np.sqrt(_var(x, axis, ddof=ddof, keepdims=keepdims))


def _matmul(a: Any, b: Any) -> Any:
    shapes = np.shape(a), np.shape(b)
    if not (1 <= len(shapes[0]) <= 2 and 1 <= len(shapes[1]) <= 2) or shapes[0][-1] != shapes[1][0]:
        raise ShapeError(
            f"matmul: arguments are of shapes {shapes[0]} and {shapes[1]}, but must be vectors or matrices, the columns of the "
            "first as many as the rows of the second"
        )
    left = a if len(shapes[0]) == 2 else np.reshape(a, (1, -1))
    right = b if len(shapes[1]) == 2 else np.reshape(b, (-1, 1))
    return np.reshape(product(left, right), shapes[0][:-1] + shapes[1][1:])


def _dot(a: Any, b: Any) -> Any:
    return a * b if np.ndim(a) == 0 or np.ndim(b) == 0 else _matmul(a, b)


def _inner(a: Any, b: Any) -> Any:
    return a * b if np.ndim(a) == 0 or np.ndim(b) == 0 else _matmul(a, np.transpose(b))


def _outer(a: Any, b: Any) -> Any:
    return np.reshape(a, (-1, 1)) * np.reshape(b, (1, -1))


def _trace(x: Any) -> Any:
    return _sum(np.diagonal(x))


def _diff(x: Any, n: int = 1, axis: int = -1) -> Any:
    for _ in range(n):
        first, rest = [slice(None)] * x.ndim, [slice(None)] * x.ndim
        first[axis], rest[axis] = slice(None, -1), slice(1, None)
        x = x[tuple(rest)] - x[tuple(first)]
    return x


def _clip(x: Any, a_min: Any = None, a_max: Any = None) -> Any:
    if a_min is not None:
        x = where(x < a_min, a_min, x)
    return x if a_max is None else where(x > a_max, a_max, x)


def where(condition: Any, x: Any, y: Any) -> Any:
    """Entries of x where the condition holds, of y elsewhere; both are computed.

    Parameters
    ----------
    condition, x, y : array-like or recorded, broadcast together
        A condition that is not recorded picks entries when the function is recorded, at no cost when it runs.

    Returns
    -------
    Array or numpy.ndarray
        Recorded when one of the arguments is.

    Notes
    -----
    The derivative is the chosen entry's. An infinite derivative of the entry not chosen does no harm, because a zero
    adjoint is never multiplied.
    """
    recording = find_recording(condition, x, y)
    if recording is None:
        return np.where(condition, x, y)
    if isinstance(condition, Array):
        return _rows["select"](condition, x, y)
    chosen, other = recording.array(x), recording.array(y)
    return chosen.with_slots(np.where(condition, chosen.slots, other.slots))


def _filled(value: float) -> Callable[..., Any]:
    return lambda x, *_, **__: np.full(x.shape, value)


_computing: dict[Callable[..., Any], Callable[..., Any]] = {
    np.sum: _sum,
    np.mean: _mean,
    np.var: _var,
    np.std: _std,
    np.dot: _dot,
    np.inner: _inner,
    np.vdot: lambda a, b: _dot(np.ravel(a), np.ravel(b)),
    np.outer: _outer,
    np.trace: _trace,
    np.diff: _diff,
    np.clip: _clip,
    np.where: where,
    np.shape: lambda x: x.shape,
    np.ndim: lambda x: x.ndim,
    np.size: lambda x: x.size,
    np.zeros_like: _filled(0.0),
    np.ones_like: _filled(1.0),
    np.full_like: lambda x, value: value + np.zeros(x.shape),
}
_functions = {**structural, **_computing}


# ---- ufuncs ----------------------------------------------------------------------------------------------------------


def _power(x: Any, y: Any) -> Any:
    return x**y if isinstance(x, Array) else _rows["pow"](x, y)  # NumPy's own ** would call its ufunc, and that this


#: Ufuncs that are no rule of their own but made of others.
_composed: dict[str, Callable[..., Any]] = {
    "matmul": _matmul,
    "power": _power,
    "float_power": _power,
    "positive": operator.pos,
}
_ufuncs: dict[str, Callable[..., Any]] = {row.ufunc: row for row in elementwise_rows()} | _composed


def _fail(name: str, hint: str) -> NoReturn:
    raise TypeError(f"{name}: argument is a recorded array, but must be a plain one; {hint}")


def _array_ufunc(self: Array, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
    name = ufunc.__name__
    if options.get("out") is not None:
        _fail(name, "recorded arrays cannot be written into: use the function's result")
    if method == "reduce" and ufunc is np.add:
        return _sum(inputs[0], options.get("axis", 0), keepdims=options.get("keepdims", False))
    function = _ufuncs.get(name)
    if method != "__call__" or function is None:
        what = name if method == "__call__" else f"{name}.{method}"
        _fail(what, "agrad has no derivative of it; write it with the functions of agrad's list, or pass plain numbers")
    unknown = {option: value for option, value in options.items() if value is not None}
    if unknown:
        _fail(name, f"its options {sorted(unknown)} work on plain arrays only")
    return function(*inputs)


def _array_function(self: Array, function: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
    known = _functions.get(function)
    if known is None:
        _fail(f"np.{function.__name__}", "agrad has no derivative of it; write it with the functions of agrad's list")
    try:
        return known(*args, **kwargs)
    except TypeError:
        _check_call(f"np.{function.__name__}", inspect.signature(known), args, kwargs)
        raise


def _check_call(name: str, signature: inspect.Signature, args: Any, kwargs: Any) -> None:
    """Raise if the function for recorded arrays does not take what NumPy's takes."""
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        unknown = sorted(kwargs.keys() - signature.parameters.keys())
        _fail(name, f"its options {unknown} work on plain arrays only" if unknown else str(error))


def _refuse_conversion(self: Array, *_: Any, **__: Any) -> NoReturn:
    raise TypeError(
        "np.array: argument is recorded, but must be plain; write ag.array([...]) to join recorded values, and NumPy's "
        "functions on recorded arrays themselves"
    )


def _set_item(self: Array, key: Any, value: Any) -> NoReturn:
    _fail("item assignment", "recorded arrays cannot be written into: use ag.array, np.where or np.concatenate")


def _attach() -> None:
    """Give the compiled class what is written in Python."""

    def method(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda self, *args, **kwargs: function(self, *args, **kwargs)

    def reshape(self: Array, *shape: Any) -> Any:
        return np.reshape(self, shape[0] if len(shape) == 1 else shape)

    def transpose(self: Array, *axes: Any) -> Any:
        return np.transpose(self, (axes[0] if len(axes) == 1 else axes) or None)

    members: dict[str, Any] = {
        "__array_ufunc__": _array_ufunc,
        "__array_function__": _array_function,
        "__array__": _refuse_conversion,
        "__setitem__": _set_item,
        "__matmul__": _matmul,
        "__rmatmul__": lambda self, other: _matmul(other, self),
        "__iter__": lambda self: iter([self[n] for n in range(len(self))]),
        "T": property(np.transpose),
        "reshape": reshape,
        "transpose": transpose,
        "sum": method(np.sum),
        "mean": method(np.mean),
        "var": method(np.var),
        "std": method(np.std),
        "dot": method(np.dot),
        "ravel": method(np.ravel),
        "flatten": method(np.ravel),
        "squeeze": method(np.squeeze),
    }
    for name, member in members.items():
        setattr(Array, name, member)


_attach()
