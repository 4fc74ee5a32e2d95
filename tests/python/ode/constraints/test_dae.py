"""Differential-algebraic equations: closed forms, gradients against each other and differences, and faults."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import agrad as ag

WAYS = ("adjoint", "forward")
TIGHT = {"rtol": 1e-10, "atol": 1e-10}


def square(t, y, yp, k, c):
    """y0 = a exp(-k t), y1 = c y0^2."""
    return [yp[0] + k * y[0], y[1] - c * y[0] ** 2]


def driven(t, y, yp, w, c):
    """y0' = cos(w t), and y1 = c y0 + t^2 is algebraic, through an equation that is not linear."""
    return [y[1] ** 3 + y[1] - (c * y[0] + t**2) ** 3 - c * y[0] - t**2, yp[0] - np.cos(w * t)]


def pendulum(t, s, sp, g):
    x, y, u, v, tension = s
    return [
        sp[0] - u,
        sp[1] - v,
        sp[2] + tension * x,
        sp[3] + tension * y + g,
        u * u + v * v - g * y - tension * (x * x + y * y),
    ]


def differences(f, x, step=1e-5):
    x = np.asarray(x, float)
    out = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[i] += step
        down[i] -= step
        out[i] = (f(up) - f(down)) / (2 * step)
    return out


def weighed(y):
    """A sum of all entries, no two alike."""
    w = np.cos(1.0 + np.arange(np.size(y))).reshape(y.shape)
    return np.sum(w * y + 0.5 * w * y * y)


def test_values_in_closed_form():
    found = ag.solve_dae(square, (0.0, 2.0), [2.0, 0.1], t_eval=[0.0, 1.0, 2.0], args=(0.5, 3.0), **TIGHT)
    y0 = 2 * np.exp(-0.5 * found.t)
    assert found.y == pytest.approx(np.array([y0, 3 * y0**2]), rel=1e-8)
    assert found.yp == pytest.approx(np.array([-0.5 * y0, -3 * y0**2]), rel=1e-7)
    assert found.y[1] == pytest.approx(3 * found.y[0] ** 2, rel=1e-13)
    assert (found.success, found.status) == (True, 0)
    assert found.stats["steps"] > 10


def test_without_t_eval_both_ends():
    found = ag.solve_dae(square, (0.0, 2.0), [2.0, 0.0], args=(0.5, 3.0))
    assert found.t.tolist() == [0.0, 2.0]
    assert found.y[:, 0].tolist() == [2.0, 12.0]


@pytest.mark.parametrize("way", WAYS)
def test_gradient_of_an_algebraic_state_in_closed_form(way):
    def loss(y0, k, c):
        y = ag.solve_dae(square, (0.0, 2.0), y0, t_eval=[0.0, 1.0, 2.0], args=(k, c), sensitivities=way, **TIGHT).y
        return y[1, 0] + 2 * y[1, 1] + y[0, 2] * y[1, 2]  # c a^2 (1 + 2 e^(-2k)) + c a^3 e^(-6k)

    a, k, c = 2.0, 0.5, 3.0
    of_y0, of_k, of_c = ag.grad(loss, argnums=(0, 1, 2))(np.array([a, 0.3]), k, c)
    e2, e6 = np.exp(-2 * k), np.exp(-6 * k)
    assert of_y0 == pytest.approx([2 * c * a * (1 + 2 * e2) + 3 * c * a**2 * e6, 0.0], rel=1e-8)
    assert of_y0[1] == 0
    assert of_k == pytest.approx(-4 * c * a**2 * e2 - 6 * c * a**3 * e6, rel=1e-8)
    assert of_c == pytest.approx(a**2 * (1 + 2 * e2) + a**3 * e6, rel=1e-8)


@pytest.mark.parametrize("way", WAYS)
def test_times_and_explicit_time(way):
    def loss(t0, times, w, c):
        return weighed(ag.solve_dae(driven, (t0, 2.0), [0.3, 0.0], t_eval=times, args=(w, c), sensitivities=way, **TIGHT).y)

    at = (0.1, np.array([0.5, 1.2, 2.0]), 1.3, 0.7)
    found = ag.grad(loss, argnums=(0, 1, 2, 3))(*at)
    w, c, t0 = 1.3, 0.7, 0.1

    def exact(t0, times, w, c):
        y0 = 0.3 + (np.sin(w * times) - np.sin(w * t0)) / w
        return weighed(np.array([y0, c * y0 + times**2]))

    assert found[0] == pytest.approx(differences(lambda x: exact(x, at[1], w, c), t0), rel=1e-7)
    assert found[1] == pytest.approx(differences(lambda x: exact(t0, x, w, c), at[1]), rel=1e-7)
    assert found[2] == pytest.approx(differences(lambda x: exact(t0, at[1], x, c), w), rel=1e-7)
    assert found[3] == pytest.approx(differences(lambda x: exact(t0, at[1], w, x), c), rel=1e-7)


