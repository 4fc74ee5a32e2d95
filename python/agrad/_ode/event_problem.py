"""Records the functions of a problem with doses, events and stops, and solves at once or records the solve."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from agrad._core import Array, EventOperation, SolveProgress
from agrad._loops.body import keep
from agrad._ode.arguments import real_values, vector
from agrad._ode.events import Happenings
from agrad._ode.given import GivenProblem
from agrad._ode.record import PosedProblem, RecordedSlope, named_by_time, stays_equal
from agrad._ode.result import OdeResult
from agrad._ode.statistics import Statistics
from agrad._record.structure import find_recording

__all__ = ["EventProblem"]


def _same(lists: tuple[list[Any], list[Any]]) -> tuple[list[Any], list[Any]]:
    return lists


def _with_end(function: str, times: Any, end: Any) -> Any:
    """Returns the times, followed by the end where the last time is another."""
    if real_values(function, "t_eval", times)[-1] != real_values(function, "t_span", end).item():
        return np.concatenate([times, np.reshape(end, (1,))])
    stays_equal(times[-1], end)
    return times


class EventProblem:
    """A problem from t0 to the last of `times`, or with events to `end`; without `end` a terminal event moves the last output.

    All these times may be recorded.
    """

    def __init__(
        self,
        problem: GivenProblem,
        happenings: Happenings,
        t0: Any,
        times: Any,
        end: Any,
        progress: SolveProgress | None,
    ) -> None:
        function = problem.function
        self.times_move = isinstance(t0, Array) or isinstance(times, Array)
        start = float(real_values(function, "t0", t0).item())
        self.solver = named_by_time(function, problem.is_backwards)
        self.function, self.what, self.times, self.ends_anywhere = function, happenings, times, end is None
        y0, events = vector(function, "y0", problem.y0), happenings.events or []
        self.is_open = any(event.terminal for event in events)
        states = real_values(function, "y0", y0)
        self.n, self.options = states.size, problem.make_options(states.size)
        until = times if end is None or not events else _with_end(function, times, end)
        start = real_values(function, "t0", t0).item()
        self.outputs, self.times_move = until.size, isinstance(t0, Array) or isinstance(until, Array)
        self.progress = progress

        def record(f: Callable[..., Any], result: str = "slope") -> RecordedSlope:
            return RecordedSlope(function, f, start, states, problem.args, all_numbers=self.options.same_steps, result=result)

        self.slope = record(problem.fun)
        self.roots = [record(event.root, "root") for event in events]
        self.resets = [None if event.reset is None else record(event.reset, "reset") for event in events]
        functions = [f for pair in zip(self.roots, self.resets, strict=True) for f in pair if f is not None]
        self.kept = [self.slope.bodies, *(f.bodies for f in functions)]
        numbers = [
            *self.slope.parameters,
            *happenings.doses.parts,
            happenings.stops,
            *(p for f in functions for p in f.parameters),
        ]
        self.parts = [y0, np.reshape(t0, (1,)), until, *(np.ravel(x) for x in numbers)]
        self.uncounted = self.operation([0] * len(self.roots))  # for solves at once, with any number of hits
        self.posed = PosedProblem(function, self.uncounted, self.parts)

    def solve(self) -> OdeResult:
        recording = find_recording(self.parts)
        return self.at_once() if recording is None else self.recorded(recording)

    def operation(self, hits: Sequence[int], reached: int = -1) -> EventOperation:
        """Returns the solve as an operation, for given numbers of hits of each event."""
        what = self.what
        events = [
            (root.program, None if reset is None else reset.program, int(event.direction), int(event.terminal))
            for event, root, reset in zip(what.events or [], self.roots, self.resets, strict=True)
        ]
        moves = self.times_move or what.doses.times_move or isinstance(what.stops, Array)
        rows, stops, count = what.doses.rows, what.stops.size, self.times.size
        return EventOperation(
            self.solver,
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
            self.progress,
        )

    def found(self, differentiated: bool = False) -> tuple[Any, ...]:
        """Solves for the present values of the parts, with the steps of a solve with derivatives or without."""
        return self.uncounted.solve(self.posed.values(), differentiated)

    def at_once(self) -> OdeResult:
        states, reached, end, end_state, is_over, hits = self.found()
        return self._result(states, reached, end, end_state, is_over, self._lists(hits))

    def _lists(self, hits: Any) -> Callable[[], tuple[list[Any], list[Any]]]:
        times: list[Any] = [[] for _ in self.roots]
        states: list[Any] = [[] for _ in self.roots]
        for event, t, y in hits:
            times[event].append(t)
            states[event].append(y)
        lists = [np.array(x) for x in times], [np.reshape(x, (len(x), self.n)) for x in states]
        return partial(_same, lists)

    def recorded(self, recording: Any) -> OdeResult:
        """Records the solve as an operation, whose result has the size of the solution for the present values."""
        counts, reached, is_over = [0] * len(self.roots), self.outputs, False
        if self.roots:
            _, reached, _, _, is_over, hits = self.found(differentiated=True)
            for event, _, _ in hits:
                counts[event] += 1
        is_cut = self.is_open and not self.ends_anywhere
        same = not self.roots  # then the size does not depend on the values
        counted = min(reached, self.times.size) if is_cut else -1
        operation = self.uncounted if same else self.operation(counts, counted)
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

        return self._result(states, reached, flat[at], flat[at + 1 : at + 1 + n], is_over, lists, operation)

    def _result(
        self,
        states: Any,
        reached: int,
        end: Any,
        end_state: Any,
        is_over: bool,
        lists: Callable[..., Any],
        operation: EventOperation | None = None,
    ) -> OdeResult:
        count, counted = min(reached, self.times.size), operation or self.uncounted
        result = OdeResult(self.times[:count], states[:, :count], stats=Statistics(counted.statistics))
        if self.ends_anywhere and self.is_open:
            # Without t_eval the outputs are the initial time and the end that was reached.
            first, last = np.reshape(states[:, 0], (self.n, 1)), np.reshape(end_state, (self.n, 1))
            result.t = np.concatenate([self.times[:1], np.reshape(end, (1,))])
            result.y = np.concatenate([first, last], axis=1)
        if is_over:
            result.status, result.message = 1, "A terminal event ended the solution."
        if self.what.events is not None:
            result._hits = lists
        return result
