"""Finds the methods of solve_ivp and solve_many by their names, and replacements for SciPy's methods that agrad lacks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agrad._ode.algebra import Algebra
from agrad._ode.arguments import check_one_of
from agrad._ode.forward import SENSITIVITIES, forward_method
from agrad._ode.method_table import METHODS
from agrad._ode.options import ADAMS, BDF, Steps, simple_options, step_method

__all__ = ["options_of", "served"]

#: Replacements for SciPy's methods that agrad lacks: for stiff systems, for stiff and other systems, and of low order.
SERVED = {"Radau": "Rodas5P", "LSODA": "auto", "RK23": "Tsit5"}


def served(method: str) -> tuple[str, str]:
    """Returns the method for a name, and a note on a replacement for the result's message."""
    taken = SERVED.get(method, method)
    return taken, "" if taken == method else f" {taken!r} was used instead of {method!r}."


def options_of(
    function: str,
    method: str,
    tolerances: dict[str, Any],
    max_num_steps: int,
    steps: Steps = Steps(),  # noqa: B008 - immutable
    algebra: Algebra = Algebra(),  # noqa: B008
    sensitivities: str = "adjoint",
) -> Callable[[int], Any]:
    """Returns a function that makes the options of the named method for a number of states."""
    codes = {"Adams": ADAMS, "BDF": BDF}
    methods = [*codes, *METHODS, *SERVED]
    check_one_of(function, "method", method, methods)
    has_factors = method in METHODS and METHODS[method].has_factors
    algebra.checked(function, method, has_factors=has_factors, is_implicit=has_factors or method in codes)
    check_one_of(function, "sensitivities", sensitivities, SENSITIVITIES)
    if method not in codes:
        if sensitivities != "adjoint":
            hint = "derivatives of one-step methods are those of their steps"
            raise ValueError(f"{function}: sensitivities is {sensitivities!r}, but must be 'adjoint' for {method!r}; {hint}")
        return step_method(function, method, tolerances, max_num_steps, steps, algebra)
    if steps.error_control != "auto":
        hint = "sensitivities='forward' puts derivatives into the error control of 'BDF' and 'Adams'"
        raise ValueError(f"{function}: error_control is {steps.error_control!r}, but must be 'auto' for {method!r}; {hint}")
    if sensitivities != "adjoint":
        return forward_method(function, tolerances, max_num_steps, codes[method], sensitivities, algebra, steps)
    return simple_options(function, tolerances, max_num_steps, codes[method], algebra, steps)
