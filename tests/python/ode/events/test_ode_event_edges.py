"""Doses, stops and events at the edges: at one instant, without length, at jumps, and where bounces come to rest."""

import numpy as np
import pytest

import agrad as ag

TIGHT = {"rtol": 1e-10, "atol": 1e-12}
METHODS = ["Tsit5", "RK45", "DOP853", "Rodas4", "Rodas5P", "auto", "BDF", "Adams"]

every_method = pytest.mark.parametrize("method", METHODS)


def decay(t, y, k):
    return -k * y


def switched(t, y, at):
    return np.where(t < at, 0.0, -0.4) + 0 * y


@every_method
@pytest.mark.parametrize("at", [1.0, 2.0])
def test_an_output_at_a_terminal_event_has_its_gradient(method, at):
    def last(x):
        end = ag.Event(lambda t, y, k: t - at, terminal=True)
        times = [0.5, 1.0, 2.0] if at == 1.0 else [0.5, 2.0]
        y = ag.solve_ivp(decay, (0, 2.0), [x[0]], method, times, args=(x[1],), events=end, **TIGHT).y
        return y[0, 1] + 0 * y[0, 0]

    decayed = np.exp(-0.5 * at)
    np.testing.assert_allclose(ag.grad(last)(np.array([1.0, 0.5])), [decayed, -at * decayed], rtol=1e-7)


@every_method
def test_an_output_at_a_terminal_event_stays_where_the_event_moves(method):
    def last(x):
        end = ag.Event(lambda t, y, k, c: t - c, lambda t, y, k, c: 3 * y, terminal=True)
        slope = lambda t, y, k, c: -k * y  # noqa: E731
        return ag.solve_ivp(slope, (0, 2.0), [1.0], method, [1.0, 2.0], args=(x[0], x[1]), events=end, **TIGHT).y[0, 0]

    # 3 exp(-k c) exp(-k (1 - c)): neither when it triples nor by how much it decays afterwards depends on c.
    np.testing.assert_allclose(ag.grad(last)(np.array([0.5, 1.0])), [-3 * np.exp(-0.5), 0.0], atol=1e-7)


@every_method
@pytest.mark.parametrize("also", ["dose", "infusion", "event"])
def test_a_stop_sees_its_jump_when_something_else_happens_there(method, also):
    def end(at):
        doses = {"dose": [ag.Dose(1.0, 0, 3.0)], "infusion": [ag.Dose(0.5, 0, 3.0, 0.5)], "event": []}[also]
        events = ag.Event(lambda t, y, s: t - 1.0, lambda t, y, s: y + 3.0) if also == "event" else None
        return ag.solve_ivp(
            switched, (0, 2.0), [1.0], method, [2.0], args=(at,), doses=doses, events=events, tstops=[at], **TIGHT
        ).y[0, -1]

    assert end(1.0) == pytest.approx(3.6, rel=1e-7)
    assert ag.grad(end)(1.0) == pytest.approx(0.4, abs=1e-7)


def test_a_dose_at_t0_takes_f_from_within_its_domain():
    def end(x):
        root = lambda t, y: np.sqrt(t) + 0 * y  # noqa: E731
        return ag.solve_ivp(root, (0, 1.0), [0.0], "Tsit5", [1.0], doses=[ag.Dose(0.0 + x[0], 0, x[1])]).y[0, -1]

    np.testing.assert_allclose(ag.grad(end)(np.array([0.0, 1.0])), [0.0, 1.0], atol=1e-12)


def test_stops_at_one_instant_share_the_gradient_of_what_jumps():
    def end(x):
        jumps = lambda t, y, a, b: np.where(t < a, 0.0, -0.4) + np.where(t < b, 0.0, 2.0) + 0 * y  # noqa: E731
        return ag.solve_ivp(jumps, (0, 2.0), [1.0], "Tsit5", [2.0], args=(x[0], x[1]), tstops=[x[0], x[1]], **TIGHT).y[0, -1]

    np.testing.assert_allclose(ag.grad(end)(np.array([1.0, 1.0])).sum(), -1.6, rtol=1e-9)


