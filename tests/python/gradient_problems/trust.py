"""What agrad's gradient of a problem is by one method at one tolerance: its error, the solver's own estimate, and the cost."""

from __future__ import annotations

import time
import warnings
from typing import Any, NamedTuple

import numpy as np

import agrad as ag
from gradient_problems import HOPELESS, REFERENCES, Problem

__all__ = ["IMPLICIT", "METHODS", "TOLERANCES", "Measured", "is_expensive", "is_hopeless", "measured"]

METHODS = ["auto", "Tsit5", "RK45", "CKRK", "DOP853", "Rodas4", "Rodas5P"]
IMPLICIT = ("auto", "Rodas4", "Rodas5P")
TOLERANCES = [1e-4, 1e-6, 1e-8]


class Measured(NamedTuple):
    """A gradient beside the reference."""

    error: float
    """As :meth:`Problem.error` has it; infinite where the gradient is not finite or there is none."""
    estimate: float
    """What the solver says it is, nan where it says nothing."""
    warned: str
    """What the solver warns of, or the first line of its error, or nothing."""
    steps: int
    seconds: float

    def is_within(self, bound: float) -> bool:
        return self.error < bound

    def is_told(self) -> bool:
        """Whether the user is told of an error at least a third as large."""
        return bool(self.warned) or self.error / 3 <= self.estimate < np.inf


def is_hopeless(problem: Problem, method: str) -> bool:
    """Whether stability alone makes an explicit method take some ten thousands of steps or more."""
    return method not in IMPLICIT and REFERENCES[problem.name]["stiffness"] > HOPELESS


def is_expensive(problem: Problem, method: str, rtol: float) -> bool:
    """Whether a gradient takes long: many states and many steps of an explicit method, or tight tolerances."""
    if method not in IMPLICIT:
        return problem.n * REFERENCES[problem.name]["stiffness"] > 2e5
    return problem.n >= 100 and rtol < 1e-6


def measured(problem: Problem, method: str, rtol: float, **options: Any) -> Measured:
    """Take the gradient once."""
    results = []

    def solve(*args: Any, **more: Any) -> Any:
        results.append(ag.solve_ivp(*args, **more, **options))
        return results[-1]

    gradient = ag.grad(problem.loss(solve, method, rtol))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        start = time.perf_counter()
        try:
            found = gradient(problem.at)
        except ag.SolverError as error:
            return Measured(np.inf, np.nan, str(error).partition("\n")[0], 0, time.perf_counter() - start)
        seconds = time.perf_counter() - start
    error = problem.error(found, REFERENCES[problem.name]["gradient"]) if np.all(np.isfinite(found)) else np.inf
    stats = results[-1].stats
    # NumPy's warnings of an overflow are not the solver's.
    warned = next((text for text in (str(each.message) for each in caught) if text.startswith("solve_ivp")), "")
    return Measured(error, float(stats.get("gradient_error", np.nan)), warned, int(stats.get("steps", 0)), seconds)
