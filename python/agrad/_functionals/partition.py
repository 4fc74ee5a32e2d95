"""Divides an interval until the integrals of a function and of its derivatives are accurate, as a loop that is recorded once.

The partition is data: no derivatives pass through it. So the integrals whose errors decide must be those of the integrand and
of its derivatives with respect to all recorded values that it uses: one derivative of first order and one of second order, in
a direction with factors of either sign, as the steps of differential equations see derivatives. Read first: ``quadrature``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from agrad._core import Array, Comparison, Recording, ShapeError
from agrad._functionals.arguments import result_of
from agrad._functionals.implicit import judged, searched
from agrad._functionals.rule import NODES, Substitution, estimate
from agrad._record.recording import innermost, open_recording
from agrad._transforms.custom import stop_gradient
from agrad._transforms.vmap import vmap

__all__ = ["CHUNK", "Division", "Integrand", "Partition"]

CHUNK = 8  # intervals at the start, and those that are summed at once
_LEAST_IF_ZERO = 64  # intervals in which a function that is zero at all nodes is looked for


class Integrand:
    """A function of x and of the distance to the nearer limit, with numbers or arrays as results.

    `shape` is the result's shape, `orders` is how often the function has tangents with respect to the recorded values that it
    uses. An operation that x has no part in, as 2 * p, is recorded again in each call, outside, and its result is the value
    that the call uses; so each call asks the recording of its rows what these values are.
    """

    def __init__(self, label: str, f: Callable[[Any, Any], Any], places: Any) -> None:
        """Calls f at the first of some places, and at all of them if no recorded value is used there, as behind an ``if``."""
        self.label, self._f = label, f
        self.shape: tuple[int, ...] = ()
        self.orders = self._possible(self._flat, places[0])
        if self.orders == 0 and innermost() is not None:
            self.orders = self._possible(self.at, places)

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

    def _flat(self, x: Any, distance: Any) -> Any:
        value = result_of(self.label, self._f(x, distance), "a number or an array")
        self.shape = value.shape
        if value.size == 0:
            raise ShapeError(f"{self.label}: result is of shape {value.shape}, but must have an entry at least")
        return np.reshape(value, (-1,))

    @property
    def size(self) -> int:
        return int(np.prod(self.shape, dtype=int))

    def at(self, x: Any, distance: Any) -> Any:
        """Returns the values at all x, a row for each."""
        return vmap(self._flat)(x, distance)

    def with_tangents(self, x: Any, distance: Any) -> Any:
        """Returns the values at all x beside their derivatives in the direction, side by side."""
        if not self.orders or innermost() is None:
            return self.at(x, distance)
        return vmap(self._with_tangents)(x, distance)

    def _with_tangents(self, x: Any, distance: Any) -> Any:
        recording = innermost()  # that of a row, whose inputs are x, the distance and the values that the function uses
        assert recording is not None
        begin = recording.operations
        parts = [recording.array(self._flat(x, distance))]
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


@dataclass
class Partition:
    """The intervals of t that integrals are sums over: `count` of the entries of each array are in use."""

    left: Any
    right: Any
    error: Any  # of all components, a row for each interval
    absolute: Any  # the integrals of absolute values
    count: Any
    odd: Any  # a place at which the function is not finite; nan if there is none
    goes_on: Any = True

    def errors(self) -> Any:
        return np.sum(self.error, axis=0)


class Division:
    """The division of an interval of t for an integrand; `points` are the places between a and b to divide it at.

    `takes_distance`: near the limits the integrand uses the distance, and rounding of x does no harm.
    """

    def __init__(
        self,
        integrand: Integrand,
        substitution: Substitution,
        points: Any,
        tolerances: tuple[float, float],
        limit: int,
        takes_distance: bool,
    ) -> None:
        self.integrand, self.substitution, self.points, self.limit = integrand, substitution, points, limit
        self.size = CHUNK * (-(-limit // CHUNK))
        self.components = integrand.size * (1 + integrand.orders)
        self.rtol, self.atol = tolerances[0], np.where(np.arange(self.components) < integrand.size, tolerances[1], 0.0)
        self.breaks: Any = substitution.inverse(points) if len(points) else []
        self.at_breaks = self._at_breaks() if len(points) else []
        self.has_points = np.any(self.contains(points)) if len(points) else np.False_
        self.sites = [] if takes_distance else self._sites()

    def _sites(self) -> list[tuple[Any, Any]]:
        """Returns the finite limits and the points, and whether the function has no finite value there."""
        fixed = self.substitution
        limits = [x for x, is_finite in ((fixed.a, fixed.is_low_finite), (fixed.b, fixed.is_high_finite)) if is_finite]
        sites = [*limits, *(self.points[n] for n in range(len(self.points)))]
        if not sites:
            return []
        values = stop_gradient(self.integrand.at(np.stack([np.reshape(x, ()) for x in sites]), np.full(len(sites), np.nan)))
        return [(x, ~np.all(np.isfinite(values[n]))) for n, x in enumerate(sites)]

    def _at_breaks(self) -> Any:
        """Returns the integrand of t at the points, a row for each; 0 where it is not finite."""
        x, slope, distance = self.substitution.place(self.breaks)
        values = self.integrand.with_tangents(np.where(self.contains(x), self.points, self.inside()), distance)
        is_inner = self.contains(x)[:, np.newaxis] & np.isfinite(values)
        return stop_gradient(np.where(is_inner, values * slope[:, np.newaxis], 0.0))

    def nodes(self, left: Any, right: Any) -> tuple[Any, Any, Any, Any]:
        """Returns x, dx/dt and the distances at the nodes of n intervals, of shape (n, 21), and where f is to be evaluated."""
        middle, half = (left + right) / 2, (right - left) / 2
        return self._placed(middle[:, np.newaxis] + half[:, np.newaxis] * NODES)

    def _placed(self, t: Any) -> tuple[Any, Any, Any, Any]:
        x, slope, distance = self.substitution.place(t)
        is_inner = np.isfinite(x) & np.isfinite(slope)
        for site, is_singular in self.sites:
            is_inner = is_inner & ((x != site) | ~is_singular)
        return x, slope, distance, is_inner

    def measure(self, left: Any, right: Any) -> tuple[Any, Any, Any]:
        """Returns errors and absolute integrals over n intervals, and a place where the function is not finite."""
        x, slope, distance, is_inner = self.nodes(left, right)
        n = x.shape[0]
        values = self.integrand.with_tangents(np.ravel(np.where(is_inner, x, self.inside())), np.ravel(distance))
        values = np.reshape(values, (n, 21, -1))
        is_odd = ~np.all(np.isfinite(values), axis=2)
        odd = np.where(np.any(is_odd), np.max(np.where(is_odd, x, -np.inf)), np.nan)
        weight = np.where(is_inner & ~is_odd, slope, 0.0)
        product = np.where(weight[:, :, np.newaxis] == 0, 0.0, values * weight[:, :, np.newaxis])
        _, error, absolute = estimate(product, (right - left) / 2)
        return error + self._unseen(left, right, product), absolute, odd

    def _unseen(self, left: Any, right: Any, product: Any) -> Any:
        """Returns the errors beside points: a peak at a point need not reach the nearest node."""
        gap = (1 - NODES[-1]) * (right - left)[:, np.newaxis] / 2
        error: Any = 0.0
        for n in range(len(self.breaks)):
            for ends, node in ((left, 0), (right, 20)):
                difference = np.abs(self.at_breaks[n] - product[:, node])
                is_beside = (ends == self.breaks[n])[:, np.newaxis] & (self.at_breaks[n] != 0)
                error = error + np.where(is_beside, gap * difference, 0.0)
        return error

    def inside(self) -> Any:
        """Returns a place between the limits, where f has a value."""
        low, high = self.substitution.span
        return self.substitution.place(np.array([low + 0.37 * (high - low)]))[0][0]

    def start(self) -> Partition:
        """Returns the partition that the search starts with, without errors: at equal distances, and at the points."""
        low, high = self.substitution.span
        breaks: Any = np.linspace(low, high, CHUNK + 1)
        if len(self.points):
            breaks = np.sort(np.concatenate([breaks, self.breaks]))
        rest = np.full(self.size - breaks.shape[0] + 1, low)
        left, right = (np.concatenate([ends, rest]) for ends in (breaks[:-1], breaks[1:]))
        errors = np.zeros((self.size, self.components))
        return Partition(left, right, errors, errors, breaks.shape[0] - 1.0, np.nan)

    def measured(self, now: Partition) -> Partition:
        """Returns the partition of `start` with its errors."""
        used = CHUNK + len(self.points)
        error, absolute, odd = self.measure(now.left[:used], now.right[:used])
        rest = np.zeros((self.size - used, self.components))
        error, absolute = (np.concatenate([part, rest]) for part in (error, absolute))
        start = self.judged(Partition(now.left, now.right, error, absolute, now.count, odd))
        # one bisection in any case: rows of vmap run what the first row records
        return replace(start, goes_on=start.goes_on | True)

    def allowed(self, now: Partition) -> Any:
        """Returns the tolerances of the components."""
        return np.maximum(self.rtol * np.sum(now.absolute, axis=0), self.atol)

    def judged(self, now: Partition) -> Partition:
        """Returns the partition with the answer whether to divide further."""
        is_wanting = np.any(now.errors() > self.allowed(now))
        is_wanting = is_wanting | (np.all(now.absolute == 0) & (now.count < _LEAST_IF_ZERO) & ~self.has_points)
        return replace(now, goes_on=is_wanting & (now.count < self.limit) & np.isnan(now.odd))

    def bisect(self, now: Partition) -> Partition:
        """Returns the partition with the interval divided whose error is the largest part of what is allowed."""
        allowed = self.allowed(now)
        share = np.max(now.error / np.where(allowed > 0, allowed, 1.0), axis=1)
        width = now.right - now.left
        # an interval whose halves rounding would make empty stays whole
        share = np.where(width > 4 * np.finfo(float).eps * np.abs(now.left + now.right), share, -1.0)
        share = np.where(np.all(now.error == 0), width, share)
        is_worst = share >= np.max(share)
        is_worst = is_worst & (np.cumsum(np.where(is_worst, 1.0, 0.0)) < 1.5)
        is_new = np.arange(self.size) == now.count
        left, right = (np.sum(np.where(is_worst, each, 0.0)) for each in (now.left, now.right))
        lefts, rights = np.stack([left, (left + right) / 2]), np.stack([(left + right) / 2, right])
        error, absolute, odd = self.measure(lefts, rights)

        def put(old: Any, halves: Any) -> Any:
            own, fresh = (is_worst[:, np.newaxis], is_new[:, np.newaxis]) if np.ndim(old) == 2 else (is_worst, is_new)
            return np.where(own, halves[0], np.where(fresh, halves[1], old))

        error, absolute = put(now.error, error), put(now.absolute, absolute)
        odd = np.where(np.isnan(odd), now.odd, odd)
        return self.judged(Partition(put(now.left, lefts), put(now.right, rights), error, absolute, now.count + 1.0, odd))

    def found(self) -> Partition:
        """Returns a partition, without derivatives, with small errors, or with as many intervals as may be."""
        start = judged(self.measured, self.start())
        found: Partition = searched(lambda now: now.goes_on, self.bisect, start, self.limit)
        return found

    def error_of_gaps(self) -> Any:
        """Returns the integrals between singular sites and the floating-point numbers next to them, with a reserve."""
        fixed = self.substitution
        error: Any = np.zeros(self.integrand.size)
        for site, is_singular in self.sites:
            step = np.finfo(float).eps * np.abs(site)
            if fixed.is_low_finite and fixed.is_high_finite:
                step = np.minimum(step, np.abs(fixed.b - fixed.a) / 4)
            places = np.stack([site - step, site + step])
            is_inner = self.contains(places)
            values = np.abs(self.integrand.at(np.where(is_inner, places, self.inside()), np.full(2, np.nan)))
            values = np.where((is_inner & is_singular)[:, np.newaxis] & np.isfinite(values), values, 0.0)
            error = error + 2 * step * np.sum(values, axis=0)
        return error

    def contains(self, x: Any) -> Any:
        """Returns whether places are between the limits."""
        fixed = self.substitution
        if fixed.is_low_finite and fixed.is_high_finite:
            return (x > np.minimum(fixed.a, fixed.b)) & (x < np.maximum(fixed.a, fixed.b))
        if fixed.is_low_finite:
            return x > fixed.a
        return x < fixed.b if fixed.is_high_finite else np.isfinite(x)

    def error_of_span(self) -> Any:
        """Returns the size of the integrand at the ends of t, where a double exponential substitution is cut."""
        x, slope, distance, is_inner = self._placed(np.array(self.substitution.span))
        values = np.abs(self.integrand.at(np.where(is_inner, x, self.inside()), distance))
        sizes = values * np.where(is_inner, np.abs(slope), 0.0)[:, np.newaxis]
        return np.sum(np.where(np.isfinite(sizes), sizes, 0.0), axis=0)
