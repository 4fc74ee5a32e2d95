"""Second derivatives through kinks whose times move: the solve for them ends steps there, other solves do not look for kinks.

The witnesses are closed forms, and differences of gradients of tight solves.
"""

import pickle

import numpy as np
import pytest

import agrad as ag
import kept_functions

METHODS = ["Tsit5", "DOP853", "Rodas4", "Rodas5P", "auto"]
TIGHT = {"rtol": 1e-10, "atol": 1e-12}

one_step_methods = pytest.mark.parametrize("method", METHODS)

#: Functions that are |x|.
ABSOLUTE = {
    "abs": np.abs,
    "maximum": lambda x: np.maximum(x, -x),
    "minimum": lambda x: -np.minimum(x, -x),
    "fmax": lambda x: np.fmax(x, -x),
    "where": lambda x: np.where(x > 0, x, -x),
    "relu": lambda x: np.where(x > 0, x, 0.0) + np.maximum(-x, 0.0),
    "clip": lambda x: 2 * np.clip(x, 0.0, 10.0) - x,
    "sign": lambda x: x * np.sign(x),
    "product": lambda x: x * (x > 0) - x * (x <= 0),
}


def central(f, x, step=1e-3):
    """Differences of the gradient, of fourth order."""
    g, rows = ag.grad(f), []
    for e in np.eye(x.size) * step:
        rows.append((8 * (g(x + e) - g(x - e)) - (g(x + 2 * e) - g(x - 2 * e))) / (12 * step))
    return np.array(rows)


def distance(absolute, method="Tsit5", **options):
    """z(2) = p^2 / 2 + (2 - p)^2 / 2 for y' = 1, z' = |y|, y(0) = -p."""

    def end(p):
        f = lambda t, y: [1.0, absolute(y[0])]  # noqa: E731
        return ag.solve_ivp(f, (0.0, 2.0), [-p, 0.0], method, **(TIGHT | options)).y[1, -1]

    return end


@pytest.mark.parametrize("name", ABSOLUTE)
@one_step_methods
def test_a_kink_of_a_state(name, method):
    end = distance(ABSOLUTE[name], method)
    assert ag.hessian(end)(0.7) == pytest.approx(2.0, abs=1e-9)


@one_step_methods
def test_every_way_to_a_second_derivative(method):
    end = distance(np.abs, method)
    gradient = ag.grad(end)
    ways = [
        ag.hessian(end), ag.grad(gradient), ag.jacobian(gradient), ag.jacfwd(gradient),
        ag.grad(lambda p: ag.jvp(end, (p,), (1.0,))[1]),
        lambda p: ag.hvp(end)(p, 1.0), lambda p: ag.jvp(gradient, (p,), (1.0,))[1], ag.compile(ag.hessian(end)),
        ag.compile(lambda p: ag.hvp(end)(p, 1.0)), ag.compile(ag.grad(gradient)),
    ]  # fmt: skip
    for way in ways:
        assert way(0.7) == pytest.approx(2.0, abs=1e-9)
    one = ag.hessian(lambda x: end(x[0]), sparse=True)(np.array([0.7]))
    assert one.toarray() == pytest.approx(np.array([[2.0]]), abs=1e-9)


@one_step_methods
def test_kinks_cost_first_derivatives_nothing(method):
    """Values and gradients have the same bits, whether kinks are searched or not, and after second derivatives, too."""
    found, ignored = (distance(np.abs, method, switches=each) for each in ("auto", "ignore"))
    compiled = ag.compile(ag.value_and_grad(found))
    assert compiled(0.7) == ag.value_and_grad(ignored)(0.7)
    assert ag.hessian(found)(0.7) == pytest.approx(2.0, abs=1e-9)
    assert ag.hessian(ignored)(0.7) == pytest.approx(0.0, abs=1e-9)
    assert compiled(0.7) == ag.value_and_grad(ignored)(0.7)
    assert found(0.7) == ignored(0.7)


