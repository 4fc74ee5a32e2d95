"""Doses, events and stops of initial value problems: what happens beside the right-hand side."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from agrad._core import Array, DomainError, EventOperation, ShapeError
from agrad._loops_body import keep
from agrad._ode_options import whole
from agrad._ode_record import RecordedSlope, real_values, vector
from agrad._ode_result import OdeResult
from agrad._structure import find_recording

__all__ = ["Dose", "DoseTable", "Event", "Happenings", "happenings"]


@dataclass(frozen=True)
class Dose:
    """An amount that a state gets at a time, at once or as an infusion; once or repeatedly.

    Attributes
    ----------
    time : float
        When it is given, or begins; not before the initial time. What is after the last output time is left out.
    state : int
        Which state gets it, counted from 0.
    amount : float
        How much.
    duration : float
        0 for a bolus: the amount is added at `time`. Else the rate amount / duration is added to the state's derivative from
        `time` to `time + duration`.
    interval : float
        Between two of repeated doses.
    count : int
        How many.

    Notes
    -----
    Times, amounts, durations and intervals may be recorded values: the solution is differentiable with respect to them. A lag
    is part of the time, a bioavailability a factor of the amount. Doses at one instant are given in their order.

    Examples
    --------
    >>> import agrad as ag
    >>> doses = [ag.Dose(0.0, 0, 100.0), ag.Dose(12.0, 0, 50.0, interval=12.0, count=3)]
    >>> solution = ag.solve_ivp(lambda t, y: -0.1 * y, (0.0, 48.0), [0.0], "Tsit5", [0.0, 12.0], doses=doses, rtol=1e-8)
    >>> print(solution.y.round(3))  # after the dose at that time
    [[100.     80.119]]
    """

    time: Any
    state: int
    amount: Any
    duration: Any = 0.0
    interval: Any = 0.0
    count: int = 1


@dataclass(frozen=True)
class Event:
    """A function of time and state whose zeros are found, and what follows.

    Attributes
    ----------
    root : callable
        ``root(t, y, *args)``, written with NumPy; a number. The event happens where it crosses zero.
    reset : callable, optional
        ``reset(t, y, *args)``: the state after the event, of y's shape. By default it stays.
    terminal : bool or int
        Whether the solution ends at the event, or at which one of these.
    direction : float
        1 for crossings from negative to positive, -1 for the others, 0 for both.

    Notes
    -----
    An event at the initial time, or where a dose or a reset carries the state across zero, is none. Several at one instant
    happen in their order. A callable with attributes of these names, as for SciPy, is an event as well.

    Examples
    --------
    >>> import agrad as ag
    >>> floor = ag.Event(lambda t, y: y[0], lambda t, y: [0.0, -0.5 * y[1]], direction=-1)
    >>> ball = ag.solve_ivp(lambda t, y: [y[1], -9.81], (0.0, 1.0), [1.0, 0.0], "Tsit5", events=floor)
    >>> print(ball.t_events[0].round(4))
    [0.4515 0.903 ]
    """

    root: Callable[..., Any]
    reset: Callable[..., Any] | None = None
    terminal: bool | int = False
    direction: float = 0.0


class DoseTable:
    """The rows of some doses: their states and kinds, and their numbers as parts of an argument."""

    def __init__(self, function: str, name: str, doses: Any) -> None:
        if isinstance(doses, Dose) or not isinstance(doses, Sequence):
            raise TypeError(f"{function}: {name} is {doses!r}, but must be a sequence of agrad.Dose")
        self.rows: list[tuple[int, bool]] = []
        self.times: list[Any] = []
        self.amounts: list[Any] = []
        self.durations: list[Any] = []
        for i, dose in enumerate(doses):
            self._add(function, f"{name}[{i}]", dose)
        self.times_move = any(isinstance(x, Array) for x in (*self.times, *self.durations))

    def _add(self, function: str, name: str, dose: Dose) -> None:
        if not isinstance(dose, Dose):
            raise TypeError(f"{function}: {name} is {dose!r}, but must be an agrad.Dose")
        try:
            state = operator.index(dose.state)
        except TypeError:
            raise TypeError(f"{function}: {name}.state is {dose.state!r}, but must be a whole number") from None
        fields = ("time", "amount", "duration", "interval")
        time, amount, duration, interval = (_number(function, f"{name}.{field}", getattr(dose, field)) for field in fields)
        is_infusion = isinstance(duration, Array) or float(duration[0]) != 0
        for k in range(whole(function, f"{name}.count", dose.count, least=1)):
            self.rows.append((state, is_infusion))
            self.times.append(time if k == 0 else time + k * interval)
            self.amounts.append(amount)
            self.durations.append(duration)

    @property
    def parts(self) -> list[Any]:
        """Times, amounts and durations, one after the other."""
        return [*_joined(self.times), *_joined(self.amounts), *_joined(self.durations)]


def _number(function: str, name: str, x: Any) -> Any:
    """A number, recorded or not, as a vector of one."""
    if np.size(x) != 1:
        raise ShapeError(f"{function}: {name} is of shape {np.shape(x)}, but must be a number")
    return np.reshape(x, (1,)) if isinstance(x, Array) else real_values(function, name, x).reshape(1)


def _joined(values: list[Any]) -> list[Any]:
    """The same values in one array where none is recorded."""
    return values if any(isinstance(x, Array) for x in values) else [np.concatenate([np.zeros(0), *values])]


def happenings(function: str, doses: Any, events: Any, tstops: Any, max_events: int) -> Happenings | None:
    """Doses, events and stops, checked; None where there are none."""
    most = whole(function, "max_events", max_events, least=1)
    table, stops = DoseTable(function, "doses", doses), vector(function, "tstops", tstops)
    if events is None and not table.rows and not stops.size:
        return None
    return Happenings(function, table, None if events is None else list(_events(function, events)), stops, most)


def _events(function: str, events: Any) -> Iterator[Event]:
    if callable(events) or isinstance(events, Event):
        events = [events]
    elif not isinstance(events, Sequence):
        raise TypeError(f"{function}: events is {events!r}, but must be callable, an agrad.Event or a sequence of these")
    for i, event in enumerate(events):
        if isinstance(event, Event):
            made = event
        elif callable(event):
            fields = {name: getattr(event, name) for name in ("reset", "terminal", "direction") if hasattr(event, name)}
            made = Event(event, **fields)
        else:
            raise TypeError(f"{function}: events[{i}] is {event!r}, but must be callable as event(t, y, ...) or an agrad.Event")
        for what in (made.root, made.reset):
            if what is not None and not callable(what):
                raise TypeError(f"{function}: events[{i}] has {what!r}, but must have callables of (t, y, ...)")
        name = f"{function}: events[{i}]"
        terminal, direction = _terminal(name, made.terminal), _direction(name, made.direction)
        yield Event(made.root, made.reset, terminal, direction)


def _terminal(name: str, terminal: Any) -> int:
    """0 for never, else at which of its events the solution ends."""
    try:
        count = operator.index(bool(terminal) if isinstance(terminal, np.bool_) else terminal)
    except TypeError:
        raise TypeError(f"{name}.terminal is {terminal!r}, but must be True, False or a count") from None
    if count < 0:
        raise DomainError(f"{name}.terminal is {count}, but must be True, False or a count")
    return count


def _direction(name: str, direction: Any) -> int:
    """The sign of a direction, for which SciPy takes any number."""
    try:
        number = float(direction)
    except (TypeError, ValueError):
        raise TypeError(f"{name}.direction is {direction!r}, but must be a number") from None
    if np.isnan(number):
        raise DomainError(f"{name}.direction is nan, but must be positive, negative or 0")
    return int(np.sign(number))


@dataclass(frozen=True)
class Happenings:
    """What happens beside the right-hand side of one problem."""

    function: str
    doses: DoseTable
    events: list[Event] | None
    stops: Any
    max_events: int

    def solve(
        self,
        fun: Callable[..., Any],
        y0: Any,
        t0: float,
        times: np.ndarray[Any, np.dtype[np.float64]],
        end: float | None,
        make_options: Callable[[int], Any],
        args: tuple[Any, ...],
    ) -> OdeResult:
        """Solves from t0 to `times`, and with events on to `end`; without it the last output is wherever the solution ends."""
        if not callable(fun):
            raise TypeError(f"{self.function}: fun is {fun!r}, but must be callable as fun(t, y, ...)")
        problem = _Problem(self, fun, vector(self.function, "y0", y0), t0, times, end, make_options, args)
        recording = find_recording(problem.parts)
        return problem.at_once() if recording is None else problem.recorded(recording)


class _Problem:
    """A problem whose functions are recorded."""

    def __init__(
        self,
        what: Happenings,
        fun: Callable[..., Any],
        y0: Any,
        t0: float,
        times: np.ndarray[Any, np.dtype[np.float64]],
        end: float | None,
        make_options: Callable[[int], Any],
        args: tuple[Any, ...],
    ) -> None:
        self.what, self.times, self.ends_anywhere = what, times, end is None
        events = what.events or []
        self.is_open = any(event.terminal for event in events)
        states = real_values(what.function, "y0", y0)
        self.n, self.options = states.size, make_options(states.size)
        until = times if end is None or not events or times[-1] == end else np.append(times, end)
        self.outputs = until.size

        def record(f: Callable[..., Any], result: str = "slope") -> RecordedSlope:
            return RecordedSlope(what.function, f, t0, states, args, result=result)

        self.slope = record(fun)
        self.roots = [record(event.root, "root") for event in events]
        self.resets = [None if event.reset is None else record(event.reset, "reset") for event in events]
        functions = [f for pair in zip(self.roots, self.resets, strict=True) for f in pair if f is not None]
        self.kept = [self.slope.bodies, *(f.bodies for f in functions)]
        numbers = [*self.slope.parameters, *what.doses.parts, what.stops, *(p for f in functions for p in f.parameters)]
        self.parts = [y0, np.array([t0]), until, *(np.ravel(x) for x in numbers)]

    def operation(self, hits: Sequence[int], reached: int = -1) -> EventOperation:
        """The solve, for so many hits of each event."""
        what = self.what
        events = [
            (root.program, None if reset is None else reset.program, int(event.direction), int(event.terminal))
            for event, root, reset in zip(what.events or [], self.roots, self.resets, strict=True)
        ]
        moves = what.doses.times_move or isinstance(what.stops, Array)
        rows, stops, count = what.doses.rows, what.stops.size, self.times.size
        return EventOperation(
            what.function,
            self.slope.program,
            self.n,
            self.outputs,
            self.options,
            rows,
            stops,
            events,
            what.max_events,
            moves,
            hits,
            reached,
            count,
        )

    def found(self) -> tuple[Any, ...]:
        """The solution for the values that the parts have now."""
        values = np.concatenate([real_values(self.what.function, "args", x) for x in self.parts])
        return self.operation([0] * len(self.roots)).solve(values)

    def at_once(self) -> OdeResult:
        states, reached, end, end_state, is_over, hits, stats = self.found()
        return self._result(states, reached, end, end_state, is_over, self._lists(hits), stats)

    def _lists(self, hits: Any) -> Callable[[], tuple[list[Any], list[Any]]]:
        times: list[Any] = [[] for _ in self.roots]
        states: list[Any] = [[] for _ in self.roots]
        for event, t, y in hits:
            times[event].append(t)
            states[event].append(y)
        lists = [np.array(x) for x in times], [np.reshape(x, (len(x), self.n)) for x in states]
        return lambda: lists

    def recorded(self, recording: Any) -> OdeResult:
        """The solution as an operation of the recording, with as many numbers as it has for the values of now."""
        counts, reached, is_over = [0] * len(self.roots), self.outputs, False
        if self.roots:
            _, reached, _, _, is_over, hits, _ = self.found()
            for event, _, _ in hits:
                counts[event] += 1
        is_cut = self.is_open and not self.ends_anywhere
        operation = self.operation(counts, min(reached, self.times.size) if is_cut else -1)
        for bodies in self.kept:
            keep(recording, bodies)
        flat = operation.record(np.concatenate([recording.array(x) for x in self.parts]))
        n, at = self.n, self.n * self.outputs
        states = np.transpose(np.reshape(flat[:at], (self.outputs, n)))
        total = sum(counts)
        times, hit_states = flat[at + 1 + n : at + 1 + n + total], np.reshape(flat[at + 1 + n + total :], (total, n))
        bounds = np.cumsum([0, *counts]).tolist()

        def lists() -> tuple[list[Any], list[Any]]:
            operation.expect_hits()
            cuts = [slice(begin, end) for begin, end in pairwise(bounds)]
            return [times[cut] for cut in cuts], [hit_states[cut] for cut in cuts]

        return self._result(states, reached, flat[at], flat[at + 1 : at + 1 + n], is_over, lists, {})

    def _result(
        self, states: Any, reached: int, end: Any, end_state: Any, is_over: bool, lists: Callable[..., Any], stats: Any
    ) -> OdeResult:
        count = min(reached, self.times.size)
        result = OdeResult(self.times[:count], states[:, :count], stats=stats)
        if self.ends_anywhere and self.is_open:
            # The two ends, wherever the second one is.
            first, last = np.reshape(states[:, 0], (self.n, 1)), np.reshape(end_state, (self.n, 1))
            result.t = np.concatenate([self.times[:1], np.reshape(end, (1,))])
            result.y = np.concatenate([first, last], axis=1)
        if is_over:
            result.status, result.message = 1, "A terminal event ended the solution."
        if self.what.events is not None:
            result._hits = lists
        result.describe_switch()
        return result
