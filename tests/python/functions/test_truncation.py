"""Truncated and censored distributions: against SciPy and mpmath, in both tails, for counts, and as parts of a likelihood."""

import pickle

import mpmath
import numpy as np
import pytest
import scipy.integrate
import scipy.stats

import agrad as ag

pytestmark = pytest.mark.thread_unsafe(reason="mpmath's precision belongs to the process")


def test_a_truncated_normal_distribution_is_scipys():
    mu, sigma, lb, ub = 0.3, 2.0, -1.0, 3.5
    ours = ag.stats.truncate(ag.stats.norm(mu, sigma), lb, ub)
    theirs = scipy.stats.truncnorm((lb - mu) / sigma, (ub - mu) / sigma, loc=mu, scale=sigma)
    x = np.array([-2.0, -1.0, -0.5, 0.3, 2.0, 3.5, 4.0])
    q = np.array([0.0, 0.01, 0.5, 0.9, 1.0])
    with np.errstate(divide="ignore"):
        for method in ("logpdf", "pdf", "logcdf", "cdf", "logsf", "sf"):
            np.testing.assert_allclose(getattr(ours, method)(x), getattr(theirs, method)(x), rtol=1e-12)
    np.testing.assert_allclose(ours.ppf(q), theirs.ppf(q), rtol=1e-11)
    assert ours.median() == pytest.approx(theirs.median(), rel=1e-12)
    assert ours.support() == (lb, ub)
    assert scipy.integrate.quad(ours.pdf, lb, ub)[0] == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize("sign", [-1, 1])
def test_digits_are_kept_in_both_tails(sign):
    """At 40 standard deviations the probability of the tail underflows."""

    def density(parameters, x=40.5):
        mu, sigma, lb, ub = parameters
        ends = (lb, ub) if sign == 1 else (-ub, -lb)
        return ag.stats.truncate(ag.stats.norm(sign * mu, sigma), *ends).logpdf(sign * x)

    def exact(mu, sigma, lb, ub):
        x = mpmath.mpf("40.5")
        tail = mpmath.erfc((lb - mu) / sigma / mpmath.sqrt(2)) / 2 - mpmath.erfc((ub - mu) / sigma / mpmath.sqrt(2)) / 2
        return mpmath.log(mpmath.npdf(x, mu, sigma)) - mpmath.log(tail)

    at = np.array([0.1, 1.0, 40.0, 41.0])
    gradient = ag.grad(density)(at)
    with mpmath.workdps(60):
        arguments = tuple(map(mpmath.mpf, at))
        assert density(at) == pytest.approx(float(exact(*arguments)), rel=1e-12)
        for k in range(4):
            order = tuple(int(j == k) for j in range(4))
            assert gradient[k] == pytest.approx(float(mpmath.diff(exact, arguments, order)), rel=1e-10)


def test_quantiles_invert_and_random_numbers_fit():
    for distribution, lb, ub in [
        (ag.stats.norm(0.0, 1.0), 6.0, np.inf),
        (ag.stats.norm(0.0, 1.0), -np.inf, -6.0),
        (ag.stats.gamma(2.0, scale=1.5), 1.0, 4.0),
        (ag.stats.gumbel_l(0.0, 2.0), -3.0, 1.0),
        (ag.stats.expon(scale=2.0), 0.0, 5.0),
    ]:
        cut = ag.stats.truncate(distribution, lb, ub)
        q = np.array([0.0, 1e-9, 0.2, 0.5, 0.999, 1.0])
        np.testing.assert_allclose(cut.cdf(cut.ppf(q)), q, rtol=1e-7, atol=1e-9)
        draws = cut.rvs(2000, random_state=3)
        assert np.all((draws >= lb) & (draws <= ub))
        assert scipy.stats.kstest(draws, cut.cdf).pvalue > 1e-3
    with pytest.raises(ag.DomainError, match=r"stats.truncate.ppf: probability from lb to ub is 0, but must be positive"):
        ag.stats.truncate(ag.stats.norm(0.0, 1.0), 40.0).ppf(0.5)


def test_truncated_counts():
    lb, ub, mu = 1, 6, 2.5
    ours, whole = ag.stats.truncate(ag.stats.poisson(mu), lb, ub), scipy.stats.poisson(mu)
    k = np.arange(-1, 9)
    mass = whole.cdf(ub) - whole.cdf(lb - 1)
    inside = (k >= lb) & (k <= ub)
    np.testing.assert_allclose(ours.pmf(k), np.where(inside, whole.pmf(k) / mass, 0), rtol=1e-13)
    np.testing.assert_allclose(ours.cdf(k), np.cumsum(ours.pmf(k)), rtol=1e-13)
    np.testing.assert_allclose(ours.sf(k), 1 - np.cumsum(ours.pmf(k)), atol=1e-15)
    q = np.array([0.01, 0.3, 0.5, 0.99])
    np.testing.assert_array_equal(ours.ppf(q), [np.min(k[(ours.cdf(k) >= each) & inside]) for each in q])
    draws = ours.rvs(3000, random_state=1)
    counts = np.array([np.sum(draws == each) for each in range(lb, ub + 1)])
    assert scipy.stats.chisquare(counts, 3000 * ours.pmf(np.arange(lb, ub + 1))).pvalue > 1e-3
    positive = ag.stats.truncate(ag.stats.poisson(mu), 1)  # the zero-truncated Poisson distribution
    np.testing.assert_allclose(positive.pmf(k[2:]), whole.pmf(k[2:]) / -np.expm1(-mu), rtol=1e-13)
    with pytest.raises(AttributeError, match="logpdf"):
        ours.logpdf(1)


