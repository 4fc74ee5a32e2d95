"""Output times that are dense among the steps: the methods' interpolants, their orders, derivatives, and what they spare."""

import numpy as np
import pytest

import agrad as ag

P, Y0 = np.array([0.55, 0.028, 0.026, 0.84]), np.array([30.0, 4.0])
X = np.concatenate([P, Y0])
INTERPOLATED = ["Tsit5", "RK45", "DOP853", "Rodas4", "Rodas5P"]
MANY = np.linspace(0.0, 6.0, 97)[1:]  # four in each held step, one of them at its end


def held(step):
    """Options with which all steps are of one size."""
    return {"rtol": 1e9, "atol": 1e9, "first_step": step, "max_step": step}


def predation(t, y, p):
    return [p[0] * y[0] - p[1] * y[0] * y[1], p[2] * y[0] * y[1] - p[3] * y[1]]


def solution(x, method, t_eval=MANY, fun=predation, **options):
    return ag.solve_ivp(fun, (0.0, 6.0), x[4:], method, t_eval, args=(x[:4],), **options)


def loss(x, method, **options):
    y = solution(x, method, **options).y
    return np.sum(np.cos(MANY) * (y - 10.0) ** 2) / 1000


@pytest.mark.parametrize("method", INTERPOLATED)
@pytest.mark.parametrize("rtol", [1e-4, 1e-7])
def test_many_outputs_take_no_more_steps(method, rtol):
    few = solution(X, method, [6.0], rtol=rtol, atol=1e-6)
    many = solution(X, method, np.linspace(0.0, 6.0, 2001)[1:], rtol=rtol, atol=1e-6)
    assert few.nst <= many.nst <= few.nst + 2
    exact = solution(X, "DOP853", np.linspace(0.0, 6.0, 2001)[1:], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(many.y, exact.y, rtol=100 * rtol)


@pytest.mark.parametrize(
    ("method", "order", "step"),
    [("Tsit5", 5, 0.1), ("RK45", 5, 0.1), ("DOP853", 8, 0.2), ("Rodas4", 4, 0.1), ("Rodas5P", 5, 0.1)],
)
def test_errors_within_steps_fall_with_the_order(method, order, step):
    def forced(t, y, p):
        return [y[1] * np.cos(t), -y[0] + 0.1 * t]

    times = np.linspace(0.0, 4.0, 321)[1:]

    def error(step):
        def y(method, **options):
            return ag.solve_ivp(forced, (0.0, 4.0), np.array([1.0, 0.5]), method, times, args=(P,), **options).y

        return np.abs(y(method, **held(step)) - y("DOP853", rtol=1e-14, atol=1e-14, max_step=0.02)).max()

    assert np.log2(error(step) / error(step / 2)) > order - 0.35


def differences(f, x, relative=1e-4):
    """Central differences of fourth order along each entry."""
    rows = []
    for place, step in enumerate(relative * x):
        d = np.zeros(x.size)
        d[place] = step
        rows.append((8 * (f(x + d) - f(x - d)) - (f(x + 2 * d) - f(x - 2 * d))) / (12 * step))
    return np.array(rows)


@pytest.mark.parametrize("method", INTERPOLATED)
@pytest.mark.parametrize("make", [lambda f: f, ag.compile], ids=["plain", "compiled"])
def test_gradients_are_those_of_the_interpolants(method, make):
    def f(x):
        return loss(x, method, **held(0.25))

    gradient = make(ag.grad(f))
    np.testing.assert_allclose(gradient(X), differences(f, X), rtol=1e-8)
    hessian = make(ag.hessian(f))(X)
    scale = np.outer(X, X)
    np.testing.assert_allclose(hessian * scale, hessian.T * scale, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(hessian * scale, differences(gradient, X) * scale, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("method", INTERPOLATED)
def test_products_agree(method):
    rng = np.random.default_rng(5)

    def y(x):
        return solution(x, method, rtol=1e-5, error_control="states").y

    v, w = X * rng.normal(size=X.size), rng.normal(size=(2, MANY.size))
    forward = np.sum(w * ag.jvp(y, (X,), (v,))[1])
    value, back = ag.vjp(y, X)
    assert forward == pytest.approx(back(w)[0] @ v, rel=1e-12)
    np.testing.assert_array_equal(value, y(X))


@pytest.mark.parametrize("method", INTERPOLATED)
def test_little_memory_changes_nothing(method):
    whole = ag.grad(lambda x: loss(x, method))(X)
    np.testing.assert_array_equal(whole, ag.grad(lambda x: loss(x, method, max_memory=400.0))(X))


@pytest.mark.parametrize("method", INTERPOLATED)
def test_times_are_differentiable(method):
    """By the slopes there."""
    w = np.sin(MANY)

    def total(t):
        return np.sum(w * solution(X, method, t, rtol=1e-8, atol=1e-8).y[0])

    y = solution(X, method, rtol=1e-8, atol=1e-8).y
    np.testing.assert_allclose(ag.grad(total)(MANY), w * (P[0] * y[0] - P[1] * y[0] * y[1]), rtol=1e-12)


@pytest.mark.parametrize("method", INTERPOLATED)
def test_doses_and_events_between_many_outputs(method):
    """Drug at 1 1/h in two doses; the second one's effect ends at the event."""

    def decay(t, y, k):
        return -k * y

    def is_low(t, y, k):
        return y[0] - 0.2

    times, k = np.linspace(0.0, 5.0, 1001)[1:], 1.3
    doses = [ag.Dose(2.0, 0, 1.5)]
    event = ag.Event(is_low, direction=-1, terminal=2)
    options = {"rtol": 1e-9, "atol": 1e-11}

    def solve(k):
        return ag.solve_ivp(
            decay, (0.0, 5.0), np.array([1.0]), method, times, args=(k,), doses=doses, events=[event], **options
        )

    s = solve(k)
    first = np.exp(-k * times)
    second = (np.exp(-2 * k) + 1.5) * np.exp(-k * (times - 2.0))
    end = 2.0 + np.log((np.exp(-2 * k) + 1.5) / 0.2) / k
    expected = np.where(times <= 2.0, first, second)[times <= end]
    expected[np.searchsorted(times, 2.0)] = s.y[0, np.searchsorted(times, 2.0)]  # at the dose itself
    assert s.status == 1
    np.testing.assert_allclose(s.y[0], expected, rtol=1e-7)
    np.testing.assert_allclose(s.t_events[0], [np.log(5.0) / k, end], rtol=1e-8)
    step = 1e-5
    slope = (np.sum(solve(k + step).y[0, :500]) - np.sum(solve(k - step).y[0, :500])) / (2 * step)
    assert ag.grad(lambda k: np.sum(solve(k).y[0, :500]))(k) == pytest.approx(slope, rel=1e-6)


def test_a_switch_to_a_stiff_method_between_many_outputs():
    def van_der_pol(t, y, mu):
        return [y[1], mu * ((1 - y[0] ** 2) * y[1]) - y[0]]

    times = np.linspace(0.0, 300.0, 4001)[1:]

    def solve(method, mu=200.0):
        return ag.solve_ivp(van_der_pol, (0.0, 300.0), [2.0, 0.0], method, times, args=(mu,), rtol=1e-8, atol=1e-8)

    switched, stiff = solve("auto"), solve("Rodas4")
    assert switched.stats["stiff_from"] < 300.0
    np.testing.assert_allclose(switched.y[0], stiff.y[0], rtol=2e-5, atol=1e-5)
    of_switched, of_stiff = (ag.grad(lambda mu, m=m: np.sum(solve(m, mu).y[0, :2000]))(200.0) for m in ("auto", "Rodas4"))
    assert of_switched == pytest.approx(of_stiff, rel=1e-5)
