"""Quantiles against the distribution functions in mpmath: values in both tails, and derivatives to second order.

A quantile is tested by the reference of its distribution function, so there is no second list of formulas.
"""

import mpmath
import numpy as np
import pytest

import agrad as ag
from agrad._core import density_rows, quantile_rows
from probability_reference import VALUES, reference

pytestmark = pytest.mark.thread_unsafe(reason="mpmath's precision belongs to the process")

ROWS = {row.name: row for row in quantile_rows()}
PROBABILITIES = [1e-300, 1e-12, 0.02, 0.7, 1 - 2.0**-53]

each_quantile = pytest.mark.parametrize("name", list(ROWS))


def log_tail(name):
    """Return the logarithm of the probability that a quantile inverts, and that of the complement, in mpmath."""
    rule = name.rpartition("_")[0]
    both = [reference(f"{rule}_lcdf"), reference(f"{rule}_lccdf")]
    return both if name.endswith("_qf") else both[::-1]


def parameters(name, place):
    """Return values for all arguments but p, which differ from each other."""
    chosen = []
    for k, (_, condition) in enumerate(ROWS[name].arguments[1:]):
        values = [x for x in VALUES[condition] if condition != "finite" or abs(x) < 5]
        chosen.append(values[(place + k) % len(values)] * (1 + 0.03 * k))
    return sorted(chosen) if name.startswith("uniform") else chosen


def is_ill_conditioned(name, x):
    return x == 0 or not np.isfinite(x) or (name.startswith("beta") and x > 0.999)


@each_quantile
def test_the_tail_at_the_quantile_is_p(name):
    function, (tail, rest) = getattr(ag, name), log_tail(name)
    others = parameters(name, 0)
    exact = [mpmath.mpf(x) for x in others]
    checked = 0
    for p in PROBABILITIES:
        x = function(p, *others)
        at_end = x in (function(0.0, *others), function(1.0, *others))
        if at_end or is_ill_conditioned(name, x):
            continue
        checked += 1
        with mpmath.workdps(400 if name.startswith("exp_mod") else 60):  # whose tails are differences
            # of the two logarithms the one of the smaller probability, whose relative errors are those of x
            of, goal = (tail, mpmath.log(mpmath.mpf(p))) if p <= 0.5 else (rest, mpmath.log(1 - mpmath.mpf(p)))
            small = mpmath.mpf("1e-20")
            try:
                value = of(mpmath.mpf(x), *exact)
            except ValueError:  # the reference has no truth so far out in a tail; agrad's own has to be enough
                end = "lcdf" if (p <= 0.5) == name.endswith("_qf") else "lccdf"
                own = getattr(ag, f"{name.rpartition('_')[0]}_{end}")
                assert own(x, *others) == pytest.approx(float(goal), rel=1e-13)
                continue
            change = (of(x * (1 + small), *exact) - value) / small  # of a relative change of x
            relative = abs((value - goal) / change)
        assert relative < 4e-14, f"{name}{(p, *others)}: {x!r} has the relative error {mpmath.nstr(relative, 3)}"
    assert checked


@each_quantile
def test_derivatives_to_second_order_are_those_of_the_implicit_function(name):
    function, (tail, _) = getattr(ag, name), log_tail(name)
    for place, p in [(1, 0.03)] if "beta" in name else [(1, 0.03), (2, 0.7)]:
        point = np.array([p, *parameters(name, place)])
        n = len(point)
        x = function(*point)
        gradient = ag.grad(lambda z: function(*z))(point)
        hessians = [ag.hessian(lambda z: function(*z))(point), ag.compile(ag.jacfwd(ag.grad(lambda z: function(*z))))(point)]
        with mpmath.workdps(30):

            def excess(y, q, *others):
                return tail(y, *others) - mpmath.log(q)

            exact = [mpmath.mpf(v) for v in (x, *point)]
            unit = np.eye(n + 1, dtype=int)

            def partial(*axes, excess=excess, exact=exact, unit=unit):
                return mpmath.diff(excess, tuple(exact), tuple(map(int, sum(unit[axis] for axis in axes))))

            of_x, of_xx = partial(0), partial(0, 0)
            slopes = [-partial(i + 1) / of_x for i in range(n)]
            for i in range(n):
                assert abs(gradient[i] - slopes[i]) <= 1e-11 * abs(slopes[i]) + 1e-12, (name, point, i)
                for j in range(i + 1):
                    mixed = partial(i + 1, j + 1) + partial(0, i + 1) * slopes[j] + partial(0, j + 1) * slopes[i]
                    curvature = -(mixed + of_xx * slopes[i] * slopes[j]) / of_x
                    for hessian in hessians:
                        assert abs(hessian[i, j] - curvature) <= 1e-9 * abs(curvature) + 1e-10, (name, point, i, j)


