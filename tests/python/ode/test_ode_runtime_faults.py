"""Right-hand sides that go wrong while a solver runs, in each pass of each method: what comes out, and what is left behind."""

import re

import numpy as np
import pytest

import agrad as ag
from memory_use import SLACK, growth, on_linux

EXPLICIT = ["Tsit5", "RK45", "CKRK", "DOP853", "auto"]
IMPLICIT = ["BDF", "Adams", "Rodas4"]  # which need the Jacobian forwards, too
METHODS = EXPLICIT + IMPLICIT


class OwnError(Exception):
    pass


def operation(forward=np.negative, backward=lambda _, cotangent: (-cotangent,)):
    """A function in Python that runs at each evaluation, with its derivative."""
    made = ag.custom_vjp(lambda y: forward(y))
    made.defvjp(lambda y: (forward(y), None), backward)
    return made


def end(f, k, method, y0=(1.0, 1.0)):
    return np.sum(ag.solve_ivp(lambda t, y: f(k * y), (0.0, 1.0), y0, method).y[:, -1])


def value(f, method):
    return end(f, 1.0, method)


def by_state(f, method):
    return ag.grad(lambda y0: end(f, 1.0, method, y0))(np.ones(2))


def by_parameter(f, method):
    """With CVODES' methods one that the quadrature finds."""
    return ag.grad(lambda k: end(f, k, method))(1.0)


def compiled(f, method):
    return ag.compile(ag.grad(lambda k: end(f, k, method)))(1.0)


WAYS = [value, by_state, by_parameter, compiled]


def raised():
    raise OwnError("mine")


LATE_RAISE = operation(lambda y: raised() if y[0] < 0.5 else -y)
LATE_NAN = operation(lambda y: np.where(y < 0.5, np.nan, -y))
LATE_INFINITY = operation(lambda y: np.where(y < 0.5, -np.inf, -y))
LATE_LENGTH = operation(lambda y: np.zeros(3) if y[0] < 0.5 else -y)
RAISES_BACK = operation(backward=lambda _, cotangent: raised())
LENGTH_BACK = operation(backward=lambda _, cotangent: (np.zeros(3),))
NAN_BACK = operation(backward=lambda _, cotangent: (np.nan * cotangent,))


def good_solves():
    return [by_parameter(operation(), method) for method in METHODS]


@pytest.fixture(scope="module")
def before():
    return good_solves()


@pytest.fixture(autouse=True)
def a_good_solve_is_as_before(before):
    yield
    assert good_solves() == before


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("method", METHODS)
def test_what_it_raises_on_the_way_comes_out_unchanged(method, way):
    with pytest.raises(OwnError, match=r"^mine$"):
        way(LATE_RAISE, method)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("f", "name"), [(LATE_NAN, "nan"), (LATE_INFINITY, "-inf")])
def test_what_is_not_finite_on_the_way(f, name, method, way):
    """Where y = exp(-t) reaches 1/2, which no step can pass."""
    with pytest.raises(ag.SolverError, match=r"^solve_ivp: stopped at t = 0\.693\d+ after \d+ steps") as caught:
        way(f, method)
    assert caught.value.t == pytest.approx(np.log(2), abs=1e-3)
    assert re.match(rf"the derivative of y\[0\] is {name} at t = 0\.69", caught.value.advice)
    assert caught.value.code == ("CV_RHSFUNC_FAIL" if method in ("BDF", "Adams") else "step_too_short")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("method", METHODS)
def test_another_length_on_the_way(method, way):
    with pytest.raises(ag.ShapeError, match=r"result is of shape \(3,\), but must be of shape \(2,\), as it was when"):
        way(LATE_LENGTH, method)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("method", METHODS)
def test_what_goes_wrong_in_the_derivative_comes_out(method, way):
    if way is value and method in EXPLICIT:  # which do not ask for it
        assert way(RAISES_BACK, method) == way(LENGTH_BACK, method) == way(operation(), method)
        return
    with pytest.raises(OwnError, match=r"^mine$"):
        way(RAISES_BACK, method)
    with pytest.raises(ag.ShapeError, match=r"cotangent of argument 0 is of shape \(3,\), but must be of shape \(2,\)"):
        way(LENGTH_BACK, method)