def test_derivative_of_an_output_at_the_initial_time():
    def loss(t0, first):
        return ag.solve_dae(driven, (t0, 2.0), [0.3, 0.0], t_eval=[first, 2.0], args=(1.3, 0.7), **TIGHT).y[1, 0]

    of_t0, of_first = ag.grad(loss, argnums=(0, 1))(0.1, 0.1)
    slope = 0.7 * np.cos(0.13)  # y1 = 0.7 (0.3 + integral of cos) + first^2
    assert (of_t0, of_first) == pytest.approx((-slope, slope + 0.2), rel=1e-7)


@pytest.mark.parametrize("way", WAYS)
def test_pendulum_gradient_against_differences(way):
    start, times = np.array([0.6, -0.8, 0.0, 0.0, 0.0]), [0.0, 0.3, 0.7, 1.0]

    def loss(s0, g, rtol=1e-9, way=way):
        found = ag.solve_dae(pendulum, (0.0, 1.0), s0, t_eval=times, args=(g,), rtol=rtol, atol=rtol, sensitivities=way)
        return weighed(found.y)

    of_s, of_g = ag.grad(lambda s, g: loss(s, g), argnums=(0, 1))(start, 9.81)
    assert of_g == pytest.approx(differences(lambda g: loss(start, g, 1e-12, "adjoint"), 9.81, 1e-4), rel=1e-6)
    assert of_s == pytest.approx(differences(lambda s: loss(s, 9.81, 1e-12, "adjoint"), start, 1e-4), rel=1e-5, abs=1e-5)
    assert of_s[4] == 0


def test_pendulum_keeps_its_length_and_energy():
    found = ag.solve_dae(pendulum, (0.0, 2.0), [0.6, -0.8, 0.0, 0.0, 0.0], t_eval=np.linspace(0, 2, 9), args=(9.81,), **TIGHT)
    x, y, u, v, _ = found.y
    assert x**2 + y**2 == pytest.approx(np.ones(9), abs=1e-7)
    assert (u**2 + v**2) / 2 + 9.81 * y == pytest.approx(np.full(9, -0.8 * 9.81), rel=1e-7)


def test_robertson_is_the_ordinary_equation():
    def kinetics(t, y, k):
        a, b = k[0] * y[0] - k[1] * y[1] * y[2], k[2] * y[1] ** 2
        return [-a, a - b, b]

    def conserved(t, y, yp, k):
        slope = kinetics(t, y, k)
        return [yp[0] - slope[0], yp[1] - slope[1], np.sum(y) - 1]

    times, k = [0.4, 40.0, 4000.0], np.array([0.04, 1e4, 3e7])
    options = {"t_eval": times, "atol": [1e-9, 1e-12, 1e-9]}

    def weigh(y):
        return y[2, 0] + y[0, 1] + 1e4 * y[1, 2] + y[2, 2]

    of_ode = ag.grad(lambda k: weigh(ag.solve_ivp(kinetics, (0.0, 4000.0), [1, 0, 0], args=(k,), rtol=1e-10, **options).y))(k)
    of_dae = ag.grad(lambda k: weigh(ag.solve_dae(conserved, (0.0, 4000.0), [1, 0, 0], args=(k,), rtol=1e-9, **options).y))(k)
    assert of_dae == pytest.approx(of_ode, rel=1e-5)


def test_capacitor_between_nodes():
    def circuit(t, v, vp, r, c):
        current = c * (vp[0] - vp[1])
        return [current + (v[0] - 1.5) / r[0], v[1] / r[1] - current]

    def loss(v0, r, c):
        return weighed(ag.solve_dae(circuit, (0.0, 2.5), v0, t_eval=[0.0, 1.0, 2.5], args=(r, c), **TIGHT).y)

    def exact(v0, r, c):
        u = 1.5 + (v0[0] - v0[1] - 1.5) * np.exp(-np.array([0.0, 1.0, 2.5]) / (np.sum(r) * c))
        first = (u + r[1] / r[0] * 1.5) / (1 + r[1] / r[0])
        return weighed(np.array([first, first - u]))

    at = (np.array([1.0, 0.4]), np.array([2.0, 3.0]), 0.5)
    assert loss(*at) == pytest.approx(exact(*at), rel=1e-9)
    found = ag.grad(loss, argnums=(0, 1, 2))(*at)
    for k in range(3):
        expected = differences(lambda x, k=k: exact(*at[:k], x, *at[k + 1 :]), at[k])
        assert found[k] == pytest.approx(expected, rel=1e-7)


