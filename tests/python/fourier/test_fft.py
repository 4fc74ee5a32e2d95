"""``np.fft`` of recorded arrays: NumPy's values, adjoints and second derivatives, in every engine."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import agrad as ag

LENGTHS = [1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 31, 37, 64, 74, 97, 101, 128, 194, 243, 360, 1000, 1009, 1024, 2018, 10007]


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def stacked(z):
    return ag.array([z.real, z.imag]) if np.iscomplexobj(z) else z * 1.0


def plain(z):
    return np.array([z.real, z.imag]) if np.iscomplexobj(z) else z


def norm_of_difference(a, b):
    return np.linalg.norm(a - b) / np.linalg.norm(b)


@pytest.mark.parametrize("n", LENGTHS)
def test_transforms_of_any_length(n):
    x = numbers(2, n)

    def both(x):
        z = np.fft.fft(x[0] + 1j * x[1])
        back = np.fft.ifft(z)
        return stacked(z), stacked(back), stacked(np.fft.rfft(x[0]))

    z, back, half = ag.compile(both)(x)
    error = 1e-16 * (2 + np.log2(n)) * (1 if n < 10000 else 2)
    assert norm_of_difference(z, plain(np.fft.fft(x[0] + 1j * x[1]))) < error
    assert norm_of_difference(back, x) < 2 * error
    assert norm_of_difference(half, plain(np.fft.rfft(x[0]))) < error


@pytest.mark.parametrize("n", [1, 2, 5, 31, 97, 128, 360])
def test_the_adjoint_is_the_transposed_map(n):
    x, w = numbers(2, n), numbers(2, n, seed=1)
    z, pull = ag.vjp(lambda x: stacked(np.fft.fft(x[0] + 1j * x[1])), x)
    (adjoint,) = np.reshape(pull(w), (1, 2, n))
    np.testing.assert_allclose(np.sum(z * w), np.sum(x * adjoint), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(adjoint, plain(n * np.fft.ifft(w[0] + 1j * w[1])), atol=1e-13 * n)


#: Functions of complex (4, 5, 6) arrays, recorded and plain.
CASES = {
    "fft": lambda z: np.fft.fft(z),
    "fft n": lambda z: np.fft.fft(z, 4) + np.fft.fft(z[..., :2], n=4, norm="forward"),
    "fft axis": lambda z: np.fft.fft(z, axis=0, norm="ortho") + np.fft.fft(z, None, -3),
    "fft real": lambda z: np.fft.fft(z.real, 9, 1, "backward"),
    "ifft": lambda z: np.fft.ifft(z, 7, 1) + np.fft.ifft(z, n=7, axis=1, norm="ortho") + np.fft.ifft(z, 7, 1, "forward"),
    "rfft": lambda z: np.fft.rfft(z.real, 5) + np.fft.rfft(z.real, norm="ortho")[..., :3],
    "rfft axis": lambda z: np.fft.rfft(z.imag, 8, axis=0, norm="forward"),
    "irfft": lambda z: np.fft.irfft(z),
    "irfft odd": lambda z: np.fft.irfft(z, 5, norm="ortho") + np.fft.irfft(z, 5, norm="forward"),
    "irfft padded": lambda z: np.fft.irfft(z, 14, axis=1) + np.fft.irfft(z, 3, axis=1)[:, :1] + np.fft.irfft(z, 1, 1),
    "irfft real": lambda z: np.fft.irfft(z.real),
    "hfft": lambda z: np.fft.hfft(z) + np.fft.hfft(z, norm="ortho") + np.fft.hfft(z, norm="forward"),
    "hfft odd": lambda z: np.fft.hfft(z, 7, 0),
    "ihfft": lambda z: np.fft.ihfft(z.real) + np.fft.ihfft(z.imag, norm="ortho") + np.fft.ihfft(z.real, norm="forward"),
    "fft2": lambda z: np.fft.fft2(z) + np.fft.fft2(z, norm="ortho"),
    "fft2 s": lambda z: np.fft.fft2(z, (3, 8), (0, 1)),
    "ifft2": lambda z: np.fft.ifft2(z),
    "fftn": lambda z: np.fft.fftn(z) + np.fft.fftn(z, axes=(0, 2)) + np.fft.fftn(z, (4, -1, 6), (0, 1, 2)),
    "fftn twice": lambda z: np.fft.fftn(z, axes=(1, 1)),
    "fftn none": lambda z: np.fft.fftn(z, axes=()),
    "ifftn": lambda z: np.fft.ifftn(z, s=(2, 7), axes=(2, 0), norm="forward"),
    "rfft2": lambda z: np.fft.rfft2(z.real),
    "irfft2": lambda z: np.fft.irfft2(z) + np.fft.irfft2(z, norm="ortho"),
    "rfftn": lambda z: np.fft.rfftn(z.real) + np.fft.rfftn(z.real, (4, 5, 6), (0, 1, 2), "forward"),
    "irfftn": lambda z: np.fft.irfftn(z, (4, 3), axes=(0, 1)),
    "irfftn own lengths": lambda z: np.fft.irfftn(z, (-1, -1), axes=(0, 1)) + np.fft.irfftn(z, (-1, 5), axes=(0, 1)),
    "irfft2 own lengths": lambda z: np.fft.irfft2(z, (-1, -1)) + np.fft.irfft2(z, (5, -1)),
    "fftn own lengths": lambda z: np.fft.fftn(z, (-1, 7), axes=(1, 1)) + np.fft.ifft2(z, (-1, -1)),
    "rfftn own lengths": lambda z: np.fft.rfftn(z.real, (-1, -1), axes=(0, 2)) + np.fft.rfft2(z.imag, (-1, 6)),
    "irfftn whole": lambda z: np.fft.irfftn(z),
    "shift": lambda z: np.fft.fftshift(z) + np.fft.ifftshift(z, axes=1) + np.fft.fftshift(z.real, axes=(0, 2)),
    "shift real": lambda z: np.fft.ifftshift(z.real),
    "frequencies": lambda z: np.fft.ifft(np.fft.fftfreq(6) * np.fft.fft(z)),
    "parts": lambda z: np.fft.fft(np.stack([z[0, 0].real, z[0, 1].imag])),
    "empty": lambda z: np.fft.fft(z[:0]),
}


@pytest.mark.parametrize("name", CASES)
def test_values_and_derivatives(name):
    case, p = CASES[name], numbers(2, 4, 5, 6)
    expected = plain(case(p[0] + 1j * p[1]))
    w = numbers(*expected.shape, seed=1)

    def loss(p):
        return np.sum(w * stacked(case(p[0] + 1j * p[1])) ** 2)

    values = ag.compile(lambda p: stacked(case(p[0] + 1j * p[1])))(p)
    assert values.shape == expected.shape
    np.testing.assert_allclose(values, expected, atol=1e-13)
    v = numbers(*p.shape, seed=2)
    along = plain(case(v[0] + 1j * v[1]))  # transforms are linear
    change, product = 2 * np.sum(w * expected * along), ag.hvp(loss)(p, v)
    np.testing.assert_allclose(np.sum(ag.grad(loss)(p) * v), change, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(ag.jvp(loss, (p,), (v,))[1], change, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(np.sum(product * v), 2 * np.sum(w * along**2), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(np.sum(product * p), change, rtol=1e-10, atol=1e-10)


def power(x, w):
    return np.sum(w * np.abs(np.fft.rfft(np.sin(x))) ** 2)


@pytest.mark.parametrize("n", [6, 7])
def test_power_spectrum_in_all_engines(n):
    x, w, v = numbers(n), numbers(n // 2 + 1, seed=1), numbers(n, seed=2)
    table = np.fft.rfft(np.eye(n), axis=0)
    q = 2 * (table.conj().T * w @ table).real  # the Hessian with respect to sin(x)
    s, c = np.sin(x), np.cos(x)
    gradient, hessian = c * (q @ s), c[:, None] * q * c - np.diag(s * (q @ s))
    np.testing.assert_allclose(ag.grad(power)(x, w), gradient, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(ag.hessian(power)(x, w), hessian, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(ag.hvp(lambda x: power(x, w))(x, v), hessian @ v, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(ag.jvp(lambda x: power(x, w), (x,), (v,))[1], gradient @ v, rtol=1e-12)
    rows = np.stack([x, v, x + v])
    expected = [ag.grad(power)(row, w) for row in rows]
    np.testing.assert_allclose(ag.vmap(ag.grad(lambda x: power(x, w)))(rows), expected, rtol=1e-12, atol=1e-12)
    compiled = ag.compile(power)
    kept = pickle.loads(pickle.dumps(compiled))
    for function in (compiled, kept):
        np.testing.assert_allclose(function(x, w), power(x, w), rtol=1e-13)
        np.testing.assert_allclose(ag.grad(function)(x, w), gradient, rtol=1e-12, atol=1e-12)
    with ag.tape():
        y = ag.var(x)
        power(y, w).grad()
        np.testing.assert_allclose(y.adj(), gradient, rtol=1e-12, atol=1e-12)


def test_the_convolution_theorem():
    x, h = numbers(11), numbers(4, seed=1)

    def filtered(x, h):
        return np.fft.irfft(np.fft.rfft(x, 14) * np.fft.rfft(h, 14), 14)

    np.testing.assert_allclose(ag.compile(filtered)(x, h), np.convolve(x, h), atol=1e-14)
    ours = ag.jacobian(filtered, argnums=(0, 1))(x, h)
    theirs = ag.jacobian(lambda x, h: np.convolve(x, h), argnums=(0, 1))(x, h)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-14)


def test_not_a_number_spreads_and_zeros_stay():
    assert np.all(np.isnan(ag.compile(lambda x: np.fft.fft(x).real)(np.array([np.nan, 1.0, 2.0]))))
    np.testing.assert_array_equal(ag.compile(lambda x: np.fft.fft(x).imag)(np.zeros(37)), np.zeros(37))


ERRORS = [
    (lambda x: np.fft.fft(x[:0]), ValueError, "^np.fft.fft: n is 0, but must be at least 1"),
    (lambda x: np.fft.fft(x, 0), ValueError, "^np.fft.fft: n is 0, but must be at least 1"),
    (lambda x: np.fft.irfft(x[:1]), ValueError, "^np.fft.irfft: n is 0, but must be at least 1"),
    (lambda x: np.fft.rfft(1j * x), TypeError, "^np.fft.rfft: argument is complex, but must be real"),
    (lambda x: np.fft.ihfft(1j * x), TypeError, "^np.fft.ihfft: argument is complex, but must be real"),
    (lambda x: np.fft.rfftn(1j * x), TypeError, "^np.fft.rfftn: argument is complex, but must be real"),
    (lambda x: np.fft.fft(x, norm="other"), ValueError, "^np.fft.fft: norm is 'other', but must be"),
    (lambda x: np.fft.hfft(x, norm="other"), ValueError, "^np.fft.hfft: norm is 'other', but must be"),
    (lambda x: np.fft.fft(x, axis=1), np.exceptions.AxisError, "axis 1 is out of bounds"),
    (lambda x: np.fft.fft(x[0]), np.exceptions.AxisError, "axis -1 is out of bounds"),
    (lambda x: np.fft.fft2(x), np.exceptions.AxisError, "axis -2 is out of bounds"),
    (lambda x: np.fft.fftn(x, (3, 3), (0,)), ValueError, "^np.fft.fftn: s and axes are of lengths 2 and 1"),
    (lambda x: np.fft.fft(x, 2.5), TypeError, "integer"),
    (lambda x: np.fft.fft(x, out=np.zeros(3, complex)), TypeError, "^np.fft.fft: out is given"),
    (lambda x: np.fft.fft(x, other=1), TypeError, "other"),
    (lambda x: np.fft.rfftn(x, axes=()), ValueError, "^np.fft.rfftn: axes are none, but must be at least one"),
]


@pytest.mark.parametrize("case", range(len(ERRORS)))
def test_errors(case):
    function, kind, message = ERRORS[case]
    with pytest.raises(kind, match=message):
        ag.grad(lambda x: np.sum(np.abs(function(x))))(np.array([1.0, 2.0, 3.0]))
