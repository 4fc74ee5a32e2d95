"""Records a posed problem: the solve becomes an operation, and the problem's numbers become the operation's argument."""

from __future__ import annotations

from typing import Any

import numpy as np

from agrad._core import Array, SolveOperation, SolveProgress, StepLog, count_switches, ode_operation
from agrad._ode.problem import InitialValueProblem
from agrad._ode.record import RecordedFunction, joined, naming_lines
from agrad._record.arguments import Values, real_values
from agrad._record.structure import find_recording

__all__ = ["RecordedSolve", "StatesSolve"]


class RecordedSolve:
    """A solve as an operation, and the parts of the operation's argument."""

    def __init__(self, function: str, operation: SolveOperation, parts: list[Any]) -> None:
        self.function, self.operation, self.parts = function, operation, parts

    @property
    def initial_time(self) -> float:
        return float(real_values(self.function, "t0", self.parts[1]).item())

    def log_steps(self, log: StepLog) -> bool:
        """Logs the limit of each step, with derivatives where a part is recorded. Returns whether the method has a log."""
        return self.operation.log_steps(self.values(), log, find_recording(self.parts) is not None)

    def values(self) -> Values:
        """Returns the operation's argument; recorded parts have the values of the recording."""
        return np.concatenate([np.ravel(real_values(self.function, "args", x)) for x in self.parts])


class StatesSolve(RecordedSolve):
    """A solve without events, which returns the states at output times after the initial time."""

    def __init__(self, problem: InitialValueProblem, outputs: Any, progress: SolveProgress | None = None) -> None:
        method, start, states = problem.method, problem.times.start, problem.states
        self.slope = RecordedFunction(
            problem.function,
            problem.f,
            problem.times.t0,
            [states],
            problem.args,
            all_numbers=method.same_steps,
            finds_jumps=problem.holds_switches,
        )
        program, size = self.slope.program, len(states)
        #: The number of comparisons in the right-hand side at which steps must end, which this solve does not find.
        self.switches = count_switches(program, size, problem.holds_switches)
        of_state, of_time, of_times = (isinstance(x, Array) for x in (problem.y0, start, outputs))
        count = len(outputs)
        wanted, holds = (of_state, of_time, of_times), problem.holds_switches
        operation = ode_operation(problem.solver, program, size, count, method, *wanted, progress=progress, holds=holds)
        parts = [problem.y0, np.reshape(start, (1,)), outputs, *(np.ravel(x) for x in self.slope.parameters)]
        super().__init__(problem.function, operation, parts)

    def states(self) -> Any:
        """Returns the states, shape (times, states), recorded if a part is recorded."""
        shape = np.size(self.parts[2]), np.size(self.parts[0])
        recording, argument = joined(self.parts, [self.slope])
        with naming_lines([self.slope]):
            if recording is None:
                return self.operation.solve(argument, shape)
            return self.operation.record(argument, shape)
