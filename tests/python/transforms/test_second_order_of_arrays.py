"""Second order and forward mode of programs with long arrays, against differences of gradients."""

import numpy as np
import pytest

import agrad as ag

N = 1500  # several blocks, the last one shorter


def difference(gradient, x, v, h=1e-4):
    """The derivative of a gradient along v, by differences of sixth order."""
    weights = ((1, 0.75), (2, -0.15), (3, 1 / 60))
    return sum(w * (gradient(x + k * h * v) - gradient(x - k * h * v)) for k, w in weights) / h


def variation(u):
    image = np.reshape(u, (30, 50))
    down, right = image[1:, :-1] - image[:-1, :-1], image[:-1, 1:] - image[:-1, :-1]
    return np.sum(np.sqrt(down * down + right * right + 0.1))


def of_shared_scalar(x):
    rest = np.tanh(x[0] * x[1:]) - x[0] * x[1]
    return np.sum(rest * rest * np.exp(-x[1:])) + np.log1p(np.sum(x * x))


def of_rows(x):
    table = np.reshape(x, (-1, 3))
    size = np.abs(table @ x[:3] - 0.3)
    return np.sum(np.where(size < 1, size**3, 3 * size * (size - 1) + 1)) + np.sum(np.sin(table[:, 1]) * table[:, 0])


def of_gathered(x):
    places = (7 * np.arange(len(x)) ** 2) % len(x)
    return np.sum(x * np.cos(x[places])) * np.mean(np.exp(x[places[::-1]]))


FUNCTIONS = [variation, of_shared_scalar, of_rows, of_gathered]


@pytest.fixture(params=FUNCTIONS, ids=lambda f: f.__name__)
def case(request):
    random = np.random.default_rng(3)
    return request.param, random.normal(size=N), random.normal(size=N)


def test_hessian_products_are_differences_of_gradients(case):
    f, x, v = case
    expected = difference(ag.compile(ag.grad(f)), x, v)
    for product in (ag.hvp(f), ag.compile(ag.hvp(f))):
        np.testing.assert_allclose(product(x, v), expected, rtol=2e-7, atol=2e-8 * np.abs(expected).max())


def test_gradients_by_tangents_are_gradients(case):
    f, x, v = case
    recorded = ag.compile(f)
    value, slope = ag.jvp(recorded, (x,), (v,))
    assert value == recorded(x)
    np.testing.assert_allclose(slope, ag.grad(f)(x) @ v, rtol=1e-12)


def test_hessians_of_few_parameters_are_made_of_products(case):
    f, x, _ = case
    base = np.random.default_rng(4).normal(size=(N, 11))

    def of_few(p):
        return f(x + base @ p)

    p = np.linspace(-0.1, 0.1, 11)
    found = ag.compile(ag.hessian(of_few))(p)
    products = np.array([ag.hvp(of_few)(p, unit) for unit in np.eye(11)])
    np.testing.assert_allclose(found, products, rtol=1e-10, atol=1e-12 * np.abs(products).max())
    differences = np.array([difference(ag.grad(of_few), p, unit) for unit in np.eye(11)])
    np.testing.assert_allclose(found, differences, rtol=1e-6, atol=1e-7 * np.abs(differences).max())


def test_a_root_at_zero_within_a_long_array_is_told_from_a_choice_that_was_not_taken():
    x = np.linspace(-1.0, 1.0, 2 * N + 1)  # with a zero
    v = np.ones_like(x)

    def masked(x):
        return np.sum(np.where(x > 0, np.sqrt(np.abs(x)) * x, 0.0))

    expected = np.where(x > 0, 0.75 / np.sqrt(np.where(x > 0, x, 1.0)), 0.0)
    np.testing.assert_allclose(ag.compile(ag.hvp(masked))(x, v), expected, rtol=1e-12)

    def root(x):
        return np.sum(np.sqrt(x) ** 3)

    with np.errstate(all="ignore"):
        found = ag.compile(ag.hvp(root))(np.maximum(x, 0.0), v)
    assert not np.isfinite(found[N])
    np.testing.assert_allclose(found[N + 1 :], 0.75 / np.sqrt(x[N + 1 :]), rtol=1e-12)
