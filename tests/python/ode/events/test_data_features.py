"""Features of data that np.interp puts into a right-hand side: no step passes over a pulse, and smooth data need no stops."""

import numpy as np
import pytest

import agrad as ag

METHODS = ["auto", "Tsit5", "DOP853", "Rodas4", "Rodas5P", "BDF", "Adams"]
SECOND = [m for m in METHODS if m not in ("BDF", "Adams")]
T = np.arange(0.0, 1100.0, 2.0)
PULSE = np.where((T >= 1000) & (T <= 1010), 1.0, 0.0)


def exact(tau, t=T[:511], data=PULSE[:511]):
    """y(t[-1]) of y' = I(t) - y / tau, y(0) = 0, for an I that is linear in each piece."""
    y = 0.0
    for h, i, j in zip(np.diff(t), data[:-1], data[1:], strict=True):
        e, s = np.exp(-h / tau), (j - i) / h
        y = y * e + i * tau * (1 - e) + s * (tau * h - tau**2 * (1 - e))
    return y


def solve(method, t=T, data=PULSE, end=1020.0, **options):
    def slope(s, y, tau):
        return [np.interp(s, t, data) - y[0] / tau]

    return lambda tau: ag.solve_ivp(slope, (0.0, end), [0.0], method, t_eval=[end], args=(tau,), **options).y[0, 0]


