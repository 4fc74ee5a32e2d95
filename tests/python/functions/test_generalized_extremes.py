"""Generalized Pareto and extreme value distributions, whose shape passes 0: against mpmath and SciPy, and at the ends."""

import mpmath
import numpy as np
import pytest
import scipy.stats

import agrad as ag

pytestmark = pytest.mark.thread_unsafe(reason="mpmath's precision belongs to the process")

SHAPES = (-0.4, -1e-3, -1e-9, -1e-300, 0.0, 1e-12, 1e-4, 0.2, 1.5)
STANDARD = (-2.0, -0.7, 1e-6, 0.3, 3.0, 30.0, 1e4)
MU, SIGMA = 0.25, 1.5


def log_over_shape(y, mu, sigma, xi):
    """Return log(1 + xi z) / xi by its series where xi z is small."""
    z = (y - mu) / sigma
    u = xi * z
    if abs(u) < mpmath.mpf(10) ** -12:
        return z * sum((-u) ** k / (k + 1) for k in range(8)), u
    return mpmath.log1p(u) / xi, u


def exact(name, *x):
    h, u = log_over_shape(*x)
    is_pareto, end = "pareto" in name, name.rpartition("_")[2]
    if end == "lpdf":
        return -mpmath.log(x[2]) - h - mpmath.log1p(u) - (0 if is_pareto else mpmath.exp(-h))
    upper = mpmath.exp(-h) if is_pareto else -mpmath.expm1(-mpmath.exp(-h))
    lower = -mpmath.expm1(-h) if is_pareto else mpmath.exp(-mpmath.exp(-h))
    return {"cdf": lower, "lcdf": mpmath.log(lower), "lccdf": mpmath.log(upper)}[end]


def derivative(name, x, order):
    """Return a derivative by differences with a step far below the precision that is compared."""
    with mpmath.workdps(90):
        step, x = mpmath.mpf(10) ** -25, [mpmath.mpf(each) for each in x]
        at = lambda *shifts: exact(name, *(a + step * sum(s * (k == j) for k, s in shifts) for j, a in enumerate(x)))  # noqa: E731
        if len(order) == 1:
            (k,) = order
            return float((at((k, 1)) - at((k, -1))) / (2 * step))
        j, k = order
        return float((at((j, 1), (k, 1)) - at((j, 1), (k, -1)) - at((j, -1), (k, 1)) + at((j, -1), (k, -1))) / (4 * step**2))


def points(is_pareto):
    for xi in SHAPES:
        for z in STANDARD:
            if 1 + xi * z > 1e-3 and not (is_pareto and z < 0):
                yield np.array([MU + SIGMA * z, MU, SIGMA, xi])


@pytest.mark.parametrize("end", ["lpdf", "cdf", "lcdf", "lccdf"])
@pytest.mark.parametrize("family", ["generalized_pareto", "generalized_extreme_value"])
def test_values_and_derivatives_while_the_shape_passes_zero(family, end):
    name = f"{family}_{end}"
    function = getattr(ag, name)
    of = lambda x: function(*x)  # noqa: E731
    gradient, hessian = ag.compile(ag.grad(of)), ag.compile(ag.hessian(of))
    for x in points(family == "generalized_pareto"):
        with mpmath.workdps(60):
            value = float(exact(name, *map(mpmath.mpf, x)))
        assert of(x) == pytest.approx(value, rel=3e-14, abs=1e-300)
        first, second = gradient(x), hessian(x)
        expected = np.array([derivative(name, x, (k,)) for k in range(4)])
        np.testing.assert_allclose(first, expected, rtol=3e-14, atol=1e-15 * np.max(np.abs(expected)))
        expected = np.array([[derivative(name, x, (j, k)) for k in range(4)] for j in range(4)])
        np.testing.assert_allclose(second, expected, rtol=5e-13, atol=2e-15 * np.max(np.abs(expected)))


@pytest.mark.parametrize("name", ["genpareto", "genextreme"])
@pytest.mark.parametrize("c", [-0.3, 0.0, 0.25, 1e-8])
def test_methods_are_scipys(name, c):
    ours, theirs = (getattr(module, name)(c, 0.5, 2.0) for module in (ag.stats, scipy.stats))
    x = np.array([-30.0, -1.0, 0.5, 0.7, 2.0, 7.0, 40.0])
    with np.errstate(divide="ignore"):
        for method in ("logpdf", "pdf", "cdf", "sf", "logcdf", "logsf"):
            np.testing.assert_allclose(getattr(ours, method)(x), getattr(theirs, method)(x), rtol=1e-7, atol=1e-14)
    q = np.array([0.0, 1e-9, 0.2, 0.5, 0.999, 1.0])
    np.testing.assert_allclose(ours.ppf(q), theirs.ppf(q), rtol=1e-7)
    at_zero = getattr(ag.stats, name)(c)  # beside another loc small quantiles are rounded
    np.testing.assert_allclose(at_zero.cdf(at_zero.ppf(q[1:-1])), q[1:-1], rtol=1e-13)
    np.testing.assert_allclose(at_zero.sf(at_zero.isf(q[1:-1])), q[1:-1], rtol=1e-13)
    assert ours.support() == pytest.approx(theirs.support(), rel=1e-14)
    np.testing.assert_allclose(
        [ours.mean(), ours.var(), ours.entropy()], [theirs.mean(), theirs.var(), theirs.entropy()], rtol=1e-6
    )
    draws = ours.rvs(4000, random_state=1)
    assert scipy.stats.kstest(draws, ours.cdf).pvalue > 1e-3
    assert ours.between(0.7, 2.0) == pytest.approx(ours.cdf(2.0) - ours.cdf(0.7), rel=1e-12)


