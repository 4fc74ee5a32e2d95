"""What a solve has cost so far: a mapping that is read anew each time, because sweeps back come after the result."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

__all__ = ["Statistics"]


class Statistics(Mapping[str, Any]):
    """The counts of a solve's passes, as they are when they are read.

    Of the forward pass under their own names, of the others in dictionaries "backward", "quadrature" and "sensitivities".
    A copy or a pickle is a dictionary of the counts of that moment.
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
