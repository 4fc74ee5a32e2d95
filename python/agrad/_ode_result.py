"""What solve_ivp returns, and its output times."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from agrad._core import DomainError, ShapeError
from agrad._ode_record import real_values

if TYPE_CHECKING:
    from agrad._ode_explain import Explained

__all__ = ["OdeResult", "output_times"]


@dataclass
class OdeResult:
    """What :func:`solve_ivp` returns.

    Attributes
    ----------
    t : numpy.ndarray, shape (k,)
        Output times. Without `t_eval` and with a terminal event its last entry is the end, and differentiable.
    y : numpy.ndarray or Array, shape (n, k)
        The states at the output times, a column each; differentiable.
    success : bool
        True; a solve that does not succeed raises, or with `return_partial` has False.
    status : int
        0: the end of the interval was reached; 1: a terminal event ended the solution; -1: the solver stopped.
    message : str
        The same in words, and by which methods where "auto" changed it.
    stats : mapping
        What the passes have cost up to now: of the forward pass "steps", "rhs_evaluations", "jacobian_evaluations",
        "factorizations", "error_test_failures", "convergence_failures" and "checkpoints" (and with "auto" "stiff_from"), and
        mappings "backward", "quadrature" and "sensitivities". Sweeps back come after the result, so their counts grow, from
        zero, with each sweep through it. Of a recorded or compiled function the counts are those of the run that was made
        last, by whichever thread; second-order sweeps are not counted.
    sol : callable or None
        With `dense_output` the states as a function of time: ``sol(t)`` of shape (n,) for a number, (n, k) for k times.
    """

    t: Any
    y: Any
    success: bool = True
    status: int = 0
    message: str = "The solver successfully reached the end of the integration interval."
    stats: Mapping[str, Any] = field(default_factory=dict)
    sol: Callable[[Any], Any] | None = None
    _hits: Callable[[], tuple[list[Any], list[Any]]] | None = field(default=None, repr=False, compare=False)
    _explained: Explained | None = field(default=None, repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled and copied: the numbers, not the problem, whose functions cannot be."""
        return self.__dict__ | {"_explained": None}

    @property
    def t_events(self) -> list[Any] | None:
        """For each event the times at which it happened, differentiable; None without events."""
        return None if self._hits is None else self._hits()[0]

    @property
    def y_events(self) -> list[Any] | None:
        """For each event the states at these times, before its own reset, shape (times, n); None without events."""
        return None if self._hits is None else self._hits()[1]

    @property
    def nfev(self) -> int:
        """Evaluations of the right-hand side."""
        return int(self.stats.get("rhs_evaluations", 0))

    @property
    def njev(self) -> int:
        """Evaluations of its Jacobian."""
        return int(self.stats.get("jacobian_evaluations", 0))

    @property
    def nlu(self) -> int:
        """Factorisations."""
        return int(self.stats.get("factorizations", 0))

    @property
    def nst(self) -> int:
        """Steps."""
        return int(self.stats.get("steps", 0))

    def describe_switch(self) -> None:
        """Says in the message when "auto" changed the method."""
        if "stiff_from" in self.stats:
            self.message += f" It turned stiff: by Tsit5 until t = {self.stats['stiff_from']:.6g}, by Rodas4 from there on."


def output_times(function: str, t_span: Sequence[Any], t_eval: Any) -> tuple[float, np.ndarray[Any, np.dtype[np.float64]]]:
    """The initial time and the output times of `solve_ivp`, which may begin with it."""
    span = real_values(function, "t_span", t_span)
    if span.shape != (2,):
        raise ShapeError(f"{function}: t_span is of shape {span.shape}, but must be of shape (2,); initial and final time")
    t0, end = span.tolist()
    if not t0 < end:
        hint = "; backwards in time, s = -t increases: solve dy/ds = -fun(-s, y)" if t0 > end else ""
        raise DomainError(f"{function}: t_span is {(t0, end)}, but must be increasing{hint}")
    if not np.isfinite(span).all():
        hint = "; a terminal event ends a solution before a time that is late enough" if np.isfinite(t0) else ""
        raise DomainError(f"{function}: t_span is {(t0, end)}, but must be finite{hint}")
    if t_eval is None:
        return t0, span
    times = real_values(function, "t_eval", t_eval)
    if times.ndim != 1 or times.size == 0:
        raise ShapeError(f"{function}: t_eval is of shape {times.shape}, but must be a vector of one time or more")
    for k, t in enumerate(times):
        if not t0 <= t <= end:
            raise DomainError(f"{function}: t_eval[{k}] is {t}, but must be within t_span = {(t0, end)}")
        if k > 0 and not t > times[k - 1]:
            raise DomainError(f"{function}: t_eval[{k}] is {t}, but must be greater than t_eval[{k - 1}] = {times[k - 1]}")
    return t0, times
