"""Gradients through differential equations: time against the gradient's error, beside CVODES with derivatives by hand.

    python benchmarks/python/ode/run.py --out DIR                       # everything: two minutes to compile, some ten to run
    python benchmarks/python/ode/run.py --out DIR --problems P1,P3_16

Builds benchmarks/cpp/ode below OUT/build with the SUNDIALS of the installed package, times each problem by each method at
tolerances from 1e-3 to 1e-9, writes OUT/results.json and prints tables of docs/performance_ode.md: the time at which the
error of the gradient is 1e-5, between two tolerances on the straight line of logarithms; and the function of the RFC beside the
program by hand at one tolerance. OUT/data holds problems and references; they are made where they are not there.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from problems import NAMES, Problem, error_of, load
from tables import Point, tables

from agrad import _info

HERE = Path(__file__).resolve().parent
TOLERANCES = [1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9]
EQUAL = 1e-6  # the tolerance at which equal settings are compared
LONGEST = 20.0  # seconds of a call, after which tighter tolerances are left out


@dataclass
class Way:
    """A way to solve a problem: who it is, what the C++ program or agrad calls the method, and for which problems."""

    who: str
    method: str
    problems: str


WAYS = [
    Way("by hand", "by-hand-dense", "P1 P2 P3_4 P3_16"),
    Way("by hand", "by-hand-banded", "P3_16 P3_64 P3_256 P4_32 P4_128 P4_512"),
    Way("by hand", "by-hand-adams", "P1 P3_4 P3_16 P3_64 P3_256"),
    Way("C++", "tsit5", "P1 P3_4 P3_16 P3_64 P3_256"),
    Way("C++", "dop853", "P1 P3_4"),
    Way("C++", "rodas4", "P2"),
    Way("C++", "rodas4-banded", "P4_32 P4_128"),
    Way("C++ recorded", "recorded-tsit5", "P1 P3_4 P3_16 P3_64 P3_256"),
    Way("C++ recorded", "recorded-dop853", "P1 P3_4"),
    Way("C++ recorded", "recorded-rodas4", "P2"),
    Way("C++ recorded", "recorded-rodas4-banded", "P4_32 P4_128 P4_512"),
    Way("Python", "Tsit5", "P1 P3_4 P3_16 P3_64 P3_256"),
    Way("Python", "DOP853", "P1 P3_4"),
    Way("Python", "Rodas4", "P2 P4_32 P4_128 P4_512"),
]
EQUAL_WAYS = [
    Way("C++", "bdf", "P1 P2 P3_4 P3_16"),
    Way("C++ recorded", "recorded-bdf", "P1 P2 P3_4 P3_16"),
    Way("Python", "BDF", "P1 P2 P3_4 P3_16"),
]


def build(out: Path) -> Path:
    """The C++ program, compiled."""
    options = {
        "CMAKE_BUILD_TYPE": "Release",
        "AGRAD_BUILD_BENCHMARKS": "ON",
        "AGRAD_SUNDIALS_TREE": _info.prefix() / "lib" / "agrad" / "sundials",
        "Python_EXECUTABLE": sys.executable,
    }
    definitions = [f"-D{name}={value}" for name, value in options.items()]
    subprocess.run(["cmake", "-S", HERE.parents[2], "-B", out / "build", *definitions], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", out / "build", "--target", "benchmark_ode"], check=True, stdout=sys.stderr)
    return out / "build" / "benchmarks" / "cpp" / "benchmark_ode"


def quickest(call: Callable[[], object]) -> float:
    """Milliseconds of the quickest of nine batches of 20 ms or one call."""

    def milliseconds(count: int) -> float:
        start = time.perf_counter()
        for _ in range(count):
            call()
        return (time.perf_counter() - start) * 1e3 / count

    count = max(1, int(20 / max(milliseconds(1), 1e-3)))
    return min(milliseconds(count) for _ in range(9))


def measured(program: Path, data: Path, problem: Problem, way: Way, tolerance: float) -> Point | None:
    """One point of a curve; None where the solver stops."""
    if way.who == "Python":
        call = problem.value_and_gradient(way.method, tolerance)
        gradient = call()[1]
        milliseconds = quickest(call)
    else:
        ran = subprocess.run([program, data, problem.name, way.method, str(tolerance)], capture_output=True, text=True)
        if ran.returncode:
            print(f"{problem.name} {way.method} {tolerance:g}: {ran.stderr.strip()}", file=sys.stderr)
            return None
        first, _, third = ran.stdout.splitlines()[:3]
        milliseconds, gradient = float(first), np.array(third.split(), dtype=float)
    point = Point(problem.name, way.who, way.method, tolerance, milliseconds, error_of(problem, gradient))
    print(f"{point.problem} {point.method} {tolerance:g}: {point.milliseconds:.3g} ms, {point.error:.1e}", file=sys.stderr)
    return point


def points(program: Path, data: Path, names: list[str]) -> list[Point]:
    """All of them, one problem after the other."""
    found = []
    for name in names:
        problem = load(data, name)
        for way in WAYS:
            if name not in way.problems.split():
                continue
            for tolerance in TOLERANCES:
                point = measured(program, data, problem, way, tolerance)
                if point is None:
                    continue
                found.append(point)
                if point.error < 1e-6 or point.milliseconds > LONGEST * 1e3:
                    break
        for way in EQUAL_WAYS:
            if name in way.problems.split():
                point = measured(program, data, problem, way, EQUAL)
                found += [point] if point else []
    return found


def main() -> None:
    """Build, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="where to build, and to write results.json")
    parser.add_argument("--problems", default=",".join(NAMES), help="a choice of " + ",".join(NAMES))
    parser.add_argument("--data", type=Path, help="a directory with problems and references (OUT/data)")
    chosen = parser.parse_args()
    data = chosen.data or chosen.out / "data"
    data.mkdir(parents=True, exist_ok=True)
    found = points(build(chosen.out), data, chosen.problems.split(","))
    (chosen.out / "results.json").write_text(json.dumps([vars(point) for point in found], indent=1))
    print(tables(found))


if __name__ == "__main__":
    main()
