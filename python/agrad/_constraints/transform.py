"""Defines the common part of all transforms: shapes, and checks of values."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

import numpy as np

from agrad._core import DomainError, ShapeError
from agrad._record.arguments import real_values
from agrad._record.structure import find_recording

__all__ = ["Shape", "Transform", "require", "shape_of", "whole_number"]

Shape = tuple[int, ...]


class Transform(ABC):
    """A bijection between free numbers and values that satisfy a constraint.

    Attributes
    ----------
    name : str
    shape : tuple of int
        The shape of a constrained value.
    free_shape : tuple of int
        The shape of the free numbers.
    size : int
        How many free numbers there are.

    Notes
    -----
    All methods are differentiable with respect to their arguments and to bounds, to second order at least.
    """

    name: str
    shape: Shape
    free_shape: Shape

    def __repr__(self) -> str:
        return f"<{self.name}, shape {self.shape}, {self.size} free numbers>"

    @property
    def size(self) -> int:
        return math.prod(self.free_shape)

    def constrain(self, free: Any) -> Any:
        """Map free numbers to a value that satisfies the constraint.

        Parameters
        ----------
        free : array-like or recorded, free_shape

        Returns
        -------
        Array, numpy.ndarray or float
            Of `shape`.
        """
        return self._constrain(self._free("constrain", free))

    def log_jacobian(self, free: Any) -> Any:
        """Compute the logarithm of the absolute determinant of the Jacobian of `constrain`.

        A log density of the constrained value plus this number is a log density of the free numbers. For values that lie in a
        surface, such as simplexes, the determinant is that of the value's independent entries.

        Parameters
        ----------
        free : array-like or recorded, free_shape

        Returns
        -------
        Array or float
        """
        return self._log_jacobian(self._free("log_jacobian", free))

    def unconstrain(self, value: Any) -> Any:
        """Map a value to the free numbers that `constrain` maps to the value.

        Parameters
        ----------
        value : array-like or recorded, shape
            Satisfies the constraint strictly; a recorded value is not checked.

        Returns
        -------
        Array, numpy.ndarray or float
            Of `free_shape`.

        Raises
        ------
        DomainError
            A plain value does not satisfy the constraint.
        """
        value = self._shaped("unconstrain", "value", value, self.shape)
        if find_recording(value) is None:
            self._check(value)
        return self._unconstrain(value)

    def _free(self, method: str, free: Any) -> Any:
        return self._shaped(method, "free", free, self.free_shape)

    def _shaped(self, method: str, argument: str, x: Any, shape: Shape) -> Any:
        if find_recording(x) is None:
            x = real_values(f"{self.name}.{method}", argument, x)[()]
        if np.shape(x) != shape:
            raise ShapeError(f"{self.name}.{method}: {argument} has shape {np.shape(x)}, but must have shape {shape}")
        return x

    @abstractmethod
    def _constrain(self, free: Any) -> Any: ...

    @abstractmethod
    def _log_jacobian(self, free: Any) -> Any: ...

    @abstractmethod
    def _unconstrain(self, value: Any) -> Any: ...

    @abstractmethod
    def _check(self, value: Any) -> None:
        """Raises DomainError where a plain value does not satisfy the constraint."""


def require(name: str, value: np.ndarray, satisfies: np.ndarray, condition: str) -> None:
    """Raises DomainError with the first entry of a value for which `satisfies` is false."""
    if np.all(satisfies):
        return
    first = tuple(int(k) for k in np.argwhere(~np.asarray(satisfies))[0])
    place = f"[{', '.join(map(str, first))}]" if first else ""
    raise DomainError(f"{name}.unconstrain: value{place} is {value[first]}, but must be {condition}")


def whole_number(name: str, argument: str, n: Any, least: int = 1) -> int:
    """Returns a size, which must be a whole number and at least `least`."""
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < least:
        raise ShapeError(f"{name}: {argument} is {n!r}, but must be a whole number, {least} or more")
    return int(n)


def shape_of(name: str, shape: Any) -> Shape:
    """Returns a shape, given as NumPy's functions take it: a whole number or a sequence of such."""
    sizes = tuple(shape) if isinstance(shape, Iterable) else (shape,)
    return tuple(whole_number(name, f"shape[{k}]", n, 0) for k, n in enumerate(sizes))
