"""Reads integers and booleans that are arguments of a recorded function, which makes a guard.

An array of integers or booleans is an input of a program, as an array of floats is, and has no derivative: the entries are
*data*. Operations on data are recorded (``_numpy.whole``, ``_numpy.whole_index``). Whatever needs plain integers, such as
``range(n[0])``, reads them: then the values that were read are a guard of the path, and a call with other values takes another
path. So an operation that agrad does not know is right for data, and only slower.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from agrad._core import LARGEST_WHOLE, Array, Comparison, elementwise_rows, reduce

__all__ = ["fits", "holds", "is_whole", "read"]

_equal = {row.name: row for row in elementwise_rows()}["equal"]


def is_whole(leaf: Any) -> bool:
    """Returns whether an argument is an array of integers or booleans that can be an input."""
    is_plain = isinstance(leaf, np.ndarray) and type(leaf) is not Array  # data say that they are NumPy's
    return is_plain and leaf.ndim > 0 and leaf.dtype.kind in "iub" and fits(leaf)


def fits(values: Any) -> bool:
    """Returns whether all integers are in the range of those that are inputs."""
    if values.dtype.itemsize < 8 or values.size == 0:
        return True
    return bool(values.max() <= LARGEST_WHOLE and (values.dtype.kind == "u" or values.min() >= -LARGEST_WHOLE))


def read(x: Array) -> Any:
    """Returns the integers or booleans of an array that is data, with a guard where a run with other values may follow."""
    values = x.recorded_values.astype(x.dtype)
    if values.size and x.is_active and x.recording.on_comparison != Comparison.answers:
        holds(_equal(x, values))
    return values[()]


def holds(condition: Array) -> bool:
    """Returns whether a recorded condition holds for all entries, as a guard."""
    return bool(reduce("min", condition, list(range(condition.ndim)))) if condition.ndim else bool(condition)
