"""Complex recorded arrays: NumPy's functions and operators, against NumPy and against differences."""

from __future__ import annotations

import operator

import numpy as np
import pytest

import agrad as ag

RNG = np.random.default_rng(4)
P = RNG.uniform(0.4, 1.6, (2, 2, 3)) * RNG.choice([-1, 1], (2, 2, 3))
W = RNG.normal(size=(2, 3)) + 1j * RNG.normal(size=(2, 3))  # plain
X = RNG.normal(size=(2, 3))
S = 0.4 - 1.3j

#: Functions of a complex array z of shape (2, 3) with real parts x, for recorded and plain z.
CASES = {
    "add": lambda z, x: z + W,
    "add real": lambda z, x: 2.0 + z + x,
    "subtract": lambda z, x: (W - z) - S,
    "subtract from real": lambda z, x: x - z,
    "multiply": lambda z, x: W * z * S,
    "multiply real": lambda z, x: x * z * 1.5,
    "real by complex": lambda z, x: 1j * x + x * W,
    "real minus complex": lambda z, x: S - x + (x - W),
    "real by zero": lambda z, x: 0j * x,
    "divide": lambda z, x: z / (W * z + S) + W / z,
    "divide by real": lambda z, x: z / x / 2.0 + x / z,
    "divide by imaginary": lambda z, x: z / 2j + 1 / z + 1j / x,
    "condition": lambda z, x: (x > 0) + 1j * (x > 1),
    "powers": lambda z, x: z**3 + z**0 + z**-2 + z**1 + z**2.0,
    "roots": lambda z, x: z**0.5 + z**-0.5 + (1j * x) ** 0.5,
    "real exponents": lambda z, x: z**1.7 + z**-0.3 + z ** np.array([2.0, -1.0, 0.4]) + (2j * x) ** 2.5,
    "complex exponents": lambda z, x: z**S + x**S + np.power(z, W) + x**2j,
    "recorded exponents": lambda z, x: S**x + W**z + 2j**x + z**x + np.float_power(z, z) + 2.5**z + (-1.5) ** z + x**z,
    "negative": lambda z, x: -z + (+z),
    "conjugate": lambda z, x: np.conj(z) + z.conj() * z.conjugate(),
    "exp": lambda z, x: np.exp(z) + np.exp(1j * x),
    "log": lambda z, x: np.log(z),
    "sqrt": lambda z, x: np.sqrt(z),
    "sqrt on the axis": lambda z, x: np.sqrt(-(x**2) + 0j * x**2) + np.sqrt(x**2 + 0j * x**2),
    "square": lambda z, x: np.square(z) + np.reciprocal(z),
    "sin": lambda z, x: np.sin(z) + np.cos(z) + np.sinh(z) * np.cosh(z),
    "absolute": lambda z, x: np.abs(z) + abs(z) ** 2,
    "angle": lambda z, x: np.angle(z) + np.angle(z, deg=True),
    "parts": lambda z, x: z.real * z.imag + np.real(z) + np.imag(z),
    "isfinite": lambda z, x: np.isfinite(z) * 1.0 + np.isnan(z) + np.isinf(z),
    "matmul": lambda z, x: z @ W.T + z @ z.T,
    "matmul real": lambda z, x: (x @ W.T) @ z + X @ z.T @ W,
    "matmul vector": lambda z, x: z @ W[0] + W[0] @ z.T,
    "dot": lambda z, x: np.dot(z, W.T) + np.dot(x, W.T),
    "vdot": lambda z, x: np.vdot(z, W) + np.vdot(W, z) + np.vdot(x, W),
    "inner": lambda z, x: np.inner(z, x),
    "outer": lambda z, x: np.outer(z, z),
    "tensordot": lambda z, x: np.tensordot(z, W, ([0, 1], [0, 1])),
    "kron": lambda z, x: np.kron(z, W),
    "convolve": lambda z, x: np.convolve(z[0], x[1]),
    "einsum": lambda z, x: np.einsum("ij,kj->ik", z, W) + np.einsum("ij->", z),
    "vecdot": lambda z, x: np.vecdot(z, x) + np.vecdot(x, z) + np.vecdot(z, W),
    "vecdot axis": lambda z, x: np.vecdot(z, x, axis=0) + np.vecdot(x, z, axis=-2) + np.vecdot(W, z, axis=0),
    "sum": lambda z, x: np.sum(z) + z.sum(axis=0) + np.add.reduce(z),
    "mean": lambda z, x: z.mean(axis=1, keepdims=True) * np.mean(z),
    "var": lambda z, x: np.var(z, axis=0, ddof=1) + z.std(axis=0) + np.std(z),
    "cumsum": lambda z, x: np.cumsum(z, axis=1),
    "diff": lambda z, x: np.diff(z),
    "trace": lambda z, x: np.trace(z) + np.diagonal(z),
    "index": lambda z, x: z[1] + z[0, ::-1] * z[..., [2, 0, 1]] + z[:, None, 1],
    "mask": lambda z, x: z[np.array([True, False])],
    "shape": lambda z, x: z.reshape(3, 2) + z.reshape((3, 2)).copy() + np.reshape(z, -1)[:2],
    "transpose": lambda z, x: z.T + z.transpose(1, 0) + np.swapaxes(z, 0, 1) + np.moveaxis(z, 0, 1),
    "stack": lambda z, x: np.stack([z, x, W]) + np.concatenate([z[None], [W], x[None]]),
    "stack of real and complex": lambda z, x: np.hstack([x, W]),
    "ravel": lambda z, x: np.concatenate([z.ravel(), z.flatten()]),
    "split": lambda z, x: np.concatenate(np.split(z, 3, axis=1)[::-1]),
    "roll": lambda z, x: np.roll(z, 1, axis=1) + np.flip(z) + np.tile(z, (2, 1, 1)),
    "pad": lambda z, x: np.pad(z, 1),
    "broadcast": lambda z, x: np.broadcast_to(z[0], (4, 3)) + np.expand_dims(z[:1, 0], 0) + np.squeeze(z[:1]),
    "where": lambda z, x: np.where(x > 0, z, 1j) + np.where(X > 0, x, W),
    "projection": lambda z, x: np.where(np.isinf(z), np.inf, z),
    "iterate": lambda z, x: sum(list(z)) + len(z),
    "zeros": lambda z, x: np.zeros_like(z) + z.astype(complex) + x.astype(complex),
    "out of order": lambda z, x: np.multiply(x, z) + np.multiply(W, x) + np.add(z, x) + np.subtract(S, x),
}