@one_step_methods
def test_a_function_of_the_end(method):
    end = distance(np.abs, method)
    z, slope = 1.09, -0.6
    assert ag.hessian(lambda p: np.exp(end(p)))(0.7) == pytest.approx(np.exp(z) * (2.0 + slope**2), rel=1e-8)


@one_step_methods
def test_a_kink_in_time_alone(method):
    """|t^2 - p^2| is not linear in t; its integral is 4 p^3 / 3 + T^3 / 3 - p^2 T."""

    def end(p):
        return ag.solve_ivp(lambda t, y: [np.abs(t * t - p * p)], (0.0, 2.0), [0.0], method, **TIGHT).y[0, -1]

    assert end(0.7) == pytest.approx(4 * 0.7**3 / 3 + 8.0 / 3 - 2 * 0.7**2, rel=1e-7)
    assert ag.hessian(end)(0.7) == pytest.approx(8 * 0.7 - 4.0, abs=1e-8)


@one_step_methods
def test_kinks_at_one_instant_move_apart(method):
    """Each has a time of its own, where the times are equal, too: z' = |y0| + 2 |y1| + 3 |y1 - y2|."""

    def end(p):
        f = lambda t, y: [1.0, 1.0, 2.0, np.abs(y[0]) + 2 * np.abs(y[1]) + 3 * np.abs(y[1] - y[2])]  # noqa: E731
        y0 = ag.array([-p[0], -p[1], -2.0 * p[2], 0.0])
        return ag.solve_ivp(f, (0.0, 2.0), y0, method, **TIGHT).y[3, -1]

    p = np.array([0.7, 0.7, 0.7])
    of_difference = 6.0 * np.outer([0, 1, -2], [0, 1, -2])  # y2 - y1 = t + p1 - 2 p2
    np.testing.assert_allclose(ag.hessian(end)(p), np.diag([2.0, 4.0, 0.0]) + of_difference, atol=1e-8)


@one_step_methods
def test_a_network_of_kinks(method):
    rng = np.random.default_rng(1)
    inner, outer = rng.normal(size=(20, 2)), 0.2 * rng.normal(size=(2, 20))

    def loss(b):
        f = lambda t, y, b: outer @ np.maximum(inner @ y + b, 0.0) - 0.5 * y  # noqa: E731
        return np.sum(ag.solve_ivp(f, (0.0, 3.0), [1.0, -0.5], method, args=(b,), **TIGHT).y[:, -1] ** 2)

    b = rng.normal(size=20)
    found = ag.hessian(loss)(b)
    np.testing.assert_allclose(found, central(loss, b, 2e-4), atol=3e-4)
    assert np.abs(found).max() > 0.05
    np.testing.assert_allclose(found, found.T, atol=1e-12)


@pytest.mark.parametrize("method", ["Tsit5", "Rodas5P"])
def test_kinks_beside_jumps_doses_and_events(method):
    """The kink of |y - 1|, a jump at y = 2, a dose and an event that stops the clock."""

    def end(p, jump=3.0, **options):
        f = lambda t, y: [1.0 + p[0] * (y[0] > 2.0), np.abs(y[0] - p[1]) ** 1.0]  # noqa: E731
        dose = [ag.Dose(1.5, 0, p[2])]
        event = ag.Event(lambda t, y: y[0] - jump, terminal=True)
        return ag.solve_ivp(f, (0.0, 9.0), [0.0, 0.0], method, doses=dose, events=event, **TIGHT).y[1, -1]

    def closed(p):
        kink = (p[1] ** 2 + (1.5 - p[1]) ** 2) / 2
        after = 1.5 + p[2] - p[1]  # of the dose
        until_jump = ((2.0 - p[1]) ** 2 - after**2) / 2
        return kink + until_jump + ((3.0 - p[1]) ** 2 - (2.0 - p[1]) ** 2) / 2 / (1.0 + p[0])

    p = np.array([0.4, 1.1, 0.2])
    assert end(p) == pytest.approx(closed(p), rel=1e-7)
    np.testing.assert_allclose(ag.hessian(end)(p), ag.hessian(closed)(p), atol=1e-7)


