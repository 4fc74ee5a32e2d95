"""method="auto" where fast modes are not damped: it starts again with a stiff method if they rest, else stays explicit."""

import numpy as np
import pytest

import agrad as ag

COUNT = 6


def springs(excited, rtol, end=20.0, method="auto", frequency=1.0, fastest=1e4, t0=0.0, **options):
    """Undamped springs of which the slowest moves, and a small force between neighbours: all states at the end."""
    w = np.geomspace(1.0, fastest, COUNT)

    def slope(t, y, k):
        q = y[:COUNT]
        between = np.concatenate([q[1:], q[:1]])
        return np.concatenate([y[COUNT:], -k * w**2 * q + 0.1 * np.sin(between)])

    start = np.concatenate([[1.0], np.full(COUNT - 1, excited), np.zeros(COUNT)])
    return ag.solve_ivp(slope, (t0, end), start, method, args=(frequency,), rtol=rtol, atol=rtol, **options)


@pytest.mark.parametrize("rtol", [1e-4, 1e-6])
def test_springs_at_rest_are_stiff(rtol):
    found = springs(0.0, rtol)
    assert found.stats["stiff_from"] == 0.0
    alone = springs(0.0, rtol, method="Rodas5P" if rtol < 1e-5 else "Rodas4")
    assert found.nst == alone.nst
    np.testing.assert_array_equal(found.y, alone.y)


@pytest.mark.parametrize("rtol", [1e-3, 1e-4, 1e-6, 1e-8])
@pytest.mark.parametrize("excited", [1.0, 0.03])
def test_springs_that_move_are_not_stiff(excited, rtol):
    """Their oscillations limit the steps of any method."""
    found = springs(excited, rtol, end=2.0, fastest=100.0)
    assert "stiff_from" not in found.stats


def test_gradients_through_the_new_start():
    def end(k, **options):
        return springs(0.0, 1e-6, end=2.0, frequency=k, fastest=1e5, **options)

    kept = []

    def loss(k):
        kept.append(end(k))
        return kept[-1].y[0, -1]

    value, slope = ag.value_and_grad(loss)(1.0)
    assert kept[0].stats["stiff_from"] == 0.0
    assert value == pytest.approx(loss(1.0), rel=1e-4)
    assert ag.jvp(loss, (1.0,), (1.0,))[1] == pytest.approx(slope, rel=1e-10)
    tight = [end(k, method="Rodas5P").y[0, -1] for k in (1.001, 0.999)]
    assert slope == pytest.approx((tight[0] - tight[1]) / 2e-3, rel=1e-3)
    assert np.isfinite(ag.hessian(loss)(1.0))


def test_the_gradient_with_respect_to_the_initial_time():
    def end(t0, method="auto"):
        options = {"fastest": 1e5, "error_control": "states", "method": method}
        return springs(0.0, 1e-6, 2.0, t0=t0, **options).y[0, -1]

    tight = [end(t0, "Rodas5P") for t0 in (1e-3, -1e-3)]
    assert ag.grad(end)(0.0) == pytest.approx((tight[0] - tight[1]) / 2e-3, rel=1e-3)


def test_the_report_is_of_the_steps_that_are_kept():
    found = springs(0.0, 1e-6, end=1.0)
    report = found.explain()
    assert report.steps == found.nst == sum(report.limits.values())
    assert np.all(report.columns["is_stiff"])
    assert "the method was Tsit5 until t = 0, and Rodas5P after that" in found.message


def test_the_same_steps_with_and_without_a_gradient():
    def end(k):
        return springs(0.0, 1e-6, end=0.02, frequency=k, error_control="derivatives").y[0, -1]

    assert ag.value_and_grad(end)(1.0)[0] == end(1.0)
