"""Sparse Jacobians and Hessians against dense ones, plain and compiled; colours that are known; structures, info, errors."""

import threading

import numpy as np
import pytest
from scipy.optimize import least_squares, rosen, rosen_hess
from scipy.sparse import csr_array
from scipy.sparse.linalg import spsolve

import agrad as ag
import agrad._transforms.sparse

X = np.array([1.2, -0.7, 0.4, 2.0, 0.9, 0.3])


@pytest.fixture(params=["plain", "compiled"])
def made(request):
    """What a transformation is made by: as it is, or compiled."""
    return ag.compile if request.param == "compiled" else lambda transformation: transformation


def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def brusselator(z):
    """Two species on a line of cells, concentrations 1 and 3 at its ends."""
    u, v = z
    left, right = np.array([1.0]), np.array([3.0])
    uu, vv = np.concatenate([left, u, left]), np.concatenate([right, v, right])
    diffusion = 0.02 * (u.size + 1) ** 2
    du = 1 + u**2 * v - 4 * u + diffusion * (uu[:-2] - 2 * u + uu[2:])
    dv = 3 * u - u**2 * v + diffusion * (vv[:-2] - 2 * v + vv[2:])
    return np.stack([du, dv])


def brusselator_2d(z):
    """Two species on a square with periodic boundaries."""
    u, v = z

    def laplacian(w):
        return np.roll(w, 1, 0) + np.roll(w, -1, 0) + np.roll(w, 1, 1) + np.roll(w, -1, 1) - 4 * w

    return np.stack([1 + u**2 * v - 4.4 * u + 0.1 * laplacian(u), 3.4 * u - u**2 * v + 0.1 * laplacian(v)])


def with_branch(x):
    if x[0] > 0:
        return np.sin(x[1:]) * x[:-1]
    return np.cumsum(x[1:] ** 2)


def with_reductions(x):
    parts = np.reshape(x, (2, 3))
    return np.concatenate([np.sum(parts, 0) ** 2, np.prod(parts, 1), [np.max(x) * x[1], np.mean(np.exp(x))]])


def mixture(x):
    mask = np.diag([1.0, 0, 2, 0, 0, 3])
    y = (mask @ np.tanh(x)) * np.where(x > 0.5, x, x**2)
    return y + np.maximum(x, 1.0) * np.array([0.0, 1, 0, 1, 0, 1])


def of_scalars(x):
    return [x[0] * x[1], x[2] / x[3], 7.0, np.hypot(x[4], x[5]), x[0]]


VECTORS = [with_branch, with_reductions, mixture, of_scalars, lambda x: x, np.exp, lambda x: np.zeros(2) + 0 * x[0]]
SCALARS = [
    rosenbrock,
    lambda x: np.sum(np.sin(x)),
    lambda x: np.sum(with_branch(x)),
    lambda x: np.sum(with_reductions(x)),
    lambda x: np.sum(mixture(x)),
    lambda x: np.prod(x) + x[0] ** 3,
    lambda x: ag.normal_lpdf(x[:4], x[1:5], np.exp(x[5])),
    lambda x: np.log(np.sum(np.exp(x[:3]))) + x[3] * x[4],
    lambda x: x[0] + 2 * x[5],
    lambda x: (x[:3] @ x[3:]) ** 2,
]


def check(sparse, dense, rtol=1e-13):
    """The sparse matrix is a csr_array with the dense one's entries, structure in order, no entry twice."""
    assert isinstance(sparse, csr_array)
    assert sparse.dtype == np.float64
    assert sparse.has_canonical_format
    np.testing.assert_allclose(sparse.toarray(), dense, rtol=rtol, atol=1e-14)


@pytest.mark.parametrize("f", VECTORS)
@pytest.mark.parametrize("x", [X, -X])
def test_jacobians_are_those_that_dense_ones_are(made, f, x):
    check(made(ag.jacobian(f, sparse=True))(x), ag.jacobian(f)(x))


@pytest.mark.parametrize("f", SCALARS)
@pytest.mark.parametrize("x", [X, -X])
def test_hessians_are_those_that_dense_ones_are(made, f, x):
    hessian = made(ag.hessian(f, sparse=True))(x)
    check(hessian, ag.hessian(f)(x))
    assert (hessian != hessian.T).nnz == 0  # to the bit


