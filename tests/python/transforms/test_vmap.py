"""vmap: against a loop over the rows, for every kind of operation, in every mode; axes, structures, paths, threads, errors."""

import numpy as np
import pytest

import agrad as ag
from numpy_cases import TABLES

GENERATOR = np.random.default_rng(7)
ROWS = GENERATOR.normal(size=(5, 3))
MATRIX = GENERATOR.normal(size=(3, 3)) + 4 * np.eye(3)


def close(given, expected, rtol=1e-13):
    np.testing.assert_allclose(given, expected, rtol=rtol, atol=rtol)


@pytest.fixture(params=["plain", "compiled"])
def made(request):
    return ag.compile if request.param == "compiled" else lambda function: function


def looped(f, x):
    return np.stack([np.asarray(f(row)) for row in x])


CALLS = [
    pytest.param(f, arrays, id=f"{table}-{name}-{n}")
    for table, functions in TABLES.items()
    for name, calls in functions.items()
    for n, (f, arrays) in enumerate(calls)
]


@pytest.mark.parametrize(("f", "arrays"), CALLS)
def test_numpy_functions(f, arrays):
    """All arguments with rows, and only the first: values of a loop, and the gradient of what is made of them."""

    def joined(*x):
        result = f(*x)
        parts = result if isinstance(result, (list, tuple)) else [result]
        return np.concatenate([np.ravel(part) for part in parts])

    def total(x):
        return np.sum(np.sin(joined(x, *arrays[1:])))

    stacked = [np.stack([x, x * 1.01 + 0.003, x * 0.98 - 0.001]) for x in arrays]
    expected = np.stack([joined(*[x[r] for x in stacked]) for r in range(3)])
    close(ag.vmap(joined)(*stacked), expected)
    axes = (0, *[None] * (len(arrays) - 1))
    close(ag.vmap(joined, axes)(stacked[0], *arrays[1:]), looped(lambda x: joined(x, *arrays[1:]), stacked[0]))
    gradient = ag.grad(lambda x: np.sum(ag.vmap(total)(x)))(stacked[0])
    close(gradient, looped(ag.grad(total), stacked[0]), 1e-11)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.linalg.solve(MATRIX + np.diag(x), x),
        lambda x: ag.linalg.log_determinant(10 * np.eye(3) + np.outer(x, x)),
        lambda x: np.linalg.eigh(MATRIX + MATRIX.T + np.outer(x, x))[0],
        lambda x: ag.normal_lpdf(x, x[0], 1 + x[1] ** 2),
        lambda x: ag.solve_ivp(lambda t, y: -(x[0] ** 2) * y, (0.0, 1.0), [1.0 + x[1] ** 2], t_eval=[1.0]).y[0],
        lambda x: MATRIX @ x + x @ MATRIX,
        lambda x: np.outer(x, x) @ MATRIX @ np.outer(x, x),
        lambda x: ag.scan(lambda c, a: (c * a, c), x[0], x)[1],
        lambda x: ag.cond(x[0] > 0, np.sin, np.cos, x),
        lambda x: ag.grad(lambda y: np.sum(np.sin(y) * y[::-1]))(x),
        lambda x: ag.jacobian(lambda y: np.sin(y) * y[0])(x),
        lambda x: np.array([1.0, 2.0]),
        lambda x: x[0],
    ],
)
def test_operations(made, f):
    close(made(ag.vmap(f))(ROWS), looped(f, ROWS), 1e-12)
    weights = np.cos(np.arange(np.size(ag.vmap(f)(ROWS)))).reshape(np.shape(ag.vmap(f)(ROWS)))

    def total(rows):
        return np.sum(ag.vmap(f)(rows) * weights) + np.sum(rows)

    def by_loop(rows):
        return sum(np.sum(f(rows[r]) * weights[r]) for r in range(5)) + np.sum(rows)

    close(made(ag.grad(total))(ROWS), ag.grad(by_loop)(ROWS), 1e-11)


