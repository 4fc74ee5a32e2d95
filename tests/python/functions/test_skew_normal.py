"""The distribution functions of the skew normal distribution in both tails, where the terms of the closed form cancel."""

import functools

import mpmath
import numpy as np
import pytest

import agrad as ag
from stored_references import stored

pytestmark = pytest.mark.thread_unsafe(reason="mpmath's precision belongs to the process")

POINTS = [(0.0, 0.0), (0.0, 3.0), (1e-8, 2.0), (-1e-9, 1e8), (-0.3, 20.0), (0.4, -3.0), (-3.0, 2.0), (3.0, -2.0)]
# Where the formulas change: tails that are neither light nor deep, shapes of 1, and probabilities close to 1 in the middle.
CHANGES = [(-1.6, 1.5), (-2.3, 1.1), (-9.0, 0.4), (-1.2, 6.5), (0.7, 1.0), (-0.4, -50.0), (-1e-3, -400.0), (1e-3, 400.0)]
TAILS = [
    (-40.0, 5.0),
    (40.0, -5.0),
    (-40.0, -5.0),
    (-300.0, 0.01),
    (1.5, 1e4),
    (-2.0, 1e6),
    (7.0, 0.7),
    (-1e-3, 1e4),
    (-1e4, 1.0),
]


@functools.cache
def probability(z, alpha):
    """Return the integral of the density up to z, which is stored less 1 from 1/2 on, for the digits of its logarithm."""

    def share():
        found = integral(z, alpha)
        return found if found < 0.5 else found - 1

    found = stored(share, "skew_normal", "integral of 2 phi(t) Phi(alpha t), less 1 from 1/2 on", (z, alpha), (0, 0))
    return found if found > 0 else 1 + found


def integral(z, alpha):
    """Return the same by mpmath, over intervals that grow from the places where the density varies."""
    fall = 1 / (1 + abs(z) * (1 + max(alpha, 0) ** 2))
    far = z - min(200 * fall, 20) if z < 0 else mpmath.mpf(-20)
    breaks = {far, z}
    for power in range(40):
        width = 4**power / (1 + abs(alpha)) / 1000
        breaks |= {z - fall * 4**power / 16, width, -width}
    inside = sorted(x for x in breaks if far <= x <= z)

    def density(t):
        return 2 * mpmath.npdf(t) * mpmath.ncdf(alpha * t)

    unit = density(min(z, 0))  # so that mpmath's tolerance, which is absolute, is one of the result
    return unit * mpmath.quad(lambda t: density(t) / unit, inside)


def derivatives(z, alpha):
    """Return the probability, its first and its second derivatives in closed form: by z and alpha; zz, z alpha, alpha alpha."""
    square = 1 + alpha**2
    density, bell = 2 * mpmath.npdf(z) * mpmath.ncdf(alpha * z), mpmath.exp(-z * z * square / 2) / mpmath.pi
    return (
        probability(z, alpha),
        (density, -bell / square),
        (-z * density + alpha * bell, z * bell, bell * (z * z * alpha / square + 2 * alpha / square**2)),
    )


def of_logarithm(value, first, second):
    a, b = (x / value for x in first)
    aa, ab, bb = (x / value for x in second)
    return mpmath.log(value), (a, b), (aa - a * a, ab - a * b, bb - b * b)


def assert_close(computed, exact, tolerance, what):
    if mpmath.mpf(10) ** -290 < abs(exact) < mpmath.mpf(10) ** 290:
        assert abs(mpmath.mpf(float(computed)) - exact) <= tolerance * abs(exact), f"{what}: {computed} instead of {exact}"


@pytest.mark.parametrize(("z", "alpha"), POINTS + CHANGES + TAILS)
@pytest.mark.parametrize("end", ["cdf", "lcdf", "lccdf"])
def test_derivatives_to_second_order_are_closed_forms_of_an_integral(end, z, alpha):
    function = getattr(ag, f"skew_normal_{end}")

    def of(x):
        return function(x[0], 0.0, 1.0, x[1])

    with mpmath.workdps(45):
        sign = -1 if end == "lccdf" else 1  # the probability above z is that below -z with the opposite shape
        value, first, second = derivatives(mpmath.mpf(sign * z), mpmath.mpf(sign * alpha))
        if end != "cdf":
            value, first, second = of_logarithm(value, first, second)
        x = np.array([z, alpha])
        hessian = ag.hessian(of)(x)
        assert_close(of(x), value, 2e-13 if end == "cdf" else 1e-14, "value")
        for computed, exact in zip(ag.grad(of)(x), first, strict=True):
            assert_close(computed, sign * exact, 1e-12, "slope")
        for computed, exact in zip((hessian[0, 0], hessian[0, 1], hessian[1, 1]), second, strict=True):
            assert_close(computed, exact, 1e-11, "curvature")
