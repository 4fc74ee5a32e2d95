"""Linear algebra of complex recorded matrices: NumPy's values, and derivatives against differences and closed forms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agrad as ag
from differences import jacobian_by_differences

RNG = np.random.default_rng(8)
A = RNG.normal(size=(2, 3, 3)) + 2 * np.eye(3)
STACK = RNG.normal(size=(2, 2, 3, 3)) + 3 * np.eye(3)
B = RNG.normal(size=(3, 2)) + 1j * RNG.normal(size=(3, 2))
ROWS = RNG.normal(size=(3, 3))


def general(p: Any) -> Any:
    return p[0] + 1j * p[1]


def hermitian(p: Any) -> Any:
    z = general(p)
    return z + np.conj(np.swapaxes(z, -1, -2))


def slogdet(z: Any) -> Any:
    sign, log = np.linalg.slogdet(z)
    return sign * (1.5 + log)


#: Functions of a complex matrix z, or of a stack of them, and of its real parts x.
CASES: dict[str, Callable[[Any, Any], Any]] = {
    "solve": lambda z, x: np.linalg.solve(z, B),
    "solve a vector": lambda z, x: np.linalg.solve(z, B[:, 0]),
    "solve real by complex": lambda z, x: np.linalg.solve(x, B),
    "solve complex by real": lambda z, x: np.linalg.solve(z, x),
    "solve plain by complex": lambda z, x: np.linalg.solve(ROWS, z) + np.linalg.solve(ROWS + 1j, x),
    "inv": lambda z, x: np.linalg.inv(z),
    "pinv": lambda z, x: np.linalg.pinv(z[..., :2]) + np.swapaxes(np.linalg.pinv(z[..., :2, :]), -1, -2)[..., :2, :],
    "det": lambda z, x: np.linalg.det(z),
    "slogdet": lambda z, x: slogdet(z),
    "matrix_power": lambda z, x: np.linalg.matrix_power(z, 3) + np.linalg.matrix_power(z, 0) + np.linalg.matrix_power(z, -2),
}


def parts(y: Any) -> Any:
    return ag.array([y.real, y.imag])


@pytest.mark.parametrize("of", [general, hermitian])
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("p", [A, STACK], ids=["matrix", "stack"])
def test_values_and_derivatives(name: str, of: Callable[[Any], Any], p: np.ndarray) -> None:
    f = CASES[name]

    def result(q: Any) -> Any:
        z = of(q)
        return f(z, z.real)

    expected = result(p)
    weights = np.cos(np.arange(2.0 * expected.size)).reshape(2, *expected.shape)
    found = ag.compile(lambda q: parts(result(q)))(p)
    np.testing.assert_allclose(found, [expected.real, expected.imag], rtol=1e-11, atol=1e-12)

    def loss(q: Any) -> Any:
        y = result(q)
        y = parts(y) if not isinstance(q, np.ndarray) else np.array([y.real, y.imag])
        return np.sum(weights * y) + np.sum(y**2)

    gradient = ag.grad(loss)(p)
    scale = np.max(np.abs(gradient))
    np.testing.assert_allclose(gradient, jacobian_by_differences(loss, p), rtol=1e-8, atol=1e-8 * scale)
    v = RNG.normal(size=p.shape)
    np.testing.assert_allclose(ag.jvp(loss, (p,), (v,))[1], np.sum(gradient * v), rtol=1e-10)
    second = jacobian_by_differences(lambda t: ag.grad(loss)(p + t * v), 0.0)
    found = ag.hvp(loss)(p, v)
    np.testing.assert_allclose(found, second, rtol=1e-7, atol=1e-7 * np.max(np.abs(second)))
    np.testing.assert_allclose(ag.jvp(ag.grad(loss), (p,), (v,))[1], found, rtol=1e-9, atol=1e-9 * np.max(np.abs(found)))
    rows = ag.compile(ag.vmap(ag.grad(loss)))(np.stack([p, p + 0.1 * v]))
    np.testing.assert_allclose(rows[1], ag.grad(loss)(p + 0.1 * v), rtol=1e-10, atol=1e-11 * scale)


def test_determinants_of_singular_matrices_have_derivatives() -> None:
    z = general(A)
    z[2] = (1 - 2j) * z[0]

    def f(q: Any) -> Any:
        return parts(np.linalg.det(general(q)))

    p = np.array([z.real, z.imag])
    np.testing.assert_allclose(ag.compile(f)(p), 0, atol=1e-14)
    cofactors = np.array([[(-1) ** (i + j) * np.linalg.det(_minor(z, i, j)) for j in range(3)] for i in range(3)])
    jacobian = ag.jacobian(f)(p)
    np.testing.assert_allclose(jacobian[0], [cofactors.real, -cofactors.imag], atol=1e-13)
    np.testing.assert_allclose(jacobian[1], [cofactors.imag, cofactors.real], atol=1e-13)
    hessian = ag.hessian(lambda q: np.sum(f(q) ** 2))(p)
    np.testing.assert_allclose(hessian, 2 * np.einsum("kaij,kbmn->aijbmn", jacobian, jacobian), atol=1e-11)
    np.testing.assert_array_equal(ag.compile(f)(np.zeros((2, 3, 3))), 0)


def _minor(z: Any, i: int, j: int) -> Any:
    return np.delete(np.delete(z, i, 0), j, 1)


def test_logarithms_of_determinants_that_over_and_underflow() -> None:
    z = general(A)
    for size in (1e-200, 1e200):
        sign, log = ag.compile(lambda q, size=size: (lambda y: (parts(y[0]), y[1]))(np.linalg.slogdet(size * general(q))))(A)
        expected = np.linalg.slogdet(z)
        np.testing.assert_allclose(sign, [expected[0].real, expected[0].imag], rtol=1e-13)
        assert log == pytest.approx(expected[1] + 3 * np.log(size), rel=1e-14)
        # d log det(z + t 1) = tr z^-1 dt, of which the sign has the imaginary part
        along = ag.jvp(
            lambda t, size=size: (lambda y: (np.angle(y[0]), y[1]))(np.linalg.slogdet(size * (general(A) + t * np.eye(3)))),
            (0.0,),
            (1.0,),
        )[1]
        trace = np.trace(np.linalg.inv(z))
        np.testing.assert_allclose(along, [trace.imag, trace.real], rtol=1e-12)
    sign, log = ag.compile(lambda q: (lambda y: (parts(y[0]), y[1]))(np.linalg.slogdet(general(q))))(np.zeros((2, 3, 3)))
    np.testing.assert_array_equal(sign, 0)
    assert log == -np.inf


def test_matrices_without_rows() -> None:
    def f(q: Any) -> Any:
        z = general(q)
        return parts(np.linalg.det(z)), np.linalg.slogdet(z).logabsdet, parts(np.linalg.inv(z))

    det, log, inverse = ag.compile(f)(np.zeros((2, 0, 0)))
    assert det.tolist() == [1.0, 0.0]
    assert log == 0
    assert inverse.shape == (2, 0, 0)


ERRORS = [
    (lambda z: np.linalg.inv(z[:2]), ag.ShapeError, r"np.linalg.inv: a is of shape \(2, 3\), but must be of square"),
    (lambda z: np.linalg.solve(z[:2], B), ag.ShapeError, r"np.linalg.solve: a is of shape \(2, 3\), but must be of square"),
    (lambda z: np.linalg.solve(z, B[:2]), ag.ShapeError, r"np.linalg.solve: b is of shape \(2, 2\), but must be .* 3 rows"),
    (lambda z: np.linalg.det(z[0]), ag.ShapeError, "np.linalg.det: a is of shape"),
    (lambda z: np.linalg.inv(0 * z), ag.LinAlgError, "^inv: a is singular"),
    (lambda z: np.linalg.solve(0 * z, B), ag.LinAlgError, "^solve: a is singular"),
]


@pytest.mark.parametrize(("function", "error", "message"), ERRORS)
def test_errors(function: Callable[[Any], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        ag.compile(lambda p: parts(function(general(p))))(A)


def test_an_alternating_current_circuit() -> None:
    """A bridge of five impedances: the current's derivatives by the frequency, against NumPy and differences."""
    r, c, l = 50.0, 2e-6, 3e-3  # noqa: E741

    def current(omega: Any) -> Any:
        z = [r, 1 / (1j * omega * c), 1j * omega * l + 5.0, 2 * r, 1j * omega * l]
        y = [1 / each for each in z]
        admittance = [[y[0] + y[1] + y[2], -y[2]], [-y[2], y[2] + y[3] + y[4]]]
        rows = [np.stack([each + 0j * omega for each in row]) for row in admittance]
        v = np.linalg.solve(np.stack(rows), np.stack([y[0] + 0j * omega, y[3] + 0j * omega]))
        return np.abs((v[0] - v[1]) * y[2]) ** 2

    at = 6000.0
    assert ag.compile(current)(at) == pytest.approx(current(at), rel=1e-13)
    assert ag.grad(current)(at) == pytest.approx(jacobian_by_differences(current, at), rel=1e-8)
