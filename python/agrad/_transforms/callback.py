"""Records a user's function and its derivative as an operation, which calls the function with plain values at each run.

The operation (python/bindings/programs/callback.cpp) has vectors. This module converts the vectors to the arguments of the
user's function, checks the results, and converts the results back to vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from agrad._core import Array, ShapeError, record_callback
from agrad._record.recording import no_recording
from agrad._record.structure import find_recording
from agrad._record.trees import flatten, split, without_data

__all__ = ["Call", "JvpCall", "VjpCall", "not_linear"]

Vector = np.ndarray[Any, np.dtype[np.float64]]


class _Names:
    """The names of a structure's leaves in messages, computed only for a message."""

    def __init__(self, root: str, structure: Any) -> None:
        self.root, self.structure = root, structure

    def __getitem__(self, n: int) -> str:
        return str(self.structure.accessors()[n].codify(self.root))


def _values(names: _Names, n: int, leaf: Any, shape: tuple[int, ...] | None, like: str) -> Vector:
    """Returns leaf n of a user function's result as float64; raises unless the leaf is plain, real and of that shape."""
    if isinstance(leaf, float):
        values: Vector = np.array(leaf)
    else:
        values = _real(names, n, leaf)
    if shape is not None and values.shape != shape:
        raise ShapeError(f"{names[n]} is of shape {values.shape}, but must be of shape {shape}, as {like}")
    return values


def _real(names: _Names, n: int, leaf: Any) -> Vector:
    if isinstance(leaf, Array):
        raise TypeError(
            f"{names[n]} is a recorded value of {leaf.recording.function}, but must be plain; the values from which it "
            "was computed must be arguments of the function"
        )
    if leaf is None:
        raise TypeError(f"{names[n]} is None, but must be real numbers; does the function return?")
    values = np.asarray(leaf)
    if values.dtype.kind not in "fiub":
        raise TypeError(f"{names[n]} is {leaf!r}, but must be real numbers")
    return values.astype(np.float64)


class Call:
    """The arguments of a call as leaves: which leaves are recorded, and how the leaves form the arguments again."""

    def __init__(self, label: str, args: tuple[Any, ...], nondiff_argnums: Sequence[int]) -> None:
        args = without_data(args)
        self.label, self.args = label, args
        for place in nondiff_argnums:
            if place >= len(args):
                raise TypeError(
                    f"{label}: nondiff_argnums is {place}, but must be the place of an argument; {len(args)} were given"
                )
        self.nondiff = [args[place] for place in nondiff_argnums]
        self.places = [place for place in range(len(args)) if place not in nondiff_argnums]
        if find_recording(*flatten(self.nondiff)[0]) is not None:
            raise TypeError(
                f"{label}: an argument of nondiff_argnums is recorded, but must be plain; leave the argument out of "
                "nondiff_argnums"
            )
        self._nondiff_argnums = nondiff_argnums
        self.leaves, self._together, self.structure = flatten([args[place] for place in self.places])
        self.is_input = [isinstance(leaf, Array) for leaf in self.leaves]
        self.inputs = [leaf for leaf in self.leaves if isinstance(leaf, Array)]
        self.is_plain = not self.inputs

    def primals(self, inputs: Sequence[Any]) -> tuple[Any, ...]:
        """Returns the arguments that may be differentiated, with other values in place of the recorded leaves."""
        fresh = iter(inputs)
        return tuple(
            self._together([next(fresh) if given else leaf for leaf, given in zip(self.leaves, self.is_input, strict=True)])
        )

    def with_inputs(self, inputs: Sequence[Any]) -> list[Any]:
        """Returns all arguments, with other values in place of the recorded leaves."""
        args = list(self.args)
        for place, argument in zip(self.places, self.primals(inputs), strict=True):
            args[place] = argument
        return args

    def tangents(self, along: Sequence[Any]) -> tuple[Any, ...]:
        """Returns the primals' tangents: `along` for recorded leaves, zeros for other numbers, None for other objects."""
        fresh = iter(along)
        return tuple(
            self._together(
                [next(fresh) if given else _zeros(leaf) for leaf, given in zip(self.leaves, self.is_input, strict=True)]
            )
        )

    def jvp(self, function: Callable[..., Any], inputs: Sequence[Any], along: Sequence[Any], structure: Any) -> list[Any]:
        """Returns the leaves of the tangent from a user's function; raises unless the tangent has the result's structure."""
        pair = function(*self.nondiff, self.primals(inputs), self.tangents(along))
        if not (isinstance(pair, tuple) and len(pair) == 2):
            raise TypeError(f"{self.label}: the derivative returned {pair!r}, but must return a pair (result, tangent)")
        leaves, _, its_structure = flatten(pair[1])
        if its_structure != structure:
            raise TypeError(f"{self.label}: tangent is {pair[1]!r}, but must be of the structure of the result")
        return leaves


