"""Draws of vectors, matrices and categories: projections and marginals whose distributions are known, by fixed seeds."""

import numpy as np
import pytest
import scipy.special
import scipy.stats

import agrad as ag

DRAWS = 4000
LEAST = 1e-4  # the least probability of a statistic

MU = np.array([1.0, -2.0, 0.5])
FACTOR = np.array([[1.0, 0.0, 0.0], [0.8, 0.5, 0.0], [-0.3, 2.0, 1.5]])
SIGMA = FACTOR @ FACTOR.T
ALONG = np.array([1.0, -0.4, 0.7])


def draw(name, *parameters, size=DRAWS, seed=7):
    return getattr(ag, f"{name}_rng")(*parameters, rng=seed, size=size)


def require(y, cdf, *parameters):
    assert scipy.stats.kstest(y, cdf, parameters).pvalue > LEAST


def require_mean(y, mean):
    """The mean of independent draws, whose error is normal."""
    error = np.std(y, axis=0) / np.sqrt(len(y))
    z = (np.mean(y, axis=0) - mean) / error
    assert 2 * scipy.stats.norm.sf(np.max(np.abs(z))) * np.size(z) > LEAST


def require_categories(y, p):
    assert y.dtype == np.int64
    assert 0 <= y.min() <= y.max() < len(p)
    observed = np.bincount(y, minlength=len(p))
    assert observed[p == 0].sum() == 0
    assert scipy.stats.chisquare(observed[p > 0], len(y) * p[p > 0]).pvalue > LEAST


# ---- vectors ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "scale"), [("multi_normal", SIGMA), ("multi_normal_cholesky", FACTOR)])
def test_normal_vectors(name, scale):
    y = draw(name, MU, scale)
    assert y.shape == (DRAWS, 3)
    for direction in (*np.eye(3), ALONG, np.linalg.inv(FACTOR)[2]):
        require((y - MU) @ direction / np.sqrt(direction @ SIGMA @ direction), "norm")
    z = np.linalg.solve(FACTOR, (y - MU).T)
    require(np.sum(z * z, 0), "chi2", 3)


@pytest.mark.parametrize(("name", "scale"), [("multi_student_t", SIGMA), ("multi_student_t_cholesky", FACTOR)])
@pytest.mark.parametrize("nu", [0.7, 5.0])
def test_student_t_vectors(name, scale, nu):
    y = draw(name, nu, MU, scale)
    for direction in (*np.eye(3), ALONG):
        require((y - MU) @ direction / np.sqrt(direction @ SIGMA @ direction), "t", nu)
    z = np.linalg.solve(FACTOR, (y - MU).T)
    require(np.sum(z * z, 0) / 3, "f", 3, nu)


# ---- covariance and correlation matrices -----------------------------------------------------------------------------


@pytest.mark.parametrize("nu", [2.1, 7.0])
def test_wishart_matrices(nu):
    w, factor = draw("wishart", nu, SIGMA), draw("wishart_cholesky", nu, FACTOR)
    np.testing.assert_array_equal(w, np.swapaxes(w, 1, 2))
    np.testing.assert_allclose(factor @ np.swapaxes(factor, 1, 2), w, rtol=1e-10, atol=1e-12)
    assert np.all(np.triu(factor, 1) == 0)
    for x in (*np.eye(3), ALONG):
        require(x @ w @ x / (x @ SIGMA @ x), "chi2", nu)
        inverse = np.linalg.solve(factor, np.broadcast_to(x[:, None], (DRAWS, 3, 1)))[..., 0]
        require(x @ np.linalg.solve(SIGMA, x) / np.sum(inverse**2, 1), "chi2", nu - 2)
    require_mean(w.reshape(DRAWS, 9), nu * SIGMA.ravel())
    log_det = 2 * np.sum(np.log(np.diagonal(factor, axis1=1, axis2=2)), 1)
    mean = np.sum(scipy.special.digamma((nu - np.arange(3)) / 2)) + 3 * np.log(2) + np.linalg.slogdet(SIGMA)[1]
    require_mean(log_det, mean)


@pytest.mark.parametrize("nu", [2.1, 9.0])
def test_inverse_wishart_matrices(nu):
    w, factor = draw("inv_wishart", nu, SIGMA), draw("inv_wishart_cholesky", nu, FACTOR)
    np.testing.assert_array_equal(w, np.swapaxes(w, 1, 2))
    np.testing.assert_allclose(factor @ np.swapaxes(factor, 1, 2), w, rtol=1e-10, atol=1e-12)
    assert np.all(np.triu(factor, 1) == 0)
    assert np.all(np.diagonal(factor, axis1=1, axis2=2) > 0)
    inverse_scale = np.linalg.inv(SIGMA)
    for x in (*np.eye(3), ALONG):
        z = np.linalg.solve(factor, np.broadcast_to(x[:, None], (DRAWS, 3, 1)))[..., 0]
        require(np.sum(z * z, 1) / (x @ inverse_scale @ x), "chi2", nu)  # x W^-1 x
        require(x @ SIGMA @ x / (x @ w @ x), "chi2", nu - 2)
    if nu > 8:
        require_mean(w.reshape(DRAWS, 9), SIGMA.ravel() / (nu - 4))


