"""The tables that run.py prints.

    python benchmarks/python/table.py OUT/results.json

makes them again from the raw figures.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import goals

__all__ = ["TOLERANCES", "is_right", "tables"]

Row = dict[str, Any]

PEERS = {"casadi": "CasADi", "jax": "JAX jit", "torch": "PyTorch", "autograd": "autograd"}
TOLERANCES = {"gradient": 1e-8, "product": 1e-6, "hessian": 1e-6}  # of the largest entry
_AGRAD = ("compiled", "bound", "plain")
_LABELS = {"product": "Hessian times vector", "hessian": "Hessian"}


def is_right(row: Row) -> bool:
    """Whether what the row computed agrees with the reference."""
    errors = [row[name] for name in ("error", "value_error") if name in row]
    return all(error <= TOLERANCES.get(row["task"], float("inf")) for error in errors)


def digits(x: float) -> str:
    """A figure to three digits, without an exponent."""
    return f"{x:.3g}" if x < 1000 else f"{x:.0f}"


def status(row: Row | None) -> str:
    """Why a row has no figure."""
    if row is None:
        return ""
    return "WRONG" if row["status"] == "ok" else str(row["status"])


class Results:
    """All measured rows, to be asked for those of a system."""

    def __init__(self, rows: list[Row], titles: dict[str, str]) -> None:
        self.rows, self.titles = rows, titles
        self.systems = [name for name in PEERS if any(row["system"] == name for row in rows)]
        self.has_gcc = any(row["variant"].endswith("gcc") for row in rows)

    def cases(self, task: str) -> list[str]:
        found = [row["case"] for row in self.rows if row["task"] == task]
        return sorted(dict.fromkeys(found), key=[*self.titles, *found].index)

    def find(self, task: str, case: str, system: str, variant: str = "", form: str = "", figure: str = "median") -> Row | None:
        """The row of a system; its quickest right one where several pass, and a failed one only where none is right."""
        found = [
            row
            for row in self.rows
            if (row["task"], row["case"], row["system"]) == (task, case, system)
            and (not form or row["form"] == form)
            and (row["variant"] == variant if variant else not row["variant"].endswith(("gcc", "call")))
        ]
        right = [row for row in found if row["status"] == "ok" and is_right(row)]
        return min(right, key=lambda row: row[figure]) if right else next(iter(found), None)

    def seconds(self, row: Row | None, figure: str = "median") -> float | None:
        return row[figure] if row is not None and row["status"] == "ok" and is_right(row) else None

    def best_peer(self, task: str, case: str) -> float | None:
        """Seconds of the quickest peer that needs no compiler of C."""
        figures = [self.seconds(self.find(task, case, system)) for system in self.systems]
        return min((x for x in figures if x is not None), default=None)

    def scale(self, case: str) -> float:
        """How much slower peers are here than where the goals were set."""
        if case not in goals.GOALS:
            return 1.0
        figures = {system: self.seconds(self.find("gradient", case, system)) for system in goals.GOALS[case].peers}
        return goals.scale(case, {system: 1e6 * x for system, x in figures.items() if x is not None})


def cell(results: Results, row: Row | None, factor: float = 1e6, figure: str = "median", best: float | None = None) -> str:
    """A figure in the table's unit, bold where it is the best."""
    x = results.seconds(row, figure)
    if x is None:
        return status(row)
    return f"**{digits(factor * x)}**" if x == best else digits(factor * x)


def ratio(x: float | None, y: float | None) -> str:
    return "" if x is None or not y else f"{x / y:.2f}"


def markdown(header: list[str], lines: Iterable[list[str]]) -> str:
    rows = [header, ["---"] * len(header), *lines]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows) + "\n"


