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


@pytest.mark.parametrize("method", ["logcdf", "logsf"])
@pytest.mark.parametrize("x", [-1 + 1e-12, -0.9, 0.5, 1.999, 2 - 1e-12])
def test_shares_near_one_keep_their_digits(method, x):
    """Near an end the logarithm is that of the share beyond: a difference of the two logarithms would have no digits."""

    def share(parameters):
        x, mu, sigma, lb, ub = parameters
        return getattr(ag.stats.truncate(ag.stats.norm(mu, sigma), lb, ub), method)(x)

    def exact(x, mu, sigma, lb, ub):
        of_x, of_lb, of_ub = (mpmath.erfc((mu - y) / sigma / mpmath.sqrt(2)) for y in (x, lb, ub))
        return mpmath.log((of_x - of_lb if method == "logcdf" else of_ub - of_x) / (of_ub - of_lb))

    at = np.array([x, 0.3, 0.8, -1.0, 2.0])
    gradient, hessian = ag.grad(share)(at), ag.hessian(share)(at)
    with mpmath.workdps(60):
        arguments = tuple(map(mpmath.mpf, at))
        assert share(at) == pytest.approx(float(exact(*arguments)), rel=1e-14)
        step = mpmath.mpf(10) ** -22
        for k in range(5):
            order = tuple(int(j == k) for j in range(5))
            assert gradient[k] == pytest.approx(float(mpmath.diff(exact, arguments, order, h=step)), rel=1e-13, abs=1e-15)
        by_x = mpmath.diff(exact, arguments, (2, 0, 0, 0, 0), h=step)
        assert hessian[0, 0] == pytest.approx(float(by_x), rel=1e-11)


def test_slopes_vanish_where_a_share_is_nothing_or_everything():
    def share(parameters, method, x):
        return getattr(ag.stats.truncate(ag.stats.norm(parameters[0], parameters[1]), -1.0, 2.0), method)(x)

    for method, at_lb, at_ub in [("logcdf", -np.inf, 0.0), ("logsf", 0.0, -np.inf), ("cdf", 0.0, 1.0), ("sf", 1.0, 0.0)]:
        for x, value in [(-3.0, at_lb), (-1.0, at_lb), (2.0, at_ub), (5.0, at_ub)]:
            at = np.array([0.3, 0.8])
            assert share(at, method, x) == value
            np.testing.assert_array_equal(ag.grad(lambda p, m=method, x=x: share(p, m, x))(at), 0)
            np.testing.assert_array_equal(ag.hessian(lambda p, m=method, x=x: share(p, m, x))(at), 0)


@pytest.mark.parametrize(
    ("frozen", "lb", "ub"),
    [
        (ag.stats.poisson(3.0), 2, 9),
        (ag.stats.poisson(3.0), 0.5, 7.7),
        (ag.stats.binom(10, 0.3), 1.5, 6.5),
        (ag.stats.binom(10, 0.3), -3.5, np.inf),
        (ag.stats.nbinom(3.0, 0.4), 2, 9),
        (ag.stats.yulesimon(2.0), -0.5, 9),
        (ag.stats.betabinom(7, 2.0, 3.0), 2, 9),
        (ag.stats.betanbinom(5, 2.0, 9.0), 5, 11.5),
        (ag.stats.hypergeom(20, 7, 12), -3.5, 4.2),
    ],
)
def test_quantiles_of_truncated_counts_are_whole_and_invert(frozen, lb, ub):
    cut = ag.stats.truncate(frozen, lb, ub)
    least, largest = cut.support()
    ends = frozen.support()
    assert (least, largest) == (max(np.ceil(lb), ends[0]), min(np.floor(ub), ends[1]))
    k = np.arange(least, largest + 1)
    np.testing.assert_array_equal(cut.ppf(cut.cdf(k)), k)
    np.testing.assert_array_equal(cut.ppf([0.0, 1.0]), [least, largest])
    np.testing.assert_allclose(cut.cdf(k), np.cumsum(cut.pmf(k)), rtol=1e-13)
    np.testing.assert_allclose(cut.sf(k), 1 - np.cumsum(cut.pmf(k)), atol=1e-14)
    draws = cut.rvs(200, random_state=1)
    assert np.all((draws == np.floor(draws)) & (draws >= least) & (draws <= largest))


@pytest.mark.parametrize("cut", [ag.stats.truncate, ag.stats.censor])
def test_arguments_of_random_numbers_are_checked(cut):
    bounded = cut(ag.stats.norm(np.zeros(2)), -1.0, 1.0)
    name = f"stats.{cut.__name__}.rvs"
    with pytest.raises(ag.ShapeError, match=rf"{name}: size is \(2, 3\), but must be a shape to which"):
        bounded.rvs((2, 3))
    with pytest.raises(ag.ShapeError, match=rf"{name}: size is -1, but must not be negative"):
        bounded.rvs(-1)
    with pytest.raises(TypeError, match=rf"{name}: random_state is 'seed', but must be a numpy.random.Generator"):
        bounded.rvs(random_state="seed")
    with pytest.raises(TypeError, match=rf"{name}: a parameter or an end is a recorded value, but must be plain"):
        ag.grad(lambda mu: cut(ag.stats.norm(mu), -1.0, 1.0).rvs())(0.0)
