"""Defines the statistics of a solve: a mapping that reads the counts at each access, as reverse passes follow the result."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

__all__ = ["Statistics"]


class Statistics(Mapping[str, Any]):
    """The counts of a solve's passes when the counts are read.

    Counts of the forward pass have names of their own; the dictionaries "backward", "quadrature" and "sensitivities" hold the
    others. A copy or a pickle is a dictionary of the counts of that moment.
    """

    def __init__(self, read: Callable[[], dict[str, Any]]) -> None:
        self._read = read

    def __getitem__(self, name: str) -> Any:
        return self._read()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._read())

    def __len__(self) -> int:
        return len(self._read())

    def __repr__(self) -> str:
        return repr(self._read())

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (self._read(),)
