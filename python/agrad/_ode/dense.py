"""Computes dense output: a polynomial for each step, through states of a second solve.

Within a step a solver's outputs are values of the method's interpolant, a polynomial. As many output times in a step as the
polynomial has coefficients determine the polynomial; where these states are recorded values, so is the polynomial, with the
derivatives of the solve. The times lie inside of the steps, so no state just before a jump (a dose, a reset) is needed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from agrad._core import Array, Comparison, DomainError, ShapeError, StepLog
from agrad._ode.initial_value import Solve, record_solve
from agrad._ode.method_table import MULTISTEP
from agrad._ode.problem import InitialValueProblem
from agrad._ode.result import OdeResult
from agrad._record.arguments import real_values, vector
from agrad._record.structure import as_one
from agrad._record.trees import flatten

__all__ = ["Solution", "check_times", "solution_of"]

Times = np.ndarray[Any, np.dtype[np.float64]]


class _Pieces(NamedTuple):
    """The polynomials of a solution, an entry for each step."""

    begins: Times
    sizes: Times
    weights: Times  # the row of Chebyshev values at a point times this matrix holds the weights of the states
    states: Any  # shape (steps, times in a step, n), recorded where the solution is recorded
    last: Any  # the state at the end; None where an event ended the solution


def check_times(requested: Times, span: tuple[float, float], sign: float = 1.0) -> None:
    """Raises unless the requested times, `sign` times the user's times, are a number or a vector within the span."""
    if requested.ndim > 1:
        raise ShapeError(f"sol: t is of shape {requested.shape}, but must be a number or a vector of times")
    t0, end = span
    outside = np.flatnonzero(~((t0 <= requested) & (requested <= end)))
    if outside.size:
        place = f"t[{outside[0]}]" if requested.ndim else "t"
        own = [0.0 + sign * each for each in (np.ravel(requested)[outside[0]].item(), t0, end)]
        raise DomainError(f"sol: {place} is {own[0]}, but must be within t_span = {(own[1], own[2])}")


class Solution:
    """The states at t: shape (n,) for a number, (n, k) for k times in any order.

    At the first call a solve without derivatives finds the steps, and a second solve computes states within each step. A
    compiled function may run with other values, and take other steps: there each call solves with t as output times. So does
    each call of a recorded solution of BDF and Adams, whose steps do not depend on derivatives: within a long step of a resting
    state, derivatives need not be polynomials.
    """

    def __init__(self, problem: InitialValueProblem, y: Any) -> None:
        """Copies the problem, so that later changes of its arrays do not count; y are the states at the output times."""
        start, end, y0, args = _copied((problem.times.start, problem.times.end, problem.y0, problem.args))
        times = replace(problem.times, start=start, end=end)
        self._problem: InitialValueProblem | None = replace(problem, y0=y0, args=args, times=times, progress=False)
        self._start = y0
        self._starts_with_jump = problem.interruptions is not None
        self._sign, self._span = times.sign, (times.t0, times.last)
        self._size = int(y.shape[0])
        self._varies = _varies(y) or (isinstance(y, Array) and problem.method_name in MULTISTEP)
        self._pieces: _Pieces | None = None

    def __call__(self, t: Any) -> Any:
        t = as_one(t)
        if self._sign < 0:
            t = 0.0 - (t if isinstance(t, Array) else real_values("sol", "t", t))
        requested = real_values("sol", "t", t)
        check_times(requested, self._span, self._sign)
        if requested.size == 0:
            return np.zeros((self._size, 0))
        y = self._at(np.reshape(t, (-1,)) if isinstance(t, Array) else t, np.ravel(requested))
        return y if requested.ndim else y[:, 0]

    def __getstate__(self) -> dict[str, Any]:
        """Returns the attributes for a pickle: the polynomials without the problem, whose functions may not be picklable."""
        t0, end = self._span
        if not self._varies and (t0 == end or self._found() is not None):
            return self.__dict__ | {"_problem": None}
        return self.__dict__

    def _at(self, t: Any, requested: Times) -> Any:
        """Returns the states, shape (n, k); `requested` are the values of t."""
        t0, end = self._span
        if t0 == end:  # the solver did not leave t0
            return np.reshape(self._start, (-1, 1))[:, np.zeros(requested.size, int)]
        pieces = None if self._varies or _varies(t) else self._found()
        return self._solved(t, requested) if pieces is None else self._assemble(pieces, t, requested)

    def _solved(self, t: Any, requested: Times) -> Any:
        """Returns the states by a solve with these output times."""
        if self._problem is None:
            raise TypeError("sol: t is recorded in a function that is compiled, but must be plain after pickling")
        order = np.argsort(requested, kind="stable")
        values = requested[order]
        if isinstance(t, Array) and t.recording.on_comparison == Comparison.refuses:
            t, values = self._after_start(t), np.maximum(values, self._first)
        times = self._problem.times.at(t[order] if isinstance(t, Array) else values, values)
        result = Solve(replace(self._problem, times=times)).result()
        if len(result.t) < requested.size:
            raise self._too_late(requested.max())
        return result.y[:, np.argsort(order)]

    @property
    def _first(self) -> float:
        """The first time, by rounding, at which a solve has an output that is not its initial state."""
        t0, end = self._span
        return t0 + 8 * float(np.spacing(max(abs(t0), abs(end))))

    def _after_start(self, t: Array) -> Any:
        """Returns times that are after the start in every run, with the derivatives of t.

        A right-hand side is recorded at its own start, and where it needs this solution late by a constant, that is the start
        of this solution, too. Which outputs are initial states must not depend on a run's times.
        """
        t0, first = self._span[0], self._first
        return np.where(t < first, t + (first - t0), t)

    def _too_late(self, t: float) -> DomainError:
        hint = "but must not be after the terminal event that ended the solution"
        return DomainError(f"sol: t is {0.0 + self._sign * t}, {hint}")

    def _found(self) -> _Pieces | None:
        """Returns the polynomials, which the first call computes; None where the steps are not known."""
        if self._pieces is None and self._problem is not None and self._span[0] < self._span[1]:
            self._pieces = _pieces_of(self._problem)
            self._varies |= self._pieces is None
        return self._pieces

    def _assemble(self, pieces: _Pieces, t: Any, requested: Times) -> Any:
        if requested.max() > pieces.begins[-1] + pieces.sizes[-1] and pieces.last is None:
            raise self._too_late(requested.max())
        at = np.maximum(np.searchsorted(pieces.begins, requested, side="right") - 1, 0)
        states, count = pieces.states[at], pieces.weights.shape[0]

        def combined(of_points: Any) -> Any:
            return np.einsum("kj,kjn->nk", of_points @ pieces.weights, states)

        points = 2 * (requested - pieces.begins[at]) / pieces.sizes[at] - 1
        y = self._with_ends(combined(_chebyshev(points, count)), pieces, requested)
        if not isinstance(t, Array):
            return y
        moves = t - requested  # zeros with the derivatives of t
        moved = combined(_chebyshev(points + moves * (2 / pieces.sizes[at]), count))
        problem = self._problem
        if problem is None or problem.interruptions is not None:
            return moved
        # The slope is more accurate than the polynomial's derivative, which is an order less accurate than the states.
        slopes = [vector("sol", "the result of fun", problem.slope(requested[k], y[:, k])) for k in range(requested.size)]
        crude = combined(_chebyshev_slopes(points, count) * (2 / pieces.sizes[at])[:, None])
        return moved + moves * (np.stack(slopes, axis=1) - crude)

    def _with_ends(self, y: Any, pieces: _Pieces, requested: Times) -> Any:
        """Returns y with the known states at the two ends, which the polynomials have with rounding or before a jump."""
        t0, end = self._span
        for time, state in ((end, pieces.last), (t0, None if self._starts_with_jump else self._start)):
            is_there = requested == time
            if state is not None and is_there.any():
                y = np.where(is_there, np.reshape(state, (-1, 1)), y)
        return y


