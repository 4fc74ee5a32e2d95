"""Writing into recorded arrays: x[i] = v, x += v, x.at[i], functions that write; against NumPy's own arrays."""

import operator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

import agrad as ag
from numpy_cases import array_of
from recorded import check_like_numpy

IN_PLACE = [operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.imod, operator.ifloordiv, operator.ipow]


def writing(f):
    """A function that returns a copy of its first argument after f wrote into it."""

    def written(x, *rest):
        x = x.copy()
        f(x, *rest)
        return x

    return written


# ---- x[key] = v ------------------------------------------------------------------------------------------------------


@given(st.data())
@settings(max_examples=30, derandomize=True, deadline=None)
def test_assignment_to_basic_indices(data):
    shape = data.draw(npst.array_shapes(max_dims=3, max_side=4))
    key = data.draw(npst.basic_indices(shape, allow_newaxis=True, allow_ellipsis=True))
    x = array_of(*shape)
    v = array_of(*np.shape(x[key]), seed=1)
    check_like_numpy(writing(lambda x, v: operator.setitem(x, key, v)), x, v)
    check_like_numpy(writing(lambda x: operator.setitem(x, key, x.max() * 2.0)), x)


@given(st.data())
@settings(max_examples=30, derandomize=True, deadline=None)
def test_assignment_to_integer_arrays(data):
    shape = data.draw(npst.array_shapes(max_dims=3, max_side=4))
    key = data.draw(npst.integer_array_indices(shape, result_shape=npst.array_shapes(max_dims=2, max_side=3)))
    x = array_of(*shape)
    v = array_of(*np.shape(x[key]), seed=1)
    check_like_numpy(writing(lambda x, v: operator.setitem(x, key, v)), x, v)


@given(st.data())
@settings(max_examples=30, derandomize=True, deadline=None)
def test_assignment_to_masks(data):
    shape = data.draw(npst.array_shapes(max_dims=3, max_side=4))
    mask = data.draw(npst.arrays(bool, shape[: data.draw(st.integers(1, len(shape)))]))
    x = array_of(*shape)
    v = array_of(*x[mask].shape, seed=1)
    check_like_numpy(writing(lambda x, v: operator.setitem(x, mask, v)), x, v)
    check_like_numpy(writing(lambda x: operator.setitem(x, mask, 0.5)), x)


def test_assignment_to_recorded_masks():
    x = array_of(3, 4)
    check_like_numpy(writing(lambda x: operator.setitem(x, x < 0, 0.0)), x)
    check_like_numpy(writing(lambda x, v: operator.setitem(x, (x < 0) | (x > 1), v)), x, array_of())
    check_like_numpy(writing(lambda x: operator.setitem(x, x[:, 0] < 0, x[0, 0])), x)
    with pytest.raises(TypeError, match="index is a comparison of recorded values, but must be known when"):
        ag.compile(writing(lambda x: operator.setitem(x, x > 0, np.ones(3))))(x)
    with pytest.raises(ag.ShapeError, match=r"^item assignment: mask is of shape \(4,\), but must be of the first dimensions"):
        ag.compile(writing(lambda x: operator.setitem(x, x[0] > 0, 1.0)))(x)


def test_copies_and_numbers_that_were_read_before_stay():
    def f(x):
        y = np.zeros_like(x)
        y[0] = x[1]
        before, number, part = y.copy(), y[0], y[:2]
        y[0] = 5.0
        y[:2] *= x[0]
        return [before, number, part, y]

    before, number, part, y = ag.compile(f)(np.array([2.0, 3.0, 4.0]))
    np.testing.assert_array_equal(before, [3.0, 0.0, 0.0])
    assert number == 3.0
    np.testing.assert_array_equal(part, [10.0, 0.0])  # a view
    np.testing.assert_array_equal(y, [10.0, 0.0, 0.0])


def test_the_callers_array_and_the_gradient_stay():
    """A function may write into its arguments: the gradient is with respect to what they were."""

    def f(x):
        x[0] = x[0] * x[1]
        x += 1.0
        return np.sum(x * x)

    x = np.array([2.0, 3.0])
    expected = [2 * 7 * 3.0, 2 * 7 * 2.0 + 2 * 4.0]
    for transform in (ag.grad, lambda f: ag.compile(ag.grad(f)), lambda f: lambda x: ag.vjp(f, x)[1](1.0)[0]):
        np.testing.assert_array_equal(transform(f)(x), expected)
    np.testing.assert_array_equal(x, [2.0, 3.0])
    np.testing.assert_allclose(ag.hessian(f)(x), ag.hessian(lambda x: (x[0] * x[1] + 1) ** 2 + (x[1] + 1) ** 2)(x))


def test_recursions_filled_in():
    def garch(p, y):
        variance = np.zeros_like(y)
        variance[0] = p[0]
        for t in range(1, y.size):
            variance[t] = p[0] + p[1] * y[t - 1] ** 2 + p[2] * variance[t - 1]
        return variance

    p, y = np.array([0.5, 0.2, 0.7]), array_of(8)
    check_like_numpy(lambda p: garch(p, y + 0 * p[0]), p, tolerance=1e-15)
    ag.check_grads(lambda p: garch(p, y * np.ones_like(p[0])), p)


