"""Defines engines: one interface to the value and the products of a recorded function, wherever the function is recorded.

A transformation needs a function's value and products with its derivatives at a point. Three engines compute them: a recording,
by its own reverse pass; a program, by runs; a part of a recording around the call, by further operations of that recording.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from agrad._core import Array, Program, Recording, ScopeError
from agrad._record.nested import Part

__all__ = ["CaptureError", "Check", "Engine", "PartEngine", "PathLeftError", "ProgramEngine", "RecordingEngine", "held"]

#: Raises where a program cannot compute tangents (order 1) or second derivatives (order 2).
Check = Callable[[Program, int], None]


class PathLeftError(Exception):
    """A comparison in a run of a program differs from the recording, so the result is for another path."""


class CaptureError(ScopeError):
    """A function that is compiled uses values of a recording around the call, so it is recorded there and has no program."""


def held(result: Any) -> Any:
    """Returns the result of a run; raises where the path of the program does not hold."""
    if result is None:
        raise PathLeftError
    return result


class Engine(ABC):
    """A function of one flat vector, the entries of all inputs, at a point; Jacobians have a row for each output."""

    @abstractmethod
    def value_and_vjp(self, seeds: Any) -> tuple[Any, Any]:
        """Returns the value, and the adjoints of the inputs for adjoints of the output, which have the output's shape."""

    @abstractmethod
    def value_and_jvp(self, along: Any) -> tuple[Any, Any]:
        """Returns the value and the tangent of the output for a direction of the inputs."""

    @abstractmethod
    def rows(self) -> Any:
        """Returns the Jacobian by reverse mode."""

    @abstractmethod
    def columns(self) -> Any:
        """Returns the Jacobian by forward mode."""

    @abstractmethod
    def jacobian(self) -> Any:
        """Returns the Jacobian by the cheaper mode."""

    @abstractmethod
    def hessian_products(self, directions: Any) -> Any:
        """Returns the derivatives of the gradient of a scalar function along each direction, a row for each."""


class ProgramEngine(Engine):
    """A program with values of all inputs, of which `required` are the function's; each run may raise PathLeftError."""

    def __init__(self, program: Program, inputs: list[Any], check: Check, required: Any = slice(None)) -> None:
        self.program, self.inputs, self.required, self._check = program, inputs, required, check

    def check(self, order: int) -> None:
        """Raises where the program has no tangents (order 1) or no second derivatives (order 2)."""
        self._check(self.program, order)

    def value(self) -> Any:
        """Returns the value, flat."""
        return held(self.program.forward(self.inputs))

    def value_and_vjp(self, seeds: Any) -> tuple[Any, Any]:
        value, adjoints = held(self.program.value_and_vjp(self.inputs, seeds))
        return value, adjoints[self.required]

    def value_and_jvp(self, along: Any) -> tuple[Any, Any]:
        self.check(1)
        value, tangents = held(self.program.jacobian_products(self.inputs, self._directions(along[np.newaxis])))
        return value, tangents[0]

    def rows(self) -> Any:
        return held(self.program.adjoint_products(self.inputs, np.eye(self.program.output_size)))[1][:, self.required]

    def columns(self) -> Any:
        self.check(1)
        return held(self.program.jacobian_products(self.inputs, np.eye(self.program.input_size)[self.required]))[1].T

    def jacobian(self) -> Any:
        return held(self.program.jacobian(self.inputs))[1][:, self.required]

    def hessian_products(self, directions: Any) -> Any:
        self.check(2)
        products = held(self.program.hessian_products(self.inputs, np.ones(1), self._directions(directions)))[2]
        return products[:, self.required]

    def _directions(self, of_required: Any) -> Any:
        """Returns directions of all inputs; those that are not required do not change."""
        if isinstance(self.required, slice) and self.required == slice(None):
            return of_required
        directions = np.zeros((len(of_required), self.program.input_size))
        directions[:, self.required] = of_required
        return directions


class RecordingEngine(Engine):
    """A recording of its own, and the values of its inputs; tangents come from a program of the recording."""

    def __init__(self, recording: Recording, output: Array, inputs: list[Array], values: list[Any], check: Check) -> None:
        self.recording, self.output, self.inputs = recording, output, inputs
        self._values, self._check = values, check

    def program(self) -> ProgramEngine:
        """Returns the engine of a new program of the recording."""
        return ProgramEngine(self.recording.program(self.output), self._values, self._check)

    def vjp(self, seeds: Any) -> Any:
        """Returns the adjoints of the inputs for adjoints of the output."""
        return self.recording.reverse(self.output, seeds, self.inputs)

    def value_and_vjp(self, seeds: Any) -> tuple[Any, Any]:
        return self.output.recorded_values, self.vjp(seeds)

    def value_and_jvp(self, along: Any) -> tuple[Any, Any]:
        return self.program().value_and_jvp(along)

    def rows(self) -> Any:
        rows = np.empty((self.output.size, sum(each.size for each in self.inputs)))
        for row, seed in zip(rows, np.eye(self.output.size), strict=True):
            row[:] = self.vjp(seed)
        return rows

    def columns(self) -> Any:
        return self.program().columns()

    def jacobian(self) -> Any:
        return self.rows()

    def hessian_products(self, directions: Any) -> Any:
        return self.program().hessian_products(directions)


class PartEngine(Engine):
    """A part of a recording around the call: results are recorded values, which can be differentiated again."""

    def __init__(self, part: Part, output: Array) -> None:
        self.part, self.output = part, output

    def value_and_vjp(self, seeds: Any) -> tuple[Any, Any]:
        return self.output, self.part.adjoints(self.output, seeds)

    def value_and_jvp(self, along: Any) -> tuple[Any, Any]:
        return self.output, self.part.tangents(self.output, along)

    def rows(self) -> Any:
        return self.part.rows(self.output)

    def columns(self) -> Any:
        return self.part.columns(self.output)

    def jacobian(self) -> Any:
        return self.columns() if self.part.size < self.output.size else self.rows()

    def hessian_products(self, directions: Any) -> Any:
        gradient = self.part.adjoints(self.output, np.ones(()))
        self.part.end()
        products = [self._second(gradient, row) for row in directions]
        return np.stack(products) if products else np.zeros((0, 0))

    def _second(self, gradient: Array, along: Any) -> Any:
        """Returns the gradient's tangent, as outside of recordings, or its adjoint, the same for smooth functions."""
        try:
            return np.ravel(self.part.tangents(gradient, along))
        except NotImplementedError:
            return self.part.adjoints(gradient, along)