def of(case, p):
    return case(p[0] + 1j * p[1], p[0])


def parts(y):
    return ag.array([y.real, y.imag]) if np.iscomplexobj(y) else y * 1.0


@pytest.mark.parametrize("name", CASES)
def test_values_and_derivatives(name):
    expected = of(CASES[name], P)
    expected = np.array([expected.real, expected.imag]) if np.iscomplexobj(expected) else expected * 1.0
    weights = RNG.normal(size=expected.shape)

    def loss(p):
        y = parts(of(CASES[name], p))
        return np.sum(weights * y) + np.sum(y**2)

    value, gradient = ag.value_and_grad(loss)(P)
    np.testing.assert_allclose(value, np.sum(weights * expected) + np.sum(expected**2), rtol=1e-13)
    v = np.random.default_rng(1).normal(size=P.shape)
    step = 1e-5

    def plain(p):
        y = of(CASES[name], p)
        y = np.array([y.real, y.imag]) if np.iscomplexobj(y) else y * 1.0
        return np.sum(weights * y) + np.sum(y**2)

    along = (8 * (plain(P + step * v) - plain(P - step * v)) - plain(P + 2 * step * v) + plain(P - 2 * step * v)) / (12 * step)
    np.testing.assert_allclose(np.sum(gradient * v), along, rtol=1e-8, atol=1e-8)
    second = (ag.grad(loss)(P + step * v) - ag.grad(loss)(P - step * v)) / (2 * step)
    np.testing.assert_allclose(ag.hvp(loss)(P, v), second, rtol=1e-6, atol=1e-6)


