"""Transforms of each number alone: bounds, offset and multiplier."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from agrad._constraints.transform import Shape, Transform, require, shape_of
from agrad._core import Array, DomainError, ShapeError
from agrad._record.structure import find_recording
from agrad.elementwise import inv_logit, log_inv_logit

__all__ = ["interval", "lower", "offset_multiplier", "positive", "real", "upper"]

Function = Callable[[Any], Any]


def _broadcasts(shape: Shape, to: Shape) -> bool:
    return len(shape) <= len(to) and all(m in (1, n) for m, n in zip(shape[::-1], to[::-1], strict=False))


def _shown(x: Any) -> Any:
    """Returns what a message shows of a number or an array, which may be recorded."""
    return x.recorded_values if isinstance(x, Array) else x


class _Each(Transform):
    """A transform of each number of an array alone."""

    def __init__(self, name: str, shape: Any, parameters: dict[str, Any]) -> None:
        own = [np.shape(x) for x in parameters.values()]
        shape = np.broadcast_shapes(*own) if shape is None else shape_of(name, shape)
        for argument, of in zip(parameters, own, strict=True):
            if not _broadcasts(of, shape):
                raise ShapeError(f"{name}: {argument} has shape {of}, but must broadcast to shape {shape}")
        self.name = name
        self.shape = self.free_shape = shape

    @staticmethod
    def _finite(name: str, argument: str, x: Any) -> Any:
        if find_recording(x) is not None:
            return x
        x = np.asarray(x, dtype=float)
        if not np.all(np.isfinite(x)):
            raise DomainError(f"{name}: {argument} is {x[~np.isfinite(x)][0] if x.ndim else x}, but must be finite")
        return x

    def _check(self, value: Any) -> None:
        require(self.name, value, ~np.isnan(value), "a number, not nan")


class _Bounded(_Each):
    """Numbers between two bounds, above one, below one or without; plain bounds may be infinite, each on its own."""

    def __init__(self, name: str, low: Any, high: Any, shape: Any, names: tuple[str, str] = ("low", "high")) -> None:
        bounds = dict(zip(names, (low, high), strict=True))
        super().__init__(name, shape, bounds)
        for argument, bound in bounds.items():
            if find_recording(bound) is None and np.any(np.isnan(bound)):
                raise DomainError(f"{name}: {argument} is {bound}, but must be a number, not nan")
        self._low, self._has_low = self._finite_part(low)
        self._high, self._has_high = self._finite_part(high)
        has_both = self._has_low & self._has_high
        # Of recorded bounds this comparison is a guard, so that compiled functions check them at each run.
        if (find_recording(low, high) is None or np.any(has_both)) and not np.all(np.less(low, high)):
            raise DomainError(f"{name}: {names[0]} is {_shown(low)}, but must be less than {names[1]} = {_shown(high)}")
        self._width = self._high - self._low if np.all(has_both) else np.where(has_both, self._high - self._low, 1.0)[()]

    @staticmethod
    def _finite_part(bound: Any) -> tuple[Any, Any]:
        """Returns the bound with zeros in the place of infinities, and where the bound is finite."""
        if find_recording(bound) is not None:
            return bound, np.bool_(True)
        bound = np.asarray(bound, dtype=float)
        return np.where(np.isfinite(bound), bound, 0.0)[()], np.isfinite(bound)

    def _choose(self, x: Any, between: Function, above: Function, below: Function, free: Function) -> Any:
        """Computes each entry by the function for its bounds."""
        cases = [
            (self._has_low & self._has_high, between),
            (self._has_low & ~self._has_high, above),
            (~self._has_low & self._has_high, below),
            (~self._has_low & ~self._has_high, free),
        ]
        cases = [(case, function) for case, function in cases if np.any(case)]
        chosen = cases[-1][1](x) if cases else x * 1.0
        for case, function in cases[:-1]:
            chosen = np.where(case, function(x), chosen)
        return chosen

    def _constrain(self, free: Any) -> Any:
        def between(x: Any) -> Any:  # from the nearer end, where digits count
            return np.where(x < 0, self._low + self._width * inv_logit(x), self._high - self._width * inv_logit(-x))

        return self._choose(free, between, lambda x: self._low + np.exp(x), lambda x: self._high - np.exp(x), lambda x: x * 1.0)

    def _log_jacobian(self, free: Any) -> Any:
        def between(x: Any) -> Any:
            return np.log(self._width) + log_inv_logit(x) + log_inv_logit(-x)

        return np.sum(self._choose(free, between, lambda x: x * 1.0, lambda x: x * 1.0, lambda x: x * 0.0))

    def _unconstrain(self, value: Any) -> Any:
        def between(y: Any) -> Any:
            return np.log(y - self._low) - np.log(self._high - y)

        with np.errstate(invalid="ignore", divide="ignore"):  # of entries that another case chooses
            return self._choose(
                value, between, lambda y: np.log(y - self._low), lambda y: np.log(self._high - y), lambda y: y * 1.0
            )

    def _check(self, value: Any) -> None:
        super()._check(value)
        if find_recording(self._low) is None:
            require(self.name, value, ~self._has_low | (value > self._low), f"above {self._low}")
        if find_recording(self._high) is None:
            require(self.name, value, ~self._has_high | (value < self._high), f"below {self._high}")


class _OffsetMultiplier(_Each):
    def __init__(self, offset: Any, multiplier: Any, shape: Any) -> None:
        name = "offset_multiplier"
        super().__init__(name, shape, {"offset": offset, "multiplier": multiplier})
        self.offset, self.multiplier = self._finite(name, "offset", offset), self._finite(name, "multiplier", multiplier)
        if not np.all(self.multiplier > 0):
            raise DomainError(f"{name}: multiplier is {_shown(multiplier)}, but must be positive and finite")

    def _constrain(self, free: Any) -> Any:
        return self.offset + self.multiplier * free

    def _log_jacobian(self, free: Any) -> Any:
        return np.sum(np.log(self.multiplier) + free * 0.0)

    def _unconstrain(self, value: Any) -> Any:
        return (value - self.offset) / self.multiplier


def real(shape: int | Shape = ()) -> Transform:
    """Numbers without a constraint.

    Parameters
    ----------
    shape : int or tuple of int
    """
    return _Bounded("real", -np.inf, np.inf, shape)


def positive(shape: int | Shape = ()) -> Transform:
    """Positive numbers: ``exp(free)``.

    Parameters
    ----------
    shape : int or tuple of int
    """
    return _Bounded("positive", 0.0, np.inf, shape)


def lower(bound: Any, shape: int | Shape | None = None) -> Transform:
    """Numbers above a bound: ``bound + exp(free)``.

    Parameters
    ----------
    bound : array-like or recorded
        An entry that is infinite is no bound: its number is free.
    shape : int or tuple of int, optional
        By default that of `bound`.
    """
    return _Bounded("lower", bound, np.inf, shape, ("bound", "infinity"))


def upper(bound: Any, shape: int | Shape | None = None) -> Transform:
    """Numbers below a bound: ``bound - exp(free)``.

    Parameters
    ----------
    bound : array-like or recorded
        An entry that is infinite is no bound: its number is free.
    shape : int or tuple of int, optional
        By default that of `bound`.
    """
    return _Bounded("upper", -np.inf, bound, shape, ("minus infinity", "bound"))


def interval(low: Any, high: Any, shape: int | Shape | None = None) -> Transform:
    """Numbers between two bounds: ``low + (high - low) * inv_logit(free)``.

    Parameters
    ----------
    low, high : array-like or recorded
        low < high. An entry that is infinite is no bound: ``interval(0.0, np.inf)`` is `positive`. Recorded bounds are
        compared at each run, which a right-hand side cannot do: make the transform outside of it.
    shape : int or tuple of int, optional
        By default that of `low` and `high` together.

    Raises
    ------
    DomainError
        The bounds are not in this order.
    """
    return _Bounded("interval", low, high, shape)


def offset_multiplier(offset: Any, multiplier: Any, shape: int | Shape | None = None) -> Transform:
    """Numbers without a constraint, shifted and scaled: ``offset + multiplier * free``.

    Parameters
    ----------
    offset : array-like or recorded
        Finite.
    multiplier : array-like or recorded
        Positive and finite.
    shape : int or tuple of int, optional
        By default that of `offset` and `multiplier` together.

    Raises
    ------
    DomainError
        A plain offset is not finite, or a multiplier is not positive, or a plain one not finite.
    """
    return _OffsetMultiplier(offset, multiplier, shape)
