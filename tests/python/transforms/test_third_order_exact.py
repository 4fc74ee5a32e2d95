"""Third and fourth derivatives against closed forms and mpmath, at zeros and equal values; Laplace's approximation."""

import itertools

import mpmath
import numpy as np
import pytest

import agrad as ag
from differences import jacobian_by_differences

A = np.array([[3.0, 0.5, -0.2], [0.1, 2.0, 0.7], [0.4, -0.3, 2.5]])
B = np.array([[0.3, -1.0, 0.5], [0.8, 0.2, -0.4], [1.1, 0.6, -0.7]])
SPD = A @ A.T
INVERSE_B = np.linalg.inv(A) @ B


def derivative(f, order):
    for _ in range(order):
        f = ag.grad(f)
    return f


def by_grads(f, order):
    return derivative(f, order)(0.0)


def by_tangents(f, order):
    for _ in range(order):
        f = along(f)
    return f(0.0)


def along(f):
    return lambda t: ag.jvp(f, (t,), (1.0,))[1]


def compiled(f, order):
    return ag.compile(derivative(f, order))(0.0)


def by_hessian(f, order):
    return ag.hessian(derivative(f, order - 2))(0.0)


@pytest.fixture(params=[by_grads, by_tangents, by_hessian, compiled], ids=lambda way: way.__name__)
def way(request):
    return request.param


