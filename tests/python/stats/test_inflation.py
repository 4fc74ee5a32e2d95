"""Zero-inflated and hurdle distributions, and truncated ones as parts of others: against SciPy, mpmath and differences."""

import itertools
import pickle

import mpmath
import numpy as np
import pytest
import scipy.integrate
import scipy.stats

import agrad as ag
from differences import jacobian_by_differences

st = ag.stats
K = np.arange(-1, 12)


def poisson_zip(mu, p):
    return np.where(K == 0, p, 0) + (1 - p) * scipy.stats.poisson(mu).pmf(K)


def test_zero_inflated_counts():
    mu, p = 2.3, 0.2
    ours, mass = st.zero_inflate(st.poisson(mu), p), poisson_zip(mu, p)
    np.testing.assert_allclose(ours.pmf(K), mass, rtol=1e-13)
    np.testing.assert_allclose(ours.cdf(K), np.cumsum(mass), rtol=1e-13)
    np.testing.assert_allclose(ours.sf(K), p * (K < 0) + (1 - p) * scipy.stats.poisson(mu).sf(K), rtol=1e-13)
    q = np.array([0.01, 0.2, 0.27, 0.2802, 0.5, 0.9, 0.999])
    np.testing.assert_array_equal(ours.ppf(q), [np.min(K[ours.cdf(K) >= each]) for each in q])
    for each in q:
        k = ours.isf(each)
        assert ours.sf(k) <= each < (ours.sf(k - 1) if k > 0 else 1)
    k = np.arange(60)
    assert ours.mean() == pytest.approx(np.sum(k * ours.pmf(k)), rel=1e-13)
    assert ours.var() == pytest.approx(np.sum(k**2 * ours.pmf(k)) - ours.mean() ** 2, rel=1e-12)
    assert ours.std() == pytest.approx(np.sqrt(ours.var()), rel=1e-15)
    assert ours.support() == (0, np.inf)
    draws = ours.rvs(3000, random_state=1)
    counts = np.array([*(np.sum(draws == j) for j in range(6)), np.sum(draws > 5)])
    assert scipy.stats.chisquare(counts, 3000 * np.array([*ours.pmf(np.arange(6)), ours.sf(5)])).pvalue > 1e-3
    with pytest.raises(AttributeError, match="logpdf"):
        ours.logpdf(1)


def test_hurdle_counts_have_zeros_of_one_kind():
    mu, p = 2.3, 0.35
    ours, whole = st.hurdle(st.poisson(mu), p), scipy.stats.poisson(mu)
    expected = np.where(K == 0, p, np.where(K > 0, (1 - p) * whole.pmf(K) / whole.sf(0), 0))
    np.testing.assert_allclose(ours.pmf(K), expected, rtol=1e-13)
    np.testing.assert_allclose(ours.cdf(K), np.cumsum(expected), rtol=1e-13)
    k = np.arange(60)
    assert ours.mean() == pytest.approx(np.sum(k * ours.pmf(k)), rel=1e-13)
    q = np.array([0.1, 0.35, 0.36, 0.7, 0.99])
    np.testing.assert_array_equal(ours.ppf(q), [np.min(K[ours.cdf(K) >= each]) for each in q])
    assert np.mean(ours.rvs(2000, random_state=4) == 0) == pytest.approx(p, abs=0.05)


