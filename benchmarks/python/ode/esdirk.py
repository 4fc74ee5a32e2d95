"""Whether an ESDIRK method would need fewer steps than Rodas4.

    python benchmarks/python/ode/esdirk.py      takes agrad and diffrax, and a minute

Accepted steps and the error of the states (root mean square of relative ones) at tolerances from 1e-3 to 1e-9, and the steps at
an error of 1e-5 between two of them. Kvaerno5 is an ESDIRK method of order 5, Kvaerno4 one of order 4, both by diffrax.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
import problems

import agrad as ag

jax.config.update("jax_enable_x64", True)
TOLERANCES = [10.0**-k for k in range(3, 10)]
TARGET = 1e-5


def van_der_pol() -> problems.Problem:
    def rhs(t: Any, y: Any, p: Any) -> Any:
        return [y[1], p[0] * (1 - y[0] ** 2) * y[1] - y[0]]

    return problems.Problem(
        "van der Pol", rhs, np.array([100.0]), np.array([2.0, 0.0]), np.linspace(0, 200, 21)[1:], np.ones(2), stiff=True
    )


def in_jax(problem: problems.Problem) -> Callable[[Any, Any, Any], Any]:
    """The right-hand side with JAX's functions in the place of NumPy's."""

    def robertson(t: Any, y: Any, p: Any) -> Any:
        k = jnp.exp(p)
        a, b, c = k[0] * y[0], k[1] * y[1] * y[2], k[2] * y[1] ** 2
        return jnp.array([b - a, a - b - c, c])

    def brusselator(t: Any, y: Any, p: Any) -> Any:
        u, v = y[0::2], y[1::2]
        diffusion, one = 0.02 * (len(u) + 1) ** 2, jnp.ones(1)
        wide_u, wide_v = jnp.concatenate([one, u, one]), jnp.concatenate([3 * one, v, 3 * one])
        du = 1 + u * u * v - (p + 1) * u + diffusion * (wide_u[:-2] - 2 * u + wide_u[2:])
        dv = p * u - u * u * v + diffusion * (wide_v[:-2] - 2 * v + wide_v[2:])
        return jnp.stack([du, dv], axis=1).reshape(-1)

    if problem.name == "P2":
        return robertson
    if problem.name.startswith("P4"):
        return brusselator
    return lambda t, y, p: jnp.array(problem.rhs(t, y, p))


def by_rodas4(problem: problems.Problem, tolerance: float) -> tuple[int, Any]:
    end = problem.times[-1]
    s = ag.solve_ivp(
        problem.rhs, (0.0, end), problem.y0, "Rodas4", problem.times, args=(problem.p,), rtol=tolerance,
        atol=problem.absolute_tolerance(tolerance), max_num_steps=10**7,
    )  # fmt: skip
    return s.nst, s.y.T


def by_diffrax(problem: problems.Problem, method: Any, tolerance: float) -> tuple[int, Any]:
    control = diffrax.PIDController(rtol=tolerance, atol=problem.absolute_tolerance(tolerance))
    s = diffrax.diffeqsolve(
        diffrax.ODETerm(in_jax(problem)), method, 0.0, problem.times[-1], None, jnp.array(problem.y0), jnp.array(problem.p),
        saveat=diffrax.SaveAt(ts=jnp.array(problem.times)), stepsize_controller=control, max_steps=20000, throw=False,
    )  # fmt: skip
    return int(s.stats["num_accepted_steps"]), np.asarray(s.ys)


def steps_at_target(points: list[tuple[int, float]]) -> float:
    """Between the first two tolerances that enclose the target, or those of the loosest one that is better already."""
    for (steps, error), (more, less) in itertools.pairwise(points):
        if less <= TARGET < error < np.inf:
            part = np.log(error / TARGET) / np.log(error / less)
            return float(np.exp((1 - part) * np.log(steps) + part * np.log(more)))
    return next((float(steps) for steps, error in points if error <= TARGET), np.nan)


def main() -> None:
    methods: dict[str, Callable[[problems.Problem, float], tuple[int, Any]]] = {
        "Rodas4": by_rodas4,
        "Kvaerno4": lambda problem, tolerance: by_diffrax(problem, diffrax.Kvaerno4(), tolerance),
        "Kvaerno5": lambda problem, tolerance: by_diffrax(problem, diffrax.Kvaerno5(), tolerance),
    }
    print("| steps at an error of 1e-5 |", " | ".join(methods), "|\n| --- |", "--- | " * len(methods))
    for problem in (problems.get("P2"), problems.get("P4_32"), van_der_pol()):
        exact = by_rodas4(problem, 1e-12)[1]
        found = []
        for solve in methods.values():
            points = [solve(problem, tolerance) for tolerance in TOLERANCES]
            errors = [(n, float(np.sqrt(np.mean((y / exact - 1) ** 2)))) for n, y in points]
            found.append(steps_at_target(errors))
        print("|", problem.name, "|", " | ".join(f"{steps:.0f}" for steps in found), "|", flush=True)


if __name__ == "__main__":
    main()
