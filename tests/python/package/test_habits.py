"""What Python's users do without thinking: methods, data among parameters, structures of results, other kinds of arrays."""

import numpy as np
import pytest

import agrad as ag

X = np.array([0.3, 0.7, 1.1])

# ---- data ------------------------------------------------------------------------------------------------------------


def of_data(p):
    return p["rate"] ** p["power"] * np.sum(p["x"][p["where"]]) * (2.0 if p["name"] == "twice" else 1.0)


P = {"rate": 3.0, "power": 2, "x": X, "where": np.array([0, 2]), "name": "twice", "none": None, "on": True}


def test_integers_strings_and_none_are_data():
    expected = {"rate": 6.0 * 1.4 * 2, "x": np.array([18.0, 0.0, 18.0])}
    for transform in (ag.grad, lambda f: ag.compile(ag.grad(f))):
        gradient = transform(of_data)(P)
        assert {name for name in P if gradient[name] is None} == {"power", "where", "name", "none", "on"}
        assert gradient["rate"] == pytest.approx(expected["rate"])
        np.testing.assert_allclose(gradient["x"], expected["x"])
    value, compiled = ag.compile(ag.value_and_grad(of_data))(P | {"power": 3})
    assert value == pytest.approx(27 * 1.4 * 2)
    assert compiled["rate"] == pytest.approx(27 * 1.4 * 2)


def test_data_in_the_other_transformations():
    h = ag.hessian(of_data)(P)
    assert h["rate"]["rate"] == pytest.approx(2.0 * 1.4 * 2)
    assert h["power"] is None
    assert h["rate"]["name"] is None
    along = dict.fromkeys(P) | {"rate": 1.0, "x": np.zeros(3)}
    assert ag.jvp(of_data, (P,), (along,))[1] == pytest.approx(6.0 * 1.4 * 2)
    assert ag.vjp(of_data, P)[1](1.0)[0]["power"] is None
    np.testing.assert_allclose(ag.hvp(of_data)(P, along)["x"], [12.0, 0.0, 12.0])
    ag.check_grads(of_data, P)
    with pytest.raises(TypeError, match=r"tangents\[0\]\['power'\] is 1.0, but must be None"):
        ag.jvp(of_data, (P,), (along | {"power": 1.0},))
    with pytest.raises(TypeError, match=r"argument 0\['n'\] is of dtype int64, but must be floating-point"):
        ag.grad(lambda p: p["n"])({"n": 1})


# ---- structures of results -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["jacobian", "jacfwd", "jacrev"])
@pytest.mark.parametrize("compiled", [False, True])
def test_jacobians_of_structures(name, compiled):
    transform = getattr(ag, name)

    def f(p):
        return {"square": p["x"] ** 2 * p["a"], "pair": (np.sum(p["x"]), p["x"][:, None] * p["x"])}

    jacobian = (ag.compile(transform(f)) if compiled else transform(f))({"x": X, "a": 2.0})
    np.testing.assert_allclose(jacobian["square"]["x"], np.diag(4 * X))
    np.testing.assert_allclose(jacobian["square"]["a"], X**2)
    np.testing.assert_array_equal(jacobian["pair"][0]["x"], np.ones(3))
    assert jacobian["pair"][0]["a"] == 0.0
    outer = np.einsum("ik,j->ijk", np.eye(3), X) + np.einsum("jk,i->ijk", np.eye(3), X)
    np.testing.assert_allclose(jacobian["pair"][1]["x"], outer)
    inside = ag.jacobian(lambda a: transform(f)({"x": X * a, "a": 2.0})["square"]["x"])(1.0)
    np.testing.assert_allclose(inside, np.diag(4 * X))


def test_jacobians_of_lists_are_arrays():
    np.testing.assert_array_equal(ag.jacobian(lambda x: [x[0] * x[1], x[2]])(X), [[0.7, 0.3, 0.0], [0.0, 0.0, 1.0]])


# ---- vmap ------------------------------------------------------------------------------------------------------------


def test_vmap_keeps_truths_and_integers():
    truths, whole, real = ag.vmap(lambda x: (x > 0.5, 3, x))(X)
    assert (truths.dtype, whole.dtype, real.dtype) == (bool, np.int64, float)
    np.testing.assert_array_equal(truths, X > 0.5)
    assert ag.vmap(np.argmax)(np.array([[0.0, 2.0], [5.0, 1.0]])).tolist() == [1, 0]
    assert ag.vmap(lambda x: 1 if x > 0.5 else 0.5)(X).tolist() == [0.5, 1.0, 1.0]
    assert ag.vmap(lambda x: x > 0.5)(np.zeros(0)).dtype == bool


