"""Defines steady_state, which finds steady states of differential equations, with derivatives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agrad._core import ShapeError, SolverError, solve_steady, steady_operation
from agrad._ode.options import Tolerances, tolerances_of
from agrad._ode.problem import PosedProblem, posed_problem
from agrad._ode.progress import Progress, reporter_of
from agrad._ode.record import RecordedFunction, joined, naming_lines
from agrad._ode.solve_ivp import solve_ivp
from agrad._ode.statistics import Statistics
from agrad._record.arguments import check_one_of, real_values, whole
from agrad._record.printed import Printed

__all__ = ["SteadyResult", "steady_state"]

_METHODS = {"auto": 0, "newton": 1, "integration": 2}


@dataclass(repr=False)
class SteadyResult(Printed):
    """The result of :func:`steady_state`.

    Attributes
    ----------
    y : numpy.ndarray or Array, shape (n,)
        The steady state; differentiable.
    success : bool
        True; a search that does not succeed raises, or with `return_partial` has False.
    residual : float
        The largest remaining derivative; nan while a surrounding function is recorded.
    iterations : int
        All steps of Newton's method; 0 while a surrounding function is recorded.
    method : str
        The way to the state: "newton" or "integration"; "" while a surrounding function is recorded.
    stable : bool or None
        Whether the system stays near y from nearby: False where `growth_rate` is positive by more than the tolerances leave
        open, so that the centre of cycles is stable. None while a surrounding function is recorded; an unstable state causes a
        warning in any case.
    growth_rate : float
        The largest real part of the Jacobian's eigenvalues, where conserved totals do not change; nan while a surrounding
        function is recorded.
    stats : mapping
        The cost of the integration, as for :func:`solve_ivp`, and, unless a surrounding function is recorded, `conserved`, the
        number of conserved totals, and `integrated_time`.
    status : int
        0: a steady state was found; -1: none was found.
    message : str
        The status in words.
    """

    y: NDArray[np.float64]
    success: bool = True
    residual: float = float("nan")
    iterations: int = 0
    method: str = ""
    stable: bool | None = None
    growth_rate: float = float("nan")
    stats: Mapping[str, Any] = field(default_factory=dict)
    status: int = 0
    message: str = "The solver found a steady state."


def steady_state(
    f: Callable[..., Any],
    y0: Any,
    *,
    args: tuple[Any, ...] = (),
    rtol: float = 1e-10,
    atol: Tolerances = 1e-12,
    max_iterations: int = 50,
    method: str = "auto",
    t: float | None = None,
    return_partial: bool = False,
    progress: Progress = False,
) -> SteadyResult:
    """Find the state at which an autonomous system comes to rest, with derivatives by the implicit function theorem.

    The system is integrated from y0 over longer and longer times, and Newton's method continues from the state reached until
    ``f(t, y, *args) = 0`` is solved nearby. Of several steady states the result is that to which the system goes from y0. A
    linear system that decays and a system that is at rest at y0 are solved by Newton's method alone.

    Totals that the system conserves, such as all of an enzyme, free and bound, are found automatically. The totals keep their
    values at y0, which selects among the steady states.

    Parameters
    ----------
    f : callable
        The right-hand side ``f(t, y, *args)`` of :func:`solve_ivp`, which does not depend on t; see
        :func:`ode_adjoint_tol_ctl`.
    y0 : array-like, shape (n,)
        The state to start from.
    args : tuple
        Further arguments of f: any nested structures of numbers and arrays.
    rtol, atol : float, float or shape (n,)
        Relative and absolute tolerance of the states.
    max_iterations : int
        The most steps of Newton's method from each starting state.
    method : {"auto", "newton", "integration"}
        "newton" does not integrate: that is faster, but may find another of several steady states, which can be unstable.
        "integration" always integrates.
    t : float, optional
        The time at which f is evaluated. Without t, f must not depend on time.
    return_partial : bool
        Whether a search that finds no steady state returns the state that the integration reached, or y0 where nothing was
        integrated, with success False, status -1 and the fault as message, instead of raising a SolverError.
    progress : bool or callable
        As for :func:`solve_ivp`; t is the time integrated, and because nobody knows how long that will be, t_end is infinite.

    Returns
    -------
    SteadyResult
        With y, shape (n,), the stability of y, and the method that found y.

    Warns
    -----
    RuntimeWarning
        The steady state is unstable.

    Raises
    ------
    ShapeError, DomainError
        As :func:`ode_adjoint_tol_ctl`; f depends on time; derivatives are wanted where the Jacobian is singular beyond
        conserved totals, or with respect to a parameter at whose value alone a total is conserved.
    NotImplementedError
        Second derivatives are wanted where the coefficients of a total depend on a parameter.
    SolverError
        No steady state was found, because the system oscillates or grows, for example; or f is not finite at y0.

    Notes
    -----
    With J the Jacobian of f, f_p the derivative of f with respect to a parameter and L the rows of conserved totals,
    derivatives solve J dy = -f_p dp together with L dy = L dy0 - dL (y - y0), by a linear solve for each adjoint or direction.
    There are second derivatives, except where L depends on a parameter. Derivatives with respect to y0 are zero but for the
    conserved totals. Where J is singular without such totals, as on a line of steady states, the way from y0 decides, which is
    then integrated at rtol and atol, and there are no derivatives.

    References
    ----------
    Deuflhard (2011), Newton Methods for Nonlinear Problems, section 3.3.

    Examples
    --------
    >>> import numpy as np, agrad as ag
    >>> exchange = lambda t, y, k: [k[1] * y[1] - k[0] * y[0], k[0] * y[0] - k[1] * y[1]]
    >>> rest = lambda k: ag.steady_state(exchange, [3.0, 1.0], args=(k,)).y[0]  # 4 k1 / (k0 + k1)
    >>> ag.grad(rest)(np.array([2.0, 6.0])).round(4).tolist()
    [-0.375, 0.125]
    """
    function = "steady_state"
    problem = posed_problem(function, "f", f, y0, args)
    check_one_of(function, "method", method, _METHODS)
    states = problem.states
    if states.size == 0:
        raise ShapeError(f"{function}: y0 is of length 0, but must be of length 1 or more")
    options = (
        *tolerances_of(function, states.size, ("rtol", "atol"), rtol, atol),
        whole(function, "max_iterations", max_iterations),
        _METHODS[method],
        None if t is None else float(real_values(function, "t", t)),
    )
    slope = RecordedFunction(function, f, options[-1] or 0.0, [states], problem.args, looks_at_time=False)
    reporter = reporter_of(function, progress, 0.0, np.inf)
    operation = steady_operation(function, slope.program, states.size, *options, reporter.host)
    recording, argument = joined([problem.y0, *(np.ravel(x) for x in slope.parameters)], [slope])
    runs_again = False
    try:
        with naming_lines([slope]):
            if recording is not None:
                recorded: Any = operation.record(argument, states.shape)
                runs_again = True
                return SteadyResult(recorded, stats=Statistics(operation.statistics))
            y, report = solve_steady(operation, argument)
    except SolverError as stop:
        if not return_partial:
            raise
        return _partial(problem, options[-1], options[1], stop)
    finally:
        if not runs_again:
            reporter.forget()
    found_by = {key: report.pop(key) for key in ("residual", "iterations", "method", "stable", "growth_rate")}
    return SteadyResult(y, stats=operation.statistics() | report, **found_by)


def _partial(problem: PosedProblem, t: float | None, atol: Any, stop: SolverError) -> SteadyResult:
    """Returns the state that the integration reached, from a second one that ends there."""
    slope = problem.f if t is None else lambda _, y, *args: problem.f(t, y, *args)
    found = SteadyResult(problem.y0, False, status=-1, message=str(stop))
    if not stop.t > 0:
        return found
    path = solve_ivp(slope, (0.0, stop.t), problem.y0, "BDF", args=problem.args, atol=atol, return_partial=True)
    return replace(found, y=path.y[:, -1], stats=path.stats) if path.t.size else found
