"""Sums by parts and maps of jobs: the whole, its derivatives, the empty sum, what is refused."""

import numpy as np
import pytest

import agrad as ag

Y, X = np.array([1.0, 2.0, 4.0, 3.0, 0.5]), np.arange(5.0)


def part(y, start, end, b):
    assert y.shape == (end - start,)
    return np.sum(-0.5 * (y - b[0] - b[1] * X[start:end]) ** 2)


def test_sums():
    b = np.array([0.3, 0.7])
    whole = part(Y, 0, 5, b)
    assert ag.reduce_sum(part, Y, 1, b) == whole
    slope = ag.grad(lambda b: part(Y, 0, 5, b))(b)
    for size in (1, 2, 5, 9):
        assert ag.reduce_sum_static(part, Y, size, b) == pytest.approx(whole, rel=1e-14)
        np.testing.assert_allclose(ag.grad(lambda b, size=size: ag.reduce_sum_static(part, Y, size, b))(b), slope, rtol=1e-13)
    np.testing.assert_allclose(ag.compile(ag.grad(lambda y: ag.reduce_sum(part, y, 1, b)))(Y), -(Y - b[0] - b[1] * X))
    assert ag.reduce_sum(part, [], 1, b) == ag.reduce_sum_static(part, [], 1, b) == 0.0
    for call, kind, match in (
        (lambda: ag.reduce_sum(part, Y, 0, b), ag.DomainError, "grainsize is 0"),
        (lambda: ag.reduce_sum_static(lambda y, i, j: y, Y, 2), ag.ShapeError, r"entries 0 to 2 is of shape \(2,\)"),
        (lambda: ag.reduce_sum(lambda y, i, j: None, Y, 2), TypeError, "entries 0 to 5 is None, but must be a number; does"),
    ):
        with pytest.raises(kind, match=match):
            call()


def test_maps():
    def job(phi, theta, x_r, x_i):
        return phi * theta[x_i[0]] * np.exp(-theta[1] * x_r)

    theta, x_r, x_i = np.array([[1.0, 2.0], [3.0, 0.5]]), [np.array([0.1, 0.2]), np.array([0.3])], [[0], [1]]

    def f(theta):
        return ag.map_rect(job, 2.0, theta, x_r, x_i)

    expected = [2 * np.exp(-0.2), 2 * np.exp(-0.4), np.exp(-0.15)]
    np.testing.assert_allclose(f(theta), expected)
    np.testing.assert_allclose(ag.compile(f)(theta), expected)
    ag.check_grads(f, theta, order=1)
    np.testing.assert_array_equal(ag.map_rect(job, 2.0, [], [], []), np.zeros(0))
    np.testing.assert_array_equal(ag.map_rect(lambda *_: 1.0, 0, [1], [1], [1]), [1.0])
    for call, kind, match in (
        (lambda: ag.map_rect(job, 2.0, theta, x_r[:1], x_i), ag.ShapeError, "x_r is of length 1, but must be of length 2"),
        (lambda: ag.map_rect(lambda *_: np.eye(2), 0, [1], [1], [1]), ag.ShapeError, r"job 0 is of shape \(2, 2\)"),
        (lambda: ag.map_rect(lambda *_: None, 0, [1], [1], [1]), TypeError, "job 0 is None"),
    ):
        with pytest.raises(kind, match=match):
            call()
