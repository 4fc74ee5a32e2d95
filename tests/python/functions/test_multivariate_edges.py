"""Densities of vectors and matrices: closed forms, digits at the edges, and the errors of arguments at each run."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.stats as st

import agrad as ag

rng = np.random.default_rng(4)


def test_gradients_of_a_normal_density_have_their_closed_forms() -> None:
    y, mu, cov = np.array([1.0, 2.0]), np.array([0.3, -1.0]), np.array([[2.0, 0.5], [0.5, 1.0]])
    by_y, by_mu, by_cov = ag.grad(ag.multi_normal_lpdf, argnums=(0, 1, 2))(y, mu, cov)
    z, inverse = np.linalg.solve(cov, y - mu), np.linalg.inv(cov)
    np.testing.assert_allclose(by_y, -z, rtol=1e-14)
    np.testing.assert_allclose(by_mu, z, rtol=1e-14)
    np.testing.assert_allclose(by_cov, (np.outer(z, z) - inverse) / 2, rtol=1e-14)
    np.testing.assert_allclose(ag.hessian(lambda m: ag.multi_normal_lpdf(y, m, cov))(mu), -inverse, rtol=1e-14)


def test_vmap_gives_a_density_for_each_row() -> None:
    y, mu, cov = rng.normal(size=(3, 2)), np.zeros(2), np.array([[2.0, 0.5], [0.5, 1.0]])
    each = ag.vmap(lambda row: ag.multi_normal_lpdf(row, mu, cov))(y)
    np.testing.assert_allclose(each, st.multivariate_normal(mu, cov).logpdf(y), rtol=1e-13)


def test_small_weights_and_counts_of_zero() -> None:
    alpha, theta = np.array([1e-8, 2e-8, 1e-9]), np.array([0.2, 0.3, 0.5])
    exact = np.sum((alpha - 1) * np.log(theta)) + np.log(np.prod(alpha) / np.sum(alpha))
    assert ag.dirichlet_lpdf(theta, alpha) == pytest.approx(exact, rel=1e-14)
    slope = 1 / alpha - 1 / alpha.sum() + np.log(theta)  # digamma(x) is -1 / x - 0.577 + O(x); the constants cancel
    np.testing.assert_allclose(ag.grad(ag.dirichlet_lpdf, argnums=1)(theta, alpha), slope, rtol=1e-14)
    assert ag.multinomial_lpmf(np.array([2, 0]), np.array([1.0, 0.0])) == 0
    assert ag.dirichlet_multinomial_lpmf(np.zeros(3), alpha) == 0


def test_intervals_between_close_or_far_cutpoints_keep_their_digits() -> None:
    c = np.array([0.0, 1e-12])
    middle = ag.ordered_logistic_lpmf(1, 0.0, c)
    assert middle == pytest.approx(np.log(0.25e-12), rel=1e-13)
    far = ag.value_and_grad(lambda eta: ag.ordered_probit_lpmf(1, eta, np.array([0.0, 1.0])))(60.0)
    assert far[0] == pytest.approx(st.norm.logcdf(-59.0), rel=1e-14)
    ratio = 59.01693942840625  # phi(59) / Phi(-59), by mpmath; the other cutpoint adds less than 1e-20
    assert far[1] == pytest.approx(-ratio, rel=1e-14)


@pytest.mark.thread_unsafe(reason="mpmath's precision belongs to the process")
@pytest.mark.parametrize("odds", [(40.0, 0.0, 0.5), (300.0, 1.0, 0.0), (5.0, 0.0, 0.5), (0.5, 0.0, 0.4), (-3.0, 0.0, 40.0)])
@pytest.mark.parametrize("counts", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (7, 0, 0), (2, 1, 3)])
def test_nearly_certain_categories_keep_their_digits(odds: tuple[float, ...], counts: tuple[int, ...]) -> None:
    beta, n = np.array(odds), sum(counts)
    with mpmath.workdps(300):
        powers = [mpmath.exp(x) for x in odds]
        shares = [power / sum(powers) for power in powers]
        value = sum(count * mpmath.log(share) for count, share in zip(counts, shares, strict=True))
        slopes = [count - n * share for count, share in zip(counts, shares, strict=True)]
        curvatures = [[-n * shares[i] * ((i == j) - shares[j]) for j in range(3)] for i in range(3)]
    functions: list[Any] = [lambda b: ag.multinomial_logit_lpmf(np.array(counts), b, propto=True)]
    outcomes = np.repeat(np.arange(3), counts)
    functions += [
        lambda b: ag.categorical_logit_lpmf(outcomes, b),
        lambda b: ag.categorical_logit_lpmf(outcomes, np.ones((n, 1)) * b),
        lambda b: ag.categorical_logit_glm_lpmf(outcomes, np.zeros((n, 2)), b, np.zeros((2, 3))),
    ]
    for f in functions:
        assert ag.compile(f)(beta) == pytest.approx(float(value), rel=1e-14, abs=0)
        for gradient in (
            ag.grad(f),
            ag.compile(ag.grad(f)),
            ag.jacfwd(f),
            lambda b, f=f: ag.vmap(ag.grad(f))(np.array([b]))[0],
        ):
            np.testing.assert_allclose(gradient(beta), np.array(slopes, dtype=float), rtol=1e-14, atol=0)
        truth = np.array(curvatures, dtype=float)
        np.testing.assert_allclose(ag.hessian(f)(beta), truth, rtol=1e-13, atol=0)
        # A recorded derivative keeps the digits where the certain category is the only outcome.
        rounding = 0.0 if counts[int(np.argmax(beta))] == n else 1e-15 * n
        for hessian in (ag.jacfwd(ag.grad(f)), ag.compile(ag.jacrev(ag.grad(f)))):
            np.testing.assert_allclose(hessian(beta), truth, rtol=1e-13, atol=rounding)


def test_first_passages_are_finite_and_smooth_in_the_tails() -> None:
    density = ag.value_and_grad(lambda y, b: ag.wiener_lpdf(y, 1.5, 0.0, b, 0.4), argnums=(0, 1))
    for y in (1e-6, 1e-3, 1.0124, 1.0126, 50.0, 5e4):
        for b in (1e-9, 0.3, 1 - 1e-9):
            value, gradient = density(y, b)
            assert np.isfinite(value)
            assert np.all(np.isfinite(gradient))
    before, after = density(1.0125 - 1e-13, 0.7), density(1.0125 + 1e-13, 0.7)  # the series change at 0.45 * 1.5**2
    assert before[0] == pytest.approx(after[0], rel=1e-12)
    np.testing.assert_allclose(before[1], after[1], rtol=1e-11)
    assert ag.wiener_lpdf(0.2, 1.5, 0.3, 0.5, 0.0) == -np.inf


SPD = np.array([[2.0, 0.5], [0.5, 1.0]])


#: Valid arguments, to record a function that then gets others.
VALID: dict[str, tuple[Any, ...]] = {
    "multi_normal_lpdf": (1, 0, SPD),
    "multi_normal_cholesky_lpdf": (1, 0, np.eye(2)),
    "dirichlet_lpdf": (0.5, 1),
    "categorical_lpmf": (0, 0.5),
    "ordered_logistic_lpmf": (0, 0, [0, 1]),
    "ordered_probit_lpmf": (0, 0, [0, 1]),
    "lkj_corr_lpdf": (np.eye(2), 1),
    "lkj_corr_cholesky_lpdf": (np.eye(2), 1),
    "wishart_lpdf": (SPD, 3, SPD),
    "multinomial_lpmf": (1, 0.5),
    "gaussian_dlm_obs_lpdf": (1, 1, 1, 1, 1, 0, 1),
    "lkj_cov_lpdf": (SPD, 0, 1, 1),
}


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("multi_normal_lpdf", ([1, np.nan], [0, 0], SPD), r"y\[1\] is nan, but must be finite"),
        ("multi_normal_lpdf", ([1, 1], [0, 0], -SPD), "Sigma is not positive definite.*the pivot of row 0 is -2"),
        (
            "multi_normal_lpdf",
            ([1, 1], [0, 0], SPD + np.eye(2, k=1)),
            r"Sigma\[1, 0\] is 0.5, but must be equal to Sigma\[0, 1\]",
        ),
        ("multi_normal_cholesky_lpdf", ([1, 1], [0, 0], SPD), r"L\[0, 1\] is 0.5, but must be 0"),
        ("dirichlet_lpdf", ([[0.5, 0.5], [0.5, 0.6]], [1, 2]), r"theta\[1\] is of sum 1.1, but must be a simplex"),
        (
            "categorical_lpmf",
            ([0, 2], [0.5, 0.5]),
            r"y\[1\] is 2, but must be a whole number from 0 to 1; categories",
        ),
        ("categorical_lpmf", (0.5, [0.5, 0.5]), "y is 0.5, but must be a whole number"),
        ("ordered_logistic_lpmf", ([0, 3], 0.0, [0.0, 1.0]), r"y\[1\] is 3, but must be a whole number from 0 to 2"),
        ("ordered_probit_lpmf", (0, 0.0, [1.0, 1.0]), r"c\[1\] is 1, but must be greater than c\[0\], which is 1"),
        ("lkj_corr_lpdf", (SPD, 1.0), r"y\[0, 0\] is 2, but must be 1"),
        (
            "lkj_corr_cholesky_lpdf",
            ([[1, 0], [0.5, 0.5]], 1.0),
            r"L\[1\] is of norm 0.7071.*, but must be of norm 1",
        ),
        ("wishart_lpdf", (SPD, 1.0, SPD), "nu is 1, but must be greater than 1"),
        ("multinomial_lpmf", ([1, -1], [0.5, 0.5]), r"y\[1\] is -1, but must be a whole number"),
        (
            "gaussian_dlm_obs_lpdf",
            ([[1, 1]], [[1]], [[1]], [[5]], [[-1]], [0], [[1]]),
            "W is -1, but must be nonnegative; the diagonal of a covariance matrix",
        ),
        (
            "gaussian_dlm_obs_lpdf",
            ([[1], [1]], [[1, 1]], [[1]], [1, -2], [[1]], [0], [[1]]),
            r"V\[1\] is -2, but must be nonnegative; the diagonal of a covariance matrix",
        ),
        ("lkj_cov_lpdf", (SPD, 0, -1, 1), "sigma is -1, but must be positive and finite"),
        ("lkj_cov_lpdf", (SPD, np.inf, [1, 1], 1), "mu is inf, but must be finite"),
        (
            "gaussian_dlm_obs_lpdf",
            ([[1, 1]], [[1]], [[1]], [[0]], [[0]], [0], [[1]]),
            r"the covariance of y\[:, 1\] given the observations before is not positive definite.*the pivot of row 0 is 0",
        ),
    ],
)
def test_arguments_are_checked_at_each_run(name: str, arguments: Any, message: str) -> None:
    density, values = getattr(ag, name), [np.asarray(a, dtype=float) for a in arguments]
    with pytest.raises(ag.DomainError, match=f"{name}: {message}"):
        density(*values)
    valid = VALID[name]
    compiled = ag.compile(ag.grad(density, argnums=len(values) - 1))
    compiled(*(np.asarray(a, dtype=float) + np.zeros(v.shape) for a, v in zip(valid, values, strict=True)))
    with pytest.raises(ag.DomainError, match=f"{name}: {message}"):
        compiled(*values)


@pytest.mark.parametrize("made", [lambda f: f, ag.compile], ids=["plain", "compiled"])
def test_a_category_that_cannot_occur_is_as_none(made: Any) -> None:
    beta, kept = np.array([0.3, -np.inf, -1.2, 0.8]), [0, 2, 3]
    outcomes, fewer = np.array([0, 3, 3, 2]), np.array([0, 2, 2, 1])
    f = made(ag.value_and_grad(lambda b: ag.categorical_logit_lpmf(outcomes, b)))
    value, gradient = f(beta)
    wanted, slopes = ag.value_and_grad(lambda b: ag.categorical_logit_lpmf(fewer, b))(beta[kept])
    assert value == pytest.approx(wanted, rel=1e-15)
    np.testing.assert_allclose(gradient[kept], slopes, rtol=1e-14)
    assert gradient[1] == 0
    bent = made(ag.hessian(lambda b: ag.categorical_logit_lpmf(outcomes, b)))(beta)
    np.testing.assert_allclose(
        bent[np.ix_(kept, kept)], ag.hessian(lambda b: ag.categorical_logit_lpmf(fewer, b))(beta[kept]), rtol=1e-13
    )
    np.testing.assert_array_equal([bent[1], bent[:, 1]], 0)
    jacobian = made(ag.jacfwd(lambda b: ag.categorical_logit_lpmf(outcomes, b)))(beta)
    np.testing.assert_allclose(jacobian, gradient, rtol=1e-15)
    rows = made(ag.vmap(ag.grad(lambda b: ag.categorical_logit_lpmf(outcomes, b))))(np.stack([beta, np.zeros(4)]))
    np.testing.assert_allclose(rows[0], gradient, rtol=1e-14)
    by_row = made(ag.grad(lambda b: ag.categorical_logit_lpmf(outcomes, np.ones((4, 1)) * b)))(np.where(beta < -9, -9e9, beta))
    np.testing.assert_allclose(by_row, gradient, rtol=1e-14)
    assert made(lambda b: ag.categorical_logit_lpmf(1, b))(beta) == -np.inf


def test_one_category_must_be_possible() -> None:
    for beta, message in (
        ([-np.inf, -np.inf], "beta is -inf in each entry, but must be finite in one or more; one of the categories"),
        ([[0.0, 1.0], [-np.inf, -np.inf]], r"beta\[1\] is -inf in each entry"),
        ([0.0, np.inf], r"beta\[1\] is inf, but must be finite or -inf"),
        ([0.0, np.nan], r"beta\[1\] is nan, but must be finite or -inf"),
    ):
        with pytest.raises(ag.DomainError, match=f"categorical_logit_lpmf: {message}"):
            ag.categorical_logit_lpmf([0, 1], beta)


def test_missing_observations_may_change_from_run_to_run() -> None:
    """Of each run the likelihood of what was observed, also where nothing was, and nothing by missing entries."""
    random = np.random.default_rng(7)
    f, g, m0, unit = random.normal(size=(2, 3)), 0.5 * random.normal(size=(2, 2)), random.normal(size=2), np.eye(2)
    v, y = np.array([0.5, 1.0, 2.0]), random.normal(size=(3, 4))

    def log_density(y: Any, v: Any) -> Any:
        return ag.gaussian_dlm_obs_lpdf(y, f, g, v, unit, m0, unit)

    compiled = ag.compile(ag.value_and_grad(log_density, (0, 1)))
    for is_missing in (y > 9, y > 0.3, y < 0, y < 9):
        given = np.where(is_missing, np.nan, y)
        value, (by_y, by_v) = compiled(given, v)
        assert value == pytest.approx(log_density(given, v), rel=1e-14)
        assert np.all(by_y[is_missing] == 0)
        assert np.all(by_y[~is_missing] != 0)
        slopes = [
            (log_density(given, v * np.exp(h * e)) - log_density(given, v * np.exp(-h * e))) / (2 * h)
            for h, e in zip([1e-5] * 3, np.eye(3), strict=True)
        ]
        np.testing.assert_allclose(by_v * v, slopes, rtol=1e-7, atol=1e-8)
    assert value == 0
    np.testing.assert_array_equal(by_v, 0)
    with pytest.raises(
        ag.DomainError, match=r"gaussian_dlm_obs_lpdf: y\[0, 1\] is inf, but must be finite, or nan where missing"
    ):
        log_density(np.where(np.arange(4) == 1, np.inf, y), v)


def test_shapes_are_checked() -> None:
    with pytest.raises(ag.ShapeError, match=r"mu is of shape \(3,\), but must be with 2 entries in each row, as y has"):
        ag.multi_normal_lpdf([1, 2], [1, 2, 3], SPD)
    with pytest.raises(ag.ShapeError, match=r"Sigma is of shape \(2,\), but must be a matrix"):
        ag.multi_normal_lpdf([1, 2], [1, 2], [1, 2])
    with pytest.raises(ag.ShapeError, match=r"x is of shape \(3, 2\), but must be with 4 rows, as y has"):
        ag.poisson_log_glm_lpmf([1, 2, 3, 4], np.zeros((3, 2)), 0.0, [1, 2])
    with pytest.raises(ag.ShapeError, match=r"V is of shape \(2,\), but must be with 1 entries, as y has rows"):
        ag.gaussian_dlm_obs_lpdf([[1, 1]], [[1]], [[1]], [1, 2], [[1]], [0], [[1]])
    with pytest.raises(ag.ShapeError, match="V is a number, but must be a matrix or its diagonal"):
        ag.gaussian_dlm_obs_lpdf([[1, 1]], [[1]], [[1]], 1, [[1]], [0], [[1]])
    with pytest.raises(ag.ShapeError, match=r"mu is of shape \(1,\), but must be with 2 entries in each row, as y has"):
        ag.lkj_cov_lpdf(SPD, [1], 1, 1)
    assert ag.multi_normal_lpdf(np.zeros((0, 2)), [1, 2], SPD) == 0
