"""Second derivatives where eigenvalues or singular values are equal, nearly equal or zero: right or refused, never wrong.

The references are the same functions of the matrix itself, without its spectrum.
"""

import numpy as np
import pytest

import agrad as ag

ENGINES = {
    "hessian": ag.hessian,
    "jacfwd(grad)": lambda f: ag.jacfwd(ag.grad(f)),
    "compile(hessian)": lambda f: ag.compile(ag.hessian(f)),
    "jacrev(grad)": lambda f: ag.jacrev(ag.grad(f)),
    "jacrev(jacfwd)": lambda f: ag.jacrev(ag.jacfwd(f)),
    "jacfwd(jacfwd)": lambda f: ag.jacfwd(ag.jacfwd(f)),
}
RIGHT = ("hessian", "jacfwd(grad)", "compile(hessian)")
W = np.cos(np.arange(9.0)).reshape(3, 3)


def half(a):
    return (a + a.T) / 2


def compound(n):
    return 0.5 * np.eye(n) + 0.5


def nearly(gap):
    q = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    return half(q @ np.diag([1.0, 1.0 + gap, 2.0]) @ q.T)


def check(function, reference, a, engines=RIGHT, tolerance=1e-11):
    """The engines give the right Hessian, the others too or DomainError."""
    expected = ag.hessian(reference)(a)
    scale = 1 + np.max(np.abs(expected))
    np.testing.assert_allclose(ag.grad(function)(a), ag.grad(reference)(a), rtol=0, atol=1e-11 * scale)
    for name, engine in ENGINES.items():
        try:
            found = engine(function)(a)
        except ag.DomainError:
            if name in engines:
                raise
        else:
            np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * scale, err_msg=name)


EIGVALS = [
    (lambda a: np.sum(np.linalg.eigvals(a) ** 2).real, lambda a: np.trace(a @ a)),
    (lambda a: np.sum(np.linalg.eigvals(a)).real ** 2, lambda a: np.trace(a) ** 2),
    (lambda a: np.sum(np.exp(np.linalg.eigvals(a))).real, lambda a: np.trace(ag.linalg.expm(a))),
]


@pytest.mark.parametrize("a", [np.eye(2), np.zeros((3, 3)), compound(5), np.diag([1.0, 1.0, 3.0])])
@pytest.mark.parametrize(("function", "reference"), EIGVALS)
def test_general_eigenvalues(function, reference, a):
    check(function, reference, a)


def test_log_determinant_by_eigenvalues():
    for a in (np.eye(3), compound(5)):
        check(lambda x: np.sum(np.log(np.linalg.eigvals(x))).real, lambda x: np.linalg.slogdet(x)[1], a)
        check(lambda x: np.sum(np.log(np.linalg.eigvalsh(x))), lambda x: np.linalg.slogdet(half(x))[1], a)


def test_equal_eigenvalues_in_complex_pairs():
    turn = np.array([[0.5, 1.0], [-1.0, 0.5]])
    a = np.kron(np.eye(2), turn)
    check(lambda x: np.sum(np.linalg.eigvals(x) ** 3).real, lambda x: np.trace(x @ x @ x), a)


EIGVALSH = [
    (lambda a: np.sum(np.linalg.eigvalsh(a) ** 2), lambda a: np.sum(half(a) ** 2)),
    (lambda a: np.sum((np.linalg.eigvalsh(a) - 1) ** 2), lambda a: np.sum((half(a) - np.eye(len(a))) ** 2)),
    (lambda a: np.sum(np.linalg.eigvalsh(a)) ** 2, lambda a: np.trace(a) ** 2),
    (lambda a: np.sum(np.linalg.eigvalsh(a)), np.trace),
    (
        lambda a: np.log(np.sum(np.exp(np.linalg.eigvalsh(a)))),
        lambda a: np.log(np.trace(ag.linalg.expm(half(a)))),
    ),
]


@pytest.mark.parametrize("a", [np.eye(2), np.zeros((3, 3)), compound(3), np.diag([1.0, 1.0, 3.0])])
@pytest.mark.parametrize(("function", "reference"), EIGVALSH)
def test_symmetric_eigenvalues(function, reference, a):
    check(function, reference, a)


DEFICIENT = np.outer([1.0, 2.0, 3.0], [1.0, 0.0, 2.0])
SINGULAR = [
    np.eye(3),
    np.zeros((2, 2)),
    np.zeros((4, 3)),
    np.zeros((2, 3)),
    DEFICIENT,
    np.outer([1.0, 2.0, 3.0, 4.0], [1.0, 0.0, 2.0]),
    np.outer([1.0, 2.0, 3.0], [1.0, 0.0, 2.0, 4.0, 5.0]),
    np.diag([2.0, 2.0, 0.0]),
    np.cos(np.arange(12.0)).reshape(4, 3),
]


@pytest.mark.parametrize("a", SINGULAR)
def test_singular_values(a):
    check(lambda x: np.sum(np.linalg.svdvals(x) ** 2), lambda x: np.sum(x * x), a)
    check(lambda x: np.sum(np.linalg.svdvals(x) ** 4), lambda x: np.sum((x @ x.T) ** 2), a)
    check(
        lambda x: np.sum(np.log(1 + np.linalg.svdvals(x) ** 2)),
        lambda x: np.linalg.slogdet(np.eye(len(x)) + x @ x.T)[1],
        a,
    )