def two_resets(x, method):
    """Two events at y = c, and what they leave: y0 falls to c, is doubled and raised by a; the second one adds b times it."""
    events = [
        ag.Event(lambda t, y, k, c, a, b: y[0] - c, lambda t, y, k, c, a, b: [2.0 * y[0] + a * t, y[1]]),
        ag.Event(lambda t, y, k, c, a, b: 3.0 * (c - y[0]), lambda t, y, k, c, a, b: [y[0], y[1] + b * y[0] ** 2]),
    ]
    slope = lambda t, y, k, c, a, b: [-k * y[0], 1.0 + 0.0 * y[1]]  # noqa: E731
    return ag.solve_ivp(slope, (0.0, 1.0), [1.0, 0.0], method, args=tuple(x), events=events, **TIGHT)


def two_resets_in_closed_form(x):
    k, c, a, b = x
    at = -np.log(c) / k
    between = 2.0 * c + a * at
    end = [between * np.exp(-k * (1.0 - at)), 1.0 + b * between**2]
    return np.concatenate([np.stack(part) for part in ([at, at], [c, at], [between, at], end)])


@every_method
def test_the_second_event_of_an_instant_sees_what_the_first_has_left(method):
    def numbers(x):
        found = two_resets(x, method)
        return np.concatenate([*found.t_events, *(np.ravel(y) for y in found.y_events), found.y[:, -1]])

    x = np.array([0.9, 0.6, 0.3, 0.7])
    expected = ag.jacobian(two_resets_in_closed_form)(x)
    np.testing.assert_allclose(numbers(x), two_resets_in_closed_form(x), rtol=1e-8)
    np.testing.assert_allclose(ag.jacrev(numbers)(x), expected, rtol=1e-7, atol=1e-7)
    if method not in ("BDF", "Adams"):
        np.testing.assert_allclose(ag.jacfwd(numbers)(x), expected, rtol=1e-7, atol=1e-7)
    step = 1e-4 * np.eye(4)
    differences = np.stack([(numbers(x + h) - numbers(x - h)) / 2e-4 for h in step], axis=1)
    np.testing.assert_allclose(expected, differences, rtol=1e-5, atol=1e-5)


def test_of_two_events_that_come_together_the_state_between_moves_with_both():
    """The first is doubled at 1 - x, the second looks at it at 1: whenever it is doubled, the second sees the same."""

    def between(x):
        events = [
            ag.Event(lambda t, y: t - 1.0 + x[0], lambda t, y: [2.0 * y[0]]),
            ag.Event(lambda t, y: t - 1.0),
        ]
        return ag.solve_ivp(lambda t, y: 0.3 * y, (0.0, 2.0), [1.0], "Tsit5", events=events, **TIGHT).y_events[1][0, 0]

    growth = 2.0 * np.exp(0.3)
    for x in (0.0, 1e-3):
        assert between([x]) == pytest.approx(growth, rel=1e-9)
        assert ag.grad(between)(np.array([x]))[0] == pytest.approx(0.0, abs=1e-8)
        assert ag.jacfwd(between)(np.array([x]))[0] == pytest.approx(0.0, abs=1e-8)


@every_method
@pytest.mark.parametrize("duration", [1e-20, 1e-15, 1e-14, 8e-14, 1e-13, 2e-13, 3e-13, 5e-13])
def test_an_infusion_of_no_length_is_a_dose_at_once(method, duration):
    def end(x):
        doses = [ag.Dose(x[0], 0, x[1], duration=x[2])]
        return ag.solve_ivp(decay, (0, 20.0), [0.0], method, [20.0], args=(0.1,), doses=doses, **TIGHT).y[0, -1]

    value, gradient = ag.value_and_grad(end)(np.array([10.0, 2.0, duration]))
    decayed = np.exp(-1.0)
    assert value == pytest.approx(2 * decayed, rel=1e-7)
    np.testing.assert_allclose(gradient, [0.2 * decayed, decayed, 0.1 * decayed], rtol=1e-6)


