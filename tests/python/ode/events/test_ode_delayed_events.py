"""Events that wait: their times, the state that they see, and first and second derivatives by closed forms."""

import pickle
from functools import partial

import numpy as np
import pytest

import agrad as ag

METHODS = ["Tsit5", "DOP853", "Rodas5P", "Rodas4", "auto"]
every_method = pytest.mark.parametrize("method", METHODS)
TIGHT = {"rtol": 1e-11, "atol": 1e-11}


def clock(t, y):
    return [1.0 + 0 * y[0], 0 * y[1], 0 * y[2]]


def solved(events, t_eval=(1.0, 2.0), y0=(0.0, 0.0, 0.0), method="Tsit5", **others):
    return ag.solve_ivp(clock, (0.0, 4.0), y0, method, t_eval, events=events, rtol=1e-9, atol=1e-9, **others)


def add(t, y):
    return [y[0], y[1] + 1.0, y[2]]


# ---- derivatives

X = np.array([2.0, 0.6, 1.3, 0.4, 0.15, 0.1, 0.7, 0.2, 2.5])


def falling(x, method, values, at=lambda found: found.y[0, 0]):
    """A decay that reaches c; after a delay that depends on time and state, the state is raised."""

    def root(t, y, p):
        return p[1] - y[0]

    def reset(t, y, p):
        return [(1.0 + p[5]) * y[0] + p[6] * t]

    def delay(t, y, p):
        return p[2] + p[3] * y[0] ** 2 + p[4] * t

    event = ag.Event(root, reset, direction=1, values=values, delay=delay)
    span, y0, args = (0.0, x[8]), x[:1], (x[1:8],)
    return at(ag.solve_ivp(lambda t, y, p: -p[0] * y, span, y0, method, x[8:], args=args, events=event, **TIGHT))


def closed(x, values, what="y"):
    y0, k, c, tau, by_y, by_t, a, g, end = x
    trigger = np.log(y0 / c) / k
    then = trigger + tau + by_y * c**2 + by_t * trigger
    before = y0 * np.exp(-k * then)
    after = (1.0 + a) * (c if values == "trigger" else before) + g * then
    return {"y": after * np.exp(-k * (end - then)), "t": then, "before": before}[what]


def close(found, expected, accuracy):
    np.testing.assert_allclose(found, expected, rtol=accuracy, atol=accuracy * np.abs(expected).max())


@every_method
@pytest.mark.parametrize("values", ["execution", "trigger"])
def test_a_delay_of_time_and_state_has_the_closed_form_to_second_order(method, values):
    close(falling(X, method, values), closed(X, values), 1e-8)
    close(ag.grad(lambda x: falling(x, method, values))(X), ag.grad(lambda x: closed(x, values))(X), 1e-7)
    close(ag.jacfwd(lambda x: falling(x, method, values))(X), ag.grad(lambda x: closed(x, values))(X), 1e-7)
    close(ag.hessian(lambda x: falling(x, method, values))(X), ag.hessian(lambda x: closed(x, values))(X), 1e-6)


@pytest.mark.parametrize("method", ["Adams", "BDF"])
def test_multistep_methods_have_the_closed_form(method):
    gradient = ag.grad(lambda x: falling(x, method, "trigger"))(X)
    close(gradient, ag.grad(lambda x: closed(x, "trigger"))(X), 1e-5)


@pytest.mark.parametrize(("what", "at"), [("t", lambda f: f.t_events[0][0]), ("before", lambda f: f.y_events[0][0, 0])])
def test_times_and_states_of_delayed_events_have_derivatives(what, at):
    found, expected = (lambda x: falling(x, "Tsit5", "execution", at)), (lambda x: closed(x, "execution", what))
    close(found(X), expected(X), 1e-9)
    close(ag.grad(found)(X), ag.grad(expected)(X), 1e-7)
    close(ag.hessian(found)(X), ag.hessian(expected)(X), 1e-6)


