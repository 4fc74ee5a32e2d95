"""Checks and plain forms of what users give to a log density, and the reasons for which points are rejected."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from agrad._core import ShapeError
from agrad._posterior.declared import Declared

__all__ = ["checked_dims", "own_data", "reason_of"]


def own_data(leaf: Any) -> Any:
    """Returns a copy of an array, the column of a table as an array, and any other leaf unchanged."""
    if hasattr(leaf, "to_numpy"):
        return np.array(leaf.to_numpy())
    return leaf.copy() if isinstance(leaf, np.ndarray) else leaf


def reason_of(sentence: str) -> str:
    """Returns the sentence of an error without its values, which differ from point to point."""
    found = re.match(r"(.*?) is .*, but must be ([^;]*)", sentence)
    if found is not None:
        return f"{re.sub(r'[0-9]+', '#', found[1])} is not {found[2].partition(', at ')[0]}"
    return re.sub(r"-?[0-9][0-9.e+-]*", "#", sentence)


def checked_dims(
    parameters: Declared, dims: Mapping[str, Any], coords: Mapping[str, Any], has_others: bool
) -> tuple[dict[str, list[str]], dict[str, list[Any]]]:
    """Returns dims and coords as lists; raises where they do not fit. has_others: whether some variables are computed."""
    shapes = {variable.name: variable.shape for variable in parameters.variables}
    labels = {name: list(values) for name, values in coords.items()}
    found: dict[str, list[str]] = {}
    for name, own in dims.items():
        if name not in shapes and not has_others:
            raise ShapeError(f"LogDensity: dims has {name!r}, but must have parameters only: {', '.join(shapes)}")
        found[name] = [own] if isinstance(own, str) else list(own)
        if name not in shapes:
            continue
        if len(found[name]) != len(shapes[name]):
            raise ShapeError(f"LogDensity: dims of {name!r} are {found[name]}, but must be {len(shapes[name])} names")
        for dim, length in zip(found[name], shapes[name], strict=True):
            if dim in labels and len(labels[dim]) != length:
                raise ShapeError(f"LogDensity: coords of {dim!r} are {len(labels[dim])} labels, but must be {length}")
    return found, labels
