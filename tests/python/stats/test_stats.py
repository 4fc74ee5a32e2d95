"""agrad.stats against scipy.stats: every distribution and method in value, and derivatives against differences of SciPy's."""

import itertools
import pickle

import numpy as np
import pytest
import scipy.stats

import agrad as ag
from agrad._core import density_rows
from scipy_points import FAMILIES, distribution, methods_by_rows, point

BY_ROWS = ("logpdf", "pdf", "logpmf", "pmf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf")
METHODS = [(name, method) for name in FAMILIES for method in BY_ROWS if method in methods_by_rows(name)]
#: Quantiles of whole numbers are found by search, which recorded numbers have none of.
RECORDED = [(name, method) for name, method in METHODS if not (FAMILIES[name].is_discrete and method in ("ppf", "isf"))]


def free_places(name):
    """Return the places of first argument and parameters that are real numbers."""
    family = FAMILIES[name]
    whole = [family.is_discrete, *("whole" in condition for condition in family.parameters.values())]
    whole[1 + len(family.shapes)] |= family.is_discrete
    return [k for k, is_whole in enumerate(whole) if not is_whole]


#: Here n is real in agrad alone.
SCIPY_HAS_WHOLE_N = ("betanbinom",)
#: All parameters of these are whole numbers.
NOT_FREE = [name for name in FAMILIES if not free_places(name)]

FIRST = list({name: (name, method) for name, method in reversed(METHODS)}.values())

each_method = pytest.mark.parametrize(("name", "method"), METHODS)
each_free_method = pytest.mark.parametrize(("name", "method"), [row for row in RECORDED if row[0] not in NOT_FREE])
each_distribution = pytest.mark.parametrize("name", list(FAMILIES))


def arguments(name, method):
    """Return first arguments within the support."""
    if method in ("ppf", "isf"):
        return np.array([1e-8, 0.03, 0.4, 0.8, 0.999])
    if FAMILIES[name].is_discrete:
        return np.array([2.0, 3.0, 5.0, 8.0]) if name != "bernoulli" else np.array([2.0, 3.0])
    frozen = getattr(scipy.stats, name)(*point(name))
    return np.array([-2.0, 0.3, 1.9]) if name == "vonmises" else frozen.ppf([1e-4, 0.2, 0.5, 0.9, 0.9999])


@each_method
def test_values_are_those_of_scipy(name, method):
    values, x = point(name), arguments(name, method)
    ours = getattr(getattr(ag.stats, name), method)
    theirs = getattr(getattr(scipy.stats, name), method)
    np.testing.assert_allclose(ours(x, *values), theirs(x, *values), rtol=1e-9, atol=1e-290)
    shapes, loc, scale = values[: len(FAMILIES[name].shapes)], values[len(FAMILIES[name].shapes)], values[-1]
    named = {"loc": loc} if FAMILIES[name].is_discrete else {"scale": scale, "loc": loc}
    assert ours(x[1], *shapes, **named) == ours(x, *values)[1]
    assert isinstance(ours(x[1], *values), float)
    np.testing.assert_array_equal(getattr(getattr(ag.stats, name)(*shapes, **named), method)(x), ours(x, *values))


#: Each method with one type, whose differences wrap soonest; the other types with the first method of each distribution, as
#: conversions do not know for which method they are.
TYPES = [
    pytest.param(name, method, dtype, marks=[pytest.mark.full] * (dtype is not np.uint8 and (name, method) not in FIRST))
    for name, method in METHODS
    for dtype in (np.uint8, np.int8, np.uint64, np.float32)
]


@pytest.mark.parametrize(("name", "method", "dtype"), TYPES, ids=lambda value: getattr(value, "__name__", value))
def test_types_of_numpy_are_numbers(name, method, dtype):
    """Differences of integers of few bits, or without sign, would wrap."""
    of = getattr(getattr(ag.stats, name), method)
    x = np.array([0, 1]) if method in ("ppf", "isf") else np.array([1, 3, 100])
    values = [np.round(value) if abs(value) > 1 else value for value in point(name)]
    for loc in (0, 2, 120):
        values[len(FAMILIES[name].shapes)] = loc
        typed = [dtype(value) if value == np.round(value) and value >= 0 else value for value in values]
        try:
            expected = of(x.astype(float), *(float(value) for value in values))
        except ag.DomainError:
            continue
        np.testing.assert_array_equal(of(x.astype(dtype), *typed), expected)
        if not FAMILIES[name].is_discrete or method not in ("ppf", "isf"):
            compiled = ag.compile(lambda x, typed=typed: of(x, *typed))
            np.testing.assert_allclose(compiled(x.astype(dtype)), expected, rtol=1e-13)


