"""Second derivatives with respect to times: of doses, stops, switches, events and outputs, and the initial one."""

import numpy as np
import pytest

import agrad as ag
from event_cases import AT_CORNERS, CASES, METHODS, SPANS, TIGHT, differences

every_method = pytest.mark.parametrize("method", METHODS)


def close(hessian, other, accuracy=1e-6):
    np.testing.assert_allclose(hessian, other, rtol=accuracy, atol=accuracy * np.abs(other).max())


# ---- closed forms


def solved(x, method):
    """One compartment: a dose a after a lag, eliminated at the rate k, seen at t, from y0 at t0."""
    a, lag, k, t, y0, t0 = x
    doses = [ag.Dose(1.0 + lag, 0, a)]
    return ag.solve_ivp(lambda s, y, k: -k * y, (t0, 9.0), [y0], method, [t], args=(k,), doses=doses, **TIGHT).y[0, 0]


def closed(x):
    a, lag, k, t, y0, t0 = x
    return y0 * np.exp(-k * (t - t0)) + a * np.exp(-k * (t - 1.0 - lag))


@every_method
def test_a_compartment_with_a_lag_has_the_closed_form(method):
    x = np.array([5.0, 0.4, 0.7, 3.0, 2.0, 0.1])
    close(ag.hessian(lambda p: solved(p, method))(x), ag.hessian(closed)(x), 1e-7)


@every_method
@pytest.mark.parametrize("dosed", [False, True])
def test_a_right_hand_side_of_time_has_the_closed_form(method, dosed):
    def by_solve(x):
        doses = [ag.Dose(0.5, 0, 0.0)] if dosed else []
        return ag.solve_ivp(lambda t, y: t**2 * y, (x[0], 2.0), [1.0], method, [x[1]], doses=doses, **TIGHT).y[0, 0]

    def formula(x):
        return np.exp((x[1] ** 3 - x[0] ** 3) / 3)

    x = np.array([0.3, 1.2])
    close(ag.hessian(by_solve)(x), ag.hessian(formula)(x), 1e-7)


@every_method
def test_infusions_have_the_closed_form(method):
    """Of an infusion of a over d from s on, seen while it runs and behind it."""

    def by_solve(x):
        s, d, a, k, t = x
        doses = [ag.Dose(s, 0, a, d)]
        return ag.solve_ivp(lambda t, y, k: -k * y, (0.0, 9.0), [0.0], method, [t, t + 1.0], args=(k,), doses=doses, **TIGHT).y[
            0
        ]

    def formula(x):
        s, d, a, k, t = x
        within = a / (d * k) * (1 - np.exp(-k * (t - s)))
        return np.stack([within, a / (d * k) * (1 - np.exp(-k * d)) * np.exp(-k * (t + 1.0 - s - d))])

    x = np.array([0.5, 1.5, 3.0, 0.8, 1.6])
    for w in ([1.0, 0.0], [0.3, 2.0]):
        weights = np.array(w)
        close(ag.hessian(lambda p: weights @ by_solve(p))(x), ag.hessian(lambda p: weights @ formula(p))(x), 1e-6)  # noqa: B023


def third_bounce(x, method):
    floor = ag.Event(lambda t, y, r: y[0], lambda t, y, r: [0.0, -r * y[1]], direction=-1)
    fall = lambda t, y, r: [y[1], -9.81]  # noqa: E731
    times = [2.0]
    ball = ag.solve_ivp(fall, (0.0, 3.0), [x[1], 0.0], method, times, args=(x[0],), events=floor, **TIGHT)
    return ball.t_events[0][2], ball.y[0, 0]


@every_method
def test_bounces_have_the_closed_form(method):
    x = np.array([0.8, 1.0])

    def time(p):
        return np.sqrt(2 * p[1] / 9.81) * (1 + 2 * p[0] + 2 * p[0] ** 2)

    close(ag.hessian(lambda p: third_bounce(p, method)[0])(x), ag.hessian(time)(x), 1e-7)

    def height(p):  # at t = 2, between the third bounce and the fourth
        since = 2.0 - time(p)
        return p[0] ** 3 * np.sqrt(2 * 9.81 * p[1]) * since - 9.81 / 2 * since**2

    close(ag.hessian(lambda p: third_bounce(p, method)[1])(x), ag.hessian(height)(x), 1e-7)


