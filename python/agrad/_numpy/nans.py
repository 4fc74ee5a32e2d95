"""Reductions that leave out nans: nans are missing numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from agrad._numpy.axes import recorded
from agrad._numpy.choosing import where as choose

__all__ = ["functions"]


def _replaced(plain: Callable[..., Any], instead: float) -> Callable[..., Any]:
    """Returns a reduction with each nan replaced by a number that does not change the result."""

    def without_nans(a: Any, *options: Any, **named: Any) -> Any:
        x = recorded(a)[0]
        return plain(choose(np.isnan(x), instead, x), *options, **named)

    return without_nans


def _extreme(plain: Callable[..., Any], instead: float) -> Callable[..., Any]:
    of_numbers = _replaced(plain, instead)

    def without_nans(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, **named: Any) -> Any:
        x = recorded(a)[0]
        found = of_numbers(x, axis, out, keepdims, **named)
        return choose(np.all(np.isnan(x), axis=axis, keepdims=keepdims), np.nan, found)

    return without_nans


def _masked(plain: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a mean or variance of the entries that are not nan."""

    def without_nans(a: Any, *options: Any, where: Any = True, **named: Any) -> Any:
        x = recorded(a)[0]
        return plain(x, *options, where=~np.isnan(x) & np.broadcast_to(where, x.shape), **named)

    return without_nans


#: The functions for recorded arrays by NumPy's functions.
functions: dict[Callable[..., Any], Callable[..., Any]] = {
    np.nansum: _replaced(np.sum, 0.0),
    np.nanprod: _replaced(np.prod, 1.0),
    np.nancumsum: _replaced(np.cumsum, 0.0),
    np.nancumprod: _replaced(np.cumprod, 1.0),
    np.nanmax: _extreme(np.max, -np.inf),
    np.nanmin: _extreme(np.min, np.inf),
    np.nanmean: _masked(np.mean),
    np.nanvar: _masked(np.var),
    np.nanstd: _masked(np.std),
}
