"""Gradients by adjoint integration do not depend on the units of states, parameters and loss."""

from __future__ import annotations

import numpy as np
import pytest

import agrad as ag


def by_cvodes(k, rtol, state, parameter, method):
    def slope(t, y, k):
        return [-k / parameter * y[0]]

    return ag.solve_ivp(slope, (0.0, 1.0), [state], method, [1.0], args=(k,), rtol=rtol, atol=1e-2 * rtol * state).y[0, -1]


def by_bdf(k, rtol, state, parameter):
    return by_cvodes(k, rtol, state, parameter, "BDF")


def by_adams(k, rtol, state, parameter):
    return by_cvodes(k, rtol, state, parameter, "Adams")


def by_ida(k, rtol, state, parameter):
    def residual(t, y, yp, k):
        return [(yp[0] + k / parameter * y[0]) / state]

    return ag.solve_dae(residual, (0.0, 1.0), [state], t_eval=[1.0], args=(k,), rtol=rtol, atol=1e-2 * rtol * state).y[0, -1]


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-9])
@pytest.mark.parametrize("state", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("parameter", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize("loss", [1e-20, 1.0, 1e9])
@pytest.mark.parametrize("way", [by_bdf, by_adams, by_ida])
def test_any_units(way, loss, parameter, state, rtol):
    slope = ag.grad(lambda k: loss * way(k, rtol, state, parameter))(1.3 * parameter)
    assert slope * parameter / (loss * state) == pytest.approx(-np.exp(-1.3), rel=100 * rtol)


@pytest.mark.parametrize("method", ["BDF", "Adams"])
def test_counts_of_a_million_with_a_loss_of_logarithms(method):
    """A virus in a million copies, and a tolerance of a tenth of a copy: the adjoint is of the size 1e-6."""

    def misfit(k):
        y = ag.solve_ivp(lambda t, y, k: -k * y, (0.0, 2.0), [1e6], method, [1.0, 2.0], args=(k,), atol=0.1).y
        return np.sum((np.log(y[0]) - np.log(1e6) + 1.2 * np.array([1.0, 2.0])) ** 2)

    assert ag.grad(misfit)(1.3) == pytest.approx(2 * (1.3 - 1.2) * 5.0, rel=1e-4)


@pytest.mark.parametrize("method", ["BDF", "Adams"])
def test_a_small_state_that_starts_at_zero(method):
    """Its size is that of its later values, not 1, which would make the loss of 1e-12 look as large as 1e-3."""

    def loss(b):
        start, atol = np.stack([0.0 * b, b]), [1e-17, 1e-8]
        y = ag.solve_ivp(lambda t, y: [1e-9, -1.3 * y[1]], (0.0, 1.0), start, method, [1.0], atol=atol).y[:, -1]
        return 1e-3 * y[0] + 1e-12 * y[1]

    assert ag.grad(loss)(1.0) / 1e-12 == pytest.approx(np.exp(-1.3), rel=1e-4)


def test_rows_of_different_units_are_integrated_together():
    def ends(k):
        y = by_bdf(k, 1e-6, 1e3, 1.0)
        return np.stack([1e-9 * y, y, 1e9 * y])

    for jacobian in (ag.jacrev(ends), ag.compile(ag.jacrev(ends))):
        assert jacobian(1.3) == pytest.approx(-np.exp(-1.3) * np.array([1e-6, 1e3, 1e12]), rel=1e-4)


def test_tolerances_that_are_given_one_by_one_are_kept():
    """`ode_adjoint_tol_ctl` takes the tolerance of the adjoint as the user states it."""

    def end(k, absolute):
        arguments = (1e-8, [1e-2], 1e-8, [absolute], 1e-8, absolute, 10000, 250, 1, 2, 2)
        return 1e-6 * ag.ode_adjoint_tol_ctl(lambda t, y, k: [-k * y[0]], [1e6], 0.0, [1.0], *arguments, k)[0][0]

    truth = -np.exp(-1.3)
    with pytest.warns(RuntimeWarning, match="differs from that at tighter tolerances"):
        assert abs(ag.grad(end)(1.3, 1.0) / truth - 1) > 1e-2
    assert ag.grad(end)(1.3, 1e-12) == pytest.approx(truth, rel=1e-5)
