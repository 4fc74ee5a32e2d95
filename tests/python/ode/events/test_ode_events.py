"""Doses, events and stops of initial value problems, against closed forms, by every method."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp as scipy_solve_ivp

import agrad as ag

METHODS = ["Tsit5", "RK45", "CKRK", "DOP853", "Rodas4", "Rodas5P", "auto", "BDF", "Adams"]
TIGHT = {"rtol": 1e-10, "atol": 1e-11}


def decay(t, y, k):
    return -k * y


def after_doses(t, k, table):
    """What doses (time, amount, duration) into y' = -k y amount to at t, after a dose at that time."""
    total = 0.0
    for time, amount, duration in table:
        if t < time:
            continue
        if duration == 0:
            total += amount * np.exp(-k * (t - time))
        else:
            end = min(t, time + duration)
            total += amount / (duration * k) * (np.exp(-k * (t - end)) - np.exp(-k * (t - time)))
    return total


def differences(f, x, h=1e-5):
    x = np.asarray(x, dtype=float)
    steps = np.eye(x.size) * h
    return np.array([(f(x - 2 * s) - 8 * f(x - s) + 8 * f(x + s) - f(x + 2 * s)) / (12 * h) for s in steps])


# ---- doses


@pytest.mark.parametrize("method", METHODS)
def test_doses_superpose_and_have_gradients(method):
    outputs = [0.0, 0.5, 1.0, 1.5, 2.0, 4.0]
    weights = np.array([0.3, -1.1, 0.7, 1.9, -0.4, 1.0])

    def loss(x):
        k, t1, a1, t2, a2, t3, a3, d3 = (x[i] for i in range(8))
        doses = [ag.Dose(t1, 0, a1), ag.Dose(t2, 0, a2), ag.Dose(t3, 0, a3, d3)]
        y = ag.solve_ivp(decay, (0.0, 4.0), [0.0], method, outputs, args=(k,), doses=doses, **TIGHT).y
        return np.sum(weights * y[0])

    def closed(x):  # dose 2 is at an output time, which is after it however it moves
        k, t1, a1, t2, a2, t3, a3, d3 = x
        late = [(t1, a1, 0), (t3, a3, d3)]
        sum_ = sum(w * after_doses(t, k, late) for w, t in zip(weights, outputs, strict=True))
        return sum_ + sum(w * a2 * np.exp(-k * (t - t2)) for w, t in zip(weights, outputs, strict=True) if t >= 1.5)

    x = np.array([0.7, 0.4, 2.0, 1.5, 1.0, 0.8, 3.0, 1.4])
    value, gradient = ag.value_and_grad(loss)(x)
    assert value == pytest.approx(closed(x), rel=1e-8)
    np.testing.assert_allclose(gradient, differences(closed, x), rtol=1e-6, atol=1e-7)
    assert loss(x) == pytest.approx(closed(x), rel=1e-8)


def test_repeated_doses_are_single_doses():
    many = [ag.Dose(1.0, 0, 3.0, 0.5, interval=2.0, count=3)]
    each = [ag.Dose(t, 0, 3.0, 0.5) for t in (1.0, 3.0, 5.0)]
    times = np.linspace(0.0, 8.0, 9)
    ys = [ag.solve_ivp(decay, (0, 8), [1.0], "Tsit5", times, args=(0.4,), doses=d).y for d in (many, each)]
    assert np.array_equal(*ys)
    slope = ag.grad(lambda gap: ag.solve_ivp(decay, (0, 8), [0.0], "Tsit5", args=(0.4,), **TIGHT, doses=[
        ag.Dose(1.0, 0, 3.0, interval=gap, count=3)]).y[0, -1])(2.0)  # fmt: skip
    assert slope == pytest.approx(sum(3.0 * 0.4 * j * np.exp(-0.4 * (7.0 - 2.0 * j)) for j in range(3)), rel=1e-8)


