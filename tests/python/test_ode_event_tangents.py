"""Forward mode through doses, stops and events: the adjoints transposed; second derivatives are refused by name."""

import numpy as np
import pytest

import agrad as ag

TIGHT = {"rtol": 1e-10, "atol": 1e-12}
METHODS = ["Tsit5", "RK45", "DOP853", "Rodas4", "Rodas5P", "auto"]

every_method = pytest.mark.parametrize("method", METHODS)


def flat(*parts):
    return np.concatenate([np.ravel(part) for part in parts])


def fall(t, y, r, g):
    return [y[1], -g]


def bounces(x, method):
    """Times, states before the bounces, outputs between and after them."""
    floor = ag.Event(lambda t, y, r, g: y[0], lambda t, y, r, g: [0.0, -r * y[1]], direction=-1)
    ball = ag.solve_ivp(fall, (0.0, 2.2), [x[1], x[2]], method, [0.3, 1.0, 1.5, 2.2], args=(x[0], x[3]), events=floor, **TIGHT)
    return flat(ball.t_events[0], ball.y_events[0], ball.y)


def elimination(t, y, k, v):
    return [-k * y[0] / (v + y[0]), k * y[0] / (v + y[0]) - 0.3 * y[1]]


def infusions(x, method):
    """Times, amounts and durations all move; two infusions overlap, and one still runs at the end."""
    doses = [
        ag.Dose(x[0], 0, x[1], x[2]),
        ag.Dose(x[0] + 0.4, 0, 1.5, 2 * x[2]),
        ag.Dose(x[3], 1, x[1] * x[2]),
        ag.Dose(2.0 * x[3], 0, x[1], 9.0 * x[2]),
    ]
    times = [0.0, 0.7, 1.0, 2.5, 3.0]
    return flat(ag.solve_ivp(elimination, (0.0, 3.0), [1.0, x[4]], method, times, args=(x[5], 1.0), doses=doses, **TIGHT).y)


def stops(x, method):
    """The right-hand side jumps at a stop, between two doses."""

    def slope(t, y, k, at):
        return np.where(t < at, -k, -3 * k) * y + t

    doses = [ag.Dose(0.5, 0, x[2]), ag.Dose(2.0 - x[1], 0, x[0])]
    return flat(
        ag.solve_ivp(
            slope, (0.0, 2.0), [1.0], method, [0.4, 1.5, 2.0], args=(x[0], x[1]), doses=doses, tstops=[x[1]], **TIGHT
        ).y
    )


def terminal(x, method):
    """Time and state of the end, which comes with the second crossing."""
    end = ag.Event(lambda t, y, w, c: y[0] - c, terminal=2)
    slope = lambda t, y, w, c: [w * y[1], -w * y[0]]  # noqa: E731
    solution = ag.solve_ivp(slope, (0.0, 9.0), [1.0, x[2]], method, args=(x[0], x[1]), events=end, **TIGHT)
    return flat(solution.t, solution.y, solution.t_events[0])


def terminal_at_an_output(x, method):
    """The output at the end stays where it is as the end moves."""
    end = ag.Event(lambda t, y, k, c: t - c * x[2], lambda t, y, k, c: [3 * k * y[0], y[1] + t * c], terminal=True)
    slope = lambda t, y, k, c: [-k * y[0], y[0] * t]  # noqa: E731
    times = [0.5, 1.0, 2.0]
    return flat(ag.solve_ivp(slope, (0.0, 2.0), [1.0, 2.0], method, times, args=(x[0], x[1]), events=end, **TIGHT).y)


def one_instant(x, method):
    """Three events at t = 1, which move apart by x; what comes later moves with the first."""
    events = [
        ag.Event(lambda t, y, a, b, c: t - a, lambda t, y, a, b, c: [y[0] + c, y[1] * t]),
        ag.Event(lambda t, y, a, b, c: t - b),
        ag.Event(lambda t, y, a, b, c: (t - 1.0) * y[0], lambda t, y, a, b, c: [y[0] * y[1], y[1] + b * c * t]),
    ]
    slope = lambda t, y, a, b, c: [-c * y[0] * t, y[0] - y[1]]  # noqa: E731
    solution = ag.solve_ivp(
        slope, (0.0, 2.0), [x[3], 2.0], method, [0.5, 1.0, 1.7], args=(x[0], x[1], x[2]), events=events, **TIGHT
    )
    return flat(solution.y, *solution.t_events, *solution.y_events)


def reset(x, method):
    """A reset that depends on time and parameters of its own, between doses whose times move; ten parameters."""
    top = ag.Event(
        lambda t, y, p: p[0] * y[0] + 0.1 * t - p[1],
        lambda t, y, p: [p[2] * y[0] + p[3] * np.sin(t) * y[1], y[1] + p[4] * y[0] ** 2],
        direction=1,
    )
    doses = [ag.Dose(p, i % 2, a, d) for i, (p, a, d) in enumerate([(x[5], x[6], 0.0), (x[7], 0.3, x[8])])]
    slope = lambda t, y, p: [p[9] - 0.2 * y[0] * y[1], 0.3 * y[0] - y[1] + 0.1 * t]  # noqa: E731
    solution = ag.solve_ivp(
        slope, (0.0, 4.0), [0.2, x[0]], method, [1.0, 2.0, 3.0, 4.0], args=(x,), events=top, doses=doses, **TIGHT
    )
    return flat(solution.y, solution.t_events[0], solution.y_events[0])


