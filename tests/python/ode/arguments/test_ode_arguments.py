"""What the solvers say to arguments of a wrong kind, shape or value, and that they are fit for use afterwards."""

import re

import numpy as np
import pytest

import agrad as ag
from ode_faults import INF, NAMES, NAN, assert_refused, decay, solve, value_and_gradient

RELATIVE = [name for name in NAMES if name.startswith("relative")]
ABSOLUTE = [name for name in NAMES if name.startswith("absolute")]
WHOLE = NAMES[6:]

BEFORE_ANY_FAULT = value_and_gradient()


@pytest.fixture(autouse=True)
def a_good_solve_is_as_before():
    yield
    assert value_and_gradient() == BEFORE_ANY_FAULT


# The initial value problem


@pytest.mark.parametrize(
    ("y0", "error", "message"),
    [
        ([], ag.ShapeError, "y0 is of length 0, but must be of length 1 or more"),
        ([1.0, NAN], ag.DomainError, "y0[1] is nan, but must be finite"),
        ([-INF, 1.0], ag.DomainError, "y0[0] is -inf, but must be finite"),
        ([[1.0, 2.0]], ag.ShapeError, "y0 is of shape (1, 2), but must be a vector"),
        ([[1.0], [1.0, 2.0]], ag.ShapeError, "y0 is ragged, but must be an array of real numbers"),
        ([1j, 1.0], TypeError, "y0 is of dtype complex128, but must be real numbers"),
        (np.array([1j, 1.0]), TypeError, "y0 is of dtype complex128, but must be real numbers"),
        ("no", TypeError, "y0 is of dtype <U2, but must be real numbers"),
        (["1", "2"], TypeError, "y0 is of dtype <U1, but must be real numbers"),
        (None, TypeError, "y0 is of dtype object, but must be real numbers"),
        ([1.0, None], TypeError, "y0 is of dtype object, but must be real numbers"),
        ({"prey": 1.0}, TypeError, "y0 is of dtype object, but must be real numbers"),
    ],
)
def test_initial_state(y0, error, message):
    assert_refused(error, f"ode_adjoint_tol_ctl: {message}", y0=y0)


@pytest.mark.parametrize(
    ("t0", "error", "message"),
    [
        (NAN, ag.DomainError, "t0 is nan, but must be finite"),
        (-INF, ag.DomainError, "t0 is -inf, but must be finite"),
        ([0.0, 1.0], ag.ShapeError, "t0 is of shape (2,), but must be a number"),
        ([], ag.ShapeError, "t0 is of shape (0,), but must be a number"),
        ("0", TypeError, "t0 is of dtype <U1, but must be real numbers"),
        (None, TypeError, "t0 is of dtype object, but must be real numbers"),
        (1j, TypeError, "t0 is of dtype complex128, but must be real numbers"),
    ],
)
def test_initial_time(t0, error, message):
    assert_refused(error, f"ode_adjoint_tol_ctl: {message}", t0=t0)


@pytest.mark.parametrize(
    ("times", "error", "message"),
    [
        ([], ag.ShapeError, "times is of length 0, but must be of length 1 or more"),
        ([[1.0, 2.0]], ag.ShapeError, "times is of shape (1, 2), but must be a vector"),
        ([0.25, 1.0], ag.DomainError, "times[0] is 0.25, but must be greater than t0 = 0.5; the state at t0 is y0 itself"),
        ([0.5, 1.0], ag.DomainError, "times[0] is 0.5, but must be greater than t0 = 0.5; the state at t0 is y0 itself"),
        (
            [2.0, 3.0, 1.0],
            ag.DomainError,
            "times[2] is 1, but must be greater than times[1] = 3; times must increase strictly",
        ),
        ([2.0, 2.0], ag.DomainError, "times[1] is 2, but must be greater than times[0] = 2; times must increase strictly"),
        ([2.0, NAN], ag.DomainError, "times[1] is nan, but must be finite"),
        ([NAN], ag.DomainError, "times[0] is nan, but must be finite"),
        ([2.0, INF], ag.DomainError, "times[1] is inf, but must be finite"),
        ("soon", TypeError, "times is of dtype <U4, but must be real numbers"),
        (None, TypeError, "times is of dtype object, but must be real numbers"),
        ([1j], TypeError, "times is of dtype complex128, but must be real numbers"),
    ],
)
def test_times(times, error, message):
    assert_refused(error, f"ode_adjoint_tol_ctl: {message}", t0=0.5, times=times)


