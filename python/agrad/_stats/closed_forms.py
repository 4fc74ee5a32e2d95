"""Functions of which closed forms of moments and entropies consist, written such that nothing cancels."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from agrad._record.on_demand import scipy_special

__all__ = [
    "above",
    "beta_entropy",
    "extreme_mean",
    "extreme_var",
    "fisk_mean",
    "fisk_var",
    "gamma_entropy",
    "power_mean",
    "power_var",
    "t_entropy",
]

#: From here on the entropy of gamma numbers is its asymptotic series, to 1e-15.
_LARGE = 20.0
#: Beyond this c the powers 1 / c of exponential numbers have variances by a series; the first term left out is below 1e-17.
_LARGE_POWER = 5.0
_POWERS = np.arange(42.0, 1.0, -1.0)
_ODD = np.arange(13.0, 0.0, -1.0)
_OF_FISK = (-1) ** (_ODD + 1) * 2 * _ODD / np.array([float(math.factorial(2 * int(n) + 1)) for n in _ODD])


@functools.cache
def _of_gap() -> np.ndarray:
    """Return the coefficients of log gamma(1 + 2c) - 2 log gamma(1 + c), from the highest power of c on."""
    return np.array([*(scipy_special.zeta(_POWERS) * (-1) ** _POWERS * (2**_POWERS - 2) / _POWERS), 0.0, 0.0])


@functools.cache
def _of_log_gamma() -> np.ndarray:
    """Return the coefficients of log gamma(1 + c) / c, from the highest power of c on."""
    return np.array([*(scipy_special.zeta(_POWERS) * (-1) ** _POWERS / _POWERS), -np.euler_gamma])


def above(limit: float, x: Any, of: Callable[[Any], Any], otherwise: Any) -> Any:
    """Return of(x) where x > limit, which is computed nowhere else, so that its derivatives are finite."""
    return np.where(x > limit, of(np.where(x > limit, x, limit + 1.0)), otherwise)


# ---- entropies -------------------------------------------------------------------------------------------------------


def gamma_entropy(a: Any) -> Any:
    """Return the entropy of gamma numbers of scale 1, a + log gamma(a) + (1 - a) psi(a).

    The terms are of the size of a log a, so that large shapes have the series that follows from Stirling's.
    """
    small, large = np.where(a < _LARGE, a, _LARGE), np.where(a < _LARGE, _LARGE, a)
    u = 1 / large
    series = np.polyval([1 / 240, -1 / 210, -1 / 252, 1 / 210, 1 / 120, -1 / 90, -1 / 12, -1 / 3, 0.0], u)
    return np.where(
        a < _LARGE,
        small + scipy_special.gammaln(small) + (1 - small) * scipy_special.psi(small),
        0.5 * (np.log(2 * np.pi) + 1 + np.log(large)) + series,
    )


def beta_entropy(a: Any, b: Any) -> Any:
    """Return the entropy of beta numbers: by entropies of gamma numbers, of which no large terms cancel."""
    return gamma_entropy(a) + gamma_entropy(b) - gamma_entropy(a + b) - scipy_special.psi(a + b)


def t_entropy(df: Any) -> Any:
    """Return the entropy of Student's t distribution by entropies of gamma numbers."""
    z = df / 2
    w = z + 0.5
    of_normal = 0.5 + 0.5 * (np.log(np.pi) + np.log(df))
    return gamma_entropy(z) - gamma_entropy(w) + scipy_special.psi(w) - 1.5 * scipy_special.psi(z) + of_normal


# ---- powers of exponential numbers: Weibull, Frechet -----------------------------------------------------------------


def power_mean(c: Any, sign: float) -> Any:
    """Return the mean of E^u of standard exponential E, u = sign / c, which is infinite for u <= -1."""
    return above(-sign, c, lambda c: scipy_special.gamma((c + sign) / c), np.inf)


