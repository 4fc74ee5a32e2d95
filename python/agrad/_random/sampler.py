"""Defines the common part of functions that draw random numbers: checks and shapes of parameters, and the generator.

A function is written for checked arrays of one shape: its parameters have the shape ``size``, followed by their own axes, which
letters name; letters that occur in several parameters are one length. `sampler` makes the function for users of it.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, ParamSpec, TypeAlias

import numpy as np

from agrad._core import ShapeError, checked, density_rows
from agrad._random.conditions import TOO_LARGE, fail_unless, is_whole
from agrad._record.structure import find_recording

__all__ = ["NO_DERIVATIVE", "Argument", "Numbers", "Seed", "Size", "generator", "sampler", "shape_of"]

P = ParamSpec("P")
#: Parameters: numbers or array-like for users, a checked array within a function.
Numbers: TypeAlias = Any
Seed: TypeAlias = np.random.Generator | np.random.BitGenerator | np.random.SeedSequence | int | Sequence[int] | None
Size: TypeAlias = int | Sequence[int] | None
Shape: TypeAlias = tuple[int, ...]

_ROWS = {row.name: row for row in density_rows()}
NO_DERIVATIVE = (
    "but must be plain, because a random number has no derivative; draw numbers that do not depend on it, outside of the"
    " recorded function, and compute with them, as mu + sigma * z"
)


@dataclass(frozen=True)
class Argument:
    """A parameter: the condition on its entries, its own axes, and what must hold for it as a whole.

    Attributes
    ----------
    must : str
    axes : str
        A letter for each of the last axes.
    check : function, optional
        Of the names of function and parameter and the array, raises DomainError.
    kind : str
        What the check demands, for the documentation.
    may_be_number : bool
        A single number stands for all entries along the own axes.
    is_single : bool
        One number for all draws; the function gets an int.
    """

    must: str
    axes: str = ""
    check: Callable[[str, str, np.ndarray], None] | None = None
    kind: str = ""
    may_be_number: bool = False
    is_single: bool = False

    @property
    def text(self) -> str:
        shape = f"(..., {', '.join(self.axes)})" if self.axes else "One for all draws" if self.is_single else ""
        text = (self.kind or self.must).capitalize()
        return f"{shape}{', or one number' if self.may_be_number else ''}. {text}." if shape else f"{text}."


def generator(function: str, rng: Any, argument: str = "rng") -> np.random.Generator:
    """Returns the generator that a user gives, or that a seed makes."""
    if isinstance(rng, np.random.Generator):
        return rng
    hint = "must be a numpy.random.Generator, a seed or None"
    if isinstance(rng, (bool, float, str, np.random.RandomState)):
        raise TypeError(f"{function}: {argument} is {rng!r}, but {hint}")
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{function}: {argument} is {rng!r}, but {hint}; {error}") from None


def _plain(function: str, name: str, x: Any, argument: Argument) -> np.ndarray:
    """Returns a parameter as an array of doubles, or of int64 where it must be whole, after all checks of it alone."""
    if find_recording(x) is not None:
        raise TypeError(f"{function}: {name} is a recorded value, {NO_DERIVATIVE}")
    if isinstance(x, np.ma.MaskedArray):
        raise TypeError(f"{function}: {name} is a masked array, but must be an array without a mask")
    try:
        given = np.asarray(x)
        array: np.ndarray = given.astype(float) if given.dtype.kind in "biufO" else given
    except OverflowError:
        raise OverflowError(f"{function}: {name} is an int beyond 1.8e308, but must be in the range of float64") from None
    except (TypeError, ValueError) as error:
        raise TypeError(f"{function}: {name} is {x!r}, but must be real numbers; {error}") from None
    if array.dtype != float:
        raise TypeError(f"{function}: {name} is of dtype {array.dtype}, but must be real numbers")
    if argument.is_single and array.ndim:
        raise ShapeError(f"{function}: {name} is of shape {array.shape}, but must be one number")
    checked(function, name, argument.must, array)
    if is_whole(argument.must):
        fail_unless(np.abs(array) < TOO_LARGE, function, name, array, "below 2^53, so that doubles count")
        array = array.astype(np.int64)
    return array


def _own_axes(function: str, arguments: dict[str, Argument], x: dict[str, np.ndarray]) -> None:
    """Raises ShapeError unless letters have one length each; numbers that stand for vectors become vectors."""
    lengths: dict[str, tuple[int, str]] = {}
    for name, argument in sorted(arguments.items(), key=lambda item: item[1].may_be_number):
        count = len(argument.axes)
        if argument.may_be_number and x[name].ndim == 0:
            x[name] = np.broadcast_to(x[name], tuple(lengths[axis][0] for axis in argument.axes))
        shape = x[name].shape
        if len(shape) < count:
            raise ShapeError(f"{function}: {name} is of shape {shape}, but must have {count} or more axes")
        for axis, length in zip(argument.axes, shape[len(shape) - count :], strict=True):
            if axis == "k" and length == 0:
                raise ShapeError(f"{function}: {name} is of shape {shape}, but must not be empty")
            known, by = lengths.setdefault(axis, (length, name))
            if known != length:
                expected = ", ".join(str(lengths[a][0]) if a in lengths else a for a in argument.axes)
                raise ShapeError(f"{function}: {name} is of shape {shape}, but must be of shape (..., {expected}); by {by}")


def shape_of(function: str, size: Any, leading: dict[str, Shape]) -> Shape:
    """Returns the shape of the draws, to which the leading axes of all parameters broadcast."""
    try:
        common = np.broadcast_shapes(*leading.values())
    except ValueError:
        shapes = ", ".join(f"{name} {shape}" for name, shape in leading.items())
        raise ShapeError(f"{function}: shapes of parameters are {shapes}, but must broadcast") from None
    if size is None:
        return common
    try:
        shape = tuple(operator.index(n) for n in (size if isinstance(size, (tuple, list, np.ndarray)) else [size]))
    except TypeError:
        raise TypeError(f"{function}: size is {size!r}, but must be a whole number or a tuple of them") from None
    if any(n < 0 for n in shape):
        raise ShapeError(f"{function}: size is {size}, but must not be negative")
    try:
        broadcasts = np.broadcast_shapes(common, shape) == shape
    except ValueError:
        broadcasts = False
    if not broadcasts:
        raise ShapeError(
            f"{function}: size is {shape}, but must be a shape to which that of the parameters, {common}, broadcasts"
        )
    return shape


def _docstring(function: Callable[..., Any], arguments: dict[str, Argument], source: str) -> str:
    text = inspect.getdoc(function) or ""
    parameters = "".join(f"{name} : number or array-like\n    {of.text}\n" for name, of in arguments.items())
    references = f"\n\nReferences\n----------\n{source}" if source else ""
    return (
        f"{text}\n\nParameters\n----------\n{parameters}"
        "rng : numpy.random.Generator, seed or None\n    Without one, numbers differ at each call.\n"
        "size : int or tuple of int, optional\n    The shape of the draws; by default that of the parameters.\n\n"
        "Returns\n-------\nnumber or numpy.ndarray\n    Of shape `size`, with the axes of one draw behind.\n\n"
        "Raises\n------\nDomainError\n    A parameter does not meet its condition.\n"
        f"ShapeError\n    Shapes do not fit.\nTypeError\n    A parameter is a recorded value.{references}"
    )


def sampler(
    density: str = "", check: Callable[..., None] | None = None, /, **own: Argument | str
) -> Callable[[Callable[P, Any]], Callable[P, Any]]:
    """Makes the function for users of one that draws by checked parameters.

    Parameters
    ----------
    density : str
        The density with the same parameters behind its first argument, which states their conditions.
    check : function, optional
        Of the name of the function and all parameters before they are broadcast to a size, raises DomainError.
    **own : Argument or str
        Parameters that the density does not have, or conditions of the draws that differ from those of the density.
    """

    def decorate(draw: Callable[P, Any]) -> Callable[P, Any]:
        name = draw.__name__
        signature = inspect.signature(draw)
        row = _ROWS[density] if density else None
        conditions: dict[str, Argument | str] = {**dict(row.arguments[1:] if row else []), **own}
        names = [each for each in signature.parameters if each not in ("rng", "size")]
        arguments = {each: Argument(of) if isinstance(of := conditions[each], str) else of for each in names}

        @wraps(draw)
        def function(*args: P.args, **kwargs: P.kwargs) -> Any:
            try:
                bound = signature.bind(*args, **kwargs)
            except TypeError as error:
                raise TypeError(f"{name}: {error}") from None
            bound.apply_defaults()
            given = bound.arguments
            x = {each: _plain(name, each, given[each], of) for each, of in arguments.items()}
            _own_axes(name, arguments, x)
            for each, of in arguments.items():
                if of.check is not None:
                    of.check(name, each, x[each])
            rng = generator(name, given["rng"])
            ranks = {each: x[each].ndim - len(of.axes) for each, of in arguments.items()}
            shape = shape_of(name, given["size"], {each: x[each].shape[: ranks[each]] for each in x})
            broadcast = {
                each: int(x[each]) if of.is_single else np.broadcast_to(x[each], shape + x[each].shape[ranks[each] :])
                for each, of in arguments.items()
            }
            draw_any: Any = draw
            with np.errstate(all="ignore"):  # what is beyond the range of doubles is 0 or infinite
                if check is not None:
                    check(name, **x)
                return np.asarray(draw_any(**broadcast, rng=rng, size=shape))[()]

        function.__doc__ = _docstring(draw, arguments, row.source if row else "")
        return function

    return decorate