def test_zeros_among_positive_numbers():
    a, scale, p = 1.7, 2.0, 0.3
    ours, whole = st.hurdle(st.gamma(a, scale=scale), p), scipy.stats.gamma(a, scale=scale)
    x = np.array([-1.0, 0.0, 0.5, 3.0, 300.0])
    np.testing.assert_allclose(ours.pdf(x), np.where(x == 0, p, (1 - p) * whole.pdf(x)), rtol=1e-13)
    np.testing.assert_allclose(ours.cdf(x), np.where(x < 0, 0, p + (1 - p) * whole.cdf(x)), rtol=1e-13)
    np.testing.assert_allclose(ours.logsf(x), np.where(x < 0, 0, np.log1p(-p) + whole.logsf(x)), rtol=1e-11, atol=1e-15)
    q = np.array([0.0, 0.1, 0.3, 0.4, 0.9, 1 - 1e-9])
    np.testing.assert_allclose(ours.ppf(q), np.where(q <= p, 0, whole.ppf(np.maximum(q - p, 0) / (1 - p))), rtol=1e-7)
    np.testing.assert_allclose(ours.isf(1e-200), whole.isf(1e-200 / (1 - p)), rtol=1e-12)
    assert ours.mean() == pytest.approx((1 - p) * whole.mean(), rel=1e-14)
    shifted = st.zero_inflate(st.norm(0.5, 1.0), p)  # of either sign
    for q in (0.05, 0.2, 0.45, 0.6, 0.9):
        x = shifted.ppf(q)
        assert x == 0 or shifted.cdf(x) == pytest.approx(q, rel=1e-12)
        assert shifted.cdf(x - 1e-9) < q <= shifted.cdf(x + 1e-9)


@pytest.mark.thread_unsafe(reason="mpmath's functions change its precision while they run")
def test_digits_of_logarithms_near_one_and_far_out():
    p, mu = 0.2, 2.3
    ours = st.zero_inflate(st.poisson(mu), p)
    with mpmath.workdps(60):
        tail = lambda k: (1 - mpmath.mpf(p)) * mpmath.gammainc(k + 1, 0, mpmath.mpf(mu), regularized=True)  # noqa: E731
        for k in (5, 30, 100):
            assert ours.logcdf(k) == pytest.approx(float(mpmath.log1p(-tail(k))), rel=1e-13)
            assert ours.logsf(k) == pytest.approx(float(mpmath.log(tail(k))), rel=1e-13)


