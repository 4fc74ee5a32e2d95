"""Quadrature: closed forms, mpmath and SciPy, limits of every kind, derivatives in limits and parameters, what is refused."""

import mpmath
import numpy as np
import pytest
import scipy.integrate

import agrad as ag

METHODS = ("gauss_kronrod", "double_exponential")
TRANSFORMS = {
    "grad": ag.grad,
    "compiled grad": lambda f: ag.compile(ag.grad(f)),
    "hessian": ag.hessian,
    "compiled hessian": lambda f: ag.compile(ag.hessian(f)),
    "jacfwd of jacrev": lambda f: ag.jacfwd(ag.jacrev(f)),
    "grad of grad": lambda f: ag.grad(lambda p: np.sum(np.sin(ag.grad(f)(p)))),
    "rows": lambda f: lambda p: ag.compile(ag.vmap(ag.hessian(f)))(np.stack([p, 1.1 * p]))[0],
}


CASES = {
    "exp": (lambda x: np.exp(x), 0.0, 1.0, np.e - 1),
    "reversed": (lambda x: np.exp(x), 1.0, 0.0, 1 - np.e),
    "empty": (lambda x: np.exp(x), 1.0, 1.0, 0.0),
    "empty at infinity": (lambda x: np.exp(-x), np.inf, np.inf, 0.0),
    "normal": (lambda x: np.exp(-x * x), -np.inf, np.inf, np.sqrt(np.pi)),
    "normal reversed": (lambda x: np.exp(-x * x), np.inf, -np.inf, -np.sqrt(np.pi)),
    "upper": (lambda x: 1 / (1 + x * x), 1.0, np.inf, np.pi / 4),
    "upper reversed": (lambda x: 1 / (1 + x * x), np.inf, 1.0, -np.pi / 4),
    "lower": (lambda x: np.exp(x), -np.inf, 1.0, np.e),
    "odd": (lambda x: x**3, -2.0, 2.0, 0.0),
    "root at 0": (lambda x: 1 / np.sqrt(x), 0.0, 1.0, 2.0),
    "logarithm at 0": (lambda x: np.log(x), 0.0, 1.0, -1.0),
    "narrow": (lambda x: np.exp(-0.5 * ((x - 0.3) / 1e-4) ** 2), 0.0, 1.0, 1e-4 * np.sqrt(2 * np.pi)),
    "sinc": (lambda x: np.sin(x) / x, 0.0, 3.0, float(mpmath.si(3))),
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_values_and_errors(case, method):
    f, a, b, expected = case
    value, error = ag.quad(f, a, b, method=method)
    scale = max(abs(expected), 1e-4)
    assert value == pytest.approx(expected, abs=1e-8 * scale)
    assert abs(value - expected) <= error + 1e-13
    assert error <= 1e-7 * scale or expected == 0


@pytest.mark.thread_unsafe(reason="mpmath's functions change its precision while they run")
def test_scipy_and_mpmath_agree():
    def f(x):
        return np.exp(-x) * np.cos(7 * x) / np.sqrt(1 + x)

    value, _ = ag.quad(f, 0.2, 5.0, rtol=1e-12)
    assert value == pytest.approx(scipy.integrate.quad(f, 0.2, 5.0, epsabs=0, epsrel=1e-12)[0], rel=1e-11)
    exact = mpmath.quad(lambda x: mpmath.exp(-x) * mpmath.cos(7 * x) / mpmath.sqrt(1 + x), [0.2, 1, 2, 3, 4, 5])
    assert value == pytest.approx(float(exact), rel=1e-12)


def test_arrays_and_points():
    value, error = ag.quad(lambda x: [x, x * x], 0.0, 1.0)
    np.testing.assert_allclose(value, [1 / 2, 1 / 3], rtol=1e-13)
    assert error.shape == (2,)
    peak = 1e-8 * np.sqrt(2 * np.pi)
    for method in METHODS:
        spike, _ = ag.quad(lambda x: np.exp(-0.5 * ((x - 0.3) / 1e-8) ** 2), 0.0, 1.0, points=[0.3], method=method)
        assert spike == pytest.approx(peak, rel=1e-8)
        far, _ = ag.quad(lambda x: np.exp(-0.5 * (x - 1000) ** 2), -np.inf, np.inf, points=[1000.0], method=method)
        assert far == pytest.approx(np.sqrt(2 * np.pi), rel=1e-8)
        assert ag.quad(lambda x: 0 * x, 0.0, 1.0, points=[0.5], method=method) == (0.0, 0.0)
        for outside in ([5.0], [-1.0, 0.0, 1.0], [np.inf]):
            with pytest.raises(ag.SolverError, match=r"result is 0 at all of \d+ nodes"):
                ag.quad(lambda x: np.exp(-(((x - 0.3) / 1e-8) ** 2)), 0.0, 1.0, points=outside, method=method)
        at = ag.compile(
            lambda p, m=method: ag.quad(lambda x: np.exp(-(((x - 0.3) / 1e-8) ** 2)), 0.0, 1.0, points=p, method=m)[0]
        )
        assert at(np.array([0.3])) == pytest.approx(1e-8 * np.sqrt(np.pi), rel=1e-8)
        with pytest.raises(ag.SolverError, match=r"result is 0 at all of \d+ nodes"):
            at(np.array([5.0]))
        kink, _ = ag.quad(lambda x: np.abs(x - 0.3), 0.0, 1.0, points=[0.3], method=method)
        assert kink == pytest.approx(0.29, rel=1e-14)


def power(p):
    return ag.quad(lambda x, k: x**k, p[0], p[1], (p[2],))[0]


def power_exactly(p):
    return (p[1] ** (p[2] + 1) - p[0] ** (p[2] + 1)) / (p[2] + 1)


def decay(p):
    """Captures its parameters."""
    return ag.quad(lambda x: p[0] * np.exp(-p[1] * x), p[2], np.inf, method="double_exponential")[0]


def decay_exactly(p):
    return p[0] / p[1] * np.exp(-p[1] * p[2])


P = np.array([0.5, 2.0, 1.7])


@pytest.mark.parametrize("transform", TRANSFORMS.values(), ids=TRANSFORMS)
@pytest.mark.parametrize("pair", [(power, power_exactly), (decay, decay_exactly)], ids=["power", "decay"])
def test_derivatives(pair, transform):
    given, expected = (transform(f)(P) for f in pair)
    np.testing.assert_allclose(given, expected, rtol=1e-7, atol=1e-10)


@pytest.mark.thread_unsafe(reason="mpmath's functions change its precision while they run")
def test_limits_have_leibniz_derivatives():
    f = ag.compile(ag.value_and_grad(lambda p: ag.quad(lambda x: np.exp(-x * x), p[0], p[1])[0]))
    for a, b in ((0.0, 1.0), (1.0, 0.0), (0.5, 0.5), (-np.inf, 1.0), (0.0, np.inf), (-np.inf, np.inf)):
        value, slope = f(np.array([a, b]))
        assert value == pytest.approx(float(mpmath.quad(lambda x: mpmath.exp(-x * x), [a, b])), abs=1e-12)
        np.testing.assert_allclose(slope, [-np.exp(-a * a), np.exp(-b * b)], atol=1e-12)
    assert ag.grad(lambda a: ag.quad(lambda x: 1 / np.sqrt(x), a, 1.0)[0])(0.0) == -np.inf


def test_partitions_see_derivatives():
    """The integrand is smooth to rounding where its derivative has a narrow peak."""

    def f(p):
        return ag.quad(lambda x: 1.0 + p * 1e-14 * np.exp(-0.5 * ((x - 0.315) / 1e-3) ** 2) + p * 1e-18 * x, 0.0, 1.0)[0]

    expected = 1e-14 * 1e-3 * np.sqrt(2 * np.pi) + 0.5e-18
    assert ag.grad(f)(1.0) == pytest.approx(expected, rel=1e-7)
    assert ag.compile(ag.grad(f))(1.0) == pytest.approx(expected, rel=1e-7)


@pytest.mark.thread_unsafe(reason="mpmath's functions change its precision while they run")
def test_each_run_of_a_compiled_function_divides_again():
    f = ag.compile(lambda s: ag.quad(lambda x: np.exp(-0.5 * (x / s) ** 2) / s, -1.0, 2.0)[0])
    for s in (1.0, 1e-3, 1e-2, 30.0):
        exact = mpmath.quad(lambda x, s=s: mpmath.npdf(x, 0, s), [-1, -8 * s, 0, 8 * s, 2] if s < 0.1 else [-1, 2])
        assert f(s) == pytest.approx(float(exact * mpmath.sqrt(2 * mpmath.pi)), rel=1e-8)
    with pytest.raises(ag.SolverError, match=r"result is 0 at all of 1344 nodes, but must be other than 0"):
        f(1e-12)


@pytest.mark.thread_unsafe(reason="mpmath's functions change its precision while they run")
def test_rows_divide_each_by_itself():
    def f(b):
        return ag.quad(lambda x: np.exp(-x * x), -np.inf, b)[0]

    b = np.array([0.0, np.inf, 1.0, 30.0])
    expected = [float(mpmath.sqrt(mpmath.pi) * mpmath.ncdf(x * mpmath.sqrt(2))) for x in b]
    np.testing.assert_allclose(ag.vmap(f)(b), expected, rtol=1e-9)
    np.testing.assert_allclose(ag.vmap(ag.grad(f))(b), np.exp(-b * b), atol=1e-12)
    spike = ag.vmap(lambda s: ag.quad(lambda x: np.exp(-0.5 * (x / s) ** 2) / s, -1.0, 2.0)[0])(np.array([1.0, 1e-3]))
    assert spike[1] == pytest.approx(np.sqrt(2 * np.pi), rel=1e-8)


def test_functionals_of_functionals():
    assert ag.quad(lambda x: ag.quad(lambda y: x * y, 0.0, x)[0], 0.0, 1.0)[0] == pytest.approx(1 / 8, rel=1e-12)

    def median(k):
        return ag.root(lambda b: ag.quad(lambda x: k * np.exp(-k * x), 0.0, b)[0] - 0.5, 0.3).x

    for transform in (lambda f: f, ag.grad, ag.hessian, lambda f: ag.compile(ag.grad(f))):
        assert transform(median)(1.3) == pytest.approx(transform(lambda k: np.log(2.0) / k)(1.3), rel=1e-9)


def test_integrals_in_loops_and_differential_equations():
    def share(k):  # (1 - exp(-k)) / k
        return ag.quad(lambda x: np.exp(-k * x), 0.0, 1.0)[0]

    def by_loop(k):
        return ag.scan(lambda c, x: (c + share(k + c * x), None), 0.0, np.array([1.0, 2.0]))[0]

    def by_hand(k):
        def exact(k):
            return (1 - np.exp(-k)) / k

        return exact(k) + exact(k + 2 * exact(k))

    for transform in (lambda f: f, ag.grad, lambda f: ag.compile(ag.grad(f)), ag.hessian):
        assert transform(by_loop)(1.3) == pytest.approx(transform(by_hand)(1.3), rel=1e-8)

    def flow(k):
        return ag.solve_ivp(lambda t, y: [-share(k) * y[0]], (0.0, 1.0), [1.0], rtol=1e-9, atol=1e-12).y[0, -1]

    def exact_flow(k):
        return np.exp(-(1 - np.exp(-k)) / k)

    for transform in (lambda f: f, ag.grad):
        assert transform(flow)(1.3) == pytest.approx(transform(exact_flow)(1.3), rel=1e-7)


REFUSED = {
    "divergent at 0": (lambda x: 1 / x, 0.0, 1.0, ag.SolverError, r"estimate of the error is .*, but must be at most"),
    "divergent at infinity": (lambda x: 1 / x, 1.0, np.inf, ag.SolverError, r"estimate of the error is"),
    "pole": (lambda x: 1 / (x - 0.5), 0.0, 1.0, ag.SolverError, r"is not finite|estimate of the error"),
    "zero everywhere": (lambda x: 0 * x, 0.0, 1.0, ag.SolverError, r"is 0 at all of 1344 nodes"),
    "rough": (lambda x: np.sin(1e4 * x), 0.0, 10.0, ag.SolverError, r"after 100 intervals"),
    "nan": (lambda x: np.log(x), -1.0, 1.0, ag.SolverError, r"result at x = -?\d.* is not finite"),
    "none": (lambda x: None, 0.0, 1.0, TypeError, r"result is None"),
    "limit is nan": (lambda x: x, np.nan, 1.0, ag.DomainError, r"a is nan"),
    "limit is a vector": (lambda x: x, np.zeros(2), 1.0, ag.ShapeError, r"a is of shape \(2,\)"),
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_refused(case, method):
    f, a, b, kind, match = case
    with pytest.raises(kind, match=match):
        ag.quad(f, a, b, method=method)


def test_singular_away_from_zero_is_measured():
    """Floating-point numbers near 1 are too far apart for 1e-8."""
    for method in METHODS:
        with pytest.raises(ag.SolverError, match="shift a singularity"):
            ag.quad(lambda x: 1 / np.sqrt(1 - x), 0.0, 1.0, method=method)
        value, error = ag.quad(lambda x: 1 / np.sqrt(1 - x), 0.0, 1.0, method=method, rtol=1e-6)
        assert abs(value - 2.0) < error < 2e-6


def test_options_are_checked():
    for points, kind, match in (
        (["a"], TypeError, r"quad\(exp\): points is of dtype"),
        ([[0.2], [0.3]], ag.ShapeError, r"points is of shape \(2, 1\), but must be a vector"),
        ([0.2, np.nan], ag.DomainError, r"quad\(exp\): points\[1\] is nan, but must be a number"),
    ):
        with pytest.raises(kind, match=match):
            ag.quad(np.exp, 0.0, 1.0, points=points)
    compiled = ag.compile(lambda places: ag.quad(np.exp, 0.0, 1.0, points=places)[0])
    assert compiled(np.array([0.2, 0.4])) == pytest.approx(np.e - 1, rel=1e-12)
    with pytest.raises(ag.DomainError, match=r"points\[1\] is nan"):
        compiled(np.array([0.2, np.nan]))
    for options, match in (
        ({"rtol": 0.0}, "rtol is 0.0"),
        ({"atol": -1.0}, "atol is -1.0"),
        ({"limit": 3}, "limit is 3"),
        ({"method": "simpson"}, "method is 'simpson'"),
    ):
        with pytest.raises(ValueError, match=match):
            ag.quad(np.exp, 0.0, 1.0, **options)


@pytest.mark.thread_unsafe(reason="mpmath's functions change its precision while they run")
def test_names_of_stan():
    def normal(x, xc, mu, sigma):
        return np.exp(-0.5 * ((x - mu) / sigma) ** 2)

    exact = float(mpmath.sqrt(2 * mpmath.pi) * 0.5 * (1 - mpmath.ncdf((1 - 0.3) / 0.5)))
    for given in (
        ag.integrate_1d_gauss_kronrod(normal, 1.0, np.inf, 0.3, 0.5),
        ag.integrate_1d_gauss_kronrod_tol(normal, 1.0, np.inf, 1e-8, 0.0, 15, 0.3, 0.5),
        ag.integrate_1d_double_exponential(normal, 1.0, np.inf, 0.3, 0.5),
        ag.integrate_1d_double_exponential_tol(normal, 1.0, np.inf, 1e-8, 0.0, 15, 0.3, 0.5),
        ag.integrate_1d(lambda x, xc, t, r, i: normal(x, xc, t[0], r[0]), 1.0, np.inf, [0.3], [0.5], [1]),
    ):
        assert given == pytest.approx(exact, rel=1e-9)

    def at_one(x, xc, k):
        return np.where(xc > 0, xc, 1 - x) ** k

    slope = ag.grad(lambda k: ag.integrate_1d_double_exponential(at_one, 0.0, 1.0, k))
    assert ag.integrate_1d_double_exponential(at_one, 0.0, 1.0, -0.9) == pytest.approx(10.0, rel=1e-8)
    assert slope(-0.5) == pytest.approx(-4.0, rel=1e-8)


def test_distances_at_limits():
    """The distance is that to the value of the limit, and nan where there is none."""

    def to_one(x, xc):
        return np.where(xc >= 0, xc, 1 - x)

    def from_zero(x, xc):
        return np.where(xc < 0, -xc, x) ** 2

    cases = (
        (lambda b: ag.integrate_1d_double_exponential(to_one, 0.0, b), 1.0, (0.5, 0.0, -1.0)),
        (lambda a: ag.integrate_1d_double_exponential(from_zero, a, 1.0), 0.0, (1 / 3, 0.0, 0.0)),
    )
    for f, limit, expected in cases:
        for transform, each in zip((lambda f: f, ag.grad, ag.hessian), expected, strict=True):
            assert transform(f)(limit) == pytest.approx(each, rel=1e-12, abs=1e-12)
            assert ag.compile(transform(f))(limit) == pytest.approx(each, rel=1e-12, abs=1e-12)
    third = ag.grad(ag.hessian(lambda a: ag.integrate_1d_double_exponential(from_zero, a, 1.0)))
    assert third(0.0) == pytest.approx(-2.0, rel=1e-12)

    def without(x, xc):
        return np.where(np.isnan(xc), np.exp(-x), 1e3)

    for f in (
        lambda a: ag.integrate_1d_double_exponential(without, a, np.inf),
        lambda a: ag.integrate_1d_gauss_kronrod(without, a, np.inf),
        lambda a: ag.integrate_1d_gauss_kronrod(without, a, 40.0),
    ):
        assert ag.grad(f)(0.5) == pytest.approx(-np.exp(-0.5), rel=1e-12)
        assert ag.hessian(f)(0.5) == pytest.approx(np.exp(-0.5), rel=1e-12)


def test_densities_without_third_derivatives_have_a_hessian():
    """The search for the partition differentiates the density twice, but no derivative of the integral passes through it."""

    def second_moment(t):
        return ag.quad(lambda x: np.exp(ag.normal_lpdf(x, t[0], t[1])) * x**2, -np.inf, np.inf)[0]

    t = np.array([0.3, 1.2])
    assert ag.grad(second_moment)(t) == pytest.approx(2 * t, rel=1e-10)
    for hessian in (ag.hessian(second_moment), ag.compile(ag.hessian(second_moment))):
        np.testing.assert_allclose(hessian(t), 2 * np.eye(2), rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(ag.hvp(second_moment)(t, t), 2 * t, rtol=1e-8)


def test_hints_hold_for_all_names():
    calls = (
        lambda: ag.quad(lambda x: 1 / x, 0.0, 1.0),
        lambda: ag.integrate_1d_gauss_kronrod(lambda x, xc: 1 / x, 0.0, 1.0),
    )
    for call in calls:
        with pytest.raises(ag.SolverError, match="allow more intervals or a larger error, divide at peaks and singularities"):
            call()
