"""agrad.special: logsumexp, softmax and log_softmax against SciPy and mpmath, and the names of scipy.special."""

import mpmath
import numpy as np
import pytest
import scipy.special
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

import agrad as ag
from agrad._stan import elementwise
from numpy_cases import array_of

INF = np.inf
FUNCTIONS = [ag.special.softmax, ag.special.log_softmax, ag.special.logsumexp]
OWN = {"log_cumsum_exp", *(function.__name__ for function in FUNCTIONS)}  # which are not elementwise


@given(st.data(), st.sampled_from(FUNCTIONS))
@settings(max_examples=40, derandomize=True, deadline=None)
def test_against_scipy(data, f):
    shape = data.draw(npst.array_shapes(max_dims=3, max_side=4))
    axis = data.draw(
        st.one_of(st.none(), npst.valid_tuple_axes(len(shape), min_size=1), st.integers(-len(shape), len(shape) - 1))
    )
    options = {"keepdims": data.draw(st.booleans())} if f is ag.special.logsumexp else {}
    x = array_of(*shape, low=-4.0, high=4.0)
    expected = getattr(scipy.special, f.__name__)(x, axis=axis, **options)
    got = ag.compile(lambda x: f(x, axis=axis, **options))(x)
    np.testing.assert_allclose(got, expected, rtol=1e-13, atol=1e-14)
    np.testing.assert_array_equal(f(x, axis=axis, **options), expected)


@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1)])
@pytest.mark.parametrize("f", FUNCTIONS)
def test_derivatives(f, axis):
    ag.check_grads(lambda x: f(x, axis=axis), array_of(3, 4))


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_log_cumsum_exp(axis):
    of = ag.special.log_cumsum_exp
    x = array_of(5, 6)
    expected = np.log(np.cumsum(np.exp(x), axis=axis))
    for way in (lambda f: f, ag.compile, lambda f: ag.compile(ag.vmap(lambda shift: f(x + 0 * shift)))):
        found = way(lambda x: of(x, axis))(x)
        np.testing.assert_allclose(found if found.ndim == 2 else found[0], expected, rtol=1e-14, atol=1e-15)
    ag.check_grads(lambda x: of(x, axis), x)


def test_log_cumsum_exp_at_the_ends():
    of = ag.special.log_cumsum_exp
    x = np.array([-INF, -1000.0, -1000.0, -INF, 0.0, 800.0])
    expected = [-INF, -1000.0, -1000.0 + np.log(2.0), -1000.0 + np.log(2.0), 0.0, 800.0]
    np.testing.assert_allclose(ag.compile(of)(x), expected, rtol=1e-15)
    shares = [
        [0, 0, 0, 0, 0, 0],
        [0, 1, 0, 0, 0, 0],
        [0, 0.5, 0.5, 0, 0, 0],
        [0, 0.5, 0.5, 0, 0, 0],
        [0] * 4 + [1, 0],
        [0] * 5 + [1],
    ]
    for jacobian in (ag.jacrev, ag.jacfwd):
        np.testing.assert_allclose(jacobian(of)(x)[1:], shares[1:], rtol=1e-14, atol=1e-300)
    assert of([]).shape == (0,)
    assert ag.compile(of)(np.zeros((2, 0))).shape == (2, 0)
    np.testing.assert_allclose(of([0, 0]), [0.0, np.log(2.0)], rtol=1e-15)
    with pytest.raises(np.exceptions.AxisError):
        of(1.0)


