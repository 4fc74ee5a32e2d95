"""Attaches NumPy's protocols, operators and methods to complex recorded arrays.

Operators and functions of real recorded arrays come here, too, when an operand is complex: by `operate` from the compiled
part, by `call_ufunc` and `call_function` from ``_numpy.protocol``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np

from agrad._complex.array import ComplexArray
from agrad._complex.eigen import functions as _decompositions
from agrad._complex.fourier import functions as _transforms
from agrad._complex.functions import functions as _of_arrays
from agrad._complex.linalg import functions as _of_matrices
from agrad._complex.ufuncs import apply as operate

__all__ = ["call_function", "call_ufunc", "functions", "last_axes", "operate"]

#: NumPy's function -> the same for arrays of which one is complex; those of `_of_arrays` come first.
functions: dict[Callable[..., Any], Callable[..., Any]] = {
    **_transforms,
    **_decompositions,
    **_of_matrices,
    **_of_arrays,
}


def _refuse(name: str, hint: str = "write it with z.real and z.imag, or np.abs(z)") -> NoReturn:
    raise TypeError(f"{name}: argument is a complex recorded array, but must be real; {hint}")


def last_axes(name: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> tuple[Any, ...]:
    """Returns the arguments of a ufunc with the option `axis` of vecdot, which it takes out, as their last axes."""
    if name != "vecdot" or "axis" not in options:
        return inputs
    axis = options.pop("axis")
    return tuple(np.moveaxis(x, axis, -1) for x in inputs)


def call_ufunc(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Returns a ufunc of arrays, of which one is complex."""
    name = ufunc.__name__
    inputs = last_axes(name, inputs, options)
    if method == "reduce" and name == "add":
        return np.sum(inputs[0], **{"axis": 0, **options})
    given = sorted(option for option, value in options.items() if value is not None)
    if method != "__call__":
        _refuse(f"{name}.{method}")
    if given:
        _refuse(name, f"its options {given} work on plain arrays only")
    return operate(name, *inputs)


def call_function(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Returns a function of arrays, of which one is complex."""
    known = functions.get(function)
    if known is None:
        module = getattr(function, "__module__", "") or ""
        _refuse(("np.linalg." if "linalg" in module else "np.") + function.__name__)
    return known(*args, **kwargs)


def _array_ufunc(self: ComplexArray, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
    return call_ufunc(ufunc, method, inputs, options)


def _array_function(self: ComplexArray, function: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
    return call_function(function, args, kwargs)


# ---- operators -------------------------------------------------------------------------------------------------------


def _is_operand(x: Any) -> bool:
    return not (x is None or isinstance(x, str))


def _add_operator(name: str, row: str) -> None:
    def forward(self: ComplexArray, other: Any) -> Any:
        return operate(row, self, other) if _is_operand(other) else NotImplemented

    def reflected(self: ComplexArray, other: Any) -> Any:
        return operate(row, other, self) if _is_operand(other) else NotImplemented

    def in_place(self: ComplexArray, other: Any) -> Any:
        result = forward(self, other)
        if result is NotImplemented or self.ndim == 0:  # numbers cannot be written into
            return result
        if result.shape != self.shape:
            raise ValueError(
                f"in-place operation: result is of shape {result.shape}, but must be of shape {self.shape}, as the array into "
                "which the result is written"
            )
        self[...] = result
        return self

    for prefix, method in {"": forward, "r": reflected, "i": in_place}.items():
        setattr(ComplexArray, f"__{prefix}{name}__", method)


for _name, _row in {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "pow": "power", "matmul": "matmul",
    "floordiv": "floor_divide", "mod": "mod",
}.items():  # fmt: skip
    _add_operator(_name, _row)


def _unary(row: str) -> Callable[..., Any]:
    return lambda self: operate(row, self)


def _ordered(row: str) -> Callable[..., Any]:
    return lambda self, other: operate(row, self, other)


# ---- methods ---------------------------------------------------------------------------------------------------------


def _method(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, *args, **kwargs: functions[function](self, *args, **kwargs)


def _reshape(self: ComplexArray, *shape: Any, order: Any = "C") -> Any:
    return np.reshape(self, shape[0] if len(shape) == 1 else shape, order=order)


def _flatten(self: ComplexArray, order: Any = "C") -> Any:
    return np.ravel(self, order).copy()


def _transpose(self: ComplexArray, *axes: Any) -> Any:
    return np.transpose(self, (axes[0] if len(axes) == 1 else axes) or None)


def _iterate(self: ComplexArray) -> Iterator[Any]:
    return iter([self[n] for n in range(len(self))])


def _astype(self: ComplexArray, dtype: Any, *_: Any, **__: Any) -> Any:
    if np.dtype(dtype) != np.complex128:
        raise TypeError(
            f"astype: dtype is {np.dtype(dtype)}, but must be complex128 for a complex recorded array; write z.real"
        )
    return self.copy()  # type: ignore[attr-defined]


#: Methods that call the function of the same name.
_SAME = (
    np.sum, np.mean, np.var, np.std, np.cumsum, np.dot, np.trace, np.diagonal, np.squeeze, np.swapaxes, np.take, np.repeat,
    np.ravel, np.copy,
)  # fmt: skip
_members: dict[str, Any] = {
    **{function.__name__: _method(function) for function in _SAME},
    "T": property(lambda self: np.transpose(self)),
    "reshape": _reshape,
    "transpose": _transpose,
    "flatten": _flatten,
    "conj": lambda self: operate("conjugate", self),
    "conjugate": lambda self: operate("conjugate", self),
    "astype": _astype,
    "__iter__": _iterate,
    "__abs__": _unary("absolute"),
    "__neg__": _unary("negative"),
    "__pos__": _unary("positive"),
    **{f"__{name}__": _ordered(row) for name, row in {"lt": "less", "le": "less_equal", "gt": "greater"}.items()},
    **{f"__{name}__": _ordered(row) for name, row in {"ge": "greater_equal", "eq": "equal", "ne": "not_equal"}.items()},
    "__array_ufunc__": _array_ufunc,
    "__array_function__": _array_function,
}
for _name, _member in _members.items():
    setattr(ComplexArray, _name, _member)
