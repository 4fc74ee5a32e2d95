"""Defines the base classes of gradients, Jacobians and the other transformations, which record at each call.

A transformation calls the user's function once with recorded arrays in place of the parameters, and runs the reverse pass
through the recording. ``agrad.compile`` (``compiled``) records once and runs the program again instead.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from agrad._core import Array, Program, Recording, ResultKind, ScopeError, ShapeError
from agrad._record.nested import Part, capture, has_recorded
from agrad._record.recording import innermost, name_of, named_after, open_recording
from agrad._record.structure import Outputs, output_of
from agrad._record.trees import values_of
from agrad._record.within import differentiated
from agrad._transforms.by_name import ByName
from agrad._transforms.class_methods import bound_to
from agrad._transforms.engine import Engine, PartEngine, RecordingEngine
from agrad._transforms.parameters import ArgNums, Parameters, as_places

__all__ = ["Arguments", "OfScalar", "Result", "Transformation", "check_tangents", "separate"]

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


#: Names of recorded derivatives of an operation (program/derive/derivative_operations.hpp).
_DERIVED = re.compile(r"the (?:reverse pass|tangent) of (.*)")


def separate(label: str, result: Any, has_aux: bool) -> tuple[Any, Any]:
    """Splits the result of a user's function into the value and aux, which is None without `has_aux`."""
    if not has_aux:
        return result, None
    if not (isinstance(result, tuple) and len(result) == 2):
        raise TypeError(f"{label}: result is {result!r}, but must be a pair (value, aux) because has_aux is True")
    return result


def check_tangents(function: str, program: Program, hint: str, order: int = 2) -> None:
    """Raises if the program has an operation without tangents (order 1) or without second derivatives (order 2)."""
    if name := program.first_without_tangents(order):
        by_reverse_mode = program.first_without_tangents(1) == name
        derived = _DERIVED.fullmatch(name)
        if derived and (not by_reverse_mode or _DERIVED.fullmatch(derived[1])):
            derived = _DERIVED.fullmatch(derived[1]) or derived
            hint = "take differences of its second derivatives"
            raise NotImplementedError(f"{function}: third derivatives of {derived[1]} are not available; {hint}")
        how = ", by reverse mode" if by_reverse_mode else ""
        raise NotImplementedError(f"{function}: {name} has first derivatives only{how}, but must have more; {hint}")


class Transformation(ByName, ABC):
    """A function made from a function; each call records the function again, ``agrad.compile`` records once.

    A subclass computes its result by an engine (`of_engine`).
    """

    name = ""
    #: The compiled part's name for the result of a compiled call; None where plans do not know the transformation.
    plan: ResultKind | None = None
    #: Whether the transformation can be used inside of a recorded function.
    nests = True
    #: Whether arrays of integers are constants of a compiled function, as a pattern depends on them.
    keeps_integers = False
    #: The order of the derivatives in the result.
    orders = 1
    #: What to write instead where a function has no such derivatives, for messages.
    instead = ""
    #: The vector of a call beside the function's arguments, as for hvp.
    direction: Any = None

    def __init__(self, function: Callable[..., Any], argnums: ArgNums = 0, *, has_aux: bool = False) -> None:
        if not callable(function):
            raise TypeError(f"{self.name}: function is {function!r}, but must be callable")
        as_places(self.name, argnums)
        named_after(self, function)
        self.function, self.argnums, self.has_aux = function, argnums, has_aux
        self.label = f"{self.name}({name_of(function)})"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        bound, args = self.bind(args)
        around = innermost() if self.nests else None
        parameters = Parameters(self.name, args, self.argnums, around)
        bound.prepare(parameters)
        if around is not None and has_recorded((args, kwargs, bound.direction)):
            return bound.inside(around, parameters, args, kwargs)
        try:
            with open_recording(self.label, stores_adjoints=True, captures=around is not None) as recording:
                inputs = [recording.input(leaf) for leaf in parameters.leaves]
                given = [x.copy() for x in inputs]  # the function may write into the copies
                result = self.function(*parameters.put(args, given), **kwargs)
                output, aux = self.split_result(recording, result)
                capture(recording, aux)
                if not recording.captured:
                    engine = RecordingEngine(recording, output, inputs, parameters.leaves, self.check_order)
                    return bound.of_engine(engine, parameters, None if aux is None else values_of(aux))
        except ScopeError:
            if around is None:
                raise
        assert around is not None, "values are captured from a recording around"
        return bound.inside(around, parameters, args, kwargs)  # the function uses values of the recording around it

    def inside(self, recording: Recording, parameters: Parameters, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Returns the result where a recording is open already, as further operations of this recording."""
        part = Part(recording, parameters.leaves)
        given = [x.copy() for x in part.inputs]
        with differentiated(self.orders):
            result = self.function(*parameters.put(args, given), **kwargs)
        output, aux = self.split_result(recording, result)
        part.end()
        return self.of_engine(PartEngine(part, output), parameters, aux)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """Returns the transformation of an instance's method for an attribute of a class; `argnums` do not count `self`."""
        if instance is None:
            return self
        method = bound_to(self, instance)
        method.bound = self, instance
        return method

    def __repr__(self) -> str:
        return f"<{self.label}>"

    def bind(self, args: tuple[Any, ...]) -> tuple[Transformation, tuple[Any, ...]]:
        """Returns the transformation for a single call, with its own arguments such as a vector, and those of the function."""
        return self, args

    def prepare(self, parameters: Parameters) -> None:
        """Checks the transformation's own arguments against the parameters, before the recording."""

    def split_result(self, recording: Recording, result: Any) -> tuple[Array, Any]:
        """Returns the differentiated output of the user's function, and aux."""
        value, aux = separate(self.label, result, self.has_aux)
        output = output_of(recording, "result", value)
        self.check_real(output.is_condition)
        return self.check_output(output), aux

    def check_real(self, holds_truths: bool) -> None:
        """Raises for booleans, whose derivative would be zero."""
        if holds_truths:
            raise TypeError(
                f"{self.label}: result is a boolean or an array of booleans, but must be real numbers, because its derivative "
                "is zero; choose between numbers with np.where, or return booleans by has_aux"
            )

    def check_output(self, output: Array) -> Array:
        """Returns the output; raises where the transformation cannot differentiate such an output."""
        return output

    def with_aux(self, result: Any, aux: Any) -> Any:
        return (result, aux) if self.has_aux else result

    def outputs_of(self, recording: Recording, output: Array, beside: Any) -> tuple[Outputs, Any]:
        """Returns the outputs from the results of `split_result`, and the user's aux."""
        return Outputs(recording, output), beside

    def beside(self, aux: Any, form: Any) -> Any:
        """Returns the second result of `split_result`, from the user's aux and the outputs' shapes and structure."""
        return aux

    def check_order(self, program: Program, order: int) -> None:
        """Raises where the program has no tangents (order 1) or no second derivatives (order 2)."""
        check_tangents(self.name, program, self.instead, order)

    @abstractmethod
    def of_engine(self, engine: Engine, parameters: Parameters, beside: Any) -> Any:
        """Returns the transformation's result from a recorded function and the second result of `split_result`."""


class OfScalar(Transformation):
    """A transformation of functions whose value is a number."""

    @staticmethod
    def number(value: Any) -> Any:
        """Returns the value of an engine as a number, or as the recorded value."""
        return value if isinstance(value, Array) else value.item()

    def check_output(self, output: Array) -> Array:
        if output.shape != ():
            raise ShapeError(
                f"{self.label}: result is of shape {output.shape}, but must be a scalar; use agrad.jacobian, or sum it"
            )
        return output