DISTRIBUTIONS = {
    "poisson": (lambda t: st.zero_inflate(st.poisson(t[0]), t[1]), [2.3, 0.2], [0, 1, 4]),
    "hurdle of nbinom": (lambda t: st.hurdle(st.nbinom(t[0], 0.4), t[1]), [2.3, 0.2], [0, 1, 4]),
    "hurdle of gamma": (lambda t: st.hurdle(st.gamma(t[0], scale=1.5), t[1]), [2.3, 0.2], [0.0, 0.7, 4.0]),
    "truncated twice": (lambda t: st.truncate(st.truncate(st.norm(t[0], t[1]), -1.0), ub=3.0), [0.3, 1.2], [-0.5, 2.0]),
    "censored truncated": (lambda t: st.censor(st.truncate(st.norm(t[0], t[1]), 0.0), 0.4, 2.0), [0.3, 1.2], [0.4, 1.0, 2.0]),
    "inflated truncated": (lambda t: st.zero_inflate(st.truncate(st.poisson(t[0]), 0, 5), t[1]), [2.3, 0.2], [0, 2, 5]),
}


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_derivatives_in_every_way(name):
    make, at, x = DISTRIBUTIONS[name]
    at, x = np.array(at), np.array(x)
    density = "logpmf" if make(at)._is_discrete else "logpdf"
    for method in (density, "logcdf", "logsf"):
        whole = getattr(make(at), method)(x)
        inside = x[np.isfinite(whole)]
        f = lambda t, method=method, x=inside: getattr(make(t), method)(x)  # noqa: E731
        np.testing.assert_allclose(ag.compile(f)(at), f(at), rtol=1e-14)
        jacobian = ag.jacobian(f)(at)
        np.testing.assert_allclose(jacobian, jacobian_by_differences(f, at), rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(ag.jacfwd(f)(at), jacobian, rtol=1e-12, atol=1e-14)
        total = lambda t, f=f: np.sum(f(t) ** 2)  # noqa: E731
        hessian = ag.hessian(total)(at)
        np.testing.assert_allclose(hessian, jacobian_by_differences(ag.grad(total), at), rtol=1e-7, atol=1e-8)
        np.testing.assert_allclose(ag.compile(ag.jacfwd(ag.grad(total)))(at), hessian, rtol=1e-10, atol=1e-12)
        rows = ag.vmap(f)(np.stack([at, 1.1 * at]))
        np.testing.assert_allclose(rows, [f(at), f(1.1 * at)], rtol=1e-13)


def test_probabilities_of_zero_at_their_ends():
    for p in (0.0, 1.0):
        ours = st.zero_inflate(st.poisson(2.0), p)
        np.testing.assert_allclose(ours.pmf(K), p * (K == 0) + (1 - p) * scipy.stats.poisson(2.0).pmf(K), rtol=1e-14)
        assert ours.ppf(0.5) == (0 if p == 1 else 2)
        slope = ag.grad(lambda p: st.zero_inflate(st.poisson(2.0), p).logpmf(0))(p)
        assert slope == pytest.approx((1 - np.exp(-2.0)) / (p + (1 - p) * np.exp(-2.0)), rel=1e-13)


# ---- truncated distributions as parts of others ----------------------------------------------------------------------


def test_truncated_and_censored():
    mu, sigma = 0.3, 1.2
    inner = st.truncate(st.norm(mu, sigma), 0.0)
    theirs = scipy.stats.truncnorm(-mu / sigma, np.inf, loc=mu, scale=sigma)
    x = np.array([0.5, 1.0, 1.9])
    ours = st.censor(inner, 0.4, 2.0)
    np.testing.assert_allclose(ours.logpdf(x), theirs.logpdf(x), rtol=1e-12)
    np.testing.assert_allclose([ours.logpdf(0.4), ours.logpdf(2.0)], [theirs.logcdf(0.4), theirs.logsf(2.0)], rtol=1e-12)
    np.testing.assert_allclose(ours.ppf([0.0, 0.5, 1.0]), [0.4, theirs.median(), 2.0], rtol=1e-12)
    twice = st.truncate(st.truncate(st.norm(mu, sigma), 0.0), -1.0, 3.0)
    once = st.truncate(st.norm(mu, sigma), 0.0, 3.0)
    for method in ("logpdf", "cdf", "sf"):
        np.testing.assert_allclose(getattr(twice, method)(x), getattr(once, method)(x), rtol=1e-13)
    q = np.array([0.0, 0.1, 0.5, 1.0])
    np.testing.assert_allclose(twice.ppf(q), once.ppf(q), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(once.isf(q), once.ppf(1 - q), rtol=1e-12, atol=1e-15)
    lower, upper = np.array([-2.0, 1.0, 2.5]), np.array([1.0, 2.0, 5.0])
    np.testing.assert_allclose(once.logbetween(lower, upper), np.log(once.cdf(upper) - once.cdf(lower)), rtol=1e-12)
    assert once.logbetween(4.0, 5.0) == -np.inf
    assert once.between(1.0, 2.0) == pytest.approx(once.cdf(2.0) - once.cdf(1.0), rel=1e-12)
    assert twice.mean() == pytest.approx(once.mean(), rel=1e-13)
    copy = pickle.loads(pickle.dumps(ours))
    assert copy.logpdf(0.7) == ours.logpdf(0.7)


def test_quantiles_of_truncated_counts_from_above():
    ours = st.truncate(st.poisson(2.5), 1, 6)
    for q in (0.001, 0.2, 0.5, 0.97):
        k = ours.isf(q)
        assert ours.sf(k) <= q
        assert k == 1 or ours.sf(k - 1) > q


MEANS = [
    (st.norm(0.3, 2.0), -1.0, 3.5),
    (st.norm(0.3, 2.0), 0.5, 0.5 + 1e-6),
    (st.norm(0.3, 2.0), -np.inf, 1.0),
    (st.norm(0.3, 2.0), 30.0, np.inf),
    (st.norm(0.3, 2.0), 30.0, 30.001),
    (st.uniform(1.0, 2.0), 0.0, 2.5),
    (st.gamma(1.7, 0.5, 2.0), 1.0, 4.0),
    (st.chi2(3.0), 1.0, np.inf),
    (st.expon(0.5, 2.0), 1.0, 1.01),
    (st.lognorm(0.7, 0.2, 3.0), 1.0, 9.0),
    (st.beta(2.0, 3.0, 1.0, 2.0), 1.5, 2.9),
]


@pytest.mark.parametrize("case", range(len(MEANS)))
def test_means_of_truncated_numbers(case):
    distribution, lb, ub = MEANS[case]
    whole = getattr(scipy.stats, distribution.dist.name)(*distribution.args)
    low, high = max(lb, whole.support()[0]), min(ub, whole.support()[1])
    low, high = max(low, whole.mean() - 40 * whole.std()), min(high, whole.mean() + 60 * whole.std())
    points = np.linspace(low, high, 41)
    middle = np.max(whole.logpdf(points[1:-1]))
    moment = [
        sum(
            scipy.integrate.quad(lambda x, k=k: (x - low) ** k * np.exp(whole.logpdf(x) - middle), *ends, epsabs=0)[0]
            for ends in itertools.pairwise(points)
        )
        for k in (0, 1)
    ]
    mean = st.truncate(distribution, lb, ub).mean()
    assert mean - low == pytest.approx(moment[1] / moment[0], rel=1e-9, abs=1e-13 * abs(low))


@pytest.mark.parametrize(
    ("distribution", "lb", "ub"),
    [(st.poisson(2.5), 1, 6), (st.binom(9, 0.3), 2, np.inf), (st.nbinom(2.5, 0.4), 1, 30), (st.poisson(2.5, loc=2), 3, 9)],
)
def test_means_of_truncated_counts(distribution, lb, ub):
    ours, k = st.truncate(distribution, lb, ub), np.arange(60)
    assert ours.mean() == pytest.approx(np.sum(k * ours.pmf(k)), rel=1e-13)


def test_derivatives_of_truncated_means():
    for make, at in (
        (lambda t: st.truncate(st.norm(t[0], t[1]), t[2], 2.0), [0.3, 1.2, -0.4]),
        (lambda t: st.truncate(st.norm(t[0], t[1]), t[2], 2.0), [0.3, 1.2, 1.9]),
        (lambda t: st.truncate(st.gamma(t[0], scale=t[1]), t[2]), [1.3, 1.2, 0.4]),
    ):
        mean = lambda t, make=make: make(t).mean()  # noqa: E731
        at = np.array(at)
        np.testing.assert_allclose(ag.grad(mean)(at), jacobian_by_differences(mean, at), rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(ag.hessian(mean)(at), jacobian_by_differences(ag.grad(mean), at), rtol=1e-6, atol=1e-7)


def test_errors():
    with pytest.raises(ag.DomainError, match=r"stats.zero_inflate: p is 1.5, but must be between 0 and 1"):
        st.zero_inflate(st.poisson(2.0), 1.5)
    with pytest.raises(TypeError, match=r"stats.truncate: distribution is of the type Censored"):
        st.truncate(st.censor(st.norm(), 0.0), 1.0)
    with pytest.raises(TypeError, match=r"stats.zero_inflate: distribution is of the type rv_discrete_frozen"):
        st.zero_inflate(scipy.stats.poisson(2.0), 0.5)
    with pytest.raises(TypeError, match=r"stats.truncate.mean: distribution is agrad.stats.logistic, but must be one of"):
        st.truncate(st.logistic(), 0.0).mean()
    with pytest.raises(TypeError, match=r"stats.zero_inflate.rvs: a parameter is a recorded value"):
        ag.grad(lambda p: st.zero_inflate(st.gamma(2.0), p).rvs())(0.5)
    assert repr(st.zero_inflate(st.poisson(2.0), 0.5)) == "agrad.stats.zero_inflate(agrad.stats.poisson(2.0), 0.5)"
