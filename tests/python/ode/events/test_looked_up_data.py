"""Steps and curves through data in a right-hand side: np.searchsorted of t, and ag.interpolate, against exact solutions."""

import numpy as np
import pytest
import scipy.interpolate

import agrad as ag

METHODS = ["auto", "Tsit5", "DOP853", "Rodas4", "Rodas5P", "BDF", "Adams"]
SECOND = [m for m in METHODS if m not in ("BDF", "Adams")]
T = np.array([0.0, 2.0, 2.1, 5.0, 7.5])
V = np.array([1.0, -2.0, 3.0, 0.5, 2.0])
END = 6.3


def of_steps(x, kind="previous"):
    """y(END) of y' = u(t) - k y, y(0) = 0, for steps: x is k, the times and the values."""
    k, times, values = x[0], x[1:6], x[6:]
    values = values if kind == "previous" else np.concatenate([values[1:], values[-1:]])
    y = 0.0
    for i, (begin, end) in enumerate([(0.0, times[1]), (times[1], times[2]), (times[2], times[3]), (times[3], END)]):
        y = y * np.exp(-k * (end - begin)) + values[i] * (1 - np.exp(-k * (end - begin))) / k
    return y


def solve(method, u, x):
    def slope(t, y, x):
        return [u(x)(t) - x[0] * y[0]]

    return ag.solve_ivp(slope, (0.0, END), [0.0], method, t_eval=[END], args=(x,), rtol=1e-9, atol=1e-11).y[0, 0]


