"""Differential-algebraic equations in which time decreases: values, derivatives in closed form, and what is refused."""

import numpy as np
import pytest

import agrad as ag

TIGHT = {"rtol": 1e-10, "atol": 1e-12}
WAYS = ("adjoint", "forward")


def system(t, y, yp, k):
    """y0 = c exp(-k t^2 / 2), y1 = t + y0^2."""
    return [yp[0] + k * t * y[0], y[1] - t - y[0] ** 2]


def closed(t0, t, c, k):
    y = c * np.exp(k * (t0**2 - t**2) / 2)
    return np.array([y, t + y**2]), np.array([-k * t * y, 1 - 2 * k * t * y**2])


@pytest.mark.parametrize("way", WAYS)
def test_states_and_slopes_in_closed_form(way):
    times = np.array([2.0, 1.5, 0.5])
    got = ag.solve_dae(system, (2.0, 0.25), [0.3, 1.0], t_eval=times, args=(0.7,), sensitivities=way, **TIGHT)
    y, yp = closed(2.0, times, 0.3, 0.7)
    np.testing.assert_array_equal(got.t, times)
    np.testing.assert_allclose(got.y, y, rtol=1e-8)
    np.testing.assert_allclose(got.yp, yp, rtol=1e-7)
    assert list(ag.solve_dae(system, (2.0, 0.25), [0.3, 1.0], args=(0.7,)).t) == [2.0, 0.25]


@pytest.mark.parametrize("way", WAYS)
def test_derivatives_of_all_that_it_depends_on(way):
    def state(x):
        span, times = (x[0], 0.25), np.stack([x[1], 0.25])
        return ag.solve_dae(system, span, [x[2], 1.0], t_eval=times, args=(x[3],), sensitivities=way, **TIGHT).y[1, 0]

    x = np.array([2.0, 1.1, 0.3, 0.7])
    witness = ag.grad(lambda x: x[1] + (x[2] * np.exp(x[3] * (x[0] ** 2 - x[1] ** 2) / 2)) ** 2)(x)
    np.testing.assert_allclose(ag.grad(state)(x), witness, rtol=1e-6)
    np.testing.assert_allclose(ag.jacfwd(state)(x), witness, rtol=1e-6)
    np.testing.assert_allclose(ag.compile(ag.grad(state))(x), witness, rtol=1e-6)


def test_given_slopes_determine_the_states():
    """A start at rest in t: y0' = 0 where y0 = 0."""

    def start(slope):
        got = ag.solve_dae(lambda t, y, yp: [yp[0] - y[0]], (1.0, 0.0), [0.1], [slope], initial="derivatives", **TIGHT)
        return got.y[0, -1]

    assert start(0.5) == pytest.approx(0.5 * np.exp(-1.0), rel=1e-8)
    assert ag.grad(start)(0.5) == pytest.approx(np.exp(-1.0), rel=1e-8)


def test_stops_and_steps_in_time():
    """The slope is 1 up to a, then 3; from 2 backwards to 0: y(0) = y(2) - 3 (2 - a) - a."""

    def begin(a, stop):
        rate = (lambda t: 1.0 + 2.0 * (t > a)) if stop is None else (lambda t: np.where(t > a, 3.0, 1.0))
        stops = () if stop is None else [a]
        return ag.solve_dae(lambda t, y, yp: [yp[0] - rate(t)], (2.0, 0.0), [5.0], tstops=stops, **TIGHT).y[0, -1]

    for stop in (None, True):
        assert begin(0.8, stop) == pytest.approx(5.0 - 3.6 - 0.8, rel=1e-9)
        assert ag.grad(begin)(0.8, stop) == pytest.approx(2.0, rel=1e-7)


def test_dense_output_progress_and_partial_results():
    seen = []
    got = ag.solve_dae(
        system,
        (2.0, 0.5),
        [0.3, 1.0],
        args=(0.7,),
        dense_output=True,
        progress=lambda t, end, name: seen.append((t, end)),
        **TIGHT,
    )
    np.testing.assert_allclose(got.sol(np.array([1.0, 1.7])), closed(2.0, np.array([1.0, 1.7]), 0.3, 0.7)[0], rtol=1e-8)
    assert seen
    assert all(0.5 <= t <= 2.0 and end == 0.5 for t, end in seen)
    with pytest.raises(ag.DomainError, match=r"sol: t is 2\.5, but must be within t_span = \(2\.0, 0\.5\)"):
        got.sol(2.5)
    blows_up = lambda t, y, yp: [yp[0] + y[0] ** 2]  # noqa: E731  # y = 1 / (t - 1)
    with pytest.raises(ag.SolverError, match=r"solve_dae: .* t = 1\.0") as caught:
        ag.solve_dae(blows_up, (2.0, 0.0), [1.0])
    assert "s = -t" not in str(caught.value)
    assert caught.value.t == pytest.approx(1.0, abs=1e-3)
    part = ag.solve_dae(blows_up, (2.0, 0.0), [1.0], t_eval=[1.75, 1.5, 0.5], return_partial=True)
    assert not part.success
    np.testing.assert_allclose(part.y[0], [1 / 0.75, 1 / 0.5], rtol=1e-4)
    assert list(part.t) == [1.75, 1.5]


def test_times_out_of_order_are_refused():
    with pytest.raises(ag.DomainError, match=r"t_eval\[1\] is 1\.5, but must be less than t_eval\[0\] = 1\.0"):
        ag.solve_dae(system, (2.0, 0.0), [0.3, 1.0], t_eval=[1.0, 1.5], args=(0.7,))
    with pytest.raises(ag.DomainError, match=r"t_span is \(2\.0, 2\.0\), but must be of two different times"):
        ag.solve_dae(system, (2.0, 2.0), [0.3, 1.0], args=(0.7,))
    with pytest.raises(ag.DomainError, match=r"t_eval\[0\] is 2\.5, but must be within t_span"):
        ag.solve_dae(system, (2.0, 0.0), [0.3, 1.0], t_eval=[2.5, 1.0], args=(0.7,))
