"""Maxima of log densities beside closed forms; what has no maximum, several maxima, points outside of the domain."""

import numpy as np
import pytest

import agrad as ag
from agrad import constraints as of
from agrad import stan
from c_calls import SIGMA, Y, schools, theta

DRAWS = np.array([1.2, 0.3, 0.8, 2.2, -0.4])


def normal(p, y):
    return stan.normal_lpdf(y, p["mu"], p["sigma"])


def made(**more):
    return ag.LogDensity(normal, {"mu": of.real(), "sigma": of.positive()}, data=DRAWS, **more)


def test_maximum_of_a_likelihood_and_its_errors():
    fit = made().optimize(seed=1)
    n, sd = DRAWS.size, DRAWS.std()
    assert fit.success
    np.testing.assert_allclose([fit.values["mu"], fit.values["sigma"]], [DRAWS.mean(), sd], rtol=1e-12)
    errors = fit.standard_errors()
    np.testing.assert_allclose([errors["mu"], errors["sigma"]], [sd / np.sqrt(n), sd / np.sqrt(2 * n)], rtol=1e-9)
    estimate, error = fit.delta(lambda p, y: {"cv": p["sigma"] / p["mu"], "both": np.array([p["mu"], 2 * p["sigma"]])})
    mu = DRAWS.mean()
    expected = np.hypot(sd / np.sqrt(2 * n) / mu, sd / mu**2 * sd / np.sqrt(n))
    np.testing.assert_allclose([estimate["cv"], error["cv"]], [sd / mu, expected], rtol=1e-9)
    np.testing.assert_allclose(error["both"], [sd / np.sqrt(n), 2 * sd / np.sqrt(2 * n)], rtol=1e-9)
    np.testing.assert_allclose(fit.covariance() @ -fit.hessian, np.eye(2), atol=1e-12)


def test_jacobian_moves_the_mode():
    fit = made().optimize(seed=1, jacobian=True)
    assert fit.values["sigma"] == pytest.approx(np.sqrt(np.sum((DRAWS - DRAWS.mean()) ** 2) / (DRAWS.size - 1)), rel=1e-10)


def test_normal_approximation_of_a_normal_density_is_exact():
    deviations = np.array([1.0, 3.0])
    model = ag.LogDensity(lambda p: stan.normal_lpdf(p["x"], 1.0, deviations), {"x": of.real(2)})
    draws = model.laplace(4000, seed=3)
    np.testing.assert_allclose(draws.log_density, draws.log_approximation, rtol=0, atol=1e-10)
    np.testing.assert_allclose(draws.values["x"].mean(axis=0), 1.0, atol=0.2)
    np.testing.assert_allclose(draws.values["x"].std(axis=0), deviations, rtol=0.05)
    np.testing.assert_array_equal(draws.x, model.laplace(4000, seed=3).x)


def test_supremum_at_a_bound_is_no_maximum():
    model = ag.LogDensity(schools, {"z": of.real(8), "mu": of.real(), "tau": of.positive()}, data={"y": Y, "sigma": SIGMA})
    fit = model.optimize(seed=1)
    assert not fit.success
    assert "tau: a bound or a flat tail" in fit.message
    with pytest.raises(ag.LinAlgError, match="no maximum"):
        fit.covariance()
    fit = model.optimize(seed=1, jacobian=True)
    assert fit.success
    assert fit.delta(theta)[1]["theta"].shape == (8,)


def test_direction_that_the_data_do_not_determine_has_a_name():
    model = ag.LogDensity(lambda p: stan.normal_lpdf(DRAWS, p["a"] + p["b"], 1.0), {"a": of.real(), "b": of.real()})
    fit = model.optimize({"a": 0.0, "b": 0.0})
    with pytest.raises(ag.LinAlgError, match=r"along [+-]0\.71 [ab] [+-]0\.71 [ab]"):
        fit.standard_errors()


def two_hills(p):
    return stan.log_mix(0.7, stan.normal_lpdf(p["x"], -2.0, 0.5), stan.normal_lpdf(p["x"], 2.0, 0.5))


def test_several_starts_find_several_maxima():
    model = ag.LogDensity(two_hills, {"x": of.real()})
    fit = model.optimize(starts=12, seed=2)
    assert fit.values["x"] == pytest.approx(-2.0, abs=1e-3)
    assert [other.values["x"] for other in fit.others] == pytest.approx([2.0], abs=1e-3)
    assert "1 other maxima" in repr(fit)


def test_saddle_is_no_maximum():
    model = ag.LogDensity(two_hills, {"x": of.real()})
    x = ag.root(lambda x: ag.grad(lambda x: two_hills({"x": x}))(x), 0.0).x
    fit = model.optimize(np.array([float(x)]))
    assert not fit.success or abs(fit.values["x"]) > 1


def test_points_outside_of_the_domain_are_failed_steps():
    """The likelihood of a gamma density with a shape that is a free number; long steps leave the domain."""
    y = np.array([0.1, 0.4, 0.2, 3.0, 1.1])

    def log_joint(p):
        return stan.gamma_lpdf(y, p["shape"], p["rate"])

    free = ag.LogDensity(log_joint, {"shape": of.real(), "rate": of.real()}).optimize(np.array([9.0, 0.3]))
    constrained = ag.LogDensity(log_joint, {"shape": of.positive(), "rate": of.positive()}).optimize(seed=1)
    assert free.success
    np.testing.assert_allclose(free.x, list(constrained.values.values()), rtol=1e-9)
    fit = ag.LogDensity(log_joint, {"shape": of.real(), "rate": of.real()}).optimize(np.array([-1.0, 0.3]))
    assert not fit.success
    assert "not finite at the starting point" in fit.message
    assert fit.rejected


def test_many_numbers_by_products():
    n = 300
    centres = np.linspace(-1, 1, n)
    model = ag.LogDensity(lambda p: -np.sum(np.cosh(p["x"] - centres)), {"x": of.real(n)})
    fit = model.optimize(seed=1)
    assert fit.success
    np.testing.assert_allclose(fit.values["x"], centres, atol=1e-5)


def test_arguments():
    with pytest.raises(ag.ShapeError, match="starts is 0"):
        made().optimize(starts=0)
    with pytest.raises(ag.ShapeError, match=r"start is of shape \(1, 2\)"):
        made().optimize(np.zeros((1, 2)))
    flat = ag.LogDensity(lambda p: 0.0 * p["x"], {"x": of.real()})
    with pytest.raises(ag.LinAlgError, match="do not determine"):
        flat.laplace(seed=1)
