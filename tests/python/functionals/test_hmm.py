"""Hidden Markov models against the sum over all sequences of states, also with probabilities of zero and far densities."""

import itertools

import mpmath
import numpy as np
import pytest

import agrad as ag

LOG_OMEGA = np.log([[0.9, 0.8, 0.2, 0.4], [0.3, 0.4, 0.7, 0.6]])
MODELS = {
    "inner": (np.array([[0.7, 0.3], [0.1, 0.9]]), np.array([0.4, 0.6])),
    "stays": (np.eye(2), np.array([0.4, 0.6])),
    "stays in one": (np.eye(2), np.array([1.0, 0.0])),
    "to the right": (np.array([[0.5, 0.5], [0.0, 1.0]]), np.array([1.0, 0.0])),
    "alternates": (np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([0.0, 1.0])),
}


def by_sequences(log_omega, gamma, rho):
    k, n = log_omega.shape
    total = 0.0
    for states in itertools.product(range(k), repeat=n):
        term = rho[states[0]] * np.exp(sum(log_omega[state, i] for i, state in enumerate(states)))
        for i, (before, after) in enumerate(itertools.pairwise(states)):
            term = term * (gamma[i] if gamma.ndim == 3 else gamma)[before, after]
        total = total + term
    return np.log(total)


