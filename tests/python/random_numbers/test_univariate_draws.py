"""Draws of single numbers and counts against distribution functions and masses, by fixed seeds.

The distribution functions are agrad's, which are tested against mpmath and share no code with the draws, or SciPy's.
"""

import math
import zlib
from collections.abc import Callable

import numpy as np
import pytest
import scipy.stats

import agrad as ag

DRAWS = 10_000
#: The least probability of a statistic; of all tests here one in fifty would fail by chance with other seeds.
LEAST = 1e-4
TINY, HUGE = 1e-300, 1e300

#: Parameters of the distributions that have a distribution function in agrad.
CONTINUOUS = {
    "normal": [(0.5, 2.0), (0.0, TINY), (-HUGE, HUGE / 10)],
    "lognormal": [(0.5, 2.0), (-600.0, 20.0)],
    "student_t": [(4.0, 1.0, 2.0), (0.3, -1.0, 0.5), (1e8, 0.0, 1.0), (0.02, 0.0, 1e-250)],
    "cauchy": [(1.0, 2.0)],
    "double_exponential": [(1.0, 2.0)],
    "skew_double_exponential": [(1.0, 2.0, 0.2), (0.0, 1.0, 0.97)],
    "gumbel": [(1.0, 2.0)],
    "generalized_extreme_value": [(1.0, 2.0, 0.3), (0.0, 1.0, -0.4), (0.0, 1.0, 0.0)],
    "logistic": [(1.0, 2.0)],
    "exp_mod_normal": [(1.0, 2.0, 0.5), (0.0, 0.1, 5.0)],
    "uniform": [(-1.0, 2.0)],
    "exponential": [(0.5,), (TINY,)],
    "gamma": [(2.5, 0.3), (0.05, 1.0), (1e8, 2.0), (0.3, HUGE)],
    "chi_square": [(5.0,), (0.1,)],
    "inv_gamma": [(2.5, 0.3), (0.05, 1.0)],
    "inv_chi_square": [(5.0,), (0.1,)],
    "scaled_inv_chi_square": [(5.0, 2.0), (3.0, 1e-100)],
    "weibull": [(1.5, 2.0), (0.02, 1e10)],
    "frechet": [(1.5, 2.0), (0.05, 1e-10)],
    "rayleigh": [(2.0,)],
    "loglogistic": [(2.0, 1.5), (1.0, 0.05)],
    "half_normal": [(2.0,)],
    "half_cauchy": [(2.0,)],
    "inv_gaussian": [(2.0, 0.5), (1.0, 1e8), (1.0, 1e-8)],
    "generalized_pareto": [(1.0, 2.0, 0.3), (0.0, 1.0, -0.4), (0.0, 1.0, 0.0)],
    "pareto": [(2.0, 1.5), (1e-100, 0.02)],
    "pareto_type_2": [(1.0, 2.0, 1.5), (0.0, 1e-8, 0.1)],
    "beta": [(2.0, 3.0), (0.3, 0.6), (1e5, 2e5)],
}
#: The others, with the distribution function of draws.
BY_SCIPY: dict[str, list[tuple[tuple[float, ...], Callable]]] = {
    "std_normal": [((), scipy.stats.norm().cdf)],
    "uniform": [((-1.5e308, 1.5e308), lambda y: 0.5 + 0.5 * (y / 1.5e308))],
    "skew_normal": [
        ((1.0, 2.0, 3.0), scipy.stats.skewnorm(3.0, 1.0, 2.0).cdf),
        ((0.0, 1.0, -HUGE), lambda y: scipy.stats.halfnorm.sf(-y)),
    ],
    "beta_proportion": [((0.3, 5.0), scipy.stats.beta(1.5, 3.5).cdf), ((0.6, 0.8), scipy.stats.beta(0.48, 0.32).cdf)],
    "von_mises": [((1.0, k), scipy.stats.vonmises(k, 1.0).cdf) for k in (1e-4, 0.3, 2.0, 40.0)]
    + [
        ((2.0, 0.0), scipy.stats.uniform(2 - np.pi, 2 * np.pi).cdf),
        ((0.0, 1e12), scipy.stats.norm(0.0, 1e-6).cdf),
        ((0.0, HUGE), scipy.stats.norm(0.0, 1e-150).cdf),
    ],
}
#: Parameters of the distributions of counts, which have a mass in agrad.
COUNTS = {
    "bernoulli": [(0.3,), (1.0,)],
    "bernoulli_logit": [(-0.5,), (np.inf,)],
    "binomial": [(12, 0.3), (200, 0.01), (0, 0.5), (5, 0.0)],
    "beta_binomial": [(12, 2.0, 3.0), (5, 1e-3, 2e-3)],
    "beta_neg_binomial": [(2.5, 6.0, 3.0)],
    "neg_binomial": [(2.5, 0.3), (1e-3, 1e-3)],
    "neg_binomial_2": [(3.0, 0.5), (3.0, 1e15)],
    "neg_binomial_2_log": [(1.0, 0.5), (1.0, 1e15)],
    "poisson": [(0.0,), (0.3,), (40.0,)],
    "poisson_log": [(1.5,), (-np.inf,)],
    "skellam": [(0.3, 0.2), (40.0, 55.0)],
    "discrete_range": [(-3, 4), (2, 2)],
    "hypergeometric": [(10, 8, 12), (3, 2, 4)],
    "yule_simon": [(2.5,), (40.0,)],
}
cases = [(name, p) for name, all_of in CONTINUOUS.items() for p in all_of]


