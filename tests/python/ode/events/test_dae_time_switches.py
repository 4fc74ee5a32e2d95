"""Jumps of a residual at times that it compares t with: solve_dae finds them, as solve_ivp does."""

import numpy as np
import pytest

import agrad as ag
from differences import jacobian_by_differences

TIGHT = {"rtol": 1e-9, "atol": 1e-11}


def pulsed(t, y, yp, k, begin, width):
    """y0 falls with k and is fed for a while; y1 is its square."""
    fed = np.where((t > begin) & (t < begin + width), 1.0, 0.0)
    return [yp[0] + k * y[0] - fed, y[1] - y[0] ** 2]


def end(k, begin, width, sensitivities="adjoint"):
    args = (k, begin, width)
    return ag.solve_dae(pulsed, (0.0, 20.0), [0.0, 0.0], args=args, sensitivities=sensitivities, **TIGHT).y[:, -1]


def exact(k, begin, width):
    y = (np.exp(-k * (20 - begin - width)) - np.exp(-k * (20 - begin))) / k
    return np.array([y, y**2])


@pytest.mark.parametrize("sensitivities", ["adjoint", "forward"])
@pytest.mark.parametrize("width", [1e-3, 0.1, 3.0])
def test_a_pulse_is_not_stepped_over(width, sensitivities):
    at = (0.1, 10.0, width)
    assert end(*at) == pytest.approx(exact(*at), rel=1e-6)
    for i in range(3):
        found = ag.jacobian(lambda *p: end(*p, sensitivities), argnums=i)(*at)
        expected = jacobian_by_differences(lambda x, i=i: exact(*at[:i], x, *at[i + 1 :]), at[i], min(1e-3, width / 100))
        assert found == pytest.approx(expected, rel=1e-5)


def test_a_compiled_gradient_finds_the_pulse_where_it_is():
    run = ag.compile(ag.value_and_grad(lambda begin: end(0.1, begin, 0.5)[0]))
    for begin in (3.0, 12.5):
        value = exact(0.1, begin, 0.5)[0]
        assert run(begin) == pytest.approx((value, 0.1 * value), rel=1e-6)


def test_a_stop_that_is_given_as_well_counts_once():
    def both(on):
        return ag.solve_dae(
            lambda t, y, yp, on: [yp[0] - np.where(t < on, 1.0, 3.0)], (0.0, 2.0), [0.0], args=(on,), tstops=[on], **TIGHT
        ).y[0, -1]

    assert ag.value_and_grad(both)(0.8) == pytest.approx((0.8 + 3.6, -2.0), rel=1e-8)


def test_periodic_pulses():
    def total(period):
        def fed(t, y, yp, period):
            return [yp[0] - np.where(t % period < 0.25, 1.0, 0.0)]

        return ag.solve_dae(fed, (0.0, 9.6), [0.0], args=(period,), **TIGHT).y[0, -1]

    assert total(2.0) == pytest.approx(1.25, rel=1e-8)
    assert ag.grad(total)(2.0) == pytest.approx(0.0, abs=1e-8)