CASES = {
    "bounces": (bounces, [0.8, 2.0, 0.3, 9.81]),
    "infusions": (infusions, [0.5, 2.0, 0.3, 1.2, 0.1, 0.9]),
    "stops": (stops, [0.4, 0.9, 1.5]),
    "terminal": (terminal, [1.7, 0.4, 0.2]),
    "reset": (reset, [1.0, 1.3, 0.3, 0.05, 0.2, 0.9, 0.4, 1.6, 0.5, 0.8]),
}
AT_CORNERS = {  # no differences: to one side another event is first
    "terminal at an output": (terminal_at_an_output, [0.5, 1.0, 1.0]),
    "one instant": (one_instant, [1.0, 1.0, 0.7, 1.4]),
}
every_case = pytest.mark.parametrize("name", list(CASES | AT_CORNERS))


def differences(f, x):
    columns = []
    for i in range(x.size):
        step = 1e-4 * np.eye(x.size)[i]
        columns.append((8 * (f(x + step) - f(x - step)) - (f(x + 2 * step) - f(x - 2 * step))) / 12e-4)
    return np.stack(columns, axis=1)


@every_method
@every_case
def test_tangents_are_the_transposed_adjoints(name, method):
    function, x = (CASES | AT_CORNERS)[name]
    f, x = (lambda p: function(p, method)), np.array(x)
    rows = ag.jacrev(f)(x)
    scale = np.abs(rows).max()
    np.testing.assert_allclose(ag.jacfwd(f)(x), rows, rtol=1e-9, atol=1e-12 * scale)  # eight directions
    generator = np.random.default_rng(7)
    v, w = generator.standard_normal(x.size), generator.standard_normal(rows.shape[0])
    value, along = ag.jvp(f, (x,), (v,))  # one
    np.testing.assert_allclose(value, f(x), rtol=1e-8, atol=1e-8)  # whose steps see no derivatives
    np.testing.assert_allclose(along, rows @ v, rtol=1e-9, atol=1e-12 * scale)
    same, pull = ag.vjp(f, x)
    np.testing.assert_array_equal(value, same)  # both modes take the same steps
    back = pull(w)[0]
    assert abs(w @ along - back @ v) <= 1e-12 * (np.abs(w) @ np.abs(rows) @ np.abs(v))


@every_method
@pytest.mark.parametrize("name", list(CASES))
def test_tangents_are_differences(name, method):
    function, x = CASES[name]
    f, x = (lambda p: function(p, method)), np.array(x)
    np.testing.assert_allclose(ag.jacfwd(f)(x), differences(f, x), rtol=2e-6, atol=2e-6)


@every_method
def test_bounces_have_the_closed_form(method):
    def third(x):
        return bounces(flat(x, [0.0, 9.81]), method)[2]

    r, h = 0.8, 1.0
    fallen = np.sqrt(2 * h / 9.81)
    value, along = ag.jvp(third, (np.array([r, h]),), (np.array([1.0, 0.0]),))
    assert value == pytest.approx(fallen * (1 + 2 * r + 2 * r**2), rel=1e-9)
    assert along == pytest.approx(fallen * (2 + 4 * r), rel=1e-9)
    assert ag.jvp(third, (np.array([r, h]),), (np.array([0.0, 1.0]),))[1] == pytest.approx(value / (2 * h), rel=1e-9)


@every_method
def test_infusions_have_the_closed_form(method):
    def end(x):
        doses = [ag.Dose(x[0], 0, 3.0, x[1])]
        return ag.solve_ivp(lambda t, y: -0.5 * y, (0.0, 3.0), [0.0], method, doses=doses, **TIGHT).y[0, -1]

    # 3 / (d k) (exp(k (s + d)) - exp(k s)) exp(-3 k)
    s, d, k = 1.0, 0.5, 0.5
    grown = 3 / (d * k) * np.exp(k * (s - 3)) * np.expm1(k * d)
    by_duration = 3 / d * np.exp(k * (s + d - 3)) - grown / d
    np.testing.assert_allclose(ag.jacfwd(end)(np.array([s, d])), [k * grown, by_duration], rtol=1e-8)


def test_an_infusion_without_length_is_a_dose_in_its_middle():
    def end(x):
        doses = [ag.Dose(x[0], 0, x[1], x[2])]
        return ag.solve_ivp(lambda t, y: -y, (0.0, 2.0), [0.0], "Tsit5", doses=doses, **TIGHT).y[0, -1]

    x = np.array([1.0, 2.0, 1e-15])
    np.testing.assert_allclose(ag.jacfwd(end)(x), 2 * np.exp(-1) * np.array([1.0, 0.5, 0.5]), rtol=1e-8)


