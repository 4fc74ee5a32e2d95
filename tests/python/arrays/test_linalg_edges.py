"""Linear algebra where it is hard: closed forms, singular and failing matrices, NumPy's conventions, what is refused."""

import threading

import mpmath
import numpy as np
import pytest
import scipy.linalg

import agrad as ag
from linalg_arguments import GENERATOR, definite, general, symmetric


@pytest.fixture(params=["plain", "compiled"])
def made(request):
    return ag.compile if request.param == "compiled" else lambda function: function


# ---- closed forms and hard arguments ---------------------------------------------------------------------------------


@pytest.mark.thread_unsafe(reason="mpmath's precision belongs to the process")
def test_gradients_of_an_ill_conditioned_matrix_are_as_accurate_as_its_condition_allows():
    n = 8
    hilbert = scipy.linalg.hilbert(n)
    with mpmath.workdps(60):
        inverse = np.array((mpmath.matrix(hilbert.tolist()) ** -1).tolist(), dtype=float)
    allowed = 1e-15 * np.linalg.cond(hilbert) * np.max(np.abs(inverse))
    for function in (
        lambda a: np.linalg.slogdet(a).logabsdet,
        lambda a: ag.linalg.log_determinant(a, spd=True),
        lambda a: 2 * np.sum(np.log(np.diagonal(np.linalg.cholesky(a)))),
    ):
        assert np.max(np.abs(ag.grad(function)(hilbert) - inverse)) < allowed


def test_adjoint_of_cholesky_by_blocks_is_that_of_its_closed_form():
    for n in (23, 24, 25, 60, 111):
        a, weights = definite(n), GENERATOR.standard_normal((n, n))
        gradient = ag.grad(lambda x, w=weights: np.sum(w * np.linalg.cholesky(x)))(a)
        factor = np.linalg.cholesky(a)
        p = np.tril(factor.T @ np.tril(weights))
        p = p + np.tril(p, -1).T
        half = scipy.linalg.solve_triangular(factor, p, trans=1, lower=True)
        expected = scipy.linalg.solve_triangular(factor, half.T, trans=1, lower=True) / 2
        np.testing.assert_allclose(gradient, expected, rtol=0, atol=1e-13 * np.max(np.abs(expected)) * n)
        np.testing.assert_array_equal(gradient, gradient.T)


def test_functions_of_equal_eigenvalues():
    a = np.diag([1.0, 1.0, 3.0])

    def power(x):
        w, v = np.linalg.eigh(x)
        return np.sum((v * w**3) @ v.T)

    expected = ag.grad(lambda x: np.sum(np.linalg.matrix_power(symmetric(x), 3)))(a)
    np.testing.assert_allclose(ag.grad(power)(a), expected, rtol=1e-12)
    with pytest.raises(ag.DomainError, match=r"^eigh: a is degenerate, but must be with distinct values"):
        ag.grad(lambda x: np.linalg.eigh(x).eigenvectors[0, 1])(a)


def test_determinant_of_a_singular_matrix_has_a_gradient():
    a = np.array([[1.0, 2.0], [2.0, 4.0]])
    np.testing.assert_allclose(ag.grad(np.linalg.det)(a), [[4, -2], [-2, 1]], atol=1e-12)


def test_slogdet_of_a_singular_matrix_is_numpys_and_has_no_gradient():
    a = np.ones((2, 2))
    assert tuple(ag.compile(lambda x: tuple(np.linalg.slogdet(x)))(a)) == (0, -np.inf)
    with pytest.raises(ag.DomainError, match=r"^slogdet: a is singular, but must be invertible, to have derivatives"):
        ag.grad(lambda x: np.linalg.slogdet(x)[1])(a)


def test_norm_of_zero_has_a_zero_gradient():
    for order in (None, 2, 3):
        np.testing.assert_array_equal(ag.grad(lambda x, p=order: np.linalg.norm(x, p))(np.zeros(3)), np.zeros(3))
    assert np.isnan(ag.compile(np.linalg.norm)(np.array([1.0, np.nan])))


def test_signs_of_qr_are_numpys():
    a = np.array([[-1.0, 2.0], [3.0, 4.0], [0.5, -6.0]])
    for x in (a, a.T, a[:2], -a[:2]):
        q, r = ag.compile(lambda y: tuple(np.linalg.qr(y)))(x)
        np.testing.assert_allclose(q, np.linalg.qr(x).Q, atol=1e-15)
        np.testing.assert_allclose(r, np.linalg.qr(x).R, atol=1e-14)


