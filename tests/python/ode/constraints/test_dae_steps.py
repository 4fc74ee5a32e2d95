"""Differential-algebraic systems by one-step methods: doses, events, switches and second order, against closed forms."""

from __future__ import annotations

import pickle

import mpmath as mp
import numpy as np
import pytest

import agrad as ag
from closed_forms import check_derivatives

TIGHT = {"rtol": 1e-10, "atol": 1e-11}


def implicit(t, y, yp, k):
    """The system x' = -k x, written as exp(x') = z and z = exp(-k x)."""
    return [np.exp(yp[0]) - y[1], y[1] - np.exp(-k * y[0])]


def solved(p, *, residual=implicit, args=None, end=None, **options):
    span = (0.0, p[7] if end is None else end)
    options = {"rtol": 1e-10, "atol": 1e-11} | options
    return ag.solve_dae(residual, span, [p[0], 1.0], args=(p[1],) if args is None else args, **options)


def outputs(result):
    """The states and the derivative of the differential state at the end."""
    return np.concatenate([result.y[:, -1], result.yp[:1, -1]])


def of_end(x, k):
    return [x, mp.exp(-k * x), -k * x]


def plain_closed(x0, k, c, b, start, amount, length, end):
    return of_end(x0 * mp.exp(-k * end), k)


def driven(t, y, yp, k, w):
    """The system x' = z and 0 = z + k x - sin(w t); z comes first."""
    return [yp[1] - y[0], y[0] + k * y[1] - np.sin(w * t)]


def driven_end(p):
    """Starts at p[4] and ends at p[7]."""
    return ag.solve_dae(driven, (p[4], p[7]), [0.0, p[0]], args=(p[1], p[2]), method="Rodas5P", **TIGHT).y[:, -1]


def driven_closed(x0, k, w, b, start, amount, length, end):
    def of(t):
        return (k * mp.sin(w * t) - w * mp.cos(w * t)) / (k**2 + w**2)

    x = (x0 - of(start)) * mp.exp(-k * (end - start)) + of(end)
    return [mp.sin(w * end) - k * x, x]


def dosed_end(p):
    doses = [ag.Dose(p[4], 0, p[3]), ag.Dose(p[4], 0, p[2], kind="scale"), ag.Dose(p[4], 0, p[5], duration=p[6])]
    return outputs(solved(p, doses=doses))


def dosed_closed(x0, k, c, b, start, amount, length, end):
    x = c * (x0 * mp.exp(-k * start) + b) * mp.exp(-k * (end - start))
    x += amount / length / k * (mp.exp(-k * (end - start - length)) - mp.exp(-k * (end - start)))
    return of_end(x, k)


def set_end(p):
    return outputs(solved(p, doses=[ag.Dose(p[4], 0, p[3], kind="set")], tstops=[p[5]]))


def set_closed(x0, k, c, b, start, amount, length, end):
    return of_end(b * mp.exp(-k * (end - start)), k)


def reset_end(p):
    """Where z rises above exp(-k c), x grows by b."""
    event = ag.Event(lambda t, y, k, c, b: y[1] - np.exp(-k * c), lambda t, y, k, c, b: [y[0] + b, y[1]])
    result = solved(p, residual=lambda t, y, yp, k, c, b: implicit(t, y, yp, k), args=(p[1], p[2], p[3]), events=event)
    return np.concatenate([outputs(result), result.t_events[0]])


def reset_closed(x0, k, c, b, start, amount, length, end):
    return [*of_end((c + b) * x0 / c * mp.exp(-k * end), k), mp.log(x0 / c) / k]


def delayed_end(p):
    """As before, but later by p[6] and the part z - exp(-k c) of the trigger, which is zero and has a derivative."""
    event = ag.Event(
        lambda t, y, k, c, b: y[1] - np.exp(-k * c),
        lambda t, y, k, c, b: [y[0] + b, y[1]],
        delay=lambda t, y, k, c, b: p[6] + y[1] - np.exp(-k * c),
    )
    result = solved(p, residual=lambda t, y, yp, k, c, b: implicit(t, y, yp, k), args=(p[1], p[2], p[3]), events=event)
    return np.concatenate([outputs(result), result.t_events[0]])


def delayed_closed(x0, k, c, b, start, amount, length, end):
    then = mp.log(x0 / c) / k + length
    return [*of_end(x0 * mp.exp(-k * end) + b * mp.exp(-k * (end - then)), k), then]


