"""Solves whose right-hand side interpolates data in t: both modes and Hessians, by every method, against the exact solution."""

import numpy as np
import pytest

import agrad as ag

T = np.linspace(0.0, 10.0, 21)
DATA = np.sin(T)
METHODS = ["auto", "Tsit5", "DOP853", "RK45", "Rodas4", "Rodas5P", "BDF", "Adams"]
SECOND = [m for m in METHODS if m not in ("BDF", "Adams")]


def exact(k, t=T, data=DATA):
    """y(10) of y' = I(t) - k y, y(0) = 0, for an I that is linear in each piece."""
    y = 0.0
    for h, i, j in zip(np.diff(t), data[:-1], data[1:], strict=True):
        e, s = np.exp(-k * h), (j - i) / h
        y = y * e + i * (1 - e) / k + s * (h / k - (1 - e) / k**2)
    return y


def solve(method, **options):
    def slope(t, y, k, data):
        return [np.interp(t, T, data) - k * y[0]]

    return lambda k, data=DATA: ag.solve_ivp(
        slope, (0.0, 10.0), [0.0], method, args=(k, data), rtol=1e-9, atol=1e-11, **options
    ).y[0, -1]


@pytest.mark.parametrize("method", METHODS)
def test_values_and_first_derivatives(method):
    f, expected = solve(method), ag.value_and_grad(exact)(0.5)
    np.testing.assert_allclose(ag.value_and_grad(f)(0.5), expected, rtol=1e-5)
    for run in (ag.jacfwd(f), ag.compile(ag.jacfwd(f)), ag.compile(lambda k: ag.jvp(f, (k,), (1.0,))[1])):
        assert run(0.5) == pytest.approx(expected[1], rel=1e-5)


@pytest.mark.parametrize("method", METHODS)
def test_derivatives_by_the_data(method):
    f = solve(method)
    expected = ag.grad(lambda data: exact(0.5, data=data))(DATA)
    np.testing.assert_allclose(ag.grad(lambda data: f(0.5, data))(DATA), expected, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(ag.jacfwd(lambda data: f(0.5, data))(DATA), expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("method", SECOND)
def test_hessians(method):
    f, expected = solve(method), ag.hessian(exact)(0.5)
    assert ag.hessian(f)(0.5) == pytest.approx(expected, rel=1e-5)
    assert ag.compile(ag.hessian(f))(0.5) == pytest.approx(expected, rel=1e-5)
