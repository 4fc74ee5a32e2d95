"""Defines trees of transforms, which map a flat vector of free numbers to named parameters."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import optree

from agrad._constraints.transform import Transform
from agrad._core import ShapeError
from agrad._record.structure import find_recording

__all__ = ["Tree"]


def _own_tree(leaf: Any) -> Any:
    """Returns the tree of transforms of which a leaf is made, if it is a tree, else the leaf."""
    return leaf._structure.unflatten(leaf._transforms) if isinstance(leaf, Tree) else leaf


class Tree:
    """Maps a flat vector of free numbers to a tree of parameters and back.

    Parameters
    ----------
    transforms : tree of Transform
        Dictionaries, lists, tuples and named tuples of transforms, in any nesting. The free numbers of a dictionary's entries
        are sorted by key. A `Tree` among them stands for its own tree of transforms.

    Attributes
    ----------
    size : int
        How many free numbers there are.

    Raises
    ------
    TypeError
        A leaf of the tree is not a transform.

    Examples
    --------
    >>> import numpy as np, agrad as ag
    >>> tree = ag.constraints.Tree({"mu": ag.constraints.real(), "share": ag.constraints.simplex(3)})
    >>> tree.size
    3
    >>> tree.constrain(np.zeros(3))
    {'mu': np.float64(0.0), 'share': array([0.33333333, 0.33333333, 0.33333333])}
    """

    def __init__(self, transforms: Any) -> None:
        transforms = optree.tree_map(_own_tree, transforms)
        self._transforms, self._structure = optree.tree_flatten(transforms)
        for path, transform in zip(optree.tree_paths(transforms), self._transforms, strict=True):
            if not isinstance(transform, Transform):
                place = "".join(f"[{key!r}]" for key in path)
                raise TypeError(f"Tree: transforms{place} is {transform!r}, but must be a transform, as simplex(3) is")
        ends = np.cumsum([0, *(transform.size for transform in self._transforms)])
        self._slices = [slice(int(a), int(b)) for a, b in itertools.pairwise(ends)]
        self.size = int(ends[-1])

    def __repr__(self) -> str:
        return f"Tree({self._structure.unflatten(self._transforms)!r})"

    def constrain(self, free: Any) -> Any:
        """Map a flat vector to the tree of parameters.

        Parameters
        ----------
        free : array-like or recorded, (size,)

        Returns
        -------
        tree
        """
        parts = self._parts("constrain", free)
        return self._structure.unflatten(t.constrain(part) for t, part in zip(self._transforms, parts, strict=True))

    def log_jacobian(self, free: Any) -> Any:
        """Compute the sum of the log Jacobians of all transforms.

        Parameters
        ----------
        free : array-like or recorded, (size,)

        Returns
        -------
        Array or float
        """
        parts = self._parts("log_jacobian", free)
        return sum((t.log_jacobian(part) for t, part in zip(self._transforms, parts, strict=True)), 0.0)

    def unconstrain(self, parameters: Any) -> Any:
        """Map a tree of parameters to the flat vector that `constrain` maps to it.

        Parameters
        ----------
        parameters : tree
            Of the structure of the transforms.

        Returns
        -------
        Array or numpy.ndarray, (size,)

        Raises
        ------
        ShapeError
            The tree has another structure.
        DomainError
            A value does not satisfy its constraint.
        """
        try:
            values = self._structure.flatten_up_to(parameters)
        except (ValueError, TypeError) as error:
            raise ShapeError(f"Tree.unconstrain: parameters must have the structure of the transforms; {error}") from None
        parts = [
            np.reshape(transform.unconstrain(value), (transform.size,))
            for transform, value in zip(self._transforms, values, strict=True)
        ]
        return np.concatenate(parts) if parts else np.zeros(0)

    def _parts(self, method: str, free: Any) -> list[Any]:
        if find_recording(free) is None:
            free = np.asarray(free, dtype=float)
        if np.shape(free) != (self.size,):
            raise ShapeError(f"Tree.{method}: free has shape {np.shape(free)}, but must have shape {(self.size,)}")
        return [
            np.reshape(free[part], transform.free_shape) for transform, part in zip(self._transforms, self._slices, strict=True)
        ]
