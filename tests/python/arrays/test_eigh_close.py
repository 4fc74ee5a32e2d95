"""eigh where eigenvalues are nearly equal: exact for functions of the matrix, refused where digits would be lost."""

import numpy as np
import pytest
import scipy.linalg

import agrad as ag

GAPS = [1e-2, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12, 3e-14, 1e-15, 0.0]
Y = np.array([0.7, -0.4, 1.1, 0.3])
FUNCTIONS = {  # of an eigenvalue, and of the matrix
    "resolvent": (lambda w: 1.0 / (w + 0.5), lambda a: np.linalg.inv(a + 0.5 * np.eye(len(a)))),
    "exponential": (np.exp, scipy.linalg.expm),
    "cube": (lambda w: w**3, lambda a: np.linalg.matrix_power(a, 3)),
    "square root": (np.sqrt, lambda a: np.real(scipy.linalg.sqrtm(a))),
}


def matrix(gap, n=4):
    q, _ = np.linalg.qr(np.sin(np.arange(n * n)).reshape(n, n) + 2 * np.eye(n))
    values = np.array([1.0, 1.0 + gap, 2.5, 4.0])[:n]
    a = (q * values) @ q.T
    return (a + a.T) / 2


def spectral(g):
    def f(a):
        w, v = np.linalg.eigh(a)
        return np.sum((v.T @ Y) ** 2 * g(w))

    return f


def exact_gradient(of_matrix, a):
    """The derivative of y' g(A) y by the block matrix: g([[A, E], [0, A]]) has it in its corner (Mathias 1996)."""
    n = len(a)
    gradient = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            e = np.zeros((n, n))
            e[i, j] = e[j, i] = 0.5 if i != j else 1.0
            block = of_matrix(np.block([[a, e], [np.zeros((n, n)), a]]))
            gradient[i, j] = Y @ block[:n, n:] @ Y
    return gradient


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("gap", GAPS)
def test_functions_of_the_matrix_are_exact(gap, name):
    g, of_matrix = FUNCTIONS[name]
    a = matrix(gap)
    expected = exact_gradient(of_matrix, a)
    size = np.max(np.abs(expected))
    for gradient in (
        ag.grad(spectral(g))(a),
        ag.compile(ag.grad(spectral(g)))(a),
        ag.vmap(ag.grad(spectral(g)))(a[None])[0],
        ag.compile(lambda x: ag.grad(spectral(g))(x))(a),
    ):
        np.testing.assert_allclose(gradient, expected, rtol=0, atol=1e-10 * size)


@pytest.mark.parametrize("gap", GAPS)
def test_functions_of_the_choice_are_right_or_refused(gap):
    a = np.diag([1.0, 1.0 + gap, 2.5])

    def f(x):
        v = np.linalg.eigh(x).eigenvectors
        return np.sum(v[:, 0] ** 3 * np.array([1.0, 2.0, 0.5])) + v[1, 0]

    if gap < 4e-8:
        kind = "degenerate" if gap < 1e-14 else "nearly degenerate"
        for transform in (ag.grad, ag.jacfwd, ag.hessian):
            with pytest.raises(ag.DomainError, match=rf"^eigh: a is {kind}, but must be with"):
                transform(f)(a)
        with pytest.raises(ag.DomainError, match=r"^eigh: a is"):
            ag.vmap(ag.grad(f))(a[None])
        return
    gradient = ag.grad(f)(a)
    # v_0 turns towards v_1 by -E_01 / gap, and its sign is that of its first entry
    sign = np.sign(np.linalg.eigh(a).eigenvectors[0, 0])
    assert gradient[0, 1] == pytest.approx(-0.5 * sign / (a[1, 1] - a[0, 0]), rel=1e-7)
    np.testing.assert_allclose(ag.jacfwd(f)(a), gradient, rtol=1e-7, atol=1e-7 * np.max(np.abs(gradient)))


@pytest.mark.parametrize("gap", GAPS)
def test_second_derivatives_are_right_or_refused(gap):
    a = matrix(gap, 3)
    y = Y[:3]

    def f(x):
        w, v = np.linalg.eigh(x)
        return np.sum((v.T @ y) ** 2 / (w + 0.5))

    direction = np.array([[0.3, -0.2, 0.5], [-0.2, 0.1, 0.7], [0.5, 0.7, -0.4]])
    r = np.linalg.inv(a + 0.5 * np.eye(3))
    half = np.outer(r @ direction @ r @ y, r @ y)
    expected = half + half.T
    if gap >= 1e-4:
        np.testing.assert_allclose(ag.hvp(f)(a, direction), expected, rtol=0, atol=1e-6 * np.max(np.abs(expected)))
    elif gap < 2e-6:
        with pytest.raises(ag.DomainError, match=r"^eigh: a is .*" + ("solve" if gap > 1e-14 else "degenerate")):
            ag.hvp(f)(a, direction)


def test_projections_do_not_depend_on_the_choice_within():
    for gap in GAPS:
        a = matrix(gap)

        def f(x):
            v = np.linalg.eigh(x).eigenvectors[:, :2]
            return np.sum((v.T @ Y) ** 2)

        w, v = np.linalg.eigh(a)
        c = v.T @ Y
        inner = np.zeros((4, 4))
        inner[:2, 2:] = c[:2, None] * c[None, 2:] / (w[:2, None] - w[None, 2:])
        expected = v @ (inner + inner.T) @ v.T
        np.testing.assert_allclose(ag.grad(f)(a), expected, atol=1e-13)


def test_svd_of_nearly_equal_values():
    u, _ = np.linalg.qr(np.cos(np.arange(9.0)).reshape(3, 3) + np.eye(3))
    for gap in GAPS:
        a = (u * [2.5, 1.0 + gap, 1.0]) @ u[::-1]

        def f(x):
            left, s, right = np.linalg.svd(x)
            return np.sum(((left * s**3) @ right) * np.sin(np.arange(9.0)).reshape(3, 3))  # x x' x

        c = np.sin(np.arange(9.0)).reshape(3, 3)
        expected = c @ a.T @ a + a @ c.T @ a + a @ a.T @ c
        np.testing.assert_allclose(ag.grad(f)(a), expected, atol=1e-9)
