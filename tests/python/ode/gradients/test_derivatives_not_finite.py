"""Right-hand sides with finite values whose derivatives are infinite or nan: where and of what is said, nothing is nan."""

import numpy as np
import pytest

import agrad as ag


def root(t, y, k):
    return [-y[0], -k * np.sqrt(y[1])]


def of_parameter(t, y, k):
    return np.sqrt(k) - y


@pytest.mark.parametrize("sensitivities", ["adjoint", "forward", "simultaneous"])
@pytest.mark.parametrize("method", ["BDF", "Adams"])
def test_cvodes_names_the_entry(method, sensitivities):
    def total(fun, y0):
        return lambda k: np.sum(ag.solve_ivp(fun, (0.0, 1.0), y0, method, [0.5, 1.0], args=(k,), sensitivities=sensitivities).y)

    with pytest.raises(ag.SolverError, match=r"the Jacobian's entry \[1, 1\] is -inf at t = "):
        ag.grad(total(root, [1.0, 0.0]))(1.0)
    of_what = "gradient's integrand for parameter" if sensitivities == "adjoint" else "derivative of the sensitivity of y"
    with pytest.raises(ag.SolverError, match=rf"the {of_what} ?\[0\] is -?inf at t = "):
        ag.grad(total(of_parameter, [1.0]))(0.0)


def test_nothing_passes_through_the_root_of_an_empty_tank():
    emptied = lambda t, y, k: -k * np.where(y > 0, y, 0.0) ** 0.5  # noqa: E731
    slope = ag.grad(lambda k: ag.solve_ivp(emptied, (0.0, 1.0), [0.04], "BDF", args=(k,)).y[0, -1])(1.0)
    assert abs(slope) < 1e-4  # empty at t = 0.4 whatever k: a choice that is not taken has no infinite slope


@pytest.mark.parametrize("sensitivities", ["adjoint", "forward"])
def test_idas_names_the_entry(sensitivities):
    def total(residual, y0):
        return lambda k: np.sum(ag.solve_dae(residual, (0.0, 1.0), y0, args=(k,), sensitivities=sensitivities).y)

    differential = lambda t, y, yp, k: yp - of_parameter(t, y, k)  # noqa: E731
    algebraic = lambda t, y, yp, k: [yp[0] + k * y[0], y[1] - np.sqrt(np.abs(y[0]))]  # noqa: E731
    parameter = r"(the gradient's integrand for parameter |the derivative of the residual)\[0\] is -?inf at t = "
    with pytest.raises(ag.SolverError, match=parameter):
        ag.grad(total(differential, [1.0]))(0.0)
    if sensitivities == "adjoint":
        assert ag.grad(total(algebraic, [0.0, 0.0]))(1.0) == 0.0  # the slope of the absolute value is 0 there


def test_steady_states_name_the_entry():
    def rest(method):
        return lambda k: ag.steady_state(lambda t, y, k: (k - 1.0) - np.sqrt(y), [0.0], args=(k,), method=method).y[0]

    for method in ("auto", "newton", "integration"):
        with pytest.raises(ag.SolverError, match=r"NO_STEADY_STATE.* the Jacobian's entry \[0, 0\] is -inf"):
            ag.grad(rest(method))(1.0)
    both = lambda k: ag.steady_state(lambda t, y, k: [np.sqrt(k) - y[0], 2.0 - y[1]], [1.0, 1.0], args=(k,)).y  # noqa: E731
    assert ag.grad(lambda k: both(k)[0])(0.0) == np.inf  # as that of the square root itself
