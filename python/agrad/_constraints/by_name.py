"""Defines Stan's names for the transforms: X_constrain, X_jacobian and X_unconstrain for each constraint X.

The functions have no formulas of their own: each makes the transform that fits the shape of its argument.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from agrad._constraints import bounds, matrices, vectors
from agrad._constraints.transform import Shape, Transform
from agrad._core import ShapeError

Function = Callable[..., Any]

_GIVEN = {
    "constrain": ("y", "Free numbers; axes before those of one value are of several values."),
    "jacobian": ("y", "Free numbers; axes before those of one value are of several values."),
    "unconstrain": ("x", "Satisfies the constraint strictly; a recorded value is not checked."),
}
#: The types and meanings of the other arguments.
_OTHERS = {
    "lb": "array-like or recorded\n    The lower bound of each entry; minus infinity is no bound.",
    "ub": "array-like or recorded\n    The upper bound of each entry; infinity is no bound.",
    "offset": "array-like or recorded\n    The number that is added to each entry; finite.",
    "mult": "array-like or recorded\n    The factor of each free number; positive and finite.",
    "K": "int\n    The number of rows and columns of the matrix.",
    "M": "int\n    The number of rows of the matrix, at least N.",
    "N": "int\n    The number of columns of the matrix.",
}
_RESULT = {
    "constrain": "Array, numpy.ndarray or float\n    The value.",
    "jacobian": "(value, log_jacobian)\n    Stan adds the log Jacobian to its target; here the caller adds it.",
    "unconstrain": "Array, numpy.ndarray or float\n    The free numbers.",
}


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


class _Constraint:
    """A constraint: its transform, and how many axes the free numbers and a value have (None: every entry is a value).

    `of_free` and `of_value` make the transform from the shape of one value's free numbers, or of one value, and from the other
    arguments. Bounds, offsets and multipliers are arguments of all three functions, sizes of those on free numbers. For the
    documentation `refused`, `refused_free` and `refused_value` are the conditions of a DomainError: of all three functions, of
    those on free numbers, and of the one on values.
    """

    def __init__(
        self,
        transform: Function,
        axes: tuple[int, int] | None,
        of_free: Callable[..., Transform],
        of_value: Callable[..., Transform] | None = None,
        others: str = "",
        *,
        refused: str = "",
        refused_free: str = "",
        refused_value: str,
    ) -> None:
        self._transform, self._axes = transform, axes
        self._make = {"constrain": of_free, "jacobian": of_free, "unconstrain": of_value or of_free}
        on_free, on_value = ("; ".join(filter(None, (refused, own))) for own in (refused_free, refused_value))
        self._refused = {"constrain": on_free, "jacobian": on_free, "unconstrain": on_value}
        self._others = {what: others.split() if make is of_free else [] for what, make in self._make.items()}

    def functions(self, name: str) -> tuple[Function, Function, Function]:
        """Returns the three functions on this constraint, which has the name."""
        return self._function(name, "constrain"), self._function(name, "jacobian"), self._function(name, "unconstrain")

    def _function(self, constraint: str, what: str) -> Function:
        name, others = f"{constraint}_{what}", self._others[what]
        given, meaning = _GIVEN[what]
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        signature = inspect.Signature([inspect.Parameter(each, kind) for each in (given, *others)])

        def function(*arguments: Any, **named: Any) -> Any:
            bound = signature.bind(*arguments, **named).arguments
            x, rest = bound[given], [bound[each] for each in others]
            if what != "jacobian":
                return self._map(name, given, x, what, what, rest)
            logs = self._map(name, given, x, what, "log_jacobian", rest)
            return self._map(name, given, x, what, "constrain", rest), np.sum(logs)

        function.__name__ = function.__qualname__ = name
        function.__doc__ = (
            f"Call `{what.replace('jacobian', 'constrain')}` of the transform `ag.constraints.{self._transform.__name__}`"
            f"{', and its `log_jacobian`' * (what == 'jacobian')}.\n\n"
            f"Parameters\n----------\n{given} : array-like or recorded\n    {meaning}\n"
            + "".join(f"{other} : {_OTHERS[other]}\n" for other in others)
            + f"\nReturns\n-------\n{_RESULT[what]}\n\nRaises\n------\n"
            + (f"DomainError\n    {_sentence(refused)}\n" if (refused := self._refused[what]) else "")
            + f"ShapeError\n    {_sentence(self._misfits(what, given, others))}\n"
        )
        function.__signature__ = signature  # type: ignore[attr-defined]
        return function

    def _misfits(self, what: str, given: str, others: list[str]) -> str:
        """Returns the condition of a ShapeError, for the documentation."""
        if others and self._axes is None:
            return f"the shape of {' or '.join(others)} does not broadcast to that of {given}"
        if self._axes is None:
            return f"the argument {given} does not have one or two axes, or is empty"
        least = "no axis" if self._axes[what == "unconstrain"] == 1 else "fewer than two axes"
        sizes = f"; {' or '.join(others)} is no whole number of 1 or more" if others else ""
        return f"the argument {given} has {least}, or a length that does not fit the constraint{sizes}"

    def _map(self, name: str, argument: str, x: Any, what: str, method: str, others: list[Any]) -> Any:
        """Applies a method of the transform to the free numbers or the value, or to each of several ones."""
        shape = np.shape(x)
        axes = len(shape) if self._axes is None else self._axes[what == "unconstrain"]
        if len(shape) < axes:
            raise ShapeError(f"{name}: {argument} has shape {shape}, but must have {axes} {'axis' if axes == 1 else 'axes'}")
        outer, inner = shape[: len(shape) - axes], shape[len(shape) - axes :]
        apply = getattr(self._make[what](inner, *others), method)
        if not outer:
            return apply(x)
        if math.prod(outer) == 0:
            raise ShapeError(f"{name}: {argument} has shape {shape}, but must hold a value")
        each = [apply(part) for part in np.reshape(x, (-1, *inner))]
        return np.reshape(np.stack(each), outer + np.shape(each[0]))


def _of_bounds(transform: Function, others: str, refused: str, refused_value: str = "") -> _Constraint:
    def of_free(shape: Shape, *parameters: Any) -> Transform:
        bounded: Transform = transform(*parameters, shape=shape)
        return bounded

    return _Constraint(transform, None, of_free, None, others, refused=refused, refused_value=refused_value)


def _of_vector(transform: Function, fewer: int, refused_value: str, refused_free: str = "") -> _Constraint:
    """Returns the constraint of vectors of n numbers, from n - fewer free ones."""
    return _Constraint(
        transform,
        (1, 1),
        lambda shape: transform(shape[0] + fewer),
        lambda shape: transform(*shape),
        refused_free=refused_free,
        refused_value=refused_value,
    )


def _of_square(transform: Function, refused_value: str) -> _Constraint:
    """Returns the constraint of matrices of n rows and columns, from a vector."""
    return _Constraint(
        transform, (1, 2), lambda _, n: transform(n), lambda shape: _square(transform, shape), "K", refused_value=refused_value
    )


def _square(transform: Function, shape: Shape) -> Transform:
    if shape[0] != shape[1]:
        raise ShapeError(f"{transform.__name__}: the matrix has shape {shape}, but must be square")
    square: Transform = transform(shape[0])
    return square


def _sum_to_zero_of(fewer: int) -> Callable[[Shape], Transform]:
    def make(shape: Shape) -> Transform:
        sizes: Any = tuple(n + fewer for n in shape)  # one or two, else sum_to_zero raises
        return vectors.sum_to_zero(sizes)

    return make


lower_bound_constrain, lower_bound_jacobian, lower_bound_unconstrain = _of_bounds(
    bounds.lower, "lb", "lb is nan or infinity", "a plain x is nan or not above a plain lb"
).functions("lower_bound")
upper_bound_constrain, upper_bound_jacobian, upper_bound_unconstrain = _of_bounds(
    bounds.upper, "ub", "ub is nan or minus infinity", "a plain x is nan or not below a plain ub"
).functions("upper_bound")
lower_upper_bound_constrain, lower_upper_bound_jacobian, lower_upper_bound_unconstrain = _of_bounds(
    bounds.interval, "lb ub", "a bound is nan, or lb is not less than ub", "a plain x is nan or not between plain bounds"
).functions("lower_upper_bound")
offset_multiplier_constrain, offset_multiplier_jacobian, offset_multiplier_unconstrain = _of_bounds(
    bounds.offset_multiplier,
    "offset mult",
    "mult is not positive and finite, or offset is not finite",
    "a plain x is nan",
).functions("offset_multiplier")
ordered_constrain, ordered_jacobian, ordered_unconstrain = _of_vector(
    vectors.ordered, 0, "the entries of a plain x do not increase"
).functions("ordered")
positive_ordered_constrain, positive_ordered_jacobian, positive_ordered_unconstrain = _of_vector(
    vectors.positive_ordered, 0, "the entries of a plain x do not increase, or the first one is not positive"
).functions("positive_ordered")
simplex_constrain, simplex_jacobian, simplex_unconstrain = _of_vector(
    vectors.simplex, 1, "an entry of a plain x is not positive, or the sum differs from 1 by more than 1e-8"
).functions("simplex")
unit_vector_constrain, unit_vector_jacobian, unit_vector_unconstrain = _of_vector(
    vectors.unit_vector,
    0,
    "the norm of a plain x differs from 1 by more than 1e-8",
    "no free number is at least 2.23e-308 in size",
).functions("unit_vector")
sum_to_zero_constrain, sum_to_zero_jacobian, sum_to_zero_unconstrain = _Constraint(
    vectors.sum_to_zero,
    None,
    _sum_to_zero_of(1),
    _sum_to_zero_of(0),
    refused_value="a sum of a plain x along an axis differs from 0 by more than 1e-8, relative to the largest entry above 1",
).functions("sum_to_zero")
stochastic_row_constrain, stochastic_row_jacobian, stochastic_row_unconstrain = _Constraint(
    vectors.stochastic_rows,
    (2, 2),
    lambda shape: vectors.stochastic_rows(shape[0], shape[1] + 1),
    lambda shape: vectors.stochastic_rows(*shape),
    refused_value="an entry of a plain x is not positive, or the sum of a row differs from 1 by more than 1e-8",
).functions("stochastic_row")
stochastic_column_constrain, stochastic_column_jacobian, stochastic_column_unconstrain = _Constraint(
    vectors.stochastic_columns,
    (2, 2),
    lambda shape: vectors.stochastic_columns(shape[0] + 1, shape[1]),
    lambda shape: vectors.stochastic_columns(*shape),
    refused_value="an entry of a plain x is not positive, or the sum of a column differs from 1 by more than 1e-8",
).functions("stochastic_column")
_NO_FACTOR = "a plain x is not lower triangular with positive entries on the diagonal, or an entry is not finite"
cholesky_factor_corr_constrain, cholesky_factor_corr_jacobian, cholesky_factor_corr_unconstrain = _of_square(
    matrices.cholesky_correlation, f"{_NO_FACTOR}, or the norm of a row differs from 1 by more than 1e-8"
).functions("cholesky_factor_corr")
corr_matrix_constrain, corr_matrix_jacobian, corr_matrix_unconstrain = _of_square(
    matrices.correlation, "a plain x is not finite, symmetric and positive definite, or an entry of the diagonal is not 1"
).functions("corr_matrix")
cholesky_factor_cov_constrain, cholesky_factor_cov_jacobian, cholesky_factor_cov_unconstrain = _Constraint(
    matrices.cholesky_covariance,
    (1, 2),
    lambda _, m, n: matrices.cholesky_covariance(m, n),
    lambda shape: matrices.cholesky_covariance(*shape),
    "M N",
    refused_value=_NO_FACTOR,
).functions("cholesky_factor_cov")
cov_matrix_constrain, cov_matrix_jacobian, cov_matrix_unconstrain = _of_square(
    matrices.covariance, "a plain x is not finite, symmetric and positive definite"
).functions("cov_matrix")

__all__ = [name for name in dir() if name.endswith(("_constrain", "_jacobian", "_unconstrain"))]