def test_nothing_is_left_out_above():
    assert len(FAMILIES) >= 34
    assert len(METHODS) >= 242
    for name in FAMILIES:
        has = distribution(name).methods.keys()
        assert methods_by_rows(name) <= has
        assert {method for method in BY_ROWS if method in has} == methods_by_rows(name) & set(BY_ROWS)
    assert NOT_FREE == ["randint", "hypergeom"]


@each_free_method
def test_derivatives_are_those_of_differences_of_scipy(name, method):
    ours, theirs = (getattr(getattr(stats, name), method) for stats in (ag.stats, scipy.stats))
    values = point(name)
    first = float(arguments(name, method)[1])
    free = free_places(name)
    at = np.array([first, *values])

    def placed(x):
        full = list(at)
        for i, k in enumerate(free):
            full[k] = x[i]
        return full

    def f(x):
        return ours(*placed(x))

    x, compared = at[free], 0
    gradient = ag.grad(f)(x)
    for i in range(len(free)):
        h = 1e-3 * max(abs(x[i]), 0.05)
        step = h * np.eye(len(free))[i]
        of = [theirs(*placed(x + s * step)) for s in (-3, -2, -1, 1, 2, 3)]
        if of[2] == of[3] == -np.inf:
            assert gradient[i] == 0
            compared += 1
        elif np.isfinite(of).all():
            slope = np.dot([-1, 9, -45, 45, -9, 1], of) / (60 * h)
            assert gradient[i] == pytest.approx(slope, rel=1e-7, abs=1e-9), (name, method, i)
            compared += 1
    assert compared == len(free) - (name in SCIPY_HAS_WHOLE_N)
    np.testing.assert_allclose(ag.compile(ag.grad(f))(x), gradient, rtol=1e-13, atol=1e-300)
    np.testing.assert_allclose(ag.jacfwd(f)(x), gradient, rtol=1e-12, atol=1e-300)
    hessian = ag.hessian(f)(x)
    assert np.isfinite(hessian).all()
    np.testing.assert_allclose(hessian, hessian.T, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ag.jacfwd(ag.grad(f))(x), hessian, rtol=1e-9, atol=1e-10)


@each_method
def test_all_arguments_broadcast_in_every_engine(name, method):
    ours, values = getattr(getattr(ag.stats, name), method), point(name)
    x = arguments(name, method)[:2, None, None]
    last = np.asarray(values[-1]) + np.array([[0.0], [1.0]])  # loc or scale
    value = ours(x, *values[:-1], last)
    assert value.shape == (2, 2, 1)
    assert value[1, 1, 0] == ours(x[1, 0, 0], *values[:-1], values[-1] + 1)

    def f(scale):
        return ours(x, *values[:-1], scale)

    np.testing.assert_allclose(ag.compile(f)(last), value, rtol=1e-14)
    tangent = ag.jvp(f, (last,), (np.ones_like(last),))[1]
    np.testing.assert_allclose(ag.grad(lambda s: np.sum(f(s)))(last), tangent.sum(axis=0), rtol=1e-12)
    rows = ag.vmap(lambda s: ours(x[:, 0, 0], *values[:-1], s))(last[:, 0])
    np.testing.assert_allclose(rows, value[:, :, 0].T, rtol=1e-15)


def test_the_density_on_the_circle_has_its_period():
    shapes = (1.7, 0.35, 1.4)
    x = np.array([-2.0, 0.3, 1.9])
    for function in (ag.stats.vonmises.pdf, ag.stats.vonmises.logpdf):
        np.testing.assert_allclose(function(x + 1.4 * 2 * np.pi, *shapes), function(x, *shapes), rtol=1e-14)
    with pytest.raises(ag.DomainError, match=r"stats.vonmises.cdf: .* must be between -pi and pi"):
        ag.stats.vonmises.cdf(x + 1.4 * 2 * np.pi, *shapes)


@pytest.mark.parametrize("name", [name for name in FAMILIES if name != "vonmises"])
def test_outside_of_the_support_values_are_limits_with_derivatives_of_zero(name):
    values, methods = point(name), [method for of, method in METHODS if of == name and method not in ("ppf", "isf")]
    assert len(methods) in (2, 6)
    lower, upper = getattr(scipy.stats, name)(*values).support()
    none, all_of_it = {"": 0.0, "log": -np.inf}, {"": 1.0, "log": 0.0}
    for x, is_below in ((-np.inf, True), (lower - 1, True), (upper + 1, False), (np.inf, False)):
        for method in methods:
            function = getattr(distribution(name), method)
            limit = none if "p" in method or is_below == ("cdf" in method) else all_of_it
            expected = limit["log" * method.startswith("log")]
            np.testing.assert_allclose(function(x, *values), expected, atol=1e-15, err_msg=f"{method}({x})")
            if np.isfinite(x) and not FAMILIES[name].is_discrete:
                assert ag.grad(lambda s, x=x, f=function: f(x, *values[:-1], s))(values[-1]) == 0


