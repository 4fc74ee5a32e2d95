"""Steady states of differential equations, and their derivatives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from agrad._core import ShapeError, SteadyOperation
from agrad._loops_body import keep
from agrad._ode_options import Tolerances, each_state, positive_number, whole
from agrad._ode_record import RecordedSlope, check_callable, further_arguments, real_values, vector
from agrad._structure import find_recording

__all__ = ["SteadyResult", "steady_state"]

_METHODS = {"auto": 0, "newton": 1, "integration": 2}


@dataclass
class SteadyResult:
    """What :func:`steady_state` returns.

    Attributes
    ----------
    y : numpy.ndarray or Array, shape (n,)
        The steady state; differentiable.
    success : bool
        True; a search that does not succeed raises.
    residual : float
        The largest derivative that is left; nan while a surrounding function is recorded.
    iterations : int
        Steps of Newton's method, altogether; 0 while a surrounding function is recorded.
    method : str
        Which way found it: "newton" or "integration"; "" while a surrounding function is recorded.
    stats : dict
        More of it: `conserved`, the number of conserved totals, and `integrated_time`.
    """

    y: Any
    success: bool = True
    residual: float = float("nan")
    iterations: int = 0
    method: str = ""
    stats: dict[str, Any] = field(default_factory=dict)


def steady_state(
    f: Callable[..., Any],
    y0: Any,
    *,
    args: tuple[Any, ...] = (),
    rtol: float = 1e-10,
    atol: Tolerances = 1e-12,
    max_iterations: int = 50,
    method: str = "auto",
) -> SteadyResult:
    """Find a state at which an autonomous system comes to rest; its derivatives are those of the implicit function.

    Newton's method, damped, solves ``f(0, y, *args) = 0`` from y0. Where it does not converge, the system is integrated
    over longer and longer times, and Newton's method goes on from where that leads.

    Totals that the system conserves, such as all of an enzyme, free and bound, are found by themselves. They keep the
    values that they have at y0, which chooses among the steady states.

    Parameters
    ----------
    f : callable
        The right-hand side ``f(t, y, *args)`` of :func:`solve_ivp`, which does not depend on t; see
        :func:`ode_adjoint_tol_ctl`.
    y0 : array-like, shape (n,)
        Where to start.
    args : tuple
        Further arguments of f: any nested structures of numbers and arrays.
    rtol, atol : float, float or shape (n,)
        Relative and absolute tolerance of the states.
    max_iterations : int
        The most steps of Newton's method from each state that it starts from.
    method : {"auto", "newton", "integration"}
        "newton" does not integrate, "integration" does so from the start: it leads to the steady state that the system
        itself goes to, where Newton's method may find another one, which can be unstable.

    Returns
    -------
    SteadyResult
        With y, shape (n,), and how it was found.

    Raises
    ------
    ShapeError, DomainError
        As :func:`ode_adjoint_tol_ctl`.
    SolverError
        No steady state was found, or f is not finite at y0.

    Notes
    -----
    With J the Jacobian of f, f_p its derivative with respect to a parameter and L the rows of conserved totals, derivatives
    solve J dy = -f_p dp together with L dy = L dy0. They take one linear solve for each adjoint or direction, have second
    derivatives, and with respect to y0 they are zero but for the conserved totals. Where J is singular without such totals,
    dy is the solution of smallest norm, and there are no second derivatives.

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
    check_callable(function, "f", f)
    if method not in _METHODS:
        raise ValueError(f"{function}: method is {method!r}, but must be one of {', '.join(map(repr, _METHODS))}")
    y0 = vector(function, "y0", y0)
    start = real_values(function, "y0", y0)
    if start.size == 0:
        raise ShapeError(f"{function}: y0 is of length 0, but must be of length 1 or more")
    options = (
        positive_number(function, "rtol", rtol),
        each_state(function, "atol", atol, start.size),
        whole(function, "max_iterations", max_iterations),
        _METHODS[method],
    )
    args = further_arguments(function, args)
    recorded = RecordedSlope(function, f, 0.0, start, args)
    operation = SteadyOperation(function, recorded.program, start.size, *options)
    parts = [y0, *(np.ravel(x) for x in recorded.parameters)]
    recording = find_recording(parts)
    if recording is not None:
        keep(recording, recorded.bodies)
        return SteadyResult(operation.record(np.concatenate([recording.array(x) for x in parts])))
    y, report = operation.solve(np.concatenate(parts))
    found_by = {key: report.pop(key) for key in ("residual", "iterations", "method")}
    return SteadyResult(y, stats=report, **found_by)
