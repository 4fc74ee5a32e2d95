"""The inverses of the incomplete beta function in their tails, where 1 minus the value has few digits, and at their ends."""

import mpmath
import numpy as np
import pytest
import scipy.special

import agrad as ag
from elementwise_reference import lower_beta_inverse

pytestmark = pytest.mark.thread_unsafe(reason="mpmath's precision belongs to the process")

POINTS = [
    (2.0, 3.0, 0.3),
    (2.0, 3.0, 1 - 1e-10),
    (0.1, 0.2, 0.999),
    (3.0, 0.1, 0.9),
    (50.0, 1e5, 1e-200),
    (8.0, 2.0, 0.75),
    (30.0, 0.5, 1 - 1e-9),
]


def difference(f, x, wrt):
    """Return the derivative with respect to the arguments named, by central differences."""
    if not wrt:
        return f(*x)
    place, *rest = wrt
    h = min(x[place], 1 - x[place] if place == 2 else x[place]) * mpmath.mpf(10) ** -15
    left, right = ([*x[:place], x[place] + sign * h, *x[place + 1 :]] for sign in (-1, 1))
    return (difference(f, right, rest) - difference(f, left, rest)) / (2 * h)


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize(
    ("function", "truth"),
    [
        (ag.inv_inc_beta, lower_beta_inverse),
        (lambda a, b, p: ag.betainccinv(b, a, p), lambda a, b, p: 1 - lower_beta_inverse(a, b, p)),
        (lambda a, b, p: ag.beta_qf(p, a, b), lower_beta_inverse),
    ],
    ids=["betaincinv", "betainccinv", "beta_qf"],
)
def test_derivatives_to_second_order(function, truth, point):
    def of(x):
        return function(x[0], x[1], x[2])

    x = np.array(point)
    gradient, hessian = ag.grad(of)(x), ag.hessian(of)(x)
    with mpmath.workdps(80):
        exact = [mpmath.mpf(each) for each in point]
        value = truth(*exact)
        assert abs(function(*point) - value) <= 1e-14 * value
        for i in range(3):
            slope = difference(truth, exact, [i])
            assert abs(gradient[i] - slope) <= 1e-13 * abs(slope), i
            for j in range(i + 1):
                bend = difference(truth, exact, [i, j])
                if abs(bend) < 1e300:
                    assert abs(hessian[i, j] - bend) <= 2e-13 * abs(bend), (i, j)
                else:
                    assert not np.isfinite(hessian[i, j])


def test_ends_names_and_shapes():
    p = np.array([0.0, 1.0])
    np.testing.assert_array_equal(ag.inv_inc_beta(2.0, 3.0, p), [0.0, 1.0])
    np.testing.assert_array_equal(ag.betainccinv(2.0, 3.0, p), [1.0, 0.0])
    np.testing.assert_array_equal(ag.inv_inc_beta([np.inf, 2.0, np.inf], [3.0, np.inf, np.inf], 0.5), [1.0, 0.0, np.nan])
    np.testing.assert_array_equal(ag.jacfwd(lambda a: ag.inv_inc_beta(a, 3.0, p))(2.0), [0.0, 0.0])
    for bad in [(-1.0, 2.0, 0.5), (1.0, -2.0, 0.5), (1.0, 2.0, 1.5), (1.0, 2.0, np.nan), (np.nan, 2.0, 0.5)]:
        assert np.isnan(ag.inv_inc_beta(*bad))
    assert ag.inv_inc_beta is ag.betaincinv
    assert ag.special.betaincinv is ag.betaincinv
    a, q = np.array([[0.5], [4.0]]), np.array([0.1, 0.5, 0.9])
    np.testing.assert_allclose(ag.inv_inc_beta(a, 2.0, q), scipy.special.betaincinv(a, 2.0, q), rtol=1e-13)
    recorded = ag.compile(lambda a: scipy.special.betaincinv(a, 2.0, q))
    np.testing.assert_array_equal(recorded(a), ag.betaincinv(a, 2.0, q))
    np.testing.assert_allclose(ag.betainc(a, 2.0, ag.betaincinv(a, 2.0, q)), np.broadcast_to(q, (2, 3)), rtol=1e-14)
