"""Defines solve_ivp, which solves initial value problems by any method, with SciPy's signature."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from agrad._ode.algebra import mass_entries, method_with_mass
from agrad._ode.backwards import SlopeOfMinusTime, turned_interruptions, turned_result
from agrad._ode.dense import solution_of
from agrad._ode.doses import Dose
from agrad._ode.events import NO_INTERRUPTIONS, interruptions_of
from agrad._ode.initial_value import Solve, solve_partially
from agrad._ode.method_table import method_named
from agrad._ode.methods import check_choices, checked_method, method_of
from agrad._ode.options import Tolerances, step_options, tolerances_of
from agrad._ode.problem import InitialValueProblem, posed_problem
from agrad._ode.progress import Progress
from agrad._ode.recorded_mass import with_recorded_mass
from agrad._ode.result import OdeResult
from agrad._ode.scipy import Vectorized, algebra_of
from agrad._ode.states import states_of
from agrad._ode.times import times_of
from agrad._record.arguments import RightHandSide
from agrad._record.control import chosen_control

__all__ = ["solve_ivp"]


def solve_ivp(
    fun: RightHandSide,
    t_span: Sequence[Any],
    y0: Any,
    method: str = "auto",
    t_eval: Any = None,
    *,
    before: Any = False,
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
    mass_matrix: Any = None,
    linear_solver: str = "auto",
    sensitivities: str = "adjoint",
    gradient_check: bool | float = False,
    switches: str = "auto",
    return_partial: bool = False,
    progress: Progress = False,
) -> OdeResult:
    """Solve an initial value problem, with SciPy's signature; the result is differentiable.

    Parameters
    ----------
    fun : callable
        The right-hand side ``fun(t, y, *args)``, written with NumPy; see :func:`ode_adjoint_tol_ctl`.
    t_span : pair of floats
        Initial and final time. Where the times decrease, so do t_eval and `t`, and doses are not allowed; directions of events
        are along the solution. The result is differentiable with respect to t_span and t_eval.
    y0 : array-like, shape (n,), or of any shape, or tree of arrays
        The initial state. Where y0 is a matrix or a dict, dataclass, list or tuple of arrays, fun, events and resets get a
        state of that structure, fun and resets return the same structure, and so does `y`, with the times as last axis of each
        array. Indices of states (in doses and jac_sparsity) follow np.ravel, array after array, those of a dict by sorted keys.
    method : {"auto", "Tsit5", "RK45", "CKRK", "DOP853", "Rodas4", "Rodas5P", "BDF", "Adams"}
        "auto" starts with Tsit5 and changes to Rodas5P, or to Rodas4 for rtol >= 1e-5, where the system becomes stiff; the
        result says when. One-step methods have the exact gradient of the computed solution: the explicit Runge-Kutta methods
        of Tsitouras ("Tsit5"), Dormand and Prince ("RK45"), Cash and Karp ("CKRK"), and Dormand and Prince of order 8
        ("DOP853"), for systems that are not stiff; and the Rosenbrock methods "Rodas4" and "Rodas5P" (of order 5), for stiff
        systems. "BDF" for stiff and "Adams" for other systems are CVODES' methods, in both directions; the reverse pass
        interpolates the forward state by Hermite polynomials for BDF and by polynomials of variable degree for Adams, whose
        steps are longer. SciPy's "Radau", "LSODA" and "RK23" mean "Rodas5P", "auto" and "Tsit5" here; `message` says so.
    t_eval : array-like, shape (k,), optional
        Output times within t_span, in the order of t_span; times may be repeated, and the initial time may be the first. By
        default the two ends of t_span. Output times cost steps only where the times are sparse: where a step passes several
        times, the method's interpolant is used (not by CKRK). Recorded times must differ where there are doses, events or
        tstops.
    before : bool or array-like of bool, shape (k,)
        Whether the output is the state before doses at its time, as a trough is, for all output times or for each; by default
        the state after. A time may be repeated for both: ``t_eval=[12.0, 12.0], before=[True, False]``.
    dense_output : bool
        Whether the result has `sol`, which returns the states at times within t_span, in any order, and is differentiable. The
        first call solves again, for the polynomials of the method within all steps. In a compiled function, whose runs may
        take other steps, and for derivatives by BDF and Adams, whose steps do not depend on derivatives, each call solves,
        with the given times as output times.
    args : tuple
        Further arguments of fun: any nested structures of numbers and arrays.
    events : callable, Event, or sequence of these, optional
        Functions ``event(t, y, *args)`` whose zeros are found; the attributes `terminal`, `direction` and, beyond SciPy,
        `reset` define the effect of the event. See :class:`Event`.
    doses : sequence of Dose
        Amounts that are added to states, at once or as infusions; see :class:`Dose`. At the time of a dose the output is the
        state after the dose; `before` asks for the state before.
    tstops : array-like, shape (s,)
        Times at which steps must end, because fun jumps there; differentiable where fun's jump moves with the stop.
        Comparisons of t with numbers in fun, as ``np.where(t < 5.0, ...)``, are found without.
    max_events : int
        The most events; more events raise a SolverError.
    rtol, atol : float, float or of y0's structure
        Relative and absolute tolerance; atol may be 0 where a state stays off zero. One-step methods, and so the default,
        use the tolerances unchanged; "BDF" and "Adams" with adjoint sensitivities divide atol by 10 in the forward pass and by
        3 in the reverse pass, as :func:`ode_adjoint_tol` does, and more where the units of the loss demand it.
    max_num_steps : int
        The maximum number of steps between two output times.
    first_step, max_step : float
        The first step's size, by default chosen by the solver, and the largest step size. Each dose, stop and event restarts
        the integration, with a first step of this size. BDF and Adams obey max_step in the reverse pass, too.
    max_memory : float
        Of the one-step methods: the bytes that may be stored for the gradient; with more, steps are computed again.
    error_control : {"auto", "states", "derivatives"}
        Of the one-step methods: the error estimate that controls step sizes. "states" means the error of the states alone.
        "derivatives" includes the error of a tangent along a fixed direction of all differentiable inputs, without which
        derivatives are lost where a solution rests. "auto" means "derivatives" where a derivative is wanted and "states"
        elsewhere. Choose "derivatives" where an optimiser needs values and gradients from the same steps; the choice then
        covers the initial state and all floating-point numbers in `args`. In a compiled function "auto" means the choice of
        :func:`agrad.compile`. See :doc:`gradient_trust`.
    jac : optional
        SciPy's argument, which is accepted and not used: the Jacobian of the recorded fun is exact, and `message` says so.
    jac_sparsity : array-like or scipy.sparse, shape (n, n), or pair of ints, optional
        Of the implicit methods: a matrix that is not zero where df/dy may be nonzero, or the numbers of diagonals below and
        above the main diagonal. By default the pattern of the recorded right-hand side is used, which is right unless an
        operation written by hand hides entries.
    lband, uband : int, optional
        The numbers of diagonals of df/dy below and above the main diagonal, as in SciPy: ``jac_sparsity=(lband, uband)``.
    vectorized : bool
        Whether fun takes y of shape (n, k), k states side by side. fun is called with k = 1, as in SciPy, and gains nothing.
    mass_matrix : array-like or scipy.sparse, shape (n, n), optional
        M of the system ``M y' = fun(t, y, *args)`` for "Rodas4" and "Rodas5P", which "auto" then means. A matrix that is
        recorded makes the derivatives of the states further states of the solve. Where M is singular, the system is
        differential-algebraic and must be of index 1: M y0 is given, and the part of y0 that M does not see is a guess for the
        constraints, the equations without derivatives. They are solved at the start and after each dose, reset and jump of fun.
        Rows and columns follow np.ravel(y0).
    linear_solver : {"auto", "dense", "banded", "sparse", "gmres"}
        Of the implicit methods: the solver of linear equations. "auto" is the cheapest solver for the pattern of df/dy:
        dense for few states, banded for narrow bands, sparse for little fill-in. "gmres", for CVODES' methods, needs products
        with df/dy only.
    sensitivities : {"adjoint", "forward", "simultaneous", "auto"}
        Of "BDF" and "Adams": reverse mode by an integration back in time, or by sensitivities that are integrated with the
        states, as :func:`ode_bdf` does, for few parameters and for Jacobians. Each step solves for the sensitivities after the
        states ("forward", CVODES' staggered corrector) or with the states ("simultaneous"). "auto" chooses adjoint or forward
        by the number of states and parameters, for the gradient of a single number. Forward sensitivities use atol unchanged.
        With events only "adjoint" is possible.
    gradient_check : bool or float
        Whether each reverse pass runs a second time, through a solution with a hundredth of rtol and atol, and a
        RuntimeWarning tells where the relative difference of the two gradients is above this number; True means 1e-3. Where
        parts of a gradient cancel, as at an optimum, the size of the parts counts. A checked gradient takes at least twice as
        long. With doses, events and switches, each segment between them is compared separately.
    switches : {"auto", "ignore"}
        What happens where fun jumps because a comparison of states (`np.where(y[0] > 1.0, ...)`, `np.sign`, `np.floor`, a
        remainder) changes its result. "auto": steps end there, as at events, and every derivative has the part of the jump. A
        comparison that only makes a kink costs nothing. Where the state slides along a threshold, a SolverError says so.
        "ignore": steps pass over the jump, and derivatives do not have its part.
    return_partial : bool
        Whether a solver that fails returns the solution before the failure, with success False, status -1 and the fault as
        message, instead of raising a SolverError. Without t_eval the last of the two times is close to the failure. The
        gradient is that of the returned part; a compiled function keeps the number of times of the recording.
    progress : bool or callable
        Whether a bar shows the progress of each pass, forward and backward, after half a second; needs tqdm. Or a callable
        ``progress(t, t_end, pass)``, pass being "forward" or "backward", which is called at most ten times a second, and at
        the end of each pass that succeeds; an exception of the callable ends the solve. A recorded or compiled function keeps
        the callable and shows each run.

    Returns
    -------
    OdeResult
        With t, shape (k,), and y, shape (n, k); with events also t_events and y_events. Output times after a terminal event
        are left out; without t_eval the last output time is the end.

    Raises
    ------
    ShapeError, DomainError, SolverError
        As :func:`ode_adjoint_tol_ctl`.

    Notes
    -----
    One-step methods have second derivatives (``hessian``, ``hvp``, nested transformations) with respect to all differentiable
    inputs: the initial state, the arguments, doses, events and times. "auto", "Rodas4" and "Rodas5P" have second derivatives
    and forward mode where fun is made of elementwise functions, sums, matrix products and indexing. "BDF" and "Adams" have
    first derivatives only, in both modes; forward mode integrates a sensitivity along each direction, with the states'
    tolerances. Second derivatives ignore that a kink of fun (`np.abs`, `np.maximum`) moves along a solution.

    Examples
    --------
    >>> import numpy as np, agrad as ag
    >>> end = lambda rate: ag.solve_ivp(lambda t, y, k: -k * y, (0.0, 1.0), [1.0], args=(rate,)).y[0, -1]
    >>> round(ag.grad(end)(0.5), 4)  # -exp(-0.5)
    -0.6065
    """
    function = "solve_ivp"
    structure, flat = states_of(function, y0)
    posed = posed_problem(function, "fun", fun, flat, args)
    if structure is not None:
        if vectorized:
            raise ValueError(f"{function}: vectorized is True, but must be False where y0 is no vector")
        fun, atol = structure.function(function, fun), structure.tolerances(function, "atol", atol)
    named, note = method_named(function, method)
    entry = method_with_mass(function, named, mass_matrix)
    algebra = algebra_of(function, linear_solver, jac_sparsity, lband, uband)
    check_choices(function, entry, algebra, sensitivities, error_control, switches)
    error_control = chosen_control(error_control)
    interruptions = interruptions_of(function, doses, events, tstops, max_events)
    if interruptions is not None and interruptions.events is not None:
        if sensitivities != "adjoint":
            raise ValueError(f"{function}: sensitivities is {sensitivities!r}, but must be 'adjoint' where there are events")
        interruptions = interruptions if structure is None else structure.interruptions(function, interruptions)
    fun, times = Vectorized(fun) if vectorized else fun, times_of(function, t_span, t_eval, before)
    if times.is_backwards:
        fun, interruptions = SlopeOfMinusTime(fun, function), turned_interruptions(function, interruptions)
    if mass_matrix is not None and interruptions is None:
        interruptions = NO_INTERRUPTIONS  # so that the output at the initial time is a consistent state, too
    times.check_start(function, posed.states)
    size, memory = posed.states.size, 1e9 if entry.is_multistep else max_memory
    relative, absolute = tolerances_of(function, size, ("rtol", "atol"), rtol, atol, allows_zero=True)
    implicit, posed = with_recorded_mass(posed, fun, mass_matrix, algebra)
    if implicit is not None:
        fun, interruptions, size = implicit, implicit.interruptions(interruptions), implicit.size
        absolute = implicit.tolerances(absolute)
    mass = mass_entries(function, mass_matrix, size) if implicit is None else implicit.mass
    tolerances = relative, absolute
    options = step_options(function, size, tolerances, max_num_steps, first_step, max_step, memory, algebra, error_control)
    options = options._replace(mass=mass)
    core_method = method_of(function, entry, options, sensitivities)
    if gradient_check is not False:
        core_method = checked_method(function, entry, options, sensitivities, gradient_check)
    problem = InitialValueProblem.of(
        posed,
        fun,
        times,
        core_method,
        interruptions=interruptions,
        progress=progress,
        method_name=entry.name,
        tolerances=(rtol, atol),
        holds_switches=switches == "auto",
    )
    result = solve_partially(problem) if return_partial else Solve(problem).result()
    if dense_output:
        result.sol = solution_of(problem, result)
    result = turned_result(result) if times.is_backwards else result
    result = result if implicit is None else implicit.shortened(result)
    result = result if structure is None else structure.structured(result)
    result.message += note if jac is None else f"{note} The exact Jacobian of fun is used, jac is not."
    return result
