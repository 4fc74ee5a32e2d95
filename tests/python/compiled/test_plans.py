"""Compiled calls that take plain trees without Python, and bound ones: the same results as the careful way."""

from __future__ import annotations

import dataclasses
import threading

import numpy as np
import pytest

import agrad as ag


def _loss(p, scale=1.0):
    return np.sum(p["a"] ** 2) * p["b"][0] + np.sin(p["b"][1]) * scale


def _point(seed=0):
    random = np.random.default_rng(seed)
    return {"b": (float(random.normal()), float(random.normal())), "a": random.normal(size=(2, 3))}


def test_nested_arguments_and_results_are_those_of_the_plain_call():
    plain, fast = ag.value_and_grad(_loss), ag.compile(ag.value_and_grad(_loss))
    for seed in range(4):
        p = _point(seed)
        (value, gradient), (again, same) = plain(p, 2.0), fast(p, 2.0)
        assert value == again
        assert list(same) == list(gradient)
        assert type(same["b"]) is tuple
        assert type(same["b"][0]) is float
        assert gradient["b"] == same["b"]
        np.testing.assert_array_equal(gradient["a"], same["a"])


def test_results_of_calls_do_not_share_memory():
    fast = ag.compile(ag.grad(lambda x: np.sum(x**2)))
    results = [fast(np.full(3, float(k))) for k in range(4)]
    assert [r[0] for r in results] == [0, 2, 4, 6]


def test_gradients_with_respect_to_several_arguments_are_tuples():
    fast = ag.compile(ag.grad(lambda x, y, z: np.sum(x * y) * z, argnums=(2, 0)))
    for _ in range(3):
        by_z, by_x = fast(np.array([1.0, 2.0]), np.array([3.0, 4.0]), 0.5)
        assert by_z == 11.0
        np.testing.assert_array_equal(by_x, [1.5, 2.0])


def test_values_of_functions_keep_their_structure():
    fast = ag.compile(lambda x, n: {"sum": np.sum(x), "parts": [x * n, (x[0], x[1])]})
    for _ in range(3):
        result = fast(np.array([1.0, 2.0]), 3)
        assert result["sum"] == 3.0
        np.testing.assert_array_equal(result["parts"][0], [3.0, 6.0])
        assert result["parts"][1] == (1.0, 2.0)
    assert fast(np.array([1.0, 2.0]), 4)["parts"][0][1] == 8.0  # another constant is another recording
    assert fast(np.array([1.0, 2.0]), 3)["parts"][0][1] == 6.0


@pytest.mark.parametrize(
    "x",
    [
        np.arange(6.0)[::2],
        np.arange(6.0)[::-2],
        np.arange(3, dtype=np.float32),
        np.arange(3, dtype=">f8"),
        np.arange(6.0).reshape(2, 3).T[:, 1],
        np.frombuffer(b"x" + np.arange(3.0).tobytes(), dtype=np.uint8)[1:].view(np.float64),
    ],
    ids=["strided", "backwards", "float32", "big-endian", "column", "unaligned"],
)
def test_arrays_of_other_layouts_are_read_right(x):
    fast = ag.compile(ag.grad(lambda x: np.sum(x**3)))
    fast(np.arange(3.0))
    for _ in range(2):
        np.testing.assert_array_equal(fast(x), 3 * np.asarray(x, dtype=float) ** 2)


def test_other_shapes_are_recorded_for_themselves():
    fast = ag.compile(ag.grad(lambda x: np.sum(x**2)))
    for shape in [(3,), (2, 2), (3,), (0,), (1, 3), (2, 2), ()]:
        x = np.ones(shape)
        assert np.shape(fast(x)) == shape
        np.testing.assert_array_equal(fast(x), 2 * x)


def test_both_paths_of_a_comparison_are_taken_by_later_calls():
    fast = ag.compile(ag.value_and_grad(lambda x: x**2 if x > 0 else -3 * x))
    for _ in range(3):
        assert fast(2.0) == (4.0, 4.0)
        assert fast(-2.0) == (6.0, -3.0)


def test_numpy_scalars_and_named_arguments_and_dataclasses_go_the_careful_way():
    @dataclasses.dataclass
    class Parameters:
        rate: float

    fast = ag.compile(ag.grad(lambda x: x**2))
    assert [fast(np.float64(3.0)), fast(np.float64(4.0)), fast(5.0)] == [6.0, 8.0, 10.0]
    by_class = ag.compile(ag.grad(lambda p: p.rate**2))
    assert [by_class(Parameters(k)).rate for k in (1.0, 2.0, 3.0)] == [2.0, 4.0, 6.0]
    named = ag.compile(lambda x, y: x * y)
    assert [named(2.0, y=3.0), named(2.0, y=4.0), named(2.0, 5.0)] == [6.0, 8.0, 10.0]


