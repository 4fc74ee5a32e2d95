"""Defines families of distributions: SciPy's names and parameters, and the functions of the compiled part with their arguments.

A rule says how its family is called in SciPy (``probability/rule.hpp``), for example ``gamma(a): x - loc; a, 1 / scale``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from agrad._core import DensityRow, QuantileRow, density_rows, quantile_rows

__all__ = ["FORMS", "Family", "Form", "families"]

_TEXT = re.compile(r"(?P<name>\w+)(?:\((?P<shapes>.*?)\))?: (?P<form>.*?); (?P<arguments>.*)")
_SHAPE = re.compile(r"(\w+)(?: \{(.*?)\})?(?:, |$)")
_LOC_AND_SCALE = {"loc": "finite", "scale": "positive and finite"}
#: Conditions on two parameters together: the first minus the second must be so.
_PAIRS = {
    "hypergeom": ("M", "N", "a whole number, not negative"),
    "randint": ("high", "low", "positive and finite"),
}


def _is(x: Any, value: float) -> bool:
    """Whether x is this plain number, so that it needs no operation."""
    return isinstance(x, (int, float)) and x == value


@dataclass(frozen=True)
class Form:
    """How the rule's first argument follows from SciPy's x, and x from it."""

    of_x: Callable[[Any, Any, Any], Any]
    to_x: Callable[[Any, Any, Any], Any]
    is_reflected: bool = False  # so that the distribution function is the rule's complement
    is_scaled: bool = False  # so that the density is the rule's, divided by the scale


def _minus(x: Any, loc: Any) -> Any:
    return x if _is(loc, 0) else x - loc


FORMS = {
    "x": Form(lambda x, loc, scale: x, lambda y, loc, scale: y),
    "-x": Form(lambda x, loc, scale: -x, lambda y, loc, scale: -y, is_reflected=True),
    "x - loc": Form(lambda x, loc, scale: _minus(x, loc), lambda y, loc, scale: _minus(y, -loc)),
    "loc - x": Form(lambda x, loc, scale: loc - x, lambda y, loc, scale: loc - y, is_reflected=True),
    "(x - loc) / scale": Form(
        lambda x, loc, scale: _minus(x, loc) if _is(scale, 1) else _minus(x, loc) / scale,
        lambda y, loc, scale: _minus(y if _is(scale, 1) else y * scale, -loc),
        is_scaled=True,
    ),
}


@dataclass(frozen=True)
class Family:
    """One distribution of SciPy: its parameters with their conditions, its functions, and how it calls these."""

    name: str
    rule: str  # the family's name among the rules
    is_discrete: bool
    parameters: Mapping[str, str]  # of SciPy, shapes first, with their conditions
    shapes: tuple[str, ...]
    form: Form
    form_text: str
    arguments: tuple[tuple[str, str], ...]  # further arguments of the rules: terms in SciPy's parameters, and conditions
    argument_functions: tuple[Callable[..., Any], ...]
    densities: Mapping[str, DensityRow]  # "lpdf" or "lpmf", "cdf", "lcdf", "lccdf", as far as there are rules
    quantiles: Mapping[str, QuantileRow]  # "qf" and "cqf"
    pair: tuple[str, str, str] | None  # two parameters, and the condition on their difference
    draw: Callable[..., Any] | None = None  # what draws in place of the rule's function, of the same arguments

    @property
    def density(self) -> DensityRow:
        """The row of the log density or mass."""
        return self.densities["lpmf" if self.is_discrete else "lpdf"]


def _family(text: str, rule: str, densities: Mapping[str, DensityRow], quantiles: Mapping[str, QuantileRow]) -> Family:
    match = _TEXT.fullmatch(text)
    if match is None:
        raise ValueError(f"{rule}: the name in SciPy is {text!r}, but must be like 'gamma(a): x - loc; a, 1 / scale'")
    is_discrete = "lpmf" in densities
    row = densities["lpmf" if is_discrete else "lpdf"]
    terms = match["arguments"].split(", ")
    conditions = [condition for _, condition in row.arguments[1:]]
    of_term = dict(zip(terms, conditions, strict=True))
    stated = {shape: condition or of_term[shape] for shape, condition in _SHAPE.findall(match["shapes"] or "")}
    parameters = stated | {k: _LOC_AND_SCALE[k] for k in (("loc",) if is_discrete else ("loc", "scale"))}
    head = f"lambda {', '.join(parameters)}: "
    functions = tuple(eval(head + term, {"__builtins__": {}, "log": np.log}) for term in terms)
    return Family(
        name=match["name"],
        rule=rule,
        is_discrete=is_discrete,
        parameters=parameters,
        shapes=tuple(stated),
        form=FORMS[match["form"]],
        form_text=match["form"],
        arguments=tuple(zip(terms, conditions, strict=True)),
        argument_functions=functions,
        densities=densities,
        quantiles=quantiles,
        pair=_PAIRS.get(match["name"]),
    )


def _by_rule(rows: Iterable[Any]) -> dict[str, dict[str, Any]]:
    """Return the rows of each family by the ends of their names."""
    found: dict[str, dict[str, Any]] = {}
    for row in rows:
        rule, _, end = row.name.rpartition("_")
        found.setdefault(rule, {})[end] = row
    return found


def families() -> list[Family]:
    """Return the families that have a name in SciPy."""
    densities, quantiles = _by_rule(density_rows()), _by_rule(quantile_rows())
    return [
        _family(text, rule, rows, quantiles.get(rule, {}))
        for rule, rows in densities.items()
        for row in rows.values()
        if row.scipy
        for text in row.scipy.split(" | ")
    ]
