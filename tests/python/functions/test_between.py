"""Log probabilities of intervals: far in the tails, of short and of long intervals, and at ends that are infinite or equal."""

import itertools

import mpmath
import numpy as np
import pytest
import scipy.stats

import agrad as ag
from probability_reference import ROWS, derivative, reference

pytestmark = pytest.mark.thread_unsafe(reason="mpmath's precision belongs to the process")

POINTS = [
    ("normal_lbetween", (38.0, 39.0, 0.0, 1.0)),  # where distribution functions are 1 to all digits
    ("normal_lbetween", (-39.0, -38.0, 0.0, 1.0)),
    ("normal_lbetween", (-9.0, 9.0, 0.1, 1.0)),  # nearly everything
    ("normal_lbetween", (1.0, 1.0 + 2.0**-30, 0.3, 2.0)),
    ("normal_lbetween", (-0.4, 0.35, 0.0, 1.0)),
    ("normal_lbetween", (25.0, 25.0 + 2.0**-10, 0.0, 1.0)),
    ("lognormal_lbetween", (3.0, 3.0625, 1.0, 0.5)),
    ("student_t_lbetween", (300.0, 301.0, 3.0, 0.0, 1.0)),
    ("cauchy_lbetween", (-1e8, -1e8 + 64, 0.0, 1.0)),
    ("double_exponential_lbetween", (-0.125, 0.0625, 0.0, 1.0)),  # around the kink
    ("double_exponential_lbetween", (50.0, 50.5, 0.0, 1.0)),
    ("double_exponential_lbetween", (-82.875, -20.75, -44.375, 0.21875)),  # nearly everything, around the kink
    ("skew_double_exponential_lbetween", (-0.125, 0.0625, 0.0, 1.0, 0.3)),
    ("gumbel_lbetween", (30.0, 30.125, 0.0, 1.0)),
    ("logistic_lbetween", (40.0, 41.0, 0.0, 1.0)),
    ("skew_normal_lbetween", (0.5, 0.5625, 0.0, 1.0, 2.0)),
    ("exp_mod_normal_lbetween", (4.0, 4.25, 0.0, 1.0, 0.5)),
    ("von_mises_lbetween", (2.5, 2.625, 0.0, 4.0)),
    # With the antimode between ends of very unlike densities.
    ("von_mises_lbetween", (-1.375, 2.4375, 3.0, 81.0)),
    ("uniform_lbetween", (0.25, 0.25 + 2.0**-20, 0.0, 1.0)),
    ("exponential_lbetween", (100.0, 100.5, 2.0)),
    ("gamma_lbetween", (30.0, 30.125, 2.5, 1.0)),
    ("gamma_lbetween", (2.0**-30, 2.0**-29, 0.25, 1.0)),  # the density has a pole at 0
    ("gamma_lbetween", (2.0**-7, 0.25, 2.0**-20, 2.0**-21)),  # flat in log(y), but not its derivative by beta
    ("chi_square_lbetween", (2.0, 2.0625, 3.0)),
    ("weibull_lbetween", (1.0, 1.03125, 1.7, 2.0)),
    ("frechet_lbetween", (9.0, 9.5, 1.7, 2.0)),
    ("rayleigh_lbetween", (9.0, 9.03125, 1.5)),
    ("loglogistic_lbetween", (90.0, 91.0, 2.0, 3.0)),
    ("loglogistic_lbetween", (2.0**-17, 2.0**60, 0.25, 2.0**-17)),
    ("pareto_lbetween", (8.0, 8.125, 1.0, 2.0)),
    ("pareto_type_2_lbetween", (8.0, 8.125, 0.0, 1.0, 2.0)),
    ("inv_gamma_lbetween", (2.0, 2.125, 2.5, 3.0)),
    ("inv_gamma_lbetween", (4.0, 128.0, 2.0**-20, 2.0**-21)),
    ("inv_chi_square_lbetween", (2.0, 2.125, 2.5)),
    ("scaled_inv_chi_square_lbetween", (2.0, 2.125, 2.5, 1.5)),
    ("beta_lbetween", (0.96875, 0.984375, 2.0, 3.0)),
    ("beta_lbetween", (0.25, 0.75, 0.01, 0.01)),
    ("beta_lbetween", (0.25, 0.75, 2.0**-16, 2.0**-17)),
    ("beta_proportion_lbetween", (0.25, 0.28125, 0.3, 4.0)),
    ("poisson_lbetween", (900.0, 903.0, 500.0)),
    ("poisson_lbetween", (60.0, 80.0, 5.0)),
    ("binomial_lbetween", (430.0, 570.0, 1000.0, 0.5)),
    ("neg_binomial_2_lbetween", (40.0, 44.0, 3.0, 2.0)),
]


