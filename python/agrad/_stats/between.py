"""Defines the probabilities of intervals: the methods `between` and `logbetween` of a distribution."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from agrad._core import checked
from agrad._stats.call import Call, given, plain
from agrad._stats.families import Family

__all__ = ["between", "in_order"]

_ROW = "lbetween"


def in_order(function: str, names: Sequence[str], ends: Sequence[Any]) -> tuple[Any, Any]:
    """Return the checked ends of an interval, of which the first must not exceed the second."""
    lower, upper = (checked(function, name, "a number, not nan", given(end)) for name, end in zip(names, ends, strict=True))
    with np.errstate(invalid="ignore"):  # of equal infinities
        length = np.where(lower == upper, 0.0, upper - lower)
    checked(function, f"{names[1]} - {names[0]}", "nonnegative", length)
    return lower, upper


def between(family: Family, method: str) -> Callable[..., Any] | None:
    """Return what computes the probability of an interval, or its logarithm, for a family."""
    if _ROW not in family.densities:
        return None

    def of_ends(lower: Any, upper: Any, values: Sequence[Any]) -> Any:
        call = Call(family, method, values)
        call.shape_with(lower=given(lower), upper=given(upper))
        lower, upper = in_order(call.name, ("lower", "upper"), (lower, upper))
        value = (_of_counts if family.is_discrete else _of_numbers)(call, lower, upper)
        return plain(value if method.startswith("log") else np.exp(value))

    return of_ends


def _ends(call: Call, lower: Any, upper: Any) -> tuple[Any, Any]:
    form = call.family.form
    ends = form.of_x(lower, call.loc, call.scale), form.of_x(upper, call.loc, call.scale)
    return (ends[1], ends[0]) if form.is_reflected else ends


def _of_numbers(call: Call, lower: Any, upper: Any) -> Any:
    row = call.family.densities[_ROW]
    ends = (call.on_circle(end, _ROW) for end in _ends(call, lower, upper))
    return row.terms(*ends, *call.arguments_of(row))


def _of_counts(call: Call, lower: Any, upper: Any) -> Any:
    """Return the logarithm for counts, where ends may be between whole numbers, and the upper one may be infinite."""
    row, tail = call.family.densities[_ROW], call.family.densities["lccdf"]
    begin, end = _ends(call, lower, upper)
    first, last = call.count_in_range(np.ceil(begin), _ROW), call.count_in_range(np.floor(end), _ROW)
    is_open, is_empty = end == np.inf, (np.ceil(begin) > np.floor(end)) | (begin == np.inf)
    arguments = call.arguments_of(row)
    between_both = row.terms(first, np.where(is_open | is_empty, first, last), *arguments)
    return np.where(is_empty, -np.inf, np.where(is_open, tail.terms(first - 1, *arguments), between_both))
