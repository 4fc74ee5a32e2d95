"""Moments, entropies and supports of agrad.stats against scipy.stats, and against mpmath where SciPy has lost the digits."""

import mpmath
import numpy as np
import pytest
import scipy.stats

import agrad as ag
from agrad._stats.moment_rows import MOMENTS
from agrad._stats.moments import LETTERS
from scipy_points import FAMILIES, distribution, point

NAMES = ("mean", "var", "std", "entropy")
CASES = [
    (name, method)
    for name in FAMILIES
    for method in NAMES
    if method in distribution(name).methods and (name not in ("cauchy", "halfcauchy") or method == "entropy")
]
each_case = pytest.mark.parametrize(("name", "method"), CASES)
#: What has no closed form, or none that keeps its digits.
WITHOUT = {
    "var": {"vonmises"},
    "skew": {"vonmises", "weibull_min", "weibull_max", "invweibull", "fisk", "genextreme"},
    "kurtosis": {
        "vonmises",
        "weibull_min",
        "weibull_max",
        "invweibull",
        "fisk",
        "genextreme",
        "betabinom",
        "betanbinom",
        "hypergeom",
    },
    "entropy": {
        "vonmises",
        "skewnorm",
        "exponnorm",
        "invgauss",
        "skellam",
        "binom",
        "betabinom",
        "betanbinom",
        "hypergeom",
        "nbinom",
        "poisson",
        "yulesimon",
    },
}


def high_point(name):
    """Return parameters at which the first four moments are finite, and SciPy has them."""
    values, shapes = point(name), FAMILIES[name].shapes
    if name in ("lognorm", "binom", "hypergeom", "genextreme", "genpareto"):
        return values
    higher = [
        value if "between" in FAMILIES[name].parameters[shape] else value + 4
        for shape, value in zip(shapes, values, strict=False)
    ]
    return higher + values[len(shapes) :]


def test_the_table_has_every_family_and_what_is_absent_is_known():
    assert MOMENTS.keys() == FAMILIES.keys()
    assert len(CASES) == 4 * len(FAMILIES) - 14 - 6
    for which in ("mean", "var", "skew", "kurtosis", "entropy"):
        assert {name for name, row in MOMENTS.items() if row.of(which) is None} == WITHOUT.get(which, set())
    for name in FAMILIES:
        absent = {method for method in NAMES if name in WITHOUT.get("var" if method == "std" else method, ())}
        assert set(NAMES) - absent == distribution(name).methods.keys() & set(NAMES)
        assert ("stats" in distribution(name).methods) == (name != "vonmises")


@each_case
def test_moments_are_those_of_scipy(name, method):
    values = high_point(name)
    ours, theirs = (getattr(getattr(stats, name), method) for stats in (ag.stats, scipy.stats))
    expected = theirs(*values)
    assert np.isfinite(expected)
    assert ours(*values) == pytest.approx(expected, rel=1e-11, abs=1e-14)
    assert isinstance(ours(*values), float)
    assert (
        ours(*values)
        == getattr(distribution(name)(*values[:-1], **{list(FAMILIES[name].parameters)[-1]: values[-1]}), method)()
    )
    last = np.array([[1.0], [2.0], [3.0]])
    assert ours(*values[:-1], last).shape == (3, 1)
    assert ours(*values[:-1], last)[1, 0] == pytest.approx(ours(*values[:-1], 2), rel=1e-14, abs=1e-300)


@pytest.mark.parametrize("name", [name for name in FAMILIES if name not in ("vonmises", "cauchy")])
def test_statistics_are_those_of_scipy(name):
    letters = "".join(letter for letter, which in LETTERS.items() if name not in WITHOUT.get(which, ()))
    values = high_point(name)
    expected = getattr(scipy.stats, name).stats(*values, moments=letters)
    np.testing.assert_allclose(distribution(name).stats(*values, moments=letters), expected, rtol=1e-10, atol=1e-14)
    assert distribution(name).stats(*values) == distribution(name).stats(*values, "vm")
    assert distribution(name)(*values).stats("m") == distribution(name).mean(*values)
    for wrong in ("", "x", "mvskx", None):
        with pytest.raises(ValueError, match=rf"stats.{name}.stats: moments is {wrong!r}, but must be letters of '{letters}'"):
            distribution(name).stats(*values, moments=wrong)


def free_of(name):
    """Return the places of parameters that are real numbers in SciPy."""
    family = FAMILIES[name]
    return [
        k
        for k, condition in enumerate(family.parameters.values())
        if "whole" not in condition and (name, k) != ("betanbinom", 0)
    ]


def free_shapes(name):
    """Return the places of shapes that are real numbers in SciPy."""
    return [k for k in free_of(name) if k < len(FAMILIES[name].shapes)]


WITH_FREE_SHAPES = [name for name in FAMILIES if free_shapes(name)]


def test_which_families_have_no_free_shapes():
    assert all(
        FAMILIES[name].shapes == () or name in ("randint", "hypergeom") for name in FAMILIES.keys() - set(WITH_FREE_SHAPES)
    )
    assert len(WITH_FREE_SHAPES) >= 23


