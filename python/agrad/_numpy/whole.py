"""Operations on integers and booleans that are data: recorded where a result is exact for other entries, too, else read.

NumPy's function is called with the values of the recording, and tells the type of the result. A result of integers is recorded
in float64, as all numbers of programs are, with a guard that it is in the range of its type, where NumPy's integers would
overflow; a path on which they overflow reads the operands.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from agrad._core import LARGEST_WHOLE, Array, elementwise_rows
from agrad._numpy.moving import of_one
from agrad._record.whole import holds, read

__all__ = ["any_data", "are_data", "astype", "call", "call_ufunc", "entries_for", "operate", "reading"]

_rows = {row.name: row for row in elementwise_rows()}
_by_ufunc: dict[str, Any] = {row.ufunc: row for row in elementwise_rows()}
_EXACT = 2**53  # integers up to this size are numbers of float64

#: Ufuncs whose integer results are those of the rule in float64.
_WHOLE = ("add", "subtract", "multiply", "negative", "positive", "absolute", "sign", "maximum", "minimum", "fmax", "fmin")
_DIVISIONS = ("floor_divide", "remainder")
#: Ufuncs of booleans by the rule's name.
_OF_TRUTHS = {"bitwise_and": "logical_and", "bitwise_or": "logical_or", "bitwise_xor": "logical_xor", "invert": "logical_not"}
#: Functions whose results have the entries of their arguments, or counts of them: in the range of their type.
_CLOSED: tuple[Callable[..., Any], ...] = (
    np.where, np.select, np.max, np.min, np.amax, np.amin, np.any, np.all, np.sort, np.count_nonzero,
    np.concatenate, np.stack, np.hstack, np.vstack, np.dstack, np.column_stack,
)  # fmt: skip
_SUMS: tuple[Callable[..., Any], ...] = (np.sum, np.cumsum)
#: Functions with float results.
_REAL: tuple[Callable[..., Any], ...] = (np.mean, np.var, np.std, np.interp)
#: Functions of shape and type alone.
_OF_SHAPE: tuple[Callable[..., Any], ...] = (
    np.zeros_like, np.ones_like, np.empty_like, np.full_like, np.shape, np.ndim, np.size, np.result_type, np.iscomplexobj,
    np.isrealobj,
)  # fmt: skip


def _is_data(x: Any) -> bool:
    return isinstance(x, Array) and x.is_data


def any_data(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Returns whether an argument, or an entry of a list or tuple of arguments, is data."""
    for x in args:
        if x.is_data if type(x) is Array else isinstance(x, (list, tuple)) and any_data(tuple(x), {}):
            return True
    return bool(kwargs) and any_data(tuple(kwargs.values()), {})


def are_data(x: Any) -> bool:
    """Returns whether no recorded value within an argument is something else than data."""
    if isinstance(x, (list, tuple)):
        return all(map(are_data, x))
    return not isinstance(x, Array) or x.is_data


def reading(x: Any) -> Any:
    """Returns an argument, or a list or tuple of arguments, with plain values in place of data."""
    if isinstance(x, (list, tuple)) and any_data(tuple(x), {}):
        return type(x)(map(reading, x))
    return read(x) if isinstance(x, Array) and x.is_data else x


def _values(x: Any) -> Any:
    """Does the same without a guard, for the type of a result."""
    if isinstance(x, (list, tuple)):
        return type(x)(map(_values, x))
    return x.recorded_values.astype(x.dtype)[()] if _is_data(x) else x


def _shape_of(x: Any) -> Any:
    """Returns an array without memory of the shape and type of data."""
    return np.broadcast_to(np.zeros((), x.dtype), x.shape) if _is_data(x) else x


# ---- results ---------------------------------------------------------------------------------------------------------


def _typed(result: Any, expected: Any, is_closed: bool) -> Any:
    """Returns a result as data of the type of NumPy's result, or as real numbers; None where it would be another one."""
    if not isinstance(result, Array) or result.shape != np.shape(expected):
        return None
    dtype = expected.dtype
    if dtype == np.float64:
        return result.with_slots(result.slots, condition=False)
    if dtype.kind not in "iub" or not np.array_equal(result.recorded_values, expected):
        return None
    if not is_closed and dtype.kind != "b" and not _in_range(result, dtype):
        return None
    return result.as_data(dtype)


def _in_range(x: Array, dtype: Any) -> bool:
    """Returns whether all entries are in the range of a type, as a guard."""
    low, high = max(np.iinfo(dtype).min, -LARGEST_WHOLE), min(np.iinfo(dtype).max, LARGEST_WHOLE)
    if x.size == 0:
        return True
    if not np.all((x.recorded_values >= low) & (x.recorded_values <= high)):
        return False
    if low == -high:
        return holds(_rows["less_equal"](_rows["abs"](x), high))
    return holds(_rows["greater_equal"](x, low)) and holds(_rows["less_equal"](x, high))


def _is_exact_sum(x: Any) -> bool:
    """Returns whether sums of all entries are exact, as a guard where the type does not say so."""
    if not isinstance(x, Array):
        return False
    most = _EXACT // max(x.size, 1)
    if x.dtype.kind == "b" or (x.dtype.itemsize < 8 and 2 ** (8 * x.dtype.itemsize) <= most):
        return x.size <= _EXACT
    if x.size == 0:
        return True
    return bool(np.all(abs(x.recorded_values) <= most)) and holds(_rows["less_equal"](_rows["abs"](x), float(most)))


# ---- ufuncs ----------------------------------------------------------------------------------------------------------


def operate(name: str, *operands: Any) -> Any:
    """Returns the result of a ufunc by its name; the recorded operands are data."""
    return call_ufunc(getattr(np, name), "__call__", operands, {})


