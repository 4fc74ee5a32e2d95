"""Checks initial, final and output times, and converts them to increasing times: of s = -t where the user's times decrease."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, NoReturn

import numpy as np

from agrad._core import Array, Comparison, DomainError, ShapeError, check_initial_value_problem
from agrad._record.arguments import Values, as_given, real_values, vector
from agrad._record.structure import as_one

__all__ = ["Repeats", "Times", "times_after", "times_of"]


class Repeats(NamedTuple):
    """For each of ordered times, whether it is the first of its value, and the index of its value among the different ones."""

    is_first: np.ndarray[Any, Any]
    places: np.ndarray[Any, Any]


@dataclass(frozen=True)
class Times:
    """The times of an initial value problem, which increase; start, end and outputs may be recorded."""

    start: Any
    end: Any
    outputs: Any
    t0: float  # the values of start, end and outputs
    last: float
    values: Values
    has_t_eval: bool = True  # else the outputs are start and end
    is_backwards: bool = False  # whether these are times s = -t of the user's t
    #: For each output whether it is the state before doses at its time; None where none is.
    is_before: np.ndarray[Any, Any] | None = None

    @property
    def repeats(self) -> Repeats | None:
        """The indices of repeated output times; None where all times differ."""
        differs = self.values[1:] != self.values[:-1]
        if differs.all():
            return None
        is_first = np.append(True, differs)
        return Repeats(is_first, np.cumsum(is_first) - 1)

    @property
    def sign(self) -> float:
        """1 or -1: these times multiplied by the sign are the user's times."""
        return -1.0 if self.is_backwards else 1.0

    @property
    def starts_there(self) -> bool:
        """Whether the first output time is the initial time."""
        return bool(self.values[0] == self.t0)

    @property
    def are_recorded(self) -> bool:
        """Whether start or outputs are recorded."""
        return isinstance(self.start, Array) or isinstance(self.outputs, Array)

    def check_start(self, function: str, states: Values) -> None:
        """Raises where an integration cannot start from the states."""
        if self.values[-1] > self.t0:
            check_initial_value_problem(function, states, self.t0, self.values[-1:])

    def at(self, outputs: Any, values: Values) -> Times:
        """Returns the times with other output times."""
        return replace(self, outputs=outputs, values=values, has_t_eval=True, is_before=None)

    def plain_at(self, values: Values) -> Times:
        """Returns the times with other output times, and none of the times recorded."""
        return replace(self.at(values, values), start=self.t0, end=self.last)

    def turned(self) -> Times:
        """Returns the times of s = -t."""
        return Times(
            0.0 - self.start,
            0.0 - self.end,
            0.0 - self.outputs,
            0.0 - self.t0,
            0.0 - self.last,
            0.0 - self.values,
            self.has_t_eval,
            not self.is_backwards,
            self.is_before,
        )

    def distinct(self, repeats: Repeats) -> Times:
        """Returns the times without repeated output times; a time is before doses where one of its repeats is."""
        first, before = repeats.is_first, self.is_before
        if before is not None:
            before = np.isin(np.arange(np.count_nonzero(first)), repeats.places[before])
        return replace(self, outputs=self.outputs[np.flatnonzero(first)], values=self.values[first], is_before=before)

    def until(self, end: float, count: int | None = None) -> Times:
        """Returns the times up to another end, with the first output times or, without a count, the two ends."""
        if count is None:
            values = np.array([self.t0, end])
            outputs = np.concatenate([self.outputs[:1], [end]]) if isinstance(self.outputs, Array) else values
        else:
            outputs, values = self.outputs[:count], self.values[:count]
        before = None if self.is_before is None else self.is_before[:count]
        return replace(self, outputs=outputs, values=values, end=end, last=end, is_before=before)

    def before(self, stopped_at: float) -> Iterator[Times]:
        """Yields times that end before the time at which a solve failed, the longest first."""
        if not self.has_t_eval:  # the end is as close to the failure as a second solve reaches
            for part in (1 - 1e-9, 1 - 1e-6, 1 - 1e-3):
                if stopped_at > self.t0:
                    yield self.until(self.t0 + (stopped_at - self.t0) * part)
            return
        values = self.values
        for count in range(int(np.count_nonzero(values <= stopped_at)), int(np.count_nonzero(values == self.t0)), -1):
            yield self.until(float(values[count - 1]), count)


