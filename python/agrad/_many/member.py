"""Poses and records a problem of solve_many, which shares recordings and arguments with the other problems."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from agrad._core import (
    Array,
    ConfiguredMethod,
    ForwardMethod,
    SolverError,
    count_switches,
    event_operation,
    ode_operation,
    solve_events,
)
from agrad._ode.backwards import SlopeOfMinusTime, turned_interruptions, turned_result, turned_statistics
from agrad._ode.doses import DoseTable
from agrad._ode.event_solve import EventSolve
from agrad._ode.events import NO_INTERRUPTIONS, Interruptions
from agrad._ode.initial_value import check_forward_switches
from agrad._ode.problem import InitialValueProblem, posed_problem
from agrad._ode.record import RecordedFunction, joined
from agrad._ode.recorded_solve import RecordedSolve
from agrad._ode.repeats import raise_equal, repeated, with_before
from agrad._ode.result import OdeResult
from agrad._ode.statistics import Statistics
from agrad._ode.step_report import Explained
from agrad._ode.times import times_of
from agrad._record.arguments import RightHandSide, vector
from agrad._record.keys import key_of
from agrad._record.trees import flatten, is_number, orders_of_keys, without_data

__all__ = ["Member", "SharedArguments"]


class SharedArguments:
    """The common vector of the arguments of all solves; an object that several problems share is stored once."""

    def __init__(self) -> None:
        self.parts: list[Any] = []
        self._begins: dict[int, int] = {}
        self._owners: list[Any] = []  # so that no `id` is used again
        self._size = 0

    def places(self, x: Any) -> range:
        """Returns the indices of the entries of x in the vector, and adds x where the vector does not contain x."""
        flat = np.ravel(x)
        begin = self._begins.get(id(x))
        if begin is None:
            begin = self._begins[id(x)] = self._size
            self._owners.append(x)
            self.parts.append(flat)
            self._size += flat.size
        return range(begin, begin + flat.size)


class Member:
    """A subject's posed problem, with the data that decide what it shares with others, and later the recorded solve."""

    def __init__(
        self,
        function: str,
        subject: Any,
        fun: RightHandSide,
        method_for: Callable[[int], ConfiguredMethod],
        shared: Interruptions,
        has_mass: bool = False,
        holds_switches: bool = True,
    ) -> None:
        posed = posed_problem(function, "fun", fun, subject.y0, subject.args)
        doses, times = (
            DoseTable(function, "doses", subject.doses),
            times_of(function, subject.t_span, subject.t_eval, subject.before),
        )
        stops = np.concatenate([shared.stops, vector(function, "tstops", subject.tstops)])
        what: Interruptions | None = replace(shared, doses=doses, stops=stops)
        if times.is_backwards:
            fun, what = SlopeOfMinusTime(fun, "solve_many"), turned_interruptions(function, what)
        n, self.has_mass = posed.states.size, has_mass
        problem = InitialValueProblem.of(posed, fun, times, method_for(n), interruptions=what, holds_switches=holds_switches)
        self.n, self.recorded, self.stopped = n, None, None
        self._take(problem)
        leaves, _, structure = flatten(without_data(posed.args))
        are_parameters = [isinstance(leaf, Array) or is_number(leaf) for leaf in leaves]
        self.parameters = [leaf for leaf, is_parameter in zip(leaves, are_parameters, strict=True) if is_parameter]
        constants = tuple(_key_of(leaf) for leaf, is_parameter in zip(leaves, are_parameters, strict=True) if not is_parameter)
        #: Problems with the same key share a recording of the right-hand side.
        shapes, orders = tuple(np.shape(x) for x in self.parameters), orders_of_keys(posed.args)
        self.key = (structure, shapes, constants, orders, n, times.is_backwards)

    recorded: RecordedSolve | None
    stopped: SolverError | None  # the fault that ended the solution early

    def _take(self, problem: InitialValueProblem) -> None:
        """Takes the problem, whose times decide what the operation has as outputs."""
        self.problem, times, what = problem, problem.times, problem.interruptions or NO_INTERRUPTIONS
        self.repeats = repeats = times.repeats
        if repeats is not None and isinstance(times.outputs, Array):
            raise_equal(problem.function, repeats, "where it is recorded")
        times.check_start(problem.function, problem.states)
        doses, has_events = what.doses, what.events is not None
        #: Whether an `event_operation` solves the problem, whose outputs include the state at the initial time.
        self.has_all = bool(doses.rows) or times.are_recorded or self.has_mass or what.stops.size > 0 or has_events
        self.distinct = times if repeats is None else times.distinct(repeats)
        self.outputs = self.distinct.outputs if self.has_all else self.distinct.outputs[times.starts_there :]
        #: The outputs that are before doses; without doses there is nothing before.
        is_before = self.distinct.is_before
        self.before = np.flatnonzero(is_before).tolist() if doses.rows and is_before is not None else []
        self.is_known_first = times.starts_there and not self.has_all
        #: How many numbers follow the states: time and state of the end, and the states before doses, where there are doses,
        #: stops, switches or recorded times.
        self.extra_outputs = 0

    def shortened(self, differentiated: bool, record: Callable[[Member], Any]) -> Member:
        """Returns the problem, or where its solver fails the part before the failure; `record` records a problem."""
        try:
            self._try(differentiated)
            return self
        except SolverError as error:
            stop = error
        for times in self.problem.times.before(self.problem.times.sign * stop.t):
            part = copy(self)
            part._take(replace(self.problem, times=times))
            try:
                if part.outputs.size:
                    record(part)
                    part._try(differentiated)
                part.stopped = stop
                return part
            except SolverError:
                continue
        nothing = copy(self)
        nothing.recorded, nothing.outputs, nothing.extra_outputs, nothing.stopped = None, np.zeros(0), 0, stop
        return nothing

    def _try(self, differentiated: bool) -> None:
        """Solves, to see whether the solver fails."""
        solve = self.recorded
        if solve is None or self.outputs.size == 0:
            return
        if isinstance(solve, EventSolve) or self.extra_outputs:
            solve_events(solve.operation, solve.values(), differentiated)
            return
        if differentiated:
            recording, argument = joined([np.ravel(x) for x in solve.parts], [])
            if recording is not None:
                solve.operation.record(argument, (self.size,))
                return
        solve.operation.solve(solve.values(), (self.size,))

    @property
    def size(self) -> int:
        """The length of the operation's result."""
        return int(self.n * self.outputs.size) + self.extra_outputs

    def record(
        self, slope: RecordedFunction, of_event: Callable[[Callable[..., Any], str, int], RecordedFunction]
    ) -> RecordedSolve:
        """Returns the solve as an operation, with the parts of the operation's argument.

        `of_event` records a function of an event, or returns a recording.
        """
        problem, n, count = self.problem, self.n, self.outputs.size
        method, times, what = problem.method, problem.times, problem.interruptions or NO_INTERRUPTIONS
        doses, stops = what.doses, what.stops
        values = [problem.y0, np.reshape(times.start, (1,)), self.outputs, *self.parameters, *slope.captured]
        active: list[bool] = []
        if not method.same_steps:  # else derivatives with respect to all parameters count, wanted or not
            each = [np.full(np.size(x), isinstance(x, Array)) for x in [*self.parameters, *slope.captured]]
            active = np.concatenate([np.zeros(0, bool), *each]).tolist()
        holds, before = self._holds(slope, values), self.before
        if what.events is not None:
            recorded = lambda f, kind, e: of_event(f, kind, e).of_parameters(self.parameters)  # noqa: E731
            posed = replace(problem, times=self.distinct)
            self.recorded = EventSolve(posed, None, slope.of_parameters(self.parameters), recorded, active)
            return self.recorded
        if self.has_all or count_switches(slope.program, n, holds):
            self.extra_outputs = 1 + n + n * len(before)
            values += [*doses.parts, stops]
            moves = times.are_recorded or doses.times_move or isinstance(stops, Array)
            operation = event_operation(
                problem.solver,
                slope.program,
                n,
                count,
                method,
                doses.rows,
                stops.size,
                [],
                1,
                moves,
                isinstance(problem.y0, Array),
                [],
                -1,
                count,
                holds,
                before,
                active,
            )
        else:
            is_recorded = isinstance(problem.y0, Array)
            operation = ode_operation(
                problem.solver, slope.program, n, count, method, is_recorded, False, False, active, holds=holds
            )
        self.recorded = RecordedSolve(problem.function, operation, values)
        return self.recorded

    def _holds(self, slope: RecordedFunction, values: list[Any]) -> bool:
        """Returns whether switches of states are held, which forward sensitivities cannot find, as in solve_ivp."""
        problem = self.problem
        if not isinstance(problem.method, ForwardMethod) or not problem.holds_switches:
            return problem.holds_switches
        check_forward_switches(problem.function, slope.program, self.n, values)
        return False

    def count(self, differentiated: bool) -> None:
        """Makes the operation of a solve with events one for as many events as happen now."""
        if isinstance(self.recorded, EventSolve):
            self.extra_outputs = self.recorded.count(differentiated) - self.n * self.outputs.size

    def result(self, numbers: Any, method: str, tolerances: tuple[Any, Any]) -> OdeResult:
        """Returns the result from the numbers of the operation: first the states at its outputs, last those before doses."""
        solve = self.recorded
        result = self._with_events(solve, numbers) if isinstance(solve, EventSolve) else self._of_states(numbers)
        times = self.problem.times
        result._explained = Explained(self.recorded, method, tolerances, times.is_backwards)
        if self.recorded is not None:
            counts = Statistics(self.recorded.operation.statistics)
            result.stats = turned_statistics(counts) if times.is_backwards else counts
            if method == "auto":
                result.describe_switch()
        if self.stopped is not None:
            result.success, result.status, result.message = False, -1, str(self.stopped)
        return turned_result(result) if times.is_backwards else result

    def _with_events(self, solve: EventSolve, numbers: Any) -> OdeResult:
        result, times = solve.unpacked(numbers), self.problem.times
        if self.repeats is not None:
            result = repeated(result, times.outputs, self.repeats, self.problem.slope)
        outputs: Any = result.t
        if not isinstance(outputs, Array):
            result.t = outputs.copy()
        return with_before(result, times)

    def _of_states(self, numbers: Any) -> OdeResult:
        if self.recorded is None and self.stopped is not None:
            values = self.problem.times.values
            at_start = np.flatnonzero(values == self.problem.times.t0)
            return OdeResult(values[at_start], np.reshape(self.problem.y0, (-1, 1))[:, 0 * at_start])
        count = self.outputs.size
        states = np.reshape(numbers[: self.n * count], (count, self.n))
        problem, times = self.problem, self.problem.times
        if self.is_known_first:
            states = np.concatenate([np.reshape(problem.y0, (1, self.n)), states])
        columns = np.transpose(states) if self.repeats is None else np.transpose(states)[:, self.repeats.places]
        given = times.outputs
        outputs: Any = given if isinstance(given, Array) else given.copy()
        result = OdeResult(outputs, columns)
        if self.before:
            before = np.reshape(numbers[numbers.size - self.n * len(self.before) :], (len(self.before), self.n))
            result._before = np.transpose(before)
            result = with_before(result, times)
        return result


def _key_of(leaf: Any) -> Any:
    """Returns a key of a leaf; objects without a hash are equal to themselves only."""
    key = key_of(leaf)
    return key if len(key) > 2 or isinstance(leaf, Hashable) else (type(leaf), id(leaf))
