"""Right-hand sides that compare t with numbers: steps end there by themselves, and derivatives know that these times move."""

import numpy as np
import pytest
import scipy.integrate

import agrad as ag

METHODS = ["Tsit5", "RK45", "DOP853", "Rodas4", "Rodas5P", "auto", "BDF", "Adams"]
TIGHT = {"rtol": 1e-9, "atol": 1e-11}

every_method = pytest.mark.parametrize("method", METHODS)


def pulse(t, y, begin, length, rate):
    """A short pulse between long steps, in three ways of writing it."""
    return rate * np.where((t > begin) & (t < begin + length), 1.0, 0.0) - y


def after_pulse(t, begin, length, rate):
    return rate * (np.exp(-(t - begin - length)) - np.exp(-(t - begin)))


def end_of(method, **options):
    def end(x):
        return ag.solve_ivp(pulse, (0.0, 50.0), [0.0], method, [8.0, 50.0], args=tuple(x), **(TIGHT | options)).y[0, 0]

    return end


@every_method
@pytest.mark.parametrize("options", [{}, {"rtol": 1e-4, "atol": 1e-6}])
def test_a_pulse_is_not_stepped_over(method, options):
    x, tolerance = np.array([5.0, 0.1, 1.0]), 1e-3 if options else 1e-7
    assert end_of(method, **options)(x) == pytest.approx(after_pulse(8.0, *x), rel=tolerance)
    constant = ag.solve_ivp(lambda t, y: np.where((t > 5.0) & (t < 5.1), 1.0, 0.0) - y, (0.0, 8.0), [0.0], method, **options)
    assert constant.y[0, -1] == pytest.approx(after_pulse(8.0, *x), rel=1e-3)


@every_method
def test_derivatives_know_that_the_pulse_moves(method):
    x = np.array([5.0, 0.1, 1.0])
    expected = ag.grad(lambda x: after_pulse(8.0, *x))(x)
    end = end_of(method)
    np.testing.assert_allclose(ag.grad(end)(x), expected, rtol=1e-6)
    np.testing.assert_allclose(ag.compile(ag.grad(end))(x + 0.5), ag.grad(lambda x: after_pulse(8.0, *x))(x + 0.5), rtol=1e-6)
    if method not in ("BDF", "Adams"):
        np.testing.assert_allclose(ag.jacfwd(end)(x), expected, rtol=1e-6)


@pytest.mark.parametrize(
    "condition",
    [
        lambda t, k: k[0] * t - k[1] < 2.0 * k[2],
        lambda t, k: 2.0 * k[2] >= k[0] * t - k[1],
        lambda t, k: (k[1] + 2.0 * k[2]) / k[0] > t,
        lambda t, k: ~(t - k[1] / k[0] >= 2.0 * k[2] / k[0]),
        lambda t, k: np.stack([t, 7.0 * t])[0] <= (k[1] + 2.0 * k[2]) / k[0],
    ],
)
def test_times_are_found_in_what_is_linear_in_t(condition):
    def end(k):
        slope = lambda t, y: np.where(condition(t, k), 1.0, -0.5) * y  # noqa: E731
        return ag.solve_ivp(slope, (0.0, 9.0), [1.0], "Tsit5", [9.0], **TIGHT).y[0, 0]

    def closed(k):
        at = (k[1] + 2.0 * k[2]) / k[0]
        return np.exp(at - 0.5 * (9.0 - at))

    k = np.array([0.7, 0.3, 1.1])
    assert end(k) == pytest.approx(closed(k), rel=1e-8)
    np.testing.assert_allclose(ag.grad(end)(k), ag.grad(closed)(k), rtol=1e-7)


