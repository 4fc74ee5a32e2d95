"""Input that is odd but legal, and what SciPy takes and agrad does not: a right answer, or an error that says what to do."""

import re

import numpy as np
import pytest

import agrad as ag
from agrad import Subject

FINE = {"rtol": 1e-10, "atol": 1e-12}


def decay(t, y):
    return -(1 + t) * y


def closed(t0, t):
    """The solution of `decay` from 1 at t0."""
    return np.exp(t0 + t0**2 / 2 - t - t**2 / 2)


def assert_gradient(f, x, expected, rtol=1e-6):
    np.testing.assert_allclose(ag.grad(f)(x), expected, rtol=rtol)
    np.testing.assert_allclose(ag.compile(ag.grad(f))(x), expected, rtol=rtol)


# ---- times that are recorded -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["BDF", "Tsit5"])
def test_an_output_that_leaves_the_initial_time_is_solved_for(method):
    """Recorded with an output at t0, and run with one after it, and the other way about."""

    def states(times):
        return ag.solve_ivp(decay, (0.0, 5.0), [1.0], method, times, **FINE).y[0]

    fast = ag.compile(states)
    for times in ([0.0, 2.0], [0.5, 1.0], [0.0, 1.0]):
        np.testing.assert_allclose(fast(np.array(times)), closed(0.0, np.array(times)), rtol=1e-7)


def test_an_initial_time_that_leaves_an_output():
    fast = ag.compile(lambda t0: ag.solve_ivp(decay, (t0, 2.0), [1.0], "Tsit5", [0.5, 1.0], **FINE).y[0])
    for t0 in (0.5, 0.2):
        np.testing.assert_allclose(fast(t0), closed(t0, np.array([0.5, 1.0])), rtol=1e-8)


@pytest.mark.parametrize("method", ["BDF", "Tsit5"])
def test_a_dense_solution_of_a_recorded_span(method):
    def f(x):
        return np.sum(ag.solve_ivp(decay, (x, 2.0), [1.0], method, dense_output=True, **FINE).sol([1.0, 1.5]))

    assert_gradient(f, 0.3, 1.3 * np.sum(closed(0.3, np.array([1.0, 1.5]))))
    assert_gradient(lambda x: ag.solve_ivp(decay, (0.0, x), [1.0], method, dense_output=True, **FINE).sol(x)[0], 1.3,
                    -2.3 * closed(0.0, 1.3))  # fmt: skip


def test_a_dense_solution_at_a_list_of_recorded_and_plain_times():
    def f(x):
        return np.sum(ag.solve_ivp(decay, (0.0, 2.0), [1.0], "Tsit5", dense_output=True, **FINE).sol([x, 0.5, 2 * x]))

    assert_gradient(f, 0.7, -1.7 * closed(0.0, 0.7) - 2 * 2.4 * closed(0.0, 1.4))


def blow_up(t, y):
    return y**2


def test_a_part_of_a_solution_is_differentiated_in_its_times():
    def outputs(x):
        times = [0.1 * x, 0.2 * x, 3.0]
        return np.sum(ag.solve_ivp(blow_up, (0.0, 5.0), [1.0], "Tsit5", times, return_partial=True, **FINE).y)

    assert_gradient(outputs, 1.3, 0.1 / (1 - 0.13) ** 2 + 0.2 / (1 - 0.26) ** 2)

    def start(x):
        return np.sum(ag.solve_ivp(blow_up, (x, 5.0), [1.0], "Tsit5", [0.5, 3.0], return_partial=True, **FINE).y)

    assert_gradient(start, 0.2, -1 / (1 - 0.3) ** 2)
    ended = ag.compile(lambda x: ag.solve_ivp(blow_up, (0.0, x), [1.0], "Tsit5", return_partial=True).y[0, 0])
    assert ended(5.0) == 1.0  # its end is where it stopped


@pytest.mark.parametrize("t_eval", [None, [1.0]])
def test_a_dense_solution_of_which_nothing_was_reached(t_eval):
    def f(x):
        fails = ag.solve_ivp(
            lambda t, y: np.log(-y), (0.0, 2.0), [x, 2.0], "Tsit5", t_eval, return_partial=True, dense_output=True
        )
        with pytest.raises(ag.DomainError, match=r"^sol: t is 0\.5, but must be within t_span = \(0\.0, 0\.0\)$"):
            fails.sol(0.5)
        return np.sum(fails.sol(0.0) * np.array([3.0, 1.0])) + np.sum(fails.sol([0.0, 0.0]))

    assert f(1.0) == 11.0
    assert ag.grad(f)(1.0) == 5.0


# ---- what is given, is taken as it is then ------------------------------------------------------------------------------


