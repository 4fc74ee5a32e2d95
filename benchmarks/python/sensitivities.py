"""Forward sensitivities against the adjoint method: a gradient and a Jacobian, over numbers of states and parameters.

    PYTHONPATH=SITE python benchmarks/python/sensitivities.py

prints a table of docs/performance_ode.md, from which the constants of solve/cvodes/forward_or_adjoint.hpp come. Times are of
compiled calls by BDF with 20 output times and tolerances of 1e-6, the quickest of five.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import agrad as ag

RATES, PELTS = np.array([0.55, 0.028, 0.84, 0.026]), np.array([30.0, 4.0])


def predation(t: Any, y: Any, p: Any) -> list[Any]:
    return [(p[0] - p[1] * y[1]) * y[0], (-p[2] + p[3] * y[0]) * y[1]]


def chain(states: int, parameters: int) -> Callable[..., Any]:
    """Compartments that empty into the next one, with as many rates as given among them."""
    which = np.arange(states) * parameters // states

    def slope(t: Any, y: Any, k: Any) -> Any:
        flow = k[which] * y
        return np.concatenate([-flow[:1], flow[:-1] - flow[1:]])

    return slope


def problems() -> Iterator[tuple[str, Callable[..., Any], Any, Any, float]]:
    """Name, right-hand side, parameters, initial state and end."""
    yield "Lotka-Volterra", predation, RATES, PELTS, 20.0
    for states in (4, 16, 64):
        for parameters in (1, 4, 16, 64):
            if parameters <= states:
                rates, start = np.linspace(0.5, 1.5, parameters), np.linspace(1.0, 0.1, states)
                yield "chain", chain(states, parameters), rates, start, 10.0


def milliseconds(call: Callable[[], Any]) -> float:
    call()
    best = np.inf
    for _ in range(5):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return 1e3 * best


def main() -> None:
    print("| problem | N | M | S | gradient: adjoint, ms | forward | auto takes | Jacobian: adjoint, ms | forward |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for name, slope, rates, start, end in problems():
        for of_state in (False, True):

            def states(x: Any, kind: str) -> Any:
                y0, k = (x[: start.size], x[start.size :]) if of_state else (start, x)  # noqa: B023
                times = np.linspace(end / 20, end, 20)  # noqa: B023
                return ag.solve_ivp(slope, (0.0, end), y0, "BDF", times, args=(k,), atol=1e-6, sensitivities=kind).y  # noqa: B023

            x = np.concatenate([start, rates]) if of_state else rates
            kinds = ("adjoint", "forward")
            gradients = [ag.compile(ag.grad(lambda x, kind=kind: np.sum(states(x, kind) ** 2))) for kind in kinds]
            rows = [ag.compile(ag.jacobian(lambda x, kind=kind: states(x, kind))) for kind in kinds]
            adjoint, forward = (milliseconds(lambda f=f: f(x)) for f in gradients)  # noqa: B023
            slow = start.size < 64
            all_rows = [f"{milliseconds(lambda f=f: f(x)):.2f}" for f in rows] if slow else ["", ""]  # noqa: B023
            n, m = start.size, rates.size
            taken = "forward" if n * (1 + 1.3 * x.size) <= 4 * (2 * n + m) else "adjoint"
            print(
                f"| {name} | {n} | {m} | {x.size} | {adjoint:.2f} | {forward:.2f} | {taken} | {all_rows[0]} | {all_rows[1]} |"
            )


if __name__ == "__main__":
    main()
