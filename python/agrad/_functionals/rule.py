"""Gauss and Kronrod's rule of 21 nodes, and the substitutions that map integrals to finite intervals of a variable t."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["GAUSS", "KRONROD", "METHODS", "NODES", "Substitution", "estimate"]

#: Nodes on (0, 1) with Kronrod's weights, and Gauss's for every second of them, for the interval (-1, 1). Source: Piessens et
#: al. (1983), QUADPACK, rule qk21.
_HALF = [
    (0.995657163025808080735527280689003, 0.011694638867371874278064396062192),
    (0.973906528517171720077964012084452, 0.032558162307964727478818972459390),
    (0.930157491355708226001207180059508, 0.054755896574351996031381300244580),
    (0.865063366688984510732096688423493, 0.075039674810919952767043140916190),
    (0.780817726586416897063717578345042, 0.093125454583697605535065465083366),
    (0.679409568299024406234327365114874, 0.109387158802297641899210590325805),
    (0.562757134668604683339000099272694, 0.123491976262065851077958109585166),
    (0.433395394129247190799265943165784, 0.134709217311473325928054001771707),
    (0.294392862701460198131126603103866, 0.142775938577060080797094273138717),
    (0.148874338981631210884826001129720, 0.147739104901338491374841515972068),
]
_MIDDLE = 0.149445554002916905664936468389821
_GAUSS = [
    0.066671344308688137593568809893332,
    0.149451349150580593145863396957658,
    0.219086362515982043995534934228163,
    0.269266719309996355091226921569469,
    0.295524224714752870173815619188769,
]
NODES = np.array([-x for x, _ in _HALF] + [0.0] + [x for x, _ in reversed(_HALF)])
KRONROD = np.array([w for _, w in _HALF] + [_MIDDLE] + [w for _, w in reversed(_HALF)])
GAUSS = np.zeros(21)
GAUSS[1::2] = _GAUSS + _GAUSS[::-1]

METHODS = ("gauss_kronrod", "double_exponential")
_END = 6.1  # exp(-pi sinh(6.1)) = 1e-304, near the smallest number


def estimate(values: Any, half: Any) -> tuple[Any, Any, Any]:
    """Returns the integrals, their error estimates and the integrals of absolute values, from values at the nodes.

    `values` are of shape (n, 21, m) for n intervals, `half` are half of the intervals' lengths. Source: QUADPACK's qk21.
    """
    half = np.abs(half)[:, np.newaxis]
    mean = KRONROD @ values / 2
    integral, absolute = 2 * half * mean, half * (KRONROD @ np.abs(values))
    variation = half * (KRONROD @ np.abs(values - mean[:, np.newaxis, :]))
    difference = half * np.abs((KRONROD - GAUSS) @ values)
    share = np.where(variation > 0, 200 * difference / np.where(variation > 0, variation, 1.0), 0.0)
    scaled = np.where(variation > 0, variation * np.minimum(1.0, share * np.sqrt(share)), difference)
    return integral, np.maximum(scaled, 50 * np.finfo(float).eps * absolute), absolute


@dataclass
class Substitution:
    """An interval from a to b as the image of an interval of t; `low` and `high` say which of a < b are finite.

    `span` is the interval of t. A limit that is not finite is never read.
    """

    method: str
    a: Any
    b: Any
    is_low_finite: bool
    is_high_finite: bool

    @property
    def span(self) -> tuple[float, float]:
        if self.method == "double_exponential":
            return -_END, _END
        return (0.0, 1.0) if self.is_low_finite or self.is_high_finite else (-1.0, 1.0)

    def place(self, t: Any) -> tuple[Any, Any, Any]:
        """Returns x, dx/dt, and the distance from x to the nearer limit: a - x or b - x, nan in an infinite interval."""
        if self.is_low_finite and self.is_high_finite:
            return self._between(t)
        x, slope = self._exponential(t) if self.method == "double_exponential" else self._rational(t)
        if self.is_low_finite:
            x = self.a + x
        elif self.is_high_finite:
            x = self.b - x
        return x, slope, np.nan * t

    def _between(self, t: Any) -> tuple[Any, Any, Any]:
        width = self.b - self.a
        if self.method == "gauss_kronrod":
            left, right, slope = t, 1 - t, 1.0 + 0 * t
        else:
            left, right = 1 / (1 + np.exp(-np.pi * np.sinh(t))), 1 / (1 + np.exp(np.pi * np.sinh(t)))
            slope = np.pi * np.cosh(t) * left * right
        is_left = left < right
        x = np.where(is_left, self.a + width * left, self.b - width * right)
        return x, width * slope, np.where(is_left, -width * left, width * right)

    def _exponential(self, t: Any) -> tuple[Any, Any]:
        """Returns a positive x, or where both limits are infinite any x, and dx/dt."""
        inner, slope = np.pi / 2 * np.sinh(t), np.pi / 2 * np.cosh(t)
        if self.is_low_finite or self.is_high_finite:
            x = np.exp(inner)
            return x, slope * x
        return np.sinh(inner), slope * np.cosh(inner)

    def _rational(self, t: Any) -> tuple[Any, Any]:
        if self.is_low_finite or self.is_high_finite:
            return t / (1 - t), 1 / (1 - t) ** 2
        return t / (1 - t * t), (1 + t * t) / (1 - t * t) ** 2

    def inverse(self, x: Any) -> Any:
        """Returns t for given x, within the span of t."""
        low, high = self.span
        is_exponential = self.method == "double_exponential"
        with np.errstate(all="ignore"):
            if self.is_low_finite and self.is_high_finite:
                part = np.clip((x - self.a) / np.where(self.b == self.a, 1.0, self.b - self.a), 0.0, 1.0)
                t = np.arcsinh(np.log(part / (1 - part)) / np.pi) if is_exponential else part
            elif self.is_low_finite or self.is_high_finite:
                y = np.maximum(x - self.a if self.is_low_finite else self.b - x, 0.0)
                t = np.arcsinh(np.log(y) * 2 / np.pi) if is_exponential else y / (1 + y)
            else:
                t = np.arcsinh(np.arcsinh(x) * 2 / np.pi) if is_exponential else 2 * x / (1 + np.sqrt(1 + 4 * x * x))
            return np.minimum(np.maximum(np.where(np.isnan(t), low, t), low), high)