@every_method
def test_the_range_of_a_throw_has_the_closed_form(method):
    """A throw at an angle from a tower, ended by the ground."""

    def by_solve(x):
        ground = ag.Event(lambda t, y: y[1], terminal=True, direction=-1)
        begin = [0.0, x[0], x[1] * np.cos(x[2]), x[1] * np.sin(x[2])]
        flight = ag.solve_ivp(lambda t, y: [y[2], y[3], 0.0 * y[0], -9.81], (0.0, 9.0), begin, method, events=ground, **TIGHT)
        return flight.y[0, -1]

    def formula(x):
        up = x[1] * np.sin(x[2])
        return x[1] * np.cos(x[2]) * (up + np.sqrt(up**2 + 2 * 9.81 * x[0])) / 9.81

    x = np.array([3.0, 5.0, 0.7])
    close(ag.hessian(by_solve)(x), ag.hessian(formula)(x), 1e-7)


@every_method
def test_switches_have_the_closed_form(method):
    """The slope is y as long as c t < b, then -t y."""

    def by_solve(x):
        slope = lambda t, y, b, c: np.where(c * t < b, 1.0, -t) * y  # noqa: E731
        return ag.solve_ivp(slope, (0.0, 2.0), [1.0], method, [2.0], args=(x[0], x[1]), **TIGHT).y[0, 0]

    def formula(x):
        on = x[0] / x[1]
        return np.exp(on - (4.0 - on**2) / 2)

    x = np.array([0.9, 1.3])
    close(ag.hessian(by_solve)(x), ag.hessian(formula)(x), 1e-7)


# ---- differences of gradients


def weighed(function, x, method):
    y = function(x, method)
    return np.sum(np.cos(1.3 * np.arange(y.size)) * y) + 0.1 * np.sum(y**2)


@every_method
@pytest.mark.parametrize("name", [*CASES, *(f"{name} (span)" for name in SPANS)])
def test_hessians_are_differences_of_gradients(name, method):
    function, x = CASES[name] if name in CASES else SPANS[name.removesuffix(" (span)")]
    loss, x = (lambda p: weighed(function, p, method)), np.array(x)
    hessian = ag.hessian(loss)(x)
    close(hessian, differences(ag.grad(loss), x), 1e-5 if method == "Rodas4" else 3e-6)
    np.testing.assert_allclose(hessian, hessian.T, rtol=1e-9, atol=1e-10 * np.abs(hessian).max())


@pytest.mark.parametrize("name", list(AT_CORNERS))
def test_hessians_at_corners_are_symmetric(name):
    function, x = AT_CORNERS[name]
    hessian = ag.hessian(lambda p: weighed(function, p, "Tsit5"))(np.array(x))
    np.testing.assert_allclose(hessian, hessian.T, rtol=1e-9, atol=1e-10 * np.abs(hessian).max())


@pytest.mark.parametrize("name", ["reset", "infusions", "stops", "bounces"])
def test_every_transformation_has_them(name):
    function, x = CASES[name]
    loss, x = (lambda p: weighed(function, p, "Tsit5")), np.array(x)
    v = np.cos(np.arange(x.size))
    hessian = ag.hessian(loss)(x)
    close(ag.hvp(loss)(x, v), hessian @ v, 1e-9)
    close(ag.jacrev(ag.grad(loss))(x), hessian, 1e-9)
    close(ag.grad(lambda p: ag.jvp(loss, (p,), (v,))[1])(x), hessian @ v, 1e-9)
    close(ag.grad(lambda p: ag.grad(loss)(p) @ v)(x), hessian @ v, 1e-9)
    close(ag.compile(ag.hessian(loss))(x), hessian, 1e-9)
    close(ag.hessian(loss, sparse=True)(x).toarray(), hessian, 1e-9)


def test_a_compiled_hessian_takes_other_values():
    function, _ = CASES["infusions"]
    loss = lambda p: weighed(function, p, "Tsit5")  # noqa: E731
    compiled = ag.compile(ag.hessian(loss))
    for x in ([0.5, 2.0, 0.3, 1.2, 0.1, 0.9], [0.3, 1.0, 0.5, 1.3, 0.4, 0.6]):
        close(compiled(np.array(x)), ag.hessian(loss)(np.array(x)), 1e-9)


