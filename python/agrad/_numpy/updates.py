"""Defines functional updates: ``x.at[key].set(v)`` is a copy of x with other entries at `key`; x is not changed."""

from __future__ import annotations

from typing import Any

import numpy as np

from agrad._core import Array, scatter_add
from agrad._numpy.whole import reading

__all__ = ["At", "add_at"]


def add_at(x: Array, key: Any, v: Any) -> Any:
    """Return x with v added at x[key]; entries that occur several times in key get several summands."""
    key = reading(key)
    if isinstance(key, Array):  # a recorded mask
        return np.where(key, x + v, x)
    places = np.arange(x.size).reshape(x.shape)[key]
    return scatter_add(x, np.broadcast_to(x.recording.array(v) if not isinstance(v, Array) else v, places.shape), places)


class _Places:
    """Some entries of a recorded array, with methods to update these entries."""

    def __init__(self, x: Array, key: Any) -> None:
        self._x, self._key = x, key

    def _with(self, v: Any) -> Array:
        x = self._x.copy()
        x[self._key] = v
        return x

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
        key = reading(self._key)
        return np.where(key, self._x * v, self._x) if isinstance(key, Array) else self._with(self._x[key] * v)

    def divide(self, v: Any) -> Any:
        """Return x with these entries, which must differ, divided by v."""
        key = reading(self._key)
        return np.where(key, self._x / v, self._x) if isinstance(key, Array) else self._with(self._x[key] / v)


class At:
    """The object ``x.at``, which is indexed by a key."""

    def __init__(self, x: Array) -> None:
        self._x = x

    def __getitem__(self, key: Any) -> _Places:
        return _Places(self._x, key)
