"""Corners of NumPy's functions: ties, zeros, infinities, nan, empty arrays, places that depend on values, what is not there."""

import operator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

import agrad as ag
from numpy_cases import array_of
from recorded import check_like_numpy

INF, NAN = np.inf, np.nan


def both(f, x):
    """Gradient of f's sum, recorded and compiled, which are the same, and by tangents."""
    x = np.asarray(x, dtype=float)
    gradient = ag.grad(lambda x: np.sum(f(x)))(x)
    np.testing.assert_array_equal(ag.compile(ag.grad(lambda x: np.sum(f(x))))(x), gradient)
    np.testing.assert_allclose(ag.jacfwd(lambda x: np.sum(f(x)))(x), gradient, rtol=1e-14)
    return gradient


# ---- ties and kinks ----------------------------------------------------------------------------------------------------


def test_equal_extremes_share_the_derivative_equally():
    for f in (np.max, np.maximum.reduce, lambda x: np.ptp(np.append(x, 0.0)), lambda x: -np.min(-x)):
        np.testing.assert_allclose(both(f, [2.0, 1.0, 2.0, 2.0]), [1 / 3, 0, 1 / 3, 1 / 3], rtol=1e-15)
    np.testing.assert_array_equal(both(lambda x: np.max(x, axis=0), [[1.0, 2.0], [1.0, 3.0]]), [[0.5, 0.0], [0.5, 1.0]])
    np.testing.assert_array_equal(both(lambda x: np.maximum(x[0], x[1]), [1.0, 1.0]), [0.5, 0.5])
    hessian = ag.hessian(lambda x: np.max(x * x))(np.array([2.0, 1.0, 2.0]))
    np.testing.assert_array_equal(hessian, np.diag([1.0, 0.0, 1.0]))


def test_sorting_equal_entries_keeps_their_order():
    np.testing.assert_array_equal(both(lambda x: np.sort(x) * np.arange(3.0), [2.0, 2.0, 1.0]), [1.0, 2.0, 0.0])


def test_interpolation_at_its_points_and_outside():
    xp, fp = [0.0, 1.0, 2.0], [1.0, 3.0, 2.0]
    x = np.array([-1.0, 0.0, 1.0, 2.0, 3.0])
    np.testing.assert_array_equal(ag.compile(lambda x: np.interp(x, xp, fp))(x), np.interp(x, xp, fp))
    np.testing.assert_array_equal(both(lambda x: np.interp(x, xp, fp), x), [0.0, 2.0, -1.0, 0.0, 0.0])
    np.testing.assert_array_equal(ag.compile(lambda x: np.interp(x, [1.0], [5.0]))(x), np.full(5, 5.0))
    steep = np.interp(0.0, [0.0, 1.0], [3.0, INF])
    assert ag.compile(lambda x: np.interp(x, [0.0, 1.0], [3.0, INF]))(0.0) == steep
    assert np.isnan(ag.compile(lambda x: np.interp(x, xp, fp))(NAN))


# ---- zeros, infinities, nan --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("x", [[2.0, 0.0, 3.0], [0.0, 2.0, 0.0], [0.0, 0.0], [-0.0, 5.0], [4.0]])
def test_products_with_zeros(x):
    x = np.array(x)
    others = [np.prod(np.delete(x, place)) for place in range(x.size)]
    np.testing.assert_array_equal(both(np.prod, x), others)
    ag.check_grads(np.prod, x)
    ag.check_grads(np.cumprod, x)
    ag.check_grads(lambda x: np.prod(x.reshape(1, -1, 1), axis=1), x)


def test_products_that_overflow_or_underflow():
    np.testing.assert_array_equal(both(np.prod, [1e200, 1e200, 1e-200]), [1.0, 1.0, INF])
    np.testing.assert_array_equal(both(np.prod, [1e-200, 1e-200]), [1e-200, 1e-200])


def test_infinities_that_are_not_used():
    np.testing.assert_array_equal(both(lambda x: np.cumprod(x)[:1], [2.0, INF]), [1.0, 0.0])
    np.testing.assert_array_equal(both(lambda x: np.max(np.where(x > 0, np.sqrt(x), 0.0)), [4.0, 0.0]), [0.25, 0.0])


