"""Prints results as SciPy prints its own: a line for each public attribute, with shortened arrays; as a table in notebooks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
    return "\n".join(_columns(values))


def _columns(values: Mapping[str, Any]) -> Iterator[str]:
    width = max(map(len, values), default=0)
    for name, value in values.items():
        text = _text(value, width + 2)
        yield f"{name:>{width}}: " + text.replace("\n", "\n" + " " * (width + 2))


def _text(value: Any, indent: int) -> str:
    if isinstance(value, Mapping):  # of counts, of which most are zero
        return _lines({name: each for name, each in value.items() if _has_counts(each)}) or "{}"
    if not isinstance(value, (np.ndarray, list)):
        return str(value)
    formats: Any = {"float_kind": "{: .3e}".format}
    with np.printoptions(threshold=_FEW, edgeitems=2, linewidth=76 - indent, formatter=formats):
        return f"[{', '.join(map(str, value))}]" if isinstance(value, list) else str(value)


def _has_counts(value: Any) -> bool:
    return any(map(_has_counts, value.values())) if isinstance(value, Mapping) else value != 0
