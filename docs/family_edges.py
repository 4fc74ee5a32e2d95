"""What the functions of a family return at and beyond the ends of the support, and what they say of bad arguments."""

import math
from typing import Any

from family_pictures import arguments_text
from family_rows import CHOICES, Family, is_inside, parameters
from tables import as_table

import agrad as ag


def ends(family: Family, choice: int = 0) -> list[float]:
    """Return the finite ends of the support at a choice of parameters, as quantiles; none of families without quantiles."""
    at, name = parameters(family.density, choice), f"{family.name}_qf"
    found = [float(getattr(ag, name)(p, *at)) for p in (0.0, 1.0)] if "qf" in family.quantiles else []
    return [x for x in found if math.isfinite(x)]


def edge_points(family: Family) -> list[float]:
    """Return first arguments at the ends of the support, and beyond them."""
    at, function = parameters(family.density), getattr(ag, family.density.name)
    if not family.is_discrete:
        finite = ends(family)
        beyond = [x + step for x, step in zip(finite, (-1.0, 1.0), strict=False)] if family.quantiles else [-4.0, 4.0]
        return [-math.inf, *sorted({*finite, *beyond}), math.inf]
    inside = [k for k in range(200) if is_inside(function, k, at)]
    last = [] if inside[-1] == 199 else [inside[-1], inside[-1] + 1]
    return [-math.inf, *map(float, dict.fromkeys([inside[0] - 1, inside[0], inside[0] + 0.5, *last])), math.inf]


def called(name: str, *values: float) -> str:
    """Return what a function returns, or that it raises."""
    try:
        return f"{getattr(ag, name)(*values) + 0.0:.6g}"  # -0 is 0
    except ag.DomainError:
        return "`DomainError`"


def message(row: Any) -> str:
    """Return what the error says of the last argument where it does not meet its condition."""
    name, condition = row.arguments[-1]
    bad = -1.0 if condition.startswith(("positive", "nonnegative", "between 0", "a whole number, not", "0 or 1")) else math.nan
    values = [0.0, *parameters(row)]
    values[-1] = bad
    try:
        getattr(ag, row.name)(*values)
    except ag.DomainError as error:
        return str(error)
    raise AssertionError(f"{row.name}: {name} = {bad} is taken")


def other_ends(family: Family) -> str:
    """Return the log density at the ends of the support for other parameters, where it is another one."""
    name, (first, _) = family.density.name, family.density.arguments[0]
    shown = [called(name, x, *parameters(family.density)) for x in ends(family)]
    texts = []
    for choice in range(1, CHOICES):
        at = parameters(family.density, choice)
        for x, usual in zip(ends(family, choice), shown, strict=True):
            value = called(name, x, *at)
            if ("inf" in value or "inf" in usual) and value != usual:
                texts.append(f"At {arguments_text(family.density, at)} `{name}` is {value} at {first} = {x:g}.")
    return "\n\n" + " ".join(texts) if texts else ""


def edges(family: Family) -> str:
    """Return what functions return at and beyond the ends of the support, and what an error says."""
    row, at = family.density, parameters(family.density)
    first = row.arguments[0][0]
    names = [row.name, *(each.name for each in family.densities.values() if each is not row)]
    rows = [[f"{x:g}", *(called(name, x, *at) for name in names)] for x in edge_points(family)]
    where = f", at {arguments_text(row, at)}" if at else ""
    inverses = [each.name for each in family.quantiles.values()]
    texts = [f"`{name}` is {called(name, 0.0, *at)} at p = 0 and {called(name, 1.0, *at)} at p = 1." for name in inverses]
    quantiles = "\n\n" + " ".join(texts) if texts else ""
    table = as_table([f"`{first}`", *(f"`{name}`" for name in names)], rows)
    return (
        f"At the ends of the support and beyond them the functions return{where}:\n\n"
        f"{table}{other_ends(family)}{quantiles}\n\n"
        f"An argument that does not meet its condition raises `DomainError`:\n\n```\n{message(row)}\n```"
    )