def test_nan_is_an_extreme_and_last():
    x = np.array([1.0, NAN, 3.0])
    for f in (np.max, np.min, np.median, lambda x: np.quantile(x, 0.2), np.ptp):
        assert np.isnan(ag.compile(f)(x))
    np.testing.assert_array_equal(ag.compile(np.sort)(x), np.sort(x))
    np.testing.assert_array_equal(ag.compile(np.sort)(np.array([[NAN, INF, 0.0, -INF]])), [[-INF, 0.0, INF, NAN]])
    assert ag.value_and_grad(lambda x: x[np.argmax(x)])(x)[1].tolist() == [0.0, 1.0, 0.0]
    np.testing.assert_array_equal(ag.compile(lambda x: np.mean(x, where=~np.isnan(x)))(x), 2.0)
    np.testing.assert_array_equal(both(lambda x: np.sum(np.where(np.isnan(x), 0.0, x)), x), [1.0, 0.0, 1.0])


def test_long_sums_are_as_accurate_along_any_axis():
    x = np.full((100_000, 11), 0.1)
    np.testing.assert_allclose(ag.compile(lambda x: np.sum(x, axis=0))(x), 10_000, rtol=1e-14)
    f = lambda x: np.sum(np.cos(np.arange(2400.0)).reshape(8, 300)[:, None] * np.sum(x * x, axis=0))  # noqa: E731
    y = np.random.default_rng(0).normal(size=(200, 300))
    np.testing.assert_allclose(ag.grad(f)(y), 2 * y * np.cos(np.arange(2400.0)).reshape(8, 300).sum(0), rtol=1e-12)


# ---- empty arrays ------------------------------------------------------------------------------------------------------


def test_empty_arrays():
    x = np.zeros((0, 3))
    for f in (
        np.sum,
        np.prod,
        lambda x: np.sum(x, axis=0),
        lambda x: np.prod(x, axis=1),
        lambda x: np.cumsum(x, axis=0),
        np.sort,
    ):
        check_like_numpy(f, x)
    for f in (np.any, np.all, lambda x: np.max(x, axis=1), lambda x: np.max(x, axis=0, initial=2.0)):
        check_like_numpy(lambda x, f=f: f(x) * 1.0, x)
    check_like_numpy(lambda x: np.einsum("ij,ij->j", x, x), x)
    check_like_numpy(lambda x: x.T @ x, x)
    check_like_numpy(lambda x: np.tensordot(x, x, ([0], [0])), x)
    for f in (np.max, np.min, np.argmax):
        with pytest.raises(ValueError, match="argument is of shape"):
            ag.grad(lambda x, f=f: np.sum(f(x, axis=0)))(x)


# ---- random shapes -----------------------------------------------------------------------------------------------------

REDUCTIONS = [np.sum, np.prod, np.max, np.min, np.mean, np.median, np.logaddexp.reduce]


@given(st.data(), st.sampled_from(REDUCTIONS))
@settings(max_examples=60, derandomize=True, deadline=None)
def test_reductions_over_any_axes(data, reduce):
    shape = data.draw(npst.array_shapes(min_dims=1, max_dims=4, max_side=4))
    axis = data.draw(
        st.one_of(st.none(), npst.valid_tuple_axes(len(shape), min_size=1), st.integers(-len(shape), len(shape) - 1))
    )
    if reduce is np.logaddexp.reduce and isinstance(axis, tuple):
        axis = axis[0]
    order = data.draw(st.permutations(range(len(shape))))
    keepdims = data.draw(st.booleans())
    check_like_numpy(
        lambda x: reduce(np.transpose(x, order), axis=axis, keepdims=keepdims), array_of(*shape), tolerance=1e-13, step=2e-4
    )


@given(
    npst.mutually_broadcastable_shapes(signature=np.matmul.signature, max_dims=2, max_side=3, min_side=0),
    st.sampled_from([np.matmul, operator.matmul]),
)
@settings(max_examples=50, derandomize=True, deadline=None)
def test_products_of_any_rank(shapes, product):
    a, b = (array_of(*shape, seed=n) for n, shape in enumerate(shapes.input_shapes))
    check_like_numpy(product, a, b, tolerance=1e-14)
    check_like_numpy(lambda x: product(x, b), a, tolerance=1e-14)
    check_like_numpy(lambda x: product(a, x), b, tolerance=1e-14)