def test_writing_changes_the_array_as_in_numpy():
    def f(x):
        z = x + 1j * x**2
        other, conjugate = z[1:], z.conj()
        z[0] = 2j * x[0]
        z += x
        other[1] *= 1j
        z.real[1] = 5.0
        return parts(z + conjugate)

    x = np.array([0.3, 0.7, 1.9])
    z = x + 1j * x**2
    conjugate = z.conj()
    z[0] = 2j * x[0]
    z += x
    z[2] *= 1j
    z.real[1] = 5.0
    z += conjugate
    np.testing.assert_allclose(ag.compile(f)(x), np.array([z.real, z.imag]), rtol=1e-14)


def test_projection_onto_the_sphere():
    def f(x):
        z = x[0] + 1j * x[1]
        return parts(np.where(np.isinf(z), np.inf, z))

    for x in ([np.inf, 2.0], [1.0, -np.inf], [-np.inf, np.nan]):
        np.testing.assert_array_equal(ag.compile(f)(np.array(x)), [np.inf, 0.0])
        np.testing.assert_array_equal(ag.jacobian(f)(np.array(x)), np.zeros((2, 2)))
    np.testing.assert_array_equal(ag.compile(f)(np.array([1.0, np.nan])), [1.0, np.nan])


def test_division_neither_overflows_nor_underflows():
    def f(x):
        return np.abs((x[0] + 1j * x[1]) / (x[0] - 2j * x[1]))

    for size in (1e-300, 1.0, 1e300):
        np.testing.assert_allclose(ag.compile(f)(np.array([size, size])), np.abs((1 + 1j) / (1 - 2j)), rtol=1e-14)


def test_powers_of_zero_are_numpys():
    zeros = np.zeros(7)
    for exponent in (1.5, 0.5, 0.0, -1.5, 2.0, 1 + 1j, 0j, 2j, np.array([2.0, 1.0, 0.5, 0.0, -1.0, -0.5, 3.0])):
        with np.errstate(all="ignore"):
            expected = (zeros + 0j) ** exponent
        found = ag.compile(lambda x, p=exponent: parts((x + 1j * x) ** p))(zeros)
        known = np.isfinite(expected)
        np.testing.assert_array_equal(found[0][known] + 1j * found[1][known], expected[known])
        assert not np.any(np.isfinite(found[0][~known] + found[1][~known]))


def test_derivatives_of_powers_at_zero():
    def f(p):
        return lambda x: parts((x[0] + 1j * x[1]) ** p)

    at = np.zeros(2)
    for exponent, jacobian in ((1.5, np.zeros((2, 2))), (2.5, np.zeros((2, 2))), (np.array(1.0), np.eye(2)), (1, np.eye(2))):
        np.testing.assert_array_equal(ag.jacobian(f(exponent))(at), jacobian)
    for exponent in (0.5, 0.3, 0.3 + 0.1j):
        assert not np.any(np.isfinite(np.diag(ag.jacobian(f(exponent))(at))))


def test_captured_and_nested():
    def outer(x):
        z = np.fft.fft(x)
        inner = ag.grad(lambda y: np.sum(np.abs(y * z) ** 2))(x)
        return np.sum(inner * x)

    x = np.array([0.3, 0.7, 1.9])
    z = np.fft.fft(x)  # outer is 2 sum x^2 |z|^2
    np.testing.assert_allclose(ag.grad(outer)(x), 4 * x * np.abs(z) ** 2 + 4 * np.fft.fft(x**2 * z.conj()).real, rtol=1e-12)