@every_method
def test_several_triggers_wait_at_a_time(method):
    """Crossings at p, 2 p, ...; the events at 2.5 p, 3.5 p, ... add amounts to a decay."""

    def total(x):
        p, d, k = x
        event = ag.Event(lambda t, y: np.sin(np.pi * t / p), lambda t, y: y + t, delay=d * p)
        return ag.solve_ivp(lambda t, y: -k * y, (0.0, 5.0), [1.0], method, [5.0], events=event, **TIGHT).y[0, 0]

    def formula(x):
        p, d, k = x
        at = (np.arange(1, 4) + d) * p  # the fourth event would be at 5.5
        return np.exp(-5.0 * k) + np.sum(at * np.exp(-k * (5.0 - at)))

    x = np.array([1.0, 1.5, 0.3])
    close(total(x), formula(x), 1e-8)
    close(ag.grad(total)(x), ag.grad(formula)(x), 1e-7)
    close(ag.hessian(total)(x), ag.hessian(formula)(x), 1e-6)


@every_method
def test_a_delay_of_zero_has_a_derivative(method):
    """Half of the state is taken where it reaches c; the gradient by the delay is that of a small delay."""

    def after(x):
        c, d = x
        event = ag.Event(lambda t, y: y[0] - c, lambda t, y: 0.5 * y, direction=1, delay=d)
        return ag.solve_ivp(lambda t, y: 1.0 + 0 * y, (0.0, 2.0), [0.0], method, [2.0], events=event, **TIGHT).y[0, 0]

    np.testing.assert_allclose(after(np.array([1.5, 0.0])), 1.25, rtol=1e-12)
    np.testing.assert_allclose(ag.grad(after)(np.array([1.5, 0.0])), [-0.5, -0.5], rtol=1e-9)
    np.testing.assert_allclose(ag.hessian(after)(np.array([1.5, 0.0])), np.zeros((2, 2)), atol=1e-9)


def test_a_dose_that_triggers_moves_the_delayed_event():
    def after(x):
        at, amount, d = x
        event = ag.Event(lambda t, y: y[0] - 1.0, lambda t, y: y + t, fires="condition", delay=d)
        doses = [ag.Dose(at, 0, amount)]
        solution = ag.solve_ivp(lambda t, y: -0.5 * y, (0.0, 3.0), [0.0], "Tsit5", [3.0], doses=doses, events=event, **TIGHT)
        return solution.y[0, 0]

    def formula(x):
        at, amount, d = x
        return amount * np.exp(-0.5 * (3.0 - at)) + (at + d) * np.exp(-0.5 * (3.0 - at - d))

    x = np.array([0.7, 2.0, 0.4])
    close(ag.grad(after)(x), ag.grad(formula)(x), 1e-8)
    close(ag.hessian(after)(x), ag.hessian(formula)(x), 1e-7)


# ---- meaning


def test_outputs_at_a_delayed_event_have_the_state_after_it():
    event = ag.Event(lambda t, y: t - 0.3, add, delay=0.4)
    found = solved(event, (0.3, 0.69, 0.7, 0.71, 4.0))
    assert found.y[1].tolist() == [0.0, 0.0, 1.0, 1.0, 1.0]
    np.testing.assert_allclose(found.t_events[0], [0.7], rtol=1e-14)
    np.testing.assert_allclose(found.y_events[0], [[0.7, 0.0, 0.0]], rtol=1e-12)


def test_an_event_after_the_end_does_not_happen():
    found = solved(ag.Event(lambda t, y: t - 3.0, add, delay=2.0))
    assert found.t_events[0].size == 0
    at_end = solved(ag.Event(lambda t, y: t - 3.0, add, delay=1.0), (4.0,))
    assert at_end.t_events[0].tolist() == [4.0]
    assert at_end.y[1, -1] == 1.0


