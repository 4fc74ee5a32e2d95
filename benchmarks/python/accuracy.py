"""Errors of all densities, masses and distribution functions, in value and derivatives of first and second order.

    python benchmarks/python/accuracy.py [--points N] [NAME...]

The truth is mpmath's value of the expression in each function's row, at two precisions that must agree. Half of the points lie
in the bulk: arguments between 1e-2 and 1e2. The others go to the ends: numbers of either sign between 1e-30 and 1e300, shapes
and scales between 1e-8 and 1e8, probabilities from 1e-300 on, counts up to 1e6. Prints a table in Markdown of the largest
relative error of each function, and after it the points at which an error is above 1e-11.
"""

import argparse
import contextlib
import itertools
import math
import random
import signal
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import mpmath
import numpy as np

import agrad as ag

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "python"))

from probability_reference import ROWS, reference

SECONDS = 3.0  # for one reference
DIGITS = (60, 90)
SMALLEST, LARGEST = 1e-290, 1e290
WORTH_TELLING = 1e-11


class Found(NamedTuple):
    """An error at a point; `order` is 0, 1 or 2, `by` are the arguments of the derivative."""

    error: float
    name: str
    where: str
    order: int
    by: tuple[int, ...]
    point: tuple[float, ...]
    computed: float
    exact: float


class TooSlowError(Exception):
    """A reference took longer than it may."""


@contextlib.contextmanager
def limited(seconds: float = SECONDS) -> Iterator[None]:
    """Raises TooSlowError in the block after these seconds."""

    def stop(*_: Any) -> None:
        raise TooSlowError

    old = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)


def drawn(condition: str, at_ends: bool, choose: random.Random) -> float:
    """Return a random value that fulfils a condition."""
    if condition.startswith("0 or 1"):
        return float(choose.randrange(2))
    if condition.startswith("a whole number"):
        return float(int(10 ** choose.uniform(0, 6 if at_ends else 2)) - 1)
    if condition == "between -pi and pi":
        return choose.choice((-1, 1)) * math.pi * (1 - 10 ** choose.uniform(-10 if at_ends else -2, 0))
    if condition.startswith("between 0 and 1"):
        near = 10 ** choose.uniform(-300 if at_ends else -2, 0)
        return near if at_ends or choose.random() < 0.5 else 1 - near
    if condition.startswith(("positive", "nonnegative")):
        return 10 ** (choose.uniform(-8, 8) if at_ends else choose.uniform(-2, 2))
    span = (-30, 300) if at_ends and choose.random() < 0.3 else (-8, 8) if at_ends else (-2, 2)
    return choose.choice((-1, 1)) * 10 ** choose.uniform(*span)


def unit(condition: str, x: float) -> float:
    """Return the size of an argument's change that changes a function: of numbers near 0 that may be negative, it is 1."""
    return abs(x) if condition.startswith(("positive", "nonnegative", "between 0")) else max(1.0, abs(x))


def exact(
    name: str,
    point: tuple[float, ...],
    by: tuple[int, ...] = (),
    digits: tuple[int, ...] = DIGITS,
    seconds: float = SECONDS,
    units: list[float] | None = None,
) -> float | None:
    """Return the truth as a double; None where two precisions differ or mpmath has none in time."""
    values, of = [], reference(name)
    if units is None:
        units = [unit(condition, x) for (_, condition), x in zip(ROWS[name].arguments, point, strict=True)]

    def moved(*steps: Any) -> Any:
        return of(*(x + step * size for x, step, size in zip(map(mpmath.mpf, point), steps, units, strict=True)))

    orders = tuple(by.count(k) for k in range(len(point)))
    scale = np.prod([mpmath.mpf(units[k]) for k in by])
    for precision in digits:
        try:
            with limited(seconds), mpmath.workdps(precision):
                at = (mpmath.mpf(0),) * len(point)
                value = mpmath.diff(moved, at, orders) / scale if by else moved(*at)
                if not mpmath.isfinite(value):
                    return None
                values.append(mpmath.mpf(value))
        except (ValueError, ZeroDivisionError, OverflowError, TypeError, TooSlowError, mpmath.libmp.NoConvergence):
            return None
    if abs(values[0] - values[1]) > 1e-15 * abs(values[1]):
        return None
    return float(values[1])


