"""Large arrays: runs read arguments and write results where they lie, and large operations run in tiles."""

import pickle

import numpy as np
import pytest

import agrad as ag

N, M = 1000, 700
RANDOM = np.random.default_rng(3)
X, Y = RANDOM.normal(size=N), RANDOM.normal(size=M)


def loss(x, y):
    """Two lengths, whose operations are recorded in turns."""
    a, b = np.sin(x), np.sin(y)
    c, d = np.exp(a), np.exp(b)
    return np.sum(c * np.sum(d)) + np.sum(a[1:] * a[:-1])


def gradient(x, y):
    d, c = np.exp(np.sin(y)), np.exp(np.sin(x))
    a, inner = np.sin(x), np.cos(x)
    by_x = c * inner * d.sum()
    by_x[1:] += a[:-1] * inner[1:]
    by_x[:-1] += a[1:] * inner[:-1]
    return by_x, c.sum() * d * np.cos(y)


def test_gradients_of_several_arrays_are_right():
    fast = ag.compile(ag.value_and_grad(loss, argnums=(0, 1)))
    for shift in (0.0, 0.5):
        value, found = fast(X + shift, Y)
        assert value == pytest.approx(loss(X + shift, Y), rel=1e-14)
        for got, truth in zip(found, gradient(X + shift, Y), strict=True):
            np.testing.assert_allclose(got, truth, rtol=1e-12, atol=1e-12)


def test_values_and_derivatives_of_second_order_are_right():
    fast, product = ag.compile(loss), ag.compile(ag.hvp(lambda x: loss(x, Y)))
    assert fast(X, Y) == pytest.approx(loss(X, Y), rel=1e-14)
    step = 1e-6
    difference = (gradient(X + step * X, Y)[0] - gradient(X - step * X, Y)[0]) / (2 * step)
    np.testing.assert_allclose(product(X, X), difference, rtol=1e-6, atol=1e-6)
    along = ag.compile(lambda x: ag.jvp(lambda x: loss(x, Y), (x,), (X,))[1])
    assert along(X) == pytest.approx(gradient(X, Y)[0] @ X, rel=1e-12)


def test_programs_in_tiles_are_pickled():
    fast = ag.compile(ag.value_and_grad(loss))
    value, found = fast(X, Y)
    again = pickle.loads(pickle.dumps(fast))
    value_again, found_again = again(X, Y)
    assert value_again == value
    np.testing.assert_array_equal(found_again, found)


@ag.compile
def tree(first, second):
    small, large = first["small"], first["large"]
    return {"z": (small + 1.0, large * second), "a": [np.sum(large), second * 2.0, small * large[0]]}


@pytest.mark.parametrize("keys", [("small", "large"), ("large", "small")])
def test_trees_with_large_and_small_leaves_keep_their_order(keys):
    whole = {"small": np.arange(3.0), "large": X}
    given = {key: whole[key] for key in keys}
    for factor in (1.0, 2.0, 3.0):
        found = tree(given, factor * X)
        assert list(found) == ["z", "a"]
        np.testing.assert_array_equal(found["z"][0], np.arange(3.0) + 1.0)
        np.testing.assert_array_equal(found["z"][1], X * (factor * X))
        assert found["a"][0] == pytest.approx(X.sum())
        np.testing.assert_array_equal(found["a"][1], factor * X * 2.0)
        np.testing.assert_array_equal(found["a"][2], np.arange(3.0) * X[0])


def test_arguments_of_other_orders_and_types_are_converted():
    fast = ag.compile(lambda x, k: np.sum(x * 2.0) + np.sum(np.where(k > 1, x, 0.0)))
    k = np.arange(N) % 4
    truth = 2 * X.sum() + X[k > 1].sum()
    twice = np.repeat(X, 2)
    for x in (X, twice[::2], X.astype(np.float32).astype(float), X[::-1][::-1], np.asfortranarray(X)):
        assert fast(x, k) == pytest.approx(2 * x.sum() + x[k > 1].sum(), rel=1e-12)
    assert fast(X, k) == pytest.approx(truth, rel=1e-12)


def test_results_do_not_share_memory_with_arguments_or_earlier_results():
    fast = ag.compile(lambda x: (x, x + 1.0))
    first, more = fast(X)
    second, _ = fast(X)
    assert not np.shares_memory(first, X)
    assert not np.shares_memory(first, second)
    first[0] = 99.0
    np.testing.assert_array_equal(second, X)
    np.testing.assert_array_equal(more, X + 1.0)


def test_bound_calls_write_into_the_same_arrays():
    x = X.copy()
    bound = ag.compile(lambda x: {"y": x * 2.0, "small": x[:2]}).bind(x)
    first = bound()
    y = first["y"]
    x[:] = 1.0
    second = bound()
    assert second["y"] is y
    np.testing.assert_array_equal(y, np.full(N, 2.0))
    np.testing.assert_array_equal(second["small"], [1.0, 1.0])


def test_a_path_that_is_left_leaves_no_traces():
    fast = ag.compile(ag.grad(lambda x: np.sum(np.sin(x)) if x[0] > 0 else np.sum(x * x)))
    above, below = np.abs(X), -np.abs(X)
    for _ in range(2):
        np.testing.assert_allclose(fast(above), np.cos(above), rtol=1e-13)
        np.testing.assert_allclose(fast(below), 2 * below, rtol=1e-13)


def test_a_domain_error_leaves_the_function_usable():
    fast = ag.compile(ag.grad(lambda x, s: ag.normal_lpdf(np.sin(x), 0.0, s)))
    good = fast(X, 2.0)
    with pytest.raises(ag.DomainError, match="normal_lpdf"):
        fast(X, -1.0)
    np.testing.assert_array_equal(fast(X, 2.0), good)


def test_the_text_names_groups():
    fast = ag.compile(ag.value_and_grad(loss))
    fast(X, Y)
    assert "groups of tiles, which move" in str(fast)
    assert "cluster_1" in fast.to_dot(X, Y)
    assert "run in tiles" in str(fast.profile(X, Y))
