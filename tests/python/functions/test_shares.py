"""logsumexp, softmax and log_softmax of large numbers: derivatives as exact in every mode as those of small numbers."""

import mpmath
import numpy as np
import pytest
import scipy.special

import agrad as ag

SHAPED = {"vector": np.array([0.3, -1.2, 2.0, 0.7]), "matrix": np.arange(12.0).reshape(3, 4) ** 1.3 / 5}
SHIFTS = [0.0, 1e8, -1e16, 1e16]


def shifted(x, shift):
    """Numbers near `shift`, and what they are without it: exactly."""
    moved = np.round(x * 4) * max(1.0, np.spacing(abs(shift))) + shift
    return moved, moved - shift


MODES = {
    "grad": lambda f, x: ag.grad(f)(x),
    "vmapped": lambda f, x: ag.vmap(ag.grad(f))(x[None])[0],
    "nested": lambda f, x: ag.compile(lambda z: ag.grad(f)(z))(x),
    "nested forwards": lambda f, x: ag.compile(lambda z: ag.jacfwd(f)(z))(x),
    "jacfwd": lambda f, x: ag.jacfwd(f)(x),
    "vmapped forwards": lambda f, x: ag.vmap(ag.jacfwd(f))(x[None])[0],
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize("shape", SHAPED)
def test_gradients_of_large_numbers(shape, shift, mode):
    x, small = shifted(SHAPED[shape], shift)
    shares, rows = scipy.special.softmax(small), scipy.special.softmax(small, axis=-1)
    weights = np.cos(np.arange(x.size)).reshape(x.shape)
    run = MODES[mode]
    np.testing.assert_allclose(run(ag.special.logsumexp, x), shares, rtol=1e-14, atol=1e-300)
    np.testing.assert_allclose(run(lambda z: np.sum(ag.special.logsumexp(z, axis=-1)), x), rows, rtol=1e-14, atol=1e-300)
    np.testing.assert_allclose(run(lambda z: np.sum(np.logaddexp.reduce(z, axis=-1)), x), rows, rtol=1e-14, atol=1e-300)
    of_log = weights - rows * np.sum(weights, -1, keepdims=True)
    np.testing.assert_allclose(
        run(lambda z: np.sum(weights * ag.special.log_softmax(z, -1)), x), of_log, rtol=1e-13, atol=1e-15
    )
    of_softmax = rows * (weights - np.sum(rows * weights, -1, keepdims=True))
    np.testing.assert_allclose(
        run(lambda z: np.sum(weights * ag.special.softmax(z, -1)), x), of_softmax, rtol=1e-12, atol=1e-16
    )


@pytest.mark.parametrize("axis", [None, 0, 1, (0, 2), (1, 2), -1])
def test_recorded_values_of_large_numbers(axis):
    x = shifted(np.sin(np.arange(24.0)).reshape(2, 3, 4), 1e16)[0]
    compiled = ag.compile(lambda z: (ag.special.softmax(z, axis), ag.special.log_softmax(z, axis)))
    for point in (x, 2.0 * x - 1e16, np.full_like(x, -np.inf), x * np.inf):
        with np.errstate(all="ignore"):
            shares, logarithms = compiled(point)
            np.testing.assert_allclose(shares, scipy.special.softmax(point, axis=axis), rtol=1e-14)
            np.testing.assert_allclose(logarithms, scipy.special.log_softmax(point, axis=axis), rtol=1e-14, atol=1e-14)


def test_two_equal_ones():
    x = np.full((1, 2), 1e16)
    np.testing.assert_array_equal(ag.vmap(ag.grad(ag.special.logsumexp))(x), [[0.5, 0.5]])
    np.testing.assert_array_equal(ag.compile(lambda z: ag.special.softmax(z))(x[0]), [0.5, 0.5])


@pytest.mark.parametrize("shift", SHIFTS)
def test_second_and_third_derivatives(shift):
    x, small = shifted(SHAPED["vector"], shift)
    s, e = scipy.special.softmax(small), np.eye(4)
    second = np.diag(s) - np.outer(s, s)
    third = np.einsum("ij,ik->ijk", np.diag(s), e) - np.einsum("ij,i,k->ijk", e, s, s)
    third -= np.einsum("ik,i,j->ijk", e, s, s) + np.einsum("jk,j,i->ijk", e, s, s) - 2 * np.einsum("i,j,k->ijk", s, s, s)
    f = ag.special.logsumexp
    for transform in (ag.hessian(f), ag.jacrev(ag.grad(f)), ag.jacfwd(ag.jacfwd(f)), ag.jacrev(ag.special.softmax)):
        np.testing.assert_allclose(transform(x), second, rtol=1e-13, atol=1e-15)
        np.testing.assert_allclose(ag.vmap(transform)(x[None])[0], second, rtol=1e-13, atol=1e-15)
    for transform in (ag.jacrev(ag.hessian(f)), ag.jacfwd(ag.jacrev(ag.grad(f))), ag.jacrev(ag.jacfwd(ag.special.softmax))):
        np.testing.assert_allclose(transform(x), third, rtol=1e-13, atol=1e-15)


def test_infinite_entries():
    f = ag.special.logsumexp
    cases = {
        (-np.inf, 1.0, 1.0): [0, 0.5, 0.5],
        (np.inf, 1.0, np.inf): [0.5, 0, 0.5],
        (-np.inf, -np.inf, -np.inf): [0, 0, 0],
    }
    for x, expected in cases.items():
        for mode in ("grad", "vmapped", "nested", "nested forwards"):
            np.testing.assert_array_equal(MODES[mode](f, np.array(x)), expected)
    assert ag.jacobian(ag.special.softmax, sparse=True)(np.arange(6.0).reshape(2, 3)).nnz == 36
    assert ag.jacobian(lambda z: ag.special.softmax(z, 1), sparse=True)(np.arange(6.0).reshape(2, 3)).nnz == 18


CERTAIN = [[60.0, 0.0, 3.0, -np.inf], [1.0, 1.5, 1.5, 1.0], [0.0, -800.0, -700.0, 0.2], [-5.0, 40.0, 1.0, 1.0]]


@pytest.mark.thread_unsafe(reason="mpmath's precision belongs to the process")
@pytest.mark.parametrize("line", CERTAIN)
def test_a_certain_category(line):
    """1 - share keeps its digits where the share is near 1: value, gradients and Hessians beside mpmath."""
    line, each = np.array(line), range(4)
    with mpmath.workdps(400):
        powers = [mpmath.exp(v) for v in line]
        shares = [e / mpmath.fsum(powers) for e in powers]
        rests = [mpmath.fsum(shares) - s for s in shares]
        logs = np.array([float(mpmath.log(s)) if s else -np.inf for s in shares])
        slopes = np.array([[float(rests[j] if i == j else -shares[i]) for i in each] for j in each])
        second = np.array([[float(-rests[j] * shares[j] if i == j else shares[i] * shares[j]) for i in each] for j in each])
    log_softmax = ag.special.log_softmax
    finite = np.isfinite(line)
    np.testing.assert_allclose(ag.compile(log_softmax)(line), logs, rtol=1e-14, atol=1e-300)
    for jacobian in (ag.jacrev, ag.jacfwd):
        np.testing.assert_allclose(jacobian(log_softmax)(line)[finite], slopes[finite], rtol=1e-14, atol=1e-300)
        both = jacobian(lambda x: log_softmax(x, 0))(np.stack([line, np.zeros(4)], 1))  # beside another line
        np.testing.assert_allclose(both[finite, 0, :, 0], slopes[finite], rtol=1e-14, atol=1e-300)
    np.testing.assert_allclose(ag.vmap(ag.jacrev(log_softmax))(line[None])[0, finite], slopes[finite], rtol=1e-14, atol=1e-300)
    for j in np.flatnonzero(finite):
        np.testing.assert_allclose(ag.hessian(lambda x, j=j: log_softmax(x)[j])(line), second, rtol=1e-13, atol=1e-300)
