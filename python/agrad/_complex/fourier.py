"""Defines ``np.fft`` for real and complex recorded arrays, by an operation of the program for all transforms along an axis.

The operation takes 2 k rows of n numbers, the real parts of k transforms' arguments and then the imaginary parts. With the
parts exchanged it is n times the inverse. Transforms of real numbers, and to real numbers, are operations of k rows and of 2 k
rows of half the length. ``numpy.fft``'s conventions are added here: axes, lengths and factors.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from agrad._complex.array import ComplexArray, Pair, full_pair, holds_complex, recording_of
from agrad._core import linalg_rows
from agrad._record.foreign import stand_for_foreign

__all__ = ["functions"]

_rows = {(row.name, row.options): row for row in linalg_rows()}
_EXCHANGED = {None: "forward", "backward": "forward", "forward": "backward", "ortho": "ortho"}


def _factor(name: str, n: int, norm: Any, is_inverse: bool) -> float:
    """Returns the factor of a transform of length n."""
    if norm not in _EXCHANGED:
        raise ValueError(f"{name}: norm is {norm!r}, but must be 'backward', 'ortho' or 'forward'")
    if norm == "ortho":
        return float(1 / np.sqrt(n))
    return 1 / n if (norm == "forward") != is_inverse else 1.0


def _checked(name: str, a: Any, is_real: bool = False) -> Pair:
    """Returns the parts of the argument, recorded."""
    if is_real and holds_complex(a):
        raise TypeError(f"{name}: argument is complex, but must be real")
    recording = recording_of(a)
    x = np.stack(a) if isinstance(a, (list, tuple)) else a
    re, im = full_pair(x)
    return Pair(recording.array(re), recording.array(im))


def _length(name: str, n: Any, default: int) -> int:
    length = default if n is None else operator.index(n)
    if length < 1:
        raise ValueError(f"{name}: n is {length}, but must be at least 1")
    return length


def _axis(name: str, x: Any, axis: Any) -> int:
    if not -x.ndim <= operator.index(axis) < x.ndim:
        raise np.exceptions.AxisError(axis, x.ndim)
    return int(operator.index(axis) % x.ndim)


def _fitted(x: Any, n: int, axis: int) -> Any:
    """Returns the array with n entries along the axis: the first ones, or zeros after the others."""
    length = x.shape[axis]
    if length >= n:
        return x[(slice(None),) * axis + (slice(n),)] if length > n else x
    return np.pad(x, [(0, n - length) if each == axis else (0, 0) for each in range(x.ndim)])


def _transformed(z: Pair, axis: int, is_inverse: bool, factor: float) -> Pair:
    """Returns the transform along an axis, times a factor; with `is_inverse` of exp(+2 pi i j k / n)."""
    both = np.stack([np.moveaxis(each, axis, -1) for each in (z[::-1] if is_inverse else z)])
    result = _scaled(_applied("fourier", 0, both, both.shape), factor)
    re, im = (np.moveaxis(result[part], -1, axis) for part in ((1, 0) if is_inverse else (0, 1)))
    return Pair(re, im)


def _scaled(x: Any, factor: float) -> Any:
    return x if factor == 1 else x * factor


def _applied(name: str, options: int, x: Any, shape: tuple[int, ...]) -> Any:
    """Returns an operation's result for rows along the last axis, in a shape."""
    if x.size == 0:
        return x.recording.array(np.zeros(shape))
    (result,) = _rows[name, options](np.reshape(x, (x.shape[-1], -1)))
    return np.reshape(result, shape)


def _complex(z: Pair) -> ComplexArray:
    return ComplexArray(z.re.copy(), z.im.copy())


# ---- one axis --------------------------------------------------------------------------------------------------------


def _along(name: str, z: Pair, n: Any, axis: Any, norm: Any, is_inverse: bool) -> Pair:
    axis = _axis(name, z.re, axis)
    length = _length(name, n, z.re.shape[axis])
    fitted = Pair(*(_fitted(each, length, axis) for each in z))
    return _transformed(fitted, axis, is_inverse, _factor(name, length, norm, is_inverse))