@pytest.mark.parametrize("operate", IN_PLACE)
def test_in_place_operators(operate):
    x, y = array_of(3, 4, low=0.5), array_of(4, low=0.5, seed=1)
    check_like_numpy(writing(operate), x, y, tolerance=4e-16)
    check_like_numpy(writing(lambda x, y: operate(x[1], y)), x, y, tolerance=4e-16)

    def parts(x, y):
        x = x.copy()
        alias = x
        x[0] = operate(x[0], y)
        x[:, 1] = operate(x[:, 1], 2.0)
        number = x[0, 0]
        number = operate(number, 3.0)
        for row in x:
            operate(row, y[0])
        return [alias, number]

    check_like_numpy(parts, x, y, tolerance=4e-15)


def test_in_place_products_and_logic():
    x, m = array_of(3), array_of(3, 3)
    check_like_numpy(lambda x, m: operator.imatmul(x.copy(), m), x, m, tolerance=1e-15)

    def f(x):
        mask = x > 0
        mask &= x < 1
        mask |= x > 1.5
        mask ^= np.array([True, False, True])
        return np.where(mask, x, -x)

    check_like_numpy(f, x)


def test_views_write_through_and_others_say_so():
    x = array_of(2, 3)

    def f(x):
        y = x.copy()
        row = y[0]
        row[1] = 7.0
        y[1][:2] += 1.0
        return y

    check_like_numpy(f, x)
    for view in (np.ravel, np.transpose, lambda y: y.reshape(3, 2), lambda y: np.broadcast_to(y, (2, 2, 3))):
        with pytest.raises(ValueError, match=r"^in-place operation: argument is a reshaped, transposed or broadcast view of"):
            ag.grad(lambda x, view=view: np.sum(operator.iadd(view(x), 1.0)))(x)
        with pytest.raises(ValueError, match=r"^item assignment: argument is a reshaped, transposed or broadcast view of"):
            ag.grad(lambda x, view=view: operator.setitem(view(x), 0, 1.0))(x)
    for own in (np.sum, lambda y: y.flatten(), lambda y: y + 0, lambda y: y[[0, 1]], lambda y: y.sum(0), lambda y: y @ y.T):
        check_like_numpy(lambda x, own=own: operator.iadd(own(x), 1.0), x, tolerance=1e-15)


def test_functions_that_write():
    x, v = array_of(3, 4), array_of(4, seed=1)
    check_like_numpy(writing(lambda x: np.fill_diagonal(x, 2.0)), x)
    check_like_numpy(writing(lambda x, v: np.fill_diagonal(x, v[:3])), x, v)
    check_like_numpy(writing(lambda x, v: np.copyto(x, v, where=np.array([True, False, True, True]))), x, v)
    check_like_numpy(writing(lambda x, v: np.put(x, [0, 5], v[:2])), x, v)
    check_like_numpy(writing(lambda x, v: np.put_along_axis(x, np.array([[1], [0], [3]]), v[0], 1)), x, v)
    check_like_numpy(writing(lambda x, v: np.add.at(x, ([0, 0, 2], [1, 1, 3]), v[:3])), x, v, tolerance=1e-15)
    check_like_numpy(writing(lambda x, v: np.subtract.at(x, [0, 0], v)), x, v, tolerance=1e-15)
    check_like_numpy(writing(lambda x: x.fill(3.0)), x)
    check_like_numpy(writing(lambda x: x.sort(axis=0)), x)
    check_like_numpy(writing(lambda x, v: np.multiply(x, v, out=x)), x, v)
    with pytest.raises(TypeError, match=r"^np.copyto: dst is a NumPy array, but must be made by agrad"):
        ag.grad(lambda x: np.copyto(np.zeros(4), x))(v)


# ---- x.at ------------------------------------------------------------------------------------------------------------


def test_functional_updates():
    x, v = array_of(3, 4), array_of(2, 4, seed=1)

    def f(x, v):
        results = [
            x.at[1].set(0.0), x.at[:2].set(v), x.at[[0, 2]].add(v), x.at[0, 0].add(1.0), x.at[..., 1].multiply(v[0, 0]),
            x.at[1:].divide(2.0), x.at[[0, 0]].subtract(v), x.at[x > 0].set(1.0), x.at[x > 0].add(v[0]),
            x.at[x < 0].multiply(2.0),            x.at[np.array([True, False, True])].add(v), x.at[1].get(), x,
        ]  # fmt: skip
        return results

    def by_numpy(x, v):
        def changed(key, operate, value):
            y = x.copy()
            operate(y, key, value)
            return y

        def operator_at(of_two):
            return lambda y, key, value: operator.setitem(y, key, of_two(y[key], value))

        add, multiply, divide = (operator_at(f) for f in (operator.add, operator.mul, operator.truediv))
        return [
            changed(1, operator.setitem, 0.0), changed(slice(2), operator.setitem, v), changed([0, 2], np.add.at, v),
            changed((0, 0), add, 1.0), changed((Ellipsis, 1), multiply, v[0, 0]), changed(slice(1, None), divide, 2.0),
            changed([0, 0], np.subtract.at, v), changed(x > 0, operator.setitem, 1.0), np.where(x > 0, x + v[0], x),
            changed(x < 0, multiply, 2.0), changed(np.array([True, False, True]), np.add.at, v), x[1], x,
        ]  # fmt: skip

    for got, expected in zip(ag.compile(f)(x, v), by_numpy(x, v), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-15)
    ag.check_grads(
        lambda x, v: np.concatenate([np.ravel(part) for part in (f if isinstance(x, ag.Array) else by_numpy)(x, v)]), x, v
    )


