"""Gives solutions of equations their derivatives.

Let x0 solve f(x, p) = 0 for given p, and let J0 be the Jacobian at x0, both without derivatives. Then a step
``x1 = x0 - J0^-1 f(x0, p)`` leaves x0 where it is, and dx1/dp = -J0^-1 df/dp is the derivative of the solution as a function of
p. With each further step x1, x2, ... of the same J0 one more order of derivatives is exact. Source: the error of the chord
method falls by one power of the distance in each step (Deuflhard 2011, Newton Methods for Nonlinear Problems, section 2.1),
here the powers of a change of p.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agrad._core import Array
from agrad._record.within import here

__all__ = ["follow", "orders_ahead"]


def orders_ahead() -> int:
    """Returns the largest order of derivatives that can be taken of what is being recorded.

    The outermost transformation takes at most two orders, and those within are counted where they record.
    """
    return here.place.orders + 2


def follow(residual: Callable[[Any], Any], x0: Any, inverse: Any) -> Any:
    """Returns the solution x0 as a function of the recorded values in `residual`.

    x0, a vector, and `inverse`, that of the Jacobian at x0, are without derivatives; they are recorded where `residual` is.
    """
    if not isinstance(x0, Array):
        return x0
    x: Any = x0
    for _ in range(orders_ahead()):
        x = x - inverse @ residual(x)  # a product has derivatives of every order
    return x
