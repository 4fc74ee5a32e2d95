"""Distributions of numbers, NumPy arrays and recorded arrays, in SciPy's spelling: ``stats.gamma.logpdf(x, a, loc, scale)``.

There is a distribution for each family of rules that has a name in ``scipy.stats``; names, parameters and methods come from the
rules, this module has no list of its own. Arguments broadcast, and results are entries, not sums as those of `agrad.stan`.
"""

from __future__ import annotations

from collections.abc import Callable

from agrad._record.foreign import stand_for_foreign
from agrad._stats.asymmetry import with_both_sides
from agrad._stats.censoring import Censored, censor
from agrad._stats.distributions import Distribution, Frozen
from agrad._stats.families import Family, families
from agrad._stats.hypergeometric import with_distribution_functions
from agrad._stats.inflation import Inflated, hurdle, zero_inflate
from agrad._stats.pointwise import pointwise
from agrad._stats.sure_success import with_sure_success
from agrad._stats.truncation import Truncated, truncate

#: What changes a family whose functions of SciPy's parameters do not follow from the rules alone, by the family's rule.
_CHANGES: dict[str, Callable[[Family], Family]] = {
    "hypergeometric": with_distribution_functions,
    "neg_binomial": with_sure_success,
    "skew_double_exponential": with_both_sides,
}


def _changed(family: Family) -> Family:
    return _CHANGES[family.rule](family) if family.rule in _CHANGES else family


_distributions = {family.name: Distribution(_changed(family)) for family in families()}
__all__ = [
    "Censored",
    "Distribution",
    "Frozen",
    "Inflated",
    "Truncated",
    "censor",
    "hurdle",
    "pointwise",
    "truncate",
    "zero_inflate",
    *_distributions,
]


def __getattr__(name: str) -> Distribution:
    if name in _distributions:
        return _distributions[name]
    raise AttributeError(f"agrad.stats: attribute is {name!r}, but must be one of {', '.join(_distributions)}")


globals().update(_distributions)
for _name, _distribution in _distributions.items():
    stand_for_foreign("agrad.stats", (f"{_name}.{_method}" for _method in _distribution.methods))


def __dir__() -> list[str]:
    return sorted(__all__)
