"""Kernels of Gaussian processes against their formulas in mpmath's derivatives, also at coincident points, in every mode."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

import agrad as ag

pytestmark = pytest.mark.thread_unsafe(reason="mpmath's precision belongs to the process")


def matern32(r: Any) -> Any:
    return (1 + mpmath.sqrt(3) * r) * mpmath.exp(-mpmath.sqrt(3) * r)


def matern52(r: Any) -> Any:
    return (1 + mpmath.sqrt(5) * r + 5 * r * r / 3) * mpmath.exp(-mpmath.sqrt(5) * r)


#: Correlations of the distance in length scales.
STATIONARY: dict[str, Callable[[Any], Any]] = {
    "gp_exp_quad_cov": lambda r: mpmath.exp(-r * r / 2),
    "cov_exp_quad": lambda r: mpmath.exp(-r * r / 2),
    "gp_matern32_cov": matern32,
    "gp_matern52_cov": matern52,
    "gp_exponential_cov": lambda r: mpmath.exp(-r),
}
RNG = np.random.default_rng(1)
LINE, PLANE, OTHERS = RNG.normal(size=4), RNG.normal(size=(4, 2)), RNG.normal(size=(3, 2))
each = pytest.mark.parametrize("name", STATIONARY)


def stationary(name: str, a: Any, b: Any, sigma: Any, scale: Any) -> Any:
    """One entry, by mpmath; scale is a number, or one for each dimension."""
    scales = list(scale) if np.ndim(scale) else [scale] * len(a)
    return sigma**2 * STATIONARY[name](mpmath.sqrt(sum(((x - y) / s) ** 2 for x, y, s in zip(a, b, scales, strict=True))))


@each
@pytest.mark.parametrize("scale", [0.7, np.array([0.7, 1.9])], ids=["one", "ard"])
def test_values_are_those_of_the_formula(name, scale):
    kernel = getattr(ag, name)
    exact = [[float(stationary(name, a, b, 1.3, scale)) for b in OTHERS] for a in PLANE]
    np.testing.assert_allclose(kernel(PLANE, OTHERS, 1.3, scale), exact, rtol=1e-14)
    exact = [[float(stationary(name, a, b, 1.3, scale)) for b in PLANE] for a in PLANE]
    np.testing.assert_allclose(kernel(PLANE, 1.3, scale), exact, rtol=1e-14)
    np.testing.assert_array_equal(kernel(PLANE, 1.3, scale), kernel(PLANE, 1.3, scale).T)
    np.testing.assert_allclose(kernel(LINE, 1.3, 0.7), kernel(LINE[:, None], LINE, 1.3, 0.7), rtol=1e-15)


def entry(name: str) -> Callable[..., Any]:
    """An entry as a function of a point, another point, sigma and two length scales."""
    return lambda x: getattr(ag, name)(x[None, 0:2], x[None, 2:4], x[4], x[5:7])[0, 0]


@each
def test_gradients_and_hessians_are_those_of_mpmath(name):
    x = np.array([0.3, -0.2, 0.9, 0.5, 1.3, 0.7, 1.9])
    f = entry(name)
    exact = lambda *p: stationary(name, p[0:2], p[2:4], p[4], p[5:7])  # noqa: E731
    with mpmath.workdps(40):
        orders = np.eye(7, dtype=int)
        point = tuple(map(mpmath.mpf, x))
        gradient = [float(mpmath.diff(exact, point, tuple(map(int, n)))) for n in orders]
        hessian = [[float(mpmath.diff(exact, point, tuple(map(int, n + m)))) for m in orders] for n in orders]
    for computed in (ag.grad(f)(x), ag.compile(ag.grad(f))(x), ag.jacfwd(f)(x)):
        np.testing.assert_allclose(computed, gradient, rtol=1e-12, atol=1e-14)
    for computed in (ag.hessian(f)(x), ag.compile(ag.hessian(f))(x), ag.jacfwd(ag.grad(f))(x)):
        np.testing.assert_allclose(computed, hessian, rtol=1e-11, atol=1e-13)


#: -k''(0) of the correlation of a distance: the curvature of the kernel along a line where points coincide.
CURVATURES = {"gp_exp_quad_cov": 1.0, "gp_matern32_cov": 3.0, "gp_matern52_cov": 5 / 3, "gp_exponential_cov": 0.0}


@pytest.mark.parametrize("name", CURVATURES)
@pytest.mark.parametrize("step", [0.0, 1e-9, 1e-160])
def test_where_points_coincide_derivatives_are_finite_and_right(name, step):
    x = np.array([0.3, -0.2, 0.3 + step, -0.2, 1.3, 0.7, 1.9])
    if step == 1e-160:
        x[[0, 2]] = 0.0, step  # a distance whose square underflows
    f = entry(name)
    is_smooth = name != "gp_exponential_cov" or x[0] == x[2]
    curvatures = CURVATURES[name] * 1.3**2 / x[5:7] ** 2
    block = np.diag(curvatures)
    for hessian in (ag.hessian(f)(x), ag.compile(ag.hessian(f))(x), ag.jacfwd(ag.grad(f))(x)):
        assert np.all(np.isfinite(ag.grad(f)(x)))
        if is_smooth:
            np.testing.assert_allclose(hessian[:4, :4], np.block([[-block, block], [block, -block]]), rtol=1e-7, atol=1e-7)
            np.testing.assert_allclose(hessian[4, 4], 2.0, rtol=1e-8)
    duplicated = lambda z: np.sum(np.sin(getattr(ag, name)(np.concatenate([z, z[:1]]), 1.1, 0.8)))  # noqa: E731
    z, h = np.array([0.2, 0.9, -0.4]), 1e-5
    for of, derivative in ((duplicated, ag.grad(duplicated)), (ag.grad(duplicated), ag.hessian(duplicated))):
        differences = [(of(z + h * e) - of(z - h * e)) / (2 * h) for e in np.eye(3)]
        np.testing.assert_allclose(derivative(z), differences, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("step", [1e-9, 1e-3])
def test_the_exponential_kernel_bends_sharply_between_close_points(step):
    x = np.array([0.0, -0.2, step, -0.2, 1.3, 0.7, 1.9])
    exact = lambda *p: stationary("gp_exponential_cov", p[0:2], p[2:4], p[4], p[5:7])  # noqa: E731
    with mpmath.workdps(60):
        orders, point = np.eye(7, dtype=int), tuple(map(mpmath.mpf, x))
        hessian = [[float(mpmath.diff(exact, point, tuple(map(int, n + m)))) for m in orders] for n in orders]
    f = entry("gp_exponential_cov")
    largest = np.max(np.abs(hessian))  # of the order 1 / step; terms of this order cancel along the line through the points
    for computed in (ag.hessian(f)(x), ag.compile(ag.hessian(f))(x), ag.jacfwd(ag.grad(f))(x)):
        np.testing.assert_allclose(computed, hessian, rtol=1e-11, atol=4e-15 * largest)


@pytest.mark.parametrize("r", [1e-9, 1e-5, 1e-2])
@pytest.mark.parametrize(("name", "exact"), [("gp_matern32_cov", matern32), ("gp_matern52_cov", matern52)])
def test_no_digits_cancel_between_close_points(name, exact, r):
    of = lambda x: getattr(ag, name)(x, np.zeros(1), 1.0, 1.0)[0, 0]  # noqa: E731
    x = np.array([r])
    with mpmath.workdps(50):
        slope, curvature = (float(mpmath.diff(exact, mpmath.mpf(r), n)) for n in (1, 2))
    assert ag.grad(of)(x)[0] == pytest.approx(slope, rel=1e-14)
    assert ag.hessian(of)(x)[0, 0] == pytest.approx(curvature, rel=1e-13)


def test_far_points_have_no_covariance():
    for name in STATIONARY:
        for far in (1e4, 1e200):
            value, slope = ag.value_and_grad(lambda x, name=name: getattr(ag, name)(x, np.zeros(1), 1.0, 1.0)[0, 0])(
                np.array([far])
            )
            assert (value, slope[0]) == (0, 0)


@pytest.mark.parametrize("dimension", [1, 2])
def test_the_periodic_kernel(dimension):
    a, b = np.array([0.3, -0.2])[:dimension], np.array([0.9, 0.5])[:dimension]

    def of(x):
        return ag.gp_periodic_cov(x[None, :dimension], x[None, dimension : 2 * dimension], *x[2 * dimension :])[0, 0]

    def exact(*p):
        distance = mpmath.sqrt(sum((x - y) ** 2 for x, y in zip(p[:dimension], p[dimension : 2 * dimension], strict=True)))
        sigma, scale, period = p[2 * dimension :]
        return sigma**2 * mpmath.exp(-2 * mpmath.sin(mpmath.pi * distance / period) ** 2 / scale**2)

    x = np.array([*a, *b, 1.3, 0.7, 2.2])
    with mpmath.workdps(40):
        point = tuple(map(mpmath.mpf, x))
        orders = np.eye(len(x), dtype=int)
        gradient = [float(mpmath.diff(exact, point, tuple(map(int, n)))) for n in orders]
        diagonal = [float(mpmath.diff(exact, point, tuple(map(int, 2 * n)))) for n in orders]
        assert of(x) == pytest.approx(float(exact(*point)), rel=1e-14)
    np.testing.assert_allclose(ag.grad(of)(x), gradient, rtol=1e-12)
    np.testing.assert_allclose(np.diagonal(ag.compile(ag.hessian(of))(x)), diagonal, rtol=1e-10)
    x = np.array([*a, *a, 1.3, 0.7, 2.2])
    curvature = -4 * 1.3**2 * math.pi**2 / (0.7 * 2.2) ** 2
    np.testing.assert_allclose(np.diagonal(ag.hessian(of)(x))[: 2 * dimension], curvature, rtol=1e-12)
    np.testing.assert_array_equal(ag.grad(of)(x)[: 2 * dimension], 0)
    assert ag.gp_periodic_cov(np.array([0.0, 2.2]), 1.3, 0.7, 2.2)[0, 1] == pytest.approx(1.69, rel=1e-14)


def test_the_dot_product_kernel():
    np.testing.assert_allclose(ag.gp_dot_prod_cov(PLANE, OTHERS, 1.5), 2.25 + PLANE @ OTHERS.T, rtol=1e-15)
    np.testing.assert_allclose(ag.gp_dot_prod_cov(LINE, 1.5), 2.25 + np.outer(LINE, LINE), rtol=1e-15)
    gradient = ag.grad(lambda x, s: ag.gp_dot_prod_cov(x, s)[0, 1], (0, 1))(LINE, 1.5)
    np.testing.assert_allclose(gradient[0], [LINE[1], LINE[0], 0, 0])
    assert gradient[1] == pytest.approx(3.0)


def test_parameters_are_checked_at_each_run():
    compiled = ag.compile(ag.grad(lambda p: ag.gp_matern32_cov(LINE, p[0], p[1])[0, 1]))
    assert np.all(np.isfinite(compiled(np.array([1.0, 2.0]))))
    with pytest.raises(ag.DomainError, match=r"gp_matern32_cov: length_scale is -2, but must be positive and finite"):
        compiled(np.array([1.0, -2.0]))


@pytest.mark.parametrize("name", [*STATIONARY, "gp_periodic_cov", "gp_dot_prod_cov"])
def test_points_are_checked_at_each_run(name):
    parameters = {"gp_periodic_cov": (1.3, 0.7, 2.2), "gp_dot_prod_cov": (1.3,)}.get(name, (1.3, 0.7))

    def loss(x):
        return np.sum(getattr(ag, name)(x, PLANE, *parameters) ** 2)

    right = np.reshape(OTHERS, (3, 2))
    wrong = right.copy()
    wrong[2, 1] = np.nan
    for call in (ag.grad(loss), ag.jacfwd(loss), ag.hessian(loss), ag.compile(ag.grad(loss)), ag.compile(ag.hessian(loss))):
        assert np.all(np.isfinite(call(right)))
        with pytest.raises(ag.DomainError, match=rf"^{name}: x1\[2, 1\] is nan, but must be finite"):
            call(wrong)
    of_rows = ag.vmap(ag.grad(loss))
    assert np.all(np.isfinite(of_rows(np.stack([right, right]))))
    with pytest.raises(ag.DomainError, match=rf"^{name}: x1\[5\] is nan, but must be finite"):  # rows count places in memory
        of_rows(np.stack([right, wrong]))


@pytest.mark.parametrize("dimension", [1, 2])
def test_a_period_in_the_smallest_length_scales(dimension):
    def of(x, scale):
        return ag.gp_periodic_cov(x, 1.3, scale, 2.2)[0, 1]

    x, scale = np.ones((2, dimension)), 1e-200
    for call in (of, ag.compile(of)):
        assert call(x, scale) == pytest.approx(1.69, rel=1e-15)
    for gradient in (ag.grad(of, (0, 1)), ag.compile(ag.grad(of, (0, 1)))):
        of_points, of_scale = gradient(x, scale)
        np.testing.assert_array_equal(of_points, 0)
        assert of_scale == 0
    assert ag.gp_periodic_cov(x, x, 1.3, scale, 2.2)[0, 1] == pytest.approx(1.69, rel=1e-15)


def test_a_marginal_likelihood_and_rows_of_vmap():
    y = np.sin(LINE)

    def loss(p):
        covariance = ag.gp_matern52_cov(LINE, p[0], p[1]) + 0.1 * np.eye(4)
        return 0.5 * y @ np.linalg.solve(covariance, y) + 0.5 * np.linalg.slogdet(covariance)[1]

    p = np.array([1.2, 0.6])
    ag.check_grads(loss, p)
    rows = ag.vmap(ag.grad(loss))(np.stack([p, 2 * p]))
    np.testing.assert_allclose(rows[1], ag.grad(loss)(2 * p), rtol=1e-12)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: ag.gp_exp_quad_cov(LINE, 1.0),
            TypeError,
            "number of arguments is 2, but must be 3, or 4 with two sets of points",
        ),
        (
            lambda: ag.gp_exp_quad_cov(np.zeros((2, 2, 2)), 1.0, 1.0),
            ag.ShapeError,
            r"x has shape \(2, 2, 2\), but must have shape",
        ),
        (
            lambda: ag.gp_exp_quad_cov(PLANE, LINE, 1.0, 1.0),
            ag.ShapeError,
            "x2 has points of length 1, but must have points of",
        ),
        (
            lambda: ag.gp_exp_quad_cov(PLANE, 1.0, np.ones(3)),
            ag.ShapeError,
            r"length_scale has shape \(3,\), but must have shape",
        ),
        (
            lambda: ag.gp_exp_quad_cov(PLANE, np.ones(2), 1.0),
            ag.ShapeError,
            r"sigma has shape \(2,\), but must have shape \(\)$",
        ),
        (
            lambda: ag.gp_periodic_cov(LINE, 1.0, 1.0, 0.0),
            ag.DomainError,
            "gp_periodic_cov: period is 0, but must be positive",
        ),
        (lambda: ag.gp_dot_prod_cov(LINE, np.nan), ag.DomainError, "sigma is nan, but must be positive and finite"),
        (lambda: ag.gp_matern32_cov([0.0, np.inf], 1.0, 1.0), ag.DomainError, r"x\[1\] is inf, but must be finite"),
        (lambda: ag.gp_dot_prod_cov([[0.0, 1.0], [2.0, np.nan]], 1.0), ag.DomainError, r"x\[1, 1\] is nan, but must be finite"),
        (
            lambda: ag.gp_matern52_cov(PLANE, OTHERS, 1.0, [1.0, -1.0]),
            ag.DomainError,
            r"gp_matern52_cov: length_scale\[1\] is -1, but must be positive and finite",
        ),
    ],
)
def test_faults(call, error, message):
    with pytest.raises(error, match=message):
        call()
