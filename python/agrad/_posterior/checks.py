"""Checks and plain forms of what users give to a log density, and the reasons for which points are rejected."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from agrad._core import ShapeError
from agrad._posterior.declared import Declared

__all__ = ["checked_dims", "plain_column", "reason_of"]


def plain_column(leaf: Any) -> Any:
    """Returns the column of a table as an array, and any other leaf unchanged."""
    return leaf.to_numpy() if hasattr(leaf, "to_numpy") else leaf


def reason_of(sentence: str) -> str:
    """Returns the sentence of an error without its values, which differ from point to point."""
    found = re.match(r"(.*?) is .*, but must be ([^;]*)", sentence)
    if found is not None:
        return f"{re.sub(r'[0-9]+', '#', found[1])} is not {found[2].partition(', at ')[0]}"
    return re.sub(r"-?[0-9][0-9.e+-]*", "#", sentence)


def checked_dims(
    parameters: Declared, dims: Mapping[str, Any], coords: Mapping[str, Any]
) -> tuple[dict[str, list[str]], dict[str, list[Any]]]:
    """Returns dims and coords as lists; raises where they do not fit the shapes of the variables."""
    shapes = {variable.name: variable.shape for variable in parameters.variables}
    labels = {name: list(values) for name, values in coords.items()}
    found: dict[str, list[str]] = {}
    for name, own in dims.items():
        if name not in shapes:
            raise ShapeError(f"LogDensity: dims has {name!r}, but must have parameters only: {', '.join(shapes)}")
        found[name] = [own] if isinstance(own, str) else list(own)
        if len(found[name]) != len(shapes[name]):
            raise ShapeError(f"LogDensity: dims of {name!r} are {found[name]}, but must be {len(shapes[name])} names")
        for dim, length in zip(found[name], shapes[name], strict=True):
            if dim in labels and len(labels[dim]) != length:
                raise ShapeError(f"LogDensity: coords of {dim!r} are {len(labels[dim])} labels, but must be {length}")
    return found, labels
