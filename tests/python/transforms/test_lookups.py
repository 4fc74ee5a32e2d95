"""Derivatives of ``np.interp``: against the formula of each piece, at a cost that hardly grows with the table."""

import time

import numpy as np
import pytest

import agrad as ag

GRID = np.array([-1.0, 0.5, 2.0, 4.0])
HEIGHTS = np.array([1.0, -0.5, 2.5, 0.25])


def written(x, xp, fp):
    """The second piece of the polygon, by hand."""
    return fp[1] + (fp[2] - fp[1]) / (xp[2] - xp[1]) * (x - xp[1])


def both(f):
    """A function of a vector: the point, the table's points and its values, which all depend on the vector."""
    return lambda v: f(1.0 + v[0] * v[1], GRID + 0.1 * np.sin(v[0]) * np.arange(4.0), HEIGHTS * np.exp(v[1])) ** 2


FORMS = {
    "hessian": ag.hessian,
    "jacfwd of grad": lambda f: ag.jacfwd(ag.grad(f)),
    "jacrev of grad": lambda f: ag.jacrev(ag.grad(f)),
    "jacfwd of jacfwd": lambda f: ag.jacfwd(ag.jacfwd(f)),
    "jacrev of jacfwd": lambda f: ag.jacrev(ag.jacfwd(f)),
    "compiled hessian": lambda f: ag.compile(ag.hessian(f)),
}


@pytest.mark.parametrize("form", FORMS)
def test_second_derivatives_by_point_places_and_values(form):
    v = np.array([0.3, -0.4])
    expected = FORMS[form](both(written))(v)
    np.testing.assert_allclose(FORMS[form](both(np.interp))(v), expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("x", [-2.0, -1.0, 0.5, 1.2, 4.0, 5.0])
def test_forward_and_reverse_agree_inside_outside_and_at_points(x):
    def f(p):
        return np.interp(p[0], GRID, HEIGHTS + p[1] * GRID)

    at = np.array([x, 0.3])
    np.testing.assert_allclose(ag.jacfwd(f)(at), ag.grad(f)(at), rtol=1e-14)
    np.testing.assert_allclose(ag.jacfwd(ag.jacfwd(f))(at), ag.hessian(f)(at), rtol=1e-14)


def test_third_derivative_through_a_plain_table():
    third = ag.grad(ag.grad(ag.grad(lambda x: np.interp(np.sin(x), GRID, HEIGHTS))))
    slope = (HEIGHTS[2] - HEIGHTS[1]) / (GRID[2] - GRID[1])
    assert third(0.9) == pytest.approx(-slope * np.cos(0.9), rel=1e-13)


@pytest.mark.parametrize("derivative", [ag.grad, ag.hessian, lambda f: lambda x: ag.jvp(f, (x,), (1.0,))[1]])
def test_a_long_table_costs_little_more_than_a_short_one(derivative):
    def seconds(points):
        xp = np.linspace(0.0, 1.0, points)
        run = ag.compile(derivative(lambda x: np.interp(np.sin(x), xp, xp**2) ** 2))
        run(0.4)
        return min(timed(run) for _ in range(5))

    def timed(run):
        begin = time.perf_counter()
        for _ in range(20):
            run(0.4)
        return time.perf_counter() - begin

    assert seconds(300_000) < 20 * seconds(10)  # was a thousand times as long
