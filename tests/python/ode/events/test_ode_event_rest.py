"""Doses and resets whose change is zero have right derivatives, also where the system has come to rest before."""

import numpy as np
import pytest
import scipy.integrate
import scipy.linalg

import agrad as ag

ONE_STEP = ["auto", "Tsit5", "RK45", "CKRK", "DOP853", "Rodas4", "Rodas5P"]
METHODS = [*ONE_STEP, "BDF", "Adams"]
RATES = np.array([[-1.0, 0.0], [1.0, -3.0]])


def decaying(t, y):
    return [-y[0], y[0] - 3 * y[1]]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("amount", [0.0, 1e-6, 1.0])
@pytest.mark.parametrize("baseline", [0.0, 2.0])
def test_the_derivative_by_a_dose_does_not_depend_on_its_size(method, amount, baseline):
    def state(amount):
        dose = ag.Dose(50.0, 0, amount)

        def slope(t, y):
            return [baseline - y[0], y[0] - 3 * y[1]]

        return ag.solve_ivp(
            slope, (0.0, 52.0), [baseline, baseline / 3], method, [52.0], doses=[dose], rtol=1e-8, atol=1e-10
        ).y[1, 0]

    expected = (np.exp(-2) - np.exp(-6)) / 2
    assert ag.grad(state)(amount) == pytest.approx(expected, rel=2e-6)
    assert ag.jvp(state, (amount,), (1.0,))[1] == pytest.approx(expected, rel=2e-6)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("shift", [0.0, 1e-6, 1.0])
def test_the_derivative_by_a_reset_does_not_depend_on_its_size(method, shift):
    def state(shift):
        event = ag.Event(lambda t, y, b: t - 50.0, lambda t, y, b: [y[0] + b, y[1]])
        solution = ag.solve_ivp(
            lambda t, y, b: decaying(t, y), (0.0, 52.0), [0.0, 0.0], method, [52.0], args=(shift,), events=[event], rtol=1e-8,
            atol=1e-10,
        )  # fmt: skip
        return solution.y[1, 0]

    assert ag.grad(state)(shift) == pytest.approx((np.exp(-2) - np.exp(-6)) / 2, rel=2e-6)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("unit", [1.0, 1e6, 1e-9])
@pytest.mark.parametrize("amount", [0.0, 1.0])
def test_the_derivative_by_an_infusion_does_not_depend_on_its_size(method, unit, amount):
    k = [1.02576, 3.9169, 1.78046]
    rates = np.array([[-k[0], k[1]], [k[0], -k[1] - k[2]]])

    def state(amount):
        doses = [ag.Dose(1.5, 1, amount, 1.7)]
        slope = lambda t, y: [rates[0] @ y, rates[1] @ y]  # noqa: E731
        return ag.solve_ivp(slope, (0.0, 4.5), [0.0, 0.0], method, [4.5], doses=doses, rtol=1e-7, atol=1e-9 * unit).y[1, 0]

    held = np.linalg.solve(rates, (scipy.linalg.expm(1.7 * rates) - np.eye(2)) @ np.array([0.0, 1 / 1.7]))
    expected = (scipy.linalg.expm(1.3 * rates) @ held)[1]
    assert ag.grad(state)(amount * unit) == pytest.approx(expected, rel=2e-5)


@pytest.mark.parametrize("method", ["BDF", "Adams"])
@pytest.mark.parametrize("sensitivities", ["adjoint", "forward"])
def test_a_state_that_starts_at_zero_in_large_units_has_an_accurate_derivative(method, sensitivities):
    rates = np.array([[-2.0, 1.0], [2.0, -1.5]])

    def state(initial):
        doses = [ag.Dose(0.5, 0, 1e6)]
        slope = lambda t, y: [rates[0] @ y, rates[1] @ y]  # noqa: E731
        options = {"doses": doses, "rtol": 1e-6, "atol": 1e-2, "sensitivities": sensitivities}
        return ag.solve_ivp(slope, (0.0, 4.0), [initial, 0.0], method, [4.0], **options).y[1, 0]

    expected = scipy.linalg.expm(4 * rates)[1, 0]
    assert ag.grad(state)(0.0) == pytest.approx(expected, rel=5e-5)
    assert ag.jvp(state, (0.0,), (1.0,))[1] == pytest.approx(expected, rel=5e-5)


