"""Densities and distribution functions at the ends: products that underflow, large and small shapes, many trials."""

import itertools

import mpmath
import numpy as np
import pytest

import agrad as ag
from probability_reference import ROWS, reference

pytestmark = pytest.mark.thread_unsafe(reason="mpmath's precision belongs to the process")

STEP = mpmath.mpf(10) ** -30
GAMMA = [(1e-250, 2e-3, 1e-300), (1e-250, 2.0, 1e-300), (1e-320, 1e-3, 3.0), (1e-5, 0.3, 1e-300), (1e-160, 0.02, 1e-160)]
INV_GAMMA = [(1e250, 2e-3, 1e-300), (1e-310, 2.0, 1e-310), (1e160, 2.0, 3.0), (1e200, 0.01, 2.0), (1e250, 1e-3, 1e250)]
INV_CHI_SQUARE = [(1e160, 2.0), (1e200, 0.01), (1e300, 1e-3)]
SCALED = [(1e200, 4e-3, 1e-170), (1e200, 4e-3, 1e-100), (1e250, 0.1, 1e-30), (2.0, 3.0, 1.4)]
TRIALS = [(3, 10, 2.0, 3.0), (9, 10, 2.0, 3.0), (0, 1, 0.4, 7.0), (5, 10, 1e-8, 3.0), (0, 10, 1e-8, 2.0), (50, 100, 0.3, 0.2)]
MANY_TRIALS = [(5, 200, 1e4, 10.0), (100, 200, 1e8, 1e8)]
#: Shapes from 0.01 to 1e6, with either tail as the smaller one.
FAILURES = [
    (0, 0.01, 1e6, 0.01),
    (0, 3.0, 2.0, 1e6),
    (0, 2.8, 4e-8, 0.11),
    (1, 3.9, 3e-8, 31.0),
    (3, 2.0, 3.0, 1.4),
    (15, 0.4, 0.01, 7.0),
    (16, 0.4, 0.01, 7.0),
    (40, 0.01, 0.01, 0.01),
    (60, 1e6, 1e6, 30.0),
    (200, 1e-2, 50.0, 1e4),
    (500, 1e4, 1e3, 50.0),
    (400, 1e6, 0.01, 1e-2),
]
FEW_FAILURES = [(20, 1e5, 300.0, 1e5), (2, 1e6, 60.0, 1e6), (0, 1e6, 1e3, 1e6)]  # of which the probability underflows
MANY_FAILURES = [(120, 2.0, 1e6, 3.0), (200, 1e2, 1e5, 0.01)]  # more than which have one that does
NEARLY_LINEAR = [(1e-12, 1.0, 1.0), (3e-16, 1.0, 1.0), (2e-9, 1.0, 1.5), (1e-3, 0.9, 0.8)]  # small powers of y, shapes near 1
LARGE = [(1e12, 1.0, 1.0), (4e9, 1.0, 0.8), (1e7, 1.5, 3.0)]
NO_FAILURE = [(0, mu, phi) for mu, phi in [(1e-5, 1.0), (1e-8, 3.0), (1e-12, 1.0), (1e-17, 2.0), (0.7, 40.0), (30.0, 2.5)]]
#: The points of each function.
POINTS = {
    "gamma_lpdf": [*GAMMA, (1e-12, 1.0, 1.0)],
    "gamma_cdf": [GAMMA[0], *GAMMA[2:]],
    "gamma_lcdf": GAMMA,
    "gamma_lccdf": [GAMMA[0], *GAMMA[2:]],
    "chi_square_lcdf": [(1e-320, 1e-3), (1e-300, 0.1)],
    "inv_gamma_lpdf": INV_GAMMA,
    "inv_gamma_lcdf": INV_GAMMA[:2],
    "inv_gamma_lccdf": INV_GAMMA,
    "inv_chi_square_lpdf": INV_CHI_SQUARE,
    "inv_chi_square_lccdf": INV_CHI_SQUARE,
    "scaled_inv_chi_square_lpdf": SCALED,
    "scaled_inv_chi_square_lccdf": SCALED,
    "beta_binomial_cdf": TRIALS + MANY_TRIALS[1:],
    "beta_binomial_lcdf": TRIALS + MANY_TRIALS,
    "beta_binomial_lccdf": TRIALS + MANY_TRIALS[1:],
    "beta_neg_binomial_cdf": FAILURES,
    "beta_neg_binomial_lcdf": FAILURES + FEW_FAILURES,
    "beta_neg_binomial_lccdf": FAILURES + MANY_FAILURES,
    "loglogistic_lpdf": NEARLY_LINEAR,
    "loglogistic_cdf": NEARLY_LINEAR + LARGE,
    "loglogistic_lcdf": LARGE,
    "loglogistic_lccdf": NEARLY_LINEAR,
    "weibull_cdf": NEARLY_LINEAR,
    "frechet_cdf": LARGE,
    "pareto_type_2_cdf": [(1e12, 1.0, 1.0, 1.0), (1e7, 2.0, 3.0, 0.9)],
    "pareto_type_2_lcdf": [(1e12, 1.0, 1.0, 1.0), (1e7, 2.0, 3.0, 0.9)],
    "neg_binomial_2_cdf": NO_FAILURE,
    "neg_binomial_2_lcdf": NO_FAILURE,
    "neg_binomial_2_lccdf": NO_FAILURE,
}


def _moved(exact, point, *moves):
    """Return the function at a point whose entries are moved by a share of STEP."""
    moved = list(point)
    for argument, sign in moves:
        moved[argument] *= 1 + sign * STEP
    return exact(*moved)


