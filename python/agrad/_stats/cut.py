"""Defines what truncated and censored distributions have in common: a distribution with two ends, and functions of these."""

from __future__ import annotations

from typing import Any

import numpy as np

from agrad._stats.between import in_order
from agrad._stats.derived import Derived

__all__ = ["Cut"]


class Cut(Derived):
    """A distribution with two ends lb and ub, which are checked."""

    _needs = ("logbetween",)
    _values = "a parameter or an end"

    def __init__(self, distribution: object, lb: Any, ub: Any) -> None:
        super().__init__(distribution)
        self.lb, self.ub = in_order(f"stats.{self._function}", ("lb", "ub"), (lb, ub))

    def __repr__(self) -> str:
        return f"agrad.stats.{self._function}({self.distribution!r}, {self.lb!r}, {self.ub!r})"

    def _between_ends(self, x: Any) -> Any:
        """Return x, or the end beyond which x lies."""
        return np.where(x < self.lb, self.lb, np.where(x > self.ub, self.ub, x))

    def _log_below(self) -> Any:
        """Return the logarithm of the probability of values below lb, or for numbers up to lb."""
        return self.distribution.logcdf(np.ceil(self.lb) - 1 if self._is_discrete else self.lb)
