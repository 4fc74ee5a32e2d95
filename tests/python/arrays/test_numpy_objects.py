"""np.array([a, b]) of recorded a and b: NumPy's array of objects, which agrad takes wherever it takes a recorded array."""

import math
import operator

import numpy as np
import pytest
import scipy.sparse
import scipy.special

import agrad as ag
from numpy_cases import array_of
from recorded import check_like_numpy

EPS = np.finfo(float).eps
X = np.array([1.25, 0.5, 2.0])


# ---- what np.array makes ---------------------------------------------------------------------------------------------


def test_entries_stay_recorded():
    def f(x):
        made = [
            np.array([x[1], -x[0]]),
            np.array([x[0], 1.0]),
            np.array([[x[0], 2], [True, x[1]]]),
            np.asarray(x),
            np.array(x[0]),
        ]
        assert [(each.dtype, each.shape) for each in made] == [(object, shape) for shape in ((2,), (2,), (2, 2), (3,), ())]
        assert all(isinstance(entry, ag.Array) for entry in made[0])
        assert made[1][1] == 1.0
        return made

    values = [[0.5, -1.25], [1.25, 1.0], [[1.25, 2.0], [1.0, 0.5]], X, 1.25]
    for got in (ag.compile(f)(X), ag.jvp(f, (X,), (X,))[0]):
        for part, value in zip(got, values, strict=True):
            assert part.dtype == float if np.ndim(part) else type(part) is float
            np.testing.assert_array_equal(part, value)


def test_what_it_was_made_of_stays():
    def f(x):
        y, number = x.copy(), x[0]
        kept = [np.array([number, y[1]]), np.array(y)]
        y[1] = 0.0
        number += 1.0
        kept[0][0] += 1.0
        return [*kept, number, x * 1.0]

    for got, expected in zip(ag.compile(f)(X), ([2.25, 0.5], X, 2.25, X), strict=True):
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.array([x[1], -x[0]]),
        lambda x: np.array([[x[1], 1.0], [2.0, x[0] * x[2]]]),
        lambda x: np.array([x, 2 * x]),
        lambda x: np.array([[x[:1]], [x[1:2] ** 2]]),
        lambda x: np.asarray(x) * x,
        lambda x: np.hstack([x[1], np.array([x[0], 3.0]), 2.0]),
        lambda x: np.concatenate(([x[1]], [-x[0]])),
        lambda x: np.concatenate((np.array([x[1]]), x)),
        lambda x: np.stack([x[:2], np.array([x[2], 1.0])]),
        lambda x: np.vstack([np.array([x[2], 1.0]), [x[0], x[1]]]),
        lambda x: np.array((x[0], [x[1]][0], np.float64(2.0), np.int64(1))),
        lambda x: np.array([x[0] > 1.0, x[1] > 1.0]) * 1.0,
        lambda x: np.array([np.array(x[0]), np.array(x[1])]),
        lambda x: np.full(2, x[0]) * np.array([x[1], 1.0]),
        lambda x: np.append(np.array([x[0], x[1]]), x),
        lambda x: np.where(x > 1.0, np.array([x[1], 1.0, 2.0]), 0.5),
        lambda x: np.vectorize(lambda each: each * x[0])(x),
    ],
)
def test_arrays_as_results(f):
    check_like_numpy(f, X)


# ---- computing with it -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "f",
    [
        operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.matmul, np.dot, np.outer, np.inner,
        np.kron,
        lambda a, b: b / a - 2.0 * a + a**2 + 2**b, lambda a, b: -a + abs(b), lambda a, b: a[::-1] * b[0],
    ],
)  # fmt: skip
def test_operators_on_every_side(f):
    def made(x):
        return np.array([x[0], x[1] + 1.0])

    check_like_numpy(lambda x, y: f(made(x), made(y)), X, X + 0.5, tolerance=4 * EPS)
    check_like_numpy(lambda x, y: f(made(x), y[:2]), X, X + 0.5, tolerance=4 * EPS)
    check_like_numpy(lambda x, y: f(x[:2], made(y)), X, X + 0.5, tolerance=4 * EPS)
    check_like_numpy(lambda x: f(made(x), X[1:]), X, tolerance=4 * EPS)
    check_like_numpy(lambda x: f(X[1:], made(x)), X, tolerance=4 * EPS)


