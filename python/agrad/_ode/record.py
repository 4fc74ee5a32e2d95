"""Records users' functions of time and states, and solves as operations of the program around them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from copy import copy
from typing import Any

import numpy as np

from agrad._core import Array, Comparison, Recording, ShapeError, unroll_loops
from agrad._loops.body import bodies_of, comparing_lines, keep
from agrad._ode.arguments import Values, real_values, vector
from agrad._record.recording import name_of, open_recording
from agrad._record.structure import find_recording
from agrad._record.trees import flatten, is_number

__all__ = ["RecordedFunction", "check_result", "joined", "stays_equal"]


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
    loops that jump are written out, so that the solve finds their jumps.
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
    ) -> None:
        label = f"{function}({name_of(f)})"
        size = 1 if result in ("root", "delay") else len(states[0])
        leaves, together, _ = flatten(args)
        with open_recording(label, on_comparison=Comparison.refuses, captures=True) as recording:
            inputs = [recording.input(x) for x in (np.asarray(t0), *states)]
            are_parameters = [isinstance(x, Array) or (all_numbers and is_number(x)) for x in leaves]
            self.parameters = [leaf for leaf, is_parameter in zip(leaves, are_parameters, strict=True) if is_parameter]
            given = [
                recording.input(real_values(function, "args", x)) if is_parameter else x
                for x, is_parameter in zip(leaves, are_parameters, strict=True)
            ]
            found = f(*inputs, *together(given))
            if found is None:
                raise TypeError(f"{label}: result is None, but must be {_RESULTS[result][0]}; does it return?")
            found = recording.array(vector(label, "result", found))
            if result == "root" and found.dtype.kind == "b":
                hint = "the event of y[0] > 0.5 is y[0] - 0.5"
                raise TypeError(f"{label}: result is a boolean, but must be a number that crosses zero; {hint}")
            check_result(label, found, size, result)
            #: Which states a reset returns as they are.
            self.kept = (found.slots == inputs[1].slots).tolist() if result == "reset" else []
            self.captured = recording.captured
            self.parameters += self.captured
            self.program, self.bodies = recording.program(found), bodies_of(recording)
        self.label = label
        #: The loops with jumps that a solve does not find: their names and the reasons.
        self.hidden: list[tuple[str, str]] = []
        if finds_jumps:
            self.program, self.hidden = unroll_loops(self.program, size)

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