@given(st.data())
@settings(max_examples=50, derandomize=True, deadline=None)
def test_einsum_of_any_labels(data):
    lengths = dict(zip("abcd", (2, 3, 1, 2), strict=True))
    labels = [data.draw(st.text("abcd", max_size=3)) for _ in range(data.draw(st.integers(1, 3)))]
    result = data.draw(st.permutations(sorted(set("".join(labels)))))
    result = result[: data.draw(st.integers(0, len(result)))]
    subscripts = ",".join(labels) + data.draw(st.sampled_from(["->" + "".join(result), ""]))
    arrays = [array_of(*(lengths[label] for label in each), seed=n) for n, each in enumerate(labels)]
    check_like_numpy(lambda *x: np.einsum(subscripts, *x), *arrays, tolerance=1e-13)


@given(st.data(), st.sampled_from([np.cumsum, np.cumprod, np.sort]))
@settings(max_examples=30, derandomize=True, deadline=None)
def test_cumulative_functions_along_any_axis(data, f):
    shape = data.draw(npst.array_shapes(min_dims=1, max_dims=3, max_side=5))
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    check_like_numpy(lambda x: f(x, axis=axis), array_of(*shape), tolerance=1e-14, step=2e-4)


# ---- places that depend on values --------------------------------------------------------------------------------------


def test_argmax_is_another_path_where_it_is_another_place():
    f = ag.compile(ag.value_and_grad(lambda x: x[np.argmax(x)] ** 2))
    for place in (0, 2, 1, 2, 0):
        x = np.where(np.arange(3) == place, 5.0, 1.0 + np.arange(3))
        value, gradient = f(x)
        assert value == 25.0
        np.testing.assert_array_equal(gradient, np.where(np.arange(3) == place, 10.0, 0.0))


INTEGERS = {
    "argsort": lambda x: x[np.argsort(x)],
    "argpartition": lambda x: x[np.argpartition(x, 1)[:1]],
    "digitize": lambda x: x[np.digitize(x, [0.0]) % 2],
    "nonzero": lambda x: x[np.nonzero(x > 0)],
    "flatnonzero": lambda x: x[np.flatnonzero(x > 0)],
    "argwhere": lambda x: x[np.argwhere(x > 0)[:, 0]],
    "mask": lambda x: x[x > 0],
}


@pytest.mark.parametrize("name", INTEGERS)
def test_integers_from_values_are_right_when_recorded_and_refused_when_compiled(name):
    f, x = INTEGERS[name], array_of(5)
    value, gradient = ag.value_and_grad(lambda x: np.sum(f(x) ** 2))(x)
    assert value == pytest.approx(np.sum(f(x) ** 2), rel=1e-15)
    np.testing.assert_allclose(gradient, ag.jacobian(lambda x: np.sum(f(x) ** 2))(x))
    subject = (
        "index is a comparison of recorded values" if name == "mask" else f"np.{name} of a recorded array is integers that"
    )
    with pytest.raises(TypeError, match=rf"^compile\(.*\): {subject}.* but must be known when the function is recorded"):
        ag.compile(f)(x)


# ---- conditions --------------------------------------------------------------------------------------------------------


def test_logic_is_of_truths():
    def f(x):
        both = (x > 0) & (x < 1)
        assert both.dtype == bool
        assert (x + 1).dtype == float
        return [
            both, both | (x < -1), both ^ (x > 0.5), ~both, both + (x > 0), both * (x > 0), np.logical_not(x),
            np.logical_and(x, both), np.concatenate([both, ~both]) & True, np.where(both, both, x > 1) | False,
            both[::-1] & both, np.isfinite(x) & ~np.isnan(x), True & both, np.any(both) | np.all(both),
            np.bitwise_and(both, x > 0), np.invert(both),
        ]  # fmt: skip

    x = array_of(6)
    for got, expected in zip(ag.compile(f)(x), f(x), strict=True):
        np.testing.assert_array_equal(got, expected)
    for operate in (operator.and_, operator.or_, operator.xor):
        with pytest.raises(TypeError, match="argument is of numbers, but must be of booleans"):
            ag.grad(lambda x, operate=operate: operate(x, x > 0))(1.0)
        with pytest.raises(TypeError, match=r"argument is of numbers, but must be of booleans|unsupported operand"):
            ag.grad(lambda x, operate=operate: operate(x > 0, 3.0))(1.0)
    with pytest.raises(TypeError, match="argument is of numbers, but must be of booleans"):
        ag.grad(operator.invert)(1.0)


