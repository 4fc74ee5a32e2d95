"""The tables that run.py prints.

    python benchmarks/python/ode/tables.py OUT/results.json [OTHER/results.json ...]

makes them again from the raw figures, the quickest of several runs.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from ways import DRIVERS

TARGET = 1e-5
#: What the C++ functor's time is to be of the one by hand.
GOALS = {
    "P1": 0.02 / 0.51, "P2": 0.25 / 2.1, "P3_4": 0.01 / 0.13, "P3_16": 0.03 / 0.38, "P3_64": 0.2 / 1.85, "P3_256": 2 / 19,
    "P4_32": 2.5 / 6.9, "P4_128": 9 / 29, "P4_512": 50 / 193,
}  # fmt: skip
#: Who solves; C++ functors as they are, and recorded.
WHO = ("by hand", "C++", "C++ recorded", "Python")
PEERS = tuple(DRIVERS)
#: What is compared at equal settings only.
SETTINGS = {("C++", "bdf"), ("C++ recorded", "recorded-bdf"), ("Python", "BDF")}
STATES = {"P3": {4: "P3_4", 16: "P3_16", 64: "P3_64", 256: "P3_256"}, "P4": {64: "P4_32", 256: "P4_128", 1024: "P4_512"}}


@dataclass
class Point:
    """What a value and a gradient took at one tolerance, and the gradient's relative error; a peer's may be a note instead."""

    problem: str
    who: str
    method: str
    tolerance: float
    milliseconds: float
    error: float
    bracket: float = 0.0  # milliseconds of a program over CVODES just before and after, where it was run
    building: float = 0.0  # seconds until the first call has ended
    note: str = ""  # why there are no figures


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


def best(points: list[Point], problem: str, *who: str) -> tuple[float, str]:
    """The milliseconds at the target of somebody's quickest method for a problem, and the method."""
    curves: dict[str, list[Point]] = {}
    for point in points:
        if point.note or point.problem != problem or (point.who, point.method) in SETTINGS:
            continue
        if point.who in who:
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
            f"| {problem} | {cell(hand, by)} | {cell(plain, method)} | {cell(recorded, how)} | {cpp / hand:.3f} | "
            f"{GOALS[problem]:.3f} | {cell(python, other)} | {python / cpp:.2f} |"
        )
    return lines


def cell(milliseconds: float, method: str) -> str:
    """A time and its method, whose kind the column says; a dash where nothing was run or reaches the target."""
    name = method.removeprefix("by-hand-").removeprefix("recorded-")
    return "-" if np.isnan(milliseconds) else f"{milliseconds:.3g} ({name})"


def at_equal_settings(points: list[Point]) -> list[str]:
    lines = ["| problem, 1e-6 | by hand, ms | ode_adjoint_tol_ctl C++ | recorded | NumPy |", "| --- | --- | --- | --- | --- |"]
    for point in points:
        if (point.who, point.method) != ("C++", "bdf"):
            continue
        own = [p for p in points if (p.problem, p.tolerance) == (point.problem, point.tolerance) and p.who in WHO]
        same = {p.method: p.milliseconds for p in own}
        hand = same.get("by-hand-dense", float("nan"))
        ours = [same.get(method, float("nan")) for method in ("bdf", "recorded-bdf", "BDF")]
        lines.append(f"| {point.problem} | {hand:.3g} | " + " | ".join(f"{ms:.3g} ({ms / hand:.2f})" for ms in ours) + " |")
    return lines


def brackets(points: list[Point]) -> dict[tuple[str, float], list[float]]:
    """Those of each problem and tolerance."""
    found: dict[tuple[str, float], list[float]] = {}
    for point in points:
        if point.bracket:
            found.setdefault((point.problem, point.tolerance), []).append(point.bracket)
    return found


def steadied(points: list[Point]) -> list[Point]:
    """What is in brackets, as at the quickest bracket of its problem and tolerance: other work on the machine drops out."""
    around = brackets(points)

    def share(point: Point) -> float:
        return min(around[point.problem, point.tolerance]) / point.bracket if point.bracket else 1.0

    return [replace(point, milliseconds=point.milliseconds * share(point)) for point in points]


