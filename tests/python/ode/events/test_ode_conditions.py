"""Events that fire on conditions: cascades, doses, starts, priorities and values, against closed forms to second order."""

import pickle
from functools import partial

import numpy as np
import pytest

import agrad as ag
from event_cases import METHODS, TIGHT

every_method = pytest.mark.parametrize("method", [*METHODS, "BDF", "Adams"])
X = np.array([0.9, 1.1, 0.6, 1.3, 0.8, 0.7, 2.2])


def slope(t, y, speed, rate, *_):
    """A clock of a speed, an amount that decays, and the area under it."""
    return [speed + 0 * y[0], -rate * y[1], y[1]]


def decayed(a, b, rate, time):
    """Amount and area after a time."""
    return a * np.exp(-rate * time), b + a * (1 - np.exp(-rate * time)) / rate


def alarm(share):
    """Where the amount is large, the area grows by a share of it that depends on the time."""
    return ag.Event(lambda t, y, *_: y[1] - 1.0, lambda t, y, *_: [y[0], y[1], y[2] + share * t * y[1] ** 2], fires="condition")


def run_to(f, y0, end, method, **options):
    """Return the solution from 0 to 3 with an output at `end`, which may be recorded."""
    times = end.reshape(1) if isinstance(end, ag.Array) else [end]
    return ag.solve_ivp(f, (0.0, 3.0), y0, method, times, **options, **TIGHT)


def cascade(x, method):
    """The clock's reset changes the amount, and that triggers the alarm at the same time."""
    speed, rate, start, level, threshold, share, end = x
    refill = ag.Event(
        lambda t, y, s, r, c, p: y[0] - c, lambda t, y, s, r, c, p: [1 + y[0] ** 2, p + t * y[1], y[2]], fires="condition"
    )
    found = run_to(slope, [0.0, start, 0.0], end, method, args=(speed, rate, threshold, level), events=[alarm(share), refill])
    times = [found.t_events[0][0], found.t_events[1][0]]
    return np.concatenate([np.stack([*times, *found.y_events[0][0], *found.y_events[1][0]]), found.y[:, 0]])


def closed_cascade(x):
    speed, rate, start, level, threshold, share, end = x
    at = threshold / speed
    amount, area = decayed(start, 0.0, rate, at)
    filled = level + at * amount
    last = decayed(filled, area + share * at * filled**2, rate, end - at)
    of_alarm, of_refill = [1 + threshold**2, filled, area], [threshold, amount, area]
    return np.stack([at, at, *of_alarm, *of_refill, 1 + threshold**2 + speed * (end - at), *last])


def by_dose(x, method):
    """A dose triggers the alarm; both move with the time of the dose."""
    speed, rate, start, level, at, share, end = x
    found = run_to(
        slope,
        [0.0, start, 0.0],
        end,
        method,
        args=(speed, rate),
        doses=[ag.Dose(at, 1, level), ag.Dose(at, 0, level, kind="scale")],
        events=alarm(share),
    )
    return np.concatenate([np.stack([found.t_events[0][0], *found.y_events[0][0]]), found.y[:, 0]])


def closed_by_dose(x):
    speed, rate, start, level, at, share, end = x
    amount, area = decayed(start, 0.0, rate, at)
    amount = amount + level
    last = decayed(amount, area + share * at * amount**2, rate, end - at)
    clock = speed * at * level
    return np.stack([at, clock, amount, area, clock + speed * (end - at), *last])


def at_start(x, method):
    """The condition is true at the start, whose time moves; the initial state is a result, too."""
    speed, rate, start, level, begin, share, end = x
    event = ag.Event(
        lambda t, y, *_: y[1] - 1.0,
        lambda t, y, *_: [y[0] + t, y[1] / 2, y[2] + share * t * y[1] ** 2],
        fires="condition",
        initially=False,
    )
    times = np.stack([begin, end])
    found = ag.solve_ivp(slope, times, [level, 1.0 + start, 0.0], method, args=(speed, rate), events=event, **TIGHT)
    return np.concatenate([np.stack([found.t_events[0][0]]), found.y_events[0][0], *found.y])


def closed_at_start(x):
    speed, rate, start, level, begin, share, end = x
    start = 1 + start
    amount, area = start / 2, share * begin * start**2
    last = decayed(amount, area, rate, end - begin)
    clock = level + begin
    first = [begin, level, start, 0.0 * begin]
    return np.stack([*first, clock, clock + speed * (end - begin), amount, last[0], area, last[1]])