@pytest.mark.parametrize("cells", [32, 128, 512])
def test_jacobian_of_a_brusselator_takes_a_handful_of_colours(made, cells):
    z = 1 + np.random.default_rng(cells).random((2, cells))
    matrix, info = made(ag.jacobian(brusselator, sparse=True, return_info=True))(z)
    assert matrix.shape == (2 * cells, 2 * cells)
    assert matrix.nnz == 8 * cells - 4
    assert 4 <= info.colours <= 6
    if cells < 512:
        check(matrix, ag.jacfwd(brusselator)(z).reshape(matrix.shape))
    direction = np.random.default_rng(1).standard_normal(z.shape)
    np.testing.assert_allclose(matrix @ direction.ravel(), ag.jvp(brusselator, (z,), (direction,))[1].ravel(), rtol=1e-12)


def test_jacobian_on_a_periodic_grid(made):
    z = 1 + np.random.default_rng(5).random((2, 8, 8))
    matrix, info = made(ag.jacobian(brusselator_2d, sparse=True, return_info=True))(z)
    check(matrix, ag.jacobian(brusselator_2d)(z).reshape(128, 128))
    assert matrix.nnz == 128 * 6
    assert info.colours <= 12


@pytest.mark.parametrize("n", [2, 3, 4, 50, 2000])
def test_hessian_of_the_chained_rosenbrock_function_takes_three_colours(made, n):
    x = np.random.default_rng(n).random(n)
    matrix, info = made(ag.hessian(rosenbrock, sparse=True, return_info=True))(x)
    assert info.colours == (2 if n < 4 else 3)
    assert info.mode == "forward over reverse"
    check(matrix, rosen_hess(x))
    assert matrix.nnz == 3 * n - 2


def test_rosenbrock_in_a_python_loop_is_no_different():
    def loop(x):
        total = 0.0
        for i in range(x.size - 1):
            total = total + 100 * (x[i + 1] - x[i] ** 2) ** 2 + (1 - x[i]) ** 2
        return total

    x = np.random.default_rng(3).random(300)
    matrix, info = ag.hessian(loop, sparse=True, return_info=True)(x)
    assert info.colours == 3
    check(matrix, rosen_hess(x))


def test_separable_functions_take_one_colour(made):
    matrix, info = made(ag.hessian(lambda x: np.sum(np.exp(x) * x), sparse=True, return_info=True))(X)
    assert info.colours == 1
    assert matrix.nnz == 6
    matrix, info = made(ag.jacobian(np.sin, sparse=True, return_info=True))(X)
    assert info.colours == 1
    assert matrix.nnz == 6
    np.testing.assert_array_equal(info.groups, np.zeros(6))


def test_a_hierarchical_model_has_an_arrowhead_and_takes_as_many_colours_as_hyperparameters_and_one():
    y = np.random.default_rng(8).standard_normal(40)

    def log_density(p):
        prior = ag.normal_lpdf(p["theta"], p["mu"], np.exp(p["log_tau"]))
        return prior + ag.normal_lpdf(y, p["theta"], 1.0) + ag.normal_lpdf(p["mu"], 0.0, 5.0)

    p = {"log_tau": 0.1, "mu": 0.3, "theta": y / 2}
    matrix, info = ag.hessian(log_density, sparse=True, return_info=True)(p)
    assert info.colours == 3
    assert matrix.nnz == 40 * 5 + 4
    dense = ag.hessian(log_density)(p)
    np.testing.assert_allclose(matrix.toarray()[2:, 2:], dense["theta"]["theta"], rtol=1e-13)
    np.testing.assert_allclose(matrix.toarray()[0, 2:], dense["log_tau"]["theta"], rtol=1e-12)


def test_linear_functions_have_empty_hessians_and_constants_empty_jacobians(made):
    matrix, info = made(ag.hessian(lambda x: np.sum(3 * x[::-1]), sparse=True, return_info=True))(X)
    assert (matrix.nnz, info.colours, matrix.shape) == (0, 0, (6, 6))
    matrix, info = made(ag.jacobian(lambda x: np.floor(x), sparse=True, return_info=True))(X)
    assert (matrix.nnz, info.colours, matrix.shape) == (0, 0, (6, 6))
    np.testing.assert_array_equal(info.groups, np.full(6, -1))


def test_no_inputs_or_outputs_at_all(made):
    assert made(ag.jacobian(lambda x: x, sparse=True))(np.zeros(0)).shape == (0, 0)
    assert made(ag.jacobian(lambda x: x[:0], sparse=True))(X).shape == (0, 6)
    assert made(ag.hessian(lambda x: np.sum(x), sparse=True))(np.zeros(0)).shape == (0, 0)


