"""debug_nans where a nan arises after the recording: in a step of a loop, and where a solve stops."""

import numpy as np
import pytest

import agrad as ag


def slope(t, y, a):
    left = 2.0 - y[0]
    root = np.sqrt(left)
    return [1.0 + 0.0 * root + a]


def logarithms(a):
    def step(c, x):
        c = c - x
        return c, np.log(c)

    return np.sum(ag.scan(step, a, np.ones(4))[1])


def in_a_loop(t, y, a):
    def step(c, x):
        return c - x, np.sqrt(c - x + a)

    return [1.0 + 0.0 * np.sum(ag.scan(step, 3.0 - y[0], np.ones(3))[1])]


def solved(f, method="Tsit5", **options):
    return lambda a: ag.solve_ivp(f, (0.0, 3.0), [0.0], method, args=(a,), **options).y[0, -1]


def many(a):
    subjects = [ag.Subject((0.0, 3.0), [0.0], [1.0, 3.0], (a,))] * 2
    return ag.solve_many(slope, subjects)[0].y[0, -1]


def at_rest(a):
    return ag.steady_state(lambda t, y, a: [a - 1.0 - np.sqrt(y[0] - a) - y[0]], [3.0], args=(a,)).y[0]


TRANSFORMS = [lambda f: f, ag.grad, lambda f: ag.compile(ag.grad(f))]


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("transform", TRANSFORMS)
def test_a_step_of_a_loop_is_named(transform):
    text = (
        r"log: result is nan.* computed from -0\.5 in scan\(step\) at .*test_debug_nans_later\.py:\d+: return c, np\.log\(c\)"
    )
    with ag.debug_nans():
        with pytest.raises(FloatingPointError, match=text):
            transform(logarithms)(3.5)
        assert np.isfinite(transform(logarithms)(5.5))


SOLVES = {
    "Tsit5": solved(slope),
    "Rodas5P": solved(slope, "Rodas5P"),
    "BDF": solved(slope, "BDF"),
    "stops": solved(slope, tstops=[0.3]),
    "backwards": lambda a: ag.solve_ivp(lambda t, y, a: [-x for x in slope(t, y, a)], (3.0, 0.0), [0.0], args=(a,)).y[0, -1],
    "solve_many": many,
    "steady_state": at_rest,
}


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("name", SOLVES)
def test_the_operation_at_which_a_solve_stops_is_named(name, transform):
    with pytest.raises(ag.SolverError):
        transform(SOLVES[name])(1.0)
    with ag.debug_nans(), pytest.raises(FloatingPointError, match=r"sqrt: result is nan.*-\d.*_later\.py:\d+: .*np\.sqrt"):
        transform(SOLVES[name])(1.0)


@pytest.mark.filterwarnings("ignore:invalid value")
def test_a_loop_in_a_right_hand_side_is_named_down_to_its_step():
    with (
        ag.debug_nans(),
        pytest.raises(FloatingPointError, match=r"sqrt: result is nan.* in scan\(step\) at .*c - x, np\.sqrt"),
    ):
        ag.grad(solved(in_a_loop))(1.0)


@pytest.mark.parametrize("method", ["Tsit5", "Rodas5P", "BDF"])
def test_solves_without_a_nan_are_the_same(method):
    end = solved(lambda t, y, a: [a - a * y[0]], method)
    value, gradient = ag.value_and_grad(end)(1.0)
    with ag.debug_nans():
        assert ag.value_and_grad(end)(1.0) == (pytest.approx(value, rel=1e-12), pytest.approx(gradient, rel=1e-8))
        if method == "Tsit5":
            assert ag.hessian(end)(1.0) == pytest.approx(-np.exp(-3.0) * 9, rel=1e-2)


def test_a_nan_that_the_solver_avoids_is_no_fault():
    """A long first step goes beyond the domain; with shorter ones the state stays in it."""
    end = solved(lambda t, y, a: [-a * np.sqrt(y[0] + 1.0) + 0.5], first_step=50.0)
    with ag.debug_nans(), np.errstate(invalid="ignore"):
        assert np.isfinite(ag.grad(end)(1.0))


def test_other_faults_of_a_solve_stay_as_they_are():
    with ag.debug_nans(), pytest.raises(ag.SolverError, match="too_many_steps"):
        ag.grad(solved(lambda t, y, a: [a * np.cos(50 * t)], max_num_steps=3))(1.0)
