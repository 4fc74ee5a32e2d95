"""Densities observation by observation: against calls for each one, in every mode, with weights, and errors."""

import inspect

import numpy as np
import pytest
import scipy.stats

import agrad as ag
from agrad._core import glm_rows, multivariate_rows

RANDOM = np.random.default_rng(3)
N, K = 7, 3
A = RANDOM.normal(size=(K, K))
SIGMA = A @ A.T + np.eye(K)
X, Y = RANDOM.normal(size=(N, K)), RANDOM.normal(size=(N, K))
CUTS = np.array([-1.0, 0.2, 1.5])
COUNTS = np.array([0, 3, 1, 2, 0, 5, 1])
CATEGORIES = np.array([0, 3, 1, 2, 0, 3, 1])
SIMPLEX = np.array([0.2, 0.5, 0.3])
ETA = RANDOM.normal(size=N)
BETA = RANDOM.normal(size=K)

#: By name: the arguments, and which of them have a row for each observation.
CASES = {
    "multi_normal_lpdf": ((Y, X, SIGMA), (0, 1)),
    "multi_normal_cholesky_lpdf": ((Y, X[0], np.linalg.cholesky(SIGMA)), (0,)),
    "multi_normal_prec_lpdf": ((Y, X[:1], SIGMA), (0,)),
    "multi_student_t_lpdf": ((Y, 5.0, X[0], SIGMA), (0,)),
    "ordered_logistic_lpmf": ((CATEGORIES, ETA, CUTS), (0, 1)),
    "ordered_probit_lpmf": ((CATEGORIES, 0.3, CUTS + 0.1 * ETA[:, None]), (0, 2)),
    "ordered_logistic_glm_lpmf": ((CATEGORIES, X, BETA, CUTS), (0, 1)),
    "categorical_lpmf": ((CATEGORIES % 3, SIMPLEX), (0,)),
    "categorical_logit_lpmf": ((CATEGORIES % 3, X), (0, 1)),
    "categorical_logit_glm_lpmf": ((CATEGORIES % 3, X, BETA, A), (0, 1)),
    "multinomial_lpmf": ((RANDOM.integers(0, 5, (N, K)), SIMPLEX), (0,)),
    "dirichlet_lpdf": ((RANDOM.dirichlet(np.ones(K), N), np.array([1.0, 2.0, 0.7])), (0,)),
    "normal_id_glm_lpdf": ((ETA, X, 0.3, BETA, np.exp(0.1 * ETA)), (0, 1, 4)),
    "poisson_log_glm_lpmf": ((COUNTS, X, 0.3 + ETA, BETA), (0, 1, 2)),
    "neg_binomial_2_log_glm_lpmf": ((COUNTS, X, 0.3, BETA, 2.5), (0, 1)),
    "binomial_logit_glm_lpmf": ((COUNTS, COUNTS + 2, X, 0.3, BETA), (0, 1, 2)),
    "bernoulli_logit_glm_lpmf": ((COUNTS % 2, X, 0.3, BETA), (0, 1)),
    "poisson_log_lpmf": ((COUNTS, ETA), (0, 1)),
    "neg_binomial_2_lpmf": ((COUNTS, 1.5, np.exp(ETA)), (0, 2)),
    "normal_lccdf": ((ETA, 0.2, 1.5), (0,)),
}


def one_by_one(name, arguments, by_row):
    function = getattr(ag, name)
    rows = [
        [x[i : i + 1] if k in by_row and np.ndim(x) == 2 else x[i] if k in by_row else x for k, x in enumerate(arguments)]
        for i in range(N)
    ]
    return ag.array([function(*row) for row in rows])


@pytest.mark.parametrize("name", CASES)
def test_values_and_derivatives_are_those_of_single_calls(name):
    arguments, by_row = CASES[name]
    values = ag.stats.pointwise(getattr(ag, name))
    computed = values(*arguments)
    assert isinstance(computed, np.ndarray)
    assert computed.shape == (N,)
    np.testing.assert_allclose(computed, np.array([float(x) for x in one_by_one(name, arguments, by_row)]), rtol=1e-13)
    assert np.sum(computed) == pytest.approx(getattr(ag, name)(*arguments), rel=1e-12)
    free = tuple(k for k, x in enumerate(arguments) if np.asarray(x).dtype.kind == "f" and k > 0)
    weights = np.linspace(0.5, 2.0, N)

    def weighted(*x):
        return np.sum(weights * values(*x))

    def exact(*x):
        return np.sum(weights * one_by_one(name, x, by_row))

    at = tuple(np.asarray(x, dtype=float) if k in free else x for k, x in enumerate(arguments))
    wanted = ag.grad(exact, free)(*at)
    for gradient in (ag.grad(weighted, free)(*at), ag.compile(ag.grad(weighted, free))(*at)):
        for mine, theirs in zip(gradient, wanted, strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-11, atol=1e-13)
    k = free[-1]
    bent = [ag.hessian(f, k)(*at) for f in (weighted, exact)]
    np.testing.assert_allclose(bent[0], bent[1], rtol=1e-10, atol=1e-11)
    jacobian = ag.jacfwd(values, k)(*at)
    np.testing.assert_allclose(np.tensordot(weights, jacobian, 1), wanted[-1], rtol=1e-11, atol=1e-13)


