"""What conditions and priorities mean, and their messages; outputs at events; events that did not happen."""

import copy
import pickle

import numpy as np
import pytest

import agrad as ag

METHODS = ["Tsit5", "Rodas5P", "BDF", "auto"]
every_method = pytest.mark.parametrize("method", METHODS)


def clock(t, y):
    return [1.0 + 0 * y[0], 0 * y[1], 0 * y[2]]


def condition(root, reset=None, **others):
    return ag.Event(root, reset, fires="condition", **others)


def solved(events, method="Tsit5", y0=(0.0, 0.0, 0.0), **others):
    return ag.solve_ivp(clock, (0.0, 2.0), y0, method, [1.0, 2.0], events=events, rtol=1e-9, atol=1e-9, **others)


def at_one(t, y):
    return t - 1.0


@every_method
def test_priorities_order_the_events_of_an_instant(method):
    append = [lambda t, y, k=k: [y[0], 10 * y[1] + k, y[2]] for k in (1, 2, 3)]

    def digits(fires, priorities):
        events = [ag.Event(at_one, f, fires=fires, priority=p) for f, p in zip(append, priorities, strict=True)]
        return solved(events, method).y[1, -1]

    for fires in ("crossing", "condition"):
        assert digits(fires, (0, 0, 0)) == 123
        assert digits(fires, (0, -1, 2.5)) == 312


@every_method
def test_a_cascade_comes_before_events_of_lower_priority(method):
    first = condition(at_one, lambda t, y: [y[0], 1.0, y[2]], priority=2)
    last = condition(at_one, lambda t, y: [y[0], y[1], 10 * y[2] + 1], priority=0)
    caused = condition(lambda t, y: y[1] - 0.5, lambda t, y: [y[0], y[1], 10 * y[2] + 2], priority=1)
    found = solved([last, caused, first], method)
    np.testing.assert_allclose(found.y[:, -1], [2.0, 1.0, 21.0], rtol=1e-9)
    assert [times.tolist() for times in found.t_events] == [[1.0]] * 3
    np.testing.assert_allclose(found.y_events[0], [[1.0, 1.0, 2.0]], rtol=1e-9)  # before it, after the others


@pytest.mark.parametrize(("persistent", "expected"), [(True, 1.0), (False, 0.0)])
def test_an_event_that_is_not_persistent_can_be_withdrawn(persistent, expected):
    first = condition(at_one, lambda t, y: [y[0], y[1], 5.0], priority=1)
    second = condition(lambda t, y: t - 1.0 - y[2], lambda t, y: [y[0], 1.0, y[2]], persistent=persistent)
    found = solved([second, first])
    assert found.y[1, -1] == expected
    assert len(found.t_events[0]) == expected


@every_method
def test_crossings_are_no_conditions(method):
    events = [ag.Event(lambda t, y: y[1] - 0.5, lambda t, y: [y[0], y[1], 1.0])]
    assert solved(events, method, doses=[ag.Dose(1.0, 1, 1.0)]).y[2, -1] == 0.0


def test_conditions_are_evaluated_after_all_doses_of_a_time():
    both = condition(lambda t, y: y[1] - y[2] - 0.5, lambda t, y: [y[0], -1.0, y[2]])
    doses = [ag.Dose(1.0, 1, 1.0), ag.Dose(1.0, 2, 1.0)]
    found = solved([both], doses=doses)
    assert found.y[1:, -1].tolist() == [1.0, 1.0]
    assert solved([both], doses=doses[:1]).y[1, -1] == -1.0
    last = ag.solve_ivp(clock, (0.0, 1.0), [0.0, 0.0, 0.0], "Tsit5", events=both, doses=doses[:1])
    assert last.y[1, -1] == -1.0  # at the last output, too


