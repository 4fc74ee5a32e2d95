"""Spans of time that decrease: values against SciPy and closed forms, derivatives, events, stops, and what is refused."""

import re

import numpy as np
import pytest
import scipy.integrate

import agrad as ag

FINE = {"rtol": 1e-10, "atol": 1e-12}
METHODS = ["Tsit5", "Rodas4", "auto", "BDF"]


def decay(t, y, k=1.0):
    return -k * (1 + t) * y


def closed(t0, t, k=1.0):
    """The solution of `decay` from 1 at t0."""
    return np.exp(k * (t0 + t0**2 / 2 - t - t**2 / 2))


def assert_gradient(f, x, expected, rtol=1e-6):
    np.testing.assert_allclose(ag.grad(f)(x), expected, rtol=rtol)
    np.testing.assert_allclose(ag.compile(ag.grad(f))(x), expected, rtol=rtol)


def pendulum(t, y, k):
    return [y[1], -k * np.sin(y[0]) + 0.1 * np.cos(t)]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("t_eval", [None, [5.0, 3.0, 1.0], np.linspace(5.0, 0.5, 50)])
def test_equals_scipy(method, t_eval):
    theirs = scipy.integrate.solve_ivp(pendulum, (5.0, 0.5), [1.0, 0.0], "DOP853", t_eval, args=(2.0,), rtol=1e-12, atol=1e-12)
    got = ag.solve_ivp(pendulum, (5.0, 0.5), [1.0, 0.0], method, t_eval, args=(2.0,), **FINE)
    np.testing.assert_array_equal(got.t, theirs.t if t_eval is not None else [5.0, 0.5])
    np.testing.assert_allclose(got.y[:, -1], theirs.y[:, -1], rtol=1e-6)
    if t_eval is not None:
        np.testing.assert_allclose(got.y, theirs.y, rtol=1e-6, atol=1e-8)
    assert got.status == 0


@pytest.mark.parametrize("method", METHODS)
def test_is_differentiated_in_all_that_it_depends_on(method):
    def state(x):
        return ag.solve_ivp(decay, (x[0], x[1]), [x[2]], method, [x[3], x[1]], args=(x[4],), **FINE).y[0, 0]

    x = np.array([2.0, 0.5, 1.2, 1.1, 0.7])
    value = 1.2 * closed(2.0, 1.1, 0.7)
    exponent = 4.0 - 1.1 - 1.1**2 / 2
    expected = value * np.array([0.7 * 3.0, 0.0, 1 / 1.2, -0.7 * 2.1, exponent])
    np.testing.assert_allclose(state(x), value, rtol=1e-7)
    assert_gradient(state, x, expected)


def test_second_derivatives_and_forward_mode():
    def end(k):
        return ag.solve_ivp(decay, (2.0, 0.5), [1.0], "Tsit5", args=(k,), **FINE).y[0, -1]

    exponent = 4.0 - 0.5 - 0.125
    np.testing.assert_allclose(ag.hessian(end)(0.7), exponent**2 * closed(2.0, 0.5, 0.7), rtol=1e-7)
    np.testing.assert_allclose(ag.jvp(end, (0.7,), (1.0,))[1], exponent * closed(2.0, 0.5, 0.7), rtol=1e-7)


@pytest.mark.parametrize("sensitivities", ["forward", "auto"])
def test_forward_sensitivities(sensitivities):
    def end(k):
        return ag.solve_ivp(decay, (2.0, 0.5), [1.0], "BDF", args=(k,), sensitivities=sensitivities, **FINE).y[0, -1]

    np.testing.assert_allclose(ag.grad(end)(0.7), 3.375 * closed(2.0, 0.5, 0.7), rtol=1e-6)


