"""Three orders in any nesting: third derivatives of operations that are differentiated by loops of their own up to two orders.

The witness is a difference of order 6 of the Hessian, which is tested against closed forms and gradients elsewhere; mpmath and
closed forms are in test_third_order_exact.
"""

import numpy as np
import pytest

import agrad as ag
from differences import jacobian_by_differences

X, V, W = np.array([0.3, 0.7, 1.1]), np.array([1.0, -0.5, 2.0]), np.array([0.4, 1.5, -0.7])
B = np.array([[5.0, 0.4, -0.3], [0.4, 4.0, 0.2], [-0.3, 0.2, 3.0]])
OUTCOMES, PREDICTORS = np.array([0.0, 1.0, 1.0]), np.array([[0.3, 1.0], [-0.4, 0.2], [1.5, -0.7]])
STAY = np.array([[0.7, 0.3], [0.1, 0.9]])


def spd(x):
    rows = np.stack([x, x * x, np.sin(x)])
    return B + 0.1 * rows.T @ rows


def general(x):
    return spd(x) + np.outer(x, V)


def wide(x):
    return np.concatenate([spd(x), np.outer(np.sin(x), x)[:, :2]], axis=1)


def polar(x):
    w, v = np.linalg.eigh(spd(x))
    return (v * np.exp(0.3 * w)) @ v.T


def vectors(x):
    u, s, vt = np.linalg.svd(wide(x), full_matrices=False)
    return (u * np.log(s)) @ vt


def stepwise(c, t):
    return ag.cond(c > 0.5, lambda: np.sin(c * t), lambda: c * c), c**3


FUNCTIONS = {
    "inv": lambda x: np.sum(np.linalg.inv(general(x)) * B),
    "solve": lambda x: np.sum(np.linalg.solve(general(x), spd(x)) ** 2),
    "solve a vector": lambda x: np.sum(np.linalg.solve(general(x), x**2) ** 2),
    "solve spd": lambda x: np.sum(ag.linalg.solve(spd(x), np.outer(x, x) + general(x), assume_a="pos") ** 3),
    "solve lower": lambda x: np.sum(ag.linalg.solve_triangular(general(x), general(x).T, lower=True) ** 2),
    "solve upper transposed": lambda x: np.sum(ag.linalg.solve_triangular(general(x), x**2, trans=1) ** 2),
    "solve unit": lambda x: np.sum(ag.linalg.solve_triangular(general(x), x**2, lower=True, unit_diagonal=True) ** 3),
    "cho_solve": lambda x: np.sum(ag.linalg.cho_solve(ag.linalg.cho_factor(spd(x), lower=True), x**2) ** 2),
    "cholesky": lambda x: np.sum(np.linalg.cholesky(spd(x)) ** 3),
    "slogdet": lambda x: np.linalg.slogdet(general(x))[1] ** 2,
    "log_determinant": lambda x: ag.linalg.log_determinant(spd(x)) ** 2,
    "det": lambda x: np.linalg.det(general(x)),
    "eigvalsh": lambda x: np.sum(np.linalg.eigvalsh(spd(x)) ** 3 * V),
    "eigh": lambda x: np.sum(polar(x) * B),
    "eigvals": lambda x: np.sum(np.abs(np.linalg.eigvals(general(x))) ** 3),
    "eig": lambda x: np.sum(np.abs(np.linalg.eig(general(x))[1]) ** 2 * B),
    "svdvals": lambda x: np.sum(np.linalg.svd(general(x), compute_uv=False) ** 3 * V),
    "svd": lambda x: np.sum(vectors(x) ** 2),
    "svd of columns": lambda x: np.sum(np.linalg.svd(wide(x).T, full_matrices=False)[0] ** 3),
    "qr": lambda x: np.sum(np.linalg.qr(wide(x).T)[0] ** 3) + np.sum(np.linalg.qr(general(x))[1] ** 3),
    "lstsq": lambda x: np.sum(np.linalg.lstsq(wide(x).T, np.sin(np.arange(5.0)) * x[0], rcond=None)[0] ** 2),
    "pinv": lambda x: np.sum(np.linalg.pinv(wide(x)) ** 2),
    "expm": lambda x: np.sum(ag.linalg.expm(general(x) * 0.1) * B),
    "expm of a large matrix": lambda x: np.sum(ag.linalg.expm(general(x) * 1.5) * B) * 1e-3,
    "products of matrices": lambda x: np.sum(np.matmul(np.stack([spd(x), general(x)]), np.stack([general(x), spd(x)])) ** 2),
    "prod": lambda x: np.prod(np.sin(x)) ** 2,
    "prod along": lambda x: np.sum(np.prod(general(x), axis=0) ** 2),
    "cumprod": lambda x: np.sum(np.cumprod(x) ** 2),
    "cumprod along": lambda x: np.sum(np.cumprod(general(x), axis=0) ** 2),
    "rfft": lambda x: np.sum(np.abs(np.fft.rfft(np.concatenate([x, x**2]))) ** 2 * X[0]) ** 2,
    "fft": lambda x: np.sum(np.real(np.fft.ifft(np.fft.fft(x**2) * np.fft.fft(np.sin(x))) ** 3)),
    "normal": lambda x: ag.normal_lpdf(x, x[0] ** 2, np.exp(x[1])),
    "normal of entries": lambda x: ag.normal_lpdf(x**2, np.sin(x), np.exp(x)),
    "lognormal": lambda x: ag.lognormal_lpdf(x, x[0] ** 2, np.exp(x[1])),
    "gamma": lambda x: ag.gamma_lpdf(x, 1 + x[0] ** 2, np.exp(x[1])),
    "student_t": lambda x: ag.student_t_lpdf(x, 3 + x[2], x[0], np.exp(x[1])),
    "multi_normal": lambda x: ag.multi_normal_lpdf(x**2, np.sin(x), spd(x)),
    "gaussian_dlm": lambda x: ag.gaussian_dlm_obs_lpdf(
        np.outer(x[:2], np.sin(np.arange(4.0))), np.outer(x, x[:2]), general(x) * 0.3, spd(x)[:2, :2], spd(x), x, spd(x)
    ),
    "wishart": lambda x: ag.wishart_lpdf(spd(x), 4 + x[0] ** 2, spd(np.cos(x))),
    "glm": lambda x: ag.bernoulli_logit_glm_lpmf(OUTCOMES, PREDICTORS, x[0], x[1:]),
    "glm of recorded predictors": lambda x: ag.bernoulli_logit_glm_lpmf(OUTCOMES, np.outer(x, x[:2]), x, x[1:] ** 2),
    "scan": lambda x: ag.scan(lambda c, t: (np.sin(c * t) + x[0] * c, c * x[1] * t), x[1], x)[1].sum() ** 2,
    "scan of two paths": lambda x: np.sum(ag.scan(stepwise, x[1], x)[1]),
    "scan of factors": lambda x: np.sum(
        ag.scan(lambda c, t: (np.linalg.cholesky(spd(x) + t * c @ c.T) * 0.5, None), spd(x), x)[0] ** 2
    ),
    "backwards": lambda x: np.sum(ag.scan(lambda c, t: (c * t + x[0], c**2), x[2], x, reverse=True)[1] ** 2),
    "fori": lambda x: np.sum(ag.fori(0, 5, lambda i, c: np.sin(c * x) + 0.1 * i * c * c, x)),
    "cond": lambda x: ag.cond(x[0] > 0, lambda: np.sum(x**3) * x[0], lambda: np.sum(x)),
    "hmm": lambda x: ag.hmm_marginal(np.outer(x[:2], np.sin(np.arange(5.0)) + x[2] ** 2), STAY * np.exp(0 * x[0]), STAY[0]),
    "logsumexp": lambda x: ag.special.logsumexp(x) ** 2,
}


