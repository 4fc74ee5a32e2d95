"""The body of a loop: a user's function as a growing set of recorded paths.

A path is recorded while the loop is, for the values of the first step that takes it, and later when a run of the program comes
upon one. Recorded values from around the function are further inputs. While the recording around the loop is open they are
found as they are met; afterwards a path can be recorded that uses what earlier ones, or the function's closure, know. Where it
needs more, the run leaves its program, and the compiled function is recorded again, with the values of that run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from agrad._core import Array, BodyPaths, Comparison, Program, Recording, ScopeError
from agrad._loops.closures import frozen, reached
from agrad._loops.tree import Leaves, joined
from agrad._record.recording import is_any_run_again, open_recording
from agrad._record.source import Tally, parting_lines
from agrad._record.trees import split

__all__ = ["Body", "bodies_of", "keep"]

_MOST_PATHS = 64


def bodies_of(recording: Recording) -> list[Any]:
    """What must live as long as programs of the recording are run: the bodies of its loops."""
    bodies: list[Any] = recording.__dict__.setdefault("bodies", [])
    return bodies


def keep(recording: Recording, body: Any) -> None:
    """Let a body live as long as the recording and what is kept with it."""
    bodies_of(recording).append(body)


class Body:
    """The paths of a body that is made of the user's functions; `call` calls them and returns the leaves of their results."""

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
        self._depth = 0
        self._children: list[Any] = []
        self._comparisons: list[list[Tally]] = []
        self.paths = BodyPaths(function, sum(int(np.prod(shape, dtype=int)) for shape in shapes), self)

    def captured_values(self) -> Any:
        return joined([x.recorded_values for x in self.captured])

    def start(self, local: Any) -> list[Leaves]:
        """Record the first path, for these inputs."""
        recorded = self.record(local, np.zeros(0))
        assert recorded is not None
        assert self.outputs is not None
        self.paths.add(recorded[0])
        return self.outputs

    def explore(self, local: Any) -> None:
        """Record the path for other inputs, which were not met, as far as the function can be called with them."""
        try:
            recorded = self.record(local, self.captured_values())
        except Exception:  # what it raises may be due to the inputs; it is raised when the path is needed
            return
        assert recorded is not None
        self.paths.add(recorded[0])

    def settle(self, around: Recording | None) -> None:
        """The loop is recorded: from now on the recordings around it will have ended when a path is asked for."""
        self._is_settled = True
        if around is None or around.on_comparison == Comparison.answers:
            return  # no run with other values follows
        self._functions = [frozen(each) for each in self._functions]
        self._may_leave = around.on_comparison == Comparison.guards

    def record(self, local: Any, captured: Any) -> tuple[Program, Any] | None:
        """Record the path for these inputs and captured values: its program, and values captured for it; None if it cannot be.

        Called by the compiled part, whenever a step takes none of the known paths.
        """
        if self._is_complete:
            return None
        with open_recording(self.function, on_comparison=Comparison.guards, captures=True) as recording:
            inputs = [recording.input(part) for part in split(local, self._shapes)]
            recording.become_body(self.captured, captured, self._depth, self._is_settled)
            try:
                return self._record(recording, inputs)
            except ScopeError as error:
                if not self._is_settled:
                    raise
                if self._may_leave:
                    self._is_complete = True  # what is recorded around it again will know more
                    return None
                raise ScopeError(
                    f"{self.function}: a path that was not taken at first needs a value from around the function, but must "
                    "know it from the beginning; pass it to the function in its arguments"
                ) from error
            finally:
                recording.end_body()

    def _record(self, recording: Recording, inputs: list[Array]) -> tuple[Program, Any]:
        if self.paths.count == _MOST_PATHS:
            raise RuntimeError(
                f"{self.function}: number of paths that comparisons took is {_MOST_PATHS + 1}, but must be at most "
                f"{_MOST_PATHS}; use np.where or ag.cond instead of the comparison at {parting_lines(self._comparisons)}"
            )
        self._depth = recording.depth
        given = [x.with_slots(x.slots, condition=is_truth) for x, is_truth in zip(inputs, self._is_truth, strict=True)]
        if not self._is_settled:
            for x in reached(self._functions, recording.depth, is_run_again=is_any_run_again(recording)):
                recording.array(x)
        outputs = self._call(recording, given, self._functions)
        self.outputs = self.outputs or outputs
        entries = [x.slots.ravel() for each in outputs for x in each.arrays]
        for each, before in zip(outputs, self.outputs, strict=True):
            each.check_like(self.function, before)
            each.forget()
        result = recording.array(0.0).with_slots(np.concatenate([*entries, np.zeros(0, np.uint32)]))
        program, new = recording.program(result), recording.captured[len(self.captured) :]
        self.captured += new
        self._children.append(bodies_of(recording))
        self._comparisons.append(recording.comparisons)
        return program, joined([x.recorded_values for x in new])
