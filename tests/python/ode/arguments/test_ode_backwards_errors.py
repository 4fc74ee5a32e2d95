"""What solvers say where time decreases: times of t, never those of s = -t, from a solve, a reverse pass, a compiled call."""

import re

import numpy as np
import pytest

import agrad as ag

METHODS = ["auto", "Tsit5", "RK45", "DOP853", "Rodas4", "BDF", "Adams"]


def singular(t, y, k):
    """The solution is 1 / (1 + k (t - 3)): from 1 at t = 3 down to the singularity at 3 - 1 / k."""
    return -k * y * y


def solved(k, method="auto", **options):
    return ag.solve_ivp(singular, (3.0, 0.5), [1.0], method, args=(k,), **options)


def times_in(text):
    return [float(number) for number in re.findall(r"\bt = (\S+?)[,;]?(?= |$)", text)]


def check(error, at, tolerance=2e-4):
    """All times that the error names."""
    named = [*times_in(str(error)), *times_in(error.advice), error.t]
    assert len(named) >= 2
    np.testing.assert_allclose(named, at, atol=tolerance)
    assert "s = -t" not in str(error)
    assert "-0 " not in str(error)


@pytest.mark.parametrize("method", METHODS)
def test_a_solve_and_runs_of_compiled_ones(method):
    value, gradient = (
        ag.compile(f) for f in (lambda k: solved(k, method).y[0, -1], ag.grad(lambda k: solved(k, method).y[0, -1]))
    )
    assert value(0.2) == pytest.approx(2.0, rel=1e-3)
    assert gradient(0.2) == pytest.approx(2.5 * 4.0, rel=1e-3)
    for f, k in ((lambda k: solved(k, method), 1.0), (value, 1.0), (gradient, 1.0), (value, 0.5), (gradient, 0.5)):
        with pytest.raises(ag.SolverError, match=r"^solve_ivp: stopped at t = ") as caught:
            f(k)
        check(caught.value, 3.0 - 1.0 / k)


@pytest.mark.parametrize("method", ["auto", "BDF"])
def test_partial_results_and_explanations(method):
    result = solved(1.0, method, return_partial=True)
    assert result.status == -1
    np.testing.assert_allclose(times_in(result.message), 2.0, atol=2e-4)
    assert result.t[-1] == pytest.approx(2.0, abs=1e-3)
    report = result.explain()
    np.testing.assert_allclose(times_in(report.stopped), 2.0, atol=2e-4)
    assert "s = -t" not in str(report)


@pytest.mark.parametrize("method", ["Tsit5", "RK45", "auto"])
def test_reverse_passes(method):
    """From rest y' = sqrt(y) has no finite derivative; an adjoint is not finite within the first step."""
    with pytest.raises(ag.SolverError, match=r"^solve_ivp: the adjoint of y\[0\] is nan at t = ") as caught:
        ag.grad(lambda y0: ag.solve_ivp(lambda t, y: np.sqrt(y), (1.0, -1.0), y0, method).y[0, -1])(np.zeros(1))
    assert -1.0 < caught.value.t <= 1.0
    forwards = ag.grad(lambda y0: ag.solve_ivp(lambda t, y: -np.sqrt(y), (-1.0, 1.0), y0, method).y[0, -1])
    with pytest.raises(ag.SolverError, match=r"is nan at t = ") as the_other:
        forwards(np.zeros(1))
    check(caught.value, -the_other.value.t, 1e-12)


@pytest.mark.parametrize("method", ["BDF", "Rodas4"])
def test_a_jacobian_at_time_zero(method):
    with pytest.raises(ag.SolverError, match=r"^solve_ivp: stopped at t = 0 after 0 steps") as caught:
        ag.grad(lambda y0: ag.solve_ivp(lambda t, y: np.sqrt(y), (0.0, -1.0), y0, method).y[0, -1])(np.zeros(1))
    assert str(caught.value.t) == "0.0"
    check(caught.value, 0.0)


def test_too_many_steps_and_events():
    steps = ag.compile(lambda k: ag.solve_ivp(lambda t, y, k: k * y, (8.0, 0.0), [1.0], args=(k,), max_num_steps=30).y[0, -1])
    assert steps(0.1) == pytest.approx(np.exp(-0.8), rel=1e-4)
    with pytest.raises(
        ag.SolverError, match=r"^solve_ivp: stopped at t = ([0-7]\.\d*) after \d+ steps \(too_many_steps\)"
    ) as caught:
        steps(300.0)
    check(caught.value, caught.value.t)

    def crossings(k):
        sign = ag.Event(lambda t, y, k: np.cos(k * t))
        return ag.solve_ivp(lambda t, y, k: -y, (8.0, 4.0), [1.0], args=(k,), events=sign, max_events=3).t_events[0]

    with pytest.raises(ag.SolverError, match=r"more than max_events = 3 events") as caught:
        crossings(10.0)
    assert 4.0 < caught.value.t < 8.0
    check(caught.value, caught.value.t)


def test_recorded_times_of_a_compiled_run():
    f = ag.compile(lambda p: ag.solve_ivp(lambda t, y: -y, (3.0, 1.0), [1.0], t_eval=[p[0], p[1]]).y[0, -1])
    assert f(np.array([2.0, 1.5])) == pytest.approx(np.exp(1.5), rel=1e-4)
    with pytest.raises(ag.DomainError, match=r"^solve_ivp: t_eval\[0\] is 3.5, but must be within t_span = \(3.0, 1.0\)"):
        f(np.array([3.5, 1.5]))
    with pytest.raises(ag.DomainError, match=r"^solve_ivp: t_eval\[1\] is 2.5, but must be at most t_eval\[0\] = 2"):
        f(np.array([2.0, 2.5]))


def test_many_problems_in_compiled_runs():
    subjects = [(0.0, 1.0), (3.0, 0.5)]

    def last(k):
        return ag.solve_many(singular, [ag.Subject(span, [1.0], None, (k,)) for span in subjects])[1].y[0, -1]

    for f in (ag.compile(last), ag.compile(ag.grad(last))):
        f(0.2)
        with pytest.raises(ag.SolverError, match=r"^solve_many\(subjects\[1\]\): stopped at t = ") as caught:
            f(1.0)
        check(caught.value, 2.0)
    with pytest.raises(ag.SolverError, match=r"^solve_many\(subjects\[1\]\): stopped at t = ") as caught:
        last(1.0)
    check(caught.value, 2.0)


def test_gradient_checks_warn_in_the_solvers_name():
    def final(k):
        return solved(k, rtol=0.3, atol=0.3, gradient_check=1e-12).y[0, -1]

    with pytest.warns(RuntimeWarning, match=r"^solve_ivp: the "):
        ag.grad(final)(0.35)
