"""Zero times infinity (docs/functions.md): structural zeros, computed zeros further in, and computed zeros further out.

Expected numbers follow by hand; each function runs plainly, compiled, mapped, forwards, backwards and nested.
"""

import numpy as np
import pytest

import agrad as ag

NAN, INF = np.nan, np.inf
MASK = np.array([1.0, 0.0])
TERMS = np.array([0.0, 1.0, -np.inf])


def logaddexp_of_weight(w):
    return np.logaddexp(np.log(w) + 1.0, 0.5)


def distance(x):
    return np.sqrt(np.sum(x * x))


def matern32(x):
    return (1 + distance(x - 1.0)) * np.exp(-distance(x - 1.0))


# name: function, point, gradient
FIRST = {
    "computed zero of cosh": (lambda x: np.cosh(np.sqrt(x)), 0.0, NAN),
    "roots that cancel": (lambda x: np.sqrt(x) - np.sqrt(x), 0.0, NAN),
    "inverse of an inverse": (lambda x: 1 / (1 / x), 0.0, NAN),
    "log-sum of a log-weight": (logaddexp_of_weight, 0.0, NAN),
    "square of a sine of a root": (lambda x: np.sin(np.sqrt(x)) ** 2, 0.0, NAN),
    "product of roots": (lambda x: np.prod(np.sqrt(x)), [0.0, 0.0], [NAN, NAN]),
    "variable times root": (lambda x: x[0] * np.sqrt(x[1]), [0.0, 0.0], [0.0, NAN]),
    "root of a square": (lambda x: np.sqrt(x * x), 0.0, 0.0),
    "cosh of a distance": (lambda x: np.cosh(distance(x)), [0.0, 0.0], [0.0, 0.0]),
    "kernel at coincident points": (matern32, [1.0, 1.0], [0.0, 0.0]),
    "root of an underflow": (lambda x: np.sqrt(np.exp(-x)), 1600.0, 0.0),
    "logistic function by hand": (lambda x: 1 / (1 + np.exp(-x)), -1000.0, 0.0),
    "root alone": (np.sqrt, 0.0, INF),
    "choice": (lambda x: np.sum(np.where(x > 0, np.sqrt(x), 0.0)), [4.0, 0.0], [0.25, 0.0]),
    "choice of a sum": (lambda x: np.where(x[0] > 9, np.sum(np.sqrt(x)), x[0]), [4.0, 0.0], [1.0, 0.0]),
    "mask": (lambda x: np.sum(MASK * np.sqrt(x)), [4.0, 0.0], [0.25, 0.0]),
    "mask in a square": (lambda x: np.sum((MASK * np.sqrt(x)) ** 2), [4.0, 0.0], [1.0, 0.0]),
    "unused entry": (lambda x: np.sqrt(x)[0], [4.0, 0.0], [0.25, 0.0]),
    "largest entry": (lambda x: np.max(np.sqrt(x)), [4.0, 0.0], [0.25, 0.0]),
    "sorted entries": (lambda x: np.sort(np.sqrt(x))[1], [4.0, 0.0], [0.25, 0.0]),
    "part of a cumulative product": (lambda x: np.cumprod(np.sqrt(x))[0], [4.0, 0.0], [0.25, 0.0]),
    "weights that are all zero": (lambda w: ag.special.logsumexp(TERMS, b=w), [0.0, 0.0, 0.0], [INF, INF, 0.0]),
    "inverse of a sum without weights": (lambda w: 1 / ag.special.logsumexp(TERMS, b=w), [0.0, 0.0, 0.0], [NAN, NAN, 0.0]),
    "count of zero": (lambda x: ag.special.xlogy(0.0, np.sqrt(x)), 0.0, 0.0),
}
# name: function, point, Hessian
SECOND = {
    "choice": (lambda x: np.sum(np.where(x > 0, np.sqrt(x), 0.0)), [4.0, 0.0], [[-1 / 32, 0.0], [0.0, 0.0]]),
    "mask": (lambda x: np.sum(MASK * np.sqrt(x)), [4.0, 0.0], [[-1 / 32, 0.0], [0.0, 0.0]]),
    "cosh of a distance": (lambda x: np.cosh(distance(x)), [0.0, 0.0], [[NAN, 0.0], [0.0, NAN]]),
    "root beside a square": (lambda x: np.sqrt(x[0]) + x[1] ** 2, [0.0, 3.0], [[-INF, 0.0], [0.0, 2.0]]),
}


def jvp_gradient(f, x):
    """Return the gradient by forward mode, one direction after the other."""
    x = np.asarray(x, dtype=float)
    along = np.eye(x.size).reshape((x.size, *x.shape))
    return np.reshape([ag.jvp(f, (x,), (v,))[1] for v in along], x.shape)


