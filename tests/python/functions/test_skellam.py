"""The Skellam distribution: masses and both tails in value and derivatives, for rates from 1e-12 to 1e15, against mpmath."""

import mpmath
import numpy as np
import pytest
import scipy.stats

import agrad as ag
from probability_reference import skellam_share

pytestmark = pytest.mark.thread_unsafe(reason="mpmath's precision belongs to the process")

RATES = [(0.3, 0.2), (2.0, 5.0), (1e-3, 4.0), (30.0, 20.0), (200.0, 1.0), (1e-8, 1e-9), (1e-12, 1.0), (300.0, 280.0)]


def counts(mu1, mu2):
    mean, deviation = mu1 - mu2, np.sqrt(mu1 + mu2)
    return sorted({0, 1, -1, 60, -60, *(round(mean + z * deviation) for z in (-15, -3, 0, 3, 15))})


def exact(n, mu1, mu2):
    """Return value, gradient and second derivatives (11, 12, 22) of each function, by masses of neighbouring counts."""
    with mpmath.workdps(60):
        mu1, mu2 = mpmath.mpf(mu1), mpmath.mpf(mu2)

        def log_mass(k):
            return k * mpmath.log(mu1 / mu2) / 2 - mu1 - mu2 + mpmath.log(mpmath.besseli(abs(k), 2 * mpmath.sqrt(mu1 * mu2)))

        p = {k: mpmath.exp(log_mass(k)) for k in range(n - 2, n + 4)}
        by1, by2 = (lambda k: p[k - 1] - p[k]), (lambda k: p[k + 1] - p[k])
        of_mass = [by1(n), by2(n), by1(n - 1) - by1(n), by2(n - 1) - by2(n), by2(n + 1) - by2(n)]
        lower, upper = skellam_share(n, mu1, mu2)
        of_lower = [-p[n], p[n + 1], -by1(n), -by2(n), by2(n + 1)]

        def logarithm(value, f, log):
            a, b, aa, ab, bb = (each / f for each in value)
            return [log, a, b, aa - a * a, ab - a * b, bb - b * b]

        log_of = lambda x, rest: mpmath.log(x) if x < rest else mpmath.log1p(-rest)  # noqa: E731
        return {
            "lpmf": logarithm(of_mass, p[n], log_mass(n)),
            "cdf": [lower, *of_lower],
            "lcdf": logarithm(of_lower, lower, log_of(lower, upper)),
            "lccdf": logarithm([-each for each in of_lower], upper, log_of(upper, lower)),
        }


@pytest.mark.parametrize(("mu1", "mu2"), RATES)
def test_values_and_derivatives_in_both_tails(mu1, mu2):
    x, scale = np.array([mu1, mu2]), np.array([mu1, mu2, mu1**2, mu1 * mu2, mu2**2])
    for n in counts(mu1, mu2):
        for end, expected in exact(n, mu1, mu2).items():
            function = getattr(ag, f"skellam_{end}")
            of = lambda x, n=n, function=function: function(n, *x)  # noqa: E731
            value, *slopes = (float(each) for each in expected)
            assert of(x) == pytest.approx(value, rel=3e-13, abs=1e-307), (end, n)
            hessian = ag.hessian(of)(x)
            computed = np.array([*ag.grad(of)(x), hessian[0, 0], hessian[0, 1], hessian[1, 1]]) * scale
            wanted = np.array(slopes) * scale
            # Second derivatives are differences of products of the first ones.
            sizes = np.repeat(
                [np.max(np.abs(wanted[:2])), max(np.max(np.abs(wanted)), np.max(np.abs(wanted[:2])) ** 2)], [2, 3]
            )
            sizes = np.maximum(sizes, 1e-3 * np.repeat([np.max(x), np.max(x) ** 2], [2, 3]) * (end != "cdf"))
            assert np.all(np.abs(computed - wanted) <= 1e-12 * sizes + 1e-300), (end, n, computed, wanted)


#: Large rates, with the logarithms of the mass, of the probability up to n and of that beyond n, by mpmath's integrals of the
#: generating function around a circle.
LARGE = [
    (9564, 1e5, 9e4, -7.4965410285210467, -1.8396587099280808, -0.17301100065381249),
    (12179, 1e5, 9e4, -19.488857126232227, -2.8723185132986435e-7, -15.062976246578405),
    (20897, 1e5, 9e4, -319.0856431671262, -4.4874661873816478e-138, -316.25545461423761),
    (-8485281, 1e12, 1e12, -33.081021093666607, -20.73676514289935, -9.86591401545039e-10),
    (424264, 1e12, 1e12, -15.126022666872868, -0.4814099733566732, -0.962103122576309),
    (9999900000, 1e10, 1e-3, -12.931860654833235, -1.84101400407239, -0.17275521990757076),
    (10002500000, 1e10, 1e-3, -324.90595082055192, -3.1369393782952414e-138, -316.61349522889502),
    (989999809317017, 1e15, 1e13, -36.193302916758076, -20.7367699640299, -9.8658664507055582e-10),
    (990000009534149, 1e15, 1e13, -18.238301899165409, -0.48141015188904141, -0.96210283385472838),
]


