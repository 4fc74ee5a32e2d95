"""Half-normal and half-Cauchy distributions: both tails in value and derivatives, against mpmath and SciPy."""

import mpmath
import numpy as np
import pytest
import scipy.stats

import agrad as ag

pytestmark = pytest.mark.thread_unsafe(reason="mpmath's precision belongs to the process")

RATIOS = (1e-300, 1e-9, 1e-3, 0.2, 0.26, 0.49, 0.51, 0.99, 1.01, 3.0, 30.0)
SIGMA = 1.5


def half_normal(end, y, sigma):
    z = y / sigma / mpmath.sqrt(2)
    return {
        "lpdf": lambda: mpmath.log(2 / mpmath.pi) / 2 - mpmath.log(sigma) - z * z,
        "cdf": lambda: mpmath.erf(z),
        "lcdf": lambda: mpmath.log(mpmath.erf(z)) if z < 1 else mpmath.log1p(-mpmath.erfc(z)),
        "lccdf": lambda: mpmath.log1p(-mpmath.erf(z)) if z < 1 else mpmath.log(mpmath.erfc(z)),
    }[end]()


def half_cauchy(end, y, sigma):
    up, beyond = 2 * mpmath.atan2(y, sigma) / mpmath.pi, 2 * mpmath.atan2(sigma, y) / mpmath.pi
    return {
        "lpdf": lambda: -mpmath.log(mpmath.pi * sigma / 2) - mpmath.log1p((y / sigma) ** 2),
        "cdf": lambda: up,
        "lcdf": lambda: mpmath.log(up) if y < sigma else mpmath.log1p(-beyond),
        "lccdf": lambda: mpmath.log1p(-up) if y < sigma else mpmath.log(beyond),
    }[end]()


EXACT = {"half_normal": half_normal, "half_cauchy": half_cauchy}


@pytest.mark.parametrize("end", ["lpdf", "cdf", "lcdf", "lccdf"])
@pytest.mark.parametrize("family", EXACT)
def test_values_and_derivatives_in_both_tails(family, end):
    function = getattr(ag, f"{family}_{end}")
    of = lambda x: function(*x)  # noqa: E731
    gradient, hessian = ag.compile(ag.grad(of)), ag.compile(ag.hessian(of))
    for ratio in RATIOS if family == "half_normal" else [*RATIOS, 1e9, 1e100]:
        x = np.array([ratio * SIGMA, SIGMA])
        with mpmath.workdps(700):
            at = lambda *z, end=end: EXACT[family](end, *z)  # noqa: E731
            exact = [mpmath.mpf(each) for each in x]
            value = float(at(*exact))
            first = [float(mpmath.diff(at, tuple(exact), order)) for order in ((1, 0), (0, 1))]
            mixed, by_sigma = (float(mpmath.diff(at, tuple(exact), order)) for order in ((1, 1), (0, 2)))
        assert of(x) == pytest.approx(value, rel=1e-13, abs=0)
        np.testing.assert_allclose(gradient(x), first, rtol=1e-13)
        second = hessian(x)
        assert second[1, 1] == pytest.approx(by_sigma, rel=1e-12)
        assert abs(second[0, 1] - mixed) <= 1e-12 * abs(mixed) + 1e-15 * abs(by_sigma * SIGMA / x[0])


@pytest.mark.parametrize("name", ["halfnorm", "halfcauchy"])
def test_methods_are_scipys(name):
    ours, theirs = (getattr(module, name)(0.5, 2.0) for module in (ag.stats, scipy.stats))
    x = np.array([-1.0, 0.5, 0.7, 2.0, 7.0, 40.0])
    with np.errstate(divide="ignore"):
        for method in ("logpdf", "pdf", "cdf", "sf", "logcdf", "logsf"):
            np.testing.assert_allclose(getattr(ours, method)(x), getattr(theirs, method)(x), rtol=1e-12, atol=1e-300)
    q = np.array([0.0, 1e-300, 1e-9, 0.2, 0.5, 0.999, 1.0])
    np.testing.assert_allclose(ours.ppf(q), theirs.ppf(q), rtol=1e-13)
    np.testing.assert_allclose(ours.isf(q), theirs.isf(q), rtol=1e-13)
    assert ours.support() == (0.5, np.inf)
    np.testing.assert_allclose(
        [ours.mean(), ours.var(), ours.entropy()], [theirs.mean(), theirs.var(), theirs.entropy()], rtol=1e-13
    )
    np.testing.assert_allclose(ours.stats(moments="mvsk"), theirs.stats(moments="mvsk"), rtol=1e-12)
    assert scipy.stats.kstest(ours.rvs(4000, random_state=1), ours.cdf).pvalue > 1e-3
    assert ours.between(0.7, 2.0) == pytest.approx(ours.cdf(2.0) - ours.cdf(0.7), rel=1e-12)


@pytest.mark.parametrize("family", EXACT)
def test_ends_of_the_support(family):
    lpdf, cdf, lcdf, lccdf = (getattr(ag, f"{family}_{end}") for end in ("lpdf", "cdf", "lcdf", "lccdf"))
    assert lpdf(0.0, SIGMA) == pytest.approx(float(EXACT[family]("lpdf", mpmath.mpf(0), mpmath.mpf(SIGMA))), rel=1e-15)
    assert ag.grad(lpdf)(0.0, SIGMA) == 0
    for y, below in ((0.0, 0.0), (-1.0, 0.0), (-np.inf, 0.0), (np.inf, 1.0)):
        assert lpdf(y, SIGMA) == -np.inf or y == 0
        assert (cdf(y, SIGMA), lcdf(y, SIGMA), lccdf(y, SIGMA)) == (
            below,
            0.0 if below else -np.inf,
            -np.inf if below else 0.0,
        )
        if y != 0:
            for function in (cdf, lcdf, lccdf):
                np.testing.assert_array_equal(ag.grad(function, (0, 1))(y, SIGMA), 0)
                np.testing.assert_array_equal(ag.compile(ag.grad(function, (0, 1)))(y, SIGMA), 0)
    with pytest.raises(ag.DomainError, match=f"{family}_lpdf: sigma is 0, but must be positive and finite"):
        lpdf(1.0, 0.0)


def test_they_are_halves():
    y = np.array([0.0, 0.3, 4.0])
    for half, whole in ((ag.stats.halfnorm, ag.stats.norm), (ag.stats.halfcauchy, ag.stats.cauchy)):
        np.testing.assert_allclose(half.logpdf(y, 0.0, 2.0), ag.stats.truncate(whole(0.0, 2.0), 0.0).logpdf(y), rtol=1e-13)
