"""Defines transforms of each number alone: bounds, offset and multiplier."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from agrad._constraints.transform import Shape, Transform, require, shape_of
from agrad._core import Array, DomainError, ShapeError
from agrad._record.arguments import real_values
from agrad._record.structure import as_one, find_recording
from agrad._stan.elementwise import inv_logit, log_inv_logit
from agrad._transforms.settled import settled, surely

__all__ = ["interval", "lower", "offset_multiplier", "positive", "real", "upper"]

Function = Callable[[Any], Any]


def _broadcasts(shape: Shape, to: Shape) -> bool:
    return len(shape) <= len(to) and all(m in (1, n) for m, n in zip(shape[::-1], to[::-1], strict=False))


def _common_shape(name: str, parameters: dict[str, Any]) -> Shape:
    """Returns the shape to which all parameters broadcast."""
    shapes = {argument: np.shape(x) for argument, x in parameters.items()}
    try:
        return np.broadcast_shapes(*shapes.values())
    except ValueError:
        both = " and ".join(f"{argument} has shape {shape}" for argument, shape in shapes.items())
        raise ShapeError(f"{name}: {both}, but the shapes must broadcast") from None


def _parameter(name: str, argument: str, x: Any) -> Any:
    """Returns a bound, an offset or a multiplier: recorded, or as numbers."""
    x = as_one(x)
    return x if isinstance(x, Array) else real_values(name, argument, x)[()]


def _shown(x: Any) -> Any:
    """Returns what a message shows of a number or an array, which may be recorded."""
    return x.recorded_values if isinstance(x, Array) else x


def _is_possible(*conditions: Any) -> bool:
    """Whether conditions can hold together somewhere; recorded ones can hold everywhere."""
    together: Any = True
    for condition in conditions:
        together = together & (condition if find_recording(condition) is None else np.True_)
    return bool(np.any(together))


class _Each(Transform):
    """A transform of each number of an array alone."""

    def __init__(self, name: str, shape: Any, parameters: dict[str, Any]) -> None:
        own = [np.shape(x) for x in parameters.values()]
        shape = _common_shape(name, parameters) if shape is None else shape_of(name, shape)
        for argument, of in zip(parameters, own, strict=True):
            if not _broadcasts(of, shape):
                raise ShapeError(f"{name}: {argument} has shape {of}, but must broadcast to shape {shape}")
        self.name = name
        self.shape = self.free_shape = shape

    def _check(self, value: Any) -> None:
        require(self.name, value, ~np.isnan(value), "a number, not nan")


class _Bounded(_Each):
    """Numbers between two bounds, above one, below one or without; bounds may be infinite, each on its own."""

    def __init__(self, name: str, low: Any, high: Any, shape: Any, names: tuple[str, str] = ("low", "high")) -> None:
        low, high = (_parameter(name, argument, x) for argument, x in zip(names, (low, high), strict=True))
        bounds = dict(zip(names, (low, high), strict=True))
        super().__init__(name, shape, bounds)

        def complain() -> NoReturn:
            for argument, bound in bounds.items():
                if np.any(np.isnan(_shown(bound))):
                    raise DomainError(f"{name}: {argument} is {_shown(bound)}, but must be a number, not nan")
            raise DomainError(f"{name}: {names[0]} is {_shown(low)}, but must be less than {names[1]} = {_shown(high)}")

        holds = np.all(np.less(low, high))
        low_part, self._has_low = self._finite_part(low, -np.inf)
        high_part, self._has_high = self._finite_part(high, np.inf)
        self._low, self._high = settled(holds, low_part, complain), settled(holds, high_part, complain)
        if _is_possible(self._has_low, self._has_high):
            self._measure(self._has_low & self._has_high)

    def _measure(self, has_both: Any) -> None:
        """Computes the width, that of the halved bounds where it overflows: values are those between these bounds, doubled."""
        with np.errstate(over="ignore"):
            fits = np.isfinite(self._high - self._low)
        self._is_whole = surely(np.all(fits))
        self._scale = np.where(fits, 1.0, 2.0)[()]
        self._ends = self._scaled(self._low), self._scaled(self._high)
        self._width = np.where(has_both, self._ends[1] - self._ends[0], 1.0)[()]

    def _scaled(self, x: Any) -> Any:
        return x if self._is_whole else x / self._scale

    @staticmethod
    def _finite_part(bound: Any, none: float) -> tuple[Any, Any]:
        """Returns the bound with zeros in the place of `none`, which is no bound, and where there is one."""
        if find_recording(bound) is None:
            bound = np.asarray(bound, dtype=float)[()]
        is_bound = np.not_equal(bound, none)
        if surely(np.all(is_bound)):
            return bound, np.ones(np.shape(bound), dtype=bool)[()]
        return np.where(is_bound, bound, 0.0)[()], is_bound

    def _choose(self, x: Any, between: Function, above: Function, below: Function, free: Function) -> Any:
        """Computes each entry by the function for its bounds."""
        low, high = self._has_low, self._has_high
        cases = [(low, high, between), (low, ~high, above), (~low, high, below), (~low, ~high, free)]
        cases = [case for case in cases if _is_possible(*case[:2])]
        chosen = cases[-1][2](x) if cases else x * 1.0
        for has_low, has_high, function in cases[:-1]:
            chosen = np.where(has_low & has_high, function(x), chosen)
        return chosen

    def _constrain(self, free: Any) -> Any:
        def between(x: Any) -> Any:  # from the nearer end, where digits count
            low, high = self._ends
            value = np.where(x < 0, low + self._width * inv_logit(x), high - self._width * inv_logit(-x))
            return value if self._is_whole else self._scale * value

        return self._choose(free, between, lambda x: self._low + np.exp(x), lambda x: self._high - np.exp(x), lambda x: x * 1.0)

    def _log_jacobian(self, free: Any) -> Any:
        def between(x: Any) -> Any:
            return np.log(self._width) + np.log(self._scale) + log_inv_logit(x) + log_inv_logit(-x)

        return np.sum(self._choose(free, between, lambda x: x * 1.0, lambda x: x * 1.0, lambda x: x * 0.0))

    def _unconstrain(self, value: Any) -> Any:
        def between(y: Any) -> Any:
            low, high = self._ends
            y = self._scaled(y)
            return np.log(y - low) - np.log(high - y)

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
        offset, multiplier = _parameter(name, "offset", offset), _parameter(name, "multiplier", multiplier)
        super().__init__(name, shape, {"offset": offset, "multiplier": multiplier})
        self.offset = self._met("offset", offset, np.isfinite(offset), "finite")
        is_good = np.greater(multiplier, 0) & np.less(multiplier, np.inf)
        self.multiplier = self._met("multiplier", multiplier, is_good, "positive and finite")

    def _met(self, argument: str, x: Any, holds: Any, condition: str) -> Any:
        """Returns an argument, which must meet a condition."""

        def complain() -> NoReturn:
            raise DomainError(f"{self.name}: {argument} is {_shown(x)}, but must be {condition}")

        return settled(np.all(holds), x if find_recording(x) is not None else np.asarray(x, dtype=float), complain)

    def _constrain(self, free: Any) -> Any:
        return self.offset + self.multiplier * free

    def _log_jacobian(self, free: Any) -> Any:
        return np.sum(np.log(self.multiplier) + free * 0.0)

    def _unconstrain(self, value: Any) -> Any:
        return (value - self.offset) / self.multiplier


def real(shape: int | Shape = ()) -> Transform:
    """Numbers without a constraint, which are the free numbers themselves.

    Parameters
    ----------
    shape : int or tuple of int
        The shape of the value; by default a single number.

    Returns
    -------
    Transform
        With as many free numbers as entries, of the same shape, and the log Jacobian 0.

    Raises
    ------
    ShapeError
        A length in `shape` is negative or no whole number.
    """
    return _Bounded("real", -np.inf, np.inf, shape)


def positive(shape: int | Shape = ()) -> Transform:
    """Positive numbers: ``exp(free)``.

    Parameters
    ----------
    shape : int or tuple of int
        The shape of the value; by default a single number.

    Returns
    -------
    Transform
        With as many free numbers as entries, of the same shape: the logarithms of the entries.

    Raises
    ------
    ShapeError
        A length in `shape` is negative or no whole number.
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

    Returns
    -------
    Transform
        With as many free numbers as entries, of the same shape.

    Raises
    ------
    DomainError
        A bound is nan or plus infinity.
    ShapeError
        `bound` does not broadcast to `shape`, or `shape` is no shape.
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

    Returns
    -------
    Transform
        With as many free numbers as entries, of the same shape.

    Raises
    ------
    DomainError
        A bound is nan or minus infinity.
    ShapeError
        `bound` does not broadcast to `shape`, or `shape` is no shape.
    """
    return _Bounded("upper", -np.inf, bound, shape, ("minus infinity", "bound"))


def interval(low: Any, high: Any, shape: int | Shape | None = None) -> Transform:
    """Numbers between two bounds: ``low + (high - low) * inv_logit(free)``.

    Parameters
    ----------
    low, high : array-like or recorded
        low < high. An entry that is infinite is no bound: ``interval(0.0, np.inf)`` is `positive`. Recorded bounds are
        compared at each run; in a right-hand side wrong ones give nan.
    shape : int or tuple of int, optional
        By default that of `low` and `high` together.

    Returns
    -------
    Transform
        With as many free numbers as entries, of the same shape.

    Raises
    ------
    DomainError
        `low` is not less than `high`, or a bound is nan.
    ShapeError
        A bound does not broadcast to `shape`, or `shape` is no shape.
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

    Returns
    -------
    Transform
        With as many free numbers as entries, of the same shape.

    Raises
    ------
    DomainError
        A multiplier is not positive and finite, or an offset is not finite.
    ShapeError
        `offset` or `multiplier` does not broadcast to `shape`, or `shape` is no shape.
    """
    return _OffsetMultiplier(offset, multiplier, shape)
