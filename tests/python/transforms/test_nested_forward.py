"""Forward mode of derivatives that are recorded as one operation: second derivatives in every order, against differences."""

import numpy as np
import pytest

import agrad as ag

A = np.array([[2.0, 0.3], [-0.4, 1.5]])
TURN = np.array([[0.3, -1.1], [0.7, 0.2]])


def matrix(x):
    return A + np.outer(np.sin(x), x)


def definite(x):
    return matrix(x) @ matrix(x).T + np.eye(2)


FUNCTIONS = {
    "inv": lambda x: np.sum(TURN * np.linalg.inv(matrix(x))),
    "solve": lambda x: np.sum(TURN[0] * np.linalg.solve(matrix(x), np.cos(x))),
    "det": lambda x: np.linalg.det(matrix(x)),
    "slogdet": lambda x: np.linalg.slogdet(matrix(x))[1],
    "cholesky": lambda x: np.sum(TURN * np.linalg.cholesky(definite(x))),
    "eigvalsh": lambda x: np.sum(TURN[0] * np.linalg.eigvalsh(definite(x)) ** 2),
    "expm": lambda x: np.sum(TURN * ag.linalg.expm(matrix(x))),
    "qr": lambda x: np.sum(TURN * np.linalg.qr(matrix(x))[1]),
    "prod": lambda x: np.prod(np.sin(x) + 2),
    "cumprod": lambda x: np.sum(np.cumprod(np.sin(x) + 2) ** 2),
    "interp": lambda x: np.interp(x[0] * x[1], np.array([-2.0, 0.0, 1.0, 3.0]), np.exp(x[0]) * np.arange(4.0) ** 2),
    "logsumexp": lambda x: ag.special.logsumexp(np.outer(x, x)),
    "normal": lambda x: ag.normal_lpdf(np.array([0.3, 1.0]), x[0], np.exp(x[1])),
    "logistic regression": lambda x: ag.bernoulli_logit_glm_lpmf(np.array([1, 0, 1]), np.vstack([TURN, A[:1]]), 0.5, x),
    "scan": lambda x: ag.scan(lambda c, row: (np.sin(c) * row + x, c * row), x, TURN)[1].sum(),
    "fori": lambda x: ag.fori(0, 4, lambda i, c: c - 0.1 * np.sin(c * x[0]), x[1]),
    "cond": lambda x: ag.cond(x[0] > 0, lambda q: q**3 * x[1], lambda q: q * x[0], x[0]),
    "solve_ivp": lambda x: ag.solve_ivp(lambda t, y, p: -p[0] * y + p[1], (0.0, 1.0), [1.0], args=(x,)).y[0, -1],
}
ORDERS = {
    "jvp of grad": lambda f, x: np.stack([ag.jvp(ag.grad(f), (x,), (e,))[1] for e in np.eye(2)]),
    "jacfwd of grad": lambda f, x: ag.jacfwd(ag.grad(f))(x),
    "jacfwd of jacfwd": lambda f, x: ag.jacfwd(ag.jacfwd(f))(x),
    "jvp of jvp": lambda f, x: np.array(
        [[ag.jvp(lambda q, d=d: ag.jvp(f, (q,), (d,))[1], (x,), (e,))[1] for e in np.eye(2)] for d in np.eye(2)]
    ),
    "compiled": lambda f, x: ag.compile(ag.jacfwd(ag.jacfwd(f)))(x),
    "vmap": lambda f, x: ag.vmap(ag.jacfwd(ag.grad(f)))(np.stack([x, x + 0.1]))[0],
}
AT = np.array([0.7, -0.4])


def hessian_of_decay(rate, made):
    """Of what -rate y + made is at 1, from 1."""
    k = np.exp(-rate)
    mixed = (k * (rate + 1) - 1) / rate**2
    return np.array([[k + made * (2 - k * (rate**2 + 2 * rate + 2)) / rate**3, mixed], [mixed, 0.0]])


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_second_derivatives_in_every_order_are_those_of_differences(name, order):
    f, h = FUNCTIONS[name], 1e-4

    def slope(x):
        steps = h * np.eye(2)
        return np.array([(8 * (f(x + e) - f(x - e)) - f(x + 2 * e) + f(x - 2 * e)) / (12 * h) for e in steps])

    if name == "solve_ivp":  # whose tolerance is above what differences bear
        witness, tolerance = hessian_of_decay(*AT), 1e-5
    else:
        steps = 1e-3 * np.eye(2)
        wide = [slope(AT + 2 * e) - slope(AT - 2 * e) for e in steps]
        witness = (8 * np.array([slope(AT + e) - slope(AT - e) for e in steps]) - wide) / 12e-3
        tolerance = 3e-7
    found = ORDERS[order](f, AT)
    np.testing.assert_allclose(found, witness, rtol=0, atol=tolerance * (1 + np.max(np.abs(witness))))


def test_a_tangent_of_a_tangent_of_many_results():
    """Each result is swept back once, whatever the number of directions."""
    x = np.linspace(0.1, 0.9, 9)

    def inverse(x):
        return np.linalg.inv(np.reshape(np.sin(x), (3, 3)) + 3 * np.eye(3))

    found = ag.jacfwd(ag.jacfwd(inverse))(x)
    assert found.shape == (3, 3, 9, 9)
    np.testing.assert_allclose(found, ag.jacrev(ag.jacrev(inverse))(x), rtol=1e-12, atol=1e-13)