def derivatives(name, point):
    """Return the arguments that are no data, and the function of these."""
    free = [k for k, (_, must) in enumerate(ROWS[name].arguments) if not must.startswith(("a whole number", "0 or 1"))]

    def at(x):
        arguments = list(point)
        for i, k in enumerate(free):
            arguments[k] = x[i]
        return getattr(ag, name)(*arguments)

    return free, at


@pytest.mark.parametrize(("name", "point"), POINTS)
def test_value_gradient_and_hessian_keep_their_digits(name, point):
    """A derivative by an end and a parameter is a difference of products of first derivatives, which may cancel."""
    free, at = derivatives(name, point)
    x = np.array([point[k] for k in free])
    gradient, hessian = ag.grad(at)(x), ag.hessian(at)(x)
    orders = np.eye(len(point), dtype=int)
    with mpmath.workdps(400 if name == "normal_lbetween" else 120):  # a reference by differences of probabilities near 1
        value = derivative(name, point, 0 * orders[0])
        assert abs(getattr(ag, name)(*point) - value) <= 2e-13 * abs(value)
        for i, k in enumerate(free):
            slope = derivative(name, point, orders[k])
            assert abs(gradient[i] - slope) <= 2e-12 * abs(slope), (k, gradient[i], mpmath.nstr(slope, 17))
        for i, j in itertools.combinations_with_replacement(range(len(free)), 2):
            curvature = derivative(name, point, orders[free[i]] + orders[free[j]])
            tolerance = 1e-11 * abs(curvature) + 1e-14 * abs(gradient[i] * gradient[j])
            for computed in (hessian[i, j], hessian[j, i]):
                assert abs(computed - curvature) <= tolerance, (i, j, computed, mpmath.nstr(curvature, 17))


@pytest.mark.parametrize(
    ("name", "point"),
    [
        ("gamma", (2.0**-30, 16.0, 2.0**-20, 2.0**-21)),
        ("inv_gamma", (2.0**-4, 2.0**30, 2.0**-20, 2.0**-21)),
        ("beta", (2.0**-30, 0.75, 2.0**-20, 2.0**-21)),
    ],
)
def test_long_intervals_of_flat_densities_lose_only_what_distribution_functions_share(name, point):
    """The density is flat in log(y), and derivatives with respect to parameters are not."""
    with mpmath.workdps(120):
        of, exact, orders = reference(f"{name}_lbetween"), tuple(map(mpmath.mpf, point)), np.eye(4, dtype=int)
        value = float(of(*exact))
        slopes = [float(mpmath.diff(of, exact, tuple(map(int, row)))) for row in orders]
    digits = 1e-14 / np.exp(value)
    function = getattr(ag, f"{name}_lbetween")
    assert function(*point) == pytest.approx(value, rel=digits)
    np.testing.assert_allclose(ag.grad(lambda x: function(*x))(np.array(point)), slopes, rtol=4 * digits)


@pytest.mark.parametrize(("name", "x"), [("double_exponential", (0.0, 1.0)), ("skew_double_exponential", (0.0, 1.0, 0.3))])
def test_a_short_interval_around_a_kink_has_all_digits(name, x):
    point = (-(2.0**-30), 2.0**-31, *x)
    with mpmath.workdps(60):
        exact = reference(f"{name}_lbetween")(*map(mpmath.mpf, point))
    assert getattr(ag, f"{name}_lbetween")(*point) == pytest.approx(float(exact), rel=1e-15)


