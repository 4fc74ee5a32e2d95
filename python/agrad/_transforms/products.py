"""Defines the products of a Jacobian and a vector, jvp and vjp, with JAX's signatures.

The function is recorded at the call; a compiled function runs its recorded program.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeGuard, TypeVar, overload

from agrad._core import Array, Recording
from agrad._record.nested import Part, capture, has_recorded, known
from agrad._record.recording import innermost, name_of, open_recording
from agrad._record.structure import Outputs
from agrad._record.trees import direction, split, values_of
from agrad._record.within import differentiated
from agrad._transforms.base import check_tangents, separate
from agrad._transforms.compiled.compile import Compiled
from agrad._transforms.compiled.paths import Path
from agrad._transforms.engine import CaptureError, Check, PartEngine, ProgramEngine, RecordingEngine
from agrad._transforms.parameters import Parameters

__all__ = ["Inside", "Recorded", "check_for", "is_recorded", "jvp", "parameters_of", "vjp"]

Result = TypeVar("Result")
Aux = TypeVar("Aux")


def is_recorded(function: Callable[..., Any]) -> TypeGuard[Compiled[..., Any]]:
    """Returns whether the function is compiled, and so runs its recorded program."""
    return isinstance(function, Compiled) and function.transformation is None and not function.instance


def parameters_of(
    name: str, function: Callable[..., Any], primals: Sequence[Any], has_aux: bool, within: Recording | None
) -> Parameters:
    """Returns all primals as parameters, after the checks before the call of the function."""
    if not callable(function):
        raise TypeError(f"{name}: function is {function!r}, but must be callable")
    if has_aux and is_recorded(function):
        raise TypeError(f"{name}: has_aux is True, but must be False for a compiled function; return everything as its value")
    return Parameters(name, tuple(primals), range(len(primals)), within)


def check_for(name: str) -> Check:
    """Returns the check of a transformation that is forward mode."""
    return lambda program, order: check_tangents(name, program, "use vjp", order)


class Inside:
    """A function that is recorded as a part of a recording that is open already."""

    def __init__(
        self, name: str, function: Callable[..., Any], primals: Sequence[Any], parameters: Parameters, recording: Recording
    ) -> None:
        self.label = f"{name}({name_of(function)})"
        self.recording, self.arguments = recording, primals
        self.part = Part(recording, parameters.leaves)
        given = [x.copy() for x in self.part.inputs]
        with differentiated(1):
            self.result = function(*parameters.put(tuple(primals), given))

    def outputs(self, has_aux: bool) -> tuple[Outputs, Any]:
        value, aux = separate(self.label, self.result, has_aux)
        outputs = Outputs(self.recording, value)
        self.part.end()
        return outputs, known(aux, self.arguments)

    def together(self, outputs: Outputs, flat: Array) -> Any:
        return known(outputs.together(split(flat, outputs.shapes)), self.arguments)


class Recorded:
    """A function recorded at the primals: outputs, values, aux, and the engine of the recording."""

    def __init__(
        self,
        name: str,
        function: Callable[..., Any],
        primals: Sequence[Any],
        parameters: Parameters,
        has_aux: bool,
        *,
        captures: bool = False,
    ) -> None:
        label = f"{name}({name_of(function)})"
        with open_recording(label, stores_adjoints=True, captures=captures) as recording:
            inputs = [recording.input(leaf) for leaf in parameters.leaves]
            given = [x.copy() for x in inputs]  # the function may write into the copies
            result = function(*parameters.put(tuple(primals), given))
            value, aux = separate(label, result, has_aux)
            capture(recording, aux)
            self.outputs, self.aux = Outputs(recording, value), values_of(aux)
            self.engine = RecordingEngine(recording, self.outputs.joined, inputs, parameters.leaves, check_for(name))
            self.captured = recording.captured

    def value(self) -> Any:
        flat = self.outputs.joined.recorded_values
        return self.outputs.together(split(flat, self.outputs.shapes))


@overload
def jvp(
    function: Callable[..., Result], primals: Sequence[Any], tangents: Sequence[Any], *, has_aux: Literal[False] = False
) -> tuple[Result, Result]: ...
@overload
def jvp(
    function: Callable[..., tuple[Result, Aux]], primals: Sequence[Any], tangents: Sequence[Any], *, has_aux: Literal[True]
) -> tuple[Result, Result, Aux]: ...
def jvp(function: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], *, has_aux: bool = False) -> Any:
    """Return the value of a function and the directional derivative: the Jacobian times a vector, by forward mode.

    Parameters
    ----------
    function : callable
        Takes the primals as positional arguments; returns numbers and arrays in any nested structure. A compiled function
        runs its recorded program.
    primals : tuple or list
        The arguments at which to differentiate; all are parameters, so all are floating-point.
    tangents : tuple or list
        The direction: a tangent for each primal, of the primal's structure and shapes.
    has_aux : bool
        The function returns ``(value, aux)``; aux is returned as plain values, or recorded ones inside of a
        recorded function.

    Returns
    -------
    tuple
        ``(value, tangent)``, both of the structure of the function's value, or ``(value, tangent, aux)``.

    Raises
    ------
    ShapeError
        A tangent is of another shape than its primal.
    TypeError
        The tangents have another structure than the primals; a primal is integer, complex or no number.
    NotImplementedError
        An operation has no tangents, as a :func:`custom_vjp`.

    Notes
    -----
    A call costs a small multiple of the function, and records the function anew. For several directions at one point
    :func:`linearize` records once; for all directions :func:`jacfwd` computes eight at a time.

    References
    ----------
    Griewank and Walther (2008), Evaluating Derivatives, 2nd edition, chapter 3.

    Examples
    --------
    >>> import agrad as ag
    >>> ag.jvp(lambda x, y: {"product": x * y}, (2.0, 3.0), (1.0, 10.0))
    ({'product': 6.0}, {'product': 23.0})
    """
    for name, given in (("primals", primals), ("tangents", tangents)):
        if not isinstance(given, (tuple, list)):
            raise TypeError(f"jvp: {name} is {given!r}, but must be a tuple or list, one for each argument")
    around = innermost()
    parameters = parameters_of("jvp", function, primals, has_aux, around)
    along = parameters.direction("jvp", "tangents", tangents)
    if around is not None and has_recorded((primals, tangents)):
        return _jvp_inside(Inside("jvp", function, primals, parameters, around), along, has_aux)

    outputs: Outputs | Path
    aux = None
    if is_recorded(function):
        check = check_for("jvp")
        try:
            outputs, both = function.run(
                tuple(primals), lambda program: ProgramEngine(program, parameters.leaves, check).value_and_jvp(along)
            )
        except CaptureError:
            assert around is not None, "values are captured from a recording around"
            return _jvp_inside(Inside("jvp", function, primals, parameters, around), along, has_aux)
    else:
        recorded = Recorded("jvp", function, primals, parameters, has_aux, captures=around is not None)
        if around is not None and recorded.captured:  # the function uses values of the recording around it
            return _jvp_inside(Inside("jvp", function, primals, parameters, around), along, has_aux)
        outputs, aux = recorded.outputs, recorded.aux
        both = recorded.engine.value_and_jvp(along)
    value, tangent = (outputs.together(split(x, outputs.shapes)) for x in both)
    return (value, tangent, aux) if has_aux else (value, tangent)


def _jvp_inside(inside: Inside, along: Any, has_aux: bool) -> Any:
    outputs, aux = inside.outputs(has_aux)
    both = PartEngine(inside.part, outputs.joined).value_and_jvp(along)
    value, tangent = (inside.together(outputs, x) for x in both)
    return (value, tangent, aux) if has_aux else (value, tangent)


@overload
def vjp(
    function: Callable[..., Result], *primals: Any, has_aux: Literal[False] = False
) -> tuple[Result, Callable[[Any], tuple[Any, ...]]]: ...
@overload
def vjp(
    function: Callable[..., tuple[Result, Aux]], *primals: Any, has_aux: Literal[True]
) -> tuple[Result, Callable[[Any], tuple[Any, ...]], Aux]: ...
def vjp(function: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """Return the value of a function, and a function that multiplies the transposed Jacobian by vectors, in reverse mode.

    Parameters
    ----------
    function : callable
        Takes the primals as positional arguments; returns numbers and arrays in any nested structure. A compiled function
        runs its recorded program.
    *primals : floating-point numbers, arrays, nested structures of them
        The arguments at which to differentiate; all are parameters.
    has_aux : bool
        The function returns ``(value, aux)``; aux is returned as plain values, or recorded ones inside of a
        recorded function.

    Returns
    -------
    tuple
        ``(value, pullback)`` or ``(value, pullback, aux)``. ``pullback(cotangent)`` takes a cotangent of the structure and
        shapes of the value and returns a tuple: for each primal, a cotangent of the primal's structure and shapes. Several
        threads may call the pullback, many times; each call is a reverse pass (for a compiled function after a forward pass).

    Raises
    ------
    ShapeError
        (By the pullback) a part of the cotangent is of another shape than the value's.
    TypeError
        A primal is integer, complex or no number; (by the pullback) the cotangent has another structure than the value.

    Notes
    -----
    A call of the pullback costs a small multiple of the function, for any number of primals. The pullback is the derivative at
    the primals, also where their arrays are overwritten later, and keeps the recording in memory as long as it exists.

    References
    ----------
    Griewank and Walther (2008), Evaluating Derivatives, 2nd edition, chapter 3.

    Examples
    --------
    >>> import agrad as ag
    >>> value, pullback = ag.vjp(lambda x, y: (x * y, x), 2.0, 3.0)
    >>> value, pullback((1.0, 10.0))
    ((6.0, 2.0), (13.0, 2.0))
    """
    around = innermost()
    parameters = parameters_of("vjp", function, primals, has_aux, around)
    if around is not None:
        return _vjp_inside(Inside("vjp", function, primals, parameters, around), parameters, has_aux)
    outputs: Outputs | Path
    aux = None
    if is_recorded(function):
        leaves = [leaf.copy() for leaf in parameters.leaves]  # the caller may write into the arrays before the pullback
        check = check_for("vjp")
        outputs, flat = function.run(primals, lambda program: ProgramEngine(program, leaves, check).value())
        value, engine = outputs.together(split(flat, outputs.shapes)), ProgramEngine(outputs.program, leaves, check)

        def reverse(seeds: Any) -> Any:
            return engine.value_and_vjp(seeds)[1]
    else:
        recorded = Recorded("vjp", function, primals, parameters, has_aux)
        outputs, value, aux, lock = recorded.outputs, recorded.value(), recorded.aux, threading.Lock()

        def reverse(seeds: Any) -> Any:
            with lock:  # the recording has a single vector of adjoints
                return recorded.engine.vjp(seeds)

    def pullback(cotangent: Any) -> tuple[Any, ...]:
        seeds = direction("vjp", "cotangent", cotangent, "the value", outputs.structure, outputs.shapes)
        return tuple(parameters.together(split(reverse(seeds), parameters.shapes)))

    return (value, pullback, aux) if has_aux else (value, pullback)


def _vjp_inside(inside: Inside, parameters: Parameters, has_aux: bool) -> Any:
    outputs, aux = inside.outputs(has_aux)
    value = inside.together(outputs, outputs.joined)

    def pullback(cotangent: Any) -> tuple[Any, ...]:
        seeds = direction(
            "vjp", "cotangent", cotangent, "the value", outputs.structure, outputs.shapes, within=inside.recording
        )
        _, flat = PartEngine(inside.part, outputs.joined).value_and_vjp(seeds)
        back = tuple(parameters.together(split(flat, parameters.shapes)))
        result: tuple[Any, ...] = known(back, (inside.arguments, cotangent))
        return result

    return (value, pullback, aux) if has_aux else (value, pullback)