X = np.concatenate([[0.4], T, V])
FORCINGS = {
    "previous": lambda x: ag.interpolate(x[1:6], x[6:], "previous"),
    "next": lambda x: ag.interpolate(x[1:6], x[6:], "next"),
    "searchsorted": lambda x: lambda t: x[6:][np.searchsorted(x[2:6], t, side="right")],
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", FORCINGS)
def test_steps_with_times_and_values(name, method):
    kind = "next" if name == "next" else "previous"
    f = lambda x: solve(method, FORCINGS[name], x)  # noqa: E731
    assert ag.compile(f)(X) == pytest.approx(of_steps(X, kind), rel=1e-6)  # with recorded arrays: NumPy's take no such index
    expected = ag.grad(lambda x: of_steps(x, kind))(X)
    np.testing.assert_allclose(ag.grad(f)(X), expected, rtol=2e-5, atol=1e-6)
    np.testing.assert_allclose(ag.compile(ag.jacfwd(f))(X), expected, rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("method", SECOND)
def test_second_derivatives_of_steps(method):
    f = lambda x: solve(method, FORCINGS["previous"], x)  # noqa: E731
    np.testing.assert_allclose(ag.hessian(f)(X), ag.hessian(of_steps)(X), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_steps_of_plain_data(method):
    u = ag.interpolate(T, V, "previous")
    f = lambda k: solve(method, lambda x: u, np.stack([k]))  # noqa: E731
    expected = ag.value_and_grad(lambda k: of_steps(np.concatenate([np.stack([k]), T, V])))(0.4)
    np.testing.assert_allclose(ag.value_and_grad(f)(0.4), expected, rtol=2e-5)


@pytest.mark.parametrize("kind", ["linear", "cubic", "pchip"])
def test_curves_are_those_of_scipy(kind):
    at = np.concatenate([np.linspace(-1.0, 8.0, 91), T])
    inside = np.clip(at, T[0], T[-1])
    of = {"cubic": scipy.interpolate.CubicSpline, "pchip": scipy.interpolate.PchipInterpolator}
    expected = np.interp(inside, T, V) if kind == "linear" else of[kind](T, V)(inside)
    np.testing.assert_allclose(ag.interpolate(T, V, kind)(at), expected, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(ag.compile(lambda t, v: ag.interpolate(T, v, kind)(t))(at, V), expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("kind", ["linear", "cubic", "pchip"])
def test_derivatives_of_curves_by_differences(kind):
    f = lambda x: ag.interpolate(x[1:6], x[6:], kind)(x[0])  # noqa: E731
    x = np.concatenate([[3.3], T, V])
    size = 1e-5
    expected = [(f(x + size * e) - f(x - size * e)) / (2 * size) for e in np.eye(x.size)]
    for derivative in (ag.grad, ag.jacfwd, lambda f: ag.compile(ag.grad(f))):
        np.testing.assert_allclose(derivative(f)(x), expected, rtol=1e-6, atol=1e-8)
    by_second = ag.hessian(f)(x)
    of_grad = [(ag.grad(f)(x + size * e) - ag.grad(f)(x - size * e)) / (2 * size) for e in np.eye(x.size)]
    np.testing.assert_allclose(by_second, of_grad, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["linear", "cubic", "pchip"])
def test_solves_with_curves(kind, method):
    """The state is the integral of the data, which SciPy has in closed form; the derivative by the data is linear."""
    f = lambda v: ag.solve_ivp(  # noqa: E731
        lambda t, y, v: [ag.interpolate(T, v, kind)(t)],
        (0.0, END),
        [0.0],
        method,
        t_eval=[END],
        args=(v,),
        rtol=1e-9,
        atol=1e-11,
    ).y[0, 0]

    def exact(v):
        grid = np.linspace(0.0, END, 200_001)
        return np.trapezoid(ag.interpolate(T, v, kind)(grid), grid)

    assert f(V) == pytest.approx(exact(V), rel=1e-7)
    by_differences = [(exact(V + 1e-5 * e) - exact(V - 1e-5 * e)) / 2e-5 for e in np.eye(V.size)]
    np.testing.assert_allclose(ag.grad(f)(V), by_differences, rtol=1e-5, atol=1e-6)


def test_search_in_a_compiled_function():
    table, x = np.array([0.0, 1.0, 1.0, 3.0]), np.array([-1.0, 0.0, 1.0, 2.0, 3.0, 4.0, np.nan])
    for side in ("left", "right"):
        run = ag.compile(lambda x, side=side: np.searchsorted(table, x, side=side))
        np.testing.assert_array_equal(run(x), np.searchsorted(table, x, side=side))


def test_rows_at_recorded_places():
    rows = np.arange(12.0).reshape(4, 3)

    def f(rows, t):
        return rows[np.searchsorted(np.array([1.0, 2.0, 3.0]), t)] ** 2

    np.testing.assert_array_equal(ag.compile(f)(rows, np.array([0.5, 2.5])), rows[[0, 2]] ** 2)
    gradient = ag.compile(ag.grad(lambda rows, t: f(rows, t).sum()))(rows, 2.5)
    np.testing.assert_array_equal(gradient, 2 * rows * (np.arange(4.0) == 2)[:, None])
    np.testing.assert_array_equal(ag.compile(lambda x, t: x[np.floor(t) - 3.0])(np.arange(4.0), 2.2), 3.0)


def test_a_place_outside_is_an_error():
    run = ag.compile(lambda x, t: x[np.floor(t)])
    assert run(np.arange(4.0), 3.5) == 3.0
    with pytest.raises(ValueError, match=r"^index: place is 4, but must be a whole number below the table's length 4"):
        run(np.arange(4.0), 4.5)


def test_states_are_no_places():
    def slope(t, y, p):
        return [ag.interpolate(np.array([0.0, 1.0, 2.0]), p, "previous")(y[0])]

    with pytest.raises(ValueError, match=r"np\.searchsorted: argument in a right-hand side depends on a state.* but must be"):
        ag.solve_ivp(slope, (0.0, 3.0), [0.0], args=(np.array([1.0, 2.0, 3.0]),))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((T, V, "spline"), r"^interpolate: kind is 'spline', but must be one of 'linear', "),
        ((T, V[:-1]), r"^interpolate: times and values are of shapes \(5,\) and \(4,\), but must be"),
        ((T[:3], V[:3], "cubic"), r"at least 4 for kind='cubic'$"),
        ((T[::-1], V), r"^interpolate: times are not finite or do not increase, but must"),
    ],
)
def test_arguments_of_interpolate(arguments, message):
    with pytest.raises(ValueError, match=message):
        ag.interpolate(*arguments)
