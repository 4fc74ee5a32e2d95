"""Densities integrate and masses add up to one, and to what quantiles and distribution functions say on the way."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.integrate

import agrad as ag
from agrad._core import density_rows, quantile_rows

DENSITIES = {row.name: row for row in density_rows()}
CONTINUOUS = [row.name.removesuffix("_qf") for row in quantile_rows() if row.name.endswith("_qf")]
MASSES = [name.removesuffix("_lpmf") for name in DENSITIES if name.endswith("_lpmf")]
ACCURATE = {"epsabs": 1e-15, "epsrel": 1e-12, "limit": 200}
P = np.array([1e-13, 1e-6, 1e-3, 0.03, 0.2, 0.5, 0.8, 0.97, 1 - 1e-3, 1 - 1e-6, 1 - 1e-13])


#: Parameters in turn, by the begin of their condition.
VALUES = {
    "a whole": [6, 20, 15],
    "a number": [0.3],
    "between": [0.3],
    "finite": [0.3, 2.5],
    "nonneg": [1.4],
    "positive": [1.7, 2.3, 1.3],
}


def parameters(row):
    """Return values for all arguments but the first; bounds grow."""
    taken, chosen = dict.fromkeys(VALUES, 0), []
    for _, condition in row.arguments[1:]:
        kind = next(begin for begin in VALUES if condition.startswith(begin))
        chosen.append(VALUES[kind][taken[kind]])
        taken[kind] += 1
    return chosen


def integral(function, begin, end):
    """Return the integral; far from zero that over the logarithm, because tails may fall as powers do."""
    if begin < 0 < end or min(abs(begin), abs(end)) < 1e-3:
        return scipy.integrate.quad(function, begin, end, **ACCURATE)[0]
    sign, ends = np.sign(end), np.log(np.abs([begin, end]))
    return sign * scipy.integrate.quad(lambda u: function(sign * np.exp(u)) * np.exp(u), *ends, **ACCURATE)[0]


def test_every_density_and_mass_is_in_the_cases():
    of_densities = {name.removesuffix("_lpdf") for name in DENSITIES if name.endswith("_lpdf")}
    assert of_densities == set(CONTINUOUS), "every density has a quantile function"
    assert len(CONTINUOUS) >= 27
    assert len(MASSES) >= 12


@pytest.mark.parametrize("family", CONTINUOUS)
def test_densities_integrate_to_the_probabilities_between_quantiles(family):
    row = DENSITIES[f"{family}_lpdf"]
    others = parameters(row)
    density, quantile, complement = (getattr(ag, f"{family}_{end}") for end in ("lpdf", "qf", "cqf"))
    x = np.array([quantile(p, *others) if p < 0.9 else complement(1 - p, *others) for p in P])
    for begin, end, share in zip(x[:-1], x[1:], np.diff(P), strict=True):
        found = integral(lambda y: np.exp(density(y, *others)), begin, end)
        assert found == pytest.approx(share, rel=1e-9, abs=1e-13), (family, begin, end)


@pytest.mark.parametrize("family", MASSES)
def test_masses_add_up_to_the_distribution_function(family):
    row = DENSITIES[f"{family}_lpmf"]
    others = parameters(row)
    mass, below = getattr(ag, f"{family}_lpmf"), DENSITIES.get(f"{family}_lcdf")
    first = -40 if row.arguments[0][1] == "a whole number" else 0
    sums, k = [0.0], first
    while k < first + 400 and (below is None or sums[-1] < 1 - 1e-14):
        try:
            sums.append(sums[-1] + np.exp(mass(k, *others)))
        except ag.DomainError:  # beyond the support
            sums.append(sums[-1])
        if below is not None:
            assert sums[-1] == pytest.approx(np.exp(getattr(ag, f"{family}_lcdf")(k, *others)), rel=1e-11, abs=1e-13), k
        k += 1
    rest = 0.0 if below is None else np.exp(getattr(ag, f"{family}_lccdf")(k - 1, *others))
    assert sums[-1] + rest == pytest.approx(1.0, rel=1e-12)
