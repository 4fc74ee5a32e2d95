"""Defines NumPy's ufuncs of complex recorded arrays, by ufuncs of real and imaginary parts.

A function takes pairs of parts (``array.Pair``) and returns a pair, or a real array. Zeros that are known are None, so that
``1j * x`` records the imaginary part alone.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from agrad._complex.array import Pair, complex_array, pair_of, recording_of

__all__ = ["apply", "bilinear", "conjugated", "power_of", "ufuncs"]


def _plus(a: Any, b: Any) -> Any:
    return b if a is None else a if b is None else a + b


def _minus(a: Any, b: Any) -> Any:
    return a if b is None else -b if a is None else a - b


def bilinear(product: Callable[[Any, Any], Any], z: Pair, w: Pair) -> Pair:
    """Returns a product of pairs by a product of real arrays."""

    def of(a: Any, b: Any) -> Any:
        return None if a is None or b is None else product(a, b)

    return Pair(_minus(of(z.re, w.re), of(z.im, w.im)), _plus(of(z.re, w.im), of(z.im, w.re)))


def conjugated(z: Pair) -> Pair:
    """Returns the conjugate."""
    return Pair(z.re, None if z.im is None else -z.im)


def _multiply(z: Pair, w: Pair) -> Pair:
    return bilinear(operator.mul, z, w)


def _scaled(z: Pair, divisor: Any) -> Pair:
    return Pair(*(None if each is None else each / divisor for each in z))


def _divide(z: Pair, w: Pair) -> Pair:
    """Divides by the absolute value first, which neither overflows nor underflows where the result does not."""
    if w.im is None:
        return _scaled(z, w.re)
    if w.re is None:  # z / (i b) = -i z / b
        turned = Pair(z.im, None if z.re is None else -z.re)
        return _scaled(turned, w.im)
    size = np.hypot(w.re, w.im)
    return _scaled(_multiply(z, conjugated(_scaled(w, size))), size)


def power_of(x: Any, count: int, product: Callable[[Any, Any], Any]) -> Any:
    """Returns the product of `count` > 0 factors x, by squares."""
    result = None
    while True:
        if count & 1:
            result = x if result is None else product(result, x)
        count >>= 1
        if not count:
            return result
        x = product(x, x)


def _power(z: Pair, w: Pair) -> Pair:
    """Returns products for plain whole exponents, else |z|^w with the angle w arg z, as NumPy by the principal logarithm."""
    n = w.re
    if w.im is None and isinstance(n, (int, float, np.integer, np.floating)):
        if n == 0:
            return Pair(1.0, None)
        if float(n).is_integer():
            result = power_of(z, abs(int(n)), _multiply)
            return result if n > 0 else _divide(Pair(1.0, None), result)
        if abs(n) == 0.5:
            root = _sqrt(Pair(*(0.0 if each is None else each for each in z)))
            return root if n > 0 else _divide(Pair(1.0, None), root)
    return _general_power(z, w)


def _general_power(z: Pair, w: Pair) -> Pair:
    re, im, a = (0.0 if each is None else each for each in (*z, w.re))
    is_zero = np.logical_and(np.equal(re, 0), np.equal(im, 0))
    safe_re, safe_im = np.where(is_zero, 1.0, re), np.where(is_zero, 0.0, im)
    radius, angle = np.hypot(safe_re, safe_im), np.arctan2(safe_im, safe_re)
    size, turn = radius**a, a * angle
    if w.im is not None:
        size, turn = size * np.exp(-w.im * angle), turn + w.im * np.log(radius)
    # at 0 the parts are powers of the parts: both 0, with the slopes 0, 1 or infinity that the power has there
    at_zero = [np.where(is_zero, part, 1.0) ** a for part in (re, im)]
    of_zero = np.logical_and(np.equal(a, 0), np.equal(0.0 if w.im is None else w.im, 0))
    known = np.logical_or(np.greater(a, 0), of_zero)
    at_zero = [np.where(known, part, np.nan) for part in (at_zero[0], np.where(of_zero, 0.0, at_zero[1]))]
    return Pair(
        np.where(is_zero, at_zero[0], size * np.cos(turn)),
        np.where(is_zero, at_zero[1], size * np.sin(turn)),
    )


def _absolute(z: Pair) -> Any:
    return np.hypot(z.re, z.im)


def _exp(z: Pair) -> Pair:
    size = np.exp(z.re)
    return Pair(size * np.cos(z.im), size * np.sin(z.im))


def _log(z: Pair) -> Pair:
    return Pair(np.log(np.hypot(z.re, z.im)), np.arctan2(z.im, z.re))


def _sqrt(z: Pair) -> Pair:
    """Returns the root t + i s with t >= 0: the larger of both is a root of a sum, the smaller one follows by 2 t s = Im z."""
    zero = np.logical_and(z.re == 0, z.im == 0)
    re = np.where(zero, 1.0, z.re)
    right = re > 0
    size = np.where(right, re, -re)  # np.abs would have no derivative at 0, where each branch has one
    large = np.sqrt(0.5 * (np.hypot(re, z.im) + size))
    small = z.im / (2 * large)
    t = np.where(right, large, np.where(z.im < 0, -small, small))
    s = np.where(right, small, np.copysign(large, z.im))
    of_re, of_im = (np.sqrt(np.where(zero, part, 1.0)) for part in z)  # at 0 both are 0, with infinite slopes
    return Pair(np.where(zero, of_re, t), np.where(zero, of_im, s))


def _trigonometric(sin: bool, hyperbolic: bool) -> Callable[[Pair], Pair]:
    def function(z: Pair) -> Pair:
        if hyperbolic:
            a, b = (np.sinh(z.re), np.cosh(z.re)) if sin else (np.cosh(z.re), np.sinh(z.re))
            return Pair(a * np.cos(z.im), b * np.sin(z.im))
        if sin:
            return Pair(np.sin(z.re) * np.cosh(z.im), np.cos(z.re) * np.sinh(z.im))
        return Pair(np.cos(z.re) * np.cosh(z.im), -np.sin(z.re) * np.sinh(z.im))

    return function


def _vecdot(z: Pair, w: Pair) -> Pair:
    return bilinear(lambda a, b: np.sum(a * b, axis=-1), conjugated(z), w)


#: Ufuncs of two arguments -> the same for pairs, whose result has the arguments' broadcast shape.
_binary: dict[str, Callable[[Pair, Pair], Pair]] = {
    "add": lambda z, w: Pair(_plus(z.re, w.re), _plus(z.im, w.im)),
    "subtract": lambda z, w: Pair(_minus(z.re, w.re), _minus(z.im, w.im)),
    "multiply": _multiply,
    "divide": _divide,
    "power": _power,
}
#: Products of vectors and matrices.
_products: dict[str, Callable[[Pair, Pair], Pair]] = {
    "matmul": lambda z, w: bilinear(np.matmul, z, w),
    "vecdot": _vecdot,
}
#: Ufuncs of one argument.
_unary: dict[str, Callable[[Pair], Any]] = {
    "positive": lambda z: z,
    "negative": lambda z: Pair(-z.re, -z.im),
    "conjugate": conjugated,
    "absolute": _absolute,
    "square": lambda z: _multiply(z, z),
    "reciprocal": lambda z: _divide(Pair(1.0, None), z),
    "exp": _exp,
    "log": _log,
    "sqrt": _sqrt,
    "sin": _trigonometric(True, False),
    "cos": _trigonometric(False, False),
    "sinh": _trigonometric(True, True),
    "cosh": _trigonometric(False, True),
    "isfinite": lambda z: np.logical_and(np.isfinite(z.re), np.isfinite(z.im)),
    "isinf": lambda z: np.logical_or(np.isinf(z.re), np.isinf(z.im)),
    "isnan": lambda z: np.logical_or(np.isnan(z.re), np.isnan(z.im)),
}
ufuncs: tuple[str, ...] = (*_binary, *_products, *_unary)
#: Names of ufuncs and of their rules that have others.
_ALIASES = {"true_divide": "divide", "pow": "power", "float_power": "power", "abs": "absolute", "conj": "conjugate"}
_ORDERS = {"less", "less_equal", "greater", "greater_equal", "equal", "not_equal", "maximum", "minimum", "fmax", "fmin", "sign"}


def apply(given: str, *inputs: Any) -> Any:
    """Returns a ufunc of arrays, of which one is complex and one recorded."""
    name = _ALIASES.get(given, given)
    pairs = [pair_of(x) for x in inputs]
    if name in _unary and len(pairs) == 1:
        result = _unary[name](pairs[0])
        return complex_array(recording_of(*inputs), result, np.shape(inputs[0])) if isinstance(result, Pair) else result
    if name in _binary and len(pairs) == 2:
        shape = np.broadcast_shapes(*map(np.shape, inputs))
        return complex_array(recording_of(*inputs), _binary[name](*pairs), shape)
    if name in _products and len(pairs) == 2:
        return complex_array(recording_of(*inputs), _products[name](*pairs))
    hint = "compare np.abs(z), z.real or z.imag" if name in _ORDERS else "write it with z.real and z.imag"
    raise TypeError(f"{given}: argument is complex, but must be real; {hint}")
