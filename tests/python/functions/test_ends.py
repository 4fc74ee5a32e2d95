"""Derivatives at the ends of arguments, where parts of formulas overflow, underflow or cancel: mpmath and closed forms."""

import itertools

import mpmath
import numpy as np
import pytest

import agrad as ag
from probability_reference import ROWS, reference
from stored_references import stored

pytestmark = pytest.mark.thread_unsafe(reason="mpmath's precision belongs to the process")

POINTS = [
    # One shape is nearly 0: its gamma function is nearly its inverse, and the logarithm of the mean is a term of its own.
    ("beta_proportion_lpdf", (0.09, 5.3e-128, 49030320.3)),
    ("beta_proportion_lpdf", (2.0**-20, 2.0**-26, 2.0**24)),
    ("beta_proportion_lpdf", (1 - 2.0**-20, 1 - 2.0**-26, 2.0**24)),
    ("beta_proportion_lccdf", (0.019828863040188535, 2.5300036954132684e-26, 17.47461948231135)),
    ("beta_proportion_lccdf", (0.9699203728017993, 0.542498412935002, 3.722324817085844e-05)),
    ("beta_proportion_lccdf", (2.1377084630051402e-05, 3.692428656074106e-29, 1.4727130344936481e-08)),
    ("beta_proportion_lcdf", (0.75, 2.0**-30, 2.0**-20)),
    ("beta_proportion_lcdf", (0.3, 0.4, 5.0)),
    # The difference of the angles is rounded by up to 1e-5.
    ("von_mises_lpdf", (2.0**40, 0.25, 2.0)),
    ("von_mises_lpdf", (-63632668967.2123, -149.7500580240844, 3.064296957913984)),
]

SECOND = {
    "hessian": ag.hessian,
    "forward": lambda f: ag.jacfwd(ag.grad(f)),
    "compiled": lambda f: ag.compile(ag.hessian(f)),
}


@pytest.mark.parametrize(("name", "point"), POINTS)
def test_gradients_and_hessians_have_twelve_digits(name, point):
    function, of = getattr(ag, name), reference(name)
    x = np.array(point)
    gradient = ag.grad(lambda x: function(*x))(x)
    hessians = {way: second(lambda x: function(*x))(x) for way, second in SECOND.items()}
    with mpmath.workdps(150):
        exact = [mpmath.mpf(each) for each in point]

        def change(*steps):
            return of(*(each * (1 + step) for each, step in zip(exact, steps, strict=True)))

        def derivative(*by):
            orders = tuple(by.count(k) for k in range(len(point)))
            compute = lambda: mpmath.diff(change, (0,) * len(point), orders) / mpmath.fprod(exact[k] for k in by)  # noqa: E731
            return stored(compute, name, f"by shares: {ROWS[name].reference}", point, orders)

        for i in range(len(point)):
            slope = derivative(i)
            assert abs(gradient[i] - slope) <= 1e-12 * abs(slope), (i, gradient[i], mpmath.nstr(slope, 17))
        for i, j in itertools.combinations_with_replacement(range(len(point)), 2):
            curvature = derivative(i, j)
            for way, hessian in hessians.items():
                close = abs(hessian[i, j] - curvature) <= 1e-12 * abs(curvature) + 1e-300
                assert close, (way, i, j, hessian[i, j], mpmath.nstr(curvature, 17))


def hessians_of(f, *x):
    return [second(lambda z: f(*z))(np.array(x)) for second in SECOND.values()]


def test_a_skew_normal_density_whose_shape_times_the_distance_overflows():
    """It is twice the normal density there."""
    y, omega = -4.9e78, 28745.4
    for hessian in hessians_of(lambda y, w: ag.skew_normal_lpdf(y, 0.0, w, -3.8e240), y, omega):
        z = y / omega
        np.testing.assert_allclose(hessian, [[-1, 2 * z], [2 * z, 1 - 3 * z * z]] / np.square(omega), rtol=1e-13)


def test_two_zeros_differ_by_their_slopes():
    for hessian in hessians_of(ag.log_diff_exp, -np.inf, -np.inf):
        np.testing.assert_array_equal(hessian, [[-np.inf, np.inf], [np.inf, -np.inf]])
    np.testing.assert_array_equal(ag.grad(lambda z: ag.log_diff_exp(*z))(np.full(2, -np.inf)), [np.inf, -np.inf])


@pytest.mark.parametrize("p", [1e-30, 1e-200])
def test_sums_with_an_exponential_variable_far_above_depend_little_on_sigma(p):
    """There the sum is exponential, from mu + rate sigma^2 / 2 on."""
    sigma, rate = 2.0, 1e-3
    log_p = np.log(p)
    gradient = ag.grad(lambda z: ag.exp_mod_normal_cqf(p, 0.0, *z))(np.array([sigma, rate]))
    np.testing.assert_allclose(gradient, [rate * sigma, sigma**2 / 2 + log_p / rate**2], rtol=1e-13)
    for hessian in hessians_of(lambda s, r: ag.exp_mod_normal_cqf(p, 0.0, s, r), sigma, rate):
        np.testing.assert_allclose(hessian, [[rate, sigma], [sigma, -2 * log_p / rate**3]], rtol=1e-12)


