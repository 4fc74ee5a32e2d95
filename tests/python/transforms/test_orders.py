"""Two orders in any order: derivatives of derivatives of operations that are differentiated by their own loops."""

import numpy as np
import pytest

import agrad as ag
from differences import jacobian_by_differences

X, V = np.array([0.3, 0.7, 1.1]), np.array([1.0, -0.5, 2.0])
B = np.array([[5.0, 0.4, -0.3], [0.4, 4.0, 0.2], [-0.3, 0.2, 3.0]])
OUTCOMES, PREDICTORS = np.array([0.0, 1.0, 1.0]), np.array([[0.3, 1.0], [-0.4, 0.2], [1.5, -0.7]])
GRID, HEIGHTS = np.array([0.0, 0.5, 1.0, 2.0]), np.array([0.0, 1.0, 4.0, 9.0])


def spd(x):
    rows = np.stack([x, x * x, np.sin(x)])
    return B + 0.1 * rows.T @ rows


FUNCTIONS = {
    "inv": lambda x: np.sum(np.linalg.inv(spd(x)) * B),
    "solve": lambda x: np.sum(np.linalg.solve(spd(x) + np.outer(x, V), spd(x)) ** 2),
    "cholesky": lambda x: np.sum(np.linalg.cholesky(spd(x)) ** 3),
    "slogdet": lambda x: np.linalg.slogdet(spd(x) + np.outer(x, V))[1] ** 2,
    "det": lambda x: np.linalg.det(spd(x)),
    "eigvalsh": lambda x: np.sum(np.linalg.eigvalsh(spd(x)) ** 3),
    "svd": lambda x: np.sum(np.linalg.svd(spd(x))[1] ** 3),
    "expm": lambda x: np.sum(ag.linalg.expm(spd(x) * 0.1) * B),
    "prod": lambda x: np.prod(x) ** 2,
    "cumprod": lambda x: np.sum(np.cumprod(x) ** 2),
    "interp": lambda x: np.sum(np.interp(x, GRID, HEIGHTS) ** 2),
    "interp of recorded heights": lambda x: np.sum(np.interp(x, GRID, np.concatenate([x, x[:1]]) ** 2) ** 2),
    "density": lambda x: ag.normal_lpdf(x, x[0] ** 2, np.exp(x[1])),
    "glm": lambda x: ag.bernoulli_logit_glm_lpmf(OUTCOMES, PREDICTORS, x[0], x[1:]),
    "scan": lambda x: ag.scan(lambda c, t: (np.sin(c * t) + x[0] * c, None), x[1], x)[0],
    "fori": lambda x: np.sum(ag.fori(0, 5, lambda i, c: np.sin(c * x) + 0.1 * i * c * c, x)),
    "cond": lambda x: ag.cond(x[0] > 0, lambda: np.sum(x**3) * x[0], lambda: np.sum(x)),
    "logsumexp": lambda x: ag.special.logsumexp(x) ** 2,
    "solution": lambda x: np.sum(
        ag.solve_ivp(lambda t, y: -x[0] * y * y, (0.0, 1.0), x, "Tsit5", rtol=1e-10, atol=1e-12).y[:, -1]
    ),
}
WAYS = {
    "jvp of grad": lambda f: ag.jvp(ag.grad(f), (X,), (V,))[1],
    "jacfwd of grad": lambda f: ag.jacfwd(ag.grad(f))(X) @ V,
    "jacfwd of jacfwd": lambda f: ag.jacfwd(ag.jacfwd(f))(X) @ V,
    "jvp of jvp": lambda f: np.array([ag.jvp(lambda x, e=e: ag.jvp(f, (x,), (e,))[1], (X,), (V,))[1] for e in np.eye(3)]),
    "jacrev of grad": lambda f: ag.jacrev(ag.grad(f))(X) @ V,
    "compiled jacfwd of grad": lambda f: ag.compile(ag.jacfwd(ag.grad(f)))(X) @ V,
    "compiled jacfwd of jacfwd": lambda f: ag.compile(ag.jacfwd(ag.jacfwd(f)))(X) @ V,
    "rows of jacfwd of grad": lambda f: ag.vmap(ag.jacfwd(ag.grad(f)))(np.stack([2 * X, X]))[1] @ V,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_two_orders_in_any_order(name):
    f = FUNCTIONS[name]
    expected = jacobian_by_differences(ag.grad(f), X, 1e-3) @ V
    for way, product in WAYS.items():
        np.testing.assert_allclose(product(f), expected, rtol=2e-6, atol=1e-7, err_msg=way)


def test_a_third_order_says_what_is_missing():
    message = "third derivatives of solve_ivp are not available; take differences of its second derivatives"
    with pytest.raises(NotImplementedError, match=message):
        ag.jacfwd(ag.jacfwd(ag.jacfwd(FUNCTIONS["solution"])))(X)
    with pytest.raises(NotImplementedError, match=message):
        ag.compile(ag.hessian(lambda x: ag.grad(FUNCTIONS["solution"])(x)[0]))(X)
    with pytest.raises(NotImplementedError, match=r"^solve_ivp: third derivatives are not available, but are taken here"):
        ag.grad(lambda x: ag.grad(lambda y: ag.grad(FUNCTIONS["solution"])(y)[0])(x)[0])(X)