def test_a_condition_happens_once_until_it_is_false_again():
    count = condition(lambda t, y: y[1] - 0.5, lambda t, y: [y[0], y[1], y[2] + 1])
    doses = [ag.Dose(at, 1, amount) for at, amount in ((0.2, 1.0), (0.4, 1.0), (0.6, -2.0), (0.8, 1.0))]
    found = solved([count], doses=doses)
    assert found.y[2, -1] == 2.0
    np.testing.assert_allclose(found.t_events[0], [0.2, 0.8], rtol=1e-14)


def test_a_dose_at_the_start_makes_a_condition_true():
    count = condition(lambda t, y: y[1] - 0.5, lambda t, y: [y[0], y[1], y[2] + 1])
    assert solved([count], doses=[ag.Dose(0.0, 1, 1.0)]).y[2, -1] == 1.0
    assert solved([count], y0=(0.0, 1.0, 0.0)).y[2, -1] == 0.0
    start = condition(lambda t, y: y[1] - 0.5, lambda t, y: [y[0], y[1], y[2] + 1], initially=False)
    assert solved([start], y0=(0.0, 1.0, 0.0)).y[2, -1] == 1.0
    rising = condition(lambda t, y: t, lambda t, y: [y[0], y[1], y[2] + 1], initially=False)
    assert solved([rising]).y[2, -1] == 1.0  # t > 0 holds from the start on


def test_a_terminal_condition_ends_the_solution_at_a_dose():
    end = condition(lambda t, y: y[1] - 0.5, terminal=True)
    found = solved([end], doses=[ag.Dose(1.5, 1, 1.0)])
    assert found.status == 1
    assert found.t.tolist() == [1.0]
    assert found.t_events[0].tolist() == [1.5]


def test_a_cascade_without_end_is_named():
    up = condition(lambda t, y: 0.5 - y[1], lambda t, y: [y[0], 1.0, y[2]])
    down = condition(lambda t, y: y[1] - 0.5, lambda t, y: [y[0], 0.0, y[2]])
    with pytest.raises(ag.SolverError, match=r"the resets of events\[1\], events\[2\] make .* at the same time") as caught:
        solved([condition(at_one), up, down], doses=[ag.Dose(1.5, 1, 1.0)])
    assert (caught.value.code, caught.value.t) == ("endless_cascade", 1.5)


def test_a_function_that_is_undefined_after_a_jump_is_named():
    bad = condition(lambda t, y: np.log(1.0 - y[1]) - 5.0)
    with pytest.raises(ag.SolverError, match=r"events\[0\]: the event function is nan after a jump of the state"):
        solved([bad], doses=[ag.Dose(1.0, 1, 2.0)])


@every_method
def test_conditions_hold_backwards_in_time(method):
    reset = condition(lambda t, y: y[1] - 0.5, lambda t, y: [y[0], y[1], 1.0])
    at = condition(lambda t, y: 1.0 - t, lambda t, y: [y[0], 1.0, y[2]])
    found = ag.solve_ivp(clock, (2.0, 0.0), [0.0, 0.0, 0.0], method, events=[reset, at])
    np.testing.assert_allclose(found.y[:, -1], [-2.0, 1.0, 1.0], rtol=1e-6)


@pytest.mark.parametrize("method", ["Tsit5", "Rodas5P", "auto"])
@pytest.mark.parametrize("speed", [1.0, 0.7, 1.3, 3.1, 0.3])
def test_an_output_at_the_time_of_an_event_has_the_state_after_it(method, speed):
    event = ag.Event(lambda t, y: y[0] - speed, lambda t, y: [y[0], 1.0, y[2]])
    f = lambda t, y: [speed + 0 * y[0], 0 * y[1], y[1]]  # noqa: E731
    times = [0.5, 1.0 - 1e-9, 1.0, 1.0 + 1e-9, 2.0]

    def outputs(begin):
        return ag.solve_ivp(f, (0.0, 2.0), [begin, 0.0, 0.0], method, times, events=event, rtol=1e-12, atol=1e-13).y

    assert outputs(0.0)[1].tolist() == [0.0, 0.0, 1.0, 1.0, 1.0]
    moves = ag.jacobian(lambda x: outputs(x)[2])(0.0)  # the event comes earlier by 1 / speed
    np.testing.assert_allclose(moves, np.array([0.0, 0.0, 1.0, 1.0, 1.0]) / speed, rtol=1e-9)
    second = ag.hessian(lambda x: np.sum(outputs(x)[2]))(0.0)
    assert abs(second) < 1e-6


