"""Transformations of functions: gradients and Jacobians, recorded at each call.

A transformation calls the user's function once with recorded arrays in place of the parameters, and sweeps the recording
back where it stands. ``agrad.compile`` (``_compile``) records once and runs the program again instead.
"""

from __future__ import annotations

import functools
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ParamSpec, TypeVar

import numpy as np

from agrad._core import Array, Program, Recording, ShapeError, Wanted
from agrad._nested import Part, has_recorded
from agrad._recording import innermost, name_of, open_recording
from agrad._structure import output_of
from agrad._trees import direction, flatten, parameter, split, values_of

__all__ = ["Jacobian", "OfScalar", "Transformation", "check_tangents", "grad", "jacobian", "separate", "value_and_grad"]

ArgNums = int | Sequence[int]
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def as_places(function: str, argnums: ArgNums) -> tuple[bool, tuple[int, ...]]:
    """Whether argnums is a single one, and all of them."""
    try:
        single = not isinstance(argnums, Sequence)
        return single, tuple(map(operator.index, [argnums] if single else argnums))  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{function}: argnums is {argnums!r}, but must be an int or a sequence of ints") from None


class Parameters:
    """The arguments that a transformation differentiates with respect to, as leaves in float64."""

    def __init__(self, function: str, args: tuple[Any, ...], argnums: ArgNums, within: Recording | None = None) -> None:
        self.within = within  # the recording whose values may be among them
        self.single, self.places = as_places(function, argnums)
        for place in self.places:
            if not -len(args) <= place < len(args):
                raise TypeError(
                    f"{function}: argnums is {place}, but must be the place of a positional argument; {len(args)} were given"
                )
        if len({place % len(args) for place in self.places}) < len(self.places):
            raise TypeError(f"{function}: argnums is {argnums}, but must be different places")
        self._places_from_0 = [place % len(args) for place in self.places]
        leaves, self._together, self._structure = flatten(tuple(args[place] for place in self.places))
        self.leaves = [parameter(function, functools.partial(self.label, n), leaf, within) for n, leaf in enumerate(leaves)]
        self.shapes = [leaf.shape for leaf in self.leaves]

    def label(self, n: int) -> str:
        """What messages call a leaf: ``argument 0['rates'][2]``."""
        path = self._structure.accessors()[n]
        return str(path[1:].codify(f"argument {self._places_from_0[path[0].entry]}"))

    def put(self, args: tuple[Any, ...], leaves: Iterable[Any]) -> list[Any]:
        """The arguments with the parameters' leaves replaced."""
        replaced = list(args)
        for place, tree in zip(self.places, self._together(leaves), strict=True):
            replaced[place] = tree
        return replaced

    def together(self, leaves: Iterable[Any]) -> Any:
        """Leaves, one for each parameter, in the shape of the differentiated arguments."""
        trees = self._together(leaves)
        return trees[0] if self.single else tuple(trees)

    def direction(self, function: str, name: str, tree: Any) -> Any:
        """A direction in the shape of the differentiated arguments, as a vector; messages call it `name`."""
        if not self.single and not isinstance(tree, (tuple, list)):
            raise TypeError(f"{function}: {name} is {tree!r}, but must be a tuple, one for each differentiated argument")
        like = f"argument {self._places_from_0[0]}" if self.single else "the differentiated arguments"
        trees = (tree,) if self.single else tuple(tree)
        return direction(function, name, trees, like, self._structure, self.shapes, skip=int(self.single), within=self.within)


def separate(label: str, result: Any, has_aux: bool) -> tuple[Any, Any]:
    """What a user's function returned, as the value and what is handed on beside it."""
    if not has_aux:
        return result, None
    if not (isinstance(result, tuple) and len(result) == 2):
        raise TypeError(f"{label}: result is {result!r}, but must be a pair (value, aux) because has_aux is True")
    return result


def check_tangents(function: str, program: Program, hint: str, order: int = 2) -> None:
    """Raise if the program has an operation that no tangent (order 1), or no second derivative, can pass through."""
    if name := program.first_without_tangents(order):
        how = ", by its adjoint" if program.first_without_tangents(1) == name else ""
        raise NotImplementedError(f"{function}: {name} has first derivatives only{how}, but must have more; {hint}")