def test_rows_are_used_where_they_are_cheaper(made):
    def f(x):
        return np.stack([np.sum(x), x[0] * x[1]])

    x = np.linspace(0.1, 2.0, 100)
    matrix, info = made(ag.jacobian(f, sparse=True, return_info=True))(x)
    assert info.mode == "reverse"
    assert info.colours == 2
    np.testing.assert_array_equal(np.sort(info.groups), [0, 1])
    check(matrix, ag.jacobian(f)(x))

    def curve(x):
        return x[0] * np.sin(x[1] * np.arange(50.0))

    matrix, info = made(ag.jacobian(curve, sparse=True, return_info=True))(X)
    assert info.mode == "forward"
    np.testing.assert_array_equal(info.groups, [0, 1, -1, -1, -1, -1])
    check(matrix, ag.jacobian(curve)(X))


def test_a_scalar_is_one_row_and_one_column(made):
    check(made(ag.jacobian(lambda x: x**2, sparse=True))(3.0), [[6.0]])
    check(made(ag.hessian(lambda x: x**3, sparse=True))(2.0), [[12.0]])
    check(made(ag.jacobian(lambda x: np.sum(x**2), sparse=True))(X), [2 * X])


def test_columns_are_the_leaves_one_after_the_other_and_rows_the_output_in_c_order(made):
    def f(p, scale, other):
        return p["a"][:, np.newaxis] * other + scale * p["b"].T

    p = {"a": np.array([1.0, 2.0]), "b": np.arange(4.0).reshape(2, 2)}
    of_p = made(ag.jacobian(f, sparse=True))(p, 3.0, 0.5)
    dense = ag.jacobian(f)(p, 3.0, 0.5)
    check(of_p, np.hstack([dense["a"].reshape(4, 2), dense["b"].reshape(4, 4)]))
    both = made(ag.jacobian(f, argnums=(2, 0), sparse=True))(p, 3.0, 0.5)
    of_other = ag.jacobian(f, argnums=2)(p, 3.0, 0.5)
    check(both, np.hstack([of_other.reshape(4, 1), of_p.toarray()]))


def test_hessian_with_respect_to_some_arguments(made):
    def f(x, data, y):
        return np.sum(data * x**2 * y[0]) + y[1] ** 3

    data, y = np.arange(6.0), np.array([2.0, 0.5])
    check(made(ag.hessian(f, sparse=True))(X, data, y), np.diag(2 * data * y[0]))
    both = made(ag.hessian(f, argnums=(2, 0), sparse=True))(X, data, y)
    dense = ag.hessian(f, argnums=(2, 0))(X, data, y)
    check(both, np.block([[dense[0][0], dense[0][1]], [dense[1][0], dense[1][1]]]))


def test_entries_that_are_zero_here_are_stored(made):
    jacobian = made(ag.jacobian(lambda x: x[1:] * x[:-1], sparse=True))
    at_zero, elsewhere = jacobian(np.zeros(5)), jacobian(np.ones(5))
    assert at_zero.nnz == elsewhere.nnz == 8
    np.testing.assert_array_equal(at_zero.indices, elsewhere.indices)
    np.testing.assert_array_equal(at_zero.indptr, elsewhere.indptr)


def test_a_result_is_the_callers_own():
    jacobian = ag.compile(ag.jacobian(lambda x: x[1:] * x[:-1], sparse=True, return_info=True))
    first, info = jacobian(np.zeros(5))
    first.eliminate_zeros()
    info.pattern.data[:] = False
    info.groups[:] = 7
    again, same = jacobian(np.ones(5))
    check(again, np.eye(4, 5) + np.eye(4, 5, 1))
    assert same.pattern.data.all()
    assert same.colours == 2
    assert set(same.groups) == {0, 1}


def test_info_has_the_pattern_of_the_matrix():
    matrix, info = ag.jacobian(with_reductions, sparse=True, return_info=True)(X)
    assert isinstance(info, ag.Sparsity)
    assert info.pattern.dtype == bool
    np.testing.assert_array_equal(info.pattern.indices, matrix.indices)
    np.testing.assert_array_equal(info.pattern.indptr, matrix.indptr)
    used = {int(c) for c in info.groups if c >= 0}
    assert used == set(range(info.colours))


def test_aux_comes_beside_everything_else():
    (matrix, info), aux = ag.jacobian(lambda x: (x**2, x[0]), has_aux=True, sparse=True, return_info=True)(X)
    check(matrix, np.diag(2 * X))
    assert (info.colours, aux) == (1, 1.2)
    matrix, aux = ag.hessian(lambda x: (np.sum(x**2), "aux"), has_aux=True, sparse=True)(X)
    check(matrix, 2 * np.eye(6))
    assert aux == "aux"


