"""Quantiles of whole numbers in agrad.stats, and medians, intervals and supports of all distributions, against scipy.stats."""

import math
import pickle

import mpmath
import numpy as np
import pytest
import scipy.stats

import agrad as ag
from scipy_points import FAMILIES, distribution, methods_by_rows, point

WHOLE = [name for name, family in FAMILIES.items() if family.is_discrete and "ppf" in methods_by_rows(name)]
WITH_QUANTILES = [name for name in FAMILIES if "ppf" in methods_by_rows(name)]
#: Further parameters: at the ends of their domains, and far out.
FURTHER = {
    "bernoulli": [(0.0, -1), (1.0, 0)],
    "betanbinom": [(40, 300.0, 0.5, 3)],
    "binom": [(0, 0.5, 0), (5, 0.0, 0), (5, 1.0, 3), (2**40, 1e-3, 0), (10**6, 0.5, -7)],
    "nbinom": [(0.01, 0.5, 0), (1e5, 1e-4, 0), (3.0, 0.999, 1)],
    "poisson": [(0.0, 0), (1e-300, 0), (1e15, 0), (300.0, 0)],
    "randint": [(7, 8, 0), (-(2**40), 2**41, 3)],
    "yulesimon": [(50.0, 0), (3.0, 2)],
}
#: Upper tails that fall as a power does.
HEAVY = ("betanbinom", "yulesimon")
QUANTILE_CASES = [(name, tuple(values)) for name in WHOLE for values in [point(name), *FURTHER.get(name, [])]]
each_whole = pytest.mark.parametrize(("name", "values"), QUANTILE_CASES)


def test_every_family_is_in_the_cases():
    assert FURTHER.keys() <= set(WHOLE)
    assert len(WHOLE) >= 6
    assert len(QUANTILE_CASES) >= 24
    assert len(WITH_QUANTILES) >= 28
    for name in FAMILIES:
        assert "support" in distribution(name).methods
        assert {"median", "interval"} <= distribution(name).methods.keys() or name not in WITH_QUANTILES


@each_whole
def test_quantiles_are_the_smallest_whole_numbers_that_reach_a_probability(name, values):
    of = distribution(name)(*values)
    q = np.concatenate([[5e-324, 1e-300, 1e-100, 1e-16, 1e-5, 1 - 1e-5], np.random.default_rng(1).random(40)])
    k = of.ppf(q)
    assert np.all(of.cdf(k) >= q)
    assert np.all(of.cdf(k - 1) < q)
    q = q[np.where(name in HEAVY, q > 1e-5, True)]  # the others are beyond what is searched
    k = of.isf(q)
    assert np.all(of.sf(k) <= q)
    assert np.all(of.sf(k - 1) > q)


@each_whole
def test_the_ends_of_quantiles_and_supports_are_those_of_scipy(name, values):
    ours, theirs = (getattr(stats, name)(*values) for stats in (ag.stats, scipy.stats))
    lower, upper = theirs.support()
    assert ours.support() == (lower, upper)
    assert (ours.ppf(0), ours.isf(1), ours.ppf(1), ours.isf(0)) == (lower - 1, lower - 1, upper, upper)
    np.testing.assert_array_equal(ours.interval([0.0, 1.0]), [[ours.median(), lower - 1], [ours.median(), upper]])
    assert isinstance(ours.ppf(0.4), float)


@pytest.mark.parametrize("name", WHOLE)
def test_quantiles_between_steps_are_those_of_scipy(name):
    values, q = point(name), np.linspace(0.0007, 0.9993, 200)
    ours, theirs = (getattr(stats, name)(*values) for stats in (ag.stats, scipy.stats))
    np.testing.assert_array_equal(ours.ppf(q), theirs.ppf(q))
    np.testing.assert_array_equal(ours.isf(q), theirs.isf(q))


