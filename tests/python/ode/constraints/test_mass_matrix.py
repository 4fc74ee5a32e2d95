"""Systems M y' = f with a mass matrix, singular or not: values, gradients, tangents and Hessians against closed forms."""

from __future__ import annotations

import pickle

import mpmath as mp
import numpy as np
import pytest
import scipy.integrate
import scipy.sparse

import agrad as ag
from closed_forms import check_derivatives

SINGULAR = np.diag([1.0, 0.0])
TIGHT = {"rtol": 1e-10, "atol": 1e-11}


def decay(t, y, k):
    """The system x' = z and 0 = z + k x."""
    return [y[1], y[1] + k * y[0]]


def driven(t, y, k, w):
    """The system x' = z and 0 = z + k x - sin(w t)."""
    return [y[1], y[1] + k * y[0] - np.sin(w * t)]


def driven_closed(x0, k, w, start, end):
    def of(t):
        return (k * mp.sin(w * t) - w * mp.cos(w * t)) / (k**2 + w**2)

    x = (x0 - of(start)) * mp.exp(-k * (end - start)) + of(end)
    return [x, mp.sin(w * end) - k * x]


def driven_end(p, method="Rodas5P", **options):
    options = TIGHT | options
    return ag.solve_ivp(driven, (p[3], p[4]), [p[0], 0.0], method, args=(p[1], p[2]), mass_matrix=SINGULAR, **options).y[:, -1]


def jumps(x0, k, c, b, start, amount, length, end):
    """A dose of b at once, an infusion, both of x with 2 x' = z, z = -k x, and an unused number c."""
    r = k / 2
    x = x0 * mp.exp(-r * end) + b * mp.exp(-r * (end - start))
    x += amount / length / r * (mp.exp(-r * (end - start - length)) - mp.exp(-r * (end - start)))
    return [x, -k * x]


def jumps_end(p):
    doses = [ag.Dose(p[4], 0, p[3]), ag.Dose(p[4], 0, p[5], duration=p[6])]
    options = {"args": (p[1],), "mass_matrix": 2 * SINGULAR, "doses": doses}
    return ag.solve_ivp(decay, (0.0, p[7]), [p[0], 0.0], "Rodas5P", **options, **TIGHT).y[:, -1]


def reset_solution(p):
    """Where z reaches -k c, x grows by b; z must follow."""
    event = ag.Event(lambda t, y, k, c, b: y[1] + k * c, reset=lambda t, y, k, c, b: [y[0] + b, y[1]])
    options = {"args": (p[1], p[2], p[3]), "mass_matrix": SINGULAR, "events": [event]}
    return ag.solve_ivp(lambda t, y, k, c, b: decay(t, y, k), (0.0, p[7]), [p[0], 0.0], "Rodas4", **options, **TIGHT)


def reset_closed(x0, k, c, b, start, amount, length, end):
    x = (c + b) * x0 / c * mp.exp(-k * end)
    return [x, -k * x, mp.log(x0 / c) / k]


def reset_end(p):
    result = reset_solution(p)
    return np.concatenate([result.y[:, -1], result.t_events[0]])


def switched_end(p):
    """The constraint alone jumps where x falls below c."""

    def fun(t, y, k, c):
        return [y[1], y[1] + k * y[0] * np.where(y[0] < c, 2.0, 1.0)]

    options = {"args": (p[1], p[2]), "mass_matrix": SINGULAR}
    return ag.solve_ivp(fun, (0.0, p[7]), [p[0], 0.0], "Rodas5P", **options, **TIGHT).y[:, -1]


def switched_closed(x0, k, c, b, start, amount, length, end):
    x = c * mp.exp(-2 * k * (end - mp.log(x0 / c) / k))
    return [x, -2 * k * x]


def stopped_end(p):
    """The constraint alone jumps at a time, and the algebraic state with it."""

    def fun(t, y, k, s):
        return [y[1], y[1] + k * y[0] * np.where(t < s, 1.0, 2.0)]

    options = {"args": (p[1], p[4]), "mass_matrix": SINGULAR}
    return ag.solve_ivp(fun, (0.0, p[7]), [p[0], 0.0], "Rodas5P", **options, **TIGHT).y[:, -1]


def stopped_closed(x0, k, c, b, start, amount, length, end):
    x = x0 * mp.exp(-k * start - 2 * k * (end - start))
    return [x, -2 * k * x]


def many_end(p):
    subjects = [
        ag.Subject((0.0, 0.5), [p[0], 0.0], [0.0, 0.5], (p[1],)),
        ag.Subject((0.0, p[7]), [p[0], 0.0], [p[7]], (p[1],), doses=[ag.Dose(p[4], 0, p[5])]),
    ]
    first, second = ag.solve_many(decay, subjects, mass_matrix=SINGULAR, **TIGHT)
    return np.concatenate([first.y[1], second.y[:, 0]])