ERRORS = [
    (lambda z, x: z, "result is <complex recorded array of shape .*>, but must be real numbers"),
    (lambda z, x: z < 1, "^less: argument is complex, but must be real; compare np.abs"),
    (lambda z, x: z == z, "^equal: argument is complex, but must be real; compare np.abs"),
    (lambda z, x: x > 1j, "^greater: argument is complex, but must be real; compare np.abs"),
    (lambda z, x: np.maximum(z, x), "^maximum: argument is complex"),
    (lambda z, x: z % 2, "^mod: argument is complex"),
    (lambda z, x: x // 2j, "^floor_divide: argument is complex"),
    (lambda z, x: np.arctan(z), "^arctan: argument is complex"),
    (lambda z, x: np.prod(z), "^np.prod: argument is a complex recorded array"),
    (lambda z, x: np.multiply.reduce(z), "^multiply.reduce: argument is a complex recorded array"),
    (lambda z, x: np.linalg.svd(z), "^np.linalg.svd: argument is a complex recorded array"),
    (lambda z, x: np.sum(z, initial=1j), "^np.sum: initial is given"),
    (lambda z, x: np.add(z, x, out=x), "^add: argument is a complex recorded array.*'out'"),
    (lambda z, x: np.array([z, z]), "^np.array: argument is a complex recorded array"),
    (lambda z, x: ag.array([z, z]), "argument is a complex recorded array"),
    (lambda z, x: bool(z[0, 0]), "^bool: argument is a complex recorded array"),
    (lambda z, x: float(z[0, 0]), "^float: argument is a complex recorded array"),
    (lambda z, x: complex(z[0, 0]), "^complex: argument is a complex recorded array"),
    (lambda z, x: z.astype(float), "^astype: dtype is float64, but must be complex128"),
    (lambda z, x: operator.imul(x, 1j), "^in-place operation: result is complex, but must be real"),
    (lambda z, x: operator.setitem(x, 0, z[0]), "argument is a complex recorded array"),
    (lambda z, x: z + None, "unsupported operand"),
    (lambda z, x: ag.exp(z) if hasattr(ag, "exp") else np.exp2(z), "complex"),
    (lambda z, x: np.where(z), "^np.where"),
    (lambda z, x: np.einsum("i,i,i", z[0], z[0], z[0]), "^np.einsum: operands are complex"),
]


@pytest.mark.parametrize("case", range(len(ERRORS)))
def test_what_is_left_out_raises_by_name(case):
    function, message = ERRORS[case]

    def loss(p):
        return np.sum(of(function, p))

    with pytest.raises(TypeError, match=message):
        ag.grad(lambda p: of(function, p) if case == 0 else loss(p))(P)


def test_properties():
    seen = []

    def f(p):
        z = p[0] + 1j * p[1]
        seen.extend([z.shape, z.ndim, z.size, np.shape(z), np.ndim(z), np.size(z, 0), z.dtype, repr(z), np.iscomplexobj(z)])
        return np.sum(np.abs(z))

    ag.grad(f)(P)
    assert seen[:6] == [(2, 3), 2, 6, (2, 3), 2, 2]
    assert seen[6] == np.complex128
    assert "complex recorded array of shape (2, 3)" in seen[7]
    assert seen[8]


def test_a_square_root_has_derivatives_on_the_imaginary_axis():
    for y in (1.5, -0.2):
        z = 1j * y
        slope, bend = 0.5 / np.sqrt(z), -0.25 / z**1.5
        both = ag.jacobian(lambda x: parts(np.sqrt(x[0] + 1j * x[1])))(np.array([0.0, y]))
        np.testing.assert_allclose(both, [[slope.real, -slope.imag], [slope.imag, slope.real]], rtol=1e-14)
        second = ag.hessian(lambda x: np.sqrt(x[0] + 1j * x[1]).real)(np.array([0.0, y]))
        np.testing.assert_allclose(second, [[bend.real, -bend.imag], [-bend.imag, -bend.real]], rtol=1e-14)
