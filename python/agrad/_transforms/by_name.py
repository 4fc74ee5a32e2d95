"""Objects that stand for functions, pickled by their names as functions are."""

from __future__ import annotations

import operator
import sys
from typing import Any

__all__ = ["ByName", "place_of"]


def place_of(thing: Any) -> tuple[str, str] | None:
    """The module and the name that stand for this function, as they do after ``@ag.compile`` or ``@ag.grad``."""
    place = thing.__module__, getattr(thing, "__qualname__", "")
    try:
        return place if operator.attrgetter(place[1])(sys.modules[place[0]]) is thing else None
    except (AttributeError, KeyError):
        return None


class ByName:
    """A function made from a function: pickled by its name where that stands for it, else by its fields."""

    def __reduce_ex__(self, protocol: Any) -> Any:
        place = place_of(self)
        return super().__reduce_ex__(protocol) if place is None else place[1]
