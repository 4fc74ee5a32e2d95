"""Gradients through systems at rest: whether steps that have nothing to do still see how the state depends on parameters.

    PYTHONPATH=SITE python benchmarks/python/at_rest.py

prints a table of docs/performance_ode.md. Each system starts at its rest state, y0 a number. Derivatives of its states at two
times with respect to its parameters p follow S' = J S + f_p, S(0) = 0: S(t) = J^-1 (exp(J t) - 1) f_p. An entry is the largest
error of these derivatives beside the largest of them, of a solve from 0 to 50 with atol a thousandth of rtol.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.linalg

import agrad as ag

TOLERANCES = (1e-4, 1e-6, 1e-8)
TIMES = np.array([1.0, 50.0])
Slope = Callable[..., Any]


def inflow(t: Any, y: Any, p: Any) -> Any:
    return p[0] - y


def turnover(t: Any, y: Any, p: Any) -> Any:
    """A response that is made and lost, and one that follows it."""
    return [p[0] - p[1] * y[0], p[2] * (y[0] - y[1])]


def heat(t: Any, y: Any, p: Any) -> Any:
    """A rod in 20 pieces with a source in each half, its ends kept cold."""
    zero, source = np.zeros(1), np.concatenate([np.ones(10) * p[0], np.ones(10) * p[1]])
    return 4.0 * (np.concatenate([y[1:], zero]) - 2 * y + np.concatenate([zero, y[:-1]])) + source


def problems() -> Iterator[tuple[str, Slope, np.ndarray[Any, Any], np.ndarray[Any, Any]]]:
    """Name, right-hand side, parameters, and the state at rest."""
    yield "y' = s - y", inflow, np.array([2.0]), np.array([2.0])
    yield "turnover", turnover, np.array([6.0, 2.0, 0.1]), np.array([3.0, 3.0])
    sources = np.array([1.0, 2.0])
    matrix = ag.jacobian(lambda y: np.stack(list(heat(0.0, y, sources))))(np.zeros(20))
    yield "heat", heat, sources, -np.linalg.solve(matrix, np.asarray(heat(0.0, np.zeros(20), sources)))


def closed_form(slope: Slope, p: Any, y0: Any, t: float) -> np.ndarray[Any, Any]:
    """The derivatives of the states at t with respect to p, one row for each state."""
    J = ag.jacobian(lambda y: vector(slope(0.0, y, p)))(y0)  # noqa: N806
    by_p = ag.jacobian(lambda p: vector(slope(0.0, y0, p)))(p)
    return np.linalg.solve(J, (scipy.linalg.expm(J * t) - np.eye(y0.size)) @ by_p)


def vector(entries: Any) -> Any:
    return np.stack(list(entries)) if isinstance(entries, list) else entries


def by_ivp(method: str, sensitivities: str) -> Callable[..., Any]:
    def states(slope: Slope, p: Any, y0: Any, rtol: float) -> Any:
        options = {"sensitivities": sensitivities} if sensitivities else {}
        return ag.solve_ivp(slope, (0.0, 50.0), y0, method, TIMES, args=(p,), rtol=rtol, atol=1e-3 * rtol, **options).y

    return states


def by_dae(sensitivities: str) -> Callable[..., Any]:
    def states(slope: Slope, p: Any, y0: Any, rtol: float) -> Any:
        def residual(t: Any, y: Any, yp: Any, p: Any) -> Any:
            return yp - vector(slope(t, y, p))

        return ag.solve_dae(
            residual, (0.0, 50.0), y0, t_eval=TIMES, args=(p,), rtol=rtol, atol=1e-3 * rtol, sensitivities=sensitivities
        ).y

    return states


def by_rest(method: str) -> Callable[..., Any]:
    def states(slope: Slope, p: Any, y0: Any, rtol: float) -> Any:
        rest = ag.steady_state(slope, y0, args=(p,), rtol=rtol, atol=1e-3 * rtol, method=method).y
        return np.stack([rest, rest], axis=1)

    return states


WAYS: dict[str, Callable[..., Any]] = {
    "BDF, adjoint": by_ivp("BDF", "adjoint"),
    "BDF, forward": by_ivp("BDF", "forward"),
    "BDF, simultaneous": by_ivp("BDF", "simultaneous"),
    "Adams, adjoint": by_ivp("Adams", "adjoint"),
    "Adams, forward": by_ivp("Adams", "forward"),
    "solve_dae, adjoint": by_dae("adjoint"),
    "solve_dae, forward": by_dae("forward"),
    "steady_state": by_rest("auto"),
    "steady_state, integration": by_rest("integration"),
}


def error_of(way: str, slope: Slope, p: Any, y0: Any, rtol: float) -> float:
    """The largest error beside the largest derivative; of a steady state at infinity alone."""
    found = ag.jacrev(lambda p: WAYS[way](slope, p, y0, rtol))(p)
    times = [1e9, 1e9] if way.startswith("steady") else TIMES
    exact = np.stack([closed_form(slope, p, y0, t) for t in times], axis=1)
    return float(np.abs(found - exact).max() / np.abs(exact).max())


def main() -> None:
    names = [name for name, *_ in problems()]
    print("| way | " + " | ".join(f"{name}, {rtol:.0e}" for name in names for rtol in TOLERANCES) + " |")
    print("| --- |" + " --- |" * (len(names) * len(TOLERANCES)))
    for way in WAYS:
        errors = [error_of(way, slope, p, y0, rtol) for _, slope, p, y0 in problems() for rtol in TOLERANCES]
        print(f"| {way} | " + " | ".join(f"{error:.0e}" for error in errors) + " |")


if __name__ == "__main__":
    main()
