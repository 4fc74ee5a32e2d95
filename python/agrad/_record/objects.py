"""Handles NumPy's arrays of objects that hold recorded numbers, the results of ``np.array([a, b])`` of recorded a and b.

NumPy computes with such an array entry by entry, by the operators and methods of the entries (``np.exp(z)`` calls ``exp()``
of each). agrad accepts such an array in place of a recorded array, and joins the entries to a recorded array. Every operation
of an entry is recorded, so no derivative is lost; conversions to plain floats raise.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from agrad._core import Array, Recording
from agrad._record.whole import read

__all__ = ["as_recorded", "holds_objects", "methods", "objects_of", "recording_within"]


def holds_objects(x: Any) -> bool:
    """Returns whether x is a NumPy array of Python objects."""
    return isinstance(x, np.ndarray) and x.dtype.char == "O"


def recording_within(x: Any) -> Recording | None:
    """Returns the innermost recording of the entries of an array of objects; None without recorded entries."""
    entries = [entry.item() if holds_objects(entry) and entry.ndim == 0 else entry for entry in x.flat]
    found = [entry.recording for entry in entries if isinstance(entry, Array)]
    return max(found, key=lambda recording: recording.depth, default=None)


def as_recorded(x: Any) -> Any:
    """Returns a recorded array for an array of objects with recorded numbers, and any other x unchanged."""
    if not holds_objects(x):
        return x
    recording = recording_within(x)
    return x if recording is None else recording.array(x)


def _is_asked_by_scipy() -> bool:
    """Returns whether a sparse matrix converts a recorded array to a NumPy array for a product."""
    frame = sys._getframe(2)
    module = str(frame.f_globals.get("__name__", ""))
    return module.startswith("scipy.sparse.") and frame.f_code.co_name in ("_matmul_dispatch", "_mul_dispatch")


def objects_of(x: Array, dtype: Any = None, copy: Any = None) -> np.ndarray[Any, Any]:
    """Returns a recorded array as a NumPy array of objects, the entries; NumPy calls this to join values (``__array__``)."""
    if x.is_data:
        values = np.array(read(x), dtype=dtype)
        values.flags.writeable = copy is True or values.dtype != x.dtype  # else NumPy's array would be x itself
        return values
    if dtype is None and _is_asked_by_scipy():
        whole: np.ndarray[Any, Any] = np.empty((), object)  # SciPy then calls x.__rmatmul__
        whole[()] = x
        return whole
    if dtype is not None and np.dtype(dtype) != np.object_:
        raise TypeError(
            f"np.array: dtype is {np.dtype(dtype)}, but must be left out where an entry is recorded, because NumPy's arrays of "
            "numbers have no derivatives; write np.array([a, b]), or ag.array([a, b]) for functions that need numbers, such as "
            "np.mean and np.var, and np.zeros(n, like=x) of a recorded x for an array that is filled; ag.fill(y, where, "
            "values) is a copy of y with values in some places"
        )
    if copy is False:
        raise ValueError(
            "np.array: copy is False, but must be True or None where an entry is recorded, because entries are copied"
        )
    shape = x.shape
    entries = np.empty(shape, object)
    if not shape:
        entries[()] = x
    else:
        flat = x if len(shape) == 1 else x.copy().reshape(-1)
        whole = entries.reshape(-1)
        for n in range(x.size):
            whole[n] = flat[n]
    return entries


#: The ufuncs for which NumPy calls a method of the same name of each entry.
_BY_METHOD: tuple[Callable[..., Any], ...] = (
    np.arccos, np.arccosh, np.arcsin, np.arcsinh, np.arctan, np.arctan2, np.arctanh, np.cbrt, np.cos, np.cosh, np.deg2rad,
    np.degrees, np.exp, np.exp2, np.expm1, np.fabs, np.fmod, np.hypot, np.log, np.log10, np.log1p, np.log2, np.logical_xor,
    np.rad2deg, np.radians, np.rint, np.sin, np.sinh, np.sqrt, np.tan, np.tanh,
)  # fmt: skip


def _method(function: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: Array, *others: Any) -> Any:
        return function(self, *others)

    method.__name__ = method.__qualname__ = function.__name__
    method.__doc__ = (
        f"Return np.{function.__name__} of this value; NumPy calls this method for the entries of np.array([a, b])."
    )
    return method


methods: dict[str, Any] = {
    **{function.__name__: _method(function) for function in _BY_METHOD},
    "__floor__": _method(np.floor),
    "__ceil__": _method(np.ceil),
    "__trunc__": _method(np.trunc),
}
