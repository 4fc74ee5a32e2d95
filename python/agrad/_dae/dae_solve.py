"""Solves posed differential-algebraic problems: at the output times, to a failure, and as a function of time."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agrad._core import Array, DaeOptions, SolverError, dae_operation
from agrad._ode.dense import check_times
from agrad._ode.problem import PosedProblem, solver_name
from agrad._ode.progress import Progress, reporter_of
from agrad._ode.record import RecordedFunction, joined
from agrad._ode.result import WithEvents
from agrad._ode.statistics import Statistics
from agrad._ode.times import Times
from agrad._record.arguments import real_values
from agrad._record.printed import Printed
from agrad._record.structure import as_one

__all__ = ["DaeProblem", "DaeResult", "DaeSolution", "DaeSolve"]


@dataclass(repr=False)
class DaeResult(WithEvents, Printed):
    """The result of :func:`solve_dae`.

    Attributes
    ----------
    t : numpy.ndarray, shape (k,)
        Output times.
    y : numpy.ndarray or Array, shape (n, k)
        The states at the output times, a column each; differentiable.
    yp : numpy.ndarray or Array, shape (n, k)
        The states' derivatives with respect to time; differentiable for differential states. By the one-step methods nan for
        algebraic states, and for states whose derivatives occur in combinations only.
    success : bool
        True; a solve that does not succeed raises, or with `return_partial` has False.
    status : int
        0: the end of the interval was reached; 1: a terminal event ended the solution; -1: the solver stopped.
    message : str
        The status in words.
    stats : mapping
        The cost of the passes up to now, as for :func:`solve_ivp`; evaluations of the residual are "rhs_evaluations".
    sol : callable or None
        With `dense_output` the states as a function of time: ``sol(t)`` of shape (n,) for a number, (n, k) for k times.
    t_events, y_events : lists of arrays, or None
        As for :func:`solve_ivp`.
    """

    t: NDArray[np.float64]
    y: NDArray[np.float64]
    yp: NDArray[np.float64]
    success: bool = True
    status: int = 0
    message: str = "The solver successfully reached the end of the integration interval."
    stats: Mapping[str, Any] = field(default_factory=dict)
    sol: Callable[[Any], NDArray[np.float64]] | None = None
    _hits: Callable[[], tuple[list[Any], list[Any]]] | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True)
class DaeProblem(PosedProblem):
    """The checked arguments of a differential-algebraic problem; time increases."""

    times: Times
    yp0: Any  # a vector, recorded or not
    stops: Any
    options: DaeOptions
    progress: Progress = False

    @property
    def solver(self) -> str:
        """The solver's name in C++."""
        return solver_name(self.function, self.times)

    def recorded(self) -> RecordedFunction:
        """Returns the recorded residual."""
        slopes = real_values(self.function, "yp0", self.yp0)
        return RecordedFunction(self.function, self.f, self.times.t0, [self.states, slopes], self.args, result="residual")


class DaeSolve:
    """The solves of one problem, whose residual is recorded once."""

    def __init__(self, problem: DaeProblem, residual: RecordedFunction) -> None:
        self.problem = problem
        self._residual = residual

    def result(self, times: Times, progress: Progress = False) -> DaeResult:
        """Returns the solution at these output times, recorded if a part of the problem is recorded."""
        problem, n, count = self.problem, self.problem.states.size, times.values.size
        given = problem.y0, problem.yp0, np.reshape(times.start, (1,)), times.outputs, problem.stops
        required = [isinstance(x, Array) for x in given]
        reporter = reporter_of(problem.function, progress, times.t0, float(times.values[-1]), sign=times.sign)
        operation = dae_operation(
            problem.solver, self._residual.program, count, problem.stops.size, problem.options, required, reporter.host
        )
        recording, argument = joined([*given, *(np.ravel(x) for x in self._residual.parameters)], [self._residual])
        solve: Any = operation.solve if recording is None else operation.record
        runs_again = False
        try:
            solution = solve(argument, (count, 2, n))
            runs_again = recording is not None
        finally:
            if not runs_again:
                reporter.forget()
        t, y, yp = times.values.copy(), np.transpose(solution[:, 0]), np.transpose(solution[:, 1])
        if times.is_backwards:
            t, yp = 0.0 - t, 0.0 - yp
        return DaeResult(t, y, yp, stats=Statistics(operation.statistics))

    def partial_result(self) -> DaeResult:
        """Returns the solution; where the solver fails, the part before the failure, from a second solve."""
        times = self.problem.times
        try:
            return self.result(times, self.problem.progress)
        except SolverError as error:
            stop = error
        for part in times.before(times.sign * stop.t):
            try:
                result = self.result(part)
                break
            except SolverError:
                continue
        else:
            result = self._at_start()
        result.success, result.status, result.message = False, -1, str(stop)
        return result

    def _at_start(self) -> DaeResult:
        """Returns the outputs at the initial time, maybe none. Raises where there is no consistent initial state."""
        times = self.problem.times
        count = int(np.count_nonzero(times.values == times.t0))
        result = self.result(times.until(times.t0, count) if count else times.plain_at(np.array([times.t0])))
        result.t, result.y, result.yp = result.t[:count], result.y[:, :count], result.yp[:, :count]
        return result


class DaeSolution:
    """The states at t: shape (n,) for a number, (n, k) for k times in any order; each call solves with t as output times."""

    def __init__(self, solve: DaeSolve, end: float) -> None:
        """Takes the last time, of s = -t where time decreases."""
        self._solve, self._span, self._sign = solve, (solve.problem.times.t0, end), solve.problem.times.sign

    def __call__(self, t: Any) -> Any:
        t = as_one(t)
        if self._sign < 0:
            t = 0.0 - (t if isinstance(t, Array) else real_values("sol", "t", t))
        requested = real_values("sol", "t", t)
        check_times(requested, self._span, self._sign)
        if requested.size == 0:
            return np.zeros((self._solve.problem.states.size, 0))
        values, first, places = np.unique(np.ravel(requested), return_index=True, return_inverse=True)
        if isinstance(t, Array) and values.size == requested.size:
            outputs: Any = np.reshape(t, (-1,))[first]
        elif isinstance(t, Array):
            raise ValueError("sol: t has equal recorded times, but must have different ones; ask for each of them alone")
        else:
            outputs = values
        y = self._solve.result(self._solve.problem.times.at(outputs, values)).y[:, places]
        return y if requested.ndim else y[:, 0]

    def __reduce__(self) -> tuple[Any, ...]:
        raise pickle.PicklingError(
            "sol: a solution of solve_dae is called, but must not be pickled, because each call solves; pickle values of sol, "
            "or set result.sol = None"
        )