@pytest.mark.parametrize(("n", "mu1", "mu2", "mass", "lower", "upper"), LARGE)
def test_large_rates(n, mu1, mu2, mass, lower, upper):
    assert ag.skellam_lpmf(n, mu1, mu2) == pytest.approx(mass, rel=2e-15)
    assert ag.skellam_lcdf(n, mu1, mu2) == pytest.approx(lower, rel=1e-13)
    assert ag.skellam_lccdf(n, mu1, mu2) == pytest.approx(upper, rel=1e-13)
    scale = np.sqrt(mu1 + mu2)
    for function in (ag.skellam_lpmf, ag.skellam_lcdf, ag.skellam_lccdf):
        of = lambda t, function=function: function(n, mu1 + scale * t[0], mu2 + scale * t[1])  # noqa: E731
        assert np.all(np.isfinite(ag.hessian(of)(np.zeros(2))))
    slope = ag.grad(ag.skellam_lcdf, 1)(n, mu1, mu2)
    assert slope == pytest.approx(-np.exp(ag.skellam_lpmf(n, mu1, mu2) - ag.skellam_lcdf(n, mu1, mu2)), rel=1e-12)


def test_methods_are_scipys():
    ours, theirs = (module.skellam(3.5, 2.0, 1) for module in (ag.stats, scipy.stats))
    k = np.arange(-9, 15)
    for method in ("logpmf", "pmf", "cdf", "sf"):
        np.testing.assert_allclose(getattr(ours, method)(k), getattr(theirs, method)(k), rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(np.diff(ours.cdf(k)), ours.pmf(k[1:]), rtol=1e-11)
    q = np.array([0.0, 1e-3, 0.2, 0.5, 0.999, 1.0])
    np.testing.assert_array_equal(ours.ppf(q), theirs.ppf(q))
    assert ours.support() == (-np.inf, np.inf)
    np.testing.assert_allclose(ours.stats(moments="mvsk"), theirs.stats(moments="mvsk"), rtol=1e-13)
    assert ours.between(-2, 3) == pytest.approx(np.sum(ours.pmf(np.arange(-2, 4))), rel=1e-13)
    assert ours.between(-9, 30) == pytest.approx(np.sum(ours.pmf(np.arange(-9, 31))), rel=1e-13)


def test_draws():
    draws = ag.stats.skellam(3.5, 2.0).rvs(20000, random_state=1)
    assert draws.dtype == np.int64
    observed = np.array([np.sum(draws == k) for k in range(-4, 9)])
    expected = 20000 * ag.stats.skellam.pmf(np.arange(-4, 9), 3.5, 2.0)
    assert np.sum((observed - expected) ** 2 / expected) < 40
    with pytest.raises(ag.DomainError, match=r"skellam_rng: mu2 is 1e\+20, but must be at most 2\^52"):
        ag.skellam_rng(1.0, 1e20)


def test_scores_of_a_league():
    """Rates of both sides by maximum likelihood, with the score of the difference."""
    random = np.random.default_rng(4)
    n = random.poisson(1.7, 4000) - random.poisson(1.1, 4000)
    loss = lambda t: -ag.skellam_lpmf(n, np.exp(t[0]), np.exp(t[1]))  # noqa: E731
    best = np.exp(ag.minimize(loss, np.zeros(2)).x)
    np.testing.assert_allclose(best[0] - best[1], np.mean(n), rtol=1e-4)
    np.testing.assert_allclose(best, [1.7, 1.1], rtol=0.1)


def test_outcomes_and_domains():
    assert ag.grad(ag.skellam_lpmf)(3.0, 1.0, 2.0) == 0
    with pytest.raises(ag.DomainError, match=r"skellam_lpmf: n is 1.5, but must be a whole number"):
        ag.skellam_lpmf(1.5, 1.0, 2.0)
    with pytest.raises(ag.DomainError, match="skellam_cdf: mu2 is 0, but must be positive and finite"):
        ag.skellam_cdf(1, 1.0, 0.0)
