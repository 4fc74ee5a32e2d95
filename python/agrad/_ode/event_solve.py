"""Records a posed problem with doses, events and stops, and solves at once or as an operation of the program around it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from agrad._core import Array, Comparison, EventFiring, SolveOperation, SolveProgress, event_operation, solve_events
from agrad._ode.events import NO_INTERRUPTIONS, Event
from agrad._ode.problem import InitialValueProblem
from agrad._ode.record import RecordedFunction, joined, naming_lines, stays_equal
from agrad._ode.recorded_solve import RecordedSolve
from agrad._ode.result import OdeResult, named_hits
from agrad._ode.statistics import Statistics
from agrad._ode.times import Times
from agrad._record.arguments import real_values

__all__ = ["EventSolve"]


def _same(lists: tuple[list[Any], list[Any]]) -> tuple[list[Any], list[Any]]:
    return lists


def _firing(event: Event, reset: RecordedFunction | None) -> EventFiring:
    kept = [] if reset is None else reset.kept
    is_condition, sees_trigger = event.fires == "condition", event.values == "trigger"
    return EventFiring(is_condition, event.initially, event.priority, event.persistent, sees_trigger, kept)


def _require(end: Any) -> None:
    """Keeps the solve in programs whose results have none of its numbers, so that each run checks their count.

    A program has the operations that its results and the conditions of its path need.
    """
    if isinstance(end, Array) and end.recording.on_comparison == Comparison.guards:
        bool(end == end)


def _with_end(times: Times) -> Any:
    """Returns the output times, followed by the end where the last output time is another."""
    if times.values[-1] != times.last:
        return np.concatenate([times.outputs, np.reshape(times.end, (1,))])
    stays_equal(times.outputs[-1], times.end)
    return times.outputs


class EventSolve(RecordedSolve):
    """A solve to the last output time, or with events to the end; without `t_eval` a terminal event moves the last output.

    `slope` is the recorded right-hand side, where there is a recording of it, and `recorded` records an event's function or
    returns a recording: of a function, "root", "reset" or "delay", and the event's number. `active` are the parameters of the
    right-hand side that have derivatives, empty for all.
    """

    def __init__(
        self,
        problem: InitialValueProblem,
        progress: SolveProgress | None = None,
        slope: RecordedFunction | None = None,
        recorded: Callable[[Callable[..., Any], str, int], RecordedFunction] | None = None,
        active: Sequence[bool] = (),
    ) -> None:
        what, times = problem.interruptions or NO_INTERRUPTIONS, problem.times
        self.problem, self.what, self.times, self.progress = problem, what, times, progress
        self.events, self.n = what.events or [], problem.states.size
        self.is_open = any(event.terminal for event in self.events)
        until = _with_end(times) if self.events and times.has_t_eval else times.outputs
        self.before = [] if times.is_before is None else np.flatnonzero(times.is_before).tolist()
        self.outputs, self.times_move = until.size, isinstance(times.start, Array) or isinstance(until, Array)
        self.active = active
        recorded = recorded or self._recorded
        self.slope = slope or self._recorded(problem.f, "slope")
        self.roots = [recorded(event.root, "root", e) for e, event in enumerate(self.events)]
        self.resets = [
            None if event.reset is None else recorded(event.reset, "reset", e) for e, event in enumerate(self.events)
        ]
        self.delays = [
            None if event.delay is None else recorded(event.delay, "delay", e) for e, event in enumerate(self.events)
        ]
        others = [f for each in zip(self.roots, self.resets, self.delays, strict=True) for f in each if f is not None]
        self.functions = [self.slope, *others]
        numbers = [*self.slope.parameters, *what.doses.parts, what.stops, *(p for f in others for p in f.parameters)]
        #: The parts of the argument as they are; those of `parts` are vectors.
        self.whole = [problem.y0, np.reshape(times.start, (1,)), until, *numbers]
        parts = [*self.whole[:3], *(np.ravel(x) for x in numbers)]
        super().__init__(problem.function, self._operation([0] * len(self.roots)), parts)

    def _recorded(self, f: Callable[..., Any], result: str, _: int = 0) -> RecordedFunction:
        problem = self.problem
        return RecordedFunction(
            problem.function,
            f,
            problem.times.t0,
            [problem.states],
            problem.args,
            all_numbers=problem.method.same_steps,
            result=result,
            finds_jumps=result == "slope" and problem.holds_switches,
        )

    def states(self) -> Any:
        """Returns the states, shape (times, states), recorded if a part is recorded."""
        return np.transpose(self.result().y)

    def result(self) -> OdeResult:
        """Returns the result, recorded if a part is recorded."""
        recording, argument = joined(self.parts, self.functions)
        with naming_lines(self.functions):
            return self._at_once(argument) if recording is None else self._recorded_result(argument)

    def _operation(self, hits: Sequence[int], reached: int = -1) -> SolveOperation:
        """Returns the solve as an operation, for given numbers of hits of each event."""
        what = self.what
        events = [
            (
                root.program,
                None if reset is None else reset.program,
                None if delay is None else delay.program,
                int(event.direction),
                int(event.terminal),
                _firing(event, reset),
            )
            for event, root, reset, delay in zip(self.events, self.roots, self.resets, self.delays, strict=True)
        ]
        return event_operation(
            self.problem.solver,
            self.slope.program,
            self.n,
            self.outputs,
            self.problem.method,
            what.doses.rows,
            what.stops.size,
            events,
            what.max_events,
            self.times_move or what.doses.times_move or isinstance(what.stops, Array),
            isinstance(self.problem.y0, Array),
            hits,
            reached,
            self.times.values.size,
            self.problem.holds_switches,
            self.before,
            self.active,
            progress=self.progress,
        )

    def _at_once(self, argument: Any) -> OdeResult:
        states, reached, end, end_state, is_over, hits, before = solve_events(self.operation, argument, False)
        times: list[Any] = [[] for _ in self.roots]
        at: list[Any] = [[] for _ in self.roots]
        for event, t, y in hits:
            times[event].append(t)
            at[event].append(y)
        lists = [np.array(x) for x in times], [np.reshape(x, (len(x), self.n)) for x in at]
        return self._result(states, reached, end, end_state, is_over, partial(_same, lists), self.operation, before)

    def count(self, differentiated: bool = True) -> int:
        """Solves for the present values, for which the operation has its size from now on; returns the size."""
        self.counts, self.reached, self.is_over, self.is_cut = [0] * len(self.roots), self.outputs, False, False
        if self.roots:  # without, the size does not depend on the values
            _, self.reached, _, _, self.is_over, hits, _ = solve_events(self.operation, self.values(), differentiated)
            for event, _, _ in hits:
                self.counts[event] += 1
            self.is_cut = self.is_open and self.times.has_t_eval
            self.operation = self._operation(self.counts, min(self.reached, self.times.values.size) if self.is_cut else -1)
        size: int = self.n * self.outputs + (1 + sum(self.counts)) * (1 + self.n) + len(self.before) * self.n
        return size

    def _recorded_result(self, argument: Any) -> OdeResult:
        """Records the solve as an operation, whose result has the size of the solution for the present values."""
        size = self.count()
        return self.unpacked(self.operation.record(argument, (size,)))

    def unpacked(self, flat: Any) -> OdeResult:
        """Returns the result from the operation's numbers, after `count`."""
        n, at, counts, operation = self.n, self.n * self.outputs, self.counts, self.operation
        total = sum(counts)
        after_hits = at + (1 + total) * (1 + n)
        before = np.transpose(np.reshape(flat[after_hits:], (len(self.before), n)))
        states = np.transpose(np.reshape(flat[:at], (self.outputs, n)))
        times, hit_states = flat[at + 1 + n : at + 1 + n + total], np.reshape(flat[at + 1 + n + total : after_hits], (total, n))
        bounds = np.cumsum([0, *counts]).tolist()

        if self.is_cut and min(self.reached, self.times.values.size) == 0:
            _require(flat[at])

        def lists() -> tuple[list[Any], list[Any]]:
            operation.expect_hits()
            _require(flat[at])
            cuts = [slice(begin, end) for begin, end in pairwise(bounds)]
            return [times[cut] for cut in cuts], [hit_states[cut] for cut in cuts]

        end_state = flat[at + 1 : at + 1 + n]
        return self._result(states, self.reached, flat[at], end_state, self.is_over, lists, operation, before)

    def _result(
        self,
        states: Any,
        reached: int,
        end: Any,
        end_state: Any,
        is_over: bool,
        lists: Callable[..., Any],
        operation: SolveOperation,
        before: Any,
    ) -> OdeResult:
        outputs = self.times.outputs
        count = min(reached, outputs.size)
        result = OdeResult(outputs[:count], states[:, :count], stats=Statistics(operation.statistics))
        if self.is_open and not self.times.has_t_eval:
            # Without t_eval the outputs are the initial time and the end that was reached.
            first, last = np.reshape(states[:, 0], (self.n, 1)), np.reshape(end_state, (self.n, 1))
            result.t = np.concatenate([outputs[:1], np.reshape(end, (1,))])
            result.y = np.concatenate([first, last], axis=1)
        if self.before:
            result._before = before
        if is_over:
            result.status, result.message = 1, "A terminal event ended the solution."
        if self.what.events is not None:
            sign, stop = self.times.sign, float(real_values(self.problem.function, "t", end).item())
            begin_to_end = sign * self.times.t0 + 0.0, sign * stop + 0.0
            result._hits = partial(named_hits, self.problem.function, lists, begin_to_end)
        return result
