"""Makes the Python function of an elementwise rule from the rule's row: docstring, signature and checks."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, Signature
from typing import Any

from agrad._core import ElementwiseRow, checked

__all__ = ["function_of"]


def _interval(lower: float, upper: float, whole: bool) -> str:
    kind = "whole number" if whole else "real number"
    return f"any {kind}" if (lower, upper) == (-float("inf"), float("inf")) else f"{kind} from {lower:g} to {upper:g}"


def _docstring(row: ElementwiseRow) -> str:
    names = "xyz"[: row.arity]
    broadcast = "; arguments broadcast" if row.arity > 1 else ""
    parameters = "\n".join(
        f"{name} : number, array-like or recorded array\n    {_interval(*ends).capitalize()}{broadcast}."
        for name, ends in zip(names, row.domain, strict=True)
    )
    shapes = "ShapeError\n    The arguments do not broadcast.\n" if row.arity > 1 else ""
    outside = "" if row.must else f"; {row.outside:g} outside of the domain"
    refused = f"DomainError\n    An argument is not {row.must}, or nan.\n" if row.must else ""
    references = f"\n\nReferences\n----------\n{row.source}" if row.source else ""
    return (
        f"{row.text}\n\nParameters\n----------\n{parameters}\n\nReturns\n-------\nfloat, numpy.ndarray or Array\n"
        f"    The function of each entry, of the broadcast shape{outside}.\n\n"
        f"Raises\n------\n{refused}{shapes}TypeError\n    An argument is complex or no number.{references}"
    )


def function_of(row: ElementwiseRow) -> Callable[..., Any]:
    """Return the function of a row, with its docstring and signature."""
    must = row.must

    def function(*arguments: Any) -> Any:
        if must and len(arguments) == row.arity:
            return row(*(checked(row.name, name, must, x) for name, x in zip("xyz", arguments, strict=False)))
        return row(*arguments)

    function.__name__ = function.__qualname__ = row.name
    function.__doc__ = _docstring(row)
    arguments = [Parameter(name, Parameter.POSITIONAL_ONLY) for name in "xyz"[: row.arity]]
    function.__signature__ = Signature(arguments)  # type: ignore[attr-defined]
    return function
