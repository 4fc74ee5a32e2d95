"""Generalised linear models as one operation: values and derivatives against the composed form, in every mode, and errors."""

import mpmath
import numpy as np
import pytest

import agrad as ag

RANDOM = np.random.default_rng(5)
N, P = 300, 4  # more than two blocks of rows
X = RANDOM.normal(size=(N, P))
Y = RANDOM.integers(0, 2, N)
ALPHA, BETA = RANDOM.normal(size=N), RANDOM.normal(size=P)


def composed(y, x, alpha, beta):
    eta = alpha + x @ beta
    return np.sum(np.where(np.asarray(y) == 1, -np.logaddexp(0.0, -eta), -np.logaddexp(0.0, eta)))


def fused(y, x, alpha, beta):
    return ag.bernoulli_logit_glm_lpmf(y, x, alpha, beta)


@pytest.fixture(params=["plain", "compiled"])
def made(request):
    return ag.compile if request.param == "compiled" else lambda f: f


def close(got, wanted, tolerance=1e-12):
    wanted = np.asarray(wanted)
    np.testing.assert_allclose(np.asarray(got), wanted, rtol=tolerance, atol=tolerance * (1 + np.abs(wanted).max(initial=0.0)))


ARGUMENTS = [
    pytest.param(Y, X, 0.3, BETA, id="one intercept"),
    pytest.param(Y, X, ALPHA, BETA, id="an intercept a row"),
    pytest.param(1.0, X, 0.3, BETA, id="one outcome"),
    pytest.param(Y[:1], X[:1], ALPHA[:1], BETA, id="one row"),
    pytest.param(Y, X[:, :1], -0.2, BETA[:1], id="one column"),
    pytest.param(Y, X[:, :0], ALPHA, BETA[:0], id="no column"),
    pytest.param(Y[:0], X[:0], 0.3, BETA, id="no row"),
    pytest.param(Y, X[::-1].copy().T.copy().T, 0.3, BETA, id="columns first in memory"),
]


@pytest.mark.parametrize(("y", "x", "alpha", "beta"), ARGUMENTS)
def test_values_and_gradients_are_those_of_the_composed_form(made, y, x, alpha, beta):
    assert isinstance(fused(y, x, alpha, beta), float)
    close(fused(y, x, alpha, beta), composed(y, x, alpha, beta))
    for argnums in [(0,), (1,), (0, 1)]:
        value, gradient = made(ag.value_and_grad(lambda a, b: fused(y, x, a, b), argnums))(alpha, beta)
        wanted_value, wanted = ag.value_and_grad(lambda a, b: composed(y, x, a, b), argnums)(alpha, beta)
        close(value, wanted_value)
        for mine, theirs in zip(gradient, wanted, strict=True):
            assert np.shape(mine) == np.shape(theirs)
            close(mine, theirs)


@pytest.mark.parametrize(("y", "x", "alpha", "beta"), ARGUMENTS)
def test_tangents_and_hessians_are_those_of_the_composed_form(made, y, x, alpha, beta):
    x, y = x[:20], y if np.ndim(y) == 0 else y[:20]
    alpha = alpha if np.ndim(alpha) == 0 else alpha[:20]

    def of(f):
        return lambda a, b, z: f(y, z, a, b)  # the predictors, too

    point = (alpha, beta, x)
    tangents = tuple(np.cos(np.arange(np.size(a)).reshape(np.shape(a)) * 1.0) for a in point)
    value, tangent = ag.jvp(of(fused), point, tangents)
    wanted_value, wanted_tangent = ag.jvp(of(composed), point, tangents)
    close(value, wanted_value)
    close(tangent, wanted_tangent)
    hessian = made(ag.hessian(of(fused), (0, 1, 2)))(*point)
    wanted = ag.hessian(of(composed), (0, 1, 2))(*point)
    for mine, theirs in zip(hessian, wanted, strict=True):
        for block, wanted_block in zip(mine, theirs, strict=True):
            close(block, wanted_block)
    products = made(ag.hvp(of(fused), argnums=(0, 1, 2)))(*point, tangents)
    for mine, theirs in zip(products, ag.hvp(of(composed), argnums=(0, 1, 2))(*point, tangents), strict=True):
        close(mine, theirs)


def test_gradients_against_differences():
    ag.check_grads(lambda a, b, x: fused(Y[:9], x, a, b), ALPHA[:9], BETA, X[:9], order=2)


@pytest.mark.thread_unsafe(reason="mpmath's precision belongs to the process")
@pytest.mark.parametrize("eta", [-1e300, -800.0, -740.0, -40.0, 40.0, 740.0, 800.0, 1e300])
def test_tails_are_exact(made, eta):
    with mpmath.workdps(50):
        slope = float(1 / (1 + mpmath.exp(eta)))
        value = float(-mpmath.log1p(mpmath.exp(-mpmath.mpf(eta))) if abs(eta) < 1e4 else min(eta, 0.0))
        curvature = -float(mpmath.exp(eta) / (1 + mpmath.exp(eta)) ** 2) if abs(eta) < 1e4 else 0.0
    f = made(ag.value_and_grad(lambda beta: fused(1, np.ones((1, 1)), 0.0, beta)))
    got, gradient = f(np.array([eta]))
    np.testing.assert_allclose([got, gradient[0]], [value, slope], rtol=1e-14)
    bent = made(ag.hessian(lambda beta: fused(1, np.ones((1, 1)), 0.0, beta)))(np.array([eta]))
    np.testing.assert_allclose(bent[0, 0], curvature, rtol=1e-13)


