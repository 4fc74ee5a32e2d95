"""Describes the events that happened, and those that did not, where their times or states are read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["NoHits", "named_hits"]


class NoHits(np.ndarray[Any, Any]):
    """The times of an event that did not happen, or the states there: an empty array whose index error says so."""

    # An array that is joined with others is a plain one.
    __array_priority__ = -1.0  # pyright: ignore
    said = ""

    @classmethod
    def of(cls, shape: tuple[int, ...], said: str) -> NoHits:
        """Returns the array; `said` is the message of the index error."""
        empty = np.zeros(shape).view(cls)
        empty.said = said
        return empty

    def __array_finalize__(self, of: Any) -> None:
        self.said = getattr(of, "said", "")

    def __getitem__(self, key: Any) -> Any:
        try:
            return super().__getitem__(key)
        except IndexError as error:
            raise IndexError(self.said or str(error)) from None


def named_hits(
    function: str, lists: Callable[[], tuple[list[Any], list[Any]]], span: tuple[float, float]
) -> tuple[list[Any], list[Any]]:
    """Returns the times of events and the states there, with those that did not happen in the span of time named."""
    times, states = lists()
    for e, each in enumerate(times):
        if not len(each):
            said = f"{function}: events[{e}] did not happen from t = {span[0]} to t = {span[1]}"
            said += f", so t_events[{e}] and y_events[{e}] are empty"
            times[e], states[e] = NoHits.of((0,), said), NoHits.of(states[e].shape, said)
    return times, states
