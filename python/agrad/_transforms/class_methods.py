"""Binds transformations as methods, for ``@ag.grad`` and ``@ag.compile`` above a method of a class."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agrad._record.nodes import METHODS
from agrad._transforms.by_name import copy_with

__all__ = ["bound_to", "cached_for"]


class _Kept(dict[int, Any]):
    """The cached methods of a single instance; a copy or a pickle of the instance starts empty."""

    def __init__(self, instance: Any = None) -> None:
        self.instance = instance

    def __reduce__(self) -> tuple[Any, ...]:
        return _Kept, ()

    def __copy__(self) -> _Kept:
        return _Kept()

    def __deepcopy__(self, memo: dict[int, Any]) -> _Kept:
        return _Kept()


def bound_to(transformation: Any, instance: Any) -> Any:
    """Returns a transformation of a function as a transformation of the instance's method."""
    return copy_with(transformation, function=transformation.function.__get__(instance))


def cached_for(descriptor: Any, instance: Any, make: Callable[[], Any]) -> Any:
    """Returns the object for an instance and an attribute of the class; the first use makes the object."""
    try:
        names = vars(instance)
    except TypeError:
        raise TypeError(
            f"{descriptor.label}: {type(instance).__name__} has no __dict__, but must have one, which stores the "
            "recordings of the instance; leave __slots__ out, or compile a function of the fields of the instance"
        ) from None
    cache = names.get(METHODS)
    if cache is None or cache.instance is not instance:
        cache = names[METHODS] = _Kept(instance)  # also where the attributes came from another instance
    if id(descriptor) not in cache:
        method = make()
        method.bound = descriptor, instance
        cache[id(descriptor)] = descriptor, method
    return cache[id(descriptor)][1]
