"""Derivatives with respect to t_span and t_eval where there are doses, events, stops and switches."""

import numpy as np
import pytest

import agrad as ag

TIGHT = {"rtol": 1e-10, "atol": 1e-12}
METHODS = ["Tsit5", "RK45", "DOP853", "Rodas4", "auto"]

every_method = pytest.mark.parametrize("method", METHODS)


def flat(*parts):
    return np.concatenate([np.ravel(part) for part in parts])


def differences(f, x, step=1e-4):
    def along(e):
        return (8 * (f(x + e) - f(x - e)) - (f(x + 2 * e) - f(x - 2 * e))) / (12 * step)

    return np.stack([along(step * e) for e in np.eye(x.size)], axis=-1)


def dosed(x, method):
    """A bolus and an infusion between an initial time and outputs that move, one of them while the infusion runs."""
    doses = [ag.Dose(0.5, 0, 2.0), ag.Dose(0.8, 1, 1.0, 0.6)]
    slope = lambda t, y, k: [-k * y[0] * (1 + t), k * y[0] - 0.3 * y[1]]  # noqa: E731
    times = [x[1], 0.5 * x[1] + 0.7, 2.0, x[2]]
    return flat(ag.solve_ivp(slope, (x[0], 3.0), [1.0, 0.2], method, times, args=(x[3],), doses=doses, **TIGHT).y)


def bounces(x, method):
    """Times and states of the bounces, and outputs before, between and behind them."""
    floor = ag.Event(lambda t, y, r: y[0], lambda t, y, r: [0.0, -r * y[1]], direction=-1)
    fall = lambda t, y, r: [y[1], -9.81]  # noqa: E731
    times = [x[4], 1.5, x[5]]
    ball = ag.solve_ivp(fall, (x[2], x[3]), [x[1], 0.0], method, times, args=(x[0],), events=floor, **TIGHT)
    return flat(ball.t, ball.y, ball.t_events[0], ball.y_events[0])


def landing(x, method):
    """Time and state of the end, by an event where the span is long and by the span where it is short."""
    ground = ag.Event(lambda t, y: y[0] - 1.0, terminal=True)
    ball = ag.solve_ivp(lambda t, y: [y[1], -9.81], (x[2], x[3]), [x[1], x[0]], method, events=ground, **TIGHT)
    return flat(ball.t, ball.y)


def backwards(x, method):
    top = ag.Event(lambda t, y: y[0] - 1.5, lambda t, y: [0.5 * y[0]])
    slope = lambda t, y: -0.5 * t * y  # noqa: E731
    solution = ag.solve_ivp(slope, (x[0], x[1]), [1.0], method, [x[2], x[3]], events=top, **TIGHT)
    return flat(solution.t, solution.y, solution.t_events[0])


def switched(x, method):
    slope = lambda t, y, on: np.where(t < on, 1.0, -1.0) * y * t  # noqa: E731
    return flat(ag.solve_ivp(slope, (x[0], x[1]), [1.0], method, args=(x[2],), **TIGHT).y)


CASES = {
    "doses": (dosed, [0.1, 0.7, 2.5, 0.9]),
    "bounces": (bounces, [0.8, 2.0, 0.05, 2.3, 0.3, 2.1]),
    "landing": (landing, [0.8, 2.0, 0.05, 2.3]),
    "too short to land": (landing, [0.8, 2.0, 0.05, 0.3]),
    "backwards": (backwards, [2.0, 0.1, 1.5, 0.2]),
    "switch": (switched, [0.1, 2.0, 0.7]),
}
every_case = pytest.mark.parametrize("name", list(CASES))