@pytest.mark.parametrize(("persistent", "expected"), [(True, 1.0), (False, 0.0)])
def test_a_condition_that_becomes_false_withdraws_the_event(persistent, expected):
    pulse = ag.Event(lambda t, y: 0.25 - (t - 1.0) ** 2, add, fires="condition", persistent=persistent, delay=1.2)
    assert solved(pulse, (4.0,)).y[1, -1] == expected  # true from 0.5 to 1.5, event at 1.7
    short = ag.Event(lambda t, y: 0.25 - (t - 1.0) ** 2, add, fires="condition", persistent=persistent, delay=0.8)
    found = solved(short, (4.0,))
    assert found.y[1, -1] == 1.0
    np.testing.assert_allclose(found.t_events[0], [1.3], rtol=1e-12)


@pytest.mark.parametrize(("persistent", "expected"), [(True, 1.0), (False, 0.0)])
def test_a_dose_can_withdraw_an_event(persistent, expected):
    event = ag.Event(lambda t, y: t - 1.0 - y[2], add, fires="condition", persistent=persistent, delay=1.0)
    assert solved(event, (4.0,), doses=[ag.Dose(1.5, 2, 9.0)]).y[1, -1] == expected
    later = solved(event, (4.0,), doses=[ag.Dose(1.5, 2, 9.0), ag.Dose(1.7, 2, -9.0)])
    expected_times = [2.0, 2.7] if persistent else [2.7]
    np.testing.assert_allclose(later.t_events[0], expected_times, rtol=1e-12)


@pytest.mark.parametrize("persistent", [True, False])
def test_a_withdrawn_event_leaves_gradients(persistent):
    def last(x):
        pulse = ag.Event(
            lambda t, y: 0.25 - (t - x[0]) ** 2, lambda t, y: y + t, fires="condition", persistent=persistent, delay=1.2
        )
        return ag.solve_ivp(lambda t, y: -x[1] * y, (0.0, 3.0), [1.0], "Tsit5", [3.0], events=pulse, **TIGHT).y[0, 0]

    def formula(x):
        at = x[0] - 0.5 + 1.2
        return np.exp(-3.0 * x[1]) + (at * np.exp(-x[1] * (3.0 - at)) if persistent else 0.0)

    x = np.array([1.0, 0.4])
    close(ag.grad(last)(x), ag.grad(formula)(x), 1e-8)
    close(ag.hessian(last)(x), ag.hessian(formula)(x), 1e-7)


def test_simultaneous_delayed_events_have_their_order():
    digits = [lambda t, y, k=k: [y[0], 10 * y[1] + k, y[2]] for k in (1, 2, 3)]
    events = [
        ag.Event(lambda t, y: t - 0.1, digits[0], delay=0.2, priority=1),
        ag.Event(lambda t, y: t - 0.2, digits[1], delay=0.1, priority=2),
        ag.Event(lambda t, y: t - 0.3, digits[2]),
    ]
    assert solved(events, (4.0,)).y[1, -1] == 213


def test_values_of_the_trigger_are_those_before_any_event_of_its_time():
    swap = [
        ag.Event(lambda t, y: t - 1.0, lambda t, y: [y[0], y[2], y[2]], values="trigger", delay=0.5),
        ag.Event(lambda t, y: t - 1.0, lambda t, y: [y[0], y[1], 9.0]),
    ]
    found = solved(swap, (4.0,), y0=(0.0, 3.0, 7.0))
    assert found.y[1:, -1].tolist() == [7.0, 9.0]


def test_a_condition_that_is_true_at_the_start_waits_from_there():
    event = ag.Event(lambda t, y: 1.0 + 0 * t, add, fires="condition", initially=False, delay=0.5)
    found = solved(event, (0.0, 0.4, 0.6))
    assert found.y[1].tolist() == [0.0, 0.0, 1.0]
    assert found.t_events[0].tolist() == [0.5]


def test_delayed_events_trigger_each_other():
    """A relay: each of two switches turns the other on after 0.3."""
    turn = [lambda t, y: [y[0], 0.0, y[2] + 1], lambda t, y: [y[0], 1.0, y[2] + 1]]
    events = [
        ag.Event(lambda t, y: y[1] - 0.5, turn[0], fires="condition", initially=False, delay=0.3),
        ag.Event(lambda t, y: 0.5 - y[1], turn[1], fires="condition", initially=False, delay=0.3),
    ]
    found = solved(events, (4.0,))
    assert found.y[2, -1] == 13
    np.testing.assert_allclose(np.sort(np.concatenate(found.t_events)), 0.3 * np.arange(1, 14), rtol=1e-12)


