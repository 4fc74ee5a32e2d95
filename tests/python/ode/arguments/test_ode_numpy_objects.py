"""Right-hand sides as SciPy's users write them, ``return np.array([y[1], -y[0]])``, against closed forms and plain joining."""

import numpy as np
import pytest

import agrad as ag
from agrad._ode.method_table import METHODS as ONE_STEP

K, END = 2.0, 1.3  # y'' = -k y from (1, 0): cos(w t) and -w sin(w t) with w = sqrt(k)
W = np.sqrt(K)
STATE = np.array([np.cos(W * END), -W * np.sin(W * END)])
OF_K = np.array([-END * np.sin(W * END), -np.sin(W * END) - W * END * np.cos(W * END)]) / (2 * W)


def by_array(t, y, k):
    return np.array([y[1], -k * y[0]])


def by_asarray(t, y, k):
    return np.asarray((y[1], -k * y[0]))


def by_matrix(t, y, k):
    return np.array([[0.0, 1.0], [-k, 0.0]]) @ y


def by_matrix_of_entries(t, y, k):
    place, speed = np.asarray(y)
    return np.dot(np.array([[0, 1], [-k, 0]]), np.array([place, speed]))


def by_stacking(t, y, k):
    return np.stack([y[1], -k * y[0]])


def by_hstack(t, y, k):
    return np.hstack([y[1], np.array([-k * y[0]])])


def by_concatenate(t, y, k):
    return np.concatenate(([y[1]], [-k * y[0]]))


def by_filling(t, y, k):
    d = np.zeros(2, dtype=object)
    d[0], d[1] = y[1], -k * y[0]
    return d


def by_ufuncs(t, y, k):
    pull = np.array([y[1], k * np.exp(y[0])])
    return np.array([1.0, -1.0]) * np.array([pull[0], np.log(pull[1] / k) * k])


FORMS = [by_array, by_asarray, by_matrix, by_matrix_of_entries, by_stacking, by_hstack, by_concatenate, by_filling, by_ufuncs]
METHODS = ["Adams", "BDF", *ONE_STEP]


def solved(f, k, method="auto", **options):
    return ag.solve_ivp(f, (0.0, END), [1.0, 0.0], method, args=(k,), rtol=1e-9, atol=1e-11, **options)