@every_method
@pytest.mark.parametrize("duration", [5e-12, 1e-10, 1e-6])
def test_a_short_infusion_gives_its_amount(method, duration):
    doses = [ag.Dose(10.0, 0, 1.0, duration=duration)]
    y = ag.solve_ivp(lambda t, y: 0 * y, (0, 20.0), [0.0], method, [20.0], doses=doses, **TIGHT).y[0, -1]
    assert y == pytest.approx(1.0, rel=1e-7)


@every_method
def test_a_function_that_jumps_across_zero_is_one_event(method):
    for start in np.linspace(0.5, 1.0, 12):
        for root in (lambda t, y: np.sign(y[0] - 0.1), lambda t, y: np.where(y[0] > 0.1, 1.0, -1.0)):
            turns = ag.solve_ivp(lambda t, y: [y[1], -y[0]], (0, 2), [start, 0.3], method, events=root).t_events[0]
            assert turns.size == 1


RESETS = {
    "turned": lambda t, y, r: [0.0, -r * y[1]],
    "upwards": lambda t, y, r: [0.0, r * np.abs(y[1])],
    "kept": lambda t, y, r: [y[0], r * np.abs(y[1])],
}


@every_method
@pytest.mark.parametrize("r", [0.8, 0.5, 0.1, 1e-3, 1e-6, 0.0])
@pytest.mark.parametrize("reset", RESETS)
def test_a_ball_does_not_fall_through_the_floor(method, r, reset):
    floor = ag.Event(lambda t, y, r: y[0], RESETS[reset], direction=-1)
    for height, tolerances in ((1.0, TIGHT), (2.0, {"rtol": 1e-9, "atol": 1e-9}), (2.0, {})):
        with pytest.raises(ag.SolverError) as caught:
            ag.solve_ivp(
                lambda t, y, r: [y[1], -9.81], (0.0, 30.0), [height, 0.0], method, events=floor, args=(r,), **tolerances
            )
        assert caught.value.code in ("events_accumulate", "too_many_events", "step_too_short")


@every_method
def test_a_ball_that_stops_stays_from_whatever_height(method):
    # Each fall ends below the floor or above it by a rounding, from which it falls on in no time that the clock resolves.
    floor = ag.Event(lambda t, y: y[0], lambda t, y: [y[0], 0.0], direction=-1)
    for height in np.linspace(0.5, 3.0, 60):
        with pytest.raises(ag.SolverError):
            ag.solve_ivp(lambda t, y: [y[1], -9.81], (0.0, 30.0), [height, 0.0], method, events=floor, **TIGHT)


@every_method
def test_a_reset_at_which_the_solution_goes_on_is_no_bounce(method):
    passed = ag.Event(lambda t, y: y[0], lambda t, y: [y[0], 0.5 * y[1]], direction=-1)
    ball = ag.solve_ivp(lambda t, y: [y[1], -9.81], (0.0, 2.0), [1.0, 0.0], method, events=passed, **TIGHT)
    assert ball.t_events[0].size == 1
    flat = ag.Event(lambda t, y: (t - 1.0) ** 3, lambda t, y: y + 1.0)
    late = ag.solve_ivp(lambda t, y: 0 * y, (0.0, 2.0), [0.0], method, events=flat)
    assert late.t_events[0].size == 1
    assert late.y[0, -1] == 1.0
    saw = ag.Event(lambda t, y: np.mod(t, 1.0) - 0.5, lambda t, y: y + 1.0)
    teeth = ag.solve_ivp(lambda t, y: 0 * y, (0.0, 3.2), [0.0], method, events=saw, tstops=np.arange(0.1, 3.2, 0.1))
    np.testing.assert_allclose(teeth.t_events[0], [0.5, 1.0, 1.5, 2.0, 2.5, 3.0], atol=1e-9)