@pytest.mark.parametrize("order", [3, 4])
def test_a_matrix_that_moves_along_a_line(way, order):
    sign, factorial = (-1.0) ** (order + 1), {3: 6.0, 4: 24.0}[order]
    power = np.linalg.matrix_power(INVERSE_B, order)
    log_det = sign * factorial / order * np.trace(power)
    inverse = -sign * factorial * power @ np.linalg.inv(A)
    assert way(lambda t: np.linalg.slogdet(A + t * B)[1], order) == pytest.approx(log_det, rel=1e-11)
    assert way(lambda t: ag.linalg.log_determinant(A + t * B), order) == pytest.approx(log_det, rel=1e-11)
    assert way(lambda t: np.sum(B * np.linalg.inv(A + t * B)), order) == pytest.approx(np.sum(B * inverse), rel=1e-11)
    assert way(lambda t: np.sum(np.linalg.solve(A + t * B, B[0])), order) == pytest.approx(np.sum(inverse @ B[0]), rel=1e-11)
    determinant = 6 * np.linalg.det(B) if order == 3 else 0.0
    assert way(lambda t: np.linalg.det(A + t * B), order) == pytest.approx(determinant, rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("order", [3, 4])
def test_an_exponential_along_a_line(way, order):
    expected = np.sum(B * np.linalg.matrix_power(A, order))
    assert way(lambda t: np.sum(B * ag.linalg.expm(t * A)), order) == pytest.approx(expected, rel=1e-11)


def of_two(a, b, c):
    return np.array([[a, b], [b, c]])


def square_of(t):
    return [2.0 + t, 0.7 + 0.5 * t * t, 1.0 - 0.3 * t]


def cholesky_in_mpmath(t):
    a, b, c = square_of(t)
    return mpmath.sqrt(c - b * b / a) + b / mpmath.sqrt(a)


def largest_in_mpmath(t):
    a, b, c = square_of(t)
    return (a + c) / 2 + mpmath.sqrt(((a - c) / 2) ** 2 + b * b)


def angle_in_mpmath(t):
    a, b, c = square_of(t)
    return mpmath.cos(mpmath.atan2(2 * b, a - c) / 2) ** 2


def first_column_in_mpmath(t):
    a, b, _ = square_of(t)
    return mpmath.sqrt(a * a + b * b)


def upper(m):
    return ag.array([[m[0], m[1]], [m[1], m[2]]])


@pytest.mark.thread_unsafe(reason="mpmath's functions change its precision while they run")
@pytest.mark.parametrize(
    ("f", "in_mpmath"),
    [
        (lambda t: np.sum(np.linalg.cholesky(upper(square_of(t)))[1]), cholesky_in_mpmath),
        (lambda t: np.linalg.eigvalsh(upper(square_of(t)))[1], largest_in_mpmath),
        (lambda t: np.linalg.eigh(upper(square_of(t)))[0][1], largest_in_mpmath),
        (lambda t: np.linalg.eigh(upper(square_of(t)))[1][0, 1] ** 2, angle_in_mpmath),
        (lambda t: np.linalg.svd(upper(square_of(t)), compute_uv=False)[0], largest_in_mpmath),
        (lambda t: np.linalg.svd(upper(square_of(t)))[0][0, 0] ** 2, angle_in_mpmath),
        (
            lambda t: np.abs(np.linalg.qr(upper(square_of(t)))[1][0, 0]),
            first_column_in_mpmath,
        ),
    ],
)
@pytest.mark.parametrize("order", [3, 4])
def test_factors_of_two_rows(way, f, in_mpmath, order):
    expected = float(mpmath.diff(in_mpmath, 0, order))
    assert way(f, order) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("zeros", range(5))
@pytest.mark.parametrize("tensor", [lambda f: ag.jacobian(ag.hessian(f)), lambda f: ag.jacfwd(ag.jacfwd(ag.jacfwd(f)))])
def test_products_with_zeros(tensor, zeros):
    x = np.array([2.0, -3.0, 0.5, 1.5])
    x[:zeros] = 0
    expected = np.zeros((4, 4, 4))
    for i, j, k in itertools.permutations(range(4), 3):
        expected[i, j, k] = np.prod(np.delete(x, [i, j, k]))
    np.testing.assert_array_equal(tensor(np.prod)(x), expected)
    np.testing.assert_array_equal(tensor(lambda x: np.cumprod(x)[-1])(x), expected)
    assert not np.any(tensor(lambda x: np.cumprod(x)[1])(x))


def test_products_of_nothing_and_of_one():
    third = lambda f: ag.jacobian(ag.hessian(f))  # noqa: E731
    np.testing.assert_array_equal(third(lambda x: x[0] ** 3 * np.prod(x[:0]))(np.ones(1)), [[[6.0]]])
    np.testing.assert_array_equal(third(lambda x: np.prod(x) ** 3)(np.ones(1)), [[[6.0]]])


def test_densities(way):
    y, mu, sigma = 0.8, 0.3, 1.7
    r = y - mu
    scale = {3: -2 / sigma**3 + 12 * r**2 / sigma**5, 4: 6 / sigma**4 - 60 * r**2 / sigma**6}
    for order, expected in scale.items():
        assert way(lambda t: ag.normal_lpdf(y, mu, sigma + t), order) == pytest.approx(expected, rel=1e-12)
        assert way(lambda t: ag.lognormal_lpdf(np.exp(y), mu, sigma + t), order) == pytest.approx(expected, rel=1e-12)
        assert way(lambda t: ag.normal_lpdf(np.full(3, y), mu, sigma + t), order) == pytest.approx(3 * expected, rel=1e-12)
    assert way(lambda t: t**3 + ag.normal_lpdf(y, mu + t, sigma), 3) == pytest.approx(6.0, rel=1e-14)


def test_a_density_outside_of_its_support_has_no_derivative():
    y = np.array([-1.0, 2.0])
    assert ag.grad(ag.grad(ag.grad(lambda m: ag.lognormal_lpdf(np.abs(y), m, 1.0) * m)))(0.5) == pytest.approx(
        derivative(lambda m: -m * np.sum((np.log(np.abs(y)) - m) ** 2) / 2, 3)(0.5), rel=1e-13
    )


def test_a_generalised_linear_model(way):
    x, y = np.array([[0.5], [-1.2], [2.0]]), np.array([1.0, 0.0, 1.0])
    p = 1 / (1 + np.exp(-x[:, 0] * 0.4))
    expected = -np.sum(p * (1 - p) * (1 - 2 * p) * x[:, 0] ** 3)
    slope = lambda t: ag.bernoulli_logit_glm_lpmf(y, x, 0.0, np.array([0.4]) + t)  # noqa: E731
    assert way(slope, 3) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("order", [3, 4])
def test_loops(way, order):
    falling = np.prod(7.0 - np.arange(order)) * 1.5 ** (7 - order)
    power = lambda t: ag.scan(lambda c, _: (c * (1.5 + t), None), 1.0, None, length=7)[0]  # noqa: E731
    assert way(power, order) == pytest.approx(falling, rel=1e-13)
    assert way(lambda t: ag.fori(0, 7, lambda i, c: c * (1.5 + t), 1.0), order) == pytest.approx(falling, rel=1e-13)
    doubled = lambda t: ag.while_loop(lambda c: c < 40.0, lambda c: c * (1.5 + t) ** 2, 1.5 + t)  # noqa: E731
    eleventh = np.prod(11.0 - np.arange(order)) * 1.5 ** (11 - order)
    assert way(doubled, order) == pytest.approx(eleventh, rel=1e-13)


def marginal_by_paths(log_omega, gamma, rho):
    """The sum over all sequences of states, one product for each."""
    states, steps = log_omega.shape
    total = 0.0
    for path in itertools.product(range(states), repeat=steps):
        weight = rho[path[0]] * np.exp(log_omega[path[0], 0])
        for n in range(1, steps):
            weight = weight * gamma[path[n - 1], path[n]] * np.exp(log_omega[path[n], n])
        total = total + weight
    return np.log(total)


def test_a_hidden_markov_model(way):
    rho, gamma = np.array([0.4, 0.6]), np.array([[0.7, 0.3], [0.0, 1.0]])
    densities = np.array([[0.1, -0.5, 0.3, 0.2], [-1.0, 0.4, 0.6, -0.3]])

    def through(marginal):
        def f(t):
            moved = ag.array([[0.7 + t, 0.3 - t], [t, 1.0 - t]])  # a probability of zero
            return marginal(densities * (1 + t) ** 2, moved, rho)

        return f

    assert gamma[1, 0] == 0
    for order in (3, 4):
        expected = derivative(through(marginal_by_paths), order)(0.0)
        assert way(through(ag.hmm_marginal), order) == pytest.approx(expected, rel=1e-10)


def test_transforms_of_fourier(way):
    x = np.array([0.3, -1.0, 2.0, 0.7, 1.1])
    f = lambda t: np.sum(np.abs(np.fft.fft(x * (1 + t))) ** 2) ** 2  # noqa: E731
    size = (5 * np.sum(x**2)) ** 2
    assert way(f, 3) == pytest.approx(24 * size, rel=1e-12)
    assert way(f, 4) == pytest.approx(24 * size, rel=1e-12)


# ---- values that are equal or close ------------------------------------------------------------------------------------


@pytest.mark.parametrize("gap", [0.0, 1e-6])
@pytest.mark.parametrize("name", ["eigh", "eigvalsh", "svd"])
def test_a_degenerate_spectrum_raises_by_name(name, gap):
    functions = {
        "eigh": lambda a: np.sum(np.linalg.eigh(a)[1][:, 0] ** 3),
        "eigvalsh": lambda a: np.linalg.eigvalsh(a)[0] ** 2,
        "svd": lambda a: np.sum(np.linalg.svd(a)[0][:, 0] ** 3),
    }
    diagonal = np.diag([1.0, 1.0 + gap, 3.0])
    third = derivative(lambda t: functions[name](diagonal + t * (B + B.T)), 3)
    with pytest.raises(ag.LinAlgError, match=f"^({name}|{'eigvalsh'}|singular_values): a is .*degenerate"):
        third(0.0)


def test_a_singular_determinant_raises_by_name():
    singular = np.outer(A[0], B[0])
    with pytest.raises(ag.LinAlgError, match="determinant: a is singular"):
        derivative(lambda t: np.linalg.det(singular + t * A), 3)(0.0)


# ---- Laplace's approximation -------------------------------------------------------------------------------------------

PLACES, SIGNS, LATENT = np.array([0.0, 0.7, 1.5]), np.array([1.0, -1.0, 1.0]), np.array([0.3, -0.2, 0.4])


def posterior(f, variance):
    kernel = variance * np.exp(-0.5 * (PLACES[:, None] - PLACES) ** 2) + 1e-3 * np.eye(3)
    likelihood = np.sum(-np.logaddexp(0, -SIGNS * f))
    return likelihood - 0.5 * f @ np.linalg.solve(kernel, f) - 0.5 * np.linalg.slogdet(kernel)[1]


def approximation(variance):
    curvature = -ag.hessian(posterior)(LATENT, variance)
    return posterior(LATENT, variance) - 0.5 * np.linalg.slogdet(curvature)[1]


def by_hand(variance):
    """The same with the Hessian written out."""
    kernel = variance * np.exp(-0.5 * (PLACES[:, None] - PLACES) ** 2) + 1e-3 * np.eye(3)
    p = 1 / (1 + np.exp(-SIGNS * LATENT))
    return posterior(LATENT, variance) - 0.5 * np.linalg.slogdet(np.diag(p * (1 - p)) + np.linalg.inv(kernel))[1]


def test_laplace_approximation_by_hand():
    slope = jacobian_by_differences(by_hand, 1.3)
    bend = jacobian_by_differences(lambda v: jacobian_by_differences(by_hand, v, 1e-2), 1.3, 1e-2)
    for gradient in (ag.grad(approximation), ag.jacfwd(approximation), ag.compile(ag.grad(approximation))):
        assert gradient(1.3) == pytest.approx(slope, rel=1e-9)
    for second in (ag.hessian(approximation), ag.grad(ag.grad(approximation)), ag.compile(ag.hessian(approximation))):
        assert second(1.3) == pytest.approx(bend, rel=1e-7)
        assert second(1.3) == pytest.approx(ag.hessian(by_hand)(1.3), rel=1e-9)
