"""Steps that see derivatives: gradients of systems at rest, by every one-step method, in both modes and to second order."""

import numpy as np
import pytest
from scipy.linalg import expm

import agrad as ag

EXPLICIT = ["Tsit5", "RK45", "CKRK", "DOP853"]
METHODS = ["auto", *EXPLICIT, "Rodas4"]
TOLERANCES = [1e-4, 1e-6, 1e-8]
every_method = pytest.mark.parametrize("method", METHODS)


def at_rest(s, method="auto", rtol=1e-6, y0=1.0, **more):
    """The end of y' = s - y, which stays where it is for y0 = s = 1."""
    start = np.reshape(y0, (1,)) if isinstance(y0, ag.Array) else [y0]
    return ag.solve_ivp(lambda t, y, s: s - y, (0.0, 50.0), start, method, args=(s,), rtol=rtol, atol=rtol / 100, **more).y[
        0, -1
    ]


@every_method
@pytest.mark.parametrize("rtol", TOLERANCES)
def test_a_system_at_rest(method, rtol):
    assert ag.grad(lambda s: at_rest(s, method, rtol))(1.0) == pytest.approx(1.0, rel=100 * rtol)


def test_every_default_with_a_captured_value():
    def loss(s):
        return ag.solve_ivp(lambda t, y: s - y, (0, 50.0), [1.0]).y[0, -1]

    assert ag.grad(loss)(1.0) == pytest.approx(1.0, rel=1e-4)


@every_method
def test_states_alone_are_asked_for_by_name(method):
    """What goes wrong without: explicit methods multiply the gradient in each step, Rodas4 takes steps that are too long."""
    with pytest.warns(RuntimeWarning, match="as the steps suit the states alone"):
        blind = ag.grad(lambda s: at_rest(s, method, error_control="states"))(1.0)
    assert abs(blind - 1) > 1e-5


@every_method
@pytest.mark.parametrize("rtol", TOLERANCES)
def test_reversible_exchange_at_equilibrium(method, rtol):
    def end(k):
        def slope(t, y, k):
            return [-k[0] * y[0] + k[1] * y[1], k[0] * y[0] - k[1] * y[1]]

        return ag.solve_ivp(slope, (0.0, 200.0), [2.0, 2.0], method, args=(k,), rtol=rtol, atol=rtol / 100).y[0, -1]

    # y0 = 4 k1 / (k0 + k1)
    np.testing.assert_allclose(ag.grad(end)(np.array([1.5, 1.5])), [-4 / 6, 4 / 6], rtol=100 * rtol)


@every_method
@pytest.mark.parametrize("rtol", TOLERANCES)
def test_heat_from_a_smooth_state(method, rtol):
    n, end = 20, 0.2
    laplacian = (np.diag(np.ones(n - 1), 1) - 2 * np.eye(n) + np.diag(np.ones(n - 1), -1)) * (n + 1) ** 2
    start, weights = np.sin(np.pi * np.arange(1, n + 1) / (n + 1)), np.sqrt(np.arange(1.0, n + 1))

    def warmth(y0):
        def heat(t, y):
            wide = np.concatenate([[0.0], y, [0.0]])
            return (wide[2:] - 2 * y + wide[:-2]) * (n + 1) ** 2

        return np.sum(weights * ag.solve_ivp(heat, (0.0, end), y0, method, rtol=rtol, atol=rtol / 100).y[:, -1])

    exact = weights @ expm(laplacian * end)
    found = ag.grad(warmth)(start)
    assert np.linalg.norm(found - exact) <= 100 * rtol * np.linalg.norm(exact)


@every_method
def test_turnover_at_its_baseline_that_is_recorded(method):
    """R0 = kin / kout, 1000 hours: the state stays there whatever kin and kout are."""

    def end(p):
        y0 = np.reshape(p[0] / p[1], (1,))
        return ag.solve_ivp(lambda t, y, p: p[0] - p[1] * y, (0.0, 1000.0), y0, method, args=(p,)).y[0, -1]

    kin, kout = 2.0, 0.5
    np.testing.assert_allclose(ag.grad(end)(np.array([kin, kout])), [1 / kout, -kin / kout**2], rtol=1e-4)


