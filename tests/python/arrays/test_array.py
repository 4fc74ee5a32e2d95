"""Computing with recorded arrays, against NumPy itself: operators, broadcasting, comparisons, reductions, products."""

import math
import operator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

import agrad as ag
from recorded import check_like_numpy

EPS = np.finfo(float).eps


def array_of(shape, low=0.5, high=2.0, seed=0):
    return np.random.default_rng(seed).uniform(low, high, shape)


# ---- operators -------------------------------------------------------------------------------------------------------

ARITHMETIC = [operator.add, operator.sub, operator.mul, operator.truediv, operator.pow]
COMPARISONS = [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne]

two_shapes = npst.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=3, min_side=0)


@given(two_shapes, st.sampled_from(ARITHMETIC), st.integers(0, 2**31))
@settings(max_examples=150)
def test_operators_of_two_recorded_arrays(shapes, operate, seed):
    a, b = (array_of(shape, seed=seed + n) for n, shape in enumerate(shapes.input_shapes))
    check_like_numpy(operate, a, b, tolerance=2 * EPS)


@given(two_shapes, st.sampled_from(ARITHMETIC), st.integers(0, 2**31))
@settings(max_examples=100)
def test_operators_with_a_plain_array_on_either_side(shapes, operate, seed):
    a, b = (array_of(shape, seed=seed + n) for n, shape in enumerate(shapes.input_shapes))
    check_like_numpy(lambda x: operate(x, b), a, tolerance=2 * EPS)
    check_like_numpy(lambda x: operate(b, x), a, tolerance=2 * EPS)


@pytest.mark.parametrize("operate", ARITHMETIC)
@pytest.mark.parametrize(
    "other",
    [
        3,
        -2,
        2.5,
        True,
        np.float64(1.5),
        np.int64(3),
        np.float32(0.5),
        np.array(1.5),
        [1.0, 2.0, 3.0],
        (1, 2, 3),
        np.arange(1, 4),
    ],
    ids=lambda x: type(x).__name__,
)
def test_operators_with_other_kinds_of_numbers(operate, other):
    x = array_of(3)
    check_like_numpy(lambda x: operate(x, other), x, tolerance=2 * EPS)
    if not isinstance(other, (list, tuple)):  # NumPy's numbers do without the ** and * of lists
        check_like_numpy(lambda x: operate(x[0], other), x, tolerance=2 * EPS)
    if np.all(np.asarray(other) > 0):  # a negative number to a real power is nan
        check_like_numpy(lambda x: operate(other, x), x, tolerance=2 * EPS)
        check_like_numpy(lambda x: operate(np.asarray(other), x[0]), x, tolerance=2 * EPS)


@given(two_shapes, st.integers(0, 2**31))
@settings(max_examples=50)
def test_remainders(shapes, seed):
    a, b = (array_of(shape, -5, 5, seed=seed + n) for n, shape in enumerate(shapes.input_shapes))
    np.testing.assert_array_equal(ag.compile(operator.mod)(a, b), a % b)
    np.testing.assert_array_equal(ag.compile(lambda x: x % b)(a), a % b)
    np.testing.assert_array_equal(ag.compile(lambda x: a % x)(b), a % b)


def test_gradients_of_remainders():
    a, b = np.array([3.5, -3.5, 3.5, -3.5]), np.array([2.0, 2.0, -2.0, -2.0])
    check_like_numpy(operator.mod, a, b)
    check_like_numpy(lambda x: x % 2.0 + 5 % x, a)


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, -1, -2, 0.5, -0.5, 2.0, 1.5])
def test_powers(exponent):
    check_like_numpy(lambda x: x**exponent, array_of(4), tolerance=2 * EPS)
    if exponent == int(exponent):
        check_like_numpy(lambda x: x**exponent, -array_of(4), tolerance=2 * EPS)


def test_powers_at_zero():
    assert ag.value_and_grad(lambda x: x**2)(0.0) == (0.0, 0.0)
    assert ag.value_and_grad(lambda x: x**1)(0.0) == (0.0, 1.0)
    assert ag.value_and_grad(lambda x: x**0)(0.0) == (1.0, 0.0)
    assert ag.value_and_grad(lambda x: 0.0**x)(2.0) == (0.0, 0.0)


def test_unary_operators_and_in_place_ones():
    x = array_of((2, 3), -2, 2)
    check_like_numpy(lambda x: [-x, +x, abs(x)], x)

    def in_place(x):
        y = x.copy()
        y += 2.0
        y *= x
        y -= 1
        y /= x
        return y

    np.testing.assert_allclose(ag.grad(lambda x: np.sum(in_place(x)))(np.full(2, 2.0)), 1 + 1 / 4)


