"""Frozen distributions as objects: their text, copies of them and of their methods, and the errors of their calls."""

import copy
import inspect
import pickle

import numpy as np
import pytest

import agrad as ag


def test_the_text_is_the_call():
    frozen = ag.stats.gamma(2.0, scale=[1.0, 2.0])
    assert repr(frozen) == "agrad.stats.gamma(2.0, scale=[1.0, 2.0])"
    assert repr(ag.stats.censor(frozen, 0.5, 3.0)) == f"agrad.stats.censor({frozen!r}, 0.5, 3.0)"


def test_copies_of_distributions_and_methods_compute_the_same():
    frozen = ag.stats.gamma(2.0, scale=[1.0, 2.0])
    for each in (pickle.loads(pickle.dumps(frozen)), copy.copy(frozen), copy.deepcopy(frozen)):
        np.testing.assert_array_equal(each.logpdf(1.5), frozen.logpdf(1.5))
    method = pickle.loads(pickle.dumps(frozen.logpdf))
    np.testing.assert_array_equal(method(1.5), frozen.logpdf(1.5))
    draw = pickle.loads(pickle.dumps(frozen.rvs))
    np.testing.assert_array_equal(draw(size=(3, 2), random_state=1), frozen.rvs((3, 2), 1))


def test_methods_have_name_text_and_signature():
    method = ag.stats.poisson(3.0).rvs
    assert method.__name__ == "rvs"
    assert method.__doc__ == ag.stats.poisson.rvs.__doc__
    assert str(inspect.signature(method)) == "(size=None, random_state=None)"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ag.stats.gamma(), "^stats.gamma: missing a required argument: 'a'"),
        (lambda: ag.stats.gamma(2.0, mean=1.0), "^stats.gamma: got an unexpected keyword argument 'mean'"),
        (lambda: ag.stats.gamma.logpdf(1.0), "^stats.gamma.logpdf: missing a required argument: 'a'"),
        (lambda: ag.stats.gamma(2.0).logpdf(), "^stats.gamma.logpdf: missing a required argument: 'x'"),
        (lambda: ag.stats.norm().logpdf(1.0, 2.0), "^stats.norm.logpdf: too many positional arguments"),
    ],
)
def test_wrong_calls_tell_the_function(call, message):
    with pytest.raises(TypeError, match=message):
        call()