@every_method
def test_forward_mode_and_second_order_at_rest(method):
    """Logistic growth at its capacity: y = K, dy/dK = 1, and nothing of second order at the end."""

    def end(p):
        def logistic(t, y, p):
            return p[0] * y * (1 - y / p[1])

        return ag.solve_ivp(logistic, (0.0, 60.0), [3.0], method, args=(p,)).y[0, -1]

    p = np.array([1.0, 3.0])
    np.testing.assert_allclose(ag.jvp(end, (p,), (np.array([0.3, 2.0]),))[1], 2.0, rtol=1e-4)
    np.testing.assert_allclose(ag.jacfwd(end)(p), [0.0, 1.0], atol=1e-4)
    np.testing.assert_allclose(ag.hessian(end)(p), np.zeros((2, 2)), atol=1e-3)
    np.testing.assert_allclose(ag.compile(ag.jacobian(ag.grad(end)))(p), np.zeros((2, 2)), atol=1e-3)


@every_method
def test_doses_and_events_after_rest(method):
    """A turnover at rest until a dose at 400: the gradient with respect to its rate, by closed form."""

    def end(k):
        doses = [ag.Dose(400.0, 0, 1.0)]
        return ag.solve_ivp(lambda t, y, k: k - k * y, (0.0, 401.0), [1.0], method, args=(k,), doses=doses).y[0, -1]

    k = 0.7
    assert ag.grad(end)(k) == pytest.approx(-np.exp(-k), rel=1e-4)  # 1 + exp(-k)

    def crossing(s):
        def slope(t, y, s):
            return [s - y[0], 1.0]

        stop = ag.Event(lambda t, y, s: y[1] - 60.0, terminal=True)
        return ag.solve_ivp(slope, (0.0, 100.0), [1.0, 0.0], method, args=(s,), events=stop).y[0, -1]

    assert ag.grad(crossing)(1.0) == pytest.approx(1.0, rel=1e-4)


@every_method
def test_a_population_and_a_batch_have_the_steps_of_one(method):
    rates = np.array([0.9, 1.0, 1.1])

    def one(s):
        return at_rest(s, method)

    def total(s):
        def slope(t, y, s):
            return s - y

        subjects = [ag.Subject((0.0, 50.0), [1.0], [50.0], (s[i],)) for i in range(3)]
        return sum(result.y[0, 0] for result in ag.solve_many(slope, subjects, method, atol=1e-8))

    singles = np.array([ag.grad(one)(rate) for rate in rates])
    np.testing.assert_allclose(ag.grad(total)(rates), singles, rtol=1e-5)
    np.testing.assert_array_equal(ag.vmap(ag.grad(one))(rates), singles)
    np.testing.assert_array_equal(ag.compile(ag.vmap(ag.grad(one)))(rates), singles)


@every_method
def test_the_same_steps_with_and_without_a_gradient(method):
    def loss(p, control="derivatives"):
        def slope(t, y, p):
            return [p[0] * y[0] - p[1] * y[0] * y[1], -p[2] * y[1] + p[3] * y[0] * y[1]]

        result = ag.solve_ivp(slope, (0.0, 10.0), [30.0, 4.0], method, args=(p,), error_control=control)
        steps.append(result.nst)
        return np.sum(result.y[:, -1] ** 2)

    p, steps = np.array([0.55, 0.028, 0.84, 0.026]), []
    value, _ = ag.value_and_grad(loss)(p)
    assert loss(p) == value
    assert steps[0] == steps[1]
    assert ag.compile(loss)(p) == value
    assert ag.jvp(loss, (p,), (p,))[0] == value
    assert loss(p, "auto") != value
    assert loss(p, "auto") == loss(p, "states")


def test_a_population_has_the_same_steps_with_and_without_a_gradient():
    def total(rates, control="derivatives"):
        def slope(t, y, rate):
            return -rate * y**2

        ends = [(rates[i], end) for i, end in enumerate((1.0, 3.0))]
        subjects = [ag.Subject((0.0, end), [1.0], [end], (rate,)) for rate, end in ends]
        return sum(result.y[0, 0] for result in ag.solve_many(slope, subjects, error_control=control))

    rates = np.array([0.7, 1.3])
    value, _ = ag.value_and_grad(total)(rates)
    assert total(rates) == value
    assert total(rates, "auto") != value
    with pytest.raises(ValueError, match="solve_many: error_control is 'steps'"):
        total(rates, "steps")


