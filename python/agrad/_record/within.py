"""Within: where a thread is while derivatives by hand are recorded, and how often what it records will be differentiated.

A transformation inside of a recorded function says by how many orders it differentiates what its function records. A call of a
function with a derivative by hand finds here whether it is part of another one's derivative (``_transforms.custom_functions``).
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
    """What becomes of the values that are recorded."""

    free = 0  # they are differentiated as what they are
    values = 1  # they have no derivatives
    stopped = 2  # they are a derivative for tangents: at arguments that have no derivatives
    held = 3  # they are a derivative for the sweep back: at arguments that have tangents only


@dataclass(frozen=True)
class Place:
    """Where a thread is."""

    stage: Stage = Stage.free
    orders: int = 0  # by how many transformations around it a value is differentiated before the recording ends
    functions: tuple[Any, ...] = ()  # whose derivatives are being recorded
    begin: int = 0  # the derivative's first operation
    along: Sequence[Array] = ()  # and its tangents

    def depends(self, recording: Recording, x: Sequence[Array]) -> bool:
        """Whether values depend on the tangents of the derivative that is being recorded; True where that is not known."""
        return any(each.recording is not recording for each in self.along) or recording.depends(self.begin, self.along, x)


class _Here(threading.local):
    place = Place()


here = _Here()


@contextmanager
def at(place: Place) -> Iterator[None]:
    """Be there until the block ends."""
    before, here.place = here.place, place
    try:
        yield
    finally:
        here.place = before


def differentiated(orders: int) -> Any:
    """Within the block, a function is recorded that is then differentiated so many times where it stands."""
    now = here.place
    return at(replace(now, stage=Stage.free, orders=now.orders + orders, begin=0, along=()))
