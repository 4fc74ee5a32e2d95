"""Times every density, mass and distribution function that agrad and Stan Math both have, in C++, and prints one table.

    benchmarks/cpp/setup.sh PEERS                                      # once: fetches Stan Math
    python benchmarks/cpp/densities/run.py --peers PEERS --out OUT     # some ten minutes to compile, three to run

The functions are the rows of the installed module for which Stan Math has a header. Both programs are compiled with the same
flags (-O3 -march=native -DNDEBUG) and run one after the other for each part of the list. Gradients are compared by their values
and the sums of their derivatives; where two differ by more than 1e-8, the table says so.
"""

import argparse
import csv
import os
import platform
import statistics
import subprocess
import sys
from pathlib import Path

from agrad._core import density_rows

HERE = Path(__file__).resolve().parent
LIBRARIES = ("agrad", "stan")
PARTS = 8
TIMEOUT = 20  # seconds for one row of one library
SIZES = (1, 1000, 100_000)
MODES = ("constant", "active")
#: Values of the parameters in turn, by their condition; whole numbers are data, and others are between 0 and 1.
VALUES = {"finite": [0.05, 2.5], "positive and finite": [1.7, 2.3, 1.3], "positive": [1.7, 2.3, 1.3]}


def shared_rows(peers: Path) -> list:
    """Return the rows for which Stan Math has a header, with at least one argument that is active."""
    headers = peers / "httpstan" / "httpstan" / "include" / "stan" / "math" / "prim" / "prob"
    names = {header.stem for header in headers.glob("*.hpp")}
    return [row for row in density_rows() if row.name in names and not all(map(is_whole, row.arguments))]


def is_whole(argument: tuple[str, str]) -> bool:
    return argument[1].startswith(("a whole number", "0 or 1"))


def parameters(row) -> list[str]:
    """Return the parameters' values as C++ literals."""
    taken, literals = dict.fromkeys(VALUES, 0), []
    for name, condition in row.arguments[1:]:
        if is_whole((name, condition)):
            literals.append("20")
        elif name == "y_min":
            literals.append("0.05")  # so that observations are in the support
        elif condition in VALUES:
            literals.append(str(VALUES[condition][taken[condition]]))
            taken[condition] += 1
        else:
            literals.append("0.3")
    return literals


def source(rows: list, part: int) -> str:
    lines = ['#include "densities/measure.hpp"', "", f"void part_{part}() {{", "  using densities::row;"]
    for row in rows:
        first = row.arguments[0]
        modulus = 2 if first[1] == "0 or 1" else 10
        head = f'row<{str(is_whole(first)).lower()}>("{row.name}", {str(row.name.endswith("_cdf")).lower()}, {modulus}'
        values = "".join(f", {value}" for value in parameters(row))
        lines.append(f"  {head}, [](const auto&... x) {{ return library::{row.name}(x...); }}{values});")
    main = [
        "int main(int count, char** arguments) {",
        "  densities::chosen().read(count, arguments);",
        f"  part_{part}();",
        "}",
        "",
    ]
    return "\n".join([*lines, "}", "", *main])


def build(chosen: argparse.Namespace) -> None:
    """Write the sources of the parts, and compile them for both libraries."""
    parts, directory, rows = chosen.out / "parts", chosen.out / "build", shared_rows(chosen.peers)
    parts.mkdir(parents=True, exist_ok=True)
    for part in range(PARTS):
        (parts / f"part_{part}.cpp").write_text(source(rows[part::PARTS], part))
    options = {
        "CMAKE_BUILD_TYPE": "Release",
        "AGRAD_BUILD_BENCHMARKS": "ON",
        "AGRAD_ODE": "OFF",
        "AGRAD_PEERS_DIR": chosen.peers.resolve(),
        "AGRAD_DENSITY_PARTS": parts.resolve(),
        "Python_EXECUTABLE": sys.executable,
    }
    definitions = [f"-D{name}={value}" for name, value in options.items()]
    subprocess.run(["cmake", "-S", HERE.parents[2], "-B", directory, *definitions], check=True, stdout=subprocess.DEVNULL)
    targets = [f"benchmark_{library}_part_{part}" for part in range(PARTS) for library in LIBRARIES]
    command = ["cmake", "--build", directory, "--parallel", str(os.cpu_count()), "--target", *targets]
    subprocess.run(command, check=True, stdout=sys.stderr)