@pytest.mark.parametrize("ufunc", [np.hypot, np.arctan2, np.fmod])
def test_ufuncs_of_two(ufunc):
    x = np.array([1.25, 0.55, 2.0])
    check_like_numpy(lambda x: ufunc(np.array([x[0], x[1]]), np.array([x[1], x[2]])), x, tolerance=4 * EPS)
    check_like_numpy(lambda x: ufunc(np.array([x[0], x[1]]), 0.7 * X[1:]), x, tolerance=4 * EPS)
    check_like_numpy(lambda x: ufunc(x[1:], np.array([x[0], x[1]])), x, tolerance=4 * EPS)


def test_matrices():
    b = array_of(2, 2, seed=2)

    def f(x):
        a = np.array([[x[0], 1.0], [-x[1], x[2]]])
        z = np.array([x[1], x[0]])
        return [a @ z, a.T @ x[:2], x[1:] @ a, a @ b, np.trace(a) * a, np.sum(a, axis=0), np.cumsum(z), np.cross([*z, 1.0], x)]

    check_like_numpy(f, X, tolerance=4 * EPS)
    check_like_numpy(lambda x: np.linalg.solve(np.array([[x[0], 1.0], [-x[1], x[2]]]), x[1:]), X, tolerance=4 * EPS)
    check_like_numpy(lambda x: np.einsum("ij,j->i", np.array([[x[0], 1.0], [-x[1], x[2]]]), x[1:]), X, tolerance=4 * EPS)


@pytest.mark.parametrize(
    "ufunc",
    [
        np.arctan, np.arcsinh, np.cbrt, np.cos, np.cosh, np.deg2rad, np.degrees, np.exp, np.exp2, np.expm1, np.fabs, np.log,
        np.log10, np.log1p, np.log2, np.rad2deg, np.radians, np.sin, np.sinh, np.sqrt, np.tan, np.tanh, np.square,
        np.reciprocal, np.negative, np.absolute, np.rint, np.floor, np.ceil, np.trunc,
    ],
)  # fmt: skip
def test_ufuncs_entry_by_entry(ufunc):
    check_like_numpy(lambda x: ufunc(np.array([[x[0], x[1]], [x[2], x[0] * 0.75]])), X - 0.1, tolerance=8 * EPS, step=1e-4)


@pytest.mark.parametrize("ufunc", [np.arccos, np.arcsin, np.arctanh])
def test_ufuncs_of_small_numbers_entry_by_entry(ufunc):
    check_like_numpy(lambda x: ufunc(np.array([x[0], -x[1]])), X / 4, tolerance=8 * EPS)
    check_like_numpy(lambda x: np.arccosh(np.array([x[0], x[2]])), X, tolerance=8 * EPS)


def test_every_loop_for_objects_that_asks_for_a_method_has_it():
    """NumPy's ufuncs with a loop for objects, but those of whole numbers."""
    whole = {"bitwise_count", "gcd", "lcm", "left_shift", "right_shift", "bitwise_and", "bitwise_or", "bitwise_xor", "invert"}
    needs_matrices = {"matvec", "vecmat"}  # of NumPy 2.2

    def f(x):
        for name in sorted(
            {each.__name__ for each in vars(np).values() if isinstance(each, np.ufunc)} - whole - needs_matrices
        ):
            ufunc = getattr(np, name)
            if any("O" in loop for loop in ufunc.types):
                ufunc(*[np.array([x[0], x[1]])] * ufunc.nin)
        return x[0]

    with np.errstate(invalid="ignore"):
        assert ag.grad(f)(X / 4).tolist() == [1.0, 0.0, 0.0]


def test_choices_where_values_decide():
    x = np.array([1.0, -2.0, 3.0])
    for f in (
        np.sign,
        lambda z: np.maximum(z, 0.5),
        lambda z: np.clip(z, -1.0, 2.0),
        np.sort,
        lambda z: np.where(z > 0, z, z * 3),
    ):
        check_like_numpy(lambda x, f=f: f(np.array([x[0], x[1], x[2]])) * x, x)
    np.testing.assert_array_equal(ag.jacobian(lambda x: np.sign(np.array([x[0], x[1]])))(x), np.zeros((2, 3)))


