"""Quantiles of distributions on whole numbers: the smallest k that satisfies a condition, found by doubling and bisection.

The conditions are cdf(k) >= q and sf(k) <= q as `agrad.stats` computes cdf and sf, so that ppf inverts cdf and isf inverts sf
to the last digit, in the tail where the function has all its digits. The search begins at a guess by moments, on which its time
depends and not its result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from agrad._core import DomainError
from agrad._record.on_demand import scipy_special
from agrad._record.structure import find_recording
from agrad._stats.call import Call
from agrad._stats.moment_rows import MOMENTS
from agrad._stats.supports import SUPPORTS

__all__ = ["whole_quantile"]

#: The largest number that is searched, by the condition on the distribution function's, and what it is there for.
_MOST = {
    "a whole number": (2.0**53 - 1, "2^53", "doubles count"),  # the next number is a double, too
    "a whole number below 1e12": (1e12 - 1, "1e12", "its distribution function is computed"),
}
_NO_SEARCH = (
    "but must be plain, because quantiles of whole numbers are found by search and their derivatives are zero; compute them"
    " outside of the recorded function"
)


def _smallest(is_reached: Callable[[Any, Any], Any], lower: Any, upper: Any, guess: Any) -> Any:
    """Return the smallest whole numbers from lower to upper for which a monotone condition holds, upper + 1 where none does.

    Of each entry the condition holds at `above` and not at `below`. Steps away from the guess double until the condition
    changes, then the interval is halved. `is_reached` gets numbers and the places of their entries.
    """
    below, above = lower - 1, upper + 1
    places = np.nonzero(above - below > 1)[0]
    probe, step = np.clip(guess, lower, upper)[places], 1.0
    is_down: Any = None
    changed = np.zeros(lower.shape, dtype=bool)
    while places.size:
        reached = is_reached(probe, places)
        above[places], below[places] = np.where(reached, probe, above[places]), np.where(reached, below[places], probe)
        if is_down is None:
            is_down = np.zeros(lower.shape, dtype=bool)
            is_down[places] = reached
        changed[places] |= reached != is_down[places]
        places = places[above[places] - below[places] > 1]
        low, high = below[places], above[places]
        away = np.where(is_down[places], np.maximum(high - step, low + 1), np.minimum(low + step, high - 1))
        probe, step = np.where(changed[places], np.floor((low + high) / 2), away), 2 * step
    return above


def _guess(call: Call, z: Any) -> Any:
    """Return the quantile by mean, variance and skewness, at z of a standard normal number; 0 where they are not finite.

    Source: Cornish and Fisher (1938), Revue de l'Institut International de Statistique 5:307.
    """
    row = MOMENTS[call.family.name]
    if row.mean is None or row.var is None or row.skew is None:
        return 0.0
    mean, var, skew = (of(*(np.asarray(shape, dtype=float) for shape in call.shapes)) for of in (row.mean, row.var, row.skew))
    guess = np.floor(mean + np.sqrt(var) * (z + skew * (z**2 - 1) / 6))
    return np.where(np.isfinite(guess), guess, 0.0)


def _fail_if_recorded(call: Call, q: Any) -> None:
    named = {"q": q} | dict(zip(call.family.shapes, call.shapes, strict=True))
    for name, value in named.items():
        if find_recording(value) is not None:
            raise TypeError(f"{call.name}: {name} is a recorded value, {_NO_SEARCH}")


def whole_quantile(call: Call, q: Any, of_complement: bool) -> Any:
    """Return the smallest k with cdf(k) >= q, or with sf(k) <= q, of checked probabilities q.

    Where every number satisfies the condition, the value is one less than the lower end of the support, as in SciPy.
    """
    _fail_if_recorded(call, q)
    call.shape_with(q=q)
    row = call.family.densities["lccdf" if of_complement else "cdf"]
    given = call.arguments_of(row)
    shape = np.broadcast_shapes(np.shape(q), *map(np.shape, given))

    def flat(x: Any) -> Any:
        return np.broadcast_to(np.asarray(x, dtype=float), shape).ravel()

    q, (lower, upper) = flat(q), map(flat, SUPPORTS[call.family.name](*call.shapes))
    arguments = [flat(value) for value in given]
    most, most_text, purpose = _MOST[row.arguments[0][1]]
    start, end = (1.0, 0.0) if of_complement else (0.0, 1.0)

    def is_reached(k: Any, places: Any) -> Any:
        value = row.terms(k, *(each[places] for each in arguments))
        return np.exp(value) <= q[places] if of_complement else value >= q[places]

    with np.errstate(all="ignore"):
        guess = flat(_guess(call, (-1 if of_complement else 1) * scipy_special.ndtri(np.reshape(q, shape))))
    k = np.minimum(_smallest(is_reached, np.maximum(lower, -most), np.minimum(upper, most), guess), upper)
    is_end = (q == start) | (q == end)
    if np.any(wrong := (np.abs(k) >= most) & ~is_end):
        raise DomainError(
            f"{call.name}: the quantile of {q[wrong][0]} is beyond {most_text}, but must be below, so that {purpose}"
        )
    k = np.where(is_end, np.where(q == start, lower - 1, upper), k)
    return call.to_x(np.reshape(k, shape))
