"""What doses and events refuse, and what stops a solve with events."""

import gc
import os
import re
from pathlib import Path

import numpy as np
import pytest

import agrad as ag


def resident_kilobytes():
    """What the process has in memory now, not at most so far."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


def decay(t, y, k):
    return -k * y


def sentence(text):
    return pytest.raises((ag.DomainError, ag.ShapeError, TypeError, ag.SolverError), match=re.escape(text))


@pytest.mark.parametrize(
    ("dose", "text"),
    [
        (ag.Dose(-1.0, 0, 1.0), "solve_ivp: doses[0].time is -1, but must be t0 = 0 or later"),
        (ag.Dose(np.nan, 0, 1.0), "solve_ivp: doses[0].time is nan, but must be finite"),
        (ag.Dose(0.0, 1, 1.0), "solve_ivp: doses[0].state is 1, but must be one of 0 to 0"),
        (ag.Dose(0.0, -1, 1.0), "solve_ivp: doses[0].state is -1, but must be one of 0 to 0"),
        (ag.Dose(0.0, 0.5, 1.0), "solve_ivp: doses[0].state is 0.5, but must be a whole number"),
        (ag.Dose(0.0, 0, np.inf), "solve_ivp: doses[0].amount is inf, but must be finite"),
        (ag.Dose(0.0, 0, 1.0, -1.0), "solve_ivp: doses[0].duration is -1, but must be positive and finite"),
        (ag.Dose(0.0, 0, [1.0, 2.0]), "solve_ivp: doses[0].amount is of shape (2,), but must be a number"),
        (ag.Dose(0.0, 0, 1.0, count=0), "solve_ivp: doses[0].count is 0, but must be"),
        ((0.0, 0, 1.0), "solve_ivp: doses[0] is (0.0, 0, 1.0), but must be an agrad.Dose"),
    ],
)
def test_doses_are_checked(dose, text):
    with sentence(text):
        ag.solve_ivp(decay, (0, 1), [1.0], "Tsit5", args=(1.0,), doses=[dose])


@pytest.mark.parametrize(
    ("event", "text"),
    [
        (3, "solve_ivp: events is 3, but must be"),
        ([3], "solve_ivp: events[0] is 3, but must be callable as event(t, y, ...) or an agrad.Event"),
        (ag.Event(lambda t, y, k: y, terminal=-1), "solve_ivp: events[0].terminal is -1, but must be True, False or a count"),
        (ag.Event(lambda t, y, k: y, terminal=2.7), "solve_ivp: events[0].terminal is 2.7, but must be True, False or a count"),
        (ag.Event(lambda t, y, k: y, terminal=None), "solve_ivp: events[0].terminal is None, but must be"),
        (ag.Event(lambda t, y, k: y, direction=np.nan), "solve_ivp: events[0].direction is nan, but must be positive"),
        (ag.Event(lambda t, y, k: y, direction=None), "solve_ivp: events[0].direction is None, but must be a number"),
        (
            ag.Event(lambda t, y, k: np.zeros(2)),
            "result is of shape (2,), but must be of shape (1,); an event happens where the number is zero",
        ),
        (ag.Event(lambda t, y, k: y[0], lambda t, y, k: np.zeros(2)), "but must be of shape (1,); one entry for each state"),
        (ag.Event(lambda t, y, k: y[0] - 0.5, lambda t, y, k: None), "result is None, but must be the state after the event"),
        (ag.Event(lambda t, y, k: np.log(y[0] - 0.5)), "(not_finite); events[0] is nan at t = "),
        (
            ag.Event(lambda t, y, k: y[0] - 0.5, lambda t, y, k: y / 0.0),
            "(not_finite); events[0]: the state after its reset is not",
        ),
        (ag.Event(lambda t, y, k: np.sin(4e3 * t)), "(too_many_events); events[0]: more than max_events = 1000 events"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
def test_events_are_checked(event, text):
    with sentence(text):
        ag.solve_ivp(decay, (0, 1), [1.0], "Tsit5", args=(1.0,), events=event, max_step=5e-4)


@pytest.mark.parametrize("method", ["Tsit5", "Rodas4", "BDF"])
def test_bounces_that_accumulate_are_an_error(method):
    floor = ag.Event(lambda t, y: y[0], lambda t, y: [0.0, 0.5 * np.abs(y[1])], direction=-1)
    with pytest.raises(ag.SolverError, match="the event happens again and again at the same time") as caught:
        ag.solve_ivp(lambda t, y: [y[1], -9.81], (0.0, 5.0), [1.0, 0.0], method, events=floor, rtol=1e-8, atol=1e-10)
    assert caught.value.code == "events_accumulate"
    # A bounce that is as high as the tolerance takes 9e-6, and those below it are noise to CVODES.
    assert caught.value.t == pytest.approx(3 * np.sqrt(2 / 9.81), abs=9e-6)


@pytest.mark.parametrize("c", [1.0, 0.9, 1.1, 1.0001])
def test_an_event_with_a_flat_zero_happens_once(c):
    event = ag.Event(lambda t, y: (t - c) ** 3)
    found = ag.solve_ivp(lambda t, y: 0 * y, (0.0, 2.0), [0.0], "Tsit5", events=event).t_events[0]
    np.testing.assert_allclose(found, [c], rtol=1e-5)


def test_an_event_that_only_touches_zero_has_no_derivative():
    def touch(c):
        event = ag.Event(lambda t, y, c: (t - c) ** 3)
        return ag.solve_ivp(lambda t, y, c: 0 * y, (0.0, 2.0), [0.0], "Tsit5", args=(c,), events=event).t_events[0][0]

    assert touch(1.0) == pytest.approx(1.0, abs=1e-4)
    with pytest.raises(NotImplementedError, match=r"events\[0\] touches zero at t = .* without crossing it"):
        ag.grad(touch)(1.0)


def test_events_are_for_the_adjoint():
    with pytest.raises(ValueError, match="sensitivities is 'forward', but must be 'adjoint' where there are events"):
        ag.solve_ivp(decay, (0, 1), [1.0], "BDF", args=(1.0,), events=lambda t, y, k: y[0], sensitivities="forward")


def test_what_an_event_raises_comes_out():
    class OwnError(Exception):
        pass

    def fails(t, y):
        raise OwnError("here")

    with pytest.raises(OwnError, match="here"):
        ag.solve_ivp(lambda t, y: -y, (0, 1), [1.0], "Tsit5", events=fails)


@pytest.mark.thread_unsafe(reason="measures the memory of the process")
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory in use is read from /proc")
def test_failing_solves_leave_no_memory_behind():
    event = ag.Event(lambda t, y, k: np.sin(200.0 * t))

    def fails(k):
        return ag.solve_ivp(
            decay, (0, 1), [1.0], "Tsit5", args=(k,), events=event, max_events=5, max_step=0.01, doses=[ag.Dose(0.01, 0, k)]
        ).y[0, 0]

    fast = ag.compile(lambda k, w: ag.solve_ivp(decay, (0, 1), [1.0], "Tsit5", args=(k,), doses=[ag.Dose(w, 0, k)]).y[0, -1])
    fast(1.0, 0.5)

    def round_(count):
        for _ in range(count):
            with pytest.raises(ag.SolverError):
                ag.grad(fails)(1.0)
            with pytest.raises(ag.DomainError):
                fast(1.0, -1.0)
        gc.collect()
        return resident_kilobytes()

    before = round_(200)
    assert round_(1000) - before < 4000