@each_distribution
def test_parameters_are_checked_in_scipys_names(name):
    family = FAMILIES[name]
    method = "pmf" if family.is_discrete else "pdf"
    function, values = getattr(getattr(ag.stats, name), method), point(name)
    for k, (parameter, condition) in enumerate(family.parameters.items()):
        invalid = [np.full(2, v) if i == k else v for i, v in enumerate(values)]
        invalid[k] = np.array([values[k], np.nan])
        with pytest.raises(ag.DomainError, match=rf"stats.{name}.{method}: {parameter}\[1\] is nan, but must be {condition}"):
            function(3.0, *invalid)
    with pytest.raises(ag.DomainError, match=rf"stats.{name}.{method}: [xk] is nan"):
        function(np.nan, *values)
    with pytest.raises(TypeError):
        function(3.0, *values, 1.0, 1.0)


def gamma_log_density(scale):
    return ag.stats.gamma.logpdf(1.5, 2.0, scale=scale)


def test_compiled_calls_check_their_arguments_in_each_run():
    f = ag.compile(gamma_log_density)
    assert f(2.0) == pytest.approx(scipy.stats.gamma.logpdf(1.5, 2.0, scale=2.0))
    with pytest.raises(ag.DomainError, match=r"stats.gamma.logpdf: scale is -1, but must be positive and finite"):
        f(-1.0)
    kept = pickle.loads(pickle.dumps(f))
    with pytest.raises(ag.DomainError, match=r"stats.gamma.logpdf: scale is -2, but must be"):
        kept(-2.0)


def test_derivatives_of_derivatives_go_through_checks():
    def f(scale):
        return ag.stats.norm.logpdf(1.0, 0.0, scale)

    third = ag.grad(ag.grad(ag.grad(f)))(0.8)
    assert third == pytest.approx(-2 / 0.8**3 + 12 / 0.8**5, rel=1e-12)


def test_tails_keep_their_digits():
    assert ag.stats.norm.logsf(40.0) == pytest.approx(-804.6084420137538, rel=1e-14)
    assert ag.stats.norm.isf(1e-300) == pytest.approx(37.0470962993612, rel=1e-14)
    assert ag.stats.gamma.sf(700.0, 2.0) == pytest.approx(701 * np.exp(-700.0), rel=1e-12)
    assert ag.stats.gamma.ppf(1e-300, 2.0) == pytest.approx(np.sqrt(2) * 1e-150, rel=1e-14)
    assert ag.stats.beta.isf(1e-300, 3.0, 1.0) == 1.0
    assert ag.stats.gumbel_l.logcdf(-800.0) == pytest.approx(-800.0, rel=1e-15)


def test_conditions_on_several_parameters_are_checked():
    with pytest.raises(ag.DomainError, match=r"stats.hypergeom.pmf: M - n is -3, but must be a whole number, not negative"):
        ag.stats.hypergeom.pmf(1, 2, 5, 1)
    with pytest.raises(ag.DomainError, match=r"stats.gamma.pdf: 1 / scale is inf, but must be positive and finite"):
        ag.stats.gamma.pdf(1.0, 2.0, scale=5e-324)


def test_shapes_that_do_not_broadcast_are_named():
    of = r"a \(2,\), loc \(3,\), scale \(\), but must broadcast"
    for method, first in (("pdf", [1.0]), ("ppf", [0.5]), ("mean", []), ("rvs", []), ("support", []), ("interval", [0.5])):
        with pytest.raises(ag.ShapeError, match=rf"stats.gamma.{method}: shapes of arguments are {of}"):
            getattr(ag.stats.gamma, method)(*first, [1.0, 2.0], [1.0, 2.0, 3.0])
    with pytest.raises(
        ag.ShapeError, match=r"stats.poisson.ppf: shapes of arguments are q \(2,\), mu \(\), loc \(3,\), but must"
    ):
        ag.stats.poisson.ppf([0.1, 0.2], 2.0, [1.0, 2.0, 3.0])


