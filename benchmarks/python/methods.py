"""Differential equations: what a gradient costs by each method, against its error; output times, populations, rows by vmap.

    PYTHONPATH=SITE python benchmarks/python/methods.py

prints tables of docs/performance_ode.md. Times are of compiled calls of value and gradient, the quickest of nine batches.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import agrad as ag

TIMES, RATES, START = np.arange(1.0, 21.0), np.array([0.55, 0.028, 0.84, 0.026]), np.array([30.0, 4.0])
EXPLICIT = ["Tsit5", "RK45", "CKRK", "DOP853"]
LOG_TIMES, LOG_RATES = 0.4 * 10.0 ** np.arange(0, 6), np.log([0.04, 1e4, 3e7])


def predation(t: Any, y: Any, p: Any) -> list[Any]:
    return [(p[0] - p[1] * y[1]) * y[0], (-p[2] + p[3] * y[0]) * y[1]]


def kinetics(t: Any, y: Any, k: Any) -> list[Any]:
    a, b, c = k[0] * y[0], k[1] * y[1] * y[2], k[2] * y[1] ** 2
    return [-a + b, a - b - c, c]


def lotka_volterra(method: str, tolerance: float) -> Callable[[Any], Any]:
    """Sum of squares of the states at 20 times."""

    def loss(p: Any) -> Any:
        y = ag.solve_ivp(predation, (0.0, 20.0), START, method, TIMES, args=(p,), rtol=tolerance, atol=tolerance).y
        return np.sum(y * y) / 2

    return loss


def robertson(method: str, tolerance: float) -> Callable[[Any], Any]:
    """Sum of the states at six times, each at its own scale."""

    def loss(log_rates: Any) -> Any:
        y = ag.solve_ivp(
            kinetics, (0.0, LOG_TIMES[-1]), [1.0, 0.0, 0.0], method, LOG_TIMES, args=(np.exp(log_rates),),
            rtol=tolerance, atol=[tolerance * 1e-2, tolerance * 1e-6, tolerance * 1e-2],
        ).y  # fmt: skip
        return np.sum(y * np.array([[1.0], [1e4], [0.3]]))

    return loss


def quickest(call: Callable[[], Any]) -> float:
    """Microseconds a call."""
    start = time.perf_counter()
    call()
    count = max(1, int(0.02 / max(1e-6, time.perf_counter() - start)))
    best = np.inf
    for _ in range(9):
        start = time.perf_counter()
        for _ in range(count):
            call()
        best = min(best, (time.perf_counter() - start) / count)
    return float(best * 1e6)


def by_method(name: str, problem: Callable[..., Any], at: np.ndarray, reference: tuple[str, float], methods: list[str]) -> None:
    true = ag.grad(problem(*reference))(at)
    print(f"\n| {name} | tolerance | value and gradient, µs | error of the gradient |\n| --- | --- | --- | --- |")
    for method in methods:
        for tolerance in (1e-4, 1e-6, 1e-8):
            function = ag.compile(ag.value_and_grad(problem(method, tolerance)))
            error = np.max(np.abs(function(at)[1] / true - 1))
            print(f"| {method} | {tolerance:g} | {quickest(lambda f=function: f(at)):.0f} | {error:.0e} |")


def output_times() -> None:
    """What more output times cost: steps, and microseconds of value and gradient."""
    counts = (10, 100, 1000)
    print("\n| Lotka-Volterra to t = 20 | " + " | ".join(f"{count} times: steps, µs" for count in counts) + " |")
    print("| --- |" + " --- |" * len(counts))
    for method in (*EXPLICIT, "Rodas4", "BDF"):
        cells = []
        for count in counts:
            times = np.linspace(0.0, 20.0, count + 1)[1:]

            def solve(p: Any, method: str = method, times: Any = times) -> Any:
                return ag.solve_ivp(predation, (0.0, 20.0), START, method, times, args=(p,), rtol=1e-6, atol=1e-6)

            function = ag.compile(ag.value_and_grad(lambda p, solve=solve: np.sum(solve(p).y ** 2)))
            cells.append(f"{solve(RATES).nst}, {quickest(lambda f=function: f(RATES)):.0f}")
        print(f"| {method} | " + " | ".join(cells) + " |")


def populations() -> None:
    print("\n| solve_many, 200 subjects | value and gradient, ms |\n| --- | --- |")
    for threads in (1, 2):

        def loss(p: Any, threads: int = threads) -> Any:
            subjects = [ag.Subject((0.0, 20.0), START * (1 + k / 200), TIMES, (p,)) for k in range(200)]
            return sum(np.sum(r.y * r.y) for r in ag.solve_many(predation, subjects, threads=threads))

        function = ag.compile(ag.value_and_grad(loss))
        print(f"| {threads} thread{'s' * (threads > 1)} | {quickest(lambda f=function: f(RATES)) / 1000:.1f} |")


def rows() -> None:
    def f(x: Any, w: Any) -> Any:
        return np.tanh(np.sum(np.sin(x) * w)) ** 2

    x, w = np.random.default_rng(0).normal(size=(10_000, 10)), np.random.default_rng(1).normal(size=10)
    side_by_side, one = ag.compile(ag.vmap(ag.grad(f), (0, None))), ag.compile(ag.grad(f))
    print("\n| gradients of 10 000 rows of ten | ms |\n| --- | --- |")
    print(f"| compile(vmap(grad(f))) | {quickest(lambda: side_by_side(x, w)) / 1000:.1f} |")
    print(f"| a loop of compile(grad(f)) | {quickest(lambda: [one(row, w) for row in x]) / 1000:.1f} |")


if __name__ == "__main__":
    by_method("Lotka-Volterra", lotka_volterra, RATES, ("DOP853", 1e-13), [*EXPLICIT, "Rodas4", "Adams", "BDF"])
    by_method("Robertson", robertson, LOG_RATES, ("BDF", 1e-11), ["Rodas4", "BDF"])
    output_times()
    populations()
    rows()
