"""Linear algebra of recorded arrays: NumPy's and SciPy's values, derivatives of both orders in all modes."""

import zlib

import numpy as np
import pytest

import agrad as ag
from linalg_arguments import GENERATOR, definite, general, off_zero, symmetric

SIZES = [1, 2, 5, 20]


def of_definite(function):
    """The function of the symmetric part, so that NumPy, which reads one triangle, has the same derivatives."""
    return lambda a, *rest: function(symmetric(a), *rest)


def triangle(**options):
    return lambda a, b: ag.linalg.solve_triangular(a, b, **options)


def spectral(a):
    """A function of eigenvectors that their signs do not change."""
    w, v = np.linalg.eigh(symmetric(a))
    return w, v * v, (v * np.exp(-w)) @ v.T


def singular(a):
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return s, u * u, (u * s**2) @ vh


def invariant_qr(a):
    return tuple(np.linalg.qr(a))


#: name -> (function, arguments at size n)
CASES = {
    "solve a vector": (np.linalg.solve, lambda n: (general(n), GENERATOR.standard_normal(n))),
    "solve columns": (np.linalg.solve, lambda n: (general(n), GENERATOR.standard_normal((n, 3)))),
    "solve pos": (
        of_definite(lambda a, b: ag.linalg.solve(a, b, assume_a="pos")),
        lambda n: (definite(n), GENERATOR.standard_normal((n, 2))),
    ),
    "inv": (np.linalg.inv, lambda n: (general(n),)),
    "det": (np.linalg.det, lambda n: (general(n) / np.sqrt(4 * n),)),
    "slogdet": (lambda a: tuple(np.linalg.slogdet(a)), lambda n: (-general(n),)),
    "log_determinant": (lambda a: ag.linalg.log_determinant(a), lambda n: (-general(n),)),
    "log_determinant spd": (lambda a: ag.linalg.log_determinant(symmetric(a), spd=True), lambda n: (definite(n),)),
    "cholesky": (of_definite(np.linalg.cholesky), lambda n: (definite(n),)),
    "cho_solve": (
        lambda a, b: ag.linalg.cho_solve((np.linalg.cholesky(symmetric(a)), True), b),
        lambda n: (definite(n), GENERATOR.standard_normal(n)),
    ),
    "lower": (triangle(lower=True), lambda n: (general(n), GENERATOR.standard_normal(n))),
    "upper": (triangle(), lambda n: (general(n), GENERATOR.standard_normal((n, 2)))),
    "lower transposed": (triangle(lower=True, trans="T"), lambda n: (general(n), GENERATOR.standard_normal(n))),
    "upper transposed": (triangle(trans=1), lambda n: (general(n), GENERATOR.standard_normal((n, 2)))),
    "unit lower": (
        triangle(lower=True, unit_diagonal=True),
        lambda n: (general(n) / (2 * n), GENERATOR.standard_normal(n)),
    ),
    "unit upper transposed": (
        triangle(trans=1, unit_diagonal=True),
        lambda n: (general(n) / (2 * n), GENERATOR.standard_normal(n)),
    ),
    "unit lower transposed": (
        triangle(lower=True, trans=1, unit_diagonal=True),
        lambda n: (general(n) / (2 * n), GENERATOR.standard_normal(n)),
    ),
    "unit upper": (triangle(unit_diagonal=True), lambda n: (general(n) / (2 * n), GENERATOR.standard_normal(n))),
    "eigh": (spectral, lambda n: (definite(n) + np.diag(np.arange(n)),)),
    "eigvalsh": (of_definite(np.linalg.eigvalsh), lambda n: (definite(n),)),
    "svd": (singular, lambda n: (general(n) + np.diag(3.0 * np.arange(n)),)),
    "svd tall": (singular, lambda n: (general(n + 2, n) + np.eye(n + 2, n) * np.arange(n),)),
    "svd wide": (singular, lambda n: (general(n, n + 2) + np.eye(n, n + 2) * np.arange(n + 2),)),
    "singular values": (lambda a: np.linalg.svd(a, compute_uv=False), lambda n: (general(n, n + 1),)),
    "qr": (invariant_qr, lambda n: (general(n),)),
    "qr tall": (invariant_qr, lambda n: (general(n + 3, n),)),
    "qr wide": (invariant_qr, lambda n: (general(n, n + 3),)),
    "qr mode r": (lambda a: np.linalg.qr(a, mode="r"), lambda n: (general(n + 1, n),)),
    "lstsq a vector": (
        lambda a, b: np.linalg.lstsq(a, b, rcond=None)[:2],
        lambda n: (general(n + 3, n), GENERATOR.standard_normal(n + 3)),
    ),
    "lstsq columns": (
        lambda a, b: np.linalg.lstsq(a, b, rcond=None)[0],
        lambda n: (general(n + 2, n), GENERATOR.standard_normal((n + 2, 2))),
    ),
    "lstsq wide": (
        lambda a, b: np.linalg.lstsq(a, b, rcond=None)[0],
        lambda n: (general(n, n + 2), GENERATOR.standard_normal(n)),
    ),
    "pinv tall": (np.linalg.pinv, lambda n: (general(n + 2, n),)),
    "pinv wide": (np.linalg.pinv, lambda n: (general(n, n + 2),)),
    "expm": (lambda a: ag.linalg.expm(a), lambda n: (GENERATOR.standard_normal((n, n)) / np.sqrt(n),)),
    "matrix_power": (lambda a: np.linalg.matrix_power(a, 5), lambda n: (general(n) / (3 * np.sqrt(n)),)),
    "matrix_power negative": (lambda a: np.linalg.matrix_power(a, -2), lambda n: (general(n),)),
    "multi_dot": (
        lambda a, b, c, d: np.linalg.multi_dot([a, b, c, d]),
        lambda n: tuple(GENERATOR.standard_normal(s) for s in [(n,), (n, 2), (2, n), (n, 3)]),
    ),
    "cond": (np.linalg.cond, lambda n: (general(n + 2, n + 1) + np.eye(n + 2, n + 1) * np.arange(n + 1),)),
    "cond fro": (lambda a: np.linalg.cond(a, "fro"), lambda n: (general(n + 1),)),
    "norm": (np.linalg.norm, lambda n: (general(n),)),
    "norm nuc": (lambda a: np.linalg.norm(a, "nuc"), lambda n: (general(n, n + 1),)),
    "norm 2": (lambda a: np.linalg.norm(a, 2), lambda n: (general(n) + np.diag(np.arange(n)),)),
    "norm -2": (lambda a: np.linalg.norm(a, -2), lambda n: (general(n) + np.diag(np.arange(n)),)),
    # of columns and rows that are far from being of one length
    "norm 1": (lambda a: np.linalg.norm(a, 1), lambda n: (off_zero(general(n)) * 2.0 ** np.arange(n),)),
    "norm -inf": (
        lambda a: np.linalg.norm(a, -np.inf),
        lambda n: (off_zero(general(n)) * 2.0 ** np.arange(n)[:, None],),
    ),
    "norm of lines": (
        lambda a: (np.linalg.norm(a, axis=1, keepdims=True), np.linalg.norm(a, 3, axis=0), np.linalg.norm(a, np.inf, -1)),
        lambda n: (general(n),),
    ),
    "block_diag": (
        lambda a, b: ag.linalg.block_diag(a, b, 2.0),
        lambda n: (general(n, n + 1), GENERATOR.standard_normal(3)),
    ),
    "stack": (
        lambda a, b: (np.linalg.solve(a, b), np.linalg.inv(a), np.linalg.slogdet(a).logabsdet),
        lambda n: (np.stack([general(n), general(n)]), GENERATOR.standard_normal((n, 2))),
    ),
}