def test_what_one_run_keeps_is_not_another_runs():
    f = ag.compile(ag.value_and_grad(lambda a, b: np.sum(np.linalg.solve(a, b) ** 2) + np.linalg.det(a)))
    pairs = [(general(6), GENERATOR.standard_normal(6)) for _ in range(20)]
    expected = [f(*pair) for pair in pairs]
    found = [None] * len(pairs)

    def work(first):
        for n in range(first, len(pairs), 4):
            found[n] = f(*pairs[n])

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for (value, gradient), (wanted, slope) in zip(found, expected, strict=True):
        assert value == wanted
        np.testing.assert_array_equal(gradient, slope)


def test_one_of_several_results_may_be_unused(made):
    a = definite(4)
    vectors = made(ag.grad(lambda x: np.sum(np.linalg.eigh(x).eigenvectors[:, 0] ** 4)))(a)
    values = made(ag.grad(lambda x: np.linalg.eigh(x).eigenvalues[0]))(a)
    v = np.linalg.eigh(a).eigenvectors[:, 0]
    np.testing.assert_allclose(values, np.outer(v, v), atol=1e-12)
    assert abs(np.sum(vectors * a)) < 1e-12  # scaling a matrix does not change its vectors


def test_the_hessian_of_a_log_determinant_is_made_of_inverses():
    a = definite(3)
    hessian = ag.hessian(lambda x: np.linalg.slogdet(x).logabsdet)(a)
    inverse = np.linalg.inv(a)
    expected = -np.einsum("li,jk->ijkl", inverse, inverse)
    np.testing.assert_allclose(hessian, expected, atol=1e-11)


# ---- results as NumPy gives them -------------------------------------------------------------------------------------


def test_results_are_named_as_numpys():
    a = definite(3)

    def look(x):
        names = [type(f(x)).__name__ for f in (np.linalg.eigh, np.linalg.svd, np.linalg.qr, np.linalg.slogdet)]
        assert names == ["EighResult", "SVDResult", "QRResult", "SlogdetResult"]
        return np.linalg.eigh(x).eigenvalues @ np.linalg.svd(x).S + np.linalg.qr(x).R[0, 0] + np.linalg.slogdet(x).sign

    ag.grad(look)(a)


def test_stacks_and_right_hand_sides_broadcast_as_numpys():
    a, vector = np.stack([general(3) for _ in range(4)]).reshape(2, 2, 3, 3), np.arange(3.0)
    columns = GENERATOR.standard_normal((2, 1, 3, 5))
    for b in (vector, columns, columns[0, 0]):
        np.testing.assert_allclose(ag.compile(np.linalg.solve)(a, b), np.linalg.solve(a, b), rtol=1e-12)
    for function in (
        np.linalg.inv,
        np.linalg.det,
        np.linalg.pinv,
        np.linalg.cond,
        lambda x: np.linalg.norm(x, "nuc", axis=(-2, -1), keepdims=True),
        lambda x: np.linalg.norm(x, 1, axis=(0, 2)),
        lambda x: np.linalg.matrix_power(x, 0),
        lambda x: np.linalg.cholesky(x @ np.swapaxes(x, -1, -2)),
    ):
        np.testing.assert_allclose(ag.compile(function)(a), function(a), rtol=1e-10, atol=1e-12)


def test_names_of_numpy_2():
    a = general(3)
    for name, options in {
        "svdvals": {},
        "vector_norm": {"ord": 3},
        "matrix_norm": {"ord": "nuc"},
        "matrix_transpose": {},
        "diagonal": {"offset": 1},
        "trace": {},
    }.items():
        if function := getattr(np.linalg, name, None):
            expected = function(a, **options)
            np.testing.assert_allclose(ag.compile(lambda x, f=function, o=options: f(x, **o))(a), expected, rtol=1e-12)


