"""The distribution functions of the beta-negative-binomial distribution: many failures, other engines, and what they refuse."""

import pickle

import mpmath
import numpy as np
import pytest

import agrad as ag
from probability_reference import reference

FUNCTIONS = [ag.beta_neg_binomial_cdf, ag.beta_neg_binomial_lcdf, ag.beta_neg_binomial_lccdf]
each_function = pytest.mark.parametrize("function", FUNCTIONS)


def derivatives(f, x):
    """Return the value, the gradient and the upper half of the Hessian."""
    return np.concatenate([[f(x)], ag.grad(f)(x), ag.hessian(f)(x)[np.triu_indices(len(x))]])


def few_successes(function, n, m, alpha, beta):
    """Return a function for r = m: more than n failures before success m are fewer than m successes in n + m trials."""
    size = n + m
    term = mpmath.gammaprod([alpha + beta, size + beta], [beta, size + alpha + beta])
    upper = mpmath.mpf(0)
    for j in range(m):
        upper += term
        term *= (size - j) * (j + alpha) / ((j + 1) * (size - j - 1 + beta))
    return {"cdf": 1 - upper, "lcdf": mpmath.log(1 - upper), "lccdf": mpmath.log(upper)}[function.__name__.rpartition("_")[2]]


MANY = [
    (100, 3, 0.4, 2.5),
    (1000, 1, 0.01, 0.01),
    (1000, 200, 30.0, 1e2),
    (10_000, 7, 1e4, 1e6),
    (100_000, 1, 2.5, 1e4),
    (100_000, 40, 0.01, 30.0),
    (100_000, 100, 12.0, 1e3),
    (1_000_000, 2, 0.7, 0.01),
    (10**11, 3, 0.2, 7.0),
    (10**11, 20, 4.0, 1e9),
]


@pytest.mark.thread_unsafe(reason="mpmath's precision belongs to the process")
@each_function
@pytest.mark.parametrize(("n", "m", "alpha", "other"), MANY)
def test_many_failures_are_few_successes_in_trials(function, n, m, alpha, other):
    x = np.array([alpha, other])
    found = [
        derivatives(lambda x: function(n, m, x[0], x[1]), x),
        derivatives(lambda x: function(n, x[1], x[0], m), x),  # r and beta are interchangeable
    ]
    with mpmath.workdps(80):
        at = tuple(map(mpmath.mpf, x))
        for place, orders in enumerate([(0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2)]):
            exact = mpmath.diff(lambda a, b: few_successes(function, n, m, a, b), at, orders)
            for values in found:
                error = abs(values[place] - exact) / abs(exact)
                assert error < [1e-13, 1e-12, 1e-11][sum(orders)], f"{orders}: {values[place]}, but must be {exact}"


def test_both_tails_are_complements():
    random = np.random.default_rng(5)
    r, alpha, beta = 10 ** random.uniform(-2, 6, (3, 400))
    n = np.floor(10 ** random.uniform(0, 5, 400)) - 1
    lower = [ag.beta_neg_binomial_cdf(*x) for x in zip(n, r, alpha, beta, strict=True)]
    log_lower = [ag.beta_neg_binomial_lcdf(*x) for x in zip(n, r, alpha, beta, strict=True)]
    log_upper = [ag.beta_neg_binomial_lccdf(*x) for x in zip(n, r, alpha, beta, strict=True)]
    np.testing.assert_allclose(lower + np.exp(log_upper), 1.0, rtol=3e-14)
    np.testing.assert_allclose(np.exp(log_lower), lower, rtol=1e-12)
    assert np.all(np.array(log_upper) <= 0)


def test_masses_are_steps_of_the_distribution_function():
    r, alpha, beta = 3.4, 2.6, 7.1
    steps = np.diff([ag.beta_neg_binomial_cdf(float(n), r, alpha, beta) for n in range(-1, 60)])
    masses = [np.exp(ag.beta_neg_binomial_lpmf(float(n), r, alpha, beta)) for n in range(60)]
    np.testing.assert_allclose(steps, masses, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(("function", "value"), list(zip(FUNCTIONS, (0.0, -np.inf, 0.0), strict=True)))
def test_fewer_than_no_failures_are_constants(function, value):
    for n in (-1.0, -3.0, -1e300):
        assert function(n, 2.0, 3.0, 4.0) == value
        np.testing.assert_array_equal(ag.grad(lambda x, n=n: function(n, x[0], x[1], x[2]))(np.array([2.0, 3.0, 4.0])), 0.0)
    compiled = ag.compile(ag.value_and_grad(lambda r, n: function(n, r, 3.0, 4.0)))
    for n in (4.0, -2.0, 20.0, -1.0):  # each run takes its own branch
        assert compiled(2.0, n)[0] == function(n, 2.0, 3.0, 4.0)
        assert (compiled(2.0, n)[1] == 0) == (n < 0)


def log_upper_tail(r, alpha):
    return ag.beta_neg_binomial_lccdf([4.0, -1.0, 2.0], r, alpha, 3.0)


def test_compiled_functions_are_kept():
    gradient = ag.compile(ag.grad(log_upper_tail))
    r = np.array([2.0, 0.5, 1.5])
    value = gradient(r, 0.7)
    assert value[1] == 0
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(gradient))(r, 0.7), value)


