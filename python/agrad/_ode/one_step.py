"""Defines the RFC's one-step solvers: ode_tsit5, ode_rk45, ode_ckrk, ode_dop853, ode_rodas4, ode_rodas5p, also with _tol."""

from __future__ import annotations

from agrad._ode.method_table import METHODS
from agrad._ode.options import step_method
from agrad._ode.pair import SolverPair

__all__ = [
    "ode_ckrk",
    "ode_ckrk_tol",
    "ode_dop853",
    "ode_dop853_tol",
    "ode_rk45",
    "ode_rk45_tol",
    "ode_rodas4",
    "ode_rodas4_tol",
    "ode_rodas5p",
    "ode_rodas5p_tol",
    "ode_tsit5",
    "ode_tsit5_tol",
]


def _pair(method: str) -> SolverPair:
    where = " where fun's Jacobian can be recorded" if METHODS[method].has_factors else ""
    return SolverPair(
        f"ode_{method.lower()}",
        lambda function, tolerances, max_num_steps: step_method(function, method, tolerances, max_num_steps),
        METHODS[method].text,
        "Of the error of each step.",
        "The gradient is the exact one of the computed solution for the accepted step sizes (a discrete adjoint); there are\n"
        f"    second derivatives{where}.\n"
        f"    Method {method!r} of :func:`solve_ivp`.",
    )


_TSIT5, _RK45, _CKRK, _DOP853 = _pair("Tsit5"), _pair("RK45"), _pair("CKRK"), _pair("DOP853")
_RODAS4, _RODAS5P = _pair("Rodas4"), _pair("Rodas5P")
ode_tsit5, ode_tsit5_tol = _TSIT5.usual(), _TSIT5.with_tolerances()
ode_rk45, ode_rk45_tol = _RK45.usual(), _RK45.with_tolerances()
ode_ckrk, ode_ckrk_tol = _CKRK.usual(), _CKRK.with_tolerances()
ode_dop853, ode_dop853_tol = _DOP853.usual(), _DOP853.with_tolerances()
ode_rodas4, ode_rodas4_tol = _RODAS4.usual(), _RODAS4.with_tolerances()
ode_rodas5p, ode_rodas5p_tol = _RODAS5P.usual(), _RODAS5P.with_tolerances()
