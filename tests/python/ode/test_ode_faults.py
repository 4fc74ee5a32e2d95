"""Right-hand sides that do wrong and problems that cannot be solved, and that the solvers are fit for use afterwards."""

import re
import traceback

import numpy as np
import pytest

import agrad as ag
from ode_faults import NAN, assert_refused, solve, value_and_gradient

BEFORE_ANY_FAULT = value_and_gradient()


@pytest.fixture(autouse=True)
def a_good_solve_is_as_before():
    yield
    assert value_and_gradient() == BEFORE_ANY_FAULT


# The right-hand side


@pytest.mark.parametrize("f", [None, "decay", 3.0])
def test_right_hand_side_that_is_not_callable(f):
    assert_refused(TypeError, f"ode_adjoint_tol_ctl: f is {f!r}, but must be callable as f(t, y, ...)", f=f)


@pytest.mark.parametrize(
    ("result", "error", "message"),
    [
        (lambda y: None, TypeError, "result is None, but must be the derivatives of the states; does it return?"),
        (lambda y: y[:1], ag.ShapeError, "result is of shape (1,), but must be of shape (2,); one derivative for each state"),
        (
            lambda y: [y[0], y[1], 1.0],
            ag.ShapeError,
            "result is of shape (3,), but must be of shape (2,); one derivative for each state",
        ),
        (lambda y: [], ag.ShapeError, "result is of shape (0,), but must be of shape (2,); one derivative for each state"),
        (lambda y: 1.0, ag.ShapeError, "result is of shape (1,), but must be of shape (2,); one derivative for each state"),
        (lambda y: np.stack([y, y]), ag.ShapeError, "result is of shape (2, 2), but must be a vector"),
        (lambda y: "rising", TypeError, "result is of dtype <U6, but must be real numbers"),
        (lambda y: [1j, 1.0], TypeError, "result is of dtype complex128, but must be real numbers"),
        (lambda y: {"y": y}, TypeError, "result is of dtype object, but must be real numbers"),
        (lambda y: [1.0, None], TypeError, "result is of dtype object, but must be real numbers"),
    ],
)
def test_result_of_the_right_hand_side(result, error, message):
    def f(t, y, rate):
        return result(y)

    assert_refused(error, f"ode_adjoint_tol_ctl(f): {message}", f=f)


def test_comparison_of_recorded_values():
    def branching(t, y, rate):
        return -rate * y if y[0] > 0.5 else y

    message = (
        "ode_adjoint_tol_ctl(branching): condition is a comparison of recorded values, but must be known when the function "
        "is recorded; choose between values with np.where, of ag.array([a, b]) rather than np.array([a, b]), whose entries "
        "NumPy compares by itself"
    )
    assert_refused(TypeError, message, f=branching)


def test_comparison_of_plain_values_is_allowed():
    y = solve(lambda t, y, rate: -rate * y if rate > 0.5 else y)
    np.testing.assert_array_equal(y, solve())


@pytest.mark.parametrize("convert", [float, int, complex])
def test_conversion_of_a_recorded_value(convert):
    with pytest.raises(TypeError, match=f"^{convert.__name__}: argument is a recorded value, but must be a plain number"):
        solve(lambda t, y, rate: -convert(y[0]) * y)


def test_recorded_value_that_leaves_the_right_hand_side():
    kept = []
    solve(lambda t, y, rate: kept.append(y) or -y)
    with pytest.raises(
        ag.ScopeError,
        match=r"a recorded value of a call of ode_adjoint_tol_ctl\(<lambda>\) that has ended, but must be of a running call",
    ):
        kept[0] + 1.0


class OwnError(Exception):
    pass


@pytest.mark.parametrize("raised", [OwnError("mine"), KeyError("rate"), StopIteration(), KeyboardInterrupt(), SystemExit(3)])
def test_exception_of_the_right_hand_side_comes_out_unchanged(raised):
    def deep_in_the_model():
        raise raised

    def f(t, y, rate):
        deep_in_the_model()

    for call in (lambda: solve(f), lambda: ag.grad(lambda rate: np.sum(solve(f, rate=rate)))(0.7)):
        with pytest.raises(type(raised)) as caught:
            call()
        assert caught.value is raised
        frames = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
        assert frames[-2:] == ["f", "deep_in_the_model"]
        assert raised.__cause__ is None
        assert raised.__context__ is None


# Problems that cannot be solved


def assert_stopped(error, t, code):
    assert error.code == code
    assert error.t == pytest.approx(t, abs=1e-6)
    assert isinstance(error.steps, int)
    assert str(error).startswith(f"ode_adjoint_tol_ctl: stopped at t = {error.t!r}".removesuffix(".0"))
    assert f" after {error.steps} steps ({code}); {error.advice}" in str(error)


def stops(f, **changes):
    with pytest.raises(ag.SolverError) as plain:
        solve(f, **changes)
    with pytest.raises(ag.SolverError):
        ag.grad(lambda rate: np.sum(solve(f, rate=rate, **changes)))(0.7)
    return plain.value


