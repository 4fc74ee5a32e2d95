"""Hessians and their products: closed forms, differences of the gradient, structures, errors, plain and compiled."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest
from scipy.optimize import rosen_hess
from scipy.special import expit

import agrad as ag
from differences import jacobian_by_differences

X = np.array([1.2, -0.7, 0.4, 2.0, 0.9])  # five columns: one run of four and one of one
GENERATOR = np.random.default_rng(20091119)
ROWS, LABELS = GENERATOR.standard_normal((40, 5)), GENERATOR.integers(0, 2, 40).astype(float)


@dataclass(frozen=True)
class Rates:
    up: float
    down: np.ndarray


class Point(NamedTuple):
    x: float
    y: np.ndarray


@pytest.fixture(params=["plain", "compiled"])
def made(request):
    """What a transformation is made by: as it is, or compiled."""
    return ag.compile if request.param == "compiled" else lambda transformation: transformation


def quadratic(x, a):
    return x @ a @ x / 2


def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def logistic(x, rows, labels):
    eta = rows @ x
    return np.sum(ag.log1p_exp(eta) - labels * eta)


def logistic_hessian(x):
    p = expit(ROWS @ x)
    return ROWS.T @ ((p * (1 - p))[:, None] * ROWS)


def mixture(x):
    """Every kind of operation: products, sums, gathers, a density, functions of two arguments, a scalar for all entries."""
    a = np.reshape(np.tanh(x[[0, 1, 2, 0, 4, 3]]), (2, 3))
    y = np.sin(a @ a.T) * x[3] + np.hypot(x[1], x[:2]) / (1 + x[4] ** 2)
    return np.mean(y) + ag.normal_lpdf(np.exp(x[:3]), x[3], 1 + x[4] ** 2) + np.arctan2(x[0], x[1])


# ---- closed forms and differences --------------------------------------------------------------------------------------


def test_hessian_of_a_quadratic_form_is_exact(made):
    a = np.arange(25.0).reshape(5, 5)
    np.testing.assert_array_equal(made(ag.hessian(quadratic))(X, a), (a + a.T) / 2)


def test_hessian_of_rosenbrock(made):
    np.testing.assert_allclose(made(ag.hessian(rosenbrock))(X), rosen_hess(X), rtol=1e-14, atol=1e-12)


def test_hessian_of_logistic_regression(made):
    hessian = made(ag.hessian(logistic))(X, ROWS, LABELS)
    np.testing.assert_allclose(hessian, logistic_hessian(X), rtol=2e-13, atol=1e-14)


def test_hessian_of_a_log_density(made):
    y = np.array([0.5, -1.0, 2.0])

    def log_density(mu, sigma):
        return ag.normal_lpdf(y, mu, sigma)

    (mm, ms), (sm, ss) = made(ag.hessian(log_density, (0, 1)))(0.3, 1.7)
    r = y - 0.3
    assert mm == pytest.approx(-3 / 1.7**2, rel=1e-14)
    assert (ms, sm) == (pytest.approx(-2 * r.sum() / 1.7**3, rel=1e-14),) * 2
    assert ss == pytest.approx(3 / 1.7**2 - 3 * (r**2).sum() / 1.7**4, rel=1e-14)


@pytest.mark.parametrize("f", [rosenbrock, mixture, lambda x: logistic(x, ROWS, LABELS)])
def test_hessian_against_differences_of_the_gradient(made, f):
    hessian = made(ag.hessian(f))(X)
    expected = jacobian_by_differences(ag.grad(f), X)
    np.testing.assert_allclose(hessian, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("f", [rosenbrock, mixture, lambda x: logistic(x, ROWS, LABELS)])
def test_hessian_is_symmetric_as_it_comes(made, f):
    hessian = made(ag.hessian(f))(X)
    np.testing.assert_allclose(hessian, hessian.T, rtol=1e-14, atol=1e-14 * np.abs(hessian).max())


@pytest.mark.parametrize("f", [rosenbrock, mixture, lambda x: logistic(x, ROWS, LABELS)])
def test_product_is_hessian_times_vector(made, f):
    hessian, product = made(ag.hessian(f)), made(ag.hvp(f))
    for v in (np.eye(5)[3], np.array([0.3, -2.0, 0.0, 1e3, 1.0]), np.zeros(5)):
        scale = np.abs(hessian(X)) @ np.abs(v)
        assert np.all(np.abs(product(X, v) - hessian(X) @ v) <= 1e-13 * scale)


def test_hessian_of_numbers_and_of_constant_or_linear_functions(made):
    assert made(ag.hessian(lambda x: x**3))(2.0) == 12.0
    assert made(ag.hvp(lambda x: x**3))(2.0, 10.0) == 120.0
    assert made(ag.hessian(lambda x: 5.0))(2.0) == 0.0
    np.testing.assert_array_equal(made(ag.hessian(np.sum))(np.ones(3)), np.zeros((3, 3)))
    np.testing.assert_array_equal(made(ag.hvp(lambda x: x[0]))(np.ones(3), np.ones(3)), np.zeros(3))


def test_an_infinite_derivative_of_an_entry_not_chosen_does_no_harm(made):
    def f(x):
        return np.sum(ag.where(x > 0, np.sqrt(x) * 0.0 + x**3, x**2))

    np.testing.assert_array_equal(made(ag.hessian(f))(np.array([4.0, -1.0])), np.diag([24.0, 2.0]))


# ---- structures --------------------------------------------------------------------------------------------------------


def test_structures_of_nested_parameters(made):
    def f(p):
        return p["a"] ** 2 * np.sum(p["b"][0]) * p["b"][1].up + np.sum(p["b"][1].down[0] ** 3)

    p = {"a": 2.0, "b": [np.array([1.0, 3.0]), Rates(5.0, np.array([[1.0, 2.0]]))]}
    hessian = made(ag.hessian(f))(p)
    assert hessian["a"]["a"] == 40.0
    assert isinstance(hessian["a"]["a"], float)
    np.testing.assert_array_equal(hessian["a"]["b"][0], [20.0, 20.0])
    np.testing.assert_array_equal(hessian["b"][0]["a"], [20.0, 20.0])
    assert isinstance(hessian["b"][1], Rates)
    assert isinstance(hessian["b"][1].up["b"][1], Rates)
    assert hessian["b"][1].up["a"] == 16.0
    assert hessian["b"][1].down["b"][0].shape == (1, 2, 2)
    np.testing.assert_array_equal(hessian["b"][1].down["b"][1].down.reshape(2, 2), np.diag([6.0, 12.0]))
    v = {"a": 1.0, "b": [np.zeros(2), Rates(0.0, np.array([[0.0, 1.0]]))]}
    product = made(ag.hvp(f))(p, v)
    assert product["a"] == 40.0
    np.testing.assert_array_equal(product["b"][0], [20.0, 20.0])
    assert product["b"][1].up == 16.0
    np.testing.assert_array_equal(product["b"][1].down, [[0.0, 12.0]])


def test_blocks_are_the_derivative_of_the_row_with_respect_to_the_column(made):
    """Parts of different shapes, so that a transposed block could not pass."""
    blocks = made(ag.hessian(lambda p: np.sum(p.y**2) * p.x**2 + p.x))(Point(3.0, np.array([[1.0, 2.0]])))
    assert isinstance(blocks, Point)
    assert blocks.x.y.shape == (1, 2)
    np.testing.assert_array_equal(blocks.x.y, [[12.0, 24.0]])
    assert blocks.y.y.shape == (1, 2, 1, 2)
    pair = made(ag.hessian(lambda x, y: np.sum(np.outer(x, y**2)), (0, 1)))(np.ones(2), np.arange(3.0))
    assert [[block.shape for block in row] for row in pair] == [[(2, 2), (2, 3)], [(3, 2), (3, 3)]]
    np.testing.assert_array_equal(pair[0][1], [[0.0, 2.0, 4.0]] * 2)
    np.testing.assert_array_equal(pair[1][1], np.diag([4.0, 4.0, 4.0]))


@pytest.mark.parametrize("shape", [(), (1,), (3,), (2, 3), (2, 0), (0,)])
def test_shapes(made, shape):
    x = np.linspace(0.5, 1.5, int(np.prod(shape))).reshape(shape)
    hessian = made(ag.hessian(lambda x: np.sum(x**2)))(x)
    assert np.shape(hessian) == shape + shape
    np.testing.assert_array_equal(np.reshape(hessian, (x.size, x.size)), 2 * np.eye(x.size))
    assert np.shape(made(ag.hvp(lambda x: np.sum(x**2)))(x, x)) == shape


def test_empty_structures(made):
    assert made(ag.hessian(lambda p: 1.0))({}) == {}
    assert made(ag.hvp(lambda p: 1.0))([], []) == []


def test_argnums(made):
    def f(x, y, z):
        return x**2 * y + np.sin(z) * x

    assert made(ag.hessian(f, 1))(2.0, 3.0, 0.0) == 0.0
    assert made(ag.hessian(f, argnums=-3))(2.0, 3.0, 0.0) == 6.0
    assert made(ag.hessian(f, (2, 0)))(2.0, 3.0, 0.0) == ((0.0, 1.0), (1.0, 6.0))
    assert made(ag.hvp(f, -3))(2.0, 3.0, 0.0, 10.0) == 60.0  # counted without the vector
    assert made(ag.hvp(f, (2, 0)))(2.0, 3.0, 0.0, (1.0, 10.0)) == (10.0, 61.0)
    assert made(ag.hvp(lambda x, *, power: x**power))(2.0, 1.0, power=3.0) == pytest.approx(12.0, rel=1e-15)


def test_the_vector_may_be_of_integers(made):
    np.testing.assert_array_equal(made(ag.hvp(lambda x: np.sum(x**2)))(np.ones(2), np.array([1, 3])), [2.0, 6.0])


def test_aux_is_handed_on():
    hessian, aux = ag.hessian(lambda x: (x**2, {"cube": x**3}), has_aux=True)(2.0)
    assert (hessian, aux) == (2.0, {"cube": 8.0})
    assert ag.hvp(lambda x: (x**2, "aux"), has_aux=True)(2.0, 3.0) == (6.0, "aux")


# ---- compiled ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [ag.hessian, ag.hvp])
def test_compiled_records_once_for_each_path(kind):
    calls = []

    def f(x):
        calls.append(1)
        return x**2 if x > 1 else x**3

    compiled = ag.compile(kind(f))
    extra = (1.0,) if kind is ag.hvp else ()
    assert [compiled(x, *extra) for x in (2.0, 0.5, 3.0, -1.0)] == [2.0, 3.0, 2.0, -6.0]
    assert len(calls) == 2


def test_compiled_product_with_another_vector_is_no_new_recording():
    calls = []

    def f(x):
        calls.append(1)
        return np.sum(x**3)

    compiled = ag.compile(ag.hvp(f))
    for v in (np.ones(2), np.array([2, 0]), np.zeros(2)):
        np.testing.assert_array_equal(compiled(np.array([1.0, 2.0]), v), [6.0, 12.0] * v)
    assert len(calls) == 1


# ---- errors ------------------------------------------------------------------------------------------------------------


def end_of_decay(rate):
    return ag.solve_ivp(lambda t, y, k: -k * y, (0.0, 1.0), [1.0], method="BDF", args=(rate,)).y[0, -1]


def test_a_differential_equation_has_first_derivatives_only(made):
    message = "solve_ivp has first derivatives only, but must have more; take differences of its gradient"
    for _ in range(2):  # recorded, and run again
        with pytest.raises(NotImplementedError, match=f"^hessian: {message}$"):
            made(ag.hessian(end_of_decay))(0.5)
        with pytest.raises(NotImplementedError, match=f"^hvp: {message}$"):
            made(ag.hvp(end_of_decay))(0.5, 1.0)


def test_a_differential_equation_that_nothing_depends_on_is_a_constant(made):
    assert made(ag.hessian(lambda x: x**2 * end_of_decay(0.5)))(3.0) == pytest.approx(2 * np.exp(-0.5), rel=1e-5)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda m: m(ag.hessian(lambda x: x))(np.ones(2)), ag.ShapeError, r"hessian\(<lambda>\): result is of shape \(2,\)"),
        (
            lambda m: m(ag.hvp(lambda x: x))(np.ones(2), np.ones(2)),
            ag.ShapeError,
            r"hvp\(<lambda>\): result is of shape \(2,\)",
        ),
        (lambda m: m(ag.hvp(lambda x: x))(1.0), TypeError, "number of positional arguments is 1, but must be at least 2"),
        (
            lambda m: m(ag.hvp(np.sum))(np.ones(3), np.ones(2)),
            ag.ShapeError,
            r"hvp: vector is of shape \(2,\), but must be of shape \(3,\), as in argument 0",
        ),
        (
            lambda m: m(ag.hvp(lambda a, p: p["x"], 1))(1.0, {"x": 1.0}, {"x": np.ones(1)}),
            ag.ShapeError,
            r"hvp: vector\['x'\] is of shape \(1,\), but must be of shape \(\), as in argument 1",
        ),
        (
            lambda m: m(ag.hvp(lambda x, y: x * y, (0, 1)))(1.0, 1.0, (1.0, np.ones(2))),
            ag.ShapeError,
            r"hvp: vector\[1\] is of shape \(2,\), but must be of shape \(\), as in the differentiated arguments",
        ),
        (
            lambda m: m(ag.hvp(lambda p: p[0]))([1.0], (1.0,)),
            TypeError,
            r"hvp: vector is \(1.0,\), but must be of the structure of argument 0",
        ),
        (
            lambda m: m(ag.hvp(lambda x, y: x * y, (0, 1)))(1.0, 1.0, 2.0),
            TypeError,
            "hvp: vector is 2.0, but must be a tuple, one for each differentiated argument",
        ),
        (lambda m: m(ag.hvp(np.sum))(1.0, "one"), TypeError, "hvp: vector is 'one', but must be plain real numbers"),
        (lambda m: m(ag.hvp(np.sum))(1.0, 1j), TypeError, "hvp: vector is 1j, but must be plain real numbers"),
        (lambda m: m(ag.hessian(np.sum))(1), TypeError, "hessian: argument 0 is of dtype int64, but must be floating-point"),
        (lambda m: m(ag.hessian(3)), TypeError, "hessian: function is 3, but must be callable"),
        (lambda m: m(ag.hessian(np.sum, 2))(1.0), TypeError, "hessian: argnums is 2, but must be the place of a positional"),
    ],
)
def test_misuse_is_explained(made, call, error, message):
    with pytest.raises(error, match=message):
        call(made)


def test_a_wrong_vector_is_found_before_the_function_is_called(made):
    calls = []
    product = made(ag.hvp(lambda x: calls.append(1) or x))
    with pytest.raises(ag.ShapeError, match="vector is of shape"):
        product(1.0, np.ones(2))
    assert not calls


def test_points_and_vectors_may_be_recorded():
    assert ag.grad(lambda x: ag.hessian(lambda y: y**3)(x))(1.0) == 6.0
    assert ag.grad(lambda v: ag.hvp(lambda y: y**3)(2.0, v))(1.0) == 12.0
