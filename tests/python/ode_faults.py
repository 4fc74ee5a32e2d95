"""A problem that is easily solved, for tests of what happens when one thing about it is wrong."""

import re

import numpy as np
import pytest

import agrad as ag

NAN, INF = float("nan"), float("inf")
NAMES = [
    "relative_tolerance_forward",
    "absolute_tolerance_forward",
    "relative_tolerance_backward",
    "absolute_tolerance_backward",
    "relative_tolerance_quadrature",
    "absolute_tolerance_quadrature",
    "max_num_steps",
    "num_steps_between_checkpoints",
    "interpolation_polynomial",
    "solver_forward",
    "solver_backward",
]
#: Options of `solve` unless a test changes them.
GOOD = dict(zip(NAMES, [1e-6, 1e-8, 1e-6, 1e-8, 1e-6, 1e-8, 1000, 100, 1, 2, 2], strict=True))


def decay(t, y, rate):
    return -rate * y


def solve(f=decay, y0=(1.0, 2.0), t0=0.0, times=(1.0, 2.0), rate=0.7, **changes):
    """The good problem with changes, of its arguments or of options by name."""
    assert set(changes) <= set(GOOD)
    return ag.ode_adjoint_tol_ctl(f, y0, t0, times, *(GOOD | changes).values(), rate)


def value_and_gradient():
    """What must be the same after each fault."""
    return ag.value_and_grad(lambda rate: np.sum(solve(rate=rate)))(0.7)


def assert_refused(error, message, **changes):
    """Exactly this error and message, from a plain solve and from one whose gradient is wanted."""
    complete = "^" + re.escape(message) + "$"
    with pytest.raises(error, match=complete) as caught:
        solve(**changes)
    assert caught.type is error
    with pytest.raises(error, match=complete) as caught:
        ag.grad(lambda rate: np.sum(solve(rate=rate, **changes)))(0.7)
    assert caught.type is error
