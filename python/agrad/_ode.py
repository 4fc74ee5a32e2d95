"""Differential equations: the solvers that users call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from agrad._ode_algebra import Algebra
from agrad._ode_checked import allowed_difference, checked, finer_tolerance
from agrad._ode_events import Dose, happenings
from agrad._ode_forward import SENSITIVITIES, forward_method
from agrad._ode_one_step import METHODS
from agrad._ode_options import ADAMS, BDF, Steps, Tolerances, all_options, simple_options, step_method
from agrad._ode_problem import InitialValueProblem
from agrad._ode_progress import Progress
from agrad._ode_record import further_arguments, pose
from agrad._ode_result import OdeResult

__all__ = ["ode_adjoint_tol", "ode_adjoint_tol_ctl", "options_of", "solve_ivp"]

RightHandSide = Callable[..., Any]


def ode_adjoint_tol_ctl(
    f: RightHandSide,
    y0: Any,
    t0: Any,
    times: Any,
    relative_tolerance_forward: float,
    absolute_tolerance_forward: Tolerances,
    relative_tolerance_backward: float,
    absolute_tolerance_backward: Tolerances,
    relative_tolerance_quadrature: float,
    absolute_tolerance_quadrature: Tolerances,
    max_num_steps: int,
    num_steps_between_checkpoints: int,
    interpolation_polynomial: int,
    solver_forward: int,
    solver_backward: int,
    *args: Any,
) -> Any:
    """Solve an initial value problem with CVODES; its gradient is one adjoint integration back in time.

    Only the states are integrated forwards, with a checkpoint every so many steps. For a gradient one backward problem of
    the size of the state and one quadrature of the size of the active parameters run from the last output time to t0,
    restarted at each output time. Nothing of that is set up when no argument is recorded.

    Parameters
    ----------
    f : callable
        The right-hand side ``f(t, y, *args)``, written with NumPy: t is a number, y of shape (n,); returns the n
        derivatives of y as an array, list or tuple. It is recorded once and runs without Python; values of the
        surrounding computation that it uses without being passed are parameters too.
    y0 : array-like, shape (n,)
        The state at t0.
    t0 : float
        The initial time.
    times : array-like, shape (k,)
        Output times, increasing, all after t0, in the unit of t0.
    relative_tolerance_forward, absolute_tolerance_forward : float, float or shape (n,)
        Tolerances of the states; positive.
    relative_tolerance_backward, absolute_tolerance_backward : float, float or shape (n,)
        Tolerances of the adjoints; positive.
    relative_tolerance_quadrature, absolute_tolerance_quadrature : float, float or one for each active parameter
        Tolerances of the parameters' gradient; positive.
    max_num_steps : int
        The most steps between two output times, in each direction.
    num_steps_between_checkpoints : int
        Steps after which the forward state is kept; fewer take less memory and more recomputation.
    interpolation_polynomial : int
        How the backward pass finds the forward state: 1 Hermite, 2 polynomial of variable degree. Hermite's is cubic, and
        limits the gradient when Adams takes long steps at tight tolerances.
    solver_forward, solver_backward : int
        Linear multistep method: 1 Adams, 2 BDF.
    *args : any nested structures of numbers and arrays
        Further arguments of f.

    Returns
    -------
    numpy.ndarray or Array, shape (k, n)
        The states at the output times, recorded when y0, t0, times or one of args is.

    Raises
    ------
    ShapeError
        A length does not fit, or f returns another number of derivatives than y0 has states.
    DomainError
        Times that do not increase or do not lie after t0, tolerances that are not positive and finite, unknown codes.
    SolverError
        CVODES stopped: too many steps, derivatives that are not finite, failing error tests. What f raises while it is
        recorded comes out unchanged.

    Notes
    -----
    f is recorded at t0 and y0 and run at other values: it cannot branch on them (``np.where`` can), and what it reads from
    elsewhere is taken as it is at the call.

    References
    ----------
    Stan design document 0027, adjoint ODE; Hindmarsh and Serban, User Documentation for CVODES, section 2.7.
    """
    make_options = all_options(
        "ode_adjoint_tol_ctl",
        relative_tolerance_forward,
        absolute_tolerance_forward,
        relative_tolerance_backward,
        absolute_tolerance_backward,
        relative_tolerance_quadrature,
        absolute_tolerance_quadrature,
        max_num_steps,
        num_steps_between_checkpoints,
        interpolation_polynomial,
        solver_forward,
        solver_backward,
    )
    return pose("ode_adjoint_tol_ctl", f, y0, t0, times, make_options, args).solve()


def ode_adjoint_tol(
    f: RightHandSide,
    y0: Any,
    t0: Any,
    times: Any,
    relative_tolerance: float,
    absolute_tolerance: Tolerances,
    max_num_steps: int,
    *args: Any,
) -> Any:
    """Solve an initial value problem as :func:`ode_adjoint_tol_ctl` does, with one pair of tolerances.

    The absolute tolerance is divided by 10 for the forward and by 3 for the backward pass, and taken as given for the
    quadrature; checkpoints are kept every 250 steps; interpolation is Hermite; both passes use BDF.

    Parameters
    ----------
    f : callable
        The right-hand side ``f(t, y, *args)``; see :func:`ode_adjoint_tol_ctl`.
    y0 : array-like, shape (n,)
        The state at t0.
    t0 : float
        The initial time.
    times : array-like, shape (k,)
        Output times, increasing, all after t0.
    relative_tolerance, absolute_tolerance : float, float or shape (n,)
        Tolerances; positive. A vector has one for each state, and its smallest holds for the quadrature.
    max_num_steps : int
        The most steps between two output times, in each direction.
    *args : any nested structures of numbers and arrays
        Further arguments of f.

    Returns
    -------
    numpy.ndarray or Array, shape (k, n)
        The states at the output times, recorded when y0, t0, times or one of args is.

    Raises
    ------
    ShapeError, DomainError, SolverError
        As :func:`ode_adjoint_tol_ctl`.

    References
    ----------
    Stan design document 0027, adjoint ODE.
    """
    tolerances = {"relative_tolerance": relative_tolerance, "absolute_tolerance": absolute_tolerance}
    make_options = simple_options("ode_adjoint_tol", tolerances, max_num_steps)
    return pose("ode_adjoint_tol", f, y0, t0, times, make_options, args).solve()


def solve_ivp(
    fun: RightHandSide,
    t_span: Sequence[Any],
    y0: Any,
    method: str = "auto",
    t_eval: Any = None,
    *,
    dense_output: bool = False,
    args: tuple[Any, ...] = (),
    events: Any = None,
    doses: Sequence[Dose] = (),
    tstops: Any = (),
    max_events: int = 1000,
    rtol: float = 1e-6,
    atol: Tolerances = 1e-8,
    max_num_steps: int = 100_000,
    first_step: float | None = None,
    max_step: float = np.inf,
    max_memory: float = 1e9,
    jac_sparsity: Any = None,
    linear_solver: str = "auto",
    sensitivities: str = "adjoint",
    gradient_check: bool | float = False,
    return_partial: bool = False,
    progress: Progress = False,
) -> OdeResult:
    """Solve an initial value problem, with SciPy's signature; the result is differentiable.

    Parameters
    ----------
    fun : callable
        The right-hand side ``fun(t, y, *args)``, written with NumPy; see :func:`ode_adjoint_tol_ctl`.
    t_span : pair of floats
        Initial and final time, increasing. Without events and doses the result is differentiable in them, as in t_eval.
    y0 : array-like, shape (n,)
        The initial state.
    method : {"auto", "Tsit5", "RK45", "CKRK", "DOP853", "Rodas4", "BDF", "Adams"}
        "auto" starts with Tsit5 and goes on with Rodas4 where the system turns stiff; the result says from when on. These
        are one-step methods, whose gradient is the exact one of the computed solution: explicit Runge-Kutta methods
        of Tsitouras, Dormand and Prince, Cash and Karp, and of order 8 by Dormand and Prince, for systems that are not
        stiff; and the Rosenbrock method Rodas4 for stiff ones. "BDF" for stiff and "Adams" for other systems are CVODES'
        methods, in both directions; the backward pass finds the forward state by Hermite interpolation between BDF's steps,
        and by polynomials between Adams' longer ones.
    t_eval : array-like, shape (k,), optional
        Output times within t_span, increasing; the initial time may be the first. By default the two ends of t_span. They
        cost steps only where they are sparse: where a step passes several, the method's interpolant is used (not by CKRK).
    dense_output : bool
        Whether the result has `sol`, a function of times within t_span, in any order: the states there, differentiable. It
        is no interpolant: each call solves once more, with these as output times.
    args : tuple
        Further arguments of fun: any nested structures of numbers and arrays.
    events : callable, Event, or sequence of these, optional
        Functions ``event(t, y, *args)`` whose zeros are found; attributes `terminal`, `direction` and, beyond SciPy,
        `reset` say what follows. See :class:`Event`.
    doses : sequence of Dose
        Amounts that states get at times, at once or as infusions; see :class:`Dose`. At the time of a dose the output is the
        state after it.
    tstops : array-like, shape (s,)
        Times that steps end at, because fun jumps there; differentiable where fun's jump moves with them. Comparisons of t
        with numbers in fun, as ``np.where(t < 5.0, ...)``, are found without.
    max_events : int
        More events than that raise a SolverError.
    rtol, atol : float, float or shape (n,)
        Relative and absolute tolerance. The backward pass divides atol by 3 and the forward one by 10, as
        :func:`ode_adjoint_tol` does.
    max_num_steps : int
        The most steps between two output times.
    first_step, max_step : float
        Of the one-step methods: the first step's size to try, chosen by default, and the largest.
    max_memory : float
        Of the one-step methods: bytes that may be kept for the gradient; beyond it, steps are computed once more.
    jac_sparsity : array-like or scipy.sparse, shape (n, n), or pair of ints, optional
        Of the implicit methods: other than zero where df/dy may be, or how far below and above the diagonal that is. By
        default the recorded right-hand side tells, which is right unless it hides entries in an operation written by hand.
    linear_solver : {"auto", "dense", "banded", "sparse", "gmres"}
        Of the implicit methods: how they solve their linear equations. "auto" is the cheapest for the pattern of df/dy:
        dense for few states, banded where the bands are narrow, sparse where little is filled. "gmres", for CVODES'
        methods, has products with df/dy only.
    sensitivities : {"adjoint", "forward", "simultaneous", "auto"}
        Of "BDF" and "Adams": derivatives by an integration back in time, or by sensitivities that are integrated with the
        states, as :func:`ode_bdf` does, which is for few parameters and for Jacobians. Each step solves for them after the
        states ("forward", CVODES' staggered corrector) or with them ("simultaneous"). "auto" weighs adjoint and forward by
        the number of states and parameters, for the gradient of one number. Forward ones take atol as it is.
    gradient_check : bool or float
        Whether each sweep back runs a second time, through a solution with a hundredth of rtol and atol, and a RuntimeWarning
        says where the two gradients differ by a larger part than that number; True means 1e-3. Where parts of a gradient
        cancel, as at an optimum, their size counts. A gradient takes at least twice as long then. Not for solves with events;
        with doses, each stretch between them is compared by itself.
    return_partial : bool
        Whether a solver that stops gives what comes before, with success False, status -1 and the fault as message, instead of
        raising a SolverError. Without t_eval the last of the two times is close to where it stopped. The gradient is that
        of what was reached; a compiled function keeps the number of times that it was recorded with.
    progress : bool or callable
        Whether a bar shows how far each pass is, forward and backward, once it takes longer than half a second; needs tqdm.
        Or a callable ``progress(t, t_end, pass)``, pass being "forward" or "backward", which is called ten times a second at
        most, and at the end of each pass that succeeds; what it raises ends the solve. A recorded or compiled function keeps
        it, so that each of its runs is shown.

    Returns
    -------
    OdeResult
        With t, shape (k,), and y, shape (n, k); with events also t_events and y_events. A terminal event cuts off the output
        times after it; without t_eval the last one is the end.

    Raises
    ------
    ShapeError, DomainError, SolverError
        As :func:`ode_adjoint_tol_ctl`.

    Notes
    -----
    Second derivatives (``hessian``, ``hvp``, nested transformations) and forward mode pass through the one-step methods,
    with respect to the initial state, the arguments and the amounts of doses, not to t_span and t_eval; through "auto" and
    "Rodas4" where fun is made of elementwise functions, sums, matrix products and indexing. Events, and times and durations
    of doses, have first derivatives only, in both modes. Where fun chooses by the state (`np.where`), derivatives of second
    order do not see the choice change along a solution.

    Examples
    --------
    >>> import numpy as np, agrad as ag
    >>> end = lambda rate: ag.solve_ivp(lambda t, y, k: -k * y, (0.0, 1.0), [1.0], args=(rate,)).y[0, -1]
    >>> round(ag.grad(end)(0.5), 4)  # -exp(-0.5)
    -0.6065
    """
    tolerances, steps = {"rtol": rtol, "atol": atol}, Steps(first_step, max_step, max_memory)
    algebra = Algebra(linear_solver, jac_sparsity)
    make_options = options_of("solve_ivp", method, tolerances, max_num_steps, steps, algebra, sensitivities)
    if gradient_check is not False:
        finer = {"rtol": finer_tolerance(rtol), "atol": np.asarray(atol) * 1e-2}
        second = options_of("solve_ivp", method, finer, max_num_steps, steps, algebra, sensitivities)
        make_options = checked(make_options, second, allowed_difference("solve_ivp", gradient_check))
    also = happenings("solve_ivp", doses, events, tstops, max_events)
    if also is not None and also.events is not None:
        if sensitivities != "adjoint":
            raise ValueError(f"solve_ivp: sensitivities is {sensitivities!r}, but must be 'adjoint' where there are events")
        if gradient_check is not False:
            raise ValueError("solve_ivp: gradient_check is given, but must not be where there are events")
    args = further_arguments("solve_ivp", args)
    problem = InitialValueProblem("solve_ivp", fun, y0, make_options, also, args, progress, method, (rtol, atol))
    result = problem.solve_as_far_as_it_goes(t_span, t_eval) if return_partial else problem.solve(t_span, t_eval)
    if dense_output:
        reached = result.t[-1] if len(result.t) else t_span[0]
        result.sol = problem.solution((t_span[0], reached) if result.status == -1 else t_span)
    return result


def options_of(
    function: str,
    method: str,
    tolerances: dict[str, Any],
    max_num_steps: int,
    steps: Steps = Steps(),  # noqa: B008 - it cannot change
    algebra: Algebra = Algebra(),  # noqa: B008
    sensitivities: str = "adjoint",
) -> Callable[[int], Any]:
    """What makes the options of a method, by its name, for so many states."""
    codes = {"Adams": ADAMS, "BDF": BDF}
    methods = [*codes, *METHODS]
    if method not in methods:
        raise ValueError(f"{function}: method is {method!r}, but must be one of {', '.join(map(repr, methods))}")
    has_factors = method in ("Rodas4", "auto")
    algebra.checked(function, method, has_factors=has_factors, is_implicit=has_factors or method in codes)
    if sensitivities not in SENSITIVITIES:
        known = ", ".join(map(repr, SENSITIVITIES))
        raise ValueError(f"{function}: sensitivities is {sensitivities!r}, but must be one of {known}")
    if method not in codes:
        if sensitivities != "adjoint":
            hint = "one-step methods differentiate their own steps"
            raise ValueError(f"{function}: sensitivities is {sensitivities!r}, but must be 'adjoint' for {method!r}; {hint}")
        return step_method(function, method, tolerances, max_num_steps, steps, algebra)
    if steps.first_step is not None or steps.max_step != np.inf:
        raise ValueError(f"{function}: first_step or max_step is given, but must not be for {method!r}; use a one-step method")
    if sensitivities != "adjoint":
        return forward_method(function, tolerances, max_num_steps, codes[method], sensitivities, algebra)
    return simple_options(function, tolerances, max_num_steps, codes[method], algebra)