@pytest.mark.parametrize("method", ONE_STEP)
def test_a_start_just_above_zero_late_in_time_is_no_step_that_vanishes(method):
    assert ag.solve_ivp(lambda t, y: [1e4], (30.0, 31.0), [2e-13], method).y[0, -1] == pytest.approx(1e4)
    for time in range(20, 111, 3):
        dose = ag.Dose(float(time), 0, 1e5, 1.0)
        solution = ag.solve_ivp(lambda t, y: -0.3 * y, (0.0, 120.0), [1.0], method, doses=[dose])
        expected = 1e5 / 0.3 * (1 - np.exp(-0.3)) * np.exp(-0.3 * (119 - time)) + np.exp(-36)
        assert solution.y[0, -1] == pytest.approx(expected, rel=1e-2, abs=1e-5)


def test_a_reset_that_leaves_rounding_errors_is_no_step_that_vanishes():
    generator = np.random.default_rng(1)
    for _ in range(20):
        speed, height = generator.uniform(0.5, 5), generator.uniform(0.05, 0.5)
        event = ag.Event(lambda t, y, h=height: y[0] - h, lambda t, y, h=height: [y[0] - h])
        options = {"events": [event], "rtol": 1e-9, "atol": 1e-11}
        solution = ag.solve_ivp(lambda t, y, a=speed: [a], (0.0, 5.0), [0.0], "Rodas5P", **options)
        assert len(solution.t_events[0]) == int(5 * speed / height)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("level", [0.99, 0.999, 0.9999])
def test_a_crossing_and_the_return_within_a_step_are_two_events(method, level):
    def oscillation(t, y):
        return [y[1], -y[0]]

    options = {"rtol": 1e-6, "atol": 1e-8}
    crossings = [np.arcsin(level), np.pi - np.arcsin(level)]
    for direction, expected in ((0, crossings), (1, crossings[:1]), (-1, crossings[1:])):
        event = ag.Event(lambda t, y: y[0] - level, direction=direction)
        found = ag.solve_ivp(oscillation, (0.0, 3.0), [0.0, 1.0], method, events=[event], **options).t_events[0]
        assert found == pytest.approx(expected, abs=1e-3)
    terminal = ag.Event(lambda t, y: y[0] - level, terminal=True)
    assert ag.solve_ivp(oscillation, (0.0, 3.0), [0.0, 1.0], method, events=[terminal], **options).status == 1


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("outputs", [1, 51])
def test_a_reset_that_brings_the_system_to_rest_on_its_trigger_is_no_new_event(method, outputs):
    def end(after):
        def slope(t, y, b):
            rate = 0.75 * y[0] * y[1] - 0.25 * y[2]
            return [-rate, -rate, rate]

        event = ag.Event(lambda t, y, b: 0.5 - y[0], lambda t, y, b: [y[0], b, y[2]], direction=1)
        times = np.linspace(0.0, 5.0, outputs) if outputs > 1 else [5.0]
        options = {"args": (after,), "events": event, "rtol": 1e-8, "atol": 1e-10}
        return ag.solve_ivp(slope, (0.0, 5.0), [1.0, 2.0, 1.0], method, times, **options).y[:, -1]

    np.testing.assert_allclose(end(1.0), [0.5, 1.0, 1.5], rtol=1e-7)
    # The reaction's extent z has z' = (0.75 z - 2.5) z + 1.25 until z = 0.5, and z' = 0.375 db - 1.375 z beside the rest.
    at = scipy.integrate.quad(lambda z: 1 / ((0.75 * z - 2.5) * z + 1.25), 0.0, 0.5)[0]
    expected = 0.375 / 1.375 * -np.expm1(-1.375 * (5.0 - at))
    np.testing.assert_allclose(ag.jacobian(end)(1.0), [-expected, 1 - expected, expected], rtol=1e-5)
