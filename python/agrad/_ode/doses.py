"""Describes doses of initial value problems as users give them, and checks them."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from agrad._core import Array, DomainError, DoseKind, ShapeError
from agrad._record.arguments import check_one_of, real_values, whole
from agrad._record.structure import as_one

__all__ = ["Dose", "DoseTable"]


@dataclass(frozen=True)
class Dose:
    """An amount that is added to a state, at once or as an infusion, or that replaces or multiplies a state; also repeatedly.

    Attributes
    ----------
    time : float
        The time of the dose, or the beginning of the infusion, in the unit of t; not before the initial time. Doses after the
        last output time are left out.
    state : int or sequence of int
        The index of the state, from 0, or the indices of several states.
    amount : float or shape (states,)
        The amount, in the unit of the state (a factor without unit where `kind` is "scale"); may be negative. For several
        states an amount for each, or one for all.
    duration : float
        0 for a bolus: the amount is added at `time`. Else the rate amount / duration, in the state's unit per unit of t, is
        added to the state's derivative from `time` to `time + duration`; positive.
    interval : float
        The time between two repeated doses, in the unit of t.
    count : int
        The number of doses, 1 or more.
    kind : {"add", "set", "scale"}
        Whether the amount is added to the state, replaces it, or multiplies it, as the events 1, 5 and 6 of rxode2 do. A reset
        at known times (EVID 3 of NONMEM) sets all states: ``Dose(24.0, range(n), 0.0, kind="set")``; infusions go on. Only
        "add" has a duration.

    Raises
    ------
    DomainError
        (By the solve) a number is not finite, a time lies before the initial time, `state` is no index of a state, `duration`
        is negative, `count` is below 1, or a dose that sets or scales has a duration.
    ShapeError
        (By the solve) an attribute is an array; `amount` may have an entry for each of several states.
    TypeError
        (By the solve) an attribute is no real number, or `state` or `count` is no whole number.
    ValueError
        (By the solve) time decreases, or `kind` is another word.

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
    state: int | Sequence[int]
    amount: Any
    duration: Any = 0.0
    interval: Any = 0.0
    count: int = 1
    kind: str = "add"


class DoseTable:
    """Doses as a table with an entry for each dose: the state, the kind, and the numbers as parts of an argument."""

    def __init__(self, function: str, name: str, doses: Any) -> None:
        if isinstance(doses, Dose) or not isinstance(doses, Sequence):
            raise TypeError(f"{function}: {name} is {doses!r}, but must be a sequence of agrad.Dose")
        self.rows: list[tuple[int, bool, DoseKind]] = []
        self.times: list[Any] = []
        self.amounts: list[Any] = []
        self.durations: list[Any] = []
        for i, dose in enumerate(doses):
            self._add(function, f"{name}[{i}]", dose)
        self.times_move = any(isinstance(x, Array) for x in (*self.times, *self.durations))

    def _add(self, function: str, name: str, dose: Dose) -> None:
        if not isinstance(dose, Dose):
            raise TypeError(f"{function}: {name} is {dose!r}, but must be an agrad.Dose")
        check_one_of(function, f"{name}.kind", dose.kind, DoseKind.__members__)
        states = _states(function, name, dose.state)
        fields = ("time", "duration", "interval")
        time, duration, interval = (_number(function, f"{name}.{field}", getattr(dose, field)) for field in fields)
        amounts = _amounts(function, name, dose.amount, states)
        is_infusion = isinstance(duration, Array) or float(duration[0]) != 0
        if is_infusion and dose.kind != "add":
            raise DomainError(f"{function}: {name}.duration is given, but must not be where kind is {dose.kind!r}")
        for k in range(whole(function, f"{name}.count", dose.count, least=1)):
            for state, amount in zip(states, amounts, strict=True):
                self.rows.append((state, is_infusion, DoseKind.__members__[dose.kind]))
                self.times.append(time if k == 0 else time + k * interval)
                self.amounts.append(amount)
                self.durations.append(duration)

    @property
    def parts(self) -> list[Any]:
        """All times, then all amounts, then all durations."""
        return [*_joined(self.times), *_joined(self.amounts), *_joined(self.durations)]


def _states(function: str, name: str, given: Any) -> list[int]:
    """Returns the indices of the states of a dose."""
    try:
        return (
            [operator.index(each) for each in given] if isinstance(given, (Sequence, np.ndarray)) else [operator.index(given)]
        )
    except TypeError:
        raise TypeError(f"{function}: {name}.state is {given!r}, but must be a whole number, or a sequence of these") from None


def _amounts(function: str, name: str, given: Any, states: list[int]) -> list[Any]:
    """Returns the amount of each state."""
    x = as_one(given)
    if len(states) == 1 or np.ndim(x) == 0:
        return [_number(function, f"{name}.amount", x)] * len(states)
    if np.shape(x) != (len(states),):
        raise ShapeError(f"{function}: {name}.amount is of shape {np.shape(x)}, but must be a number, or one for each state")
    return [_number(function, f"{name}.amount[{i}]", x[i]) for i in range(len(states))]


def _number(function: str, name: str, x: Any) -> Any:
    """Returns a number, recorded or not, as a vector of length 1."""
    x = as_one(x)
    if np.size(x) != 1:
        raise ShapeError(f"{function}: {name} is of shape {np.shape(x)}, but must be a number")
    return np.reshape(x, (1,)) if isinstance(x, Array) else real_values(function, name, x).reshape(1)


def _joined(values: list[Any]) -> list[Any]:
    """Returns the values, joined in a single array where none of them is recorded."""
    return values if any(isinstance(x, Array) for x in values) else [np.concatenate([np.zeros(0), *values])]