@pytest.fixture(params=CASES)
def case(request):
    function, arguments = CASES[request.param]

    def repeatable(n):
        GENERATOR.restart(zlib.crc32(request.param.encode()), n)
        return arguments(n)

    return function, repeatable


@pytest.fixture(params=["plain", "compiled"])
def made(request):
    return ag.compile if request.param == "compiled" else lambda function: function


def flat(result):
    return np.concatenate([np.ravel(each) for each in (result if isinstance(result, tuple) else (result,))])


# ---- values and derivatives ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", SIZES)
def test_values_are_numpys(case, n):
    function, arguments = case
    x = arguments(n)
    expected = flat(function(*x))
    scale = 1 + np.max(np.abs(expected))
    compiled = ag.compile(function)
    for _ in range(2):
        np.testing.assert_allclose(flat(compiled(*x)), expected, rtol=0, atol=1e-11 * scale)
    forward, _ = ag.jvp(function, x, tuple(np.ones_like(each) for each in x))
    np.testing.assert_allclose(flat(forward), expected, rtol=0, atol=1e-11 * scale)


@pytest.mark.parametrize("n", [1, 2, 4])
def test_derivatives_of_both_orders(case, n):
    function, arguments = case
    ag.check_grads(function, *arguments(n), rtol=1e-5, atol=1e-6)