@pytest.mark.parametrize("direction", [-1, 0, 1])
@pytest.mark.parametrize("method", ["Tsit5", "BDF"])
def test_events_happen_in_the_direction_that_scipy_has(direction, method):
    def crossing(t, y, k):
        return y[0] - 0.2

    crossing.direction = direction
    theirs = scipy.integrate.solve_ivp(
        pendulum, (9.0, 0.0), [1.0, 0.0], "DOP853", args=(2.0,), events=crossing, rtol=1e-10, atol=1e-10
    )
    got = ag.solve_ivp(pendulum, (9.0, 0.0), [1.0, 0.0], method, args=(2.0,), events=crossing, **FINE)
    assert len(theirs.t_events[0]) >= 2
    np.testing.assert_allclose(got.t_events[0], theirs.t_events[0], rtol=1e-6)
    np.testing.assert_allclose(got.y_events[0], theirs.y_events[0], rtol=1e-5, atol=1e-7)


def test_a_terminal_event_ends_the_solution_and_is_differentiated():
    def solved(k, t_eval=None):
        event = ag.Event(lambda t, y, k: y[0] - 2.0, terminal=True)
        return ag.solve_ivp(lambda t, y, k: -k * y, (3.0, 0.0), [1.0], "Tsit5", t_eval, args=(k,), events=event, **FINE)

    result = solved(0.5)
    assert result.status == 1
    np.testing.assert_allclose(result.t, [3.0, 3.0 - np.log(2) / 0.5], rtol=1e-8)
    np.testing.assert_array_equal(solved(0.5, [2.5, 2.0, 1.0]).t, [2.5, 2.0])
    for name in ("t", "t_events"):
        time = (lambda k: solved(k).t[-1]) if name == "t" else (lambda k: solved(k).t_events[0][0])
        np.testing.assert_allclose(ag.grad(time)(0.5), np.log(2) / 0.25, rtol=1e-7)


def test_an_event_resets_the_state():
    def end(x):
        event = ag.Event(lambda t, y, x: t - x, reset=lambda t, y, x: y + t)
        return ag.solve_ivp(lambda t, y, x: -y, (2.0, 0.0), [1.0], "Tsit5", args=(x,), events=event, **FINE).y[0, -1]

    # y = exp(2 - t) down to x, where x is added
    np.testing.assert_allclose(end(1.2), (np.exp(0.8) + 1.2) * np.exp(1.2), rtol=1e-8)
    np.testing.assert_allclose(ag.grad(end)(1.2), np.exp(1.2) * 2.2, rtol=1e-7)


def test_a_stop_is_seen_from_both_sides():
    def end(x):
        def slope(t, y, on):
            return np.where(t < on, 0.0, -1.0) * y

        return ag.solve_ivp(slope, (2.0, 0.0), [1.0], "Tsit5", args=(x,), tstops=[x], **FINE).y[0, -1]

    np.testing.assert_allclose(end(0.5), np.exp(1.5), rtol=1e-9)
    np.testing.assert_allclose(ag.grad(end)(0.5), -np.exp(1.5), rtol=1e-8)


def test_a_dense_solution():
    def solved(k):
        return ag.solve_ivp(decay, (2.0, 0.5), [1.0], "Tsit5", args=(k,), dense_output=True, **FINE).sol

    times = np.array([0.5, 2.0, 1.1])
    np.testing.assert_allclose(solved(0.7)(times)[0], closed(2.0, times, 0.7), rtol=1e-8)
    exponent = 4.0 - 1.1 - 1.1**2 / 2
    np.testing.assert_allclose(ag.grad(lambda k: solved(k)(1.1)[0])(0.7), exponent * closed(2.0, 1.1, 0.7), rtol=1e-7)
    np.testing.assert_allclose(ag.grad(lambda t: solved(0.7)(t)[0])(1.1), -0.7 * 2.1 * closed(2.0, 1.1, 0.7), rtol=1e-6)
    with pytest.raises(ag.DomainError, match=r"^sol: t is 0\.25, but must be within t_span = \(2\.0, 0\.5\)$"):
        solved(0.7)(0.25)


STOPPED = r"stopped at t = (1\.0|0\.99)"


def blow_up(t, y):
    return [-(y[0] ** 2)]