@pytest.mark.parametrize("method", METHODS)
def test_doses_at_the_ends_and_at_one_instant(method):
    doses = [ag.Dose(2.0, 0, 4.0), ag.Dose(0.0, 0, 1.0), ag.Dose(0.0, 1, 2.0), ag.Dose(1.0, 0, 8.0), ag.Dose(1.0, 0, 16.0),
             ag.Dose(2.5, 0, 1e6)]  # fmt: skip
    y = ag.solve_ivp(lambda t, y: 0 * y, (0.0, 2.0), [0.0, 0.0], method, [0.0, 1.0, 2.0], doses=doses).y
    np.testing.assert_allclose(y, [[1.0, 25.0, 29.0], [2.0, 2.0, 2.0]], rtol=1e-12)
    only = ag.solve_ivp(lambda t, y: 0 * y, (0.0, 2.0), [0.5], method, [0.0], doses=[ag.Dose(0.0, 0, 1.0)])
    np.testing.assert_array_equal(only.y, [[1.5]])


def test_doses_of_nonlinear_systems_match_scipy_by_segments():
    def rhs(t, y):
        return [-2.0 * y[0] / (1.0 + y[0]), 2.0 * y[0] / (1.0 + y[0]) - 0.3 * y[1]]

    doses = [ag.Dose(0.0, 0, 3.0), ag.Dose(1.0, 0, 2.0, 0.7)]
    y = ag.solve_ivp(rhs, (0.0, 3.0), [0.0, 0.0], "DOP853", [3.0], doses=doses, **TIGHT).y[:, 0]
    state = np.array([3.0, 0.0])
    for begin, end, rate in ((0.0, 1.0, 0.0), (1.0, 1.7, 2.0 / 0.7), (1.7, 3.0, 0.0)):
        add = np.array([rate, 0.0])
        state = scipy_solve_ivp(
            lambda t, y, add=add: np.array(rhs(t, y)) + add, (begin, end), state, "DOP853", rtol=1e-11, atol=1e-12
        ).y[:, -1]
    np.testing.assert_allclose(y, state, rtol=1e-8)


def test_second_derivatives_pass_through_doses_of_fixed_times():
    def loss(x):
        doses = [ag.Dose(0.5, 0, x[1]), ag.Dose(0.8, 1, x[2] ** 2, 0.6), ag.Dose(0.5, 1, x[1] * x[0])]
        args = (x[0], x[3])
        y = ag.solve_ivp(lambda t, y, k, v: [-k * y[0] * y[1], k * y[0] - v * y[1]], (0.0, 2.0), [x[3], 1.0], "Tsit5",
                         [0.0, 0.5, 1.0, 2.0], args=args, doses=doses, **TIGHT).y  # fmt: skip
        return np.sum(y**2)

    x = np.array([0.7, 2.0, 1.1, 0.4])
    hessian = ag.hessian(loss)(x)
    np.testing.assert_allclose(hessian, differences(ag.grad(loss), x), rtol=1e-6, atol=1e-7)


def test_compiled_solves_take_other_doses():
    def end(amount, time):
        return ag.solve_ivp(decay, (0, 2), [1.0], "Tsit5", args=(0.5,), doses=[ag.Dose(time, 0, amount)], **TIGHT).y[0, -1]

    fast = ag.compile(ag.value_and_grad(end, argnums=(0, 1)))
    for amount, time in ((1.0, 0.5), (2.0, 1.5), (3.0, 0.0), (1.0, 2.0)):
        value, (by_amount, by_time) = fast(amount, time)
        rest = np.exp(-0.5 * (2 - time))
        assert value == pytest.approx(np.exp(-1.0) + amount * rest, rel=1e-8)
        assert by_amount == pytest.approx(rest, rel=1e-8)
        assert by_time == pytest.approx(0.5 * amount * rest, rel=1e-7)
    assert fast(1.0, 3.0)[1] == (0.0, 0.0)  # after the last output


def test_populations_with_doses_have_the_same_bits_in_any_number_of_threads():
    def loss(x, threads):
        subjects = [
            ag.Subject((0.0, 2.0 + i), [0.0], [0.0, 1.0, 2.0], (x[0],), [ag.Dose(0.1 * i, 0, x[1]), ag.Dose(1.0, 0, 1.0, x[2])])
            for i in range(7)
        ]
        subjects.append(ag.Subject((0.0, 1.0), [2.0], None, (x[0],)))
        return sum(np.sum(r.y**2) for r in ag.solve_many(decay, subjects, "Tsit5", threads=threads, **TIGHT))

    def closed(x):
        total = sum(
            after_doses(t, x[0], [(0.1 * i, x[1], 0), (1.0, 1.0, x[2])]) ** 2 for i in range(7) for t in (0.0, 1.0, 2.0)
        )
        return total + 4.0 * (1 + np.exp(-2 * x[0]))

    x = np.array([0.6, 3.0, 0.5])
    results = [ag.value_and_grad(loss)(x, threads) for threads in (1, 2, 4)]
    assert results[0][0] == pytest.approx(closed(x), rel=1e-8)
    np.testing.assert_allclose(results[0][1], differences(closed, x), rtol=1e-6)
    for value, gradient in results[1:]:
        assert value == results[0][0]
        assert np.array_equal(gradient, results[0][1])


