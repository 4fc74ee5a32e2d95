"""Errors of the functions of each univariate family from one tail to the other, for the pictures of the documentation.

    python benchmarks/python/errors.py [FAMILY...]

Writes docs/family_errors.tsv, or the lines of the named families in it. The truth is mpmath's value of the expression in each
function's row, as in accuracy.py; where it has too few digits, because a tail is the complement of the other, it is computed
with some hundred digits more. A family has a line `at` with the first arguments, and each of its functions a line `value` and
a line `first`: the relative error of the value, and the largest one of the first derivatives, as logarithms to base 10 with one
decimal. An empty entry has no truth; a function has no lines where mpmath is too slow for most of them.
"""

import argparse
import math
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import agrad as ag

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "docs"), str(ROOT / "tests" / "python")]

from accuracy import DIGITS, LARGEST, SMALLEST, error, exact  # noqa: E402
from family_rows import Family, families, is_count, is_inside, parameters  # noqa: E402

DATA = ROOT / "docs" / "family_errors.tsv"
MORE_DIGITS = (340, 370)
EXPONENTS = (300, 200, 100, 50, 20, 10, 5, 3, 2, 1, 0.5)
SECONDS = 1.0  # for one reference
BUDGET = 40.0  # seconds of the processor for one function
FACTOR = 100  # of counts among the parameters, so that they have tails
FLOOR = -17.0
POINTS = 25


def of_quantiles(family: Family, at: tuple[float, ...]) -> list[float]:
    """Return quantiles from the probability 1e-300 to its complement, and places beyond them.

    The one in the middle is beside the median, at which the differences of some references have no digits.
    """
    lower, upper = (getattr(ag, f"{family.name}_{end}") for end in ("qf", "cqf"))
    middle = lower(0.45, *at)
    begin, end = lower(1e-300, *at), upper(1e-300, *at)
    inner = [float(q(10.0**-k, *at)) for q in (lower, upper) for k in EXPONENTS]
    return [middle + 10 * (begin - middle), *inner, middle, middle + 10 * (end - middle)]


def of_counts(family: Family, at: tuple[float, ...]) -> list[float]:
    """Return counts up to 1e6, or of the whole support where it is shorter."""
    function = getattr(ag, family.density.name)
    wide = [0.0, *np.unique(np.round(np.geomspace(1, 1e6, POINTS - 1)))]
    inside = [x for x in wide if is_inside(function, x, at)]
    if len(inside) > POINTS // 2:
        return inside
    inside = [float(x) for x in range(31 * FACTOR) if is_inside(function, float(x), at)]
    return [inside[k] for k in np.unique(np.linspace(0, len(inside) - 1, POINTS).astype(int))]


def grid(family: Family, at: tuple[float, ...]) -> list[float]:
    """Return first arguments from deep in one tail to deep in the other."""
    if family.is_discrete:
        found = of_counts(family, at)
    elif family.quantiles:
        found = of_quantiles(family, at)
    elif any(condition == "between -pi and pi" for row in family.rows for _, condition in row.arguments):
        # no nearer to the ends, because the reference's circle ends at the double next to pi
        found = [sign * math.pi * (1 - 10.0**-k) for sign in (-1, 1) for k in np.geomspace(0.01, 3, POINTS // 2)]
    else:
        found = [sign * x for sign in (-1, 1) for x in np.geomspace(0.01, 60, POINTS // 2)]
    function = getattr(ag, family.density.name)
    # at the ends of a support there may be no derivative
    ends = [getattr(ag, f"{family.name}_qf")(p, *at) for p in (0.0, 1.0)] if family.quantiles else []
    return sorted({float(x) for x in found if x not in ends and is_inside(function, x, at)})


def units(row: Any, point: tuple[float, ...]) -> list[float]:
    """Return the sizes of the arguments' changes: those of the first one and of locations are its own size.

    So differences do not pass the end of a support at 0 next to a tiny first argument, and are not lost next to a huge one.
    """
    size = abs(point[0]) or 1.0
    conditions = [condition for _, condition in row.arguments[1:]]
    has_own = [condition.startswith(("positive", "nonnegative", "between 0")) for condition in conditions]
    return [size, *(abs(x) if own else size for x, own in zip(point[1:], has_own, strict=True))]


def truth(row: Any, point: tuple[float, ...], by: tuple[int, ...] = ()) -> float | None:
    """Return the truth where it is a double that is neither tiny nor huge."""
    for digits in (DIGITS, MORE_DIGITS):
        found = exact(row.name, point, by, digits, SECONDS, units(row, point))
        if found is not None and SMALLEST < abs(found) < LARGEST:
            return found
    return None


def logarithm(errors: list[float]) -> str:
    """Return the largest error as its logarithm; empty for none."""
    return "" if not errors else "inf" if max(errors) == math.inf else f"{math.log10(max(10**FLOOR, *errors)):.1f}"


def at_point(row: Any, point: tuple[float, ...]) -> tuple[str, str]:
    """Return the errors of the value and of the first derivatives."""
    function = getattr(ag, row.name)
    free = [k for k, (_, condition) in enumerate(row.arguments) if not is_count(condition)]
    try:
        computed = function(*point)
    except ag.DomainError:
        return "", ""
    value = truth(row, point)
    errors = [] if value is None else [error(computed, value)]
    slopes = []
    for k in free if value is not None else []:
        of_argument = ag.grad(lambda x, k=k: function(*point[:k], x, *point[k + 1 :]))(point[k])
        slope = truth(row, point, (k,))
        slopes += [] if slope is None else [error(of_argument, slope)]
    return logarithm(errors), logarithm(slopes)


def lines_of(family: Family) -> list[str]:
    """Return the lines of a family."""
    at = parameters(family.density, factor=FACTOR)
    points = grid(family, at)
    lines = [[family.name, "parameters", *(f"{x:g}" for x in at)], [family.name, "at", *(f"{x:.3g}" for x in points)]]
    for row in family.densities.values():
        begin = time.process_time()
        found = [at_point(row, (x, *at)) if time.process_time() - begin < BUDGET else ("", "") for x in points]
        known = sum(value != "" for value, _ in found)
        print(f"{row.name}: {known} of {len(points)} points, {time.process_time() - begin:.1f} s", flush=True)
        if 3 * known > len(points):
            lines += [
                [row.name, kind, *column] for kind, column in zip(("value", "first"), zip(*found, strict=True), strict=True)
            ]
    return ["\t".join(line).rstrip() for line in lines]


def main() -> None:
    parse = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    known = families()
    parse.add_argument("names", nargs="*", default=list(known))
    names = parse.parse_args().names
    old = DATA.read_text().splitlines() if DATA.exists() else []
    by_family: dict[str, list[str]] = {name: [] for name in known}
    for line in old:
        name = line.partition("\t")[0]
        by_family[name if name in known else name.rpartition("_")[0]].append(line)
    for name in names:
        by_family[name] = lines_of(known[name])
        DATA.write_text("\n".join(line for lines in by_family.values() for line in lines) + "\n")


if __name__ == "__main__":
    main()