WAYS = {
    "grad": lambda f, x: ag.grad(f)(x),
    "compiled grad": lambda f, x: ag.compile(ag.grad(f))(x),
    "jvp": jvp_gradient,
    "jacfwd": lambda f, x: ag.jacfwd(f)(x),
    "jacrev": lambda f, x: ag.jacrev(f)(x),
    "vmap of grad": lambda f, x: ag.vmap(ag.grad(f))(np.stack([x, x]))[1],
    "grad of vmap": lambda f, x: ag.grad(lambda z: np.sum(ag.vmap(f)(z)))(np.stack([x, x]))[1],
    "grad within a compiled function": lambda f, x: ag.compile(lambda z: 1.0 * ag.grad(f)(z))(x),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", FIRST)
def test_first_derivatives(name, way):
    f, x, expected = FIRST[name]
    np.testing.assert_allclose(WAYS[way](f, np.asarray(x)), expected, rtol=1e-12, atol=0)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("name", SECOND)
def test_hessians(name, compiled):
    f, x, expected = SECOND[name]
    hessian = ag.compile(ag.hessian(f)) if compiled else ag.hessian(f)
    np.testing.assert_allclose(hessian(np.asarray(x)), expected, rtol=1e-12, atol=0)


def loop(step, length=1):
    return lambda x: ag.scan(lambda c, _: (step(c), None), x, None, length=length)[0]


@pytest.mark.parametrize("way", ["grad", "compiled grad", "jvp", "jacfwd", "jacrev"])
def test_loops(way):
    cases = [
        (lambda x: loop(np.sqrt)(x) ** 2, NAN),
        (loop(lambda c: np.cosh(np.sqrt(c))), NAN),
        (loop(lambda c: np.cosh(np.sqrt(c)), 4), NAN),
        (loop(lambda c: np.where(c > 0, np.sqrt(c), 0.0), 3), 0.0),
        (loop(np.sqrt), INF),
    ]
    for f, expected in cases:
        np.testing.assert_equal(WAYS[way](f, np.asarray(0.0)), expected)


def test_masks_that_are_arguments():
    def f(x, mask):
        return np.sum(mask * np.sqrt(x))

    for gradient in (ag.grad(f), ag.compile(ag.grad(f))):
        np.testing.assert_equal(gradient(np.array([4.0, 0.0]), MASK), [0.25, 0.0])
    mapped = ag.vmap(ag.grad(f))(np.array([[4.0, 0.0]] * 2), np.stack([MASK, MASK]))
    np.testing.assert_equal(mapped, [[0.25, 0.0]] * 2)


def test_choices_that_change_in_a_compiled_function():
    def f(x):
        return np.sum(np.where(x > 1, np.cosh(np.sqrt(x - 1)), x))

    gradient = ag.compile(ag.vmap(ag.grad(f)))
    for x in ([0.0, 0.5], [1.0, 1.0], [2.0, 1.0]):
        expected = [np.sinh(1.0) / 2 if each == 2 else 1.0 for each in x]
        np.testing.assert_allclose(gradient(np.array([x]))[0], expected, rtol=1e-12)


def test_a_mixture_from_a_weight_of_zero_does_not_report_convergence():
    rng = np.random.default_rng(1)
    data = rng.normal(size=50) + 3.0 * (rng.uniform(size=50) < 0.2)

    def loss(w):
        return -np.sum(np.logaddexp(np.log(w) - 0.5 * (data - 3) ** 2, np.log1p(-w) - 0.5 * data**2))

    assert np.isnan(ag.grad(loss)(0.0))


def test_a_program_without_zeros_keeps_its_bits():
    x = np.linspace(0.1, 2.0, 7)

    def f(x):
        return np.sum(np.sqrt(x) * np.log(x) / (1 + x**1.5))

    step = 1e-30
    by_complex_step = [np.imag(f(x + 1j * step * e)) / step for e in np.eye(7)]
    np.testing.assert_allclose(ag.grad(f)(x), by_complex_step, rtol=1e-13)


def test_debug_nans_names_the_operation_and_what_to_write():
    def mixture(w):
        return np.logaddexp(np.log(w) + 1.0, 0.5)

    with ag.debug_nans(infinities=False), pytest.raises(FloatingPointError, match=r"^log: adjoint of argument 0 is nan.*b=w"):
        ag.grad(lambda x: np.cosh(np.log(x + 1.0)) + mixture(x))(0.0)


def test_check_grads_points_to_debug_nans():
    with pytest.raises(AssertionError, match=r"is nan, but must be .*debug_nans\(\) names the operation"):
        ag.check_grads(lambda x: np.sin(np.cbrt(x)) ** 3, 0.0)
