"""solve_ivp beside SciPy's: the same arguments, the same results, and a gradient."""

import numpy as np
import pytest
import scipy.integrate

import agrad as ag

TIGHT = {"rtol": 1e-10, "atol": 1e-12}
# Both solvers hold the tolerance per step; 1000 times that is what their steps may add up to.
NEAR = {"rtol": 1e-7, "atol": 1e-9}


def predation(t, y, growth, rates):
    """Lotka and Volterra's equations with a season."""
    prey, predators = y[0], y[1]
    return [
        growth * prey * (1 + 0.2 * np.sin(t)) - rates["eaten"] * prey * predators,
        rates["born"] * prey * predators - rates["dead"] * predators,
    ]


ARGS = (0.55, {"eaten": 0.03, "born": 0.025, "dead": 0.8})
Y0 = [30.0, 4.0]


@pytest.mark.parametrize("method", ["BDF", "Adams"])
@pytest.mark.parametrize(
    "t_eval",
    [
        np.linspace(0.5, 12.0, 20),
        [0.5, 1.0],  # neither end
        np.linspace(0.5, 9.0, 5),  # from the initial time
        (12.0,),
    ],
)
def test_equals_scipy(method, t_eval):
    got = ag.solve_ivp(predation, (0.5, 12.0), Y0, method, t_eval, args=ARGS, **TIGHT)
    true = scipy.integrate.solve_ivp(predation, (0.5, 12.0), Y0, "DOP853", t_eval, args=ARGS, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(got.t, true.t)
    assert got.y.shape == true.y.shape
    np.testing.assert_allclose(got.y, true.y, **NEAR)
    assert (got.success, got.status, got.message) == (true.success, true.status, true.message)


def test_default_times_are_the_ends():
    got = ag.solve_ivp(predation, (0.0, 3.0), Y0, args=ARGS)
    np.testing.assert_array_equal(got.t, [0.0, 3.0])
    np.testing.assert_array_equal(got.y[:, 0], Y0)
    end = ag.solve_ivp(predation, (0.0, 3.0), Y0, t_eval=[3.0], args=ARGS)
    np.testing.assert_array_equal(got.y[:, 1:], end.y)


def test_initial_time_alone():
    got = ag.solve_ivp(predation, (1.0, 3.0), Y0, t_eval=[1.0], args=ARGS)
    np.testing.assert_array_equal(got.t, [1.0])
    np.testing.assert_array_equal(got.y, np.transpose([Y0]))
    jacobian = ag.jacobian(lambda y0: ag.solve_ivp(predation, (1.0, 3.0), y0, t_eval=[1.0], args=ARGS).y)(np.array(Y0))
    np.testing.assert_array_equal(jacobian, np.eye(2)[:, None, :])


def test_first_column_is_the_initial_state_with_gradient_one():
    def states(y0):
        return ag.solve_ivp(lambda t, y: -y, (0.0, 2.0), y0, t_eval=[0.0, 2.0], **TIGHT).y

    jacobian = ag.jacobian(states)(np.array([1.0, 2.0]))
    np.testing.assert_array_equal(jacobian[:, 0], np.eye(2))
    np.testing.assert_allclose(jacobian[:, 1], np.eye(2) * np.exp(-2), **NEAR)


def test_is_ode_adjoint_tol_bit_for_bit():
    times = np.array([1.0, 4.0])
    got = ag.solve_ivp(predation, (0.0, 4.0), Y0, "BDF", times, args=ARGS, rtol=1e-5, atol=1e-7)
    np.testing.assert_array_equal(got.y.T, ag.ode_adjoint_tol(predation, Y0, 0.0, times, 1e-5, 1e-7, 100_000, *ARGS))


def test_default_method_and_tolerances():
    explicit = ag.solve_ivp(predation, (0.0, 4.0), Y0, args=ARGS, rtol=1e-6, atol=1e-8, method="auto")
    np.testing.assert_array_equal(ag.solve_ivp(predation, (0.0, 4.0), Y0, args=ARGS).y, explicit.y)


def test_adams_is_taken_in_both_directions_with_polynomials_between():
    large = 1e6  # a loss for which the tolerances are those of the design document

    def end(growth, method):
        return large * ag.solve_ivp(predation, (0.0, 4.0), Y0, method, [4.0], args=(growth, ARGS[1])).y[0, 0]

    def end_by_codes(growth):
        tolerances = (1e-6, 1e-9, 1e-6, 1e-8 / 3, 1e-6, 1e-8)
        y = ag.ode_adjoint_tol_ctl(predation, Y0, 0.0, [4.0], *tolerances, 100_000, 250, 2, 1, 1, growth, ARGS[1])
        return large * y[0, 0]

    assert ag.grad(end)(0.55, "Adams") == ag.grad(end_by_codes)(0.55)
    assert ag.grad(end)(0.55, "Adams") != ag.grad(end)(0.55, "BDF")


def test_vector_of_absolute_tolerances():
    """Equal ones are the scalar; a loose one for the predators alone leaves both free to differ within it."""
    scalar = ag.solve_ivp(predation, (0.0, 6.0), Y0, args=ARGS, rtol=1e-6, atol=1e-8)
    vector = ag.solve_ivp(predation, (0.0, 6.0), Y0, args=ARGS, rtol=1e-6, atol=[1e-8, 1e-8])
    loose = ag.solve_ivp(predation, (0.0, 6.0), Y0, args=ARGS, rtol=1e-6, atol=[1e-8, 1e-2])
    np.testing.assert_array_equal(vector.y, scalar.y)
    assert 0 < np.max(np.abs(loose.y - scalar.y)) < 1.0


def test_statistics_of_a_plain_solve():
    short = ag.solve_ivp(predation, (0.0, 1.0), Y0, "BDF", args=ARGS)
    long = ag.solve_ivp(predation, (0.0, 20.0), Y0, "BDF", args=ARGS)
    for name in ("nfev", "njev", "nlu", "nst"):
        assert 0 < getattr(short, name) < getattr(long, name)
    assert short.nfev == short.stats["rhs_evaluations"] >= short.nst == short.stats["steps"]


def test_calls_of_the_function_are_one():
    """It is recorded, not called at each evaluation."""
    calls = []

    def counting(t, y):
        calls.append(t)
        return -y

    assert ag.solve_ivp(counting, (0.0, 5.0), [1.0]).nfev > 10
    assert len(calls) == 1


def test_gradient_of_a_nested_argument():
    times = np.linspace(0.0, 8.0, 5)

    def loss(rates, solver=ag.solve_ivp, **options):
        return np.sum(np.log(solver(predation, (0.0, 8.0), Y0, t_eval=times, args=(0.55, rates), **options).y))

    gradient = ag.grad(lambda rates: loss(rates, **TIGHT))(ARGS[1])
    assert set(gradient) == set(ARGS[1])
    for name, rate in ARGS[1].items():
        # Central differences of SciPy's solution: a step of 1e-4 of the rate, in error by 1e-8 or so of the gradient's size.
        def moved(factor, name=name, rate=rate):
            options = {"method": "DOP853", "rtol": 1e-13, "atol": 1e-13}
            return loss(ARGS[1] | {name: rate * factor}, scipy.integrate.solve_ivp, **options)

        expected = (8 * (moved(1.0001) - moved(0.9999)) - (moved(1.0002) - moved(0.9998))) / (12e-4 * rate)
        assert gradient[name] == pytest.approx(expected, rel=1e-6)


def test_compiled_solve():
    @ag.compile
    def end(growth):
        return ag.solve_ivp(predation, (0.0, 4.0), Y0, args=(growth, ARGS[1]), **TIGHT).y[:, -1]

    for growth in (0.55, 0.6):
        plain = ag.solve_ivp(predation, (0.0, 4.0), Y0, args=(growth, ARGS[1]), **TIGHT).y[:, -1]
        np.testing.assert_array_equal(end(growth), plain)


def test_statistics_while_recorded_are_those_of_the_recorded_values():
    seen = []

    def end(growth):
        result = ag.solve_ivp(predation, (0.0, 4.0), Y0, args=(growth, ARGS[1]), error_control="derivatives")
        seen.append((dict(result.stats), result.nfev))
        return result.y[0, -1]

    ag.grad(end)(0.55)
    plain = ag.solve_ivp(predation, (0.0, 4.0), Y0, args=(0.55, ARGS[1]), error_control="derivatives")
    assert seen[0][1] == seen[0][0]["rhs_evaluations"] == plain.nfev
    assert seen[0][0]["backward"]["steps"] == 0
