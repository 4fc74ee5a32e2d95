"""Implements NumPy's protocols for recorded arrays: ufuncs and functions; ``methods`` has the methods.

NumPy calls ``__array_ufunc__`` for ``np.exp(x)`` of a recorded array, and ``__array_function__`` for ``np.sum(x)``. A ufunc
uses the rule of the same name (the compiled part has the only list of rules); functions are in ``functions``.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from agrad._complex.array import ComplexArray, holds_complex
from agrad._complex.eigen import functions as _decompositions
from agrad._complex.fourier import functions as _transforms
from agrad._complex.protocol import call_function, call_ufunc, last_axes
from agrad._core import Array, elementwise_rows, matmul
from agrad._numpy.choosing import where
from agrad._numpy.creation import creators
from agrad._numpy.functions import functions as _of_arrays
from agrad._numpy.linalg import functions as _linear_algebra
from agrad._numpy.methods import members
from agrad._numpy.missing import hint_for
from agrad._numpy.moving import writers
from agrad._numpy.reductions import reducers
from agrad._numpy.updates import add_at
from agrad._numpy.whole import any_data, are_data, call
from agrad._numpy.whole import call_ufunc as call_ufunc_of_data
from agrad._numpy.whole_index import take, take_along_axis
from agrad._record.objects import as_recorded, holds_objects, methods, objects_of
from agrad._record.structure import array

__all__ = ["array", "where"]

_rows = {row.name: row for row in elementwise_rows()}
_functions = {**_of_arrays, **_linear_algebra, **_decompositions, **_transforms}


def _fail(name: str, hint: str) -> NoReturn:
    raise TypeError(f"{name}: argument is a recorded array, but must be a plain one; {hint}")


# ---- ufuncs ----------------------------------------------------------------------------------------------------------


def _power(x: Any, y: Any) -> Any:
    return x**y if isinstance(x, Array) else _rows["pow"](x, y)  # NumPy's ** would call the ufunc, which calls this function


def _reflected(operate: Callable[..., Any], reflected: str) -> Callable[..., Any]:
    return lambda x, y: operate(x, as_recorded(y)) if isinstance(x, Array) else getattr(y, reflected)(as_recorded(x))


def _vecdot(x: Any, y: Any) -> Any:
    return np.sum(x * y if isinstance(x, Array) else y * x, axis=-1)


def _matvec(x: Any, y: Any) -> Any:
    return np.squeeze(matmul(x, np.expand_dims(y, -1)), -1)


def _vecmat(x: Any, y: Any) -> Any:
    return np.squeeze(matmul(np.expand_dims(x, -2), y), -2)


#: Ufuncs without a rule, by other functions.
_composed: dict[str, Callable[..., Any]] = {
    "matmul": matmul,
    "vecdot": _vecdot,
    "matvec": _matvec,
    "vecmat": _vecmat,
    "power": _power,
    "float_power": _power,
    "positive": operator.pos,
    "conjugate": operator.pos,
    "invert": operator.invert,
    "bitwise_and": _reflected(operator.and_, "__rand__"),
    "bitwise_or": _reflected(operator.or_, "__ror__"),
    "bitwise_xor": _reflected(operator.xor, "__rxor__"),
    "divmod": _reflected(divmod, "__rdivmod__"),
}
_by_name: dict[str, Callable[..., Any]] = {row.ufunc: row for row in elementwise_rows()} | _composed
#: Ufuncs by operators, which would not raise for complex arrays.
_CONJUGATING = ("vecdot", "matvec", "vecmat")
_by_ufunc: dict[np.ufunc, Callable[..., Any]] = {}  # filled at the first use of each ufunc


def _array_ufunc(self: Array, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
    if self.is_data and are_data(inputs) and not any(map(holds_objects, inputs)):
        return call_ufunc_of_data(ufunc, method, inputs, options)
    if method == "__call__" and not options:
        function = _by_ufunc.get(ufunc)
        if function is not None:
            try:
                return function(*inputs)
            except TypeError:
                if not holds_complex(inputs):
                    raise
    return _any_ufunc(ufunc, method, inputs, options)


def _any_ufunc(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    if holds_complex(inputs):
        return call_ufunc(ufunc, method, inputs, options)
    name = ufunc.__name__
    inputs = last_axes(name, inputs, options)
    out = options.pop("out", None)
    if out is not None:
        return _write(name, out, _any_ufunc(ufunc, method, inputs, options))
    function = _by_name.get(name)
    if method in ("reduce", "accumulate") and (name, method) in reducers:
        return reducers[name, method](inputs[0], **{"axis": 0, **options}, **_named(method, inputs[1:]))
    if method == "at" and name in ("add", "subtract") and isinstance(inputs[0], Array):
        x, key, v = inputs
        x[...] = add_at(x, key, v if name == "add" else -x.recording.array(v))
        return None
    if method == "outer" and function is not None and not options:
        x, y = inputs
        return ufunc(np.reshape(x, np.shape(x) + (1,) * np.ndim(y)), y)
    if method != "__call__" or function is None:
        what = name if method == "__call__" else f"{name}.{method}"
        _fail(what, hint_for(ufunc))
    unknown = sorted(option for option, value in options.items() if value is not None and not _is_default(option, value))
    if unknown:
        _fail(name, f"its options {unknown} work on plain arrays only")
    if name not in _CONJUGATING:
        _by_ufunc[ufunc] = function
    return function(*inputs)


def _named(method: str, options: tuple[Any, ...]) -> dict[str, Any]:
    """Returns the positional options of a ufunc's method after the array, by name."""
    return dict(zip(("axis", "dtype", "out", "keepdims", "initial", "where"), options, strict=False))


