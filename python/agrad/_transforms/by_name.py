"""Pickles objects that stand for functions by their names, as Python pickles functions and methods."""

from __future__ import annotations

import operator
import pickle
import sys
from typing import Any, TypeVar

__all__ = ["ByName", "copy_with", "method_place", "place_of"]

Thing = TypeVar("Thing")


def place_of(thing: Any) -> tuple[str, str] | None:
    """Returns the module and name that lead to this object, as after ``@ag.compile`` or ``@ag.grad``; None if they do not."""
    place = thing.__module__, getattr(thing, "__qualname__", "")
    try:
        return place if operator.attrgetter(place[1])(sys.modules[place[0]]) is thing else None
    except (AttributeError, KeyError):
        return None


def method_place(thing: Any) -> tuple[Any, str] | None:
    """Returns the instance and the name that lead to this bound method; None for what is not bound to an instance."""
    if thing.bound is None:
        return None
    descriptor, instance = thing.bound
    for kind in type(instance).__mro__:
        for name, attribute in vars(kind).items():
            if attribute is descriptor:
                return instance, name
    raise pickle.PicklingError(
        f"pickle: {thing!r} is no attribute of {type(instance).__name__}, but must be one; pickle the instance, and get the "
        "method from the copy"
    )


def copy_with(thing: Thing, **fields: Any) -> Thing:
    """Returns a copy with other fields; ``copy.copy`` returns the same object where the object's name finds the object."""
    copied = object.__new__(type(thing))
    vars(copied).update(vars(thing), **fields)
    return copied


class ByName:
    """A function made from a function: pickled by name where the name finds the function, else by the fields."""

    #: The attribute of the class and the instance from which a method was made.
    bound: tuple[Any, Any] | None = None

    def __reduce_ex__(self, protocol: Any) -> Any:
        method = method_place(self)
        if method is not None:
            return getattr, method
        place = place_of(self)
        return super().__reduce_ex__(protocol) if place is None else place[1]
