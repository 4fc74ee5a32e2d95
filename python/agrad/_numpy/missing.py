"""Defines hints for functions of NumPy that recorded arrays lack: what to write instead."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

__all__ = ["INSTEAD", "hint_for"]

_GENERAL = "agrad has no derivative of it; write it with the functions of agrad's list, or pass plain numbers"
INSTEAD: dict[Callable[..., object], str] = {
    np.nanmedian: "write np.median of the numbers that are not nan; their count determines the shape",
    np.nanquantile: "write np.quantile of the numbers that are not nan; their count determines the shape",
    np.nanpercentile: "write np.percentile of the numbers that are not nan; their count determines the shape",
    np.unique: "which values are equal depends on the values; compute it from plain ones",
    np.histogram: "counts have no derivative; compute them from plain numbers",
    np.partition: "write np.sort",
    np.trim_zeros: "the places of zeros depend on the values; write a slice",
    np.apply_along_axis: "write a loop and np.stack",
    np.apply_over_axes: "write a loop",
    np.linalg.matrix_rank: "a rank is a whole number and has no derivative; compute it from plain numbers",
    np.roots: "write np.linalg.eigvals of the companion matrix",
    np.unwrap: "write np.diff and np.cumsum of the values that are to be continuous",
    np.save: "return the values from the function and save them outside of it",
    np.savetxt: "return the values from the function and save them outside of it",
}


def hint_for(function: Callable[..., object]) -> str:
    """Returns the hint what to use instead of a function that recorded arrays lack."""
    return INSTEAD.get(function, _GENERAL)
