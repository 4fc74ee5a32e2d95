"""The RFC's family by one-step methods: ode_tsit5, ode_rk45, ode_ckrk, ode_dop853, ode_rodas4, ode_rodas5p, with _tol."""

from __future__ import annotations

from agrad._ode.options import step_method
from agrad._ode.pair import SolverPair

__all__ = [
    "METHODS",
    "WITH_FACTORS",
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

#: What the methods are called in `solve_ivp`, and what they are.
METHODS = {
    "auto": "Tsit5, and Rodas4 or, for tight tolerances, Rodas5P from where the system turns stiff",
    "Tsit5": "Tsitouras' method of order 5, the first choice for systems that are not stiff",
    "RK45": "Dormand and Prince's method of order 5",
    "CKRK": "Cash and Karp's method of order 5, for solutions that change abruptly",
    "DOP853": "Dormand and Prince's method of order 8, for tight tolerances",
    "Rodas4": "Hairer and Wanner's Rosenbrock method of order 4, for stiff systems",
    "Rodas5P": "Steinebach's Rosenbrock method of order 5, for stiff systems and tight tolerances",
}


#: Those that solve linear equations with the Jacobian.
WITH_FACTORS = ("Rodas4", "Rodas5P", "auto")


def _pair(name: str, method: str) -> SolverPair:
    where = " where fun's Jacobian can be recorded" if method in WITH_FACTORS else ""
    return SolverPair(
        name,
        lambda function, tolerances, max_num_steps: step_method(function, method, tolerances, max_num_steps),
        METHODS[method],
        "Of each step's error.",
        "The gradient is the exact one of the computed solution for the accepted step sizes (a discrete adjoint); there are\n"
        f"    second derivatives{where}.\n"
        f"    Method {method!r} of :func:`solve_ivp`.",
    )


_TSIT5, _RK45, _CKRK = _pair("ode_tsit5", "Tsit5"), _pair("ode_rk45", "RK45"), _pair("ode_ckrk", "CKRK")
_DOP853 = _pair("ode_dop853", "DOP853")
_RODAS4, _RODAS5P = _pair("ode_rodas4", "Rodas4"), _pair("ode_rodas5p", "Rodas5P")
ode_tsit5, ode_tsit5_tol = _TSIT5.usual(), _TSIT5.with_tolerances()
ode_rk45, ode_rk45_tol = _RK45.usual(), _RK45.with_tolerances()
ode_ckrk, ode_ckrk_tol = _CKRK.usual(), _CKRK.with_tolerances()
ode_dop853, ode_dop853_tol = _DOP853.usual(), _DOP853.with_tolerances()
ode_rodas4, ode_rodas4_tol = _RODAS4.usual(), _RODAS4.with_tolerances()
ode_rodas5p, ode_rodas5p_tol = _RODAS5P.usual(), _RODAS5P.with_tolerances()