def sum_of_terms(function, n, r, alpha, beta):
    """Return the sum, or the product, of terms that are calls of their own."""
    terms = ag.array([function(*x) for x in zip(n, r, alpha, beta, strict=True)])
    return np.prod(terms) if function is ag.beta_neg_binomial_cdf else np.sum(terms)


@each_function
@pytest.mark.parametrize("count", [1, 3, 256, 300])
def test_engines_agree_on_arrays_that_fill_blocks_and_do_not(function, count):
    n, r = np.arange(count) % 23.0, 30.3 + np.arange(count) % 7
    alpha, beta = np.linspace(0.4, 9.0, count), np.linspace(0.8, 0.1, count)

    def arguments(x):
        return n, r * x[0], x[1] + alpha, beta * x[2]

    def of(x):
        return function(*arguments(x))

    x = np.array([1.2, 0.9, 0.7])
    exact = derivatives(lambda x: sum_of_terms(function, *arguments(x)), x)
    assert np.all(exact != 0)
    hessians = [
        ag.hessian(of),
        ag.compile(ag.hessian(of)),
        ag.jacfwd(ag.jacfwd(of)),
        ag.jacfwd(ag.grad(of)),
        ag.jacrev(ag.grad(of)),
    ]
    for gradient in (ag.grad(of), ag.compile(ag.grad(of)), ag.jacfwd(of)):
        np.testing.assert_allclose(gradient(x), exact[1:4], rtol=1e-11)
    for hessian in hessians:
        np.testing.assert_allclose(hessian(x)[np.triu_indices(3)], exact[4:], rtol=1e-9)


@each_function
def test_a_sparse_hessian_has_a_block_for_each_term(function):
    count = 40

    def of(x):
        n, (r, alpha, beta) = np.arange(count) % 23.0, np.reshape(x, (3, count))
        return np.sum(
            ag.array([function(n[i : i + 8], r[i : i + 8], alpha[i : i + 8], beta[i : i + 8]) for i in range(0, count, 8)])
        )

    x = np.random.default_rng(1).uniform(0.5, 9.0, 3 * count)
    dense, sparse = ag.hessian(of)(x), ag.hessian(of, sparse=True)(x)
    np.testing.assert_allclose(sparse.toarray(), dense, rtol=1e-10, atol=1e-14)
    if function is not ag.beta_neg_binomial_cdf:  # the terms of a product have a dense Hessian
        assert sparse.nnz == 9 * count


@each_function
def test_rows_and_steps_of_loops(function):
    rows = np.random.default_rng(2).uniform(0.5, 9.0, (11, 3))

    def of(x, n=5.0):
        return function(n, x[0], x[1], x[2])

    for f in (of, ag.grad(of), ag.hessian(of)):
        np.testing.assert_allclose(ag.vmap(f)(rows), np.array([f(x) for x in rows]), rtol=1e-13)
        np.testing.assert_allclose(ag.vmap(f, threads=2)(rows), np.array([f(x) for x in rows]), rtol=1e-13)

    def step(carry, row):
        value = function(row[0], carry + row[1], 2.0 * carry, row[2] + carry**2)
        return 0.5 * carry + 0.1 * value**2, value

    def loop(x):
        return np.sum(ag.scan(step, x[0], np.stack([np.arange(6.0), x[1] * np.ones(6), x[2] * np.ones(6)], axis=1))[1])

    def unrolled(x):
        carry, total = x[0], 0.0
        for k in range(6):
            carry, value = step(carry, [float(k), x[1], x[2]])
            total += value
        return total

    x = np.array([1.3, 2.0, 0.7])
    for f in (loop, ag.compile(loop)):
        np.testing.assert_allclose(derivatives(f, x), derivatives(unrolled, x), rtol=1e-11)


