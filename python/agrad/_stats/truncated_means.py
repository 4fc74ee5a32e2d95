"""Means of truncated distributions, for the families with a formula.

The values y of a positive distribution, weighed by y, have a distribution of the same family, so that the mean of those between
two ends is the whole mean times a quotient of two probabilities of the interval, which keep their digits.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from agrad._stats.distributions import Distribution, Frozen
from agrad._stats.families import families

__all__ = ["truncated_mean"]

#: Nodes and weights of Gauss and Legendre's rule on [-1, 1].
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)

#: The mean without loc, and the name and parameters of the distribution of values weighed by themselves, of loc and scale 1.
_WEIGHED: dict[str, Callable[..., tuple[Any, str, dict[str, Any]]]] = {
    "gamma": lambda a: (a, "gamma", {"a": a + 1}),
    "chi2": lambda df: (df, "chi2", {"df": df + 2}),
    "expon": lambda: (1.0, "gamma", {"a": 2.0}),
    "lognorm": lambda s: (np.exp(s**2 / 2), "lognorm", {"s": s, "scale": np.exp(s**2)}),
    "beta": lambda a, b: (a / (a + b), "beta", {"a": a + 1, "b": b}),
    "poisson": lambda mu: (mu, "poisson", {"mu": mu, "loc": 1}),
    "binom": lambda n, p: (n * p, "binom", {"n": np.maximum(n - 1, 0), "p": p, "loc": 1}),
    "nbinom": lambda n, p: (n * (1 - p) / p, "nbinom", {"n": n + 1, "p": p, "loc": 1}),
}


def _parameters(frozen: Frozen) -> dict[str, Any]:
    family = frozen.dist._family
    values = {"loc": 0, "scale": 1} | dict(zip(family.parameters, frozen.args, strict=False)) | frozen.kwds
    return {name: np.asarray(x, dtype=float) if isinstance(x, (list, tuple)) else x for name, x in values.items()}


def truncated_mean(distribution: Any, lb: Any, ub: Any, log_mass: Any) -> Any:
    """Return the mean of the values of a distribution between two ends, between which it has the probability exp(log_mass)."""
    if not isinstance(distribution, Frozen):  # a truncated distribution, whose ends count as well
        lb, ub = np.maximum(lb, distribution.lb), np.minimum(ub, distribution.ub)
        return truncated_mean(distribution.distribution, lb, ub, log_mass + distribution._log_mass)
    name, given = distribution.dist.name, _parameters(distribution)
    loc, scale = given.pop("loc"), given.pop("scale")
    if name == "norm":
        return loc + scale * _normal_mean((lb - loc) / scale, (ub - loc) / scale, log_mass)
    if name == "uniform":
        return 0.5 * (np.maximum(lb, loc) + np.minimum(ub, loc + scale))
    if name not in _WEIGHED:
        names = ", ".join(sorted({"norm", "uniform", *_WEIGHED}))
        raise TypeError(f"stats.truncate.mean: distribution is {distribution.dist!r}, but must be one of {names}")
    mean, of, parameters = _WEIGHED[name](**given)
    parameters["loc"] = loc + parameters.get("loc", 0)
    if not distribution.dist._family.is_discrete:
        parameters["scale"] = scale * parameters.get("scale", 1)
    weighed = _distribution(of)(**parameters)
    return loc + scale * mean * np.exp(weighed.logbetween(lb, ub) - log_mass)


@cache
def _distribution(name: str) -> Distribution:
    return next(Distribution(family) for family in families() if family.name == name)


def _normal_mean(a: Any, b: Any, log_mass: Any) -> Any:
    """Return the mean of standard normal numbers between a and b: the difference of the densities at the ends.

    Where the interval is short, this difference cancels; there the integrand is smooth, and Gauss's rule has the digits.
    """
    is_short = (b - a) * (1 + np.maximum(np.abs(a), np.abs(b))) < 1
    low, high = np.where(is_short, a, 0.0), np.where(is_short, b, 1.0)
    centre, half = 0.5 * (low + high), 0.5 * (high - low)
    x = centre[..., np.newaxis] + half[..., np.newaxis] * _NODES
    density = _WEIGHTS * np.exp(0.5 * (centre[..., np.newaxis] ** 2 - x**2))
    by_integral = centre + half * np.sum(density * _NODES, axis=-1) / np.sum(density, axis=-1)
    at_a, at_b = (np.exp(-0.5 * np.where(is_short, 0.0, end) ** 2 - log_mass) for end in (a, b))
    return np.where(is_short, by_integral, (at_a - at_b) / np.sqrt(2 * np.pi))