@pytest.mark.parametrize("method", ["auto", "Rodas4"])
def test_events_after_a_change_of_method(method):
    def f(x):
        slope = lambda t, y, k: [-k * (y[0] - np.cos(t)), y[0] - 0.1 * y[1]]  # noqa: E731
        event = ag.Event(lambda t, y, k: y[1] - 1.0, lambda t, y, k: [y[0] + 1.0, 0.1 * y[1]])
        solution = ag.solve_ivp(
            slope, (0.0, 4.0), [0.0, 0.0], method, [1.0, 4.0], args=(x[0],), events=event, doses=[ag.Dose(x[1], 1, x[2])],
            rtol=1e-7, atol=1e-9,
        )  # fmt: skip
        return flat(solution.y, solution.t_events[0])

    x = np.array([2000.0, 0.6, 0.3])
    rows = ag.jacrev(f)(x)
    np.testing.assert_allclose(ag.jacfwd(f)(x), rows, rtol=1e-9, atol=1e-12 * np.abs(rows).max())


def test_tangents_pass_in_every_setting():
    function, x = CASES["reset"]
    f, x = (lambda p: function(p, "Tsit5")), np.array(x)
    rows = ag.jacrev(f)(x)
    close = {"rtol": 1e-9, "atol": 1e-11}
    np.testing.assert_allclose(ag.compile(ag.jacobian(f))(x), rows, **close)
    np.testing.assert_allclose(ag.compile(ag.jacfwd(f))(x), rows, **close)
    nested = ag.compile(lambda p: 1.0 * ag.jvp(f, (p,), (np.ones(x.size),))[1])
    np.testing.assert_allclose(nested(x), rows @ np.ones(x.size), **close)
    ag.check_grads(lambda p: terminal(p, "Tsit5"), np.array(CASES["terminal"][1]), order=1)


def test_tangents_pass_through_loops_whose_steps_have_events():
    def refilled(k):
        def step(y, x):
            low = ag.Event(lambda t, y, k: y[0] - 0.5, lambda t, y, k: [y[0] + k], direction=-1)
            y = ag.solve_ivp(lambda t, y, k: -k * y, (0.0, 1.0), y, "Tsit5", [1.0], args=(k * x,), events=low, **TIGHT).y[:, -1]
            return y, y[0]

        return ag.scan(step, np.ones(1), np.array([0.5, 1.0, 1.5]))[1]

    np.testing.assert_allclose(ag.jacfwd(refilled)(0.9), ag.jacrev(refilled)(0.9), rtol=1e-12)
    with pytest.raises(NotImplementedError, match="hessian: solve_ivp has first derivatives only"):
        ag.hessian(lambda k: np.sum(refilled(k)))(0.9)


def test_populations_have_tangents_where_all_their_subjects_have():
    def f(x):
        ill = ag.Subject((0.0, 2.0), [1.0], [2.0], (x[0],), doses=[ag.Dose(x[1], 0, x[2], 0.5)])
        well = ag.Subject((0.0, 2.0), [x[2]], [1.0, 2.0], (x[0],))
        return flat(*(each.y for each in ag.solve_many(lambda t, y, k: -k * y, [ill, well], "Tsit5", **TIGHT)))

    x = np.array([0.5, 0.7, 2.0])
    np.testing.assert_allclose(ag.jacfwd(f)(x), ag.jacrev(f)(x), rtol=1e-12)


@every_method
@pytest.mark.parametrize("name", list(CASES))
def test_second_derivatives_are_refused_by_name(name, method):
    function, x = CASES[name]
    total = lambda p: np.sum(function(p, method))  # noqa: E731
    x = np.array(x)
    what = "solve_ivp has first derivatives only, but must have more; take differences of its gradient"
    for transformed in (ag.hessian(total), ag.hessian(total, sparse=True), lambda p: ag.hvp(total)(p, p)):
        with pytest.raises(NotImplementedError, match=what):
            transformed(x)
    for nested in (ag.jacfwd(ag.grad(total)), ag.grad(lambda p: ag.jvp(total, (p,), (x,))[1])):
        with pytest.raises(NotImplementedError, match="solve_ivp"):
            nested(x)
    with pytest.raises(NotImplementedError, match=r"solve_ivp: has derivatives of first order only.*one more derivative"):
        ag.grad(lambda p: np.sum(ag.grad(total)(p)))(x)


def test_an_event_that_only_touches_has_no_tangent_where_its_time_is_used():
    def solution(c, reset=None):
        event = ag.Event(lambda t, y, c: (t - c) ** 3, reset)
        return ag.solve_ivp(lambda t, y, c: -c * y, (0.0, 2.0), [1.0], "Tsit5", args=(c,), events=event, **TIGHT)

    with pytest.raises(NotImplementedError, match=r"events\[0\] touches zero at t = .* without crossing it"):
        ag.jacfwd(lambda c: solution(c).t_events[0][0])(1.0)
    with pytest.raises(NotImplementedError, match=r"events\[0\] touches zero at t = .* without crossing it"):
        ag.jacfwd(lambda c: solution(c, lambda t, y, c: 2 * y).y[0, -1])(1.0)
    assert ag.jacfwd(lambda c: solution(c).y[0, -1])(1.0) == pytest.approx(-2 * np.exp(-2), rel=1e-8)
