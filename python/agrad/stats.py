"""Distributions of numbers, NumPy arrays and recorded arrays, in SciPy's spelling: ``stats.gamma.logpdf(x, a, loc, scale)``.

There is a distribution for each family of rules that has a name in ``scipy.stats``; names, parameters and methods come from the
rules, this module has no list of its own. Arguments broadcast, and results are entries, not sums as those of ``agrad.density``.
"""

from __future__ import annotations

from agrad._record.foreign import stand_for_foreign
from agrad._stats.asymmetry import with_both_sides
from agrad._stats.censoring import Censored, censor
from agrad._stats.distributions import Distribution, Frozen
from agrad._stats.families import families
from agrad._stats.hypergeometric import with_distribution_functions
from agrad._stats.sure_success import with_sure_success
from agrad._stats.truncation import Truncated, truncate

_families = [with_distribution_functions(with_sure_success(with_both_sides(family))) for family in families()]
_distributions = {family.name: Distribution(family) for family in _families}
__all__ = ["Censored", "Distribution", "Frozen", "Truncated", "censor", "truncate", *_distributions]


def __getattr__(name: str) -> Distribution:
    if name in _distributions:
        return _distributions[name]
    raise AttributeError(f"agrad.stats: attribute is {name!r}, but must be one of {', '.join(_distributions)}")


globals().update(_distributions)
for _name, _distribution in _distributions.items():
    stand_for_foreign("agrad.stats", (f"{_name}.{_method}" for _method in _distribution.methods))
