"""Poses and records a problem of solve_many, which shares recordings and arguments with the other problems."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from agrad._core import Array, ConfiguredMethod, count_switches, event_operation, ode_operation
from agrad._ode.arguments import RightHandSide
from agrad._ode.backwards import SlopeOfMinusTime, check_no_doses, turned_result, turned_statistics
from agrad._ode.doses import DoseTable
from agrad._ode.problem import InitialValueProblem, posed_problem
from agrad._ode.record import RecordedFunction
from agrad._ode.recorded_solve import RecordedSolve
from agrad._ode.repeats import raise_equal, with_before
from agrad._ode.result import OdeResult
from agrad._ode.statistics import Statistics
from agrad._ode.step_report import Explained
from agrad._ode.times import times_of
from agrad._record.keys import key_of
from agrad._record.trees import flatten, is_number, orders_of_keys

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
        has_mass: bool = False,
        holds_switches: bool = True,
    ) -> None:
        posed = posed_problem(function, "fun", fun, subject.y0, subject.args)
        doses, times = (
            DoseTable(function, "doses", subject.doses),
            times_of(function, subject.t_span, subject.t_eval, subject.before),
        )
        if times.is_backwards:
            fun = SlopeOfMinusTime(fun, "solve_many")
            check_no_doses(function, doses)
        repeats, n = times.repeats, posed.states.size
        if repeats is not None and isinstance(times.outputs, Array):
            raise_equal(function, repeats, "where it is recorded")
        times.check_start(function, posed.states)
        self.problem = InitialValueProblem.of(posed, fun, times, method_for(n), holds_switches=holds_switches)
        self.doses, self.repeats, self.n = doses, repeats, n
        #: Whether an `event_operation` solves the problem, whose outputs include the state at the initial time.
        self.has_all = bool(doses.rows) or times.are_recorded or has_mass
        distinct = times if repeats is None else times.distinct(repeats)
        self.outputs = distinct.outputs if self.has_all else distinct.outputs[times.starts_there :]
        #: The outputs that are before doses; without doses there is nothing before.
        self.before = np.flatnonzero(distinct.is_before).tolist() if doses.rows and distinct.is_before is not None else []
        self.is_known_first = times.starts_there and not self.has_all
        leaves, _, structure = flatten(posed.args)
        are_parameters = [isinstance(leaf, Array) or is_number(leaf) for leaf in leaves]
        self.parameters = [leaf for leaf, is_parameter in zip(leaves, are_parameters, strict=True) if is_parameter]
        constants = tuple(_key_of(leaf) for leaf, is_parameter in zip(leaves, are_parameters, strict=True) if not is_parameter)
        self.recorded: RecordedSolve | None = None
        #: How many numbers follow the states: time and state of the end, and the states before doses, where there are doses,
        #: switches or recorded times.
        self.extra_outputs = 0
        #: Problems with the same key share a recording of the right-hand side.
        shapes, orders = tuple(np.shape(x) for x in self.parameters), orders_of_keys(posed.args)
        self.key = (structure, shapes, constants, orders, n, times.is_backwards)

    def record(self, slope: RecordedFunction) -> RecordedSolve:
        """Returns the solve as an operation, with the parts of the operation's argument."""
        problem, n, doses, count = self.problem, self.n, self.doses, self.outputs.size
        method, times = problem.method, problem.times
        values = [problem.y0, np.reshape(times.start, (1,)), self.outputs, *self.parameters, *slope.captured]
        active: list[bool] = []
        if not method.same_steps:  # else derivatives with respect to all parameters count, wanted or not
            each = [np.full(np.size(x), isinstance(x, Array)) for x in [*self.parameters, *slope.captured]]
            active = np.concatenate([np.zeros(0, bool), *each]).tolist()
        holds, before = problem.holds_switches, self.before
        if self.has_all or count_switches(slope.program, n, holds):
            self.extra_outputs = 1 + n + n * len(before)
            values += doses.parts
            moves = times.are_recorded or doses.times_move
            operation = event_operation(
                problem.solver,
                slope.program,
                n,
                count,
                method,
                doses.rows,
                0,
                [],
                1,
                moves,
                [],
                -1,
                count,
                holds,
                before,
                active,
            )
        else:
            is_recorded = isinstance(problem.y0, Array)
            operation = ode_operation(problem.solver, slope.program, n, count, method, is_recorded, False, False, active)
        self.recorded = RecordedSolve(problem.function, operation, values)
        return self.recorded

    def result(self, numbers: Any, method: str, tolerances: tuple[Any, Any]) -> OdeResult:
        """Returns the result from the numbers of the operation: first the states at its outputs, last those before doses."""
        count = self.outputs.size
        states = np.reshape(numbers[: self.n * count], (count, self.n))
        problem, times = self.problem, self.problem.times
        if self.is_known_first:
            states = np.concatenate([np.reshape(problem.y0, (1, self.n)), states])
        columns = np.transpose(states) if self.repeats is None else np.transpose(states)[:, self.repeats.places]
        outputs = times.outputs
        result = OdeResult(outputs if isinstance(outputs, Array) else outputs.copy(), columns)
        if self.before:
            before = np.reshape(numbers[numbers.size - self.n * len(self.before) :], (len(self.before), self.n))
            result._before = np.transpose(before)
            result = with_before(result, times)
        result._explained = Explained(self.recorded, method, tolerances, times.is_backwards)
        if self.recorded is not None:
            counts = Statistics(self.recorded.operation.statistics)
            result.stats = turned_statistics(counts) if times.is_backwards else counts
            if method == "auto":
                result.describe_switch()
        return turned_result(result) if times.is_backwards else result


def _key_of(leaf: Any) -> Any:
    """Returns a key of a leaf; objects without a hash are equal to themselves only."""
    key = key_of(leaf)
    return key if len(key) > 2 or isinstance(leaf, Hashable) else (type(leaf), id(leaf))
