"""Flattens trees (nested dicts, lists, tuples, dataclasses and registered classes) to leaves, and restores trees, by optree."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Sequence
from numbers import Integral, Number
from typing import Any

import numpy as np
import optree

from agrad._core import Array, Recording, ShapeError
from agrad._record.nodes import NAMESPACE, register_dataclass
from agrad._record.objects import as_recorded, holds_objects
from agrad._record.whole import read

__all__ = [
    "as_plain",
    "axes_of",
    "check_kind",
    "direction",
    "flatten",
    "is_data",
    "is_number",
    "orders_of_keys",
    "parameter",
    "split",
    "values_of",
    "without_data",
]

_FLOAT64 = np.dtype(np.float64)
_LEAF = optree.treespec_leaf(none_is_leaf=True, namespace=NAMESPACE)


def flatten(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> tuple[list[Any], Callable[[Iterable[Any]], Any], Any]:
    """Returns the leaves, the function that restores the tree from leaves, and a hashable description of the structure.

    Objects for which `is_leaf` returns True are leaves. NumPy's arrays of recorded objects become recorded arrays.
    """
    if type(tree) is Array:
        return [tree], _LEAF.unflatten, _LEAF
    leaves, structure = optree.tree_flatten(tree, is_leaf, none_is_leaf=True, namespace=NAMESPACE)
    for kind in {*map(type, leaves)}:
        if issubclass(kind, np.ndarray):
            leaves = [as_recorded(leaf) if holds_objects(leaf) else leaf for leaf in leaves]
        elif dataclasses.is_dataclass(kind):
            register_dataclass(kind)
            return flatten(tree, is_leaf)
    return leaves, structure.unflatten, structure


def orders_of_keys(tree: Any) -> tuple[Any, ...]:
    """Returns the keys of each dict within a tree, in the dict's order; structures are equal for all orders."""
    found = []

    def note(node: Any) -> bool:
        if isinstance(node, dict) and len(node) > 1:
            found.append(tuple(node))
        return False

    optree.tree_structure(tree, note, none_is_leaf=True, namespace=NAMESPACE)
    return tuple(found)


def axes_of(function: str, name: str, axes: Any, tree: Any) -> list[int | None]:
    """Returns the axis of each leaf of a tree; `axes` has an int or None for each leaf, or for a structure of leaves."""
    try:
        found = optree.broadcast_prefix(axes, tree, none_is_leaf=True, namespace=NAMESPACE)
    except ValueError as error:
        raise TypeError(
            f"{function}: {name} is {axes!r}, but must be of the structure of its tree, or a prefix of that structure"
        ) from error
    for axis in found:
        if axis is not None and (isinstance(axis, bool) or not isinstance(axis, int)):
            raise TypeError(f"{function}: {name} is {axis!r}, but must be an int or None")
    return list(found)


def as_plain(leaf: Any) -> Any:
    """Returns a NumPy array for an object with ``__array__``, as a column of a table, and any other leaf unchanged."""
    if isinstance(leaf, (np.ndarray, np.generic, Array, type)) or not hasattr(leaf, "__array__"):
        return leaf
    return np.asarray(leaf)


def is_data(leaf: Any) -> bool:
    """Returns whether a leaf of a differentiated structure is no parameter: an integer, boolean, string, None or an object."""
    if type(leaf) is float:
        return False
    if isinstance(leaf, Array):
        return leaf.is_data
    if isinstance(leaf, (np.ndarray, np.generic)):
        return leaf.dtype.kind in "iubSUMm"
    if hasattr(leaf, "__array__"):
        return False
    return isinstance(leaf, Integral) or not isinstance(leaf, Number)


def is_number(leaf: Any) -> bool:
    """Returns whether a leaf is a floating-point number or array, which is an input of programs."""
    if isinstance(leaf, (np.ndarray, np.generic)):
        return leaf.dtype.kind == "f"
    return isinstance(leaf, float)


def check_kind(function: str, label: Callable[[], str], leaf: Any) -> None:
    """Raises for masked arrays and matrices, whose entries or operators have another meaning."""
    if isinstance(leaf, np.ma.MaskedArray):
        raise TypeError(
            f"{function}: {label()} is a masked array, but must be a plain one, because recorded values have no mask; write "
            "m.filled(value), or choose with np.where"
        )
    if isinstance(leaf, np.matrix):
        raise TypeError(
            f"{function}: {label()} is an np.matrix, but must be an array, because recorded values have the operators of "
            "arrays; write np.asarray(m), and @ for the product of matrices"
        )