def power_var(c: Any, sign: float) -> Any:
    """Return the variance of E^u of standard exponential E, gamma(1 + 2u) - gamma(1 + u)^2, which is infinite for u <= -1/2.

    For small u it is gamma(1 + u)^2 (exp(d) - 1), where d = log gamma(1 + 2u) - 2 log gamma(1 + u) has a series in zeta(k).
    """
    is_small = c > _LARGE_POWER
    u = sign / np.where(is_small, c, _LARGE_POWER)
    of_small = scipy_special.gamma(1 + u) ** 2 * np.expm1(np.polyval(_of_gap(), u))

    def of_large(c: Any) -> Any:
        once, twice = (c + sign) / c, (c + 2 * sign) / c
        gap = 2 * scipy_special.gammaln(once) - scipy_special.gammaln(twice)
        return -scipy_special.gamma(twice) * np.expm1(gap)  # which is infinite, not nan, beyond doubles

    return np.where(is_small, of_small, above(-2 * sign, np.where(is_small, 3.0, c), of_large, np.inf))


# ---- generalized extreme values, by SciPy's shape c = -xi ------------------------------------------------------------

_SMALL_SHAPE = 0.2  # up to which moments have series, whose terms left out are below 1e-25


def _near_zero(c: Any, of_small: Callable[[Any], Any], otherwise: Callable[[Any], Any]) -> Any:
    is_small = np.abs(c) < _SMALL_SHAPE
    return np.where(is_small, of_small(np.where(is_small, c, 0.0)), otherwise(np.where(is_small, 1.0, c)))


def extreme_mean(c: Any) -> Any:
    """Return the mean (1 - gamma(1 + c)) / c of extreme values, Euler's constant for c = 0, infinite for c <= -1."""

    def of_small(c: Any) -> Any:
        ratio = np.polyval(_of_log_gamma(), c)
        return -ratio * scipy_special.exprel(c * ratio)

    return _near_zero(c, of_small, lambda c: above(-1.0, c, lambda c: (1 - scipy_special.gamma(1 + c)) / c, np.inf))


def extreme_var(c: Any) -> Any:
    """Return the variance (gamma(1 + 2c) - gamma(1 + c)^2) / c^2, pi^2 / 6 for c = 0, infinite for c <= -1/2."""

    def of_small(c: Any) -> Any:
        gap = np.polyval(_of_gap()[:-2], c)  # of log gamma(1 + 2c) and 2 log gamma(1 + c), over c^2
        return scipy_special.gamma(1 + c) ** 2 * gap * scipy_special.exprel(c**2 * gap)

    def of_large(c: Any) -> Any:
        return (scipy_special.gamma(1 + 2 * c) - scipy_special.gamma(1 + c) ** 2) / c**2

    return _near_zero(c, of_small, lambda c: above(-0.5, c, of_large, np.inf))


# ---- log-logistic ----------------------------------------------------------------------------------------------------


def _sine(c: Any, pole: float) -> Any:
    """Return sin(pi pole / c) for c > pole, with digits close to c = pole."""
    return np.sin(np.pi * np.where(c > 2 * pole, pole / c, (c - pole) / c))


def fisk_mean(c: Any) -> Any:
    """Return the mean (pi / c) / sin(pi / c) of log-logistic numbers, c > 1."""
    return np.pi / c / _sine(c, 1.0)


def fisk_var(c: Any) -> Any:
    """Return the variance 2b / sin(2b) - b^2 / sin(b)^2 of log-logistic numbers, b = pi / c, c > 2.

    It is b (sin b - b cos b) / (sin(b)^2 cos b), with the series of the numerator, and cos b = sin(pi (c - 2) / (2c)).
    """
    b = np.pi / c
    numerator = b**3 * np.polyval(_OF_FISK, b**2)
    return b * numerator / (np.sin(b) ** 2 * np.sin(np.pi * ((c - 2) / (2 * c))))
