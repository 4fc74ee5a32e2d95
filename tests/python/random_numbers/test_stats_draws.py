"""Random numbers of agrad.stats against the distributions of scipy.stats, by fixed seeds."""

import pickle
import zlib

import numpy as np
import pytest
import scipy.stats

import agrad as ag
from scipy_points import FAMILIES, distribution, point

DRAWS = 4000
#: The least probability of a statistic.
LEAST = 1e-3
each_distribution = pytest.mark.parametrize("name", FAMILIES)


def test_every_family_has_random_numbers():
    assert len(FAMILIES) >= 34
    assert all("rvs" in distribution(name).methods for name in FAMILIES)


@each_distribution
def test_draws_have_the_distribution_of_scipy(name):
    values = point(name)
    theirs = getattr(scipy.stats, name)(*values)
    y = distribution(name).rvs(*values, size=DRAWS, random_state=zlib.crc32(name.encode()))
    assert y.shape == (DRAWS,)
    if not FAMILIES[name].is_discrete:
        assert scipy.stats.kstest(y, theirs.cdf).pvalue > LEAST
        return
    assert y.dtype == np.int64
    k = np.unique(y)
    likely = k[theirs.pmf(k) * DRAWS >= 5]
    assert len(likely) >= 2
    counts = np.array([np.count_nonzero(y == each) for each in likely])
    expected = theirs.pmf(likely) * DRAWS
    rest = 1 - theirs.pmf(likely).sum()
    if rest * DRAWS >= 1:
        counts, expected = np.append(counts, DRAWS - counts.sum()), np.append(expected, rest * DRAWS)
    else:
        expected *= counts.sum() / expected.sum()
    assert scipy.stats.chisquare(counts, expected).pvalue > LEAST


@each_distribution
def test_shapes_of_draws(name):
    values, of = point(name), distribution(name)
    count = len(FAMILIES[name].parameters)
    assert np.shape(of.rvs(*values)) == ()
    assert np.isscalar(of.rvs(*values))
    assert of.rvs(*values, 3).shape == of.rvs(*values, size=(3,)).shape == of(*values).rvs(3).shape == (3,)
    assert of.rvs(*values, size=(2, 0)).shape == (2, 0)
    for k in range(count):
        columns = [np.full((4, 1), float(value)) if i == k else value for i, value in enumerate(values)]
        assert of.rvs(*columns).shape == (4, 1)
        assert of.rvs(*columns, size=(2, 4, 3)).shape == (2, 4, 3)
        with pytest.raises(ag.ShapeError, match=rf"stats.{name}.rvs: size is \(3,\), but must be a shape to which"):
            of.rvs(*columns, size=3)
    far = np.array([0.0, 1000.0])  # each draw has the loc of its place
    place = list(FAMILIES[name].parameters).index("loc")
    of_places = of.rvs(*[far + value if i == place else value for i, value in enumerate(values)], size=(50, 2), random_state=1)
    assert np.median(of_places[:, 1] - of_places[:, 0]) == pytest.approx(1000, abs=50)


@each_distribution
def test_seeds_and_generators_determine_draws(name):
    values, of = point(name), distribution(name)
    by_seed = of.rvs(*values, size=5, random_state=7)
    np.testing.assert_array_equal(of.rvs(*values, size=5, random_state=np.random.default_rng(7)), by_seed)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(of(*values))).rvs(5, 7), by_seed)
    rng = np.random.default_rng(7)
    assert not np.array_equal(of.rvs(*values, size=50, random_state=rng), of.rvs(*values, size=50, random_state=rng))
    for wrong in (np.random.RandomState(1), "1", 1.5, True, np.random):
        with pytest.raises(TypeError, match=rf"stats.{name}.rvs: random_state is .*, but must be a numpy.random.Generator"):
            of.rvs(*values, random_state=wrong)
    with pytest.raises(ValueError, match=rf"stats.{name}.rvs: random_state is -1, but must be"):
        of.rvs(*values, random_state=-1)


@each_distribution
def test_draws_check_their_parameters(name):
    values, of = point(name), distribution(name)
    for k, (parameter, condition) in enumerate(FAMILIES[name].parameters.items()):
        invalid = [np.array([value, np.nan]) if i == k else value for i, value in enumerate(values)]
        with pytest.raises(ag.DomainError, match=rf"stats.{name}.rvs: {parameter}\[1\] is nan, but must be {condition}"):
            of.rvs(*invalid)

        def recorded(x, k=k):
            return of.rvs(*[x if i == k else value for i, value in enumerate(values)])

        with pytest.raises(TypeError, match=rf"stats.{name}.rvs: {parameter} is a recorded value, but must be plain"):
            ag.grad(recorded)(float(values[k]))
    with pytest.raises(TypeError, match=rf"stats.{name}.rvs: size is 1.5, but must be a whole number"):
        of.rvs(*values, size=1.5)


def test_what_cannot_be_drawn_is_named():
    with pytest.raises(ag.DomainError, match=r"stats.poisson.rvs: poisson_rng: lambda_ is inf, but must be at most 2\^52"):
        ag.stats.poisson.rvs(np.inf)
    with pytest.raises(ag.DomainError, match=r"stats.randint.rvs: high - low is 0, but must be positive"):
        ag.stats.randint.rvs(3, 3)
    with pytest.raises(ag.DomainError, match=r"stats.hypergeom.rvs: M - N is -2, but must be a whole number"):
        ag.stats.hypergeom.rvs(5, 3, 7)


def test_whole_numbers_are_integers_where_loc_is_whole():
    assert ag.stats.poisson.rvs(3.0, loc=2.0, size=4).dtype == np.int64
    y = ag.stats.poisson.rvs(3.0, loc=0.5, size=4)
    np.testing.assert_array_equal(y % 1, 0.5)
    assert ag.stats.poisson.rvs(3.0, loc=1e300) == 1e300