@each_quantile
def test_arguments_are_checked_and_broadcast(name):
    function, row = getattr(ag, name), ROWS[name]
    others = parameters(name, 0)
    p = np.array([[0.1], [0.6]])
    columns = [np.array([value, value * 1.01, value * 1.02]) for value in others]
    values = function(p, *columns)
    if others:
        assert values.shape == (2, 3)
        assert values[1, 2] == function(0.6, *(column[2] for column in columns))
    with pytest.raises(ag.DomainError, match=rf"{name}: p\[1, 0\] is 1.5, but must be between 0 and 1"):
        function(np.array([[0.5], [1.5]]), *columns)
    with pytest.raises(ag.DomainError, match=rf"{name}: p is -0.5, but must be between 0 and 1"):
        ag.compile(ag.grad(lambda q: function(q, *others)))(-0.5)
    for k, (argument, _) in enumerate(row.arguments[1:]):
        invalid = [np.nan if i == k else value for i, value in enumerate(others)]
        with pytest.raises(ag.DomainError, match=f"{name}: {argument} is nan, but must be"):
            function(0.5, *invalid)


@each_quantile
def test_ends_of_the_support_are_the_quantiles_of_0_and_1(name):
    function, others = getattr(ag, name), parameters(name, 0)
    lower, upper = function(0.0, *others), function(1.0, *others)
    assert (lower < upper) == name.endswith("_qf")
    near = [function(1e-15, *others), function(1 - 1e-15, *others)]
    assert min(lower, upper) <= min(near)
    assert max(near) <= max(lower, upper)


def test_log_quantile_is_the_inverse_of_log_ndtr_far_in_the_tail():
    x = np.array([-1e5, -300.0, -38.0, -5.0, -1e-3, 0.5, 5.0])
    np.testing.assert_allclose(ag.std_normal_log_qf(ag.log_ndtr(x)), x, rtol=2e-13, atol=1e-15)


def test_log_quantile_refuses_a_log_probability_above_0():
    function = ag.std_normal_log_qf
    compiled, gradient = ag.compile(lambda x: function(x)), ag.compile(ag.grad(lambda x: np.sum(function(x))))
    right, wrong = np.array([[-1.0, -2.0], [-3.0, 0.0]]), np.array([[-1.0, -2.0], [0.1, 0.0]])
    assert compiled(right)[1, 1] == np.inf, "so that the run of `wrong` below is not the one that records"
    assert gradient(right).shape == (2, 2)
    plain = (function, ag.grad(lambda x: np.sum(function(x))), ag.hessian(lambda x: np.sum(function(x))))
    for call in (*plain, compiled, gradient):
        with pytest.raises(ag.DomainError, match=r"^std_normal_log_qf: x\[1, 0\] is 0.1, but must be at most 0"):
            call(wrong)
    for x in (0.1, np.nan):
        for call in (function, ag.grad(function)):
            with pytest.raises(ag.DomainError, match=r"^std_normal_log_qf: x is (0.1|nan), but must be at most 0"):
                call(x)


@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if row.pairs])
def test_conditions_on_two_arguments_are_checked_at_each_run(name):
    function, row = getattr(ag, name), ROWS[name]
    ((first, must, second),) = row.pairs
    argument, other = row.arguments[first][0], row.arguments[second][0]
    right = [0.3, *parameters(name, 0)]
    wrong = list(right)
    wrong[first], wrong[second] = right[second], right[first]
    text = f"{name}: {argument} is {{}}, but must be {must} {other} = {{}}"
    compiled, gradient = ag.compile(function), ag.grad(function, argnums=second)
    assert np.isfinite(compiled(*right)), "so that the run of `wrong` below is not the one that records"
    of_second = ag.compile(lambda y: function(*right[:second], y, *right[second + 1 :]))
    of_second(right[second])
    hessian = ag.compile(ag.hessian(lambda z: function(*z)))
    hessian(np.array(right))
    for call in (function, compiled, gradient, lambda *x: hessian(np.array(x))):
        with pytest.raises(ag.DomainError) as error:
            call(*wrong)
        assert text.format(f"{wrong[first]:.17g}", f"{wrong[second]:.17g}")[:30] in str(error.value)
        assert must in str(error.value)
    with pytest.raises(ag.DomainError, match=f"{argument} is .*, but must be {must} {other}"):
        of_second(right[first])


