"""What a steady state costs that the system is followed to, beside one that Newton's method finds alone.

    PYTHONPATH=SITE python benchmarks/python/steady_states.py

prints a table of docs/performance_ode.md: microseconds of method="newton", and how many times as long the default takes, of
a call, a compiled call and a compiled gradient, the quickest of seven.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import agrad as ag


def exchange(t: Any, y: Any, k: Any) -> Any:
    flow = k[1] * y[1] - k[0] * y[0]
    return [flow, -flow]


def enzyme(t: Any, y: Any, k: Any) -> Any:
    bound, back, product = k[0] * y[0] * y[1], k[1] * y[2], k[2] * y[2]
    return [k[3] - bound + back, back + product - bound, bound - back - product]


def toggle(t: Any, y: Any, k: Any) -> Any:
    return [k / (1 + y[1] ** 4) - y[0], k / (1 + y[0] ** 4) - y[1]]


def reaction(t: Any, y: Any, k: Any) -> Any:
    """Diffusion between 30 cells, each with an inflow and a loss by the third power."""
    zero = np.zeros(1)
    return 10.0 * (np.concatenate([y[1:], zero]) - 2 * y + np.concatenate([zero, y[:-1]])) + k - y**3


SYSTEMS: dict[str, tuple[Callable[..., Any], Any, Any]] = {
    "exchange, linear": (exchange, np.array([3.0, 1.0]), np.array([2.0, 6.0])),
    "y' = k y - y^3": (lambda t, y, k: k * y - y**3, np.array([0.3]), 1.0),
    "toggle": (toggle, np.array([1.1, 1.0]), 3.0),
    "enzyme": (enzyme, np.array([1.0, 0.9, 0.1]), np.array([3.0, 0.5, 2.0, 0.8])),
    "reaction, 30 cells": (reaction, np.ones(30), 1.0),
}


def microseconds(call: Callable[[], Any]) -> float:
    call()
    best = np.inf
    for _ in range(7):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return 1e6 * best


def times(name: str, method: str) -> list[float]:
    f, y0, k = SYSTEMS[name]

    def rest(k: Any) -> Any:
        return ag.steady_state(f, y0, args=(k,), method=method).y

    compiled, gradient = ag.compile(rest), ag.compile(ag.grad(lambda k: np.sum(rest(k))))
    return [microseconds(partial(call, k)) for call in (rest, compiled, gradient)]


def main() -> None:
    warnings.simplefilter("ignore")  # Newton's method finds unstable states
    print("| system | call, us | times | compiled, us | times | gradient, us | times |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name in SYSTEMS:
        pairs = zip(times(name, "newton"), times(name, "auto"), strict=True)
        print(f"| {name} | " + " | ".join(f"{alone:.3g} | {followed / alone:.1f}" for alone, followed in pairs) + " |")


if __name__ == "__main__":
    main()