def test_integer_rows_are_indices():
    table, places = np.array([1.0, 2.0, 3.0, 4.0]), np.array([2, 0, 2])
    assert ag.vmap(lambda i: i + 1)(places).tolist() == [3, 1, 3]
    for transform in (ag.grad, lambda f: ag.compile(ag.grad(f))):
        gradient = transform(lambda t: np.sum(ag.vmap(lambda i, x: t[i] * x)(places, X)))(table)
        np.testing.assert_allclose(gradient, [0.7, 0.0, 1.4, 0.0])
    pairs = np.array([[0, 1], [2, 3], [0, 1]])
    np.testing.assert_array_equal(ag.vmap(lambda pair, x: table[pair] * x)(pairs, X), table[pairs] * X[:, None])
    truths = np.array([True, False, True])
    np.testing.assert_allclose(ag.vmap(lambda yes, x: np.sin(x) if yes else x)(truths, X), np.where(truths, np.sin(X), X))
    many = ag.vmap(lambda i, x: table[i] * x, threads=2)(np.arange(1000) % 4, np.arange(1000.0))
    np.testing.assert_array_equal(many, table[np.arange(1000) % 4] * np.arange(1000.0))


# ---- arrays of other kinds -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make", [lambda a: a[::2], lambda a: a[::-2], lambda a: a[::2].astype(np.float32), lambda a: np.asfortranarray(a[::2])]
)
def test_bound_calls_take_arrays_as_they_are(make):
    given = make(np.arange(12.0).reshape(6, 2))
    bound = ag.compile(ag.grad(lambda x: np.sum(x**2 * np.arange(2.0)))).bind(given)
    np.testing.assert_array_equal(bound(), 2 * given * np.arange(2.0))
    given[1, 1] = 0.5
    np.testing.assert_array_equal(bound(), 2 * given * np.arange(2.0))


class Column:
    """What a column of a table is to NumPy."""

    def __init__(self, values):
        self.values = np.asarray(values)

    def __array__(self, dtype=None, copy=None):
        return self.values


def test_tables_are_arrays():
    f = ag.compile(lambda x: np.sum(x**2))
    assert f(Column(X)) == f(X) == pytest.approx(np.sum(X**2))
    np.testing.assert_array_equal(ag.compile(ag.grad(lambda x: np.sum(x**2)))(Column(X)), 2 * X)
    pick = ag.compile(lambda x, places: np.sum(x[places]))
    assert pick(X, Column([0, 2])) == pytest.approx(1.4)
    assert pick(X, Column([0, 1])) == pytest.approx(1.0)


def test_tables_of_pandas():
    pandas = pytest.importorskip("pandas")
    f = ag.compile(lambda x: np.sum(x**2))
    assert f(pandas.Series(X)) == pytest.approx(np.sum(X**2))
    assert f(pandas.DataFrame(np.eye(2))) == 2.0


# ---- compiled functions ----------------------------------------------------------------------------------------------


def test_signatures_are_bounded_and_the_ones_in_use_are_kept():
    recorded = []

    def f(x, n):
        recorded.append(n)
        return x * n

    compiled = ag.compile(f)
    for n in range(1000):
        assert compiled(2.0, n) == 2.0 * n
        assert compiled(3.0, 7) == 21.0
    assert len(compiled.recorded()) == 256
    assert recorded.count(7) == 1
    compiled(2.0, 0)
    assert recorded[-1] == 0


@pytest.mark.parametrize("transform", [ag.grad, ag.value_and_grad, ag.hessian, ag.jacobian, ag.jacfwd])
def test_compiled_aux(transform):
    def f(x, name):
        return np.sum(x**3), {"square": x**2, "rows": len(x), "name": name, "sum": np.sum(x)}

    plain, compiled = transform(f, has_aux=True), ag.compile(transform(f, has_aux=True))
    for x in (X, 2 * X, np.ones(2)):
        expected, got = plain(x, "here"), compiled(x, "here")
        assert str(got) == str(expected)


def test_compiled_aux_on_paths():
    compiled = ag.compile(ag.grad(lambda x: (x**2, "up") if x > 0 else (-(x**3), x), has_aux=True))
    assert [compiled(x) for x in (2.0, -1.0, 3.0, -2.0)] == [(4.0, "up"), (-3.0, -1.0), (6.0, "up"), (-12.0, -2.0)]


# ---- sparse matrices -------------------------------------------------------------------------------------------------