@given(two_shapes, st.sampled_from(COMPARISONS))
@settings(max_examples=60)
def test_comparisons(shapes, compare):
    a, b = (np.round(array_of(shape, 0, 3, seed=n)) for n, shape in enumerate(shapes.input_shapes))
    for f in (compare, lambda x, y: compare(x, b), lambda x, y: compare(a, y)):
        np.testing.assert_array_equal(ag.compile(f)(a, b), compare(a, b))
        for gradient in ag.grad(lambda *x, f=f: np.sum(f(*x)), (0, 1))(a, b):
            assert np.all(gradient == 0)
    check_like_numpy(lambda x, y: np.where(compare(x, y), x, 2 * y), a + 0.25, b)


def test_a_comparison_is_true_or_false():
    def f(x):
        taken = [x[0] < x[1], x[0] > 0.0, x[0] == x[0], not x[1] < x[0], x[0] != 2.0, 1.0 in x, x[0] in [5.0, 1.0]]
        assert all(taken)
        return x[0] * 2 if x[0] < x[1] and not x[0] > 1.5 else x[1]

    np.testing.assert_array_equal(ag.grad(f)(np.array([1.0, 3.0])), [2.0, 0.0])


def test_comparison_with_what_is_no_number():
    def f(x):
        assert (x == None) is False  # noqa: E711
        assert x != "text"
        assert x not in ["text", None]
        return x * x

    assert ag.grad(f)(3.0) == 6.0


@pytest.mark.parametrize("other", ["text", None, object(), {1.0}])
@pytest.mark.parametrize("operate", [operator.add, operator.mul, operator.lt])
def test_operators_with_what_is_no_number(operate, other):
    with pytest.raises(TypeError, match=r"unsupported operand|not supported between|argument is"):
        ag.grad(lambda x: operate(x, other))(1.0)
    with pytest.raises(TypeError, match=r"unsupported operand|not supported between|argument is|can't multiply"):
        ag.grad(lambda x: operate(other, x))(1.0)


# ---- reductions ------------------------------------------------------------------------------------------------------


@given(st.data(), st.sampled_from([np.sum, np.mean, np.var, np.std]))
@settings(max_examples=120)
def test_reductions(data, reduce):
    shape = data.draw(npst.array_shapes(min_dims=0, max_dims=3, max_side=4, min_side=0 if reduce is np.sum else 2))
    axes = st.one_of(st.none(), npst.valid_tuple_axes(len(shape)))
    if shape:
        axes = st.one_of(axes, st.integers(-len(shape), len(shape) - 1))
    axis = data.draw(axes)
    if reduce is np.std and (shape == () or axis == ()):
        return  # the root of zero has no derivative
    options = {"axis": axis, "keepdims": data.draw(st.booleans())}
    if reduce in (np.var, np.std):
        options["ddof"] = data.draw(st.sampled_from([0, 1])) if axis != () and shape != () else 0
    x = 0.7 * np.random.default_rng(3).permutation(math.prod(shape)).reshape(shape)  # no deviation is close to zero
    check_like_numpy(lambda x: reduce(x, **options), x, tolerance=16 * EPS, step=1e-4)
    check_like_numpy(lambda x: getattr(x, reduce.__name__)(**options), x, tolerance=16 * EPS, step=1e-4)


def test_reduction_axis_may_be_positional_and_of_any_integer_type():
    x = array_of((2, 3))
    check_like_numpy(lambda x: [np.sum(x, 1), x.sum(0), np.mean(x, np.int64(1)), np.add.reduce(x)], x, tolerance=4 * EPS)
    check_like_numpy(lambda x: [np.add.reduce(x, axis=1, keepdims=True), np.sum(x, (0, -1))], x, tolerance=4 * EPS)


@pytest.mark.parametrize(("axis", "error"), [(2, IndexError), (-3, IndexError), ((0, 0), ValueError), (0.5, TypeError)])
def test_wrong_axes(axis, error):
    with pytest.raises(error):
        ag.grad(lambda x: np.sum(np.sum(x, axis)))(np.ones((2, 2)))


def test_long_sums_are_as_accurate_as_numpys():
    x = np.full(100_000, 0.1)
    value = ag.value_and_grad(np.sum)(x)[0]
    assert value == pytest.approx(math.fsum(x), rel=1e-14)


# ---- products --------------------------------------------------------------------------------------------------------


@given(st.integers(0, 4), st.integers(0, 4), st.integers(0, 4), st.sampled_from(["vv", "mv", "vm", "mm"]))
@settings(max_examples=60)
def test_matmul(rows, inner, columns, kind):
    a = array_of((inner,) if kind[0] == "v" else (rows, inner), -1, 1)
    b = array_of((inner,) if kind[1] == "v" else (inner, columns), -1, 1, seed=1)
    for product in (operator.matmul, np.matmul, np.dot):
        check_like_numpy(product, a, b, tolerance=16 * EPS)
        check_like_numpy(lambda x, product=product: product(x, b), a, tolerance=16 * EPS)
        check_like_numpy(lambda x, product=product: product(a, x), b, tolerance=16 * EPS)


