"""Choosing between values: where, select, clip, and comparisons by other comparisons."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from agrad._core import Array, elementwise_rows
from agrad._numpy.axes import check_plain_options, recorded
from agrad._record.structure import find_recording

__all__ = ["functions", "where"]

_rows = {row.name: row for row in elementwise_rows()}


def where(condition: Any, x: Any, y: Any) -> Any:
    """Choose entries of x where the condition holds, of y elsewhere; both are computed.

    Parameters
    ----------
    condition, x, y : array-like or recorded, broadcast together
        A plain condition chooses entries at the recording, at no cost in a run.

    Returns
    -------
    Array or numpy.ndarray
        Of the broadcast shape; recorded if an argument is recorded.

    Raises
    ------
    ValueError
        The arguments do not broadcast; with a recorded condition the error is a ShapeError, which is a ValueError.
    TypeError
        An argument is recorded, and x or y is complex or no number.

    Notes
    -----
    The derivative is the chosen entry's. An infinite derivative of the other entry does no harm, because a zero adjoint is
    never multiplied.
    """
    recording = find_recording(condition, x, y)
    if recording is None:
        return np.where(condition, x, y)
    chosen, other = recording.array(x), recording.array(y)
    truths = chosen.is_condition and other.is_condition
    if isinstance(condition, Array):
        result = _rows["select"](condition, chosen, other)
        return result.with_slots(result.slots, condition=True) if truths else result
    return chosen.with_slots(np.where(condition, chosen.slots, other.slots), condition=truths)


def _select(condlist: Any, choicelist: Any, default: Any = 0.0) -> Any:
    if len(condlist) != len(choicelist) or not condlist:
        raise ValueError(
            f"np.select: lengths of condlist and choicelist are {len(condlist)} and {len(choicelist)}, "
            "but must be equal and positive"
        )
    *parts, result = np.broadcast_arrays(*recorded(*condlist, *choicelist, default))
    for condition, choice in zip(parts[: len(condlist)][::-1], parts[len(condlist) :][::-1], strict=True):
        result = where(condition, choice, result)
    return result


def _piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Any:
    """Computes np.piecewise. Each function is called with all of x, and the conditions choose entries, as in `where`."""
    first = recorded(x)[0]
    one = isinstance(condlist, Array) or (not isinstance(condlist, (list, tuple)) and np.ndim(condlist) == first.ndim)
    conditions = [condlist] if one else list(condlist)
    n = len(conditions)
    if len(funclist) not in (n, n + 1):
        raise ValueError(f"np.piecewise: length of funclist is {len(funclist)}, but must be {n} or {n + 1}")
    pieces: list[Any] = [piece(first.copy(), *args, **kw) if callable(piece) else piece for piece in funclist]
    result = recorded(np.zeros_like(first) + (pieces[n] if len(pieces) > n else 0.0))[0]
    for condition, piece in zip(conditions, pieces, strict=False):
        if np.shape(piece) not in ((), first.shape):
            raise ValueError(
                f"np.piecewise: a function's result is of shape {np.shape(piece)}, but must be of shape {first.shape}, as x"
            )
        result = where(condition, piece, result)
    return result


def _clip(
    a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, *, min: Any = None, max: Any = None, dtype: Any = None
) -> Any:
    check_plain_options("np.clip", dtype, out)
    low, high = min if a_min is None else a_min, max if a_max is None else a_max
    x = a
    if low is not None:
        x = where(x < low, low, x)
    if high is not None:
        x = where(x > high, high, x)
    return x.copy() if x is a else x


def _nan_to_num(x: Array, copy: bool = True, nan: float = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    largest = np.finfo(float).max
    y = where(np.isnan(x), nan, x)
    y = where(y == np.inf, largest if posinf is None else posinf, y)
    return where(y == -np.inf, -largest if neginf is None else neginf, y)


def _isclose(a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Any:
    x, y = recorded(a, b)
    close = (x == y) | (np.isfinite(y) & (abs(x - y) <= atol + rtol * abs(y)))
    return close | (np.isnan(x) & np.isnan(y)) if equal_nan else close


def _allclose(a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Any:
    return np.all(_isclose(a, b, rtol, atol, equal_nan))


def _array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Any:
    x, y = recorded(a1, a2)
    if x.shape != y.shape:
        return False
    return np.all((x == y) | (np.isnan(x) & np.isnan(y)) if equal_nan else x == y)


#: The functions for recorded arrays by NumPy's functions.
functions: dict[Callable[..., Any], Callable[..., Any]] = {
    np.where: where,
    np.select: _select,
    np.piecewise: _piecewise,
    np.clip: _clip,
    np.nan_to_num: _nan_to_num,
    np.isclose: _isclose,
    np.allclose: _allclose,
    np.array_equal: _array_equal,
}