def test_agrads_functions():
    made, joined = (lambda x: np.array([x[0], x[1]])), (lambda x: ag.array([x[0], x[1]]))
    for f in (
        ag.exp, ag.special.logsumexp, ag.log1p_exp, lambda z: ag.pow(z, 2.0), lambda z: ag.normal_lpdf(z, 0.5, 2.0),
        lambda z: ag.normal_lpdf(1.0, z, 2.0), lambda z: ag.linalg.expm(np.outer(z, z)),
        lambda z: ag.where([True, False], z, 0.0), lambda z: ag.array([z, z]),
        lambda z: ag.scan(lambda c, x: (c * x, c), 1.0, z)[0],
        lambda z: ag.scan(lambda c, x: (np.array([c[1] * x, c[0]]), c[0]), z, np.ones(3))[1],
        lambda z: ag.cond(z[0] > 0, lambda y: np.array([y[1], y[0]]), lambda y: 2 * y, z),
        lambda z: ag.vmap(lambda y: np.array([y, y * y]))(z), lambda z: ag.stop_gradient(z) * z,
    ):  # fmt: skip
        expected = ag.jacobian(lambda x, f=f: f(joined(x)))(X)
        np.testing.assert_allclose(ag.jacobian(lambda x, f=f: f(made(x)))(X), expected, rtol=4 * EPS)
        np.testing.assert_allclose(ag.compile(ag.jacobian(lambda x, f=f: f(made(x))))(X), expected, rtol=4 * EPS)


def test_lists_of_recorded_numbers_as_arguments():
    np.testing.assert_array_equal(
        ag.jacobian(lambda x: ag.exp([x[0], 1.0]))(X), ag.jacobian(lambda x: ag.exp(x * [1, 0, 0])[:2])(X)
    )


def test_writing_into_it():
    def f(x):
        z = np.array([x[0], 1.0, 2.0])
        z[1] = x[1]
        z[2] += x[2]
        z *= 2.0
        z += x
        np.multiply(z, x, out=z)
        whole = np.zeros((2, 3), dtype=object)
        whole[0] = z
        np.copyto(whole[1], x)
        np.fill_diagonal(whole, x[2])
        return whole

    check_like_numpy(f, X, tolerance=EPS)


# ---- transformations -------------------------------------------------------------------------------------------------


def of_objects(x):
    return np.array([x[0] * x[1], np.sin(x[2]), x[0] ** 2 / x[2]])


def of_arrays(x):
    return ag.array([x[0] * x[1], np.sin(x[2]), x[0] ** 2 / x[2]])


@pytest.mark.parametrize(
    "transform",
    [
        lambda f: ag.jacobian(f), lambda f: ag.jacfwd(f), lambda f: ag.jacrev(f), lambda f: ag.compile(ag.jacobian(f)),
        lambda f: lambda x: ag.jvp(f, (x,), (x,)), lambda f: lambda x: ag.vjp(f, x)[1](np.ones(3))[0],
        lambda f: ag.grad(lambda x: np.sum(f(x) ** 2)), lambda f: ag.hessian(lambda x: np.sum(f(x) ** 3)),
        lambda f: ag.compile(ag.hessian(lambda x: np.sum(f(x)))), lambda f: lambda x: ag.vmap(f)(np.array([x, 2 * x])),
        lambda f: ag.grad(lambda x: np.sum(ag.grad(lambda z: np.sum(f(z) ** 2) * x[0])(f(x)))),
    ],
)  # fmt: skip
def test_transformations(transform):
    np.testing.assert_array_equal(transform(of_objects)(X), transform(of_arrays)(X))
    ag.check_grads(of_objects, X)


def test_values_of_the_recording_around():
    def f(x, join):
        return ag.jacobian(lambda z: join([z[0] * x[1], x[0], 2.0]))(join([x[2], 1.0]))

    for transform in (ag.jacobian, lambda f: ag.compile(ag.jacobian(f))):
        got, expected = (transform(lambda x, join=join: f(join([x[0], x[1], x[2]]), join))(X) for join in (np.array, ag.array))
        np.testing.assert_array_equal(got, expected)
    scaled = ag.jacobian(lambda x: ag.jacobian(lambda z: x * np.array([z, z, z * z]))(2.0))(X)  # outer times inner
    np.testing.assert_array_equal(scaled, np.diag([1.0, 1.0, 4.0]))


def test_on_tapes():
    with ag.tape():
        x = ag.var(2.0)
        y = np.array([x * x, 3.0 * x])
        (y @ y).grad()
        assert x.adj() == 4 * 2.0**3 + 18 * 2.0


# ---- what is refused -------------------------------------------------------------------------------------------------

