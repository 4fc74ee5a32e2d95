"""Defines a call of a method: the checked parameters, and the entries of the rules' functions that follow from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any

import numpy as np

from agrad._core import Array, DensityRow, ShapeError, checked
from agrad._record.structure import array
from agrad._stats.families import Family

__all__ = ["Call", "given", "plain"]

#: Where a mass is defined, by the condition on its first argument.
_INSIDE: dict[str, Callable[[Any], Any]] = {
    "a whole number": lambda k: abs(k) < np.inf,
    "a whole number, not negative": lambda k: (k >= 0) & (k < np.inf),
    "0 or 1": lambda k: (k == 0) | (k == 1),
}
_MOST = 2.0**53
_ROOM = 62  # for the characters of function and argument in a recorded check
_AT_INFINITY = {"cdf": 1.0, "lcdf": 0.0, "lccdf": -np.inf}
_BELOW_ALL = {"cdf": 0.0, "lcdf": -np.inf, "lccdf": 0.0}


def given(x: Any) -> Any:
    """Return sequences and columns of tables as arrays, recorded ones if their entries are recorded, and numbers as doubles.

    Differences of integers of few bits, or without sign, would wrap; sums of single precision would round. Masked arrays and
    objects that are no numbers stay as they are, so that the checks refuse them.
    """
    if isinstance(x, (list, tuple)):
        x = array(x)
    elif not isinstance(x, (Array, np.ndarray, np.generic)) and hasattr(x, "__array__"):
        x = np.asarray(x)
    if isinstance(x, np.ndarray) and x.dtype == object and all(isinstance(entry, Real) for entry in x.flat):
        return x.astype(np.float64)
    is_narrow = isinstance(x, (np.ndarray, np.generic)) and x.dtype.kind in "biuf" and x.dtype != np.float64
    return x.astype(np.float64) if is_narrow else x


def plain(x: Any) -> Any:
    """Return NumPy's array without axes as a number."""
    return x[()] if isinstance(x, np.ndarray) and x.ndim == 0 else x


def _short(name: str, term: str) -> str:
    return name if len(name) + len(term) <= _ROOM else name.removeprefix("stats.")


class Call:
    """The checked parameters of one call, and what follows from them."""

    def __init__(self, family: Family, method: str, values: Sequence[Any]) -> None:
        name = f"stats.{family.name}.{method}"
        self.name = name
        self.family = family
        named = {
            parameter: checked(name, parameter, condition, given(value))
            for (parameter, condition), value in zip(family.parameters.items(), values, strict=True)
        }
        self.named = named
        self.shape = self.shape_with()
        if family.pair is not None:
            larger, smaller, condition = family.pair
            difference = checked(name, f"{larger} - {smaller}", condition, named[larger] - named[smaller])
            named[larger] = named[smaller] + difference  # which is exact, and has recordings check it
        self.loc, self.scale = named["loc"], named.get("scale", 1)
        self.shapes = [named[shape] for shape in family.shapes]

    def shape_with(self, **first: Any) -> tuple[int, ...]:
        """Return the shape to which the parameters and a first argument broadcast."""
        shapes = {name: getattr(value, "shape", ()) for name, value in (first | self.named).items()}
        try:
            return np.broadcast_shapes(*shapes.values())
        except ValueError:
            texts = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
            raise ShapeError(f"{self.name}: shapes of arguments are {texts}, but must broadcast") from None

    def arguments_of(self, row: DensityRow) -> list[Any]:
        """Return the arguments of a row that follow from the parameters; the row may ask for more than the density's does."""
        family, named = self.family, self.named
        return [
            value(**named) if term in named and asked == condition else self._checked(term, asked, value(**named))
            for (term, condition), value, (_, asked) in zip(
                family.arguments, family.argument_functions, row.arguments[-len(family.arguments) :], strict=True
            )
        ]

    def _checked(self, term: str, condition: str, value: Any) -> Any:
        return checked(_short(self.name, term), term, condition, value)

    def of_rule(self, x: Any, row: str) -> Any:
        """Return the entries of a density or distribution function."""
        family = self.family
        y = family.form.of_x(x, self.loc, self.scale)
        if family.is_discrete:
            return self._of_mass(y) if row == "lpmf" else self._of_steps(y, row)
        value = family.densities[row].terms(self.on_circle(y, row), *self.arguments_of(family.densities[row]))
        is_density = row == "lpdf" and family.form.is_scaled
        if not is_density or isinstance(self.scale, int):
            return value
        return value - np.where(value > -np.inf, np.log(self.scale), 0.0)  # so that outside derivatives are 0

    def on_circle(self, y: Any, row: str) -> Any:
        """Return a checked argument of a row: on a circle there are no limits."""
        condition = self.family.densities[row].arguments[0][1]
        return checked(self.name, "(x - loc) / scale", condition, y) if condition == "between -pi and pi" else y

    def count_in_range(self, k: Any, row: str) -> Any:
        """Return whole numbers among those that doubles count and, where k is finite, that the row is computed for."""
        condition = self.family.densities[row].arguments[0][1]
        whole = np.minimum(np.maximum(k, -_MOST), _MOST)
        return whole if condition == "a whole number" else self._checked("k - loc", condition, np.where(k < np.inf, whole, 0.0))

    def _of_mass(self, k: Any) -> Any:
        row = self.family.density
        inside = (k == np.floor(k)) & _INSIDE[row.arguments[0][1]](k)
        return np.where(inside, row.terms(np.where(inside, k, 0.0), *self.arguments_of(row)), -np.inf)

    def _of_steps(self, k: Any, row: str) -> Any:
        """Return the entries of a distribution function that has steps, at k without loc."""
        of = self.family.densities[row]
        whole = self.count_in_range(np.floor(k), row)
        value = np.where(k > -np.inf, of.terms(whole, *self.arguments_of(of)), _BELOW_ALL[row])
        return np.where(k < np.inf, value, _AT_INFINITY[row])

    def quantile(self, q: Any, row: str) -> Any:
        """Return the entries of a quantile."""
        return self.to_x(self.family.quantiles[row](q, *self.arguments_of(self.family.density)))

    def to_x(self, y: Any) -> Any:
        """Return SciPy's values of the rule's."""
        return self.family.form.to_x(y, self.loc, self.scale)

    def filled(self, x: Any) -> Any:
        """Return x of the shape to which the parameters broadcast."""
        return plain(x if getattr(x, "shape", ()) == self.shape else x + np.zeros(self.shape))