def test_first_derivatives_of_a_larger_matrix(case):
    function, arguments = case
    ag.check_grads(function, *arguments(9), order=1, rtol=1e-5, atol=1e-6)


def test_all_modes_agree(case, made):
    function, arguments = case
    x = arguments(3)
    weights = GENERATOR.standard_normal(flat(function(*x)).size)

    def scalar(first):
        result = function(first, *x[1:])
        parts = result if isinstance(result, tuple) else (result,)
        return weights @ np.concatenate([np.ravel(part) for part in parts])

    v = GENERATOR.standard_normal(x[0].shape)
    value, gradient = made(ag.value_and_grad(scalar))(x[0])
    along, slope = ag.jvp(made(scalar), (x[0],), (v,))
    np.testing.assert_allclose(value, along, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(np.sum(gradient * v), slope, rtol=1e-9, atol=1e-9 * np.sum(np.abs(gradient)))
    hessian = made(ag.hessian(scalar))(x[0]).reshape(v.size, v.size)
    product = made(ag.hvp(scalar))(x[0], v).ravel()
    scale = 1 + np.max(np.abs(hessian))
    np.testing.assert_allclose(hessian @ v.ravel(), product, rtol=0, atol=1e-10 * scale)
    np.testing.assert_allclose(hessian, hessian.T, rtol=0, atol=1e-10 * scale)


@pytest.mark.parametrize("recorded", [0, 1])
def test_either_argument_may_be_constant(recorded, made):
    x = [definite(4), GENERATOR.standard_normal((4, 2))]
    for function in (np.linalg.solve, ag.linalg.solve_triangular, lambda a, b: np.linalg.lstsq(a, b, rcond=None)[0]):

        def of_one(value, function=function):
            return np.sum(function(*[value if n == recorded else each for n, each in enumerate(x)]) ** 2)

        gradient = made(ag.grad(of_one))(x[recorded])
        both = ag.grad(lambda a, b, function=function: np.sum(function(a, b) ** 2), argnums=(0, 1))(*x)
        np.testing.assert_allclose(gradient, both[recorded], rtol=1e-12, atol=1e-13)


def test_matrices_without_entries():
    empty = np.zeros((0, 0))
    f = ag.compile(lambda a: (np.linalg.det(a), np.linalg.slogdet(a).logabsdet, np.linalg.inv(a), np.linalg.cholesky(a)))
    det, logarithm, inverse, factor = f(empty)
    assert (det, logarithm) == (1, 0)
    assert inverse.shape == factor.shape == (0, 0)
    assert ag.grad(lambda a: np.linalg.det(a) + np.sum(np.linalg.eigvalsh(a)))(empty).shape == (0, 0)
    solved = ag.jacobian(lambda b: np.linalg.solve(np.eye(3), b))(np.zeros((3, 0)))
    assert solved.shape == (3, 0, 3, 0)
    stacked = ag.compile(lambda a: np.linalg.inv(a))(np.zeros((0, 3, 3)))
    assert stacked.shape == (0, 3, 3)