@pytest.mark.parametrize("name", [name for name in ROWS if name.endswith("_lbetween")])
def test_short_intervals_tend_to_the_density(name):
    """Of one count they are its mass; of a length h the density times h, up to terms of the order h^2."""
    rule, is_count = name.removesuffix("_lbetween"), f"{name.removesuffix('_lbetween')}_lpmf" in ROWS
    parameters = {"std_normal": (), "student_t": (3.0, 0.1, 1.2), "exp_mod_normal": (0.1, 1.2, 0.7), "uniform": (-1.0, 2.0)}
    parameters |= {"von_mises": (0.2, 3.0), "beta_proportion": (0.3, 4.0), "skew_normal": (0.1, 1.2, 2.0)}
    parameters |= {"skew_double_exponential": (0.1, 1.2, 0.3), "pareto": (0.2, 1.5), "bernoulli": (0.3,)}
    parameters |= {"binomial": (9, 0.3), "beta_binomial": (9, 1.5, 2.0), "beta_neg_binomial": (2.0, 1.5, 2.0)}
    parameters |= {"discrete_range": (0, 4)}
    x = parameters.get(rule, (1.5, 0.7, 1.2)[: len(ROWS[name].arguments) - 2])
    function = getattr(ag, name)
    if is_count:
        assert function(1, 1, *x) == pytest.approx(getattr(ag, f"{rule}_lpmf")(1, *x), rel=1e-13)
    else:
        h = 2.0**-25
        expected = getattr(ag, f"{rule}_lpdf")(0.375, *x) + np.log(2 * h)
        assert function(0.375 - h, 0.375 + h, *x) == pytest.approx(expected, rel=1e-13)


def test_ends_may_be_infinite_equal_or_outside_of_the_support():
    assert ag.normal_lbetween(-np.inf, np.inf, 0.0, 1.0) == 0
    assert ag.normal_lbetween(40.0, np.inf, 0.0, 1.0) == pytest.approx(ag.normal_lccdf(40.0, 0.0, 1.0), rel=1e-15)
    assert ag.normal_lbetween(-np.inf, -40.0, 0.0, 1.0) == pytest.approx(ag.normal_lcdf(-40.0, 0.0, 1.0), rel=1e-15)
    assert ag.normal_lbetween(1.0, 1.0, 0.0, 1.0) == -np.inf
    assert ag.gamma_lbetween(-2.0, -1.0, 2.0, 1.0) == -np.inf
    assert ag.gamma_lbetween(-2.0, 1.0, 2.0, 1.0) == pytest.approx(ag.gamma_lcdf(1.0, 2.0, 1.0), rel=1e-15)
    assert ag.uniform_lbetween(-0.001, 0.1, 0.0, 1.0) == pytest.approx(np.log(0.1), rel=1e-15)
    assert ag.uniform_lbetween(0.9, 1.001, 0.0, 1.0) == pytest.approx(np.log(0.1), rel=1e-14)
    assert ag.uniform_lbetween(2.0, 3.0, 0.0, 1.0) == -np.inf
    assert ag.poisson_lbetween(-3, 2, 1.5) == pytest.approx(ag.poisson_lcdf(2, 1.5), rel=1e-14)
    assert ag.poisson_lbetween(-3, -1, 1.5) == -np.inf
    assert ag.binomial_lbetween(8, 30, 9, 0.3) == pytest.approx(ag.binomial_lccdf(7, 9, 0.3), rel=1e-14)
    for ends in [(-np.inf, np.inf), (1.0, 1.0), (-np.inf, 0.5), (0.5, np.inf)]:
        slopes = ag.grad(lambda x, ends=ends: ag.normal_lbetween(*ends, x[0], x[1]))(np.array([0.0, 1.0]))
        assert np.all(np.isfinite(slopes))
        assert np.all(np.isfinite(ag.hessian(lambda x, ends=ends: ag.normal_lbetween(*ends, x[0], x[1]))(np.array([0.0, 1.0]))))


