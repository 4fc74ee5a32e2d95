"""solve_ivp: initial value problems with SciPy's signature, by any method."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from agrad._ode.backwards import answer_backwards
from agrad._ode.checked import allowed_difference, checked, finer_tolerance
from agrad._ode.events import Dose, happenings
from agrad._ode.methods import options_of, served
from agrad._ode.options import Steps, Tolerances, never_zero
from agrad._ode.problem import InitialValueProblem
from agrad._ode.progress import Progress
from agrad._ode.record import RightHandSide, as_given, check_callable, further_arguments, real_values
from agrad._ode.result import OdeResult
from agrad._ode.scipy import Vectorized, algebra_of
from agrad._ode.states import states_of

__all__ = ["solve_ivp"]


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
    error_control: str = "auto",
    jac: Any = None,
    jac_sparsity: Any = None,
    lband: int | None = None,
    uband: int | None = None,
    vectorized: bool = False,
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
        Initial and final time. Where they decrease, so do t_eval and `t`, and there are no doses; directions of events are
        those along the solution. The result is differentiable in them, as in t_eval.
    y0 : array-like, shape (n,), or of any shape, or tree of arrays
        The initial state. Where it is a matrix or a dict, dataclass, list or tuple of arrays, fun, events and resets get a
        state of that structure, fun and resets return one, and so is `y`, with the times as last axis of each array. States
        that are counted (of doses, in jac_sparsity) are so as np.ravel has them, array after array.
    method : {"auto", "Tsit5", "RK45", "CKRK", "DOP853", "Rodas4", "Rodas5P", "BDF", "Adams"}
        "auto" starts with Tsit5 and goes on with Rodas5P, or with Rodas4 where rtol is 1e-5 or more, where the system turns
        stiff; the result says from when on. These are one-step methods, whose gradient is the exact one of the computed
        solution: explicit Runge-Kutta methods of Tsitouras, Dormand and Prince, Cash and Karp, and of order 8 by Dormand and
        Prince, for systems that are not stiff; and the Rosenbrock methods Rodas4 and Rodas5P, of order 5, for stiff ones.
        "BDF" for stiff and "Adams" for other systems are CVODES' methods, in both directions; the backward pass finds the
        forward state by Hermite interpolation between BDF's steps, and by polynomials between Adams' longer ones. SciPy's
        "Radau", "LSODA" and "RK23" are names for "Rodas5P", "auto" and "Tsit5" here; `message` says so.
    t_eval : array-like, shape (k,), optional
        Output times within t_span, in its direction; they may be repeated, and the initial time may be the first. By default
        the two ends of t_span. They cost steps only where they are sparse: where a step passes several, the method's
        interpolant is used (not by CKRK). Recorded ones must differ where there are doses, events or tstops.
    dense_output : bool
        Whether the result has `sol`, a function of times within t_span, in any order: the states there, differentiable. Its
        first call solves once more, for the polynomials of the method within all steps. In a compiled function, whose runs
        may take other steps, each call solves, with these as output times.
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
    rtol, atol : float, float or of y0's structure
        Relative and absolute tolerance; atol may be 0 where a state stays off zero. One-step methods, and so the default,
        take them as they are; "BDF" and "Adams" with adjoint sensitivities divide atol by 10 in the forward pass and by 3 in
        the backward one, as :func:`ode_adjoint_tol` does.
    max_num_steps : int
        The most steps between two output times.
    first_step, max_step : float
        The first step's size to try, chosen by default, and the largest. Each dose, stop and event starts the solution anew,
        with a first step of this size. BDF and Adams keep to max_step in their backward pass, too.
    max_memory : float
        Of the one-step methods: bytes that may be kept for the gradient; beyond it, steps are computed once more.
    error_control : {"auto", "states", "derivatives"}
        Of the one-step methods: what step sizes are chosen by. "states" is the error of the states alone. "derivatives" is
        also that of a tangent along one fixed direction of everything that may be differentiated, without which derivatives
        are lost where a solution rests. "auto" is "derivatives" where a derivative is wanted and "states" where none is. Choose
        "derivatives" where an optimiser calls values and gradients that are to come from the same steps; it then holds for
        the initial state and for all floating-point numbers in `args`. See :doc:`gradient_trust`.
    jac : optional
        SciPy's argument, which is taken and not used: the Jacobian of the recorded fun is exact, and `message` says so.
    jac_sparsity : array-like or scipy.sparse, shape (n, n), or pair of ints, optional
        Of the implicit methods: other than zero where df/dy may be, or how far below and above the diagonal that is. By
        default the recorded right-hand side tells, which is right unless it hides entries in an operation written by hand.
    lband, uband : int, optional
        How far below and above the diagonal df/dy may be other than zero: ``jac_sparsity=(lband, uband)`` in SciPy's words.
    vectorized : bool
        Whether fun takes y of shape (n, k), k states side by side. It is called with k = 1, as SciPy does, and gains nothing.
    linear_solver : {"auto", "dense", "banded", "sparse", "gmres"}
        Of the implicit methods: how they solve their linear equations. "auto" is the cheapest for the pattern of df/dy:
        dense for few states, banded where the bands are narrow, sparse where little is filled. "gmres", for CVODES'
        methods, has products with df/dy only.
    sensitivities : {"adjoint", "forward", "simultaneous", "auto"}
        Of "BDF" and "Adams": reverse mode by an integration back in time, or by sensitivities that are integrated with the
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
    Second derivatives (``hessian``, ``hvp``, nested transformations) pass through the one-step methods, with respect to
    everything that has a first derivative: the initial state, the arguments, doses, events and times; through "auto", "Rodas4"
    and "Rodas5P" where fun is made of elementwise functions, sums, matrix products and indexing, as does their forward mode.
    "BDF" and "Adams" have first derivatives only, in both modes; forward mode through them integrates a sensitivity along
    each direction, with the states' tolerances. Where fun chooses by the state (`np.where`), derivatives of second order do
    not see the choice change along a solution.

    Examples
    --------
    >>> import numpy as np, agrad as ag
    >>> end = lambda rate: ag.solve_ivp(lambda t, y, k: -k * y, (0.0, 1.0), [1.0], args=(rate,)).y[0, -1]
    >>> round(ag.grad(end)(0.5), 4)  # -exp(-0.5)
    -0.6065
    """
    check_callable("solve_ivp", "fun", fun)
    states, y0 = states_of("solve_ivp", y0)
    if states is not None:
        if vectorized:
            raise ValueError("solve_ivp: vectorized is True, but must be False where y0 is no vector")
        fun, atol = states.function("solve_ivp", fun), states.tolerances("solve_ivp", "atol", atol)
    given = (rtol, atol)
    atol = never_zero("solve_ivp", "atol", atol)
    tolerances, steps = {"rtol": rtol, "atol": atol}, Steps(first_step, max_step, max_memory, error_control)
    algebra = algebra_of("solve_ivp", linear_solver, jac_sparsity, lband, uband)
    method, note = served(method)
    make_options = options_of("solve_ivp", method, tolerances, max_num_steps, steps, algebra, sensitivities)
    if gradient_check is not False:
        finer = {"rtol": finer_tolerance(rtol), "atol": np.asarray(atol) * 1e-2}
        if error_control == "states":
            steps = steps._replace(error_control="derivatives")  # so that its steps differ at rest, too
        second = options_of("solve_ivp", method, finer, max_num_steps, steps, algebra, sensitivities)
        make_options = checked(make_options, second, allowed_difference("solve_ivp", gradient_check))
    also = happenings("solve_ivp", doses, events, tstops, max_events)
    if also is not None and also.events is not None:
        if sensitivities != "adjoint":
            raise ValueError(f"solve_ivp: sensitivities is {sensitivities!r}, but must be 'adjoint' where there are events")
        if gradient_check is not False:
            raise ValueError("solve_ivp: gradient_check is given, but must not be where there are events")
    also = also if states is None else states.happenings("solve_ivp", also)
    args = further_arguments("solve_ivp", args)
    t_span, t_eval = as_given("solve_ivp", "t_span", t_span), as_given("solve_ivp", "t_eval", t_eval)
    fun = Vectorized(fun) if vectorized else fun
    problem = InitialValueProblem("solve_ivp", fun, y0, make_options, also, args, progress, method, given)
    span = real_values("solve_ivp", "t_span", t_span)
    answer = answer_backwards if span.shape == (2,) and span[0] > span[1] else InitialValueProblem.answer
    result = answer(problem, t_span, t_eval, partial=return_partial, dense=dense_output)
    result = result if states is None else states.structured(result)
    result.message += note if jac is None else f"{note} The exact Jacobian of fun is used, jac is not."
    return result
