"""Pictures of the univariate families: density or mass, distribution function, and errors of all functions.

The errors are those of family_errors.tsv, which benchmarks/python/errors.py measures, so the documentation needs no mpmath.
"""

import functools
import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from family_rows import CHOICES, Family, parameters

import agrad as ag

DATA = Path(__file__).with_name("family_errors.tsv")
FLOOR = -17  # the power of ten of the smallest errors that are drawn
POINTS = 150
COUNTS = 40
COLORS = ("tab:blue", "tab:orange", "tab:green", "tab:red")


class Errors(NamedTuple):
    """What was measured of a family: where, at which parameters, and errors by function and kind as powers of ten."""

    parameters: list[str]
    at: list[str]
    of_functions: dict[str, dict[str, np.ndarray]]


@functools.cache
def measured() -> dict[str, dict[str, list[str]]]:
    """Return the entries of the lines of the data by family or function, and kind."""
    found: dict[str, dict[str, list[str]]] = {}
    for line in DATA.read_text().splitlines():
        name, kind, *entries = line.split("\t")
        found.setdefault(name, {})[kind] = entries
    return found


def errors_of(family: Family) -> Errors:
    """Return the errors of a family; a function that is absent could not be measured."""
    lines = measured().get(family.name, {})
    at = lines.get("at", [])

    def numbers(entries: list[str]) -> np.ndarray:
        powers = [float(entry) if entry else math.nan for entry in entries]
        return np.array(powers + [math.nan] * (len(at) - len(powers)))

    names = [row.name for row in family.densities.values() if row.name in measured()]
    of_functions = {name: {kind: numbers(line) for kind, line in measured()[name].items()} for name in names}
    return Errors(lines.get("parameters", []), at, of_functions)


def arguments_text(row: Any, values: tuple[float, ...]) -> str:
    """Return the parameters by name with their values."""
    return ", ".join(f"{name} = {value:g}" for (name, _), value in zip(row.arguments[1:], values, strict=True))


def shown(family: Family) -> np.ndarray:
    """Return the first arguments of the picture: where most of the probability is at the choices of parameters."""
    function = getattr(ag, family.density.name)
    choices = [parameters(family.density, choice) for choice in range(CHOICES)]
    if family.is_discrete:
        first = -COUNTS if family.density.arguments[0][1] == "a whole number" else 0
        masses = [np.nan_to_num([height(family, k, at) for k in range(first, COUNTS)]) for at in choices]
        begin, end = (
            [first + int(np.searchsorted(np.cumsum(of_choice), share)) for of_choice in masses] for share in (0.03, 0.97)
        )
        return np.arange(min(0, *begin), min(max(end) + 2, COUNTS))
    if family.quantiles:
        lower, upper = (getattr(ag, f"{family.name}_{end}") for end in ("qf", "cqf"))
        below, above = (sorted(q(0.05, *at) for at in choices) for q in (lower, upper))
        begin, end = near_others(below[::-1], above[1]), near_others(above, below[1])
        wide = (end - begin) / 20
        ends = [x + step for x, step in ((begin, -wide), (end, wide))]
        ends = [x if math.isnan(height(family, y, choices[0])) else y for x, y in zip((begin, end), ends, strict=True)]
        return np.linspace(*ends, POINTS)
    if any(condition == "between -pi and pi" for row in family.rows for _, condition in row.arguments):
        return np.linspace(-math.pi, math.pi, POINTS)
    wide = np.linspace(-30, 30, 601)
    inside = [x for x in wide if any(function(x, *at) > -6 for at in choices)]
    return np.linspace(inside[0], inside[-1], POINTS)


def near_others(values: list[float], origin: float) -> float:
    """Return the last of some values, or the one before it if that is much nearer to the origin."""
    return values[-1] if abs(values[-1] - origin) <= 3 * abs(values[-2] - origin) else values[-2]


