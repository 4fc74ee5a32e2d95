"""CVODES' adjoint of an autonomous system: the shift of all times tells that it was lost, and a warning says so."""

import warnings

import numpy as np
import pytest

import agrad as ag
from gradient_problems import PROBLEMS
from gradient_problems.trust import measured

pytestmark = pytest.mark.thread_unsafe(reason="catches warnings")

LOST = "differs from that at tighter tolerances .* the reverse pass of CVODES has lost the adjoint"


def relaxation(stiffness, rtol=1e-6, method="BDF", end=2.0, **options):
    """Van der Pol's oscillator, through its jumps."""

    def slope(t, y, s):
        return [y[1], ((1 - y[0] ** 2) * y[1] - y[0]) / s]

    y0, atol = [2.0, -0.66], rtol / 10
    return ag.solve_ivp(slope, (0.0, end), y0, method, args=(stiffness,), rtol=rtol, atol=atol, **options).y[0, -1]


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8])
def test_a_lost_adjoint_is_told(rtol):
    with pytest.warns(RuntimeWarning, match="solve_ivp: the gradient with respect to .* " + LOST):
        found = ag.grad(lambda s: relaxation(s, rtol))(1e-6)
    right = ag.grad(lambda s: relaxation(s, 1e-8, "Rodas5P"))(1e-6)
    assert abs(found / right - 1) > 1e-2


def test_it_is_told_once_for_each_recording():
    gradient = ag.compile(ag.grad(relaxation))
    with pytest.warns(RuntimeWarning, match=LOST):
        gradient(1e-6)
    gradient(1.1e-6)  # in silence
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match=LOST):
            ag.grad(relaxation)(1e-6)
    assert gradient(1.2e-6) == gradient(1.2e-6)


def test_rows_problems_and_segments_are_checked():
    with pytest.warns(RuntimeWarning, match=LOST):
        ag.jacrev(lambda s: np.stack([relaxation(s), 2 * relaxation(s)]))(1e-6)

    def many(s):
        def slope(t, y, s):
            return [y[1], ((1 - y[0] ** 2) * y[1] - y[0]) / s]

        subjects = [ag.Subject((0.0, 2.0), [2.0, -0.66], [2.0], (s,))]
        return ag.solve_many(slope, subjects, "BDF", rtol=1e-6, atol=1e-7)[0].y[0, 0]

    with pytest.warns(RuntimeWarning, match=r"solve_many\(subjects\[0\]\): .*" + LOST):
        ag.grad(many)(1e-6)
    with pytest.warns(RuntimeWarning, match=LOST):
        ag.grad(lambda s: relaxation(s, tstops=[0.3]))(1e-6)


@pytest.mark.parametrize("name", ["Robertson", "van der Pol"])
def test_problems_with_known_gradients(name):
    """Whether Robertson's adjoint is lost depends on rounding."""
    found = measured(PROBLEMS[name], "BDF", 1e-4)
    assert found.error < 0.1 or "the reverse pass of CVODES has lost the adjoint" in found.warned
    assert found.error > 0.1 or name == "Robertson"


NAMES = ["relaxation", "pendulum upright", "Hodgkin and Huxley at rest", "Lotka and Volterra", "Lorenz", "HIRES", "POLLU"]


@pytest.mark.parametrize("rtol", [1e-4, 1e-8])
@pytest.mark.parametrize("name", [*NAMES, "turnover in a daily rhythm", "heat, 20 cells"])
def test_right_gradients_come_in_silence(name, rtol):
    found = measured(PROBLEMS[name], "BDF", rtol)
    assert found.error < max(1e-3, 1000 * rtol)
    assert not found.warned


@pytest.mark.parametrize("method", ["BDF", "Adams"])
@pytest.mark.parametrize("end", [1.0, 30.0, 300.0])
def test_a_decay_to_a_steady_state_is_no_fault(method, end):
    """At the end nothing moves, and the initial state is forgotten: both sides of the check are errors."""

    def last(p):
        slope = lambda t, y, p: [p[0] - p[1] * y[0], p[1] * y[0] - 0.5 * y[1]]  # noqa: E731
        return np.sum(ag.solve_ivp(slope, (0.0, end), [5.0, 0.0], method, args=(p,)).y[:, -1])

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = ag.grad(last)(np.array([1.0, 2.0]))
    if end > 100:
        np.testing.assert_allclose(found, [1 / 2 + 2, -1 / 4], rtol=1e-3)


def test_an_optimum_is_no_fault():
    """The parts of the gradient cancel there."""

    def misfit(k):
        times = np.linspace(0.5, 3.0, 6)
        y = ag.solve_ivp(lambda t, y, k: -k * y, (0.0, 3.0), [1.0], "BDF", times, args=(k,), rtol=1e-6, atol=1e-8).y[0]
        return np.sum((y - np.exp(-0.7 * times)) ** 2)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert abs(ag.grad(misfit)(0.7)) < 1e-4


def test_a_gradient_with_respect_to_one_part_has_no_others():
    assert ag.grad(lambda k: ag.solve_ivp(lambda t, y: -k * y, (0.0, 1.0), [2.0], "BDF").y[0, -1])(0.5) == pytest.approx(
        -2 * np.exp(-0.5), rel=1e-3
    )
    by_start = ag.grad(lambda t0: ag.solve_ivp(lambda t, y: -0.5 * y, (t0, 1.0), [2.0], "Adams").y[0, -1])(0.0)
    assert by_start == pytest.approx(np.exp(-0.5), rel=1e-3)
