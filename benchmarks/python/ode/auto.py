"""How long the default method takes beside the best of all methods, on stiff problems and on others.

    python benchmarks/python/ode/auto.py [--gradient] [PROBLEM ...]

For each problem and each of rtol 1e-4, 1e-6 and 1e-8, atol a hundredth of that times the size of the states: the milliseconds
of a compiled value, or of a value and a gradient, by `auto` and by the other methods, each with the error of the states in
units of rtol (root mean square at ten times or at the problem's own, against Rodas5P at 1e-11). As exact counts a method whose
error is below 10 times that of `auto`, or below rtol.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import agrad as ag

sys.path.insert(0, str(Path(__file__).parents[3] / "tests" / "python"))
from gradient_problems import PROBLEMS, Problem
from gradient_problems.problem import spread

TOLERANCES = (1e-4, 1e-6, 1e-8)
EXPLICIT = ("Tsit5", "DOP853", "CKRK")
IMPLICIT = ("Rodas4", "Rodas5P", "BDF")
SLOWEST = 2.0  # seconds: a method that takes longer at one tolerance is left out at the next

#: Which species bind to which enzyme, and what they become: a cascade of three kinases, 22 states (Huang and Ferrell 1996).
CASCADE = [
    ("kkk", "e1", "kkk*"), ("kkk*", "e2", "kkk"), ("kk", "kkk*", "kk-p"), ("kk-p", "kk'ase", "kk"),
    ("kk-p", "kkk*", "kk-pp"), ("kk-pp", "kk'ase", "kk-p"), ("k", "kk-pp", "k-p"), ("k-p", "k'ase", "k"),
    ("k-p", "kk-pp", "k-pp"), ("k-pp", "k'ase", "k-p"),
]  # fmt: skip
SPECIES = ["kkk", "kkk*", "kk", "kk-p", "kk-pp", "k", "k-p", "k-pp", "e1", "e2", "kk'ase", "k'ase"]
TOTALS = {"kkk": 0.003, "kk": 1.2, "k": 1.2, "e1": 3e-5, "e2": 3e-4, "kk'ase": 3e-4, "k'ase": 0.12}


def cascade(t: Any, y: Any, p: Any) -> Any:
    """Each of ten reactions binds a substrate to its enzyme, lets it go, or makes a product of it."""
    slopes: list[Any] = [0.0] * 22
    for r, (substrate, enzyme, product) in enumerate(CASCADE):
        s, e, made, bound = SPECIES.index(substrate), SPECIES.index(enzyme), SPECIES.index(product), 12 + r
        binding, release, catalysis = p[0] * y[s] * y[e], p[1] * y[bound], p[2] * y[bound]
        slopes[s] = slopes[s] - binding + release
        slopes[e] = slopes[e] - binding + release + catalysis
        slopes[bound] = slopes[bound] + binding - release - catalysis
        slopes[made] = slopes[made] + catalysis
    return slopes


MAPK = Problem(
    "MAPK",
    cascade,
    [TOTALS.get(name, 0.0) for name in SPECIES] + [0.0] * 10,
    [1000.0, 150.0, 150.0],
    [300.0],
    spread(22),
    scale=0.1,
)
STIFF = ["HIRES", "Oregonator", "Robertson", "van der Pol", "E5", "POLLU", "MAPK"]
OTHERS = ["Lotka and Volterra", "Lorenz", "pendulum upright", "neutrophils at their baseline", "transit compartments at rest"]


def compiled(problem: Problem, method: str, rtol: float, gradient: bool) -> Callable[[], Any]:
    loss = problem.loss(ag.solve_ivp, method, rtol, max_num_steps=10**6)
    call = ag.compile(ag.value_and_grad(loss) if gradient else loss)
    return lambda: call(problem.at)


def milliseconds(call: Callable[[], Any]) -> float:
    """The quickest of several calls."""
    call()
    quickest, count, begin = np.inf, 0, time.perf_counter()
    while count < 3 or (time.perf_counter() - begin < 0.3 and count < 1000):
        start = time.perf_counter()
        call()
        quickest, count = min(quickest, time.perf_counter() - start), count + 1
        if quickest > SLOWEST:
            break
    return quickest * 1e3


def states(problem: Problem, method: str, rtol: float) -> Any:
    y0, p = problem.parts(problem.at)
    times = problem.times if len(problem.times) > 1 else np.linspace(problem.end / 10, problem.end, 10)
    options = problem.tolerances(rtol) | {"max_num_steps": 10**6}
    return ag.solve_ivp(problem.fun, (0.0, problem.end), y0, method, times, args=(p,), **options).y


def row(problem: Problem, rtol: float, gradient: bool, left_out: set[str]) -> str:
    taken, errors = {}, {}
    exact = states(problem, "Rodas5P", 1e-11)
    sizes = np.abs(exact) + problem.scales[:, None]
    for method in ("auto", *EXPLICIT, *IMPLICIT):
        if method in left_out:
            continue
        try:
            taken[method] = milliseconds(compiled(problem, method, rtol, gradient))
            errors[method] = float(np.sqrt(np.mean(((states(problem, method, rtol) - exact) / sizes) ** 2))) / rtol
        except ag.SolverError:
            left_out.add(method)
        if taken.get(method, 0) > SLOWEST * 1e3 or taken.get(method, 0) > 30 * taken["auto"]:
            left_out.add(method)
    cells = [f"{taken[m]:.3g} ({errors[m]:.1g})" if m in errors else "" for m in ("auto", *EXPLICIT, *IMPLICIT)]
    automatic = taken.pop("auto", np.nan)
    best = min(taken, key=taken.__getitem__)
    as_exact = [method for method in taken if errors.get(method, np.inf) <= max(10 * errors["auto"], 1)]
    best_exact = min(as_exact, key=taken.__getitem__)
    ratios = [f"{automatic / taken[m]:.2f} ({m})" for m in (best, best_exact)]
    return "| " + " | ".join([problem.name, f"{rtol:g}", *cells, *ratios]) + " |"


def main(arguments: list[str]) -> None:
    gradient = "--gradient" in arguments
    names = [name for name in arguments if not name.startswith("--")] or STIFF + OTHERS
    head = ["problem", "rtol", "auto", *EXPLICIT, *IMPLICIT, "auto / best", "auto / best as exact"]
    print("| " + " | ".join(head) + " |\n|" + " --- |" * len(head))
    for name in names:
        problem = MAPK if name == "MAPK" else PROBLEMS[name]
        left_out = set(EXPLICIT) if name in ("van der Pol", "Robertson", "E5", "Oregonator", "POLLU") else set()
        for rtol in TOLERANCES:
            print(row(problem, rtol, gradient, left_out), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
