"""Right-hand sides that jump at a comparison of states, at its edges: many crossings, sliding, a start on the threshold."""

import numpy as np
import pytest

import agrad as ag

METHODS = ["Tsit5", "RK45", "CKRK", "DOP853", "Rodas4", "Rodas5P", "auto", "BDF", "Adams"]

every_method = pytest.mark.parametrize("method", METHODS)


@every_method
def test_none_of_many_crossings_is_missed(method):
    """While the sides are held nothing moves but time, so steps become long."""
    f = lambda t, y: [np.where(np.sin(t) > 0.0, 1.0, 0.0) + 0.0 * y[0]]  # noqa: E731
    assert ag.solve_ivp(f, (0.0, 200.0), [0.0], method).y[0, -1] == pytest.approx(32 * np.pi, rel=1e-5)
    g = lambda t, y: [np.where(np.sin(t) > 0.999, 1.0, 0.0) + 0.0 * y[0]]  # noqa: E731
    narrow = 8 * 2 * np.arccos(0.999)
    assert ag.solve_ivp(g, (0.0, 50.0), [0.0], method).y[0, -1] == pytest.approx(narrow, rel=1e-5)


@every_method
def test_a_state_that_slides_raises(method):
    pull = lambda t, y: [np.where(y[0] > 1.0, -1.0, 1.0)]  # noqa: E731
    with pytest.raises(ag.SolverError, match=r"switches_accumulate.*y\[0\] > 1.*slide.*switches=\"ignore\"") as caught:
        ag.solve_ivp(pull, (0.0, 2.0), [0.0], method)
    assert caught.value.t == pytest.approx(1.0)
    with pytest.raises(ag.SolverError, match="slide"):
        ag.solve_ivp(pull, (0.0, 2.0), [1.0], method)
    stuck = lambda t, s: [s[1], -s[0] - 0.3 * np.sign(s[1])]  # noqa: E731
    with pytest.raises(ag.SolverError, match="slide"):
        ag.solve_ivp(stuck, (0.0, 9.0), [0.8, 0.0], method)


def test_the_line_of_the_comparison_is_named():
    def pull(t, y, a):
        towards = np.where(y[0] * a > 1.0, -a, a)
        return [towards * 1.0]

    line = r"of the right-hand side at .*test_ode_switch_edges\.py:\d+: towards = np\.where.*: the slopes on both sides"
    solve = lambda a: ag.solve_ivp(pull, (0.0, 2.0), [0.0], args=(a,)).y[0, -1]  # noqa: E731
    for f in (solve, ag.grad(solve), ag.compile(ag.grad(solve))):
        with pytest.raises(ag.SolverError, match=line) as caught:
            f(1.0)
        assert caught.value.t == pytest.approx(1.0)
    with pytest.raises(ag.SolverError, match=line):
        ag.solve_many(pull, [ag.Subject((0.0, 2.0), [0.0], [2.0], (1.0,))])


@every_method
def test_a_state_may_rest_on_its_threshold(method):
    def end(y0):
        return ag.solve_ivp(lambda t, y: [np.where(y[0] >= 1.0, 0.0, 1.0)], (0.0, 2.0), [y0], method).y[0, -1]

    assert end(0.0) == pytest.approx(1.0)
    assert ag.grad(end)(0.0) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("start", [1.0, np.nextafter(1.0, 0.0), np.nextafter(1.0, 2.0)])
@pytest.mark.parametrize("comparison", [np.greater, np.greater_equal])
def test_a_start_on_the_threshold_moves_to_the_side_of_its_slope(start, comparison):
    def end(a):
        f = lambda t, y, a: [np.where(comparison(y[0], 1.0), a, 1.0)]  # noqa: E731
        return ag.solve_ivp(f, (0.0, 2.0), [start], args=(a,)).y[0, -1]

    assert end(0.8) == pytest.approx(2.6)
    assert ag.grad(end)(0.8) == pytest.approx(2.0)
