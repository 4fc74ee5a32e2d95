"""Records users' functions of time and states, and solves as operations of the program around them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from typing import Any

import numpy as np

from agrad._core import Array, Comparison, Recording, ShapeError, SolverError, switch_lines, unroll_loops
from agrad._loops.body import bodies_of, comparing_lines, keep
from agrad._record.arguments import Values, real_values, vector
from agrad._record.debug import is_debugging
from agrad._record.errors import raised_errors, refuse_caught
from agrad._record.recording import name_of, open_recording
from agrad._record.source import line_of_code
from agrad._record.spies import is_replaying, replaying, spied
from agrad._record.structure import find_recording
from agrad._record.trees import flatten, is_number, without_data

__all__ = ["RecordedFunction", "check_result", "joined", "naming_lines", "stays_equal"]


#: The results that functions of time and states must return, by the functions' kinds.
_RESULTS = {
    "slope": ("the derivatives of the states", "one derivative for each state"),
    "residual": ("the residuals of the equations", "one equation for each state"),
    "root": ("a number", "an event happens where the number is zero"),
    "reset": ("the state after the event", "one entry for each state"),
    "delay": ("a number", "the time from the trigger to the event"),
}


def check_result(label: str, found: Any, size: int, result: str) -> None:
    """Raises unless the result of a user's function, of the kind `result`, is of this size."""
    if found.size != size:
        raise ShapeError(f"{label}: result is of shape {found.shape}, but must be of shape ({size},); {_RESULTS[result][1]}")


