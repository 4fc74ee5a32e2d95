"""Second derivatives through Rodas4: differences with the steps held, the explicit methods, every linear algebra, refusals."""

import numpy as np
import pytest

import agrad as ag

P, Y0 = np.array([0.55, 0.028, 0.026, 0.84]), np.array([30.0, 4.0])


@pytest.fixture(params=["plain", "compiled"])
def made(request):
    return ag.compile if request.param == "compiled" else lambda function: function


def predation(t, y, p):
    return [p[0] * y[0] - p[1] * y[0] * y[1], p[2] * y[0] * y[1] - p[3] * y[1]]


def forced(t, y, p):
    return [p[0] * y[0] * (1 + 0.3 * np.sin(t * p[3])) - p[1] * y[0] * y[1], p[2] * y[0] * y[1] - p[3] * y[1]]


def reaction(t, y, p):
    """Reaction and diffusion of many states, a band of three."""
    left, right = np.concatenate([[1.0], y[:-1]]), np.concatenate([y[1:], [0.5]])
    return 30.0 * (left - 2.0 * y + right) + p[0] * np.exp(-p[1] * y) - p[2] * y**3


def loss(x, fun=predation, method="Rodas4", **options):
    y = ag.solve_ivp(fun, (0.0, 6.0), x[4:], method, [1.0, 3.0, 6.0], args=(x[:4],), **options).y
    return np.sum((y - 10.0) ** 2) / 100


X = np.concatenate([P, Y0])
HELD = {"rtol": 1e3, "atol": 1e3, "first_step": 0.25, "max_step": 0.25}


def test_hessians_are_those_of_the_steps(made):
    """Symmetric, and the differences of the gradient, with respect to states and parameters."""
    hessian = made(ag.hessian(lambda x: loss(x, **HELD)))(X)
    scale = np.outer(X, X)
    np.testing.assert_allclose(hessian * scale, hessian.T * scale, rtol=1e-9, atol=1e-9)
    g, differences = ag.grad(lambda x: loss(x, **HELD)), np.empty((6, 6))
    for place, step in enumerate(1e-4 * X):
        d = np.zeros(6)
        d[place] = step
        differences[place] = (8 * (g(X + d) - g(X - d)) - (g(X + 2 * d) - g(X - 2 * d))) / (12 * step)
    np.testing.assert_allclose(hessian * scale, differences * scale, rtol=1e-6, atol=1e-6)
    v = np.array([0.1, 0.01, -0.01, 0.2, 1.0, -0.5])
    np.testing.assert_allclose(made(ag.hvp(lambda x: loss(x, **HELD)))(X, v), hessian @ v, rtol=1e-9, atol=1e-9)


def test_of_a_system_that_depends_on_time():
    """Where the derivative with respect to time depends on parameters, too."""
    tight = {"rtol": 1e-9, "atol": 1e-9}
    stiff = ag.hessian(lambda x: loss(x, forced, **tight))(X)
    explicit = ag.hessian(lambda x: loss(x, forced, "DOP853", **tight))(X)
    scale = np.outer(X, X)
    np.testing.assert_allclose(stiff * scale, explicit * scale, rtol=1e-4, atol=1e-4 * np.abs(explicit * scale).max())


