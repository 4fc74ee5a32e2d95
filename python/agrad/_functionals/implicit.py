"""Gives solutions of equations their derivatives.

Let x0 solve f(x, p) = 0 for given p, and let J0 be the Jacobian at x0, both without derivatives. Then a step
``x1 = x0 - J0^-1 f(x0, p)`` leaves x0 where it is, and dx1/dp = -J0^-1 df/dp is the derivative of the solution as a function of
p. With each further step x1, x2, ... of the same J0 one more order of derivatives is exact. Source: the error of the chord
method falls by one power of the distance in each step (Deuflhard 2011, Newton Methods for Nonlinear Problems, section 2.1),
here the powers of a change of p.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from agrad._loops.control_flow import cond, counted, fori
from agrad._record.recording import is_in_right_hand_side
from agrad._record.within import here
from agrad._transforms.custom import stop_gradient

__all__ = ["follow", "judged", "orders_ahead", "searched"]


def orders_ahead() -> int:
    """Returns the largest order of derivatives that can be taken of what is being recorded.

    The outermost transformation takes at most two orders, and those within are counted where they record.
    """
    return here.place.orders + 2


def follow(residual: Callable[[Any], Any], x0: Any, jacobian: Any) -> Any:
    """Returns the solution x0, a vector without derivatives, as a function of the recorded values in `residual`.

    `jacobian` is that of `residual` at x0, of full rank.
    """
    x, inverse = stop_gradient(x0), stop_gradient(np.linalg.inv(jacobian))
    for _ in range(orders_ahead()):
        x = x - inverse @ residual(x)  # a product has derivatives of every order
    return x


def searched(goes_on: Callable[[Any], Any], advance: Callable[[Any], Any], start: Any, max_steps: int) -> Any:
    """Returns the carry for which `goes_on` is false first, or that after `max_steps` steps or a few more, without derivatives.

    A loop of loops, because a run passes through all of the outer loop's steps: of 200 some 15.
    """
    inner = math.isqrt(max(max_steps - 1, 0)) + 1

    def one(_: Any, now: Any) -> Any:
        return cond(goes_on(now), advance, lambda same: same, now)

    def several(_: Any, now: Any) -> Any:
        return cond(goes_on(now), lambda first: fori(0, inner, one, first), lambda same: same, now)

    found, steps = counted("searched", 0, -(-max_steps // inner), several, stop_gradient(start))
    if steps is not None:
        steps.paths.mark_converging()  # a right-hand side does not jump where another number of steps is enough
    return stop_gradient(found)


def judged(judge: Callable[[Any], Any], found: Any) -> Any:
    """Returns `judge(found)`, of the same structure and shapes, without derivatives.

    In a right-hand side its comparisons decide how a search ended, and nothing jumps there: they are a part of the search.
    """
    if not is_in_right_hand_side():
        return stop_gradient(judge(found))
    result, step = counted("judged", 0, 1, lambda _, now: judge(now), stop_gradient(found))
    assert step is not None
    step.paths.mark_converging()
    return stop_gradient(result)
