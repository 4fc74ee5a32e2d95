"""The problems of the benchmark of differential equations, in NumPy, and the files that the C++ programs read.

P1 Lotka-Volterra, P2 Robertson, P3_n a linear chain of n states, P4_n a Brusselator of n cells (2 n states). The loss is
sum_k sum_i (s_i (y_i(t_k) - d_ki))^2; its gradient is with respect to p, then y0 where the problem says so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import agrad as ag

NAMES = ["P1", "P2", "P3_4", "P3_16", "P3_64", "P3_256", "P4_32", "P4_128", "P4_512"]
Vector = np.ndarray[Any, np.dtype[np.float64]]


@dataclass
class Problem:
    """One problem; `data` has a row for each time."""

    name: str
    rhs: Callable[[Any, Any, Any], Any]
    p: Vector
    y0: Vector
    times: Vector
    scale: Vector
    with_initial_state: bool = False
    stiff: bool = False
    data: Any = None
    gradient: Any = None  # what it should be

    def absolute_tolerance(self, relative: float) -> float:
        return 1e-14 if self.name == "P2" else relative

    def states(self, p: Any, y0: Any, method: str, tolerance: float) -> Any:
        """The states at the times, a row each."""
        return ag.solve_ivp(
            self.rhs, (0.0, self.times[-1]), y0, method, self.times, args=(p,),
            rtol=tolerance, atol=self.absolute_tolerance(tolerance),
        ).y.T  # fmt: skip

    def value_and_gradient(self, method: str, tolerance: float) -> Callable[[], tuple[float, Vector]]:
        """The compiled loss and its gradient."""

        def loss(p: Any, y0: Any) -> Any:
            return np.sum((self.scale * (self.states(p, y0, method, tolerance) - self.data)) ** 2)

        function = ag.compile(ag.value_and_grad(loss, (0, 1) if self.with_initial_state else 0))

        def call() -> tuple[float, Vector]:
            value, gradient = function(self.p, self.y0)
            return value, np.concatenate(gradient) if self.with_initial_state else gradient

        return call


def lotka_volterra() -> Problem:
    def rhs(t: Any, y: Any, p: Any) -> Any:
        return [(p[0] - p[1] * y[1]) * y[0], (p[3] * y[0] - p[2]) * y[1]]

    rates, start = np.array([0.55, 0.028, 0.84, 0.026]), np.array([33.956, 5.933])
    return Problem("P1", rhs, rates, start, np.arange(1.0, 21.0), np.ones(2), with_initial_state=True)


def robertson() -> Problem:
    def rhs(t: Any, y: Any, log_rates: Any) -> Any:
        k = np.exp(log_rates)
        a, b, c = k[0] * y[0], k[1] * y[1] * y[2], k[2] * y[1] ** 2
        return [b - a, a - b - c, c]

    times, scale = 4 * 10.0 ** np.arange(-1, 8), np.array([1.0, 1e4, 1.0])
    return Problem("P2", rhs, np.log([0.04, 1e4, 3e7]), np.array([1.0, 0.0, 0.0]), times, scale, stiff=True)


def chain(n: int) -> Problem:
    def rhs(t: Any, y: Any, p: Any) -> Any:
        out = p * y
        return np.concatenate([-out[:1], out[:-1] - out[1:]])

    rates = np.random.default_rng(300 + n).uniform(0.5, 1.5, n)
    return Problem(f"P3_{n}", rhs, rates, np.r_[10.0, np.zeros(n - 1)], np.linspace(0, 1.5 * n, 11)[1:], np.ones(n))


def brusselator(cells: int) -> Problem:
    diffusion, place = 0.02 * (cells + 1) ** 2, np.arange(1, cells + 1) / (cells + 1)

    def rhs(t: Any, y: Any, b: Any) -> Any:
        u, v = y[0::2], y[1::2]
        reaction = u * u * v
        around_u, around_v = np.concatenate([[1.0], u, [1.0]]), np.concatenate([[3.0], v, [3.0]])
        du = 1 + reaction - (b + 1) * u + diffusion * (around_u[:-2] - 2 * u + around_u[2:])
        dv = b * u - reaction + diffusion * (around_v[:-2] - 2 * v + around_v[2:])
        return np.reshape(np.stack([du, dv], axis=1), (-1,))

    start = np.empty(2 * cells)
    start[0::2], start[1::2] = 1 + np.sin(2 * np.pi * place), 3.0
    parameters = 3 * (1 + 0.1 * np.sin(4 * np.pi * place))
    times = np.linspace(0, 10, 11)[1:]
    return Problem(f"P4_{cells}", rhs, parameters, start, times, np.ones(2 * cells), stiff=True)


def get(name: str) -> Problem:
    """The problem without its data."""
    kind, _, size = name.partition("_")
    return {"P1": lotka_volterra, "P2": robertson}[kind]() if not size else {"P3": chain, "P4": brusselator}[kind](int(size))


def load(directory: Path, name: str) -> Problem:
    """The problem with data and reference from `directory`, which are made where they are not there."""
    problem, file = get(name), directory / f"{name}.txt"
    if not file.exists():
        write(directory, problem)
    numbers = np.array(" ".join(file.read_text().splitlines()[1:]).split(), dtype=float)
    problem.data = numbers[-len(problem.times) * len(problem.y0) :].reshape(len(problem.times), -1)
    reference = directory / f"{name}.ref"
    if not reference.exists():
        method, tolerance = ("Rodas4", 1e-11) if problem.stiff else ("DOP853", 1e-13)
        value, gradient = problem.value_and_gradient(method, tolerance)()
        np.savetxt(reference, np.r_[value, gradient])
    problem.gradient = np.loadtxt(reference)[1:]
    return problem


def write(directory: Path, problem: Problem) -> None:
    """Noisy observations at parameters nearby, and all numbers of the problem as text."""
    noise = np.random.default_rng(1000)
    nearby = problem.p + (0.1 if problem.name == "P2" else 0.05 * problem.p) * noise.standard_normal(problem.p.shape)
    states = problem.states(nearby, problem.y0, "Rodas4" if problem.stiff else "DOP853", 1e-9)
    data = states + 0.05 * np.abs(states).max(axis=0) * noise.standard_normal(states.shape)
    head = f"{len(problem.y0)} {len(problem.p)} {int(problem.with_initial_state)} {len(problem.times)} 0"
    rows = [problem.p, problem.y0, problem.scale, problem.times, data.ravel()]
    lines = [" ".join(f"{x:.17g}" for x in row) for row in rows]
    (directory / f"{problem.name}.txt").write_text("\n".join([head, *lines]) + "\n\n")


def error_of(problem: Problem, gradient: Vector) -> float:
    """Of a gradient, relative, in the Euclidean norm."""
    return float(np.linalg.norm(gradient - problem.gradient) / np.linalg.norm(problem.gradient))
