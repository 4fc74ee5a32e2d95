"""Defines the methods of recorded arrays: the methods of NumPy's arrays, by NumPy's functions, and ``at``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from agrad._complex.array import Pair, complex_array
from agrad._core import Array
from agrad._numpy.functions import functions
from agrad._numpy.updates import At
from agrad._numpy.whole import any_data, astype
from agrad._record.whole import read

__all__ = ["members"]

#: Methods that call the function of the same name.
_SAME = (
    np.sum, np.prod, np.mean, np.var, np.std, np.any, np.all, np.cumsum, np.cumprod, np.clip, np.round, np.dot, np.trace,
    np.argmax, np.argmin, np.argsort, np.argpartition, np.searchsorted, np.nonzero, np.diagonal, np.squeeze, np.swapaxes,
    np.take, np.repeat, np.put, np.ravel,
)  # fmt: skip


#: Attributes of plain arrays alone, which read data.
_OF_PLAIN = (
    "byteswap", "choose", "data", "dump", "dumps", "flags", "getfield", "itemsize", "nbytes", "strides", "tobytes", "tofile",
    "view",
)  # fmt: skip


def _method(of_arrays: Callable[..., Any]) -> Callable[..., Any]:
    function = functions[of_arrays]

    def method(self: Array, *args: Any, **kwargs: Any) -> Any:
        if self.is_data or any_data(args, kwargs):
            return of_arrays(self, *args, **kwargs)
        return function(self, *args, **kwargs)

    return method


def _of_plain(name: str) -> property:
    """Returns an attribute that plain arrays have and recorded arrays lack, except where they are data, which is read."""

    def attribute(self: Array) -> Any:
        if self.is_data:
            values = np.asarray(read(self))
            values.flags.writeable = False  # what is written into the copy would be lost
            return getattr(values, name)
        raise AttributeError(f"'agrad._core.Array' object has no attribute {name!r}")

    return property(attribute)


def _reshape(self: Array, *shape: Any, order: Any = "C", copy: Any = None) -> Any:
    return functions[np.reshape](self, shape[0] if len(shape) == 1 else shape, order=order)


def _transpose(self: Array, *axes: Any) -> Any:
    return functions[np.transpose](self, (axes[0] if len(axes) == 1 else axes) or None)


def _flatten(self: Array, order: Any = "C") -> Any:
    return np.ravel(self, order).copy()


def _compress(self: Array, condition: Any, axis: Any = None, out: Any = None) -> Any:
    return np.compress(condition, self, axis)


def _astype(self: Array, dtype: Any, *_: Any, **__: Any) -> Any:
    if self.is_data and np.dtype(dtype).kind != "c":
        return astype(self, dtype)
    if np.dtype(dtype) == np.float64:
        return self.with_slots(self.slots, condition=False)
    if np.dtype(dtype) == np.bool_:
        return self.copy() if self.is_condition else np.not_equal(self, 0.0)
    if np.dtype(dtype) == np.complex128:
        return complex_array(self.recording, Pair(self, None))
    raise TypeError(
        f"astype: dtype is {np.dtype(dtype)}, but must be float64 or complex128 for a recorded array; np.trunc(x) drops the "
        "fraction"
    )


def _item(self: Array, *args: Any) -> Any:
    if self.is_data:
        return read(self).item(*args)
    raise TypeError(
        "item: argument is a recorded value, but must be a plain number, because a plain number has no derivative; "
        "write x[0], or x.reshape(()) of an array with one entry"
    )


def _format(self: Array, specification: str) -> str:
    if not specification:
        return repr(self)
    if self.is_data:
        return format(read(self), specification)
    raise TypeError(
        f"format: argument is a recorded value, but must be a plain number for {specification!r}; return the value and print "
        "it outside of the function, or print x.val() in an agrad.tape"
    )


def _tolist(self: Array) -> Any:
    if self.is_data:
        return read(self).tolist()
    return [each.tolist() for each in self] if self.ndim else self


def _fill(self: Array, value: Any) -> None:
    self[...] = value


def _sort(self: Array, axis: int = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> None:
    self[...] = np.sort(self, axis)


def _shift(ufunc: np.ufunc, *, reflected: bool = False) -> Callable[..., Any]:
    def shifted(self: Array, other: Any) -> Any:
        if not self.is_data:
            return NotImplemented
        return ufunc(other, self) if reflected else ufunc(self, other)

    return shifted


def _hash(self: Array) -> int:
    """Returns the hash of an integer, which may be a key of a dict; others are not hashable, as NumPy's arrays."""
    if self.is_data and self.ndim == 0:
        return hash(read(self))
    raise TypeError("unhashable type: 'agrad._core.Array'")


def _iterate(self: Array) -> Iterator[Any]:
    return iter([self[n] for n in range(len(self))])


def _matrix_transpose(self: Array) -> Any:
    if self.ndim < 2:
        raise ValueError(f"mT: argument is of shape {self.shape}, but must have at least 2 dimensions")
    return np.swapaxes(self, -1, -2)


#: The members of the compiled class by their names.
members: dict[str, Any] = {
    **{function.__name__: _method(function) for function in _SAME},
    **{name: _of_plain(name) for name in _OF_PLAIN},
    "max": _method(np.max),
    "min": _method(np.min),
    "T": property(functions[np.transpose]),
    "mT": property(_matrix_transpose),
    "real": property(lambda self: self),
    "imag": property(np.zeros_like),
    "flat": property(lambda self: iter(np.ravel(self))),
    "at": property(At),
    "reshape": _reshape,
    "transpose": _transpose,
    "flatten": _flatten,
    "compress": _compress,
    "conj": lambda self: self.copy(),
    "conjugate": lambda self: self.copy(),
    "astype": _astype,
    "item": _item,
    "tolist": _tolist,
    "fill": _fill,
    "sort": _sort,
    "__hash__": _hash,
    "__lshift__": _shift(np.left_shift),
    "__rlshift__": _shift(np.left_shift, reflected=True),
    "__rshift__": _shift(np.right_shift),
    "__rrshift__": _shift(np.right_shift, reflected=True),
    "__iter__": _iterate,
    "__format__": _format,
    "__round__": lambda self, decimals=0: np.round(self, decimals or 0),
}
