"""Arrays of integers and booleans are inputs of compiled functions: one path for all contents, right where they are read."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import agrad as ag
from memory_use import resident

GENERATOR = np.random.default_rng(7)
INTEGERS = (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64)
X = GENERATOR.normal(size=(6, 4))


def paths(compiled):
    return sum(len(each) for _, each in compiled.recorded())


def log_softmax(z):
    return z - np.log(np.sum(np.exp(z), axis=1, keepdims=True))


def by_labels(w, x, y):
    return -np.mean(log_softmax(x @ w)[np.arange(len(y)), y])


def by_one_hot(w, x, y):
    return -np.mean(np.sum(y * log_softmax(x @ w), axis=1))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_labels_change_without_a_recording(dtype):
    c, reference = ag.compile(ag.value_and_grad(by_labels)), ag.value_and_grad(by_one_hot)
    w = GENERATOR.normal(size=(4, 3))
    for _ in range(8):
        y = GENERATOR.integers(0, 3, 6).astype(dtype)
        value, gradient = c(w, X, y)
        expected, slope = reference(w, X, np.eye(3)[y.astype(int)])
        assert value == pytest.approx(expected, rel=1e-14)
        np.testing.assert_allclose(gradient, slope, rtol=1e-13, atol=1e-15)
    assert paths(c) == 1


@pytest.mark.parametrize(
    "transform", [ag.grad, ag.jacobian, ag.jacfwd, ag.hessian, lambda f: ag.grad(lambda w, *a: np.sum(ag.grad(f)(w, *a) ** 2))]
)
def test_derivatives_are_those_of_the_one_hot_form(transform):
    c = ag.compile(transform(by_labels))
    w = GENERATOR.normal(size=(4, 3))
    for y in (np.array([0, 1, 2, 0, 1, 2]), np.array([2, 2, 2, 2, -1, -3])):
        np.testing.assert_allclose(c(w, X, y), transform(by_one_hot)(w, X, np.eye(3)[y]), rtol=1e-11, atol=1e-13)
    assert paths(c) == 1


KEYS = {
    "rows": lambda a, i, j: a[i],
    "columns": lambda a, i, j: a[:, j],
    "entries": lambda a, i, j: a[i, j],
    "with a range": lambda a, i, j: a[np.arange(3), j],
    "with an integer": lambda a, i, j: a[1, j],
    "with a slice": lambda a, i, j: a[1:, j],
    "with a new axis": lambda a, i, j: a[i, None],
    "with dots": lambda a, i, j: a[..., j],
    "outer": lambda a, i, j: a[i[:, None], j],
    "a single one": lambda a, i, j: a[i[0]],
    "two single ones": lambda a, i, j: a[i[0], j[1]],
    "of a row": lambda a, i, j: a[2][j],
    "take": lambda a, i, j: np.take(a, i, axis=0),
    "take of all": lambda a, i, j: np.take(a, i),
    "method take": lambda a, i, j: a.take(j, axis=1),
    "along an axis": lambda a, i, j: np.take_along_axis(a, np.stack([i, j, i, j]).T, 0),
    "indices of indices": lambda a, i, j: a[i][j % 3],
    "index computed": lambda a, i, j: a[(i + j) % 6 - 6],
    "list": lambda a, i, j: np.stack([a[k] for k in i]),
    "updated": lambda a, i, j: a.at[i].add(1.0) if isinstance(a, ag.Array) else _added(a, i),
}


def _added(a, i):
    a = a.copy()
    np.add.at(a, i, 1.0)
    return a


@pytest.mark.parametrize("name", KEYS)
def test_indices_mean_what_they_mean_to_numpy(name):
    f = KEYS[name]
    c, g = (
        ag.compile(f),
        ag.compile(ag.grad(lambda a, i, j: np.sum(np.cos(np.arange(f(a, i, j).size)).reshape(f(a, i, j).shape) * f(a, i, j)))),
    )
    for i, j in (([0, 5, 2], [3, 0, 1]), ([-1, -6, 2], [-4, 3, 3]), ([1, 1, 1], [2, 2, -2])):
        i, j = np.array(i), np.array(j)
        np.testing.assert_array_equal(c(X, i, j), f(X, i, j))
        places = np.arange(X.size).reshape(X.shape)
        if name != "updated":
            expected = np.bincount(f(places, i, j).ravel(), np.cos(np.arange(f(X, i, j).size)), X.size).reshape(X.shape)
            np.testing.assert_allclose(g(X, i, j), expected, rtol=1e-14, atol=1e-15)
    assert paths(c) == 1


@pytest.mark.parametrize("key", [[0, 6, 1], [0, -7, 1]])
@pytest.mark.parametrize("name", ["rows", "entries", "take", "a single one", "list", "outer"])
def test_an_index_out_of_range_raises_by_name_at_each_call(name, key):
    f = KEYS[name]
    c, key = ag.compile(f), np.roll(key, -1) if name == "a single one" else np.array(key)
    good, j = np.array([0, 1, 2]), np.array([0, 1, 2])
    for _ in range(2):
        with pytest.raises(IndexError):
            c(X, key, j)
        np.testing.assert_array_equal(c(X, good, j), f(X, good, j))
    with pytest.raises(IndexError, match=r"index: place is"):
        c(X, key, j)
    with pytest.raises(IndexError):
        f(X, key, j)


def test_an_empty_index_and_an_empty_table():
    c = ag.compile(lambda a, i: a[i])
    assert c(X, np.zeros(0, int)).shape == (0, 4)
    assert c(np.zeros((3, 0)), np.array([1, 2])).shape == (2, 0)
    with pytest.raises(IndexError):
        c(np.zeros((0, 3)), np.array([1]))


READS = {
    "if": lambda x, n: x * 2 if n[0] > 2 else x * 3,
    "int": lambda x, n: x * int(n[0]),
    "range": lambda x, n: sum(x**k for k in range(n[1])) + 0 * x,
    "shape": lambda x, n: np.concatenate([x, np.zeros(n[0])]),
    "slice": lambda x, n: x[: n[1]],
    "mask": lambda x, n: x[n > 1],
    "mask of a comparison": lambda x, n: x[(n > 1) & (n < 4)],
    "unique": lambda x, n: x * len(np.unique(n)),
    "asarray": lambda x, n: x * np.asarray(n),
    "one-hot of a constant": lambda x, n: np.eye(9)[n] @ np.arange(9.0) * x,
    "tolist": lambda x, n: x * sum(n.tolist()),
    "repeat": lambda x, n: np.repeat(x, n),
    "dict": lambda x, n: x * {1: 5.0, 3: 2.0}.get(n[0], 0.0),
    "format": lambda x, n: x * len(f"{n[0]:03d}") * float(n[1]),
    "bits": lambda x, n: x * (n << 1),
    "bincount": lambda x, n: np.bincount(n, minlength=9) * x[0],
    "attribute": lambda x, n: x * n.nbytes,
    "argsort": lambda x, n: x[np.argsort(n)],
    "list of functions": lambda x, n: [np.sin, np.cos, np.exp, np.tan, np.sqrt][n[2]](x),
    "nonzero": lambda x, n: x[np.nonzero(n)],
}


@pytest.mark.parametrize("name", READS)
def test_what_is_read_is_a_guard(name):
    f, c, x = READS[name], ag.compile(READS[name]), np.array([0.5, 1.5, 2.5])
    contents = ([1, 2, 3], [3, 1, 2], [1, 2, 3], [0, 4, 4], [3, 1, 2])
    for n in map(np.array, contents):
        np.testing.assert_allclose(c(x, n), f(x, n), rtol=1e-15)
    assert 1 <= paths(c) <= 3


def test_a_guard_is_of_the_values_that_were_read():
    c = ag.compile(lambda x, n: x * 2 if n[0] > 2 else x[n])
    x = np.arange(3.0)
    for n in ([0, 1], [2, 2], [1, 0], [7, 0], [9, 9]):
        n = np.array(n)
        np.testing.assert_array_equal(c(x, n), x * 2 if n[0] > 2 else x[n])
    assert paths(c) == 2


def test_loops_and_rows():
    table = GENERATOR.normal(size=5)

    def scanned(a, k):
        return ag.scan(lambda s, n: (s * a[n] + n, s), 1.0, k)[0]

    def by_hand(a, k):
        s = 1.0
        for n in k:
            s = s * a[n] + n
        return s

    def row(a, n, k):
        return np.sum(a[k]) * a[n] + n

    c, g = ag.compile(scanned), ag.compile(ag.grad(scanned))
    v, gv = (
        ag.compile(ag.vmap(row, in_axes=(None, 0, 0))),
        ag.compile(ag.grad(lambda a, n, k: np.sum(ag.vmap(row, in_axes=(None, 0, 0))(a, n, k)))),
    )
    for _ in range(4):
        k, n, many = GENERATOR.integers(0, 5, 6), GENERATOR.integers(-5, 5, 7), GENERATOR.integers(0, 5, (7, 3))
        assert c(table, k) == pytest.approx(by_hand(table, k), rel=1e-13)
        np.testing.assert_allclose(g(table, k), ag.grad(by_hand)(table, k), rtol=1e-12)
        np.testing.assert_allclose(v(table, n, many), [row(table, a, b) for a, b in zip(n, many, strict=True)], rtol=1e-13)
        expected = ag.grad(lambda a, n=n, many=many: sum(row(a, x, y) for x, y in zip(n, many, strict=True)))(table)
        np.testing.assert_allclose(gv(table, n, many), expected, rtol=1e-12)
    assert [paths(each) for each in (c, g, v, gv)] == [1, 1, 1, 1]


def test_rows_that_read_are_recorded_apart():
    f = lambda x, n: x ** int(n) if n > 1 else x * n  # noqa: E731
    c, x = ag.compile(ag.vmap(f)), np.array([1.5, 2.0, 0.5])
    for n in ([0, 1, 2], [3, 2, 2], [0, 1, 2]):
        np.testing.assert_allclose(c(x, np.array(n)), [f(a, b) for a, b in zip(x, n, strict=True)], rtol=1e-14)


def test_right_hand_sides_solves_and_derivatives_by_hand():
    def solved(k, n):
        y = ag.solve_ivp(lambda t, y, k, n: -k[n] * y[n[::-1]], (0.0, 1.0), np.ones(2), args=(k, n), rtol=1e-9, atol=1e-9).y[
            :, -1
        ]
        return np.sum(y * np.arange(1.0, 3.0))

    @ag.custom_vjp
    def power(x, n):
        return np.asarray(x) ** n

    power.defvjp(lambda x, n: (power(x, n), (x, n)), lambda kept, seed: (seed * kept[1] * kept[0] ** (kept[1] - 1), None))
    c = ag.compile(ag.value_and_grad(solved))
    by_hand = ag.compile(ag.grad(lambda x, n: np.sum(power(x, n[:2]))))
    k = np.array([0.5, 1.5, 0.3])
    for n in ([0, 1], [1, 0], [0, 1]):
        n = np.array(n)
        value, gradient = c(k, n)
        expected, slope = ag.value_and_grad(lambda k, n=n: solved(k, n))(k)
        assert value == pytest.approx(expected, rel=1e-12)
        np.testing.assert_allclose(gradient, slope, rtol=1e-10)
        np.testing.assert_allclose(by_hand(k[:2], n), n * k[:2] ** (n - 1.0), rtol=1e-14)


COUNTS = {
    "poisson": (lambda p, x, y: ag.poisson_lpmf(y, np.exp(p[0] + x[:, 0] * p[1])), 9),
    "poisson of a log": (lambda p, x, y: ag.poisson_log_glm_lpmf(y, x, p[0], p[:4]), 9),
    "bernoulli": (lambda p, x, y: ag.bernoulli_logit_glm_lpmf(y, x, p[0], p[:4]), 2),
    "binomial": (lambda p, x, y: ag.binomial_lpmf(y, 9, 0.5 + 0.1 * p[0]), 9),
    "neg_binomial": (lambda p, x, y: ag.neg_binomial_2_lpmf(y, np.exp(p[0]), 2.0), 9),
    "stats": (lambda p, x, y: np.sum(ag.stats.poisson.logpmf(y, np.exp(p[0]))), 9),
    "categorical": (lambda p, x, y: ag.categorical_logit_lpmf(y, p), 4),
}


@pytest.mark.parametrize("name", COUNTS)
def test_counts_are_operands_and_checked_at_each_call(name):
    f, largest = COUNTS[name]
    p = np.array([0.3, -0.2, 0.1, 0.4])
    c = ag.compile(ag.value_and_grad(f))
    for _ in range(4):
        y = GENERATOR.integers(0, largest, 6)
        value, gradient = c(p, X, y)
        expected, slope = ag.value_and_grad(lambda p, y=y: f(p, X, y))(p)
        assert value == pytest.approx(expected, rel=1e-13)
        np.testing.assert_allclose(gradient, slope, rtol=1e-12, atol=1e-14)
    if name != "stats":
        for _ in range(2):
            with pytest.raises(ag.DomainError):
                c(p, X, np.array([0, 1, -2, 0, 0, 1]))
    assert paths(c) == 1


def test_layouts_bytes_and_structures():
    c = ag.compile(lambda a, d: np.sum(a[d["n"]] * d["m"]))
    for each in (np.arange(12)[::3], np.arange(4).astype(">i8"), np.arange(4)[::-1]):
        n = each % 6
        np.testing.assert_allclose(c(X[:, 0].copy(), {"n": n, "m": n > 1}), np.sum(X[n, 0] * (n > 1)))
    assert paths(c) == 1


def test_aux_keeps_its_dtype_and_arguments_are_not_written():
    def f(x, y):
        y[0] = 5
        return np.sum(x * y), y + 1

    c, y = ag.compile(ag.value_and_grad(f, has_aux=True)), np.array([1, 2])
    for _ in range(2):
        (value, aux), _ = c(np.ones(2), y)
        assert value == 7
        assert aux.dtype == np.int64
        np.testing.assert_array_equal(aux, [6, 3])
    np.testing.assert_array_equal(y, [1, 2])


def test_scalars_and_zero_dimensional_arrays_are_constants():
    c = ag.compile(lambda x, n: x * np.arange(n).sum() if n > 2 else x)
    for n in (np.int64(3), np.array(4), 3, np.int64(4)):
        assert c(1.0, n) == np.arange(n).sum()


def test_an_integer_array_has_no_derivative():
    with pytest.raises(TypeError, match="must be floating-point"):
        ag.compile(ag.grad(lambda y: np.sum(y * 1.0)))(np.array([1, 2]))
    with pytest.raises(TypeError, match="must be floating-point"):
        ag.compile(lambda y: ag.grad(lambda y: np.sum(y * 1.0))(y))(np.array([1, 2]))
    np.testing.assert_array_equal(
        ag.compile(ag.grad(lambda p: np.sum(p["x"] * p["n"])))({"x": np.ones(2), "n": np.array([3, 4])})["x"], [3, 4]
    )


def function_to_pickle(x, y):
    return np.sum(x[y] * (y + 1))


def test_pickles_and_copies_have_the_path():
    c = ag.compile(function_to_pickle)
    c(np.arange(5.0), np.array([0, 1]))
    for other in (pickle.loads(pickle.dumps(c)), copy.copy(c), copy.deepcopy(c)):
        assert paths(other) == 1
        assert other(np.arange(5.0), np.array([-1, 2])) == 4.0 * 0 + 2.0 * 3
        assert paths(other) == 1


def test_calls_keep_no_memory_and_threads_share_the_path():
    c = ag.compile(ag.value_and_grad(by_labels))
    w, x = GENERATOR.normal(size=(4, 3)), GENERATOR.normal(size=(2000, 4))
    labels = GENERATOR.integers(0, 3, (64, 2000))
    c(w, x, labels[0])
    before = resident()
    for _ in range(20):
        for y in labels:
            c(w, x, y)
    assert resident() - before < 4e6
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda y: c(w, x, y)[0], labels))
    np.testing.assert_allclose(found, [by_labels(w, x, y) for y in labels], rtol=1e-12)
    assert paths(c) == 1


def test_bound_calls_read_the_present_contents():
    y, a = np.array([1, 0]), np.arange(3.0)
    bound = ag.compile(lambda a, y: np.sum(a[y] * np.array([1.0, 10.0]))).bind(a, y)
    assert bound() == 1.0
    y[:] = [2, -1]
    assert bound() == 22.0
    y[0] = 3
    with pytest.raises(IndexError):
        bound()


def test_a_sparse_pattern_is_that_of_the_indices():
    c = ag.compile(ag.jacobian(lambda x, i: x[i] ** 2, sparse=True))
    for i in (np.array([0, 2]), np.array([1, 1])):
        expected = np.zeros((2, 3))
        expected[[0, 1], i] = 2 * np.arange(3.0)[i]
        np.testing.assert_array_equal(c(np.arange(3.0), i).toarray(), expected)
        assert c(np.arange(3.0), i).nnz == 2
