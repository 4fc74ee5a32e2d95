"""Defines NumPy's functions of complex recorded arrays, by the functions of real and imaginary parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from agrad._complex.array import ComplexArray, Pair, complex_array, full_pair, pair_of, recording_of
from agrad._complex.ufuncs import bilinear, conjugated

__all__ = ["functions"]

#: Functions of one array that are linear and map zeros to zeros: they are applied to both parts.
_OF_PARTS: tuple[Callable[..., Any], ...] = (
    np.sum, np.mean, np.cumsum, np.diff, np.trace, np.reshape, np.ravel, np.transpose, np.swapaxes, np.moveaxis, np.rollaxis,
    np.squeeze, np.expand_dims, np.broadcast_to, np.flip, np.fliplr, np.flipud, np.roll, np.rot90, np.tile, np.repeat, np.take,
    np.diagonal, np.diag, np.tril, np.triu, np.split, np.array_split, np.hsplit, np.vsplit, np.copy, np.pad, np.zeros_like,
    np.empty_like, np.atleast_1d, np.atleast_2d, np.atleast_3d, np.fft.fftshift, np.fft.ifftshift,
)  # fmt: skip
#: Functions that join a sequence of arrays.
_OF_SEQUENCE: tuple[Callable[..., Any], ...] = (
    np.concatenate, np.stack, np.hstack, np.vstack, np.dstack, np.column_stack,
)  # fmt: skip
#: Products, linear in each of the first two arguments.
_PRODUCTS: tuple[Callable[..., Any], ...] = (np.dot, np.inner, np.outer, np.tensordot, np.kron, np.convolve)
#: Options that give numbers to both parts.
_NUMBERS = ("initial", "constant_values", "end_values", "prepend", "append", "dtype", "out")


def _check_options(name: str, named: dict[str, Any]) -> None:
    for option in _NUMBERS:
        if named.get(option) is not None:
            raise TypeError(f"{name}: {option} is given, but must be left out for complex recorded arrays")


def _of_parts(function: Callable[..., Any]) -> Callable[..., Any]:
    name = f"np.{function.__name__}"

    def applied(z: Any, *options: Any, **named: Any) -> Any:
        _check_options(name, named)
        if not isinstance(z, ComplexArray):
            z = _joined(np.stack)(z)
        re, im = (function(part, *options, **named) for part in (z.real, z.imag))
        if isinstance(re, (list, tuple)):
            return type(re)(map(ComplexArray, re, im))
        return ComplexArray(re, im)

    return applied


def _joined(function: Callable[..., Any]) -> Callable[..., Any]:
    name = f"np.{function.__name__}"

    def joined(arrays: Sequence[Any], *options: Any, **named: Any) -> ComplexArray:
        _check_options(name, named)
        parts = [full_pair(_whole(x)) for x in arrays]
        both = Pair(*(function(each, *options, **named) for each in zip(*parts, strict=True)))
        return complex_array(recording_of(*arrays), both)

    return joined


def _whole(x: Any) -> Any:
    """Returns a nested sequence as a single array, and any other x unchanged."""
    if not isinstance(x, (list, tuple)):
        return x
    return _joined(np.stack)(x) if _holds_recorded(x) else np.asarray(x)


def _holds_recorded(x: Any) -> bool:
    return (
        any(map(_holds_recorded, x)) if isinstance(x, (list, tuple)) else hasattr(x, "recording") or isinstance(x, ComplexArray)
    )


def _product(function: Callable[..., Any], conjugates: bool = False) -> Callable[..., Any]:
    name = f"np.{function.__name__}"

    def product(a: Any, b: Any, *options: Any, **named: Any) -> ComplexArray:
        _check_options(name, named)
        z, w = pair_of(_whole(a)), pair_of(_whole(b))
        pair = bilinear(lambda x, y: function(x, y, *options, **named), conjugated(z) if conjugates else z, w)
        return complex_array(recording_of(a, b), pair)

    return product


def _einsum(subscripts: Any, *operands: Any, **options: Any) -> ComplexArray:
    if not isinstance(subscripts, str) or len(operands) > 2 or any(options.get(each) is not None for each in ("out", "dtype")):
        raise TypeError("np.einsum: operands are complex, but must be one or two of them, after the subscripts, without out")
    if len(operands) == 1:
        z = full_pair(operands[0])
        return complex_array(recording_of(*operands), Pair(*(np.einsum(subscripts, each) for each in z)))
    z, w = map(pair_of, operands)
    return complex_array(recording_of(*operands), bilinear(lambda a, b: np.einsum(subscripts, a, b), z, w))


def _where(condition: Any, *branches: Any) -> ComplexArray:
    if len(branches) != 2:
        raise TypeError(
            "np.where: arguments are a complex condition, but must be a condition and two arrays; write np.abs(z) > 0"
        )
    (a, b), (c, d) = map(full_pair, branches)
    recording = recording_of(condition, *branches)
    parts = (recording.array(each) for each in (a, b, c, d))
    a, b, c, d = parts
    return complex_array(recording, Pair(np.where(condition, a, c), np.where(condition, b, d)))


def _angle(z: Any, deg: bool = False) -> Any:
    angle = np.arctan2(z.imag, z.real)
    return angle * (180 / np.pi) if deg else angle


def _var(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: bool = False) -> Any:
    if dtype is not None or out is not None:
        raise TypeError("np.var: dtype or out is given, but must be left out for complex recorded arrays")
    options: dict[str, Any] = {"axis": axis, "ddof": ddof, "keepdims": keepdims}
    return np.var(a.real, **options) + np.var(a.imag, **options)


def _text(a: Any, *_: Any, **__: Any) -> str:
    return repr(a)


#: NumPy's function -> the same for complex recorded arrays.
functions: dict[Callable[..., Any], Callable[..., Any]] = {
    **{function: _of_parts(function) for function in _OF_PARTS},
    **{function: _joined(function) for function in _OF_SEQUENCE},
    **{function: _product(function) for function in _PRODUCTS},
    np.vdot: _product(np.vdot, conjugates=True),
    np.einsum: _einsum,
    np.where: _where,
    np.angle: _angle,
    np.var: _var,
    np.std: lambda a, *options, **named: np.sqrt(_var(a, *options, **named)),
    np.real: lambda val: val.real,
    np.imag: lambda val: val.imag,
    np.shape: lambda a: a.shape,
    np.ndim: lambda a: a.ndim,
    np.size: lambda a, axis=None: np.size(a.real, axis),
    np.iscomplexobj: lambda x: True,
    np.isrealobj: lambda x: False,
    np.array_str: _text,
    np.array_repr: _text,
    np.array2string: _text,
}
