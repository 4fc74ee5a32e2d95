"""Laplace's approximation: exact for a normal likelihood, close to quadrature, derivatives of both orders, draws."""

import inspect
import pickle

import numpy as np
import pytest
import scipy.integrate
import scipy.stats

import agrad as ag
from agrad._functionals import laplace_counts
from agrad._functionals.laplace import Tolerances, draw_of, mode_of

X = np.linspace(0.0, 1.5, 4)
Y = np.array([0.3, -0.2, 0.9, 1.4])
COUNTS, GROUPS = np.array([1, 0, 3, 2, 4]), np.array([0, 1, 2, 3, 3])
P = np.array([1.3, 0.7, 0.5])


def kernel(scale, length):
    return scale**2 * np.exp(-0.5 * (np.subtract.outer(X, X) / length) ** 2) + 1e-3 * np.eye(4)


def normal(theta, y, sigma):
    return np.sum(-0.5 * ((y - theta) / sigma) ** 2 - np.log(sigma) - 0.5 * np.log(2 * np.pi))


def approximate(p, block=1):
    return ag.laplace_marginal(normal, (Y, p[2]), block, kernel, (p[0], p[1]))


def exact(p):
    total = kernel(p[0], p[1]) + p[2] ** 2 * np.eye(4)
    return -0.5 * Y @ np.linalg.solve(total, Y) - 0.5 * ag.linalg.log_determinant(total, spd=True) - 2 * np.log(2 * np.pi)


@pytest.mark.parametrize("block", [1, 2, 4])
def test_a_normal_likelihood_is_exact(block):
    for transform in (lambda f: f, ag.grad, ag.hessian, lambda f: ag.compile(ag.hessian(f)), lambda f: ag.jacfwd(ag.grad(f))):
        given = transform(lambda p: approximate(p, block))(P)
        np.testing.assert_allclose(given, transform(exact)(P), rtol=1e-9, atol=1e-11)


LIKELIHOODS = {
    "poisson": lambda p: ag.laplace_marginal_poisson_log_lpmf(COUNTS, GROUPS, p[2], 1, kernel, (p[0], p[1])),
    "bernoulli": lambda p: ag.laplace_marginal_bernoulli_logit_lpmf(COUNTS % 2, GROUPS, p[2], 1, kernel, (p[0], p[1])),
    "negative binomial": lambda p: ag.laplace_marginal_neg_binomial_2_log_lpmf(
        COUNTS, GROUPS, p[2], 0.1, 1, kernel, (p[0], p[1])
    ),
}


@pytest.mark.parametrize("f", LIKELIHOODS.values(), ids=LIKELIHOODS)
def test_derivatives_of_likelihoods_of_counts(f):
    ag.check_grads(f, P, order=2)
    compiled = ag.compile(ag.value_and_grad(f))
    for p in (P, 1.2 * P):
        value, slope = compiled(p)
        assert value == pytest.approx(f(p), rel=1e-12)
        np.testing.assert_allclose(slope, ag.grad(f)(p), rtol=1e-9)
    np.testing.assert_allclose(ag.vmap(ag.grad(f))(np.stack([P, 1.2 * P])), [ag.grad(f)(P), ag.grad(f)(1.2 * P)], rtol=1e-9)


@pytest.mark.parametrize(("function", "further", "mass"), [
    (ag.laplace_marginal_poisson_log_lpmf, (), lambda eta: scipy.stats.poisson.pmf(COUNTS, np.exp(eta))),
    (ag.laplace_marginal_bernoulli_logit_lpmf, (), lambda eta: scipy.stats.bernoulli.pmf(COUNTS > 1, 1 / (1 + np.exp(-eta)))),
    (ag.laplace_marginal_neg_binomial_2_log_lpmf, (3.0,), lambda eta: scipy.stats.nbinom.pmf(COUNTS, 3, 3 / (3 + np.exp(eta)))),
])  # fmt: skip
def test_quadrature_is_near(function, further, mass):
    """One group: the integral is one-dimensional. The approximation's error falls with the variance of theta."""
    y = (COUNTS > 1).astype(int) if function is ag.laplace_marginal_bernoulli_logit_lpmf else COUNTS
    errors = []
    for s in (0.4, 0.1):
        given = function(y, np.zeros(5, int), *further, 0.2, 1, lambda s=s: np.array([[s * s]]), ())

        def density(t, s=s):
            return np.prod(mass(t + 0.2)) * scipy.stats.norm.pdf(t, 0, s)

        integral = scipy.integrate.quad(density, -8 * s, 8 * s, epsabs=0, epsrel=1e-11)[0]
        errors.append(abs(given - np.log(integral)))
    assert errors[0] < 3e-3
    assert errors[1] < errors[0] / 3