def test_second_order(made):
    def f(x):
        return np.sum(ag.vmap(lambda r: np.exp(np.sin(r[0]) * r[1]) + r[2] ** 3)(x.reshape(5, 3)))

    def by_loop(x):
        return sum(np.exp(np.sin(r[0]) * r[1]) + r[2] ** 3 for r in x.reshape(5, 3))

    x = ROWS.ravel()
    close(made(ag.hessian(f))(x), ag.hessian(by_loop)(x), 1e-12)
    close(
        ag.vmap(ag.hessian(lambda r: np.exp(r[0] * r[1])))(ROWS), looped(ag.hessian(lambda r: np.exp(r[0] * r[1])), ROWS), 1e-12
    )


def test_axes_and_structures(made):
    def f(p, a, *, scale):
        return {"sum": p["x"] + a, "product": (p["y"] * scale, np.outer(p["y"], p["y"]))}

    x, y, a, scale = GENERATOR.normal(size=4), GENERATOR.normal(size=(2, 4)), 0.5, GENERATOR.normal(size=4)
    axes = ({"x": 0, "y": 1}, None)
    out = {"sum": 0, "product": (1, -1)}
    result = made(ag.vmap(f, axes, out))({"x": x, "y": y}, a, scale=scale)
    close(result["sum"], x + a)
    close(result["product"][0], y * scale)
    close(result["product"][1], np.einsum("ir,jr->ijr", y, y))


def test_closures_over_recorded_values(made):
    def f(a):
        return np.sum(ag.vmap(lambda r: np.sin(a * r))(ROWS))

    close(made(ag.grad(f))(0.7), np.sum(ROWS * np.cos(0.7 * ROWS)))
    close(made(ag.hessian(f))(0.7), -np.sum(ROWS**2 * np.sin(0.7 * ROWS)), 1e-12)


def test_nested(made):
    f = ag.vmap(ag.vmap(lambda x, y: x * y, (None, 0)), (0, None))
    close(made(f)(np.arange(3.0), np.arange(4.0)), np.outer(np.arange(3.0), np.arange(4.0)))


def test_each_row_takes_its_own_path(made):
    def f(x):
        if x > 1:
            return x**2
        return np.sin(x) if x > 0 else -x

    x = np.array([2.0, 0.5, -1.0, 3.0, 0.2, -4.0])
    expected = np.array([f(each) for each in x])
    g = made(ag.vmap(f))
    close(g(x), expected)
    close(g(x[::-1].copy()), expected[::-1])
    close(made(ag.grad(lambda x: np.sum(ag.vmap(f)(x))))(x), [4.0, np.cos(0.5), -1.0, 6.0, np.cos(0.2), -1.0])


def test_compiled_notices_that_a_row_changes_its_path():
    calls = []

    def f(x):
        calls.append(1)
        return x if x > 0 else -x

    g = ag.compile(ag.vmap(f))
    for x in ([1.0, 2.0], [1.0, -2.0], [3.0, -1.0], [-1.0, -1.0]):
        close(g(np.array(x)), np.abs(x))
    before = len(calls)
    close(g(np.array([5.0, -6.0])), [5.0, 6.0])
    assert len(calls) == before


def test_integers_are_numbers_to_the_function():
    close(ag.vmap(lambda x, n: x * n)(np.ones(3), np.arange(3)), [0.0, 1.0, 2.0])


def test_no_rows_and_one():
    assert ag.vmap(lambda x: np.outer(x, x))(np.zeros((0, 3))).shape == (0, 3, 3)
    close(ag.vmap(np.sin)(np.ones(1)), np.sin([1.0]))


def test_threads_give_the_same_bits():
    rows = GENERATOR.normal(size=(1000, 4))

    def f(x, a):
        return {"a": np.sum(np.exp(np.sin(x) * a)), "b": np.tanh(x)}

    results = [ag.vmap(f, (0, None), {"a": 0, "b": 1}, threads=n)(rows, 0.3) for n in (1, 2, 3, 0)]
    assert results[0]["b"].shape == (4, 1000)
    for result in results[1:]:
        np.testing.assert_array_equal(result["a"], results[0]["a"])
        np.testing.assert_array_equal(result["b"], results[0]["b"])
    plain = ag.vmap(f, (0, None), {"a": 0, "b": 1})(rows, 0.3)
    np.testing.assert_array_equal(results[0]["a"], plain["a"])