def draw(name: str, *parameters: float, size: int = DRAWS, salt: int = 0) -> np.ndarray:
    rng = np.random.default_rng([zlib.crc32(name.encode()), salt, *(hash(p) % 2**32 for p in parameters)])
    return getattr(ag, f"{name}_rng")(*parameters, rng=rng, size=size)


def of_agrad(name: str, parameters: tuple[float, ...]) -> Callable:
    cdf = getattr(ag, f"{name}_cdf")
    return lambda y: np.array([float(cdf(value, *parameters)) for value in np.ravel(y)]).reshape(np.shape(y))


def require_distribution(y: np.ndarray, cdf: Callable) -> None:
    assert y.dtype == float
    assert scipy.stats.kstest(y, cdf).pvalue > LEAST


def require_numbers(observed: np.ndarray, expected: np.ndarray) -> None:
    """Chi-square of numbers of draws in bins; bins with few expected draws are one bin."""
    few = expected < 5
    observed = np.append(observed[~few], observed[few].sum())
    expected = np.append(expected[~few], expected[few].sum())
    assert expected.sum() == pytest.approx(observed.sum(), rel=1e-9)
    filled = expected > 0
    assert observed[~filled].sum() == 0
    if filled.sum() > 1:
        assert scipy.stats.chisquare(observed[filled], expected[filled], sum_check=False).pvalue > LEAST


@pytest.mark.parametrize(("name", "parameters"), cases)
def test_numbers_have_the_distribution_function(name, parameters):
    require_distribution(draw(name, *parameters), of_agrad(name, parameters))


@pytest.mark.parametrize(("name", "parameters", "cdf"), [(n, *case) for n, all_of in BY_SCIPY.items() for case in all_of])
def test_numbers_have_the_distribution_function_of_scipy(name, parameters, cdf):
    require_distribution(draw(name, *parameters), cdf)


@pytest.mark.parametrize(("name", "parameters"), [(name, p) for name, all_of in COUNTS.items() for p in all_of])
def test_counts_have_the_mass(name, parameters):
    n = draw(name, *parameters)
    assert n.dtype == np.int64
    mass = getattr(ag, f"{name}_lpmf")
    support = np.arange(n.min() - 3, n.max() + 4)
    if name.startswith("bernoulli"):
        support = np.arange(2)
    elif name not in ("discrete_range", "skellam"):
        support = support[support >= 0]
    p = np.array([math.exp(mass(k, *parameters)) for k in support.tolist()])
    observed = np.array([np.sum(n == k) for k in support])
    assert observed.sum() == DRAWS
    beyond = max(0.0, 1 - p.sum())
    require_numbers(np.append(observed, 0), DRAWS * np.append(p, beyond))


# ---- extreme parameters ----------------------------------------------------------------------------------------------


def require_bins(y: np.ndarray, edges: list[float], cdf: Callable) -> None:
    """Numbers of draws between edges, where many draws are below the range of doubles."""
    below = np.array([float(cdf(edge)) for edge in edges])
    expected = y.size * np.diff(np.concatenate([[0.0], below, [1.0]]))
    observed = np.histogram(y, [-np.inf, *np.nextafter(edges, np.inf), np.inf])[0]
    require_numbers(observed, expected)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("gamma", (1e-3, 1.0)),
        ("gamma", (2e-3, 1e-50)),
        ("inv_gamma", (1e-3, 1.0)),
        ("chi_square", (1e-3,)),
        ("beta", (1e-3, 1e-3)),
        ("beta", (1e-3, 3.0)),
        ("student_t", (5e-3, 0.0, 1.0)),
        ("weibull", (1e-3, 1.0)),
    ],
)
def test_small_shapes(name, parameters):
    y = draw(name, *parameters)
    assert not np.any(np.isnan(y))
    edges = [1e-250, 1e-100, 1e-10, 0.1, 0.5, 0.9]
    if not name.startswith("beta"):
        edges += [1.0, 1e10, 1e100, 1e250]
    require_bins(y, edges, of_agrad(name, parameters))


def test_vanishing_shapes_choose_between_0_and_1():
    for parameters in ((1e-305, 3e-305), (5e-324, 5e-324), (1e-200, 3e-200)):
        y = draw("beta", *parameters)
        assert set(np.unique(y)) == {0.0, 1.0}
        mean = parameters[0] / sum(parameters)
        assert scipy.stats.binomtest(int(y.sum()), y.size, mean).pvalue > LEAST


