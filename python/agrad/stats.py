"""Distributions of numbers, NumPy arrays and recorded arrays, in SciPy's spelling: ``stats.gamma.logpdf(x, a, loc, scale)``.

There is a distribution for each family of rules that has a name in ``scipy.stats``; names, parameters and methods come from the
rules, this module has no list of its own. Arguments broadcast, and results are entries, not sums as those of ``agrad.density``.
"""

from __future__ import annotations

from agrad._record.foreign import stand_for_foreign
from agrad._stats.distributions import Distribution, Frozen
from agrad._stats.families import families

_distributions = {family.name: Distribution(family) for family in families()}
__all__ = ["Distribution", "Frozen", *_distributions]


def __getattr__(name: str) -> Distribution:
    if name in _distributions:
        return _distributions[name]
    raise AttributeError(f"agrad.stats: attribute is {name!r}, but must be one of {', '.join(_distributions)}")


globals().update(_distributions)
for _name, _distribution in _distributions.items():
    stand_for_foreign("agrad.stats", (f"{_name}.{_method}" for _method in _distribution.methods))