@pytest.mark.parametrize("name", WHOLE)
def test_quantiles_invert_distribution_functions(name):
    of = distribution(name)(*point(name))
    lower, upper = of.support()
    lower = max(lower, -15)
    k = np.arange(lower, min(upper, lower + 30) + 1)
    rises, falls = np.diff(of.cdf(np.append(lower - 1, k))) > 0, np.diff(of.sf(np.append(lower - 1, k))) < 0
    assert np.count_nonzero(rises) > 1
    inside = of.cdf(k) < 1
    np.testing.assert_array_equal(of.ppf(of.cdf(k))[rises & inside], k[rises & inside])
    inside = of.sf(k) > 0
    np.testing.assert_array_equal(of.isf(of.sf(k))[falls & inside], k[falls & inside])


def tail_of_poisson(k, mu):
    return mpmath.gammainc(k + 1, 0, mu, regularized=True)


def tail_of_yule_simon(k, alpha):
    return k * mpmath.beta(k, alpha + 1) if k > 0 else 1


@pytest.mark.thread_unsafe(reason="mpmath's precision is global")
@pytest.mark.parametrize("q", [1e-300, 1e-100, 1e-17, 0.2])
def test_upper_tails_keep_their_digits(q):
    with mpmath.workdps(40):
        k = ag.stats.poisson.isf(q, 3.5)
        assert tail_of_poisson(k, 3.5) <= mpmath.mpf(q) < tail_of_poisson(k - 1, 3.5)
        geometric = ag.stats.nbinom.isf(q, 1.0, 0.25)  # sf(k) = (1 - p)^(k + 1)
        assert geometric == math.ceil(mpmath.log(mpmath.mpf(q)) / mpmath.log(0.75) - 1)
        k = ag.stats.yulesimon.isf(q, 40.0)
        assert tail_of_yule_simon(k, 40) <= mpmath.mpf(q) < tail_of_yule_simon(k - 1, 40)


def test_all_arguments_of_quantiles_broadcast():
    q, mu, loc = np.array([0.1, 0.5, 0.9]), np.array([[2.0], [30.0]]), np.zeros((2, 1, 1))
    found = ag.stats.poisson.ppf(q, mu, loc)
    assert found.shape == (2, 2, 3)
    np.testing.assert_array_equal(found, scipy.stats.poisson.ppf(q, mu, loc))
    assert ag.stats.poisson.ppf([], 2.0).shape == (0,)
    np.testing.assert_array_equal(ag.stats.poisson.interval([0.5, 0.9], mu), scipy.stats.poisson.interval([0.5, 0.9], mu))
    assert ag.stats.randint.support([0, 1], [[5], [7]])[1].shape == (2, 2)
    assert ag.stats.poisson.support([1.0, 2.0])[1].tolist() == [np.inf, np.inf]


def test_quantiles_of_whole_numbers_name_what_they_cannot_answer():
    with pytest.raises(TypeError, match=r"stats.poisson.ppf: q is a recorded value, but must be plain, because"):
        ag.grad(lambda q: ag.stats.poisson.ppf(q, 2.0))(0.3)
    with pytest.raises(TypeError, match=r"stats.binom.isf: p is a recorded value, but must be plain"):
        ag.compile(lambda p: ag.stats.binom.isf(0.3, 5, p))(0.3)
    with pytest.raises(TypeError, match=r"stats.poisson.median: mu is a recorded value"):
        ag.grad(ag.stats.poisson.median)(2.0)
    with pytest.raises(TypeError, match=r"stats.poisson.interval: q is a recorded value"):
        ag.grad(lambda c: ag.stats.poisson.interval(c, 2.0)[0])(0.3)
    assert ag.grad(lambda loc: ag.stats.poisson.ppf(0.7, 2.0, loc))(3.0) == 1
    for mu, q in ((1e17, 0.5), (np.inf, 0.5)):
        with pytest.raises(ag.DomainError, match=rf"stats.poisson.ppf: the quantile of {q} is beyond 2\^53"):
            ag.stats.poisson.ppf([0.0, q], mu)
    with pytest.raises(ag.DomainError, match=r"stats.yulesimon.isf: the quantile of 1e-300 is beyond 2\^53"):
        ag.stats.yulesimon.isf([0.5, 1e-300], 1.0)
    with pytest.raises(ag.DomainError, match=r"stats.binom.ppf: q\[1\] is 1.5, but must be between 0 and 1"):
        ag.stats.binom.ppf([0.5, 1.5], 3, 0.5)
    with pytest.raises(ag.DomainError, match=r"stats.randint.ppf: high - low is -2, but must be positive"):
        ag.stats.randint.ppf(0.5, 5, 3)
    with pytest.raises(ag.DomainError, match=r"stats.norm.interval: confidence is 2, but must be between 0 and 1"):
        ag.stats.norm.interval(2)
    with pytest.raises(
        AttributeError,
        match=r"stats.hypergeom: attribute is 'entropy', but must be one of logpmf, pmf, cdf",
    ):
        _ = ag.stats.hypergeom.entropy