def test_other_products():
    v, w, m = array_of(3), array_of(3, seed=1), array_of((2, 3), seed=2)
    for f in (np.inner, np.outer, np.vdot, np.dot):
        check_like_numpy(f, v, w, tolerance=8 * EPS)
    check_like_numpy(np.inner, m, v, tolerance=8 * EPS)
    check_like_numpy(np.inner, m, m, tolerance=8 * EPS)
    check_like_numpy(np.outer, m, v, tolerance=8 * EPS)
    check_like_numpy(np.vdot, m, m, tolerance=8 * EPS)
    check_like_numpy(np.dot, np.array(2.0), v, tolerance=8 * EPS)
    check_like_numpy(np.inner, v, np.array(2.0), tolerance=8 * EPS)
    check_like_numpy(lambda m, v: m.dot(v), m, v, tolerance=8 * EPS)
    check_like_numpy(lambda v: v @ [1.0, 2.0, 3.0] + [3.0, 2.0, 1.0] @ v, v, tolerance=8 * EPS)
    check_like_numpy(lambda m: m.T @ m, m, tolerance=8 * EPS)


@pytest.mark.parametrize(
    "shapes", [((2, 3), (2,)), ((3,), (2, 3)), ((2, 3), (2, 3)), ((3,), (2,)), ((), (2,)), ((2, 2, 2), (3, 2, 2)), ((2,), ())]
)
def test_products_that_do_not_fit(shapes):
    a, b = map(np.ones, shapes)
    with pytest.raises(
        ag.ShapeError, match=r"^matmul: arguments are of shapes \(.*\) and \(.*\), but must be vectors, matrices or stacks"
    ):
        ag.grad(lambda x: np.sum(x @ b))(a)
    with pytest.raises(ag.ShapeError, match=r"^matmul: "):
        ag.grad(lambda x: np.sum(a @ x))(b)


# ---- other functions -------------------------------------------------------------------------------------------------


def test_where():
    x, y = array_of((2, 3), -1, 1), array_of(3, -1, 1, seed=1)
    check_like_numpy(lambda x, y: np.where(x > y, x, y * 2), x, y)
    check_like_numpy(lambda x, y: np.where(np.array([True, False, True]), x, y), x, y)
    check_like_numpy(lambda x: np.where(x > 0, 1.0, x), x)
    check_like_numpy(lambda x: ag.where(x > 0, x, 0), x)
    assert type(ag.where([True, False], [1, 2], 3.0)) is np.ndarray


def test_where_shields_from_infinite_derivatives():
    for f in (lambda x: np.where(x > 0, np.sqrt(x), 0.0), lambda x: np.where([True, False], np.sqrt(x), 0.0)):
        gradient = ag.grad(lambda x, f=f: np.sum(f(x)))
        np.testing.assert_array_equal(gradient(np.array([4.0, 0.0])), [0.25, 0.0])
        np.testing.assert_array_equal(ag.compile(gradient)(np.array([4.0, 0.0])), [0.25, 0.0])


def test_clip_trace_diff_and_filled_arrays():
    x, m = array_of(5, -2, 2), array_of((3, 3))
    for limits in ((-0.5, 0.7), (None, 0.7), (-0.5, None), (np.full(5, -0.5), 0.7)):
        check_like_numpy(lambda x, limits=limits: np.clip(x, *limits), x)
    check_like_numpy(lambda x, low: np.clip(x, low, 1.0), x, np.array(-0.5))
    check_like_numpy(np.trace, m, tolerance=4 * EPS)
    for n in (0, 1, 2):
        check_like_numpy(lambda x, n=n: np.diff(x, n), x, tolerance=4 * EPS)
    check_like_numpy(lambda m: np.diff(m, axis=0), m, tolerance=4 * EPS)
    check_like_numpy(lambda m: [np.zeros_like(m) + m, np.ones_like(m) * m, np.full_like(m, 2.5) * m], m)
    check_like_numpy(lambda m: m * (np.ndim(m) + np.size(m) + np.shape(m)[0]), m)


def test_composed_ufuncs():
    x = array_of(4)
    for ufunc in (np.power, np.float_power, np.matmul):
        check_like_numpy(ufunc, x, array_of(4, seed=1), tolerance=8 * EPS)
    for ufunc in (np.positive, np.negative, np.fabs, np.reciprocal, np.square):
        check_like_numpy(ufunc, x, tolerance=2 * EPS)