@pytest.mark.parametrize("method", ["Tsit5", "Rodas5P"])
def test_many_problems(method):
    def total(p):
        f = lambda t, y, a: [1.0, np.abs(y[0] - a)]  # noqa: E731
        subjects = [ag.Subject((0.0, 2.0), ag.array([-each, 0.0]), np.array([2.0]), (0.1,)) for each in (p, 0.5 * p)]
        return sum(each.y[1, -1] for each in ag.solve_many(f, subjects, method, **TIGHT))

    closed = lambda p: sum(((q + 0.1) ** 2 + (1.9 - q) ** 2) / 2 for q in (p, 0.5 * p))  # noqa: E731
    assert ag.hessian(total)(0.7) == pytest.approx(ag.hessian(closed)(0.7), abs=1e-8)
    assert ag.compile(ag.hessian(total))(0.7) == pytest.approx(2.5, abs=1e-8)


@pytest.mark.parametrize("method", ["Rodas4", "Rodas5P"])
def test_a_kink_in_a_constraint(method):
    """0 = w - |y - p|: the slope of the algebraic state jumps."""

    def end(p):
        f = lambda t, y: [1.0, y[2], y[2] - np.abs(y[0] - p)]  # noqa: E731
        y0 = ag.array([0.0, 0.0, p])
        return ag.solve_ivp(f, (0.0, 2.0), y0, method, mass_matrix=np.diag([1.0, 1.0, 0.0]), **TIGHT).y[1, -1]

    assert end(0.7) == pytest.approx(1.09, rel=1e-7)
    assert ag.hessian(end)(0.7) == pytest.approx(2.0, abs=1e-6)


#: A table and the slopes before, between and after its points.
POINTS, VALUES = np.array([0.0, 0.4, 0.9]), np.array([1.0, 3.0, 2.0])
SLOPES = np.array([0.0, 5.0, -2.0, 0.0])


def table_integral(p):
    """The integral of the table over x from -p to 2 - p."""
    turns = np.diff(SLOPES)
    return 2.0 * VALUES[0] + sum(turn * np.maximum(2.0 - p - at, 0.0) ** 2 / 2 for turn, at in zip(turns, POINTS, strict=True))


@one_step_methods
def test_a_table_of_a_state(method):
    def end(p):
        f = lambda t, y: [1.0, np.interp(y[0], POINTS, VALUES)]  # noqa: E731
        return ag.solve_ivp(f, (0.0, 2.0), [-p, 0.0], method, **TIGHT).y[1, -1]

    assert end(0.7) == pytest.approx(table_integral(0.7), rel=1e-7)
    assert ag.hessian(end)(0.7) == pytest.approx(ag.hessian(table_integral)(0.7), abs=1e-8)
    in_time = lambda p: ag.solve_ivp(  # noqa: E731
        lambda t, y: [np.interp(t * t - p, POINTS, VALUES) * 2 * t], (0.0, np.sqrt(2.0)), [0.0], method, **TIGHT
    ).y[0, -1]
    assert ag.hessian(in_time)(0.7) == pytest.approx(ag.hessian(table_integral)(0.7), abs=1e-7)


@pytest.mark.parametrize("method", ["Tsit5", "DOP853"])  # the others need second derivatives of extremes
def test_extremes_and_sorted_states(method):
    weights = np.array([1.0, -2.0, 0.5, 3.0])
    kinds = [
        lambda x: np.max(x), lambda x: np.min(x[:3]) * 2.0, lambda x: np.sort(x) @ weights, lambda x: np.median(x[:3]),
        lambda x: np.sum(np.max(np.reshape(x, (2, 2)), axis=0)), lambda x: np.linalg.norm(x, np.inf),
    ]  # fmt: skip

    def end(p, kind):
        f = lambda t, y: ag.array([*(p * np.array([1.0, -1.0, 0.5, 0.2])), kind(y[:4])])  # noqa: E731
        y0 = ag.array([-0.5, 0.9, 0.1, 0.3 * p[0], 0.0])
        return ag.solve_ivp(f, (0.0, 1.5), y0, method, **TIGHT).y[4, -1]

    p = np.array([1.0, 0.8, 0.9, 1.1])
    for kind in kinds:
        found = ag.hessian(lambda p, kind=kind: end(p, kind))(p)
        np.testing.assert_allclose(found, central(lambda p, kind=kind: end(p, kind), p), atol=2e-3)
        assert np.abs(found).max() > 0.05