def test_hessian_vector_product_at_zero():
    direction = np.array([[0.0, 1.0], [0.0, 0.0]])
    found = ag.hvp(lambda a: np.sum(np.linalg.svdvals(a) ** 2))(np.zeros((2, 2)), direction)
    np.testing.assert_allclose(found, 2 * direction, atol=1e-14)


def by_svd(power):
    def rebuilt(a):
        u, s, v = np.linalg.svd(a, full_matrices=False)
        return np.sum(W * ((u * s**power) @ v))

    return rebuilt


def test_singular_vectors_of_deficient_rank():
    for a in (np.diag([1.9, 0.0, 1.1e-10]), DEFICIENT):
        check(by_svd(3), lambda x: np.sum(W * (x @ x.T @ x)), a, ())
    with pytest.raises(ag.DomainError):
        ag.grad(by_svd(1))(DEFICIENT)


@pytest.mark.parametrize("gap", [0, 1e-12, 1e-10, 5e-8, 1e-6, 1e-4])
def test_nearly_equal_eigenvalues(gap):
    def cubes(a):
        w, v = np.linalg.eigh(a)
        return np.sum(W * ((v * w**3) @ v.T))

    def reference(a):
        return np.sum(W * (half(a) @ half(a) @ half(a)))

    a = nearly(gap)
    check(cubes, reference, a, (), 1e-6)
    check(lambda x: np.sum(np.log(np.linalg.eigvalsh(x))), lambda x: np.linalg.slogdet(half(x))[1], a, RIGHT, 1e-6)
    check(lambda x: np.sum(np.log(np.linalg.eigvals(x))).real, lambda x: np.linalg.slogdet(x)[1], a, (), 1e-6)


def test_what_is_not_known_is_refused():
    for a in (np.eye(3), compound(3)):
        for name in ("jacrev(grad)", "jacfwd(jacfwd)"):
            with pytest.raises(ag.DomainError, match=r"^eigvalsh: a is degenerate"):
                ENGINES[name](lambda x: np.sum(np.log(np.linalg.eigvalsh(x))))(a)

    def rebuilt(a):  # 0 / 0: the vectors of zeros are multiplied by zero
        w, v = np.linalg.eigh(a)
        return np.sum(W * ((v * w) @ v.T))

    with pytest.raises(ag.DomainError, match=r"^eigh: a is degenerate"):
        ag.grad(rebuilt)(np.diag([0.0, 0.0, 1.0]))


# ---- scales ----------------------------------------------------------------------------------------------------------

TALL = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]])


@pytest.mark.parametrize("scale", [2.0**-400, 2.0**400, 2.0**-500, 2.0**500])
def test_pseudoinverse_of_any_scale(scale):
    weights = np.cos(np.arange(6.0)).reshape(2, 3)
    expected = ag.grad(lambda a: np.sum(weights * np.linalg.pinv(a)))(TALL)
    found = ag.vjp(np.linalg.pinv, scale * TALL)[1](weights * scale)
    np.testing.assert_allclose(found[0] * scale, expected, rtol=1e-12)


@pytest.mark.parametrize("scale", [1e-160, 1e-300, 1e160, 1e300])
def test_factors_of_any_scale(scale):
    b = np.arange(3.0)
    q, r = ag.compile(lambda a: tuple(np.linalg.qr(a)))(scale * TALL)
    np.testing.assert_allclose(q, np.linalg.qr(TALL).Q, atol=1e-15)
    np.testing.assert_allclose(r / scale, np.linalg.qr(TALL).R, rtol=1e-13)
    found = ag.compile(lambda a: np.linalg.lstsq(a, b, rcond=None)[0])(scale * TALL)
    np.testing.assert_allclose(found * scale, np.linalg.lstsq(TALL, b, rcond=None)[0], rtol=1e-12)
    found = ag.compile(np.linalg.pinv)(scale * TALL)
    np.testing.assert_allclose(found * scale, np.linalg.pinv(TALL), rtol=1e-12, atol=1e-14)  # an entry is 0
    weights = np.cos(np.arange(4.0)).reshape(2, 2)
    expected = ag.grad(lambda a: np.sum(weights * np.linalg.qr(a)[1]))(TALL)
    np.testing.assert_allclose(ag.grad(lambda a: np.sum(weights * np.linalg.qr(a)[1]))(scale * TALL), expected, rtol=1e-12)


def test_gradients_of_determinants_that_over_or_underflow():
    for scale in (1e-200, 1e200):
        np.testing.assert_allclose(ag.grad(np.linalg.det)(np.diag([scale, scale])), np.diag([scale, scale]), rtol=1e-13)
    a = np.diag([1e200, 1e200, 1e-200, 1e-200])
    np.testing.assert_allclose(ag.compile(np.linalg.det)(a), 1, rtol=1e-13)
    np.testing.assert_allclose(np.diag(ag.grad(np.linalg.det)(a)), [1e-200, 1e-200, 1e200, 1e200], rtol=1e-13)