@pytest.mark.parametrize("f", FORMS)
@pytest.mark.parametrize("method", METHODS)
def test_right_hand_sides(f, method):
    value, slope = ag.jvp(lambda k: solved(f, k, method).y[:, -1], (K,), (1.0,)) if method not in ("Adams", "BDF") else (0, 0)
    jacobian = ag.jacobian(lambda k: solved(f, k, method).y[:, -1])(K)
    np.testing.assert_allclose(jacobian, OF_K, rtol=2e-5, atol=1e-6)
    np.testing.assert_allclose(solved(f, K, method).y[:, -1], STATE, rtol=1e-6)
    if method not in ("Adams", "BDF"):
        np.testing.assert_allclose(value, STATE, rtol=1e-6)
        np.testing.assert_allclose(slope, OF_K, rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("f", FORMS)
def test_they_record_the_same_solve(f):
    """To rounding: the steps are the same ones."""
    of_f, of_list = (
        ag.compile(ag.value_and_grad(lambda k, f=f: solved(f, k).y[0, -1])) for f in (f, lambda t, y, k: [y[1], -k * y[0]])
    )
    np.testing.assert_allclose(of_f(K), of_list(K), rtol=1e-9)
    np.testing.assert_allclose(of_f(1.5 * K), of_list(1.5 * K), rtol=1e-9)


@pytest.mark.parametrize("solver", [ag.ode_adams, ag.ode_bdf, ag.ode_rk45, ag.ode_tsit5, ag.ode_dop853, ag.ode_rodas4])
def test_stans_names(solver):
    y = ag.jacobian(lambda k: solver(by_array, np.array([1.0, 0.0 * k]), 0.0, np.array([0.5, END]), k)[-1])(K)
    np.testing.assert_allclose(y, OF_K, rtol=1e-4, atol=1e-5)


P = np.array([1.2, -0.3, 2.0, 0.4])


def solution(p, join, f):
    """Everything that may be recorded, joined: initial state, arguments, times."""
    result = ag.solve_ivp(f, join([0.0, p[2]]), join([p[0], p[1]]), "auto", join([p[3], 1.0]), args=(join([p[0] * 2, p[1]]),))
    return result.y


@pytest.mark.parametrize("transform", [ag.jacobian, lambda f: ag.compile(ag.jacobian(f))])
def test_initial_states_times_and_arguments(transform):
    def damped(t, y, q):
        return np.array([y[1], -q[0] * y[0] + q[1] * y[1]])

    got = transform(lambda p: solution(p, np.array, damped))(P)
    np.testing.assert_allclose(got, transform(lambda p: solution(p, ag.array, damped))(P), rtol=1e-12)


def test_second_derivatives():
    hessians = [
        ag.hessian(lambda p, join=join: ag.solve_ivp(by_array, (0.0, END), join([p[0], 0.0]), args=(p[1],)).y[0, -1])
        for join in (np.array, ag.array)
    ]
    p = np.array([1.0, K])
    np.testing.assert_allclose(hessians[0](p), hessians[1](p), rtol=1e-12)
    slope = -END * np.sin(W * END) / (2 * W)
    curvature = (END * np.sin(W * END) / W - END**2 * np.cos(W * END)) / (4 * K)
    np.testing.assert_allclose(hessians[0](p), [[0.0, slope], [slope, curvature]], atol=1e-5)


def test_events_resets_and_doses():
    """A ball that falls from rest meets the ground at sqrt(2 h / g), and bounces to the height r^2 h."""

    def fall(t, y, q):
        return np.array([y[1], -q[1]])

    def ground(t, y, q):
        return np.array(y[0]) - np.array([0.0, 1.0]) @ np.array([q[0], 0.0])

    def bounce(t, y, q):
        return np.array([0.0, -q[2] * y[1]])

    def run(q):
        h = q[0]
        event = ag.Event(ground, direction=-1, reset=bounce, terminal=2)
        result = ag.solve_ivp(
            fall, (0.0, 100.0), np.array([h, 0.0]), args=(np.array([h, q[1], q[2]]),), events=event, rtol=1e-9, atol=1e-9
        )
        return np.array([result.t_events[0][0], result.t_events[0][1]])

    h, g, r = q = np.array([1.5, 9.81, 0.7])
    first = np.sqrt(2 * h / g)
    np.testing.assert_allclose(ag.value_and_grad(lambda q: run(q)[0])(q)[0], first, rtol=1e-7)
    expected = [[first / (2 * h), -first / (2 * g), 0.0]]
    expected.append([expected[0][0] * (1 + 2 * r), expected[0][1] * (1 + 2 * r), 2 * first])
    np.testing.assert_allclose(ag.jacobian(run)(q), expected, rtol=1e-6, atol=1e-7)

    def infused(p):
        doses = [ag.Dose(np.array(p[0]), 0, np.array(p[1])), ag.Dose(0.5, 0, np.array([p[1]]))]
        return ag.solve_ivp(
            lambda t, y: np.array([-y[0]]), (0.0, 2.0), [0.0], "BDF", [2.0], doses=doses, rtol=1e-9, atol=1e-11
        ).y[0, 0]

    p = np.array([0.8, 3.0])
    expected = [3 * np.exp(-1.2), np.exp(-1.2) + np.exp(-1.5)]
    np.testing.assert_allclose(ag.grad(infused)(p), expected, rtol=1e-6)


def test_structured_states_dense_output_and_stops():
    def exchange(t, y, q):
        flow = q[0] * y["a"]
        return {"a": np.array([-flow[0], -flow[1]]), "b": np.array(flow[0] + flow[1])}

    def run(p, join):
        y0 = {"a": join([p[0], 1.0]), "b": 0.0}
        result = ag.solve_ivp(exchange, (0.0, 2.0), y0, args=(join([p[1]]),), dense_output=True, tstops=join([p[0], 1.5]))
        return result.sol(join([p[0], 0.3]))["b"]

    p = np.array([0.7, 1.1])
    np.testing.assert_allclose(
        *(ag.jacobian(lambda p, join=join: run(p, join))(p) for join in (np.array, ag.array)), rtol=1e-12
    )


def test_many_steady_states_and_equations_with_constraints():
    def one(p, join):
        subject = ag.Subject((0.0, END), join([p[0], 0.0]), args=(join([p[1]])[0],))
        many = ag.solve_many(lambda t, y, k: join([y[1], -k * y[0]]), [subject])[0].y[:, -1]
        rest = ag.steady_state(
            lambda t, y, q: join([q[0] - y[0], y[0] - q[1] * y[1]]), join([1.0, p[0]]), args=(join([p[0], p[1]]),)
        ).y
        dae = ag.solve_dae(
            lambda t, y, yp, q: join([yp[0] + q[0] * y[0], y[1] - q[1] * y[0]]),
            (0.0, 1.0),
            join([p[0], 0.0]),
            args=(join([p[0], p[1]]),),
        ).y[:, -1]
        return np.concatenate([many, rest, dae])

    p = np.array([1.3, 0.8])
    got, expected = (ag.jacobian(lambda p, join=join: one(p, join))(p) for join in (np.array, ag.array))
    np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(got[2:4], [[1.0, 0.0], [1 / p[1], -p[0] / p[1] ** 2]], rtol=1e-6, atol=1e-7)


def test_numbers_only_where_nothing_may_be_recorded():
    with pytest.raises(TypeError, match="rtol is of dtype object, but must be real numbers"):
        ag.grad(lambda p: ag.solve_ivp(by_array, (0.0, 1.0), [1.0, 0.0], args=(p,), rtol=np.array(p)).y[0, 0])(1e-6)