def with_free_rows(f):
    """The probabilities as p + x and p - x, so that they sum to 1 everywhere."""

    def of(x, log_omega, gamma, rho):
        gamma = ag.array(gamma) + ag.array([[x[0], -x[0]], [x[1], -x[1]]])
        return f(log_omega + x[3:].reshape(2, -1), gamma, ag.array(rho) + ag.array([x[2], -x[2]]))

    return of


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
@pytest.mark.parametrize("n", [1, 2, 4])
def test_derivatives_of_both_orders(model, n):
    gamma, rho = model
    log_omega, x = LOG_OMEGA[:, :n], np.zeros(3 + 2 * n)
    f, reference = (with_free_rows(each) for each in (ag.hmm_marginal, by_sequences))
    for transform in (lambda f: f, ag.grad, ag.hessian, lambda f: ag.compile(ag.hessian(f))):
        given, expected = (transform(each)(x, log_omega, gamma, rho) for each in (f, reference))
        np.testing.assert_allclose(given, expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_probabilities_of_states(model):
    gamma, rho = model
    expected = np.zeros((2, 4))
    for states in itertools.product(range(2), repeat=4):
        term = rho[states[0]] * np.prod([gamma[pair] for pair in itertools.pairwise(states)])
        term *= np.exp(sum(LOG_OMEGA[state, i] for i, state in enumerate(states)))
        expected[states, range(4)] += term
    expected /= expected.sum(0)
    np.testing.assert_allclose(ag.hmm_hidden_state_prob(LOG_OMEGA, gamma, rho), expected, atol=1e-15)
    compiled = ag.compile(lambda w: ag.hmm_hidden_state_prob(w, gamma, rho))
    np.testing.assert_allclose(compiled(LOG_OMEGA), expected, atol=1e-15)

    def total(w):
        return np.sum(np.sin(ag.hmm_hidden_state_prob(w, gamma, rho)))

    if set(np.ravel(gamma)) | set(rho) == {0.0, 1.0}:  # one sequence alone is possible, and all derivatives are zero
        np.testing.assert_array_equal(ag.grad(total)(LOG_OMEGA), np.zeros_like(LOG_OMEGA))
        np.testing.assert_allclose(ag.jvp(total, (LOG_OMEGA,), (np.sin(LOG_OMEGA),))[1], 0.0, atol=1e-15)
    else:
        ag.check_grads(total, LOG_OMEGA, order=1)


@pytest.mark.thread_unsafe(reason="sets mpmath's precision")
def test_far_densities_and_impossible_observations():
    gamma, rho = MODELS["inner"]
    log_omega = np.array([[0.0, -2000.0, -np.inf, 0.0, -3000.0], [-1500.0, 0.0, 0.0, -4000.0, 0.0]])
    with mpmath.workdps(30):
        weights = [mpmath.mpf(p) * mpmath.exp(w) for p, w in zip(rho, log_omega[:, 0], strict=True)]
        for column in log_omega.T[1:]:
            moved = [mpmath.fsum(weights[i] * gamma[i, j] for i in range(2)) for j in range(2)]
            weights = [p * mpmath.exp(w) for p, w in zip(moved, column, strict=True)]
        expected = float(mpmath.log(mpmath.fsum(weights)))
    assert ag.hmm_marginal(log_omega, gamma, rho) == pytest.approx(expected, rel=1e-14)
    shares = ag.grad(ag.hmm_marginal)(log_omega, gamma, rho)
    np.testing.assert_allclose(shares.sum(0), 1.0, rtol=1e-14)
    assert shares[0, 2] == 0.0
    nothing = np.full((2, 3), -np.inf)
    assert ag.hmm_marginal(nothing, gamma, rho) == -np.inf
    for call in (
        lambda: ag.hmm_hidden_state_prob(nothing, gamma, rho),
        lambda: ag.hmm_latent_rng(nothing, gamma, rho, np.random.default_rng(0)),
    ):
        with pytest.raises(ag.DomainError, match=r"likelihood is -inf, but must be positive"):
            call()


def test_draws_have_the_probabilities():
    rng = np.random.default_rng(3)
    for gamma, rho in (MODELS["inner"], MODELS["to the right"]):
        draws = np.array([ag.hmm_latent_rng(LOG_OMEGA, gamma, rho, rng) for _ in range(200)])
        expected = ag.hmm_hidden_state_prob(LOG_OMEGA, gamma, rho)
        np.testing.assert_allclose(draws.mean(0), expected[1], atol=4 * 0.5 / np.sqrt(200))
        assert draws.dtype == np.int64
        seeded = ag.hmm_latent_rng(LOG_OMEGA, gamma, rho, 1)
        np.testing.assert_array_equal(seeded, ag.hmm_latent_rng(LOG_OMEGA, gamma, rho, np.random.default_rng(1)))
    with pytest.raises(TypeError, match=r"^hmm_latent_rng: rng is 1.5, but must be a numpy.random.Generator, a seed or None"):
        ag.hmm_latent_rng(LOG_OMEGA, gamma, rho, 1.5)
    with pytest.raises(TypeError, match="a draw has no derivative"):
        ag.grad(lambda w: ag.hmm_latent_rng(w, np.eye(2), np.array([0.5, 0.5]), rng)[0] * 1.0)(LOG_OMEGA)


def test_what_is_refused():
    gamma, rho = MODELS["inner"]
    for args, kind, match in (
        ((LOG_OMEGA[0], gamma, rho), ag.ShapeError, r"log_omega is of shape \(4,\)"),
        ((LOG_OMEGA[:, :0], gamma, rho), ag.ShapeError, r"log_omega is of shape \(2, 0\)"),
        ((LOG_OMEGA, gamma[:1], rho), ag.ShapeError, r"gamma is of shape \(1, 2\), but must be of shape \(2, 2\)"),
        ((LOG_OMEGA, gamma, np.ones(3) / 3), ag.ShapeError, r"rho is of shape \(3,\)"),
        ((LOG_OMEGA, [[0.7, 0.3], [0.1, 0.8]], rho), ag.DomainError, r"sum of gamma\[1\] is 0.9, but must be 1"),
        ((LOG_OMEGA, [[1.5, -0.5], [0.1, 0.9]], rho), ag.DomainError, r"gamma\[0, 1\] is -0.5"),
        ((LOG_OMEGA, gamma, [0.5, 0.6]), ag.DomainError, r"sum of rho is 1.1"),
        ((LOG_OMEGA * np.nan, gamma, rho), ag.DomainError, r"log_omega\[0, 0\] is nan"),
    ):
        with pytest.raises(kind, match=match):
            ag.hmm_marginal(*args)
    compiled = ag.compile(lambda g: ag.hmm_marginal(LOG_OMEGA, g, rho))
    compiled(gamma)
    with pytest.raises(ag.DomainError, match=r"sum of gamma\[0\] is 2"):
        compiled(2 * gamma)


CHANGING = np.array([[[0.7, 0.3], [0.1, 0.9]], [[1.0, 0.0], [0.5, 0.5]], [[0.0, 1.0], [0.2, 0.8]]])


@pytest.mark.parametrize("n", [1, 2, 4])
def test_transitions_that_change_with_time(n):
    log_omega, rho, gamma = LOG_OMEGA[:, :n], np.array([0.4, 0.6]), CHANGING[: n - 1]

    def of(f):
        def free(x):
            moved = gamma + np.reshape(x[: 2 * n - 2], (n - 1, 2, 1)) * np.array([1.0, -1.0])  # rows sum to 1 everywhere
            return f(log_omega + x[2 * n - 2 :].reshape(2, n), moved, rho)

        return free

    x = np.zeros(4 * n - 2)
    for transform in (lambda f: f, ag.grad, ag.hessian, lambda f: ag.compile(ag.hessian(f))):
        given, expected = (transform(of(each))(x) for each in (ag.hmm_marginal, by_sequences))
        np.testing.assert_allclose(given, expected, rtol=1e-12, atol=1e-13)


def test_changing_transitions_that_are_equal_are_the_constant_one():
    gamma, rho = MODELS["inner"]
    often = np.broadcast_to(gamma, (3, 2, 2))
    assert ag.hmm_marginal(LOG_OMEGA, often, rho) == ag.hmm_marginal(LOG_OMEGA, gamma, rho)
    expected = ag.hmm_hidden_state_prob(LOG_OMEGA, gamma, rho)
    np.testing.assert_allclose(ag.hmm_hidden_state_prob(LOG_OMEGA, often, rho), expected, rtol=1e-15)
    draws = [ag.hmm_latent_rng(LOG_OMEGA, each, rho, 3) for each in (often, gamma)]
    np.testing.assert_array_equal(*draws)


def test_draws_follow_transitions_that_change_with_time():
    certain = np.array([[[0.0, 1.0], [1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]])
    assert ag.hmm_latent_rng(LOG_OMEGA, certain, np.array([1.0, 0.0]), 1).tolist() == [0, 1, 1, 0]


def test_errors_of_transitions_that_change_with_time():
    rho = np.array([0.4, 0.6])
    with pytest.raises(ag.ShapeError, match=r"gamma is of shape \(2, 2, 2\), but must be of shape \(3, 2, 2\)"):
        ag.hmm_marginal(LOG_OMEGA, CHANGING[:2], rho)
    with pytest.raises(ag.DomainError, match=r"sum of gamma\[1, 0\] is 1.5, but must be 1"):
        ag.hmm_marginal(LOG_OMEGA, CHANGING + np.array([[[0, 0], [0, 0]], [[0.5, 0], [0, 0]], [[0, 0], [0, 0]]]), rho)
    with pytest.raises(ag.ShapeError, match="must have 2 or 3 axes"):
        ag.hmm_marginal(LOG_OMEGA, rho, rho)
