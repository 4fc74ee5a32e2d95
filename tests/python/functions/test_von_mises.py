"""The distribution functions of the von Mises distribution, from the middle to both ends, beside integrals by mpmath."""

import functools
import itertools
import math

import mpmath
import numpy as np
import pytest
import scipy.stats

import agrad as ag
from stored_references import stored

pytestmark = pytest.mark.thread_unsafe(reason="mpmath's precision belongs to the process")

POINTS = [
    (0.5, 0.2, 2.0),
    (-3.0, 0.2, 2.0),
    (3.1, 0.2, 2.0),
    (1.0, -2.0, 0.3),
    (2.0, 8.0, 5.0),
    (-2.0, -3.1, 10.0),
    (0.3, 0.3, 1e-3),
    (0.0, 0.0, 3.0),
    (0.3, 0.1, 0.0),
    (0.0, 0.5, 1.5),
    (-1.9, 2.9, 4.0),
    (-0.5, 0.5, 25.0),
    (2.5, -1.9, 9.0),
]
TAILS = [
    (-3.1, 0.0, 50.0),
    (1.0, 2.5, 30.0),
    (-1.0, 0.5, 400.0),
    (0.45, 0.5, 1e6),
    (-3.1415, 0.1, 1.0),
    (-3.14159265, 1.0, 7.0),
    (1.0, -2.9, 200.0),
    (0.02, 0.0, 1e5),
    (1e-7, 0.0, 1e12),
]


def fall(u):
    return 2 * mpmath.sin(u / 2) ** 2


@functools.cache
def panels(begin, end, kappa):
    """Return panels that grow from where exp(-kappa v) is large, v = 1 - cos u, and the largest height."""
    width, breaks = 1 / (kappa + 1), {begin, end}
    for around in [begin, end, *(2 * mpmath.pi * k for k in range(-2, 3))]:
        breaks |= {around} | {around + sign * width * 2**k for k in range(-2, 46) for sign in (-1, 1)}
    inside = sorted(u for u in breaks if begin <= u <= end)
    heights = [mpmath.exp(-kappa * fall(u)) for u in inside]
    unit = max(heights)  # so that mpmath's tolerance is one of the result
    pairs = itertools.pairwise(zip(inside, heights, strict=True))
    return [(p, q) for (p, at_p), (q, at_q) in pairs if max(at_p, at_q) > unit * 1e-40], unit


@functools.cache
def moments(begin, end, kappa, *of):
    """Return integrals of 1, v and v^2 times exp(-kappa v), v = 1 - cos u; `of` are the numbers that the ends are made of."""

    def integral(k):
        inside, unit = panels(begin, end, kappa)
        return sum(unit * mpmath.quad(lambda u: fall(u) ** k * mpmath.exp(-kappa * fall(u)) / unit, panel) for panel in inside)

    formula = "integral of v^k exp(-kappa v)"
    return [stored(lambda k=k: integral(k), "von_mises", formula, (*of, kappa), (k,)) for k in range(3)]


def of_arc(y, mu, kappa):
    """Return the probability of the arc from -pi to y, its gradient and its Hessian in closed form."""
    pi = mpmath.mpf(math.pi)
    a, b = -pi - mu, y - mu
    at_a, at_b = mpmath.exp(-kappa * fall(a)), mpmath.exp(-kappa * fall(b))
    arc, circle = moments(a, b, kappa, y, mu), moments(-pi, pi, kappa)
    slope_a, slope_b = -kappa * mpmath.sin(a) * at_a, -kappa * mpmath.sin(b) * at_b
    by_kappa = fall(b) * at_b - fall(a) * at_a
    first = np.array([at_b, at_a - at_b, -arc[1]]) / circle[0]
    second = np.array(
        [
            [slope_b, -slope_b, -fall(b) * at_b],
            [-slope_b, slope_b - slope_a, by_kappa],
            [-fall(b) * at_b, by_kappa, arc[2]],
        ]
    )
    # Quotients by the integral over the circle, which depends on kappa alone.
    probability, mean = arc[0] / circle[0], circle[1] / circle[0]
    second = second / circle[0]
    second[2, 2] += 2 * mean * first[2] + probability * (2 * mean**2 - circle[2] / circle[0])
    second[:2, 2] += mean * first[:2]
    second[2, :2] += mean * first[:2]
    first[2] += mean * probability
    return probability, first, second


def derivatives(end, y, mu, kappa):
    """Return the function with its gradient and its Hessian, from the smaller one of the arcs below and above y."""
    mirror = np.array([-1, -1, 1])  # the arc from y to pi is that from -pi to -y around -mu
    (below, *of_below), (above, *of_above) = of_arc(y, mu, kappa), of_arc(-y, -mu, kappa)
    of_above = [mirror * of_above[0], np.outer(mirror, mirror) * of_above[1]]
    if end == "lccdf":
        below, above, of_below, of_above = above, below, of_above, of_below
    first, second = of_below if below < 0.5 else (-of_above[0], -of_above[1])
    if end == "cdf":
        return below if below < 0.5 else 1 - above, first, second
    value = mpmath.log(below) if below < 0.5 else mpmath.log1p(-above)
    first, second = first / below, second / below
    return value, first, second - np.outer(first, first)


