"""The univariate families that the rows of the rules make up, and plausible arguments by the conditions of a row.

The family of a function is its name without the end: that of ``gamma_lpdf``, ``gamma_lccdf`` and ``gamma_qf`` is ``gamma``.
Read next: families.py, which writes a page for each family; benchmarks/python/errors.py, which measures errors.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

import agrad as ag
from agrad._core import DensityRow, QuantileRow, density_rows, elementwise_rows, quantile_rows
from agrad._stats import families as scipy_families

#: Values of a parameter, by the first words of its condition; a place in the list is a choice.
_POSITIVE = (1.5, 0.7, 3.0)
_SHARES = (0.3, 0.8, 0.5)
_REAL = (0.0, -1.0, 1.5)
_WHOLE = (10, 6, 20)
CHOICES = len(_POSITIVE)
#: Methods of numpy.random.Generator, of which no row knows, and the families that they draw from.
NUMPY = {
    "beta": "beta",
    "binomial": "binomial",
    "chisquare": "chi_square",
    "exponential": "exponential",
    "gamma": "gamma",
    "gumbel": "gumbel",
    "hypergeometric": "hypergeometric",
    "integers": "discrete_range",
    "laplace": "double_exponential",
    "logistic": "logistic",
    "lognormal": "lognormal",
    "negative_binomial": "neg_binomial",
    "normal": "normal",
    "pareto": "pareto_type_2",
    "poisson": "poisson",
    "rayleigh": "rayleigh",
    "standard_cauchy": "cauchy",
    "standard_exponential": "exponential",
    "standard_gamma": "gamma",
    "standard_normal": "std_normal",
    "standard_t": "student_t",
    "uniform": "uniform",
    "vonmises": "von_mises",
    "wald": "inv_gaussian",
    "weibull": "weibull",
}
#: First arguments to try in an example: the first that is in the support is shown.
_TRIED = (0.4, 2.5, 7.0)
_COUNTS = (2, 1, 12)


@dataclass
class Family:
    """The rows of a family by the ends of their names, quantiles that are elementwise rules, and SciPy's distributions."""

    name: str
    densities: dict[str, DensityRow] = field(default_factory=dict)
    intervals: list[DensityRow] = field(default_factory=list)
    quantiles: dict[str, QuantileRow] = field(default_factory=dict)
    elementwise: list[Any] = field(default_factory=list)
    scipy: list[scipy_families.Family] = field(default_factory=list)

    @property
    def is_discrete(self) -> bool:
        """Whether the family is one of counts."""
        return "lpmf" in self.densities

    @property
    def density(self) -> DensityRow:
        """The row of the log density or mass."""
        return self.densities["lpmf" if self.is_discrete else "lpdf"]

    @property
    def rows(self) -> list[Any]:
        """All rows, the density's first."""
        others = [row for row in self.densities.values() if row is not self.density]
        return [self.density, *others, *self.intervals, *self.quantiles.values()]


def families() -> dict[str, Family]:
    """Return the families by their names, in the order of the names."""
    found: dict[str, Family] = {}
    for row in density_rows():
        name, _, end = row.name.rpartition("_")
        family = found.setdefault(name, Family(name))
        if end == "lbetween":  # of two first arguments, so that it has no curve
            family.intervals.append(row)
        else:
            family.densities[end] = row
    for row in quantile_rows():
        name, _, end = row.name.rpartition("_")
        found[name].quantiles[end] = row
    for row in elementwise_rows():
        if row.name.endswith("_log_qf"):
            found[row.name.removesuffix("_log_qf")].elementwise.append(row)
    for each in scipy_families.families():
        found[each.rule].scipy.append(each)
    return dict(sorted(found.items()))


def is_count(condition: str) -> bool:
    """Whether an argument with this condition is data without derivatives."""
    return condition.startswith(("a whole number", "0 or 1"))


def parameters(row: Any, choice: int = 0, factor: int = 1) -> tuple[float, ...]:
    """Return plausible values of the arguments after the first; `factor` multiplies counts."""
    values: list[float] = []
    for k, (_, condition) in enumerate(row.arguments[1:]):
        if is_count(condition):
            values.append((_WHOLE[choice] + 5 * k) * factor)
        elif condition.startswith("between 0 and 1"):
            values.append(_SHARES[choice])
        elif condition.startswith(("positive", "nonnegative")):
            values.append(_POSITIVE[(choice + k) % CHOICES])
        else:  # later ones are larger, as bounds must be
            values.append(_REAL[choice] + (2.0 + choice) * k)
    return tuple(values)


def first_argument(family: Family) -> float:
    """Return a first argument in the support at the first choice of parameters."""
    function = getattr(ag, family.density.name)
    tried = _COUNTS if family.is_discrete else _TRIED
    return next(x for x in tried if is_inside(function, x, parameters(family.density)))


def is_inside(function: Any, x: float, at: tuple[float, ...]) -> bool:
    """Whether x is valid and has a finite logarithm of the density."""
    try:
        return bool(np.isfinite(function(x, *at)))
    except ag.DomainError:
        return False