@pytest.mark.parametrize("way", WAYS[1:])
@pytest.mark.parametrize("method", METHODS)
def test_a_derivative_that_is_nan_is_never_a_number(method, way):
    """Methods that solve with it stop on the way, and the others' reverse pass at the first step that it passes."""
    if method in EXPLICIT:
        with pytest.raises(ag.SolverError, match=r"the adjoint of y\[0\] is nan at t = .*, but must be finite"):
            way(NAN_BACK, method)
        return
    with pytest.raises(ag.SolverError, match=r"the Jacobian('s entry \[0, 0\])? is (nan|not finite) at t = "):
        way(NAN_BACK, method)


def test_a_matrix_that_is_singular_for_one_step_size():
    """I - h J / 4 is zero for the first step that Rodas4 tries; a shorter one goes on."""
    y = ag.solve_ivp(lambda t, y: 4 * y, (0.0, 1.0), [1.0], "Rodas4", [1.0], first_step=1.0, rtol=1e-8, atol=1e-8).y
    np.testing.assert_allclose(y, np.exp([[4.0]]), rtol=1e-6)


# ---- memory ------------------------------------------------------------------------------------------------------------

Y0 = np.linspace(1.0, 2.0, 12)


def late(y):
    if y[0] < 0.9:
        raise OwnError
    return -y


def failing_compiled(method):
    def made(f):
        return ag.compile(ag.grad(lambda k: np.sum(ag.solve_ivp(lambda t, y: f(k * y), (0.0, 1.0), Y0, method, rtol=1e-3).y)))

    both = [made(operation(late)), made(operation(backward=lambda _, cotangent: raised()))]

    def call():
        for g in both:
            with pytest.raises(OwnError):
                g(1.0)

    return call


def failing_inside(method):
    def f(k):
        def inner(y):
            return ag.solve_ivp(lambda s, z: k * z**2, (0.0, 1.0), y, "Tsit5", [1.0], max_num_steps=3).y[:, 0]

        return np.sum(ag.solve_ivp(lambda t, y: inner(y), (0.0, 0.1), Y0, method, [0.1]).y)

    gradient = ag.compile(ag.grad(f))

    def call():
        with pytest.raises(ag.SolverError):
            gradient(3.0)

    return call


def failing_population(method):
    def f(k):
        subjects = [ag.Subject((0.0, end), Y0, [end], (k,)) for end in (0.01, 5.0)]
        return sum(np.sum(result.y) for result in ag.solve_many(lambda t, y, k: k * y**2, subjects, method, max_num_steps=9))

    gradient = ag.compile(ag.grad(f))

    def call():
        with pytest.raises(ag.SolverError):
            gradient(1.0)

    return call


def failing_partly(method):
    def f(k):
        options = {"max_num_steps": 40, "return_partial": True}
        result = ag.solve_ivp(lambda t, y: k * y**2, (0.0, 9.0), Y0, method, [0.01, 9.0], **options)
        assert not result.success
        return np.sum(result.y)

    return lambda: ag.grad(f)(1.0)


def failing_rest(method):
    gradient = ag.compile(ag.grad(lambda k: np.sum(ag.steady_state(lambda t, y: 1 + k * y**2, Y0, method="newton").y)))

    def call():
        with pytest.raises(ag.SolverError):
            gradient(1.0)

    return call


FAILURES = [
    (failing_compiled, "BDF"),
    (failing_compiled, "Tsit5"),
    (failing_compiled, "Rodas4"),
    (failing_inside, "BDF"),
    pytest.param(failing_inside, "Tsit5", marks=pytest.mark.full),
    pytest.param(failing_inside, "Rodas4", marks=pytest.mark.full),
    (failing_population, "BDF"),
    (failing_population, "Tsit5"),
    pytest.param(failing_population, "Rodas4", marks=pytest.mark.full),
    (failing_partly, "BDF"),
    (failing_partly, "Tsit5"),
    pytest.param(failing_partly, "Rodas4", marks=pytest.mark.full),
    (failing_rest, None),
]


@on_linux
@pytest.mark.thread_unsafe(reason="counts what the whole process holds")
@pytest.mark.parametrize(("failing", "method"), FAILURES)
def test_a_thousand_failures_leave_no_memory_behind(failing, method):
    assert growth(failing(method)) < SLACK
