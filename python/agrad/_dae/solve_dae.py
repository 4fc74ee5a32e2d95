"""Defines solve_dae, which solves differential-algebraic equations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from agrad._core import DaeOptions, ShapeError, check_dae_problem, count_switches
from agrad._dae.dae_solve import DaeProblem, DaeResult, DaeSolution, DaeSolve
from agrad._dae.dae_steps import DaeSteps
from agrad._ode.backwards import ResidualOfMinusTime
from agrad._ode.doses import Dose
from agrad._ode.events import Interruptions, interruptions_of
from agrad._ode.options import Tolerances, step_options, tolerances_of
from agrad._ode.problem import posed_problem, solver_name
from agrad._ode.progress import Progress
from agrad._ode.record import RecordedFunction
from agrad._ode.times import Times, times_of
from agrad._record.arguments import check_one_of, real_values, vector
from agrad._record.control import chosen_control

__all__ = ["DaeResult", "solve_dae"]

_INITIAL = {"differential": 0, "derivatives": 1, "consistent": 2}
_SENSITIVITIES = {"adjoint": 0, "forward": 1}
_METHODS = ("auto", "IDA", "Rodas4", "Rodas5P")


def solve_dae(
    residual: Callable[..., Any],
    t_span: Sequence[Any],
    y0: Any,
    yp0: Any = None,
    t_eval: Any = None,
    *,
    args: tuple[Any, ...] = (),
    differential: Any = None,
    initial: str = "differential",
    rtol: float = 1e-6,
    atol: Tolerances = 1e-8,
    max_num_steps: int = 100_000,
    first_step: float | None = None,
    max_step: float = np.inf,
    sensitivities: str = "adjoint",
    method: str = "auto",
    events: Any = None,
    doses: Sequence[Dose] = (),
    tstops: Any = (),
    max_events: int = 1000,
    linear_solver: str = "auto",
    switches: str = "auto",
    dense_output: bool = False,
    return_partial: bool = False,
    progress: Progress = False,
) -> DaeResult:
    """Solve a differential-algebraic system ``residual(t, y, y', *args) = 0`` of index 1; the result is differentiable.

    States whose derivatives occur are differential, the other states are algebraic. Index 1 means that the equations determine
    the algebraic states and all derivatives from the differential states. So consistent initial values are computed from a
    part of the values, and the implicit function theorem gives their derivatives with respect to the arguments.

    Parameters
    ----------
    residual : callable
        ``residual(t, y, yp, *args)``, written with NumPy: t is a number, y and yp of shape (n,); returns the residuals of the
        n equations as an array, list or tuple. The function is recorded once and runs without Python, like the right-hand
        side of :func:`solve_ivp`.
    t_span : pair of floats
        Initial and final time; where time decreases, the system is solved in s = -t.
    y0 : array-like, shape (n,)
        The initial states; the algebraic entries are the guess for a nonlinear solve.
    yp0 : array-like, shape (n,), optional
        The initial derivatives, also a guess; zeros by default.
    t_eval : array-like, shape (k,), optional
        Output times within t_span, in its direction; the initial time may be the first. By default the two ends of t_span.
    args : tuple
        Further arguments of residual: any nested structures of numbers and arrays.
    differential : array-like of bool, shape (n,), optional
        Which states are differential. By default all states whose derivatives occur in the recorded residual; where the
        derivatives occur in fixed combinations only, as with a capacitor between two nodes, these combinations are.
    initial : {"differential", "derivatives", "consistent"}
        The initial values that are given: the differential part of y0; yp0, which determines all of y0 (zeros mean a steady
        state); or both, which are checked for consistency.
    rtol, atol : float, float or shape (n,)
        Relative and absolute tolerance. The reverse pass divides atol by 3 and the forward pass by 10, as
        :func:`ode_adjoint_tol` does, and by more where the units of the loss demand it.
    max_num_steps : int
        The maximum number of steps between two output times, in each direction.
    first_step, max_step : float
        The first step's size, at the initial time and after each of tstops, by default chosen by the solver; and the largest
        step size, in each direction. Forward sensitivities begin with a shorter step where the error needs it.
    sensitivities : {"adjoint", "forward"}
        Of IDA: derivatives by an integration back in time, or by sensitivities, which each step solves for after the states
        (IDAS' staggered corrector). Sensitivities are cheaper for few parameters and for Jacobians.
    method : {"auto", "IDA", "Rodas4", "Rodas5P"}
        "IDA" are the BDF of IDAS. The one-step methods "Rodas4" and "Rodas5P" solve the system with the derivatives of the
        differential states as further states, and have what they have in :func:`solve_ivp`: the exact gradient of the computed
        solution, second derivatives, doses, events, switches of states, sparse linear algebra. They need `initial` to be
        "differential" or "consistent", and combinations of derivatives that do not change. "auto" is "IDA", and "Rodas5P"
        where there are doses or events, where `linear_solver` is "sparse", or where residual jumps at comparisons of states.
        Messages count the derivatives of differential states after y.
    events : callable, Event, or sequence of these, optional
        As for :func:`solve_ivp`: functions ``event(t, y, *args)``, whose resets return y. After a reset the differential states
        are those returned; the others are a guess.
    doses : sequence of Dose
        As for :func:`solve_ivp`; of differential states. After a dose the other states are solved for again. While an infusion
        runs, yp, also that of residual, leaves out its rate.
    tstops : array-like, shape (s,)
        Times at which residual may jump, in any order; times at which residual compares t with a number are found without.
        Stops within t_span count, and recorded stops have derivatives. At a stop the differential states do not change, and
        the algebraic states are solved for again, with the old values as the guess. Before a stop the residual is evaluated as
        the limit from the left, after a stop as the limit from the right; an output at a stop is the state after the stop.
    max_events : int
        The most events; more events raise a SolverError.
    linear_solver : {"auto", "dense", "sparse"}
        Of the one-step methods, as for :func:`solve_ivp`; IDA's linear algebra is dense.
    switches : {"auto", "ignore"}
        As for :func:`solve_ivp`: what happens where the residual jumps because a comparison of states, or of their derivatives,
        changes its result. "auto": steps end there, by a one-step method.
    dense_output : bool
        Whether the result has a function `sol` of time; each call solves with its times as output times. By one-step methods as
        for :func:`solve_ivp`.
    return_partial : bool
        Whether a solver that fails returns the solution before the failure, with success False, status -1 and the fault as
        message, instead of raising a SolverError; as for :func:`solve_ivp`. Without a consistent initial state it raises.
    progress : bool or callable
        As for :func:`solve_ivp`.

    Returns
    -------
    DaeResult
        With t, shape (k,), y and yp, shape (n, k), and as attributes success, status, message, stats, sol, t_events and
        y_events.

    Raises
    ------
    ShapeError
        A length does not fit, or residual returns another number of equations than there are states.
    DomainError
        Times that are equal or out of order, tolerances that are not positive, initial values that are given as consistent but
        are not, states that are called differential but are not.
    SolverError
        The system is of index 2 or more, or singular; no consistent initial values are found from the guess; IDAS stopped:
        too many steps, residuals that are not finite, failing error tests.
    NotImplementedError
        By IDA: the gradient of an algebraic state's yp, or a second derivative.
    ValueError
        `method` is "IDA", but the problem has doses or events, or its residual jumps at comparisons of states; or a one-step
        method cannot solve the problem, see `method`.

    Notes
    -----
    Gradients are with respect to y0, t_span[0], t_eval, tstops, args and, with ``initial="derivatives"``, yp0; the gradient
    with respect to an algebraic entry of y0 is zero. IDA has first derivatives only; forward mode (jvp, jacfwd) goes by
    sensitivities, for which a solve with ``sensitivities="adjoint"`` is integrated once more, and tangents of an algebraic
    state's yp are nan, as its yp by one-step methods is. At each output time of IDA the algebraic states are solved for, so
    outputs satisfy the equations to rounding, not only to the tolerances. Where the equations are singular at the guess, as
    y1^2 = y0 is at y1 = 0, nearby guesses are tried, larger values first. For the gradient the state at each step of the
    forward pass is stored.

    References
    ----------
    Cao, Li, Petzold and Serban (2003), Adjoint sensitivity analysis for differential-algebraic equations, SIAM Journal on
    Scientific Computing 24, 1076-1089. Hindmarsh and Serban, User Documentation for IDAS.

    Examples
    --------
    >>> import numpy as np, agrad as ag
    >>> F = lambda t, y, yp, k: [yp[0] + k * y[0], y[1] - y[0] ** 2]  # y1 is algebraic
    >>> end = lambda k: ag.solve_dae(F, (0.0, 1.0), [1.0, 0.0], args=(k,), rtol=1e-8).y[1, -1]
    >>> round(float(ag.grad(end)(0.5)), 4)  # -2 exp(-1)
    -0.7358
    """
    function = "solve_dae"
    posed = posed_problem(function, "residual", residual, y0, args, "t, y, yp")
    check_one_of(function, "initial", initial, _INITIAL)
    check_one_of(function, "sensitivities", sensitivities, _SENSITIVITIES)
    check_one_of(function, "method", method, _METHODS)
    check_one_of(function, "switches", switches, ("auto", "ignore"))
    interruptions = interruptions_of(function, doses, events, tstops, max_events)
    y0, states, size = posed.y0, posed.states, posed.states.size
    times, stops = _times(function, t_span, t_eval), vector(function, "tstops", tstops)
    yp0 = np.zeros(size) if yp0 is None else vector(function, "yp0", yp0)
    if times.is_backwards:
        residual, yp0, stops = ResidualOfMinusTime(residual), 0.0 - yp0, 0.0 - stops
    check_dae_problem(solver_name(function, times), states, real_values(function, "yp0", yp0), times.t0, times.values)
    tolerances = tolerances_of(function, size, ("rtol", "atol"), rtol, atol)
    control = chosen_control("auto")
    steps = step_options(function, size, tolerances, max_num_steps, first_step, max_step, error_control=control, least_steps=1)
    options = DaeOptions(
        function, *steps[:5], _flags(function, differential, size), _INITIAL[initial], _SENSITIVITIES[sensitivities]
    )
    problem = DaeProblem(function, residual, y0, states, posed.args, times, yp0, stops, options, progress)
    recorded = problem.recorded()
    reason = _needs_steps(interruptions, recorded, size, linear_solver, switches)
    if method == "IDA" and reason:
        raise ValueError(f"{function}: method is 'IDA', but must be 'Rodas5P' or 'Rodas4' {reason}")
    if method in ("Rodas4", "Rodas5P") or reason:
        name = "Rodas5P" if method == "auto" else method
        _check_for_steps(function, name, initial, sensitivities, f"; 'auto' is {name!r} {reason}" if method == "auto" else "")
        by_steps = DaeSteps(problem, recorded, name, steps, interruptions, linear_solver, sensitivities, switches)
        return by_steps.result(is_partial=return_partial, is_dense=dense_output)
    solve = DaeSolve(problem, recorded)
    result = solve.partial_result() if return_partial else solve.result(times, progress)
    if dense_output:
        result.sol = DaeSolution(solve, times.last if result.success else times.sign * float(result.t[-1]))
    return result


def _check_for_steps(function: str, method: str, initial: str, sensitivities: str, hint: str) -> None:
    """Raises for choices that one-step methods do not have; the hint says why one is used, where the user did not choose it."""
    for name, value, only in (("initial", initial, "derivatives"), ("sensitivities", sensitivities, "forward")):
        if value == only:
            raise ValueError(f"{function}: {name} is {value!r}, but must be another one for {method!r}{hint}")


def _needs_steps(
    interruptions: Interruptions | None, residual: RecordedFunction, states: int, linear_solver: str, switches: str
) -> str:
    """Returns why a problem needs a one-step method, in words for messages; empty where IDA solves it."""
    check_one_of("solve_dae", "linear_solver", linear_solver, ("auto", "dense", "sparse"))
    if interruptions is not None and (interruptions.doses.rows or interruptions.events is not None):
        return "where there are doses or events"
    if linear_solver == "sparse":
        return "where linear_solver is 'sparse'"
    if switches == "auto":
        of_time, of_all = (count_switches(residual.program, 2 * states, holds) for holds in (False, True))
        if of_all > of_time:
            return "where the residual jumps at comparisons of states; switches='ignore' passes over the jumps"
    return ""


def _times(function: str, t_span: Any, t_eval: Any) -> Times:
    """Returns the times; a single output time may be a number."""
    requested = None if t_eval is None else vector(function, "t_eval", t_eval)
    return times_of(function, vector(function, "t_span", t_span), requested, freely=False)


def _flags(function: str, differential: Any, states: int) -> list[bool]:
    """Returns which states are differential; an empty list where the solver is to find out."""
    if differential is None:
        return []
    flags = np.asarray(differential)
    if flags.dtype.kind != "b":
        raise TypeError(f"{function}: differential is of dtype {flags.dtype}, but must be bool; one for each state")
    if flags.shape != (states,):
        raise ShapeError(f"{function}: differential is of shape {flags.shape}, but must be of shape ({states},)")
    return [bool(flag) for flag in flags]