@pytest.mark.parametrize(
    ("event", "error", "message"),
    [
        (ag.Event(at_one, fires="always"), ValueError, r"events\[0\].fires is 'always', but must be 'crossing' or 'condition'"),
        (ag.Event(at_one, values="now"), ValueError, r"events\[0\].values is 'now', but must be 'execution' or 'trigger'"),
        (
            ag.Event(at_one, initially=False),
            ValueError,
            r"events\[0\].initially is False, but must be True where fires is 'crossing'",
        ),
        (ag.Event(at_one, persistent=False), ValueError, r"persistent is False, but must be True where fires is 'crossing'"),
        (condition(at_one, initially=0), TypeError, r"events\[0\].initially is 0, but must be True or False"),
        (condition(at_one, direction=-1), ag.DomainError, r"events\[0\].direction is -1, but must be 0 or 1 where fires is"),
        (ag.Event(at_one, priority="first"), TypeError, r"events\[0\].priority is 'first', but must be a number"),
        (ag.Event(at_one, priority=np.nan), ag.DomainError, r"events\[0\].priority is nan, but must be finite"),
    ],
)
def test_messages(event, error, message):
    with pytest.raises(error, match=message):
        solved([event])


def unhappened(x, what):
    found = ag.solve_ivp(clock, (0.0, 2.0), [x, 0.0, 0.0], "Tsit5", events=[at_one, lambda t, y: y[0] - 5.0])
    return what(found)


@pytest.mark.parametrize("what", [lambda s: s.t_events[1][0], lambda s: s.y_events[1][-1, 0], lambda s: s.t_events[1][:2][1]])
@pytest.mark.parametrize("transform", [lambda f: f, ag.grad, lambda f: ag.compile(ag.grad(f))])
def test_an_index_error_names_the_event_that_did_not_happen(what, transform):
    message = r"^solve_ivp: events\[1\] did not happen from t = 0.0 to t = 2.0, so t_events\[1\] and y_events\[1\] are empty$"
    with pytest.raises(IndexError, match=message):
        transform(lambda x: unhappened(x, what))(0.0)


def test_times_of_events_that_did_not_happen_are_arrays():
    times, states = unhappened(0.0, lambda s: (s.t_events[1], s.y_events[1]))
    assert (times.shape, states.shape) == ((0,), (0, 3))
    assert type(np.concatenate([times, [1.0]])) is np.ndarray
    assert np.sum(times) == 0.0
    assert copy.deepcopy(times).size == pickle.loads(pickle.dumps(times)).size == 0
    assert ag.grad(lambda x: unhappened(x, lambda s: np.sum(s.t_events[1]) + s.y[0, -1]))(0.0) == pytest.approx(1.0)
    f = ag.compile(lambda x: unhappened(x, lambda s: s.t_events[1]))
    assert f(0.0).shape == f(0.1).shape == (0,)


def test_backwards_and_of_structures_the_error_is_the_same():
    event = ag.Event(lambda t, y: y["a"][0] - 5.0)
    found = ag.solve_ivp(lambda t, y: {"a": -y["a"]}, (1.0, 0.0), {"a": np.ones(2)}, "Tsit5", events=event)
    for read in (lambda: found.t_events[0][0], lambda: found.y_events[0]["a"][0]):
        with pytest.raises(IndexError, match=r"events\[0\] did not happen from t = 1.0 to t = 0.0"):
            read()