def test_given_derivatives():
    def relax(t, y, yp, p):
        return [yp[0] - p + y[0] ** 2, y[1] ** 2 - y[0] - 0.3]

    def loss(yp0, p):
        found = ag.solve_dae(relax, (0.0, 0.5), [1.0, 1.0], yp0, args=(p,), initial="derivatives", **TIGHT)
        return weighed(found.y)

    assert ag.solve_dae(relax, (0.0, 5.0), [1.0, 1.0], args=(2.0,), initial="derivatives").y[0] == pytest.approx([2**0.5] * 2)

    def exact(slope, p):  # y0 = sqrt(p) tanh(sqrt(p) t + c)
        first = np.sqrt(p) * np.tanh(np.sqrt(p) * np.array([0.0, 0.5]) + np.arctanh(np.sqrt(1 - slope / p)))
        return weighed(np.array([first, np.sqrt(first + 0.3)]))

    of_yp, of_p = ag.grad(loss, argnums=(0, 1))(np.array([0.7, 0.0]), 2.0)
    assert of_yp[0] == pytest.approx(differences(lambda x: exact(x, 2.0), 0.7), rel=1e-6)
    assert of_yp[1] == 0
    assert of_p == pytest.approx(differences(lambda x: exact(0.7, x), 2.0), rel=1e-6)


def test_slopes_of_differential_states_have_gradients():
    def slope(k, state):
        return ag.solve_dae(square, (0.0, 1.0), [2.0, 0.0], args=(k, 3.0), **TIGHT).yp[state, -1]

    assert ag.grad(slope)(0.5, 0) == pytest.approx((0.5 - 1) * 2 * np.exp(-0.5), rel=1e-7)
    with pytest.raises(NotImplementedError, match=r"solve_dae: the gradient of yp\[1\] is asked for"):
        ag.grad(slope)(0.5, 1)


def test_captured_values_compiled_and_nested_arguments():
    def end(k):
        def residual(t, y, yp, more):
            return [yp[0] + k * y[0], y[1] - more["c"][0] * y[0] ** 2]

        return ag.solve_dae(residual, (0.0, 1.0), [2.0, 0.0], args=({"c": [3.0]},), **TIGHT).y[1, -1]

    expected = -2 * 3 * 4 * np.exp(-1.0)
    assert ag.grad(end)(0.5) == pytest.approx(expected, rel=1e-8)
    assert ag.compile(ag.value_and_grad(end))(0.5) == pytest.approx((12 * np.exp(-1.0), expected), rel=1e-8)
    jacobian = ag.jacobian(lambda k: ag.solve_dae(square, (0.0, 1.0), [2.0, 0.0], args=(k, 3.0), sensitivities="forward").y)(
        0.5
    )
    assert jacobian[:, -1] == pytest.approx([-2 * np.exp(-0.5), expected], rel=1e-4)