class RecordedFunction:
    """A function of time and states as a program, and the parameters of the program.

    Parameters are the recorded values among the arguments (with `all_numbers` all floating-point values), and captured values.
    `states` are the values of the recording; a residual has derivatives of the states after them. `finds_jumps` tells whether
    loops that jump are written out, so that the solve finds their jumps. `looks_at_time` tells whether a message on a nan needs
    the time.
    """

    def __init__(
        self,
        function: str,
        f: Callable[..., Any],
        t0: float,
        states: Sequence[Values],
        args: tuple[Any, ...],
        *,
        all_numbers: bool = False,
        result: str = "slope",
        finds_jumps: bool = False,
        looks_at_time: bool = True,
    ) -> None:
        label = f"{function}({name_of(f)})"
        size = 1 if result in ("root", "delay") else len(states[0])
        leaves, together, _ = flatten(without_data(args))
        before = raised_errors()
        with open_recording(label, on_comparison=Comparison.refuses, captures=True) as recording:
            inputs = [recording.input(x) for x in (np.asarray(t0), *states)]
            are_parameters = [isinstance(x, Array) or (all_numbers and is_number(x)) for x in leaves]
            self.parameters = [leaf for leaf, is_parameter in zip(leaves, are_parameters, strict=True) if is_parameter]

            def given(recording: Recording) -> Any:
                pairs = zip(leaves, are_parameters, strict=True)
                return together([recording.input(real_values(function, "args", x)) if is_own else x for x, is_own in pairs])

            found = f(*inputs, *given(recording))
            refuse_caught(label, before)
            if found is None:
                raise TypeError(f"{label}: result is None, but must be {_RESULTS[result][0]}; does it return?")
            found = recording.array(vector(label, "result", found))
            if result == "root" and found.dtype.kind == "b":
                hint = "the event of y[0] > 0.5 is y[0] - 0.5"
                raise TypeError(f"{label}: result is a boolean, but must be a number that crosses zero; {hint}")
            check_result(label, found, size, result)
            #: Which states a reset returns as they are.
            self.kept = (found.slots == inputs[1].slots).tolist() if result == "reset" else []
            if is_debugging() and not is_replaying():
                seen: list[Any] = [*inputs] if looks_at_time else [np.asarray(t0), *inputs[1:]]
                found = spied(label, found, np.concatenate([np.ravel(x) for x in seen]), self._note)
            self.captured = recording.captured
            self.parameters += self.captured
            self.program, self.bodies = recording.program(found), bodies_of(recording)
        self.label, self._f, self._args, self._given, self._start = label, f, args, given, [np.asarray(t0), *states]
        #: The loops with jumps that a solve does not find: their names and the reasons.
        self.hidden: list[tuple[str, str]] = []
        if finds_jumps:
            self.program, self.hidden = unroll_loops(self.program, size)

    #: Time and states of the last run in a block of debug_nans whose result was no number.
    _last: Values | None = None

    def _note(self, point: Values) -> None:
        self._last = point

    def record_again(self) -> None:
        """Records the function where its result was no number in a block of debug_nans, which names the operation."""
        if self._last is None or not is_debugging():
            return
        t, *states = np.split(self._last, np.cumsum([x.size for x in self._start])[:-1])
        with replaying(), open_recording(self.label, on_comparison=Comparison.refuses, captures=True) as recording:
            self._f(*(recording.input(x) for x in (np.asarray(t[0]), *states)), *self._args)

    def switch_lines(self, message: str) -> str:
        """Returns the lines of the comparisons that a message names; "" where they are in no line of Python."""
        found = {}
        for text, file, line in self._lines():
            if f"the switch {text} of the right-hand side" in message:
                found[file, line] = line_of_code(file, line)
        return "; ".join(found.values())

    def _lines(self) -> list[tuple[str, str, int]]:
        with open_recording(self.label, on_comparison=Comparison.refuses, captures=True) as recording:
            recording.note_lines()
            found = self._f(*map(recording.input, self._start), *self._given(recording))
            program, lines = recording.program_with_lines(recording.array(vector(self.label, "result", found)))
            return switch_lines(program, lines, self._start[1].size)

    def warn_of_hidden_jumps(self) -> None:
        """Warns that derivatives lack the part of jumps in loops that the solve does not find."""
        for loop, reason in self.hidden:
            lines = comparing_lines(self.bodies, loop) if "`if`" in reason else ""
            text = (
                f"{self.label}: comparisons in {loop} are hidden because {reason}{' at ' if lines else ''}{lines}, but must be "
                "found where the right-hand side jumps, or derivatives lack the jump; write np.where or ag.cond, compare "
                'outside of the loop, or set switches="ignore" where nothing jumps'
            )
            warnings.warn(text, RuntimeWarning, stacklevel=2)

    def of_parameters(self, parameters: Sequence[Any]) -> RecordedFunction:
        """Returns the same program with other values of the parameters that are arguments."""
        other = copy(self)
        other.parameters = [*parameters, *self.captured]
        return other


@contextmanager
def naming_lines(functions: Sequence[RecordedFunction]) -> Iterator[None]:
    """Names the user's lines where a solve within this block stops: of a switch, and in a block of debug_nans of a nan."""
    try:
        yield
    except SolverError as error:
        for f in functions:
            f.record_again()
        if error.code == "switches_accumulate" and (lines := functions[0].switch_lines(str(error))):
            text, mark, rest = str(error).partition(" of the right-hand side")
            error.args = (f"{text}{mark} at {lines}{rest}", *error.args[1:])
        raise


def joined(parts: Sequence[Any], functions: Sequence[RecordedFunction]) -> tuple[Recording | None, Any]:
    """Returns the recording in which an operation's parts are recorded, if any, and the operation's argument.

    The recording keeps the programs that the recorded functions refer to.
    """
    recording = find_recording(parts)
    if recording is None:
        return None, np.concatenate(parts)
    for f in functions:
        keep(recording, f.bodies)
        f.warn_of_hidden_jumps()
    return recording, np.concatenate([recording.array(x) for x in parts])


def stays_equal(x: Any, y: Any) -> None:
    """Records a guard that two equal numbers, at least one recorded, stay equal: else a compiled function records again."""
    changes = [each for each in (x, y) if isinstance(each, Array) and each.is_active]
    is_same = len(changes) == 2 and bool(np.all(x.slots == y.slots))
    if changes and not is_same:
        bool(x == y)