def test_second_derivatives_of_quantiles_by_tiny_probabilities():
    """Student's t distribution of 2 degrees of freedom has the quantiles (2 p - 1) / sqrt(2 p (1 - p))."""
    for p in (1e-60, 1e-120):
        for hessian in hessians_of(lambda q: ag.student_t_qf(q, 2.0, 0.0, 1.0), p):
            np.testing.assert_allclose(hessian, [[-0.75 / np.sqrt(2 * p) / p / p]], rtol=1e-12)
    p, power = 1e-220, 1e-165
    for hessian in hessians_of(lambda q: ag.loglogistic_qf(q, 3.0, 4 / 3), p):
        np.testing.assert_allclose(hessian, [[-0.5625 * power / p / p]], rtol=1e-12)


@pytest.mark.parametrize("nu", [1e-5, 3.0, 1e5, 1e15])
def test_the_ratio_of_gamma_functions_in_four_dimensions(nu):
    """It is 1 + 2 / nu."""
    none, unit = np.zeros(4), np.eye(4)
    for hessian in hessians_of(lambda n: ag.multi_student_t_lpdf(none, n, none, unit), nu):
        np.testing.assert_allclose(hessian, [[4 * (nu + 1) / ((nu + 2) * nu) ** 2]], rtol=1e-13)
    for y in (100.0, 1e80):
        s = 4 * y * y
        slope = ag.grad(lambda y: ag.multi_student_t_lpdf(y * np.ones(4), nu, none, unit))(y)
        assert slope == pytest.approx(-(nu + 4) * 4 * y / (nu + s), rel=1e-13)


@pytest.mark.parametrize(
    "point",
    [
        (0.0, -1e-9, 1e-9),
        (5.0, 20.0, 20.000001),
        (-5.0, 20.0, 20.000000001),
        (0.0, 4.0, 4.19),
        (0.0, 4.0, 4.21),
        (0.0, 30.0, 30.035),
    ],
)
def test_narrow_categories_of_a_normal_variable(point):
    def log_mass(eta, lower, upper):  # of a category above eta
        return mpmath.log((mpmath.erfc((lower - eta) / mpmath.sqrt(2)) - mpmath.erfc((upper - eta) / mpmath.sqrt(2))) / 2)

    def mass(eta, lower, upper):
        return ag.ordered_probit_lpmf(1, eta, np.stack([lower, upper]))

    with mpmath.workdps(320):
        exact = [mpmath.mpf(each) for each in point]
        width = exact[2] - exact[1]

        def derivative(*by):
            orders = tuple(by.count(k) for k in range(3))
            moved = lambda *s: log_mass(*(x + width * t for x, t in zip(exact, s, strict=True)))  # noqa: E731
            compute = lambda: mpmath.diff(moved, (0, 0, 0), orders) / width ** len(by)  # noqa: E731
            return stored(compute, "ordered_probit_lpmf", "log((erfc(l - eta) - erfc(u - eta)) / 2)", point, orders)

        assert mass(*point) == pytest.approx(float(log_mass(*exact)), rel=1e-13)
        gradient = ag.grad(lambda z: mass(*z))(np.array(point))
        slopes = [float(derivative(i)) for i in range(3)]
        np.testing.assert_allclose(gradient, slopes, rtol=1e-12, atol=1e-13)
        curvatures = [[float(derivative(*sorted((i, j)))) for j in range(3)] for i in range(3)]
        for hessian in hessians_of(mass, *point):
            np.testing.assert_allclose(hessian, curvatures, rtol=1e-11)


@pytest.mark.parametrize("second", SECOND)
@pytest.mark.parametrize(
    ("name", "point", "by", "expected"),
    [
        ("beta_lpdf", (0.0, 1.0, 2.0), (0, 0), -1.0),
        ("beta_lpdf", (1.0, 3.0, 1.0), (0, 0), -2.0),
        ("weibull_lpdf", (0.0, 1.0, 2.0), (1, 2), -0.5),
        ("loglogistic_lpdf", (0.0, 2.0, 1.0), (1, 2), -0.5),
    ],
)
def test_second_derivatives_at_an_end_where_the_density_is_finite(second, name, point, by, expected):
    hessian = SECOND[second](lambda x: getattr(ag, name)(*x))(np.array(point))
    assert hessian[by] == pytest.approx(expected, rel=1e-15)
    assert hessian[by[::-1]] == pytest.approx(expected, rel=1e-15)
