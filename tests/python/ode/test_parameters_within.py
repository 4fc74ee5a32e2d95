"""Values within a right-hand side that depend on parameters alone are computed once for each set of parameters."""

import numpy as np
import pytest

import agrad as ag

P = np.array([-0.3, 0.2, -1.1])
METHODS = ["Tsit5", "DOP853", "Rodas4", "Rodas5P", "BDF", "Adams", "auto"]


def within(t, y, p):
    k = np.exp(p)
    return [-k[0] * y[0] + k[2] * np.sin(t), k[0] * y[0] - k[1] * y[1] * np.where(y[1] > 0.2, 1.1, 1.0)]


def around(t, y, k):
    return [-k[0] * y[0] + k[2] * np.sin(t), k[0] * y[0] - k[1] * y[1] * np.where(y[1] > 0.2, 1.1, 1.0)]


def loss(rhs, p, **options):
    y = ag.solve_ivp(rhs, (0.0, 3.0), [1.0, 0.0], t_eval=[1.0, 3.0], args=(p,), rtol=1e-8, atol=1e-10, **options).y
    return np.sum(y**2)


@pytest.mark.parametrize("method", METHODS)
def test_values_and_gradients_are_those_of_parameters_made_before(method):
    """Also where other parameters follow, the first ones return, and sides of switches change within a solve."""
    mine = ag.compile(ag.value_and_grad(lambda p: loss(within, p, method=method)))
    other = ag.compile(ag.value_and_grad(lambda p: loss(around, np.exp(p), method=method)))
    rtol = 1e-5 if method in {"BDF", "Adams"} else 1e-9
    for p in (P, P + 0.4, P, -P):
        (value, gradient), (true, slope) = mine(p), other(p)
        assert value == pytest.approx(true, rel=rtol)
        np.testing.assert_allclose(gradient, slope, rtol=10 * rtol, atol=rtol)


@pytest.mark.parametrize("method", ["Tsit5", "Rodas5P"])
def test_second_order_doses_and_forward_mode(method):
    doses = [ag.Dose(1.5, 0, 0.7)]

    def mine(p):
        return loss(within, p, method=method, doses=doses)

    def other(p):
        return loss(around, np.exp(p), method=method, doses=doses)

    np.testing.assert_allclose(ag.hessian(mine)(P), ag.hessian(other)(P), rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(ag.jacfwd(mine)(P), ag.jacfwd(other)(P), rtol=1e-8)


def test_every_problem_of_many_has_its_own():
    parameters = P + 0.1 * np.arange(12.0)[:, np.newaxis]
    subjects = [ag.Subject(y0=[1.0, 0.0], t_span=(0.0, 3.0), t_eval=[3.0], args=(p,)) for p in parameters]
    for threads in (1, 3):
        found = ag.solve_many(within, subjects, threads=threads)
        for p, result in zip(parameters, found, strict=True):
            alone = ag.solve_ivp(within, (0.0, 3.0), [1.0, 0.0], t_eval=[3.0], args=(p,))
            np.testing.assert_allclose(result.y, alone.y, rtol=1e-12)


def test_nothing_but_parameters():
    """A slope that neither time nor states move."""
    assert ag.solve_ivp(lambda t, y, p: [np.exp(p)], (0.0, 2.0), [0.0], args=(0.5,)).y[0, -1] == pytest.approx(2 * np.exp(0.5))