@pytest.mark.parametrize("v", [1e-9, 1e-3, 1e3, 1e9, 1e12, 1e18, 1e30])
def test_variances_of_any_size(v):
    """One group of Poisson counts with the variance v: theta = v (7 - 3 exp(theta + 0.3))."""
    theta = 0.0 if v < 1 else np.log(7 / 3) - 0.3
    for _ in range(100):
        theta = v * (7 - 3 * np.exp(theta + 0.3)) if v < 1 else np.log((7 - theta / v) / 3) - 0.3
    rate = 3 * np.exp(theta + 0.3)
    w, by_theta = v * rate, (7 - rate) / (1 + v * rate)
    value = 7 * (theta + 0.3) - rate - np.log(240) - 0.5 * theta**2 / v - 0.5 * np.log1p(w)
    slope = 0.5 * (theta / v) ** 2 - 0.5 * rate / (1 + w) - 0.5 * w / (1 + w) * by_theta

    def f(p):
        return ag.laplace_marginal_poisson_log_lpmf([2, 0, 5], [0, 0, 0], 0.3, 1, lambda s: np.reshape(s, (1, 1)), (p,))

    assert f(v) == pytest.approx(value, rel=1e-14)
    assert ag.grad(f)(v) == pytest.approx(slope, rel=1e-12)


def test_draws():
    rng = np.random.default_rng(5)
    mode = mode_of("test", normal, (Y, 0.5), 1, kernel, (1.3, 0.7), Tolerances())
    draws = np.array([draw_of(mode, rng) for _ in range(2000)])
    covariance = np.linalg.inv(np.linalg.inv(kernel(1.3, 0.7)) + 4 * np.eye(4))
    np.testing.assert_allclose(draws.mean(0), covariance @ (4 * Y), atol=0.05)
    np.testing.assert_allclose(np.cov(draws.T), covariance, atol=0.03)
    tolerances = (np.zeros(4), 1e-9, 100, 1, 0, 0)
    pairs = [
        (ag.laplace_latent_rng, ag.laplace_latent_rng_tol, (normal, (Y, 0.5))),
        (ag.laplace_latent_poisson_log_rng, ag.laplace_latent_tol_poisson_log_rng, (COUNTS, GROUPS, 0.1)),
        (ag.laplace_latent_bernoulli_logit_rng, ag.laplace_latent_tol_bernoulli_logit_rng, (COUNTS % 2, GROUPS, 0.1)),
        (ag.laplace_latent_neg_binomial_2_log_rng, ag.laplace_latent_tol_neg_binomial_2_log_rng, (COUNTS, GROUPS, 2.0, 0.1)),
    ]
    for usual, with_tolerances, args in pairs:
        one = usual(*args, 1, kernel, (1.3, 0.7), np.random.default_rng(1))
        two = with_tolerances(*args, 1, kernel, (1.3, 0.7), tolerances, np.random.default_rng(1))
        np.testing.assert_allclose(one, two, rtol=1e-7)
        np.testing.assert_array_equal(usual(*args, 1, kernel, (1.3, 0.7), 1), one)  # as default_rng(1)
        np.testing.assert_array_equal(with_tolerances(*args, 1, kernel, (1.3, 0.7), tolerances, rng=1), two)
        assert not np.array_equal(usual(*args, 1, kernel, (1.3, 0.7), None), one)
        with pytest.raises(TypeError, match=rf"^{usual.__name__}: rng is 1.5, but must be a numpy.random.Generator, a seed"):
            usual(*args, 1, kernel, (1.3, 0.7), 1.5)


def test_draws_have_no_derivatives():
    def by_arguments(s):
        return ag.laplace_latent_rng(normal, (Y, s), 1, kernel, (1.3, 0.7), np.random.default_rng(1))[0]

    def by_covariance(s):
        return ag.laplace_latent_rng(normal, (Y, 0.5), 1, lambda: kernel(s, 0.7), (), np.random.default_rng(1))[0]

    def by_likelihood(s):
        return ag.laplace_latent_rng(lambda theta: normal(theta, Y, s), (), 1, kernel, (1.3, 0.7), np.random.default_rng(1))[0]

    for draw in (by_arguments, by_covariance, by_likelihood):
        for transform in (ag.grad, ag.compile):
            with pytest.raises(TypeError, match="a draw has no derivative"):
                transform(draw)(0.5)
    assert ag.grad(lambda s: s * by_arguments(0.5))(2.0) == by_arguments(0.5)