def test_recorded_times_and_initial_state_are_checked_too():
    with pytest.raises(ag.DomainError, match=r"times\[1\] is 1, but must be greater than times\[0\] = 2"):
        ag.grad(lambda times: np.sum(solve(times=times)))(np.array([2.0, 1.0]))
    with pytest.raises(ag.DomainError, match=r"y0\[0\] is nan, but must be finite"):
        ag.grad(lambda y0: np.sum(solve(y0=[y0, 1.0])))(NAN)


def test_compiled_program_checks_the_values_of_each_run():
    loss = ag.compile(ag.grad(lambda times: np.sum(solve(times=times))))
    good = loss(np.array([1.0, 2.0]))
    with pytest.raises(ag.DomainError, match=r"^ode_adjoint_tol_ctl: times\[1\] is 0.5, but must be greater than times\[0\]"):
        loss(np.array([1.0, 0.5]))
    np.testing.assert_array_equal(loss(np.array([1.0, 2.0])), good)


# Tolerances, counts and codes


@pytest.mark.parametrize("name", RELATIVE + ABSOLUTE)
@pytest.mark.parametrize("bad", [NAN, INF, -INF, 0.0, -1e-6])
def test_tolerance_that_is_not_positive_and_finite(name, bad):
    assert_refused(ag.DomainError, f"ode_adjoint_tol_ctl: {name} is {bad}, but must be positive and finite", **{name: bad})


@pytest.mark.parametrize("name", ABSOLUTE)
@pytest.mark.parametrize("bad", [NAN, INF, 0.0, -1e-6])
def test_one_of_a_vector_of_tolerances(name, bad):
    message = f"ode_adjoint_tol_ctl: {name}[1] is {bad}, but must be positive and finite"
    assert_refused(ag.DomainError, message, **{name: [1e-6, bad]})


@pytest.mark.parametrize("name", ABSOLUTE[:2])
@pytest.mark.parametrize("length", [0, 1, 3])
def test_length_of_a_vector_of_tolerances(name, length):
    message = f"ode_adjoint_tol_ctl: {name} is of length {length}, but must be of length 2; one for each state"
    assert_refused(ag.ShapeError, message, **{name: [1e-6] * length})


@pytest.mark.parametrize("length", [0, 2])
def test_length_of_the_quadrature_tolerances(length):
    message = f"absolute_tolerance_quadrature is of length {length}, but must be of length 1; one for each active parameter"
    with pytest.raises(ag.ShapeError, match=f"^ode_adjoint_tol_ctl: {message}$"):
        ag.grad(lambda rate: np.sum(solve(rate=rate, absolute_tolerance_quadrature=[1e-6] * length)))(0.7)


@pytest.mark.parametrize("name", RELATIVE)
def test_relative_tolerance_is_one_number(name):
    assert_refused(ag.ShapeError, f"ode_adjoint_tol_ctl: {name} is of shape (2,), but must be a number", **{name: [1e-6, 1e-6]})


@pytest.mark.parametrize("name", RELATIVE + ABSOLUTE)
@pytest.mark.parametrize(("bad", "dtype"), [("1e-6", "<U4"), (None, "object"), (1j, "complex128")])
def test_tolerance_that_is_no_number(name, bad, dtype):
    assert_refused(TypeError, f"ode_adjoint_tol_ctl: {name} is of dtype {dtype}, but must be real numbers", **{name: bad})


def test_matrix_of_tolerances():
    message = "ode_adjoint_tol_ctl: absolute_tolerance_forward is of shape (1, 2), but must be a number or a vector"
    assert_refused(ag.ShapeError, message, absolute_tolerance_forward=[[1e-6, 1e-6]])


@pytest.mark.parametrize("name", RELATIVE + ABSOLUTE)
def test_recorded_tolerance(name):
    message = f"^ode_adjoint_tol_ctl: {name} is a recorded value, but must be plain; a tolerance has no derivative$"
    with pytest.raises(TypeError, match=message):
        ag.grad(lambda tolerance: np.sum(solve(**{name: tolerance})))(1e-6)


