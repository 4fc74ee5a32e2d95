"""Creates the core's methods from an entry of the table and the options of the steps."""

from __future__ import annotations

import numpy as np

from agrad._core import (
    AdjointMethod,
    AdjointOptions,
    CheckedMethod,
    ConfiguredMethod,
    ErrorControl,
    ForwardMethod,
    StepMethod,
    TolerancePair,
)
from agrad._ode.algebra import Algebra
from agrad._ode.method_table import Method
from agrad._ode.options import LEAST_TOLERANCE, StepOptions
from agrad._record.arguments import check_one_of, positive_number

__all__ = ["check_choices", "checked_method", "method_of"]

_HERMITE, _POLYNOMIAL = 1, 2
#: Replaces the least tolerance for adjoints and quadratures, which begin at zero and so need a larger tolerance.
_LEAST_OF_ADJOINTS = 1e-8
_DEFAULT_DIFFERENCE = 1e-3
_CORRECTORS = {"forward": 2, "simultaneous": 1, "auto": 2}
#: How CVODES computes derivatives.
_SENSITIVITIES = ("adjoint", *_CORRECTORS)


def check_choices(
    function: str, method: Method, algebra: Algebra, sensitivities: str, error_control: str, switches: str
) -> None:
    """Raises where the method does not have the user's choices."""
    algebra.check(function, method)
    check_one_of(function, "sensitivities", sensitivities, _SENSITIVITIES)
    check_one_of(function, "switches", switches, ("auto", "ignore"))
    if not method.is_multistep and sensitivities != "adjoint":
        hint = "derivatives of one-step methods are those of their steps"
        raise ValueError(f"{function}: sensitivities is {sensitivities!r}, but must be 'adjoint' for {method.name!r}; {hint}")
    if method.is_multistep and error_control != "auto":
        hint = "sensitivities='forward' puts derivatives into the error control of 'BDF' and 'Adams'"
        raise ValueError(f"{function}: error_control is {error_control!r}, but must be 'auto' for {method.name!r}; {hint}")


def method_of(
    function: str, method: Method, options: StepOptions, sensitivities: str = "adjoint", *, in_units_of_loss: bool = True
) -> ConfiguredMethod:
    """Returns the core's method for an entry of the table.

    With `in_units_of_loss` the tolerances of adjoints become smaller than those of Stan's design document 0027
    where units demand smaller ones.
    """
    if not method.is_multistep:
        return StepMethod(method.name, *options)
    if sensitivities == "adjoint":
        return _adjoint_method(function, method, options, in_units_of_loss)
    return ForwardMethod(
        function,
        method.code,
        _CORRECTORS[sensitivities],
        options.relative_tolerance,
        options.absolute_tolerance,
        options.max_num_steps,
        options.algebra,
        options.first_step,
        options.max_step,
        _adjoint_method(function, method, options, in_units_of_loss) if sensitivities == "auto" else None,
    )


def _adjoint_method(function: str, method: Method, options: StepOptions, in_units_of_loss: bool) -> AdjointMethod:
    """Returns CVODES with the adjoint method; tolerances of the backward pass are derived as in Stan's design document 0027."""
    same, each = options.relative_tolerance, options.absolute_tolerance
    of_adjoints = np.where(each > LEAST_TOLERANCE, each, _LEAST_OF_ADJOINTS)
    o = AdjointOptions()
    o.forward, o.backward = TolerancePair(same, each / 10), TolerancePair(same, of_adjoints / 3)
    o.quadrature = TolerancePair(same, [of_adjoints.min()])
    # Adams takes long steps of high order; cubic interpolation between these steps is too inaccurate.
    o.set_interpolation(function, _POLYNOMIAL if method.name == "Adams" else _HERMITE)
    o.set_methods(function, method.code, method.code)
    o.max_num_steps, o.first_step, o.max_step = options.max_num_steps, options.first_step, options.max_step
    o.algebra, o.in_units_of_loss = options.algebra, in_units_of_loss
    return AdjointMethod(o)


def checked_method(
    function: str, method: Method, options: StepOptions, sensitivities: str, gradient_check: bool | float
) -> CheckedMethod:
    """Returns the method with gradients that are compared with those of a second solve with smaller tolerances."""
    allowed = _DEFAULT_DIFFERENCE if gradient_check is True else positive_number(function, "gradient_check", gradient_check)
    control = options.error_control
    if control == ErrorControl.states:
        control = ErrorControl.derivatives  # so that the second solve's steps differ at rest, too
    first = method_of(function, method, options, sensitivities)
    return CheckedMethod(first, method_of(function, method, options.finer(control), sensitivities), allowed)