def test_lstsq_has_numpys_four_results():
    a, b = general(5, 2), GENERATOR.standard_normal((5, 2))
    x, residuals, rank, s = ag.compile(lambda u, v: np.linalg.lstsq(u, v, rcond=None))(a, b)
    for found, expected in zip((x, residuals, rank, s), np.linalg.lstsq(a, b, rcond=None), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_plain_arrays_are_scipys():
    a, b = definite(3), np.arange(3.0)
    np.testing.assert_array_equal(ag.linalg.expm(a), scipy.linalg.expm(a))
    np.testing.assert_array_equal(
        ag.linalg.cho_solve(ag.linalg.cho_factor(a), b), scipy.linalg.cho_solve(scipy.linalg.cho_factor(a), b)
    )
    np.testing.assert_array_equal(ag.linalg.block_diag(a, b), scipy.linalg.block_diag(a, b))
    np.testing.assert_allclose(ag.linalg.log_determinant(-a), np.linalg.slogdet(a)[1], rtol=1e-13)
    assert isinstance(ag.linalg.log_determinant(a, spd=True), float)
    np.testing.assert_allclose(ag.linalg.solve(a, b, assume_a="pos"), np.linalg.solve(a, b), rtol=1e-12)


def test_plain_and_recorded_solutions_have_the_symmetric_part():
    skewed = definite(3) + np.triu([[0.0, 0.4, -0.2], [0.0, 0.0, 0.3], [0.0, 0.0, 0.0]])
    b, stack = np.arange(3.0), np.stack([skewed, 2 * skewed.T])
    for a in (skewed, stack, skewed.tolist(), skewed + 0.1j * skewed):
        matrix = np.asarray(a)
        part = (matrix + np.conj(np.swapaxes(matrix, -1, -2))) / 2
        expected = np.linalg.solve(part, b[:, np.newaxis])
        np.testing.assert_allclose(ag.linalg.solve(a, b[:, np.newaxis], assume_a="pos"), expected, rtol=1e-12)
    with pytest.raises(ValueError, match="square"):
        ag.linalg.solve(np.ones((2, 3)), np.ones(2), assume_a="pos")
    by_recording = ag.compile(lambda a: ag.linalg.solve(a, b, assume_a="pos"))(skewed)
    np.testing.assert_allclose(ag.linalg.solve(skewed, b, assume_a="pos"), by_recording, rtol=1e-12)


# ---- what is refused -------------------------------------------------------------------------------------------------

SINGULAR = np.array([[1.0, 2.0], [2.0, 4.0]])
REFUSED = [
    (
        lambda a: np.linalg.inv(a),
        np.ones((2, 3)),
        ag.ShapeError,
        r"np.linalg.inv: a is of shape \(2, 3\), but must be of square",
    ),
    (lambda a: np.linalg.det(a), np.ones(3), ag.ShapeError, r"np.linalg.det: a is of shape \(3,\), but must be a matrix"),
    (
        lambda a: np.linalg.solve(a, np.ones(3)),
        np.eye(2),
        ag.ShapeError,
        r"np.linalg.solve: b is of shape \(3,\), but must be a vector or matrices with 2 rows",
    ),
    (lambda a: ag.linalg.expm(a), np.ones((1, 2)), ag.ShapeError, r"expm: a is of shape \(1, 2\)"),
    (
        lambda a: np.linalg.inv(a),
        SINGULAR,
        ag.DomainError,
        "^inv: a is singular, but must be invertible; the pivot of row 1 is 0",
    ),
    (lambda a: np.linalg.solve(a, a), SINGULAR, ag.DomainError, "^solve: a is singular"),
    (
        lambda a: np.linalg.cholesky(a),
        np.array([[4.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, -1.0]]),
        ag.DomainError,
        "^cholesky: a is not positive definite, but must be positive definite; the pivot of row 2 is -1",
    ),
    (lambda a: np.linalg.cholesky(a), np.full((2, 2), np.nan), ag.DomainError, "^cholesky: a is not positive definite"),
    (lambda a: np.linalg.eigh(a), np.full((2, 2), np.inf), ag.DomainError, "^eigh: a is not finite"),
    (lambda a: np.linalg.svd(a), np.full((2, 2), np.nan), ag.DomainError, "^svd: a is not finite"),
    (lambda a: ag.linalg.expm(a), np.array([[0.0, np.nan], [0.0, 0.0]]), ag.DomainError, "^expm: a.2. is nan"),
    (lambda a: ag.linalg.solve_triangular(a, a), np.zeros((1, 1)), ag.DomainError, "^solve_triangular: a is singular"),
    (lambda a: ag.linalg.solve_triangular(a, a, trans=3), np.eye(1), ValueError, "solve_triangular: trans is 3"),
    (lambda a: np.linalg.svd(a), np.ones((2, 3)), TypeError, "np.linalg.svd: full_matrices is True, but must be False"),
    (lambda a: np.linalg.qr(a, "raw"), np.eye(2), TypeError, "np.linalg.qr: mode is 'raw'"),
    (lambda a: np.linalg.norm(a, 0), np.ones(3), TypeError, "np.linalg.norm: ord is 0"),
    (lambda a: np.linalg.matrix_rank(a), np.eye(2), TypeError, "np.matrix_rank|np.linalg.matrix_rank"),
]


@pytest.mark.parametrize(("function", "x", "error", "message"), REFUSED)
def test_refused(function, x, error, message):
    with pytest.raises(error, match=message):
        ag.compile(function)(x)


def test_a_compiled_function_names_the_pivot_of_a_later_call():
    f = ag.compile(ag.grad(lambda a: np.sum(np.linalg.cholesky(a))))
    f(np.eye(3))
    with pytest.raises(ag.DomainError, match=r"the pivot of row 1 is -2"):
        f(np.diag([1.0, -2.0, 1.0]))
    np.testing.assert_allclose(f(np.eye(3)), f(np.eye(3)))


@pytest.mark.parametrize("lower", [True, False])
def test_cho_solve_of_a_stack_of_factors_and_one_vector(lower):
    a = np.stack([definite(3), 2.0 * definite(3)])
    b = np.array([1.0, -2.0, 0.5])
    expected = np.stack([np.linalg.solve(each, b) for each in a])

    def f(x, y):
        return ag.linalg.cho_solve(ag.linalg.cho_factor(x, lower), y)

    np.testing.assert_allclose(ag.compile(f)(a, b), expected, rtol=1e-12)
    weights = np.cos(np.arange(6.0)).reshape(2, 3)
    gradient = ag.grad(lambda y: np.sum(weights * f(a * (1.0 + 0.0 * y[0]), y)))(b)
    np.testing.assert_allclose(gradient, sum(np.linalg.solve(x, w) for x, w in zip(a, weights, strict=True)), rtol=1e-12)
    many = np.stack([b, 2 * b], axis=-1)
    np.testing.assert_allclose(ag.compile(f)(a, many), np.linalg.solve(a, np.broadcast_to(many, (2, 3, 2))), rtol=1e-12)


EXPONENTS = {
    "a large entry of a triangular matrix": [[1.0, 1e8], [0.0, -1.0]],
    "entries of very different sizes": [[1.0, 1e12], [1e-12, 2.0]],
    "a larger entry below": [[-1.0, 0.0], [1e15, -2.0]],
    "a nilpotent matrix": [[0.0, 1e8], [0.0, 0.0]],
    "rates of compartments": [[-1e3, 1e-3, 0.0], [1e3, -1.0, 1e-5], [0.0, 1.0, -1e-5]],
}


@pytest.mark.thread_unsafe(reason="mpmath has one precision for all threads")
@pytest.mark.parametrize("name", EXPONENTS)
def test_exponential_keeps_digits_of_small_entries(name):
    a = np.array(EXPONENTS[name])
    with mpmath.workdps(60):
        squarings = 60
        taylor = mpmath.expm(mpmath.matrix(a.tolist()) / mpmath.mpf(2) ** squarings, method="taylor")
        for _ in range(squarings):
            taylor = taylor * taylor
        expected = np.array(taylor.tolist(), float)
    np.testing.assert_allclose(ag.compile(ag.linalg.expm)(a), expected, rtol=1e-12, atol=1e-25)
    np.testing.assert_allclose(ag.vjp(ag.linalg.expm, a)[0], expected, rtol=1e-12, atol=1e-25)


def test_derivatives_of_an_exponential_with_a_large_entry():
    """The upper right entry of exp([[p, b], [0, q]]) is b (exp(p) - exp(q)) / (p - q)."""

    def entry(x):
        return ag.linalg.expm(ag.array([[x[0], x[1]], [0.0, x[2]]]))[0, 1]

    p, b, q = 1.0, 1e8, -1.0
    difference = (np.exp(p) - np.exp(q)) / (p - q)
    expected = [b * (np.exp(p) - difference) / (p - q), difference, b * (difference - np.exp(q)) / (p - q)]
    np.testing.assert_allclose(ag.grad(entry)(np.array([p, b, q])), expected, rtol=1e-13)
    np.testing.assert_allclose(ag.jacfwd(entry)(np.array([p, b, q])), expected, rtol=1e-13)


@pytest.mark.parametrize("order", [None, 1, 2, -1, -2, np.inf, -np.inf, "fro", "nuc"])
@pytest.mark.parametrize("shape", [(0,), (0, 0), (0, 3), (2, 0), (3, 0, 2)])
def test_norms_and_condition_numbers_of_empty_arrays(shape, order):
    """As NumPy answers, with NumPy's errors."""
    x = np.zeros(shape)
    for function in (np.linalg.norm, np.linalg.cond):
        try:
            with np.errstate(divide="ignore"):
                expected = function(x, order)
        except (ValueError, np.linalg.LinAlgError) as error:
            with pytest.raises(type(error)):
                ag.compile(lambda z, f=function: f(z, order))(x)
        else:
            np.testing.assert_array_equal(ag.compile(lambda z, f=function: f(z, order))(x), expected)
