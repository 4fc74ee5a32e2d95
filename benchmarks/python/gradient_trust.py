"""How far gradients through differential equations are from references, what the solver says about it, and what it costs.

    PYTHONPATH=SITE python benchmarks/python/gradient_trust.py [NAME...]

prints tables of docs/performance_ode.md in Markdown: the problems of tests/python/gradient_problems by each one-step method,
with their worst cases, and the time of a value and gradient at equal error by both ways of `error_control`.
Names choose problems.
"""

from __future__ import annotations

import inspect
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import agrad as ag

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "python"))
from gradient_problems import PROBLEMS, REFERENCES, Problem
from gradient_problems.trust import METHODS, TOLERANCES, Measured, is_hopeless, measured

#: The relative error of the gradient at which times are compared.
EQUAL = 1e-5
HAS_CONTROL = "error_control" in inspect.signature(ag.solve_ivp).parameters


def row(cells: Iterable[Any]) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"


def head(cells: list[str]) -> str:
    return "\n" + row(cells) + "\n" + row(["---"] * len(cells))


def figure(number: float) -> str:
    return "-" if np.isnan(number) else f"{number:.1e}" if number >= 1e4 or number < 1e-2 else f"{number:.2g}"


class Found(NamedTuple):
    """One gradient, and whether it is right, told to be wrong, or wrong without a word."""

    problem: Problem
    method: str
    rtol: float
    measured: Measured

    @property
    def ratio(self) -> float:
        return self.measured.error / self.rtol

    @property
    def verdict(self) -> str:
        if self.measured.is_within(self.problem.allowed * self.rtol):
            return "right"
        return "told" if self.measured.is_told() else "WRONG"


def errors(problems: list[Problem]) -> list[Found]:
    """The table of all combinations."""
    print(head(["problem", "states", "method", "rtol", "error / rtol", "estimate / rtol", "steps", ""]))
    entries = []
    for problem in problems:
        for method in METHODS:
            for rtol in [] if is_hopeless(problem, method) else TOLERANCES:
                one = measured(problem, method, rtol)
                entries.append(Found(problem, method, rtol, one))
                cells = [problem.name, problem.n, method, f"{rtol:g}", figure(one.error / rtol), figure(one.estimate / rtol)]
                print(row([*cells, one.steps, entries[-1].verdict + (", warned" if one.warned else "")]), flush=True)
    return entries


def side_by_side(entries: list[Found], rtol: float = 1e-6) -> None:
    """A row for each problem: by each method how many times rtol the error is, and the estimate."""
    print(head([f"error / rtol (estimate / rtol), rtol = {rtol:g}", "states", *METHODS]))
    for problem in dict.fromkeys(entry.problem.name for entry in entries):
        cells = {e.method: e for e in entries if e.problem.name == problem and e.rtol == rtol}
        texts = []
        for method in METHODS:
            found = cells.get(method)
            estimate = np.nan if found is None else found.measured.estimate / rtol
            texts.append(
                "" if found is None else figure(found.ratio) + ("" if np.isnan(estimate) else f" ({figure(estimate)})")
            )
        print(row([problem, PROBLEMS[problem].n, *texts]))


def worst(entries: list[Found]) -> None:
    """A row for each method: how many gradients are right, and the worst ones."""
    columns = ["method", "gradients", "right", "told", "wrong", "median of error / rtol", "worst", "worst that is not told"]
    print(head(columns))
    for method in METHODS:
        its = [entry for entry in entries if entry.method == method]
        if not its:
            continue
        said = [entry.verdict for entry in its]
        untold = [entry for entry in its if entry.verdict != "told"]
        middle = figure(float(np.median([entry.ratio for entry in its])))
        print(row([method, len(its), *map(said.count, ("right", "told", "WRONG")), middle, _case(its), _case(untold)]))


def _case(entries: list[Found]) -> str:
    if not entries:
        return "-"
    found = max(entries, key=lambda entry: entry.ratio)
    return f"{figure(found.ratio)} ({found.problem.name}, {found.rtol:g})"


def quickest(call: Callable[[], Any]) -> float:
    """Milliseconds a call, the quickest of five batches."""
    start = time.perf_counter()
    call()
    count = max(1, int(0.01 / max(1e-6, time.perf_counter() - start)))
    best = np.inf
    for _ in range(5):
        start = time.perf_counter()
        for _ in range(count):
            call()
        best = min(best, (time.perf_counter() - start) / count)
    return float(best * 1e3)


def at_equal_error(problem: Problem, method: str, options: dict[str, Any]) -> float:
    """Milliseconds of a compiled value and gradient where its error is EQUAL; nan where no tolerance reaches that.

    Between the last tolerance at which the error is larger, and the next one, on the line of logarithms.
    """
    reference, before = REFERENCES[problem.name]["gradient"], None
    for rtol in 10.0 ** -np.arange(3.0, 11.0):
        function = ag.compile(ag.value_and_grad(problem.loss(ag.solve_ivp, method, float(rtol), **options)))
        try:
            error = problem.error(function(problem.at)[1], reference)
        except ag.SolverError:
            before = None
            continue
        now = (error, quickest(lambda f=function: f(problem.at)))
        if np.isfinite(error) and error <= EQUAL:
            if before is None or not np.isfinite(before[0]) or before[0] > 1e6 * EQUAL:
                return now[1]
            part = np.log(before[0] / EQUAL) / np.log(before[0] / max(error, 1e-300))
            return float(np.exp((1 - part) * np.log(before[1]) + part * np.log(now[1])))
        before = now
    return np.nan


def costs(problems: list[Problem]) -> None:
    """The second table: the default method and the one for stiff systems, with steps of states and of derivatives."""
    controls = ["states", "derivatives"] if HAS_CONTROL else ["states"]
    columns = [f"{method}, {control}, ms" for method in ("auto", "Rodas4") for control in controls]
    print(head([f"value and gradient, error {EQUAL:g}", "states", *columns]))
    for problem in problems:
        options = [{"error_control": control} if HAS_CONTROL else {} for control in controls]
        times = [at_equal_error(problem, method, each) for method in ("auto", "Rodas4") for each in options]
        print(row([problem.name, problem.n, *("-" if np.isnan(each) else f"{each:.3g}" for each in times)]), flush=True)


if __name__ == "__main__":
    chosen = [PROBLEMS[name] for name in sys.argv[1:] or PROBLEMS]
    measurements = errors(chosen)
    side_by_side(measurements)
    worst(measurements)
    costs(chosen)