@pytest.mark.parametrize("way", WAYS)
def test_second_derivatives_are_refused(way):
    def end(x):
        return ag.solve_dae(square, (0.0, 1.0), [2.0, 0.0], args=(x[0], x[1]), sensitivities=way).y[1, -1]

    x = np.array([0.5, 3.0])
    for second in (ag.hessian(end), ag.compile(ag.hessian(end)), lambda x: ag.hvp(end)(x, x)):
        with pytest.raises(NotImplementedError, match=r"solve_dae has first derivatives only.*take differences"):
            second(x)
    with pytest.raises(NotImplementedError, match="solve_dae: has first derivatives only, but must"):
        ag.grad(lambda x: np.sum(ag.grad(end)(x)))(x)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"y0": [[2.0], [1.0]]}, ag.ShapeError, "y0 is of shape"),
        ({"y0": []}, ag.ShapeError, "y0 is of length 0"),
        ({"yp0": [0.0]}, ag.ShapeError, r"yp0 is of length 1, but must be of length 2"),
        ({"y0": [2.0, np.nan]}, ag.DomainError, r"y0\[1\] is nan"),
        ({"t_span": (1.0, 1.0)}, ag.DomainError, "t_span is"),
        ({"t_eval": [0.5, 0.5]}, ag.DomainError, r"t_eval\[1\] is 0.5"),
        ({"t_eval": [0.5, 3.0]}, ag.DomainError, r"t_eval\[1\] is 3.0"),
        ({"rtol": 0.0}, ag.DomainError, "rtol is 0.0, but must be positive"),
        ({"atol": -1.0}, ag.DomainError, "atol is -1.0"),
        ({"atol": [1e-8] * 3}, ag.ShapeError, "atol is of length 3"),
        ({"max_num_steps": 0}, ag.DomainError, "max_num_steps is 0"),
        ({"max_num_steps": 4}, ag.SolverError, r"after 4 steps \(IDA_TOO_MUCH_WORK\).*the last step was .*the error of y\["),
        ({"initial": "guess"}, ValueError, "initial is 'guess'"),
        ({"sensitivities": "none"}, ValueError, "sensitivities is 'none'"),
        ({"differential": [1, 0]}, TypeError, "differential is of dtype"),
        ({"differential": [True]}, ag.ShapeError, "differential is of shape"),
        ({"differential": [True, True]}, ag.DomainError, r"differential\[1\] is True, but must be False"),
        ({"differential": [False, False]}, ag.DomainError, r"differential\[0\] is False, but must be True"),
        ({"initial": "consistent", "yp0": [-1.0, 0.0]}, ag.DomainError, r"the residual at t0, y0 and yp0\[1\] is -11"),
        ({"residual": None}, TypeError, "residual is None"),
        ({"residual": lambda t, y, yp, k, c: None}, TypeError, "result is None"),
        ({"residual": lambda t, y, yp, k, c: [y[0]]}, ag.ShapeError, r"must be of shape \(2,\); one equation for each state"),
        (
            {"residual": lambda t, y, yp, k, c: [yp[0] - y[1], y[0] - t]},
            ag.SolverError,
            r"index 2 or more.*y\[1\] is not determined",
        ),
        (
            {"residual": lambda t, y, yp, k, c: [yp[0] + np.log(0.5 - t), y[1]]},
            ag.SolverError,
            r"the residual\[0\] is (nan|-?inf)",
        ),
    ],
)
def test_messages(change, error, message):
    given = {"residual": square, "t_span": (0.0, 1.0), "y0": [2.0, 1.0], "args": (0.5, 3.0), **change}
    with pytest.raises(error, match=message):
        ag.solve_dae(**given)


def test_a_fast_transient_late_in_time():
    """Of 1e-5, where the clock's numbers are 1e-10 apart and IDAS' first step is shorter."""
    late = ag.solve_dae(square, (1e6, 1e6 + 1), [1.0, 0.0], t_eval=[1e6 + 1e-5], args=(1e5, 3.0), rtol=1e-8)
    assert late.y[1, 0] == pytest.approx(3 * np.exp(-2e5 * (late.t[0] - 1e6)), rel=1e-6)


@pytest.mark.parametrize("guess", [0.0, 0.3, -0.2])
def test_equations_that_are_singular_at_the_guess(guess):
    found = ag.solve_dae(lambda t, y, yp: [yp[0] + y[0], y[1] ** 2 - y[0]], (0.0, 1.0), [4.0, guess], **TIGHT)
    assert found.y[1] == pytest.approx(np.array([2.0, 2 * np.exp(-0.5)]) * (-1 if guess < 0 else 1), rel=1e-8)


def test_a_derivative_that_the_guess_hides():
    """y'^3 = -k y at y' = 0 has no derivative there, but is no algebraic equation."""

    def end(k):
        return ag.solve_dae(lambda t, y, yp, k: [yp[0] ** 3 + k * y[0]], (0.0, 1.0), [1.0], args=(k,), **TIGHT).y[0, -1]

    def exact(k):
        return (1 - 2 / 3 * np.cbrt(k)) ** 1.5

    value, gradient = ag.value_and_grad(end)(0.5)
    assert value == pytest.approx(exact(0.5), rel=1e-8)
    assert gradient == pytest.approx(differences(exact, 0.5), rel=1e-7)


def jumping(t, y, yp, k, c, on):
    """y0 falls with k, from `on` with 2 k; y1 = c y0^2, then -c y0."""
    before = t < on
    return [yp[0] + np.where(before, k, 2 * k) * y[0], y[1] - np.where(before, c * y[0] ** 2, -c * y[0])]