def solution_of(problem: InitialValueProblem, result: OdeResult) -> Solution:
    """Returns the states of a result as a function of the times that the result reached."""
    if result.status == -1:
        end = result.t[-1] if len(result.t) else problem.times.start
        times = replace(problem.times, end=end, last=float(real_values(problem.function, "t", end)))
        problem = replace(problem, times=times)
    return Solution(problem, result.y)


def _varies(x: Any) -> bool:
    """Returns whether runs with other values may follow."""
    return isinstance(x, Array) and x.known_values is None


def _pieces_of(problem: InitialValueProblem) -> _Pieces | None:
    """Returns the polynomials; None where the method has no log of steps, or takes other steps with these output times."""
    t0, end = problem.times.t0, problem.times.last
    log, requested = StepLog(), np.array([end])
    if problem.method_name in MULTISTEP:  # CVODES' first step depends on the first output time, so both solves use this time
        requested = np.array([t0 + 1e-3 * (end - t0), end])
    if not record_solve(replace(problem, times=problem.times.plain_at(requested)), requested).log_steps(log):
        return None
    steps = log.columns()
    begins = steps["t"]
    ends = np.append(begins[1:], min(begins[-1] + steps["h"][-1], end))
    begins, ends = begins[ends > begins], ends[ends > begins]
    count = int(steps["order"].max()) + 1
    points = -np.cos((2 * np.arange(count) + 1) * np.pi / (2 * count))
    times = begins[:, None] + (ends - begins)[:, None] * (points + 1) / 2
    if not (np.diff(times.ravel()) > 0).all() or not times[0, 0] > t0 or not times[-1, -1] < end:
        return None  # where steps are as short as a few roundings
    outputs = np.sort(np.append(times, requested))
    places = np.searchsorted(outputs, times.ravel())
    result = Solve(replace(problem, times=problem.times.at(outputs, outputs))).result()
    if len(result.t) <= places[-1]:
        return None
    states = np.reshape(np.transpose(result.y[:, places]), (*times.shape, result.y.shape[0]))
    last = result.y[:, -1] if len(result.t) == outputs.size else None
    weights = np.linalg.inv(_chebyshev(points, count))
    return _Pieces(begins, ends - begins, weights, states, last)


def _chebyshev(x: Any, count: int) -> Any:
    """Returns the values of the Chebyshev polynomials at each point, shape (k, count)."""
    values = [np.ones(x.shape) if not isinstance(x, Array) else np.ones_like(x), x]
    while len(values) < count:
        values.append(2 * x * values[-1] - values[-2])
    return np.stack(values[:count], axis=-1)


def _chebyshev_slopes(x: Times, count: int) -> Times:
    """Returns the derivatives of the Chebyshev polynomials at each point, shape (k, count)."""
    derivatives = [np.polynomial.chebyshev.chebder(each) for each in np.eye(count)]
    table = np.stack([np.pad(each, (0, count - each.size)) for each in derivatives], axis=1)
    return np.asarray(np.polynomial.chebyshev.chebvander(x, count - 1) @ table, np.float64)


def _copied(tree: Any) -> Any:
    """Returns the tree with copies of its arrays, which no other code writes into."""
    leaves, together, _ = flatten(tree)
    return together([leaf.copy() if isinstance(leaf, (np.ndarray, Array)) else leaf for leaf in leaves])
