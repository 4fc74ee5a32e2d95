"""``np.linalg.eig`` and ``eigvals`` of general matrices: NumPy's values, closed forms, mpmath's derivatives, and refusals."""

from __future__ import annotations

import pickle

import mpmath
import numpy as np
import pytest

import agrad as ag

pytestmark = pytest.mark.thread_unsafe(reason="mpmath's precision belongs to the process")

RNG = np.random.default_rng(11)
REAL_VALUES = np.array([[2.0, 0.4, -0.3], [0.1, -1.0, 0.7], [0.5, 0.2, 0.6]])
PAIR = np.array([[0.3, -1.2, 2.5], [1.1, 0.4, -0.7], [-2.0, 0.9, 1.6]])
FOUR = RNG.normal(size=(4, 4))
MATRICES = {"real values": REAL_VALUES, "a pair": PAIR, "4 x 4": FOUR, "2 x 2": np.array([[0.4, -2.0], [1.5, 0.9]])}
COMPLEX = RNG.normal(size=(2, 3, 3))


def complex_of(p):
    return p if p.ndim == 2 else p[0] + 1j * p[1]


def in_order(w):
    """Values sorted by real parts, then imaginary parts, by plain numbers."""
    return sorted(range(len(w)), key=lambda j: (round(float(mpmath.re(w[j])), 8), float(mpmath.im(w[j]))))


def weights(n):
    return np.cos(1.3 * np.arange(n) + 0.4), np.sin(2.1 * np.arange(n) + 0.2)


def loss_of(order, n):
    """A sum over all values and vectors, in an order of the values; the phase of vectors counts."""
    a, b = weights(n + n * n)

    def loss(p):
        w, v = np.linalg.eig(complex_of(p))
        re, im = (np.concatenate([x[order], np.ravel(y[:, order])]) for x, y in ((w.real, v.real), (w.imag, v.imag)))
        return np.sum(a * re) + np.sum(b * im)

    return loss


def exact_loss(entries, shape):
    """The same by mpmath."""
    n = shape[-1]
    entries = list(entries)
    re, im = entries[: n * n], entries[n * n :] or [mpmath.mpf(0)] * (n * n)
    w, v = mpmath.eig(mpmath.matrix([[mpmath.mpc(re[n * i + j], im[n * i + j]) for j in range(n)] for i in range(n)]))
    order = in_order(w)
    a, b = weights(n + n * n)
    columns = []
    for j in order:
        column = [v[i, j] for i in range(n)]
        sizes = [float(abs(x)) for x in column]
        largest = next(x for x, size in zip(column, sizes, strict=True) if size >= (1 - 1e-8) * max(sizes))
        norm = mpmath.sqrt(mpmath.fsum(abs(x) ** 2 for x in column))
        columns.append([x * mpmath.conj(largest) / abs(largest) / norm for x in column])
    numbers = [w[j] for j in order] + [columns[j][i] for i in range(n) for j in range(n)]
    return mpmath.fsum(
        mpmath.mpf(float(c)) * x.real + mpmath.mpf(float(d)) * x.imag for c, d, x in zip(a, b, numbers, strict=True)
    )


def exact_derivatives(p, v):
    """Value, derivative along v, second derivative along v, by differences with 60 digits."""
    with mpmath.workdps(60):
        h = mpmath.mpf(10) ** -14
        y = [exact_loss([mpmath.mpf(x) + k * h * mpmath.mpf(d) for x, d in zip(p.ravel(), v.ravel(), strict=True)], p.shape)
             for k in (-2, -1, 0, 1, 2)]  # fmt: skip
        first = (8 * (y[3] - y[1]) - (y[4] - y[0])) / (12 * h)
        second = (16 * (y[3] + y[1]) - (y[4] + y[0]) - 30 * y[2]) / (12 * h * h)
        return float(y[2]), float(first), float(second)