ENTRIES = r"entry by entry and cannot do this; write ag.array\(\[a, b\]\)"


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda z: np.exp(np.array([z[0], 1.0])), f"^.*no callable exp method; .*{ENTRIES}"),
        (lambda z: np.hypot(np.array([1.0, z[0]]), z), f"'float' object has no attribute 'hypot'; .*{ENTRIES}"),
        (np.isnan, f"^.*ufunc 'isnan' not supported for the input types.*{ENTRIES}"),
        (scipy.special.expit, f"ufunc 'expit' not supported for the input types.*{ENTRIES}"),
        (lambda z: np.linalg.inv(np.diag(z)), rf"Cannot cast ufunc 'inv' .*dtype\('O'\).*{ENTRIES}"),
        (lambda z: np.interp(z, [0.0, 1.0], [0.0, 2.0]), rf"Cannot cast array data from dtype\('O'\).*{ENTRIES}"),
        (lambda z: operator.iadd(np.zeros(2), z), rf"Cannot cast ufunc 'add' output from dtype\('O'\).*{ENTRIES}"),
        (np.mean, "^np.array: dtype is float64, but must .*, or ag.array.* for functions that need numbers, such as np.mean"),
        (lambda z: z.astype(float), "the value of an item assignment is recorded, but must be a plain number where the array"),
        (lambda z: operator.setitem(np.zeros(2), 0, z[0]), "the value of an item assignment is recorded"),
        (lambda z: operator.setitem(np.zeros(2), slice(2), z), "the value of an item assignment is recorded"),
        (lambda z: float(z[0]), "^float: argument is a recorded value"),
        (lambda z: math.exp(z[0]), "^float: argument is a recorded value"),
        (lambda z: ag.array(z) * np.array([None, z[0]]), "objects whose entry 0 is None, but must be a number"),
        (lambda z: ag.exp(np.array([z[0], "a"], dtype=object)), "objects whose entry 1 is 'a', but must be a number"),
        (lambda z: scipy.sparse.csr_array(np.diag(z)), r"scipy.sparse.csr_array.__init__: argument is a recorded value"),
    ],
)
@pytest.mark.parametrize("transform", [lambda f: ag.jacobian(f), lambda f: ag.compile(f)])
def test_what_numpy_cannot_do_is_explained(f, message, transform):
    with pytest.raises(TypeError, match=message):
        transform(lambda x: f(np.array([x[0], x[1]])))(X)


def test_vectors_as_entries():
    def f(x):
        z = np.empty(2, dtype=object)
        z[0], z[1] = x, x
        return z

    with pytest.raises(TypeError, match=r"whose entry 0 is a recorded array of shape \(3,\), but must be a number"):
        ag.jacobian(lambda x: ag.exp(f(x)))(X)
    with pytest.raises(
        TypeError, match=r"^jacobian\(f\): argument is .* whose entry 0 is a recorded array of shape \(3,\), but"
    ):
        ag.jacobian(f)(X)


def test_a_recorded_index_of_a_plain_array_is_explained():
    with pytest.raises(
        IndexError, match=r"^grad\(<lambda>\): only integers, .*recorded value, choose between values with np.where"
    ):
        ag.grad(lambda x: np.arange(3.0)[x[0]])(X)
    with pytest.raises(ValueError, match=r"^np.array: copy is False, but must be True or None"):
        ag.grad(lambda x: np.array(x, copy=False))(X)


def test_comparisons_that_numpy_makes_are_explained_where_no_path_can_be_taken():
    message = r"choose between values with np.where, of ag.array\(\[a, b\]\) rather than np.array\(\[a, b\]\), whose entries"
    for f in (np.sign, lambda z: np.maximum(z, 0.5), lambda z: np.where(z > 0.5, z, 0.0)):
        with pytest.raises(TypeError, match=message):
            ag.solve_ivp(lambda t, y, f=f: f(np.array([y[0], y[1]])), (0.0, 1.0), [1.0, 2.0])


def test_out_is_never_filled_with_places():
    for f in (lambda x, out: np.concatenate([x, x], out=out), lambda x, out: np.take(x, [0, 1], None, out)):
        with pytest.raises(TypeError, match="out is given, but must be None for recorded arrays"):
            ag.grad(lambda x, f=f: np.sum(f(x, np.zeros(6))))(X)


def test_values_of_a_call_that_has_ended():
    kept = []
    ag.grad(lambda x: kept.append(np.array([x[0], x[1]])) or x[0])(X)
    with pytest.raises(ag.ScopeError, match="is a recorded value of a call of grad"):
        ag.exp(kept[0])
    with pytest.raises(ag.ScopeError, match="is a recorded value of a call of grad"):
        kept[0] * 2.0
