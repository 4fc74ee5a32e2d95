"""The tables that run.py prints.

    python benchmarks/python/ode/tables.py OUT/results.json

makes them again from the raw figures.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

TARGET = 1e-5
#: What the C++ functor's time is to be of the one by hand.
GOALS = {
    "P1": 0.02 / 0.51, "P2": 0.25 / 2.1, "P3_4": 0.01 / 0.13, "P3_16": 0.03 / 0.38, "P3_64": 0.2 / 1.85, "P3_256": 2 / 19,
    "P4_32": 2.5 / 6.9, "P4_128": 9 / 29, "P4_512": 50 / 193,
}  # fmt: skip
#: Who solves; C++ functors as they are, and recorded.
WHO = ("by hand", "C++", "C++ recorded", "Python")
STATES = {"P3": {4: "P3_4", 16: "P3_16", 64: "P3_64", 256: "P3_256"}, "P4": {64: "P4_32", 256: "P4_128", 1024: "P4_512"}}


@dataclass
class Point:
    """What a value and a gradient took at one tolerance, and the gradient's relative error."""

    problem: str
    who: str
    method: str
    tolerance: float
    milliseconds: float
    error: float


def at_target(curve: list[Point]) -> float:
    """Milliseconds at the target error, between two tolerances; nan where no tolerance reaches it."""
    curve = sorted(curve, key=lambda point: -point.tolerance)
    for before, after in zip([curve[0], *curve], curve, strict=False):
        if after.error > TARGET:
            continue
        if before.error <= TARGET:
            return after.milliseconds
        share = np.log(before.error / TARGET) / np.log(before.error / after.error)
        return float(before.milliseconds * (after.milliseconds / before.milliseconds) ** share)
    return float("nan")


def best(points: list[Point], problem: str, who: str) -> tuple[float, str]:
    """The quickest method of somebody for a problem, and its milliseconds at the target."""
    curves: dict[str, list[Point]] = {}
    for point in points:
        if (point.problem, point.who) == (problem, who) and point.method not in ("bdf", "recorded-bdf", "BDF"):
            curves.setdefault(point.method, []).append(point)
    times = [(time, method) for method, curve in curves.items() if not np.isnan(time := at_target(curve))]
    return min(times, default=(float("nan"), "none"))


def at_equal_error(points: list[Point]) -> list[str]:
    lines = [
        "| problem | CVODES by hand, ms | C++ functor, ms | recorded, ms | better / by hand | goal | NumPy, ms | over C++ |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for problem in dict.fromkeys(point.problem for point in points):
        (hand, by), (plain, method), (recorded, how), (python, other) = (best(points, problem, who) for who in WHO)
        cpp = np.nanmin([plain, recorded])
        lines.append(
            f"| {problem} | {hand:.3g} ({by.removeprefix('by-hand-')}) | {plain:.3g} ({method}) | "
            f"{recorded:.3g} ({how.removeprefix('recorded-')}) | {cpp / hand:.3f} | "
            f"{GOALS[problem]:.3f} | {python:.3g} ({other}) | {python / cpp:.2f} |"
        )
    return lines


def at_equal_settings(points: list[Point]) -> list[str]:
    lines = ["| problem, 1e-6 | by hand, ms | ode_adjoint_tol_ctl C++ | recorded | NumPy |", "| --- | --- | --- | --- | --- |"]
    for point in points:
        if point.method != "bdf":
            continue
        same = {p.method: p.milliseconds for p in points if (p.problem, p.tolerance) == (point.problem, point.tolerance)}
        hand = same.get("by-hand-dense", float("nan"))
        ours = [same.get(method, float("nan")) for method in ("bdf", "recorded-bdf", "BDF")]
        lines.append(f"| {point.problem} | {hand:.3g} | " + " | ".join(f"{ms:.3g} ({ms / hand:.2f})" for ms in ours) + " |")
    return lines


def exponents(points: list[Point]) -> list[str]:
    """How the time at the target grows with the number of states, from the first to the last size."""
    lines = []
    for family, sizes in STATES.items():
        for who in WHO:
            times = {n: best(points, name, who)[0] for n, name in sizes.items()}
            known = [(n, time) for n, time in times.items() if not np.isnan(time)]
            if len(known) > 1:
                (first, least), (last, most) = known[0], known[-1]
                exponent = np.log(most / least) / np.log(last / first)
                lines.append(f"{family}, {who}: time grows as n^{exponent:.2f} from {first} to {last} states")
    return lines


def tables(points: list[Point]) -> str:
    """All of them, as text."""
    return "\n".join([*at_equal_error(points), "", *at_equal_settings(points), "", *exponents(points)])


if __name__ == "__main__":
    print(tables([Point(**point) for point in json.loads(Path(sys.argv[1]).read_text())]))
