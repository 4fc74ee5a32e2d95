"""Arrays with values in some places: missing observations as parameters."""

from __future__ import annotations

import numpy as np
import pytest

import agrad as ag

Y = np.array([[1.0, np.nan, 3.0], [np.nan, 5.0, np.nan]])
MISSING = np.isnan(Y)


def test_plain_values_and_shapes():
    filled = ag.fill(Y, MISSING, [10.0, 20.0, 30.0])
    np.testing.assert_array_equal(filled, [[1.0, 10.0, 3.0], [20.0, 5.0, 30.0]])
    assert type(filled) is np.ndarray
    assert np.isnan(Y[0, 1])
    np.testing.assert_array_equal(ag.fill(Y, MISSING, 0.0), np.nan_to_num(Y))
    np.testing.assert_array_equal(ag.fill(Y, np.zeros((2, 3), bool), np.zeros(0)), Y)
    np.testing.assert_array_equal(ag.fill(np.zeros((0, 3)), np.zeros((0, 3), bool), 1.0), np.zeros((0, 3)))
    assert ag.fill(np.nan, True, 2.0) == 2.0


def log_likelihood(missing, mean):
    return ag.normal_lpdf(np.ravel(ag.fill(Y, MISSING, missing)), mean, 2.0)


@pytest.mark.parametrize("around", [lambda f: f, ag.compile])
def test_derivatives_by_missing_values(around):
    missing, mean = np.array([0.5, -1.0, 2.0]), 1.5
    by_missing, by_mean = around(ag.grad(log_likelihood, (0, 1)))(missing, mean)
    np.testing.assert_allclose(by_missing, (mean - missing) / 4, rtol=1e-14)
    np.testing.assert_allclose(by_mean, (np.sum(missing) + 9.0 - 6 * mean) / 4, rtol=1e-14)
    np.testing.assert_allclose(around(ag.hessian(log_likelihood))(missing, mean), -np.eye(3) / 4, rtol=1e-14, atol=1e-16)
    rows = ag.vmap(ag.grad(log_likelihood), in_axes=(0, None))(np.stack([missing, 2 * missing]), mean)
    np.testing.assert_allclose(rows[1], (mean - 2 * missing) / 4, rtol=1e-14)


def test_recorded_arrays_lose_what_is_replaced():
    weights = np.arange(1.0, 7.0).reshape(2, 3)
    gradient = ag.grad(lambda y, v: np.sum(weights * ag.fill(y, MISSING, v)), (0, 1))(Y, 7.0)
    np.testing.assert_array_equal(gradient[0], np.where(MISSING, 0.0, weights))
    assert gradient[1] == np.sum(weights[MISSING])


def test_what_is_refused():
    with pytest.raises(ag.ShapeError, match=r"^fill: where is of shape \(3,\), but must be of shape \(2, 3\), as y is$"):
        ag.fill(Y, [True, False, True], 1.0)
    with pytest.raises(ag.ShapeError, match=r"^fill: values is of shape \(2,\), but must be a number or of shape \(3,\)$"):
        ag.fill(Y, MISSING, [1.0, 2.0])
    with pytest.raises(TypeError, match=r"^fill: where is of dtype int64, but must be bool"):
        ag.fill(Y, MISSING.astype(np.int64), 1.0)
    with pytest.raises(TypeError, match=r"^fill: where is a recorded value, but must be plain"):
        ag.grad(lambda x: np.sum(ag.fill(Y, x > 0, x)))(np.ones((2, 3)))


def test_assignments_to_plain_arrays_say_what_to_write():
    def assigned(key):
        def f(x):
            y = Y.copy()
            y[key] = x
            return np.sum(y)

        return f

    for key, x in (((0, 1), 1.0), (MISSING, np.ones(3))):
        with pytest.raises(TypeError, match=r"ag\.fill\(y, where, values\)"):
            ag.grad(assigned(key))(x)
