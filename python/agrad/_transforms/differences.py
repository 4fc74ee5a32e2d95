"""Defines Differences, a Jacobian by central differences whose steps fit the function, for a comparison with a given one.

The values at x and at 1, 2 and 3 steps to both sides give derivatives of sixth and of fourth order, and the fifth and the sixth
difference of the values. Both are small beside the values' variation where the step resolves the function, and one is as large
as the variation where the function changes within a step (Hamming 1973, Numerical Methods for Scientists and Engineers,
section 10.6). Steps shrink until both are small and the error estimate is below what the comparison allows, or, where the
Jacobians agree, until the error estimate stops falling. A shorter step counts if the next one confirms it, because rounded
values can make any difference small by chance.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

Matrix = np.ndarray[Any, np.dtype[np.float64]]
Booleans = np.ndarray[Any, np.dtype[np.bool_]]
EPSILON = float(np.finfo(float).eps)
SMALLEST_SHARE = 1e-8  # the default of atol, also relative to values
_RATIO = np.pi**-2  # of two steps; no power of it is a ratio of whole numbers, as a step and a period of the function may be
_SHORTEST = 1e-15  # relative to the first step, if the parameter is zero
_SHORTEST_RELATIVE = 1e-12  # relative to the parameter
_RESOLVED = 1e-3  # a fifth or sixth difference below this part of the variation shows a step that is short enough
_SURELY_RESOLVED = 1e-4  # and below this part, not by chance
_ROUNDINGS = 1e3  # errors of values, in units of the rounding of the largest value
_PATIENCE = 3  # shorter steps that are tried after the best one
_NOISE = 1e-2  # a variation below this part of the largest value may be noise
_CONFIRMED = 1e-2  # a relative difference of two derivatives that confirm each other
_SURE = 10.0  # a difference of this many estimated errors is none by chance


class _Quotient(NamedTuple):
    """Differences by one step: the derivatives and what judges them."""

    value: Matrix
    error: Matrix  # estimated; infinite where it is not finite
    rounding: Matrix
    tolerance: Matrix  # the error, if it is no sign of a step that is too long: of noise, or falling with the step
    slope: Matrix  # the largest value, over the size of the parameter; 1 where all values are zero
    is_resolved: Booleans
    is_surely_resolved: Booleans
    is_flat: Booleans
    may_be_noise: Booleans  # whether the sixth difference may consist of errors of the values


def _grain(values: Matrix) -> Matrix:
    """Returns the largest power of two of which all values are multiples: above rounding, what cancelled terms leave."""
    fraction, exponent = np.frexp(values)
    digits = np.where(np.isfinite(fraction), np.ldexp(fraction, 53), 0.0).astype(np.int64)
    lowest = np.ldexp((digits & -digits).astype(float), exponent - 53)
    grain: Matrix = np.min(np.where(lowest > 0, lowest, np.inf), axis=0)
    return np.where(np.isfinite(grain), grain, 0.0)


def _quotient(f: Callable[[Matrix], Matrix], x: Matrix, centre: Matrix, parts: Matrix, j: int, h: float) -> _Quotient:
    points = [centre]
    for n in (1, -1, 2, -2, 3, -3):
        moved = x.copy()
        moved[j] += n * h
        points.append(f(moved))
    values = np.array(points)
    change, total = values[1::2] - values[2::2], values[1::2] + values[2::2]
    sixth, fifth = np.array([3 / 4, -3 / 20, 1 / 60]) @ change, np.abs(np.array([5.0, -4.0, 1.0]) @ change)
    bend = np.abs(np.array([15.0, -6.0, 1.0]) @ total - 20 * centre)
    largest, variation, grain = np.max(np.abs(values), axis=0), np.ptp(values, axis=0), _grain(values)
    rounding, floor = 10 * EPSILON * parts / h, _ROUNDINGS * EPSILON * largest
    noise = 2 / h * np.maximum(bend / np.sqrt(924.0), np.minimum(grain, variation))  # 924: the sum of squared coefficients
    error = fifth / 60 / h + np.maximum(rounding, noise)
    is_finite, uneven = np.isfinite(error), np.maximum(fifth, bend)
    is_resolved = is_finite & (uneven <= np.maximum(_RESOLVED * variation, floor))
    may_be_noise = is_resolved | (variation <= _NOISE * largest) | (bend <= 64 * grain)
    return _Quotient(
        value=sixth / h,
        error=np.where(is_finite, error, np.inf),
        rounding=rounding,
        tolerance=np.where(may_be_noise, error + 2 / h * grain, 0.0),
        slope=np.where(largest > 0, largest / max(abs(float(x[j])), 1.0), 1.0),
        is_resolved=is_resolved,
        is_surely_resolved=is_resolved & (uneven <= np.maximum(_SURELY_RESOLVED * variation, floor)),
        is_flat=variation <= floor,
        may_be_noise=may_be_noise,
    )


class _Column:
    """The best differences for each entry of a column of the Jacobian so far."""

    def __init__(self, first: _Quotient, h: float, found: Matrix, rtol: float, atol: float | None) -> None:
        self.best, self.found, self.rtol, self.atol = first, found, rtol, atol
        self.steps, self._stale = np.full(found.shape, h), np.zeros(found.shape, int)
        self._last, self._last_step, self._tries = first, h, 1

    def add(self, shorter: _Quotient, h: float) -> None:
        """Judges the step before h, which h confirms or not."""
        best, last = self.best, self._last
        apart = np.abs(shorter.value - last.value)
        last = last._replace(tolerance=np.maximum(last.error, apart))
        noise = best.error * (self.steps / self._last_step)  # of the same values with the shorter step
        contradicts = np.abs(last.value - best.value) > _SURE * (last.error + noise)
        has_less_error = last.error < best.error / 2
        is_confirmed = last.is_resolved & (apart <= _CONFIRMED * np.abs(last.value) + shorter.rounding)
        is_confirmed &= ~(last.is_flat & best.may_be_noise & ~best.is_flat)  # flat by rounding
        are_unresolved = ~best.is_resolved & ~last.is_resolved
        is_better = np.where(is_confirmed, has_less_error | contradicts | ~best.is_resolved, has_less_error & are_unresolved)
        self.best = _Quotient(*(np.where(is_better, new, old) for new, old in zip(last, best, strict=True)))
        self.steps[is_better] = self._last_step
        self._stale = np.where(is_better, 0, self._stale + 1)
        self._last, self._last_step, self._tries = shorter, h, self._tries + 1

    def is_settled(self) -> bool:
        """Returns whether the Jacobians agree, by a step whose error is small enough or grew where steps were shorter.

        Flat values need a second step, because a step may be a whole period.
        """
        best = self.best
        agrees = np.abs(self.found - best.value) <= self.allowed()
        is_exact = best.error <= self.rtol * self.size() + best.rounding
        is_enough = best.is_resolved & is_exact & (~best.is_flat | (self._tries > 1))
        return bool(np.all(agrees & (is_enough | (best.is_surely_resolved & (self._stale >= _PATIENCE)))))

    def size(self) -> Matrix:
        return np.maximum(np.abs(self.best.value), np.abs(self.found))

    def allowed(self) -> Matrix:
        best = self.best
        usual: Matrix = np.fmin(SMALLEST_SHARE, SMALLEST_SHARE * best.slope + _SURE * best.tolerance)
        allowed: Matrix = self.rtol * self.size() + best.rounding + (usual if self.atol is None else self.atol)
        return allowed


def _shorter_steps(first: float, x: float) -> list[float]:
    """Returns the steps after the first, down to rounding, among them the one in proportion to the parameter."""
    relative = first * abs(x)
    shortest = max(_SHORTEST_RELATIVE * abs(x), _SHORTEST * first)
    count = max(int(np.log(shortest / first) / np.log(_RATIO)), 1)
    steps = {first * _RATIO**k for k in range(1, count + 1)}
    if shortest < relative < first:
        steps.add(relative)
    return sorted(steps, reverse=True)


class Differences:
    """The Jacobian of f at x by differences.

    first: the first step for each parameter. found: the Jacobian to compare. parts: sizes of the summands of the values of f,
    which tell their rounding errors. atol: None for 1e-8, or less where the values of f are small.
    """

    def __init__(
        self,
        f: Callable[[Matrix], Matrix],
        x: Matrix,
        first: Matrix,
        found: Matrix,
        parts: Matrix,
        rtol: float,
        atol: float | None,
    ) -> None:
        columns, self._found = [], found
        with np.errstate(all="ignore"):  # the message shows a nan
            centre = f(x)
            for j in range(x.size):
                longest = float(first[j])
                column = _Column(_quotient(f, x, centre, parts, j, longest), longest, found[:, j], rtol, atol)
                for h in _shorter_steps(longest, float(x[j])):
                    if column.is_settled():
                        break
                    column.add(_quotient(f, x, centre, parts, j, h), h)
                columns.append(column)
            self._allowed = np.stack([column.allowed() for column in columns], axis=-1)
        self.matrix = np.stack([column.best.value for column in columns], axis=-1)
        self.steps = np.stack([column.steps for column in columns], axis=-1)

    def worst(self) -> tuple[int, int] | None:
        return worst(self._found, self.matrix, self._allowed)


def worst(found: Matrix, expected: Matrix, allowed: Matrix) -> tuple[int, int] | None:
    """Returns the entry with the largest difference relative to the allowed; None if all are allowed. Two nans are equal."""
    with np.errstate(invalid="ignore"):
        same = (found == expected) | (np.isnan(found) & np.isnan(expected))
        excess = np.where(same, 0.0, np.abs(found - expected) / allowed)
    excess = np.where(np.isnan(excess), np.inf, excess)
    if excess.size == 0 or excess.max() <= 1:
        return None
    i, j = np.unravel_index(np.argmax(excess), excess.shape)
    return int(i), int(j)