def _real_along(name: str, x: Any, n: Any, axis: Any, norm: Any) -> Pair:
    """Returns the first n // 2 + 1 entries of the transform of real numbers; the others are conjugates of these."""
    axis = _axis(name, x, axis)
    length = _length(name, n, x.shape[axis])
    rows = np.moveaxis(_fitted(x, length, axis), axis, -1)
    shape = (2, *rows.shape[:-1], length // 2 + 1)
    result = _scaled(_applied("real_fourier", 0, rows, shape), _factor(name, length, norm, False))
    re, im = (np.moveaxis(result[part], -1, axis) for part in (0, 1))
    return Pair(re, im)


def _to_real_along(name: str, z: Pair, n: Any, axis: Any, norm: Any) -> Any:
    """Returns the inverse transform of the first n // 2 + 1 entries and the conjugates that follow."""
    axis = _axis(name, z.re, axis)
    length = _length(name, n, 2 * (z.re.shape[axis] - 1))
    rows = np.stack([np.moveaxis(_fitted(each, length // 2 + 1, axis), axis, -1) for each in z])
    weights = np.full(length // 2 + 1, 2 * _factor(name, length, norm, True))  # of an entry and its conjugate
    weights[[0, -1] if length % 2 == 0 else [0]] /= 2
    x = _applied("transposed_real_fourier", length % 2, rows * weights, (*rows.shape[1:-1], length))
    return np.moveaxis(x, -1, axis).copy()


def _check_out(name: str, out: Any) -> None:
    if out is not None:
        raise TypeError(f"{name}: out is given, but must be None for recorded arrays; use the function's result")


def _fft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
    _check_out("np.fft.fft", out)
    return _complex(_along("np.fft.fft", _checked("np.fft.fft", a), n, axis, norm, False))


def _ifft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
    _check_out("np.fft.ifft", out)
    return _complex(_along("np.fft.ifft", _checked("np.fft.ifft", a), n, axis, norm, True))


def _rfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
    _check_out("np.fft.rfft", out)
    return _complex(_real_along("np.fft.rfft", _checked("np.fft.rfft", a, True).re, n, axis, norm))


def _irfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
    _check_out("np.fft.irfft", out)
    return _to_real_along("np.fft.irfft", _checked("np.fft.irfft", a), n, axis, norm)


def _exchanged(name: str, norm: Any) -> str:
    _factor(name, 1, norm, False)
    return _EXCHANGED[norm]


def _hfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
    _check_out("np.fft.hfft", out)
    z = _checked("np.fft.hfft", a)
    return _to_real_along("np.fft.hfft", Pair(z.re, -z.im), n, axis, _exchanged("np.fft.hfft", norm))


def _ihfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
    _check_out("np.fft.ihfft", out)
    x = _checked("np.fft.ihfft", a, True).re
    z = _real_along("np.fft.ihfft", x, n, axis, _exchanged("np.fft.ihfft", norm))
    return _complex(Pair(z.re, -z.im))


# ---- several axes ----------------------------------------------------------------------------------------------------


def _lengths(name: str, x: Any, s: Any, axes: Any, is_real: bool = False) -> tuple[list[Any], list[Any]]:
    """Returns the lengths, None where they follow from that of the array, and the axes; -1 means the array's own length."""
    over = list(range(x.ndim) if axes is None else axes)
    lengths = [None] * len(over) if s is None else list(s)
    if s is not None and axes is None:
        over = list(range(-len(lengths), 0))
    if len(lengths) != len(over):
        raise ValueError(f"{name}: s and axes are of lengths {len(lengths)} and {len(over)}, but must be of the same length")
    if is_real and not over:
        raise ValueError(f"{name}: axes are none, but must be at least one")
    own = [x.shape[_axis(name, x, axis)] if n == -1 else n for n, axis in zip(lengths, over, strict=True)]
    return own, over


def _over(name: str, z: Pair, lengths: Sequence[Any], axes: Sequence[Any], norm: Any, is_inverse: bool) -> Pair:
    for n, axis in reversed(list(zip(lengths, axes, strict=True))):
        z = _along(name, z, n, axis, norm, is_inverse)
    return z


def _n_dimensional(name: str, default_axes: Any, is_inverse: bool) -> Callable[..., Any]:
    def transform(a: Any, s: Any = None, axes: Any = default_axes, norm: Any = None, out: Any = None) -> Any:
        _check_out(name, out)
        z = _checked(name, a)
        lengths, over = _lengths(name, z.re, s, axes)
        return _complex(_over(name, z, lengths, over, norm, is_inverse))

    return transform


def _from_real(name: str, default_axes: Any) -> Callable[..., Any]:
    def transform(a: Any, s: Any = None, axes: Any = default_axes, norm: Any = None, out: Any = None) -> Any:
        _check_out(name, out)
        x = _checked(name, a, True).re
        lengths, over = _lengths(name, x, s, axes, True)
        z = _real_along(name, x, lengths[-1], over[-1], norm)
        return _complex(_over(name, z, lengths[:-1], over[:-1], norm, False))

    return transform


def _to_real(name: str, default_axes: Any) -> Callable[..., Any]:
    def transform(a: Any, s: Any = None, axes: Any = default_axes, norm: Any = None, out: Any = None) -> Any:
        _check_out(name, out)
        z = _checked(name, a)
        lengths, over = _lengths(name, z.re, s, axes, True)
        z = _over(name, z, lengths[:-1], over[:-1], norm, True)
        return _to_real_along(name, z, lengths[-1], over[-1], norm)

    return transform


def _shift(x: Any, axes: Any = None, sign: int = 1) -> Any:
    over = range(x.ndim) if axes is None else (axes,) if isinstance(axes, (int, np.integer)) else tuple(axes)
    return np.roll(x, [sign * (x.shape[axis] // 2) for axis in over], tuple(over))


#: NumPy's function -> the same for recorded arrays.
functions: dict[Callable[..., Any], Callable[..., Any]] = {
    np.fft.fft: _fft,
    np.fft.ifft: _ifft,
    np.fft.rfft: _rfft,
    np.fft.irfft: _irfft,
    np.fft.hfft: _hfft,
    np.fft.ihfft: _ihfft,
    np.fft.fft2: _n_dimensional("np.fft.fft2", (-2, -1), False),
    np.fft.ifft2: _n_dimensional("np.fft.ifft2", (-2, -1), True),
    np.fft.fftn: _n_dimensional("np.fft.fftn", None, False),
    np.fft.ifftn: _n_dimensional("np.fft.ifftn", None, True),
    np.fft.rfft2: _from_real("np.fft.rfft2", (-2, -1)),
    np.fft.irfft2: _to_real("np.fft.irfft2", (-2, -1)),
    np.fft.rfftn: _from_real("np.fft.rfftn", None),
    np.fft.irfftn: _to_real("np.fft.irfftn", None),
    np.fft.fftshift: _shift,
    np.fft.ifftshift: lambda x, axes=None: _shift(x, axes, -1),
}
stand_for_foreign("np.fft", [each.__name__ for each in functions])
