"""Registers classes whose objects are nodes of trees: dataclasses, which are found as they occur, and classes of users."""

from __future__ import annotations

import dataclasses
import functools
import threading
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import optree

__all__ = ["METHODS", "NAMESPACE", "register_dataclass", "register_tree"]

NAMESPACE = "agrad"  # of the classes that are registered with optree here
METHODS = "_agrad_methods"  # the attribute of an instance with the recordings of its methods
_Kind = TypeVar("_Kind", bound=type)
_registered: set[type] = set()
_lock = threading.Lock()


def register_tree(
    kind: _Kind,
    flatten: Callable[[Any], tuple[Iterable[Any], Any]] | None = None,
    unflatten: Callable[[Any, Iterable[Any]], Any] | None = None,
) -> _Kind:
    """Have objects of a class looked into, as dicts, lists, tuples and dataclasses are: a decorator of the class.

    Parameters
    ----------
    kind : type
        The class; objects of derived classes are of another class, which is registered by itself.
    flatten : callable, optional
        ``flatten(object)`` returns a pair: the children, an iterable of numbers, arrays and further structures, and hashable
        data that are compared by ``==``. Without it the children are all attributes of the object.
    unflatten : callable, optional
        ``unflatten(data, children)`` returns the object again; the children may be recorded values and other objects. Without
        it the attributes are set, without the class's ``__init__``.

    Returns
    -------
    type
        The class.

    Raises
    ------
    TypeError
        `kind` is no class, one of `flatten` and `unflatten` is given without the other, or neither is given and the objects
        have no ``__dict__``.
    ValueError
        The class is registered already, is a dataclass, or is one of Python's containers.

    Notes
    -----
    Objects are passed on as new objects: what a function sets in an argument is not seen outside. :func:`agrad.compile` refuses
    an attribute that is neither a number, an array, a structure of these nor immutable, and names it.

    Examples
    --------
    >>> import numpy as np, agrad as ag
    >>> @ag.register_tree
    ... class Line:
    ...     def __init__(self, slope):
    ...         self.slope = slope
    >>> f = ag.compile(lambda line, x: line.slope * x)
    >>> line = Line(2.0)
    >>> f(line, 3.0)
    6.0
    >>> line.slope = 5.0
    >>> f(line, 3.0)
    15.0
    """
    given = kind  # of the class's own type, which tests of kind do not change
    if not isinstance(kind, type):
        raise TypeError(f"register_tree: kind is {kind!r}, but must be a class")
    if (flatten is None) != (unflatten is None):
        raise TypeError("register_tree: one of flatten and unflatten is given, but must be both or neither")
    if flatten is None and kind.__dictoffset__ == 0:
        raise TypeError(
            f"register_tree: kind is {kind.__name__}, whose objects have no __dict__, but must have one where flatten and "
            "unflatten are left out"
        )
    if dataclasses.is_dataclass(kind):
        raise ValueError(f"register_tree: kind is {kind.__name__}, but must be no dataclass; dataclasses are known")
    with _lock:
        if kind in _registered:
            raise ValueError(f"register_tree: kind is {kind.__name__}, which is registered already, but must be a new class")
        try:
            if flatten is None or unflatten is None:
                _register(kind, *_attributes_of(kind))
            else:
                _register(kind, flatten, unflatten, optree.FlattenedEntry)
        except ValueError as error:
            raise ValueError(f"register_tree: kind is {kind.__name__}, but must be a new class; {error}") from error
    return given


def _attributes_of(kind: type) -> tuple[Callable[[Any], Any], Callable[[Any, Iterable[Any]], Any]]:
    """Returns the functions that take objects apart to their attributes and restore them."""
    others = _names_computed_again(kind)

    def take_apart(node: Any) -> tuple[tuple[Any, ...], tuple[str, ...], tuple[str, ...]]:
        names = tuple(sorted(vars(node).keys() - others))
        return tuple(vars(node)[name] for name in names), names, names

    def assemble(names: tuple[str, ...], children: Iterable[Any]) -> Any:
        node: Any = object.__new__(kind)
        vars(node).update(zip(names, children, strict=True))
        return node

    return take_apart, assemble


def _register(
    kind: type,
    take_apart: Callable[[Any], Any],
    assemble: Callable[[Any, Iterable[Any]], Any],
    entry: type[optree.PyTreeEntry] = optree.GetAttrEntry,
) -> None:
    optree.register_pytree_node(kind, take_apart, assemble, path_entry_type=entry, namespace=NAMESPACE)
    _registered.add(kind)


def register_dataclass(dataclass: type) -> None:
    """Registers a dataclass as a node; trees are restored without __init__ and its checks.

    An object with attributes that are no fields can be taken apart, as for a search, but not restored.
    """
    names = tuple(field.name for field in dataclasses.fields(dataclass))
    known = {*names, *_names_computed_again(dataclass)}

    def take_apart(node: Any) -> tuple[tuple[Any, ...], tuple[str, ...] | None, tuple[str, ...]]:
        others = getattr(node, "__dict__", {}).keys() - known
        return tuple(getattr(node, name) for name in names), tuple(sorted(others)) or None, names

    def assemble(others: tuple[str, ...] | None, children: Iterable[Any]) -> Any:
        if others:
            raise TypeError(
                f"{dataclass.__name__}: attribute {others[0]} is set, but must be a field, because objects are passed on by "
                f"their fields; declare it in the dataclass, as {others[0]}: float = 1.0"
            )
        node: Any = object.__new__(dataclass)
        for name, child in zip(names, children, strict=True):
            object.__setattr__(node, name, child)
        return node

    with _lock:
        if dataclass not in _registered:
            _register(dataclass, take_apart, assemble)


def _names_computed_again(kind: type) -> set[str]:
    """Returns names that may be in an object's dict and are no state: cached properties, and what typing and agrad store."""
    attributes = [item for each in kind.__mro__ for item in vars(each).items()]
    return {name for name, value in attributes if isinstance(value, functools.cached_property)} | {"__orig_class__", METHODS}