@pytest.mark.parametrize("name", [name for name in WITH_FREE_SHAPES if MOMENTS[name].skew is not None])
def test_derivatives_of_skewness_and_kurtosis_are_those_of_differences_of_scipy(name):
    letters = "sk" if MOMENTS[name].kurtosis is not None else "s"
    count, free = len(FAMILIES[name].shapes), free_shapes(name)
    values = high_point(name)

    def of(stats, x):
        shapes = [x[free.index(k)] if k in free else values[k] for k in range(count)]
        return getattr(stats, name).stats(*shapes, moments=letters)

    x = np.array([values[k] for k in free], dtype=float)
    jacobian = ag.jacfwd(lambda x: np.stack(np.atleast_1d(of(ag.stats, x)) if letters == "s" else of(ag.stats, x)))(x)
    h = 1e-3 * x
    for i in range(len(free)):
        around = [of(scipy.stats, x + s * h * np.eye(len(free))[i]) for s in (-3, -2, -1, 1, 2, 3)]
        slope = np.dot([-1, 9, -45, 45, -9, 1], np.reshape(around, (6, -1))) / (60 * h[i])
        np.testing.assert_allclose(jacobian[:, i], slope, rtol=1e-7, atol=1e-9)


@each_case
def test_derivatives_of_moments_are_those_of_differences_of_scipy(name, method):
    values, free = [float(value) for value in high_point(name)], free_of(name)
    ours, theirs = (getattr(getattr(stats, name), method) for stats in (ag.stats, scipy.stats))
    if name == "vonmises":  # whose mean SciPy integrates
        theirs = lambda kappa, loc, scale: loc  # noqa: E731

    def placed(x):
        full = [int(v) if v == int(v) else v for v in values]
        for i, k in enumerate(free):
            full[k] = x[i]
        return full

    x = np.array(values)[free]
    f = lambda x: ours(*placed(x))  # noqa: E731
    gradient = ag.grad(f)(x)
    for i in range(len(free)):
        h = 1e-3 * max(abs(x[i]), 0.05)
        of = [theirs(*placed(x + s * h * np.eye(len(free))[i])) for s in (-3, -2, -1, 1, 2, 3)]
        slope = np.dot([-1, 9, -45, 45, -9, 1], of) / (60 * h)
        assert gradient[i] == pytest.approx(slope, rel=1e-7, abs=1e-9), (name, method, i)
    np.testing.assert_allclose(ag.compile(f)(x), ours(*values), rtol=1e-13, atol=1e-300)
    np.testing.assert_allclose(ag.jacfwd(f)(x), gradient, rtol=1e-12, atol=1e-300)
    hessian = ag.hessian(f)(x)
    np.testing.assert_allclose(hessian, hessian.T, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ag.jacfwd(ag.grad(f))(x), hessian, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("a", [0.3, 0.7, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5])
@pytest.mark.parametrize("name", ["t", "pareto", "lomax", "invgamma", "yulesimon", "cauchy", "halfcauchy"])
def test_infinite_and_undefined_moments_are_those_of_scipy(name, a):
    shapes = () if name.endswith("cauchy") else (a,)
    with np.errstate(all="ignore"):
        expected = [float(m) for m in getattr(scipy.stats, name).stats(*shapes, moments="mvsk")]
    found = distribution(name).stats(*shapes, moments="mvsk")
    np.testing.assert_allclose(found, expected, rtol=1e-13)
    if shapes:
        for method in ("mean", "var"):
            value, slope = getattr(distribution(name), method)(a), ag.grad(getattr(distribution(name), method))(a)
            assert np.isfinite(slope)
            assert slope == 0 or np.isfinite(value)


@pytest.mark.parametrize(
    ("name", "c", "mean", "var"),
    [
        ("fisk", 0.9, False, False),
        ("fisk", 2.0, True, False),
        ("invweibull", 1.0, False, False),
        ("invweibull", 1.7, True, False),
    ],
)
def test_moments_that_scipy_computes_beyond_their_poles_are_infinite(name, c, mean, var):
    assert np.isfinite(distribution(name).mean(c)) == mean
    assert np.isfinite(distribution(name).var(c)) == var
    assert not np.isnan(distribution(name).var(c))


def exact(name, method, *x):
    """Return a moment in 60 digits."""
    with mpmath.workdps(60):
        x = [mpmath.mpf(float(each)) for each in x]
        a, b, psi, log, ln_gamma = x[0], x[-1], mpmath.psi, mpmath.log, mpmath.loggamma
        g = lambda u: mpmath.gamma(1 + u)  # noqa: E731
        of_power = {"mean": lambda u: g(u), "var": lambda u: g(2 * u) - g(u) ** 2}
        of = {
            ("gamma", "entropy"): lambda: a + ln_gamma(a) + (1 - a) * psi(0, a),
            ("invgamma", "entropy"): lambda: a + ln_gamma(a) - (1 + a) * psi(0, a),
            ("chi2", "entropy"): lambda: a / 2 + log(2) + ln_gamma(a / 2) + (1 - a / 2) * psi(0, a / 2),
            ("t", "entropy"): lambda: (
                (a + 1) / 2 * (psi(0, (a + 1) / 2) - psi(0, a / 2)) + log(a) / 2 + log(mpmath.beta(a / 2, 0.5))
            ),
            ("beta", "entropy"): lambda: (
                ln_gamma(a)
                + ln_gamma(b)
                - ln_gamma(a + b)
                - (a - 1) * psi(0, a)
                - (b - 1) * psi(0, b)
                + (a + b - 2) * psi(0, a + b)
            ),
            ("fisk", "mean"): lambda: mpmath.pi / a / mpmath.sin(mpmath.pi / a),
            ("fisk", "var"): lambda: (
                2 * mpmath.pi / a / mpmath.sin(2 * mpmath.pi / a) - (mpmath.pi / a / mpmath.sin(mpmath.pi / a)) ** 2
            ),
            ("lognorm", "var"): lambda: mpmath.expm1(a**2) * mpmath.exp(a**2),
            ("weibull_min", method): lambda: of_power[method](1 / a),
            ("invweibull", method): lambda: of_power[method](-1 / a),
        }
        return float(of[name, method]())


@pytest.mark.thread_unsafe(reason="mpmath's precision is global")
@pytest.mark.parametrize(
    ("name", "method", "shapes"),
    [
        *(("gamma", "entropy", (a,)) for a in (1e-8, 0.3, 7.0, 19.9, 20.0, 33.0, 1e3, 1e8, 1e15)),
        *(("chi2", "entropy", (a,)) for a in (1e-3, 39.9, 40.1, 1e8)),
        *(("invgamma", "entropy", (a,)) for a in (1e-3, 2.0, 19.9, 25.0, 1e8)),
        *(("t", "entropy", (a,)) for a in (0.1, 1.0, 4.0, 39.5, 41.0, 1e3, 1e10)),
        *(("beta", "entropy", ab) for ab in ((0.01, 0.02), (2.0, 3.0), (15.0, 15.0), (0.5, 1e6), (1e8, 2e8), (1e12, 3.0))),
        *(("fisk", m, (c,)) for m in ("mean", "var") for c in (2.0000001, 2.2, 3.0, 10.0, 1e3, 1e8)),
        ("fisk", "mean", (1.0000001,)),
        *(("weibull_min", m, (c,)) for m in ("mean", "var") for c in (0.05, 0.5, 1.7, 4.9, 5.1, 16.0, 100.0, 1e4, 1e9)),
        *(("invweibull", m, (c,)) for m in ("mean", "var") for c in (2.0000001, 3.3, 4.9, 5.1, 16.0, 100.0, 1e4, 1e9)),
        ("lognorm", "var", (1e-9,)),
    ],
)
def test_moments_keep_their_digits(name, method, shapes):
    found = getattr(distribution(name), method)(*shapes)
    assert found == pytest.approx(exact(name, method, *shapes), rel=2e-14, abs=2e-14 if method == "entropy" else 0)


@pytest.mark.parametrize("name", ["weibull_min", "invweibull", "gamma", "t", "beta", "fisk"])
def test_derivatives_are_smooth_where_formulas_change(name):
    at = {"weibull_min": 5.0, "invweibull": 5.0, "gamma": 20.0, "t": 40.0, "beta": 20.0, "fisk": 2.0}[name]
    method = getattr(
        distribution(name), "var" if name in ("weibull_min", "invweibull") else "mean" if name == "fisk" else "entropy"
    )
    rest = (3.0,) if name == "beta" else ()
    for f in (method, ag.grad(method), ag.grad(ag.grad(method))):
        below, above = (f(np.nextafter(at, to), *rest) for to in (0.0, 100.0))
        assert below == pytest.approx(above, rel=1e-10)


def test_standard_deviations_do_not_overflow_and_domains_are_checked():
    assert ag.stats.norm.std(scale=1e200) == 1e200
    assert ag.stats.hypergeom.var(1, 1, 1) == 0
    assert ag.stats.weibull_min.var(0.01) == ag.stats.weibull_max.std(0.005) == np.inf
    assert ag.stats.poisson.mean(0.0) == 0
    with pytest.raises(ag.DomainError, match=r"stats.gamma.mean: a\[1\] is -1, but must be positive and finite"):
        ag.stats.gamma.mean([1.0, -1.0])
    with pytest.raises(ag.DomainError, match=r"stats.randint.mean: high - low is -2, but must be positive and finite"):
        ag.stats.randint.mean(5, 3)
    with pytest.raises(ag.DomainError, match=r"stats.hypergeom.mean: M - N is -2, but must be a whole number, not negative"):
        ag.stats.hypergeom.mean(5, 3, 7)
    with pytest.raises(ag.DomainError, match=r"stats.randint.mean: high - low is -2, but must be positive"):
        ag.compile(lambda low: ag.stats.randint.mean(low, 3))(5.0)
    with pytest.raises(AttributeError, match=r"stats.poisson: attribute is 'entropy', but must be one of logpmf"):
        _ = ag.stats.poisson.entropy
