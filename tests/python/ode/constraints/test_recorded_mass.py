"""Systems M y' = f with a mass matrix that is recorded: values and derivatives against closed forms, outputs and messages."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

import agrad as ag
from closed_forms import check_derivatives

TIGHT = {"rtol": 1e-10, "atol": 1e-11}


def decay(t, y, k):
    """The system m x' = z and 0 = z + k x."""
    return [y[1], y[1] + k * y[0]]


def recorded_end(p):
    """M depends on c: c x' = z. A dose of b, and where x falls below `amount`, x grows by it."""
    event = ag.Event(lambda t, y, k, a: y[0] - a, lambda t, y, k, a: [y[0] + a, y[1]], direction=-1)
    options = {"args": (p[1], p[5]), "mass_matrix": [[p[2], 0.0], [0.0, 0.0]], "doses": [ag.Dose(p[4], 0, p[3])]}
    result = ag.solve_ivp(lambda t, y, k, a: decay(t, y, k), (0.0, p[7]), [p[0], 0.0], events=event, **options, **TIGHT)
    return np.concatenate([result.y[:, -1], result.t_events[0]])


def recorded_closed(x0, k, c, b, start, amount, length, end):
    r = k / c
    first = start + mp.log((x0 * mp.exp(-r * start) + b) / amount) / r
    x = 2 * amount * mp.exp(-r * (end - first))
    return [x, -k * x, first]


def coupled_end(p):
    """The matrix [[c, b], [b, 1]] of two states without constraints, as SciPy's sparse ones cannot be recorded; backwards."""
    mass = np.stack([np.stack([p[2], p[3]]), np.stack([p[3], 1.0 + 0.0 * p[3]])])
    fun = lambda t, y, k: [-k * (y[0] + y[1]), k * y[1]]  # noqa: E731
    return ag.solve_ivp(fun, (p[4], 0.0), [p[0], 1.0], "Rodas4", args=(p[1],), mass_matrix=mass, **TIGHT).y[:, -1]


def coupled_closed(x0, k, c, b, start, amount, length, end):
    rates = mp.matrix([[c, b], [b, 1]]) ** -1 * mp.matrix([[-k, -k], [0, k]])
    return list(mp.expm(-start * rates) * mp.matrix([x0, 1]))


CASES = {
    "constrained": (recorded_end, recorded_closed, [0.9, 1.1, 0.7, 0.3, 0.2, 0.55, 0.25, 0.95]),
    "coupled": (coupled_end, coupled_closed, [0.9, 1.1, 0.5, 0.6, 0.3, 0.4, 0.25, 0.95]),
}


@pytest.mark.thread_unsafe(reason="sets mpmath's precision")
@pytest.mark.parametrize("case", CASES)
def test_derivatives_are_those_of_the_closed_form(case):
    check_derivatives(*CASES[case])


def of_recorded(c, mass=lambda c: [[c, 0.0], [0.0, 0.0]], **options):
    options = {"args": (1.1,), "t_eval": [0.0, 0.5, 1.0], "rtol": 1e-9} | options
    return ag.solve_ivp(decay, (0.0, 1.0), [0.9, 0.0], mass_matrix=mass(c), doses=[ag.Dose(0.5, 0, 1.0)], **options)


def test_recorded_matrices_have_the_outputs_of_constant_ones():
    constant, times = of_recorded(2.0, dense_output=True), np.array([0.25, 0.75])
    np.testing.assert_allclose(ag.compile(lambda c: of_recorded(c).y)(2.0), constant.y, rtol=1e-8)
    dense = ag.compile(lambda c: of_recorded(c, dense_output=True).sol(times))
    np.testing.assert_allclose(dense(2.0), constant.sol(times), rtol=1e-7)
    before = ag.compile(lambda c: of_recorded(c, before=[False, True, False]).y)(2.0)
    np.testing.assert_allclose(before[:, 1], [0.9 * np.exp(-0.275), -0.99 * np.exp(-0.275)], rtol=1e-8)


MESSAGES = {
    "shape": (lambda c: [c, 1.0], {}, ag.ShapeError, r"mass_matrix is of shape \(2,\), but must be of shape \(2, 2\)"),
    "finite": (lambda c: [[c / 0.0, 0.0], [0.0, 0.0]], {}, ag.DomainError, r"mass_matrix\[0, 0\] is inf, but must be finite"),
    "zero": (
        lambda c: [[c, 0.0], [0.0, c - c]],
        {},
        ag.DomainError,
        r"mass_matrix\[:, 1\] is zero and recorded, but must be",
    ),
    "dependent": (lambda c: [[c, 2 * c], [c, 2 * c]], {}, ValueError, "has dependent columns, but must have independent ones"),
    "pattern": (
        lambda c: [[c, 0.0], [0.0, 0.0]],
        {"jac_sparsity": np.eye(2)},
        ValueError,
        "jac_sparsity is given, but must not",
    ),
    "method": (
        lambda c: [[c, 0.0], [0.0, 0.0]],
        {"method": "BDF"},
        ValueError,
        "mass_matrix is given, but must not be for 'BDF'",
    ),
}


@pytest.mark.parametrize("case", MESSAGES)
def test_messages_of_recorded_matrices(case):
    mass, options, error, words = MESSAGES[case]
    with pytest.raises(error, match=words), np.errstate(divide="ignore"):
        ag.grad(lambda c: of_recorded(c, mass, **options).y[0, -1])(2.0)


def test_results_of_wrong_length_beside_a_recorded_matrix():
    with pytest.raises(ag.ShapeError, match=r"result is of shape \(3,\), but must be of shape \(2,\); one derivative for each"):
        ag.grad(lambda c: ag.solve_ivp(lambda t, y: [y[0]] * 3, (0.0, 1.0), [1.0, 1.0], mass_matrix=c * np.eye(2)).y[0, -1])(
            1.0
        )