# ---- events


def fall(t, y, g, r):
    return [y[1], -g]


def bounce(t, y, g, r):
    return [0.0, -r * y[1]]


FLOOR = ag.Event(lambda t, y, g, r: y[0], bounce, direction=-1)


@pytest.mark.parametrize("method", METHODS)
def test_a_ball_bounces(method):
    def solved(x):
        result = ag.solve_ivp(fall, (0.0, 3.5), [x[2], 0.0], method, [1.0, 3.5], args=(x[0], x[1]), events=FLOOR, **TIGHT)
        return result.t_events[0][2] + 0.1 * result.y_events[0][1, 1] + 0.3 * result.y[0, 1] + 0.07 * result.y[1, 1]

    def closed(x):
        g, r, h = x
        s, v = np.sqrt(2 * h / g), np.sqrt(2 * h * g)
        time = lambda j: s * (1 + 2 * sum(r**i for i in range(1, j)))  # noqa: E731
        since, up = 3.5 - time(4), v * r**4
        return time(3) - 0.1 * v * r + 0.3 * (up * since - 0.5 * g * since**2) + 0.07 * (up - g * since)

    x = np.array([9.81, 0.8, 2.0])
    value, gradient = ag.value_and_grad(solved)(x)
    assert value == pytest.approx(closed(x), rel=1e-8)
    np.testing.assert_allclose(gradient, differences(closed, x), rtol=2e-6, atol=2e-6)


@pytest.mark.parametrize("method", ["Tsit5", "Rodas4", "BDF"])
def test_a_terminal_event_ends_the_solution_where_parameters_say(method):
    def threshold(t, y, k, level):
        return y[0] - level

    threshold.terminal = True

    def end(x):
        result = ag.solve_ivp(decay_to, (0.0, 50.0), [1.0], method, args=(x[0], x[1]), events=threshold, **TIGHT)
        assert result.status == 1
        assert "terminal event" in result.message
        return result.t[-1] + 10 * result.y[0, -1] + 0 * result.t_events[0][0]

    def decay_to(t, y, k, level):
        return -k * y

    x = np.array([0.3, 0.2])
    value, gradient = ag.value_and_grad(end)(x)
    assert value == pytest.approx(-np.log(0.2) / 0.3 + 2.0, rel=1e-8)
    np.testing.assert_allclose(gradient, [np.log(0.2) / 0.09, -1 / (0.3 * 0.2) + 10], rtol=1e-7)
    fast = ag.compile(end)
    assert fast(np.array([0.3, 0.5])) == pytest.approx(-np.log(0.5) / 0.3 + 5.0, rel=1e-8)


@pytest.mark.parametrize("direction", [-1, 0, 1])
@pytest.mark.parametrize("terminal", [False, True, 2])
def test_results_agree_with_scipy(direction, terminal):
    def crossing(t, y):
        return y[0] - 0.5

    crossing.direction, crossing.terminal = direction, terminal

    def late(t, y):
        return t - 4.5

    times = np.linspace(0.0, 20.0, 41)
    rhs = lambda t, y: [y[1], -y[0]]  # noqa: E731
    mine = ag.solve_ivp(rhs, (0.0, 20.0), [1.0, 0.0], "DOP853", times, events=[crossing, late], **TIGHT)
    theirs = scipy_solve_ivp(rhs, (0.0, 20.0), [1.0, 0.0], "DOP853", times, events=[crossing, late], rtol=1e-10, atol=1e-11)
    assert mine.status == theirs.status
    np.testing.assert_array_equal(mine.t, theirs.t)
    np.testing.assert_allclose(mine.y, theirs.y, atol=1e-7)
    for a, b in zip(mine.t_events, theirs.t_events, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-8)
    for a, b in zip(mine.y_events, theirs.y_events, strict=True):
        np.testing.assert_allclose(a, np.reshape(b, (-1, 2)), atol=1e-7)