def test_a_dense_solution_does_not_change_with_its_arguments():
    y0, rate, span = np.array([1.0]), np.array([1.0]), np.array([0.0, 1.0])
    result = ag.solve_ivp(lambda t, y, k: -k["rate"] * y, span, y0, "Tsit5", args=({"rate": rate},), dense_output=True)
    before = result.sol(0.5)
    y0[0], rate[0], span[1] = 5.0, 9.0, 0.1
    np.testing.assert_array_equal(result.sol(0.5), before)


def test_no_args_may_be_none_as_in_scipy():
    with_none = ag.solve_ivp(decay, (0.0, 1.0), [1.0], args=None).y
    np.testing.assert_array_equal(with_none, ag.solve_ivp(decay, (0.0, 1.0), [1.0]).y)


# ---- what SciPy takes, and a hint for it --------------------------------------------------------------------------------


@pytest.mark.parametrize("t_eval", [None, [1.0]])
@pytest.mark.parametrize("events", [None, lambda t, y: y[0] - 0.5])
def test_a_span_without_end(t_eval, events):
    message = "solve_ivp: t_span is (0.0, inf), but must be finite; choose a late time and end the solution by a terminal event"
    with pytest.raises(ag.DomainError, match="^" + re.escape(message)):
        ag.solve_ivp(decay, (0.0, np.inf), [1.0], "Tsit5", t_eval, events=events)
    with pytest.raises(ag.DomainError, match=r"^solve_ivp: t_span is \(-inf, 0.0\), but must be finite$"):
        ag.solve_ivp(decay, (-np.inf, 0.0), [1.0], "Tsit5", events=events)


@pytest.mark.parametrize("root", [lambda t, y: y[0] < 0.5, lambda t, y: y < 0.5])
def test_an_event_that_is_a_truth_value(root):
    message = "result is a boolean, but must be a number that crosses zero; the event of y[0] > 0.5 is y[0] - 0.5"
    with pytest.raises(TypeError, match=re.escape(message)):
        ag.solve_ivp(decay, (0.0, 1.0), [1.0], "Tsit5", events=root)


# ---- populations: which subject it is -----------------------------------------------------------------------------------


def rated(t, y, rate):
    return -np.sqrt(rate) * y


@pytest.mark.parametrize(
    ("subject", "error", "message"),
    [
        (Subject((0.0, 1.0), [np.nan], None, (1.0,)), ag.DomainError, "y0[0] is nan, but must be finite"),
        (Subject((0.0, 1.0), [1j], None, (1.0,)), TypeError, "y0 is of dtype complex128, but must be real numbers"),
        (Subject((0.0, 1.0), [1.0], [2.0], (1.0,)), ag.DomainError, "t_eval[0] is 2.0, but must be within t_span = (0.0, 1.0)"),
        (Subject((0.0, 1.0), [1.0], None, 1.0), TypeError, "args is of type float, but must be a tuple"),
        (
            Subject((0.0, 1.0), [1.0], None, (1.0,), (ag.Dose(-1.0, 0, 1.0),)),
            ag.DomainError,
            "doses[0].time is -1, but must be",
        ),
        (Subject((0.0, 1.0), [1.0], None, (-1.0,)), ag.SolverError, "stopped at t = 0 after 0 steps"),
    ],
)
@pytest.mark.parametrize("method", ["BDF", "Tsit5"])
def test_the_subject_that_failed_is_named(method, subject, error, message):
    good = Subject((0.0, 1.0), [1.0], None, (1.0,))
    with pytest.raises(error, match="^" + re.escape(f"solve_many(subjects[1]): {message}")):
        ag.solve_many(rated, [good, subject, good], method)


def test_the_subject_whose_reverse_pass_failed_is_named():
    def end(rate):
        subjects = [Subject((0.0, 1.0), [1.0], None, (each,)) for each in (1.0, rate)]
        return ag.solve_many(rated, subjects, "BDF")[1].y[0, -1]

    assert end(0.0) == 1.0
    with pytest.raises(ag.SolverError, match=r"^solve_many\(subjects\[1\]\): the reverse pass stopped at t = 1"):
        ag.grad(end)(0.0)


@pytest.mark.parametrize("subjects", [Subject((0.0, 1.0), [1.0]), None, 3])
def test_what_is_no_sequence_of_subjects(subjects):
    message = f"solve_many: subjects is {subjects!r}, but must be a sequence of agrad.Subject"
    with pytest.raises(TypeError, match="^" + re.escape(message) + "$"):
        ag.solve_many(decay, subjects)


def test_subjects_may_have_arguments_that_cannot_be_hashed():
    subjects = [Subject((0.0, 1.0), [1.0], None, (names,)) for names in ({"a", "b"}, {"a"})]
    results = ag.solve_many(lambda t, y, names: -len(names) * y, subjects, **FINE)
    np.testing.assert_allclose([result.y[0, -1] for result in results], np.exp([-2.0, -1.0]), rtol=1e-8)
