"""The problems of test_gradient_trust.py: what their references are is confirmed by closed forms and computed once more."""

import mpmath
import numpy as np
import pytest

from gradient_problems import PROBLEMS, REFERENCES
from gradient_problems.references import at_rest, right_hand_side, stiffness

pytestmark = pytest.mark.thread_unsafe(reason="sets mpmath's precision")

REST = [name for name, problem in PROBLEMS.items() if problem.is_at_rest]


def relaxation(y0, s):
    return s + (y0 - s) * mpmath.exp(-50)


def turnover(kin, kout):
    return kin / kout


def exchange(a, b, forth, back):
    total, rest = forth + back, back * (a + b) / (forth + back)
    first = rest + (a - rest) * mpmath.exp(-100 * total)
    return first - mpmath.mpf("0.3") * (a + b - first)


def prothero(y0, rate, size):
    return size * mpmath.cos(10) + (y0 - size) * mpmath.exp(-10 * rate)


def logistic(y0, rate, capacity):
    return capacity / (1 + (capacity / y0 - 1) * mpmath.exp(-50 * rate))


def circadian(y0, y1, kin, part, first, second):
    """Two linear equations in turn, forced by 1 + part cos(w t): particular solutions, and exponentials for the rest."""
    w, j = 2 * mpmath.pi / 24, mpmath.mpc(0, 1)
    of_wave = kin * part / (first + j * w), kin * part * first / (first + j * w) / (second + j * w)
    from_first = y0 - kin / first - of_wave[0].real
    from_second = y1 - kin / second - of_wave[1].real - first / (second - first) * from_first

    def states(t):
        turn = mpmath.exp(j * w * t)
        a = kin / first + (of_wave[0] * turn).real + from_first * mpmath.exp(-first * t)
        b = kin / second + (of_wave[1] * turn).real
        b += first / (second - first) * from_first * mpmath.exp(-first * t) + from_second * mpmath.exp(-second * t)
        return a, b

    (a, b), (c, d) = states(30), states(200)
    return a - mpmath.mpf("0.3") * b + c / 2 + 2 * d


CLOSED = {
    "relaxation": relaxation,
    "turnover at its baseline": turnover,
    "exchange at equilibrium": exchange,
    "Prothero and Robinson": prothero,
    "logistic growth at capacity": logistic,
    "turnover in a daily rhythm": circadian,
}


@pytest.mark.parametrize("name", CLOSED)
def test_references_are_those_of_closed_forms(name):
    problem = PROBLEMS[name]
    with mpmath.workdps(60):
        at = [mpmath.mpf(float(x)) for x in problem.at]
        gradient = [
            mpmath.diff(lambda x, k=k: CLOSED[name](*at[:k], x, *at[k + 1 :]), at[k], h=mpmath.mpf(10) ** -25, relative=True)
            for k in range(len(at))
        ]
    assert problem.error(np.array(gradient, float), REFERENCES[name]["gradient"]) < 1e-12


def test_heat_from_a_sine_decays_at_one_rate():
    """The gradient with respect to the diffusivity is that of one exponential; that with respect to y0 is of all modes."""
    problem, stored = PROBLEMS["heat, 20 cells"], np.array(REFERENCES["heat, 20 cells"]["gradient"])
    modes = np.sin(np.pi * np.outer(np.arange(1, 21), np.arange(1, 21)) / 21) * np.sqrt(2 / 21)
    rates = 4 * 21.0**2 * np.sin(np.pi * np.arange(1, 21) / 42) ** 2
    of_y0 = modes @ (np.exp(-0.1 * rates) * (modes @ problem.weights[0]))
    gradient = [*of_y0, -0.1 * rates[0] * (of_y0 @ problem.y0)]
    assert problem.error(gradient, stored) < 1e-12


def test_the_baseline_of_turnover_moves_as_kin_over_kout():
    np.testing.assert_allclose(REFERENCES["turnover at its baseline"]["gradient"], [10.0, -20.0], rtol=1e-13)


@pytest.mark.parametrize("name", PROBLEMS)
def test_references_agree_with_a_second_computation(name):
    """What was noted when they were made; `python -m gradient_problems` makes them again."""
    assert REFERENCES[name]["agreement"] < 1e-10
    assert len(REFERENCES[name]["gradient"]) == len(PROBLEMS[name].at)


@pytest.mark.parametrize("name", [name for name, problem in PROBLEMS.items() if problem.published is not None])
def test_references_end_at_the_published_states(name):
    """E5 ends at states of 1e-22 that had been of 1e-10, so that rounding leaves two digits."""
    assert REFERENCES[name]["off_published"] < (1e-2 if name == "E5" else 1e-9)


@pytest.mark.parametrize("name", REST)
def test_what_is_called_at_rest_is(name):
    problem = PROBLEMS[name]
    moving = right_hand_side(problem, 0.3, problem.y0, problem.p)
    assert np.max(np.abs(moving) / problem.scales) < 1e-12


@pytest.mark.parametrize("name", [name for name in REST if PROBLEMS[name].n <= 100])
def test_references_at_rest_are_what_their_script_computes(name):
    assert PROBLEMS[name].error(at_rest(PROBLEMS[name]), REFERENCES[name]["gradient"]) < 1e-11


@pytest.mark.parametrize("name", ["Lorenz", "Lotka and Volterra", "toggle switch at rest"])
def test_stiffness_is_what_its_script_computes(name):
    assert stiffness(PROBLEMS[name]) == pytest.approx(REFERENCES[name]["stiffness"], rel=1e-2)