def test_pattern_and_colouring_are_made_once_a_path(monkeypatch):
    made = []

    class Counted(agrad._transforms.sparse.SparseJacobian):
        def __init__(self, *args):
            made.append(args)
            super().__init__(*args)

    monkeypatch.setattr(agrad._transforms.sparse, "SparseJacobian", Counted)
    jacobian = ag.compile(ag.jacobian(with_branch, sparse=True))
    for x in (X, X + 1, -X, -X - 1, X, -X):
        check(jacobian(x), ag.jacobian(with_branch)(x))
    assert len(made) == 2


def test_a_transformation_that_was_compiled_twice_keeps_the_two_apart():
    jacobian = ag.jacobian(lambda x, y: x * y[0], sparse=True)
    first, second = ag.compile(jacobian), ag.compile(jacobian)
    check(first(X, X), np.diag(np.full(6, X[0])))
    check(second(X[:2], X), np.diag(np.full(2, X[0])))
    check(first(X[:3], X), np.diag(np.full(3, X[0])))


def test_threads_share_a_compiled_sparse_jacobian():
    jacobian = ag.compile(ag.jacobian(brusselator, sparse=True))
    points = [1 + np.random.default_rng(k).random((2, 40)) for k in range(8)]
    expected = [ag.jacobian(brusselator, sparse=True)(z).toarray() for z in points]
    wrong = []

    def work(k):
        for _ in range(5):
            if not np.array_equal(jacobian(points[k]).toarray(), expected[k]):
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not wrong


def test_newtons_method_on_a_thousand_unknowns():
    """The Hessian of a chained function, factored sparse."""
    gradient, hessian = ag.compile(ag.grad(rosenbrock)), ag.compile(ag.hessian(rosenbrock, sparse=True))
    x = np.full(1000, 1.1)
    for _ in range(30):
        x = x - spsolve(hessian(x).tocsc(), gradient(x))
    np.testing.assert_allclose(x, 1.0, rtol=1e-10)
    assert rosen(x) < 1e-20


def test_scipy_takes_the_matrix_and_the_pattern():
    def residuals(x):
        return np.concatenate([10 * (x[1:] - x[:-1] ** 2), 1 - x[:-1]])

    start = np.full(20, 0.8)
    jacobian = ag.compile(ag.jacobian(residuals, sparse=True))
    np.testing.assert_allclose(least_squares(residuals, start, jac=jacobian).x, 1.0, rtol=1e-6)
    pattern = ag.jacobian(residuals, sparse=True, return_info=True)(start)[1].pattern
    np.testing.assert_allclose(least_squares(residuals, start, jac_sparsity=pattern).x, 1.0, rtol=1e-6)


# ---- errors --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("transform", [ag.jacobian, ag.hessian])
def test_info_without_sparse_raises(transform):
    message = f"{transform.__name__}: return_info is True, but must be False unless sparse is True"
    with pytest.raises(TypeError, match=message):
        transform(np.sum, return_info=True)


def test_functions_and_parameters_are_checked_as_for_dense_ones():
    with pytest.raises(TypeError, match=r"jacobian: function is 3, but must be callable"):
        ag.jacobian(3, sparse=True)
    with pytest.raises(TypeError, match="floating-point"):
        ag.jacobian(lambda x: x, sparse=True)(3)
    with pytest.raises(ag.ShapeError, match=r"hessian\(.*\): result is of shape \(6,\), but must be a scalar"):
        ag.hessian(lambda x: x, sparse=True)(X)


def test_large_full_matrices_are_refused():
    with pytest.raises(ValueError, match="number of entries is at least 10000000000, but must be at most 268435456"):
        ag.hessian(lambda x: np.sum(x) ** 2, sparse=True)(np.ones(100_000))


def test_solutions_of_differential_equations_go_by_rows_and_have_no_hessian(made):
    def ends(rates):
        y = ag.solve_ivp(lambda t, y, k: -k * y, (0.0, 1.0), [1.0, 2.0], method="BDF", args=(rates[:1],)).y[:, -1]
        return np.concatenate([y, rates**2])

    rates = np.array([0.5, 0.7])
    matrix, info = made(ag.jacobian(ends, sparse=True, return_info=True))(rates)
    assert info.mode == "reverse"
    np.testing.assert_allclose(matrix.toarray(), ag.jacrev(ends)(rates), rtol=1e-12)
    with pytest.raises(NotImplementedError, match="hessian: solve_ivp has first derivatives only"):
        made(ag.hessian(lambda r: np.sum(ends(r)), sparse=True))(rates)
