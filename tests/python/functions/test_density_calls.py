"""Calls of densities and distribution functions: arguments of any shapes broadcast, options and conditions are checked.

A call with arguments of different shapes is compared with the call with all arguments in full, whose values and derivatives
other tests compare with mpmath.
"""

import itertools
import random
import zlib

import numpy as np
import pytest

import agrad as ag
from probability_reference import ROWS, VALUES

SHAPES = [(2, 1), (3,), (1, 3), (), (2, 3), (1,)]


def is_continuous(condition: str) -> bool:
    return not condition.startswith(("a whole number", "0 or 1"))


def arguments_of(name: str) -> list[np.ndarray]:
    """Return arguments of different shapes, with a product or sum that is neither 0 nor infinite."""
    conditions = [condition for _, condition in ROWS[name].arguments]
    choices = list(itertools.product(*(VALUES[condition] for condition in conditions)))
    random.Random(zlib.crc32(name.encode())).shuffle(choices)
    for choice in choices:
        arguments = []
        for k, (x, condition) in enumerate(zip(choice, conditions, strict=True)):
            shape = SHAPES[k % len(SHAPES)]
            factors = 1 - 0.01 * np.arange(np.prod(shape, dtype=int)) * is_continuous(condition)
            arguments.append(x * factors.reshape(shape))
        try:
            value = getattr(ag, name)(*np.broadcast_arrays(*arguments))
        except ag.DomainError:
            continue
        if np.isfinite(value) and value != 0:
            return arguments
    raise AssertionError(f"{name}: no arguments were found")