@pytest.mark.parametrize("name", [*MATRICES, "complex"])
def test_derivatives_of_both_orders(name):
    p = MATRICES.get(name, COMPLEX)
    values = ag.compile(lambda p: ag.array([(w := np.linalg.eigvals(complex_of(p))).real, w.imag]))(p)
    order = in_order(values[0] + 1j * values[1])
    loss = loss_of(order, p.shape[-1])
    for v in np.random.default_rng(3).normal(size=(3, *p.shape)):
        value, first, second = exact_derivatives(p, v)
        np.testing.assert_allclose(loss_value := ag.compile(loss)(p), value, rtol=1e-14, atol=2e-14)
        bounds = {"rtol": 1e-13, "atol": 1e-13 * (1 + abs(loss_value))}
        np.testing.assert_allclose(np.sum(ag.grad(loss)(p) * v), first, **bounds)
        np.testing.assert_allclose(ag.jvp(loss, (p,), (v,))[1], first, **bounds)
        np.testing.assert_allclose(np.sum(ag.hvp(loss)(p, v) * v), second, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(
            np.sum(ag.compile(ag.grad(lambda p, v=v: np.sum(ag.grad(loss)(p) * v)))(p) * v), second, rtol=1e-12, atol=1e-12
        )
    hessian = ag.hessian(loss)(p)
    np.testing.assert_allclose(np.tensordot(np.tensordot(hessian, v, p.ndim), v, p.ndim), second, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("t", [0.7, 1e-2, 1e-5, 40.0])
def test_a_closed_form(t):
    """The values of [[1, 1], [t, 1]] are 1 + sqrt(t) and 1 - sqrt(t), whose rounding is multiplied by 1 / t."""

    def gap(t):
        w = np.linalg.eigvals(np.array([[1.0, 1.0], [0.0, 1.0]]) + t * np.array([[0.0, 0.0], [1.0, 0.0]]))
        return np.abs(w[0] - w[1]) / 2

    np.testing.assert_allclose(ag.grad(gap)(t), 0.5 * t**-0.5, rtol=2e-15 / min(t, 1))
    np.testing.assert_allclose(ag.grad(ag.grad(gap))(t), -0.25 * t**-1.5, rtol=2e-15 / min(t, 1))


@pytest.mark.parametrize("name", [*MATRICES, "complex"])
def test_values_are_numpys(name):
    p = MATRICES.get(name, COMPLEX)
    a = complex_of(p)

    def both(p):
        w, v = result = np.linalg.eig(complex_of(p))
        assert type(result) is type(np.linalg.eig(np.eye(1)))
        return [x for z in (w, v) for x in (z.real, z.imag)]

    w_re, w_im, v_re, v_im = ag.compile(both)(p)
    w, v = w_re + 1j * w_im, v_re + 1j * v_im
    expected, vectors = np.linalg.eig(a)
    np.testing.assert_allclose(w[in_order(w)], expected[in_order(expected)], rtol=0, atol=2e-14)
    np.testing.assert_allclose(a @ v, v * w, rtol=0, atol=3e-14)
    np.testing.assert_allclose(np.linalg.norm(v, axis=0), 1, rtol=1e-15)
    turned = vectors[:, in_order(expected)]
    largest = np.argmax(np.abs(turned), axis=0)
    turned = turned * np.exp(-1j * np.angle(turned[largest, np.arange(len(w))]))
    np.testing.assert_allclose(v[:, in_order(w)], turned, rtol=0, atol=3e-14)


def test_companion_matrices():
    """Roots r of x^3 + c2 x^2 + c1 x + c0: dr/dc_k = -r^k / p'(r)."""
    c = np.array([0.7, -1.3, 0.4])

    def roots(c):
        rows = [np.concatenate([np.zeros(2), -c[:1]])]
        rows += [np.concatenate([np.eye(2)[k], -c[k + 1 : k + 2]]) for k in range(2)]
        return ag.array([(w := np.linalg.eigvals(np.stack(rows))).real, w.imag])

    values = ag.compile(roots)(c)
    r = values[0] + 1j * values[1]
    np.testing.assert_allclose(r**3 + c[2] * r**2 + c[1] * r + c[0], 0, atol=1e-14)
    jacobian = ag.jacobian(roots)(c)
    expected = -(r[:, None] ** np.arange(3)) / (3 * r**2 + 2 * c[2] * r + c[1])[:, None]
    np.testing.assert_allclose(jacobian[0] + 1j * jacobian[1], expected, rtol=1e-13)


@pytest.mark.parametrize("size", [1e-300, 1e-5, 1.0, 1e150, 1e300])
def test_rotations(size):
    def values(p):
        w = np.linalg.eigvals(np.stack([np.stack([p[0], -p[1]]), np.stack([p[1], p[0]])]))
        return ag.array([np.sum(w.real), np.sum(np.abs(w.imag)), np.abs(w[0])])

    a, b = np.array([0.3, 0.4]) * size
    p = np.array([a, b])
    np.testing.assert_allclose(ag.compile(values)(p), [2 * a, 2 * b, 0.5 * size], rtol=1e-15)
    np.testing.assert_allclose(ag.jacobian(values)(p), [[2, 0], [0, 2], [0.6, 0.8]], rtol=1e-14, atol=1e-15)


def test_powers_by_eigenvectors():
    """a^5 y = V w^5 V^-1 y, where V^-1 y solves the equations of real and imaginary parts."""
    y = np.array([0.7, -0.4, 1.1])

    def by_vectors(a):
        w, v = np.linalg.eig(a)
        both = np.block([[v.real, -v.imag], [v.imag, v.real]])
        c = np.linalg.solve(both, np.concatenate([y, np.zeros(3)]))
        return (v @ (w**5 * (c[:3] + 1j * c[3:]))).real

    def hessian_of_sum(f):
        return ag.hessian(lambda a: np.sum(y * f(a)))

    def by_products(a):
        return np.linalg.matrix_power(a, 5) @ y

    for a in (PAIR, REAL_VALUES):
        for transformed in (ag.compile, ag.jacobian, hessian_of_sum):
            expected = transformed(by_products)(a)
            np.testing.assert_allclose(transformed(by_vectors)(a), expected, rtol=0, atol=1e-13 * np.max(np.abs(expected)))


def sizes(a):
    w, v = np.linalg.eig(a)
    return np.sum(np.abs(w) ** 3) + np.sum(np.abs(v) ** 4)


def test_stacks_vmap_and_pickles():
    stack = np.stack([REAL_VALUES, PAIR]).reshape(1, 2, 3, 3)
    gradient = ag.grad(sizes)
    expected = np.stack([gradient(REAL_VALUES), gradient(PAIR)])
    np.testing.assert_allclose(gradient(stack)[0], expected, rtol=1e-14)
    np.testing.assert_allclose(ag.vmap(gradient)(stack[0]), expected, rtol=1e-14)
    compiled = ag.compile(gradient)
    np.testing.assert_allclose(compiled(PAIR), expected[1], rtol=1e-14)
    kept = pickle.loads(pickle.dumps(ag.compile(sizes)))
    np.testing.assert_allclose(kept(PAIR), sizes(PAIR), rtol=1e-14)
    for shape in ((0, 0), (0, 3, 3), (2, 0, 0)):
        assert ag.grad(sizes)(np.zeros(shape)).shape == shape
    np.testing.assert_allclose(gradient(np.array([[-2.0]])), [[-12.0]])


def test_real_parts_and_a_constant_imaginary_part():
    def size(a):
        return np.sum(np.abs(np.linalg.eigvals(a)) ** 3)

    np.testing.assert_allclose(ag.grad(lambda a: size(a + 0j))(PAIR), ag.grad(size)(PAIR), rtol=1e-14)
    np.testing.assert_allclose(ag.grad(lambda t: size(t * (PAIR + 1j * PAIR)))(2.0), 12 * 2**1.5 * size(PAIR), rtol=1e-13)


def value_at(j):
    return lambda a: np.linalg.eigvals(a)[j].real


JORDAN = np.array([[1.0, 1.0], [0.0, 1.0]])
REFUSED = [
    (value_at(0), np.full((2, 2), np.nan), ag.DomainError, "^eigvals: a is not finite"),
    (value_at(0), np.full((2, 2), np.inf), ag.DomainError, "^eigvals: a is not finite"),
    (value_at(0), np.ones((2, 3)), ag.ShapeError, "^np.linalg.eigvals: a is of shape .2, 3., but must be of square"),
    (value_at(0), np.ones(2), ag.ShapeError, "^np.linalg.eigvals: a is of shape .2,., but must be of square"),
    (value_at(0), JORDAN, ag.DomainError, "^eigvals: a is without a basis of eigenvectors"),
    (lambda a: np.linalg.eig(a)[1][1, 0].real, JORDAN, ag.DomainError, "^eig: a is "),
    (lambda a: np.linalg.eig(a)[1][1, 0].real, np.eye(2), ag.DomainError, "^eig: a is degenerate.*0 and 1.*are equal"),
    (lambda a: np.linalg.eig(a)[1][1, 0].real, np.diag([1.0, 1 + 1e-10]), ag.DomainError, "^eig: a is degenerate.*so close"),
]


@pytest.mark.parametrize("case", range(len(REFUSED)))
def test_refused(case):
    function, x, error, message = REFUSED[case]
    for run in (ag.grad(function), ag.compile(ag.grad(function)), ag.hessian(function)):
        with pytest.raises(error, match=message):
            run(x)


def test_equal_values():
    """Symmetric functions of equal values have derivatives; values exist anyway."""
    gradient = ag.grad(lambda a: np.sum(np.linalg.eigvals(a).real))(np.eye(3))
    np.testing.assert_allclose(gradient, np.eye(3), atol=1e-15)
    np.testing.assert_allclose(ag.compile(lambda a: np.linalg.eigvals(a).real)(JORDAN), 1, atol=1e-15)