def spread(points: list[Point], problem: str) -> float:
    """The slowest bracket of a problem over the quickest at the same tolerance, at the tolerance where that is most."""
    around = [times for (name, _), times in brackets(points).items() if name == problem]
    return max((max(times) / min(times) for times in around), default=float("nan"))


def beside_peers(points: list[Point]) -> list[str]:
    """Times at the target as ratios to the program by hand, and why there are none."""
    lines = [
        f"| problem | CVODES by hand, ms | agrad C++ | agrad Python | {' | '.join(PEERS)} | brackets |",
        "| --- |" + " --- |" * (4 + len(PEERS)),
    ]
    steady, notes = steadied(points), []
    for problem in dict.fromkeys(point.problem for point in points):
        hand = best(points, problem, "by hand")[0]
        cells = [best(points, problem, "C++", "C++ recorded"), best(points, problem, "Python")]
        for who in PEERS:
            cells.append(best(steady, problem, who))
            if np.isnan(cells[-1][0]):
                notes.append(why_not(points, problem, who))
        ratios = ["-" if np.isnan(time) else f"{time / hand:.3g} ({method})" for time, method in cells]
        lines.append(f"| {problem} | {hand:.3g} | {' | '.join(ratios)} | {spread(points, problem):.2f} |")
    return [*lines, *(["", *notes] if notes else [])]


def why_not(points: list[Point], problem: str, who: str) -> str:
    """The reason for a dash."""
    own = [point for point in points if (point.problem, point.who) == (problem, who)]
    reasons = list(dict.fromkeys(f"{point.method}: {point.note[:100]}" for point in own if point.note))
    reached = [point for point in own if not point.note]
    if reached:
        least = min(reached, key=lambda point: point.error)
        reasons.insert(0, f"the least error is {least.error:.1e} ({least.method} at {least.tolerance:g})")
    return f"{problem}, {who}: " + ("; ".join(reasons) or "not run")


def building(points: list[Point]) -> list[str]:
    """Seconds until the first call has ended, of what compiles, records or builds a graph."""
    lines = []
    for who in ("Python", *PEERS):
        seconds = [point.building for point in points if point.who == who and point.building]
        if seconds:
            lines.append(f"{who}: {min(seconds):.2g} to {max(seconds):.2g} s before the first result")
    return lines


def exponents(points: list[Point]) -> list[str]:
    """How the time at the target grows with the number of states, from the first to the last size."""
    lines = []
    for family, sizes in STATES.items():
        for who in (*WHO, *PEERS):
            times = {n: best(points, name, who)[0] for n, name in sizes.items()}
            known = [(n, time) for n, time in times.items() if not np.isnan(time)]
            if len(known) > 1:
                (first, least), (last, most) = known[0], known[-1]
                exponent = np.log(most / least) / np.log(last / first)
                lines.append(f"{family}, {who}: time grows as n^{exponent:.2f} from {first} to {last} states")
    return lines


def quickest(points: list[Point]) -> list[Point]:
    """One of each setting, where several runs have it."""
    found: dict[tuple[str, str, str, float], Point] = {}
    for point in points:
        setting = (point.problem, point.who, point.method, point.tolerance)
        if setting not in found or point.milliseconds < found[setting].milliseconds:
            found[setting] = point
    return list(found.values())


def tables(points: list[Point]) -> str:
    """All of them, as text."""
    points = quickest(points)
    parts = [at_equal_error(points), at_equal_settings(points), exponents(steadied(points))]
    if any(point.who in PEERS for point in points):
        parts += [beside_peers(points), building(points)]
    return "\n\n".join("\n".join(part) for part in parts if part)


if __name__ == "__main__":
    print(tables([Point(**point) for file in sys.argv[1:] for point in json.loads(Path(file).read_text())]))