def times_of(function: str, t_span: Any, t_eval: Any, before: Any = False, *, freely: bool = True) -> Times:
    """Returns the times of a span and of output times within the span; with `freely` output times may be repeated."""
    t_span, t_eval = as_given(function, "t_span", t_span), as_given(function, "t_eval", t_eval)
    span, values = _checked(function, t_span, t_eval, freely=freely)
    t0, last = span.tolist()
    start, end = (t_span[0], t_span[1]) if isinstance(t_span, Array) else (t0, last)
    given = t_span if t_eval is None else t_eval
    outputs = given if isinstance(given, Array) else values
    if t_eval is not None:
        _stays_within(outputs, end, t0 < last)
    times = Times(start, end, outputs, t0, last, values, t_eval is not None, is_before=_before(function, before, values.size))
    return times if t0 < last else times.turned()


def _before(function: str, before: Any, count: int) -> np.ndarray[Any, Any] | None:
    """Returns a mask of the output times."""
    mask = np.asarray(before)
    if mask.dtype != bool:
        raise TypeError(f"{function}: before is {before!r}, but must be True, False, or one of these for each output time")
    if mask.shape not in ((), (count,)):
        raise ShapeError(f"{function}: before is of shape {mask.shape}, but must be of shape ({count},), as the output times")
    return np.broadcast_to(mask, (count,)) if mask.any() else None


def _stays_within(outputs: Any, end: Any, increases: bool) -> None:
    """Records a guard that the last output time stays within the span: else a compiled function records, and checks, again."""
    recorded = [x for x in (outputs, end) if isinstance(x, Array)]
    if recorded and recorded[0].recording.on_comparison == Comparison.guards:
        bool(outputs[-1] <= end if increases else outputs[-1] >= end)


def times_after(function: str, t0: Any, times: Any, states: Values) -> Times:
    """Returns the times; raises unless the output times follow t0 and an integration can start from the states."""
    times = vector(function, "times", times)
    t0 = as_one(t0)
    if np.size(t0) != 1:
        raise ShapeError(f"{function}: t0 is of shape {np.shape(t0)}, but must be a number")
    start = real_values(function, "t0", t0).item()
    values = real_values(function, "times", times) if isinstance(times, Array) else times
    check_initial_value_problem(function, states, start, values)
    return Times(t0 if isinstance(t0, Array) else start, times[-1], times, start, float(values[-1]), values)


def _checked(function: str, t_span: Any, t_eval: Any, *, freely: bool) -> tuple[Values, Values]:
    """Returns the values of the span and of the output times, which may begin with the initial time."""
    span = real_values(function, "t_span", t_span)
    if span.shape != (2,):
        raise ShapeError(f"{function}: t_span is of shape {span.shape}, but must be of shape (2,); initial and final time")
    t0, end = span.tolist()
    if not np.isfinite(span).all():
        hint = "; choose a late time and end the solution by a terminal event" if np.isinf(end) else ""
        raise DomainError(f"{function}: t_span is {(t0, end)}, but must be finite{hint if np.isfinite(t0) else ''}")
    if t0 == end:
        raise DomainError(f"{function}: t_span is {(t0, end)}, but must be of two different times")
    if t_eval is None:
        return span, span
    times = real_values(function, "t_eval", t_eval)
    if times.ndim != 1 or times.size == 0:
        raise ShapeError(f"{function}: t_eval is of shape {times.shape}, but must be a vector of one time or more")
    later, earlier = (times[1:], times[:-1]) if t0 < end else (times[:-1], times[1:])
    in_order = later >= earlier if freely else later > earlier
    first, last = (times[0], times[-1]) if t0 < end else (times[-1], times[0])
    low, high = min(t0, end), max(t0, end)
    if in_order.all() and low <= first and last <= high:
        return span, times
    outside = ~((low <= times) & (times <= high))
    _raise_misplaced(function, times, (t0, end), outside, np.append(False, ~in_order), "" if freely else " than")


def _raise_misplaced(
    function: str,
    times: Values,
    span: tuple[float, float],
    outside: np.ndarray[Any, Any],
    misplaced: np.ndarray[Any, Any],
    than: str,
) -> NoReturn:
    """Raises the error of the first time that is outside of the span or out of order."""
    k = int(np.flatnonzero(outside | misplaced)[0])
    name = f"{function}: t_eval[{k}] is {times[k]}, but must be"
    if outside[k]:
        raise DomainError(f"{name} within t_span = {span}")
    order = ("greater" if span[0] < span[1] else "less") if than else ("at least" if span[0] < span[1] else "at most")
    raise DomainError(f"{name} {order}{than} t_eval[{k - 1}] = {times[k - 1]}")