class Transformation(ABC):
    """A function made from a function; calling it records the function anew, ``agrad.compile`` records it once.

    A subclass says how to turn a recording's result (`of_recording`) or a program's (`of_program`) into its own.
    """

    name = ""
    #: What a compiled call of it is in the words of the compiled part; None where it has none.
    plan: Wanted | None = None
    #: Whether it can be used inside of a function that is recorded.
    nests = True
    #: What else a call is about than the function's arguments.
    direction: Any = None

    def __init__(self, function: Callable[..., Any], argnums: ArgNums = 0, *, has_aux: bool = False) -> None:
        if not callable(function):
            raise TypeError(f"{self.name}: function is {function!r}, but must be callable")
        as_places(self.name, argnums)
        functools.update_wrapper(self, function)
        self.function, self.argnums, self.has_aux = function, argnums, has_aux
        self.label = f"{self.name}({name_of(function)})"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        bound, args = self.bind(args)
        around = innermost() if self.nests else None
        parameters = Parameters(self.name, args, self.argnums, around)
        bound.prepare(parameters)
        if around is not None and has_recorded((args, kwargs, bound.direction)):
            return bound.inside(around, parameters, args, kwargs)
        with open_recording(self.label, keeps_adjoints=True, captures=around is not None) as recording:
            inputs = [recording.input(leaf) for leaf in parameters.leaves]
            given = [x.copy() for x in inputs]  # which the function may write into
            result = self.function(*parameters.put(args, given), **kwargs)
            output, aux = self.take_apart(recording, result)
            if not recording.captured:
                return bound.of_recording(recording, output, inputs, parameters, values_of(aux))
        assert around is not None, "nothing is captured without"
        return bound.inside(around, parameters, args, kwargs)  # the function uses values of the recording around it

    def inside(self, recording: Recording, parameters: Parameters, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result where a recording is open already: more of it."""
        part = Part(recording, parameters.leaves)
        given = [x.copy() for x in part.inputs]
        output, aux = self.take_apart(recording, self.function(*parameters.put(args, given), **kwargs))
        part.end()
        return self.of_part(part, output, parameters, aux)

    def bind(self, args: tuple[Any, ...]) -> tuple[Transformation, tuple[Any, ...]]:
        """The transformation for one call, with those of its arguments that are not the function's, and the others."""
        return self, args

    def prepare(self, parameters: Parameters) -> None:  # noqa: B027
        """Check what belongs to one call against the parameters, before anything is recorded."""

    def take_apart(self, recording: Recording, result: Any) -> tuple[Array, Any]:
        """The differentiated output of the user's function and what else it returned."""
        value, aux = separate(self.label, result, self.has_aux)
        return self.check_output(output_of(recording, "result", value)), aux

    def check_output(self, output: Array) -> Array:
        """Raise unless the transformation can do with such an output."""
        return output

    def with_aux(self, result: Any, aux: Any) -> Any:
        return (result, aux) if self.has_aux else result

    def of_part(self, part: Part, output: Array, parameters: Parameters, aux: Any) -> Any:
        """The transformation's result from a part of a recording, recorded; for classes that have `nests`."""
        raise NotImplementedError

    @abstractmethod
    def of_recording(self, recording: Recording, output: Array, inputs: list[Array], parameters: Parameters, aux: Any) -> Any:
        """The transformation's result from a recording."""

    @abstractmethod
    def of_program(self, program: Any, inputs: list[Any], wanted: slice, shape: tuple[int, ...], parameters: Parameters) -> Any:
        """The same from a run of a program; None when the program's path does not hold."""


class OfScalar(Transformation):
    """A transformation of functions whose value is a number."""

    def check_output(self, output: Array) -> Array:
        if output.shape != ():
            raise ShapeError(
                f"{self.label}: result is of shape {output.shape}, but must be a scalar; use agrad.jacobian, or sum it"
            )
        return output


class ValueAndGrad(OfScalar):
    """See :func:`value_and_grad`."""

    name = "value_and_grad"
    plan = Wanted.value_and_gradient

    def of_recording(self, recording: Recording, output: Array, inputs: list[Array], parameters: Parameters, aux: Any) -> Any:
        value = float(output.recorded_values)
        flat = recording.reverse(output, np.ones(()), inputs)
        return self.finish(value, flat, parameters, aux)

    def of_part(self, part: Part, output: Array, parameters: Parameters, aux: Any) -> Any:
        return self.finish(output, part.adjoints(output, np.ones(())), parameters, aux)

    def of_program(self, program: Any, inputs: list[Any], wanted: slice, shape: tuple[int, ...], parameters: Parameters) -> Any:
        result = program.value_and_vjp(inputs, np.ones(()))
        return None if result is None else self.finish(float(result[0][0]), result[1][wanted], parameters, None)

    def finish(self, value: Any, flat: Any, parameters: Parameters, aux: Any) -> Any:
        gradient = parameters.together(split(flat, parameters.shapes))
        return self.with_aux(value, aux), gradient


class Grad(ValueAndGrad):
    """See :func:`grad`."""

    name = "grad"
    plan = Wanted.gradient

    def finish(self, value: Any, flat: Any, parameters: Parameters, aux: Any) -> Any:
        return self.with_aux(parameters.together(split(flat, parameters.shapes)), aux)


class Jacobian(Transformation):
    """See :func:`jacobian`."""

    name = "jacobian"

    def of_recording(self, recording: Recording, output: Array, inputs: list[Array], parameters: Parameters, aux: Any) -> Any:
        rows = np.empty((output.size, sum(each.size for each in inputs)))
        for row, seed in zip(rows, np.eye(output.size), strict=True):
            row[:] = recording.reverse(output, seed, inputs)
        return self.with_aux(self.finish(rows, output.shape, parameters), aux)

    def of_part(self, part: Part, output: Array, parameters: Parameters, aux: Any) -> Any:
        matrix = part.columns(output) if part.size < output.size else part.rows(output)
        return self.with_aux(self.finish(matrix, output.shape, parameters), aux)

    def of_program(self, program: Any, inputs: list[Any], wanted: slice, shape: tuple[int, ...], parameters: Parameters) -> Any:
        result = program.jacobian(inputs)
        return None if result is None else self.finish(result[1][:, wanted], shape, parameters)

    def finish(self, rows: Any, shape: tuple[int, ...], parameters: Parameters) -> Any:
        flat = rows.reshape((*shape, rows.shape[-1]))
        return parameters.together(split(flat, parameters.shapes))


def value_and_grad(
    function: Callable[Arguments, Result], argnums: ArgNums = 0, *, has_aux: bool = False
) -> Callable[Arguments, tuple[Result, Any]]:
    """Make a function that returns the value of `function` and its gradient.

    Parameters
    ----------
    function : callable
        Returns a scalar; written with NumPy. Its parameters may be numbers, arrays, or nested dicts, lists, tuples and
        dataclasses of them, all floating-point.
    argnums : int or sequence of int
        The positional arguments to differentiate with respect to.
    has_aux : bool
        The function returns ``(value, aux)``; aux, any nested structure, is passed on as plain values.

    Returns
    -------
    callable
        With the arguments of `function`; returns ``(value, gradient)``, or ``((value, aux), gradient)``. The gradient has
        the structure of the argument, or is a tuple of such for a sequence of argnums.

    Raises
    ------
    ShapeError
        (When called) the function's value is no scalar.
    TypeError
        A parameter is integer, complex or no number; a recorded value is used where only a plain number can be.

    Notes
    -----
    The function is recorded anew at each call, so any Python control flow is right. :func:`compile` records once.

    Examples
    --------
    >>> import agrad as ag
    >>> ag.value_and_grad(lambda p: p["a"] ** 2 * p["b"])({"a": 3.0, "b": 2.0})
    (18.0, {'a': 12.0, 'b': 9.0})
    """
    return ValueAndGrad(function, argnums, has_aux=has_aux)


def grad(function: Callable[Arguments, Any], argnums: ArgNums = 0, *, has_aux: bool = False) -> Callable[Arguments, Any]:
    """Make a function that returns the gradient of `function`; as :func:`value_and_grad` without the value.

    Parameters
    ----------
    function : callable
        Returns a scalar (see :func:`value_and_grad`).
    argnums : int or sequence of int
        The positional arguments to differentiate with respect to.
    has_aux : bool
        The function returns ``(value, aux)``; the new one returns ``(gradient, aux)``.

    Returns
    -------
    callable
        With the arguments of `function`; returns the gradient in the structure of the argument.

    Examples
    --------
    >>> import numpy as np, agrad as ag
    >>> ag.grad(lambda x: np.sum(x**2))(np.array([1.0, 2.0]))
    array([2., 4.])
    """
    return Grad(function, argnums, has_aux=has_aux)


def jacobian(
    function: Callable[Arguments, Any],
    argnums: ArgNums = 0,
    *,
    has_aux: bool = False,
    sparse: bool = False,
    return_info: bool = False,
) -> Callable[Arguments, Any]:
    """Make a function that returns the Jacobian of `function`.

    Parameters
    ----------
    function : callable
        Returns an array, or a list that is made into one by :func:`agrad.array`.
    argnums : int or sequence of int
        The positional arguments to differentiate with respect to.
    has_aux : bool
        The function returns ``(value, aux)``; the new one returns ``(jacobian, aux)``.
    sparse : bool
        Return a :class:`scipy.sparse.csr_array`, computed from as few products as the pattern of the recorded function allows.
    return_info : bool
        With ``sparse``: return ``(jacobian, info)``, where info is a :class:`Sparsity` with the pattern and how many colours,
        that is products, were needed.

    Returns
    -------
    callable
        With the arguments of `function`; returns, in the structure of the argument, arrays of the output's shape followed
        by the leaf's shape. With ``sparse`` it returns one matrix: its rows are the entries of the output in C order, its
        columns those of all leaves of the differentiated arguments, one after the other. Entries of the pattern that happen
        to be zero are stored, so that the structure is the same at every point of a recorded path.

    Raises
    ------
    ValueError
        (When called) with ``sparse``, the pattern has more than 2**28 entries.

    Examples
    --------
    >>> import numpy as np, agrad as ag
    >>> ag.jacobian(lambda x: x**2)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    >>> matrix, info = ag.jacobian(lambda x: np.sin(x[1:] - x[:-1]), sparse=True, return_info=True)(np.zeros(1000))
    >>> matrix.shape, matrix.nnz, info.colours
    ((999, 1000), 1998, 2)
    """
    if sparse or return_info:
        from agrad._sparse import sparse_jacobian

        return sparse_jacobian(function, argnums, has_aux=has_aux, sparse=sparse, return_info=return_info)
    return Jacobian(function, argnums, has_aux=has_aux)