def measured(program: Path, name: str, sizes: tuple[int, ...] = SIZES) -> dict[tuple[str, str, int], tuple[float, ...]]:
    """Return nanoseconds, value and sum of slopes of each mode and size of a row; what a program got to in time."""
    command = [str(program), name, *map(str, sizes)]
    try:
        text = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT).stdout
    except subprocess.TimeoutExpired as slow:
        text = (slow.stdout or b"").decode()
    return {
        (name, mode, int(n)): tuple(map(float, rest)) for _, mode, n, *rest in csv.reader(text.splitlines()) if len(rest) == 3
    }


def differ(first: tuple[float, ...], second: tuple[float, ...]) -> bool:
    return any(not abs(x - y) <= 1e-8 * max(abs(x), abs(y), 1e-300) for x, y in zip(first[1:], second[1:], strict=True))


def summary(times: dict) -> list[str]:
    """Return a table of how many times longer Stan Math takes, by the kind of function, mode and size."""
    lines = ["| functions | observations | n | rows | median | least | agrad ahead |", "|---|---|---|---|---|---|---|"]
    kinds = {"log densities and masses": ("_lpdf", "_lpmf"), "distribution functions": ("_cdf", "_lcdf", "_lccdf")}
    for kind, ends in kinds.items():
        for mode in MODES:
            for n in SIZES:
                ratios = [s[0] / a[0] for (name, m, k), (a, s) in times.items() if name.endswith(ends) and (m, k) == (mode, n)]
                ahead = sum(ratio > 1 for ratio in ratios)
                middle, least = statistics.median(ratios), min(ratios)
                lines.append(f"| {kind} | {mode} | {n} | {len(ratios)} | {middle:.1f} | {least:.2f} | {ahead} |")
    return lines


def table(times: dict) -> list[str]:
    """Return the table of all functions: agrad's time for 1000 observations, and how many times longer Stan Math takes."""
    head = "".join(f" {mode} {n} |" for mode in MODES for n in SIZES)
    lines = [f"| function | us, 1000 |{head}", "|---|---|" + "---|" * (len(MODES) * len(SIZES))]
    for name in dict.fromkeys(name for name, _, _ in times):
        found = [times.get((name, mode, 1000)) for mode in MODES]
        us = " / ".join("" if pair is None else f"{pair[0][0] / 1000:.3g}" for pair in found)
        cells = []
        for mode in MODES:
            for n in SIZES:
                pair = times.get((name, mode, n))
                cells.append("" if pair is None else f"{pair[1][0] / pair[0][0]:.1f}" + (" differs" if differ(*pair) else ""))
        lines.append(f"| `{name}` | {us} | {' | '.join(cells)} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", type=Path, required=True, help="the directory that benchmarks/cpp/setup.sh filled")
    parser.add_argument("--out", type=Path, required=True, help="where programs and the table go")
    parser.add_argument("--no-build", action="store_true", help="run the programs that are there")
    chosen = parser.parse_args()
    if not chosen.no_build:
        build(chosen)
    programs = chosen.out / "build" / "benchmarks" / "cpp"
    times = {}
    for place, row in enumerate(shared_rows(chosen.peers)):
        ours, theirs = (measured(programs / f"benchmark_{library}_part_{place % PARTS}", row.name) for library in LIBRARIES)
        missing = [f"{mode} {n}" for _, mode, n in ours if (row.name, mode, n) not in theirs]
        if missing:
            print(f"{row.name}: no result of Stan Math in {TIMEOUT} s for {', '.join(missing)}")
        times |= {key: (ours[key], theirs[key]) for key in ours if key in theirs}
    text = "\n".join([f"{platform.processor() or platform.machine()}", "", *summary(times), "", *table(times), ""])
    (chosen.out / "table.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
