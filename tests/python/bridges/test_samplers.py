"""Samplers that call C functions of agrad: the draws follow the density, also where its paths are recorded on the way."""

import warnings

import numpy as np
import pytest

import agrad as ag

DEVIATIONS = np.array([1.0, 2.0, 0.5])


def normal(x):
    """A normal density with a path for each sign of the first entry."""
    first = -0.5 * x[0] ** 2 if x[0] > 0 else -0.5 * (x[0] / 1.0) ** 2
    return first - 0.5 * np.sum((x[1:] / DEVIATIONS[1:]) ** 2)


def check_draws(draws, f):
    assert draws.shape[1] == 3
    np.testing.assert_allclose(np.mean(draws, axis=0) / DEVIATIONS, 0.0, atol=0.15)
    np.testing.assert_allclose(np.std(draws, axis=0) / DEVIATIONS, 1.0, atol=0.15)
    assert f.counts["ended"] == 0
    assert f.last_error == ""


@pytest.mark.thread_unsafe(reason="samples in threads")
def test_walnutpie():
    walnutpie = pytest.importorskip("walnutpie")
    f = ag.c_function(normal, np.ones(3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a seed with adaptive stopping
        chains = walnutpie.walnuts_pyfunc(
            (f.signature("walnutpie"), f.context), num_params=f.size, seed=1, min_sampling_iter=1000
        )
    check_draws(np.concatenate([np.asarray(chain) for chain in chains]), f)


@pytest.mark.thread_unsafe(reason="samples in threads")
def test_owalnuts():
    owalnuts = pytest.importorskip("owalnuts")
    f = ag.c_function(normal, np.ones(3))
    target = owalnuts.from_cfunc(f.signature("owalnuts"), f.size, user_data=f.context)
    samples = np.asarray(owalnuts.sample(target, seed=1).samples)
    check_draws(samples.reshape(-1, 3), f)


@pytest.mark.thread_unsafe(reason="compiles")
def test_numba():
    numba = pytest.importorskip("numba")
    f = ag.c_function(normal, np.ones(3))
    function, context = f.signature("numba"), f.context

    @numba.njit
    def total(points):
        gradient, found = np.zeros(3), 0.0
        for n in range(points.shape[0]):
            found += function(3, points[n].ctypes, gradient.ctypes, context)
        return found, gradient

    points = np.random.default_rng(1).normal(size=(100, 3))
    value, gradient = total(points)
    assert value == pytest.approx(sum(normal(x) for x in points), rel=1e-12)
    np.testing.assert_array_equal(gradient, f(points[-1])[1])
