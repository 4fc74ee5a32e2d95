"""Stores the recorded paths of a compiled function by the signatures of the calls."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from agrad._core import CallPlan, Program, program_of
from agrad._record.source import Tally
from agrad._record.structure import Outputs
from agrad._record.trees import flatten
from agrad._transforms.base import Transformation
from agrad._transforms.compiled.signatures import Aux
from agrad._transforms.compiled.static import StaticArguments
from agrad._transforms.parameters import Parameters

__all__ = ["MOST_PATHS", "Entry", "Path", "WithPaths"]

MOST_PATHS = 64  # of a signature


class Path:
    """A recorded path through the function: the program and the form of the outputs."""

    #: Whether the function has caught the error of an operation, so that the path holds for these arguments only.
    has_caught_error = False

    def __init__(self, program: Program, outputs: Outputs, comparisons: list[Tally]) -> None:
        self.program, self.comparisons, self.structure = program, comparisons, outputs.structure
        self.shapes, self.together = outputs.shapes, outputs.together
        self.bodies: list[Any] = []  # of loops, which may grow while the program runs
        self.aux: Aux | None = None
        self.is_stored = True  # False beyond the largest number of paths
        self.code = ""  # the checksum of the function's code when the path was recorded (code.py)
        self.reads: Any = {}  # what the function read beside its arguments (reads.py)

    def to_state(self) -> tuple[Any, ...] | None:
        """Returns the state of the path for pickles; None where the program holds more than data."""
        program = self.program.to_bytes() if self.aux is None else None
        if program is None:
            return None
        return program, self.together([0.0] * len(self.shapes)), self.shapes, self.comparisons, self.code, self.reads

    @classmethod
    def of_state(cls, state: tuple[Any, ...]) -> Path:
        path = cls.__new__(cls)
        program, result, path.shapes, path.comparisons, path.code, path.reads = state
        path.program = program_of(program)
        path.bodies, path.aux, path.is_stored = [], None, True
        _, path.together, path.structure = flatten(result)
        return path


class Entry:
    """The data on calls with the same signature: the recorded paths, and the parameters of a transformation."""

    def __init__(self, parameters: Parameters | None, required: Any) -> None:
        self.paths: list[Path] = []
        self.parameters, self.required = parameters, required
        self.plan: CallPlan | None = None
        self.is_plain: bool | None = None
        self.learnt: list[Path] = []
        self._last_used = 0
        self.lock = threading.Lock()  # of the lists of paths; no function of the user is called meanwhile

    def add(self, path: Path, tried: int) -> list[Path]:
        """Stores a new path, unless the paths beyond the first `tried` may hold as well; returns these."""
        with self.lock:
            if len(self.paths) > tried:
                return self.paths[tried:]
            path.is_stored = len(self.paths) < MOST_PATHS
            if path.is_stored:
                self.paths.append(path)
            return []

    def used(self, now: int) -> None:
        self._last_used = now
        if self.plan is not None:
            self.plan.used()

    @property
    def last_used(self) -> int:
        return self._last_used if self.plan is None else self.plan.last_used


class WithPaths(ABC):
    """The interface of compiled functions for printing, pickling and copying: a function, and the recorded paths."""

    label: str
    function: Callable[..., Any]
    transformation: Transformation | None
    #: Whether, or to which tolerance, calls are compared with plain calls (check.py).
    check: bool | float
    #: Of solves within the function (_record/control.py).
    error_control: str
    #: The attribute of the class and the instance from which a method was made.
    bound: tuple[Any, Any] | None = None

    #: The arguments that the user promised not to change.
    static: StaticArguments
    #: Empty, or the instance whose method this is, which is looked into at each call.
    instance: tuple[Any, ...]

    @abstractmethod
    def __init__(
        self,
        function: Callable[..., Any],
        error_control: str = "auto",
        static: str | Sequence[str] = (),
        check: bool | float = False,
    ) -> None: ...

    @abstractmethod
    def recorded(self) -> list[tuple[Any, list[Path]]]:
        """Returns the paths with the signatures of the recorded calls."""

    @abstractmethod
    def add_recorded(self, example: tuple[Any, ...], paths: list[Path]) -> None:
        """Adds paths of another recording for such a call (args, kwargs, instance), unless there are paths already."""
