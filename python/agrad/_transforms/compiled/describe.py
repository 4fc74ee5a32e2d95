"""Describes compiled functions as text: the recorded signatures and paths, and drawings of the programs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from agrad._record.keys import text_of, text_of_array
from agrad._transforms.compiled.paths import Path, WithPaths
from agrad._transforms.compiled.signatures import leaf_name

__all__ = ["counted", "describe", "drawing", "leaf_names"]


def leaf_names(structure: Any) -> list[str]:
    """Returns the names in messages of the leaves of a call's arguments: ``argument 0['rates']``."""
    return [leaf_name(path) for path in structure.accessors()]


def _signature(key: Any) -> Iterator[str]:
    """Yields a text for each leaf of the arguments of a signature."""
    structure, types, shapes, constants, _ = key
    shape_of, constant_of = iter(shapes), iter(constants)
    for name, dtype in zip(leaf_names(structure), types, strict=True):
        yield f"{name}: {text_of(next(constant_of)) if dtype is None else text_of_array(dtype.name, next(shape_of))}"


def describe(compiled: WithPaths) -> str:
    """Returns a text of all recordings of a compiled function."""
    recorded = compiled.recorded()
    name = compiled.label if compiled.transformation is None else f"compile({compiled.transformation.label})"
    paths = sum(len(each) for _, each in recorded)
    if not paths:
        return f"{name}: nothing recorded yet, the first call does it"
    text = [f"{name}: {counted(len(recorded), 'signature')}, {counted(paths, 'path')}"]
    for key, each in recorded:
        text.append(f"({', '.join(_signature(key))})")
        for n, path in enumerate(each, 1):
            if len(each) > 1:
                text.append(f"  path {n} of {len(each)}")
            text += [f"  {line}" for line in str(path.program).splitlines()]
    return "\n".join(text)


def counted(n: int, what: str) -> str:
    """Returns the text ``1 path``, ``2 paths``."""
    return f"{n} {what}{'s' * (n != 1)}"


def drawing(path: Path, key: Any) -> str:
    """Returns the program of a path as text for Graphviz, with the names of arguments and results."""
    structure, types, shapes, *_ = key
    names = [name for name, dtype in zip(leaf_names(structure), types, strict=True) if dtype is not None]
    results = [str(each.codify("result")) for each in path.structure.accessors()]
    return path.program.to_dot(_groups(names, shapes), _groups(results, path.shapes))


def _groups(names: Sequence[str], shapes: Sequence[tuple[int, ...]]) -> list[tuple[str, int]]:
    return [(name, math.prod(shape)) for name, shape in zip(names, shapes, strict=True)]
