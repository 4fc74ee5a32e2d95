"""Stores, for each thread, the place in nested derivatives by hand, and how often the recorded operations are differentiated.

A transformation inside of a recorded function stores the number of orders by which the function's operations will be
differentiated. A call of a function with a derivative by hand reads here whether the call is part of another derivative by
hand (``_transforms.custom_functions``).
"""

from __future__ import annotations

import enum
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from agrad._core import Array, Recording

__all__ = ["Place", "Stage", "at", "differentiated", "here"]


class Stage(enum.Enum):
    """The use of the values that are being recorded."""

    free = 0  # differentiated as recorded
    values = 1  # without derivatives
    stopped = 2  # a derivative for tangents, at arguments without derivatives
    held = 3  # a derivative for the reverse pass, at arguments with tangents only


@dataclass(frozen=True)
class Place:
    """The place of a thread in nested derivatives by hand."""

    stage: Stage = Stage.free
    orders: int = 0  # of derivatives that surrounding transformations take before the recording ends
    functions: tuple[Any, ...] = ()  # with derivatives that are being recorded
    begin: int = 0  # the first operation of the derivative
    along: Sequence[Array] = ()  # the tangents of the derivative

    def of_new_recording(self) -> Place:
        """Returns the place at the start of a recording within this place."""
        return Place(functions=self.functions) if self.functions else _outside

    def depends(self, recording: Recording, x: Sequence[Array]) -> bool:
        """Returns whether values depend on the tangents of the derivative that is being recorded; True where unknown."""
        return any(each.recording is not recording for each in self.along) or recording.depends(self.begin, self.along, x)


_outside = Place()


class _Here(threading.local):
    place = _outside


here = _Here()


@contextmanager
def at(place: Place) -> Iterator[None]:
    """Sets the thread's place until the block ends."""
    before, here.place = here.place, place
    try:
        yield
    finally:
        here.place = before


def differentiated(orders: int) -> Any:
    """Within the block, a function is recorded that is differentiated `orders` times in the same recording."""
    now = here.place
    return at(replace(now, stage=Stage.free, orders=now.orders + orders, begin=0, along=()))