@every_method
@every_case
def test_times_have_derivatives_in_both_modes(name, method):
    function, x = CASES[name]
    f, x = (lambda p: function(p, method)), np.array(x)
    rows = ag.jacrev(f)(x)
    np.testing.assert_allclose(rows, differences(f, x), rtol=2e-6, atol=2e-6)
    np.testing.assert_allclose(ag.jacfwd(f)(x), rows, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(ag.compile(ag.jacobian(f))(x), rows, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("name", ["doses", "bounces", "landing", "switch"])
def test_times_have_derivatives_by_cvodes(name):
    function, x = CASES[name]
    f, x = (lambda p: function(p, "BDF")), np.array(x)
    rows = ag.jacrev(lambda p: function(p, "DOP853"))(x)
    np.testing.assert_allclose(ag.jacrev(f)(x), rows, rtol=2e-6, atol=2e-6)


@pytest.mark.parametrize("method", [*METHODS, "BDF"])
def test_a_compartment_has_the_closed_form(method):
    """(y0 exp(-k (d - t0)) + A) exp(-k (t - d)), with an infusion of rate R from b on: + R / k (1 - exp(-k (t - b)))."""
    k, d, amount, b, rate = 0.7, 1.0, 3.0, 2.0, 1.5

    def end(t0, t):
        doses = [ag.Dose(d, 0, amount), ag.Dose(b, 0, 10 * rate, 10.0)]
        return ag.solve_ivp(lambda s, y: -k * y, (t0, 5.0), [2.0], method, [t], doses=doses, **TIGHT).y[0, 0]

    t0, t = 0.3, 2.9
    by_t0, by_t = ag.grad(end, argnums=(0, 1))(t0, t)
    assert by_t0 == pytest.approx(k * 2.0 * np.exp(-k * (t - t0)), rel=1e-6)
    value = 2.0 * np.exp(-k * (t - t0)) + amount * np.exp(-k * (t - d)) + rate / k * -np.expm1(-k * (t - b))
    assert by_t == pytest.approx(rate - k * value, rel=1e-6)


@every_method
def test_an_output_at_a_dose_moves_with_the_solution_behind_it(method):
    def at(t0, t):
        y = ag.solve_ivp(lambda s, y: -y, (t0, 2.0), [1.0], method, [t], doses=[ag.Dose(1.0, 0, 3.0)], **TIGHT).y
        return y[0, 0]

    by_t0, by_t = ag.grad(at, argnums=(0, 1))(0.5, 1.0)
    assert by_t0 == pytest.approx(np.exp(-0.5), rel=1e-8)  # of (exp(t0 - 1) + 3) exp(1 - t)
    assert by_t == pytest.approx(-np.exp(-0.5) - 3.0, rel=1e-8)


@every_method
def test_outputs_at_the_initial_time(method):
    def first(t0, t):
        y = ag.solve_ivp(lambda s, y: -2.0 * y, (t0, 2.0), [1.0], method, [t, 1.5], doses=[ag.Dose(1.0, 0, 3.0)], **TIGHT).y
        return y[0, 0]

    assert ag.grad(first, argnums=(0, 1))(0.5, 0.5) == (pytest.approx(2.0), pytest.approx(-2.0))


def test_a_dose_that_moves_with_the_initial_time():
    def end(t0, lag):
        doses = [ag.Dose(t0, 0, 1.0), ag.Dose(t0 + lag, 0, 2.0)]
        return ag.solve_ivp(lambda s, y: -y, (t0, 3.0), [0.5], "Tsit5", [3.0], doses=doses, **TIGHT).y[0, 0]

    t0, lag = 0.4, 0.6  # 1.5 exp(t0 - 3) + 2 exp(t0 + lag - 3)
    by_t0, by_lag = ag.grad(end, argnums=(0, 1))(t0, lag)
    assert by_lag == pytest.approx(2 * np.exp(t0 + lag - 3), rel=1e-8)
    assert by_t0 == pytest.approx(1.5 * np.exp(t0 - 3) + 2 * np.exp(t0 + lag - 3), rel=1e-8)


def test_compiled_functions_take_other_times():
    """Where the end leaves the last output time there is one more output, so it is recorded anew."""

    def of_bounces(x):
        floor = ag.Event(lambda t, y: y[0], lambda t, y: [0.0, -0.8 * y[1]], direction=-1)
        ball = ag.solve_ivp(lambda t, y: [y[1], -9.81], (0.0, x[0]), [1.0, 0.0], "Tsit5", [0.3, x[1]], events=floor, **TIGHT)
        return flat(ball.y, ball.t_events[0])

    compiled = ag.compile(ag.jacobian(of_bounces))
    for x in ([1.0, 1.0], [1.1, 1.0], [0.95, 0.95], [1.1, 0.8]):
        np.testing.assert_allclose(compiled(np.array(x)), ag.jacrev(of_bounces)(np.array(x)), rtol=1e-10, atol=1e-10)
    with pytest.raises(ag.SolverError, match=r"the number of times of events\[0\] is 0, but must be 1"):
        compiled(np.array([0.4, 0.35]))


def test_equal_recorded_times_are_refused_beside_doses():
    def f(t):
        return np.sum(ag.solve_ivp(lambda s, y: -y, (0, 2), [1.0], "Tsit5", [0.5, t, t], doses=[ag.Dose(0.2, 0, 1.0)]).y)

    with pytest.raises(ag.DomainError, match=r"t_eval\[2\] equals t_eval\[1\], but must differ from it where recorded times"):
        ag.grad(f)(1.0)