def height(family: Family, x: float, at: tuple[float, ...]) -> float:
    """Return the density or mass; nan where x is not taken, where it is infinite, and where a mass is 0."""
    try:
        value = getattr(ag, family.density.name)(x, *at)
    except ag.DomainError:
        return math.nan
    return math.nan if value == math.inf or (family.is_discrete and value == -math.inf) else math.exp(value)


def has_distribution_function(family: Family) -> bool:
    """Whether the family has a distribution function or its logarithm."""
    return "lcdf" in family.densities


def probabilities(family: Family, x: np.ndarray, at: tuple[float, ...]) -> list[float]:
    """Return the distribution function at x."""
    function = getattr(ag, f"{family.name}_lcdf")
    return [math.exp(function(each, *at)) for each in x]


def draw_family(family: Family, path: Path) -> None:
    """Draw density or mass, and the distribution function where there is one, at the choices of parameters."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    figure = Figure(figsize=(8, 2.8), dpi=80)
    left, right = figure.subplots(1, 2)
    figure.subplots_adjust(left=0.07, right=0.98, bottom=0.12, top=0.9, wspace=0.18)
    x, heights = shown(family), []
    style = "steps-post" if family.is_discrete else "default"
    choices = dict.fromkeys(parameters(family.density, choice) for choice in range(CHOICES))
    for at, color in zip(choices, COLORS, strict=False):
        density = [height(family, each, at) for each in x]
        left.plot(
            x, density, "o:" if family.is_discrete else "-", color=color, ms=3, lw=1, label=arguments_text(family.density, at)
        )
        heights.append(np.nanmax(density))
        if has_distribution_function(family):
            right.plot(x, probabilities(family, x, at), color=color, lw=1, drawstyle=style)
    left.set_title("mass" if family.is_discrete else "density", fontsize="small")
    left.set_ylim(0, 1.1 * near_others(sorted([0.0, *heights]), 0.0) if len(choices) > 1 else None)
    if has_distribution_function(family):
        right.set_title("distribution function", fontsize="small")
    else:
        right.set_axis_off()
    if family.is_discrete:
        for axes in (left, right):
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    if family.density.arguments[1:]:
        left.legend(fontsize="x-small")
    figure.savefig(path)


def draw_errors(family: Family, path: Path) -> bool:
    """Draw the errors of the family's functions, and return whether there are any."""
    from matplotlib.figure import Figure

    errors = errors_of(family)
    if not errors.of_functions:
        return False
    figure = Figure(figsize=(8, 2.8), dpi=80)
    axes = figure.subplots()
    figure.subplots_adjust(left=0.09, right=0.84, bottom=0.16, top=0.96)
    places, highest = np.arange(len(errors.at)), -10.0
    for (name, kinds), color in zip(errors.of_functions.items(), COLORS, strict=False):
        for kind, style in (("value", "o-"), ("first", "x:")):
            if kind in kinds:
                heights = np.clip(kinds[kind], FLOOR, 0)
                highest = np.nanmax([highest, *heights])
                label = name.removeprefix(f"{family.name}_") if kind == "value" else "its derivatives"
                axes.plot(places, heights, style, color=color, ms=3, lw=0.8, label=label)
    axes.set_ylim(FLOOR - 0.3, highest + 0.3)
    powers = range(FLOOR, math.ceil(highest) + 1, 1 if highest < -9 else 2)
    # a logarithmic axis would take ten times as long to draw
    axes.set_yticks(powers, [f"1e{power}" for power in powers])
    ticks = places[:: max(1, len(places) // 8)]
    axes.set_xticks(ticks, [errors.at[k] for k in ticks])
    axes.tick_params(labelsize="x-small")
    axes.set_xlabel(family.density.arguments[0][0], fontsize="small")
    axes.set_ylabel("relative error", fontsize="small")
    axes.legend(fontsize="x-small", loc="upper left", bbox_to_anchor=(1.0, 1.0))
    figure.savefig(path)
    return True
