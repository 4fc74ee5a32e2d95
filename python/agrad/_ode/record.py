"""Records right-hand sides, and records solves as operations of the program around them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from agrad._core import (
    Array,
    Comparison,
    EventOperation,
    OdeMethod,
    OdeOperation,
    ShapeError,
    SolveProgress,
    StepLog,
    check_initial_value_problem,
    count_time_switches,
)
from agrad._loops.body import bodies_of, keep
from agrad._ode.arguments import check_callable, real_values, vector
from agrad._record.recording import name_of, open_recording
from agrad._record.structure import find_recording
from agrad._record.trees import flatten, is_number

__all__ = [
    "PosedProblem",
    "RecordedSlope",
    "StatesProblem",
    "named_by_time",
    "pose",
    "stays_equal",
]

RightHandSide = Callable[..., Any]


def named_by_time(function: str, is_backwards: bool) -> str:
    """Returns the name of a solver in C++. The suffix marks a solve in s = -t, whose errors are converted to times of t."""
    return f"{function} (s = -t)" if is_backwards else function


def stays_equal(x: Any, y: Any) -> None:
    """Records a guard that two equal numbers, at least one recorded, stay equal: else a compiled function records again."""
    changes = [each for each in (x, y) if isinstance(each, Array) and each.is_active]
    is_same = len(changes) == 2 and bool(np.all(x.slots == y.slots))
    if changes and not is_same:
        bool(x == y)


#: The results that functions of time and state must return, by the functions' kinds.
_RESULTS = {
    "slope": ("the derivatives of the states", "one derivative for each state"),
    "root": ("a number", "an event happens where the number is zero"),
    "reset": ("the state after the event", "one entry for each state"),
}


class RecordedSlope:
    """A function of time and state as a program, and the parameters of the program.

    Parameters are the recorded values among the arguments (with `all_numbers` all floating-point values), and captured values.
    """

    def __init__(
        self,
        function: str,
        f: RightHandSide,
        t0: float,
        y0: Any,
        args: tuple[Any, ...],
        *,
        all_numbers: bool = False,
        result: str = "slope",
    ) -> None:
        label = f"{function}({name_of(f)})"
        size = 1 if result == "root" else len(y0)
        leaves, together, _ = flatten(args)
        with open_recording(label, on_comparison=Comparison.refuses, captures=True) as recording:
            t, y = recording.input(np.asarray(t0)), recording.input(y0)
            taken = [isinstance(x, Array) or (all_numbers and is_number(x)) for x in leaves]
            self.parameters = [leaf for leaf, is_taken in zip(leaves, taken, strict=True) if is_taken]
            given = [
                recording.input(real_values(function, "args", x)) if is_taken else x
                for x, is_taken in zip(leaves, taken, strict=True)
            ]
            slope = f(t, y, *together(given))
            if slope is None:
                raise TypeError(f"{label}: result is None, but must be {_RESULTS[result][0]}; does it return?")
            slope = recording.array(vector(label, "result", slope))
            if result == "root" and slope.dtype.kind == "b":
                hint = "the event of y[0] > 0.5 is y[0] - 0.5"
                raise TypeError(f"{label}: result is a boolean, but must be a number that crosses zero; {hint}")
            if slope.size != size:
                raise ShapeError(
                    f"{label}: result is of shape {slope.shape}, but must be of shape ({size},); {_RESULTS[result][1]}"
                )
            self.captured = recording.captured
            self.parameters += self.captured
            self.program, self.bodies = recording.program(slope), bodies_of(recording)


@dataclass(frozen=True)
class PosedProblem:
    """A checked and recorded problem: the solve as an operation, and the parts of the operation's argument."""

    function: str
    operation: OdeOperation | EventOperation
    parts: list[Any]

    @property
    def initial_time(self) -> float:
        return float(real_values(self.function, "t0", self.parts[1]).item())

    def log_steps(self, log: StepLog) -> bool:
        """Logs the limit of each step, of a solve with derivatives where a part is recorded. Returns whether the method can."""
        return self.operation.log_steps(self.values(), log, find_recording(self.parts) is not None)

    def values(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Returns the operation's argument; recorded parts have the values of the recording."""
        return np.concatenate([np.ravel(real_values(self.function, "args", x)) for x in self.parts])


@dataclass(frozen=True)
class StatesProblem(PosedProblem):
    """A problem without events, whose solve returns the states at the output times, shape (times, states)."""

    operation: OdeOperation
    bodies: Any
    switches: int  # comparisons of t alone in the right-hand side

    def solve(self) -> Any:
        """Returns the states, recorded if a part is recorded."""
        count = np.size(self.parts[2])
        recording = find_recording(self.parts)
        if recording is None:
            return self.operation.solve(np.concatenate(self.parts), count)
        keep(recording, self.bodies)
        joined: Any = np.concatenate([recording.array(x) for x in self.parts])
        return self.operation.record(joined, count)


def pose(
    function: str,
    f: RightHandSide,
    y0: Any,
    t0: Any,
    times: Any,
    make_options: Callable[[int], OdeMethod],
    args: tuple[Any, ...],
    progress: SolveProgress | None = None,
    is_backwards: bool = False,
) -> StatesProblem:
    """Checks an initial value problem, records the right-hand side, and returns the problem with the solve as an operation."""
    check_callable(function, "f", f)
    y0, times = vector(function, "y0", y0), vector(function, "times", times)
    if np.size(t0) != 1:
        raise ShapeError(f"{function}: t0 is of shape {np.shape(t0)}, but must be a number")
    start, states = real_values(function, "t0", t0).item(), real_values(function, "y0", y0)
    solver = named_by_time(function, is_backwards)
    check_initial_value_problem(solver, states, start, real_values(function, "times", times))
    options = make_options(len(states))
    slope = RecordedSlope(function, f, start, states, args, all_numbers=options.same_steps)
    of_state, of_time, of_times = (isinstance(x, Array) for x in (y0, t0, times))
    operation = OdeOperation(solver, slope.program, len(states), len(times), options, of_state, of_time, of_times, progress)
    parts = [y0, np.reshape(t0, (1,)), times, *(np.ravel(x) for x in slope.parameters)]
    return StatesProblem(function, operation, parts, slope.bodies, count_time_switches(slope.program, len(states)))
