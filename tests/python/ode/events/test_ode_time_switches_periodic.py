"""Periods, roundings, signs and kinks in t: steps end there, and derivatives know how these times move. Closed forms."""

import numpy as np
import pytest

import agrad as ag

END = 100.0
TIGHT = {"rtol": 1e-9, "atol": 1e-11}


def whole(p, first=0.0):
    """The integral of floor(t / p) over (0, 100), p about 7; or of what steps at first + k p."""
    return sum(END - (k + first) * p for k in range(1, 15))


#: Name -> the slope of t and parameters, its integral, the parameters.
INTEGRALS = {
    "t % p < d": (
        lambda t, a, p, d: t * np.where((t - a) % p < d, 1.0, 0.0),
        lambda a, p, d: sum((a + k * p) * d + d**2 / 2 for k in range(4)),
        (5.0, 24.0, 0.1),
    ),
    "between hours": (
        lambda t, a: t * np.where((t % 24 > 6 + a) & (t % 24 < 6.01 + a), 1.0, 0.0),
        lambda a: sum(0.01 * (24 * k + 6.005 + a) for k in range(4)),
        (0.3,),
    ),
    "floor": (lambda t, p: np.floor(t / p), whole, (7.0,)),
    "//": (lambda t, p: t // p, whole, (7.0,)),
    "ceil": (lambda t, p: np.ceil(t / p), lambda p: whole(p) + END, (7.0,)),
    "trunc": (lambda t, p: np.trunc((t - 20.0) / p), lambda p: 880.0 - 66.0 * p - 40.0 + 3.0 * p, (7.0,)),
    "rint": (lambda t, p: np.rint(t / p), lambda p: whole(p, -0.5), (7.0,)),
    "fmod": (lambda t, p: np.fmod(t, p), lambda p: 7 * p**2 + (END - 14 * p) ** 2 / 2, (7.0,)),
    "sign": (lambda t, a: np.sign(t - a), lambda a: END - 2 * a, (7.0,)),
    "heaviside": (
        lambda t, a, d: t * (np.heaviside(t - a, 0.5) - np.heaviside(t - a - d, 0.5)),
        lambda a, d: a * d + d**2 / 2,
        (7.0, 0.01),
    ),
    "triangle": (lambda t, a, d: t * np.maximum(0.0, 1.0 - np.abs(t - a) / d), lambda a, d: a * d, (7.0, 0.05)),
    "abs": (lambda t, a, d: t * np.where(abs(t - a) <= d, 1.0, 0.0), lambda a, d: 2 * a * d, (7.0, 0.05)),
    "clip": (lambda t, a: np.clip(t - a, 0.0, 0.01), lambda a: 0.01 * (END - a - 0.005), (7.0,)),
    "fmin": (lambda t, a: np.fmin(t, a), lambda a: a * END - a**2 / 2, (7.0,)),
    "nested": (lambda t, p: np.where((t % 24) % p < 0.01, t, 0.0), None, (7.0,)),
}


def nested(p):
    """Pulses of length 0.01 at 24 j + k p, k = 0, ..., 3; the last ones at 96."""
    return sum(0.01 * (24 * j + k * p) + 0.01**2 / 2 for j in range(5) for k in range(4 if j < 4 else 1))


@pytest.mark.parametrize("name", INTEGRALS)
@pytest.mark.parametrize("method", ["Tsit5", "DOP853", "Rodas4", "auto", "BDF"])
def test_integrals(name, method):
    f, integral, p = INTEGRALS[name]
    integral, p = integral or nested, np.array(p)

    def end(p):
        slope = lambda t, y, *args: f(t, *args) + 0.0 * y  # noqa: E731
        return ag.solve_ivp(slope, (0.0, END), [0.0], method, [END], args=tuple(p), **TIGHT).y[0, 0]

    tolerance = 1e-6 if method == "BDF" else 1e-8
    assert end(p) == pytest.approx(integral(*p), rel=tolerance)
    exact = ag.grad(lambda p: integral(*p) + 0.0 * p[0])
    np.testing.assert_allclose(ag.grad(end)(p), exact(p), rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(ag.compile(ag.grad(end))(1.001 * p), exact(1.001 * p), rtol=tolerance, atol=tolerance)
    if method != "BDF":
        np.testing.assert_allclose(ag.jacfwd(end)(p), exact(p), rtol=tolerance, atol=tolerance)


def test_a_state_takes_part_elsewhere():
    """Doses of 1 for an hour each day into what decays: the state at the end of each is geometric."""

    def end(x):
        slope = lambda t, y, k, at: np.where((t - at) % 24 < 1, 1.0, 0.0) - k * y  # noqa: E731
        return ag.solve_ivp(slope, (0.0, 96.0), [0.0], "auto", [96.0], args=(x[0], x[1]), **TIGHT).y[0, 0]

    def exact(x):
        k, at = x[0], x[1]
        return sum((np.exp(k) - 1) / k * np.exp(-k * (96 - 24 * j - at)) for j in range(4))

    x = np.array([0.1, 8.0])
    assert end(x) == pytest.approx(exact(x), rel=1e-8)
    np.testing.assert_allclose(ag.grad(end)(x), ag.grad(exact)(x), rtol=1e-7)


def test_jumps_of_the_state_are_left_alone():
    y = ag.solve_ivp(lambda t, y: -np.sign(y - 0.5) * 0.1 + 0.0 * np.floor(y), (0.0, 3.0), [1.0], "Tsit5", [3.0], **TIGHT).y
    assert y[0, 0] == pytest.approx(0.7, rel=1e-9)


def test_a_jump_at_the_initial_time_ends_no_step():
    for method in ("BDF", "Tsit5"):
        y = ag.solve_ivp(lambda t, y: np.where(t > 0.0, -1.0, 0.0) * y, (0.0, 1.0), [1.0], method, [1.0], **TIGHT).y
        assert y[0, 0] == pytest.approx(np.exp(-1.0), rel=1e-6)


def test_too_many_periods_are_left_alone():
    wave = ag.solve_ivp(lambda t, y: np.where(t % 1e-5 < 0.5e-5, 0.0, 0.0) - y, (0.0, 1.0), [1.0], "Tsit5", [1.0])
    assert wave.stats["steps"] < 100
    assert wave.y[0, 0] == pytest.approx(np.exp(-1.0), rel=1e-4)


@pytest.mark.parametrize("method", ["Tsit5", "DOP853", "Rodas5P", "auto"])
def test_second_derivatives_with_respect_to_a_kinks_time(method):
    def end(a, k):
        return ag.solve_ivp(
            lambda t, y, a, k: k * np.maximum(t - a, 0.0) + 0.0 * y, (0.0, 2.0), [0.0], method, [2.0], args=(a, k)
        ).y[0, 0]

    assert ag.grad(end)(0.5, 3.0) == pytest.approx(-3.0 * 1.5, rel=1e-7)
    by_solve = ag.hessian(end, argnums=(0, 1))(0.5, 3.0)  # of steps that do not move the first would be 0
    np.testing.assert_allclose(by_solve, [[3.0, -1.5], [-1.5, 0.0]], rtol=1e-9, atol=1e-12)
    assert ag.hessian(lambda k: end(0.5, k) ** 2)(3.0) == pytest.approx(2 * 1.125**2, rel=1e-6)


@pytest.mark.parametrize("method", ["Tsit5", "DOP853", "Rodas5P"])
def test_second_derivatives_with_respect_to_where_periods_begin(method):
    def end(a):
        slope = lambda t, y, a: 0.7 * ((t - a) % 1.0) * y  # noqa: E731
        return ag.solve_ivp(slope, (0.0, 2.3), [1.0], method, [2.3], args=(a,), rtol=1e-11, atol=1e-12).y[0, 0]

    gradient, step = ag.grad(end), 1e-4
    expected = (gradient(0.5 + step) - gradient(0.5 - step)) / (2 * step)
    assert ag.hessian(end)(0.5) == pytest.approx(expected, rel=1e-6)