@pytest.mark.parametrize("solve", [ag.ode_tsit5_tol, ag.ode_dop853_tol, ag.ode_rodas4_tol])
def test_functions_with_output_times_have_them(solve):
    def loss(x):
        y = solve(lambda t, y, k: -k * y**2 * t, [x[3]], x[0], [x[1], 2.0, x[2]], 1e-10, 1e-12, 10**6, x[4])
        return np.sum(np.array([1.0, 2.0, -0.5]) * y[:, 0]) + y[0, 0] ** 2

    x = np.array([0.1, 1.0, 2.5, 1.2, 0.8])

    def formula(x):
        y = np.stack([x[3] / (1 + x[3] * x[4] * (t**2 - x[0] ** 2) / 2) for t in (x[1], 2.0 + 0 * x[0], x[2])])
        return np.sum(np.array([1.0, 2.0, -0.5]) * y) + y[0] ** 2

    close(ag.hessian(loss)(x), ag.hessian(formula)(x), 1e-6)
    times = lambda t: loss(np.concatenate([x[:1], t, x[3:]]))  # noqa: E731  # nothing but times moves
    close(ag.hessian(times)(x[1:3]), ag.hessian(formula)(x)[1:3, 1:3], 1e-6)
    only_times = lambda t: solve(lambda t, y: -(y**2), [1.0], 0.0, [t], 1e-10, 1e-12, 10**6)[0, 0]  # noqa: E731
    assert ag.hessian(only_times)(1.5) == pytest.approx(2 / 2.5**3, rel=1e-7)  # of 1 / (1 + t)
    assert ag.jvp(only_times, (1.5,), (1.0,))[1] == pytest.approx(-1 / 2.5**2, rel=1e-7)


def test_many_outputs_within_a_step_have_them():
    def loss(x):
        times = x[0] + x[1] * np.arange(1, 41)
        slope = lambda t, y, k: [y[1], -k * y[0]]  # noqa: E731
        y = ag.solve_ivp(slope, (0.0, 9.0), [1.0, 0.0], "DOP853", times, args=(x[2],), **TIGHT).y
        return np.sum(y[0] ** 2 * np.linspace(0.0, 1.0, 40))

    def formula(x):
        times = x[0] + x[1] * np.arange(1, 41)
        return np.sum(np.cos(np.sqrt(x[2]) * times) ** 2 * np.linspace(0.0, 1.0, 40))

    x = np.array([0.1, 0.05, 2.0])
    close(ag.hessian(loss)(x), ag.hessian(formula)(x), 1e-6)


def test_outputs_at_the_initial_time_and_repeated_ones_have_them():
    """Their columns take no solve of their own: exp((t^3 - t0^3) / 3) with t = t0, and with two t that are equal."""

    def by_solve(x):
        y = ag.solve_ivp(lambda t, y: t**2 * y, (x[0], 2.0), [1.0], "Tsit5", [x[1], x[2], x[3]], **TIGHT).y[0]
        return y @ np.array([1.0, 2.0, -0.7])

    def formula(x):
        return np.exp((x[1:] ** 3 - x[0] ** 3) / 3) @ np.array([1.0, 2.0, -0.7])

    x = np.array([0.4, 0.4, 1.2, 1.2])
    close(ag.hessian(by_solve)(x), ag.hessian(formula)(x), 1e-7)
    first = lambda t: ag.solve_ivp(lambda t, y: t**2 * y, (0.4, 2.0), [1.0], "Tsit5", [t], **TIGHT).y[0, 0]  # noqa: E731
    assert ag.hessian(first)(0.4) == pytest.approx(2 * 0.4 + 0.4**4, rel=1e-12)


def test_a_laplace_approximation_of_a_lag():
    """The log determinant of a Hessian with respect to random effects, one of them a lag, has a gradient by differences."""

    def loss(eta, theta):
        k, lag = theta[0] * np.exp(eta[0]), theta[1] * np.exp(eta[1])
        doses = [ag.Dose(lag, 0, 10.0), ag.Dose(4.0 + lag, 0, 5.0, 1.0)]
        y = ag.solve_ivp(lambda t, y, k: -k * y, (0.0, 8.0), [0.0], "Tsit5", [1.0, 3.0, 6.0], args=(k,), doses=doses, **TIGHT).y
        return np.sum((y[0] - np.array([7.0, 3.0, 4.0])) ** 2) + eta @ eta

    def formula(eta, theta):
        k, lag = theta[0] * np.exp(eta[0]), theta[1] * np.exp(eta[1])
        first = [10.0 * np.exp(-k * (t - lag)) for t in (1.0, 3.0, 6.0)]
        later = 5.0 / k * (1 - np.exp(-k)) * np.exp(-k * (6.0 - 5.0 - lag))
        y = np.stack([first[0], first[1], first[2] + later])
        return np.sum((y - np.array([7.0, 3.0, 4.0])) ** 2) + eta @ eta

    eta, theta = np.array([0.1, -0.2]), np.array([0.4, 0.5])
    close(ag.hessian(loss)(eta, theta), ag.hessian(formula)(eta, theta), 1e-7)