def _zeros(leaf: Any) -> Any:
    if isinstance(leaf, (float, int, complex, np.ndarray, np.generic)):
        shape = np.shape(leaf)
        return np.zeros(shape) if shape else 0.0
    return None


class Callback:
    """An operation: the recorded call, and the structure of the result, known from the first run."""

    def __init__(self, call: Call, function: Callable[..., Any]) -> None:
        self.call, self.function = call, function
        self.shapes = [x.shape for x in call.inputs]
        self.structure: Any = None
        self.result_shapes: list[tuple[int, ...]] = []

    def record(self) -> Any:
        """Records the operation and returns the result, of recorded arrays."""
        call = self.call
        recording = find_recording(*call.inputs)
        assert recording is not None, "one of the arguments is recorded"
        parts = [recording.array(each) for each in call.inputs]
        x = parts[0].with_slots(np.concatenate([part.slots.ravel() for part in parts]))
        call.leaves = [None if given else leaf for leaf, given in zip(call.leaves, call.is_input, strict=True)]
        call.inputs, call.args = [], tuple(None if place in call.places else x for place, x in enumerate(call.args))
        y = record_callback(call.label, _plainly(self.forward), _plainly(self.reverse), x)
        return self.together([y.with_slots(slots) for slots in slots_of(y, self.result_shapes)])

    def forward(self, x: Vector, with_adjoint: bool) -> tuple[Vector, Any]:
        """Runs the operation forwards. Returns the values, and residuals for `reverse`."""
        raise NotImplementedError

    def reverse(self, residuals: Any, y_adjoint: Vector) -> Vector:
        """Returns the adjoints of x."""
        raise NotImplementedError

    def flat(self, result: Any) -> Vector:
        """Returns a result of the user's function as a vector; raises unless the structure is that of the first result."""
        leaves, together, structure = flatten(result)
        if self.structure is None:
            self.structure, self.together = structure, together
            self.names = _Names(f"{self.call.label}: result", structure)
            shapes: Sequence[tuple[int, ...] | None] = [None] * len(leaves)
        elif structure != self.structure:
            raise TypeError(
                f"{self.call.label}: result is {result!r}, but must be of the structure that it had when it was recorded"
            )
        else:
            shapes = self.result_shapes
        like = "it was when it was recorded"
        parts = [_values(self.names, n, leaf, shape, like) for n, (leaf, shape) in enumerate(zip(leaves, shapes, strict=True))]
        self.result_shapes = [part.shape for part in parts]
        return _joined(parts)