@pytest.mark.parametrize("way", WAYS)
def test_a_residual_that_jumps_at_a_stop(way):
    times = np.array([0.0, 0.5, 0.8, 2.0])

    def solve(y0, k, c, on, times):
        options = {"t_eval": times, "args": (k, c, on), "tstops": [on], "sensitivities": way}
        return weighed(ag.solve_dae(jumping, (0.0, 2.0), y0, **options, **TIGHT).y)

    def exact(y0, k, c, on, times):
        before = np.arange(4) < 2  # an output at the stop is behind it
        y = y0[0] * np.exp(-k * times - k * np.where(before, 0.0, times - on))
        return weighed(np.array([y, np.where(before, c * y**2, -c * y)]))

    at = (np.array([2.0, 0.3]), 0.5, 3.0, 0.8, times)
    assert solve(*at) == pytest.approx(exact(*at), rel=1e-8)
    found = ag.grad(solve, argnums=(0, 1, 2, 3, 4))(*at)
    for i in range(5):
        expected = differences(lambda x, i=i: exact(*at[:i], x, *at[i + 1 :]), at[i])
        assert found[i] == pytest.approx(expected, rel=1e-7, abs=1e-7)


def test_an_output_at_a_stop_is_behind_the_jump():
    found = ag.solve_dae(jumping, (0.0, 2.0), [2.0, 0.0], t_eval=[0.8, 2.0], args=(0.5, 3.0, 0.8), tstops=[0.8], **TIGHT)
    assert found.y[1] == pytest.approx([-6 * np.exp(-0.4), -6 * np.exp(-1.6)], rel=1e-8)
    assert found.yp[0] == pytest.approx([-2 * np.exp(-0.4), -2 * np.exp(-1.6)], rel=1e-7)


def test_stops_in_any_order_outside_and_twice():
    def end(stops):
        return ag.solve_dae(jumping, (0.0, 2.0), [2.0, 0.0], args=(0.5, 3.0, 0.8), tstops=stops).y

    once = end([0.8])
    assert np.array_equal(end([5.0, 0.8, -1.0, 2.0, 0.0, 0.8]), once)
    with pytest.raises(ag.ShapeError, match="tstops is of shape"):
        end([[0.8]])
    with pytest.raises(ag.DomainError, match=r"solve_dae: tstops\[1\] is nan, but must be finite"):
        end([0.8, np.nan])


def test_a_compiled_gradient_moves_its_stop():
    def end(on):
        return ag.solve_dae(jumping, (0.0, 2.0), [2.0, 0.0], args=(0.5, 3.0, on), tstops=[on], **TIGHT).y[1, -1]

    run = ag.compile(ag.value_and_grad(end))
    for on in (0.8, 1.3):
        value = -6 * np.exp(-1 - 0.5 * (2 - on))
        assert run(on) == pytest.approx((value, 0.5 * value), rel=1e-7)


def test_what_the_residual_raises_comes_out():
    def refuses(t, y, yp):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        ag.solve_dae(refuses, (0.0, 1.0), [1.0])


def test_the_backward_pass_never_ends_silently():
    """Its step limit is the forward one, which is enough for a state that is almost constant, but not for its adjoint."""

    def residual(t, y, yp, k):
        return [yp[0] + k * (y[0] - 1), yp[1] - 1e-8 * y[0] * np.sin(200 * t) * y[1]]

    def loss(k, y1):
        found = ag.solve_dae(residual, (0.0, 3.0), [1.0, y1], args=(k,), rtol=1e-4, atol=[1e-4, 1e4], max_num_steps=40)
        return 1e15 * found.y[1, -1]

    with pytest.raises(ag.SolverError, match=r"solve_dae: the reverse pass stopped at t = .*max_num_steps"):
        ag.grad(loss, argnums=(0, 1))(0.5, 1e6)


def test_failures_leave_no_memory():
    def end(k, steps):
        return ag.solve_dae(square, (0.0, 1.0), [2.0, 0.0], args=(k, 3.0), max_num_steps=steps).y[1, -1]

    def fail(count):
        for i in range(count):
            with pytest.raises(ag.SolverError):
                ag.grad(end)(0.5, 3 + i % 2)
        gc.collect()

    def resident():
        with open("/proc/self/statm") as f:
            return int(f.read().split()[1])

    fail(100)
    before = resident()
    fail(1000)
    assert resident() - before < 512
