"""The modified Bessel function of the first kind of real orders and its logarithm, from tiny to huge arguments."""

import functools

import numpy as np
import pytest
import scipy.special
from mpmath import mp

import agrad as ag

pytestmark = pytest.mark.thread_unsafe(reason="mpmath's precision belongs to the process")

SMALL = [
    (0.0, 0.5),
    (0.3, 1e-300),
    (2.5, 1e-8),
    (0.7, 1.99),
    (0.7, 2.01),
    (1.0, 6.0),
    (2.4, 6.0),
    (3.0, 25.0),
    (29.9, 1.0),
    (-0.999, 0.3),
    (-0.6, 1e-10),
    (-0.4, 12.0),
    (1e-20, 5.0),
]
LARGE = [
    (0.3, 40.0),
    (31.0, 1e-300),
    (25.0, 25.0),
    (1e6, 1e-5),
    (1e6, 3e6),
    (40.0, 1e8),
    (1e-3, 1e8),
    (1e4, 300.0),
    (-0.7, 50.0),
]


def by_series(v, z):
    """Return log I_v(z) by its power series (DLMF 10.25.2)."""
    square, k = z**2 / 4, 0
    term = total = mp.mpf(1)
    while term > total * mp.eps or k < z / 2:
        k += 1
        term *= square / (k * (v + k))
        total += term
    return v * mp.log(z / 2) - mp.loggamma(v + 1) + mp.log(total)


def by_descent(v, z):
    """Return log I_v(z) by the trapezoidal rule on the path of steepest descent, where hypot(v, z) is large."""
    r, ratio = mp.hypot(v, z), v / z
    digits = mp.dps * mp.log(10)
    step, top = mp.sqrt(2 * mp.pi**2 / (r * digits)) / 1.3, r - v * mp.asinh(ratio)
    total, k = mp.mpf(1) / 2, 0
    while k * step < min(1.2 * mp.sqrt(2 * digits / r), mp.pi):
        k += 1
        angle = k * step
        x = mp.asinh(ratio * angle / mp.sin(angle))
        total += mp.exp(z * mp.cosh(x) * mp.cos(angle) - v * x - top)
    return top + mp.log(total * step / mp.pi)


def derivative(f, v, z, m, n):
    """Return derivative (m, n) of f with respect to v and z by central differences; f remembers its values."""
    weights = {0: {0: 1}, 1: {1: mp.mpf(0.5), -1: mp.mpf(-0.5)}, 2: {1: 1, 0: -2, -1: 1}}
    by_v, by_z = min(1, 1 + v) * mp.mpf(10) ** -20, z * mp.mpf(10) ** -20
    pairs = [(i, j) for i in weights[m] for j in weights[n]]
    return sum(weights[m][i] * weights[n][j] * f(v + i * by_v, z + j * by_z) for i, j in pairs) / by_v**m / by_z**n


@pytest.mark.parametrize(("v", "z"), SMALL + LARGE)
def test_the_logarithm_and_its_derivatives_to_second_order(v, z):
    def of(x):
        return ag.log_modified_bessel_first_kind(x[0], x[1])

    point = np.array([v, z])
    gradient, hessian = ag.grad(of)(point), ag.hessian(of)(point)
    compiled = ag.compile(ag.jacfwd(ag.grad(of)))(point)
    is_large = np.hypot(v, z) > 400 and not z**2 < v
    with mp.workdps(90 if is_large else 150):
        truth = functools.cache(by_descent if is_large else by_series)
        exact = mp.mpf(v), mp.mpf(z)
        value = truth(*exact)
        assert abs(of(point) - value) <= 1e-14 * abs(value)
        for i in range(2):
            slope = derivative(truth, *exact, 1 - i, i)
            assert abs(gradient[i] - slope) <= 3e-14 * abs(slope), i
            for j in range(i + 1):
                bend = derivative(truth, *exact, 2 - i - j, i + j)
                if abs(bend) < 1e300:
                    assert abs(hessian[i, j] - bend) <= 1e-13 * abs(bend), (i, j)
                    assert abs(compiled[i, j] - bend) <= 1e-13 * abs(bend), (i, j)
                else:
                    assert not np.isfinite(hessian[i, j])


