"""Solves initial value problems by CVODES with the adjoint method; the signatures follow Stan's design document."""

from __future__ import annotations

from typing import Any

from agrad._ode.options import Tolerances, all_options, simple_options
from agrad._ode.problem import states_at
from agrad._ode.record import RightHandSide

__all__ = ["ode_adjoint_tol", "ode_adjoint_tol_ctl"]


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

    The forward pass integrates the states only, with a checkpoint every `num_steps_between_checkpoints` steps. For a gradient
    a backward problem of the size of the state and a quadrature of the size of the active parameters are integrated from the
    last output time to t0, and restarted at each output time. Without recorded arguments none of this is set up.

    Parameters
    ----------
    f : callable
        The right-hand side ``f(t, y, *args)``, written with NumPy: t is a number, y of shape (n,); returns the n
        derivatives of y as an array, list or tuple. f is recorded once and runs without Python; values of the surrounding
        computation that f captures are parameters, too.
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
    relative_tolerance_quadrature, absolute_tolerance_quadrature : float, float or a float for each active parameter
        Tolerances of the parameters' gradient; positive.
    max_num_steps : int
        The maximum number of steps between two output times, in each direction.
    num_steps_between_checkpoints : int
        Steps between two checkpoints of the forward state; a smaller number takes less memory and more recomputation.
    interpolation_polynomial : int
        How the reverse pass interpolates the forward state: 1 Hermite, 2 polynomial of variable degree. Hermite
        interpolation is cubic, and limits the gradient's accuracy when Adams takes long steps at tight tolerances.
    solver_forward, solver_backward : int
        Linear multistep method: 1 Adams, 2 BDF.
    *args : any nested structures of numbers and arrays
        Further arguments of f.

    Returns
    -------
    numpy.ndarray or Array, shape (k, n)
        The states at the output times; recorded if y0, t0, times or one of args is recorded.

    Raises
    ------
    ShapeError
        A length does not fit, or f returns another number of derivatives than y0 has states.
    DomainError
        Times that do not increase or do not lie after t0, tolerances that are not positive and finite, unknown codes.
    SolverError
        CVODES stopped: too many steps, derivatives that are not finite, failing error tests. Exceptions of f during its
        recording pass unchanged.

    Notes
    -----
    f is recorded at t0 and y0 and runs at other values: f cannot branch on t and y (``np.where`` can), and other values that f
    reads are those at the time of the call.

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
    return states_at("ode_adjoint_tol_ctl", f, y0, t0, times, make_options, args)


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

    The absolute tolerance is divided by 10 for the forward and by 3 for the reverse pass, and not changed for the
    quadrature; checkpoints are 250 steps apart; interpolation is Hermite; both passes use BDF.

    Parameters
    ----------
    f : callable
        The right-hand side ``f(t, y, *args)``; see :func:`ode_adjoint_tol_ctl`.
    y0 : array-like, shape (n,)
        The state at t0.
    t0 : float
        The initial time.
    times : array-like, shape (k,)
        The output times, increasing and after t0.
    relative_tolerance, absolute_tolerance : float, float or shape (n,)
        Tolerances; positive. A vector has an entry for each state, and the smallest entry holds for the quadrature.
    max_num_steps : int
        The maximum number of steps between two output times, in each direction.
    *args : any nested structures of numbers and arrays
        Further arguments of f.

    Returns
    -------
    numpy.ndarray or Array, shape (k, n)
        The states at the output times; recorded if y0, t0, times or one of args is recorded.

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
    return states_at("ode_adjoint_tol", f, y0, t0, times, make_options, args)
