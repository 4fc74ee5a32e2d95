"""Defines the class of complex recorded arrays: two recorded arrays of one shape, the real and the imaginary parts.

A complex array is a value inside of a recorded function. Arguments and results of functions that agrad differentiates are real.
Methods and operators are attached in ``protocol``.
"""

from __future__ import annotations

from typing import Any, NamedTuple, NoReturn

import numpy as np

from agrad._core import Array, Recording
from agrad._record.structure import find_recording

__all__ = ["ComplexArray", "Pair", "complex_array", "full_pair", "holds_complex", "is_complex", "pair_of", "recording_of"]


class ComplexArray:
    """A complex recorded array, which stands for a complex128 NumPy array while a function is recorded.

    ``np.fft``'s functions, ``np.linalg.eig`` and arithmetic of recorded arrays with complex numbers make such arrays. NumPy's
    operators and functions work on them; what is left out raises ``TypeError``. A function's result must be real:
    ``np.abs(z) ** 2``, ``z.real``.
    """

    __module__ = "agrad"
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, real: Array, imag: Array) -> None:
        self._real, self._imag = real, imag

    @property
    def real(self) -> Any:
        """The real parts, a recorded array; writing into it changes this array."""
        return self._real

    @property
    def imag(self) -> Any:
        """The imaginary parts, a recorded array; writing into it changes this array."""
        return self._imag

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the dimensions."""
        return self._real.shape

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self._real.ndim

    @property
    def size(self) -> int:
        """The number of entries."""
        return self._real.size

    @property
    def dtype(self) -> np.dtype[Any]:
        """complex128."""
        return np.dtype(complex)

    def __len__(self) -> int:
        return len(self._real)

    def __repr__(self) -> str:
        return repr(self._real).replace("<recorded array", "<complex recorded array", 1)

    def __getitem__(self, key: Any) -> ComplexArray:
        return ComplexArray(self._real[key], self._imag[key])

    def __setitem__(self, key: Any, value: Any) -> None:
        re, im = full_pair(value)
        self._real[key], self._imag[key] = re, im

    def __bool__(self) -> NoReturn:
        _refuse("bool", "np.abs(z) > 0")

    def __float__(self) -> NoReturn:
        _refuse("float", "z.real")

    def __complex__(self) -> NoReturn:
        _refuse("complex", "z, which has no plain number while a function is recorded")

    def __array__(self, dtype: Any = None, copy: Any = None) -> NoReturn:
        _refuse("np.array", "z, or np.stack([z, w]) to join arrays")


def _refuse(name: str, instead: str) -> NoReturn:
    raise TypeError(f"{name}: argument is a complex recorded array, but must be a plain one; use {instead}")


class Pair(NamedTuple):
    """Real and imaginary parts, recorded or plain; None stands for zeros."""

    re: Any
    im: Any


def is_complex(x: Any) -> bool:
    """Returns whether x is a complex number or array, recorded or plain."""
    return isinstance(x, (ComplexArray, complex)) or (isinstance(x, (np.ndarray, np.generic)) and x.dtype.kind == "c")


def holds_complex(x: Any) -> bool:
    """Returns whether x is complex, or a nested sequence with complex parts."""
    return any(map(holds_complex, x)) if isinstance(x, (list, tuple)) else is_complex(x)


def pair_of(x: Any) -> Pair:
    """Returns the parts of a real or complex array or number."""
    if isinstance(x, ComplexArray):
        return Pair(x.real, x.imag)
    if is_complex(x):
        re, im = np.real(x), np.imag(x)
        return Pair(None if np.ndim(re) == 0 and re == 0 else re, im)
    return Pair(x, None)


def full_pair(x: Any) -> Pair:
    """Returns the parts of a real or complex array or number, with zeros of its shape."""
    re, im = pair_of(x)
    shape = np.shape(im if re is None else re)
    return Pair(np.zeros(shape) if re is None else re, np.zeros(shape) if im is None else im)


def recording_of(*arguments: Any) -> Recording:
    """Returns the innermost recording of arguments, of which one is recorded."""

    def parts(x: Any) -> Any:
        if isinstance(x, (list, tuple)):
            return [parts(each) for each in x]
        return [x.real, x.imag] if isinstance(x, ComplexArray) else x

    recording = find_recording(parts(list(arguments)))
    assert recording is not None, "NumPy calls this for recorded arrays only"
    return recording


def complex_array(recording: Recording, pair: Pair, shape: tuple[int, ...] | None = None) -> ComplexArray:
    """Returns a new array, which shares no entries with others; `shape` is that of the parts where one is None."""
    parts: list[Any] = [recording.array(0.0 if each is None else each) for each in pair]
    if shape is None:
        shape = np.broadcast_shapes(*(each.shape for each in parts))
    parts = [each if each.shape == shape else np.broadcast_to(each, shape) for each in parts]
    return ComplexArray(*(each.astype(float) if each.is_condition else each.copy() for each in parts))
