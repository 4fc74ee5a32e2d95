"""Defines ``fill``, which puts values, such as parameters for missing data, in places of an array."""

from __future__ import annotations

from typing import Any

import numpy as np

from agrad._core import Array, ShapeError
from agrad._record.arguments import as_array

__all__ = ["fill"]


def fill(y: Any, where: Any, values: Any) -> Any:
    """Return a copy of an array with given values in some places, such as parameters in place of missing observations.

    Parameters
    ----------
    y : array-like or recorded
        The array. Entries that are replaced have no influence, so that they may be nan.
    where : array-like of bool
        Whether an entry is replaced; of y's shape.
    values : float, array-like or recorded
        A number for all places, or a vector with a number for each place, in the order of the places, rows first.

    Returns
    -------
    numpy.ndarray or Array
        Of y's shape; recorded if `y` or `values` is.

    Raises
    ------
    TypeError
        `where` is recorded or is no array of bool: which entries are replaced is fixed when a function is recorded.
    ShapeError
        `where` has another shape than y; `values` has another length than there are places.

    Notes
    -----
    An assignment ``y[where] = values`` changes a NumPy array in place and cannot have derivatives. Where the places are known
    by an expression of recorded values, write ``np.where(condition, values, y)`` with values for each entry.

    Examples
    --------
    >>> import numpy as np, agrad as ag
    >>> y = np.array([1.2, np.nan, 0.7, np.nan])
    >>> cost = lambda missing: np.sum(np.diff(ag.fill(y, np.isnan(y), missing)) ** 2)
    >>> ag.grad(cost)(np.array([1.0, 0.5]))
    array([ 0.2, -0.4])
    """
    function = "fill"
    y, values = as_array(function, "y", y), as_array(function, "values", values)
    if isinstance(where, Array) and not where.is_data:
        raise TypeError(f"{function}: where is a recorded value, but must be plain; write np.where(condition, values, y)")
    mask = np.asarray(where)
    if mask.dtype.kind != "b":
        raise TypeError(f"{function}: where is of dtype {mask.dtype}, but must be bool; one for each entry of y")
    if mask.shape != y.shape:
        raise ShapeError(f"{function}: where is of shape {mask.shape}, but must be of shape {y.shape}, as y is")
    count = int(np.count_nonzero(mask))
    if values.shape not in ((), (count,)):
        raise ShapeError(f"{function}: values is of shape {values.shape}, but must be a number or of shape ({count},)")
    places = np.arange(values.size, values.size + y.size)
    places[np.ravel(mask)] = np.arange(count) if values.ndim else 0
    return np.reshape(np.concatenate([np.ravel(values), np.ravel(y)])[places], y.shape)