@pytest.mark.parametrize("name", FAMILIES)
def test_supports_are_those_of_scipy(name):
    values = point(name)
    expected = getattr(scipy.stats, name).support(*values)
    np.testing.assert_allclose(distribution(name).support(*values), expected, rtol=1e-15)
    np.testing.assert_array_equal(distribution(name)(*values).support(), distribution(name).support(*values))
    last = np.array([[1.0], [2.0], [3.0]])
    of_many = distribution(name).support(*values[:-1], last)
    assert of_many[0].shape == of_many[1].shape == (3, 1)
    np.testing.assert_allclose(of_many, getattr(scipy.stats, name).support(*values[:-1], last))


@pytest.mark.parametrize("name", WITH_QUANTILES)
def test_medians_and_intervals_are_those_of_scipy(name):
    values = point(name)
    ours, theirs = (getattr(stats, name)(*values) for stats in (ag.stats, scipy.stats))
    assert ours.median() == pytest.approx(theirs.median(), rel=1e-10, abs=1e-14)
    confidence = np.array([0.0, 0.11, 0.55, 0.93, 0.9991])
    np.testing.assert_allclose(ours.interval(confidence), theirs.interval(confidence), rtol=1e-9, atol=1e-13)
    np.testing.assert_array_equal(ours.interval(confidence=0.55), distribution(name).interval(0.55, *values))


@pytest.mark.parametrize("name", [name for name in WITH_QUANTILES if not FAMILIES[name].is_discrete])
def test_medians_and_intervals_of_recorded_parameters(name):
    values, count = point(name), len(FAMILIES[name].parameters)

    def f(x):
        return np.stack([distribution(name).median(*x), *distribution(name).interval(0.9, *x)])

    x = np.array(values, dtype=float)
    np.testing.assert_allclose(ag.compile(f)(x), f(values), rtol=1e-14)
    jacobian = ag.jacfwd(f)(x)
    assert jacobian.shape == (3, count)
    q = np.array([0.5, 0.05, 0.95])
    np.testing.assert_allclose(jacobian, ag.jacfwd(lambda x: distribution(name).ppf(q, *x))(x), rtol=1e-9, atol=1e-12)


def test_intervals_keep_the_digits_of_the_upper_tail():
    lower, upper = ag.stats.norm.interval(1 - 2.0**-53)
    assert upper == pytest.approx(-lower, rel=1e-14)
    assert upper == pytest.approx(8.292361075813595, rel=1e-14)


def test_frozen_distributions_bind_what_their_methods_take():
    of = pickle.loads(pickle.dumps(ag.stats.binom(11, p=0.3, loc=2)))
    assert of.ppf(q=0.4) == scipy.stats.binom(11, p=0.3, loc=2).ppf(0.4)
    assert of.mean() == pytest.approx(5.3)
    assert of.stats("v") == of.stats(moments="v") == of.var()
    assert of.median.__doc__ == ag.stats.binom.median.__doc__
    assert list(of.rvs.__signature__.parameters) == ["size", "random_state"]
    for wrong in (lambda: of.mean(1.0), lambda: of.ppf(), lambda: of.ppf(0.1, 0.2), lambda: of.mean(loc=1)):
        with pytest.raises(TypeError):
            wrong()
    with pytest.raises(TypeError):
        ag.stats.binom(11, 0.3, scale=2)
    with pytest.raises(AttributeError, match=r"stats.binom: attribute is 'expect', but must be one of logpmf, pmf, cdf"):
        _ = of.expect
