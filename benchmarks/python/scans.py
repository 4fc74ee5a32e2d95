"""Loops: the same recursion as a Python loop, which is unrolled, and by `ag.scan`; and what long loops take.

    PYTHONPATH=SITE python benchmarks/python/scans.py

prints the tables of docs/loops.md. Each row is a process of its own; times are processor times, of calls the median of nine
batches; memory is what the process held at most from the function's making to the end of the first call, less what it held
before.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from statistics import median
from types import SimpleNamespace
from typing import Any

import numpy as np
from cases import garch, lotka_volterra
from cases.case import Library

import agrad as ag

KINDS = {"unrolled": None, "scan": False, "scan, checkpoint": True}
CASES = {"Lotka-Volterra, 1000 RK4 steps": lotka_volterra.CASES[0], "GARCH(1,1), 500 points": garch.CASES[0]}
LENGTHS = (1000, 10_000, 100_000, 1_000_000)


def of_case(name: str, kind: str) -> tuple[Callable[[Any], Any], np.ndarray]:
    """A case in its form with a Python loop, or in the one for JAX's scan."""

    def scan(*arguments: Any, **options: Any) -> Any:
        return ag.scan(*arguments, **options, checkpoint=bool(KINDS[kind]))

    own = SimpleNamespace(lax=SimpleNamespace(scan=scan))
    library = Library(np, ag.array, ag.special.logsumexp, ag.linalg.solve_triangular, own=own)
    return CASES[name].function("numpy" if kind == "unrolled" else "scan", library)


def long_loop(length: int, kind: str) -> tuple[Callable[[Any], Any], np.ndarray]:
    """A map of one number with two parameters, again and again."""

    def step(theta: Any, x: Any) -> Any:
        return theta[0] * x * (1 - x) + theta[1] * np.sin(x)

    def function(theta: Any) -> Any:
        if kind != "unrolled":
            return ag.scan(lambda x, _: (step(theta, x), None), theta[2], length=length, checkpoint=KINDS[kind])[0]
        x = theta[2]
        for _ in range(length):
            x = step(theta, x)
        return x

    return function, np.array([2.5, 0.1, 0.3])


def measured(function: Callable[[Any], Any], theta: np.ndarray) -> dict[str, float]:
    """Microseconds of a call, milliseconds of the first, megabytes."""
    warm = ag.compile(ag.value_and_grad(lambda x: ag.scan(lambda c, y: (c * y, c), x[0], x)[0]))
    warm(theta)
    begin_memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begin = time.process_time()
    f = ag.compile(ag.value_and_grad(function))
    value, gradient = f(theta)
    first = time.process_time() - begin
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - begin_memory
    batches = []
    while len(batches) < 9:
        count, begin = 0, time.process_time()
        while time.process_time() - begin < 0.04:
            f(theta)
            count += 1
        batches.append((time.process_time() - begin) / count)
    return {
        "call": 1e6 * median(batches),
        "first": 1e3 * first,
        "memory": memory / 1024,
        "check": float(np.sum(gradient)) + value,
    }


def in_process(*row: str) -> dict[str, float]:
    run = subprocess.run([sys.executable, __file__, *row], capture_output=True, text=True, check=True)
    result: dict[str, float] = json.loads(run.stdout)
    return result


def main() -> None:
    if len(sys.argv) == 3:
        name, kind = sys.argv[1:]
        print(json.dumps(measured(*(of_case(name, kind) if name in CASES else long_loop(int(name), kind)))))
        return
    print("| | | value and gradient, µs | first call, ms | memory, MB |\n|---|---|---|---|---|")
    for name in [*CASES, *map(str, LENGTHS)]:
        values = []
        for kind in KINDS:
            if kind == "unrolled" and name not in CASES and int(name) > 10_000:
                continue
            row = in_process(name, kind)
            values.append(row["check"])
            title = name if name in CASES else f"{int(name):_} steps".replace("_", " ")
            print(f"| {title} | {kind} | {row['call']:.0f} | {row['first']:.1f} | {row['memory']:.1f} |", flush=True)
        np.testing.assert_allclose(values, values[0], rtol=1e-9)


if __name__ == "__main__":
    main()
