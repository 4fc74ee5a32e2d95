"""Compares solutions, and their derivatives to second order, with closed forms, which mpmath differentiates by differences."""

from __future__ import annotations

import mpmath as mp
import numpy as np

import agrad as ag

__all__ = ["check_derivatives"]


def closed_jacobian(closed, p):
    """Value and Jacobian by central differences in 50 digits."""
    with mp.workdps(50):
        q, h = [mp.mpf(x) for x in p], mp.mpf(10) ** -15

        def column(j):
            ahead, behind = (closed(*[x + s * h * (i == j) for i, x in enumerate(q)]) for s in (1, -1))
            return [float((a - b) / (2 * h)) for a, b in zip(ahead, behind, strict=True)]

        return np.array([float(x) for x in closed(*q)]), np.array([column(j) for j in range(len(p))]).T


def closed_second(closed, p, along):
    """The second derivative of the sum of the results, along a direction: the Hessian times the direction."""
    with mp.workdps(50):
        q, h, directions = [mp.mpf(x) for x in p], mp.mpf(10) ** -12, [mp.mpf(x) for x in along]

        def total(j, s, r):
            return sum(closed(*[x + s * h * (i == j) + r * h * d for i, (x, d) in enumerate(zip(q, directions, strict=True))]))

        return np.array(
            [
                float((total(j, 1, 1) - total(j, 1, -1) - total(j, -1, 1) + total(j, -1, -1)) / (4 * h * h))
                for j in range(len(p))
            ]
        )


def check_derivatives(out, closed, p):
    """Checks value, Jacobians, Hessian and products of `out`; `closed` takes the entries of p as arguments."""
    p = np.array(p)
    value, jacobian = closed_jacobian(closed, p)
    np.testing.assert_allclose(out(p), value, rtol=1e-9)
    for transform in (ag.jacrev, ag.jacfwd, lambda f: ag.compile(ag.jacrev(f))):
        np.testing.assert_allclose(transform(out)(p), jacobian, rtol=1e-8, atol=1e-9)
    along = np.cos(np.arange(p.size) + 1.0)
    second = closed_second(closed, p, along)
    hessian = ag.hessian(lambda q: out(q).sum())(p)
    np.testing.assert_allclose(hessian, hessian.T, atol=1e-9)
    np.testing.assert_allclose(hessian @ along, second, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(ag.hvp(lambda q: out(q).sum())(p, along), second, rtol=1e-7, atol=1e-8)
