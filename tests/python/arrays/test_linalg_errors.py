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


def test_a_loop_that_adds_to_the_diagonal():
    """Of a I + [[1, 2], [2, 1]] with a = x + 10, the determinant is (a + 1)^2 - 4, else with a = x + 1."""
    for x in (0.1, 5.0):
        a = next(a for a in (x, x + 1, x + 10) if (a + 1) ** 2 > 4)
        slope = 2 * (a + 1) / ((a + 1) ** 2 - 4)
        assert ag.grad(safe_log_determinant)(x) == pytest.approx(slope, rel=1e-12)
        assert ag.jvp(safe_log_determinant, (x,), (1.0,))[1] == pytest.approx(slope, rel=1e-12)


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