def test_an_error_in_a_run_is_raised_and_leaves_the_function_usable():
    fast = ag.compile(lambda s: ag.normal_lpdf(0.5, 0.0, s))
    right = fast(1.0)
    for _ in range(3):
        with pytest.raises(ag.DomainError, match="sigma is -1"):
            fast(-1.0)
        assert fast(1.0) == right


def test_bound_calls_see_what_is_written_into_their_arrays():
    fast = ag.compile(ag.value_and_grad(lambda p: np.sum(p["x"] ** 2) + p["n"]))
    p = {"x": np.array([1.0, 2.0]), "n": 1.0}
    bound = fast.bind(p)
    value, gradient = bound()
    assert value == 6.0
    p["x"][:] = 3.0
    again, same = bound()
    assert again == 19.0
    assert same["x"] is gradient["x"]
    np.testing.assert_array_equal(gradient["x"], [6.0, 6.0])
    np.testing.assert_array_equal(fast(p)[1]["x"], [6.0, 6.0])


def test_bound_calls_take_new_paths():
    x = np.array([2.0])
    bound = ag.compile(ag.grad(lambda x: x[0] ** 2 if x[0] > 0 else -3 * x[0])).bind(x)
    assert bound()[0] == 4.0
    x[0] = -1.0
    assert bound()[0] == -3.0
    x[0] = 1.0
    assert bound()[0] == 2.0


def test_what_cannot_be_bound_is_refused():
    fast = ag.compile(ag.grad(lambda x, n: np.sum(x[n] ** 2)))
    with pytest.raises(TypeError, match=r"compile\(<lambda>\): bind's arguments must be plain"):
        fast.bind(np.ones(3), np.array(1))


def test_threads_share_plans():
    fast = ag.compile(ag.value_and_grad(lambda x: np.sum(np.exp(x) * x)))
    points = [np.linspace(0, 1 + k, 200 + k % 3) for k in range(24)]
    expected = [fast(x) for x in points]
    wrong = []

    def work(part):
        for _ in range(50):
            for x, (value, gradient) in zip(points[part::4], expected[part::4], strict=True):
                again, same = fast(x)
                if again != value or not np.array_equal(gradient, same):
                    wrong.append(x)

    threads = [threading.Thread(target=work, args=(part,)) for part in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_hessian_products_of_known_calls_are_those_of_plain_ones():
    plain, fast = ag.hvp(_loss), ag.compile(ag.hvp(_loss))
    for seed in range(4):
        p, v = _point(seed), _point(seed + 10)
        expected, given = plain(p, 2.0, v), fast(p, 2.0, v)
        assert list(given) == list(expected)
        assert given["b"] == expected["b"]
        np.testing.assert_array_equal(given["a"], expected["a"])


def test_hessian_products_take_the_vector_in_the_parameters_places():
    fast = ag.compile(ag.hvp(lambda x, n, y: n * x[0] * x[1] * np.sum(y**2), argnums=(2, 0)))
    x, y = np.array([2.0, 3.0]), np.array([[1.0, -1.0, 0.5]])
    v, u = np.array([[0.5, 1.0, 2.0]]), np.array([1.0, -2.0])
    for scale in (1.0, 2.0, 3.0):
        of_y, of_x = fast(x, scale, y, (v, u))
        along = u[0] * x[1] + x[0] * u[1]
        np.testing.assert_allclose(of_y, scale * (2 * x[0] * x[1] * v + 2 * along * y), rtol=1e-14)
        np.testing.assert_allclose(of_x, scale * (2 * np.sum(y * v) * x[::-1] + np.sum(y**2) * u[::-1]), rtol=1e-14)


def test_whole_numbers_in_a_vector_are_numbers():
    fast = ag.compile(ag.hvp(lambda p: p["a"] ** 3 * p["b"]))
    p = {"a": 2.0, "b": 5.0}
    for k in (1, 2, 1.0, 3.0, 2):
        assert fast(p, {"a": k, "b": 0.0}) == {"a": 60.0 * k, "b": 12.0 * k}
    with pytest.raises(TypeError, match="must be of the structure"):
        fast(p, {"a": 1.0})
    with pytest.raises(ag.ShapeError, match="vector"):
        fast(p, {"a": np.ones(2), "b": 0.0})


def test_hessian_products_can_be_bound():
    x, v = np.array([1.0, 2.0]), np.array([1.0, 0.0])
    bound = ag.compile(ag.hvp(lambda x: x[0] ** 3 * x[1])).bind(x, v)
    np.testing.assert_array_equal(bound(), [12.0, 3.0])
    x[:], v[:] = [2.0, 1.0], [0.0, 1.0]
    np.testing.assert_array_equal(bound(), [12.0, 0.0])
