"""The distribution functions of agrad.stats.hypergeom, by exact fractions, and nbinom where success is sure."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.stats

import agrad as ag

HYPERGEOM, NBINOM = ag.stats.hypergeom, ag.stats.nbinom
#: Population, successes in it, draws.
CASES = [(20, 7, 12), (50, 50, 3), (100, 3, 99), (10, 0, 4), (10, 10, 10), (1, 1, 0), (700, 400, 300), (5000, 20, 2500)]


def exact_tails(M: int, n: int, N: int) -> list[tuple[int, Fraction, Fraction]]:  # noqa: N803
    """Return some counts with the probabilities of at most them, and of more."""
    lower, upper = max(0, N - (M - n)), min(n, N)
    masses = [Fraction(math.comb(n, k) * math.comb(M - n, N - k), math.comb(M, N)) for k in range(lower, upper + 1)]
    assert sum(masses) == 1
    places = sorted({round(x) for x in np.linspace(0, upper - lower, 12)})
    return [(lower + i, sum(masses[: i + 1]), sum(masses[i + 1 :], Fraction(0))) for i in places]


def log_of(x: Fraction) -> float:
    if x == 0:
        return -math.inf
    if x > Fraction(1, 2):
        return math.log1p(-float(1 - x))
    return math.log(x.numerator) - math.log(x.denominator) if x < Fraction(1, 2**900) else math.log(float(x))


@pytest.mark.parametrize("case", CASES)
def test_distribution_functions_are_exact_sums_in_both_tails(case):
    for k, lower, upper in exact_tails(*case):
        assert HYPERGEOM.cdf(k, *case) == pytest.approx(float(lower), rel=1e-13)
        assert HYPERGEOM.sf(k, *case) == pytest.approx(float(upper), rel=1e-13)
        assert HYPERGEOM.logcdf(k, *case) == pytest.approx(log_of(lower), rel=1e-13, abs=1e-300)
        assert HYPERGEOM.logsf(k, *case) == pytest.approx(log_of(upper), rel=1e-13, abs=1e-300)


def test_counts_between_and_beyond_whole_numbers():
    k = np.array([-np.inf, -1.0, 2.7, 3.0, 7.0, 9.5, np.inf])
    floors = np.array([-1.0, -1.0, 2.0, 3.0, 7.0, 9.0, 30.0])
    for loc in (0, 2):
        np.testing.assert_allclose(
            HYPERGEOM.cdf(k + loc, 20, 7, 12, loc), scipy.stats.hypergeom.cdf(floors, 20, 7, 12), rtol=1e-12
        )
    np.testing.assert_array_equal(HYPERGEOM.sf(k, 20, 7, 12) == 0, floors >= 7)


@pytest.mark.parametrize("case", CASES)
def test_intervals_are_exact_fractions(case):
    """Ends lie within and beyond the support, between whole numbers and on both sides of the mode."""
    M, n, N = case  # noqa: N806
    masses = {
        k: Fraction(math.comb(n, k) * math.comb(M - n, N - k), math.comb(M, N))
        for k in range(max(0, N - (M - n)), min(n, N) + 1)
    }
    places = sorted(
        {min(masses) - 1, *masses} if len(masses) < 9 else {round(x) for x in np.linspace(min(masses) - 1, max(masses) + 1, 8)}
    )
    for lower, upper in itertools.combinations_with_replacement(places, 2):
        exact = float(sum((mass for k, mass in masses.items() if lower <= k <= upper), Fraction(0)))
        for begin, end in ((lower, upper), (lower - 0.25, upper + 0.5)):
            assert HYPERGEOM.between(begin, end, *case) == pytest.approx(exact, rel=2e-13, abs=0), (begin, end)
    assert HYPERGEOM.logbetween(-np.inf, np.inf, *case) == 0


def test_hypergeom_can_be_truncated_and_censored():
    k = np.arange(-1, 14)
    mass, inside = scipy.stats.hypergeom.pmf(k, 40, 15, 12), (k >= 3) & (k <= 6)
    cut = ag.stats.truncate(HYPERGEOM(40, 15, 12), 3, 6)
    np.testing.assert_allclose(cut.pmf(k), np.where(inside, mass, 0) / np.sum(mass[inside]), rtol=1e-12)
    np.testing.assert_allclose(cut.cdf(cut.ppf([0.1, 0.5, 0.9])) >= [0.1, 0.5, 0.9], True)
    below, beyond = scipy.stats.hypergeom.cdf(3, 40, 15, 12), scipy.stats.hypergeom.sf(5, 40, 15, 12)
    np.testing.assert_allclose(
        ag.stats.censor(HYPERGEOM(40, 15, 12), 3, 6).pmf([3, 4, 6]), [below, mass[5], beyond], rtol=1e-12
    )


@pytest.mark.parametrize("case", CASES)
def test_quantiles_are_the_least_counts(case):
    q = np.array([0.0, 1e-9, 0.1, 0.5, 0.77, 1 - 1e-9, 1.0])
    np.testing.assert_array_equal(HYPERGEOM.ppf(q, *case), scipy.stats.hypergeom.ppf(q, *case))
    np.testing.assert_array_equal(HYPERGEOM.isf(q, *case), scipy.stats.hypergeom.isf(q, *case))
    assert HYPERGEOM.median(*case) == scipy.stats.hypergeom.median(*case)


def test_many_balls():
    """The distribution is symmetric, so that the middle mass is what a half lacks or exceeds."""
    population, half = 1e10, 2.5e9
    mass = HYPERGEOM.pmf(half, population, 2 * half, 2 * half)
    assert HYPERGEOM.cdf(half, population, 2 * half, 2 * half) == pytest.approx(0.5 + mass / 2, rel=1e-13)
    assert HYPERGEOM.sf(half, population, 2 * half, 2 * half) == pytest.approx(0.5 - mass / 2, rel=1e-13)
    assert HYPERGEOM.sf(2, 9e15, 4.5e15, 3) == pytest.approx(0.125, rel=1e-13)  # draws that hardly know of each other
    with pytest.raises(ag.DomainError, match=r"stats.hypergeom: standard deviation is 7.91e\+06, but must be at most 1e\+06"):
        HYPERGEOM.cdf(2.0, 1e15, 5e14, 5e14)
    for method in (HYPERGEOM.cdf, HYPERGEOM.logsf):
        with pytest.raises(ag.DomainError, match="M - N is -2, but must be a whole number, not negative"):
            method(2, 10, 3, 12)


def test_recorded_counts_are_data():
    compiled = ag.compile(lambda k, draws: HYPERGEOM.cdf(k, 20.0, 7.0, draws))
    for k, draws in ((3.0, 12.0), (4.0, 11.0), (-2.0, 3.0)):
        assert compiled(k, draws) == pytest.approx(scipy.stats.hypergeom.cdf(k, 20, 7, draws), rel=1e-12)
    terms = HYPERGEOM.logsf(np.array([3.0, 4.0]), 20, 7, 12)
    gradient = ag.grad(lambda x, k: np.sum(x * x * HYPERGEOM.logsf(k, 20.0, 7.0, 12.0)), (0, 1))
    for of in (gradient, ag.compile(gradient)):
        by_x, by_k = of(np.array([0.5, 2.0]), np.array([3.0, 4.0]))
        np.testing.assert_allclose(by_x, 2 * np.array([0.5, 2.0]) * terms, rtol=1e-14)
        np.testing.assert_array_equal(by_k, 0)
    hessian = ag.hessian(lambda x: np.sum(x * x * HYPERGEOM.logsf(np.array([3.0, 4.0]), 20.0, 7.0, 0 * x + 12.0)))
    np.testing.assert_allclose(hessian(np.array([0.5, 2.0])), np.diag(2 * terms), rtol=1e-14)
    assert ag.jvp(lambda k: HYPERGEOM.sf(k, 20, 7, 12), (3.0,), (1.0,))[1] == 0
    mapped = ag.vmap(lambda k: HYPERGEOM.sf(k, 20, 7, 12))(np.arange(4.0))
    np.testing.assert_allclose(mapped, scipy.stats.hypergeom.sf(np.arange(4), 20, 7, 12), rtol=1e-12)


# ---- nbinom ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["pmf", "logpmf", "cdf", "logcdf", "sf", "logsf"])
def test_sure_success_leaves_the_count_0(method):
    k, p = np.arange(-1.0, 4.0), np.array([[1.0], [0.3]])
    computed = getattr(NBINOM, method)(k, 2.5, p)
    np.testing.assert_allclose(computed, getattr(scipy.stats.nbinom, method)(k, 2.5, p), rtol=1e-12)
    compiled = ag.compile(lambda k, p: getattr(NBINOM, method)(k, 2.5, p))
    for values in (p, p[::-1]):
        np.testing.assert_allclose(compiled(k, values), getattr(NBINOM, method)(k, 2.5, values), rtol=1e-14)


def test_sure_success_has_quantiles_moments_and_draws():
    q = np.array([0.0, 0.5, 1.0])
    of = scipy.stats.nbinom(2.5, 1.0)
    np.testing.assert_array_equal(NBINOM.ppf(q, 2.5, 1.0), of.ppf(q))
    np.testing.assert_array_equal(NBINOM.isf(q, 2.5, 1.0), of.isf(q))
    assert (NBINOM.mean(2.5, 1.0), NBINOM.var(2.5, 1.0), NBINOM.median(2.5, 1.0)) == (0, 0, 0)
    draws = NBINOM.rvs(2.5, [1.0, 0.5], size=(500, 2), random_state=1)
    assert draws.dtype == np.int64
    assert not np.any(draws[:, 0])
    assert np.mean(draws[:, 1]) == pytest.approx(2.5, abs=0.5)
    for p in (0.0, 1.0000001, np.nan):
        for method in (NBINOM.mean, lambda n, p: NBINOM.pmf(1, n, p), NBINOM.rvs):
            with pytest.raises(ag.DomainError, match=r"stats.nbinom.\w+: p is .*, but must be between 0 and 1, not 0"):
                method(2.0, p)


def test_derivatives_at_sure_success_are_those_from_within():
    """With F(0) = p^n, F(1) = p^n (1 + n (1 - p)), and F(2) = 1 up to terms of third order."""
    n = 2.5
    first, second = {0: n, 1: 0.0, 2: 0.0}, {0: n * (n - 1), 1: -n * (n + 1), 2: 0.0}
    for k in range(3):

        def cdf(p, n=n, k=k):
            return NBINOM.cdf(k, n, p)

        assert ag.grad(cdf)(1.0) == pytest.approx(first[k], abs=1e-15)
        assert ag.hessian(cdf)(1.0) == pytest.approx(second[k], abs=1e-14)
        of_log = second[k] - first[k] ** 2
        assert ag.hessian(lambda p, k=k: NBINOM.logcdf(k, n, p))(1.0) == pytest.approx(of_log, abs=1e-14)
        assert ag.grad(cdf, 1)(1.0, n) == 0
    assert ag.grad(lambda p: NBINOM.logpmf(0, n, p))(1.0) == n
    near = ag.grad(lambda p: NBINOM.logpmf(3, n, p))
    assert ag.compile(near)(0.3) == near(0.3) == pytest.approx(n / 0.3 - 3 / 0.7, rel=1e-13)