# ---- what is not there -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (np.unique, "^np.unique: .*which values are equal depends on the values"),
        (np.nanmedian, "^np.nanmedian: .*write np.median of the numbers"),
        (np.histogram, "^np.histogram: .*counts have no derivative"),
        (lambda x: np.sum(x, dtype=int), "^np.sum: dtype is int64, but must be float64; recorded arrays have no other"),
        (lambda x: np.mean(x, out=np.zeros(())), "^np.sum: out is given, but must be None for recorded arrays"),
        (lambda x: np.pad(x, 1, "linear_ramp"), "^np.pad: mode is 'linear_ramp', but must be one of constant, edge, "),
        (lambda x: np.cov(x, fweights=[1, 2, 3]), "^np.cov: fweights and aweights are given, but must be None"),
        (lambda x: np.quantile(x, x[0]), "^np.quantile: q is recorded, but must be plain numbers"),
        (lambda x: np.bincount(x), "^np.bincount: argument 0 is recorded, but must be plain whole numbers"),
        (lambda x: x.item(0), "^item: argument is a recorded value, but must be a plain number"),
        (lambda x: x.astype(int), "^astype: dtype is int64, but must be float64"),
        (lambda x: np.sum(x, nonsense=1), "unexpected keyword argument 'nonsense'"),
        (lambda x: np.max(x, where=x > 0), "^np.max: initial is None, but must be a number"),
    ],
)
def test_what_is_not_there_is_said_by_name(f, message):
    with pytest.raises((TypeError, ValueError), match=message.replace("(", r"\(").replace(")", r"\)")):
        ag.grad(lambda x: np.sum(f(x)))(np.array([0.1, 0.2, 0.3]))


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda x: np.einsum("ij,j", x, np.ones(3)), r"^np.einsum: lengths of the axes 'j' are 2 and 3, but must be equal"),
        (lambda x: np.einsum("i,i", x, x), r"^np.einsum: subscripts are 'i,i', but must have a letter for each of 2 axes"),
        (lambda x: np.einsum("ij->ii", x), r"^np.einsum: subscripts are 'ij->ii', but must name each axis of the result once"),
        (lambda x: np.einsum("ij->k", x), r"^np.einsum: subscripts are 'ij->k', but must name each axis of the result once"),
        (lambda x: np.einsum("ij,jk", x), r"^np.einsum: number of operands is 1, but must be 2, as in 'ij,jk'"),
        (lambda x: np.tensordot(x, np.ones(3), 1), r"^np.tensordot: lengths of the axes summed over are \[2\] and \[3\]"),
        (lambda x: np.cross(x, x), r"^np.cross: lengths of the vectors are 2 and 2, but must be 3"),
        (
            lambda x: x @ np.ones(3),
            r"^matmul: arguments are of shapes \(2, 2\) and \(3,\), but must be vectors, matrices or stacks",
        ),
        (
            lambda x: np.interp(1.0, x, x),
            r"^interp: xp and fp are of shapes \(2, 2\) and \(2, 2\), but must be vectors of the same",
        ),
        (lambda x: np.average(x, weights=np.ones(2)), r"^np.average: weights is of shape \(2,\), but must be"),
        (lambda x: np.gradient(x, 1.0, 2.0, 3.0), r"^np.gradient: number of spacings is 3, but must be 2"),
        (lambda x: np.select([x > 0], [x, x]), r"^np.select: lengths of condlist and choicelist are 1 and 2"),
        (lambda x: np.vander(x), r"^np.vander: argument is of shape \(2, 2\), but must be a vector"),
        (lambda x: np.convolve(x, x), r"^np.convolve: arguments are of shapes"),
        (lambda x: x.mT[0].mT, r"^mT: argument is of shape \(2,\), but must have at least 2 dimensions"),
    ],
)
def test_shapes_that_do_not_fit(f, message):
    with pytest.raises((ValueError, TypeError), match=message):
        ag.grad(lambda x: np.sum(f(x)))(np.ones((2, 2)))


@pytest.mark.parametrize("mode", ["reflect", "symmetric"])
def test_pad_refuses_what_is_no_choice_of_entries(mode):
    with pytest.raises(TypeError, match="reflect_type is 'odd', but must be 'even'"):
        ag.grad(lambda x: np.sum(np.pad(x * x, (2, 0), mode=mode, reflect_type="odd")))(np.array([1.0, 2.0, 3.0]))