# ---- what cannot be written --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("f", "error", "message"),
    [
        (lambda x: operator.setitem(x, 3, 1.0), IndexError, "^index: argument is 3, but must be in the range of a dimension"),
        (lambda x: operator.setitem(x, slice(2), np.ones(3)), ValueError, "could not broadcast"),
        (lambda x: operator.setitem(x, 0, 1j), TypeError, "^item assignment: argument is complex, but must be real"),
        (lambda x: operator.setitem(x, x[0], 1.0), TypeError, "^index: argument is a recorded value, but must be plain"),
        (
            lambda x: operator.iadd(x, np.ones((2, 3))),
            ag.ShapeError,
            r"^in-place operation: result is of shape \(2, 3\), but must",
        ),
        (lambda x: operator.iadd(np.zeros(3), x), TypeError, "^add: argument is a recorded array, .*of numbers cannot hold"),
        (lambda x: np.exp(x, out=np.zeros(3)), TypeError, "^exp: argument is a recorded array, .*of numbers cannot hold"),
        (lambda x: np.add.at(np.zeros(3), [0], x[0]), TypeError, "^add.at: argument is a recorded array"),
    ],
)
def test_refused_writes(f, error, message):
    for transform in (ag.grad, ag.compile):
        with pytest.raises(error, match=message):
            transform(f)(np.array([1.0, 2.0, 3.0]))


def test_an_array_around_a_right_hand_side_is_not_written_into():
    def f(x):
        y = x * 2.0

        def rhs(t, z):
            nonlocal y
            y += z
            return -y

        return np.sum(ag.solve_ivp(rhs, (0.0, 1.0), np.ones(2)).y)

    with pytest.raises(
        ag.ScopeError, match=r"^in-place operation: result is a recorded value of .*; write x = x \+ y for x \+= y"
    ):
        ag.grad(f)(np.ones(2))


# ---- views -----------------------------------------------------------------------------------------------------------


def reading_before(view, write):
    """A function that takes a view, writes into the whole, and returns both."""

    def f(x):
        x = x.copy()
        part = view(x)
        write(x)
        return np.concatenate([np.ravel(part), np.ravel(x)])

    return f


VIEWS = [
    lambda x: x[0],
    lambda x: x[-1],
    lambda x: x[1:],
    lambda x: x[:, ::-1],
    lambda x: x[None, 0, ..., 1:],
    lambda x: x.T,
    lambda x: np.transpose(x),
    lambda x: x.reshape(-1),
    lambda x: np.ravel(x)[2:],
    lambda x: x[1:][0][1:],
    lambda x: x.T[1:, 0],
    lambda x: np.swapaxes(x[1:], 0, 1),
    lambda x: np.broadcast_to(x[0], (2, 4)),
    lambda x: np.diagonal(x),
    lambda x: np.split(x, 3)[1],
    lambda x: np.expand_dims(x, 0)[0, 1],
    lambda x: x[[0, 1]],
    lambda x: x[0].copy(),
    lambda x: x[0, 1],
    lambda x: list(x)[1],
]
WRITES = [
    lambda x: operator.setitem(x, (0, 1), 5.0 * x[1, 1]),
    lambda x: operator.setitem(x, 1, x[0] * x[2]),
    lambda x: operator.setitem(x, slice(None), np.sin(x)),
    lambda x: operator.imul(x, x),
    lambda x: operator.setitem(x[1], slice(1, 3), 7.0),
    lambda x: operator.iadd(x[:, 1], 1.0),
    lambda x: np.put(x, [0, 5], 3.0),
    lambda x: x.fill(2.0),
    lambda x: x.sort(0),
]


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("view", VIEWS)
def test_a_view_sees_what_is_written_into_the_whole(view, write):
    check_like_numpy(reading_before(view, write), array_of(3, 4))


def test_views_of_views_and_of_what_is_written_through_them():
    def f(x):
        x = x.copy()
        row = x[1]
        tail, other = row[1:], x[1]
        tail[0] = 3.0 * x[0, 0]
        other *= 2.0
        turned = x.T
        x[2] = row
        return np.concatenate([row, tail, other, turned.reshape(-1), x.reshape(-1)])

    check_like_numpy(f, array_of(3, 4))


def test_a_view_that_is_gone_is_not_kept():
    def f(x):
        x = x.copy()
        for _ in range(200):
            for n in range(3):
                x[n] = 0.5 * x[n] + x[n - 1].T
        return x

    check_like_numpy(f, array_of(3, 4))
