"""Differential equations: what a gradient costs with each linear algebra behind the implicit methods.

    PYTHONPATH=SITE python benchmarks/python/linear_solvers.py

prints two tables of docs/performance_ode.md: Brusselators with a parameter for each cell, and networks whose Jacobian is filled
more and more. Times are of the processor, for compiled calls of value and gradient from Python, the quickest of five.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import agrad as ag

CELLS = (32, 128, 512)
CHOICES = [("Rodas4", solver) for solver in ("dense", "banded", "sparse")]
CHOICES += [("BDF", solver) for solver in ("dense", "banded", "sparse")]
STATES, INPUTS = (5, 9, 16, 24, 48), (1, 4, 16)
SLOWEST = 5.0  # seconds; what would take longer is left out


def brusselator(t: Any, y: Any, p: Any) -> Any:
    cells = y.size // 2
    u, v = y[0::2], y[1::2]
    diffusion = 0.02 * (cells + 1) ** 2
    beside_u, beside_v = (
        np.concatenate([x[1:], wall]) + np.concatenate([wall, x[:-1]]) for x, wall in ((u, np.ones(1)), (v, np.full(1, 3.0)))
    )
    reaction = u * u * v
    du = 1 + reaction - (p + 1) * u + diffusion * (beside_u - 2 * u)
    dv = p * u - reaction + diffusion * (beside_v - 2 * v)
    return np.stack([du, dv], 1).reshape(-1)


def loss_of(cells: int, method: str, solver: str) -> Callable[[Any], Any]:
    """Sum of squares of the states at ten times."""
    start = np.full(2 * cells, 3.0)
    start[0::2] = 1 + np.sin(2 * np.pi * np.arange(1, cells + 1) / (cells + 1))

    def loss(p: Any) -> Any:
        y = ag.solve_ivp(
            brusselator, (0.0, 10.0), start, method, np.arange(1.0, 11.0), args=(p,), rtol=1e-6, atol=1e-6, linear_solver=solver
        ).y
        return np.sum(y * y)

    return loss


def network_of(states: int, inputs: int, method: str, solver: str) -> Callable[[Any], Any]:
    """Sum of squares of states that decay at rates of 1 to 1000 and rise with `inputs` random states each, at ten times."""
    random = np.random.default_rng(3)
    sources = random.integers(0, states, (states, inputs))
    weights, rates = random.uniform(0.1, 1, sources.shape), 10.0 ** random.uniform(0, 3, states)

    def slope(t: Any, y: Any, p: Any) -> Any:
        return 1 - rates * y * p + np.sum(weights * y[sources] / (1 + y[sources] ** 2), axis=1)

    def loss(p: Any) -> Any:
        start, times = np.full(states, 0.5), np.linspace(0.5, 5, 10)
        y = ag.solve_ivp(slope, (0.0, 5.0), start, method, times, args=(p,), rtol=1e-6, atol=1e-8, linear_solver=solver).y
        return np.sum(y * y)

    return loss


def seconds(call: Callable[[], Any]) -> float:
    best = np.inf
    for _ in range(5):
        begin = time.process_time()
        call()
        best = min(best, time.process_time() - begin)
        if best > SLOWEST / 5:
            break
    return float(best)


def brusselators() -> None:
    print("| method | linear_solver |", *(f"{2 * cells} states |" for cells in CELLS))
    print("| --- | --- |", *("--- |" for _ in CELLS))
    for method, solver in CHOICES:
        row, last = [], 0.0
        for cells in CELLS:
            if last * 30 > SLOWEST:
                row.append("-")
                continue
            function, p = ag.compile(ag.value_and_grad(loss_of(cells, method, solver))), np.full(cells, 3.0)
            function(p)
            last = seconds(lambda f=function, p=p: f(p))
            row.append(f"{last * 1e3:.3g}")
        print(f"| {method} | {solver} | " + " | ".join(row) + " |", flush=True)


def networks() -> None:
    print("\n| method | states |", *(f"{inputs} inputs: filled, dense, sparse |" for inputs in INPUTS))
    print("| --- | --- |", *("--- |" for _ in INPUTS))
    for method in ("Rodas4", "BDF"):
        for states in STATES:
            row, p = [], np.ones(states)
            for inputs in INPUTS:
                functions = [ag.compile(ag.value_and_grad(network_of(states, inputs, method, s))) for s in ("dense", "sparse")]
                dense, sparse = (seconds(lambda f=f, p=p: f(p)) * 1e3 for f in functions)
                random = np.random.default_rng(3).integers(0, states, (states, inputs))
                entries = sum(len({i, *sources}) for i, sources in enumerate(random.tolist()))
                row.append(f"{entries / states**2:.0%}, {dense:.2f}, {sparse:.2f}")
            print(f"| {method} | {states} | " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    brusselators()
    networks()