def terminal_end(p):
    event = ag.Event(lambda t, y, k, c: y[0] - c, terminal=True)
    result = solved(p, residual=lambda t, y, yp, k, c: implicit(t, y, yp, k), args=(p[1], p[2]), events=event)
    return np.concatenate([outputs(result), np.reshape(result.t[-1], (1,))])


def terminal_closed(x0, k, c, b, start, amount, length, end):
    return [*of_end(c, k), mp.log(x0 / c) / k]


def switched(t, y, yp, k, c):
    """The rate is twice as large where x is below c."""
    return implicit(t, y, yp, k * np.where(y[0] < c, 2.0, 1.0))


def switched_end(p):
    return solved(p, residual=switched, args=(p[1], p[2])).y[:, -1]


def switched_closed(x0, k, c, b, start, amount, length, end):
    x = c * mp.exp(-2 * k * (end - mp.log(x0 / c) / k))
    return [x, mp.exp(-2 * k * x)]


def slope_switched(t, y, yp, k, c):
    """An integral of x, which counts twice where the derivative of x is above -k c."""
    return [*implicit(t, y, yp, k), yp[2] - np.where(yp[0] > -k * c, 2.0, 1.0) * y[0]]


def slope_switched_end(p):
    return ag.solve_dae(slope_switched, (0.0, p[7]), [p[0], 1.0, 0.0], args=(p[1], p[2]), **TIGHT).y[[0, 2], -1]


def slope_switched_closed(x0, k, c, b, start, amount, length, end):
    x = x0 * mp.exp(-k * end)
    return [x, (x0 - c) / k + 2 * (c - x) / k]


def circuit(t, v, vp, k, c):
    """A capacitor c between two nodes, of which the first is on 1 / k to the source of 1, the second earthed by 1 / k."""
    return [c * (vp[0] - vp[1]) + k * (v[0] - 1), c * (vp[1] - vp[0]) + k * v[1]]


def circuit_end(p):
    """The voltage of the capacitor grows by b at a time, by a dose to one node."""
    doses = [ag.Dose(p[4], 0, p[3])]
    return ag.solve_dae(circuit, (0.0, p[7]), [p[0], 0.0], args=(p[1], p[2]), doses=doses, **TIGHT).y[:, -1]


def circuit_closed(x0, k, c, b, start, amount, length, end):
    voltage = 1 + (x0 - 1) * mp.exp(-k * end / (2 * c)) + b * mp.exp(-k * (end - start) / (2 * c))
    return [(1 + voltage) / 2, (1 - voltage) / 2]


def backwards_end(p):
    return outputs(ag.solve_dae(implicit, (p[4], 0.0), [p[0], 1.0], args=(p[1],), method="Rodas4", **TIGHT))


def backwards_closed(x0, k, c, b, start, amount, length, end):
    return of_end(x0 * mp.exp(k * start), k)


NUMBERS = [0.9, 1.1, 0.5, 0.6, 0.3, 0.4, 0.25, 0.95]
CASES = {
    "plain": (lambda p: outputs(solved(p, method="Rodas5P")), plain_closed, NUMBERS),
    "sparse": (lambda p: outputs(solved(p, linear_solver="sparse")), plain_closed, NUMBERS),
    "driven": (driven_end, driven_closed, NUMBERS),
    "doses": (dosed_end, dosed_closed, NUMBERS),
    "set": (set_end, set_closed, NUMBERS),
    "reset": (reset_end, reset_closed, NUMBERS),
    "delay": (delayed_end, delayed_closed, NUMBERS),
    "terminal": (terminal_end, terminal_closed, NUMBERS),
    "switch": (switched_end, switched_closed, NUMBERS),
    "switch of a derivative": (slope_switched_end, slope_switched_closed, NUMBERS),
    "circuit": (circuit_end, circuit_closed, NUMBERS),
    "backwards": (backwards_end, backwards_closed, NUMBERS),
}


@pytest.mark.thread_unsafe(reason="sets mpmath's precision")
@pytest.mark.parametrize("case", CASES)
def test_derivatives_are_those_of_the_closed_form(case):
    check_derivatives(*CASES[case])


