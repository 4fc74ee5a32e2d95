"""Jacobians through CVODES' adjoint: several rows run back as one problem."""

import numpy as np
import pytest

import agrad as ag

P, Y0 = np.array([0.55, 0.028, 0.026, 0.84]), np.array([30.0, 4.0])
TIMES = np.arange(1.0, 13.0)


def predation(t, y, p):
    return [p[0] * y[0] - p[1] * y[0] * y[1], p[2] * y[0] * y[1] - p[3] * y[1]]


def states(p, method="BDF", rtol=1e-8, **options):
    return ag.solve_ivp(predation, (0.0, 12.0), Y0, method, TIMES, args=(p,), rtol=rtol, atol=rtol, **options).y


@pytest.mark.parametrize("method", ["BDF", "Adams"])
@pytest.mark.parametrize("make", [lambda f: f, ag.compile], ids=["plain", "compiled"])
def test_jacobians_by_rows(method, make):
    exact = ag.jacobian(lambda p: states(p, "DOP853", 1e-12))(P)
    by_rows = make(ag.jacrev(lambda p: states(p, method)))(P)
    assert by_rows.shape == (2, 12, 4)
    scale = np.abs(exact).max(axis=(0, 1))
    np.testing.assert_allclose(by_rows / scale, exact / scale, rtol=1e-4, atol=1e-5)


def test_rows_share_steps():
    """Sixteen states at two times are two problems, not 32."""
    runs = []

    def f(p):
        def chain(t, y, p):
            return np.concatenate([[-p[0] * y[0]], p[0] * y[:-1] - p[1] * y[1:]])

        runs.append(ag.solve_ivp(chain, (0.0, 4.0), np.linspace(1.0, 0.1, 16), "BDF", [2.0, 4.0], args=(p,)))
        return runs[-1].y

    p = np.array([1.3, 0.7])
    together = ag.compile(ag.jacrev(f))(p)
    np.testing.assert_allclose(together, ag.jacrev(f)(p), rtol=1e-4, atol=1e-6)
    assert runs[0].stats["backward"]["restarts"] == 2
    ag.grad(lambda p: f(p)[3, -1])(p)
    assert runs[-1].stats["backward"]["restarts"] == 1


@pytest.mark.parametrize("linear_solver", ["dense", "banded", "sparse", "gmres"])
def test_every_linear_algebra(linear_solver):
    def diffusion(t, y, p):
        left, right = np.concatenate([[1.0], y[:-1]]), np.concatenate([y[1:], [0.5]])
        return p[0] * (left - 2.0 * y + right) - p[1] * y**3

    def last(p, method="BDF", rtol=1e-8, **options):
        return ag.solve_ivp(
            diffusion, (0.0, 0.5), np.linspace(1.0, 0.5, 20), method, [0.5], args=(p,), rtol=rtol, atol=rtol, **options
        ).y[:, 0]

    p = np.array([30.0, 1.1])
    exact = ag.jacobian(lambda p: last(p, "DOP853", 1e-11))(p)
    np.testing.assert_allclose(ag.jacrev(lambda p: last(p, linear_solver=linear_solver))(p), exact, rtol=1e-4, atol=1e-7)


def test_rows_among_other_operations():
    """A product and a sum around two solves, one of which depends on the other."""

    def f(p, method="BDF", rtol=1e-9):
        first = states(p, method, rtol)
        second = states(p * ag.array([1.0, 1.0, 1.0, first[0, 0] / 30.0]), method, rtol)
        return np.concatenate([first[0] * second[1], ag.array([np.sum(first), p[0] ** 2])])

    exact = ag.jacobian(lambda p: f(p, "DOP853", 1e-12))(P)
    scale = np.abs(exact).max(axis=0)
    np.testing.assert_allclose(ag.jacrev(f)(P) / scale, exact / scale, rtol=1e-4, atol=1e-5)
    products = ag.compile(lambda p, w: ag.vjp(f, p)[1](w)[0])
    w = np.linspace(-1.0, 1.0, 14)
    np.testing.assert_allclose(products(P, w), w @ exact, rtol=1e-4)