@pytest.mark.parametrize("method", ["Tsit5", "DOP853"])  # the others need second derivatives of loops
def test_kinks_in_loops(method):
    def absolute(x):
        return ag.fori(0, 3, lambda i, s: s + np.abs(x - i), 0.0 * x)

    def end(p):
        f = lambda t, y: [1.0, absolute(y[0])]  # noqa: E731
        return ag.solve_ivp(f, (0.0, 1.5), [-p, 0.0], method, **TIGHT).y[1, -1]

    # y goes from -0.2 to 1.3, across the kinks of |y| and |y - 1|; each of the three slopes at the ends counts.
    assert ag.hessian(end)(0.2) == pytest.approx((1 + 1 - 1) + (1 + 1 + 1), abs=1e-8)


@pytest.mark.parametrize("start", [0.0, 1.0])
@one_step_methods
def test_a_state_that_rests_at_a_kink_has_no_term(method, start):
    def end(p):
        f = lambda t, y: [0.0 * y[0], p[0] * y[1] + np.abs(y[0] - start)]  # noqa: E731
        return ag.solve_ivp(f, (0.0, 2.0), ag.array([start + 0.0 * p[0], p[1]]), method, **TIGHT).y[1, -1]

    p = np.array([0.3, 1.2])
    exact = ag.hessian(lambda p: p[1] * np.exp(2 * p[0]))(p)
    np.testing.assert_allclose(ag.hessian(end)(p), exact, rtol=1e-7, atol=1e-8)


def hessian_above(method, above):
    """That of the integral of p |y|, where the state is y = (t - 1)^2 + above."""

    def end(p):
        f = lambda t, y: [2 * (t - 1.0), p[0] * np.abs(y[0])]  # noqa: E731
        return ag.solve_ivp(f, (0.0, 2.0), ag.array([p[1], 0.0]), method, **TIGHT).y[1, -1]

    return ag.hessian(end)(np.array([0.3, 1.0 + above]))


@one_step_methods
def test_a_state_above_a_kink_has_no_term(method):
    np.testing.assert_allclose(hessian_above(method, 1e-3), [[0.0, 2.0], [2.0, 0.0]], atol=1e-7)


@one_step_methods
def test_a_state_that_touches_a_kink_is_no_error(method):
    """Below the point of contact the second derivative by the height has no bound, and rounding decides on which side y is."""
    (by_factor, mixed), (_, by_height) = hessian_above(method, 0.0)
    assert by_factor == 0
    assert mixed == pytest.approx(2.0, rel=1e-3)
    assert np.isfinite(by_height)
    assert by_height >= -1e-7


def test_a_state_below_a_touched_kink_has_the_term():
    """The state (t - 1)^2 - d crosses twice: the integral of |y| is 2 / 3 - 2 d + 8 d^1.5 / 3."""

    def end(d):
        f = lambda t, y: [2 * (t - 1.0), np.abs(y[0])]  # noqa: E731
        return ag.solve_ivp(f, (0.0, 2.0), ag.array([1.0 - d, 0.0]), "Tsit5", **TIGHT).y[1, -1]

    for d in (1e-2, 1e-4, 1e-6):
        assert ag.hessian(end)(d) == pytest.approx(2.0 / np.sqrt(d), rel=1e-5)