def test_a_solver_that_stops_names_the_users_time():
    with pytest.raises(ag.SolverError, match=STOPPED) as caught:
        ag.solve_ivp(blow_up, (2.0, 0.0), [1.0], "Tsit5")
    assert caught.value.t == pytest.approx(1.0, abs=1e-3)
    part = ag.solve_ivp(blow_up, (2.0, 0.0), [1.0], "Tsit5", [1.5, 1.2, 0.5], return_partial=True, dense_output=True, **FINE)
    assert (part.success, part.t.tolist()) == (False, [1.5, 1.2])
    np.testing.assert_allclose(part.y[0], [2.0, 5.0], rtol=1e-8)
    assert re.search(STOPPED, part.message)
    assert part.sol(1.5)[0] == pytest.approx(2.0)
    assert re.search(STOPPED.capitalize(), str(part.explain()))


def test_what_is_told_of_steps_is_in_the_users_time():
    def stiff(t, y):
        return [1e4 * (y[0] - np.cos(t))]

    result = ag.solve_ivp(stiff, (3.0, 1.0), [0.0])
    at = result.stats["stiff_from"]
    assert 1.0 < at < 3.0
    assert f"the method was Tsit5 until t = {at:.6g}, and Rodas5P" in result.message
    report = result.explain()
    assert report.span == (3.0, 1.0)
    assert str(report).startswith(f"{result.nst} steps of auto from 3 to 1, between ")
    assert report.columns["t"][0] == 3.0
    assert np.all(report.columns["h"] < 0)
    np.testing.assert_allclose(report.columns["t"] + report.columns["h"], [*report.columns["t"][1:], 1.0])
    seen = []
    ag.solve_ivp(decay, (2.0, 0.5), [1.0], "Tsit5", progress=lambda *told: seen.append(told))
    assert seen[-1] == (0.5, 0.5, "forward")


def test_populations_of_both_directions():
    def ends(k):
        spans = [(0.5, 2.0), (2.0, 0.5), (1.0, 0.0)]
        results = ag.solve_many(decay, [ag.Subject(span, [1.0], args=(k,)) for span in spans], **FINE)
        return ag.array([result.y[0, -1] for result in results])

    closed_ends = [closed(0.5, 2.0, 0.7), closed(2.0, 0.5, 0.7), closed(1.0, 0.0, 0.7)]
    np.testing.assert_allclose(ends(0.7), closed_ends, rtol=1e-8)
    np.testing.assert_allclose(ag.jacobian(ends)(0.7), np.array([-3.375, 3.375, 1.5]) * closed_ends, rtol=1e-7)
    result = ag.solve_many(decay, [ag.Subject((2.0, 0.0), [1.0], [2.0, 1.0])])[0]
    np.testing.assert_array_equal(result.t, [2.0, 1.0])
    with pytest.raises(ag.SolverError, match=r"^solve_many\(subjects\[0\]\): " + STOPPED):
        ag.solve_many(blow_up, [ag.Subject((2.0, 0.0), [1.0])])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"doses": [ag.Dose(1.0, 0, 1.0)]},
            "doses is given, but must not be where t_span decreases; change the state by an event",
        ),
        ({"t_eval": [1.0, 1.5]}, "t_eval[1] is 1.5, but must be at most t_eval[0] = 1.0"),
        ({"t_eval": [3.0, 1.5]}, "t_eval[0] is 3.0, but must be within t_span = (2.0, 0.0)"),
        ({"fun": lambda t, y: None}, "result is None, but must be the derivatives of the states; does it return?"),
        ({"fun": lambda t, y: [1.0, 2.0]}, "result is of shape (2,), but must be of shape (1,); one derivative for each state"),
    ],
)
def test_refused(changes, message):
    arguments = {"fun": decay, "t_span": (2.0, 0.0), "y0": [1.0]} | changes
    with pytest.raises((ValueError, TypeError), match="^solve_ivp.*: " + re.escape(message)):
        ag.solve_ivp(**arguments)
