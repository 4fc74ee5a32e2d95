"""Derivatives of logarithms of tails to second order, where terms of the chain rule cancel, against mpmath."""

import itertools

import mpmath
import numpy as np
import pytest

import agrad as ag
from probability_reference import derivative

pytestmark = pytest.mark.thread_unsafe(reason="mpmath's precision belongs to the process")

POINTS = [
    # A power of y: mixed derivatives with respect to y and sigma are of the order y^-3, terms of the chain rule y^-1.
    ("student_t_lcdf", (-1e5, 1.5, 0.0, 2.0)),
    ("student_t_lcdf", (-1e8, 0.3, 0.5, 3.0)),
    ("student_t_lccdf", (3.6e5, 0.0298, 0.01, 0.1489)),
    ("student_t_lccdf", (250.0, 40.0, -1.0, 0.7)),
    ("student_t_lcdf", (43.75528486054943, 1.1389885996511479e-07, 40.115080341280645, 2.1910174149233144)),
    ("student_t_cdf", (-3.779179496169658, 1.6586567472154597e-08, 5.032361167973206, 6.76686601012432)),
    ("student_t_cdf", (2.5, 3.0, -1.0, 0.7)),
    # 1 / lambda sigma is a term of the derivative with respect to lambda and sigma, and cancels.
    ("exp_mod_normal_lcdf", (-57.57065408742536, -20.860443636490274, 0.030372498851161417, 0.01232384726471807)),
    ("exp_mod_normal_lcdf", (4.0, 1.0, 2.0, 1e-6)),
    ("exp_mod_normal_lcdf", (12.043685090613584, 5.83971350318457e89, 5.125682559148932, 2.340155536747939)),
    ("exp_mod_normal_lcdf", (-3e9, 1.0, 2.0, 1.5)),
    ("exp_mod_normal_lcdf", (-3e9, 1.0, 2.0, 1e9)),
    # The two parts of the complement have logarithms of the order z^2, whose difference counts.
    ("exp_mod_normal_lccdf", (-0.9785124562487456, -55.09662892089919, 0.029489504034241457, 7827659.018431402)),
    ("exp_mod_normal_lccdf", (1000.0, 0.5, 1.0, 999.0)),
    ("exp_mod_normal_lccdf", (1000.0, 0.5, 1.0, 1001.0)),
    ("exp_mod_normal_lccdf", (-3.0, 0.5, 1.0, 2.0)),
]


@pytest.mark.parametrize(("name", "point"), POINTS)
def test_gradients_and_hessians_have_twelve_digits(name, point):
    function = getattr(ag, name)
    x = np.array(point)
    gradient = ag.grad(lambda x: function(*x))(x)
    hessians = [ag.hessian(lambda x: function(*x))(x), ag.jacfwd(ag.grad(lambda x: function(*x)))(x)]
    orders = np.eye(len(point), dtype=int)
    with mpmath.workdps(120 if max(map(abs, point)) < 1e80 else 800):  # of exponents as large as squares of arguments
        for i, j in itertools.combinations_with_replacement(range(len(point)), 2):
            curvature = derivative(name, point, orders[i] + orders[j])
            for computed in (each for hessian in hessians for each in (hessian[i, j], hessian[j, i])):
                assert abs(computed - curvature) <= 1e-12 * abs(curvature), (i, j, mpmath.nstr(curvature, 17))
        for i in range(len(point)):
            slope = derivative(name, point, orders[i])
            assert abs(gradient[i] - slope) <= 1e-12 * abs(slope), (i, gradient[i], mpmath.nstr(slope, 17))


def test_the_scale_moves_a_tail_whose_density_underflows():
    """The tail of Student's t is y^-1.5 there, 1e-200, and its density 1e-334."""
    y, nu, sigma = -3.37e133, 1.5, 1.3
    slope = ag.grad(lambda s: ag.student_t_cdf(y, nu, 0.0, s))(sigma)
    assert slope == pytest.approx(nu / sigma * ag.student_t_cdf(y, nu, 0.0, sigma), rel=1e-13)
    assert ag.grad(lambda y: ag.student_t_cdf(y, nu, 0.0, sigma))(y) == 0