def call_ufunc(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Returns the result of a ufunc, whose recorded operands are data, as data, real numbers or plain values."""
    if method == "__call__" and not options:
        result = _recorded(ufunc, inputs)
        if result is not None:
            return result
    return _called(getattr(ufunc, method), inputs, options)


def _called(function: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """Calls a function with plain values in place of data; what the function writes there is written into the data."""
    copies: dict[int, tuple[Array, Any]] = {}

    def plain(x: Any) -> Any:
        if _is_data(x):
            return copies.setdefault(id(x), (x, read(x)))[1]
        if isinstance(x, (list, tuple)) and any_data(tuple(x), {}):
            return type(x)(map(plain, x))
        return x

    result = function(*map(plain, args), **{name: plain(x) for name, x in kwargs.items()})
    for x, values in [(x, values) for x, values in copies.values() if not np.array_equal(values, x.recorded_values)]:
        x[...] = values
    return next((x for x, values in copies.values() if result is values), result)


def _recorded(ufunc: np.ufunc, inputs: tuple[Any, ...]) -> Any:
    """Returns the recorded result; None where a program would compute another one."""
    name = str(ufunc.__name__)
    with np.errstate(all="ignore"):  # NumPy warns below, where the operands are read
        expected = ufunc(*map(_values, inputs))
    if isinstance(expected, tuple):
        return None
    kind = expected.dtype.kind
    if kind == "b":
        row = _by_ufunc.get(_OF_TRUTHS.get(name, name))
        return None if row is None else _typed(row(*inputs), expected, is_closed=True)
    if expected.dtype == np.float64:
        row = _by_ufunc.get(name)
        return None if row is None else _typed(row(*inputs), expected, is_closed=True)
    if kind not in "iu":
        return None
    if name == "invert":  # -1 - x of signed integers
        return None if kind == "u" else _typed(_rows["subtract"](-1.0, *inputs), expected, is_closed=True)
    if name in _DIVISIONS:
        divides = _are_nonzero(inputs[1])
        return _typed(_by_ufunc[name](*inputs), expected, is_closed=name == "remainder") if divides else None
    if name == "square":
        return _typed(_rows["multiply"](inputs[0], inputs[0]), expected, is_closed=False)
    if name not in _WHOLE:
        return None
    if name == "positive":
        return inputs[0].as_data(expected.dtype)
    return _typed(_by_ufunc[name](*inputs), expected, name in ("sign", "maximum", "minimum", "fmax", "fmin"))


def _are_nonzero(x: Any) -> bool:
    """Returns whether no divisor is zero, as a guard where it is recorded."""
    if not np.all(_values(x)):
        return False
    return not isinstance(x, Array) or x.size == 0 or holds(_rows["not_equal"](x, 0.0))


# ---- functions -------------------------------------------------------------------------------------------------------


def call(function: Callable[..., Any], ours: Callable[..., Any] | None, args: Any, kwargs: dict[str, Any]) -> Any:
    """Returns the result of NumPy's function for arguments with data; `ours` is the function for recorded arrays, or None."""
    if function in _OF_SHAPE:
        return function(*map(_shape_of, args), **{name: _shape_of(x) for name, x in kwargs.items()})
    if ours is not None and not (are_data(args) and are_data(tuple(kwargs.values()))):
        return ours(*args, **kwargs)  # data are numbers among numbers
    if ours is not None and function in of_one and _is_data(args[0] if args else None):
        return ours(args[0], *map(reading, args[1:]), **{name: reading(x) for name, x in kwargs.items()})
    result = None if ours is None else _computed(function, ours, args, kwargs)
    return _called(function, args, kwargs) if result is None else result


def _computed(function: Callable[..., Any], ours: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """Returns the recorded result of a function that is exact on data, else None."""
    if function not in (*_CLOSED, *_SUMS, *_REAL):
        return None
    try:
        inspect.signature(ours).bind(*args, **kwargs)
    except TypeError:
        return None
    if not {"dtype", "out", "order", "initial", "casting"}.isdisjoint(kwargs):
        return None
    with np.errstate(all="ignore"):
        expected = np.asarray(function(*map(_values, args), **{name: _values(x) for name, x in kwargs.items()}))
    if function in _SUMS and not _is_exact_sum(args[0] if args else None):
        return None
    return _typed(ours(*args, **kwargs), expected, is_closed=function in (*_CLOSED, *_SUMS))


# ---- types and writing -----------------------------------------------------------------------------------------------


def astype(x: Array, dtype: Any) -> Any:
    """Returns data in another type."""
    dtype = np.dtype(dtype)
    if dtype == np.float64:
        return x.with_slots(x.slots, condition=False)
    if dtype.kind == "b":
        return x.copy() if x.is_condition else np.not_equal(x, 0)
    if dtype.kind in "iu" and (np.can_cast(x.dtype, dtype) or _in_range(x, dtype)):
        return x.as_data(dtype)
    return read(x).astype(dtype)


def entries_for(x: Array, value: Any) -> Any:
    """Returns a value as entries of the type of data, into which it is written."""
    if isinstance(value, Array) and not value.is_data:
        raise TypeError(
            f"item assignment: value is recorded and real, but must be of dtype {x.dtype}, as the array into which it is "
            "written; write x.astype(float) for the array"
        )
    if not isinstance(value, Array):
        return x.recording.array(np.asarray(value).astype(x.dtype)).as_data(x.dtype)
    converted = astype(value, x.dtype)
    return converted if isinstance(converted, Array) else x.recording.array(converted).as_data(x.dtype)
