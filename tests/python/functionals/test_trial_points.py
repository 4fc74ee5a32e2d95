"""Searches whose steps leave the domain of the function: closed forms, SciPy, plain, compiled, in rows and in derivatives."""

import pickle

import numpy as np
import pytest
import scipy.optimize
import scipy.special

import agrad as ag

DATA = np.array([0.7, 2.1, 0.4, 3.3, 1.2, 5.0, 0.9, 1.7])
METHODS = ("newton", "powell")


def log_density(x, s):
    """Of normal data of mean 0, with derivatives of every order."""
    if s <= 0:
        raise ag.DomainError(f"log_density: s is {s}, but must be positive")
    return -np.sum((x / s) ** 2) / 2 - x.size * np.log(s)


def deviation(x, start):
    """The standard deviation of the data; the root of their mean square in closed form."""
    return ag.minimize(lambda s: -log_density(x, s), start).x


def rate(q, start, method="powell"):
    """The rate of an exponential distribution with the quantile q of 0.9; -log(1 - 0.9) / q in closed form."""
    return ag.root(lambda b: ag.exponential_qf(0.9, b) - q, start, method=method).x


def shape_of_gamma(x):
    mean = np.mean(np.log(x))
    return scipy.optimize.brentq(lambda a: mean - scipy.special.digamma(a), 0.05, 50, xtol=1e-15)