def along_third(f):
    """The derivative of V' H(x) W, of three orders, by a difference."""
    return jacobian_by_differences(lambda x: V @ ag.hessian(f)(x) @ W, X, 2e-3)


def hvp(f):
    return lambda x: ag.hvp(f)(x, V)


WAYS = {
    "grad grad grad": lambda f: ag.grad(lambda x: ag.grad(lambda y: ag.grad(f)(y) @ V)(x) @ W)(X),
    "grad of hessian": lambda f: ag.grad(lambda x: V @ ag.hessian(f)(x) @ W)(X),
    "jacfwd of hessian": lambda f: V @ (W @ ag.jacfwd(ag.hessian(f))(X)),
    "jacrev of hvp": lambda f: W @ ag.jacrev(hvp(f))(X),
    "hessian of a slope": lambda f: ag.hessian(lambda x: ag.grad(f)(x) @ V)(X) @ W,
    "hvp of a tangent": lambda f: ag.hvp(lambda x: ag.jvp(f, (x,), (V,))[1])(X, W),
    "jvp of hvp": lambda f: np.array([W @ ag.jvp(hvp(f), (X,), (e,))[1] for e in np.eye(3)]),
    "jacfwd of jacfwd of grad": lambda f: V @ (W @ ag.jacfwd(ag.jacfwd(ag.grad(f)))(X)),
    "jacfwd thrice": lambda f: V @ (W @ ag.jacfwd(ag.jacfwd(ag.jacfwd(f)))(X)),
    "compiled grad grad grad": lambda f: ag.compile(ag.grad(lambda x: ag.grad(lambda y: ag.grad(f)(y) @ V)(x) @ W))(X),
    "compiled jacfwd of hessian": lambda f: V @ (W @ ag.compile(ag.jacfwd(ag.hessian(f)))(X)),
    "rows of a grad of hvp": lambda f: ag.vmap(ag.grad(lambda x: hvp(f)(x) @ W))(np.stack([1.1 * X, X]))[1],
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_three_orders_in_any_nesting(name):
    f = FUNCTIONS[name]
    expected = along_third(f)
    for way, product in WAYS.items():
        np.testing.assert_allclose(product(f), expected, rtol=2e-7, atol=2e-8 * np.abs(expected).max() + 1e-9, err_msg=way)