def many_closed(x0, k, c, b, start, amount, length, end):
    x = x0 * mp.exp(-k * end) + amount * mp.exp(-k * (end - start))
    return [-k * x0, -k * x0 * mp.exp(-k / 2), x, -k * x]


def backwards_end(p):
    return ag.solve_ivp(decay, (p[4], 0.0), [p[0], 0.0], "Rodas5P", args=(p[1],), mass_matrix=SINGULAR, **TIGHT).y[:, -1]


def backwards_closed(x0, k, c, b, start, amount, length, end):
    x = x0 * mp.exp(k * start)
    return [x, -k * x]


NUMBERS = [0.9, 1.1, 0.5, 0.6, 0.3, 0.4, 0.25, 0.95]
DRIVEN = [0.7, 1.3, 2.1, 0.2, 1.9]
CASES = {
    "driven": (driven_end, driven_closed, DRIVEN),
    "Rodas4": (lambda p: driven_end(p, "Rodas4"), driven_closed, DRIVEN),
    "auto": (lambda p: driven_end(p, "auto"), driven_closed, DRIVEN),
    "doses": (jumps_end, jumps, NUMBERS),
    "reset": (reset_end, reset_closed, NUMBERS),
    "switch": (switched_end, switched_closed, NUMBERS),
    "stop": (stopped_end, stopped_closed, NUMBERS),
    "many": (many_end, many_closed, NUMBERS),
    "backwards": (backwards_end, backwards_closed, NUMBERS),
}


@pytest.mark.thread_unsafe(reason="sets mpmath's precision")
@pytest.mark.parametrize("case", CASES)
def test_derivatives_are_those_of_the_closed_form(case):
    check_derivatives(*CASES[case])


def test_states_at_events_and_starts_are_consistent():
    result = reset_solution(NUMBERS)
    np.testing.assert_allclose(result.y[:, 0], [0.9, -0.99], rtol=1e-12)  # z was a guess of 0
    np.testing.assert_allclose(result.y_events[0], [[0.5, -0.55]], rtol=1e-9)
    dosed = ag.solve_ivp(
        decay, (0.0, 1.0), [1.0, 0.0], t_eval=[0.5], args=(2.0,), doses=[ag.Dose(0.5, 0, 1.0)], mass_matrix=SINGULAR
    )
    assert dosed.y[1, 0] == pytest.approx(-2 * dosed.y[0, 0], rel=1e-12)


K = np.array([0.04, 1e4, 3e7])


def robertson(t, y, k):
    slow, back, fast = k[0] * y[0], k[1] * y[1] * y[2], k[2] * y[1] ** 2
    return [back - slow, slow - back - fast, y[0] + y[1] + y[2] - 1]


def reduced(t, y, k):
    return robertson(t, [y[0], y[1], 1 - y[0] - y[1]], k)[:2]


def robertson_end(k, **options):
    options = {"rtol": 1e-9, "atol": [1e-12, 1e-14, 1e-12]} | options
    return ag.solve_ivp(robertson, (0.0, 1e3), [1.0, 0.0, 0.0], args=(k,), mass_matrix=np.diag([1.0, 1, 0]), **options).y[:, -1]


def reduced_end(k):
    return ag.solve_ivp(reduced, (0.0, 1e3), [1.0, 0.0], "Rodas5P", args=(k,), rtol=1e-11, atol=[1e-14, 1e-17]).y[:, -1]