def test_events_after_the_last_output_are_found_and_their_number_is_not_counted_unless_read():
    event = ag.Event(lambda t, y, w: np.sin(w * t), terminal=False)
    result = ag.solve_ivp(decay, (0.0, 7.0), [1.0], "Tsit5", [1.0], args=(1.0,), events=event)
    np.testing.assert_allclose(result.t_events[0], [np.pi, 2 * np.pi], rtol=1e-12)
    assert result.y.shape == (1, 1)

    fast = ag.compile(
        lambda w: ag.solve_ivp(decay, (0.0, 7.0), [1.0], "Tsit5", [1.0], args=(w,), events=event, **TIGHT).y[0, 0]
    )
    assert fast(1.0) == pytest.approx(np.exp(-1), rel=1e-8)
    assert fast(3.0) == pytest.approx(np.exp(-3), rel=1e-8)  # six events, where there were two

    reads = ag.compile(lambda w: ag.solve_ivp(decay, (0.0, 7.0), [1.0], "Tsit5", [1.0], args=(w,), events=event).t_events[0][1])
    assert reads(1.0) == pytest.approx(2 * np.pi, rel=1e-12)
    with pytest.raises(ag.SolverError, match=r"the number of times of events\[0\] is 6, but must be 2") as caught:
        reads(3.0)
    assert caught.value.code == "event_count"


def test_a_terminal_event_that_moves_past_an_output_is_an_error_when_rerun():
    event = ag.Event(lambda t, y, k: y[0] - 0.5, terminal=True)

    def total(k):
        return np.sum(ag.solve_ivp(decay, (0.0, 4.0), [1.0], "Tsit5", [1.0, 2.0, 4.0], args=(k,), events=event).y)

    fast = ag.compile(total)
    assert fast(0.3) == pytest.approx(np.exp(-0.3) + np.exp(-0.6), rel=1e-5)
    assert fast(0.31) == pytest.approx(np.exp(-0.31) + np.exp(-0.62), rel=1e-5)
    with pytest.raises(ag.SolverError, match="the number of output times until the end is 1, but must be 2"):
        fast(0.5)


