"""Solves initial value problems by CVODES with the adjoint method; the signatures follow Stan's design document."""

from __future__ import annotations

from typing import Any

import numpy as np

from agrad._core import AdjointMethod, AdjointOptions, TolerancePair
from agrad._ode.algebra import Algebra
from agrad._ode.initial_value import states_after
from agrad._ode.options import Tolerances, tolerances_of
from agrad._record.arguments import RightHandSide, positive, positive_number, whole

__all__ = ["ode_adjoint_tol_ctl"]


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
        The most steps between two output times, in each direction.
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
    function = "ode_adjoint_tol_ctl"

    def method_for(size: int) -> AdjointMethod:
        def pair(which: str, relative: float, absolute: Tolerances) -> TolerancePair:
            names = f"relative_tolerance_{which}", f"absolute_tolerance_{which}"
            return TolerancePair(*tolerances_of(function, size, names, relative, absolute))

        def number(name: str, value: int) -> int:
            return whole(function, name, value)

        o = AdjointOptions()
        o.forward = pair("forward", relative_tolerance_forward, absolute_tolerance_forward)
        o.backward = pair("backward", relative_tolerance_backward, absolute_tolerance_backward)
        o.quadrature = TolerancePair(
            positive_number(function, "relative_tolerance_quadrature", relative_tolerance_quadrature),
            np.atleast_1d(positive(function, "absolute_tolerance_quadrature", absolute_tolerance_quadrature)),
        )
        o.max_num_steps = number("max_num_steps", max_num_steps)
        o.num_steps_between_checkpoints = number("num_steps_between_checkpoints", num_steps_between_checkpoints)
        o.set_interpolation(function, number("interpolation_polynomial", interpolation_polynomial))
        o.set_methods(function, number("solver_forward", solver_forward), number("solver_backward", solver_backward))
        o.algebra = Algebra().to_core(function, size)
        return AdjointMethod(o)

    return states_after(function, f, y0, t0, times, args, method_for)
