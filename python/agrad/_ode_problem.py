"""An initial value problem with its options, solved at once, as far as it goes, or wherever it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from agrad._core import Array, DomainError, OdeMethod, ShapeError, SolveProgress, SolverError
from agrad._ode_event_problem import EventProblem
from agrad._ode_events import NOTHING_HAPPENS, Happenings
from agrad._ode_explain import Explained
from agrad._ode_progress import Progress, told_of
from agrad._ode_record import PosedProblem, as_given, check_not_recorded, pose, real_values, stays_equal, vector
from agrad._ode_result import OdeResult, output_times
from agrad._ode_statistics import Statistics
from agrad._structure import array, find_recording
from agrad._trees import flatten

__all__ = ["InitialValueProblem"]


@dataclass
class InitialValueProblem:
    """What `solve_ivp` is given, but for the times."""

    function: str
    fun: Callable[..., Any]
    y0: Any
    make_options: Callable[[int], OdeMethod]
    happenings: Happenings | None
    args: tuple[Any, ...]
    progress: Progress = False
    method: str = ""  # and the tolerances, for those who ask what limited the steps
    tolerances: tuple[Any, Any] = (None, None)
    _posed: PosedProblem | None = field(default=None, init=False)  # that was solved last

    def solve(self, t_span: Sequence[Any], t_eval: Any) -> OdeResult:
        """The solution at the output times."""
        t_span, t_eval = as_given(self.function, "t_span", t_span), as_given(self.function, "t_eval", t_eval)
        t0, times = output_times(self.function, t_span, t_eval)
        end = float(real_values(self.function, "t_span", t_span)[1])
        has_events = self.happenings is not None and bool(self.happenings.events)
        told, is_recorded = told_of(self.function, self.progress, t0, end if has_events else float(times[-1])), False
        try:
            if self.happenings is None:
                result = self._solved(t_span, t_span if t_eval is None else t_eval, t0, times, told.host)
            else:
                for name, given in (("t_span", t_span), ("t_eval", t_eval)):
                    check_not_recorded(self.function, name, given, "with doses or events times are not differentiated")
                result = self._solved_with_events(self.happenings, t0, times, None if t_eval is None else end, told.host)
            is_recorded = isinstance(result.y, Array)
        finally:
            if not is_recorded:
                told.forget()
        result._explained = self._explained()
        if self.method == "auto":
            result.describe_switch()
        return result

    def _explained(self) -> Explained:
        return Explained(self._posed, self.method, self.tolerances)

    def _solved_with_events(
        self,
        happenings: Happenings,
        t0: float,
        times: np.ndarray[Any, np.dtype[np.float64]],
        end: float | None,
        progress: SolveProgress | None,
    ) -> OdeResult:
        self._posed = None
        with_events = EventProblem(self, happenings, t0, times, end, progress)
        self._posed = with_events.posed
        return with_events.solve()

    def _solved(
        self, t_span: Any, given: Any, t0: float, times: np.ndarray[Any, np.dtype[np.float64]], progress: SolveProgress | None
    ) -> OdeResult:
        """The states at the times as they were given, perhaps recorded; t0, times: their values."""
        self._posed = None
        start = t_span[0] if isinstance(t_span, Array) else t0
        outputs = given if isinstance(given, Array) else times
        starts_there = bool(times[0] == t0)
        first = np.reshape(vector(self.function, "y0", self.y0), (1, -1))
        if starts_there and outputs is not t_span and any(isinstance(x, Array) for x in (start, outputs)):
            stays_equal(outputs[0], start)
            slope = vector(self.function, "the result of f", self.fun(t0, first[0], *self.args))
            first = first + (outputs[0] - start) * slope  # of which nothing but derivatives is left
        if times.size == starts_there:
            return OdeResult(outputs, np.transpose(first))
        later = outputs[starts_there:]
        problem = pose(self.function, self.fun, self.y0, start, later, self.make_options, self.args, progress)
        if problem.switches and not any(isinstance(x, Array) for x in (start, outputs)):  # steps end where f jumps
            return self._solved_with_events(NOTHING_HAPPENS, t0, times, None, progress)
        self._posed = problem
        y = problem.solve()
        states = np.transpose(np.concatenate([first, y]) if starts_there else y)
        return OdeResult(outputs, states, stats=Statistics(problem.operation.statistics))

    def solve_as_far_as_it_goes(self, t_span: Any, t_eval: Any) -> OdeResult:
        """The same; where the solver stops, what comes before, solved once more by itself."""
        t_span, t_eval = as_given(self.function, "t_span", t_span), as_given(self.function, "t_eval", t_eval)
        try:
            return self.solve(t_span, t_eval)
        except SolverError as error:
            stop, explained = error, self._explained()
        for span, times in self._before(stop.t, t_span, t_eval):
            try:
                result = self.solve(span, times)
                break
            except SolverError:
                continue
        else:
            t0, times = output_times(self.function, t_span, t_eval)
            first = np.reshape(vector(self.function, "y0", self.y0), (-1, 1))
            result = OdeResult(times[:1], first) if times[0] == t0 else OdeResult(times[:0], first[:, :0])
        result.success, result.status, result.message, result._explained = False, -1, str(stop), explained
        return result

    def _before(self, stopped_at: float, t_span: Any, t_eval: Any) -> Iterator[tuple[Any, Any]]:
        """Spans and output times that end before a solver stopped, the longest first."""
        t0, times = output_times(self.function, t_span, t_eval)
        if t_eval is None:  # as close to the stop as the solver comes
            for part in (1 - 1e-9, 1 - 1e-6, 1 - 1e-3):
                if stopped_at > t0:
                    yield _until(t_span, t0 + (stopped_at - t0) * part), None
            return
        for count in range(int(np.count_nonzero(times <= stopped_at)), int(times[0] == t0), -1):
            yield _until(t_span, times[count - 1]), (t_eval if isinstance(t_eval, Array) else times)[:count]

    def solution(self, t_span: Sequence[Any]) -> Callable[[Any], Any]:
        """The function of `dense_output`, of what was given as it is now."""
        problem = replace(self, y0=_copied(self.y0), args=_copied(self.args))
        t_span = _copied(as_given(self.function, "t_span", t_span))

        def sol(t: Any) -> Any:
            """The states at t: shape (n,) for a number, (n, k) for k times in any order; solved for at these very times."""
            t = array(t) if isinstance(t, (list, tuple)) and find_recording(t) is not None else t
            asked = real_values("sol", "t", t)
            if asked.ndim > 1:
                raise ShapeError(f"sol: t is of shape {asked.shape}, but must be a number or a vector of times")
            t0, end = real_values(self.function, "t_span", t_span)
            for k, each in enumerate(np.atleast_1d(asked)):
                if not t0 <= each <= end:
                    place = f"t[{k}]" if asked.ndim else "t"
                    raise DomainError(f"sol: {place} is {each}, but must be within t_span = {(float(t0), float(end))}")
            if asked.size == 0:
                return np.zeros((np.size(problem.y0), 0))
            times, chosen, places = np.unique(asked, return_index=True, return_inverse=True)
            if t0 == end:  # nothing was reached
                y0 = np.reshape(vector("sol", "y0", problem.y0), (-1, 1))
                return y0[:, places.reshape(-1)] if asked.ndim else y0[:, 0]
            if isinstance(t, Array):
                if times.size < asked.size:
                    raise DomainError("sol: t is recorded and has equal times, but must have each once")
                times = np.reshape(t, (-1,))[chosen]
            result = replace(problem).solve(t_span, times)  # which remembers what it solved, and threads may call this one
            if len(result.t) < times.size:
                raise DomainError(f"sol: t is {times[-1]}, but must not be after the terminal event that ended the solution")
            return result.y[:, places.reshape(-1)] if asked.ndim else result.y[:, 0]

        return sol


def _until(t_span: Any, end: float) -> Any:
    """The same span with another end."""
    return np.concatenate([t_span[:1], [end]]) if isinstance(t_span, Array) else (t_span[0], end)


def _copied(tree: Any) -> Any:
    """The tree with arrays of its own, which nobody else writes into."""
    leaves, together, _ = flatten(tree)
    return together([leaf.copy() if isinstance(leaf, (np.ndarray, Array)) else leaf for leaf in leaves])