def test_sparse_matrices_times_recorded_arrays():
    from scipy import sparse

    dense = np.array([[1.0, 0.0, 2.0], [0.0, 0.0, -1.0], [0.5, 0.0, 0.0], [0.0, 0.0, 0.0]])
    y = np.arange(6.0).reshape(3, 2)
    for make in (sparse.csr_array, sparse.csc_array, sparse.coo_array, sparse.csr_matrix):
        matrix = make(dense)
        for transform in (ag.jacobian, lambda f: ag.compile(ag.jacobian(f)), ag.jacfwd):
            np.testing.assert_array_equal(transform(lambda x, m=matrix: m @ x)(X), dense)
            np.testing.assert_array_equal(transform(lambda x, m=matrix: m.dot(x))(X), dense)
            np.testing.assert_array_equal(transform(lambda x, m=matrix: x @ m)(np.ones(4)), dense.T)
            np.testing.assert_array_equal(transform(lambda x, m=matrix: x @ m)(np.ones((2, 4)))[0][:, 0], dense.T)
        np.testing.assert_array_equal(ag.compile(lambda x, m=matrix: m @ x)(y), dense @ y)
        ag.check_grads(lambda x, m=matrix: np.sum(np.sin(m @ x**2)), X)
    with pytest.raises(ag.ShapeError, match=r"matmul: arguments are of shapes \(4, 3\) and \(4,\), but must fit"):
        ag.grad(lambda x: np.sum(sparse.csr_array(dense) @ x))(np.ones(4))


# ---- linearize, switch, while_loop -----------------------------------------------------------------------------------


def test_linearize():
    def f(p, y):
        return {"a": p["x"] ** 2 * y, "b": np.sum(p["x"])}

    for function in (f, ag.compile(f)):
        value, push = ag.linearize(function, {"x": X}, 2.0)
        for v in np.eye(3):
            expected = ag.jvp(f, ({"x": X}, 2.0), ({"x": v}, 0.5))
            got = push({"x": v}, 0.5)
            np.testing.assert_array_equal(got["a"], expected[1]["a"])
            assert got["b"] == expected[1]["b"]
            np.testing.assert_array_equal(value["a"], expected[0]["a"])
    second = ag.grad(lambda x: ag.linearize(lambda z: np.sum(z**3), x)[1](np.ones(3)))(X)
    np.testing.assert_allclose(second, 6 * X)
    assert ag.linearize(lambda x: (x**2, "aux"), 3.0, has_aux=True)[::2] == (9.0, "aux")
    push = ag.linearize(np.sin, 1.0)[1]
    with pytest.raises(TypeError, match="number of tangents is 2, but must be 1"):
        push(1.0, 2.0)


def test_switch():
    branches = [np.sin, np.cos, lambda x: x**2, np.exp]
    f = ag.compile(ag.value_and_grad(lambda x, n: ag.switch(n, branches, x)))
    for n in (-3, 0, 1, 2, 3, 9):
        branch = branches[min(max(n, 0), 3)]
        for index in (n, float(n)):
            assert f(0.5, index) == pytest.approx(ag.value_and_grad(lambda x, b=branch: 1.0 * b(x))(0.5))
    got = ag.vmap(lambda n, x: ag.switch(n, branches, x))(np.arange(4.0), np.full(4, 0.5))
    np.testing.assert_allclose(got, [branch(0.5) for branch in branches])
    with pytest.raises(TypeError, match=r"switch: branches is .*, but must be a sequence of callables"):
        ag.switch(0, [])


@pytest.mark.parametrize("max_steps", [None, 60])
def test_while_loops(max_steps):
    def root(a):  # Newton's iteration
        return ag.while_loop(lambda x: np.abs(x * x - a) > 1e-13 * a, lambda x: 0.5 * (x + a / x), a * 1.0, max_steps=max_steps)

    compiled = ag.compile(ag.value_and_grad(root))
    for a in (2.0, 30.0, 1000.0, 2.0):
        for f in (ag.value_and_grad(root), compiled):
            assert f(a) == pytest.approx((a**0.5, 0.5 * a**-0.5), rel=1e-9)
    assert root(9.0) == pytest.approx(3.0)
    rows = np.array([2.0, 30.0, 1000.0])
    np.testing.assert_allclose(ag.vmap(root)(rows), np.sqrt(rows))
    np.testing.assert_allclose(ag.hessian(root)(4.0), -0.25 * 4.0**-1.5, rtol=1e-6)


def test_while_loops_that_do_not_end():
    def f(x):
        return ag.while_loop(lambda c: c < 10.0, lambda c: c + 1.0, x, max_steps=5)

    compiled = ag.compile(f)
    assert compiled(6.0) == 10.0
    for g in (f, compiled):
        with pytest.raises(RuntimeError, match="number of steps is more than 5, but must be at most max_steps"):
            g(3.0)


@pytest.mark.parametrize("index", [0.5, float("nan")])
def test_switch_takes_whole_numbers(index):
    with pytest.raises(ValueError, match=r"^switch: index is (0.5|nan), but must be a whole number$"):
        ag.switch(index, [np.sin, np.cos], 1.0)
