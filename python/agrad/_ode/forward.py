"""Defines the solvers by CVODES with forward sensitivities: ode_bdf and ode_adams, each also with _tol."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agrad._core import ForwardMethod
from agrad._ode.algebra import Algebra
from agrad._ode.arguments import positive_number, whole
from agrad._ode.options import ADAMS, BDF, Steps, each_state, simple_options
from agrad._ode.pair import SolverPair

__all__ = ["SENSITIVITIES", "forward_method", "ode_adams", "ode_adams_tol", "ode_bdf", "ode_bdf_tol"]

_CORRECTORS = {"forward": 2, "simultaneous": 1, "auto": 2}

#: How CVODES computes the derivatives for `solve_ivp`.
SENSITIVITIES = ("adjoint", *_CORRECTORS)


def forward_method(
    function: str,
    tolerances: dict[str, Any],
    max_num_steps: int,
    method: int = BDF,
    sensitivities: str = "forward",
    algebra: Algebra = Algebra(),  # noqa: B008 - immutable
    steps: Steps = Steps(),  # noqa: B008
) -> Callable[[int], ForwardMethod]:
    """Returns a function that makes CVODES' method with forward sensitivities; `tolerances` has the user's names as keys."""
    (relative_name, relative), (absolute_name, absolute) = tolerances.items()

    def make(states: int) -> ForwardMethod:
        weighed = sensitivities == "auto"
        adjoint = simple_options(function, tolerances, max_num_steps, method, algebra, steps)(states) if weighed else None
        return ForwardMethod(
            function,
            method,
            _CORRECTORS[sensitivities],
            positive_number(function, relative_name, relative),
            each_state(function, absolute_name, absolute, states),
            whole(function, "max_num_steps", max_num_steps),
            algebra.made(function, states),
            *steps.sizes(function),
            adjoint,
        )

    return make


_ABOUT = """
    The n states are integrated together with their n sensitivities to each initial value and each parameter for which a
    derivative is wanted, and sensitivities take part in the error control. A reverse pass is one product with the
    sensitivities, so all rows of a Jacobian cost one integration. For the gradient of a loss with respect to many parameters
    :func:`ode_adjoint_tol` costs less.
"""
_REFERENCES = """
    References
    ----------
    Hindmarsh and Serban, User Documentation for CVODES, section 2.6.
"""


def _pair(name: str, method: int, what: str) -> SolverPair:
    return SolverPair(
        name,
        lambda function, tolerances, max_num_steps: forward_method(function, tolerances, max_num_steps, method),
        f"CVODES' {what}, with forward sensitivities",
        "Of the states, and of x times each sensitivity to x, which is in the units of the states.",
        "Because the sensitivities take part in the error control, a solve without derivatives takes other steps, and its\n"
        "    values differ within the tolerances.",
        _ABOUT,
        _REFERENCES,
    )


_BDF = _pair("ode_bdf", BDF, "BDF, for stiff systems")
_ADAMS = _pair("ode_adams", ADAMS, "Adams methods, for systems that are not stiff")
ode_bdf, ode_bdf_tol = _BDF.usual(), _BDF.with_tolerances()
ode_adams, ode_adams_tol = _ADAMS.usual(), _ADAMS.with_tolerances()
