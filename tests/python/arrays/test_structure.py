"""Moving entries of recorded arrays about, against NumPy itself: indexing, reshaping, joining, iterating."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

import agrad as ag
from agrad._numpy.moving import functions as structural
from numpy_cases_structure import CASES, array_of
from recorded import check_like_numpy

SHAPES = npst.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)


# ---- indexing --------------------------------------------------------------------------------------------------------


@given(st.data())
def test_basic_indices(data):
    shape = data.draw(SHAPES)
    index = data.draw(npst.basic_indices(shape, allow_newaxis=True, allow_ellipsis=True))
    check_like_numpy(lambda x: x[index], array_of(shape))


@given(st.data())
def test_integer_array_indices(data):
    shape = data.draw(npst.array_shapes(max_dims=3, max_side=4))
    index = data.draw(npst.integer_array_indices(shape))
    check_like_numpy(lambda x: x[index], array_of(shape))


@given(st.data())
def test_boolean_masks(data):
    shape = data.draw(npst.array_shapes(max_dims=3, max_side=4))
    mask = data.draw(npst.arrays(bool, shape[: data.draw(st.integers(1, len(shape)))]))
    check_like_numpy(lambda x: x[mask], array_of(shape))


@pytest.mark.parametrize(
    "index",
    [
        np.int64(1),
        [2, 0, 0],
        ([0, 1], [1, 2]),
        (slice(None), [2, 0]),
        (None, [True, False, True], Ellipsis, 0),
        (np.array([[0, 1], [2, 0]]), slice(None, None, -1)),
        (),
        Ellipsis,
        True,
    ],
    ids=repr,
)
def test_other_indices(index):
    check_like_numpy(lambda x: x[index], array_of((3, 4)))


def test_entries_taken_twice_add_up():
    np.testing.assert_array_equal(ag.grad(lambda x: np.sum(x[[0, 0, 2, 0]]))(np.ones(3)), [3.0, 0.0, 1.0])


def test_iterating_and_unpacking():
    check_like_numpy(lambda x: [row * (n + 1) for n, row in enumerate(x)], array_of((3, 2)))
    check_like_numpy(lambda x: [a * b + c for (a, b, c) in [x]], array_of(3))
    check_like_numpy(lambda x: sum(x) + max(x) - min(x) + len(x), array_of(4))
    check_like_numpy(lambda x: list(reversed(list(x))), array_of((2, 3)))

    def unpack(x):
        first, *rest, last = x
        return first * last + np.sum(np.stack(rest))

    check_like_numpy(unpack, array_of((4, 2)), tolerance=1e-15)

    def unpack_two(x):
        a, b = x
        return a * b

    with pytest.raises(ValueError, match="too many values to unpack"):
        ag.grad(unpack_two)(np.ones(3))


@pytest.mark.parametrize(
    ("index", "error", "message"),
    [
        (3, IndexError, "index: argument is 3, but must be in the range of a dimension of length 3"),
        (-4, IndexError, "index: argument is -4, but must be in the range of a dimension of length 3"),
        ((0, 5), IndexError, "out of bounds for axis 1 with size 2"),
        ((0, 0, 0), IndexError, "too many indices"),
        ([0, 9], IndexError, "out of bounds"),
        (1.0, IndexError, "only integers"),
        ("a", IndexError, "only integers"),
        (np.ones(2, dtype=bool), IndexError, "boolean index did not match"),
    ],
    ids=repr,
)
def test_wrong_indices(index, error, message):
    with pytest.raises(error, match=message):
        ag.grad(lambda x: np.sum(x[index]))(np.ones((3, 2)))


# ---- NumPy's functions -----------------------------------------------------------------------------------------------


def test_these_functions_record_nothing():
    assert set(CASES) <= set(structural)
    for function, calls in CASES.items():
        if function not in (np.compress, np.block):
            x = calls[0][0][0] if isinstance(calls[0][0], list) else calls[0][0]
            given = (lambda y, calls=calls: [y] * len(calls[0][0])) if isinstance(calls[0][0], list) else (lambda y: y)
            forward = ag.compile(lambda x, f=function, given=given, c=calls: f(given(x), *c[0][1:]))
            forward(np.asarray(x, dtype=float))
            (entry,) = forward._entries.values()
            assert entry.paths[0].program.operations == 0


@pytest.mark.parametrize(
    ("function", "arguments"),
    [(f, arguments) for f, calls in CASES.items() for arguments in calls],
    ids=lambda x: getattr(x, "__name__", None),
)
def test_numpy_functions(function, arguments):
    """With recorded in place of the arrays, one after the other and all of them."""
    if isinstance(arguments[0], list) and function is not np.compress:
        _check_joined(function, arguments)
    else:
        place = 1 if function is np.compress else 0
        check_like_numpy(lambda x: function(*arguments[:place], x, *arguments[place + 1 :]), arguments[place])


def _check_joined(function, arguments):
    arrays, put = _leaves(arguments[0])
    check_like_numpy(lambda *x: function(put(list(x)), *arguments[1:]), *map(np.asarray, arrays))
    for place in range(len(arrays)):
        check_like_numpy(
            lambda x, place=place: function(put([*arrays[:place], x, *arrays[place + 1 :]]), *arguments[1:]),
            np.asarray(arrays[place], dtype=float),
        )


def _leaves(tree):
    """The arrays of nested lists and a function that puts others in their places."""
    if not isinstance(tree, list):
        return [tree], lambda new: new.pop(0)
    found = [_leaves(each) for each in tree]
    return [leaf for leaves, _ in found for leaf in leaves], lambda new: [put(new) for _, put in found]


@given(npst.array_shapes(min_dims=1, max_dims=3, max_side=3), st.data())
@settings(max_examples=30)
def test_methods(shape, data):
    x = array_of(shape)
    order = data.draw(st.permutations(range(len(shape))))
    check_like_numpy(lambda x: x.transpose(order), x)
    check_like_numpy(lambda x: x.transpose(*order), x)
    check_like_numpy(lambda x: x.reshape(-1), x)
    check_like_numpy(lambda x: x.reshape(shape[::-1]), x)
    check_like_numpy(lambda x: x.reshape(*shape[::-1]), x)
    for method in ("ravel", "flatten", "squeeze"):
        check_like_numpy(lambda x, method=method: getattr(x, method)(), x)
    check_like_numpy(lambda x: x.T, x)
    check_like_numpy(lambda x: [x.ndim, x.size, *x.shape] + x.ravel()[0], x)


@pytest.mark.parametrize(
    ("f", "error", "message"),
    [
        (lambda x: np.reshape(x, (4, 2)), ValueError, "cannot reshape array of size 6"),
        (lambda x: np.transpose(x, (0, 1, 2)), ValueError, "axes don't match array"),
        (lambda x: np.concatenate([x, np.ones(5)]), ValueError, "same number of dimensions"),
        (lambda x: np.squeeze(x, 0), ValueError, "cannot select an axis to squeeze"),
        (lambda x: np.broadcast_to(x, (2, 5)), ValueError, "could not be broadcast"),
        (lambda x: np.concatenate([x, np.array([[1j, 1, 1]])]), TypeError, "result is <complex recorded array"),
    ],
)
def test_numpys_own_errors(f, error, message):
    with pytest.raises(error, match=message):
        ag.grad(lambda x: np.sum(f(x)))(np.ones((2, 3)))


# ---- array -----------------------------------------------------------------------------------------------------------


def test_array_joins_numbers_arrays_and_recorded_values():
    def f(x, y, module):
        make = module.array
        return make([[x, 1, np.float64(2)], (y[0], y[1] * x, True), list(y)])

    x, y = 0.5, array_of(3)
    (value, gradient) = ag.jacobian(lambda *a: (f(*a, ag),) * 2, (0, 1), has_aux=True)(x, y)[::-1]
    np.testing.assert_array_equal(value, f(x, y, np))
    np.testing.assert_array_equal(gradient[0], [[1, 0, 0], [0, y[1], 0], [0, 0, 0]])
    assert gradient[1].shape == (3, 3, 3)
    np.testing.assert_array_equal(gradient[1][2], np.eye(3))
    np.testing.assert_array_equal(gradient[1][1], [[1, 0, 0], [0, x, 0], [0, 0, 0]])


def test_array_without_recorded_values_is_plain():
    made = ag.array([1, [2.0][0], np.int8(3)])
    assert type(made) is np.ndarray
    assert made.dtype == np.float64
    np.testing.assert_array_equal(made, [1.0, 2.0, 3.0])
    assert ag.array([]).shape == (0,)
    assert ag.array(2).shape == ()


def test_array_of_different_shapes_is_refused():
    for parts in (lambda x: [x, [1.0, 2.0]], lambda x: [[x], [x, x]]):
        with pytest.raises(
            ag.ShapeError, match=r"^array: parts are of different shapes, but must be of one shape; join pieces"
        ):
            ag.grad(lambda x, parts=parts: np.sum(ag.array(parts(x))))(1.0)