def reduced(x: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Return sums over the axes along which an array of a shape was broadcast."""
    x = x.sum(axis=tuple(range(x.ndim - len(shape))))
    return x.sum(axis=tuple(d for d, length in enumerate(shape) if length == 1), keepdims=True) if shape else x


@pytest.mark.parametrize("name", list(ROWS))
def test_arguments_broadcast_in_value_and_gradient(name):
    row, function = ROWS[name], getattr(ag, name)
    arguments = arguments_of(name)
    full = np.broadcast_arrays(*arguments)
    value = function(*full)
    free = tuple(k for k, (_, condition) in enumerate(row.arguments) if is_continuous(condition))
    compiled = ag.compile(lambda *x: function(*x))
    compiled(*(x + 0.0 for x in arguments))
    for call in (function, compiled):
        assert call(*arguments) == pytest.approx(value, rel=1e-14)
    if not free:
        return
    expected = [reduced(np.asarray(g), arguments[k].shape) for k, g in zip(free, ag.grad(function, free)(*full), strict=True)]
    for gradient in (ag.grad(function, free), ag.compile(ag.grad(function, free))):
        for computed, exact in zip(gradient(*arguments), expected, strict=True):
            assert np.shape(computed) == exact.shape
            np.testing.assert_allclose(computed, exact, rtol=1e-11, atol=1e-13)


def test_broadcast_arguments_have_hessians():
    y, mu, sigma = np.array([[0.3], [1.2]]), np.array([0.1, -0.4, 0.8]), np.array([[1.0, 2.0, 0.5]])

    def of(z, function=ag.normal_lpdf, whole=False):
        parts = (np.reshape(z[:2], (2, 1)), z[2:5], np.reshape(z[5:], (1, 3)))
        if whole:
            parts = tuple(part + np.zeros((2, 3)) for part in parts)
        return function(*parts)

    z = np.concatenate([np.ravel(x) for x in (y, mu, sigma)])
    for function in (ag.normal_lpdf, ag.gumbel_lpdf, ag.logistic_lcdf):
        expected = ag.hessian(lambda z, f=function: of(z, f, whole=True))(z)
        for hessian in (ag.hessian(lambda z, f=function: of(z, f)), ag.compile(ag.hessian(lambda z, f=function: of(z, f)))):
            np.testing.assert_allclose(hessian(z), expected, rtol=1e-12, atol=1e-14)
    of_normal = -1 / np.square(sigma[0])  # of two terms, each by its own location
    np.testing.assert_allclose(np.diag(ag.hessian(of)(z))[2:5], 2 * of_normal, rtol=1e-13)


def test_broadcast_arguments_map():
    mu, sigma = np.array([0.1, -0.4, 0.8]), np.array([[1.0], [2.0]])
    y = np.arange(8.0).reshape(4, 2, 1)
    mapped = ag.vmap(lambda row: ag.normal_lpdf(row, mu, sigma))
    expected = [ag.normal_lpdf(*np.broadcast_arrays(row, mu, sigma)) for row in y]
    np.testing.assert_allclose(mapped(y), expected, rtol=1e-14)
    of_gradient = ag.vmap(ag.grad(lambda row: ag.normal_lpdf(row, mu, sigma)))(y)
    each = [-np.sum((row - mu) / np.square(sigma), axis=1, keepdims=True) for row in y]
    np.testing.assert_allclose(of_gradient, each, rtol=1e-13)


def test_shapes_without_terms_have_the_empty_sum_or_product():
    assert ag.normal_lpdf(np.zeros((3, 0)), np.zeros((3, 1)), 1.0) == 0
    assert ag.normal_cdf(np.zeros((0, 1)), np.zeros(3), 1.0) == 1
    np.testing.assert_array_equal(ag.grad(ag.normal_lpdf, 1)(np.zeros((3, 0)), np.zeros((3, 1)), 1.0), np.zeros((3, 1)))


def test_shapes_that_do_not_broadcast():
    for call in (ag.normal_lpdf, ag.grad(ag.normal_lpdf, 1), ag.exponential_cdf):
        with pytest.raises(ag.ShapeError, match=r"_\w+: arguments are of shapes .*, but must broadcast together"):
            call(*((np.ones(3), np.ones(2), 1.0) if call is not ag.exponential_cdf else (np.ones((2, 3)), np.ones(2))))


def test_messages_name_the_entry_of_the_argument_as_it_was_given():
    y, mu = np.zeros((2, 1)), np.array([0.0, np.inf, 0.0])
    with pytest.raises(ag.DomainError, match=r"normal_lpdf: mu\[1\] is inf, but must be finite"):
        ag.normal_lpdf(y, mu, 1.0)
    with pytest.raises(ag.DomainError, match=r"normal_lpdf: sigma\[1, 0\] is -1, but must be positive and finite"):
        ag.grad(ag.normal_lpdf, 1)(0.0, np.zeros(3), np.array([[1.0], [-1.0]]))
    with pytest.raises(ag.DomainError, match=r"gumbel_lpdf: beta\[0, 2\] is 0, but must be positive and finite"):
        ag.gumbel_lpdf(y, 0.0, np.array([[1.0, 1.0, 0.0]]))
    with pytest.raises(ag.DomainError, match=r"normal_lpdf: sigma\[0\] is 0, but must be"):
        ag.normal_lpdf(0.0, 0.0, np.zeros(1))


def test_propto_may_be_what_numpy_has_for_true_and_false():
    full, part = (ag.value_and_grad(lambda m, p=p: ag.normal_lpdf(0.3, m, 1.5, propto=p))(0.1) for p in (False, True))
    assert full[0] != part[0]
    for yes, no in ((1, 0), (np.True_, np.False_), (np.int8(1), np.int64(0)), (np.array(True), np.array(0))):
        for option, expected in ((yes, part), (no, full)):
            assert ag.value_and_grad(lambda m, p=option: ag.normal_lpdf(0.3, m, 1.5, propto=p))(0.1) == expected
            vectors = ([0.1], [0.2], [[1.0]])
            assert ag.multi_normal_lpdf(*vectors, propto=option) == ag.multi_normal_lpdf(*vectors, propto=option is yes)
            assert ag.normal_lpdf(y=0.3, mu=0.1, sigma=1.5, propto=option) == pytest.approx(expected[0], rel=1e-15)
    for wrong in (2, -1, 0.5, "yes", None, np.ones(1), [True]):
        with pytest.raises(TypeError, match=r"normal_lpdf: propto is .*, but must be True or False"):
            ag.normal_lpdf(0.3, 0.1, 1.5, propto=wrong)
    with pytest.raises(TypeError, match=r"normal_lpdf: propto is .*, but must be True or False"):
        ag.grad(lambda x: ag.normal_lpdf(0.3, x, 1.0, propto=x))(1.0)


def test_more_draws_than_there_are_balls_are_refused():
    assert ag.hypergeometric_lpmf(2, 4, 2, 2) == 0
    assert ag.hypergeometric_lpmf(1, 4, 2, 2) == -np.inf
    text = r"hypergeometric_lpmf: N{} is 5, but must be at most a \+ b = 4"
    with pytest.raises(ag.DomainError, match=text.format("")):
        ag.hypergeometric_lpmf(1, 5, 2, 2)
    with pytest.raises(ag.DomainError, match=text.format(r"\[1\]")):
        ag.hypergeometric_lpmf(1, [4, 5], 2, 2)
    with pytest.raises(ag.DomainError, match=text.format(r"\[0, 1\]")):
        ag.hypergeometric_lpmf(1, [[4, 5]], [[2], [2]], 2)
    compiled = ag.compile(lambda n: ag.hypergeometric_lpmf(1, n, 2, 2))
    assert compiled(3.0) == pytest.approx(np.log(0.5), rel=1e-15)
    with pytest.raises(ag.DomainError, match=text.format("")):
        compiled(5.0)
    with pytest.raises(ag.DomainError, match=r"stats.hypergeom.pmf: M - N is -1, but must be a whole number, not negative"):
        ag.stats.hypergeom.pmf(1, 4, 2, 5)
