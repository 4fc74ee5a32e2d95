"""Pickles objects that stand for functions by their names, as Python pickles functions."""

from __future__ import annotations

import operator
import sys
from typing import Any

__all__ = ["ByName", "place_of"]


def place_of(thing: Any) -> tuple[str, str] | None:
    """Returns the module and name that lead to this object, as after ``@ag.compile`` or ``@ag.grad``; None if they do not."""
    place = thing.__module__, getattr(thing, "__qualname__", "")
    try:
        return place if operator.attrgetter(place[1])(sys.modules[place[0]]) is thing else None
    except (AttributeError, KeyError):
        return None


class ByName:
    """A function made from a function: pickled by name where the name finds the function, else by the fields."""

    def __reduce_ex__(self, protocol: Any) -> Any:
        place = place_of(self)
        return super().__reduce_ex__(protocol) if place is None else place[1]
