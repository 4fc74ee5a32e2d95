"""The inverse Gaussian distribution: all tails in value and derivatives, quantiles and draws, against mpmath and SciPy."""

import mpmath
import numpy as np
import pytest
import scipy.stats

import agrad as ag

pytestmark = pytest.mark.thread_unsafe(reason="mpmath's precision belongs to the process")

#: Values, means and shapes: both tails, where mu alone, or lambda alone, counts, and where lambda is very large.
POINTS = [
    (y * mu, mu, lambda_)
    for mu in (1.0, 0.01, 3e4)
    for lambda_ in (1e-6, 0.5, 300.0, 1e8)
    for y in (1e-6, 0.3, 0.999999, 1.0, 1.1, 5.0, 1e5)
]


def exact(end, y, mu, lambda_):
    if end == "lpdf":
        return mpmath.log(lambda_ / (2 * mpmath.pi * y**3)) / 2 - lambda_ * (y - mu) ** 2 / (2 * mu**2 * y)
    r = mpmath.sqrt(lambda_ / y)
    term = mpmath.exp(2 * lambda_ / mu) * mpmath.ncdf(-r * (y / mu + 1))
    lower, upper = mpmath.ncdf(r * (y / mu - 1)) + term, mpmath.ncdf(-r * (y / mu - 1)) - term
    return {"cdf": lower, "lcdf": mpmath.log(lower), "lccdf": mpmath.log(upper)}[end]


def derivatives(end, x):
    """Return value, gradient and Hessian by differences, each times the arguments."""
    with mpmath.workdps(360):  # a tail of 1e-260 and the square of the step are lost from 1
        x, step = [mpmath.mpf(each) for each in x], mpmath.mpf(10) ** -25

        def at(*shifts):
            moved = list(x)
            for k, s in shifts:
                moved[k] *= 1 + s * step
            return exact(end, *moved)

        value = at()
        first = [(at((k, 1)) - at((k, -1))) / (2 * step) for k in range(3)]
        second = [
            [(at((j, 1), (k, 1)) - at((j, 1), (k, -1)) - at((j, -1), (k, 1)) + at((j, -1), (k, -1))) / (4 * step**2)]
            if j != k
            else [(at((k, 1)) - 2 * value + at((k, -1))) / step**2]
            for j in range(3)
            for k in range(3)
        ]
        return float(value), np.array(first, dtype=float), np.array(second, dtype=float).reshape(3, 3)


def is_within_doubles(end, x):
    with mpmath.workdps(30):
        return end == "lpdf" or abs(exact("lpdf", *map(mpmath.mpf, x))) < 600


@pytest.mark.parametrize("end", ["lpdf", "cdf", "lcdf", "lccdf"])
def test_values_and_derivatives_in_all_tails(end):
    function = getattr(ag, f"inv_gaussian_{end}")
    of = lambda x: function(*x)  # noqa: E731
    gradient, hessian = ag.compile(ag.grad(of)), ag.compile(ag.hessian(of))
    for x in (np.array(point) for point in POINTS if is_within_doubles(end, point)):
        value, first, second = derivatives(end, x)
        assert of(x) == pytest.approx(value, rel=3e-13, abs=0), x
        np.testing.assert_allclose(gradient(x) * x, first, rtol=5e-13, atol=2e-15 * np.max(np.abs(first)), err_msg=str(x))
        computed = hessian(x) * np.outer(x, x)
        np.testing.assert_allclose(computed, second, rtol=5e-13, atol=1e-14 * np.max(np.abs(second)), err_msg=str(x))


def test_logarithms_far_out():
    """Where the probabilities underflow."""
    with mpmath.workdps(400):
        for x in ((1e-4, 1.0, 30.0), (1e-3, 1e5, 20.0), (60.0, 1.0, 50.0), (3e4, 1.0, 1.0), (2e7, 3.0, 1e-3)):
            end = "lcdf" if x[0] < 1 else "lccdf"
            ours, value = getattr(ag, f"inv_gaussian_{end}")(*x), float(exact(end, *map(mpmath.mpf, x)))
            assert ours == pytest.approx(value, rel=1e-14)
            assert ours < -600


def test_methods_are_scipys():
    for mu in (0.02, 0.7, 5.0):
        ours, theirs = (module.invgauss(mu, 0.5, 2.0) for module in (ag.stats, scipy.stats))
        x = 0.5 + 2 * mu * np.array([-1.0, 0.0, 0.4, 0.9, 1.0, 1.3, 4.0])
        with np.errstate(divide="ignore"):
            for method in ("logpdf", "pdf", "cdf", "sf", "logcdf", "logsf"):
                np.testing.assert_allclose(getattr(ours, method)(x), getattr(theirs, method)(x), rtol=1e-10, atol=1e-300)
        q = np.array([0.0, 1e-9, 0.2, 0.5, 0.999, 1.0])
        np.testing.assert_allclose(ours.ppf(q), theirs.ppf(q), rtol=1e-9)
        assert ours.support() == (0.5, np.inf)
        np.testing.assert_allclose(ours.stats(moments="mvsk"), theirs.stats(moments="mvsk"), rtol=1e-13)
        assert scipy.stats.kstest(ours.rvs(4000, random_state=1), ours.cdf).pvalue > 1e-3
        assert ours.between(x[2], x[5]) == pytest.approx(ours.cdf(x[5]) - ours.cdf(x[2]), rel=1e-12)


