"""What it costs that steps see derivatives, at equal error of the gradient.

    python benchmarks/python/ode/control.py [PROBLEM ...]

For each problem and method the milliseconds of a compiled value and gradient at a relative error of the gradient of 1e-5 (the
first two tolerances that enclose it, on the line of logarithms), with steps that see the states alone and with steps that see
derivatives too, their ratio, and the steps at rtol 1e-6. The reference is the same method at 1e-12 with the latter steps.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import problems

import agrad as ag

TOLERANCES = 10.0 ** -np.arange(2.0, 10.5, 0.5)
TARGET = 1e-5
METHODS = {"P1": "DOP853", "P2": "Rodas4", "P3": "Tsit5", "P4": "Rodas4"}


def gradient_of(problem: problems.Problem, method: str, tolerance: float, control: str) -> tuple[Callable[..., Any], list[Any]]:
    """A compiled value and gradient, and a list that keeps the statistics of its recording."""
    kept: list[Any] = []

    def loss(y0: Any, p: Any) -> Any:
        result = ag.solve_ivp(
            problem.rhs, (0.0, problem.times[-1]), y0, method, problem.times, args=(p,), rtol=tolerance,
            atol=problem.absolute_tolerance(tolerance), max_num_steps=10**6, error_control=control,
        )  # fmt: skip
        kept[:] = [result.stats]
        return np.sum((problem.scale[:, None] * result.y) ** 2)

    return ag.compile(ag.value_and_grad(loss, argnums=(0, 1) if problem.with_initial_state else 1)), kept


def flat(gradient: Any) -> Any:
    return np.concatenate([np.ravel(part) for part in gradient]) if isinstance(gradient, tuple) else gradient


def point(problem: problems.Problem, method: str, tolerance: float, control: str, exact: Any) -> tuple[float, float, int]:
    """Milliseconds, the gradient's error, steps."""
    compiled, kept = gradient_of(problem, method, tolerance, control)
    found = flat(compiled(problem.y0, problem.p)[1])
    seconds, count = np.inf, 0
    begin = time.perf_counter()
    while count < 5 or (time.perf_counter() - begin < 0.2 and count < 10**4):
        start = time.perf_counter()
        compiled(problem.y0, problem.p)
        seconds = min(seconds, time.perf_counter() - start)
        count += 1
    return seconds * 1e3, float(np.linalg.norm(found - exact) / np.linalg.norm(exact)), kept[0]["steps"]


def at_target(points: list[tuple[float, float, int]]) -> float:
    """Between the two neighbouring tolerances behind which the error stays below the target."""
    last = max((k for k, (_, error, _) in enumerate(points) if not error <= TARGET), default=-1)
    if last < 0 or last + 1 == len(points):
        return points[last + 1][0] if last < 0 else float("nan")
    (before, worse, _), (after, better, _) = points[last], points[last + 1]
    part = np.log(worse / TARGET) / np.log(worse / better)
    return float(before ** (1 - part) * after**part)


def main(names: list[str]) -> None:
    print("| problem | method | states, ms | derivatives, ms | ratio | steps at 1e-6 |\n| --- | --- | --- | --- | --- | --- |")
    for name in names or ["P1", "P2", "P3_4", "P3_16", "P3_64", "P3_256", "P4_32", "P4_128"]:
        problem, method = problems.get(name), METHODS[name[:2]]
        exact = flat(gradient_of(problem, method, 1e-12, "derivatives")[0](problem.y0, problem.p)[1])
        curves = {
            control: [point(problem, method, tolerance, control, exact) for tolerance in TOLERANCES]
            for control in ("states", "auto")
        }
        states, derivatives = (at_target(curve) for curve in curves.values())
        steps = " / ".join(str(curve[8][2]) for curve in curves.values())
        print(f"| {name} | {method} | {states:.3g} | {derivatives:.3g} | {derivatives / states:.2f} | {steps} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