def test_uniform_quantiles_name_the_entry_of_the_broadcast_ends():
    with pytest.raises(ag.DomainError, match=r"uniform_qf: alpha\[1, 0\] is 2, but must be less than beta = 2"):
        ag.uniform_qf(0.3, [[0.0, 1.0, -1.0], [2.0, 0.0, 0.0]], [2.0, 3.0, 4.0])
    values = ag.uniform_qf([0.25, 0.5], [[0.0], [1.0]], [2.0, 3.0])
    np.testing.assert_allclose(values, [[0.5, 1.5], [1.25, 2.0]], rtol=1e-15)
    assert ag.uniform_cqf(np.zeros(0), 0.0, [1.0]).shape == (0,)
    np.testing.assert_array_equal(ag.grad(lambda z: ag.uniform_qf(*z))(np.array([0.25, 1.0, 3.0])), [2.0, 0.75, 0.25])


def test_sums_with_exponential_variables_of_tiny_rates():
    for rate in (1e-4, 1e-8):
        lower, upper = ag.exp_mod_normal_qf(0.3, 0, 1, rate), ag.exp_mod_normal_cqf(0.3, 0, 1, rate)
        assert ag.exp_mod_normal_cdf(lower, 0, 1, rate) == pytest.approx(0.3, rel=1e-12)
        assert np.exp(ag.exp_mod_normal_lccdf(upper, 0, 1, rate)) == pytest.approx(0.3, rel=1e-12)


def test_a_wrong_number_of_arguments_is_named():
    normal = {row.name: row for row in density_rows()}["normal_lpdf"]
    for call, name in ((normal.terms, "normal_lpdf"), (normal, "normal_lpdf"), (ROWS["normal_qf"], "normal_qf")):
        with pytest.raises(TypeError, match=f"{name}: number of arguments is 2, but must be 3"):
            call(0.5, 1.0)


#: Points where the probability, or the tail beside the location, is small, of a location of 0 and a scale of 1.
SKEWED = [(1e-12, 1e-15), (1e-15, 1e-12), (1e-300, 0.9999995), (0.3, 1e-8), (0.9, 1 - 1e-12), (1 - 1e-12, 1e-3), (0.7, 0.2)]


@pytest.mark.parametrize(("p", "tau"), SKEWED)
@pytest.mark.parametrize("end", ["qf", "cqf"])
def test_skewed_quantiles_keep_the_digits_of_small_tails(p, tau, end):
    quantile = getattr(ag, f"skew_double_exponential_{end}")

    def exact(q, t):
        near, far, sign = (t, 1 - t, 1) if end == "qf" else (1 - t, t, -1)
        return sign * (mpmath.log(q / near) / far if q < near else -mpmath.log((1 - q) / far) / near) / 2

    with mpmath.workdps(700):
        point = (mpmath.mpf(p), mpmath.mpf(tau))
        assert quantile(p, 0.0, 1.0, tau) == pytest.approx(float(exact(*point)), rel=1e-14)
        by_tau = mpmath.diff(exact, point, (0, 1))
        for gradient in (ag.grad, ag.jacfwd, lambda f: ag.compile(ag.grad(f))):
            computed = gradient(lambda t: quantile(p, 0.0, 340.0, t))(tau)
            assert computed == pytest.approx(340 * float(by_tau), rel=1e-13)


@pytest.mark.parametrize(("p", "shape"), [(1e-3, 0.0125), (0.3, 0.0018), (1e-12, 0.05), (0.02, 0.011)])
def test_gradients_of_quantiles_as_large_as_their_squares_overflow(p, shape):
    """The probability beyond x is (scale / x)^shape / gamma(1 + shape) there."""
    log_x = -(np.log(p) + float(mpmath.loggamma(1 + shape))) / shape
    by_shape = -(log_x + float(mpmath.digamma(1 + shape))) / shape
    x = ag.inv_gamma_cqf(p, shape, 1.0)
    assert x > 1e154
    assert np.log(x) == pytest.approx(log_x, rel=1e-14)
    for gradient in (ag.grad, ag.jacfwd, lambda f: ag.compile(ag.grad(f))):
        assert gradient(lambda a: ag.inv_gamma_cqf(p, a, 1.0))(shape) == pytest.approx(x * by_shape, rel=1e-12)
        assert gradient(lambda q: ag.inv_gamma_cqf(q, shape, 1.0))(p) == pytest.approx(-x / shape / p, rel=1e-12)
        assert gradient(lambda b: ag.inv_gamma_cqf(p, shape, b))(1.0) == pytest.approx(x, rel=1e-13)
        of_chi_square = gradient(lambda nu: ag.inv_chi_square_cqf(p, nu))(2 * shape)
        assert of_chi_square == pytest.approx(0.25 * x * by_shape, rel=1e-12)
        of_scaled = gradient(lambda s: ag.scaled_inv_chi_square_cqf(p, 2 * shape, s))(1.5)
        assert of_scaled == pytest.approx(3 * shape * x, rel=1e-12)