def test_tolerances():
    start = (np.ones(4), 1e-10, 100, 1, 0, 0)
    for usual, with_tolerances, args in (
        (ag.laplace_marginal, ag.laplace_marginal_tol, (normal, (Y, 0.5))),
        (ag.laplace_marginal_poisson_log_lpmf, ag.laplace_marginal_tol_poisson_log_lpmf, (COUNTS, GROUPS, 0.1)),
        (ag.laplace_marginal_bernoulli_logit_lpmf, ag.laplace_marginal_tol_bernoulli_logit_lpmf, (COUNTS % 2, GROUPS, 0.1)),
        (
            ag.laplace_marginal_neg_binomial_2_log_lpmf,
            ag.laplace_marginal_tol_neg_binomial_2_log_lpmf,
            (COUNTS, GROUPS, 2.0, 0.1),
        ),
    ):
        model = (*args, 1, kernel, (1.3, 0.7))
        assert with_tolerances(*model, start) == pytest.approx(usual(*model), rel=1e-12)
        with pytest.raises(ag.SolverError, match="number of steps is 1, but must suffice"):
            with_tolerances(*model, (np.ones(4), 1e-10, 1))


def coupled(theta):
    return -0.1 * theta[0] * theta[1] - np.sum(theta**2)


def test_what_is_refused():
    def of(*args):
        return lambda: ag.laplace_marginal(*args)

    def counts(y, groups):
        return lambda: ag.laplace_marginal_poisson_log_lpmf(y, groups, 0.0, 1, kernel, (1.0, 1.0))

    for call, kind, match in (
        (of(coupled, (), 1, kernel, (1.0, 1.0)), ag.DomainError, r"entries outside of blocks of 1"),
        (of(normal, (Y, 1.0), 3, kernel, (1.0, 1.0)), ag.ShapeError, r"hessian_block_size is 3"),
        (of(normal, (Y, 1.0), 1, lambda: -np.eye(4), ()), ag.DomainError, r"positive definite"),
        (of(normal, (Y, 1.0), 1, lambda: np.ones(4), ()), ag.ShapeError, r"covariance is of shape \(4,\)"),
        (of(normal, Y, 1, kernel, (1.0, 1.0)), TypeError, r"likelihood_arguments is of type ndarray"),
        (of(lambda theta: theta, (), 1, kernel, (1.0, 1.0)), ag.ShapeError, r"result is of shape \(4,\)"),
        (of(lambda theta: np.sum(theta**2), (), 1, kernel, (9.0, 1.0)), ag.SolverError, r"Hessian|number of steps"),
        (of(normal, (Y, 1.0), 1, lambda: None, ()), TypeError, r"covariance is None, but must be a square matrix; does"),
        (counts([1.5], [0]), ag.DomainError, r"y\[0\] is 1.5"),
        (counts([1], [7]), ag.DomainError, r"y_index\[0\] is 7"),
        (counts([1], [np.inf]), ag.DomainError, r"y_index\[0\] is inf"),
        (counts([np.inf], [0]), ag.DomainError, r"y\[0\] is inf"),
        (lambda: ag.laplace_marginal_tol(normal, (Y, 1.0), 1, kernel, (1.0, 1.0), 3), TypeError, r"tolerances is 3"),
    ):
        with pytest.raises(kind, match=match):
            call()
    pair = [ag.laplace_marginal(coupled, (), block, kernel, (1.0, 1.0)) for block in (2, 4)]
    assert pair[0] == pytest.approx(pair[1], rel=1e-12)


def observed(theta):
    return -0.5 * np.sum((np.array([1.0, 2.0]) - theta) ** 2)


def test_covariances_are_symmetric():
    """As multi_normal_lpdf demands it; of rounding errors plain and recorded calls take the symmetric part."""

    def f(c, d=0.0):
        return ag.laplace_marginal(observed, (), 2, lambda c, d: ag.array([[1.0, c], [d, 1.0]]), (c, d))

    match = (
        r"^laplace_marginal: covariance\[1, 0\] is 0, but must be equal to covariance\[0, 1\], which is 0.8; the matrix must be"
    )
    for call in (f, ag.grad(f), ag.compile(f), ag.compile(ag.hessian(f)), lambda c: ag.vmap(f)(np.array([0.0, c]))):
        with pytest.raises(ag.DomainError, match=match):
            call(0.8)
    compiled = ag.compile(f)
    assert compiled(0.8, 0.8) == pytest.approx(f(0.8, 0.8), rel=1e-13)
    for given in (f, compiled):
        with pytest.raises(ag.DomainError, match=r"covariance\[0, 1\] is nan, but must be finite"):
            given(np.nan)
        with pytest.raises(ag.DomainError, match=r"covariance\[1, 0\] is 0.8000001, .* is 0.8; the matrix must be symmetric"):
            given(0.8, 0.8 + 1e-7)
        assert given(0.8, 0.8 + 4e-9) == pytest.approx(f(0.8 + 2e-9, 0.8 + 2e-9), rel=1e-14)
    with pytest.raises(ag.DomainError, match=r"^laplace_latent_rng: covariance\[1, 0\] is 0, but must be equal to"):
        ag.laplace_latent_rng(observed, (), 2, lambda: [[1.0, 0.8], [0.0, 1.0]], (), np.random.default_rng(1))


