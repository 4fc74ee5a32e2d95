"""Describes events and stops of initial value problems as users give them, and checks them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np

from agrad._core import Array, DomainError
from agrad._ode.doses import DoseTable
from agrad._record.arguments import vector, whole

__all__ = ["NO_INTERRUPTIONS", "Event", "Interruptions", "interruptions_of", "with_functions"]


@dataclass(frozen=True)
class Event:
    """An event function of time and state, and the effect of the event.

    Attributes
    ----------
    root : callable
        ``root(t, y, *args)``, written with NumPy; a number. The event happens where this number crosses zero, or with a delay
        is triggered there.
    reset : callable, optional
        ``reset(t, y, *args)``: the state after the event, of y's shape. By default the state does not change.
    terminal : bool or int
        Whether the solution ends at the event; a number k means at the k-th event.
    direction : float
        1 for crossings from negative to positive, -1 for the others, 0 for both; of other numbers the sign counts.
    fires : {"crossing", "condition"}
        "crossing": where the solution crosses zero. "condition": wherever ``root(t, y, *args) > 0`` becomes true, also because
        a reset or a dose changes the state: it then happens at the same time. A trigger ``a > b`` of SBML is ``a - b``.
    initially : bool
        Of a condition: whether it counts as true before the initial time. With False the event happens at the initial time if
        the condition is true there, before doses at that time.
    priority : float
        Of events at the same time those of higher priority come first, then those that come first in `events`.
    values : {"execution", "trigger"}
        Which state `reset` gets where several events happen at a time, or after a delay: the present one, or that in which the
        event was triggered. States that `reset` returns as it got them stay as they are then. Its time is the present one.
    persistent : bool
        Of a condition: whether the event happens though the condition became false in between: by an event before it, at the
        same time, or during the delay.
    delay : callable or number, optional
        The time from the trigger to the event, a nonnegative number or ``delay(t, y, *args)`` at the trigger. Several triggers
        may wait at a time. `t_events` and `y_events` have the events, not the triggers. By default the event happens at its
        trigger. Where time decreases, the event is so much earlier.

    Raises
    ------
    TypeError
        (By the solve) `root` or `reset` is not callable or returns None; `root` returns a boolean (the event of ``y[0] > 0.5``
        is ``y[0] - 0.5``); `terminal`, `direction`, `priority`, `initially`, `persistent` or `delay` is of another type.
    ShapeError
        (By the solve) `root` or `delay` returns more than a number, or `reset` another number of states.
    DomainError
        (By the solve) `terminal` or the number `delay` is negative, `direction` is nan, `priority` is not finite, or a
        condition has a negative direction.
    ValueError
        (By the solve) `fires` or `values` is another word, or `initially` or `persistent` is False without a condition.
    SolverError
        (By the solve) there are more than `max_events` events, for example because resets become more and more frequent; or
        conditions make each other true without end (`endless_cascade`); or a delay is negative or not finite (`bad_delay`).

    Notes
    -----
    A zero at the initial time is no event, and neither is, for a crossing, a dose or a reset that changes the sign of `root`.
    Several events at the same time happen in their order. The time of a delayed event has derivatives through the trigger's
    time and through the delay. A callable with attributes `terminal`, `direction` or `reset`, as for SciPy, is an event, too.

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
    fires: str = "crossing"
    initially: bool = True
    priority: float = 0.0
    values: str = "execution"
    persistent: bool = True
    delay: Any = None


@dataclass(frozen=True)
class _SameDelay:
    """A delay that is the same number at each trigger."""

    value: Any

    def __call__(self, *_: Any) -> Any:
        return self.value


@dataclass(frozen=True)
class Interruptions:
    """Doses, events and stops of a problem, which end steps."""

    doses: DoseTable
    events: list[Event] | None
    stops: Any
    max_events: int


#: The interruptions of a problem without doses, events and stops; comparisons of t in the right-hand side still end steps.
NO_INTERRUPTIONS = Interruptions(DoseTable("", "doses", ()), None, np.zeros(0), 1)


def interruptions_of(function: str, doses: Any, events: Any, tstops: Any, max_events: int) -> Interruptions | None:
    """Returns doses, events and stops, checked; None where a problem has none of them."""
    most = whole(function, "max_events", max_events, least=1)
    if events is None and all(isinstance(each, tuple) and not each for each in (doses, tstops)):
        return None
    table, stops = DoseTable(function, "doses", doses), vector(function, "tstops", tstops)
    if events is None and not table.rows and not stops.size:
        return None
    return Interruptions(table, None if events is None else list(_events(function, events)), stops, most)


