"""Handles equal output times and outputs before doses: solves for each time once, and arranges the columns of the result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from agrad._core import Array, DomainError
from agrad._ode.record import stays_equal
from agrad._ode.result import OdeResult
from agrad._ode.times import Repeats, Times
from agrad._record.arguments import vector

__all__ = ["raise_equal", "repeated", "shifted", "with_before"]


def shifted(function: str, slope: Callable[..., Any], t: Any, y: Any, by: Any) -> Any:
    """Returns the state at t + by; where `by` is a recorded zero, this is y with correct first and second derivatives."""

    def f(t: Any, y: Any) -> Any:
        return vector(function, "the result of fun", slope(t, y))

    return y + by * f(t + by / 2, y + by / 2 * f(t, y))  # the midpoint rule


def raise_equal(function: str, repeats: Repeats, where: str) -> NoReturn:
    """Raises the error of two equal times."""
    k = int(np.flatnonzero(~repeats.is_first)[0])
    raise DomainError(f"{function}: t_eval[{k}] equals t_eval[{k - 1}], but must differ from it {where}")


def with_before(result: OdeResult, times: Times) -> OdeResult:
    """Returns the result with the states before doses at the outputs of these times that are before doses."""
    if times.is_before is None or result._before is None:
        return result
    count = result.y.shape[1]
    places = np.arange(times.is_before.size) if times.repeats is None else times.repeats.places
    named = np.unique(places[times.is_before])
    columns = np.where(times.is_before, count + np.searchsorted(named, places), np.arange(places.size))[:count]
    result.y = np.concatenate([result.y, result._before], axis=1)[:, columns]
    return result


def repeated(result: OdeResult, t_eval: Any, repeats: Repeats, slope: Callable[..., Any]) -> OdeResult:
    """Returns the result at all times, from the result at the different times; slope(t, y) is the right-hand side.

    A recorded time that equals the time before has derivatives of its own; the first derivative is the slope at that time.
    """
    is_first, places = repeats
    present = np.flatnonzero(places < len(result.t))
    times, y = t_eval[present], result.y[:, places[present]]
    if isinstance(t_eval, Array):
        firsts, columns = result.t, []
        for k, place in enumerate(places[present]):
            column = y[:, k]
            if not is_first[k]:
                stays_equal(times[k], firsts[place])
                column = shifted("solve_ivp", slope, firsts[place], column, times[k] - firsts[place])
            columns.append(column)
        y = np.stack(columns, axis=1)
    result.t, result.y = times, y
    return result