def test_quantiles_invert_both_tails():
    for mu, lambda_ in ((1.0, 1e-6), (1.0, 0.5), (2.0, 40.0), (1e-3, 1e3), (1e5, 1e-2)):
        for p in (1e-300, 1e-20, 1e-3, 0.3, 0.5, 0.7, 0.999):
            for quantile, log_tail in (
                (ag.inv_gaussian_qf, ag.inv_gaussian_lcdf),
                (ag.inv_gaussian_cqf, ag.inv_gaussian_lccdf),
            ):
                y = quantile(p, mu, lambda_)
                slope = abs(ag.grad(log_tail)(y, mu, lambda_) * y)
                assert abs(log_tail(y, mu, lambda_) - np.log(p)) < 1e-15 * (4 * slope + 4 - 4 * np.log(p))


def quantile_near(y):
    """Return the quantile, by a search from y, as a function of mpmath's numbers."""
    return lambda p, mu, lambda_: mpmath.findroot(lambda z: exact("cdf", z, mu, lambda_) / p - 1, y)


def test_derivatives_of_quantiles():
    of = lambda x: ag.inv_gaussian_qf(*x)  # noqa: E731
    for x in (np.array([0.03, 1.3, 0.7]), np.array([0.9, 1.3, 40.0]), np.array([1e-12, 20.0, 0.1])):
        with mpmath.workdps(60):
            solve, at = quantile_near(of(x)), tuple(map(mpmath.mpf, x))
            orders = np.eye(3, dtype=int)
            first = [float(mpmath.diff(solve, at, tuple(map(int, o)))) for o in orders]
            second = [[float(mpmath.diff(solve, at, tuple(map(int, o + q)))) for o in orders] for q in orders]
        np.testing.assert_allclose(ag.compile(ag.grad(of))(x), first, rtol=1e-12)
        for hessian in (ag.hessian(of), ag.compile(ag.jacfwd(ag.grad(of)))):
            np.testing.assert_allclose(hessian(x), second, rtol=1e-10)


def test_ends_of_the_support():
    for y, below in ((0.0, 0.0), (-1.0, 0.0), (-np.inf, 0.0), (np.inf, 1.0)):
        assert ag.inv_gaussian_lpdf(y, 1.5, 0.7) == -np.inf
        assert ag.inv_gaussian_cdf(y, 1.5, 0.7) == below
        assert ag.inv_gaussian_lcdf(y, 1.5, 0.7) == (0.0 if below else -np.inf)
        assert ag.inv_gaussian_lccdf(y, 1.5, 0.7) == (-np.inf if below else 0.0)
        for end in ("cdf", "lcdf", "lccdf"):
            gradient = ag.grad(getattr(ag, f"inv_gaussian_{end}"), (0, 1, 2))
            np.testing.assert_array_equal(gradient(y, 1.5, 0.7), 0)
            np.testing.assert_array_equal(ag.compile(gradient)(y, 1.5, 0.7), 0)
    with pytest.raises(ag.DomainError, match="inv_gaussian_lpdf: mu is inf, but must be positive and finite"):
        ag.inv_gaussian_lpdf(1.0, np.inf, 1.0)
    with pytest.raises(ag.DomainError, match=r"stats.invgauss.logpdf: mu is -1, but must be positive and finite"):
        ag.stats.invgauss.logpdf(1.0, -1.0)


def test_a_fit_of_waiting_times():
    y = scipy.stats.invgauss(0.4, 0, 3.0).rvs(300, random_state=2)

    def loss(t):
        return -ag.inv_gaussian_lpdf(y, np.exp(t[0]), np.exp(t[1]))

    best = np.exp(ag.minimize(loss, np.zeros(2)).x)
    np.testing.assert_allclose(best, [np.mean(y), 1 / np.mean(1 / y - 1 / np.mean(y))], rtol=1e-5)  # which have closed forms


def test_ends_and_values_outside_of_the_support():
    for run in (lambda f, *x: f(*x), lambda f, *x: ag.compile(f)(*x)):
        for y, lower, upper in ((np.inf, 0.0, -np.inf), (0.0, -np.inf, 0.0), (-1.0, -np.inf, 0.0)):
            assert run(ag.inv_gaussian_lcdf, y, 1.0, 2.0) == lower
            assert run(ag.inv_gaussian_lccdf, y, 1.0, 2.0) == upper
            assert run(ag.stats.invgauss.cdf, y, 0.5) == np.exp(lower)
    np.testing.assert_array_equal(ag.stats.invgauss.pdf(np.array([-1.0, 0.0, np.inf]), 0.5), 0.0)