@pytest.mark.parametrize(("y", "mu", "kappa"), POINTS + TAILS)
@pytest.mark.parametrize("end", ["cdf", "lcdf", "lccdf"])
def test_derivatives_to_second_order_are_closed_forms_of_integrals(end, y, mu, kappa):
    function = getattr(ag, f"von_mises_{end}")

    def of(x):
        return function(x[0], x[1], x[2])

    x = np.array([y, mu, kappa])
    with mpmath.workdps(40):
        value, first, second = derivatives(end, *map(mpmath.mpf, (y, mu, kappa)))
        if abs(value) < 1e-290:
            assert abs(of(x)) < 1e-290
            return
        gradient, hessian = ag.grad(of)(x), ag.hessian(of)(x)
        assert abs(of(x) - value) <= (3e-14 if end == "lcdf" else 1e-12) * abs(value)
        share, unit = (abs(value) if end == "cdf" else 1), np.array([1 + kappa, 1 + kappa, 1 / (1 + kappa)])
        for i in range(3):
            assert abs(gradient[i] - first[i]) <= 1e-12 * (abs(first[i]) + 1e-3 * share * unit[i]), ("slope", i)
            for j in range(3):
                size = abs(second[i, j]) + 1e-3 * share * unit[i] * unit[j]
                assert abs(hessian[i, j] - second[i, j]) <= 1e-11 * size, ("curvature", i, j)


def test_the_ends_of_the_circle():
    y = np.array([-np.pi, np.pi])
    np.testing.assert_array_equal([ag.von_mises_cdf(u, 0.3, 2.0) for u in y], [0.0, 1.0])
    np.testing.assert_array_equal([ag.von_mises_lcdf(u, 0.3, 2.0) for u in y], [-np.inf, 0.0])
    np.testing.assert_array_equal([ag.von_mises_lccdf(u, 0.3, 2.0) for u in y], [0.0, -np.inf])
    density = np.exp(ag.von_mises_lpdf(np.pi, 0.3, 2.0))
    np.testing.assert_allclose(ag.grad(ag.von_mises_cdf)(-np.pi, 0.3, 2.0), density, rtol=1e-14)
    np.testing.assert_allclose(ag.grad(ag.von_mises_cdf)(np.pi, 0.3, 2.0), density, rtol=1e-14)
    with pytest.raises(ag.DomainError, match=r"von_mises_cdf: y is 3\.2, but must be between -pi and pi"):
        ag.von_mises_cdf(3.2, 0.0, 1.0)


def test_sums_and_products_over_arrays_are_those_of_scipy():
    y, kappa = np.linspace(-3.0, 3.0, 13), np.linspace(0.1, 20.0, 13)
    expected = scipy.stats.vonmises(kappa).cdf(y)
    np.testing.assert_allclose(ag.von_mises_lcdf(y, 0.0, kappa), np.sum(np.log(expected)), rtol=1e-12)
    np.testing.assert_allclose(ag.von_mises_cdf(y, 0.0, kappa), np.prod(expected), rtol=1e-10)
    np.testing.assert_allclose(ag.stats.vonmises(kappa).cdf(y), expected, rtol=1e-10)
    compiled = ag.compile(ag.grad(lambda k: ag.von_mises_lccdf(y, 0.1, k)))
    np.testing.assert_allclose(compiled(kappa), ag.grad(lambda k: ag.von_mises_lccdf(y, 0.1, k))(kappa), rtol=1e-13)


def test_locations_beyond_the_circle_are_those_on_it():
    y = np.array([-2.0, 0.4, 3.0])
    for turns in (-3, 1, 50):
        mu = 0.7 + turns * 2 * np.pi
        np.testing.assert_allclose(ag.von_mises_lcdf(y, mu, 4.0), ag.von_mises_lcdf(y, 0.7, 4.0), rtol=1e-13)
        slope = [ag.grad(lambda m: ag.von_mises_lccdf(y, m, 4.0))(m) for m in (mu, 0.7)]
        np.testing.assert_allclose(slope[0], slope[1], rtol=1e-12)
    assert 0 < ag.von_mises_cdf(0.0, 1e300, 2.0) < 1
    near = np.nextafter(-np.pi, 0)
    np.testing.assert_allclose(
        ag.von_mises_lcdf(near, 3.0, 2.0), np.log(near + np.pi) + ag.von_mises_lpdf(near, 3.0, 2.0), rtol=1e-14
    )
