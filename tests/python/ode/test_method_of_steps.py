"""Delay equations by the method of steps: a solve's `sol` at a late time in the next right-hand side, against closed forms."""

import numpy as np
import pytest

import agrad as ag

METHODS = ["Tsit5", "DOP853", "Rodas5P", "auto"]


def delayed(x, method="Tsit5", start=1.0):
    """y(2 lag) of y'(t) = -rate y(t - lag), where y is `start` until t = 0."""
    rate, lag = x[0], x[1]
    options = {"rtol": 1e-9, "atol": 1e-11}
    first = ag.solve_ivp(lambda t, y: [-rate * start], (0.0, lag), [start], method, dense_output=True, **options)
    second = ag.solve_ivp(lambda t, y: [-rate * first.sol(t - lag)[0]], (lag, 2.0 * lag), first.y[:, -1], method, **options)
    return second.y[0, -1]


def exact(x, start=1.0):
    turn = x[0] * x[1]
    return start * (1.0 - 2.0 * turn + turn**2 / 2.0)


@pytest.mark.parametrize("method", METHODS)
def test_rate_lag_and_history(method):
    x = np.array([0.7, 1.3])
    assert delayed(x, method) == pytest.approx(exact(x), rel=1e-7)
    np.testing.assert_allclose(ag.grad(lambda x: delayed(x, method))(x), ag.grad(exact)(x), rtol=1e-6)
    by_start = ag.grad(lambda start: delayed(x, method, start))(2.0)
    assert by_start == pytest.approx(exact(x), rel=1e-6)


def test_compiled_and_forward():
    x = np.array([0.7, 1.3])
    np.testing.assert_allclose(ag.compile(ag.grad(delayed))(x), ag.grad(exact)(x), rtol=1e-6)
    np.testing.assert_allclose(ag.compile(ag.value_and_grad(delayed))(x * 0.8)[1], ag.grad(exact)(x * 0.8), rtol=1e-6)
    np.testing.assert_allclose(ag.jacfwd(delayed)(x), ag.grad(exact)(x), rtol=1e-6)


@pytest.mark.parametrize("start", [0.0, -0.01])
def test_a_history_from_the_first_late_time(start):
    past = ag.solve_ivp(lambda t, y: -y, (start, 1.0), [np.exp(-start)], rtol=1e-9, dense_output=True)
    late = ag.solve_ivp(lambda t, y: [-past.sol(t - 1.0)[0]], (1.0, 2.0), past.y[:, -1], rtol=1e-9)
    assert late.y[0, -1] == pytest.approx(2 * np.exp(-1) - 1, rel=1e-8)
