"""Gradients through differential equations: time against the gradient's error, beside CVODES with derivatives by hand.

    python benchmarks/python/ode/run.py --out DIR                       # everything: two minutes to compile, some ten to run
    python benchmarks/python/ode/run.py --out DIR --problems P1,P3_16
    python benchmarks/python/ode/run.py --out DIR --peers DRIVERS --built BUILT      # with CasADi, diffrax and Stan Math

Builds benchmarks/cpp/ode below OUT/build with the SUNDIALS of the installed package, times each problem by each method at
tolerances from 1e-3 to 1e-10, writes OUT/results.json and prints tables of docs/performance_ode.md: the time at which the
error of the gradient is 1e-5, between two tolerances on the straight line of logarithms, with those of other systems where
there are drivers of them (peers.py); and the function of the RFC beside the program by hand at one tolerance. OUT/data holds
problems and references; they are made where they are not there.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from peers import Peers
from problems import NAMES, Problem, error_of, load
from tables import Point, tables
from ways import ENOUGH, EQUAL, EQUAL_WAYS, LONGEST, PEER_WAYS, TOLERANCES, WAYS, Way

from agrad import _info

HERE = Path(__file__).resolve().parent


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
    building = 0.0
    if way.who == "Python":
        start = time.perf_counter()
        call = problem.value_and_gradient(way.method, tolerance)
        gradient = call()[1]
        building = time.perf_counter() - start
        milliseconds = quickest(call)
    else:
        ran = subprocess.run([program, data, problem.name, way.method, str(tolerance)], capture_output=True, text=True)
        if ran.returncode:
            print(f"{problem.name} {way.method} {tolerance:g}: {ran.stderr.strip()}", file=sys.stderr)
            return None
        first, _, third = ran.stdout.splitlines()[:3]
        milliseconds, gradient = float(first), np.array(third.split(), dtype=float)
    return Point(problem.name, way.who, way.method, tolerance, milliseconds, error_of(problem, gradient), building=building)


def curve(program: Path, data: Path, problem: Problem, way: Way) -> Iterator[Point]:
    """The points of one way as they come, the loosest tolerance first."""
    for tolerance in TOLERANCES:
        point = measured(program, data, problem, way, tolerance)
        if point:
            yield point


def until_enough(curve: Iterator[Point]) -> list[Point]:
    """Points up to one whose error is small, or whose time is long."""
    found = []
    for point in curve:
        found.append(point)
        what = point.note or f"{point.milliseconds:.3g} ms, {point.error:.1e}"
        print(f"{point.problem} {point.who} {point.method} {point.tolerance:g}: {what}", file=sys.stderr, flush=True)
        if point.error < ENOUGH or point.milliseconds > LONGEST * 1e3:
            break
    return found


def points(program: Path, data: Path, name: str, peers: Peers | None) -> list[Point]:
    """All of a problem."""
    problem = load(data, name)
    found = []
    for way in WAYS:
        if name in way.problems.split():
            found += until_enough(curve(program, data, problem, way))
    for way in EQUAL_WAYS:
        if name in way.problems.split():
            point = measured(program, data, problem, way, EQUAL)
            found += [point] if point else []
    for way in PEER_WAYS:
        if peers and name in way.problems.split():
            found += until_enough(peers.points(name, way))
    return found


def main() -> None:
    """Build, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="where to build, and to write results.json")
    parser.add_argument("--problems", default=",".join(NAMES), help="a choice of " + ",".join(NAMES))
    parser.add_argument("--data", type=Path, help="a directory with problems and references (PEERS/data, else OUT/data)")
    parser.add_argument("--peers", type=Path, help="a directory with drivers of other systems")
    parser.add_argument("--built", type=Path, help="where the drivers' setup.sh has built (PEERS/build)")
    chosen = parser.parse_args()
    peers = None
    if chosen.peers:
        built = (chosen.built or chosen.peers / "build").resolve()
        peers = Peers(chosen.peers.resolve(), built, chosen.out / "peers.log")
    data = chosen.data or (chosen.peers or chosen.out) / "data"
    data.mkdir(parents=True, exist_ok=True)
    program, found = build(chosen.out), []
    for name in chosen.problems.split(","):
        found += points(program, data, name, peers)
        (chosen.out / "results.json").write_text(json.dumps([vars(point) for point in found], indent=1))
    print(tables(found))


if __name__ == "__main__":
    main()