def test_methods_and_distributions_without_rules_are_named():
    with pytest.raises(AttributeError, match=r"stats.vonmises: attribute is 'var', but must be one of logpdf, pdf"):
        _ = ag.stats.vonmises.var
    with pytest.raises(AttributeError, match=r"stats.hypergeom: attribute is 'entropy'"):
        _ = ag.stats.hypergeom(10, 5, 3).entropy
    with pytest.raises(AttributeError, match=r"agrad.stats: attribute is 'levy', but must be one of norm"):
        _ = ag.stats.levy
    with pytest.raises(TypeError, match="missing"):
        ag.stats.gamma()


def test_distributions_are_pickled_by_name():
    assert pickle.loads(pickle.dumps(ag.stats.gamma)) is ag.stats.gamma
    frozen = pickle.loads(pickle.dumps(ag.stats.gamma(2.0, scale=3.0)))
    assert frozen.logpdf(1.0) == ag.stats.gamma.logpdf(1.0, 2.0, scale=3.0)


def test_scipys_distributions_name_agrads():
    with pytest.raises(TypeError, match=r"write agrad.stats.gamma.logpdf"):
        ag.grad(lambda a: scipy.stats.gamma.logpdf(1.5, a))(2.0)


def test_every_name_of_scipy_belongs_to_a_rule():
    assert len(FAMILIES) == sum(len(row.scipy.split(" | ")) for row in density_rows() if row.scipy)
    assert all(hasattr(scipy.stats, name) for name in FAMILIES)
    for name, family in FAMILIES.items():
        assert ag.stats.Distribution is type(getattr(ag.stats, name))
        assert family.shapes == tuple(
            (getattr(scipy.stats, name).shapes or "").replace(" ", "").split(",")[: len(family.shapes)]
        )


def test_quantiles_of_the_uniform_distribution():
    assert ag.stats.uniform.ppf(0.25, loc=2.0, scale=4.0) == 3.0
    assert ag.stats.uniform.isf(0.25, loc=2.0, scale=4.0) == 5.0
    gradient = ag.grad(lambda z: ag.stats.uniform.ppf(0.25, z[0], z[1]))(np.array([2.0, 4.0]))
    np.testing.assert_array_equal(gradient, [1.0, 0.25])


def test_the_asymmetric_laplace_distribution_has_its_digits_for_any_kappa():
    """Its tau is 1 to all digits from kappa = 1e8 on."""
    of = ag.stats.laplace_asymmetric
    for kappa, x in itertools.product([1e-9, 0.3, 1.0, 2.5, 1e4, 1e9], [-0.7, 2e-5, 1.3]):
        beyond = x * (kappa if x >= 0 else -1 / kappa)  # in the scale of the side on which x lies
        tail = -np.log1p(kappa**2) if x >= 0 else -np.log1p(kappa**-2.0)
        assert of.logpdf(x, kappa) == pytest.approx(-np.log(kappa + 1 / kappa) - beyond, rel=1e-14)
        own, other = (of.logsf, of.logcdf) if x >= 0 else (of.logcdf, of.logsf)
        assert own(x, kappa) == pytest.approx(tail - beyond, rel=1e-14)
        assert other(x, kappa) == pytest.approx(np.log(-np.expm1(tail - beyond)), rel=1e-12)
        slope = -(1 - kappa**-2.0) / (kappa + 1 / kappa) - (x if x >= 0 else x / kappa**2)
        assert ag.grad(lambda k, x=x: of.logpdf(x, k))(kappa) == pytest.approx(slope, rel=1e-13)
        q = np.exp(own(x, kappa))
        if 1e-300 < q < 0.9:
            assert (of.isf if x >= 0 else of.ppf)(q, kappa) == pytest.approx(x, rel=1e-11)
    kappas = np.array([0.3, 2.5, 1e9])
    apart = [ag.stats.laplace_asymmetric.logsf(0.1, kappa, 0.5, 2.0) for kappa in kappas]
    np.testing.assert_allclose(ag.stats.laplace_asymmetric.logsf(0.1, kappas, 0.5, 2.0), apart, rtol=1e-15)
    recorded = ag.compile(lambda k: ag.stats.laplace_asymmetric.logsf(0.1, k, 0.5, 2.0))(kappas)
    np.testing.assert_allclose(recorded, apart, rtol=1e-14)
    draws = ag.stats.laplace_asymmetric.rvs([0.4, 2.5], size=(4000, 2), random_state=3)
    for column, kappa in zip(draws.T, [0.4, 2.5], strict=True):
        assert scipy.stats.kstest(column, scipy.stats.laplace_asymmetric(kappa).cdf).pvalue > 1e-3