@every_method
def test_many_switches_and_doses_and_events(method):
    def steps(t, y, k):
        return k * sum(np.where(t >= 3.0 * i, 1.0, 0.0) for i in range(1, 6)) - y

    doses = [ag.Dose(7.0, 0, 2.0)]
    floor = ag.Event(lambda t, y, k: y[0] - 2.5)
    found = ag.solve_ivp(steps, (0.0, 20.0), [0.0], method, [20.0], args=(1.0,), doses=doses, events=floor, **TIGHT)
    exact = sum(1 - np.exp(-(20.0 - 3.0 * i)) for i in range(1, 6)) + 2.0 * np.exp(-13.0)
    assert found.y[0, 0] == pytest.approx(exact, rel=1e-8)
    assert found.t_events[0].size == 2  # down after the dose, and up again


def test_stops_that_are_given_are_not_doubled():
    def end(x):
        slope = lambda t, y, on: np.where(t < on, 0.0, -1.0) * y  # noqa: E731
        return ag.solve_ivp(slope, (0.0, 2.0), [1.0], "Tsit5", args=(x,), tstops=[x], **TIGHT).y[0, -1]

    assert ag.grad(end)(0.5) == pytest.approx(np.exp(-1.5), rel=1e-8)
    assert ag.grad(end)(1.0) == pytest.approx(np.exp(-1.0), rel=1e-8)


def test_what_depends_on_the_state_or_is_not_linear_stays_as_it_is():
    relay = lambda t, y: np.where(t > 10.0 * y[0], -1.0, -0.1) * y  # noqa: E731
    scipys = scipy.integrate.solve_ivp(lambda t, y: np.where(t > 10.0 * y[0], -1.0, -0.1) * y, (0, 9), [1.0], rtol=1e-8)
    assert ag.solve_ivp(relay, (0.0, 9.0), [1.0], rtol=1e-8).y[0, -1] == pytest.approx(scipys.y[0, -1], rel=1e-4)
    square = lambda t, y: np.where(np.sin(t) > 0.0, 1.0, 0.0) + 0.0 * y  # noqa: E731
    assert ag.solve_ivp(square, (0.0, 20.0), [0.0], rtol=1e-6).y[0, -1] == pytest.approx(3 * np.pi + 20.0 - 6 * np.pi, rel=1e-3)


def test_hessians_see_that_the_time_moves():
    def end(x, at):
        slope = lambda t, y, k, at: np.where(t < at, -k, -3.0 * k) * y  # noqa: E731
        return ag.solve_ivp(slope, (0.0, 2.0), [1.0], "Tsit5", [2.0], args=(x, at), **TIGHT).y[0, 0]

    assert ag.hessian(end)(0.3, 1.5) == pytest.approx(9.0 * np.exp(-0.9), rel=1e-6)
    of_both = ag.hessian(lambda x: end(x[0], x[1]))(np.array([0.3, 1.5]))  # of exp(-x (6 - 2 at))
    value = np.exp(-0.9)
    np.testing.assert_allclose(of_both, value * np.array([[9.0, 2 - 1.8], [2 - 1.8, 0.36]]), rtol=1e-6)


@pytest.mark.parametrize("method", ["Tsit5", "Rodas4", "BDF"])
def test_a_jump_moves_with_its_own_number_whatever_a_stop_there_is(method):
    def end(on, stop):
        slope = lambda t, y, on: [np.where(t < on, 1.0, 3.0) * on]  # noqa: E731
        return ag.solve_ivp(slope, (0.0, 2.0), [0.0], method, args=(on,), tstops=[stop], **TIGHT).y[0, -1]

    assert ag.grad(end)(0.8, 0.8) == pytest.approx(6 - 4 * 0.8, rel=1e-7)  # of on (6 - 2 on)
    assert ag.grad(end, argnums=1)(0.8, 0.8) == pytest.approx(0.0, abs=1e-7)
    assert ag.grad(lambda x: end(x, x))(0.8) == pytest.approx(6 - 4 * 0.8, rel=1e-7)
    if method != "BDF":
        assert ag.hessian(end)(0.8, 0.8) == pytest.approx(-4.0, rel=1e-6)
        assert ag.hessian(lambda x: end(x[0], x[1]))(np.array([0.8, 0.8])) == pytest.approx(np.diag([-4.0, 0.0]), abs=1e-6)
