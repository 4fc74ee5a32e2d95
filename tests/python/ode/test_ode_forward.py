"""Forward sensitivities by CVODES: closed forms, the adjoint method, Jacobians, compiled functions, what is refused."""

import re
import subprocess
import sys

import numpy as np
import pytest

import agrad as ag

TIMES = np.array([0.5, 1.0, 2.5])
P, Y0 = np.array([0.55, 0.028, 0.026, 0.84]), np.array([30.0, 4.0])
KINDS = ["forward", "simultaneous", "auto"]
SOLVERS = {"BDF": (ag.ode_bdf, ag.ode_bdf_tol), "Adams": (ag.ode_adams, ag.ode_adams_tol)}


def close(given, expected, rtol=1e-7):
    np.testing.assert_allclose(given, expected, rtol=rtol, atol=rtol)


def predation(t, y, p):
    return [p[0] * y[0] - p[1] * y[0] * y[1] + 0.1 * np.sin(t), p[2] * y[0] * y[1] - p[3] * y[1]]


def states(p, y0, method="BDF", tolerance=1e-9, sensitivities="forward"):
    return ag.solve_ivp(
        predation,
        (0.0, 6.0),
        y0,
        method,
        [1.0, 3.0, 6.0],
        args=(p,),
        rtol=tolerance,
        atol=tolerance,
        sensitivities=sensitivities,
    ).y


def loss(p, y0, *options):
    return np.sum((states(p, y0, *options) - 10.0) ** 2) / 100


@pytest.fixture(params=["plain", "compiled"])
def made(request):
    return ag.compile if request.param == "compiled" else lambda function: function


@pytest.mark.parametrize("method", SOLVERS)
def test_functions_of_the_family(method):
    usual, with_tolerances = SOLVERS[method]
    exact = 2.0 * np.exp(-0.7 * TIMES)[:, None]
    close(usual(lambda t, y, k: -k * y, [2.0], 0.0, TIMES, 0.7), exact, 1e-5)
    close(with_tolerances(lambda t, y, k: -k * y, [2.0], 0.0, TIMES, 1e-10, [1e-10], 1000, 0.7), exact, 1e-8)


@pytest.mark.parametrize("method", SOLVERS)
def test_every_argument_has_its_closed_form(method, made):
    """The solution is y0 exp(-k (t - t0))."""

    def end(k, y0, t0, t):
        return SOLVERS[method][1](lambda t, y: -k * y, y0, t0, t, 1e-10, 1e-10, 10_000)[0, 0]

    of_k, of_y0, of_t0, of_t = made(ag.grad(end, argnums=(0, 1, 2, 3)))(0.7, np.array([2.0]), 0.25, np.array([3.0]))
    e = np.exp(-0.7 * 2.75)
    close(of_k, -2.75 * 2.0 * e)
    close(of_y0, [e])
    close(of_t0, 0.7 * 2.0 * e)
    close(of_t, [-0.7 * 2.0 * e])


@pytest.mark.parametrize("argument", [0, 1, 2, 3])
def test_each_argument_alone(argument):
    """What is not differentiated has no sensitivities, and the others' derivatives are the same."""

    def end(k, y0, t0, t):
        return np.sum(ag.ode_bdf_tol(lambda t, y: -k * y * y, y0, t0, t, 1e-11, 1e-11, 10_000))

    at = (0.7, np.array([2.0, 1.0]), 0.25, np.array([3.0, 4.0]))
    close(ag.grad(end, argnums=argument)(*at), ag.grad(end, argnums=(0, 1, 2, 3))(*at)[argument])


@pytest.mark.parametrize("method", SOLVERS)
@pytest.mark.parametrize("kind", KINDS)
def test_gradient_is_the_adjoint_methods(method, kind, made):
    adjoint = ag.grad(loss, argnums=(0, 1))(P, Y0, method, 1e-10, "adjoint")
    forward = made(ag.grad(lambda p, y0: loss(p, y0, method, 1e-10, kind), argnums=(0, 1)))(P, Y0)
    for mine, true in zip(forward, adjoint, strict=True):
        np.testing.assert_allclose(mine, true, rtol=1e-5)


@pytest.mark.parametrize("transformation", [ag.jacobian, ag.jacrev])
def test_jacobian_is_right(transformation, made):
    """All rows of one integration: 6 outputs by 4 parameters, against Runge-Kutta's discrete adjoint."""
    mine = made(transformation(lambda p: states(p, Y0, "BDF", 1e-10)))(P)
    true = ag.jacobian(
        lambda p: ag.solve_ivp(predation, (0.0, 6.0), Y0, "DOP853", [1.0, 3.0, 6.0], args=(p,), rtol=1e-12, atol=1e-12).y
    )(P)
    assert mine.shape == (2, 3, 4)
    np.testing.assert_allclose(mine, true, rtol=1e-6)


