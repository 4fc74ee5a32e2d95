"""Records operations of linear algebra, for one matrix or for stacks of matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from agrad._core import linalg_rows

__all__ = ["apply", "row"]

_rows = {(each.name, each.options): each for each in linalg_rows()}


def row(name: str, options: int = 0) -> Callable[..., tuple[Any, ...]]:
    """Returns the operation on vectors and matrices; the operation's results are matrices."""
    return _rows[name, options]


def apply(run: Callable[..., tuple[Any, ...]], *x: Any) -> list[Any]:
    """Returns the results of an operation on matrices for stacks of matrices, whose leading dimensions broadcast."""
    lead = np.broadcast_shapes(*(each.shape[:-2] for each in x))
    if lead == ():
        return list(run(*x))
    if 0 in lead:
        like = run(*(each.recording.array(np.eye(*each.shape[-2:])) for each in x))
        return [y.with_slots(np.zeros(lead + y.shape, np.uint32)) for y in like]
    parts = [np.broadcast_to(each, lead + each.shape[-2:]) for each in x]
    results = [run(*(part[index] for part in parts)) for index in np.ndindex(*lead)]
    return [np.reshape(np.stack(each), lead + each[0].shape) for each in zip(*results, strict=True)]
