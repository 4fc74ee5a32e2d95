"""Where the probe is dear: whether the steps of the states would do instead, on random linear systems and known problems.

    PYTHONPATH=SITE python benchmarks/python/dear_probe.py

prints a table of docs/performance_ode.md in Markdown. Each row has a set of systems by one method at tolerances of 1e-4 and
1e-6: in how many gradients the probe takes more than 8 times the steps of the states and more than 300, in how many of these
the gradient by the steps of the states is wrong by more than 100 times the tolerance, and in how many of the wrong ones the
reverse pass does not warn. The truth is an exponential of the system's matrix, or the reference of the problem.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import block_diag, expm

import agrad as ag

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "python"))
from gradient_problems import PROBLEMS
from gradient_problems.trust import is_hopeless, measured

METHODS = ["Tsit5", "Rodas4", "Rodas5P"]
TOLERANCES = [1e-4, 1e-6]
KINDS = ["decaying", "spiralling", "undamped", "growing"]
COUNT = 25
MOST = 60_000


class Run(NamedTuple):
    """A gradient by the states' steps: whether the probe is dear, and whether the gradient is wrong or warned of."""

    is_dear: bool
    is_wrong: bool
    is_told: bool


def block(kind: str, rate: float, end: float, rng: np.random.Generator) -> Any:
    """A mode of the given rate, as a matrix of one or two rows."""
    if kind == "growing":
        return np.array([[rng.uniform(3, 15) / end]])
    damping = {"decaying": None, "spiralling": rate * rng.uniform(0.05, 1), "undamped": 0.0}[kind]
    return np.array([[-rate]]) if damping is None else np.array([[-damping, rate], [-rate, -damping]])


def system(kind: str, moves: bool, top: float, rng: np.random.Generator) -> tuple[Any, Any, float]:
    """The matrix of y' = A (y - p), the initial state for p = 1, and the end. A slow spiral moves; or all rests."""
    while True:
        end = 10 ** rng.uniform(0, 2)
        slow = 2 * np.pi * rng.uniform(2, 6) / end
        blocks = [np.array([[-0.1 * slow, slow], [-slow, -0.1 * slow]])]
        while sum(map(len, blocks)) < 4:
            blocks.append(block(kind, slow * 10 ** rng.uniform(0.5, top), end, rng))
        modes = block_diag(*blocks)
        n = len(modes)
        basis = np.eye(n) + 0.4 * rng.normal(size=(n, n))
        if np.linalg.cond(basis) < 50:
            moved = basis[:, :2] @ rng.normal(size=2) if moves else np.zeros(n)
            return basis @ modes @ np.linalg.inv(basis), np.ones(n) + moved, end


def gradient(matrix: Any, y0: Any, end: float, weights: Any, **options: Any) -> tuple[Any, int, bool]:
    """The gradient with respect to (y0, p), the number of steps, and whether agrad warns of the gradient or raises."""
    n, results = len(y0), []

    def loss(x: Any) -> Any:
        slope = lambda t, y, p: matrix @ (y - p)  # noqa: E731
        results.append(ag.solve_ivp(slope, (0.0, end), x[:n], args=(x[n:],), max_num_steps=MOST, **options))
        return np.sum(weights * results[-1].y[:, -1])

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = ag.grad(loss)(np.concatenate([y0, np.ones(n)]))
        except ag.SolverError:
            return np.full(2 * n, np.nan), MOST, True
    return found, results[-1].nst, any("estimated relative error" in str(each.message) for each in caught)


def is_dear(with_probe: int, by_states: int) -> bool:
    return with_probe > 8 * by_states and with_probe > 300


def random_runs(kind: str, moves: bool, method: str) -> Iterator[Run]:
    rng = np.random.default_rng(11)
    for _ in range(COUNT):
        matrix, y0, end = system(kind, moves, 1.3 if method == "Tsit5" else 2.5, rng)
        weights = rng.normal(size=len(y0))
        power = expm(matrix * end)
        true = np.concatenate([power.T @ weights, weights - power.T @ weights])
        for rtol in TOLERANCES:
            options = {"method": method, "rtol": rtol, "atol": rtol / 100}
            _, most, _ = gradient(matrix, y0, end, weights, **options)
            found, least, is_told = gradient(matrix, y0, end, weights, error_control="states", **options)
            error = np.linalg.norm(found - true) / np.linalg.norm(true)
            yield Run(is_dear(most, least), not error <= 100 * rtol, is_told)


def known_runs(method: str) -> Iterator[Run]:
    for problem in PROBLEMS.values():
        if problem.n > 100 or is_hopeless(problem, method):
            continue
        for rtol in TOLERANCES:
            most = measured(problem, method, rtol, max_num_steps=MOST)
            least = measured(problem, method, rtol, error_control="states")
            wrong = not least.is_within(problem.allowed * rtol)
            yield Run(is_dear(most.steps, least.steps), wrong, bool(least.warned))


def line(name: str, method: str, runs: Iterator[Run]) -> str:
    all_of_them = list(runs)
    dear = [run for run in all_of_them if run.is_dear]
    wrong = [run for run in dear if run.is_wrong]
    cells = [name, method, len(all_of_them), len(dear), len(wrong), sum(not run.is_told for run in wrong)]
    return "| " + " | ".join(map(str, cells)) + " |"


def main() -> None:
    head = ["systems", "method", "gradients", "probe dear", "there wrong by the states' steps", "of these not warned of"]
    print("| " + " | ".join(head) + " |\n" + "| --- " * len(head) + "|")
    sets: list[tuple[str, Callable[[str], Iterator[Run]]]] = [("the problems of the first table", known_runs)]
    for moves in (False, True):
        for kind in KINDS:
            name = f"{kind}, a slow mode moves" if moves else f"{kind}, at rest"
            sets.append((name, lambda method, kind=kind, moves=moves: random_runs(kind, moves, method)))  # type: ignore[misc]
    np.seterr(all="ignore")
    for name, runs in sets:
        for method in METHODS:
            print(line(name, method, runs(method)), flush=True)


if __name__ == "__main__":
    main()
