"""Solves posed differential-algebraic problems by one-step methods, with doses, events and switches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from agrad._core import DaeOptions, dae_start
from agrad._dae.dae_solve import DaeProblem, DaeResult
from agrad._ode.algebra import Algebra
from agrad._ode.backwards import turned_interruptions, turned_result
from agrad._ode.dense import solution_of
from agrad._ode.events import NO_INTERRUPTIONS, Interruptions
from agrad._ode.implicit import ImplicitSystem
from agrad._ode.initial_value import Solve, solve_partially
from agrad._ode.method_table import METHODS
from agrad._ode.methods import check_choices, method_of
from agrad._ode.options import StepOptions
from agrad._ode.problem import InitialValueProblem, PosedProblem
from agrad._ode.record import RecordedFunction
from agrad._ode.result import OdeResult
from agrad._record.arguments import Values, real_values

__all__ = ["DaeSteps"]


@dataclass(frozen=True)
class DaeSteps:
    """A problem, the recording of its residual, and the choices of a one-step method."""

    problem: DaeProblem
    residual: RecordedFunction
    method: str
    steps: StepOptions
    interruptions: Interruptions | None
    linear_solver: str
    sensitivities: str
    switches: str

    def result(self, *, is_partial: bool, is_dense: bool) -> DaeResult:
        """Returns the solution; see `solve_dae` for its options return_partial and dense_output."""
        problem, entry = self.problem, METHODS[self.method]
        algebra = Algebra(self.linear_solver)
        check_choices(problem.function, entry, algebra, self.sensitivities, "auto", self.switches)
        system, y, yp = self._start(problem.options)
        interruptions = self.interruptions
        if problem.times.is_backwards:
            interruptions = turned_interruptions(problem.function, interruptions)
        posed = self._posed(system, y, yp)
        steps = self.steps._replace(
            absolute_tolerance=system.tolerances(self.steps.absolute_tolerance),
            algebra=algebra.to_core(problem.function, system.size),
            mass=system.mass,
        )
        whole = InitialValueProblem.of(
            posed,
            system,
            problem.times,
            method_of(problem.function, entry, steps),
            interruptions=system.interruptions(interruptions or NO_INTERRUPTIONS),
            progress=problem.progress,
            method_name=entry.name,
            holds_switches=self.switches == "auto",
        )
        found = solve_partially(whole) if is_partial else Solve(whole).result()
        if is_dense:
            found.sol = solution_of(whole, found)
        return _result_of(system, turned_result(found) if problem.times.is_backwards else found, problem.times.sign)

    def _start(self, options: DaeOptions) -> tuple[ImplicitSystem, Values, Values]:
        """Returns the system with its derivatives as states, and consistent values of y and its derivatives."""
        problem = self.problem
        parameters = [real_values("", "args", x) for x in self.residual.parameters]
        yp0 = real_values(problem.function, "yp0", problem.yp0)
        q, y, yp = dae_start(
            problem.solver,
            self.residual.program,
            np.concatenate([np.zeros(0), *map(np.ravel, parameters)]),
            problem.times.t0,
            problem.states,
            yp0,
            options,
        )
        system = ImplicitSystem(problem.function, problem.f, q)
        if not system.is_choice:
            self._check_fixed(q, [np.asarray(problem.times.t0), y, yp, *parameters])
        return system, y, yp

    def _check_fixed(self, q: Values, inputs: list[Values]) -> None:
        """Raises where the combinations in which derivatives occur are others at other times, states or parameters."""
        n = self.problem.states.size
        hidden = np.eye(n) - q @ q.T
        for part in (0.0, 1e-3, -0.1):
            by_all = self._jacobian([x * (1 + part * np.cos(1.0 + np.reshape(np.arange(x.size), x.shape))) for x in inputs])
            by_slope = by_all[:, 1 + n : 1 + 2 * n]
            if not np.isfinite(by_slope).all() or (np.abs(by_slope @ hidden) <= 1e-10 * np.abs(by_slope).sum()).all():
                continue
            hint = "make each quantity whose derivative occurs a state"
            raise ValueError(
                f"{self.problem.function}: method is {self.method!r}, but must be 'IDA' where derivatives occur in "
                f"combinations that change; {hint}"
            )

    def _jacobian(self, inputs: list[Values]) -> Any:
        """Returns the derivatives of the residual by time, states, derivatives and parameters."""
        found = self.residual.program.jacobian(inputs)
        assert found is not None, "a residual always gives numbers"
        return found[1]

    def _posed(self, system: ImplicitSystem, y: Values, yp: Values) -> PosedProblem:
        problem = self.problem
        states = system.start(problem.states, problem.states, y, yp)
        y0 = system.start(problem.y0, problem.states, y, yp)
        return PosedProblem(problem.function, problem.f, y0, states, problem.args)


def _result_of(system: ImplicitSystem, found: OdeResult, sign: float) -> DaeResult:
    slopes = 0.0 + sign * system.slopes(found.y, np.nan)
    found = system.shortened(found)
    result = DaeResult(found.t, found.y, slopes, found.success, found.status, found.message, found.stats, found.sol)
    result._hits = found._hits
    return result