@pytest.mark.parametrize("name", WHOLE[:2])
@pytest.mark.parametrize("bad", [0, -3])
def test_count_that_is_not_positive(name, bad):
    assert_refused(ag.DomainError, f"ode_adjoint_tol_ctl: {name} is {bad}, but must be positive", **{name: bad})


@pytest.mark.parametrize(
    ("name", "meaning"),
    [
        ("interpolation_polynomial", "1 (Hermite) or 2 (polynomial)"),
        ("solver_forward", "1 (Adams) or 2 (BDF)"),
        ("solver_backward", "1 (Adams) or 2 (BDF)"),
    ],
)
@pytest.mark.parametrize("bad", [0, 3, -1])
def test_unknown_code(name, meaning, bad):
    assert_refused(ag.DomainError, f"ode_adjoint_tol_ctl: {name} is {bad}, but must be {meaning}", **{name: bad})


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize("bad", [1.5, 2.0, NAN, "2", None, [2]])
def test_count_or_code_that_is_no_whole_number(name, bad):
    assert_refused(TypeError, f"ode_adjoint_tol_ctl: {name} is {bad!r}, but must be a whole number", **{name: bad})


@pytest.mark.parametrize("name", WHOLE)
def test_count_or_code_beyond_64_bits(name):
    message = f"ode_adjoint_tol_ctl: {name} is {10**30}, but must be at most {2**63 - 1}"
    assert_refused(ag.DomainError, message, **{name: 10**30})


def test_names_of_the_simple_interfaces():
    """Messages name the argument and its value as they were given, not what is derived from them."""
    simple = "^ode_adjoint_tol: absolute_tolerance is -0.25, but must be positive and finite$"
    with pytest.raises(ag.DomainError, match=simple):
        ag.ode_adjoint_tol(decay, [1.0], 0.0, [1.0], 1e-6, -0.25, 100, 0.7)
    with pytest.raises(ag.DomainError, match=r"^ode_adjoint_tol: relative_tolerance is nan, but must be positive and finite$"):
        ag.ode_adjoint_tol(decay, [1.0], 0.0, [1.0], NAN, 1e-6, 100, 0.7)
    with pytest.raises(
        ag.ShapeError, match=r"^ode_adjoint_tol: absolute_tolerance is of length 2, but must be of length 1; one"
    ):
        ag.ode_adjoint_tol(decay, [1.0], 0.0, [1.0], 1e-6, [1e-6, 1e-6], 100, 0.7)
    with pytest.raises(ag.DomainError, match=r"^solve_ivp: rtol is 0\.0, but must be positive and finite$"):
        ag.solve_ivp(decay, (0.0, 1.0), [1.0], args=(0.7,), rtol=0)
    with pytest.raises(ag.DomainError, match=r"^solve_ivp: atol\[1\] is nan, but must be positive and finite$"):
        ag.solve_ivp(decay, (0.0, 1.0), [1.0, 2.0], args=(0.7,), atol=[1e-6, NAN])
    with pytest.raises(ag.DomainError, match=r"^ode_adjoint_tol: max_num_steps is 0, but must be positive$"):
        ag.ode_adjoint_tol(decay, [1.0], 0.0, [1.0], 1e-6, 1e-6, 0, 0.7)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        (
            {"method": "radau"},
            ValueError,
            "method is 'radau', but must be one of 'Adams', 'BDF', 'auto', 'Tsit5', 'RK45', 'CKRK', 'DOP853', 'Rodas4', "
            "'Rodas5P', 'Radau', 'LSODA', 'RK23'",
        ),
        (
            {"t_span": (0.0, 1.0, 2.0)},
            ag.ShapeError,
            "t_span is of shape (3,), but must be of shape (2,); initial and final time",
        ),
        ({"t_span": 1.0}, ag.ShapeError, "t_span is of shape (), but must be of shape (2,); initial and final time"),
        ({"t_span": (1.0, 1.0)}, ag.DomainError, "t_span is (1.0, 1.0), but must be of two different times"),
        ({"t_span": (0.0, NAN)}, ag.DomainError, "t_span is (0.0, nan), but must be finite"),
        ({"t_eval": []}, ag.ShapeError, "t_eval is of shape (0,), but must be a vector of one time or more"),
        ({"t_eval": [[0.5]]}, ag.ShapeError, "t_eval is of shape (1, 1), but must be a vector of one time or more"),
        ({"t_eval": [0.5, 1.5]}, ag.DomainError, "t_eval[1] is 1.5, but must be within t_span = (0.0, 1.0)"),
        ({"t_eval": [-0.5, 0.5]}, ag.DomainError, "t_eval[0] is -0.5, but must be within t_span = (0.0, 1.0)"),
        ({"t_eval": [0.5, NAN]}, ag.DomainError, "t_eval[1] is nan, but must be within t_span = (0.0, 1.0)"),
        ({"t_eval": [0.0, 0.5, 0.25]}, ag.DomainError, "t_eval[2] is 0.25, but must be at least t_eval[1] = 0.5"),
        ({"y0": [1j]}, TypeError, "y0 is of dtype complex128, but must be real numbers"),
        ({"y0": [NAN]}, ag.DomainError, "y0[0] is nan, but must be finite"),
    ],
)
def test_solve_ivp(changes, error, message):
    arguments = {"fun": decay, "t_span": (0.0, 1.0), "y0": [1.0], "args": (0.7,)} | changes
    with pytest.raises(error, match="^solve_ivp: " + re.escape(message) + "$") as caught:
        ag.solve_ivp(**arguments)
    assert caught.type is error