def test_arguments_are_checked_and_broadcast():
    assert ag.normal_lbetween([0.0, 1.0], [1.0, 2.0], 0.0, 1.0) == pytest.approx(
        ag.normal_lbetween(0.0, 1.0, 0.0, 1.0) + ag.normal_lbetween(1.0, 2.0, 0.0, 1.0), rel=1e-15
    )
    with pytest.raises(ag.DomainError, match=r"normal_lbetween: lower\[1\] is 2, but must be at most upper = 1"):
        ag.normal_lbetween([0.0, 2.0], [1.0, 1.0], 0.0, 1.0)
    with pytest.raises(ag.DomainError, match=r"poisson_lbetween: upper is 2.5, but must be a whole number"):
        ag.poisson_lbetween(1, 2.5, 1.0)
    compiled = ag.compile(lambda x: ag.gamma_lbetween(x[0], x[1], x[2], 1.0))
    for x in ([1.0, 2.0, 3.0], [30.0, 30.5, 3.0], [1.0, 1.0 + 1e-9, 3.0], [0.0, np.inf, 2.0]):
        assert compiled(np.array(x)) == pytest.approx(ag.gamma_lbetween(*x, 1.0), rel=1e-14, abs=0)
    with pytest.raises(ag.DomainError, match="at most upper"):
        compiled(np.array([2.0, 1.0, 3.0]))


SCIPY = [
    ("norm", (), {"loc": 0.5, "scale": 2.0}, (-1.0, 2.0)),
    ("gumbel_l", (), {"loc": 0.5, "scale": 2.0}, (-1.0, 2.0)),
    ("weibull_max", (1.5,), {"loc": 3.0, "scale": 2.0}, (-1.0, 2.0)),
    ("gamma", (2.5,), {"loc": 0.5, "scale": 2.0}, (1.0, 4.0)),
    ("laplace_asymmetric", (0.7,), {"loc": 0.5, "scale": 2.0}, (-1.0, 4.0)),
    ("lognorm", (0.7,), {"scale": 2.0}, (1.0, 4.0)),
    ("vonmises", (2.0,), {"loc": 0.2}, (-1.0, 2.0)),
]


@pytest.mark.parametrize(("name", "shapes", "others", "ends"), SCIPY)
def test_methods_of_stats_are_differences_of_scipys(name, shapes, others, ends):
    ours, theirs = (getattr(module, name)(*shapes, **others) for module in (ag.stats, scipy.stats))
    expected = theirs.cdf(ends[1]) - theirs.cdf(ends[0])
    assert ours.between(*ends) == pytest.approx(expected, rel=1e-12)
    assert ours.logbetween(*ends) == pytest.approx(np.log(expected), rel=1e-12)
    both = ours.between([ends[0], -np.inf], ends[1]) if name != "vonmises" else np.array([expected, theirs.cdf(ends[1])])
    np.testing.assert_allclose(both, [expected, theirs.cdf(ends[1])], rtol=1e-12)


def test_counts_between_ends_that_are_not_whole():
    ours, theirs = (module.poisson(3.5, loc=1) for module in (ag.stats, scipy.stats))
    assert ours.between(1.5, 4.5) == pytest.approx(theirs.cdf(4) - theirs.cdf(1), rel=1e-14)
    assert ours.between(2, 4) == pytest.approx(theirs.cdf(4) - theirs.cdf(1), rel=1e-14)
    assert ours.between(1.2, 1.8) == 0
    assert ours.logbetween(40, np.inf) == pytest.approx(theirs.logsf(39), rel=1e-12)
    assert ours.logbetween(-np.inf, np.inf) == pytest.approx(0, abs=1e-16)
    assert ours.between(-np.inf, 3) == pytest.approx(theirs.cdf(3), rel=1e-14)
    assert ag.stats.yulesimon.logbetween(1e6, np.inf, 0.1) == pytest.approx(ag.yule_simon_lccdf(1e6 - 1, 0.1), rel=1e-14)
    slope = ag.grad(lambda mu: ag.stats.poisson.logbetween(0, 2, mu))(3.5)
    assert slope == pytest.approx(ag.grad(lambda mu: ag.poisson_lcdf(2, mu))(3.5), rel=1e-13)


def test_methods_of_stats_check_their_ends():
    with pytest.raises(ag.DomainError, match=r"stats.norm.between: upper - lower\[1\] is -1, but must be nonnegative"):
        ag.stats.norm.between([0.0, 1.0], [1.0, 0.0])
    with pytest.raises(ag.DomainError, match=r"stats.norm.logbetween: lower is nan"):
        ag.stats.norm.logbetween(np.nan, 1.0)
    with pytest.raises(ag.ShapeError, match=r"stats.norm.between: shapes of arguments"):
        ag.stats.norm.between([0.0, 1.0], [1.0, 2.0, 3.0])
    assert not hasattr(ag.stats.vonmises, "nothing")
