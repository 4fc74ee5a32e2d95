"""Prints processor times of solve_dae by IDA and by Rodas5P for growing systems, half of whose states are algebraic.

    python benchmarks/python/ode/dae_sizes.py

"rod" is a heat equation whose conductivities are algebraic, "network" has a full matrix between its states.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import agrad as ag

NUMBERS = np.array([1.0, 0.5])
METHODS: dict[str, dict[str, Any]] = {
    "IDA": {"method": "IDA"},
    "Rodas5P": {"method": "Rodas5P"},
    "Rodas5P, sparse": {"linear_solver": "sparse"},
}


def rod(cells: int) -> tuple[Callable[..., Any], Any]:
    """The residual and the initial states."""

    def residual(t, y, yp, p):
        heat, conductivity = y[:cells], y[cells:]
        flow = 0.01 * cells**2 * conductivity[1:] * (heat[1:] - heat[:-1])
        change = np.concatenate([flow, np.zeros(1)]) - np.concatenate([np.zeros(1), flow])
        return np.concatenate([yp[:cells] - change, conductivity - p[0] - p[1] * heat**2])

    place = np.linspace(0, 1, cells)
    return residual, np.concatenate([np.exp(-50 * (place - 0.3) ** 2), np.ones(cells)])


def network(nodes: int) -> tuple[Callable[..., Any], Any]:
    """The residual and the initial states."""
    weights = np.random.default_rng(0).normal(size=(nodes, nodes)) / (2 * nodes) - np.eye(nodes)

    def residual(t, y, yp, p):
        return np.concatenate([yp[:nodes] - p[0] * weights @ y[nodes:], y[nodes:] - np.tanh(p[1] * y[:nodes])])

    return residual, np.ones(2 * nodes)


def milliseconds(f: Callable[..., Any]) -> float:
    """The least of three."""
    f(NUMBERS)
    times = []
    for _ in range(3):
        begin = time.process_time()
        f(NUMBERS)
        times.append(time.process_time() - begin)
    return 1e3 * min(times)


def main() -> None:
    """Print the table."""
    print("| system, states |" + "".join(f" {name}: value, gradient |" for name in METHODS))
    print("| --- |" + " --- |" * len(METHODS))
    for make, sizes in ((rod, (100, 400)), (network, (100, 400))):
        for size in sizes:
            residual, start = make(size // 2)
            cells = []
            for options in METHODS.values():

                def end(p, options=options, residual=residual, start=start):
                    return ag.solve_dae(residual, (0.0, 1.0), start, args=(p,), **options).y[0, -1]

                times = milliseconds(ag.compile(end)), milliseconds(ag.compile(ag.value_and_grad(end)))
                cells.append(", ".join(f"{x:.3g}" for x in times))
            print(f"| {make.__name__}, {size} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
