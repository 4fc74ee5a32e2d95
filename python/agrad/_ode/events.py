"""Doses, events and stops of initial value problems: what happens beside the right-hand side, as users give it."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from agrad._core import Array, DomainError, ShapeError
from agrad._ode.options import whole
from agrad._ode.record import real_values, vector
from agrad._record.structure import as_one

__all__ = ["NOTHING_HAPPENS", "Dose", "DoseTable", "Event", "Happenings", "happenings"]


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
    x = as_one(x)
    if np.size(x) != 1:
        raise ShapeError(f"{function}: {name} is of shape {np.shape(x)}, but must be a number")
    return np.reshape(x, (1,)) if isinstance(x, Array) else real_values(function, name, x).reshape(1)


def _joined(values: list[Any]) -> list[Any]:
    """The same values in one array where none is recorded."""
    return values if any(isinstance(x, Array) for x in values) else [np.concatenate([np.zeros(0), *values])]


@dataclass(frozen=True)
class Happenings:
    """What happens beside the right-hand side of one problem."""

    doses: DoseTable
    events: list[Event] | None
    stops: Any
    max_events: int


#: Beside what the right-hand side says itself.
NOTHING_HAPPENS = Happenings(DoseTable("", "doses", ()), None, np.zeros(0), 1)


def happenings(function: str, doses: Any, events: Any, tstops: Any, max_events: int) -> Happenings | None:
    """Doses, events and stops, checked; None where there are none."""
    most = whole(function, "max_events", max_events, least=1)
    table, stops = DoseTable(function, "doses", doses), vector(function, "tstops", tstops)
    if events is None and not table.rows and not stops.size:
        return None
    return Happenings(table, None if events is None else list(_events(function, events)), stops, most)


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
