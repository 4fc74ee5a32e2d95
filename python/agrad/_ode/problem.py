"""Solves an initial value problem: to the end, as far as the solver goes, or with dense output."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from agrad._core import Array, OdeMethod, SolveProgress, SolverError
from agrad._ode.arguments import as_given, real_values, vector
from agrad._ode.backwards import turned_statistics
from agrad._ode.dense import Solution
from agrad._ode.event_problem import EventProblem
from agrad._ode.events import NOTHING_HAPPENS, Happenings
from agrad._ode.given import GivenProblem
from agrad._ode.progress import Told, told_of
from agrad._ode.record import PosedProblem, pose, stays_equal
from agrad._ode.repeats import carried, raise_equal, repeated, runs_of
from agrad._ode.result import OdeResult, output_times
from agrad._ode.statistics import Statistics
from agrad._ode.step_report import Explained

__all__ = ["InitialValueProblem", "states_at"]


@dataclass
class InitialValueProblem(GivenProblem):
    """The arguments of `solve_ivp`, with methods that solve the problem."""

    _posed: PosedProblem | None = field(default=None, init=False)  # of the last solve

    def answer(self, t_span: Any, t_eval: Any, *, partial: bool, dense: bool) -> OdeResult:
        """Returns the result of `solve_ivp` for increasing times."""
        result = self.solve_as_far_as_it_goes(t_span, t_eval) if partial else self.solve(t_span, t_eval)
        if dense:
            reached = result.t[-1] if len(result.t) else t_span[0]
            result.sol = Solution(self, (t_span[0], reached) if result.status == -1 else t_span, result.y)
        return result

    def solve(self, t_span: Any, t_eval: Any) -> OdeResult:
        """Returns the solution at the output times, some of which may be repeated."""
        t_span, t_eval = as_given(self.function, "t_span", t_span), as_given(self.function, "t_eval", t_eval)
        t0, times = output_times(self.function, t_span, t_eval, freely=True)
        runs = runs_of(times)
        if runs is None:
            return self._solved_once(t_span, t_eval, t0, times)
        given = t_eval if isinstance(t_eval, Array) else times
        if isinstance(given, Array) and self.happenings is not None:
            raise_equal(self.function, runs, "where recorded times come with doses, events or tstops")
        result = self._solved_once(t_span, given[np.flatnonzero(runs.is_first)], t0, times[runs.is_first])
        return repeated(result, given, runs, self._slope)

    def _slope(self, t: Any, y: Any) -> Any:
        return self.fun(t, y, *self.args)

    def _solved_once(self, t_span: Any, t_eval: Any, t0: float, times: np.ndarray[Any, np.dtype[np.float64]]) -> OdeResult:
        """Returns the solution at output times that differ."""
        end = float(real_values(self.function, "t_span", t_span)[1])
        has_events = self.happenings is not None and bool(self.happenings.events)
        told, is_recorded = self._told(t0, end if has_events else float(times[-1])), False
        try:
            if self.happenings is None:
                result = self._solved(t_span, t_span if t_eval is None else t_eval, t0, times, told.host)
            else:
                start = t_span[0] if isinstance(t_span, Array) else t0
                outputs, until = (t_span, None) if t_eval is None else (t_eval, t_span[1])
                outputs = outputs if isinstance(outputs, Array) else times
                result = self._solved_with_events(self.happenings, start, outputs, until, told.host)
            is_recorded = isinstance(result.y, Array)
        finally:
            if not is_recorded:
                told.forget()
        result._explained = self._explained()
        if self.is_backwards and isinstance(result.stats, Statistics):
            result.stats = turned_statistics(result.stats)
        if self.method == "auto":
            result.describe_switch()
        return result

    def _told(self, t0: float, end: float) -> Told:
        return told_of(self.function, self.progress, t0, end, sign=-1.0 if self.is_backwards else 1.0)

    def _explained(self) -> Explained:
        return Explained(self._posed, self.method, self.tolerances, self.is_backwards)

    def _solved_with_events(
        self,
        happenings: Happenings,
        t0: Any,
        times: Any,
        end: Any,
        progress: SolveProgress | None,
    ) -> OdeResult:
        """Returns the solution at the times. Times, t0 and end may be recorded."""
        self._posed = None
        with_events = EventProblem(self, happenings, t0, times, end, progress)
        self._posed = with_events.posed
        return with_events.solve()

    def _solved(
        self, t_span: Any, given: Any, t0: float, times: np.ndarray[Any, np.dtype[np.float64]], progress: SolveProgress | None
    ) -> OdeResult:
        """Returns the states at the given times, which may be recorded; `t0` and `times` are plain values."""
        self._posed = None
        start = t_span[0] if isinstance(t_span, Array) else t0
        outputs = given if isinstance(given, Array) else times
        starts_there = bool(times[0] == t0)
        first = np.reshape(vector(self.function, "y0", self.y0), (1, -1))
        if starts_there and outputs is not t_span and any(isinstance(x, Array) for x in (start, outputs)):
            stays_equal(outputs[0], start)
            first = np.reshape(carried(self.function, self._slope, start, first[0], outputs[0] - start), (1, -1))
        if times.size == starts_there:
            return OdeResult(outputs, np.transpose(first))
        later = outputs[starts_there:]
        problem = pose(
            self.function, self.fun, self.y0, start, later, self.make_options, self.args, progress, self.is_backwards
        )
        if problem.switches:  # steps end where f jumps
            return self._solved_with_events(NOTHING_HAPPENS, start, outputs, None, progress)
        self._posed = problem
        y = problem.solve()
        states = np.transpose(np.concatenate([first, y]) if starts_there else y)
        return OdeResult(outputs, states, stats=Statistics(problem.operation.statistics))

    def solved_at_switches(self, t0: Any, times: Any) -> OdeResult:
        """Returns the solution at times after t0, which may all be recorded; steps end where fun compares t with a number."""
        return self._solved_with_events(NOTHING_HAPPENS, t0, times, None, None)

    def solve_as_far_as_it_goes(self, t_span: Any, t_eval: Any) -> OdeResult:
        """Returns the same as `solve`; where the solver fails, the part before the failure, from a second solve."""
        t_span, t_eval = as_given(self.function, "t_span", t_span), as_given(self.function, "t_eval", t_eval)
        try:
            return self.solve(t_span, t_eval)
        except SolverError as error:
            stop, explained = error, self._explained()
        stopped_at = 0.0 - stop.t if self.is_backwards else stop.t
        for span, times in self._before(stopped_at, t_span, t_eval):
            try:
                result = self.solve(span, times)
                break
            except SolverError:
                continue
        else:
            t0, times = output_times(self.function, t_span, t_eval, freely=True)
            first, at_start = np.reshape(vector(self.function, "y0", self.y0), (-1, 1)), np.count_nonzero(times == t0)
            result = OdeResult(times[:at_start], first[:, np.zeros(at_start, int)])
        result.success, result.status, result.message, result._explained = False, -1, str(stop), explained
        return result

    def _before(self, stopped_at: float, t_span: Any, t_eval: Any) -> Iterator[tuple[Any, Any]]:
        """Yields spans and output times that end before the time at which the solver failed, the longest first."""
        t0, times = output_times(self.function, t_span, t_eval, freely=True)
        if t_eval is None:  # the end is as close to the failure as a second solve reaches
            for part in (1 - 1e-9, 1 - 1e-6, 1 - 1e-3):
                if stopped_at > t0:
                    yield _until(t_span, t0 + (stopped_at - t0) * part), None
            return
        for count in range(int(np.count_nonzero(times <= stopped_at)), int(np.count_nonzero(times == t0)), -1):
            yield _until(t_span, times[count - 1]), (t_eval if isinstance(t_eval, Array) else times)[:count]


def states_at(
    function: str, f: Callable[..., Any], y0: Any, t0: Any, times: Any, make_options: Callable[[int], OdeMethod], args: Any
) -> Any:
    """Returns the states at the output times, shape (times, states), for the functions of the RFC."""
    posed = pose(function, f, y0, t0, times, make_options, args)
    if not posed.switches:
        return posed.solve()
    initial, start, outputs = posed.parts[:3]
    return np.transpose(
        InitialValueProblem(function, f, initial, make_options, None, args).solved_at_switches(start, outputs).y
    )


def _until(t_span: Any, end: float) -> Any:
    """Returns the span with another end."""
    return np.concatenate([t_span[:1], [end]]) if isinstance(t_span, Array) else (t_span[0], end)
