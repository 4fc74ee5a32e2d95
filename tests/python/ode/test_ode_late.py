"""Solves late in time by CVODES: of a system that does not depend on t they are those that begin at zero, wherever t0 is.

t0 and the output times are numbers, so their differences are exact.
"""

import numpy as np
import pytest

import agrad as ag

STARTS = [1e8, 1e12, 1e13]
WAYS = [("BDF", "adjoint"), ("Adams", "adjoint"), ("BDF", "forward"), ("Adams", "simultaneous")]


def chain(t, y, k):
    return [-k * y[0], k * y[0] - 0.5 * y[1]]


@pytest.mark.parametrize(("method", "way"), WAYS)
def test_values_and_every_gradient(method, way):
    """By the rate, the initial state, the initial time and the output times."""

    def moments(t0):
        times = t0 + np.array([0.25, 0.5, 1.0])

        def f(x):
            span = (x["start"], t0 + 1.0)
            options = {"args": (x["k"],), "sensitivities": way, "rtol": 1e-8, "atol": 1e-8}
            y = ag.solve_ivp(chain, span, x["y0"], method, x["times"], **options).y
            return np.sum(y**2 * np.array([[1.0, -2.0, 3.0], [2.0, 1.0, -1.0]]))

        return ag.value_and_grad(f)({"k": 0.7, "y0": np.array([1.0, 0.5]), "start": t0, "times": times})

    value, gradient = moments(0.0)
    for t0 in STARTS:
        late, of_late = moments(t0)
        assert late == pytest.approx(value, rel=1e-12)
        for name, expected in gradient.items():
            np.testing.assert_allclose(of_late[name], expected, rtol=1e-10, err_msg=name)


@pytest.mark.parametrize("method", ["BDF", "Adams"])
@pytest.mark.parametrize("t0", [1e8, 1e11])
def test_events_doses_and_stops(method, t0):
    """An event's time is rounded to a number of the clock, and what follows is as much later."""

    def end(k, t0):
        refill = ag.Event(lambda t, y, k: y[0] - 0.5, reset=lambda t, y, k: [1.0, y[1]])
        happens = {"events": refill, "doses": [ag.Dose(t0 + 0.25, 1, 1.0)], "tstops": [t0 + 1.5]}
        result = ag.solve_ivp(chain, (t0, t0 + 2), [1.0, 0.0], method, args=(k,), rtol=1e-9, atol=1e-9, **happens)
        return result.y[1, -1]

    rounding = 1e-6 + 4 * np.spacing(t0)
    value, slope = ag.value_and_grad(end)(0.7, 0.0)
    late, late_slope = ag.value_and_grad(end)(0.7, t0)
    assert late == pytest.approx(value, abs=rounding)
    assert late_slope == pytest.approx(slope, abs=rounding)


@pytest.mark.parametrize("method", ["BDF", "Adams"])
def test_a_short_infusion_gives_its_amount(method):
    """Also one of a thousand numbers of the clock."""
    for t0, duration in [(0.0, 0.125), (1e8, 2.0**-15), (1e12, 0.125), (1e13, 2.0)]:
        dose = ag.Dose(t0 + 1.0, 0, 3.0, duration=duration)
        y = ag.solve_ivp(lambda t, y: [0.0 * y[0]], (t0, t0 + 4), [0.0], method, doses=[dose]).y[0, -1]
        assert y == pytest.approx(3.0, rel=1e-13)


def test_steps_are_explained_in_the_time_of_the_problem():
    late = ag.solve_ivp(chain, (1e8, 1e8 + 2), [1.0, 0.0], "BDF", args=(0.7,), max_num_steps=1000)
    early = ag.solve_ivp(chain, (0.0, 2.0), [1.0, 0.0], "BDF", args=(0.7,), max_num_steps=1000)
    report, expected = late.explain(), early.explain()
    assert report.span == (1e8, 1e8 + 2)
    assert (report.steps, report.sizes.smallest, report.sizes.median) == (
        expected.steps,
        expected.sizes.smallest,
        expected.sizes.median,
    )
    assert late.stats == early.stats
    with pytest.raises(ag.SolverError, match=r"stopped at t = 10000000\d\.\d+ after 5 steps"):
        ag.solve_ivp(chain, (1e8, 1e8 + 2), [1.0, 0.0], "BDF", args=(0.7,), max_num_steps=5)
