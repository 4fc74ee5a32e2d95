"""Records the body of a loop: a user's function as a growing set of paths.

A path is recorded during the recording of the loop, for the values of the first step on this path, or later in the first run
that needs the path. Recorded values from around the function (captured values) are further inputs. While the recording around
the loop is open, any such value can be captured; afterwards a new path can use the values that earlier paths captured, or that
the function's closure holds. Where a path needs other values, the run leaves the program, and the compiled function is recorded
again, with the values of that run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from agrad._core import Array, BodyPaths, Comparison, Program, Recording, ScopeError
from agrad._loops.closures import frozen, reached
from agrad._loops.tree import Leaves, joined
from agrad._record.debug import is_debugging
from agrad._record.errors import forgotten, raised_errors, refuse_caught
from agrad._record.recording import innermost, is_any_run_again, is_in_right_hand_side, open_recording
from agrad._record.source import Tally, line_of_code, parting_lines
from agrad._record.spies import is_replaying, replaying, spied
from agrad._record.trees import split

__all__ = ["Body", "bodies_of", "comparing_lines", "keep"]

_MOST_PATHS = 64


def bodies_of(recording: Recording) -> list[Any]:
    """Returns the bodies of the recording's loops, which must live as long as programs of the recording run."""
    bodies: list[Any] = recording.__dict__.setdefault("bodies", [])
    return bodies


def comparing_lines(bodies: Sequence[Any], function: str) -> str:
    """Returns the lines with comparisons in the bodies of a function's loops, also in loops within loops; "" without lines."""
    found: list[str] = []
    for body in bodies:
        places = [(file, line) for path in body._comparisons for file, line, _, _ in path] if body.function == function else []
        found += [line_of_code(*place) for place in places]
        found += [line for line in [comparing_lines(inner, function) for inner in body._children] if line]
    return "; ".join(dict.fromkeys(found))


def keep(recording: Recording, body: Any) -> None:
    """Keeps a body alive as long as the recording and the programs that keep `bodies_of`."""
    bodies_of(recording).append(body)


class Body:
    """The paths of a body of user's functions; `call` calls the functions and returns the leaves of the results."""

    def __init__(
        self,
        function: str,
        call: Callable[[Recording, list[Array], Sequence[Any]], list[Leaves]],
        functions: Sequence[Any],
        shapes: Sequence[tuple[int, ...]],
        is_truth: Sequence[bool],
    ) -> None:
        self.function, self._call, self._functions = function, call, functions
        self._shapes, self._is_truth = list(shapes), list(is_truth)
        self.captured: list[Array] = []
        self.outputs: list[Leaves] | None = None
        self._is_settled = self._may_leave = self._is_complete = False
        self._is_alone = innermost() is None  # then there is nothing to capture
        self._depth = 0
        self._children: list[Any] = []
        self._comparisons: list[list[Tally]] = []
        self.paths = BodyPaths(function, sum(math.prod(shape) for shape in shapes), self)

    def captured_values(self) -> Any:
        return joined([x.recorded_values for x in self.captured])

    def start(self, local: Any) -> list[Leaves]:
        """Records the first path, for these inputs, and returns the outputs."""
        recorded = self._recorded(local, np.zeros(0))
        assert recorded is not None
        assert self.outputs is not None
        self.paths.add(recorded[0])
        return self.outputs

    def explore(self, local: Any) -> None:
        """Records the path for inputs that have not occurred, if the function accepts such inputs."""
        try:
            with forgotten():
                recorded = self._recorded(local, self.captured_values())
        except Exception:  # the inputs may be the cause; the error is raised again when the path is needed
            return
        assert recorded is not None
        self.paths.add(recorded[0])

    def settle(self, around: Recording | None) -> None:
        """Ends the recording of the loop: later paths are recorded after the end of the recordings around the loop."""
        self._is_settled = True
        if around is None or around.on_comparison == Comparison.answers:
            return  # no run with other values follows
        self._functions = [frozen(each) for each in self._functions]
        self._may_leave = around.on_comparison == Comparison.guards

    def record(self, local: Any, captured: Any) -> tuple[Program, Any] | None:
        """Does the same as `_recorded`; the compiled part calls this function when no known path holds for a step."""
        with forgotten():  # an error that the compiled part passes on is counted where it reaches Python again
            return self._recorded(local, captured)

    def _recorded(self, local: Any, captured: Any) -> tuple[Program, Any] | None:
        """Records the path for inputs and captured values. Returns the program and new captured values; None if impossible."""
        if self._is_complete:
            return None
        before = raised_errors()
        with open_recording(self.function, on_comparison=Comparison.guards, captures=True) as recording:
            inputs = [recording.input(part) for part in split(local, self._shapes)]
            recording.become_body(self.captured, captured, self._depth, self._is_settled)
            try:
                result = self._record(recording, inputs)
                refuse_caught(self.function, before)
                return result
            except ScopeError as error:
                if not self._is_settled:
                    raise
                if self._may_leave:
                    self._is_complete = True  # the next recording around the loop captures more values
                    return None
                raise ScopeError(
                    f"{self.function}: a later path captures a value from around the function, but must capture only what the "
                    "first path captured; pass the value to the function as an argument"
                ) from error
            finally:
                recording.end_body()

    def _given(self, inputs: Sequence[Array]) -> list[Array]:
        return [x.with_slots(x.slots, condition=is_truth) for x, is_truth in zip(inputs, self._is_truth, strict=True)]

    def _record_again(self, local: Any) -> None:
        """Records a step whose result was no number in a block of debug_nans, which names the operation."""
        with replaying(), open_recording(self.function, on_comparison=Comparison.guards, captures=True) as recording:
            inputs = [recording.input(part) for part in split(local, self._shapes)]
            recording.become_body(self.captured, self.captured_values(), self._depth, self._is_settled)
            try:
                self._call(recording, self._given(inputs), self._functions)
            finally:
                recording.end_body()

    def _record(self, recording: Recording, inputs: list[Array]) -> tuple[Program, Any]:
        if self.paths.count == _MOST_PATHS:
            raise RuntimeError(
                f"{self.function}: number of paths that comparisons took is {_MOST_PATHS + 1}, but must be at most "
                f"{_MOST_PATHS}; use np.where or ag.cond instead of the comparison at {parting_lines(self._comparisons)}"
            )
        self._depth = recording.depth
        given = self._given(inputs)
        if not self._is_settled and not self._is_alone:
            for x in reached(self._functions, recording.depth, is_run_again=is_any_run_again(recording)):
                recording.array(x)
        outputs = self._call(recording, given, self._functions)
        self.outputs = self.outputs or outputs
        entries = [x.slots.ravel() for each in outputs for x in each.arrays]
        for each, before in zip(outputs, self.outputs, strict=True):
            each.check_like(self.function, before)
            each.forget()
        result = recording.array(0.0).with_slots(np.concatenate([*entries, np.zeros(0, np.uint32)]))
        if is_debugging() and (is_replaying() or not is_in_right_hand_side()):
            result = spied(self.function, result, np.concatenate([np.ravel(x) for x in inputs]), self._record_again)
        program, new = recording.program(result), recording.captured[len(self.captured) :]
        self.captured += new
        self._children.append(bodies_of(recording))
        self._comparisons.append(recording.comparisons)
        return program, joined([x.recorded_values for x in new])