# ---- times -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["Tsit5", "Rodas4", "BDF"])
def test_times_of_solve_ivp_are_differentiated(method):
    """Y' = -y**2 from 1 has y = 1 / (1 + t - t0)."""

    def last(t0, end, t_eval=None):
        return ag.solve_ivp(lambda t, y: [-(y[0] ** 2)], (t0, end), [1.0], method, t_eval, rtol=1e-8, atol=1e-10).y[0, -1]

    np.testing.assert_allclose(ag.grad(lambda end: last(0.0, end))(1.5), -1 / 2.5**2, rtol=1e-6)
    np.testing.assert_allclose(ag.grad(lambda t0: last(t0, 3.0))(0.5), 1 / 3.5**2, rtol=1e-6)
    np.testing.assert_allclose(ag.grad(lambda t: last(0.0, 3.0, t * np.ones(1)))(1.5), -1 / 2.5**2, rtol=1e-6)
    np.testing.assert_allclose(ag.compile(ag.grad(lambda t: last(0.0, 3.0, [0.5, t])))(1.5), -1 / 2.5**2, rtol=1e-6)


def test_an_output_at_the_initial_time_moves_along_the_slope():
    def states(shift, t0=0.0):
        times = np.array([0.0, 1.0, 2.0]) + shift
        return ag.solve_ivp(lambda t, y, k: -k * y**2, (t0, 3.0), [1.0], "Tsit5", times, args=(1.0,), rtol=1e-9).y[0]

    np.testing.assert_allclose(ag.jacobian(states)(0.0), [-1.0, -1 / 4, -1 / 9], rtol=1e-6)
    np.testing.assert_allclose(ag.jacobian(lambda t0: states(0.0, t0))(0.0), [1.0, 1 / 4, 1 / 9], rtol=1e-6)


def test_times_of_a_dense_output_are_differentiated():
    sol = ag.solve_ivp(lambda t, y: [-(y[0] ** 2)], (0.0, 3.0), [1.0], "Tsit5", dense_output=True, rtol=1e-8).sol
    np.testing.assert_allclose(ag.jacobian(lambda t: sol(t)[0])(np.array([2.0, 1.0])), np.diag([-1 / 9, -1 / 4]), rtol=1e-6)
    np.testing.assert_allclose(ag.grad(lambda t: np.sum(sol(t * np.ones(2))))(1.0), -1 / 2, rtol=1e-6)


def test_args_that_are_no_tuple():
    for call in (
        lambda: ag.solve_ivp(lambda t, y, k: -k * y, (0.0, 1.0), [1.0], args=2.0),
        lambda: ag.steady_state(lambda t, y, k: k - y, [1.0], args=2.0),
        lambda: ag.solve_dae(lambda t, y, yp, k: yp + k * y, (0.0, 1.0), [1.0], args=2.0),
    ):
        with pytest.raises(TypeError, match="args is of type float, but must be a tuple; write args="):
            call()