def parameter(function: str, label_of: Callable[[int], str], n: int, leaf: Any, within: Recording | None) -> Any:
    """Returns leaf n to differentiate with respect to, as float64; raises unless the leaf is real and floating-point.

    Within a recording the leaf may be a recorded value. `label_of(n)` is the leaf's name in messages.
    """
    if type(leaf) is np.ndarray and leaf.dtype is _FLOAT64:
        return leaf

    def label() -> str:
        return label_of(n)

    if isinstance(leaf, Array):
        if within is not None and leaf.is_data:
            raise TypeError(
                f"{function}: {label()} is of dtype {leaf.dtype}, but must be floating-point; write x.astype(float) for x, or "
                "leave it out of argnums if it is no parameter"
            )
        if within is not None:
            return leaf
        raise TypeError(
            f"{function}: {label()} is a recorded value of {leaf.recording.function}, but must be plain; a recorded "
            "value is used within its function only, where there are no sparse matrices"
        )
    check_kind(function, label, leaf)
    values = np.asarray(leaf)
    kind = values.dtype.kind
    if kind == "f":
        return values.astype(np.float64, copy=False)
    if kind in "iub":
        raise TypeError(
            f"{function}: {label()} is of dtype {values.dtype}, but must be floating-point; write 3.0 for 3, or leave it "
            "out of argnums if it is no parameter"
        )
    if kind == "c":
        raise TypeError(
            f"{function}: {label()} is complex, but must be real; differentiate with respect to real and imaginary parts"
        )
    raise TypeError(f"{function}: {label()} is {leaf!r}, but must be a number or an array; leave it out of argnums")


def direction(
    function: str,
    name: str,
    tree: Any,
    like: str,
    structure: Any,
    shapes: Sequence[tuple[int, ...] | None],
    *,
    skip: int = 0,
    within: Recording | None = None,
) -> Any:
    """Returns the entries of a tree as a vector; raises unless the tree has the structure and the shapes of `like`.

    `name` and `like` are the names of the two trees in messages; the first `skip` entries of a path are no part of a leaf's
    name. Within a recording leaves may be recorded, and then the vector is recorded, too.
    """
    leaves, _, its_structure = flatten(tree)
    if its_structure != structure:
        given = tree[0] if skip else tree
        raise TypeError(f"{function}: {name} is {given!r}, but must be of the structure of {like}")
    parts = []
    for path, leaf, shape in zip(structure.accessors(), leaves, shapes, strict=True):
        if shape is None:  # data have no direction
            if leaf is not None:
                label = path[skip:].codify(name)
                raise TypeError(f"{function}: {label} is {leaf!r}, but must be None, because {like} has no parameter there")
            continue
        values = leaf if isinstance(leaf, Array) else np.asarray(leaf)
        label = path[skip:].codify(name)
        if (isinstance(leaf, Array) and within is None) or values.dtype.kind not in "fiu":
            raise TypeError(f"{function}: {label} is {leaf!r}, but must be plain real numbers")
        if values.shape != shape:
            raise ShapeError(f"{function}: {label} is of shape {values.shape}, but must be of shape {shape}, as in {like}")
        parts.append(np.ravel(values) if isinstance(leaf, Array) else np.ravel(values).astype(np.float64))
    return np.concatenate(parts) if parts else np.zeros(0)


def split(flat: Any, shapes: Sequence[tuple[int, ...]]) -> list[Any]:
    """Returns consecutive parts of the last axis of `flat` in the given shapes; a float for each () of a vector."""
    parts: list[Any] = []
    begin = 0
    for shape in shapes:
        end = begin + math.prod(shape)
        part = flat[..., begin:end].reshape(flat.shape[:-1] + shape)
        parts.append(float(part) if part.ndim == 0 and isinstance(part, np.ndarray) else part)
        begin = end
    return parts


def values_of(tree: Any) -> Any:
    """Returns the tree with each recorded array replaced by the values of the recording."""
    leaves, together, _ = flatten(tree)
    return together([_value(leaf) for leaf in leaves])


def _value(leaf: Any) -> Any:
    if not isinstance(leaf, Array):
        return leaf
    values = leaf.recorded_values
    return float(values) if values.ndim == 0 else values


def without_data(tree: Any) -> Any:
    """Returns a structure with plain values in place of data, for functions that are called with plain values."""
    leaves, together, _ = flatten(tree)
    if not any(isinstance(leaf, Array) and leaf.is_data for leaf in leaves):
        return tree
    return together([read(leaf) if isinstance(leaf, Array) and leaf.is_data else leaf for leaf in leaves])