def test_a_censored_likelihood_has_the_tails_at_its_ends():
    y = np.array([0.5, 0.5, 1.3, 2.0, 4.0])  # limits of quantification at 0.5 and 4

    def likelihood(p):
        return ag.stats.censor(ag.stats.lognorm(p[1], scale=np.exp(p[0])), 0.5, 4.0).logpdf(y).sum()

    def by_hand(p):
        inner = ag.lognormal_lpdf(y[2:4], p[0], p[1])
        return 2 * ag.lognormal_lcdf(0.5, p[0], p[1]) + inner + ag.lognormal_lccdf(4.0, p[0], p[1])

    at = np.array([0.4, 0.9])
    assert likelihood(at) == pytest.approx(by_hand(at), rel=1e-14)
    np.testing.assert_allclose(ag.grad(likelihood)(at), ag.grad(by_hand)(at), rtol=1e-13)
    np.testing.assert_allclose(ag.hessian(likelihood)(at), ag.hessian(by_hand)(at), rtol=1e-12)
    np.testing.assert_allclose(ag.compile(ag.grad(likelihood))(at), ag.grad(by_hand)(at), rtol=1e-13)


def test_reports_of_a_censored_distribution():
    whole = scipy.stats.norm(0.0, 1.0)
    ours = ag.stats.censor(ag.stats.norm(0.0, 1.0), -1.0, 1.5)
    inner = scipy.integrate.quad(ours.pdf, -1.0, 1.5)[0]
    assert inner + ours.pdf(-1.0) + ours.pdf(1.5) == pytest.approx(1, rel=1e-9)
    assert (ours.pdf(-1.1), ours.pdf(1.6)) == (0, 0)
    np.testing.assert_allclose(ours.cdf([-1.1, -1.0, 0.0, 1.5]), [0, whole.cdf(-1), 0.5, 1], rtol=1e-14)
    np.testing.assert_allclose(ours.sf([-1.1, -1.0, 0.0, 1.5]), [1, whole.sf(-1), 0.5, 0], rtol=1e-14)
    np.testing.assert_allclose(ours.ppf([0.0, 0.1, 0.5, 1.0]), [-1, -1, 0, 1.5], atol=1e-15)
    assert ours.support() == (-1.0, 1.5)
    draws = ours.rvs(1000, random_state=2)
    assert np.mean(draws == -1.0) == pytest.approx(whole.cdf(-1.0), abs=0.05)
    counts = ag.stats.censor(ag.stats.poisson(2.5), 1, 4)
    assert sum(counts.pmf(k) for k in range(6)) == pytest.approx(1, rel=1e-14)
    assert counts.pmf(4) == pytest.approx(scipy.stats.poisson(2.5).sf(3), rel=1e-14)


def test_ends_and_distributions_are_checked():
    with pytest.raises(ag.DomainError, match=r"stats.truncate: ub - lb is -1, but must be nonnegative"):
        ag.stats.truncate(ag.stats.norm(0.0, 1.0), 1.0, 0.0)
    with pytest.raises(ag.DomainError, match=r"stats.censor: lb is nan, but must be a number"):
        ag.stats.censor(ag.stats.norm(0.0, 1.0), np.nan)
    with pytest.raises(ag.DomainError, match=r"stats.truncate: log probability from lb to ub is -inf, but must be finite"):
        ag.stats.truncate(ag.stats.gamma(2.0), -2.0, -1.0)
    with pytest.raises(TypeError, match=r"stats.truncate: distribution is of the type rv_continuous_frozen"):
        ag.stats.truncate(scipy.stats.norm(), 0.0)
    cut = ag.stats.truncate(ag.stats.norm, 0.0)
    assert repr(cut) == "agrad.stats.truncate(agrad.stats.norm(), 0.0, inf)"
    copy = pickle.loads(pickle.dumps(ag.stats.truncate(ag.stats.norm(1.0, scale=2.0), 0.0, 3.0)))
    assert copy.logpdf(0.5) == ag.stats.truncate(ag.stats.norm(1.0, scale=2.0), 0.0, 3.0).logpdf(0.5)


def test_entries_broadcast_against_ends():
    ends = np.array([0.0, 1.0, 2.0])
    cut = ag.stats.truncate(ag.stats.norm(np.zeros((2, 1)), 1.0), ends)
    assert cut.logpdf(2.5).shape == (2, 3)
    assert cut.rvs(random_state=1).shape == (2, 3)
    by_vmap = ag.vmap(lambda lb: ag.stats.truncate(ag.stats.norm(0.0, 1.0), lb).logpdf(2.5))(ends)
    np.testing.assert_allclose(by_vmap, cut.logpdf(2.5)[0], rtol=1e-15)
