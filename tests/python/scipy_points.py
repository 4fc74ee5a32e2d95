"""Parameters at which distributions of agrad.stats are compared with scipy.stats, and the methods that follow from rows."""

import agrad as ag
from agrad._stats.families import families

FAMILIES = {family.name: getattr(ag.stats, family.name)._family for family in families()}
#: Shapes of distributions whose shapes have conditions on each other, or are few.
SHAPES = {
    "genextreme": (0.15,),
    "genpareto": (0.15,),
    "hypergeom": (40, 15, 12),
    "randint": (-3, 9),
    "binom": (11, 0.3),
    "betabinom": (11, 1.3, 2.2),
    "betanbinom": (4, 2.3, 1.2),
    "bernoulli": (0.3,),
}


def point(name):
    """Return shapes, loc and scale of a distribution."""
    family = FAMILIES[name]
    usual = [0.4 if "between" in family.parameters[shape] else 1.7 + 0.8 * k for k, shape in enumerate(family.shapes)]
    return [*SHAPES.get(name, usual), *([2] if family.is_discrete else [0.35, 1.4])]


def methods_by_rows(name):
    """Return the methods that a family must have by its rows of densities, distribution functions and quantiles alone."""
    family = FAMILIES[name]
    of = {"logpmf", "pmf"} if family.is_discrete else {"logpdf", "pdf"}
    if "cdf" in family.densities:
        of |= {"cdf", "logcdf", "sf", "logsf"}
    if "qf" in family.quantiles or (family.is_discrete and "cdf" in family.densities):
        of |= {"ppf", "isf", "median", "interval", "support"}
    return of


def distribution(name):
    """Return agrad's distribution."""
    return getattr(ag.stats, name)
