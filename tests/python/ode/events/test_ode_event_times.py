"""Derivatives with respect to t_span and t_eval where there are doses, events, stops and switches."""

import numpy as np
import pytest

import agrad as ag
from event_cases import METHODS, SPANS, TIGHT, differences, flat

every_method = pytest.mark.parametrize("method", METHODS)
every_case = pytest.mark.parametrize("name", list(SPANS))


@every_method
@every_case
def test_times_have_derivatives_in_both_modes(name, method):
    function, x = SPANS[name]
    f, x = (lambda p: function(p, method)), np.array(x)
    rows = ag.jacrev(f)(x)
    np.testing.assert_allclose(rows, differences(f, x), rtol=2e-6, atol=2e-6)
    np.testing.assert_allclose(ag.jacfwd(f)(x), rows, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(ag.compile(ag.jacobian(f))(x), rows, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("name", ["doses", "bounces", "landing", "switch"])
def test_times_have_derivatives_by_cvodes(name):
    function, x = SPANS[name]
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


# ---- populations


def population(x, method):
    """A subject whose times move, one with doses, one backwards, and one of plain times."""
    slope = lambda t, y, k: -k * y * t  # noqa: E731
    subjects = [
        ag.Subject((x[0], 3.0), [1.0], [x[0], x[1], 2.0], (x[2],)),
        ag.Subject((x[0], x[1]), [x[3]], None, (x[2],), [ag.Dose(0.6, 0, 2.0), ag.Dose(0.7, 0, x[3], 5.0)]),
        ag.Subject((x[1], x[0]), [1.0], None, (x[2],)),
        ag.Subject((0.0, 2.0), [1.0], [0.0, 1.0, 1.0], (x[2],)),
    ]
    results = ag.solve_many(slope, subjects, method, rtol=1e-10, atol=1e-12)
    return flat(*(part for each in results for part in (each.t, each.y)))


@pytest.mark.parametrize("method", [*METHODS, "BDF"])
def test_populations_have_derivatives_with_respect_to_their_times(method):
    f, x = (lambda p: population(p, method)), np.array([0.3, 1.7, 0.8, 1.2])
    rows = ag.jacrev(f)(x)
    np.testing.assert_allclose(rows[[0, 1, 2]], [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0]])  # the times themselves
    np.testing.assert_allclose(rows, differences(lambda p: population(p, "DOP853"), x), rtol=1e-5, atol=1e-5)
    if method == "BDF":
        return
    np.testing.assert_allclose(ag.jacfwd(f)(x), rows, rtol=1e-9, atol=1e-10)
    loss = lambda p: np.sum(np.cos(np.arange(rows.shape[0])) * f(p)) + f(p)[4] ** 2  # noqa: E731
    by_differences = differences(ag.grad(loss), x)
    np.testing.assert_allclose(ag.hessian(loss)(x), by_differences, rtol=1e-5, atol=1e-5 * np.abs(by_differences).max())


def test_equal_recorded_times_are_refused_in_populations():
    def f(t):
        return ag.solve_many(lambda s, y: -y, [ag.Subject((0.0, 2.0), [1.0], [t, t])])[0].y[0, 1]

    with pytest.raises(ag.DomainError, match=r"solve_many\(subjects\[0\]\): t_eval\[1\] equals t_eval\[0\], but must differ"):
        ag.grad(f)(1.0)