def swapped(x, method):
    """Two events at one time read what the other writes; a third one follows from both, with the highest priority."""
    speed, rate, start, _, threshold, share, end = x
    options = {"fires": "condition", "values": "trigger"}
    root = lambda t, y, s, r, c: y[0] - c  # noqa: E731
    events = [
        ag.Event(root, lambda t, y, *_: [y[0], 3 * y[2] + t, y[2]], **options),
        ag.Event(root, lambda t, y, *_: [y[0], y[1], y[0] * y[1]], priority=1.0, **options),
        ag.Event(lambda t, y, *_: 0.5 - y[2], lambda t, y, *_: [1 + share * y[2] * y[1], y[1], y[2]], priority=2.0, **options),
    ]
    found = run_to(slope, [0.0, start, 0.6], end, method, args=(speed, rate, threshold), events=events)
    return np.concatenate([np.stack([times[0] for times in found.t_events]), found.y_events[0][0], found.y[:, 0]])


def closed_swapped(x):
    speed, rate, start, _, threshold, share, end = x
    at = threshold / speed
    amount, area = decayed(start, 0.6, rate, at)
    new_area = threshold * amount
    clock = 1 + share * new_area * amount
    last = decayed(3 * area + at, new_area, rate, end - at)
    return np.stack([at, at, at, clock, amount, new_area, clock + speed * (end - at), *last])


def constrained(x, method):
    """A dose changes the sum of two states, an algebraic state, which then triggers an event at the same time."""
    start, rate, amount, at, second, end = x[:6]
    event = ag.Event(lambda t, y, *_: y[2] - 1.0, lambda t, y, *_: [y[0] * y[2], y[1] + t * y[2], y[2]], fires="condition")
    found = run_to(
        lambda t, y, k: [-k * y[0], 0 * y[1], y[0] + y[1] - y[2]],
        [start, second, start + second],
        end,
        method,
        args=(rate,),
        doses=[ag.Dose(at, 0, amount)],
        events=event,
        mass_matrix=np.diag([1.0, 1.0, 0.0]),
    )
    return np.concatenate([found.t_events[0], found.y_events[0][0], found.y[:, 0]])


def closed_constrained(x):
    start, rate, amount, at, second, end = x[:6]
    dosed = start * np.exp(-rate * at) + amount
    total = dosed + second
    first, other = dosed * total * np.exp(-rate * (end - at)), second + at * total
    return np.stack([at, dosed, second, total, first, other, first + other])


@pytest.mark.parametrize("method", ["Rodas4", "Rodas5P"])
def test_conditions_see_states_that_are_consistent_after_a_jump(method):
    x = np.array([0.5, 0.7, 0.9, 1.1, 0.2, 2.2])
    f = lambda x: constrained(x, method)  # noqa: E731
    np.testing.assert_allclose(f(x), closed_constrained(x), rtol=1e-8)
    for jacobian in (ag.jacobian, ag.jacfwd):
        np.testing.assert_allclose(jacobian(f)(x), ag.jacobian(closed_constrained)(x), rtol=1e-7, atol=1e-7)
    weights = np.cos(1 + np.arange(7))
    hessian = ag.hessian(lambda x: weights @ f(x))(x)
    np.testing.assert_allclose(hessian, ag.hessian(lambda x: weights @ closed_constrained(x))(x), rtol=1e-6, atol=1e-6)


CASES = {
    "cascade": (cascade, closed_cascade),
    "dose": (by_dose, closed_by_dose),
    "start": (at_start, closed_at_start),
    "swap": (swapped, closed_swapped),
}
every_case = pytest.mark.parametrize("case", CASES)


@every_case
@every_method
def test_values_and_first_derivatives_have_the_closed_form(case, method):
    solved, closed = CASES[case]
    accuracy = 1e-6 if method in ("BDF", "Adams") else 1e-8
    f = lambda x: solved(x, method)  # noqa: E731
    np.testing.assert_allclose(f(X), closed(X), rtol=accuracy, atol=1e-12)
    expected = ag.jacobian(closed)(X)
    for jacobian in (ag.jacobian, ag.jacfwd, lambda f: ag.compile(ag.jacobian(f))):
        np.testing.assert_allclose(jacobian(f)(X), expected, rtol=10 * accuracy, atol=10 * accuracy)


@every_case
@pytest.mark.parametrize("method", METHODS)
def test_second_derivatives_have_the_closed_form(case, method):
    solved, closed = CASES[case]
    weights = np.cos(1 + np.arange(closed(X).size))
    hessian = ag.hessian(lambda x: weights @ solved(x, method))(X)
    np.testing.assert_allclose(hessian, ag.hessian(lambda x: weights @ closed(x))(X), rtol=1e-6, atol=1e-6)


@every_case
@every_method
def test_a_compiled_solve_has_other_numbers(case, method):
    solved, closed = CASES[case]
    f = ag.compile(partial(solved, method=method))
    f(X)
    other = X * np.linspace(0.98, 1.02, X.size)
    np.testing.assert_allclose(f(other), closed(other), rtol=1e-6, atol=1e-10)
    np.testing.assert_allclose(pickle.loads(pickle.dumps(f))(other), f(other), rtol=0, atol=0)