def test_zero_size_arrays():
    empty = np.zeros((0, 3))
    check_like_numpy(
        lambda x: [np.exp(x), x * 2.0, x @ np.ones((3, 2)), x.sum(axis=0), x.T, np.concatenate([x, np.ones((1, 3))])], empty
    )
    assert ag.value_and_grad(np.sum)(empty)[0] == 0.0


# ---- what a recorded array is not --------------------------------------------------------------------------------------

NO_NUMBER = "argument is a recorded value, but must be a plain number, because a plain number has no derivative; "


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda x: float(x[0]), f"^float: {NO_NUMBER}use NumPy's functions"),
        (lambda x: int(x[0]), f"^int: {NO_NUMBER}np.floor and np.trunc give recorded whole numbers"),
        (lambda x: complex(x[0]), f"^complex: {NO_NUMBER}"),
        (lambda x: math.exp(x[0]), f"^float: {NO_NUMBER}"),
        (lambda x: [1, 2, 3][x[0]], f"^index: {NO_NUMBER}"),
        (lambda x: range(x[0]), f"^index: {NO_NUMBER}ag.fori repeats"),
        (lambda x: np.array(x, dtype=float), "^np.array: dtype is float64, but must be left out where an entry is recorded"),
        (lambda x: np.asarray([x[0], 1.0], np.float32), r"^np.array: dtype is float32, but .*; write np.array\(\[a, b\]\)"),
        (lambda x: np.float64(x[0]), "^np.array: dtype is float64, but must be left out where an entry is recorded"),
        (lambda x: x[0, x[0]], "^index: argument is a recorded value, but must be plain"),
        (lambda x: hash(x), "unhashable type"),
        (lambda x: len(x[0]), "^len: argument is a recorded number, but must have a dimension"),
        (lambda x: list(x[0]), "^len: argument is a recorded number, but must have a dimension"),
    ],
)
def test_refused_uses(f, message):
    with pytest.raises(TypeError, match=message):
        ag.grad(f)(np.array([1.0, 2.0]))
    with pytest.raises(TypeError, match=message):
        ag.compile(f)(np.array([1.0, 2.0]))


def test_truth_of_several_values_is_refused():
    with pytest.raises(ValueError, match=r"^bool: argument is a recorded array of shape \(2,\), but must have one entry; "):
        ag.grad(lambda x: 1.0 if x > 0 else 2.0)(np.ones(2))


def test_storing_into_a_plain_array_is_explained():
    def f(x):
        y = np.zeros(2)
        y[0] = x
        return np.sum(y)

    message = r"^grad\(f\): the value of an item assignment is recorded, .*; write the list \[a, b\], ag.array"
    with pytest.raises(TypeError, match=message) as caught:
        ag.grad(f)(1.0)
    assert "setting an array element" in str(caught.value.__cause__)
    assert NO_NUMBER in str(caught.value.__cause__.__cause__)


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (
            np.unique,
            "^np.unique: argument is a recorded array, but must be a plain one; which values are equal depends on the values",
        ),
        (np.linalg.matrix_rank, "^np.linalg.matrix_rank: argument is a recorded array"),
        (np.frexp, "^frexp: argument is a recorded array, but must be a plain one; agrad has no derivative of it; "),
        (np.subtract.accumulate, "^subtract.accumulate: argument is a recorded array"),
        (np.subtract.reduce, "^subtract.reduce: argument is a recorded array"),
        (lambda x: np.add.at(np.zeros(3), [0], x), "^add.at: argument is a recorded array"),
        (
            lambda x: np.exp(x, out=np.zeros(3)),
            "^exp: argument is a recorded array, .* a NumPy array of numbers cannot hold recorded values",
        ),
        (
            lambda x: operator.iadd(np.zeros(3), x),
            "^add: argument is a recorded array, .*array of numbers cannot hold recorded values: use the function's result",
        ),
        (lambda x: np.exp(x, where=[True, False, True]), r"^exp: .*its options \['where'\] work on plain arrays only"),
        (lambda x: np.exp(x, dtype=np.float32), r"^exp: .*its options \['dtype'\] work on plain arrays only"),
        (lambda x: np.where(x > 0), "^np.where: argument is a recorded array, .*missing a required argument"),
    ],
)
def test_unsupported_calls_are_named(f, message):
    with pytest.raises(TypeError, match=message):
        ag.grad(lambda x: np.sum(f(x)))(np.ones(3))


def test_copies_and_unknown_attributes():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        ag.grad(lambda x: x.nonsense)(1.0)
    with pytest.raises(TypeError, match="No constructor defined"):
        ag.Array()
    assert ag.grad(lambda x: x * (repr(x) == "<recorded array of shape () in grad(<lambda>)>"))(1.0) == 1.0