def test_the_function_is_recorded_once_whatever_the_number_of_rows():
    calls = []

    def f(x):
        calls.append(1)
        return np.sin(x)

    ag.vmap(f)(np.linspace(0, 1, 10_000))
    assert len(calls) == 1


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: ag.vmap(3), TypeError, "vmap: function is 3, but must be callable"),
        (lambda: ag.vmap(np.sin, threads=-1), TypeError, "threads is -1, but must be None or a number"),
        (
            lambda: ag.vmap(np.sin, (0, 0))(ROWS),
            TypeError,
            r"in_axes has 2 entries, but must have one entry for each .* 1 were given",
        ),
        (lambda: ag.vmap(np.sin, None)(ROWS), ValueError, "in_axes is None, but must have an axis for at least one argument"),
        (lambda: ag.vmap(np.sin, 2)(ROWS), ag.ShapeError, r"argument 0 is of shape \(5, 3\), but must have an axis 2"),
        (
            lambda: ag.vmap(np.add)(ROWS, ROWS[:4]),
            ag.ShapeError,
            "argument 1 has 4 rows along axis 0, but must have 5, as argument 0",
        ),
        (lambda: ag.vmap(lambda p: p["a"])({"a": "x"}), TypeError, r"argument 0\['a'\] is 'x', but must be real numbers"),
        (lambda: ag.vmap(lambda p: p["a"], ({"b": 0},))({"a": ROWS}), TypeError, "in_axes is .*, but must be of the structure"),
        (lambda: ag.vmap(np.sin, 1.5)(ROWS), TypeError, "in_axes is 1.5, but must be an int or None"),
        (
            lambda: ag.vmap(np.sin, 0, 5)(ROWS),
            ag.ShapeError,
            r"out_axes is 5, but must be an axis of a result of shape \(5, 3\)",
        ),
        (
            lambda: ag.vmap(lambda x: x if x[0] > 0 else x[0])(ROWS),
            TypeError,
            "result is of different structures or shapes in different",
        ),
        (lambda: ag.vmap(lambda x: None)(ROWS), TypeError, r"vmap\(<lambda>\): result is None"),
    ],
)
def test_messages(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_an_error_leaves_everything_usable():
    def fails(x):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        ag.vmap(fails)(ROWS)
    close(ag.vmap(np.sin)(ROWS), np.sin(ROWS))


@pytest.mark.parametrize("constants", [3, 1000])
def test_a_later_row_may_make_constants_in_a_path_of_its_own(constants):
    def function(x):
        return ag.cond(x[0] > 1, lambda c: c + x[1], lambda c: c * np.sum(ag.array([x[1]] + [0.001] * constants)), x[0])

    rows = np.array([[5.0, 0.1], [0.1, 0.1], [0.2, 0.3]])
    expected = [function(row) for row in rows]
    compiled = ag.compile(ag.vmap(function))
    for _ in range(5):
        np.testing.assert_allclose(ag.vmap(function)(rows), expected, rtol=1e-14)
        np.testing.assert_allclose(compiled(rows), expected, rtol=1e-14)
    np.testing.assert_allclose(ag.vmap(ag.grad(function))(rows), [ag.grad(function)(row) for row in rows], rtol=1e-14)


def test_a_later_row_of_a_scan_joins_constants():
    def function(x):
        def step(carry, value):
            if value > 0:
                return carry + np.sum(np.concatenate([x[1:], np.full(50, 0.1)])), value
            return carry * value, value

        return ag.scan(step, x[0], np.stack([x[1] - 1, x[1]]))[0]

    rows = np.array([[1.0, 0.5], [1.0, 2.5], [0.3, -1.0]])
    np.testing.assert_allclose(ag.vmap(function)(rows), [function(row) for row in rows], rtol=1e-14)