@every_method
def test_the_statistics_have_an_estimate(method):
    kept = []

    def end(p):
        kept.append(ag.solve_ivp(lambda t, y, p: -p * y**2, (0.0, 5.0), [1.0], method, args=(p,)))
        return kept[-1].y[0, -1]

    ag.grad(end)(1.3)
    assert 1e-9 < kept[0].stats["gradient_error"] < 1e-3
    assert 0 < kept[0].stats["held_by_derivatives"] <= kept[0].nst
    end(1.3)
    assert "gradient_error" not in kept[1].stats
    assert kept[1].stats["held_by_derivatives"] == 0


def test_a_check_sees_what_states_alone_leave_out():
    with (
        pytest.warns(RuntimeWarning, match="differs from that at tighter tolerances"),
        pytest.warns(RuntimeWarning, match="as the steps suit the states alone"),
    ):
        ag.grad(lambda s: at_rest(s, "Tsit5", error_control="states", gradient_check=True))(1.0)
    ag.grad(lambda s: at_rest(s, "Tsit5", gradient_check=True))(1.0)


def test_a_check_warns_by_the_estimate():
    """Where parts cancel in the gradient that is wanted, and the second solution agrees, the estimate still speaks."""

    def end(p):
        y = ag.solve_ivp(lambda t, y, p: -p * y, (0.0, 2.0), [1.0], args=(p,), rtol=1e-3, atol=1e-3, gradient_check=1e-5).y
        return np.sum(y) * 0.0

    with pytest.warns(RuntimeWarning, match="the estimated relative error of the gradient is"):
        ag.grad(end)(0.7)


def test_what_limits_the_steps_is_told():
    kept = []

    def end(s):
        kept.append(ag.solve_ivp(lambda t, y, s: s - y, (0.0, 50.0), [1.0], "Tsit5", args=(s,)))
        return kept[-1].y[0, -1]

    ag.grad(end)(1.0)
    report = kept[0].explain()
    assert report.steps == kept[0].nst
    assert report.limits["derivatives"] > 0.5 * report.steps
    assert "the error of derivatives" in str(report)


@every_method
def test_a_derivative_that_is_not_finite_raises_by_name(method):
    """The system y' = -sqrt(y) at rest on zero: its slope is infinite there."""

    def end(y0):
        return ag.solve_ivp(lambda t, y: -np.sqrt(y), (0.0, 1.0), y0, method).y[0, -1]

    assert end(np.zeros(1)) == 0
    with pytest.raises(ag.SolverError, match=r"y\[0\]|Jacobian"):
        ag.grad(end)(np.zeros(1))


@pytest.mark.parametrize("method", EXPLICIT)
def test_a_tangent_that_is_not_finite_raises_by_name(method):
    def end(y0):
        return ag.solve_ivp(lambda t, y: -np.sqrt(y), (0.0, 1.0), y0, method).y[:, -1]

    with pytest.raises(ag.SolverError, match=r"the tangent of y\[0\] is -?(inf|nan) at t = 0, but must be finite"):
        ag.jvp(end, (np.zeros(1),), (np.ones(1),))


def test_a_derivative_that_is_not_finite_and_not_used_is_no_fault():
    """The second state is on the root's end, and the loss does not read it."""

    def slope(t, y, k):
        return [-k * y[0], -np.sqrt(y[1])]

    def end(k):
        return ag.solve_ivp(slope, (0.0, 1.0), [1.0, 0.0], "Tsit5", args=(k,), rtol=1e-8, atol=1e-8).y[0, -1]

    assert ag.grad(end)(0.5) == pytest.approx(-np.exp(-0.5), rel=1e-5)


def test_a_fault_where_derivatives_come_by_differences():
    """An operation without tangents: the probe is then a difference, and gradients at rest are right as well."""
    fall = ag.custom_vjp(lambda y: 1.0 - y)
    fall.defvjp(lambda y: (1.0 - y, None), lambda kept, cotangent: (-cotangent,))

    def end(s):
        return ag.solve_ivp(lambda t, y, s: fall(y) + s, (0.0, 50.0), [1.0], "Tsit5", args=(s,)).y[0, -1]

    assert ag.grad(end)(0.0) == pytest.approx(1.0, rel=1e-4)


def test_bad_arguments():
    with pytest.raises(ValueError, match="error_control is 'steps', but must be one of 'auto', 'states', 'derivatives'"):
        at_rest(1.0, "Tsit5", error_control="steps")
    with pytest.raises(ValueError, match=r"error_control is 'states', but must be 'auto' for 'BDF'; .*='forward'"):
        at_rest(1.0, "BDF", error_control="states")
