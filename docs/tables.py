"""Markdown tables of functions, made from the rows of the rules and from the dispatch on NumPy's functions."""

from math import inf

import numpy as np
import scipy.special

from agrad._array import _functions
from agrad._core import density_rows, elementwise_rows
from agrad._structure import structural


def _escaped(text: str) -> str:
    return "".join(f"\\{c}" if c in r"\*_|`<>[]" else c for c in text)


def _domain(name: str, lower: float, upper: float, whole: bool) -> str:
    ends = "" if lower == -inf and upper == inf else f" from {lower:g} to {upper:g}".replace("inf", "∞")
    kind = " whole" * whole + "," * (whole and ends != "")
    return f"{name}{kind}{ends}" if ends or whole else ""


def _ufunc(name: str) -> str:
    """The ufunc by which NumPy or SciPy calls a rule; empty where they have none."""
    modules = [(np, "np"), (scipy.special, "special")]
    return next((f"`{label}.{name}`" for module, label in modules if isinstance(getattr(module, name, None), np.ufunc)), "")


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def elementwise() -> str:
    """Return a row for each elementwise function: name, meaning, domain where it is restricted, NumPy's or SciPy's ufunc."""
    rows = []
    for row in elementwise_rows():
        domains = [_domain(name, *ends) for name, ends in zip("xyz", row.domain, strict=False)]
        call = f"`{row.name}({', '.join('xyz'[: row.arity])})`"
        rows.append([call, _escaped(row.text), "; ".join(filter(None, domains)), _ufunc(row.ufunc)])
    return _table(["function", "meaning", "domain", "ufunc"], rows)


def densities() -> str:
    """Return a row for each density: name with arguments, meaning, conditions on the arguments."""
    rows = [
        [
            f"`{row.name}({', '.join(name for name, _ in row.arguments)})`",
            _escaped(row.text),
            "; ".join(f"{name}: {_escaped(condition)}" for name, condition in row.arguments),
        ]
        for row in density_rows()
    ]
    return _table(["density", "meaning", "conditions"], rows)


def numpy_functions(*, moving: bool) -> str:
    """Return the NumPy functions that take recorded arrays: those that move entries about, or those that compute."""
    names = sorted(f"`{function.__name__}`" for function in _functions if (function in structural) == moving)
    return ", ".join(names)
