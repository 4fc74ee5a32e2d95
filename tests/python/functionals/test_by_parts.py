"""Sums by parts and maps of jobs: the whole, its derivatives, the empty sum, what is refused."""

import numpy as np
import pytest

import agrad as ag

Y, X = np.array([1.0, 2.0, 4.0, 3.0, 0.5]), np.arange(5.0)


def part(y, start, end, b):
    assert y.shape == (end - start,)
    return np.sum(-0.5 * (y - b[0] - b[1] * X[start:end]) ** 2)


def test_sums():
    b = np.array([0.3, 0.7])
    whole = part(Y, 0, 5, b)
    assert ag.reduce_sum(part, Y, 1, b) == whole
    slope = ag.grad(lambda b: part(Y, 0, 5, b))(b)
    for size in (1, 2, 5, 9):
        assert ag.reduce_sum_static(part, Y, size, b) == pytest.approx(whole, rel=1e-14)
        np.testing.assert_allclose(ag.grad(lambda b, size=size: ag.reduce_sum_static(part, Y, size, b))(b), slope, rtol=1e-13)
    np.testing.assert_allclose(ag.compile(ag.grad(lambda y: ag.reduce_sum(part, y, 1, b)))(Y), -(Y - b[0] - b[1] * X))
    assert ag.reduce_sum(part, [], 1, b) == ag.reduce_sum_static(part, [], 1, b) == 0.0
    for call, kind, match in (
        (lambda: ag.reduce_sum(part, Y, 0, b), ag.DomainError, "grainsize is 0"),
        (lambda: ag.reduce_sum_static(lambda y, i, j: y, Y, 2), ag.ShapeError, r"entries 0 to 2 is of shape \(2,\)"),
        (lambda: ag.reduce_sum(lambda y, i, j: None, Y, 2), TypeError, "entries 0 to 5 is None, but must be a number; does"),
    ):
        with pytest.raises(kind, match=match):
            call()


def density(y, start, end, b, s):
    return ag.normal_lpdf(y, b["slope"][0] * X[start:end], s)


@pytest.mark.parametrize("sum_of", [ag.reduce_sum, ag.reduce_sum_static])
@pytest.mark.parametrize("size", [1, 2, 9])
def test_derivatives_of_sums_in_every_engine_are_those_of_plain_sums(sum_of, size):
    def f(slope, s, y=Y):
        return sum_of(density, y, size, {"slope": (slope,)}, s)

    def plain(slope, s, y=Y):
        return -0.5 * np.sum(((y - slope * X) / s) ** 2) - 5 * np.log(s) - 2.5 * np.log(2 * np.pi)

    both = {"argnums": (0, 1)}
    for transform in (
        lambda f: ag.grad(f, **both),
        lambda f: ag.hessian(f, **both),
        lambda f: ag.compile(ag.hessian(f, **both)),
        lambda f: ag.jacfwd(ag.grad(f), **both),
        lambda f: lambda b, s: ag.vmap(ag.grad(f, **both))(np.array([b, 0.1]), np.array([s, 2.0])),
        lambda f: lambda b, s: ag.compile(ag.grad(f, argnums=2))(b, s, Y),
    ):
        for given, exact in zip(transform(f)(0.7, 1.3), transform(plain)(0.7, 1.3), strict=True):
            np.testing.assert_allclose(given, exact, rtol=1e-13, atol=1e-14)
    inner = ag.grad(lambda b: sum_of(lambda y, i, j, b: ag.grad(lambda c: np.sum(y * c**3))(b), Y, size, b))
    assert inner(2.0) == pytest.approx(12 * np.sum(Y), rel=1e-14)
    assert ag.compile(lambda y: sum_of(density, y, size, {"slope": (0.7,)}, 1.0))(np.zeros(0)) == 0
    assert sum_of(lambda y, i, j: sum(y), [1, 2, 3], size) == sum_of(lambda y, i, j: sum(y), range(1, 4), size) == 6
    with pytest.raises(ag.DomainError, match=r"^normal_lpdf: sigma is -1, but must be positive"):
        ag.compile(f)(0.7, -1.0)
    with pytest.raises(ZeroDivisionError):
        sum_of(lambda *_: 1 / 0, Y, size)


@pytest.mark.parametrize("x", [3.0, None, np.float64(3.0), np.array(3.0), {0: 1.0}, {1.0}, iter([1.0])])
def test_what_is_no_sequence_is_refused_by_name(x):
    for call, name in (
        (lambda x: ag.reduce_sum(part, x, 1, [1.0, 2.0]), "reduce_sum: x"),
        (lambda x: ag.reduce_sum_static(part, x, 1, [1.0, 2.0]), "reduce_sum_static: x"),
        (lambda x: ag.map_rect(lambda *_: 1.0, 0, x, [1], [1]), "map_rect: theta"),
        (lambda x: ag.map_rect(lambda *_: 1.0, 0, [1], x, [1]), "map_rect: x_r"),
        (lambda x: ag.map_rect(lambda *_: 1.0, 0, [1], [1], x), "map_rect: x_i"),
    ):
        with pytest.raises(TypeError, match=rf"^{name} is (of type|a number).*, but must be an array or a sequence$"):
            call(x)
        with pytest.raises(TypeError, match=rf"^{name} is a number, but must be an array or a sequence"):
            ag.compile(call)(1.0)


def test_maps():
    def job(phi, theta, x_r, x_i):
        return phi * theta[x_i[0]] * np.exp(-theta[1] * x_r)

    theta, x_r, x_i = np.array([[1.0, 2.0], [3.0, 0.5]]), [np.array([0.1, 0.2]), np.array([0.3])], [[0], [1]]

    def f(theta):
        return ag.map_rect(job, 2.0, theta, x_r, x_i)

    expected = [2 * np.exp(-0.2), 2 * np.exp(-0.4), np.exp(-0.15)]
    np.testing.assert_allclose(f(theta), expected)
    np.testing.assert_allclose(ag.compile(f)(theta), expected)
    ag.check_grads(f, theta, order=2)
    np.testing.assert_allclose(ag.vmap(f)(np.stack([theta, 2 * theta])), [f(theta), f(2 * theta)], rtol=1e-15)
    slopes = ag.grad(lambda c: np.sum(ag.map_rect(lambda c, t, r, i: ag.grad(lambda z: t[0] * z**3)(c), c, theta, x_r, x_i)))
    assert slopes(2.0) == pytest.approx(12 * 4.0, rel=1e-14)
    np.testing.assert_array_equal(ag.map_rect(lambda c, t, r, i: [c, t[0]], 0.5, theta, x_r, x_i), [0.5, 1.0, 0.5, 3.0])
    np.testing.assert_array_equal(ag.map_rect(job, 2.0, [], [], []), np.zeros(0))
    np.testing.assert_array_equal(ag.map_rect(lambda *_: 1.0, 0, [1], [1], [1]), [1.0])
    for call, kind, match in (
        (lambda: ag.map_rect(job, 2.0, theta, x_r[:1], x_i), ag.ShapeError, "x_r is of length 1, but must be of length 2"),
        (lambda: ag.map_rect(lambda *_: np.eye(2), 0, [1], [1], [1]), ag.ShapeError, r"job 0 is of shape \(2, 2\)"),
        (lambda: ag.map_rect(lambda *_: None, 0, [1], [1], [1]), TypeError, "job 0 is None"),
    ):
        with pytest.raises(kind, match=match):
            call()
