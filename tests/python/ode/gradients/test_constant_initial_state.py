"""An initial state without derivatives has no part in the probe, also where steps end at stops and switches."""

import numpy as np
import pytest

import agrad as ag

METHODS = ["auto", "Tsit5", "RK45", "CKRK", "DOP853", "Rodas4", "Rodas5P"]
every_method = pytest.mark.parametrize("method", METHODS)
FAST = 1e3


def springs(a, y0=(0.0, 0.0, 0.0, 0.0), method="Rodas5P", end=1.0, force=lambda t: np.sin(t) ** 2, **options):
    """A slow and a fast undamped spring, pushed from rest: all states at the end, and the number of steps."""

    def slope(t, s, a):
        push = a * force(t)
        return [s[2], s[3], -s[0] + push, -(FAST**2) * s[1] + FAST * push]

    result = ag.solve_ivp(slope, (0.0, end), np.stack(y0), method, [end], args=(a,), **options)
    return result.y[:, -1], result


def slow(t):
    return 1 / 2 + np.cos(2 * t) / 6 - 2 / 3 * np.cos(t)


WAYS = {
    "switch": {"force": lambda t: np.where(t > 2.0, 0.0, np.sin(t) ** 2)},
    "stop": {"tstops": [0.5]},
    "passed switch": {"force": lambda t: np.where(t > 0.5, np.sin(t) ** 2, np.sin(t) * np.sin(t))},
}


@pytest.mark.parametrize("method", ["Rodas4", "Rodas5P"])
@pytest.mark.parametrize("way", list(WAYS))
def test_modes_that_no_parameter_excites_take_no_steps(way, method):
    counts = []

    def loss(a, **options):
        states, result = springs(a, method=method, **options)
        counts.append(result.stats)
        return states[0]

    for options in ({}, WAYS[way]):
        assert ag.grad(lambda a: loss(a, **options))(1.5) == pytest.approx(slow(1.0), rel=1e-5)  # noqa: B023
    smooth, ends = (each["steps"] for each in counts)
    assert ends < 1.3 * smooth


def test_an_initial_state_with_derivatives_still_has_a_part():
    def loss(x):
        return springs(1.5, (0.0, x, 0.0, 0.0), end=0.1, **WAYS["switch"])[0][1]

    assert ag.grad(loss)(0.0) == pytest.approx(np.cos(FAST * 0.1), rel=1e-4)
    assert ag.grad(lambda t0: ag.solve_ivp(lambda t, y: np.where(t > 9.0, 0.0, -y), (t0, 2.0), [1.0]).y[0, -1])(
        0.5
    ) == pytest.approx(np.exp(-1.5), rel=1e-4)


@every_method
def test_a_system_at_rest_with_a_switch(method):
    """Production that doubles at 400: y(500) follows it, and its derivative is that of a system that moves."""

    def end(s):
        def slope(t, y, s):
            return s * np.where(t > 400.0, 2.0, 1.0) - y

        return ag.solve_ivp(slope, (0.0, 401.0), [1.0], method, args=(s,)).y[0, -1]

    assert ag.grad(end)(1.0) == pytest.approx(2 - np.exp(-1.0), rel=1e-4)
    assert ag.jvp(end, (1.0,), (2.0,))[1] == pytest.approx(2 * (2 - np.exp(-1.0)), rel=1e-4)
    assert ag.hessian(end)(1.0) == pytest.approx(0.0, abs=1e-4)


@every_method
@pytest.mark.parametrize("by", ["switch", "stop", "state"])
def test_a_time_that_moves_is_the_only_parameter(method, by):
    """Nothing moves before it, and nothing but the time has a derivative."""
    at = 300.0

    def end(time):
        if by == "switch":
            slope = lambda t, y: np.where(t > time, 1.0, 0.0) - y  # noqa: E731
        elif by == "stop":
            slope = lambda t, y: np.where(t > time, 1.0, 0.0) - 1.0 * y  # noqa: E731
        else:
            slope = lambda t, y: [np.where(y[1] > time, 1.0, 0.0) - y[0], 1.0]  # noqa: E731
        stops = {"tstops": np.reshape(time, (1,))} if by == "stop" else {}
        y0 = [0.0, 0.0] if by == "state" else [0.0]
        return ag.solve_ivp(slope, (0.0, 302.0), y0, method, **stops).y[0, -1]

    assert ag.grad(end)(at) == pytest.approx(-np.exp(-2.0), rel=1e-4)


@every_method
def test_a_dose_of_zero_at_the_initial_time(method):
    def end(x, **options):
        doses = [ag.Dose(0.0, 0, x[0])]

        def slope(t, y, k):
            return [-k * y[0] * np.where(t > 500.0, 2.0, 1.0), k * y[0] - 0.1 * y[1]]

        return ag.solve_ivp(slope, (0.0, 30.0), [0.0, 0.0], method, args=(x[1],), doses=doses, **options).y[1, -1]

    k = 0.7
    expected = k / (k - 0.1) * (np.exp(-0.1 * 30) - np.exp(-k * 30))
    np.testing.assert_allclose(ag.grad(end)(np.array([0.0, k])), [expected, 0.0], rtol=1e-4, atol=1e-8)


@every_method
def test_an_event_at_the_initial_time(method):
    """A condition that is true at the start sets the state to a parameter."""

    def end(p):
        event = ag.Event(lambda t, y, p: 1.0 + 0 * y[0], reset=lambda t, y, p: [p, y[1]], fires="condition", initially=False)
        slope = lambda t, y, p: [-0.05 * y[0], 0.05 * y[0] - 0.1 * y[1]]  # noqa: E731
        return ag.solve_ivp(slope, (0.0, 20.0), [0.0, 0.0], method, [20.0], args=(p,), events=event).y[1, 0]

    assert ag.grad(end)(0.0) == pytest.approx(np.exp(-1) - np.exp(-2), rel=1e-4)


@pytest.mark.parametrize("method", ["Rodas4", "auto"])
def test_problems_of_solve_many(method):
    counts = []

    def total(p):
        def slope(t, s, p):
            push = p * np.where(t > 2.0, 0.0, np.sin(t) ** 2)
            return [s[2], s[3], -s[0] + push, -(FAST**2) * s[1] + FAST * push]

        subjects = [ag.Subject((0.0, end), np.zeros(4), [end], (p,)) for end in (0.1, 0.2)]
        results = ag.solve_many(slope, subjects, method)
        counts.extend(each.stats for each in results)
        return sum(each.y[0, 0] for each in results)

    assert ag.grad(total)(1.5) == pytest.approx(slow(0.1) + slow(0.2), rel=1e-4)
    alone = springs(1.5, method=method, end=0.2)[1]
    assert counts[1]["steps"] < 2 * alone.nst + 20


@pytest.mark.parametrize("method", ["Tsit5", "Rodas4"])
def test_the_same_steps_with_and_without_a_gradient(method):
    def loss(a):
        return springs(a, method=method, end=0.1, error_control="derivatives", **WAYS["switch"])[0][0]

    assert loss(1.5) == ag.value_and_grad(loss)(1.5)[0]