def test_weights():
    a, b = array_of(3, 4), array_of(4, low=0.1, high=2.0)
    got = ag.compile(lambda a, b: ag.special.logsumexp(a, axis=1, b=b))(a, b)
    np.testing.assert_allclose(got, scipy.special.logsumexp(a, axis=1, b=b), rtol=1e-14)
    ag.check_grads(lambda a, b: ag.special.logsumexp(a, axis=1, b=b, keepdims=True), a, b)
    ag.check_grads(lambda b: ag.special.logsumexp(a, b=b), b)
    value, gradient = ag.value_and_grad(lambda a: ag.special.logsumexp(a, b=[1.0, 0.0, -0.5]))(np.array([1.0, INF, 0.0]))
    assert value == pytest.approx(float(mpmath.log(mpmath.e - 0.5)), rel=1e-15)
    np.testing.assert_allclose(gradient, [np.e / (np.e - 0.5), 0.0, -0.5 / (np.e - 0.5)], rtol=1e-14)
    assert np.isnan(ag.compile(lambda a: ag.special.logsumexp(a, b=[-1.0, 0.5]))(np.zeros(2)))
    assert ag.compile(lambda a: ag.special.logsumexp(a, b=[0.0, 0.0]))(np.zeros(2)) == -INF


@pytest.mark.thread_unsafe(reason="mpmath's precision belongs to the process")
@pytest.mark.parametrize(
    "x",
    [[1000.0, 999.0], [-1000.0, -1001.0, -2000.0], [0.0, -40.0], [0.0, -800.0], [-1e308, 1e308], [5.0], [1e-20, -30.0, -31.0]],
)
def test_accuracy(x):
    with mpmath.workdps(60):
        terms = [mpmath.exp(mpmath.mpf(each) - max(x)) for each in x]
        expected = mpmath.log1p(mpmath.fsum(sorted(terms)[:-1])) + max(x)
        shares = [float(term / mpmath.fsum(terms)) for term in terms]
    value, gradient = ag.value_and_grad(ag.special.logsumexp)(np.array(x))
    assert value == pytest.approx(float(expected), rel=4e-16, abs=0)
    np.testing.assert_allclose(gradient, shares, rtol=1e-12)
    np.testing.assert_allclose(ag.compile(ag.special.softmax)(np.array(x)), shares, rtol=1e-12)
    np.testing.assert_allclose(ag.jacfwd(ag.special.logsumexp)(np.array(x)), gradient, rtol=1e-15)


@pytest.mark.parametrize(
    ("x", "value", "gradient"),
    [
        ([-INF, 1.0, 1.0], 1.0 + np.log(2.0), [0.0, 0.5, 0.5]),
        ([-INF, -INF], -INF, [0.0, 0.0]),
        ([INF, 3.0], INF, [1.0, 0.0]),
        ([INF, INF, -INF], INF, [0.5, 0.5, 0.0]),
        ([], -INF, []),
    ],
)
def test_infinite_exponents(x, value, gradient):
    x = np.array(x)
    for f in (ag.value_and_grad(ag.special.logsumexp), ag.compile(ag.value_and_grad(ag.special.logsumexp))):
        got = f(x)
        assert got[0] == pytest.approx(value)
        np.testing.assert_allclose(got[1], gradient, atol=0)
    np.testing.assert_allclose(ag.jacfwd(ag.special.logsumexp)(x), gradient, atol=0)
    if np.isfinite(value):
        np.testing.assert_allclose(ag.compile(ag.special.softmax)(x), gradient, rtol=1e-15)
        assert np.all(np.isfinite(ag.hessian(ag.special.logsumexp)(x)))


def test_nan_stays():
    assert np.isnan(ag.compile(ag.special.logsumexp)(np.array([1.0, np.nan])))


def test_lists_and_errors():
    assert ag.grad(lambda x: ag.special.logsumexp([x, 2.0 * x]))(0.0) == pytest.approx(1.5)
    assert ag.special.logsumexp([0.0, 0.0]) == pytest.approx(np.log(2.0))
    with pytest.raises(TypeError, match=r"^logsumexp: return_sign is True, but must be False for a recorded array"):
        ag.grad(lambda x: ag.special.logsumexp(x, return_sign=True))(np.ones(2))
    with pytest.raises(IndexError):
        ag.grad(lambda x: ag.special.logsumexp(x, axis=1))(np.ones(2))


@pytest.mark.parametrize("name", [name for name in ag.special.__all__ if name not in OWN])
def test_elementwise_functions_have_scipys_names(name):
    assert isinstance(getattr(scipy.special, name), np.ufunc)
    assert getattr(ag.special, name) in {getattr(elementwise, each) for each in elementwise.__all__}
