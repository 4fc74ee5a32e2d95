"""Steps by the errors of the states alone: what the reverse pass estimates, warns of and raises, and what derivatives cost."""

import warnings

import numpy as np
import pytest

import agrad as ag
from gradient_problems import PROBLEMS
from gradient_problems.trust import measured

METHODS = ["auto", "Tsit5", "RK45", "CKRK", "DOP853", "Rodas4", "Rodas5P"]
FREQUENCIES = np.array([1.0, 1e3, 1e4])

pytestmark = pytest.mark.thread_unsafe(reason="catches warnings")


def network(p, n, fastest=1e4, **options):
    """A slow state that moves beside fast ones that rest: the sum of the states at 50."""
    rates = np.geomspace(0.1, fastest, n)

    def slope(t, y, p):
        return np.concatenate([-p[:1] * y[:1] ** 2, -rates[1:] * (y[1:] - p[1])])

    return np.sum(ag.solve_ivp(slope, (0.0, 50.0), np.ones(n), args=(p,), error_control="states", **options).y[:, -1])


@pytest.mark.parametrize("transform", [ag.grad, ag.jacfwd], ids=["reverse", "forward"])
@pytest.mark.parametrize(("method", "n"), [("auto", 20), ("auto", 500), ("Tsit5", 20), ("DOP853", 20)])
def test_derivatives_that_outgrow_all_numbers_name_the_steps(method, n, transform):
    cause = "but must be finite; steps that suit the states are too long for the derivatives, which grow"
    with pytest.raises(ag.SolverError, match=r"(adjoint|tangent) of y\[\d+\] is (-?inf|nan) at t = .*" + cause):
        transform(lambda p: network(p, n, method=method))(np.array([1.0, 1.0]))


@pytest.mark.parametrize("control", ["auto", "states"])
def test_an_infinite_derivative_is_still_named(control):
    def loss(k):
        return ag.solve_ivp(lambda t, y, k: np.sqrt(k) - y, (0.0, 1.0), [1.0], "Tsit5", args=(k,), error_control=control).y[
            0, -1
        ]

    with pytest.raises(ag.SolverError, match="the right-hand side has no finite derivative there"):
        ag.grad(loss)(0.0)


def test_derivatives_that_grow_by_themselves_are_no_fault_of_the_steps():
    with pytest.raises(ag.SolverError, match="derivatives of the solution grow beyond all numbers; shorten the time span"):
        ag.grad(lambda y0: ag.solve_ivp(lambda t, y: 15.0 * y, (0.0, 60.0), [y0], "Tsit5").y[0, -1])(0.0)


WRONG_AT_REST = {name: ["relaxation", "turnover chain at its baseline", "glucose at its basal state"] for name in METHODS[:5]}
WRONG_AT_REST["Rodas4"] = ["transit compartments at rest", "pendulum upright", "Hodgkin and Huxley at rest"]
WRONG_AT_REST["Rodas5P"] = ["regulated cart and pole at the origin", "pendulum upright", "FitzHugh and Nagumo at rest"]


@pytest.mark.parametrize(("method", "name"), [(method, name) for method, names in WRONG_AT_REST.items() for name in names])
def test_a_wrong_gradient_at_rest_is_told(method, name):
    found = measured(PROBLEMS[name], method, 1e-4, error_control="states")
    assert found.error > 3e-2  # or the test shows nothing
    assert "the estimated relative error of the gradient is" in found.warned
    assert found.estimate > min(found.error, 1.0) / 3  # relative to the computed gradient, which is too large itself


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["Lotka and Volterra", "Lorenz", "turnover in a daily rhythm"])
def test_where_the_state_moves_there_is_no_estimate_and_no_warning(name, method):
    """The reverse pass costs no more there."""
    found = measured(PROBLEMS[name], method, 1e-6, error_control="states")
    assert not found.warned
    assert np.isnan(found.estimate)
    assert found.error < 1e-4


def test_fast_modes_that_rest_beside_a_state_that_moves_are_told():
    """The adjoint grows within single steps, though not beyond all numbers."""
    with pytest.warns(RuntimeWarning, match="as the steps suit the states alone"):
        found = ag.grad(lambda p: network(p, 4, 10.0, method="Tsit5"))(np.array([1.0, 1.0]))
    assert not abs(found[1] - 3.0) < 1.0


@pytest.mark.parametrize("compiled", [False, True])
def test_a_compiled_gradient_is_judged_as_well(compiled):
    gradient = ag.grad(lambda s: ag.solve_ivp(lambda t, y: s - y, (0.0, 50.0), [1.0], error_control="states").y[0, -1])
    with pytest.warns(
        RuntimeWarning,
        match=r"solve_ivp: the estimated relative error of the gradient is 1.3e\+00, as the steps suit the states alone",
    ):
        (ag.compile(gradient) if compiled else gradient)(1.0)


# ---- the price of derivatives


def oscillators(a, **options):
    """Three undamped oscillators of which the slowest moves; the loss sees that one alone."""

    def slope(t, s, a):
        return np.concatenate([s[3:], -(FREQUENCIES**2) * s[:3] + a])

    start = np.concatenate([[0.0], FREQUENCIES[1:] ** -2.0, np.zeros(3)])
    return ag.solve_ivp(slope, (0.0, 0.1), start, args=(a,), **{"method": "Rodas5P", **options}).y[0, -1]


TRUE = 1 - np.cos(0.1)


def test_many_steps_for_derivatives_are_told_once():
    compiled = ag.compile(ag.grad(oscillators))
    with pytest.warns(RuntimeWarning, match=r"solve_ivp: derivatives made the steps \d+ times as many as the states need"):
        found = compiled(1.0)
    assert found == pytest.approx(TRUE, rel=1e-6)
    assert compiled(1.5) == pytest.approx(TRUE, rel=1e-6)  # in silence


def test_warnings_as_errors_are_raised_each_time():
    compiled = ag.compile(ag.grad(oscillators))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            with pytest.raises(RuntimeWarning, match="error_control='states' leaves derivatives out"):
                compiled(1.0)


@pytest.mark.parametrize("method", ["Rodas4", "Rodas5P"])
def test_states_alone_take_few_steps_in_silence(method):
    found = ag.grad(lambda a: oscillators(a, method=method, error_control="states"))(1.0)
    assert found == pytest.approx(TRUE, rel=1e-4)


def test_too_many_steps_for_derivatives_name_them():
    with pytest.raises(
        ag.SolverError, match=r"too_many_steps.*; derivatives made \d+ steps shorter, and error_control='states'"
    ):
        ag.grad(lambda a: oscillators(a, max_num_steps=300))(1.0)
    with pytest.raises(ag.SolverError, match=r"too_many_steps\)(?!.*derivatives)"):
        oscillators(1.0, max_num_steps=3)