def test_moments_against_mpmath():
    with mpmath.workdps(40):
        for c in (-0.45, -0.19, -1e-6, 1e-12, 0.1, 0.3, 2.0):
            once, twice = mpmath.gamma(1 + mpmath.mpf(c)), mpmath.gamma(1 + 2 * mpmath.mpf(c))
            assert ag.stats.genextreme.mean(c) == pytest.approx(float((1 - once) / c), rel=1e-14)
            assert ag.stats.genextreme.var(c) == pytest.approx(float((twice - once**2) / c**2), rel=1e-13)
    assert ag.stats.genextreme.mean(0.0) == pytest.approx(np.euler_gamma, rel=1e-15)
    assert ag.stats.genextreme.var(0.0) == pytest.approx(np.pi**2 / 6, rel=1e-15)
    assert ag.grad(ag.stats.genextreme.mean)(0.0) == pytest.approx(-(np.euler_gamma**2 / 2 + np.pi**2 / 12), rel=1e-14)
    assert (ag.stats.genextreme.mean(-1.0), ag.stats.genextreme.var(-0.5)) == (np.inf, np.inf)
    c = np.array([-0.4, 0.0, 0.2])
    np.testing.assert_allclose(
        ag.stats.genpareto.stats(c, moments="mvsk"), scipy.stats.genpareto.stats(c, moments="mvsk"), rtol=1e-12
    )
    np.testing.assert_array_equal(ag.stats.genpareto.mean([1.0, 2.0]), np.inf)


def test_ends_of_the_support():
    for xi in (-0.5, 0.5):
        end = MU - SIGMA / xi
        beyond = end + np.sign(end) * np.array([0.0, 1.0, np.inf])
        lower = 0.0 if xi > 0 else 1.0
        for family in ("generalized_extreme_value", "generalized_pareto")[: 1 if xi > 0 else 2]:
            terms = {
                key: [getattr(ag, f"{family}_{key}")(y, MU, SIGMA, xi) for y in beyond] for key in ("lpdf", "cdf", "lccdf")
            }
            assert terms["lpdf"] == [-np.inf] * 3
            assert terms["cdf"] == [lower] * 3
            assert terms["lccdf"] == [0.0 if lower == 0 else -np.inf] * 3
            gradient = ag.grad(getattr(ag, f"{family}_cdf"), (0, 1, 2, 3))(beyond[1], MU, SIGMA, xi)
            np.testing.assert_array_equal(gradient, 0)
    assert ag.generalized_pareto_lpdf(MU, MU, SIGMA, 0.3) == pytest.approx(-np.log(SIGMA), rel=1e-15)
    for y, xi in ((np.inf, 0.0), (np.inf, 0.3)):
        assert ag.generalized_pareto_cdf(y, MU, SIGMA, xi) == ag.generalized_extreme_value_cdf(y, MU, SIGMA, xi) == 1
        assert ag.generalized_extreme_value_lpdf(y, MU, SIGMA, xi) == -np.inf
    with pytest.raises(ag.DomainError, match="generalized_pareto_lpdf: sigma is -1, but must be positive and finite"):
        ag.generalized_pareto_lpdf(1.0, 0.0, -1.0, 0.1)


def test_derivatives_of_quantiles_while_the_shape_passes_zero():
    for qf, log in (
        (ag.generalized_pareto_qf, lambda p: -mpmath.log(1 - p)),
        (ag.generalized_extreme_value_qf, lambda p: -mpmath.log(-mpmath.log(p))),
    ):
        for xi in SHAPES:
            for p in (0.01, 0.5, 0.999):
                with mpmath.workdps(80):
                    e = log(mpmath.mpf(p))
                    u = e * mpmath.mpf(xi)
                    moments = [mpmath.quad(lambda t, n=n, u=u: t**n * mpmath.exp(u * t), [0, 1]) for n in range(3)]
                    expected = [float(e ** (n + 1) * moments[n]) for n in range(3)]
                of = lambda xi, qf=qf, p=p: qf(p, 0.0, 1.0, xi)  # noqa: E731
                assert of(xi) == pytest.approx(expected[0], rel=1e-14)
                assert ag.grad(of)(xi) == pytest.approx(expected[1], rel=1e-13)
                assert ag.hessian(of)(xi) == pytest.approx(expected[2], rel=1e-13)


def test_return_levels_of_annual_maxima():
    """A fit by maximum likelihood of maxima, of which the level of 100 years follows."""
    maxima = scipy.stats.genextreme(0.1, 3.87, 0.2).rvs(200, random_state=3)

    def loss(t):
        return -np.sum(ag.stats.genextreme.logpdf(maxima, t[2], t[0], np.exp(t[1])))

    best = ag.minimize(loss, np.array([3.8, np.log(0.3), 0.0])).x
    c, loc, scale = scipy.stats.genextreme.fit(maxima)
    np.testing.assert_allclose(best, [loc, np.log(scale), c], rtol=1e-2, atol=1e-3)
    np.testing.assert_allclose(ag.grad(loss)(best), 0, atol=1e-4)