def of_function(name: str, count: int) -> Iterator[Found]:
    """Yield the errors of a function at as many points as have a truth, at most `count` in the bulk and at the ends each."""
    row, function = ROWS[name], getattr(ag, name)
    choose = random.Random(zlib.crc32(name.encode()))
    conditions = [condition for _, condition in row.arguments]
    free = [k for k, each in enumerate(conditions) if not each.startswith(("a whole number", "0 or 1"))]
    for where in ("bulk", "ends"):
        found = 0
        for _ in range(6 * count):
            if found == count:
                break
            point = tuple(drawn(each, where == "ends" and choose.random() < 0.6, choose) for each in conditions)
            try:
                computed = function(*point)
            except ag.DomainError:
                continue
            truth = exact(name, point)
            if truth is None or not SMALLEST < abs(truth) < LARGEST:
                continue
            found += 1
            yield Found(error(computed, truth), name, where, 0, (), point, float(computed), truth)
            yield from of_derivatives(name, where, point, free)


def of_derivatives(name: str, where: str, point: tuple[float, ...], free: list[int]) -> Iterator[Found]:
    """Yield the errors of all derivatives of first and second order at a point."""
    if not free:
        return
    function = getattr(ag, name)

    def at(x: Any) -> Any:
        arguments: list[Any] = list(point)
        for i, k in enumerate(free):
            arguments[k] = x[i]
        return function(*arguments)

    x = np.array([point[k] for k in free])
    gradient, hessian = ag.grad(at)(x), ag.hessian(at)(x)
    for i, k in enumerate(free):
        cases = [((k,), gradient[i]), *(((k, m), hessian[i, j]) for j, m in enumerate(free[: i + 1]))]
        for by, computed in cases:
            truth = exact(name, point, by)
            if truth is not None and SMALLEST < abs(truth) < LARGEST:
                yield Found(error(computed, truth), name, where, len(by), by, point, float(computed), truth)


def error(computed: float, truth: float) -> float:
    """Return the relative error; infinite for nan."""
    return abs(computed - truth) / abs(truth) if np.isfinite(computed) else np.inf


def cells(found: list[Found]) -> list[str]:
    """Return the largest errors in the bulk and at the ends, of the value and of derivatives of first and second order."""
    texts = []
    for where, order in itertools.product(("bulk", "ends"), range(3)):
        errors = [each.error for each in found if (each.where, each.order) == (where, order)]
        texts.append(f"{max(errors):.0e}" if errors else "")
    return texts


def main() -> None:
    parse = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parse.add_argument("--points", type=int, default=6, help="points of each function in the bulk, and at the ends")
    parse.add_argument("names", nargs="*", default=list(ROWS))
    given = parse.parse_args()
    large: list[Found] = []
    print("| function | bulk: value | first | second | ends: value | first | second |")
    print("|---|---|---|---|---|---|---|")
    for name in given.names:
        found = list(of_function(name, given.points))
        print(f"| `{name}` | {' | '.join(cells(found))} |", flush=True)
        large += sorted((each for each in found if each.error > WORTH_TELLING), reverse=True)
    print("\n| function | derivative by | at | computed | exact |\n|---|---|---|---|---|")
    for each in large:
        arguments = [argument for argument, _ in ROWS[each.name].arguments]
        by = ", ".join(arguments[k] for k in each.by)
        at = ", ".join(f"{argument} = {x!r}" for argument, x in zip(arguments, each.point, strict=True))
        print(f"| `{each.name}` | {by} | {at} | {each.computed!r} | {each.exact!r} |")


if __name__ == "__main__":
    main()