def _plainly(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns the function, with calls outside of the recording that runs the operation."""

    def run(*args: Any) -> Any:
        with no_recording():
            return function(*args)

    return run


class VjpCall(Callback):
    """A callback whose reverse pass is the user's ``bwd``."""

    def __init__(self, call: Call, function: Callable[..., Any], fwd: Callable[..., Any], bwd: Callable[..., Any]) -> None:
        super().__init__(call, function)
        self.fwd, self.bwd = fwd, bwd

    def forward(self, x: Vector, with_adjoint: bool) -> tuple[Vector, Any]:
        args = self.call.with_inputs(split(x, self.shapes))
        if not with_adjoint:
            return self.flat(self.function(*args)), None
        pair = self.fwd(*args)
        if not (isinstance(pair, tuple) and len(pair) == 2):
            raise TypeError(f"{self.call.label}: fwd returned {pair!r}, but must return a pair (result, residuals)")
        return self.flat(pair[0]), pair[1]

    def reverse(self, residuals: Any, y_adjoint: Vector) -> Vector:
        call = self.call
        back = self.bwd(*call.nondiff, residuals, self.together(split(y_adjoint, self.result_shapes)))
        if len(call.places) == 1 and not isinstance(back, (tuple, list)):
            back = (back,)
        if not isinstance(back, (tuple, list)) or len(back) != len(call.places):
            raise TypeError(
                f"{call.label}: bwd returned {back!r}, but must return a tuple of {len(call.places)}, one for each argument"
            )
        return _joined(self._cotangents(back))

    def _cotangents(self, back: Sequence[Any]) -> list[Vector]:
        """Returns the parts of a cotangent that belong to recorded leaves."""
        call, parts = self.call, []
        shapes, begin = iter(self.shapes), 0
        for place, given, structure in zip(call.places, back, call.structure.children(), strict=True):
            names = _Names(f"{call.label}: cotangent of argument {place}", structure)
            end = begin + structure.num_leaves
            leaves, _, its_structure = flatten(given)
            if given is None:
                leaves = [None] * (end - begin)
            elif its_structure != structure:
                raise TypeError(f"{names.root} is {given!r}, but must be of the structure of the argument")
            for n, (leaf, is_input) in enumerate(zip(leaves, call.is_input[begin:end], strict=True)):
                if is_input:
                    shape = next(shapes)
                    parts.append(np.zeros(shape) if leaf is None else _values(names, n, leaf, shape, "the argument"))
            begin = end
        return parts


class JvpCall(Callback):
    """A callback with a derivative for a single direction; the reverse pass evaluates a direction for each entry of x."""

    def __init__(self, call: Call, function: Callable[..., Any], derivative: Callable[..., Any]) -> None:
        super().__init__(call, function)
        self.derivative, self.is_known_linear = derivative, False

    def forward(self, x: Vector, with_adjoint: bool) -> tuple[Vector, Any]:
        return self.flat(self.function(*self.call.with_inputs(split(x.copy(), self.shapes)))), x

    def reverse(self, residuals: Any, y_adjoint: Vector) -> Vector:
        columns = [self._column(residuals, direction) for direction in np.eye(residuals.size)]
        if not self.is_known_linear:
            self._check_linear(residuals, columns)
        return np.array([column @ y_adjoint for column in columns])

    def _column(self, x: Vector, direction: Vector) -> Vector:
        """Returns the tangent of the result in a direction."""
        names = _Names(f"{self.call.label}: tangent", self.structure)
        point, along = split(x.copy(), self.shapes), split(direction, self.shapes)
        leaves = self.call.jvp(self.derivative, point, along, self.structure)
        each = enumerate(zip(leaves, self.result_shapes, strict=True))
        return _joined([_values(names, k, leaf, shape, "the result") for k, (leaf, shape) in each])

    def _check_linear(self, x: Vector, columns: Sequence[Vector]) -> None:
        """Raises unless the tangent in a further direction is the linear combination of the entries' tangents."""
        weights = -1.5 - 0.5 * np.cos(np.arange(len(columns)))
        expected = np.array([weight * column for weight, column in zip(weights, columns, strict=True)])
        given = self._column(x, weights)
        error, size = np.abs(given - np.sum(expected, 0)), np.sum(np.abs(expected), 0)
        if np.any(error > 1e-3 * np.maximum(size, np.abs(given))):  # solvers within are linear up to their tolerances
            raise TypeError(not_linear(self.call.label))
        self.is_known_linear = True


def not_linear(label: str) -> str:
    """Returns the message for a derivative by hand that is not linear in the tangents."""
    return (
        f"{label}: the tangent that the derivative returned is not linear in the given tangents, but must be the "
        "product of the Jacobian and the given tangents, without powers, absolute values, conditions or constants"
    )


def slots_of(y: Array, shapes: Sequence[tuple[int, ...]]) -> list[np.ndarray[Any, Any]]:
    """Returns the slots of a vector in consecutive parts of the given shapes."""
    ends = np.cumsum([int(np.prod(shape, dtype=int)) for shape in shapes])
    return [part.reshape(shape) for part, shape in zip(np.split(y.slots, ends), shapes, strict=False)]


def _joined(parts: Sequence[Vector]) -> Vector:
    return np.concatenate([part.ravel() for part in parts]) if parts else np.zeros(0)