@pytest.mark.parametrize("method", METHODS)
def test_a_pulse_after_a_rest_is_found(method):
    expected = ag.value_and_grad(exact)(20.0)
    assert expected == pytest.approx((5.75621, 0.20704), rel=1e-4)
    tight = solve(method, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(ag.value_and_grad(solve(method))(20.0), expected, rtol=1e-3)
    np.testing.assert_allclose(ag.value_and_grad(tight)(20.0), expected, rtol=1e-5)
    assert ag.compile(ag.jacfwd(tight))(20.0) == pytest.approx(expected[1], rel=1e-5)


@pytest.mark.parametrize("method", SECOND)
def test_the_second_derivative_sees_the_pulse(method):
    assert ag.hessian(solve(method, rtol=1e-8, atol=1e-10))(20.0) == pytest.approx(ag.hessian(exact)(20.0), rel=1e-5)


@pytest.mark.parametrize("method", ["Tsit5", "BDF"])
@pytest.mark.parametrize("height", [1.0, 1e-3, 1e-6])
def test_a_small_pulse_beside_a_large_one_is_found(method, height):
    t = np.linspace(0.0, 2000.0, 2001)
    data = np.where((t >= 20) & (t <= 30), 1.0, 0.0) + height * ((t >= 1500) & (t <= 1503))
    run = solve(method, t, data, 1510.0, rtol=1e-8, atol=1e-14)
    assert run(2.0) == pytest.approx(exact(2.0, t[:1511], data[:1511]), rel=1e-4)


@pytest.mark.parametrize("method", ["Tsit5", "Rodas5P", "BDF"])
@pytest.mark.parametrize("shifted", ["times", "values"])
def test_two_tables_that_share_an_array_are_two(method, shifted):
    """Each pulse has an area of 12; the second is in a table with other times or with other values."""
    later = np.where((T >= 900) & (T <= 910), 1.0, 0.0)
    tables = (T, PULSE), (T - 100.0, PULSE) if shifted == "times" else (T, later)

    def end(k):
        slope = lambda t, y, k: [k * np.interp(t, *tables[0]) + k**2 * np.interp(t, *tables[1])]  # noqa: E731
        return ag.solve_ivp(slope, (0.0, 1050.0), [0.0], method, args=(k,), rtol=1e-8, atol=1e-10).y[0, -1]

    value, slope = ag.value_and_grad(end)(0.5)
    assert value == pytest.approx(12.0 * 0.75, rel=1e-6)
    assert slope == pytest.approx(12.0 * 2.0, rel=1e-6)


@pytest.mark.parametrize("delay", [0.0, 3.7])
def test_a_pulse_at_a_shifted_time_moves_with_it(delay):
    def f(x):
        slope = lambda s, y: [np.interp(s - x[0], T, PULSE) - y[0] / x[1]]  # noqa: E731
        return ag.solve_ivp(slope, (0.0, 1020.0), [0.0], "Tsit5", t_eval=[1020.0], rtol=1e-9, atol=1e-11).y[0, 0]

    x = np.array([delay, 20.0])
    decay = lambda x: exact(x[1]) * np.exp(x[0] / x[1])  # noqa: E731  the pulse ends before: a delay is less time to decay
    np.testing.assert_allclose(f(x), decay(x), rtol=1e-7)
    np.testing.assert_allclose(ag.grad(f)(x), ag.grad(decay)(x), rtol=1e-6)
    np.testing.assert_allclose(ag.hessian(f)(x), ag.hessian(decay)(x), rtol=1e-5)


def test_places_of_points_that_are_parameters():
    def f(x):
        t = np.array([0.0, 500.0, 502.0, 510.0, 512.0]) + x * np.array([0.0, 1.0, 1.0, 1.0, 1.0])
        slope = lambda s, y: [np.interp(s, t, np.array([0.0, 0.0, 1.0, 1.0, 0.0])) - y[0] / 20.0]  # noqa: E731
        return ag.solve_ivp(slope, (0.0, 530.0), [0.0], "Tsit5", t_eval=[530.0], rtol=1e-9, atol=1e-11).y[0, 0]

    at = np.array([0.0, 500.0, 502.0, 510.0, 512.0, 530.0])
    y = exact(20.0, at, np.array([0.0, 0.0, 1.0, 1.0, 0.0, 0.0]))
    assert f(0.0) == pytest.approx(y, rel=1e-7)
    assert ag.grad(f)(0.0) == pytest.approx(y / 20.0, rel=1e-6)
    assert ag.hessian(f)(0.0) == pytest.approx(y / 400.0, rel=1e-5)


def test_backwards_in_time():
    def f(tau):
        slope = lambda s, y: [np.interp(-s, T, PULSE) * -1.0 + y[0] / tau]  # noqa: E731
        return ag.solve_ivp(slope, (0.0, -1020.0), [0.0], "Tsit5", t_eval=[-1020.0], rtol=1e-8, atol=1e-10).y[0, 0]

    np.testing.assert_allclose(ag.value_and_grad(f)(20.0), ag.value_and_grad(exact)(20.0), rtol=1e-6)


def steps(points, method="Tsit5"):
    t = np.linspace(0.0, 100.0, points)
    data = np.sin(t)
    found = ag.solve_ivp(lambda s, y: [np.interp(s, t, data) - y[0]], (0.0, 100.0), [0.0], method, rtol=1e-5, atol=1e-7)
    return found.nfev


@pytest.mark.parametrize("method", ["Tsit5", "Rodas5P", "BDF"])
def test_many_points_of_smooth_data_cost_no_stops(method):
    plain = ag.solve_ivp(lambda s, y: [np.sin(s) - y[0]], (0.0, 100.0), [0.0], method, rtol=1e-5, atol=1e-7).nfev
    assert steps(100_000, method) < 1.5 * plain


@pytest.mark.parametrize("method", ["auto", "DOP853", "Rodas5P", "BDF"])
def test_a_peak_in_noise(method):
    t = np.linspace(0.0, 200.0, 201)
    data = 1e-3 * np.random.default_rng(1).normal(size=201)
    data[151] += 1.0
    run = solve(method, t, data, 160.0, rtol=1e-6, atol=1e-8)
    expected = ag.value_and_grad(lambda x: exact(x, t[:161], data[:161]))(5.0)
    np.testing.assert_allclose(ag.value_and_grad(run)(5.0), expected, rtol=1e-4)