def test_auto_is_ida_where_it_solves_the_problem():
    """IDA gives the derivative of an algebraic state, which is nan by one-step methods."""
    kink = lambda t, y, yp, k: implicit(t, y, yp, k * np.abs(y[0]) / np.maximum(y[0], 1e-3))  # noqa: E731
    for residual in (implicit, kink):
        assert np.isfinite(solved(NUMBERS, residual=residual).yp).all()
    assert np.isfinite(solved(NUMBERS, linear_solver="dense", tstops=[0.5]).yp).all()
    for options in ({"doses": [ag.Dose(0.1, 0, 0.0)]}, {"events": lambda t, y, k: y[0]}, {"linear_solver": "sparse"}):
        result = solved(NUMBERS, **options)
        assert np.isnan(result.yp[1]).all()
        np.testing.assert_allclose(result.yp[0], -1.1 * result.y[0], rtol=1e-8)


def jumping(t, y, yp, k, c):
    """The rate is twice as large where x is below c; z = x^2 does not jump."""
    return [yp[0] + k * np.where(y[0] < c, 2.0, 1.0) * y[0], y[1] - y[0] ** 2]


def test_ignored_switches_are_passed_over():
    def end(c, **options):
        return solved(NUMBERS, residual=jumping, args=(1.1, c), rtol=1e-8, **options).y[0, -1]

    with pytest.raises(ValueError, match="method is 'IDA', but must be 'Rodas5P' or 'Rodas4' where the residual jumps at"):
        end(0.5, method="IDA")
    expected = float(switched_closed(0.9, 1.1, 0.5, 0, 0, 0, 0, 0.95)[0])
    assert ag.value_and_grad(end)(0.5) == pytest.approx((expected, -expected / 0.5), rel=1e-6)
    for method in ("auto", "IDA", "Rodas4"):
        value, slope = ag.value_and_grad(lambda c, m=method: end(c, method=m, switches="ignore"))(0.5)
        assert (value, slope) == (pytest.approx(expected, rel=1e-5), 0)


def test_outputs_and_dense_output():
    doses, times = [ag.Dose(0.3, 0, 0.6)], np.array([0.0, 0.2, 0.3, 0.9])
    result = solved(NUMBERS, doses=doses, t_eval=times, dense_output=True)
    x = 0.9 * np.exp(-1.1 * times) + np.where(times < 0.3, 0.0, 0.6 * np.exp(-1.1 * (times - 0.3)))
    np.testing.assert_allclose(result.y, [x, np.exp(-1.1 * x)], rtol=1e-8)
    np.testing.assert_allclose(result.sol(times[[1, 3]]), result.y[:, [1, 3]], rtol=1e-8)
    assert result.sol(0.2).shape == (2,)
    assert result.t_events is None
    assert result.stats["steps"] > 0


def test_events_that_did_not_happen_and_statuses():
    result = solved(NUMBERS, events=[lambda t, y, k: y[0] - 5.0, ag.Event(lambda t, y, k: y[0] - 0.5, terminal=True)])
    assert result.status == 1
    np.testing.assert_allclose(result.y_events[1], [[0.5, np.exp(-0.55)]], rtol=1e-8)
    with pytest.raises(IndexError, match=r"events\[0\] did not happen"):
        result.t_events[0][0]


def test_a_failure_leaves_the_part_before_it():
    """Where x' = x^2 ends, at t = 1."""
    options = {"args": (), "end": 2.0, "method": "Rodas5P", "t_eval": [0.0, 0.5, 1.5], "max_num_steps": 2000}
    explodes = lambda t, y, yp: [yp[0] - y[1], y[1] - y[0] ** 2]  # noqa: E731
    numbers = [1.0, *NUMBERS[1:]]
    with pytest.raises(ag.SolverError, match=r"solve_dae: stopped at t = (0\.99|1)"):
        solved(numbers, residual=explodes, **options)
    part = solved(numbers, residual=explodes, return_partial=True, **options)
    assert (part.success, part.status, part.t.tolist()) == (False, -1, [0.0, 0.5])
    np.testing.assert_allclose(part.y[0], [1.0, 2.0], rtol=1e-8)
    np.testing.assert_allclose(part.yp[0], [1.0, 4.0], rtol=1e-8)


