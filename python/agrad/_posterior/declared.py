"""Parameters in the order in which they were declared, with names, as parts of one vector of free numbers."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import optree

from agrad._constraints.transform import Shape, Transform
from agrad._constraints.tree import Tree
from agrad._core import ShapeError

__all__ = ["Declared", "Variable", "named_leaves"]


class Variable:
    """A leaf of the tree of parameters."""

    def __init__(self, name: str, transform: Transform, first: int) -> None:
        self.name, self.transform = name, transform
        self.free = slice(first, first + transform.size)

    @property
    def shape(self) -> Shape:
        return self.transform.shape


class Declared:
    """The parameters: variables in the order of declaration, and the tree of which they are leaves."""

    def __init__(self, transforms: Any) -> None:
        tree = Tree(transforms)  # raises for a leaf that is no transform
        self._leaves, self._structure = tree._transforms, tree._structure
        whole = tree._structure.unflatten(tree._transforms)
        paths = optree.tree_paths(whole)
        #: The number of each variable's leaf in optree's order, where the keys of a dict are sorted.
        self._order = sorted(range(len(paths)), key=lambda n: _places(whole, paths[n]))
        firsts = itertools.accumulate((self._leaves[n].size for n in self._order), initial=0)
        self.variables = [Variable(_name_of(paths[n]), self._leaves[n], k) for n, k in zip(self._order, firsts, strict=False)]
        self.size = tree.size

    def constrain(self, free: Any) -> Any:
        """Return the tree of values for a vector of free numbers."""
        values: list[Any] = [None] * len(self._order)
        for n, variable in zip(self._order, self.variables, strict=True):
            part = np.reshape(free[variable.free], variable.transform.free_shape)
            values[n] = variable.transform.constrain(part)
        return self._structure.unflatten(values)

    def log_jacobian(self, free: Any) -> Any:
        parts = ((v.transform, np.reshape(free[v.free], v.transform.free_shape)) for v in self.variables)
        return sum((transform.log_jacobian(part) for transform, part in parts), 0.0)

    def unconstrain(self, values: Any) -> Any:
        """Return the free numbers of a tree of values."""
        try:
            leaves = self._structure.flatten_up_to(values)
        except (ValueError, TypeError) as error:
            raise ShapeError(f"LogDensity: values must have the structure of the parameters; {error}") from None
        parts = [_free_of(v, leaves[n]) for n, v in zip(self._order, self.variables, strict=True)]
        return np.concatenate(parts) if parts else np.zeros(0)

    def place(self, free: np.ndarray, values: Any) -> None:
        """Writes the free numbers of some values, a dict of variables' names or of nested trees, into a vector."""
        known = {variable.name: variable for variable in self.variables}
        for name, value in _named("", values, known):
            if name not in known:
                raise ShapeError(f"LogDensity: {name} is no parameter, but must be one of {', '.join(known)}")
            free[known[name].free] = _free_of(known[name], value)

    def names(self) -> list[str]:
        """Return the names of all entries of the values: ``mu``, ``theta[0]``, ``school.sd[1,2]``."""
        return [name for v in self.variables for name in _entries(v.name, v.shape)]

    def free_names(self) -> list[str]:
        return [name for v in self.variables for name in _entries(v.name, v.transform.free_shape)]


def _free_of(variable: Variable, value: Any) -> Any:
    return np.reshape(variable.transform.unconstrain(value), (variable.transform.size,))


def _places(tree: Any, path: tuple[Any, ...]) -> tuple[int, ...]:
    """Returns the places of a leaf and of the nodes above it among their neighbours, in the order of declaration."""
    places = []
    for key in path:
        keys = list(tree) if isinstance(tree, Mapping) else None
        places.append(keys.index(key) if keys is not None else int(key) if isinstance(key, int) else 0)
        tree = tree[key] if not isinstance(key, str) or keys is not None else getattr(tree, key)
    return tuple(places)


def named_leaves(tree: Any, alone: str = "x") -> Iterator[tuple[str, Any]]:
    """Yields the leaves of a tree with their names; `alone` is that of a tree that is a leaf."""
    for path, leaf in zip(optree.tree_paths(tree), optree.tree_leaves(tree), strict=True):
        yield _name_of(path) if path else alone, leaf


def _name_of(path: tuple[Any, ...]) -> str:
    name = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path)
    return name.removeprefix(".") or "x"


def _entries(name: str, shape: Shape) -> Iterator[str]:
    """Yields the names of an array's entries, rows first, counted from 0."""
    for place in itertools.product(*map(range, shape)):
        yield f"{name}[{','.join(map(str, place))}]" if place else name


def _named(name: str, value: Any, known: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yields the known parts of a tree with their names, and what is no tree; a dict's keys may be such names, too."""
    if name in known or not isinstance(value, (Mapping, list, tuple)):
        yield name or "x", value
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield from _named(f"{name}.{key}" if name else str(key), part, known)
    else:
        for n, part in enumerate(value):
            yield from _named(f"{name}[{n}]", part, known)
