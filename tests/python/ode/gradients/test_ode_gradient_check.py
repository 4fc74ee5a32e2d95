"""solve_ivp(gradient_check=...): a second tolerance beside the first, and a warning where their gradients differ."""

import warnings

import numpy as np
import pytest

import agrad as ag

METHODS = ["BDF", "Adams", "Tsit5", "DOP853", "Rodas4", "Rodas5P", "auto"]


def loss(rate, method, tolerance, check, **more):
    y = ag.solve_ivp(
        lambda t, y, k: -k * y, (0.0, 2.0), [1.0, 3.0], method, [1.0, 2.0], args=(rate,), rtol=tolerance, atol=tolerance,
        gradient_check=check, **more,
    ).y  # fmt: skip
    return np.sum(y**2)


@pytest.mark.parametrize("method", METHODS)
def test_an_accurate_gradient_is_not_warned_of_and_is_the_same(method):
    plain = ag.grad(loss)(0.7, method, 1e-7, False)
    assert ag.grad(loss)(0.7, method, 1e-7, True) == plain
    assert ag.grad(loss)(0.7, method, 1e-7, 0.01) == plain


@pytest.mark.parametrize("method", METHODS)
def test_a_coarse_gradient_is_warned_of(method):
    with pytest.warns(RuntimeWarning, match=r"solve_ivp: the gradient with respect to the parameters differs .* tighten rtol"):
        checked = ag.grad(loss)(0.7, method, 1e-2, 1e-12)
    assert checked == ag.grad(loss)(0.7, method, 1e-2, False)


def test_forward_sensitivities_are_checked():
    with pytest.warns(RuntimeWarning, match="the parameters"):
        ag.grad(loss)(0.7, "BDF", 1e-2, 1e-9, sensitivities="forward")


def test_the_warning_as_an_error_leaves_everything_usable():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match=r"more than 1\.0e-09"):
            ag.grad(loss)(0.7, "Tsit5", 1e-2, 1e-9)
    assert np.isfinite(ag.grad(loss)(0.7, "Tsit5", 1e-2, False))


def test_a_compiled_gradient_is_checked_at_each_call():
    gradient = ag.compile(ag.grad(lambda rate: loss(rate, "Tsit5", 1e-2, 1e-9)))
    for rate in (0.7, 0.8):
        with pytest.warns(RuntimeWarning, match="the parameters"):
            gradient(rate)


def test_doses_are_checked_too():
    def amount(dose):
        doses = [ag.Dose(0.5, 0, dose)]
        return loss(0.7, "Tsit5", 1e-2, 1e-9, doses=doses)

    with pytest.warns(RuntimeWarning, match="differs"):
        ag.grad(amount)(2.0)


def test_second_order_passes_through():
    second = ag.hessian(lambda rate: loss(rate, "Tsit5", 1e-8, True))(0.7)
    np.testing.assert_allclose(second, ag.hessian(lambda rate: loss(rate, "Tsit5", 1e-8, False))(0.7), rtol=1e-14)


def test_a_plain_solve_does_not_check():
    assert np.isfinite(loss(0.7, "Tsit5", 1e-2, 1e-12))


def test_bad_arguments():
    with pytest.raises(ag.DomainError, match="solve_ivp: gradient_check is -1"):
        loss(0.7, "Tsit5", 1e-3, -1.0)