@pytest.mark.thread_unsafe(reason="mpmath's precision belongs to the process")
@pytest.mark.parametrize("function", FUNCTIONS[1:])  # products of terms have two derivatives
def test_third_derivatives_are_those_of_mpmath(function):
    of = reference(function.__name__)
    for point in ((4, 2.3, 0.7, 3.1), (30, 1.4, 2.2, 0.9)):
        third = ag.jacfwd(ag.hessian(lambda x, n=point[0]: function(n, x[0], x[1], x[2])))(np.array(point[1:]))
        with mpmath.workdps(60):
            for orders in ((3, 0, 0), (2, 1, 0), (1, 1, 1), (0, 2, 1), (0, 0, 3)):
                i, j, k = np.repeat(np.arange(3), orders)
                exact = mpmath.diff(of, tuple(map(mpmath.mpf, point)), (0, *orders))
                assert third[i, j, k] == pytest.approx(float(exact), rel=1e-10)


@each_function
def test_arguments_that_are_too_large_are_named(function):
    name = function.__name__
    for n in (1e12, 0.5, np.inf, -np.inf):
        with pytest.raises(
            ag.DomainError, match=rf"{name}: n\[1\] is {n:g}.*, but must be a whole number below 1e12".replace("+", r"\+")
        ):
            function([1.0, n], 1.0, 1.0, 1.0)
    for place, argument in enumerate(("r", "alpha", "beta"), 1):
        for wrong in (0.0, -1.0, 1.1e12, np.inf):
            x = [3.0, 1.0, 1.0, 1.0]
            x[place] = wrong
            with pytest.raises(ag.DomainError, match=rf"{name}: {argument} is .*, but must be positive and at most 1e12"):
                function(*x)
    for x in ((1e12 - 1, 0.5, 1.5, 2.5), (3.0, 1e12, 1e12, 1e12), (3.0, 1e-300, 2.0, 1.0)):
        gradient = ag.grad(lambda s, n=x[0]: function(n, s[0], s[1], s[2]))(np.array(x[1:]))
        assert np.isfinite(function(*x))
        assert np.all(np.isfinite(gradient))


def test_slopes_of_tiny_shapes_do_not_overflow():
    n, r, alpha, beta = 1000.0, 4e-234, 1.5e-279, 9e-245  # cdf is alpha / beta
    slopes = ag.grad(lambda x: ag.beta_neg_binomial_cdf(n, x[0], x[1], x[2]))(np.array([r, alpha, beta]))
    assert ag.beta_neg_binomial_cdf(n, r, alpha, beta) == pytest.approx(alpha / beta, rel=1e-9)
    np.testing.assert_allclose(slopes[1:], [1 / beta, -alpha / beta / beta], rtol=1e-9)


def test_methods_of_stats_end_where_the_functions_do():
    of = ag.stats.betanbinom(2.0, 0.5, 3.0)
    assert (of.cdf(np.inf), of.sf(np.inf), of.cdf(-np.inf), of.logcdf(-3)) == (1.0, 0.0, 0.0, -np.inf)
    k = of.isf(1e-5)
    assert of.sf(k) <= 1e-5 < of.sf(k - 1)
    np.testing.assert_array_equal(of.ppf(of.cdf([0.0, 7.0, 40.0])), [0.0, 7.0, 40.0])
    for call in (of.cdf, of.logsf):
        with pytest.raises(ag.DomainError, match=r"betanbinom.*: k - loc is 1e\+12, but must be a whole number below 1e12"):
            call(1e12)
    with pytest.raises(
        ag.DomainError, match=r"stats.betanbinom.isf: the quantile of 1e-08 is beyond 1e12, but must be below, so that"
    ):
        of.isf(1e-8)
    for method, first in (("cdf", 3), ("sf", 3), ("ppf", 0.3)):
        with pytest.raises(
            ag.DomainError, match=rf"stats.betanbinom.{method}: a is 2e\+12, but must be positive and at most 1e12"
        ):
            getattr(ag.stats.betanbinom, method)(first, 2.0, 2e12, 3.0)
    assert np.isfinite(ag.stats.betanbinom.logpmf(3, 2.0, 2e12, 3.0))
    with pytest.raises(
        ag.DomainError, match=r"stats.betabinom.cdf: n is 1e\+07, but must be a whole number between 0 and 8388607"
    ):
        ag.stats.betabinom.cdf(3, 10**7, 1.0, 2.0)