@one_step_methods
def test_rounding_at_rest_is_no_crossing(method):
    """The states' difference is rounding alone, and changes its sign with it."""

    def end(p):
        f = lambda t, y: [p[0] * (y[1] - y[0]), p[0] * (y[0] - y[1]), np.abs(y[0] - y[1]) + p[1]]  # noqa: E731
        return ag.solve_ivp(f, (0.0, 30.0), [1.0 / 3, 1.0 / 3, 0.0], method).y[2, -1]

    np.testing.assert_allclose(ag.hessian(end)(np.array([0.3, 1.0])), np.zeros((2, 2)), atol=1e-6)


def test_a_branch_without_values_beyond_its_threshold():
    """Steps are attempted across y = b, where the held branch log(y) has no value from y = 0 on: z' = log(max(y, b))."""

    def end(p):
        f = lambda t, y: [-p[0], np.log(np.maximum(y[0], p[1]))]  # noqa: E731
        return ag.solve_ivp(f, (0.0, 2.0), [1.0, 0.0], "Tsit5", **TIGHT).y[1, -1]

    def closed(p):
        until = (1.0 - p[1]) / p[0]
        return (-p[1] * np.log(p[1]) + p[1] - 1.0) / p[0] + np.log(p[1]) * (2.0 - until)

    p = np.array([0.7, 0.1])
    assert end(p) == pytest.approx(closed(p), rel=1e-6)
    np.testing.assert_allclose(ag.hessian(end)(p), ag.hessian(closed)(p), rtol=1e-6)


@one_step_methods
def test_a_power_without_values_below_zero(method):
    """The state 1 - p t crosses zero, and the integral of max(y, 0)^3.5 is 2 / (9 p); beyond, the held branch is nan."""

    def end(p):
        f = lambda t, y: [-p, np.maximum(y[0], 0.0) ** 3.5]  # noqa: E731
        return ag.solve_ivp(f, (0.0, 2.0), [1.0, 0.0], method, **TIGHT).y[1, -1]

    assert ag.hessian(end)(0.7) == pytest.approx(4.0 / (9.0 * 0.7**3), rel=1e-6)


@pytest.mark.parametrize("exponent", [0.5, 0.4])
def test_an_infinite_slope_raises(exponent):
    def end(p):
        f = lambda t, y: [-p, np.maximum(y[0], 0.0) ** exponent]  # noqa: E731
        return ag.solve_ivp(f, (0.0, 2.0), [1.0, 0.0], "Tsit5", rtol=1e-6, atol=1e-8).y[1, -1]

    with pytest.raises(NotImplementedError, match=r"y\[1\] has no finite derivative where the switch maximum\(y\[0\], 0"):
        ag.hessian(end)(0.7)


@one_step_methods
def test_a_guard_that_errors_of_the_solver_reach(method):
    """The state decays, and has either sign where it is below the tolerance; the guard makes Hill's function smooth at zero."""

    def end(p, switches="auto"):
        def f(t, y):
            power = np.maximum(y[0], 0.0) ** p[1]
            return [-p[0] * y[0], power / (0.1 ** p[1] + power) - 0.2 * y[1]]

        return ag.solve_ivp(f, (0.0, 30.0), [1.0, 0.0], method, switches=switches, rtol=1e-7, atol=1e-9).y[1, -1]

    p = np.array([1.3, 2.5])
    np.testing.assert_allclose(ag.hessian(end)(p), ag.hessian(lambda p: end(p, "ignore"))(p), rtol=1e-3, atol=1e-7)


def test_methods_with_first_derivatives_refuse_by_name():
    with pytest.raises(NotImplementedError, match="first derivatives only"):
        ag.hessian(distance(np.abs, "BDF"))(0.7)


def test_kept_functions_find_their_kinks():
    for f, expected in ((kept_functions.kink, 2.0), (kept_functions.ignored_kink, 0.0)):
        function = ag.compile(ag.hessian(f))
        function(0.9)
        assert pickle.loads(pickle.dumps(function))(0.7) == pytest.approx(expected, abs=1e-9)
