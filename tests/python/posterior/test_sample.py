"""Draws by samplers that call the C function of a log density, and their form for ArviZ."""

import warnings

import numpy as np
import pytest

import agrad as ag
from agrad import constraints as of
from agrad import stan
from c_calls import SIGMA, Y, pointwise, schools, theta

pytestmark = pytest.mark.thread_unsafe(reason="samples in threads")


def gamma(p):
    return stan.gamma_lpdf(p["rate"], 3.0, 2.0) + stan.normal_lpdf(p["place"], np.array([1.0, -1.0]), 0.5)


@pytest.mark.parametrize("sampler", ["walnutpie", "owalnuts"])
def test_draws_follow_the_density(sampler):
    pytest.importorskip(sampler)
    model = ag.LogDensity(gamma, {"rate": of.positive(), "place": of.real(2)})
    draws = model.sample(chains=4, draws=1000, warmup=500, seed=1, sampler=sampler)
    assert draws.x.shape == (4, 1000, 3)
    rate, place = draws.values["rate"], draws.values["place"]
    assert rate.shape == (4, 1000)
    assert place.shape == (4, 1000, 2)
    assert rate.mean() == pytest.approx(1.5, abs=0.12)
    assert rate.std() == pytest.approx(np.sqrt(3) / 2, abs=0.12)
    np.testing.assert_allclose(place.mean(axis=(0, 1)), [1.0, -1.0], atol=0.08)
    assert draws.log_density()[1, 2] == model.log_density(draws.x[1, 2])
    assert sum(draws.rejected.values()) < 20  # a first step may be far too long
    np.testing.assert_array_equal(draws.x, model.sample(chains=4, draws=1000, warmup=500, seed=1, sampler=sampler).x)


def test_arviz_has_names_and_coordinates():
    arviz = pytest.importorskip("arviz")
    pytest.importorskip("owalnuts")
    model = ag.LogDensity(
        schools,
        {"mu": of.real(), "tau": of.positive(), "z": of.real(8)},
        data={"y": Y, "sigma": SIGMA},
        generated=theta,
        log_likelihood=pointwise,
        dims={"z": ["school"], "theta": ["school"]},
        coords={"school": list("abcdefgh")},
    )
    draws = model.sample(chains=2, draws=100, warmup=200, seed=1, sampler="owalnuts")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = draws.to_arviz()
        assert arviz.summary(data).shape[0] == 18
    assert list(data.posterior["theta"].coords["school"].values) == list("abcdefgh")
    np.testing.assert_array_equal(data.posterior["tau"], draws.values["tau"])
    np.testing.assert_array_equal(data.sample_stats["lp"], draws.log_density())
    assert data.log_likelihood["log_likelihood"].shape == (2, 100, 8)
    np.testing.assert_array_equal(data.constant_data["y"], Y)


def test_sampler_that_is_missing(monkeypatch):
    model = ag.LogDensity(gamma, {"rate": of.positive(), "place": of.real(2)})
    with pytest.raises(ValueError, match="sampler is 'gibbs', but must be one of 'auto', 'owalnuts', 'walnutpie'"):
        model.sample(sampler="gibbs")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ImportError, match="pip install owalnuts or walnutpie"):
        model.sample()


def test_error_of_the_density_ends_the_sampler():
    pytest.importorskip("owalnuts")

    def failing(p):
        if p["x"] > 0.5:
            raise ValueError("the density is not known here")
        return -0.5 * p["x"] ** 2

    model = ag.LogDensity(failing, {"x": of.real()})
    with pytest.raises(RuntimeError, match="the density is not known here"):
        model.sample(chains=2, seed=1, start={"x": 0.0}, sampler="owalnuts")
