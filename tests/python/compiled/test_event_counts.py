"""A compiled solve that was recorded without an event, or without an output before its end, notices events in later runs."""

import numpy as np
import pytest

import agrad as ag


def outputs_before_the_end(c):
    event = ag.Event(lambda t, y: y[0] - 1.5, terminal=True)
    solution = ag.solve_ivp(lambda t, y: [1.0 + 0 * y[0]], (0.0, 2.0), [c], t_eval=[1.0, 2.0], events=[event])
    return np.sum(solution.y) + 0 * c


def times_of_events(c):
    event = ag.Event(lambda t, y: y[0] - 1.5)
    return np.sum(ag.solve_ivp(lambda t, y: [1.0 + 0 * y[0]], (0.0, 2.0), [c], events=[event]).t_events[0]) + 0 * c


def number_of_events(c):
    event = ag.Event(lambda t, y: y[0] - 1.5)
    return len(ag.solve_ivp(lambda t, y: [1.0 + 0 * y[0]], (0.0, 2.0), [c], events=[event]).t_events[0]) + 0.0 * c


CASES = [(outputs_before_the_end, 1.4, -3.0), (times_of_events, -3.0, 0.0), (number_of_events, -3.0, 0.0)]


@pytest.mark.parametrize(("function", "first", "second"), CASES)
def test_a_later_run_with_an_event_is_not_silently_zero(function, first, second):
    for compiled in (ag.compile(function), ag.compile(ag.grad(function))):
        compiled(first)
        with pytest.raises(ag.SolverError, match="event"):
            compiled(second)


@pytest.mark.parametrize(("function", "first", "second"), CASES)
def test_a_later_element_of_a_scan_is_not_silently_zero(function, first, second):
    with pytest.raises(ag.SolverError, match="event"):
        ag.scan(lambda carry, x: (carry, function(x)), 0.0, np.array([first, second]))


@pytest.mark.parametrize("method", ["auto", "BDF"])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_later_output_times_stay_within_the_span(method, sign):
    def states(times):
        return np.sum(ag.solve_ivp(lambda t, y: -sign * y, (0.0, sign * 3.0), [1.0], method, times).y)

    for compiled in (ag.compile(states), ag.compile(ag.grad(states))):
        compiled(sign * np.array([1.0, 2.0, 3.0]))
        compiled(sign * np.array([1.0, 2.0, 2.5]))
        with pytest.raises(ag.DomainError, match="t_eval"):
            compiled(sign * np.array([1.0, 2.0, 30.0]))