def slope(exact, point, i):
    return (_moved(exact, point, (i, 1)) - _moved(exact, point, (i, -1))) / (2 * STEP * point[i])


def curvature(exact, point, i, j):
    """Return a second derivative and the size of its rounding error."""
    if i == j:
        terms = [_moved(exact, point, (i, 1)), -2 * exact(*point), _moved(exact, point, (i, -1))]
        divisor = (STEP * point[i]) ** 2
    else:
        terms = [s * t * _moved(exact, point, (i, s), (j, t)) for s, t in itertools.product((1, -1), repeat=2)]
        divisor = 4 * STEP * STEP * point[i] * point[j]
    largest = max(map(abs, terms))
    return sum(terms) / divisor, abs(largest / divisor) * mpmath.mpf(10) ** -150


def assert_close(computed, exact, tolerance, what, noise=0):
    """Compare where the truth is a number far from overflow and certain; return how many numbers were compared."""
    if abs(exact) < 1e-307 or abs(exact) > 1e307 or noise > abs(exact) * tolerance:
        return 0
    error = abs(mpmath.mpf(float(computed)) - exact) / abs(exact) if np.isfinite(computed) else mpmath.inf
    assert error < tolerance, f"{what}: {computed}, but must be {mpmath.nstr(exact, 17)}"
    return 1


@pytest.mark.parametrize(("name", "point"), [(name, point) for name, points in POINTS.items() for point in points])
def test_derivatives_to_second_order_are_those_of_mpmath(name, point):
    function, exact = getattr(ag, name), reference(name)
    places = [i for i, (_, condition) in enumerate(ROWS[name].arguments) if not condition.startswith("a whole number")]

    def of_places(x):
        values = list(point)
        for k, i in enumerate(places):
            values[i] = x[k]
        return function(*values)

    with mpmath.workdps(160):
        at = [mpmath.mpf(value) for value in point]
        checked = assert_close(function(*point), exact(*at), 1e-13, f"{name}{point}")
        x = np.array([point[i] for i in places])
        gradient, hessian = ag.grad(of_places)(x), ag.hessian(of_places)(x)
        for k, i in enumerate(places):
            checked += assert_close(gradient[k], slope(exact, at, i), 1e-12, f"{name}{point} by {i}")
        for (k, i), (m, j) in itertools.combinations_with_replacement(enumerate(places), 2):
            second, noise = curvature(exact, at, i, j)
            checked += assert_close(hessian[k, m], second, 1e-11, f"{name}{point} by {i}, {j}", noise)
    assert checked >= 2


#: Functions of a probability or a rate at an end of its domain, with slope and curvature there.
ENDS = {
    "binomial_lcdf, no success": (lambda p: ag.binomial_lcdf(0, 5, p), 0.0, -5.0, -5.0),  # 5 log(1 - p)
    "binomial_lcdf, one success": (lambda p: ag.binomial_lcdf(1, 5, p), 0.0, 0.0, -20.0),
    "binomial_lccdf, all but one": (lambda p: ag.binomial_lccdf(4, 5, p), 1.0, 5.0, -5.0),  # 5 log(p)
    "binomial_lccdf, one trial": (lambda p: ag.binomial_lccdf(0, 1, p), 1.0, 1.0, -1.0),
    "binomial_cdf": (lambda p: ag.binomial_cdf(0, 5, p), 0.0, -5.0, 20.0),
    "poisson_cdf, 0": (lambda rate: ag.poisson_cdf(0, rate), 0.0, -1.0, 1.0),  # exp(-rate)
    "poisson_cdf, 1": (lambda rate: ag.poisson_cdf(1, rate), 0.0, 0.0, -1.0),
    "poisson_cdf, 2": (lambda rate: ag.poisson_cdf(2, rate), 0.0, 0.0, 0.0),
    "poisson_lcdf, 0": (lambda rate: ag.poisson_lcdf(0, rate), 0.0, -1.0, 0.0),
    "poisson_lcdf, 1": (lambda rate: ag.poisson_lcdf(1, rate), 0.0, 0.0, -1.0),
    "poisson_lcdf, 2": (lambda rate: ag.poisson_lcdf(2, rate), 0.0, 0.0, 0.0),
    "inv_gamma_cdf": (lambda y: ag.inv_gamma_cdf(y, 1.0, 1.0), 1e-160, 0.0, 0.0),
    "inv_gamma_lccdf": (lambda y: ag.inv_gamma_lccdf(y, 1.0, 1.0), 1e-160, 0.0, 0.0),
    "inv_chi_square_cdf": (lambda y: ag.inv_chi_square_cdf(y, 3.0), 1e-200, 0.0, 0.0),
    "scaled_inv_chi_square_cdf": (lambda y: ag.scaled_inv_chi_square_cdf(y, 3.0, 2.0), 1e-170, 0.0, 0.0),
}


@pytest.mark.parametrize("case", ENDS)
def test_derivatives_at_ends_are_those_of_the_limit(case):
    f, x, first, second = ENDS[case]
    for gradient in (ag.grad(f), ag.compile(ag.grad(f)), ag.jacfwd(f)):
        assert gradient(x) == pytest.approx(first, rel=1e-14, abs=0)
    for curvature_of in (ag.grad(ag.grad(f)), ag.hessian(f), ag.compile(ag.jacfwd(ag.grad(f)))):
        assert curvature_of(x) == pytest.approx(second, rel=1e-13, abs=0)