def test_it_is_one_operation_of_a_program():
    f = ag.compile(ag.value_and_grad(lambda beta: 2.0 * fused(Y, X, 0.0, beta)))
    f(BETA)
    (entry,) = f._entries.values()
    assert entry.paths[0].program.operations == 2  # the likelihood, and the product


def test_outcomes_and_predictors_may_be_arguments_of_a_compiled_function():
    f = ag.compile(ag.grad(fused, 3))
    for y in (Y.astype(float), 1.0 - Y):
        close(f(y, X, 0.1, BETA), ag.grad(composed, 3)(y, X, 0.1, BETA))
    assert np.all(ag.grad(fused, 0)(Y.astype(float), X, 0.1, BETA) == 0)  # outcomes are discrete


def test_adjoints_of_zero_stay_zero():
    gradient = ag.grad(lambda beta: 0.0 * fused(Y, X, 0.0, beta) + np.sum(beta))(BETA)
    np.testing.assert_array_equal(gradient, np.ones(P))


def test_derivatives_of_derivatives(made):
    def of(f):
        return lambda b: f(Y, X, 0.3, b)

    def slope(f):
        return lambda b: np.sum(ag.grad(of(f))(b) ** 2)

    close(made(ag.grad(slope(fused)))(BETA), ag.grad(slope(composed))(BETA), 1e-11)
    close(made(ag.jacobian(ag.grad(of(fused))))(BETA), ag.hessian(of(composed))(BETA), 1e-11)
    twice = made(ag.grad(lambda b: ag.jvp(of(fused), (b,), (np.ones(P),))[1]))(BETA)
    close(twice, ag.hvp(of(composed))(BETA, np.ones(P)), 1e-11)


def test_rows_side_by_side():
    betas = np.stack([BETA, -BETA, 0 * BETA])
    got = ag.compile(ag.vmap(ag.grad(lambda b: fused(Y, X, 0.3, b))))(betas)
    for mine, beta in zip(got, betas, strict=True):
        close(mine, ag.grad(lambda b: composed(Y, X, 0.3, b))(beta))


def test_propto_leaves_out_nothing():
    whole, y = fused(Y, X, 0.2, BETA), Y.astype(float)
    assert whole == ag.bernoulli_logit_glm_lpmf(Y, X, 0.2, BETA, propto=True)
    for f, x in (
        (lambda b: ag.bernoulli_logit_glm_lpmf(Y, X, alpha=0.2, beta=b, propto=True), BETA),
        (lambda z: ag.bernoulli_logit_glm_lpmf(z, X, 0.2, BETA, propto=True), y),
    ):
        calls = (ag.value_and_grad(f)(x)[0], ag.compile(f)(x), ag.vmap(f)(np.stack([x, x]))[1])
        np.testing.assert_allclose(calls, whole, rtol=1e-14)


BAD = {
    "y[1] is 2.0, but must be 0 or 1": {"y": [1, 2, 0]},
    "y[2] is 0.5, but must be 0 or 1": {"y": [1, 1, 0.5]},
    "y is nan, but must be 0 or 1": {"y": np.nan},
    "x[1, 0] is inf, but must be finite": {"x": [[1.0, 2.0], [np.inf, 1.0], [0.0, 0.0]]},
    "alpha is nan, but must be finite": {"alpha": np.nan},
    "alpha[2] is inf, but must be finite": {"alpha": [0.0, 1.0, np.inf]},
    "beta[0] is -inf, but must be finite": {"beta": [-np.inf, 1.0]},
    "y is of shape (2,), but must be a single number or of length 3; the number of rows of x": {"y": [1, 0]},
    "y is of shape (3, 1), but must be a single number or of length 3; the number of rows of x": {"y": [[1], [0], [1]]},
    "alpha is of shape (2,), but must be a single number or of length 3; the number of rows of x": {"alpha": [1.0, 2.0]},
    "beta is of shape (3,), but must be of length 2; the number of columns of x": {"beta": [1.0, 2.0, 3.0]},
    "beta is of shape (), but must be of length 2; the number of columns of x": {"beta": 1.0},
    "x is of shape (3,), but must be a matrix; a row for each outcome, a column for each coefficient": {"x": [1.0, 2.0, 3.0]},
}


@pytest.mark.parametrize("message", BAD)
def test_errors_are_sentences(message):
    arguments = {"y": [1, 0, 1], "x": np.ones((3, 2)), "alpha": 0.5, "beta": [0.1, 0.2], **BAD[message]}
    kind = ag.ShapeError if "shape" in message else ag.DomainError
    for call in (
        lambda: fused(**arguments),
        lambda: ag.grad(lambda b: fused(**{**arguments, "beta": b}))(np.asarray(arguments["beta"])),
    ):
        with pytest.raises(kind) as failure:
            call()
        text = f"bernoulli_logit_glm_lpmf: {message}"
        assert str(failure.value) in (text, text.replace("2.0", "2"))


def test_errors_of_a_later_run():
    f = ag.compile(ag.grad(lambda b: fused(Y, X, 0.0, b)))
    f(BETA)
    with pytest.raises(ag.DomainError, match=r"beta\[1\] is nan, but must be finite"):
        f(np.array([0.0, np.nan, 0.0, 0.0]))
    close(f(BETA), ag.grad(lambda b: composed(Y, X, 0.0, b))(BETA))
    with pytest.raises(TypeError, match="number of arguments is 3, but must be 4"):
        ag.bernoulli_logit_glm_lpmf(Y, X, 0.0)


def test_docstring():
    text = ag.bernoulli_logit_glm_lpmf.__doc__
    for word in ("logistic regression", "Outcomes", "0 or 1", "Predictors, n x p. Finite.", "McCullagh"):
        assert word in text
