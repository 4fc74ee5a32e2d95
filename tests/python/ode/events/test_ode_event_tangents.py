"""Forward mode through doses, stops and events: the adjoints transposed."""

import numpy as np
import pytest

import agrad as ag
from event_cases import AT_CORNERS, CASES, METHODS, TIGHT, bounces, differences, flat, terminal

every_method = pytest.mark.parametrize("method", METHODS)
every_case = pytest.mark.parametrize("name", list(CASES | AT_CORNERS))


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
    loss = lambda k: np.sum(refilled(k) ** 2)  # noqa: E731
    by_differences = (ag.grad(loss)(0.9 + 1e-5) - ag.grad(loss)(0.9 - 1e-5)) / 2e-5
    assert ag.hessian(loss)(0.9) == pytest.approx(by_differences, rel=1e-6)


def test_populations_have_tangents_where_all_their_subjects_have():
    def f(x):
        ill = ag.Subject((0.0, 2.0), [1.0], [2.0], (x[0],), doses=[ag.Dose(x[1], 0, x[2], 0.5)])
        well = ag.Subject((0.0, 2.0), [x[2]], [1.0, 2.0], (x[0],))
        return flat(*(each.y for each in ag.solve_many(lambda t, y, k: -k * y, [ill, well], "Tsit5", **TIGHT)))

    x = np.array([0.5, 0.7, 2.0])
    np.testing.assert_allclose(ag.jacfwd(f)(x), ag.jacrev(f)(x), rtol=1e-12)


def test_an_event_that_only_touches_has_no_tangent_where_its_time_is_used():
    def solution(c, reset=None):
        event = ag.Event(lambda t, y, c: (t - c) ** 3, reset)
        return ag.solve_ivp(lambda t, y, c: -c * y, (0.0, 2.0), [1.0], "Tsit5", args=(c,), events=event, **TIGHT)

    with pytest.raises(NotImplementedError, match=r"events\[0\] touches zero at t = .* without crossing it"):
        ag.jacfwd(lambda c: solution(c).t_events[0][0])(1.0)
    with pytest.raises(NotImplementedError, match=r"events\[0\] touches zero at t = .* without crossing it"):
        ag.jacfwd(lambda c: solution(c, lambda t, y, c: 2 * y).y[0, -1])(1.0)
    assert ag.jacfwd(lambda c: solution(c).y[0, -1])(1.0) == pytest.approx(-2 * np.exp(-2), rel=1e-8)

    def of_time(c):
        event = ag.Event(lambda t, y, c: (t - 1.0) ** 3)
        return ag.solve_ivp(lambda t, y, c: -c * t * y, (0.0, 2.0), [1.0], "Tsit5", args=(c,), events=event, **TIGHT).y[0, -1]

    for derivative in (ag.grad, ag.jacfwd):
        assert derivative(of_time)(0.8) == pytest.approx(-2 * np.exp(-1.6), rel=1e-8)
    assert ag.hessian(of_time)(0.8) == pytest.approx(4 * np.exp(-1.6), rel=1e-8)
