"""Makes keys of leaves that are no inputs of programs, such as integers, strings and arrays of integers.

A recording depends on such a leaf, and is used again for leaves with an equal key: of the same type, content and sign of zero.
Only a constant has a key that determines it (constants.py): an object with Python's own equality is equal to itself only,
whatever its attributes.
"""

from __future__ import annotations

from datetime import datetime, time
from numbers import Number
from typing import Any

import numpy as np

from agrad._core import Array

__all__ = ["key_of", "leaf_of", "text_of", "text_of_array"]

_ALIKE_IF_EQUAL = (int, bool, str, bytes, type(None))


def key_of(leaf: Any) -> Any:
    """Returns a key of a leaf; leaves with equal keys can share a recording."""
    kind = type(leaf)  # 1 and True are equal but not the same
    if kind in _ALIKE_IF_EQUAL:
        return kind, leaf
    if (
        isinstance(leaf, (np.ndarray, np.generic))
        and kind is not Array
        and (leaf.dtype.kind == "T" or not leaf.dtype.hasobject)
    ):
        content = tuple(leaf.ravel().tolist()) if leaf.dtype.kind == "T" else leaf.tobytes()
        return kind, leaf.dtype, leaf.shape, content
    if isinstance(leaf, slice):  # hashable since Python 3.12 only
        return kind, tuple(map(key_of, (leaf.start, leaf.stop, leaf.step)))
    if isinstance(leaf, frozenset):
        return kind, leaf, frozenset(map(key_of, leaf))
    if isinstance(leaf, (Number, datetime, time, range)):  # equal ones differ, as complex(0.0, -0.0) and Decimal("-0") do
        return kind, leaf, repr(leaf)
    return kind, leaf


def leaf_of(key: Any) -> Any:
    """Returns the leaf from the result of `key_of`."""
    if key[0] is slice:
        return slice(*map(leaf_of, key[1]))
    if len(key) < 4:
        return key[1]
    kind, dtype, shape, content = key
    if dtype.kind == "T":
        return np.array(content, dtype).reshape(shape)
    array: np.ndarray[Any, Any] = np.ndarray(shape, dtype, content)
    return array.view(kind) if issubclass(kind, np.ndarray) else array[()]


def text_of(key: Any) -> str:
    """Returns the text of a leaf from the result of `key_of`: type and shape of an array, or the value."""
    if len(key) < 4 or not issubclass(key[0], np.ndarray):
        return repr(leaf_of(key))
    return text_of_array(key[1].name, key[2])


def text_of_array(dtype: str, shape: tuple[int, ...]) -> str:
    """Returns the text of an array in a signature: ``float64[2, 3]``."""
    return f"{dtype}[{', '.join(map(str, shape))}]" if shape else dtype