def test_populations_have_them():
    def f(x):
        ill = ag.Subject((0.0, 2.0), [1.0], [2.0], (x[0],), doses=[ag.Dose(x[1], 0, x[2], 0.5)])
        well = ag.Subject((0.0, 2.0), [x[2]], [1.0, 2.0], (x[0],), doses=[ag.Dose(x[1] * x[2], 0, x[0])])
        results = ag.solve_many(lambda t, y, k: -k * y * y, [ill, well], "Tsit5", **TIGHT)
        return sum(np.sum(each.y**2) for each in results)

    x = np.array([0.5, 0.7, 2.0])
    close(ag.hessian(f)(x), differences(ag.grad(f), x), 1e-6)


# ---- what has none


def test_an_infusion_without_length_has_none_of_its_duration():
    def end(x):
        doses = [ag.Dose(x[0], 0, x[1], x[2])]
        return ag.solve_ivp(lambda t, y: -y, (0.0, 2.0), [0.0], "Tsit5", doses=doses, **TIGHT).y[0, -1]

    x = np.array([1.0, 2.0, 1e-15])
    with pytest.raises(
        NotImplementedError, match=r"solve_ivp: doses\[0\].duration is too short relative to the time of the dose for second"
    ):
        ag.hessian(end)(x)
    fixed = ag.hessian(lambda p: end(np.concatenate([p, x[2:]])))(x[:2])
    close(fixed, np.exp(-1) * np.array([[2.0, 1.0], [1.0, 0.0]]), 1e-8)


def test_an_event_that_only_touches_has_none():
    def time(c):
        event = ag.Event(lambda t, y, c: (t - c) ** 3)
        return ag.solve_ivp(lambda t, y, c: -c * y, (0.0, 2.0), [1.0], "Tsit5", args=(c,), events=event, **TIGHT).t_events[0][0]

    with pytest.raises(NotImplementedError, match=r"events\[0\] touches zero at t = .* without crossing it"):
        ag.hessian(time)(1.0)


def test_cvodes_has_none():
    for function, x in (CASES["bounces"], SPANS["doses"]):
        with pytest.raises(NotImplementedError, match="hessian: solve_ivp has first derivatives only"):
            ag.hessian(lambda p: np.sum(function(p, "BDF")))(np.array(x))  # noqa: B023


# ---- where f jumps at an event


@every_method
def test_a_jump_that_an_event_tells_of_moves_in_both_modes(method):
    """The slope is 1 where sin(w t) > 1/2: the two jumps of the first half wave are at pi / (6 w) and 5 pi / (6 w)."""

    def length(w):
        slope = lambda t, y, w: np.where(np.sin(w * t) > 0.5, 1.0, 0.0) + 0.0 * y  # noqa: E731
        jump = ag.Event(lambda t, y, w: np.sin(w * t) - 0.5)
        return ag.solve_ivp(slope, (0.0, 3.0), [0.0], method, [3.0], args=(w,), events=jump, max_step=0.5, **TIGHT).y[0, 0]

    w = 1.1
    assert length(w) == pytest.approx(2 * np.pi / (3 * w), rel=1e-8)
    assert ag.grad(length)(w) == pytest.approx(-2 * np.pi / (3 * w**2), rel=1e-7)
    assert ag.jvp(length, (w,), (1.0,))[1] == pytest.approx(-2 * np.pi / (3 * w**2), rel=1e-7)
    assert ag.hessian(length)(w) == pytest.approx(4 * np.pi / (3 * w**3), rel=1e-7)


@every_method
def test_a_mode_that_an_event_resets_moves_in_both_modes(method):
    """The slope is 1 until y = c, then y c: at t = 2 the solution is c exp(c (2 - c))."""

    def end(c):
        slope = lambda t, y, c: [np.where(y[1] < 0.5, 1.0, c * y[0]), 0.0]  # noqa: E731
        high = ag.Event(lambda t, y, c: y[0] - c, lambda t, y, c: [y[0], 1.0], direction=1)
        return ag.solve_ivp(slope, (0.0, 2.0), [0.0, 0.0], method, [2.0], args=(c,), events=high, **TIGHT).y[0, 0]

    closed = lambda c: c * np.exp(c * (2 - c))  # noqa: E731
    c = 0.7
    assert end(c) == pytest.approx(closed(c), rel=1e-8)
    assert ag.grad(end)(c) == pytest.approx(ag.grad(closed)(c), rel=1e-7)
    assert ag.jvp(end, (c,), (1.0,))[1] == pytest.approx(ag.grad(closed)(c), rel=1e-7)
    assert ag.hessian(end)(c) == pytest.approx(ag.hessian(closed)(c), rel=1e-6)