@pytest.mark.parametrize("factor", [1.0, 3.0, 30.0])
def test_wrong_blocks_are_the_reason_where_the_search_fails(factor):
    coupling, k = factor * np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([[1.0, 0.6], [0.6, 1.0]])

    def f(s, block=1):
        return ag.laplace_marginal(lambda t: -0.5 * t @ coupling @ t + t[0], (), block, lambda: s * k, ())

    for call in (f, ag.grad(f), ag.compile(f), ag.compile(ag.hessian(f)), lambda s: ag.vmap(f)(np.array([s, 2 * s]))):
        with pytest.raises(ag.DomainError, match="entries outside of blocks of 1 are up to"):
            call(1.0)
    precision = np.linalg.inv(k) + coupling
    exact = 0.5 * np.linalg.inv(precision)[0, 0] - 0.5 * np.linalg.slogdet(k @ precision)[1]
    assert f(1.0, 2) == pytest.approx(exact, rel=1e-12)


def test_blocks_that_are_right_at_the_mode_alone_are_refused():
    """At p = 0 the mode is 0 and W is I: with A = (K^-1 + I)^-1 its slope is A e_0, and the marginal's is -tr(A dW) / 2."""
    k = np.array([[1.0, 0.6], [0.6, 1.0]])

    def f(block):
        def likelihood(t, p):
            return -0.5 * (t[0] - p) ** 2 - 0.5 * t[1] ** 2 + 0.3 * t[0] ** 2 * t[1]

        return lambda p: ag.laplace_marginal(likelihood, (p,), block, lambda: k, ())

    a = np.linalg.inv(np.linalg.inv(k) + np.eye(2))
    assert ag.grad(f(2))(0.0) == pytest.approx(0.9 * a[0, 0] * a[0, 1], rel=1e-12)
    compiled = ag.compile(ag.hessian(f(1)))
    for call in (f(1), ag.grad(f(1)), compiled, compiled, lambda p: ag.vmap(f(1))(np.array([p, 0.1]))):
        with pytest.raises(ag.DomainError, match=r"entries outside of blocks of 1 are up to 0.05"):
            call(0.0)


def test_blocks_may_be_smaller_than_the_recorded_pattern():
    """A product with a matrix of groups has a dense pattern, and a Hessian of blocks by its zeros."""
    groups = np.eye(4)[GROUPS]

    def f(p):
        return ag.laplace_marginal(lambda t: ag.poisson_log_lpmf(COUNTS, groups @ t), (), 1, kernel, (p[0], p[1]))

    def by_places(p):
        return ag.laplace_marginal_poisson_log_lpmf(COUNTS, GROUPS, 0.0, 1, kernel, (p[0], p[1]))

    assert f(P) == pytest.approx(by_places(P), rel=1e-13)
    np.testing.assert_allclose(ag.compile(ag.grad(f))(P), ag.grad(by_places)(P), rtol=1e-10)


def test_names():
    for name in laplace_counts.__all__:
        function = getattr(ag, name)
        assert function is getattr(laplace_counts, name)
        assert function.__name__ == function.__qualname__ == name
        assert pickle.loads(pickle.dumps(function)) is function
        further = ("eta",) if "neg_binomial" in name else ()
        last = ("tolerances",) * ("tol" in name) + ("rng",) * name.endswith("rng")
        model = ("hessian_block_size", "covariance_function", "covariance_arguments")
        assert tuple(inspect.signature(function).parameters) == ("y", "y_index", *further, "m", *model, *last)
    by_name = {"y": COUNTS, "y_index": GROUPS, "m": 0.1, "hessian_block_size": 1, "covariance_function": kernel}
    given = ag.laplace_marginal_poisson_log_lpmf(**by_name, covariance_arguments=(1.3, 0.7))
    assert given == ag.laplace_marginal_poisson_log_lpmf(COUNTS, GROUPS, 0.1, 1, kernel, (1.3, 0.7))
    with pytest.raises(TypeError, match=r"^laplace_marginal_poisson_log_lpmf: missing .*'covariance_arguments'"):
        ag.laplace_marginal_poisson_log_lpmf(**by_name)