def test_huge_shapes_are_nearly_constant():
    for name, parameters, value in [
        ("gamma", (1e300, 1e300), 1.0),
        ("beta", (1e300, 1e300), 0.5),
        ("inv_gamma", (1e300, 1e300), 1.0),
        ("student_t", (1e300, 3.0, 1e-20), 3.0),
    ]:
        np.testing.assert_allclose(draw(name, *parameters, size=10), value, rtol=1e-14)


@pytest.mark.parametrize("rate", [2e9, 3e12, 1e15, 2.0**52])
def test_counts_of_large_rates(rate):
    """Poisson counts of such rates are normal but for a skewness of rate^-1/2, which the draws do not see."""
    for n in (draw("poisson", rate), draw("neg_binomial_2", rate, 1e300), draw("poisson_log", np.log(rate) - 1e-15)):
        assert n.dtype == np.int64
    n = draw("poisson", rate)
    assert scipy.stats.kstest((n - rate) / np.sqrt(rate), "norm").pvalue > LEAST
    assert len(np.unique(n % 2)) == 2


@pytest.mark.parametrize(("trials", "p"), [(2e9, 0.3), (2.0**53 - 1, 0.5), (2.0**53 - 1, 1e-7), (1e15, 1 - 1e-6)])
def test_counts_of_many_trials(trials, p):
    n = draw("binomial", trials, p)
    z = (n - trials * p) / np.sqrt(trials * p * (1 - p))
    assert scipy.stats.kstest(z, "norm").pvalue > LEAST


def test_rare_successes_in_many_trials():
    n = draw("binomial", 2.0**53 - 1, 3.0 / 2.0**53)
    require_numbers(np.bincount(n, minlength=30), DRAWS * scipy.stats.poisson(3.0).pmf(np.arange(30)))


@pytest.mark.parametrize(
    ("draws", "good", "bad"),
    [(1e6, 3e9, 5e9), (3e12, 2e12, 5e12), (2.0**51, 2.0**52, 2.0**51), (2e9, 1500, 4e9), (50, 3e12, 1e12)],
)
def test_large_populations(draws, good, bad):
    n = draw("hypergeometric", draws, good, bad, size=2000)
    total = good + bad
    p = good / total
    variance = draws * p * (1 - p) * ((total - draws) / (total - 1))
    if variance < 1e4:  # then a binomial law, of the smaller sample: the other is far larger
        trials, share = (draws, p) if draws < good else (good, draws / total)
        law = scipy.stats.binom(int(trials), share)
        bins = np.arange(int(trials) + 1)
        require_numbers(np.bincount(n, minlength=bins.size), 2000 * law.pmf(bins))
    else:
        z = (n - draws * p) / np.sqrt(variance)
        assert scipy.stats.kstest(z, "norm").pvalue > LEAST


@pytest.mark.thread_unsafe(reason="changes a threshold of the module")
def test_splitting_agrees_with_exact_masses(monkeypatch):
    """With a threshold of 3 all counts are split, down to numbers at which each mass is seen."""
    from agrad._random import standard

    monkeypatch.setattr(standard, "_LARGE", 3.0)
    for name, all_of in {
        "binomial": [(12, 0.3), (40, 0.9)],
        "poisson": [(7.0,), (30.0,)],
        "hypergeometric": [(10, 8, 12)],
    }.items():
        for parameters in all_of:
            test_counts_have_the_mass(name, parameters)


def test_counts_that_doubles_cannot_hold_raise():
    for call, message in [
        (lambda: ag.poisson_rng([1.0, 1e16]), r"poisson_rng: lambda_\[1\] is 1e\+16, but must be at most 2\^52"),
        (lambda: ag.poisson_log_rng(37.0), r"poisson_log_rng: alpha is 37.0, but must be at most log\(2\^52\)"),
        (lambda: ag.poisson_log_rng(1000.0), r"poisson_log_rng: alpha is 1000.0, but must be at most"),
        (lambda: ag.neg_binomial_rng([2.0, 1.0], [1.0, 1e-20]), r"a rate of counts is .*, but must be at most 2\^52, so that"),
        (lambda: ag.neg_binomial_rng(2.0, 1e-20), r"neg_binomial_rng: a rate of counts is .*alpha / beta is too large"),
        (lambda: ag.yule_simon_rng(0.01, rng=1, size=50), r"yule_simon_rng: a draw is .*; alpha is too small"),
        (
            lambda: ag.beta_neg_binomial_rng(1.0, 1e-3, 1.0, rng=1, size=50),
            r"beta_neg_binomial_rng: a rate .*alpha is too small",
        ),
        (lambda: ag.binomial_rng(1e17, 0.5), r"binomial_rng: N is 1e\+17, but must be below 2\^53"),
    ]:
        with pytest.raises(ag.DomainError, match=message):
            call()


def test_log_scale_of_tails():
    """Exponential draws have logarithms: Gumbel numbers are finite, and small Weibull numbers have all their digits."""
    assert np.all(np.isfinite(draw("gumbel", 0.0, 1.0, size=100_000)))
    y = draw("weibull", 0.05, 1.0, size=20_000)
    assert scipy.stats.kstest(y**0.05, "expon").pvalue > LEAST
    assert y.min() < 1e-60