@pytest.mark.parametrize("z", [2.5, 25.0, 35.0, 300.0])
def test_the_slope_by_the_order_where_it_is_far_smaller_than_the_rest(z):
    with mp.workdps(60):
        i0, k0 = mp.besseli(0, z), mp.besselk(0, z)
        slope, mixed = -k0 / i0, 1 / (z * i0**2)
    f = ag.log_modified_bessel_first_kind
    assert abs(ag.grad(f)(0.0, z) - slope) <= 1e-13 * abs(slope)
    assert abs(ag.hessian(lambda x: f(x[0], x[1]))(np.array([0.0, z]))[0, 1] - mixed) <= 1e-13 * mixed


@pytest.mark.parametrize(
    ("v", "z"), [(-2.5, 1e-3), (-4.7, 3.0), (-0.3, 20.0), (1.0, 1e-3), (0.25, 1e-9), (-9e-14, 3e-14), (7.5, 60.0), (90.3, 40.0)]
)
def test_the_function_of_any_order_to_second_order(v, z):
    def of(x):
        return ag.iv(x[0], x[1])

    point = np.array([v, z])
    gradient, hessian = ag.grad(of)(point), ag.hessian(of)(point)
    with mp.workdps(100):

        @functools.cache
        def truth(v, z):
            return mp.hyp0f1(v + 1, z**2 / 4) * mp.rgamma(v + 1) * (z / 2) ** v

        exact = mp.mpf(v), mp.mpf(z)
        with mp.extradps(60):
            assert abs(of(point) - truth(*exact)) <= 1e-14 * abs(truth(*exact))
            for i in range(2):
                slope = by_difference(truth, *exact, 1 - i, i)
                assert abs(gradient[i] - slope) <= 1e-13 * abs(slope), i
                for j in range(i + 1):
                    bend = by_difference(truth, *exact, 2 - i - j, i + j)
                    assert abs(hessian[i, j] - bend) <= 1e-12 * abs(bend), (i, j)


def by_difference(f, v, z, m, n):
    """Return derivative (m, n) of f; orders below -1 are not next to an end of the domain."""
    weights = {0: {0: 1}, 1: {1: mp.mpf(0.5), -1: mp.mpf(-0.5)}, 2: {1: 1, 0: -2, -1: 1}}
    by_v, by_z = mp.mpf(10) ** -25, z * mp.mpf(10) ** -25
    pairs = [(i, j) for i in weights[m] for j in weights[n]]
    return sum(weights[m][i] * weights[n][j] * f(v + i * by_v, z + j * by_z) for i, j in pairs) / by_v**m / by_z**n


def test_ends_names_and_shapes():
    f = ag.log_modified_bessel_first_kind
    np.testing.assert_array_equal(f([0.0, 1.0, -0.5, -1.0], 0.0), [0.0, -np.inf, np.inf, -np.inf])
    assert f(2.0, np.inf) == np.inf
    assert f(np.inf, 2.0) == -np.inf
    for bad in [(-1.5, 1.0), (1.0, -1.0), (np.nan, 1.0), (1.0, np.nan)]:
        assert np.isnan(f(*bad))
    np.testing.assert_allclose(f(-1.0, 2.5), f(1.0, 2.5), rtol=1e-15)
    np.testing.assert_array_equal(ag.iv([0.0, 2.0, -2.0], 0.0), [1.0, 0.0, 0.0])
    assert ag.special.iv is ag.iv
    v, z = np.array([[0.5], [4.0]]), np.array([0.1, 3.0, 50.0])
    np.testing.assert_allclose(f(v, z), np.log(scipy.special.iv(v, z)), rtol=1e-12)
    recorded = ag.compile(lambda v: scipy.special.iv(v, z))
    np.testing.assert_array_equal(recorded(v), ag.iv(v, z))
    np.testing.assert_allclose(ag.iv(3.0, z), ag.modified_bessel_first_kind(3, z), rtol=1e-15)
