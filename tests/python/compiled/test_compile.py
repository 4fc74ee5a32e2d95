"""Compiled functions: recorded once for each signature and path, run again, by several threads at once."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import agrad as ag


def counted(function):
    """Return the function and a list that grows with each of its calls."""
    calls = []

    def wrapped(*args, **kwargs):
        calls.append(1)
        return function(*args, **kwargs)

    return wrapped, calls


def test_a_compiled_function_is_called_once():
    f, calls = counted(lambda x: np.sum(np.sin(x) * x))
    compiled = ag.compile(ag.value_and_grad(f))
    for x in (np.zeros(3), np.ones(3), np.array([0.1, 2.0, -3.0])):
        value, gradient = compiled(x)
        assert value == pytest.approx(np.sum(np.sin(x) * x), rel=1e-15)
        np.testing.assert_allclose(gradient, np.cos(x) * x + np.sin(x), rtol=1e-14, atol=1e-16)
    assert len(calls) == 1


def test_results_keep_their_structure():
    compiled = ag.compile(lambda p: {"sum": p["a"] + p["b"], "parts": [p["a"], (p["b"][0], 2.0)]})
    result = compiled({"a": 1.0, "b": np.array([2.0, 3.0])})
    np.testing.assert_array_equal(result["sum"], [3.0, 4.0])
    assert result["parts"] == [1.0, (2.0, 2.0)]
    assert isinstance(result["parts"][0], float)


def test_each_shape_and_structure_is_recorded_once():
    f, calls = counted(lambda x, y=None: np.sum(x) * (1.0 if y is None else y))
    compiled = ag.compile(f)
    assert [compiled(np.ones(n)) for n in (2, 3, 2, 3)] == [2.0, 3.0, 2.0, 3.0]
    assert len(calls) == 2
    assert compiled(np.ones(2), 2.0) == 4.0
    assert compiled(np.ones(2), y=3.0) == 6.0
    assert compiled(np.ones((1, 2))) == 2.0
    assert len(calls) == 5


def test_integers_strings_and_flags_are_part_of_the_recording():
    f, calls = counted(lambda x, n, name, flag: (x[name] ** n if flag else x[name]) * 1.0)
    compiled = ag.compile(ag.grad(f))
    x = {"a": 3.0, "b": 5.0}
    assert compiled(x, 2, "a", True) == {"a": 6.0, "b": 0.0}
    assert compiled(x, 3, "b", True) == {"a": 0.0, "b": 75.0}
    assert compiled(x, 1, "a", False) == {"a": 1.0, "b": 0.0}
    assert compiled(x, True, "a", False) == {"a": 1.0, "b": 0.0}  # True is not 1
    assert compiled({"a": 4.0, "b": 5.0}, 2, "a", True) == {"a": 8.0, "b": 0.0}
    assert len(calls) == 4


def test_integer_arrays_are_indices():
    f, calls = counted(lambda x, groups: np.sum(x[groups] ** 2))
    compiled = ag.compile(ag.grad(f))
    x = np.array([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(compiled(x, np.array([0, 0, 2])), [4.0, 0.0, 6.0])
    np.testing.assert_array_equal(compiled(x, np.array([1, 1, 1])), [0.0, 12.0, 0.0])
    np.testing.assert_array_equal(compiled(x, np.array([0, 0, 2])), [4.0, 0.0, 6.0])
    assert len(calls) == 1


def test_data_are_arguments_like_others():
    compiled = ag.compile(ag.value_and_grad(lambda p, y: np.sum((y - p) ** 2)))
    assert compiled(1.0, np.array([1.0, 3.0])) == (4.0, -4.0)
    assert compiled(2.0, np.array([5.0, 5.0])) == (18.0, -12.0)


def test_both_sides_of_a_branch():
    def f(x):
        if x > 1:
            return x**2 if x < 5 else -x
        return 3 * x

    f, calls = counted(f)
    compiled = ag.compile(ag.value_and_grad(f))
    for x, value, slope in [
        (0.5, 1.5, 3.0),
        (2.0, 4.0, 4.0),
        (7.0, -7.0, -1.0),
        (0.0, 0.0, 3.0),
        (3.0, 9.0, 6.0),
        (1.0, 3.0, 3.0),
    ]:
        assert compiled(x) == (value, slope)
    assert len(calls) == 3


def test_loops_that_depend_on_values_are_paths():
    def halvings(x):
        n = 0
        while x > 1:
            x, n = x / 2, n + 1
        return x + n

    compiled = ag.compile(halvings)
    assert [compiled(x) for x in (1.0, 3.0, 9.0, 3.0)] == [halvings(x) for x in (1.0, 3.0, 9.0, 3.0)]
    for n in range(64):
        assert compiled(2.0**n) == n + 1
    with pytest.warns(RuntimeWarning, match=r"number of paths that comparisons took is 65, but at most 64 are stored"):
        assert compiled(2.0**64) == 65
    assert compiled(9.0) == halvings(9.0)


def test_jacobians_by_columns_and_by_rows():
    a = np.arange(12.0).reshape(3, 4)
    wide, tall = ag.compile(ag.jacobian(lambda x: np.sin(a @ x))), ag.compile(ag.jacobian(lambda x: np.sin(x @ a)))
    x, y = np.linspace(0, 1, 4), np.linspace(0, 1, 3)
    np.testing.assert_allclose(wide(x), np.cos(a @ x)[:, None] * a, rtol=1e-14, atol=1e-13)  # a @ x is rounded
    np.testing.assert_allclose(tall(y), np.cos(y @ a)[:, None] * a.T, rtol=1e-14, atol=1e-13)
    by_part = ag.compile(ag.jacobian(lambda x, y: x * np.sum(y), argnums=(1, 0)))(x, y)
    np.testing.assert_allclose(by_part[0], np.outer(x, np.ones(3)), rtol=1e-15)
    np.testing.assert_allclose(by_part[1], np.sum(y) * np.eye(4), rtol=1e-15)


def test_parameters_that_are_not_consecutive():
    compiled = ag.compile(ag.grad(lambda x, y, z: np.sum(x * y * z), argnums=(2, 0)))
    gradient = compiled(np.array([1.0, 2.0]), 3.0, np.array([4.0, 5.0]))
    np.testing.assert_array_equal(gradient[0], [3.0, 6.0])
    np.testing.assert_array_equal(gradient[1], [12.0, 15.0])


def test_constant_functions_and_no_parameters():
    assert ag.compile(lambda: 3.0)() == 3.0
    assert ag.compile(ag.grad(lambda x: 3.0))(2.0) == 0.0
    np.testing.assert_array_equal(ag.compile(lambda x: np.ones(2))(1.0), [1.0, 1.0])


def test_threads_share_a_compiled_function():
    compiled = ag.compile(ag.value_and_grad(lambda x: np.sum(np.exp(np.sin(x)) * x) if x[0] > 0.5 else np.sum(x**3)))
    points = [np.linspace(0, 2, 50) + shift for shift in np.linspace(0, 1, 200)]
    expected = [ag.value_and_grad(lambda x: np.sum(np.exp(np.sin(x)) * x) if x[0] > 0.5 else np.sum(x**3))(x) for x in points]
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(compiled, points))
    for (value, gradient), (wanted, wanted_gradient) in zip(results, expected, strict=True):
        assert value == wanted
        np.testing.assert_array_equal(gradient, wanted_gradient)


def test_densities_and_errors_within_a_run():
    compiled = ag.compile(ag.grad(lambda s: ag.normal_lpdf(np.array([1.0, 2.0]), 0.0, s)))
    assert compiled(2.0) == pytest.approx(-2 / 2.0 + 5 / 8.0)
    with pytest.raises(ag.DomainError, match=r"normal_lpdf: sigma is -1, but must be positive and finite"):
        compiled(-1.0)
    assert compiled(2.0) == pytest.approx(-2 / 2.0 + 5 / 8.0)


@pytest.mark.parametrize(
    ("make", "argument", "error", "message"),
    [
        (lambda: ag.compile(lambda x: float(x)), 1.0, TypeError, "float: argument is a recorded value"),
        (lambda: ag.compile(ag.grad(lambda x: x)), np.ones(2), ValueError, r"is of shape \(2,\), but must be a scalar"),
        (
            lambda: ag.compile(ag.grad(lambda x: x * 1.0)),
            3,
            TypeError,
            "argument 0 is of dtype int64, but must be floating-point",
        ),
        (
            lambda: ag.compile(lambda x: x),
            {1.0},
            TypeError,
            r"argument 0 is \{1.0\}, but must be numbers, an array of numbers or hashable",
        ),
    ],
)
def test_misuse_is_explained(make, argument, error, message):
    with pytest.raises(error, match=message):
        make()(argument)


def test_an_exception_while_recording_leaves_nothing_behind():
    attempts = []

    def f(x):
        attempts.append(1)
        if len(attempts) == 1:
            raise ValueError("the first time")
        return x * 2

    compiled = ag.compile(f)
    with pytest.raises(ValueError, match="the first time"):
        compiled(1.0)
    assert compiled(1.0) == 2.0
    assert compiled(2.0) == 4.0
    assert len(attempts) == 2


@pytest.mark.parametrize("transformation", [ag.grad, ag.value_and_grad, ag.jacobian, ag.hessian])
def test_recorded_aux_of_a_new_path(transformation):
    def function(a):
        return (a**2, a * 2) if a < 3.5 else (a**3, a * 3)

    compiled = ag.compile(transformation(function, has_aux=True))
    for a in (3.0, 4.0, 3.2, 5.0):
        assert compiled(a) == transformation(function, has_aux=True)(a)