SHAPE = shape_of_gamma(DATA)
#: Of a function that is minimised: the function, starts of which some steps leave the domain, and the minimum.
CASES = {
    "deviation": (lambda s: -ag.normal_lpdf(DATA, 0.0, s), (0.1, 1.0, 10.0, 100.0), np.sqrt(np.mean(DATA**2))),
    "shape": (lambda a: -ag.gamma_lpdf(DATA, a, 1.0), (1.0, 10.0, 50.0), SHAPE),
    "probability": (lambda p: -ag.binomial_lpmf(9, 10, p), (0.01, 0.5, 0.99), 0.9),
    "logarithm": (lambda x: x - 2 * np.log(x), (0.1, 10.0, 100.0), 2.0),  # nan outside
    "matrix": (lambda r: -2 * np.sum(np.log(np.diagonal(np.linalg.cholesky(ag.array([[1.0, r], [r, 1.0]]))))) - 3 * r,
               (0.0, 0.9, -0.99), (np.sqrt(10) - 1) / 3),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_minima_from_starts_whose_steps_leave_the_domain(name):
    f, starts, expected = CASES[name]
    compiled = ag.compile(lambda start: ag.minimize(f, start).x)
    for start in starts:
        assert ag.minimize(f, start).x == pytest.approx(expected, rel=1e-9)
        assert compiled(start) == pytest.approx(expected, rel=1e-9)
    rows = ag.vmap(lambda start: ag.minimize(f, start).x)
    np.testing.assert_allclose(rows(np.array(starts)), np.full(len(starts), expected), rtol=1e-9)
    np.testing.assert_allclose(ag.compile(rows)(np.array(starts)[::-1]), np.full(len(starts), expected), rtol=1e-9)


def first_and_second(x):
    """The gradient and the Hessian of the root of the mean square."""
    s, n = np.sqrt(np.mean(x**2)), len(x)
    return x / (n * s), np.eye(n) / (n * s) - np.outer(x, x) / (n**2 * s**3)


@pytest.mark.parametrize("start", [1.0, 10.0, 100.0])
def test_derivatives_of_a_minimum(start):
    first, second = first_and_second(DATA)
    for f in (lambda x: deviation(x, start), ag.compile(lambda x: deviation(x, start))):
        np.testing.assert_allclose(ag.grad(f)(DATA), first, rtol=1e-8, atol=1e-12)
        np.testing.assert_allclose(ag.hessian(f)(DATA), second, rtol=1e-7, atol=1e-10)
        np.testing.assert_allclose(ag.jacfwd(f)(DATA), first, rtol=1e-8, atol=1e-12)
    nested = ag.compile(ag.jacrev(ag.grad(lambda x: deviation(x, start))))
    np.testing.assert_allclose(nested(DATA), second, rtol=1e-7, atol=1e-10)
    rows = np.stack([DATA, 30 * DATA, DATA / 30])  # another row leaves the domain at another step
    np.testing.assert_allclose(
        ag.vmap(ag.grad(lambda x: deviation(x, start)))(rows), [first_and_second(x)[0] for x in rows], rtol=1e-8, atol=1e-12
    )


@pytest.mark.parametrize("method", METHODS)
def test_roots_of_a_score(method):
    def score(a, x):
        return ag.grad(lambda a: ag.gamma_lpdf(x, a, 1.0))(a)

    def found(x, start):
        return ag.root(score, start, (x,), method=method).x

    compiled = ag.compile(found)
    for x in (DATA, 20 * DATA):
        for start in (1.0, 50.0):
            assert found(x, start) == pytest.approx(shape_of_gamma(x), rel=1e-9)
            assert compiled(x, start) == pytest.approx(shape_of_gamma(x), rel=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_derivatives_of_a_root_where_an_operation_raises(method):
    c, q = -np.log(1 - 0.9), np.array([0.5, 0.01, 40.0])
    for start in (0.1, 5.0, 1000.0):

        def f(q, start=start):
            return rate(q, start, method)

        for each in (f, ag.compile(f)):
            assert each(0.5) == pytest.approx(c / 0.5, rel=1e-9)
            assert ag.grad(each)(0.5) == pytest.approx(-c / 0.5**2, rel=1e-9)
            assert ag.hessian(each)(0.5) == pytest.approx(2 * c / 0.5**3, rel=1e-9)
            assert ag.jvp(ag.grad(each), (0.5,), (1.0,))[1] == pytest.approx(2 * c / 0.5**3, rel=1e-9)
            np.testing.assert_allclose(ag.vmap(ag.grad(each))(q), -c / q**2, rtol=1e-9)
        np.testing.assert_allclose(ag.compile(ag.vmap(ag.hessian(f)))(q), 2 * c / q**3, rtol=1e-9)


# ---- where the error comes from --------------------------------------------------------------------------------------


class Outside(Exception):  # noqa: N818
    is_recoverable = True


@pytest.mark.parametrize("error", [ag.DomainError, ag.SolverError, Outside])
def test_errors_that_the_function_raises_itself(error):
    def f(x):
        if x <= 0:
            raise error("f: x is negative, but must be positive")
        return x - 2 * np.log(x)

    for found in (lambda x: ag.minimize(f, x).x, ag.compile(lambda x: ag.minimize(f, x).x)):
        for start in (0.1, 10.0, 100.0):
            assert found(start) == pytest.approx(2.0, rel=1e-9)
    with pytest.raises(error, match="x is negative"):
        ag.minimize(f, -1.0)


def test_errors_within_loops_and_inner_searches():
    def inner(x):  # y**2 = x has no root for x < 0
        return ag.root(lambda y: y**2 - x, 1.0).x

    def summed(x):
        return ag.fori(0, 3, lambda i, s: s - ag.normal_lpdf(DATA[0], 0.0, x) / 3, 0.0)

    assert ag.minimize(lambda x: x - 4 * inner(x), 30.0).x == pytest.approx(4.0, rel=1e-8)
    assert ag.minimize(summed, 10.0).x == pytest.approx(DATA[0], rel=1e-9)
    assert ag.compile(lambda s: ag.minimize(summed, s).x)(10.0) == pytest.approx(DATA[0], rel=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_errors_of_functions_that_are_called_with_plain_values(method):
    @ag.custom_vjp
    def logarithm(x):
        if not x > 0:
            raise ag.DomainError("logarithm: x is negative, but must be positive")
        return float(np.log(x))

    logarithm.defvjp(lambda x: (logarithm(x), x), lambda x, cotangent: (cotangent / x,))

    def found(c, start):
        return ag.root(lambda x: logarithm(x) - c, start, method=method).x

    for f in (found, ag.compile(found)):
        for c in (0.3, 0.9):
            assert f(c, 50.0) == pytest.approx(np.exp(c), rel=1e-9)
        with pytest.raises(ag.DomainError, match="logarithm: x is negative"):
            f(0.3, -1.0)


@pytest.mark.parametrize("error", [ag.ShapeError, ValueError, ZeroDivisionError])
def test_other_errors_at_a_trial_point_reach_the_caller(error):
    def f(x):
        if x <= 0:
            raise error("no point of the domain")
        return x - 2 * np.log(x)

    with pytest.raises(error, match="no point"):
        ag.minimize(f, 100.0)


def test_a_start_outside_of_the_domain_raises():
    def minimum(start):
        return ag.minimize(lambda s: -ag.normal_lpdf(DATA, 0.0, s), start).x

    def root(start):
        return ag.root(ag.grad(lambda s: ag.normal_lpdf(DATA, 0.0, s)), start).x

    for f in (minimum, root, ag.compile(minimum), ag.compile(root)):
        with pytest.raises(ag.DomainError, match="sigma is -1"):
            f(-1.0)
        assert f(1.0) == pytest.approx(np.sqrt(np.mean(DATA**2)), rel=1e-9)
        with pytest.raises(ag.DomainError, match="sigma is -1"):
            f(-1.0)


def test_a_minimum_at_the_end_of_the_domain_raises():
    """The function falls as long as it is defined: steps are shortened, and no minimum is claimed."""
    with pytest.raises(ag.SolverError):
        ag.minimize(lambda p: -ag.binomial_lpmf(10, 10, p), 0.5)


def test_pickles_search_again():
    compiled = ag.compile(deviation)
    expected = compiled(DATA, 10.0)
    restored = pickle.loads(pickle.dumps(compiled))
    assert restored(DATA, 10.0) == expected
    assert restored(DATA, 100.0) == pytest.approx(expected, rel=1e-9)


def test_in_a_right_hand_side():
    """Solves y' = -rate(y) = -c / y, of which the rate's search leaves the domain: y^2 = y0^2 - 2 c t."""
    c = -np.log(1 - 0.9)

    def end(y0):
        return ag.solve_ivp(lambda t, y: [-rate(y[0], 5.0)], (0.0, 0.5), [y0], rtol=1e-9, atol=1e-12).y[0, -1]

    for f in (end, ag.compile(end)):
        assert f(3.0) == pytest.approx(np.sqrt(9 - c), rel=1e-7)
        assert ag.grad(f)(3.0) == pytest.approx(3 / np.sqrt(9 - c), rel=1e-6)