def gradients(results: Results) -> str:
    """Value and gradient: microseconds a call, and the ratios that matter."""
    has_bound = any(row["variant"] == "bound" for row in results.rows)
    mine = [name for name in _AGRAD if has_bound or name != "bound"]
    peers = [PEERS[name] for name in results.systems]
    if results.has_gcc:
        peers.insert(results.systems.index("casadi") + 1, "CasADi + gcc")
    header = ["case", *(f"agrad {name}" for name in mine), *peers, "by hand", "goals", "best peer", "compiled / best"]
    header += ["compiled / goal", "plain / goal"]
    lines = []
    for case in results.cases("gradient"):
        forms = {row["form"] for row in results.rows if row["case"] == case and row["system"] == "agrad"}
        lines.append(_line(results, case, mine, "numpy"))
        if "density" in forms:
            lines.append(_line(results, case, mine, "density"))
    return markdown(header, lines)


def _line(results: Results, case: str, mine: list[str], form: str) -> list[str]:
    agrad = {name: results.find("gradient", case, "agrad", name, form) for name in mine}
    compiled, plain = results.seconds(agrad["compiled"]), results.seconds(agrad["plain"])
    best, scale = results.best_peer("gradient", case), results.scale(case)
    goal = goals.GOALS.get(case, goals.Goal(0, None, {}))
    quickest = min((x for x in (best, compiled) if x is not None), default=None)
    others = []
    for system in results.systems:
        others.append(cell(results, results.find("gradient", case, system), best=quickest))
        if system == "casadi" and results.has_gcc:
            quick = [results.find("gradient", case, system, f"{kind} gcc") for kind in ("sx", "mx")]
            right = [row for row in quick if results.seconds(row) is not None]
            others.append(cell(results, min(right, key=lambda row: row["median"], default=None)))
    others.append(cell(results, results.find("gradient", case, "numpy", "by hand")))
    wanted = [1e-6 * scale * x if x else None for x in (goal.compiled, goal.plain)]
    text = ", ".join(digits(1e6 * x) for x in wanted if x)
    title = results.titles.get(case, case)
    first = [title, *(cell(results, agrad[name], best=quickest) for name in mine)]
    if form == "density":  # peers have no such form, so they are compared with what they have
        first[0], others = f"{title}: agrad's densities", [""] * len(others)
    named = "" if best is None else digits(1e6 * best)
    return [*first, *others, text, named, ratio(compiled, best), ratio(compiled, wanted[0]), ratio(plain, wanted[1])]


def _columns(results: Results, task: str) -> list[tuple[str, str, str]]:
    """Title, system and variant of every column that a task has."""
    pairs = dict.fromkeys((row["system"], row["variant"]) for row in results.rows if row["task"] == task)
    names = {"agrad": "agrad", "numpy": "NumPy", **PEERS, "jax": "JAX"}
    order = list(names)
    return [(f"{names[s]} {v}", s, v) for s, v in sorted(pairs, key=lambda pair: order.index(pair[0]))]


def _by_columns(results: Results, task: str, factor: float, figure: str, label: Callable[[str], str] = str) -> str:
    columns = _columns(results, task)
    lines = []
    for case in results.cases(task):
        rows = [results.find(task, case, system, variant, figure=figure) for _, system, variant in columns]
        lines.append([label(results.titles.get(case, case)), *(cell(results, row, factor, figure) for row in rows)])
    return markdown(["", *(title for title, _, _ in columns)], lines)


def first_calls(results: Results) -> str:
    """Milliseconds until the first result, and megabytes that this took."""
    systems = [("agrad compiled", "agrad", "compiled"), ("agrad plain", "agrad", "plain")]
    systems += [(PEERS[name], name, "") for name in results.systems]
    if results.has_gcc:
        systems += [(f"CasADi {kind} gcc", "casadi", f"{kind} gcc") for kind in ("sx", "mx")]
    lines = []
    for case in results.cases("gradient"):
        line = [results.titles.get(case, case)]
        for _, system, variant in systems:
            row = results.find("gradient", case, system, variant, "numpy" if system == "agrad" else "")
            right = results.seconds(row) is not None
            line.append(f"{digits(1e3 * (row['build'] + row['first']))}; {row['memory']:.1f}" if right else status(row))
        lines.append(line)
    return markdown(["", *(title for title, _, _ in systems)], lines)


