"""first_step and max_step of CVODES' methods and of solve_dae: what they do to steps, values and gradients; what is refused."""

import re

import numpy as np
import pytest

import agrad as ag

METHODS = ["BDF", "Adams"]
SENSITIVITIES = ["adjoint", "forward", "simultaneous", "auto"]
TIGHT = {"rtol": 1e-9, "atol": 1e-11}


def decay(t, y, k):
    return -k * y


def solved(method, span=(0.0, 10.0), **options):
    return ag.solve_ivp(decay, span, [1.0], method, args=(0.1,), **options)


# ---- steps -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_no_step_is_longer_than_max_step(method):
    free, held = (solved(method, **each).explain().columns["h"] for each in ({}, {"max_step": 0.05}))
    assert free.max() > 0.5
    assert held.max() <= 0.05 * (1 + 1e-12)
    assert len(held) >= 200
    report = solved(method, max_step=0.05).explain()
    assert "max_step" in str(report)
    assert report.limits["max_step"] > 0.5 * report.steps


@pytest.mark.parametrize("method", METHODS)
def test_the_first_step_is_the_one_asked_for(method):
    """One that passes: its error is far below what is allowed."""
    for first in (1e-7, 3e-6):
        h = solved(method, first_step=first).explain().columns["h"]
        assert h[0] == pytest.approx(first, rel=1e-12)
    too_long = solved(method, first_step=5.0, **TIGHT)  # and one that does not is tried again, shorter
    assert too_long.explain().columns["h"][0] < 1e-2
    np.testing.assert_allclose(too_long.y[0, -1], np.exp(-1.0), rtol=1e-7)


