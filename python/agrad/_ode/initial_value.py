"""Solves a posed initial value problem: to the end, or as far as the solver goes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from agrad._core import Array, ConfiguredMethod, ForwardMethod, Program, SolveProgress, SolverError, count_switches
from agrad._ode.backwards import turned_statistics
from agrad._ode.event_solve import EventSolve
from agrad._ode.problem import InitialValueProblem, posed_problem
from agrad._ode.progress import reporter_of
from agrad._ode.record import stays_equal
from agrad._ode.recorded_solve import RecordedSolve, StatesSolve
from agrad._ode.repeats import raise_equal, repeated, shifted, with_before
from agrad._ode.result import OdeResult
from agrad._ode.statistics import Statistics
from agrad._ode.step_report import Explained
from agrad._ode.times import times_after
from agrad._record.arguments import RightHandSide
from agrad._record.structure import find_recording

__all__ = ["Solve", "check_forward_switches", "record_solve", "solve_partially", "states_after"]


def record_solve(problem: InitialValueProblem, outputs: Any, progress: SolveProgress | None = None) -> StatesSolve | EventSolve:
    """Returns the recorded solve; `outputs` are the output times after the initial time."""
    if problem.interruptions is not None:
        return EventSolve(problem, progress)
    solve = StatesSolve(problem, outputs, progress)
    if solve.switches == 0:
        return solve
    if isinstance(problem.method, ForwardMethod) and problem.holds_switches:
        problem = _without_held_switches(problem, solve)
    return EventSolve(problem, progress, solve.slope)  # whose steps end where f jumps


def _without_held_switches(problem: InitialValueProblem, solve: StatesSolve) -> InitialValueProblem:
    """Returns the problem without switches of states, which CVODES cannot find with forward sensitivities.

    Values without derivatives do not need them.
    """
    check_forward_switches(problem.function, solve.slope.program, problem.states.size, solve.parts)
    return replace(problem, holds_switches=False)


def check_forward_switches(function: str, program: Program, n: int, parts: list[Any]) -> None:
    """Raises where forward sensitivities would need switches of states."""
    if count_switches(program, n, True) > count_switches(program, n, False) and find_recording(parts) is not None:
        raise ValueError(
            f"{function}: forward sensitivities are given, but must not be where fun jumps at comparisons of states; "
            "choose a one-step method, sensitivities='adjoint', or switches='ignore'"
        )


def states_after(
    function: str, f: RightHandSide, y0: Any, t0: Any, times: Any, args: Any, method_for: Callable[[int], ConfiguredMethod]
) -> Any:
    """Returns the states at times after t0, shape (times, states), for the functions of Stan's design document 0027.

    `method_for` makes the method for a number of states.
    """
    posed = posed_problem(function, "f", f, y0, args)
    after, method = times_after(function, t0, times, posed.states), method_for(posed.states.size)
    return record_solve(InitialValueProblem.of(posed, f, after, method), after.outputs).states()


class Solve:
    """A solve of a posed problem, and the data for `explain`, also after a failure."""

    def __init__(self, problem: InitialValueProblem) -> None:
        self.problem, self._recorded = problem, None

    _recorded: RecordedSolve | None

    @property
    def explained(self) -> Explained:
        problem = self.problem
        return Explained(self._recorded, problem.method_name, problem.tolerances, problem.times.is_backwards)

    def result(self) -> OdeResult:
        """Returns the solution at the output times, some of which may be repeated."""
        problem, times = self.problem, self.problem.times
        repeats = times.repeats
        if repeats is None:
            return with_before(self._result(problem), times)
        if isinstance(times.outputs, Array) and problem.interruptions is not None:
            raise_equal(problem.function, repeats, "where recorded times come with doses, events or tstops")
        result = self._result(replace(problem, times=times.distinct(repeats)))
        return with_before(repeated(result, times.outputs, repeats, problem.slope), times)

    def _result(self, problem: InitialValueProblem) -> OdeResult:
        """Returns the solution at output times that differ."""
        times, interruptions = problem.times, problem.interruptions
        end = times.last if interruptions is not None and interruptions.events else float(times.values[-1])
        reporter, is_recorded = reporter_of(problem.function, problem.progress, times.t0, end, sign=times.sign), False
        try:
            result = self._solved(problem, reporter.host)
            is_recorded = isinstance(result.y, Array)
        finally:
            if not is_recorded:
                reporter.forget()
        outputs: Any = result.t
        if not isinstance(outputs, Array):
            result.t = outputs.copy()  # the problem keeps its times where the user changes those of the result
        result._explained = self.explained
        if times.is_backwards and isinstance(result.stats, Statistics):
            result.stats = turned_statistics(result.stats)
        if problem.method_name == "auto":
            result.describe_switch()
        return result

    def _solved(self, problem: InitialValueProblem, progress: SolveProgress | None) -> OdeResult:
        times, later = problem.times, problem.times.outputs
        first: Any = None  # the states at the first output time, where that is the initial time
        if problem.interruptions is None and times.starts_there:
            first = np.reshape(problem.y0, (1, -1))
            if times.has_t_eval and times.are_recorded:
                stays_equal(later[0], times.start)
                moved = shifted(problem.function, problem.slope, times.start, first[0], later[0] - times.start)
                first = np.reshape(moved, (1, -1))
            later = later[1:]
            if times.values.size == 1:
                return OdeResult(times.outputs, np.transpose(first))
        self._recorded = solve = record_solve(problem, later, progress)
        if isinstance(solve, EventSolve):
            return solve.result()
        y = solve.states()
        states = np.transpose(y if first is None else np.concatenate([first, y]))
        return OdeResult(times.outputs, states, stats=Statistics(solve.operation.statistics))


def solve_partially(problem: InitialValueProblem) -> OdeResult:
    """Returns the solution; where the solver fails, the part before the failure, from a second solve."""
    whole = Solve(problem)
    try:
        return whole.result()
    except SolverError as error:
        stop = error
    for times in problem.times.before(problem.times.sign * stop.t):
        try:
            result = Solve(replace(problem, times=times)).result()
            break
        except SolverError:
            continue
    else:
        first, at_start = np.reshape(problem.y0, (-1, 1)), np.count_nonzero(problem.times.values == problem.times.t0)
        result = OdeResult(problem.times.values[:at_start], first[:, np.zeros(at_start, int)])
    result.success, result.status, result.message, result._explained = False, -1, str(stop), whole.explained
    return result
