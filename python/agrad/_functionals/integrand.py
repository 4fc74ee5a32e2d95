"""Describes integrands: functions of one variable, and their derivatives in a direction.

The division of an interval is data: no derivatives pass through it. So the integrals whose errors decide must be those of the
integrand and of its derivatives with respect to all recorded values that it uses: one derivative of first order and one of
second order, in a direction with factors of either sign, as the steps of differential equations see derivatives. Read first:
``quadrature``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from agrad._core import Array, Comparison, Recording, ShapeError
from agrad._functionals.arguments import result_of
from agrad._record.recording import innermost, open_recording
from agrad._transforms.custom import stop_gradient
from agrad._transforms.vmap import vmap

__all__ = ["Integrand"]


class Integrand:
    """A function of x and of the distance to the nearer limit, with numbers or arrays as results.

    `shape` is the result's shape, `orders` is how often the function has tangents with respect to the recorded values that it
    uses. An operation that x has no part in, as 2 * p, is recorded again in each call, outside, and its result is the value
    that the call uses; so each call asks the recording of its rows what these values are.
    """

    def __init__(self, label: str, f: Callable[[Any, Any], Any], places: Any) -> None:
        """Calls f at the first of some places, and at all of them if no recorded value is used there, as behind an ``if``.

        Outside of recordings f has no derivatives, and is not called.
        """
        self.label, self._f = label, f
        self.shape: tuple[int, ...] = ()
        self.orders = 0
        if innermost() is not None:
            self.orders = self._possible(self.flat, places[0]) or self._possible(self.at, places)

    def _possible(self, function: Callable[[Any, Any], Any], x: Any) -> int:
        """Returns for how many orders of tangents the function leaves a further order, which a gradient takes.

        Up to two, and one where the function has a loop, such as an inner integral: third derivatives of loops take too long.
        """
        with open_recording(self.label, on_comparison=Comparison.answers, captures=True) as recording:
            begin = recording.operations
            value = function(recording.input(x), recording.input(np.full(np.shape(x), np.nan)))
            live = _live(recording)
            if not live or not isinstance(value, Array):
                return 0
            along = _direction(live)
            most = 1 if recording.has_external(begin) else 2
            for order in range(most + 1):
                try:
                    value = recording.tangents(begin, recording.operations, live, along, value)
                except NotImplementedError:
                    return max(0, order - 1)
        return most

    def flat(self, x: Any, distance: Any) -> Any:
        """Returns the values at x, a number, as a vector."""
        value = result_of(self.label, self._f(x, distance), "a number or an array")
        self.shape = value.shape
        if value.size == 0:
            raise ShapeError(f"{self.label}: result is of shape {value.shape}, but must have an entry at least")
        return np.reshape(value, (-1,))

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def at(self, x: Any, distance: Any) -> Any:
        """Returns the values at all x, a row for each."""
        return vmap(self.flat)(x, distance)

    def with_tangents(self, x: Any, distance: Any) -> Any:
        """Returns the values at all x beside their derivatives in the direction, a row for each."""
        return vmap(self._with_tangents)(x, distance) if self.orders else self.at(x, distance)

    def _with_tangents(self, x: Any, distance: Any) -> Any:
        recording = innermost()  # that of a row, whose inputs are x, the distance and the values that the function uses
        assert recording is not None
        begin = recording.operations
        parts = [recording.array(self.flat(x, distance))]
        live = _live(recording)
        along = _direction(live)
        for _ in range(self.orders):
            parts.append(recording.tangents(begin, recording.operations, live, along, parts[-1]))
        return np.concatenate([parts[0], *(np.where(np.isfinite(each), each, 0.0) for each in parts[1:])])


def _live(recording: Recording) -> list[Array]:
    """Returns the inputs of the recording that are recorded values from around it."""
    pairs = zip(recording.captured, recording.captured_inputs, strict=True)
    return [inside for outside, inside in pairs if outside.is_active]


def _direction(live: Sequence[Array]) -> Any:
    """Returns a direction with factors of either sign, of the sizes of the values."""
    place = np.arange(sum(each.size for each in live))
    factors = (1.0 + 0.5 * np.cos(place * 2.4)) * np.where(place % 2 == 0, 1.0, -1.0)
    if not live:
        return factors
    sizes = np.concatenate([np.abs(np.ravel(stop_gradient(each))) for each in live])
    return factors * np.where((sizes > 0) & np.isfinite(sizes), sizes, 1.0)
