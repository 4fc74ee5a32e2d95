"""What is not there: the functions of NumPy that people look for, and what to write instead."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

__all__ = ["INSTEAD", "hint_for"]

_GENERAL = "agrad has no derivative of it; write it with the functions of agrad's list, or pass plain numbers"
_NAN = "write np.{0} of np.where(np.isnan(x), {1}, x)"
INSTEAD: dict[Callable[..., object], str] = {
    np.nansum: _NAN.format("sum", "0.0"),
    np.nanprod: _NAN.format("prod", "1.0"),
    np.nanmax: _NAN.format("max", "-np.inf"),
    np.nanmin: _NAN.format("min", "np.inf"),
    np.nanmean: "write np.mean(x, where=~np.isnan(x))",
    np.nanvar: "write np.var(x, where=~np.isnan(x))",
    np.nanstd: "write np.std(x, where=~np.isnan(x))",
    np.nancumsum: _NAN.format("cumsum", "0.0"),
    np.unique: "which values are equal depends on the values; compute it from plain ones",
    np.histogram: "counts have no derivative; compute them from plain numbers",
    np.partition: "write np.sort",
    np.trim_zeros: "where zeros are depends on the values; write a slice",
    np.apply_along_axis: "write a loop and np.stack",
    np.apply_over_axes: "write a loop",
    np.piecewise: "write np.where or np.select",
    np.linalg.matrix_rank: "a rank is a whole number and has no derivative; compute it from plain numbers",
    np.linalg.eig: "write np.linalg.eigh of a symmetric matrix; eigenvalues of others may be complex",
    np.linalg.eigvals: "write np.linalg.eigvalsh of a symmetric matrix; eigenvalues of others may be complex",
    np.roots: "solve for the eigenvalues of the companion matrix",
    np.polyfit: "write np.linalg.lstsq(np.vander(x, degree + 1), y)",
    np.unwrap: "write np.diff and np.cumsum of what is to be kept continuous",
    np.geomspace: "write np.exp(np.linspace(np.log(start), np.log(stop), num))",
    np.logspace: "write base ** np.linspace(start, stop, num)",
    np.fft.fft: "recorded arrays are real; write the products with np.cos and np.sin matrices",
    np.fft.rfft: "recorded arrays are real; write the products with np.cos and np.sin matrices",
    np.save: "return the values from the function and save them outside of it",
    np.savetxt: "return the values from the function and save them outside of it",
}


def hint_for(function: Callable[..., object]) -> str:
    """What to use instead of a function that recorded arrays do not have."""
    return INSTEAD.get(function, _GENERAL)