@pytest.mark.parametrize("eta", [0.3, 1.0, 8.0])
@pytest.mark.parametrize("k", [2, 4])
def test_correlation_matrices(k, eta):
    r, factor = draw("lkj_corr", k, eta), draw("lkj_corr_cholesky", k, eta)
    np.testing.assert_allclose(factor @ np.swapaxes(factor, 1, 2), r, rtol=1e-12, atol=1e-14)
    assert np.all(np.diagonal(r, axis1=1, axis2=2) == 1)
    np.testing.assert_array_equal(r, np.swapaxes(r, 1, 2))
    shape = eta + (k - 2) / 2
    for i in range(k):
        for j in range(i):
            require((r[:, i, j] + 1) / 2, "beta", shape, shape)
    log_det = 2 * np.sum(np.log(np.diagonal(factor, axis1=1, axis2=2)), 1)
    rows = np.arange(1, k)
    left = eta + (k - 1 - rows) / 2
    require_mean(log_det, np.sum(scipy.special.digamma(left) - scipy.special.digamma(left + rows / 2)))


def test_extreme_correlations_and_degrees_of_freedom():
    assert ag.lkj_corr_rng(1, 2.0).tolist() == [[1.0]]
    np.testing.assert_allclose(draw("lkj_corr", 5, 1e300, size=3), np.broadcast_to(np.eye(5), (3, 5, 5)), atol=1e-14)
    r = draw("lkj_corr", 2, 1e-300, size=100)[:, 0, 1]
    assert set(np.unique(r)) == {-1.0, 1.0}
    w = draw("wishart", 1e12, SIGMA, size=20) / 1e12
    np.testing.assert_allclose(w, np.broadcast_to(SIGMA, w.shape), atol=1e-4)
    small = draw("wishart_cholesky", 2 + 1e-3, np.eye(3), size=200)
    assert np.all(np.isfinite(small))
    assert np.sum(small[:, 2, 2] < 1e-100) > 20


# ---- categories and simplexes ----------------------------------------------------------------------------------------

THETA = np.array([0.2, 0.0, 0.5, 0.3])


def test_categories():
    require_categories(draw("categorical", THETA), THETA)
    beta = np.array([700.0, 701.0, -900.0, 699.5])
    require_categories(draw("categorical_logit", beta), scipy.special.softmax(beta))


@pytest.mark.parametrize(
    ("name", "cdf"), [("ordered_logistic", scipy.stats.logistic.cdf), ("ordered_probit", scipy.stats.norm.cdf)]
)
def test_ordered_categories(name, cdf):
    c = np.array([-1.0, 0.2, 1.5])
    require_categories(draw(name, 0.4, c), np.diff(np.concatenate([[0.0], cdf(c - 0.4), [1.0]])))


def test_generalised_linear_model():
    x, alpha, beta = np.array([[1.0, 2.0], [0.0, -1.0], [3.0, 0.5]]), np.array([0.1, -0.2, 0.3]), np.array([0.5, -0.3])
    for intercept in (alpha, 0.1):
        y = draw("bernoulli_logit_glm", x, intercept, beta)
        assert y.shape == (DRAWS, 3)
        for row, p in enumerate(scipy.special.expit(intercept + x @ beta)):
            require_categories(y[:, row], np.array([1 - p, p]))
    with pytest.raises(ag.DomainError, match=r"alpha \+ x @ beta\[0\] is (inf|nan), but must be finite"):
        ag.bernoulli_logit_glm_rng([[1e200, 1e200]], 0.0, [1e200, -1e200])


@pytest.mark.parametrize("alpha", [[2.0, 0.3, 5.0], [0.05, 0.02, 0.1]])
def test_simplexes(alpha):
    y = draw("dirichlet", alpha)
    np.testing.assert_allclose(y.sum(1), 1.0, rtol=1e-14)
    total = sum(alpha)
    for k, a in enumerate(alpha):
        if a > 0.1:  # the others have draws that round to 1
            require(y[:, k], "beta", a, total - a)
    p = np.array(alpha) / total
    require_mean(
        (y[:, :, None] * y[:, None, :]).reshape(DRAWS, 9), (p * (total * p[:, None] + np.eye(3))).ravel() / (total + 1)
    )


@pytest.mark.parametrize("name", ["multinomial", "multinomial_logit"])
def test_multinomial_counts(name):
    theta = THETA if name == "multinomial" else np.array([0.2, 0.1, 0.4, 0.3])
    n = draw(name, theta if name == "multinomial" else np.log(theta) + 800, 20)
    assert n.dtype == np.int64
    np.testing.assert_array_equal(n.sum(1), 20)
    for k, p in enumerate(theta):
        require_numbers_of_counts(n[:, k], scipy.stats.binom(20, p))
    pairs = n[:, [0]] * n[:, [2, 3]]
    require_mean(pairs, 380 * theta[0] * theta[[2, 3]])


def require_numbers_of_counts(n, law):
    expected = DRAWS * law.pmf(np.arange(n.max() + 2))
    observed = np.bincount(n, minlength=expected.size).astype(float)
    few = expected < 5
    observed, expected = np.append(observed[~few], observed[few].sum()), np.append(expected[~few], DRAWS - expected[~few].sum())
    if len(expected) > 2:
        assert scipy.stats.chisquare(observed, expected).pvalue > LEAST
    else:
        np.testing.assert_allclose(observed, expected, atol=1e-6)


def test_counts_of_simplexes():
    alpha = np.array([2.0, 0.3, 5.0])
    n = draw("dirichlet_multinomial", alpha, 15)
    np.testing.assert_array_equal(n.sum(1), 15)
    for k, a in enumerate(alpha):
        require_numbers_of_counts(n[:, k], scipy.stats.betabinom(15, a, alpha.sum() - a))
    require_mean(n[:, 0] * n[:, 2], 15 * 14 * alpha[0] * alpha[2] / (alpha.sum() * (alpha.sum() + 1)))


def test_many_trials():
    n = draw("multinomial", THETA, 2**53 - 1, size=3)
    np.testing.assert_array_equal(n.sum(-1), 2**53 - 1)
    np.testing.assert_allclose(n / 2.0**53, np.broadcast_to(THETA, n.shape), atol=1e-7)