def test_a_terminal_event_ends_the_solution_after_its_delay():
    found = solved(ag.Event(lambda t, y: t - 1.0, terminal=True, delay=0.5), (1.0, 1.4, 2.0))
    assert found.status == 1
    assert found.t.tolist() == [1.0, 1.4]
    assert found.t_events[0].tolist() == [1.5]


def test_a_delay_counts_from_the_trigger_where_time_decreases():
    event = ag.Event(lambda t, y: t - 3.0, add, delay=0.5)
    found = ag.solve_ivp(clock, (4.0, 0.0), [0.0, 0.0, 0.0], "Tsit5", [3.0, 2.6, 2.4], events=event)
    np.testing.assert_allclose(found.t_events[0], [2.5], rtol=1e-12)
    assert found.y[1].tolist() == [0.0, 0.0, 1.0]


def test_populations_and_structured_states_take_delays():
    event = ag.Event(lambda t, y: t - 0.3, add, delay=lambda t, y: 0.4 + t)
    subjects = [ag.Subject((0.0, 2.0), [0.0, k, 0.0], t_eval=[0.9, 1.1]) for k in (1.0, 2.0)]
    found = ag.solve_many(clock, subjects, "Tsit5", events=event)
    assert [each.y[1].tolist() for each in found] == [[1.0, 2.0], [2.0, 3.0]]
    named = ag.Event(lambda t, y: t - 0.3, lambda t, y: {"a": y["a"] + 1.0}, delay=lambda t, y: 0.5 * y["a"])
    result = ag.solve_ivp(lambda t, y: {"a": 0 * y["a"]}, (0.0, 2.0), {"a": 1.0}, "Tsit5", [0.5, 1.0], events=named)
    assert np.ravel(result.y["a"]).tolist() == [1.0, 2.0]


def test_compiled_and_pickled_functions_keep_delays():
    compiled = ag.compile(ag.grad(partial(falling, method="Tsit5", values="trigger")))
    compiled(X)
    other = X * 1.02
    close(compiled(other), ag.grad(lambda x: closed(x, "trigger"))(other), 1e-7)
    np.testing.assert_allclose(pickle.loads(pickle.dumps(compiled))(other), compiled(other), rtol=0, atol=0)


# ---- faults


@pytest.mark.parametrize(
    ("delay", "error", "message"),
    [
        (-1.0, ag.DomainError, r"events\[0\].delay is -1.0, but must be nonnegative and finite"),
        (np.inf, ag.DomainError, r"events\[0\].delay is inf, but must be nonnegative and finite"),
        (np.nan, ag.DomainError, r"events\[0\].delay is nan, but must be nonnegative and finite"),
        ("1", TypeError, r"events\[0\].delay is '1', but must be a number or callable as delay\(t, y, ...\)"),
        (True, TypeError, r"events\[0\].delay is True, but must be a number"),
        (lambda t, y: y, ag.ShapeError, r"result is of shape \(3,\), but must be of shape \(1,\); the time from the trigger"),
        (lambda t, y: None, TypeError, "result is None, but must be a number"),
        (lambda t, y: -t, ag.SolverError, r"bad_delay\); events\[0\]: the delay is -1; a delay must be nonnegative"),
        (lambda t, y: t / y[1], ag.SolverError, r"bad_delay\); events\[0\]: the delay is inf; a delay must be nonnegative"),
    ],
)
def test_what_is_no_delay_is_named(delay, error, message):
    with pytest.raises(error, match=message):
        solved(ag.Event(lambda t, y: t - 1.0, add, delay=delay))


def test_triggers_without_end_are_counted():
    many = ag.Event(lambda t, y: np.sin(100 * t), add, delay=10.0)
    with pytest.raises(ag.SolverError, match="more than max_events = 20 events"):
        solved(many, max_events=20)