def second_order(results: Results) -> str:
    """Microseconds of products and Hessians; products also in gradients of the same system."""
    columns = _columns(results, "product")
    lines = []
    for task in ("product", "hessian"):
        for case in results.cases(task):
            goal = goals.SECOND_ORDER.get((task, case))
            line = [f"{_LABELS[task]}: {results.titles.get(case, case)}"]
            for _, system, variant in columns:
                row = results.find(task, case, system, variant)
                first = results.seconds(results.find("gradient", case, system, variant))
                text, x = cell(results, row), results.seconds(row)
                line.append(f"{text} ({x / first:.1f} gradients)" if x is not None and first else text)
            line.append("" if goal is None else digits(goal * results.scale(case)))
            lines.append(line)
    return markdown(["", *(title for title, _, _ in columns), "goal"], lines)


def notes(results: Results) -> str:
    """What agrees with what, what has no figure, and how far the figures spread."""
    lines = []
    errors = [row["error"] for row in results.rows if row["task"] == "gradient" and "error" in row]
    if errors:
        by_differences = max(row.get("reference_error", 0.0) for row in results.rows)
        lines.append(
            f"Relative differences: of a gradient from the one by hand {max(errors):.1e} at most, of those by hand from "
            f"central differences {by_differences:.1e}."
        )
    failures: dict[str, list[str]] = {}
    for row in results.rows:
        if row["status"] != "ok" or not is_right(row):
            name = f"{row['system']} {row['variant']} ({row['task']}, {row['case']}, {row['form']})"
            failures.setdefault(str(row.get("why") or status(row)).rstrip("."), []).append(name)
    lines += [f"{'; '.join(names)}: {why}." for why, names in failures.items()]
    spread = [row["median"] / row["least"] for row in results.rows if row.get("batches", 0) >= 3 and row.get("least")]
    if spread:
        lines.append(
            f"Medians are {statistics.median(spread):.2f} times the quickest batch in half of the rows, "
            f"{max(spread):.2f} times at worst."
        )
    return "\n".join(f"- {line}" for line in lines) + "\n"


def tables(document: dict[str, Any]) -> str:
    """All tables of a run's results."""
    results = Results(document["rows"], document["titles"])
    parts = []

    def add(task: str, title: str, make: Callable[[], str]) -> None:
        if any(row["task"] == task for row in results.rows):
            parts.append(f"## {title}\n\n{make()}")

    add("gradient", "Value and gradient, µs a call", lambda: gradients(results))
    add("gradient", "First call, building included, ms; memory that it took, MB", lambda: first_calls(results))
    add("product", "Second order, µs a call", lambda: second_order(results))
    title = f"Recording, µs an operation, in a loop of 1000 (goal for value and gradient: {goals.RECORDING})"
    add("record", title, lambda: _recordings(results))
    title = f"First call of a loop, ms (goal for 1000 operations: {goals.SCHEDULING['1000 operations']:g})"
    add("first", title, lambda: _by_columns(results, "first", 1e3, "median"))
    title = f"Memory of the first value and gradient, times the values that a sweep needs (goal: {goals.SWEEP_MEMORY:g})"
    add("memory", title, lambda: _by_columns(results, "memory", 1.0, "median"))
    parts.append(f"## Notes\n\n{notes(results)}")
    parts += [f"- {line}" for run in document["runs"] for line in run["notes"]]
    return "\n".join(parts) + "\n"


def _recordings(results: Results) -> str:
    whole = _by_columns(results, "record", 1e6, "median", lambda case: f"value and gradient, {case}")
    loop = _by_columns(results, "record", 1e6, "loop", lambda case: f"recording only, {case}")
    return whole + "\n".join(loop.splitlines()[2:]) + "\n"


if __name__ == "__main__":
    print(tables(json.loads(Path(sys.argv[1]).read_text())), end="")
