"""Defines the methods of recorded arrays: the methods of NumPy's arrays, by NumPy's functions, and ``at``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np

from agrad._complex.array import Pair, complex_array
from agrad._core import Array
from agrad._numpy.functions import functions
from agrad._numpy.updates import At

__all__ = ["members"]

#: Methods that call the function of the same name.
_SAME = (
    np.sum, np.prod, np.mean, np.var, np.std, np.any, np.all, np.cumsum, np.cumprod, np.clip, np.round, np.dot, np.trace,
    np.argmax, np.argmin, np.argsort, np.argpartition, np.searchsorted, np.nonzero, np.diagonal, np.squeeze, np.swapaxes,
    np.take, np.repeat, np.put, np.ravel,
)  # fmt: skip


def _method(function: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: Array, *args: Any, **kwargs: Any) -> Any:
        return function(self, *args, **kwargs)

    return method


def _reshape(self: Array, *shape: Any, order: Any = "C", copy: Any = None) -> Any:
    return functions[np.reshape](self, shape[0] if len(shape) == 1 else shape, order=order)


def _transpose(self: Array, *axes: Any) -> Any:
    return functions[np.transpose](self, (axes[0] if len(axes) == 1 else axes) or None)


def _flatten(self: Array, order: Any = "C") -> Any:
    return np.ravel(self, order).copy()


def _compress(self: Array, condition: Any, axis: Any = None, out: Any = None) -> Any:
    return np.compress(condition, self, axis)


def _astype(self: Array, dtype: Any, *_: Any, **__: Any) -> Any:
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


def _item(self: Array, *_: Any) -> NoReturn:
    raise TypeError(
        "item: argument is a recorded value, but must be a plain number, because a plain number has no derivative; "
        "write x[0], or x.reshape(()) of an array with one entry"
    )


def _format(self: Array, specification: str) -> str:
    if not specification:
        return repr(self)
    raise TypeError(
        f"format: argument is a recorded value, but must be a plain number for {specification!r}; return the value and print "
        "it outside of the function, or print x.val() in an agrad.tape"
    )


def _tolist(self: Array) -> Any:
    return [each.tolist() for each in self] if self.ndim else self


def _fill(self: Array, value: Any) -> None:
    self[...] = value


def _sort(self: Array, axis: int = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> None:
    self[...] = np.sort(self, axis)


def _iterate(self: Array) -> Iterator[Any]:
    return iter([self[n] for n in range(len(self))])


def _matrix_transpose(self: Array) -> Any:
    if self.ndim < 2:
        raise ValueError(f"mT: argument is of shape {self.shape}, but must have at least 2 dimensions")
    return np.swapaxes(self, -1, -2)


#: The members of the compiled class by their names.
members: dict[str, Any] = {
    **{function.__name__: _method(functions[function]) for function in _SAME},
    "max": _method(functions[np.max]),
    "min": _method(functions[np.min]),
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
    "__iter__": _iterate,
    "__format__": _format,
    "__round__": lambda self, decimals=0: np.round(self, decimals or 0),
}
