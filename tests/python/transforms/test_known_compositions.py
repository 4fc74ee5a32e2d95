"""Compositions with a finite derivative where an inner slope is infinite: sqrt(x)^2, exp(log(x)), logsumexp(log(w) + a)."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.optimize
import scipy.stats

import agrad as ag

#: A function of one number, its first and its second derivative.
OF_ONE = {
    "sqrt(x)**2": (lambda x: np.sqrt(x) ** 2, lambda x: 1.0, lambda x: 0.0),
    "square(sqrt(x))": (lambda x: np.square(np.sqrt(x)), lambda x: 1.0, lambda x: 0.0),
    "r * r": (lambda x: (lambda r: r * r)(np.sqrt(x)), lambda x: 1.0, lambda x: 0.0),
    "sqrt(x) * sqrt(x)": (lambda x: np.sqrt(x) * np.sqrt(x), lambda x: 1.0, lambda x: 0.0),
    "(2 sqrt(x))**2": (lambda x: (2 * np.sqrt(x)) ** 2, lambda x: 4.0, lambda x: 0.0),
    "(sqrt(x) 2)**2": (lambda x: (np.sqrt(x) * 2) ** 2, lambda x: 4.0, lambda x: 0.0),
    "(sqrt(x) / 2)**2": (lambda x: (np.sqrt(x) / 2) ** 2, lambda x: 0.25, lambda x: 0.0),
    "sqrt(x)**4": (lambda x: np.sqrt(x) ** 4, lambda x: 2 * x, lambda x: 2.0),
    "cbrt(x)**3": (lambda x: np.cbrt(x) ** 3, lambda x: 1.0, lambda x: 0.0),
    "x**0.5 * x**0.5": (lambda x: x**0.5 * x**0.5, lambda x: 1.0, lambda x: 0.0),
    "exp(log(x))": (lambda x: np.exp(np.log(x)), lambda x: 1.0, lambda x: 0.0),
    "exp(log(x) + 1)": (lambda x: np.exp(np.log(x) + 1.0), lambda x: np.e, lambda x: 0.0),
    "exp(1 + log(x))": (lambda x: np.exp(1.0 + np.log(x)), lambda x: np.e, lambda x: 0.0),
    "exp(3 log(x))": (lambda x: np.exp(3 * np.log(x)), lambda x: 3 * x**2, lambda x: 6 * x),
    "abs(x)**2": (lambda x: np.abs(x) ** 2, lambda x: 2 * x, lambda x: 2.0),
}
ENGINES = {
    "grad": ag.grad,
    "compiled": lambda f: ag.compile(ag.grad(f)),
    "gradient of compiled": lambda f: ag.grad(ag.compile(f)),
    "jacfwd": ag.jacfwd,
    "vmap": lambda f: lambda x: ag.vmap(ag.grad(f))(np.array([x, 1.0]))[0],
    "scan": lambda f: ag.grad(lambda x: ag.scan(lambda c, _: (f(c), None), x, length=1)[0]),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", OF_ONE)
def test_first_derivatives(name, engine):
    f, slope, _ = OF_ONE[name]
    for x in (0.0, 0.7, 9.0):
        np.testing.assert_allclose(ENGINES[engine](f)(x), slope(x), rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("second", [ag.hessian, lambda f: ag.grad(ag.grad(f)), lambda f: ag.jacfwd(ag.jacfwd(f))])
@pytest.mark.parametrize("name", OF_ONE)
def test_second_derivatives(name, second):
    f, _, curvature = OF_ONE[name]
    for x in (0.0, 0.7, 9.0):
        np.testing.assert_allclose(second(f)(x), curvature(x), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("name", OF_ONE)
def test_values_and_domains_are_those_of_the_composition(name):
    f = OF_ONE[name][0]
    x = np.array([-1.0, -0.0, 0.0, 1e-300, 0.3, 1e200, np.inf, np.nan])
    with np.errstate(all="ignore"):
        expected = f(x)
        np.testing.assert_allclose(ag.compile(f)(x), expected, rtol=1e-12)  # a logarithm of 460 is rounded
        slope = ag.grad(f)(x[0])
    assert np.isnan(slope) or np.isfinite(expected[0])  # no derivative where there is no value


NORMS = {
    "norm": np.linalg.norm,
    "sqrt of a product": lambda x: np.sqrt(x @ x),
    "sqrt of a sum": lambda x: np.sqrt(np.sum(x * x)),
    "hypot": lambda x: np.hypot(x[0], x[1]),
    "abs of a complex number": lambda x: np.abs(x[0] + 1j * x[1]),
}
OF_NORMS = {  # and the Hessian at 0 as a multiple of the unit matrix
    "half a square": (lambda r: 0.5 * r**2, 1.0),
    "kernel": (lambda r: np.exp(-0.5 * r**2 / 0.25), -4.0),
    "kernel of a scaled distance": (lambda r: np.exp(-0.5 * (r / 0.5) ** 2), -4.0),
    "softened": (lambda r: np.sqrt(r**2 + 1), 1.0),
}


CASES = [
    (name, norm)
    for name in OF_NORMS
    for norm in NORMS
    if "scaled" not in name or norm not in ("hypot", "abs of a complex number")
]


@pytest.mark.parametrize(("name", "norm"), CASES)
def test_hessians_of_squared_norms_where_the_vector_is_zero(name, norm):
    f, multiple = OF_NORMS[name]
    of = lambda x: f(NORMS[norm](x))  # noqa: E731
    np.testing.assert_allclose(ag.grad(of)(np.zeros(2)), np.zeros(2), atol=1e-15)
    for second in (ag.hessian, lambda g: ag.jacfwd(ag.grad(g)), lambda g: ag.compile(ag.hessian(g))):
        np.testing.assert_allclose(second(of)(np.zeros(2)), multiple * np.eye(2), rtol=1e-14, atol=1e-14)


def test_kernel_by_a_distance_has_derivatives_where_points_coincide():
    k = lambda a, b: np.exp(-0.5 * np.linalg.norm(a - b) ** 2 / 0.25)  # noqa: E731
    p = np.array([1.0, 2.0])
    np.testing.assert_allclose(ag.jacobian(lambda b: ag.grad(k)(p, b))(p), 4 * np.eye(2), rtol=1e-14)


def test_variance_by_a_standard_deviation():
    expected = 2 / 3 * (np.eye(3) - 1 / 3)
    np.testing.assert_allclose(ag.hessian(lambda x: np.std(x) ** 2)(np.ones(3)), expected, atol=1e-15)


def test_scales_of_recognised_roots_have_derivatives():
    over = lambda x, y: (np.sqrt(x) / y) ** 2  # noqa: E731
    times = lambda x, y: (np.sqrt(x) * y) ** 2  # noqa: E731
    plus = lambda x, y: np.exp(np.log(x) + y)  # noqa: E731
    minus = lambda x, y: np.exp(np.log(x) - y)  # noqa: E731
    power = lambda x, y: np.exp(y * np.log(x))  # noqa: E731
    root = lambda x, y: np.sqrt(x) ** y  # noqa: E731
    for x, y in ((0.0, 2.0), (0.3, 2.0), (4.0, -3.0), (1e-200, 1.5), (1e200, 1.5)):
        np.testing.assert_allclose(ag.grad(over, (0, 1))(x, y), (1 / y**2, -2 * x / y**3), rtol=1e-13)
        np.testing.assert_allclose(ag.grad(times, (0, 1))(x, y), (y**2, 2 * x * y), rtol=1e-13)
        np.testing.assert_allclose(ag.grad(plus, (0, 1))(x, y), (np.exp(y), x * np.exp(y)), rtol=1e-12)
        np.testing.assert_allclose(ag.grad(minus, (0, 1))(x, y), (np.exp(-y), -x * np.exp(-y)), rtol=1e-12)
        if y > 0:
            log = np.log(x) if x > 0 else 0.0
            with np.errstate(over="ignore"):
                np.testing.assert_allclose(ag.grad(power, (0, 1))(x, y), (y * x ** (y - 1), x**y * log), rtol=1e-12)
            slopes = (y / 2 * x ** (y / 2 - 1) if x > 0 or y >= 2 else np.inf, x ** (y / 2) * log / 2)
            np.testing.assert_allclose(ag.grad(root, (0, 1))(x, y), slopes, rtol=1e-12)


LOG_DENSITIES = np.array([-0.9, -1.4, -2.5])
MIXTURES = {
    "sum": lambda w: ag.special.logsumexp(np.log(w) + LOG_DENSITIES),
    "sum with the terms first": lambda w: ag.special.logsumexp(LOG_DENSITIES + np.log(w)),
    "difference": lambda w: ag.special.logsumexp(np.log(w) - (-LOG_DENSITIES)),
    "differences": lambda w: ag.special.logsumexp(np.log(w) - 0.5 - (-LOG_DENSITIES) + 0.5),
    "logarithm of a sum of differences": lambda w: np.log(np.sum(np.exp(np.log(w) - (-LOG_DENSITIES)))),
    "of what lacks": lambda w: ag.special.logsumexp(np.log1p(w - 1.0) + LOG_DENSITIES),
    "of the complement": lambda w: ag.special.logsumexp(LOG_DENSITIES + ag.log1m(1.0 - w)),
    "sum of three": lambda w: ag.special.logsumexp(np.log(w) + 0.25 + (LOG_DENSITIES - 0.25)),
    "stacked": lambda w: ag.special.logsumexp(np.stack([np.log(w[i]) + LOG_DENSITIES[i] for i in range(3)])),
    "reversed": lambda w: ag.special.logsumexp((np.log(w) + LOG_DENSITIES)[::-1]),
    "reduced": lambda w: np.logaddexp.reduce(np.log(w) + LOG_DENSITIES),
    "columns": lambda w: ag.special.logsumexp((np.log(w) + LOG_DENSITIES)[:, None], axis=0)[0],
    "logarithm of a sum": lambda w: np.log(np.sum(np.exp(np.log(w) + LOG_DENSITIES))),
}


@pytest.mark.parametrize("name", MIXTURES)
@pytest.mark.parametrize("weights", [(0.0, 0.5, 0.5), (0.2, 0.3, 0.5), (0.0, 0.0, 1.0)], ids=str)
def test_mixtures_by_logarithms_of_weights(name, weights):
    w, density = np.array(weights), np.exp(LOG_DENSITIES)
    gradient = density / (w @ density)
    f = MIXTURES[name]
    for found in (ag.grad(f)(w), ag.jacfwd(f)(w), ag.compile(ag.grad(f))(w), ag.vmap(ag.grad(f))(w[None])[0]):
        np.testing.assert_allclose(found, gradient, rtol=1e-13)
    np.testing.assert_allclose(ag.hessian(f)(w), -np.outer(gradient, gradient), rtol=1e-12)
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(ag.compile(f)(w), np.log(w @ density), rtol=1e-14)


def test_weights_of_two_factors_and_terms_without_weights():
    density = np.exp(LOG_DENSITIES)

    def both(u, w):
        return ag.special.logsumexp(np.concatenate([np.log(u) + np.log(w) + LOG_DENSITIES, LOG_DENSITIES[:1] * u[:1] ** 0]))

    u, w = np.array([0.0, 2.0, 0.0]), np.array([0.3, 0.0, 0.0])
    total = (u * w) @ density + density[0]
    by_u, by_w = ag.grad(both, (0, 1))(u, w)
    np.testing.assert_allclose(by_u, w * density / total, rtol=1e-13)
    np.testing.assert_allclose(by_w, u * density / total, rtol=1e-13)


def test_negative_weight_has_no_logarithm():
    with np.errstate(invalid="ignore"):
        assert np.isnan(ag.compile(MIXTURES["sum"])(np.array([-0.1, 0.5, 0.6])))
        assert np.isnan(ag.value_and_grad(MIXTURES["sum"])(np.array([-0.1, 0.5, 0.6]))[1][0])


@pytest.mark.parametrize("term", [np.nan, np.inf])
def test_undefined_term_beside_a_weight_of_zero_is_not_hidden(term):
    a, w = np.array([term, 0.0]), np.array([0.0, 1.0])
    with np.errstate(all="ignore"):
        assert np.isnan(ag.compile(lambda w: ag.special.logsumexp(np.log(w) + a))(w))
        assert np.isnan(ag.compile(lambda a: ag.special.logsumexp(np.log(w) + a))(a))
    assert ag.compile(lambda w: ag.special.logsumexp(np.log(w) - np.array([np.inf, 0.0])))(np.array([0.5, 1.0])) == 0.0


def test_fit_that_starts_at_a_weight_of_zero_leaves_it():
    y = np.random.default_rng(0).normal(np.where(np.arange(100) < 80, 0.0, 5.0), 1.0)

    def cost(w):
        terms = [np.log(w) + ag.stats.norm.logpdf(y, 5.0, 1.0), np.log1p(-w) + ag.stats.norm.logpdf(y, 0.0, 1.0)]
        return -np.sum(ag.special.logsumexp(np.stack(terms), axis=0))

    value, slope = ag.value_and_grad(cost)(0.0)
    ratio = np.exp(-0.5 * (y - 5) ** 2 + 0.5 * y**2)
    np.testing.assert_allclose(value, -np.sum(scipy.stats.norm.logpdf(y)), rtol=1e-13)
    np.testing.assert_allclose(slope, np.sum(1 - ratio), rtol=1e-12)
    value, slope = ag.value_and_grad(cost)(1.0)
    np.testing.assert_allclose(value, -np.sum(scipy.stats.norm.logpdf(y, 5.0)), rtol=1e-13)
    np.testing.assert_allclose(slope, np.sum(1 / ratio - 1), rtol=1e-12)

    for start in (0.0, 1.0):

        def with_slope(w):
            value, slope = ag.value_and_grad(cost)(w[0])
            return value, np.array([slope])

        fit = scipy.optimize.minimize(with_slope, [start], jac=True, bounds=[(0, 1)], method="L-BFGS-B")
        np.testing.assert_allclose(fit.x, [0.2003], atol=1e-3)


def test_logarithm_of_a_weight_near_one_keeps_its_digits():
    with np.errstate(divide="ignore"):
        for w in (0.0, 1e-20, 1e-9, 0.3, 0.499, 0.501, 0.9, 1 - 1e-12):
            logs = np.array([np.log1p(-w)])
            assert ag.compile(lambda w: ag.special.logsumexp(np.log1p(-w)[None]))(w) == pytest.approx(logs[0], rel=4e-16, abs=0)
            slope = ag.grad(lambda w: ag.special.logsumexp(np.log1p(-w)[None]))(w)
            assert slope == pytest.approx(-1 / (1 - w), rel=4e-16)


def test_constant_factors_are_left_as_they_are():
    constant = np.array([0.0, 2.0])
    found = ag.compile(lambda x: np.sum(np.exp(np.log(constant) + x)))
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(found(np.array([1.0, 2.0])), 2 * np.exp(2.0), rtol=1e-15)
        assert "exp_of_log" not in found.to_dot(np.array([1.0, 2.0]))
