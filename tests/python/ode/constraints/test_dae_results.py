"""Differential-algebraic equations: forward mode, dense output, partial results, progress and statistics."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import agrad as ag

WAYS = ("adjoint", "forward")
TIGHT = {"rtol": 1e-10, "atol": 1e-10}


def square(t, y, yp, k, c):
    """y0 = a exp(-k t), y1 = c y0^2."""
    return [yp[0] + k * y[0], y[1] - c * y[0] ** 2]


# ---- forward mode


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("compiled", [False, True])
def test_tangents_in_closed_form(way, compiled):
    times = np.array([0.0, 0.7, 1.5])

    def states(x, t):
        return ag.solve_dae(square, (0.0, t[-1]), [x[2], 0.1], t_eval=t, args=(x[0], x[1]), sensitivities=way, **TIGHT).y

    def closed(x, t):
        y = x[2] * np.exp(-x[0] * t)
        return np.stack([y, x[1] * y**2])

    x, dx, dt = np.array([0.5, 3.0, 2.0]), np.array([0.3, -0.7, 1.1]), np.array([0.0, 0.2, -0.4])
    # slot 0 of t_eval is the initial time, which must not move away from it
    f = ag.compile(lambda x, t: ag.jvp(states, (x, t), (dx, dt))) if compiled else lambda x, t: ag.jvp(states, (x, t), (dx, dt))
    value, tangent = f(x, times)
    expected, tangent_closed = ag.jvp(closed, (x, times), (dx, dt))
    assert value == pytest.approx(expected, rel=1e-8)
    assert tangent == pytest.approx(tangent_closed, rel=1e-6, abs=1e-8)
    assert ag.jacfwd(lambda x: states(x, times))(x) == pytest.approx(
        ag.jacrev(lambda x: closed(x, times))(x), rel=1e-6, abs=1e-8
    )


@pytest.mark.parametrize("rtol", [1e-3, 1e-6, 1e-8])
@pytest.mark.parametrize("factor", [-1.0, 1e6])
@pytest.mark.parametrize("way", WAYS)
def test_an_algebraic_state_that_starts_at_zero(way, factor, rtol):
    """Its tolerance is atol alone, so at the start it can move by less than the state that it depends on."""

    def last(k):
        def residual(t, y, yp, k):
            return [yp[0] + k * y[0], y[1] - factor * (y[0] - 1.0)]

        options = {"t_eval": [0.7, 1.0], "rtol": rtol, "atol": 1e-8, "sensitivities": way}
        return ag.solve_dae(residual, (0.0, 1.0), [1.0, 0.0], args=(k,), **options).y[:, -1]

    truth = np.array([-np.exp(-2.0), -factor * np.exp(-2.0)])
    assert ag.jvp(last, (2.0,), (1.0,))[1] == pytest.approx(truth, rel=100 * rtol)
    assert ag.jacrev(last)(2.0) == pytest.approx(truth, rel=100 * rtol)


def test_tangents_of_an_algebraic_slope_are_nan():
    def slopes(k):
        return ag.solve_dae(square, (0.0, 1.0), [2.0, 0.0], args=(k, 3.0), **TIGHT).yp[:, -1]

    tangent = ag.jvp(slopes, (0.5,), (1.0,))[1]
    assert tangent[0] == pytest.approx((0.5 - 1) * 2 * np.exp(-0.5), rel=1e-7)
    assert np.isnan(tangent[1])
    assert ag.jvp(lambda k: slopes(k)[0], (0.5,), (1.0,))[1] == tangent[0]


# ---- dense output and partial results, as of solve_ivp


def test_dense_output_in_any_order():
    found = ag.solve_dae(square, (0.0, 2.0), [2.0, 0.1], args=(0.5, 3.0), dense_output=True, **TIGHT)
    t = np.array([1.5, 0.0, 0.3, 1.5])
    y0 = 2 * np.exp(-0.5 * t)
    assert found.sol(t) == pytest.approx(np.array([y0, 3 * y0**2]), rel=1e-8)
    assert found.sol(2.0) == pytest.approx(found.y[:, -1], rel=1e-12)
    assert found.sol(2.0).shape == (2,)
    assert found.sol([]).shape == (2, 0)
    with pytest.raises(ag.DomainError, match=r"sol: t is 2.5, but must be within t_span = \(0.0, 2.0\)"):
        found.sol(2.5)
    with pytest.raises(ag.ShapeError, match="sol: t is of shape"):
        found.sol([[1.0]])
    with pytest.raises(pickle.PicklingError, match="must not be pickled"):
        pickle.dumps(found)


def test_dense_output_is_differentiable():
    def at(k, t):
        return ag.solve_dae(square, (0.0, 2.0), [2.0, 0.1], args=(k, 3.0), dense_output=True, **TIGHT).sol(t)[1]

    y = 12 * np.exp(-1.5)
    assert ag.grad(at, argnums=(0, 1))(0.5, 1.5) == pytest.approx((-2 * 1.5 * y, -y), rel=1e-6)
    assert ag.compile(ag.grad(at, argnums=(0, 1)))(0.5, 1.5) == pytest.approx((-2 * 1.5 * y, -y), rel=1e-6)


def explodes(t, y, yp):
    """y0 = 1 / (1 - t), y1 = y0^2."""
    return [yp[0] - y[0] ** 2, y[1] - y[0] ** 2]


def test_the_part_before_a_failure():
    arguments = explodes, (0.0, 2.0), [1.0, 1.0]
    with pytest.raises(ag.SolverError) as stop:
        ag.solve_dae(*arguments, t_eval=[0.0, 0.5, 1.5], max_num_steps=5000)
    found = ag.solve_dae(*arguments, t_eval=[0.0, 0.5, 1.5], max_num_steps=5000, return_partial=True, dense_output=True)
    assert (found.success, found.status, found.message) == (False, -1, str(stop.value))
    assert found.t.tolist() == [0.0, 0.5]
    assert found.y == pytest.approx(np.array([[1.0, 2.0], [1.0, 4.0]]), rel=1e-4)
    assert found.sol(0.25) == pytest.approx([4 / 3, 16 / 9], rel=1e-4)
    both = ag.solve_dae(*arguments, max_num_steps=5000, return_partial=True)
    assert both.t[0] == 0.0
    assert 0.99 < both.t[1] < 1.0
    assert ag.solve_dae(*arguments[:1], (0.0, 0.5), [1.0, 1.0], return_partial=True).success


@pytest.mark.parametrize("outputs", [[1.0, 2.0], [0.0, 1.0]])
def test_where_no_step_succeeds_only_outputs_at_the_start_are_left(outputs):
    found = ag.solve_dae(square, (0.0, 2.0), [2.0, 0.1], t_eval=outputs, args=(0.5, 3.0), max_num_steps=2, return_partial=True)
    at_start = outputs.count(0.0)
    assert (found.success, found.status, found.t.tolist()) == (False, -1, [0.0] * at_start)
    assert found.y.shape == found.yp.shape == (2, at_start)
    assert found.y[:, :at_start] == pytest.approx(np.array([[2.0], [12.0]])[:, :at_start])


def test_without_a_consistent_state_there_is_no_part():
    with pytest.raises(ag.SolverError):
        ag.solve_dae(lambda t, y, yp: [yp[0] - 1, y[1] ** 2 + 1 + y[0]], (0.0, 1.0), [0.0, 0.0], return_partial=True)


# ---- progress and statistics, as of solve_ivp


@pytest.mark.parametrize("sensitivities", ["adjoint", "forward"])
def test_progress_and_statistics_of_both_passes(sensitivities):
    heard, results = [], []

    def end(k, progress=False):
        options = {"sensitivities": sensitivities, "progress": progress}
        results.append(ag.solve_dae(square, (0.0, 2.0), [1.0, 0.0], args=(k, 1.0), **options))
        return results[-1].y[1, -1]

    expected = ag.grad(end)(0.5)
    found = ag.grad(end)(0.5, progress=lambda *call: heard.append(call))
    assert found == expected == pytest.approx(-4 * np.exp(-2.0), rel=1e-4)
    forward = [call for call in heard if call[2] == "forward"]
    assert forward[-1] == (2.0, 2.0, "forward")
    assert heard[-1] == (0.0, 0.0, "backward")
    stats = results[-1].stats
    assert stats["steps"] > 10
    assert (stats["backward"]["steps"] > 10) == (sensitivities == "adjoint")
    assert dict(stats) == pickle.loads(pickle.dumps(stats))


def test_statistics_of_a_compiled_function_are_of_the_last_run():
    results = []

    @ag.compile
    def end(k):
        results.append(ag.solve_dae(square, (0.0, 2.0), [1.0, 0.0], args=(k, 1.0)))
        return results[-1].y[1, -1]

    end(0.5)
    first = results[0].stats["steps"]
    end(50.0)
    assert len(results) == 1
    assert results[0].stats["steps"] > 2 * first


def test_progress_that_is_no_callable():
    with pytest.raises(TypeError, match=r"^solve_dae: progress is 'bar', but must be True, False or callable as progress"):
        ag.solve_dae(square, (0.0, 2.0), [1.0, 0.0], args=(0.5, 1.0), progress="bar")


def test_an_error_of_a_listener_ends_the_solve():
    def stop(t, t_end, name):
        raise KeyError(name)

    with pytest.raises(KeyError, match="forward"):
        ag.solve_dae(square, (0.0, 2.0), [1.0, 0.0], args=(0.5, 1.0), progress=stop)