def test_robertson_as_a_constrained_system():
    y, alone = robertson_end(K), reduced_end(K)
    assert y.sum() == pytest.approx(1, abs=1e-14)
    np.testing.assert_allclose(y[:2], alone, rtol=1e-7)
    radau = scipy.integrate.solve_ivp(lambda t, y: reduced(t, y, K), (0.0, 1e3), [1.0, 0.0], "Radau", rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(y[:2], radau.y[:, -1], rtol=1e-6)
    jacobian = ag.jacrev(reduced_end)(K) * K
    expected = np.vstack([jacobian, -jacobian.sum(axis=0)])
    scale = np.abs(expected).max(axis=1, keepdims=True)
    for transform in (ag.jacrev, ag.jacfwd):
        np.testing.assert_allclose(transform(robertson_end)(K) * K / scale, expected / scale, atol=1e-7)
    second = ag.hessian(lambda k: reduced_end(k)[1])(K) * np.outer(K, K)
    found = ag.hessian(lambda k: robertson_end(k)[1])(K) * np.outer(K, K)
    np.testing.assert_allclose(found, second, atol=1e-7 * np.abs(second).max())


@pytest.mark.parametrize("control", ["auto", "states", "derivatives"])
def test_gradients_at_default_tolerances(control):
    gradient = ag.grad(lambda k: robertson_end(k, rtol=1e-6, atol=1e-10, error_control=control)[2])(K) * K
    expected = -ag.jacrev(reduced_end)(K).sum(axis=0) * K
    np.testing.assert_allclose(gradient, expected, atol=1e-3 * np.abs(expected).max())


@pytest.mark.parametrize("linear_solver", ["auto", "dense", "sparse"])
@pytest.mark.parametrize("given", [np.asarray, scipy.sparse.csc_matrix])
def test_regular_mass_matrix(linear_solver, given):
    r = np.random.default_rng(1)
    mass, by_state, start = r.normal(size=(7, 7)) + 3 * np.eye(7), r.normal(size=(7, 7)) - 4 * np.eye(7), r.normal(size=7)
    inverse = np.linalg.inv(mass)

    def fun(t, y, p):
        return by_state @ y + p[0] * np.tanh(y) + p[1] * np.cos(t)

    def end(p):
        options = {"mass_matrix": given(mass), "linear_solver": linear_solver, **TIGHT}
        if linear_solver == "sparse":
            options["jac_sparsity"] = np.ones((7, 7))
        return ag.solve_ivp(fun, (0.0, p[2]), start * p[0], "Rodas5P", args=(p,), **options).y[:, -1]

    def alone(p):
        slope = lambda t, y, p: inverse @ fun(t, y, p)  # noqa: E731
        return ag.solve_ivp(slope, (0.0, p[2]), start * p[0], "DOP853", args=(p,), rtol=1e-12, atol=1e-12).y[:, -1]

    p = np.array([0.8, 1.2, 0.9])
    np.testing.assert_allclose(end(p), alone(p), rtol=1e-8)
    np.testing.assert_allclose(ag.jacrev(end)(p), ag.jacrev(alone)(p), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(ag.jacfwd(end)(p), ag.jacrev(alone)(p), rtol=1e-7, atol=1e-9)
    step = np.array([0.0, 1e-4, 0.0])
    by_differences = (ag.jacrev(alone)(p + step) - ag.jacrev(alone)(p - step)).sum(axis=0) / 2e-4
    np.testing.assert_allclose(ag.hessian(lambda q: end(q).sum())(p)[1], by_differences, rtol=1e-5, atol=1e-6)


def elements(n):
    """Linear finite elements with algebraic ends: a tridiagonal mass matrix whose first and last rows are zero."""
    rows = scipy.sparse.diags([1 / 6, 4 / 6, 1 / 6], [-1, 0, 1], shape=(n, n)).tolil()
    rows[0, :] = rows[n - 1, :] = 0
    return rows.tocsr() / (n - 1)


def heat(t, y, k):
    inner = k * (y[2:] - 2 * y[1:-1] + y[:-2]) * (y.size - 1)
    return np.concatenate([[y[0] - np.sin(3 * t)], inner, [y[-1] - y[-2] + 0.1 * y[-1] ** 2]])


def heat_total(k, n=60, **options):
    options = {"mass_matrix": elements(n), "rtol": 1e-8, "atol": 1e-8} | options
    return ag.solve_ivp(heat, (0.0, 0.5), np.zeros(n), "Rodas5P", args=(k,), **options).y[:, -1].sum()


@pytest.mark.parametrize("linear_solver", ["dense", "banded", "sparse"])
def test_all_linear_algebra_gives_the_same(linear_solver):
    def of(transform):
        return transform(heat_total)(1.3), transform(lambda k: heat_total(k, linear_solver=linear_solver))(1.3)

    for transform in (lambda f: f, ag.grad, ag.jacfwd, ag.hessian):
        by_default, chosen = of(transform)
        assert chosen == pytest.approx(by_default, rel=1e-9)
    tight = [heat_total(1.3 + h, rtol=1e-11, atol=1e-11) for h in (1e-4, -1e-4)]
    assert ag.grad(heat_total)(1.3) == pytest.approx((tight[0] - tight[1]) / 2e-4, rel=1e-6)


def loss(p):
    return driven_end(p)[1]


def test_compiled_functions_and_pickles_have_the_mass_matrix():
    p, other = np.array(DRIVEN), np.array([0.4, 0.9, 1.7, 0.0, 1.2])
    compiled = ag.compile(loss)
    assert compiled(p) == loss(p)
    restored = pickle.loads(pickle.dumps(compiled))
    assert restored(other) == pytest.approx(loss(other), rel=1e-9)
    np.testing.assert_allclose(ag.grad(restored)(other), ag.grad(loss)(other), rtol=1e-8)


def test_gradient_check_has_the_mass_matrix():
    p = np.array(DRIVEN)
    checked = ag.grad(lambda q: driven_end(q, rtol=1e-7, atol=1e-7, gradient_check=1e-3)[1])(p)
    np.testing.assert_allclose(checked, ag.grad(loss)(p), rtol=1e-4, atol=1e-5)


def test_a_report_of_the_steps_does_not_judge_the_stiffness_by_the_jacobian_alone():
    report = ag.solve_ivp(driven, (0.0, 3.0), [1.0, 0.0], args=(1.2, 3.0), mass_matrix=SINGULAR, **TIGHT).explain()
    assert report.steps >= 20
    assert np.isnan(report.columns["damping"]).all()
    assert "not stiff" not in str(report)


def test_dense_output_and_structured_states():
    def fun(t, y, k):
        return {"x": y["z"], "z": y["z"] + k * y["x"]}

    result = ag.solve_ivp(fun, (0.0, 1.0), {"x": 1.0, "z": 0.0}, args=(0.5,), mass_matrix=SINGULAR, dense_output=True, **TIGHT)
    assert result.y["z"][-1] == pytest.approx(-0.5 * np.exp(-0.5), rel=1e-9)
    plain = ag.solve_ivp(decay, (0.0, 1.0), [1.0, 0.0], args=(0.5,), mass_matrix=SINGULAR, dense_output=True, **TIGHT)
    times = np.array([0.0, 0.3, 1.0])
    np.testing.assert_allclose(plain.sol(times), np.exp(-0.5 * times) * [[1.0], [-0.5]], rtol=1e-8)
    slope = ag.grad(
        lambda k: ag.solve_ivp(decay, (0.0, 1.0), [1.0, 0.0], args=(k,), mass_matrix=SINGULAR, dense_output=True, **TIGHT).sol(
            0.3
        )[1]
    )
    assert slope(0.5) == pytest.approx(-(1 - 0.15) * np.exp(-0.15), rel=1e-8)


def solve(fun=decay, y0=(1.0, 0.5), **options):
    options = {"mass_matrix": SINGULAR} | options
    return ag.solve_ivp(fun, (0.0, 1.0), y0, args=(1.0,), **options)


REFUSED = [
    (ValueError, {"method": "Tsit5"}, "mass_matrix is given, but must not be for 'Tsit5'"),
    (ValueError, {"method": "DOP853"}, "mass_matrix is given, but must not be for 'DOP853'"),
    (ValueError, {"method": "BDF"}, "mass_matrix is given, but must not be for 'BDF'"),
    (ValueError, {"method": "Adams"}, "mass_matrix is given, but must not be for 'Adams'"),
    (ag.ShapeError, {"mass_matrix": np.eye(3)}, r"mass_matrix is of shape \(3, 3\), but must be of shape \(2, 2\)"),
    (ag.ShapeError, {"mass_matrix": [1.0, 0.0]}, r"mass_matrix is of shape \(2,\), but must be of shape \(2, 2\)"),
    (ag.DomainError, {"mass_matrix": [[1.0, np.nan], [0.0, 0.0]]}, r"mass_matrix\[0, 1\] is nan, but must be finite"),
    (TypeError, {"mass_matrix": [["a", "b"], ["c", "d"]]}, "mass_matrix is of dtype <U1, but must be real numbers"),
    (ag.DomainError, {"doses": [ag.Dose(0.5, 1, 1.0)]}, r"doses\[0\].state is 1, but must be a state whose derivative occurs"),
    (ag.SolverError, {"fun": lambda t, y, k: [y[1], y[0] - np.sin(t)]}, "the system is of index 2 or more, or singular"),
    (ag.SolverError, {"fun": lambda t, y, k: [y[1], y[1] ** 2 + 1]}, "no state was found that satisfies the constraints"),
]


@pytest.mark.parametrize(("error", "options", "message"), REFUSED)
def test_what_cannot_be_solved_is_refused_by_name(error, options, message):
    with pytest.raises(error, match=message):
        solve(**options)


def test_a_recorded_mass_matrix_is_for_single_solves():
    subjects = [ag.Subject((0.0, 1.0), [1.0, 0.0], [1.0], (1.0,))]
    with pytest.raises(TypeError, match="mass_matrix is recorded, but must be plain numbers"):
        ag.grad(lambda m: ag.solve_many(decay, subjects, mass_matrix=SINGULAR * m)[0].y[0, -1])(1.0)


def test_a_distant_guess_is_found_by_damped_steps():
    def fun(t, y, k):
        return [y[1], np.exp(y[1] / 0.026) - np.exp((1 - y[0]) / 0.026)]  # z = 1 - x

    assert solve(fun, (0.5, 2.0), rtol=1e-9, atol=1e-9).y[0, -1] == pytest.approx(1 - 0.5 * np.exp(-1), rel=1e-7)
