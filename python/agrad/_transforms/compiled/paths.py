"""Paths: what a compiled function has recorded, by the signatures of its calls."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from agrad._core import CallPlan, Program, program_of
from agrad._record.source import Tally
from agrad._record.structure import Outputs
from agrad._record.trees import flatten
from agrad._transforms.base import Transformation
from agrad._transforms.compiled.signatures import Aux
from agrad._transforms.parameters import Parameters

__all__ = ["Entry", "Path", "WithPaths"]


class Path:
    """One recorded path through the function: the program and what its outputs are."""

    def __init__(self, program: Program, outputs: Outputs, comparisons: list[Tally]) -> None:
        self.program, self.comparisons, self.structure = program, comparisons, outputs.structure
        self.shapes, self.together = outputs.shapes, outputs.together
        self.bodies: list[Any] = []  # of loops, which may grow while the program is run
        self.aux: Aux | None = None

    def kept(self) -> tuple[Any, ...] | None:
        """What pickles hold of it; None where the program holds more than data."""
        program = self.program.kept() if self.aux is None else None
        if program is None:
            return None
        return program, self.together([0.0] * len(self.shapes)), self.shapes, self.comparisons

    @classmethod
    def of_kept(cls, state: tuple[Any, ...]) -> Path:
        path = cls.__new__(cls)
        program, result, path.shapes, path.comparisons = state
        path.program = program_of(program)
        path.bodies, path.aux = [], None
        _, path.together, path.structure = flatten(result)
        return path


class Entry:
    """What is known of calls of one signature: the recorded paths, and for a transformation its parameters."""

    def __init__(self, parameters: Parameters | None, wanted: Any) -> None:
        self.paths: list[Path] = []
        self.parameters, self.wanted = parameters, wanted
        self.plan: CallPlan | None = None
        self.is_plain: bool | None = None
        self.learnt: list[Path] = []
        self._last_used = 0

    def used(self, now: int) -> None:
        self._last_used = now
        if self.plan is not None:
            self.plan.used()

    @property
    def last_used(self) -> int:
        return self._last_used if self.plan is None else self.plan.last_used


class WithPaths(ABC):
    """What those who print, pickle and copy compiled functions know of them: a function, and the paths that it has recorded."""

    label: str
    function: Callable[..., Any]
    transformation: Transformation | None

    @abstractmethod
    def __init__(self, function: Callable[..., Any]) -> None: ...

    @abstractmethod
    def recorded(self) -> list[tuple[Any, list[Path]]]:
        """The paths, by the signatures of calls that they were recorded for."""

    @abstractmethod
    def add_recorded(self, args: tuple[Any, ...], kwargs: dict[str, Any], paths: list[Path]) -> None:
        """Take over paths that were recorded elsewhere for such arguments, unless some are here."""