@pytest.mark.parametrize("linear_solver", ["dense", "banded", "sparse"])
def test_every_linear_algebra(linear_solver):
    def f(p, linear_solver=linear_solver, method="Rodas4", tolerance=1e-6):
        options = {"linear_solver": linear_solver} if method == "Rodas4" else {}
        y = ag.solve_ivp(
            reaction, (0.0, 0.5), np.linspace(1.0, 0.5, 12), method, [0.1, 0.5], args=(p,), rtol=tolerance, **options
        ).y
        return np.sum(y**2)

    p = np.array([2.0, 0.7, 1.1])
    hessian = ag.hessian(f)(p)
    np.testing.assert_allclose(hessian, ag.hessian(lambda x: f(x, "dense"))(p), rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(hessian, ag.hessian(lambda x: f(x, method="DOP853", tolerance=1e-10))(p), rtol=1e-4, atol=1e-5)


def test_of_robertson_and_with_little_memory():
    def robertson(t, y, k):
        first, second, third = k[0] * y[0], k[1] * y[1] * y[2], k[2] * y[1] ** 2
        return [second - first, first - second - third, third]

    def f(logs, tolerance, **options):
        y = ag.solve_ivp(
            robertson, (0.0, 40.0), [1.0, 0.0, 0.0], "Rodas4", [0.4, 4.0, 40.0], args=(np.exp(logs),), rtol=tolerance,
            atol=1e-4 * tolerance, **options,
        ).y  # fmt: skip
        return np.sum(np.log(y[0]))

    logs = np.log([0.04, 1e4, 3e7])
    hessian = ag.hessian(lambda x: f(x, 1e-7))(logs)
    np.testing.assert_allclose(hessian, hessian.T, rtol=1e-8, atol=1e-10)
    np.testing.assert_array_equal(ag.hessian(lambda x: f(x, 1e-7, max_memory=2e4))(logs), hessian)
    g, d = ag.grad(lambda x: f(x, 1e-10)), 1e-3 * np.eye(3)
    differences = [(8 * (g(logs + e) - g(logs - e)) - (g(logs + 2 * e) - g(logs - 2 * e))) / 12e-3 for e in d]
    np.testing.assert_allclose(hessian, differences, rtol=1e-4, atol=1e-5)


def van_der_pol(t, y, mu):
    return [y[1], mu[0] * ((1 - y[0] ** 2) * y[1]) - mu[1] * y[0]]


def test_through_the_change_to_a_stiff_method(made):
    """From Tsit5 to Rodas4, with outputs before, several in a step and behind; initial state and parameters."""
    times = np.concatenate([[0.01, 0.02], np.linspace(1.0, 40.0, 60), [60.0]])

    def result(x, method="auto", **options):
        options = {"rtol": 1e-9, "atol": 1e-9, "error_control": "derivatives", **options}
        return ag.solve_ivp(van_der_pol, (0.0, 60.0), x[2:], method, times, args=(x[:2],), **options)

    def f(x, method="auto"):
        y = result(x, method).y
        return np.sum(y[0] ** 2) + 100 * np.sum(y[1] * y[0])

    x = np.array([100.0, 1.0, 2.0, 0.1])
    s = result(x)
    assert times[1] < s.stats["stiff_from"] < times[-1]
    hessian, scale = made(ag.hessian(f))(x), np.outer(x, x)
    np.testing.assert_allclose(hessian * scale, hessian.T * scale, rtol=1e-9, atol=1e-9 * np.abs(hessian * scale).max())
    by_rodas4 = ag.hessian(lambda x: f(x, "Rodas4"))(x)
    np.testing.assert_allclose(hessian * scale, by_rodas4 * scale, rtol=1e-4, atol=1e-6 * np.abs(hessian * scale).max())
    v = np.array([3.0, 0.2, -0.1, 0.05])
    np.testing.assert_allclose(made(ag.hvp(f))(x, v), hessian @ v, rtol=1e-9, atol=1e-9)
    value, along = ag.jvp(f, (x,), (v,))
    assert value == pytest.approx(f(x), rel=1e-14)  # the same states, added up in another order
    assert along == pytest.approx(ag.grad(f)(x) @ v, rel=1e-11)


def test_with_doses_and_infusions(made):
    """Amounts and rates, with the steps held; by Tsit5 with tight tolerances as well."""
    x = np.concatenate([X, [3.0, 2.0]])

    def f(x, method="Rodas4", fun=predation, **options):
        doses = [ag.Dose(1.0, 0, x[6]), ag.Dose(2.0, 1, x[7], 1.5)]
        y = ag.solve_ivp(fun, (0.0, 6.0), x[4:6], method, [1.0, 3.0, 6.0], args=(x[:4],), doses=doses, **options).y
        return np.sum((y - 10.0) ** 2) / 100

    hessian, g = made(ag.hessian(lambda x: f(x, **HELD)))(x), ag.grad(lambda x: f(x, **HELD))
    scale, differences = np.outer(x, x), np.empty((8, 8))
    for place, step in enumerate(1e-4 * x):
        d = np.zeros(8)
        d[place] = step
        differences[place] = (8 * (g(x + d) - g(x - d)) - (g(x + 2 * d) - g(x - 2 * d))) / (12 * step)
    np.testing.assert_allclose(hessian * scale, hessian.T * scale, rtol=1e-9, atol=1e-8)
    np.testing.assert_allclose(hessian * scale, differences * scale, rtol=1e-5, atol=1e-5)
    tight = {"rtol": 1e-9, "atol": 1e-9, "fun": forced}
    stiff, explicit = ag.hessian(lambda x: f(x, **tight))(x), ag.hessian(lambda x: f(x, "DOP853", **tight))(x)
    np.testing.assert_allclose(stiff * scale, explicit * scale, rtol=1e-4, atol=1e-4 * np.abs(explicit * scale).max())


def test_refused_by_name_where_the_matrix_has_no_program():
    def summed(t, y, p):
        return -p[0] * np.cumsum(y)

    def f(p):
        return ag.solve_ivp(summed, (0.0, 1.0), [1.0, 2.0], "Rodas4", [1.0], args=(p,)).y[0, 0]

    ag.grad(f)(np.array([0.5]))
    with pytest.raises(NotImplementedError, match="hessian: solve_ivp has first derivatives only"):
        ag.hessian(f)(np.array([0.5]))