ERRORS = {
    "algebraic": (
        {"doses": [ag.Dose(0.1, 1, 1.0)]},
        ag.DomainError,
        r"doses\[0\].state is 1, but must be a differential state",
    ),
    "index": ({"doses": [ag.Dose(0.1, -1, 1.0)]}, ag.DomainError, r"doses\[0\].state is -1, but must be a differential"),
    "IDA": ({"method": "IDA", "events": lambda t, y, k: y[0]}, ValueError, "'Rodas4' where there are doses or events"),
    "algebra": ({"method": "IDA", "linear_solver": "sparse"}, ValueError, "'Rodas4' where linear_solver is 'sparse'"),
    "gmres": ({"linear_solver": "gmres"}, ValueError, "linear_solver is 'gmres', but must be"),
    "method": ({"method": "BDF"}, ValueError, "method is 'BDF', but must be"),
    "switches": ({"switches": "find"}, ValueError, "switches is 'find', but must be"),
    "forward": (
        {"method": "Rodas4", "sensitivities": "forward"},
        ValueError,
        "'forward', but must be another one for 'Rodas4'",
    ),
    "initial": (
        {"method": "Rodas4", "initial": "derivatives"},
        ValueError,
        "'derivatives', but must be another one for 'Rodas4'",
    ),
    "guess": (
        {"doses": [ag.Dose(0.1, 0, 1.0)], "initial": "derivatives"},
        ValueError,
        "initial is 'derivatives', .* for 'Rodas5P'; 'auto' is 'Rodas5P' where there are doses or events",
    ),
    "jumps": (
        {"residual": jumping, "args": (1.1, 0.5), "sensitivities": "forward"},
        ValueError,
        "sensitivities is 'forward', .* 'auto' is 'Rodas5P' where the residual jumps at comparisons of states",
    ),
    "consistent": ({"method": "Rodas4", "initial": "consistent"}, ag.DomainError, "the residual at t0, y0 and yp0"),
}


@pytest.mark.parametrize("case", ERRORS)
def test_messages(case):
    options, error, words = ERRORS[case]
    with pytest.raises(error, match=words):
        solved(NUMBERS, **options)


def test_doses_backwards_are_refused():
    with pytest.raises(ValueError, match="doses is given, but must not be where t_span decreases"):
        ag.solve_dae(implicit, (1.0, 0.0), [1.0, 1.0], args=(1.0,), doses=[ag.Dose(0.5, 0, 1.0)])


def test_combinations_of_derivatives_that_change_are_for_ida():
    def end(p, **options):
        residual = lambda t, y, yp, p: [p * yp[0] + yp[1] + y[0], y[0] - y[1]]  # noqa: E731
        return ag.solve_dae(residual, (0.0, 1.0), [1.0, 1.0], args=(p,), rtol=1e-9, **options).y[0, -1]

    value, slope = np.exp(-1 / 2.5), np.exp(-1 / 2.5) / 2.5**2
    assert ag.value_and_grad(end)(1.5) == pytest.approx((value, slope), rel=1e-6)
    with pytest.raises(ValueError, match="method is 'Rodas4', but must be 'IDA' where derivatives occur in combinations that"):
        ag.grad(lambda p: end(p, method="Rodas4"))(1.5)
    assert end(1.5, method="Rodas4") == pytest.approx(value, rel=1e-7)  # without derivatives, they do not change


def test_a_stiff_system_takes_the_steps_of_its_states():
    """The errors of the derivatives of van der Pol's equation, which are large, do not count."""
    pol = lambda t, y: [y[1], 1e6 * ((1 - y[0] ** 2) * y[1] - y[0])]  # noqa: E731
    alone = ag.solve_ivp(pol, (0.0, 2.0), [2.0, 0.0], "Rodas5P", rtol=1e-6)
    residual = lambda t, y, yp: [yp[0] - pol(t, y)[0], yp[1] - pol(t, y)[1]]  # noqa: E731
    result = ag.solve_dae(residual, (0.0, 2.0), [2.0, 0.0], method="Rodas5P", rtol=1e-6)
    np.testing.assert_allclose(result.y[:, -1], alone.y[:, -1], rtol=1e-4)
    assert result.stats["steps"] < 1.2 * alone.nst


def dosed_state(p):
    return dosed_end(p)[0]


def test_compiled_functions_follow_their_arguments_and_are_pickled():
    f = ag.compile(ag.value_and_grad(dosed_state))
    p = np.array(NUMBERS)
    f(p)
    kept = pickle.loads(pickle.dumps(f))
    for q in (p, 1.1 * p):
        for found in (f(q), kept(q)):
            np.testing.assert_allclose(found[1], ag.grad(dosed_state)(q), rtol=1e-9)


def test_compile_chooses_the_steps_of_values_and_gradients():
    f = ag.compile(dosed_state, error_control="derivatives")
    g = ag.compile(ag.value_and_grad(dosed_state))
    assert f(np.array(NUMBERS)) == g(np.array(NUMBERS))[0]