def test_every_multivariate_density_with_observations_is_taken():
    for row in [*multivariate_rows(), *glm_rows()]:
        letters = getattr(row, "shapes", ["n1"])
        if any(letter[0] == "n" for letter in letters):
            values = ag.stats.pointwise(getattr(ag, row.name))
            assert next(iter(inspect.signature(values).parameters)) == row.arguments[0][0]
        else:
            with pytest.raises(TypeError, match=f"the function is {row.name}, but must be a density"):
                ag.stats.pointwise(getattr(ag, row.name))


def test_shapes_of_results():
    normal, multi = ag.stats.pointwise(ag.normal_lpdf), ag.stats.pointwise(ag.multi_normal_lpdf)
    assert normal(np.ones((4, 1)), np.zeros(3), 1.0).shape == (4, 3)
    assert isinstance(normal(1.0, 0.0, 1.0), float)
    assert isinstance(multi(Y[0], X[0], SIGMA), float)
    assert multi(Y[:1], X[0], SIGMA).shape == (1,)
    assert multi(Y[:0], X[0], SIGMA).shape == (0,)
    assert normal(np.zeros((0, 2)), 0.0, 1.0).shape == (0, 2)
    np.testing.assert_allclose(multi(Y, X[0], SIGMA), scipy.stats.multivariate_normal(X[0], SIGMA).logpdf(Y), rtol=1e-12)
    np.testing.assert_allclose(multi(y=Y, mu=X[0], Sigma=SIGMA, propto=False), multi(Y, X[0], SIGMA))


def test_weights_of_a_regression_are_copies_of_observations():
    times = np.array([1, 0, 3, 2, 1, 1, 4])
    values = ag.stats.pointwise(ag.poisson_log_glm_lpmf)

    def weighted(beta):
        return -np.sum(times * values(COUNTS, X, 0.1, beta))

    def copied(beta):
        return -ag.poisson_log_glm_lpmf(np.repeat(COUNTS, times), np.repeat(X, times, axis=0), 0.1, beta)

    best = ag.minimize(weighted, np.zeros(K)).x
    np.testing.assert_allclose(ag.grad(copied)(best), 0, atol=1e-5)
    np.testing.assert_allclose(ag.hessian(weighted)(best), ag.hessian(copied)(best), rtol=1e-12)


def test_rows_of_a_batch():
    values = ag.stats.pointwise(ag.ordered_logistic_lpmf)
    etas = np.stack([ETA, 2 * ETA])
    batched = ag.vmap(lambda eta: values(CATEGORIES, eta, CUTS))(etas)
    np.testing.assert_allclose(batched, [values(CATEGORIES, eta, CUTS) for eta in etas], rtol=1e-14)


def test_errors_are_those_of_the_density():
    values = ag.stats.pointwise(ag.multi_normal_lpdf)
    with pytest.raises(ag.ShapeError, match="arguments of multi_normal_lpdf have 2, 7 rows, but must have as many, or one"):
        values(Y, X[:2], SIGMA)
    with pytest.raises(ag.ShapeError, match=r"multi_normal_lpdf: mu is of shape \(2,\), but must be with 3 entries"):
        values(Y, X[0, :2], SIGMA)
    with pytest.raises(ag.DomainError, match="multi_normal_lpdf: Sigma"):
        values(Y, X[0], -SIGMA)
    for compiled in (values, ag.compile(lambda *x: values(*x))):
        with pytest.raises(ag.DomainError, match=r"multi_normal_lpdf: y\[1\] is nan, but must be finite"):
            compiled(np.where(np.arange(N)[:, None] * np.array([0, 1, 0]) == 4, np.nan, Y), X[0], SIGMA)
    with pytest.raises(TypeError, match="the function is cos, but must be a density"):
        ag.stats.pointwise(np.cos)
    with pytest.raises(TypeError, match="missing a required argument"):
        values(Y, X[0])
