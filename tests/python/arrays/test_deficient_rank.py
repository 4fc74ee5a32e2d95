"""Pseudoinverses and least squares of deficient rank: NumPy's values, and derivatives along matrices of the same rank."""

import itertools

import numpy as np
import pytest

import agrad as ag
from differences import jacobian_by_differences
from recorded import check_like_numpy

rng = np.random.default_rng(11)
SHAPES = [(4, 2, 1), (5, 4, 2), (3, 3, 2), (2, 4, 1), (3, 5, 2), (3, 2, 0)]
B = rng.standard_normal((5, 2))


def factors(m, n, rank):
    return rng.standard_normal((m, rank)) + 2 * np.eye(m, rank), rng.standard_normal((rank, n)) + 2 * np.eye(rank, n)


def solution(a, b):
    return np.linalg.lstsq(a, b, rcond=None)[0]


@pytest.mark.parametrize(("m", "n", "rank"), SHAPES)
def test_values_and_gradients_along_matrices_of_one_rank(m, n, rank):
    left, right = factors(m, n, rank)
    if rank == 0:
        left, right = np.zeros((m, 1)), np.zeros((1, n))
        assert not np.any(ag.grad(lambda a: np.sum(np.linalg.pinv(a)))(left @ right))
    b = rng.standard_normal(m)
    functions = [lambda u, v: np.linalg.pinv(u @ v), lambda u, v: solution(u @ v, b)]
    for f in functions:
        np.testing.assert_allclose(ag.compile(f)(left, right), f(left, right), rtol=1e-12, atol=1e-13)
        if rank:
            check_like_numpy(f, left, right, tolerance=1e-12)
    check_like_numpy(lambda v: solution(left @ right, v), b, tolerance=1e-12)


@pytest.mark.parametrize(("m", "n", "rank"), SHAPES[:5])
def test_second_derivatives_in_every_way(m, n, rank):
    left, right = factors(m, n, rank)
    shifts, b = rng.standard_normal((2, m, rank)), rng.standard_normal(m)

    def of(f):
        return lambda t: f((left + t[0] * shifts[0] + t[1] * np.cos(t[0]) * shifts[1]) @ right)

    at = np.array([0.1, 0.2])
    for f in (of(lambda a: np.sum(np.sin(np.linalg.pinv(a)))), of(lambda a: np.sum(np.sin(solution(a, b))))):
        gradient, hessian = ag.grad(f)(at), ag.hessian(f)(at)
        np.testing.assert_allclose(gradient, jacobian_by_differences(f, at), rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(ag.jacfwd(f)(at), gradient, rtol=1e-11, atol=1e-12)
        np.testing.assert_allclose(hessian, jacobian_by_differences(ag.grad(f), at), rtol=1e-8, atol=1e-7)
        for way in (ag.jacrev(ag.grad(f)), ag.jacfwd(ag.jacfwd(f)), ag.compile(ag.hessian(f)), ag.jacfwd(ag.grad(f))):
            np.testing.assert_allclose(way(at), hessian, rtol=1e-9, atol=1e-10)
        points = at + 0.1 * rng.standard_normal((3, 2))
        np.testing.assert_allclose(ag.vmap(ag.grad(f))(points), [ag.grad(f)(p) for p in points], rtol=1e-12, atol=1e-13)


def test_a_compiled_function_takes_matrices_of_any_rank():
    f = ag.compile(ag.value_and_grad(lambda a: np.sum(np.linalg.pinv(a) ** 2)))
    full = rng.standard_normal((4, 3)) + np.eye(4, 3)
    for a in (full, np.outer(full[:, 0], [1.0, 2.0, -1.0]), full, np.zeros((4, 3))):
        y = np.linalg.pinv(a)
        value, gradient = f(a)
        assert value == pytest.approx(np.sum(y**2), rel=1e-12)
        # d |y|^2 = 2 <y, dy>, with dy by Golub and Pereyra; terms with (1 - y a) y = 0 vanish
        np.testing.assert_allclose(gradient, -2 * (y @ y.T @ y).T, rtol=1e-11, atol=1e-12)


def test_rank_and_residuals_of_lstsq():
    a, b = np.outer(np.arange(1.0, 6.0), [1.0, -2.0]), B
    x, residuals, rank, s = ag.compile(lambda u, v: np.linalg.lstsq(u, v, rcond=None))(a, b)
    expected = np.linalg.lstsq(a, b, rcond=None)
    np.testing.assert_allclose(x, expected[0], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(residuals, np.sum((b - a @ x) ** 2, axis=0), rtol=1e-13)
    assert rank == expected[2] == 1
    np.testing.assert_allclose(s, expected[3], atol=1e-13)


def test_cutoffs_are_numpys():
    a = np.diag([1.0, 0.3, 0.04, 1e-9])[:, :3]
    stack = np.stack([a, 2 * a[::-1]])
    b = np.arange(4.0)
    for cutoff in (0.5, 0.1, 0.01, 0.0, -1):
        f = ag.compile(lambda u, cutoff=cutoff: np.linalg.lstsq(u, b, cutoff)[0])
        np.testing.assert_allclose(f(a), np.linalg.lstsq(a, b, cutoff)[0], rtol=1e-13, atol=1e-14)
        wide = ag.compile(lambda u, cutoff=cutoff: np.linalg.lstsq(u, b[:3], cutoff)[0])
        np.testing.assert_allclose(wide(a.T), np.linalg.lstsq(a.T, b[:3], cutoff)[0], rtol=1e-13, atol=1e-14)
        assert ag.compile(lambda u, cutoff=cutoff: np.linalg.lstsq(u, b, cutoff)[2])(a) == np.linalg.lstsq(a, b, cutoff)[2]
    for options in ({"rcond": 0.1}, {"rtol": 0.5}, {"rtol": None}, {"rcond": np.array([0.1, 0.5])}):
        for each in (stack, np.swapaxes(stack, -1, -2)):
            found = ag.compile(lambda u, options=options: np.linalg.pinv(u, **options))(each)
            np.testing.assert_allclose(found, np.linalg.pinv(each, **options), rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("function", [np.linalg.pinv, lambda a, rcond: np.linalg.lstsq(a, B, rcond)[0]])
def test_what_has_no_derivative(function):
    a = rng.standard_normal((5, 3)) * [1.0, 0.1, 0.01]
    for way in (ag.grad, ag.jacfwd, ag.hessian):
        with pytest.raises(ag.LinAlgError, match=r"^(pinv|lstsq): a is of a rank that the cutoff chooses, but must be"):
            way(lambda x: np.sum(function(x, rcond=0.02)))(a)
    with pytest.raises(TypeError, match=r"rcond is .*, but must be a plain number"):
        ag.grad(lambda c: np.sum(function(c * a, rcond=c)))(0.1)
    for wrong, rcond in itertools.product((np.nan, np.inf), (1e-3, 1e-15)):
        with pytest.raises(ag.LinAlgError, match="a is not finite, but must be finite"):
            ag.compile(lambda x, rcond=rcond: function(x, rcond=rcond))(np.full((5, 3), wrong))


def test_pinv_takes_one_name_of_the_cutoff():
    with pytest.raises(ValueError, match="rcond and rtol are given"):
        ag.compile(lambda a: np.linalg.pinv(a, rcond=0.1, rtol=0.1))(np.eye(2))