def test_a_dose_when_the_concentration_falls_below_a_limit():
    def end(x):
        refill = ag.Event(lambda t, y, k, low, amount: y[0] - low, lambda t, y, k, low, amount: y + amount, direction=-1)
        return ag.solve_ivp(lambda t, y, k, low, amount: -k * y, (0, 10), [1.0], "Tsit5", args=tuple(x[i] for i in range(3)),
                            events=refill, **TIGHT).y[0, -1]  # fmt: skip

    def closed(x):
        k, low, amount = x
        first, period = -np.log(low) / k, np.log((low + amount) / low) / k
        times = int((10 - first) // period)
        return (low + amount) * np.exp(-k * (10 - first - times * period))

    x = np.array([0.5, 0.3, 0.8])
    value, gradient = ag.value_and_grad(end)(x)
    assert value == pytest.approx(closed(x), rel=1e-7)
    np.testing.assert_allclose(gradient, differences(closed, x), rtol=1e-6)


def test_several_events_at_one_instant_and_with_a_dose():
    events = [
        ag.Event(lambda t, y: t - 1.0, lambda t, y: y + 1.0),
        ag.Event(lambda t, y: 2.0 * (t - 1.0), lambda t, y: 3.0 * y),
    ]
    result = ag.solve_ivp(
        lambda t, y: 0 * y, (0, 2), [1.0], "Tsit5", [0.5, 1.0, 2.0], events=events, doses=[ag.Dose(1.0, 0, 10.0)]
    )
    np.testing.assert_allclose(result.t_events, [[1.0], [1.0]], rtol=1e-12)
    np.testing.assert_allclose(result.y, [[1.0, 16.0, 16.0]], rtol=1e-12)  # events in their order, then the dose


@pytest.mark.parametrize("method", METHODS)
def test_an_event_at_the_initial_time_is_none(method):
    event = ag.Event(lambda t, y: y[1])
    result = ag.solve_ivp(lambda t, y: [y[1], -y[0]], (0.0, 4.0), [1.0, 0.0], method, events=event, **TIGHT)
    np.testing.assert_allclose(result.t_events[0], [np.pi], rtol=1e-8)


@pytest.mark.parametrize("method", METHODS)
def test_the_root_is_zero_where_the_event_is(method):
    event = ag.Event(lambda t, y: y[0] * y[1] - 0.3 + 0.01 * t, terminal=True)
    result = ag.solve_ivp(lambda t, y: [y[1], -y[0]], (0.0, 10.0), [0.0, 1.0], method, events=event)
    t, y = result.t_events[0][0], result.y_events[0][0]
    assert abs(y[0] * y[1] - 0.3 + 0.01 * t) < 1e-13
    np.testing.assert_array_equal(result.y[:, -1], y)


# ---- stops


@pytest.mark.parametrize("method", METHODS)
def test_a_jump_of_the_right_hand_side_at_a_stop_has_a_derivative(method):
    def end(x):
        rhs = lambda t, y, on, k: np.where(t < on, -k, 2 * k) * y  # noqa: E731
        return ag.solve_ivp(rhs, (0.0, 2.0), [1.0], method, args=(x[0], x[1]), tstops=[x[0]], **TIGHT).y[0, -1]

    x = np.array([0.7, 0.4])
    value, gradient = ag.value_and_grad(end)(x)
    closed = lambda x: np.exp(-x[1] * x[0] + 2 * x[1] * (2 - x[0]))  # noqa: E731
    assert value == pytest.approx(closed(x), rel=1e-8)
    np.testing.assert_allclose(gradient, differences(closed, x), rtol=1e-7)


def test_rows_of_a_jacobian_are_swept_with_the_same_steps():
    def crossings(x):
        event = ag.Event(lambda t, y, w: y[0])
        rhs = lambda t, y, w: [y[1], -w * w * y[0]]  # noqa: E731
        return ag.solve_ivp(rhs, (0.0, 9.0), [1.0, x[1]], "DOP853", args=(x[0],), events=event, **TIGHT).t_events[0]

    def closed(x):  # cos(w t) + (v / w) sin(w t) = 0
        return (np.arctan2(1.0, -x[1] / x[0]) + np.pi * np.arange(3)) / x[0]

    x = np.array([1.1, 0.3])
    np.testing.assert_allclose(crossings(x), closed(x), rtol=1e-9)
    expected = np.stack([differences(lambda x, i=i: closed(x)[i], x) for i in range(3)])
    np.testing.assert_allclose(ag.jacobian(crossings)(x), expected, rtol=1e-7)
    np.testing.assert_allclose(ag.compile(ag.jacobian(crossings))(x), expected, rtol=1e-7)


@pytest.mark.parametrize("method", METHODS)
def test_everything_at_once_against_differences(method):
    """A nonlinear system, a root and a reset that depend on time, overlapping doses, a stop that moves: against differences."""

    def rhs(t, y, p):
        return [y[0] * (1.0 - p[0] * y[1]) + np.where(t < p[6], 0.0, 0.4), y[1] * (p[1] * y[0] - 0.8)]

    def root(t, y, p):
        return y[0] - p[2] - 0.1 * np.sin(2.0 * t)

    def reset(t, y, p):
        return [y[0] * (1.0 - 0.05 * t * p[3]), y[1] + 0.1 * p[3] * y[0]]

    def loss(p):
        doses = [ag.Dose(p[4], 1, 0.3), ag.Dose(0.5, 0, p[5], 1.5 * p[4]), ag.Dose(1.0, 0, 0.2, p[5])]
        result = ag.solve_ivp(rhs, (0.0, 4.0), [0.8, p[0]], method, [0.0, 0.5, 1.5, 3.0, 4.0], args=(p,), doses=doses,
                              tstops=[p[6]], events=ag.Event(root, reset), rtol=1e-11, atol=1e-12)  # fmt: skip
        times, states = result.t_events[0], result.y_events[0]
        assert len(times) > 1
        return np.sum(result.y**2) + times[0] + 0.5 * times[-1] + states[-1, 1]

    p = np.array([0.9, 0.6, 1.4, 0.7, 0.8, 0.6, 2.2])
    expected = differences(loss, p, 1e-4)
    np.testing.assert_allclose(ag.grad(loss)(p), expected, rtol=2e-6, atol=2e-6 * np.max(np.abs(expected)))
