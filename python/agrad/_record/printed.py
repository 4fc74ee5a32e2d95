"""Prints results as SciPy prints its own: a line for each public attribute, with shortened arrays; as a table in notebooks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from html import escape
from typing import Any

import numpy as np

__all__ = ["Printed", "public_names"]

_FEW = 10  # entries of an array that is printed whole


def public_names(kind: type) -> list[str]:
    """Returns the names of a dataclass's public attributes: the fields, and then the properties, those of bases first."""
    members = [each for base in reversed(kind.__mro__) for each in vars(base).items()]
    read = [name for name, member in members if isinstance(member, property)]
    return [name for name in (*(each.name for each in fields(kind)), *read) if not name.startswith("_")]


class Printed:
    """A result, a dataclass, that prints a line for each public attribute; counts that are zero are left out."""

    def __repr__(self) -> str:
        return _lines({name: getattr(self, name) for name in public_names(type(self))})

    def _repr_html_(self) -> str:
        """Returns a table, which notebooks show."""
        values = ((name, _text(getattr(self, name), 0)) for name in public_names(type(self)))
        cells = (f"<tr><th>{name}</th><td><pre>{escape(text)}</pre></td></tr>" for name, text in values)
        return f"<table>{''.join(cells)}</table>"


def _lines(values: Mapping[str, Any]) -> str:
    width = max((len(str(name)) for name in values), default=0)
    indent = width + 2
    texts = ((name, _text(value, indent).replace("\n", "\n" + " " * indent)) for name, value in values.items())
    return "\n".join(f"{name!s:>{width}}: {text}" for name, text in texts)


def _text(value: Any, indent: int) -> str:
    if isinstance(value, Mapping):
        return _lines({name: each for name, each in value.items() if not _is_no_count(each)}) or "{}"
    formats: Any = {"float_kind": "{: .3e}".format}
    with np.printoptions(threshold=_FEW, edgeitems=2, linewidth=76 - indent, formatter=formats):
        return f"[{', '.join(map(str, value))}]" if isinstance(value, list) else str(value)


def _is_no_count(value: Any) -> bool:
    """Returns whether a value is a count that is zero, or a mapping of such counts."""
    return all(map(_is_no_count, value.values())) if isinstance(value, Mapping) else type(value) is int and value == 0
