"""Defines functional updates: ``x.at[key].set(v)`` is a copy of x with other entries at `key`; x is not changed."""

from __future__ import annotations

from typing import Any

import numpy as np

from agrad._core import Array, scatter_add
from agrad._numpy.whole import any_data, reading
from agrad._numpy.whole_index import scattered

__all__ = ["At", "add_at"]


def add_at(x: Array, key: Any, v: Any) -> Any:
    """Return x with v added at x[key]; entries that occur several times in key get several summands."""
    key = _places_of(x, key, v)
    if isinstance(key, Array) and key.is_condition:
        return np.where(key, x + v, x)
    if any_data(key if isinstance(key, tuple) else (key,), {}):
        return scattered(x, key, v)
    places = np.arange(x.size).reshape(x.shape)[key]
    return scatter_add(x, np.broadcast_to(x.recording.array(v) if not isinstance(v, Array) else v, places.shape), places)


def _places_of(x: Array, key: Any, v: Any) -> Any:
    """Returns a key with plain entries of masks that are data, unless the key is one mask of x for one number."""
    if isinstance(key, tuple):
        return tuple(reading(each) if _is_mask_of_data(each) else each for each in key)
    return reading(key) if _is_mask_of_data(key) and (np.ndim(v) > 0 or key.shape != x.shape) else key


def _is_mask_of_data(key: Any) -> bool:
    return isinstance(key, Array) and key.is_data and key.is_condition


class _Places:
    """Some entries of a recorded array, with methods to update these entries."""

    def __init__(self, x: Array, key: Any) -> None:
        self._x, self._key = x, key

    def _with(self, v: Any) -> Array:
        x = self._x.copy()
        x[self._key] = v
        return x

    def _changed(self, change: Any, v: Any) -> Any:
        key = _places_of(self._x, self._key, v)
        is_mask = isinstance(key, Array) and key.is_condition
        return np.where(key, change(self._x, v), self._x) if is_mask else self._with(change(self._x[key], v))

    def get(self) -> Any:
        """Return x at these entries."""
        return self._x[self._key]

    def set(self, v: Any) -> Array:
        """Return x with v in these entries."""
        return self._with(v)

    def add(self, v: Any) -> Any:
        """Return x with v added to these entries; repeated entries get several summands."""
        return add_at(self._x, self._key, v)

    def subtract(self, v: Any) -> Any:
        """Return x with v subtracted from these entries."""
        return add_at(self._x, self._key, -v if isinstance(v, Array) else np.negative(v))

    def multiply(self, v: Any) -> Any:
        """Return x with these entries, which must differ, multiplied by v."""
        return self._changed(np.multiply, v)

    def divide(self, v: Any) -> Any:
        """Return x with these entries, which must differ, divided by v."""
        return self._changed(np.true_divide, v)


class At:
    """The object ``x.at``, which is indexed by a key."""

    def __init__(self, x: Array) -> None:
        self._x = x

    def __getitem__(self, key: Any) -> _Places:
        return _Places(self._x, key)