def _events(function: str, events: Any) -> Iterator[Event]:
    if callable(events) or isinstance(events, Event):
        events = [events]
    elif not isinstance(events, Sequence):
        raise TypeError(f"{function}: events is {events!r}, but must be callable, an agrad.Event or a sequence of these")
    for i, event in enumerate(events):
        if not isinstance(event, Event):
            if not callable(event):
                raise TypeError(
                    f"{function}: events[{i}] is {event!r}, but must be callable as event(t, y, ...) or an agrad.Event"
                )
            fields = {name: getattr(event, name) for name in ("reset", "terminal", "direction") if hasattr(event, name)}
            event = Event(event, **fields)
        for what in (event.root, event.reset):
            if what is not None and not callable(what):
                raise TypeError(f"{function}: events[{i}] has {what!r}, but must have callables of (t, y, ...)")
        name = f"{function}: events[{i}]"
        terminal, direction = _terminal(name, event.terminal), _direction(name, event.direction)
        _check_firing(name, event)
        if event.fires == "condition":
            if direction < 0:
                hint = "a condition becomes true where its function rises; negate the function"
                raise DomainError(f"{name}.direction is {direction}, but must be 0 or 1 where fires is 'condition'; {hint}")
            direction = 1
        priority, delay = _priority(name, event.priority), _delay(name, event.delay)
        yield replace(event, terminal=terminal, direction=direction, priority=priority, delay=delay)


def with_functions(event: Event, number: Callable[..., Any], state: Callable[..., Any]) -> Event:
    """Returns the event with other functions: `number` converts those whose result is a number, `state` the reset."""
    return replace(
        event,
        root=number(event.root),
        reset=None if event.reset is None else state(event.reset),
        delay=None if event.delay is None else number(event.delay),
    )


def _check_firing(name: str, event: Event) -> None:
    """Raises where the choices of an event do not belong together."""
    for field, known in (("fires", ("crossing", "condition")), ("values", ("execution", "trigger"))):
        if getattr(event, field) not in known:
            choices = " or ".join(map(repr, known))
            raise ValueError(f"{name}.{field} is {getattr(event, field)!r}, but must be {choices}")
    for field in ("initially", "persistent"):
        value = getattr(event, field)
        if not isinstance(value, (bool, np.bool_)):
            raise TypeError(f"{name}.{field} is {value!r}, but must be True or False")
        if not value and event.fires != "condition":
            raise ValueError(f"{name}.{field} is False, but must be True where fires is {event.fires!r}")


def _priority(name: str, priority: Any) -> float:
    if isinstance(priority, (bool, np.bool_)) or not isinstance(priority, Real):
        raise TypeError(f"{name}.priority is {priority!r}, but must be a number")
    number = float(priority)
    if not np.isfinite(number):
        raise DomainError(f"{name}.priority is {priority}, but must be finite")
    return number


def _delay(name: str, delay: Any) -> Callable[..., Any] | None:
    """Returns the delay as a function of time and state, or None where the event happens at its trigger."""
    if delay is None or callable(delay):
        return delay  # type: ignore[no-any-return]
    if isinstance(delay, (bool, np.bool_)) or not isinstance(delay, (Array, Real)):
        raise TypeError(f"{name}.delay is {delay!r}, but must be a number or callable as delay(t, y, ...)")
    if not isinstance(delay, Array) and not 0 <= float(delay) < np.inf:
        raise DomainError(f"{name}.delay is {delay}, but must be nonnegative and finite")
    return _SameDelay(delay)


def _terminal(name: str, terminal: Any) -> int:
    """Returns 0 where the event is not terminal, and k where the k-th crossing ends the solution."""
    try:
        count = operator.index(bool(terminal) if isinstance(terminal, np.bool_) else terminal)
    except TypeError:
        raise TypeError(f"{name}.terminal is {terminal!r}, but must be True, False or a count") from None
    if count < 0:
        raise DomainError(f"{name}.terminal is {count}, but must be True, False or a count")
    return count


def _direction(name: str, direction: Any) -> int:
    """Returns the sign of a direction, which may be any number, as in SciPy."""
    try:
        number = float(direction)
    except (TypeError, ValueError):
        raise TypeError(f"{name}.direction is {direction!r}, but must be a number") from None
    if np.isnan(number):
        raise DomainError(f"{name}.direction is nan, but must be positive, negative or 0")
    return int(np.sign(number))