def test_stiff_sensitivities_are_accurate_in_the_size_of_their_parameters():
    """Robertson's rates differ by nine orders of magnitude, and dy/dk by as many."""

    def robertson(t, y, k):
        slow, fast = k[0] * y[0] - k[1] * y[1] * y[2], k[2] * y[1] ** 2
        return [-slow, slow - fast, fast]

    def end(k, tolerance, kind):
        atol = np.array([1e-8, 1e-12, 1e-8]) * (tolerance / 1e-6)
        y = ag.solve_ivp(
            robertson, (0.0, 400.0), [1.0, 0.0, 0.0], "BDF", [400.0], args=(k,), rtol=tolerance, atol=atol, sensitivities=kind
        ).y
        return y[0, -1] + 1e4 * y[1, -1]

    k = np.array([0.04, 1e4, 3e7])
    fine = ag.grad(end)(k, 1e-10, "forward")
    np.testing.assert_allclose(ag.grad(end)(k, 1e-6, "forward"), fine, rtol=1e-3)
    np.testing.assert_allclose(ag.grad(end)(k, 1e-10, "adjoint"), fine, rtol=1e-3)


def test_nested_programs_in_the_right_hand_side():
    """A right-hand side without tangents: a solve within it, by CVODES; its rows come from products with adjoints."""

    def f(t, y, k):
        inner = ag.ode_adjoint_tol(lambda s, x, k: -k * x, [1.0], 0.0, [1.0], 1e-10, 1e-10, 1000, k)[0, 0]
        return -inner * y

    def end(k):
        return ag.ode_bdf_tol(f, [1.0], 0.0, [1.0], 1e-9, 1e-9, 1000, k)[0, 0]

    e = np.exp(-0.5)
    close(end(0.5), np.exp(-e), 1e-6)
    close(ag.grad(end)(0.5), e * np.exp(-e), 1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"sensitivities": "backward"},
            "solve_ivp: sensitivities is 'backward', but must be one of 'adjoint', 'forward', 'simultaneous', 'auto'",
        ),
        (
            {"sensitivities": "forward", "method": "Tsit5"},
            "solve_ivp: sensitivities is 'forward', but must be 'adjoint' for 'Tsit5'; "
            "derivatives of one-step methods are those of their steps",
        ),
        ({"sensitivities": "forward", "rtol": 0.0}, "solve_ivp: rtol is 0.0, but must be positive and finite"),
        (
            {"sensitivities": "forward", "atol": [1e-6, 1e-6]},
            "solve_ivp: atol is of length 2, but must be of length 1; one for each state",
        ),
        ({"sensitivities": "forward", "max_num_steps": 0}, "solve_ivp: max_num_steps is 0, but must be positive"),
    ],
)
def test_options_that_are_refused(options, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        ag.solve_ivp(lambda t, y: -y, (0.0, 1.0), [1.0], **{"method": "BDF", **options})


def test_faults_name_what_stopped():
    with pytest.raises(ag.SolverError, match=r"ode_bdf_tol: stopped at t = .* after 5 steps \(CV_TOO_MUCH_WORK\)") as caught:
        ag.grad(lambda k: ag.ode_bdf_tol(lambda t, y: -k * y, [1.0], 0.0, [9.0], 1e-8, 1e-8, 5)[0, 0])(0.5)
    assert caught.value.code == "CV_TOO_MUCH_WORK"
    # sqrt has no derivative at 0, where y starts: the states could go on.
    with pytest.raises(ag.SolverError, match="the sensitivities stopped at t = 0 after 0 steps") as caught:
        ag.grad(lambda y0: ag.ode_bdf_tol(lambda t, y: np.sqrt(y), [y0], 0.0, [1.0], 1e-8, 1e-8, 1000)[0, 0])(0.0)
    assert caught.value.code == "CV_FIRST_SRHSFUNC_ERR"


# Ctrl-C comes half a second after the solve began, which would take hours.
LONG_SOLVE = """
import signal, threading, numpy as np, agrad as ag
def slow(k):
    return ag.ode_bdf_tol(lambda t, y: k * np.sin(1e4 * t) * y, [1.0], 0.0, [1e5], 1e-10, 1e-10, 10**9)[0, 0]
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job inherits that Ctrl-C is ignored
threading.Timer(0.5, signal.raise_signal, [signal.SIGINT]).start()
try:
    ag.grad(slow)(0.5)
except KeyboardInterrupt:
    print("ended")
"""


def test_control_c_ends_it():
    done = subprocess.run([sys.executable, "-c", LONG_SOLVE], capture_output=True, text=True, timeout=60)
    assert done.stdout == "ended\n", done.stderr


def test_doses():
    """Half of what the first dose left is there when the second one comes; with respect to the amount as well."""

    def end(rate, amount):
        doses = [ag.Dose(1.0, 0, amount)]
        return ag.solve_ivp(
            lambda t, y, k: -k * y, (0.0, 2.0), [1.0], "BDF", [2.0], args=(rate,), doses=doses, rtol=1e-9, atol=1e-9,
            sensitivities="forward",
        ).y[0, 0]  # fmt: skip

    rate = np.log(2.0)
    close(end(rate, 3.0), 0.25 + 1.5, 1e-7)
    of_rate, of_amount = ag.grad(end, argnums=(0, 1))(rate, 3.0)
    close(of_rate, -2.0 * 0.25 - 1.5, 1e-6)
    close(of_amount, 0.5, 1e-6)


def test_second_derivatives_are_refused():
    with pytest.raises(NotImplementedError, match="ode_bdf has first derivatives only"):
        ag.hessian(lambda k: ag.ode_bdf(lambda t, y: -k * y, [1.0], 0.0, [1.0])[0, 0])(0.5)
