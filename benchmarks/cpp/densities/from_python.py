"""Times every density, mass and distribution function of compiled functions in Python beside C++, and prints one table.

    python benchmarks/cpp/densities/from_python.py --out OUT     # some five minutes to compile, ten to run

A figure is a value and its gradient, in nanoseconds a term, of the installed module and of a program that is compiled with its
headers (-O3 -march=native -DNDEBUG): least of several batches, processor time, one after the other for each function. Values
and sums of derivatives are compared; where two differ by more than 1e-8, and 1e-12 a term, the table says so. Log probabilities
of intervals are left out: the observations are no bounds.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from run import MODES, PARTS, is_whole, measured, parameters, source

import agrad as ag
from agrad._core import density_rows
from agrad._flags import compiler_flags

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "python"))
from measure import timed  # noqa: E402

SIZES = (1, 4000, 100_000)
FLAGS = ["-std=c++17", "-O3", "-march=native", "-DNDEBUG", f"-I{HERE.parent}"]
AHEAD = 1.25  # how many times longer than C++ a function may take to count as level


def rows() -> list[Any]:
    return [row for row in density_rows() if not all(map(is_whole, row.arguments))]


def build(out: Path) -> None:
    """Write the sources of the parts, and compile them, two at once."""
    out.mkdir(parents=True, exist_ok=True)
    running: list[subprocess.Popen[bytes]] = []
    for part in range(PARTS):
        path = out / f"part_{part}.cpp"
        path.write_text(source(rows()[part::PARTS], part))
        running.append(subprocess.Popen(["g++", *FLAGS, *compiler_flags(False), path, "-o", path.with_suffix("")]))
        if len(running) == 2 or part == PARTS - 1:
            assert not any(each.wait() for each in running), "a part did not compile"
            running.clear()


def observations(row: Any, n: int) -> Any:
    """Return the observations of measure.hpp."""
    name, condition = row.arguments[0]
    if is_whole((name, condition)):
        modulus = 2 if condition == "0 or 1" else 10
        return (np.arange(n) + 1) % 2 if modulus == 2 else 1 + np.arange(n) % modulus
    return 0.1 + 0.8 * (np.arange(n) % 997) / 997.0


def in_python(row: Any) -> dict[tuple[str, str, int], tuple[float, ...]]:
    """Return what `measured` returns, of compiled functions."""
    found = {}
    values = [int(x) if is_whole(a) else float(x) for a, x in zip(row.arguments[1:], parameters(row), strict=True)]
    real = [k for k, x in enumerate(values) if isinstance(x, float)]
    function = getattr(ag, row.name)
    for n in SIZES:
        if row.name.endswith("_cdf") and n > 1:
            continue  # the product underflows
        y = observations(row, n)
        for mode in MODES:
            if (mode == "active" and is_whole(row.arguments[0])) or (mode == "constant" and not real):
                continue
            found[row.name, mode, n] = _one(function, y, values, real, mode == "active")
    return found


def _one(function: Callable[..., Any], y: Any, values: list[Any], real: list[int], is_active: bool) -> tuple[float, ...]:
    def density(chosen: list[Any], y: Any = y) -> Any:
        given = list(values)
        for k, x in zip(real, chosen, strict=True):
            given[k] = x
        return function(y, *given)

    start = [values[k] for k in real]
    compiled = ag.compile(ag.value_and_grad(density, argnums=(0, 1) if is_active else 0))
    arguments = (start, y) if is_active else (start,)
    value, slopes = compiled(*arguments)
    parts = [np.sum(slopes[0]), np.sum(slopes[1])] if is_active else [np.sum(slopes)]
    return 1e9 * timed(lambda: compiled(*arguments), 0.5).least, float(value), float(np.sum(parts))


def differ(native: tuple[float, ...], python: tuple[float, ...], n: int) -> bool:
    """Return whether values or sums of derivatives differ; the derivatives of a function of differences add up to rounding."""
    pairs = zip(native[1:], python[1:], strict=True)
    return any(x != y and not abs(x - y) <= max(1e-8 * abs(x), 1e-12 * n) for x, y in pairs)


def table(times: dict[Any, Any]) -> list[str]:
    head = "".join(f" C++, {n} | Python, {n} |" for n in SIZES)
    lines = [f"| function | observations |{head}", "|---|---|" + "---|" * (2 * len(SIZES))]
    for name, mode in dict.fromkeys((name, mode) for name, mode, _ in times):
        cells = []
        for n in SIZES:
            pair = times.get((name, mode, n))
            texts = ["", ""] if pair is None else [f"{each[0] / n:.3g}" for each in pair]
            cells += [texts[0], texts[1] + (" differs" if pair is not None and differ(*pair, n) else "")]
        lines.append(f"| `{name}` | {mode} | {' | '.join(cells)} |")
    return lines


def summary(times: dict[Any, Any]) -> list[str]:
    lines = ["| n | rows | median of Python / C++ | greatest | level or ahead |", "|---|---|---|---|---|"]
    for n in SIZES:
        ratios = sorted(p[0] / c[0] for (_, _, k), (c, p) in times.items() if k == n)
        level = sum(ratio <= AHEAD for ratio in ratios)
        lines.append(f"| {n} | {len(ratios)} | {statistics.median(ratios):.2f} | {ratios[-1]:.2f} | {level} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="where programs and the table go")
    parser.add_argument("--no-build", action="store_true", help="run the programs that are there")
    parser.add_argument("--only", default="", help="functions whose names contain this")
    chosen = parser.parse_args()
    if not chosen.no_build:
        build(chosen.out)
    times = {}
    for place, row in enumerate(rows()):
        if chosen.only not in row.name or row.name.endswith("_lbetween"):
            continue
        native = measured(chosen.out / f"part_{place % PARTS}", row.name, SIZES)
        python = in_python(row)
        times |= {key: (native[key], python[key]) for key in native if key in python}
    text = "\n".join([*summary(times), "", *table(times), ""])
    (chosen.out / "from_python.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