def _is_default(option: str, value: Any) -> bool:
    """Returns whether an option has the only value that recorded arrays support."""
    return (option == "dtype" and np.dtype(value) == np.float64) or option == "casting" or (option == "where" and value is True)


def _write(name: str, out: tuple[Any, ...], result: Any) -> Any:
    """Writes a ufunc's result into the argument `out`, and returns `out`."""
    if not (len(out) == 1 and (isinstance(out[0], Array) or holds_objects(out[0]))):
        _fail(
            name,
            "a NumPy array of numbers cannot hold recorded values: use the function's result (y = y + x for y += x), or make y "
            "by agrad, as np.zeros_like(x) and np.zeros(shape, like=x) do",
        )
    out[0][...] = objects_of(result) if holds_objects(out[0]) else result
    return out[0]


# ---- functions -------------------------------------------------------------------------------------------------------


def _array_function(self: Array, function: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
    if ComplexArray in types:
        return call_function(function, args, kwargs)
    known = _functions.get(function)
    if function in writers and args and holds_objects(args[0]):
        return _write_objects(self, function, args, kwargs)
    args, kwargs = tuple(map(as_recorded, args)), {name: as_recorded(x) for name, x in kwargs.items()}
    if any_data(args, kwargs):
        return _of_data(function, known, args, kwargs)
    if known is None:
        return _created_like(self, function, args, kwargs)
    try:
        return known(*args, **kwargs)
    except TypeError:
        if function not in _transforms and holds_complex([*args, *kwargs.values()]):
            return call_function(function, args, kwargs)
        _check_call(_name(function), inspect.signature(known), args, kwargs)
        raise


def _of_data(function: Callable[..., Any], known: Callable[..., Any] | None, args: Any, kwargs: Any) -> Any:
    """Calls a function for arguments among which are integers or booleans that are data."""
    index = _indexing.get(function)
    is_index = index is not None and {*kwargs} <= {"axis"} and 2 <= len(args) <= 3 and any_data(args[1:2], {})
    if index is not None and is_index and args[1].dtype.kind != "b":
        return index(*args, **kwargs)
    return call(function, known, args, kwargs)


_indexing: dict[Callable[..., Any], Callable[..., Any]] = {np.take: take, np.take_along_axis: take_along_axis}


def _write_objects(self: Array, function: Callable[..., Any], args: Any, kwargs: Any) -> None:
    """Calls a function that writes into its first argument, for an array of objects as first argument."""
    written = self.recording.array(args[0])
    _array_function(self, function, (), (written, *args[1:]), kwargs)
    args[0][...] = objects_of(written)


def _name(function: Callable[..., Any]) -> str:
    module = getattr(function, "__module__", "") or ""
    part = next((part for part in ("linalg", "fft") if part in module.split(".")), "")
    return ".".join(filter(None, ["np", part, function.__name__]))


def _created_like(self: Array, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Calls a function of `creators`, for a recorded argument ``like``; raises for other functions."""
    create = creators.get(function)
    if create is None:
        _fail(_name(function), hint_for(function))
    return create(self, *args, **kwargs)


def _check_call(name: str, signature: inspect.Signature, args: Any, kwargs: Any) -> None:
    """Raises if the function for recorded arrays does not accept these arguments of NumPy's function."""
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        unknown = sorted(kwargs.keys() - signature.parameters.keys())
        _fail(name, f"its options {unknown} work on plain arrays only" if unknown else str(error))


_protocols = {"__array_ufunc__": _array_ufunc, "__array_function__": _array_function, "__array__": objects_of}
for _member, _function in {**_protocols, **members, **methods}.items():
    setattr(Array, _member, _function)
