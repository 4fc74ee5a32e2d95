"""Means, variances, skewness, kurtosis and entropies in closed form, in one table of SciPy's families, for loc 0 and scale 1.

``moments`` applies loc and scale. Infinite and undefined moments are inf and nan as SciPy has them. What has no closed form, or
none without cancellation, is None. The functions consist of NumPy's and SciPy's, so that shapes may be recorded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from agrad._record.on_demand import scipy_special
from agrad._stats.closed_forms import (
    above,
    beta_entropy,
    extreme_mean,
    extreme_var,
    fisk_mean,
    fisk_var,
    gamma_entropy,
    power_mean,
    power_var,
    t_entropy,
)

__all__ = ["MOMENTS", "Moments"]

_INF, _NAN, _PI, _EULER = np.inf, np.nan, np.pi, np.euler_gamma
_APERY = 1.2020569031595942  # zeta(3)
_OF_SHAPES = Callable[..., Any]


@dataclass(frozen=True)
class Moments:
    """Functions of the shapes, or None; the kurtosis is the excess over 3."""

    mean: _OF_SHAPES | None = None
    var: _OF_SHAPES | None = None
    skew: _OF_SHAPES | None = None
    kurtosis: _OF_SHAPES | None = None
    entropy: _OF_SHAPES | None = None

    def of(self, which: str) -> _OF_SHAPES | None:
        """Return the function of a moment; the standard deviation has the function of the variance."""
        found: _OF_SHAPES | None = getattr(self, "var" if which == "std" else which)
        return found


def _is(value: float) -> _OF_SHAPES:
    return lambda *shapes: value


def _constant(mean: float, var: float, skew: float, kurtosis: float, entropy: float) -> Moments:
    return Moments(_is(mean), _is(var), _is(skew), _is(kurtosis), _is(entropy))


def _reflected(row: Moments) -> Moments:
    mean, skew = row.mean, row.skew
    return replace(
        row,
        mean=None if mean is None else lambda *shapes: -mean(*shapes),
        skew=None if skew is None else lambda *shapes: -skew(*shapes),
    )


def _lognorm_var(s: Any) -> Any:
    return np.expm1(s**2) * np.exp(s**2)


def _lognorm_kurtosis(s: Any) -> Any:
    w = np.expm1(s**2)
    return w * (16 + w * (15 + w * (6 + w)))


def _skewnorm_mean(a: Any) -> Any:
    return np.sqrt(2 / _PI) * a / np.hypot(1.0, a)


def _asymmetric_var(kappa: Any) -> Any:
    return kappa**-2 + kappa**2


def _pareto_var(b: Any) -> Any:
    return above(2.0, b, lambda b: b / (b - 2) / (b - 1) ** 2, _INF)


_NORM = _constant(0.0, 1.0, 0.0, 0.0, 0.5 * np.log(2 * _PI) + 0.5)
_GUMBEL = _constant(_EULER, _PI**2 / 6, 12 * np.sqrt(6) / _PI**3 * _APERY, 2.4, _EULER + 1)
_EXPON = _constant(1.0, 1.0, 2.0, 6.0, 1.0)
_LAPLACE = _constant(0.0, 2.0, 0.0, 3.0, np.log(2.0) + 1)
_LOGISTIC = _constant(0.0, _PI**2 / 3, 0.0, 1.2, 2.0)
_CAUCHY = _constant(_NAN, _NAN, _NAN, _NAN, np.log(4 * _PI))
_UNIFORM = _constant(0.5, 1 / 12, 0.0, -1.2, 0.0)
_RAYLEIGH = _constant(
    np.sqrt(_PI / 2),
    2 - _PI / 2,
    2 * (_PI - 3) * np.sqrt(_PI) / (4 - _PI) ** 1.5,
    6 * _PI / (4 - _PI) - 16 / (4 - _PI) ** 2,
    _EULER / 2 + 1 - 0.5 * np.log(2.0),
)
_HALF_NORMAL = _constant(
    np.sqrt(2 / _PI),
    1 - 2 / _PI,
    np.sqrt(2) * (4 - _PI) / (_PI - 2) ** 1.5,
    8 * (_PI - 3) / (_PI - 2) ** 2,
    0.5 * np.log(_PI / 2) + 0.5,
)
_WEIBULL = Moments(
    mean=lambda c: power_mean(c, 1.0),
    var=lambda c: power_var(c, 1.0),
    entropy=lambda c: 1 + _EULER * (1 - 1 / c) - np.log(c),
)
_PARETO = Moments(
    mean=lambda b: above(1.0, b, lambda b: b / (b - 1), _INF),
    var=_pareto_var,
    skew=lambda b: above(3.0, b, lambda b: 2 * (1 + b) / (b - 3) * np.sqrt((b - 2) / b), _NAN),
    kurtosis=lambda b: above(4.0, b, lambda b: 6 * (b**3 + b**2 - 6 * b - 2) / (b * (b - 3) * (b - 4)), _NAN),
    entropy=lambda b: 1 + 1 / b - np.log(b),
)

_CONTINUOUS = {
    "norm": _NORM,
    "lognorm": Moments(
        mean=lambda s: np.exp(s**2 / 2),
        var=_lognorm_var,
        skew=lambda s: np.sqrt(np.expm1(s**2)) * (2 + np.exp(s**2)),
        kurtosis=_lognorm_kurtosis,
        entropy=lambda s: 0.5 * np.log(2 * _PI) + 0.5 + np.log(s),
    ),
    "t": Moments(
        mean=lambda df: above(1.0, df, lambda df: 0.0, _INF),
        var=lambda df: above(2.0, df, lambda df: df / (df - 2), np.where(df > 1, _INF, _NAN)),
        skew=lambda df: above(3.0, df, lambda df: 0.0, _NAN),
        kurtosis=lambda df: above(4.0, df, lambda df: 6 / (df - 4), np.where(df > 2, _INF, _NAN)),
        entropy=t_entropy,
    ),
    "cauchy": _CAUCHY,
    "laplace": _LAPLACE,
    "laplace_asymmetric": Moments(
        mean=lambda kappa: 1 / kappa - kappa,
        var=_asymmetric_var,
        skew=lambda kappa: 2 * (kappa**-3 - kappa**3) / _asymmetric_var(kappa) ** 1.5,
        kurtosis=lambda kappa: 6 * (kappa**-4 + kappa**4) / _asymmetric_var(kappa) ** 2,
        entropy=lambda kappa: 1 + np.log(kappa + 1 / kappa),
    ),
    "genextreme": Moments(mean=extreme_mean, var=extreme_var, entropy=lambda c: 1 + _EULER * (1 - c)),
    "gumbel_r": _GUMBEL,
    "gumbel_l": _reflected(_GUMBEL),
    "logistic": _LOGISTIC,
    "skewnorm": Moments(
        mean=_skewnorm_mean,
        var=lambda a: 1 - _skewnorm_mean(a) ** 2,
        skew=lambda a: (4 - _PI) / 2 * _skewnorm_mean(a) ** 3 / (1 - _skewnorm_mean(a) ** 2) ** 1.5,
        kurtosis=lambda a: 2 * (_PI - 3) * _skewnorm_mean(a) ** 4 / (1 - _skewnorm_mean(a) ** 2) ** 2,
    ),
    "exponnorm": Moments(
        mean=lambda K: K,  # noqa: N803
        var=lambda K: 1 + K**2,  # noqa: N803
        skew=lambda K: 2 * (K / np.hypot(1.0, K)) ** 3,  # noqa: N803
        kurtosis=lambda K: 6 * (K / np.hypot(1.0, K)) ** 4,  # noqa: N803
    ),
    "vonmises": Moments(mean=_is(0.0)),
    "uniform": _UNIFORM,
    "halfnorm": _HALF_NORMAL,
    "halfcauchy": _constant(_INF, _INF, _NAN, _NAN, np.log(2 * _PI)),
    "expon": _EXPON,
    "gamma": Moments(lambda a: a, lambda a: a, lambda a: 2 / np.sqrt(a), lambda a: 6 / a, gamma_entropy),
    "chi2": Moments(
        mean=lambda df: df,
        var=lambda df: 2 * df,
        skew=lambda df: 2 * np.sqrt(2 / df),
        kurtosis=lambda df: 12 / df,
        entropy=lambda df: np.log(2.0) + gamma_entropy(df / 2),
    ),
    "weibull_min": _WEIBULL,
    "weibull_max": _reflected(_WEIBULL),
    "invweibull": Moments(
        mean=lambda c: power_mean(c, -1.0),
        var=lambda c: power_var(c, -1.0),
        entropy=lambda c: 1 + _EULER * (1 + 1 / c) - np.log(c),
    ),
    "rayleigh": _RAYLEIGH,
    "fisk": Moments(
        mean=lambda c: above(1.0, c, fisk_mean, _INF),
        var=lambda c: above(2.0, c, fisk_var, _INF),
        entropy=lambda c: 2 - np.log(c),
    ),
    "pareto": _PARETO,
    "lomax": replace(_PARETO, mean=lambda c: above(1.0, c, lambda c: 1 / (c - 1), _INF)),
    "genpareto": Moments(
        mean=lambda c: above(-1.0, -c, lambda b: 1 / (1 + b), _INF),
        var=lambda c: above(-0.5, -c, lambda b: 1 / (1 + b) ** 2 / (1 + 2 * b), _INF),
        skew=lambda c: above(-1 / 3, -c, lambda b: 2 * (1 - b) * np.sqrt(1 + 2 * b) / (1 + 3 * b), _NAN),
        kurtosis=lambda c: above(
            -0.25, -c, lambda b: 3 * (1 + 2 * b) * (2 * b**2 - b + 3) / (1 + 3 * b) / (1 + 4 * b) - 3, _NAN
        ),
        entropy=lambda c: 1 + c,
    ),
    "invgamma": Moments(
        mean=lambda a: above(1.0, a, lambda a: 1 / (a - 1), _INF),
        var=lambda a: above(2.0, a, lambda a: 1 / (a - 1) ** 2 / (a - 2), _INF),
        skew=lambda a: above(3.0, a, lambda a: 4 * np.sqrt(a - 2) / (a - 3), _NAN),
        kurtosis=lambda a: above(4.0, a, lambda a: 6 * (5 * a - 11) / (a - 3) / (a - 4), _NAN),
        entropy=lambda a: gamma_entropy(a) - 2 * scipy_special.psi(a),
    ),
    "invgauss": Moments(
        mean=lambda mu: mu,
        var=lambda mu: mu**3,
        skew=lambda mu: 3 * np.sqrt(mu),
        kurtosis=lambda mu: 15 * mu,
    ),
    "beta": Moments(
        mean=lambda a, b: a / (a + b),
        var=lambda a, b: a / (a + b) * (b / (a + b)) / (a + b + 1),
        skew=lambda a, b: 2 * (b - a) * np.sqrt(a + b + 1) / ((a + b + 2) * np.sqrt(a) * np.sqrt(b)),
        kurtosis=lambda a, b: 6 * ((a - b) * ((a - b) / (a * b)) * (a + b + 1) - (a + b + 2)) / (a + b + 2) / (a + b + 3),
        entropy=beta_entropy,
    ),
}


def _beta_binomial_skew(n: Any, a: Any, b: Any) -> Any:
    return (a + b + 2 * n) * (b - a) / (a + b + 2) * np.sqrt((a + b + 1) / (n * a * b * (a + b + n)))


def _beta_neg_binomial_skew(n: Any, a: Any, b: Any) -> Any:
    def of(a: Any) -> Any:
        return (2 * n + a - 1) * (2 * b + a - 1) / (a - 3) / np.sqrt(n * b * (n + a - 1) * (a + b - 1) / (a - 2))

    return above(3.0, a, of, _INF)


def _hypergeom_var(M: Any, n: Any, N: Any) -> Any:  # noqa: N803
    return N * (n / np.maximum(M, 1.0)) * ((M - n) / np.maximum(M, 1.0)) * ((M - N) / np.maximum(M - 1, 1.0))


def _hypergeom_skew(M: Any, n: Any, N: Any) -> Any:  # noqa: N803
    return (M - 2 * n) * (M - 2 * N) / (M - 2) * np.sqrt((M - 1) / (n * N * (M - n) * (M - N)))


def _yule_simon_skew(alpha: Any) -> Any:
    def of(a: Any) -> Any:
        return np.sqrt(a - 2) * (a + 1) ** 2 / (a * (a - 3))

    return above(3.0, alpha, of, np.where(alpha > 2, _INF, _NAN))


def _yule_simon_kurtosis(alpha: Any) -> Any:
    def of(a: Any) -> Any:
        return a + 3 + (11 * a**3 - 49 * a - 22) / (a * (a - 4) * (a - 3))

    return above(4.0, alpha, of, np.where(alpha > 2, _INF, _NAN))


_DISCRETE = {
    "bernoulli": Moments(
        mean=lambda p: p,
        var=lambda p: p * (1 - p),
        skew=lambda p: (1 - 2 * p) / np.sqrt(p * (1 - p)),
        kurtosis=lambda p: (1 - 6 * p * (1 - p)) / (p * (1 - p)),
        entropy=lambda p: scipy_special.entr(p) + scipy_special.entr(1 - p),
    ),
    "betabinom": Moments(
        mean=lambda n, a, b: n * (a / (a + b)),
        var=lambda n, a, b: n * (a / (a + b)) * (b / (a + b)) * ((a + b + n) / (a + b + 1)),
        skew=_beta_binomial_skew,
    ),
    "betanbinom": Moments(
        mean=lambda n, a, b: above(1.0, a, lambda a: n * (b / (a - 1)), _INF),
        var=lambda n, a, b: above(2.0, a, lambda a: n * b * (n + a - 1) * (a + b - 1) / (a - 2) / (a - 1) ** 2, _INF),
        skew=_beta_neg_binomial_skew,
    ),
    "binom": Moments(
        mean=lambda n, p: n * p,
        var=lambda n, p: n * p * (1 - p),
        skew=lambda n, p: (1 - 2 * p) / np.sqrt(n * p * (1 - p)),
        kurtosis=lambda n, p: (1 - 6 * p * (1 - p)) / (n * p * (1 - p)),
    ),
    "hypergeom": Moments(
        mean=lambda M, n, N: N * (n / np.maximum(M, 1.0)),  # noqa: N803
        var=_hypergeom_var,
        skew=_hypergeom_skew,
    ),
    "nbinom": Moments(
        mean=lambda n, p: n * (1 - p) / p,
        var=lambda n, p: n * (1 - p) / p**2,
        skew=lambda n, p: (2 - p) / np.sqrt(n * (1 - p)),
        kurtosis=lambda n, p: 6 / n + p**2 / (n * (1 - p)),
    ),
    "poisson": Moments(
        mean=lambda mu: mu,
        var=lambda mu: mu,
        skew=lambda mu: 1 / np.sqrt(mu),
        kurtosis=lambda mu: 1 / mu,
    ),
    "randint": Moments(
        mean=lambda low, high: low + (high - low - 1) / 2,
        var=lambda low, high: (high - low - 1) * (high - low + 1) / 12,
        skew=lambda low, high: 0.0 * (high - low),
        kurtosis=lambda low, high: -1.2 * ((high - low) ** 2 + 1) / ((high - low) ** 2 - 1),
        entropy=lambda low, high: np.log(high - low),
    ),
    "skellam": Moments(
        mean=lambda mu1, mu2: mu1 - mu2,
        var=lambda mu1, mu2: mu1 + mu2,
        skew=lambda mu1, mu2: (mu1 - mu2) / (mu1 + mu2) ** 1.5,
        kurtosis=lambda mu1, mu2: 1 / (mu1 + mu2),
    ),
    "yulesimon": Moments(
        mean=lambda alpha: above(1.0, alpha, lambda a: a / (a - 1), _INF),
        var=lambda alpha: above(2.0, alpha, lambda a: (a / (a - 1)) ** 2 / (a - 2), np.where(alpha > 1, _INF, _NAN)),
        skew=_yule_simon_skew,
        kurtosis=_yule_simon_kurtosis,
    ),
}
#: By SciPy's names of the families.
MOMENTS = _CONTINUOUS | _DISCRETE