def test_nan_at_once():
    error = stops(lambda t, y, rate: np.log(-y) * rate)
    assert_stopped(error, 0.0, "CV_FIRST_RHSFUNC_ERR")
    assert error.steps == 0
    assert error.advice == "the derivative of y[0] is nan at t = 0"


def test_infinity_at_once():
    error = stops(lambda t, y, rate: [-rate * y[0], y[1] / (t - 0.25)], t0=0.25)
    assert_stopped(error, 0.25, "CV_FIRST_RHSFUNC_ERR")
    assert error.advice == "the derivative of y[1] is inf at t = 0.25"


def test_nan_later():
    """The square root ends at t = 1; shorter steps come close and cannot pass."""
    error = stops(lambda t, y, rate: -rate * y * np.sqrt(1.0 - t))
    assert_stopped(error, 1.0, "CV_RHSFUNC_FAIL")
    assert error.steps > 5
    assert re.fullmatch(r"the derivative of y\[0\] is nan at t = 1(\.0*\d+)?", error.advice)


def test_blowing_up():
    """The solution of y' = y^2 from y(0) = 2 ends at t = 1/2."""
    error = stops(lambda t, y, rate: y**2)
    assert error.t == pytest.approx(0.5, abs=1e-3)
    assert error.code in ("CV_TOO_MUCH_WORK", "CV_ERR_FAILURE")
    assert error.advice.endswith("the error of y[1] dominates")


@pytest.mark.parametrize("most", [1, 5])
def test_too_many_steps(most):
    error = stops(lambda t, y, rate: -rate * y, max_num_steps=most)
    assert_stopped(error, error.t, "CV_TOO_MUCH_WORK")
    assert 0 < error.t < 1
    assert error.steps == most
    assert re.match(r"raise max_num_steps or loosen the tolerances; the last step was [\d.e-]+; the error of y\[", error.advice)


def test_steps_are_counted_between_output_times():
    """What stops at t = 1 with one output time goes through with others before it."""
    few = {"max_num_steps": 20}
    with pytest.raises(ag.SolverError):
        solve(times=[2.0], **few)
    assert solve(times=np.linspace(0.01, 2.0, 40), **few).shape == (40, 2)


def test_solver_error_is_a_runtime_error():
    assert issubclass(ag.SolverError, RuntimeError)
    assert issubclass(ag.DomainError, ValueError)
    assert issubclass(ag.ShapeError, ValueError)


# The backward pass


def test_derivative_that_is_infinite_only_backwards():
    """The square root of a parameter at 0: its value is finite wherever the solver goes, its derivative is not."""

    def f(t, y, rate):
        return -np.sqrt(rate) * y

    np.testing.assert_array_equal(solve(f, rate=0.0), [[1.0, 2.0], [1.0, 2.0]])
    with pytest.raises(
        ag.SolverError, match=r"^ode_adjoint_tol_ctl: the reverse pass stopped at t = 2 after 0 steps"
    ) as caught:
        ag.grad(lambda rate: np.sum(solve(f, rate=rate)))(0.0)
    assert re.fullmatch(r"the gradient's integrand for parameter \[0\] is -?inf at t = 2", caught.value.advice)
    assert caught.value.t == 2.0


def test_too_many_steps_backwards():
    """A state that barely changes takes few steps; its adjoint, which oscillates, many."""

    def f(t, y, rate):
        return [rate * 40.0 * y[1], -rate * 40.0 * y[0]]

    options = {"y0": [1e-9, 0.0], "times": [2.0], "max_num_steps": 60}
    assert solve(f, **options, absolute_tolerance_forward=1e-3).shape == (1, 2)
    with pytest.raises(ag.SolverError, match=r"^ode_adjoint_tol_ctl: the reverse pass stopped at t = ") as caught:
        ag.grad(lambda rate: np.sum(solve(f, rate=rate, **options, absolute_tolerance_forward=1e-3)))(0.7)
    assert caught.value.code == "CV_TOO_MUCH_WORK"
    assert caught.value.steps == 60
    assert "the error of the adjoint of y[" in caught.value.advice


def test_adjoint_that_is_nan_makes_the_gradient_nan():
    """As in any other operation: infinity less infinity."""

    def root_of_nothing(rate):
        end = solve(rate=rate)[0, 0]
        return np.sqrt(end - end)

    assert np.isnan(ag.grad(root_of_nothing)(0.7))


def test_compiled_function_recovers_from_a_fault():
    gradient = ag.compile(ag.grad(lambda rate: np.sum(solve(lambda t, y, rate: -np.sqrt(rate) * y, rate=rate))))
    good = gradient(0.7)
    for bad in (0.0, -1.0, NAN):
        with pytest.raises(ag.SolverError):
            gradient(bad)
        assert gradient(0.7) == good