@pytest.mark.parametrize("method", METHODS)
def test_the_first_step_is_no_longer_than_the_longest_or_the_span(method):
    assert solved(method, first_step=3e-6, max_step=1e-2).explain().columns["h"][0] == pytest.approx(3e-6)
    assert solved(method, first_step=1e3, max_step=1e-5, span=(0.0, 1e-3)).explain().columns["h"][0] <= 1e-5 * (1 + 1e-12)
    short = solved(method, first_step=1e3, span=(0.0, 1e-6))
    np.testing.assert_allclose(short.y[0, -1], np.exp(-1e-7), rtol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_back_in_time(method):
    h = np.abs(solved(method, (10.0, 0.0), first_step=1e-6, max_step=0.25).explain().columns["h"])
    assert h[0] == pytest.approx(1e-6, rel=1e-9)
    assert 0.2 < h.max() <= 0.25 * (1 + 1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_each_dose_starts_with_the_first_step(method):
    doses = [ag.Dose(3.0, 0, 1.0), ag.Dose(6.0, 0, 1.0)]
    columns = solved(method, doses=doses, first_step=1e-6).explain().columns
    for start in (0.0, 3.0, 6.0):
        at = np.flatnonzero(np.asarray(columns["t"]) == start)
        assert columns["h"][at[0]] == pytest.approx(1e-6, rel=1e-6)


@pytest.mark.parametrize("served", ["LSODA", "Radau"])
def test_names_of_scipy(served):
    h = solved(served, max_step=0.05).explain().columns["h"]
    assert max(h) <= 0.05 * (1 + 1e-12)


def backward_steps(**options):
    """Of the gradient of a decay's end."""
    results = []

    def end(k):
        results.append(ag.solve_ivp(decay, (0.0, 10.0), [1.0], "BDF", args=(k,), **options))
        return results[0].y[0, -1]

    ag.grad(end)(0.1)
    return results[0].stats["backward"]["steps"]


@pytest.mark.parametrize("count", [lambda **options: solved("BDF", **options).nst, backward_steps])
def test_a_later_solve_does_not_inherit_them(count):
    """Solvers are kept for later solves of the same function, with the options that these have."""
    free = count()
    assert free < 100
    for _ in range(2):
        assert count(max_step=0.05) >= 200
        assert count() == free
        count(first_step=1e-9)
        assert count() == free


# ---- what they are for, and derivatives --------------------------------------------------------------------------------


def pulsed(k, method, **options):
    """A long step misses the bump of unit area at t = 50 in y'; the log of y is -k in the end."""

    def slope(t, y, k):
        return -k * y * np.exp(-0.5 * ((t - 50.0) / 0.1) ** 2) / (0.1 * np.sqrt(2 * np.pi))

    return ag.solve_ivp(slope, (0.0, 100.0), [1.0], method, [100.0], args=(k,), rtol=1e-8, atol=1e-10, **options).y[0, 0]


@pytest.mark.parametrize("sensitivities", SENSITIVITIES)
@pytest.mark.parametrize("method", METHODS)
def test_a_pulse_is_seen_by_values_and_gradients(method, sensitivities):
    assert ag.grad(lambda k: pulsed(k, method, sensitivities=sensitivities))(0.5) == pytest.approx(0.0, abs=1e-6)  # missed
    options = {"max_step": 0.2, "sensitivities": sensitivities}
    value, slope = ag.value_and_grad(lambda k: pulsed(k, method, **options))(0.5)
    assert value == pytest.approx(np.exp(-0.5), rel=1e-6)
    assert slope == pytest.approx(-np.exp(-0.5), rel=1e-5)
    assert pulsed(0.5, method, **options) == pytest.approx(np.exp(-0.5), rel=1e-6)


@pytest.mark.parametrize("sensitivities", ["adjoint", "forward", "simultaneous"])
@pytest.mark.parametrize("method", METHODS)
def test_gradients_with_doses(method, sensitivities):
    def end(k, amount):
        options = {"first_step": 1e-5, "max_step": 0.1, "sensitivities": sensitivities, **TIGHT}
        return ag.solve_ivp(decay, (0.0, 2.0), [1.0], method, args=(k,), doses=[ag.Dose(1.0, 0, amount)], **options).y[0, -1]

    for transformed in (ag.grad, lambda f, **of: ag.compile(ag.grad(f, **of))):
        of_k, of_amount = transformed(end, argnums=(0, 1))(0.7, 2.0)
        np.testing.assert_allclose(of_k, -2 * np.exp(-1.4) - 2 * np.exp(-0.7), rtol=1e-6)
        np.testing.assert_allclose(of_amount, np.exp(-0.7), rtol=1e-6)


def test_events_and_a_second_tolerance():
    low = ag.Event(lambda t, y, k: y[0] - 0.5, terminal=True)

    def crossing(k, **options):
        return ag.solve_ivp(decay, (0.0, 10.0), [1.0], "BDF", args=(k,), events=low, **options, **TIGHT).t[-1]

    sizes = {"first_step": 1e-6, "max_step": 0.1}
    np.testing.assert_allclose(crossing(0.7, **sizes), np.log(2) / 0.7, rtol=1e-7)
    np.testing.assert_allclose(ag.grad(lambda k: crossing(k, **sizes))(0.7), -np.log(2) / 0.49, rtol=1e-6)
    checked = {"max_step": 0.2, "gradient_check": True}
    assert ag.grad(lambda k: pulsed(k, "BDF", **checked))(0.5) == pytest.approx(-np.exp(-0.5), rel=1e-5)


@pytest.mark.parametrize("method", ["BDF", "Adams", "Tsit5", "auto"])
def test_populations(method):
    subjects = [ag.Subject((0.0, 10.0), [1.0], None, (k,)) for k in (0.1, 0.2)]
    free = [each.nst for each in ag.solve_many(decay, subjects, method)]
    held = [each.nst for each in ag.solve_many(decay, subjects, method, max_step=0.05, first_step=1e-6)]
    assert min(held) >= 200 > max(free)
    first = [each.explain().columns["h"][0] for each in ag.solve_many(decay, subjects, method, first_step=1e-6)]
    np.testing.assert_allclose(first, 1e-6, rtol=1e-9)


# ---- differential-algebraic --------------------------------------------------------------------------------------------


def algebraic(k, **options):
    residual = lambda t, y, yp, k: [yp[0] + k * y[0], y[1] - y[0] ** 2]  # noqa: E731
    return ag.solve_dae(residual, (0.0, 10.0), [1.0, 0.0], args=(k,), **options)


@pytest.mark.parametrize("sensitivities", ["adjoint", "forward"])
def test_solve_dae(sensitivities):
    assert algebraic(0.1).stats["steps"] < 150
    held = algebraic(0.1, max_step=0.05)
    assert held.stats["steps"] >= 200
    np.testing.assert_allclose(held.y[1, -1], np.exp(-2.0), rtol=1e-5)
    options = {"max_step": 0.1, "first_step": 1e-5, "sensitivities": sensitivities, **TIGHT}
    slope = ag.grad(lambda k: algebraic(k, **options).y[1, -1])(0.1)
    np.testing.assert_allclose(slope, -20 * np.exp(-2.0), rtol=1e-6)


def test_the_first_step_of_solve_dae():
    """A hundred thousandth of the usual one takes some doublings more."""
    free, short = (algebraic(0.1, **each).stats["steps"] for each in ({}, {"first_step": 1e-12}))
    assert short >= free + 10


def test_a_pulse_in_a_dae():
    def residual(t, y, yp, k):
        return [yp[0] + k * y[0] * np.exp(-0.5 * ((t - 50.0) / 0.1) ** 2) / (0.1 * np.sqrt(2 * np.pi)), y[1] - 2 * y[0]]

    def end(k, **options):
        return ag.solve_dae(residual, (0.0, 100.0), [1.0, 0.0], args=(k,), rtol=1e-8, atol=1e-10, **options).y[1, -1]

    assert ag.grad(end)(0.5) == pytest.approx(0.0, abs=1e-6)
    for sensitivities in ("adjoint", "forward"):
        value, slope = ag.value_and_grad(lambda k, s=sensitivities: end(k, max_step=0.2, sensitivities=s))(0.5)
        np.testing.assert_allclose([value, slope], [2 * np.exp(-0.5), -2 * np.exp(-0.5)], rtol=1e-5)


# ---- what is refused ---------------------------------------------------------------------------------------------------


REFUSED = [
    ("first_step", 0.0, ag.DomainError, "first_step is 0.0, but must be positive and finite"),
    ("first_step", -1.0, ag.DomainError, "first_step is -1.0, but must be positive and finite"),
    ("first_step", np.inf, ag.DomainError, "first_step is inf, but must be positive and finite"),
    ("first_step", np.nan, ag.DomainError, "first_step is nan, but must be positive and finite"),
    ("first_step", [0.1, 0.1], ag.ShapeError, "first_step is of shape (2,), but must be a number"),
    ("max_step", 0.0, ag.DomainError, "max_step is 0.0, but must be positive and finite"),
    ("max_step", -0.5, ag.DomainError, "max_step is -0.5, but must be positive and finite"),
    ("max_step", np.nan, ag.DomainError, "max_step is nan, but must be positive and finite"),
    ("max_step", -np.inf, ag.DomainError, "max_step is -inf, but must be positive and finite"),
]
CALLS = {
    **{
        f"solve_ivp {method} {kind}": lambda method=method, kind=kind, **of: solved(method, sensitivities=kind, **of)
        for method in METHODS
        for kind in SENSITIVITIES
    },
    "solve_ivp Tsit5": lambda **of: solved("Tsit5", **of),
    "solve_many BDF": lambda **of: ag.solve_many(decay, [ag.Subject((0.0, 1.0), [1.0], None, (0.1,))], "BDF", **of),
    "solve_dae": lambda **of: algebraic(0.1, **of),
}


@pytest.mark.parametrize(("name", "value", "error", "message"), REFUSED)
@pytest.mark.parametrize("call", list(CALLS))
def test_sizes_that_are_refused(call, name, value, error, message):
    function = call.split()[0]
    with pytest.raises(error, match=f"^{re.escape(f'{function}: {message}')}$"):
        CALLS[call](**{name: value})


@pytest.mark.parametrize("method", METHODS)
def test_a_recorded_size_is_refused(method):
    for name in ("first_step", "max_step"):
        with pytest.raises(TypeError, match=f"solve_ivp: {name} is a recorded value, but must be plain"):
            ag.grad(lambda h, name=name: solved(method, **{name: h}).y[0, -1])(0.1)


@pytest.mark.parametrize("tiny", [1e-6, 1e-300, 5e-324])
@pytest.mark.parametrize("method", METHODS)
def test_steps_too_short_to_arrive(method, tiny):
    with pytest.raises(ag.SolverError, match=r"^solve_ivp: stopped at t = .* after \d+ steps \(CV_") as caught:
        solved(method, max_step=tiny, max_num_steps=500)
    assert caught.value.steps <= 500
