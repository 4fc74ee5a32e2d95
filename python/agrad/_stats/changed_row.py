"""Defines rows whose last argument is another one than that of the compiled part's row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agrad._core import DensityRow

__all__ = ["ChangedRow"]


class ChangedRow:
    """A row of the compiled part with another last argument, of which it has the condition, and with its own terms.

    The argument keeps the name that the compiled part's source has.
    """

    def __init__(self, row: DensityRow, condition: str, terms: Callable[..., Any]) -> None:
        self._row = row
        self.arguments = [*row.arguments[:-1], (row.arguments[-1][0], condition)]
        self.terms = terms

    def __getattr__(self, name: str) -> Any:
        return getattr(self._row, name)
