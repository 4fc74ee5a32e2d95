"""Errors of linear algebra are NumPy's LinAlgError and agrad's DomainError; which errors are recoverable; pickles of errors."""

import copy
import pickle

import numpy as np
import pytest
import scipy.linalg

import agrad as ag

SINGULAR = np.ones((2, 2))
INDEFINITE = np.array([[1.0, 2.0], [2.0, 1.0]])
NAN = np.full((2, 2), np.nan)
MULTIVARIATE = (np.zeros(2), np.zeros(2))
#: Functions of x that are refused at x = 1.
CASES = {
    "cholesky": lambda x: np.linalg.cholesky(x * INDEFINITE)[0, 0],
    "solve": lambda x: np.linalg.solve(x * SINGULAR, np.ones(2))[0],
    "inv": lambda x: np.linalg.inv(x * SINGULAR)[0, 0],
    "eigh": lambda x: np.linalg.eigh(x * NAN)[0][0],
    "eigvalsh": lambda x: np.linalg.eigvalsh(x * NAN)[0],
    "svd": lambda x: np.linalg.svd(x * NAN)[1][0],
    "eigvals": lambda x: np.real(np.linalg.eigvals(x * NAN)[0]),
    "solve_spd": lambda x: ag.linalg.solve(x * INDEFINITE, np.ones(2), assume_a="pos")[0],
    "cho_factor": lambda x: ag.linalg.cho_factor(x * INDEFINITE)[0][0, 0],
    "solve_triangular": lambda x: ag.linalg.solve_triangular(x * np.diag([1.0, 0.0]), np.ones(2))[0],
    "log_determinant": lambda x: ag.linalg.log_determinant(x * SINGULAR),
    "equal eigenvalues": lambda x: np.linalg.eigh(ag.array([[1.0, x - 1], [x - 1, 2 * x - 1]]))[1][0, 1],
    "density": lambda x: ag.multi_normal_lpdf(*MULTIVARIATE, x * INDEFINITE),
    "density by Cholesky": lambda x: ag.multi_normal_lpdf(*MULTIVARIATE, ag.array([[1.0, 2 * x], [2 * x, 1.0]])),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_errors_of_linear_algebra_are_numpys_and_agrads(name):
    f = CASES[name]
    for call in (lambda: ag.grad(f)(1.0), lambda: ag.compile(ag.grad(f))(1.0), lambda: ag.vmap(ag.grad(f))(np.ones(1))):
        with pytest.raises(ag.LinAlgError) as raised:
            call()
        for each in (np.linalg.LinAlgError, scipy.linalg.LinAlgError, ag.DomainError, ValueError):
            assert isinstance(raised.value, each)
        assert raised.value.is_recoverable


def safe_log_determinant(x):
    """A loop as packages for Gaussian processes have it."""
    for jitter in (0.0, 1.0, 10.0):
        try:
            return 2 * np.sum(np.log(np.diagonal(np.linalg.cholesky(INDEFINITE + (x + jitter) * np.eye(2)))))
        except np.linalg.LinAlgError:
            continue
    raise AssertionError


def expected_log_determinant(x):
    """The value and the derivative; the determinant of a I + [[1, 2], [2, 1]] is (a + 1)^2 - 4."""
    a = next(a for a in (x, x + 1, x + 10) if (a + 1) ** 2 > 4)
    return np.log((a + 1) ** 2 - 4), 2 * (a + 1) / ((a + 1) ** 2 - 4)


def test_a_loop_that_adds_to_the_diagonal():
    for x in (0.1, 5.0):
        slope = expected_log_determinant(x)[1]
        assert ag.grad(safe_log_determinant)(x) == pytest.approx(slope, rel=1e-12)
        assert ag.jvp(safe_log_determinant, (x,), (1.0,))[1] == pytest.approx(slope, rel=1e-12)


@pytest.mark.parametrize("order", [(0.1, 5.0, 0.2, 6.0, -0.5), (5.0, 0.1, 6.0, -0.5, 0.2)])
def test_a_compiled_function_catches_in_each_call_anew(order):
    """Neither the way with an error nor the one without is taken for values of the other."""
    compiled = ag.compile(ag.value_and_grad(safe_log_determinant))
    for x in (*order, *order):
        np.testing.assert_allclose(compiled(x), expected_log_determinant(x), rtol=1e-12)
    slopes = ag.compile(ag.hessian(safe_log_determinant))
    for x in order:
        step = 1e-5
        difference = expected_log_determinant(x + step)[1] - expected_log_determinant(x - step)[1]
        assert slopes(x) == pytest.approx(difference / (2 * step), rel=1e-6)
    rows = np.array([0.1, 0.2, 5.0, 6.0])
    np.testing.assert_allclose(
        ag.vmap(ag.grad(safe_log_determinant))(rows), [expected_log_determinant(x)[1] for x in rows], rtol=1e-12
    )


def test_rows_with_an_error_behind_rows_without_raise():
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        ag.vmap(ag.grad(safe_log_determinant))(np.array([5.0, 0.1]))


def test_densities_and_solvers_are_caught_anew_as_well():
    def f(x):
        try:
            return ag.normal_lpdf(1.0, 0.0, x)
        except ag.DomainError:
            return -x

    def searched(a):
        try:
            return ag.root(lambda x: x**2 - a, 1.0).x
        except ag.SolverError:
            return 10 * a

    for order in ((-1.0, 2.0, -2.0, 1.0), (2.0, -1.0, 1.0, -2.0)):
        compiled, roots = ag.compile(ag.value_and_grad(f)), ag.compile(searched)
        for x in order:
            expected = (ag.normal_lpdf(1.0, 0.0, x), -1 / x + 1 / x**3) if x > 0 else (-x, -1.0)
            np.testing.assert_allclose(compiled(x), expected, rtol=1e-12)
            assert roots(x) == pytest.approx(np.sqrt(x) if x > 0 else 10 * x, rel=1e-9)


def test_an_error_from_a_function_that_is_called_with_plain_values():
    @ag.custom_vjp
    def density(x):
        return float(ag.normal_lpdf(1.0, 0.0, x))

    density.defvjp(lambda x: (density(x), x), lambda x, cotangent: (cotangent * (1 / x**3 - 1 / x),))

    def f(x):
        try:
            return density(x)
        except ag.DomainError:
            return -x

    for order in ((-1.0, 2.0, -2.0), (2.0, -1.0, 1.0)):
        compiled = ag.compile(f)
        for x in order:
            assert compiled(x) == (ag.normal_lpdf(1.0, 0.0, x) if x > 0 else -x)


def test_errors_at_the_trial_points_of_a_search_are_not_caught_by_its_function():
    """The function is recorded again at a trial point, in another branch, in which a density raises."""

    def f(x):
        return x - 2 * np.log(x) + 0 * (ag.normal_lpdf(1.0, 0.0, x) if x < 0.5 else x)

    for search in (lambda start: ag.minimize(f, start).x, ag.compile(lambda start: ag.minimize(f, start).x)):
        for start in (30.0, 1.0, 100.0):
            assert search(start) == pytest.approx(2.0, rel=1e-9)


@pytest.mark.parametrize("call", [
    lambda: ag.fori(0, 3, lambda i, x: x + safe_log_determinant(0.1 + x), 0.0),
    lambda: ag.compile(lambda x: ag.scan(lambda c, x: (c + safe_log_determinant(x), None), 0.0, x)[0])(np.array([0.1, 5.0])),
    lambda: ag.solve_ivp(lambda t, y: [-safe_log_determinant(y[0])], (0.0, 1.0), [0.1]),
])  # fmt: skip
def test_functions_that_run_with_other_values_must_not_catch(call):
    with pytest.raises(TypeError, match="an error of an operation is caught, but must be raised"):
        call()


def test_later_calls_of_compiled_functions_have_the_line_and_the_type():
    compiled = ag.compile(lambda x: np.linalg.cholesky(ag.array([[1.0, x], [x, 1.0]]))[1, 1])
    assert compiled(0.6) == pytest.approx(0.8)
    for _ in range(2):
        with pytest.raises(np.linalg.LinAlgError, match=r"not positive definite.*, at .*test_linalg_errors\.py") as raised:
            compiled(2.0)
        assert type(raised.value) is ag.LinAlgError
    assert compiled(0.8) == pytest.approx(0.6)


def test_other_conditions_are_no_errors_of_linear_algebra():
    for f in (lambda x: ag.normal_lpdf(0.0, 0.0, x), lambda x: ag.linalg.expm(x * np.full((2, 2), np.inf))[0, 0]):
        with pytest.raises(ag.DomainError) as raised:
            ag.grad(f)(-1.0)
        assert type(raised.value) is ag.DomainError
        assert not isinstance(raised.value, np.linalg.LinAlgError)


def test_which_errors_are_recoverable():
    assert ag.DomainError.is_recoverable
    assert ag.LinAlgError.is_recoverable
    assert ag.SolverError.is_recoverable
    for each in (ag.ShapeError, ag.ScopeError, ValueError, TypeError):
        assert not getattr(each, "is_recoverable", False)
    with pytest.raises(ag.SolverError) as raised:
        ag.root(lambda x: x**2 + 1.0, 1.0)
    assert raised.value.is_recoverable


@pytest.mark.parametrize("kind", [ag.ShapeError, ag.DomainError, ag.LinAlgError, ag.ScopeError, ag.SolverError])
def test_errors_are_pickled_and_copied(kind):
    for error in (pickle.loads(pickle.dumps(kind("a message"))), copy.copy(kind("a message"))):
        assert type(error) is kind
        assert error.args == ("a message",)
        assert kind.__module__ == "agrad"
