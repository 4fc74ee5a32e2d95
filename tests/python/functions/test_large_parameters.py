"""Multivariate densities with large parameters and counts: values, first and second derivatives in every mode against mpmath.

Logarithms of gamma functions of 1e15 are 1e16 times as large as their sums here. Sums of the parameters are exact, and shares
are multiples of 1/4, so that rounding errors of the arguments play no part.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

import agrad as ag

mp = mpmath.MPContext()  # its precision belongs to this file
mp.dps = 60

SCALES = [8.0, 200.0, 1e3, 1e6, 1e9, 1e12, 1e15]
SHARES = np.array([0.25, 0.5, 0.25])


def near(scale: float, distance: float) -> np.ndarray:
    """Return whole numbers near four times the scale and the shares: at a distance in units of their standard deviations."""
    steps = distance * np.array([1.0, -0.5, 0.25])
    return np.floor(4 * scale * SHARES + steps * np.sqrt(scale))


def log_multinomial(y: Any) -> Any:
    return mp.loggamma(sum(y) + 1) - mp.fsum(mp.loggamma(n + 1) for n in y)


def multinomial(y: Any, theta: Any) -> Any:
    return log_multinomial(y) + mp.fsum(n * mp.log(p) for n, p in zip(y, theta, strict=True))


def dirichlet(theta: Any, alpha: Any) -> Any:
    powers = mp.fsum((a - 1) * mp.log(p) - mp.loggamma(a) for a, p in zip(alpha, theta, strict=True))
    return mp.loggamma(mp.fsum(alpha)) + powers


def dirichlet_multinomial(n: Any, alpha: Any) -> Any:
    total, weights = mp.fsum(n), mp.fsum(alpha)
    terms = mp.fsum(mp.loggamma(x + a) - mp.loggamma(a) for x, a in zip(n, alpha, strict=True))
    return log_multinomial(n) + mp.loggamma(weights) - mp.loggamma(weights + total) + terms


def close(given: Any, truth: Any, rel: float, unit: float = 0.0) -> None:
    np.testing.assert_allclose(given, np.array(truth, dtype=float), rtol=rel, atol=unit)


def in_every_mode(f: Callable[[Any], Any], x: np.ndarray, slopes: Any, curvatures: Any, unit: float = 0.0) -> None:
    for gradient in (ag.grad(f), ag.compile(ag.grad(f)), ag.jacfwd(f), lambda v: ag.vmap(ag.grad(f))(np.array([v]))[0]):
        close(gradient(x), slopes, 1e-11, unit)
    for hessian in (ag.hessian(f), ag.jacfwd(ag.grad(f)), ag.compile(ag.jacrev(ag.grad(f)))):
        close(hessian(x), curvatures, 1e-11)


def rounding(scale: float) -> float:
    """Return the relative error of a sum of deviances that are not 0."""
    return 1e-13 + 1e-16 * np.sqrt(scale)


@pytest.mark.parametrize("distance", [0.0, 0.7, -2.0])
@pytest.mark.parametrize("scale", SCALES)
def test_multinomial_counts(scale: float, distance: float) -> None:
    y = near(scale, distance)
    truth = float(multinomial([mp.mpf(n) for n in y], [mp.mpf(p) for p in SHARES]))
    assert ag.multinomial_lpmf(y, SHARES) == pytest.approx(truth, rel=rounding(scale))
    assert ag.compile(ag.multinomial_lpmf)(y, SHARES) == pytest.approx(truth, rel=rounding(scale))
    rows = ag.multinomial_lpmf(y, np.array([SHARES, SHARES]))
    assert rows == pytest.approx(2 * truth, rel=rounding(scale))
    in_every_mode(lambda p: ag.multinomial_lpmf(y, p), SHARES, y / SHARES, np.diag(-y / SHARES**2))


@pytest.mark.parametrize("distance", [0.0, 0.7, -2.0])
@pytest.mark.parametrize("scale", SCALES)
def test_dirichlet_weights(scale: float, distance: float) -> None:
    alpha = near(scale, distance)
    exact = [mp.mpf(a) for a in alpha]
    truth = float(dirichlet([mp.mpf(p) for p in SHARES], exact))
    assert ag.dirichlet_lpdf(SHARES, alpha) == pytest.approx(truth, rel=rounding(scale))
    assert ag.compile(ag.dirichlet_lpdf)(SHARES, alpha) == pytest.approx(truth, rel=rounding(scale))
    assert ag.dirichlet_lpdf(np.array([SHARES, SHARES]), alpha) == pytest.approx(2 * truth, rel=rounding(scale))
    total = mp.fsum(exact)
    slopes = [mp.log(p) + mp.digamma(total) - mp.digamma(a) for p, a in zip(SHARES, exact, strict=True)]
    curvatures = [[mp.psi(1, total) - (mp.psi(1, a) if i == j else 0) for j in range(3)] for i, a in enumerate(exact)]
    unit = 0.0 if scale > 100 else 1e-15  # plain terms lose digits where the slope is small
    in_every_mode(lambda a: ag.dirichlet_lpdf(SHARES, a), alpha, slopes, curvatures, unit)
    in_every_mode(lambda p: ag.dirichlet_lpdf(p, alpha), SHARES, (alpha - 1) / SHARES, np.diag((1 - alpha) / SHARES**2))
    by_both = ag.jacfwd(ag.grad(ag.dirichlet_lpdf, argnums=0), argnums=1)(SHARES, alpha)
    close(by_both, np.diag(1 / SHARES), 1e-14)


@pytest.mark.parametrize("distance", [0.0, 0.7, -2.0])
@pytest.mark.parametrize("scale", SCALES)
def test_dirichlet_multinomial_counts_and_weights(scale: float, distance: float) -> None:
    n, alpha = near(scale, distance), near(0.5 * scale, 0.3)
    counts, exact = [mp.mpf(x) for x in n], [mp.mpf(a) for a in alpha]
    truth = float(dirichlet_multinomial(counts, exact))
    assert ag.dirichlet_multinomial_lpmf(n, alpha) == pytest.approx(truth, rel=rounding(scale))
    total, weights = mp.fsum(counts), mp.fsum(exact)

    def polygammas(order: int) -> list[Any]:
        each = [mp.psi(order, a + x) - mp.psi(order, a) for a, x in zip(exact, counts, strict=True)]
        return [*each, mp.psi(order, weights) - mp.psi(order, weights + total)]

    first, second = polygammas(0), polygammas(1)
    curvatures = [[second[3] + (second[i] if i == j else 0) for j in range(3)] for i in range(3)]
    unit = 0.0 if scale > 200 else 1e-15
    in_every_mode(lambda a: ag.dirichlet_multinomial_lpmf(n, a), alpha, [s + first[3] for s in first[:3]], curvatures, unit)


@pytest.mark.parametrize("scale", SCALES)
def test_slopes_of_a_beta_density(scale: float) -> None:
    for x, y, t in [(scale, scale, 0.5), (scale, 3 * scale, 0.25), (3 * scale, scale, 0.75), (scale, scale + 2, 0.5)]:
        slopes = ag.grad(ag.beta_lpdf, argnums=(1, 2))(t, x, y)
        total = mp.digamma(mp.mpf(x) + mp.mpf(y))
        close(slopes, [mp.log(t) + total - mp.digamma(x), mp.log(1 - mp.mpf(t)) + total - mp.digamma(y)], 1e-12)
        bend = ag.grad(ag.grad(ag.beta_lpdf, argnums=1), argnums=1)(t, x, y)
        close(bend, mp.psi(1, mp.mpf(x) + mp.mpf(y)) - mp.psi(1, x), 1e-12)


@pytest.mark.parametrize("p", [1, 2, 5])
@pytest.mark.parametrize("scale", [*SCALES, 31.9, 32.1])
def test_shapes_of_correlation_matrices(scale: float, p: int) -> None:
    rest, eta = p - 1, mp.mpf(scale)

    def norm(f: Callable[[Any], Any]) -> Any:
        return rest * f(eta + mp.mpf(rest) / 2) - mp.fsum(f(eta + mp.mpf(k) / 2) for k in range(rest))

    value = norm(mp.loggamma) - mp.log(mp.pi) * rest * p / 4
    unit = np.eye(p)
    densities: list[Callable[[Any], Any]] = [lambda e: ag.lkj_corr_lpdf(unit, e), lambda e: ag.lkj_corr_cholesky_lpdf(unit, e)]
    for f in densities:
        close(f(scale), value, 1e-13, 1e-13)
        close(ag.grad(f)(scale), norm(mp.digamma), 1e-13, 1e-30)
        close(ag.compile(ag.grad(ag.grad(f)))(scale), norm(lambda x: mp.psi(1, x)), 1e-12, 1e-45)


@pytest.mark.parametrize("inverse", [False, True])
@pytest.mark.parametrize("scale", SCALES)
def test_degrees_of_freedom_of_wishart_matrices(scale: float, inverse: bool) -> None:
    nu, p = scale + 2, 2
    factor, root = np.array([[2.0, 0.0], [1.0, 2.0]]), np.sqrt(nu)
    quotient = np.array([[root + 0.5, 0.0], [0.25, root - 0.5]])  # of the factors of the matrix and of the scale
    if inverse:
        quotient = np.linalg.inv(quotient)
        quotient[0, 1] = 0.0
    w = factor @ quotient
    w[0, 1] = 0.0
    name = "inv_wishart" if inverse else "wishart"
    density = getattr(ag, f"{name}_cholesky_lpdf")
    a, s, half = mp.matrix(w.tolist()), mp.matrix(factor.tolist()), mp.mpf(nu) / 2
    m = mp.inverse(a) * s if inverse else mp.inverse(s) * a

    def multi(f: Callable[[Any], Any]) -> Any:
        return mp.fsum(f(half - mp.mpf(k) / 2) for k in range(p))

    logs = mp.fsum(mp.log(m[i, i]) for i in range(p))
    jacobian = mp.fsum(mp.log(2) + (p - i) * mp.log(a[i, i]) for i in range(p))
    powers = 2 * half * logs - mp.fsum(x * x for x in m) / 2 - (p + 1) * mp.fsum(mp.log(a[i, i]) for i in range(p))
    value = powers - half * p * mp.log(2) - multi(mp.loggamma) - mp.log(mp.pi) / 2 + jacobian
    assert density(w, nu, factor) == pytest.approx(float(value), rel=10 * rounding(scale))
    # The logarithm of the quotient has the rounding errors of its entries.
    slope = logs - p * mp.log(2) / 2 - multi(mp.digamma) / 2
    close(ag.grad(density, argnums=1)(w, nu, factor), slope, 1e-13, 2e-15)
    close(ag.compile(ag.grad(density, argnums=1))(w, nu, factor), slope, 1e-13, 2e-15)
    bend = ag.grad(ag.grad(density, argnums=1), argnums=1)(w, nu, factor)
    close(bend, -multi(lambda x: mp.psi(1, x)) / 4, 1e-12)
    of_matrices = getattr(ag, f"{name}_lpdf")(w @ w.T, nu, factor @ factor.T)
    assert of_matrices == pytest.approx(float(value - jacobian), rel=100 * rounding(scale))


def test_one_row_is_a_chi_square_density() -> None:
    for nu in (1e9, 1e12, 1e15):
        one, w = np.eye(1), np.array([[nu]])
        assert ag.wishart_lpdf(w, nu, one) == pytest.approx(ag.chi_square_lpdf(nu, nu), rel=1e-13)
        assert ag.grad(ag.wishart_lpdf, argnums=1)(w, nu, one) == pytest.approx(0.5 / nu, rel=1e-6, abs=2e-16)
