"""One-step methods and their discrete adjoints: closed forms, SciPy, CVODES, orders, second order, memory, faults."""

import numpy as np
import pytest
import scipy.integrate

import agrad as ag

EXPLICIT = ["Tsit5", "RK45", "CKRK", "DOP853"]
ROSENBROCK = ["Rodas4", "Rodas5P"]
METHODS = [*EXPLICIT, *ROSENBROCK]
ORDERS = {"Tsit5": 5, "RK45": 5, "CKRK": 5, "DOP853": 8, "Rodas4": 4, "Rodas5P": 5}
SOLVERS = {
    "Tsit5": (ag.ode_tsit5, ag.ode_tsit5_tol),
    "RK45": (ag.ode_rk45, ag.ode_rk45_tol),
    "CKRK": (ag.ode_ckrk, ag.ode_ckrk_tol),
    "DOP853": (ag.ode_dop853, ag.ode_dop853_tol),
    "Rodas4": (ag.ode_rodas4, ag.ode_rodas4_tol),
    "Rodas5P": (ag.ode_rodas5p, ag.ode_rodas5p_tol),
}
TIMES = np.array([0.5, 1.0, 2.5])


def close(given, expected, rtol=1e-9):
    np.testing.assert_allclose(given, expected, rtol=rtol, atol=rtol)


def predation(t, y, p):
    return [p[0] * y[0] - p[1] * y[0] * y[1] + 0.1 * np.sin(t), p[2] * y[0] * y[1] - p[3] * y[1]]


P, Y0 = np.array([0.55, 0.028, 0.026, 0.84]), np.array([30.0, 4.0])


def loss(p, y0, method="Tsit5", tolerance=1e-8, **options):
    y = ag.solve_ivp(predation, (0.0, 6.0), y0, method, [1.0, 3.0, 6.0], args=(p,), rtol=tolerance, atol=tolerance, **options).y
    return np.sum((y - 10.0) ** 2) / 100


@pytest.fixture(params=["plain", "compiled"])
def made(request):
    return ag.compile if request.param == "compiled" else lambda function: function


# ---- values ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_states_are_scipys(method):
    mine = ag.solve_ivp(predation, (0.0, 6.0), Y0, method, np.linspace(0, 6, 13), args=(P,), rtol=1e-10, atol=1e-10)
    true = scipy.integrate.solve_ivp(predation, (0, 6), Y0, "DOP853", np.linspace(0, 6, 13), args=(P,), rtol=1e-12, atol=1e-12)
    close(mine.y, true.y, 1e-7)
    assert mine.nst > 0
    assert mine.nfev > mine.nst
    assert (mine.njev > 0) == (mine.nlu > 0) == (method in ROSENBROCK)


@pytest.mark.parametrize("method", ["RK45", "DOP853"])
def test_as_many_evaluations_as_scipy(method):
    """The same methods with a similar control of their steps."""
    mine = ag.solve_ivp(predation, (0.0, 20.0), Y0, method, [20.0], args=(P,), rtol=1e-8, atol=1e-8)
    true = scipy.integrate.solve_ivp(predation, (0, 20), Y0, method, args=(P,), rtol=1e-8, atol=1e-8)
    assert mine.nfev < 1.2 * true.nfev


@pytest.mark.parametrize("method", METHODS)
def test_order_of_convergence(method):
    """With steps of one size: h from max_step, at tolerances that allow any."""
    steps, errors = (0.25, 0.125) if method == "DOP853" else (0.1, 0.05), []
    for h in steps:
        y = ag.solve_ivp(
            lambda t, y: [y[1], -y[0]], (0.0, 3.0), [1.0, 0.0], method, [3.0], rtol=1e3, atol=1e3, first_step=h, max_step=h
        ).y[:, -1]
        errors.append(np.linalg.norm(y - [np.cos(3.0), -np.sin(3.0)]))
    # Rodas5P's error on an oscillator falls with nearly one order more.
    assert -0.6 < np.log2(errors[0] / errors[1]) - ORDERS[method] < (1.2 if method == "Rodas5P" else 0.6)


@pytest.mark.parametrize("method", METHODS)
def test_functions_of_the_family(method):
    usual, with_tolerances = SOLVERS[method]
    exact = 2.0 * np.exp(-0.7 * TIMES)[:, None]
    close(usual(lambda t, y, k: -k * y, [2.0], 0.0, TIMES, 0.7), exact, 1e-5)
    close(with_tolerances(lambda t, y, k: -k * y, [2.0], 0.0, TIMES, 1e-11, 1e-12, 1000, 0.7), exact, 1e-9)
    assert f":func:`{usual.__name__}_tol`" in usual.__doc__


# ---- gradients ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_gradients_in_closed_form(made, method):
    """With respect to y0, t0, the times and the arguments."""

    def end(y0, t0, times, k):
        return np.sum(SOLVERS[method][1](lambda t, y, k: -k * y, y0, t0, times, 1e-11, 1e-12, 1000, k)[:, 0])

    y0, t0, k = np.array([2.0]), 0.25, 0.7
    e = np.exp(-k * (TIMES - t0))
    by_y0, by_t0, by_times, by_k = made(ag.grad(end, (0, 1, 2, 3)))(y0, t0, TIMES, k)
    close(by_y0, [np.sum(e)])
    close(by_t0, k * 2 * np.sum(e))
    close(by_times, -k * 2 * e)
    close(by_k, -2 * np.sum((TIMES - t0) * e))


@pytest.mark.parametrize("method", METHODS)
def test_gradient_is_that_of_the_computed_solution(made, method):
    """Exact for the steps taken, also with a coarse tolerance: against differences with the steps held, and CVODES."""
    p_gradient, y_gradient = made(ag.grad(lambda p, y0: loss(p, y0, method, 1e-10), (0, 1)))(P, Y0)
    by_cvodes = ag.grad(lambda p, y0: loss(p, y0, "BDF", 1e-10), (0, 1))(P, Y0)
    close(p_gradient / by_cvodes[0], np.ones(4), 2e-5)
    close(y_gradient / by_cvodes[1], np.ones(2), 2e-5)

    def held(p):
        return loss(p, Y0, method, 1e3, first_step=0.05, max_step=0.05)

    gradient = ag.grad(held)(P)
    for place, step in enumerate(1e-5 * P):
        d = np.zeros(4)
        d[place] = step
        five_points = (8 * (held(P + d) - held(P - d)) - (held(P + 2 * d) - held(P - 2 * d))) / (12 * step)
        close(gradient[place] / five_points, 1.0, 1e-8)


def test_error_falls_with_the_tolerance():
    true = ag.grad(loss)(P, Y0, "DOP853", 1e-13)
    errors = [np.max(np.abs(ag.grad(loss)(P, Y0, "Tsit5", tolerance) / true - 1)) for tolerance in (1e-4, 1e-6, 1e-8)]
    assert errors[0] > 10 * errors[1] > 100 * errors[2]


def test_memory_does_not_change_a_bit():
    results = [ag.value_and_grad(loss)(P, Y0, "Tsit5", 1e-8, max_memory=bytes_) for bytes_ in (1e9, 2e4, 2e3)]
    for value, gradient in results[1:]:
        assert value == results[0][0]
        np.testing.assert_array_equal(gradient, results[0][1])


def test_swept_with_many_seeds():
    jacobian = ag.jacobian(lambda p: ag.solve_ivp(predation, (0.0, 2.0), Y0, "Tsit5", [1.0, 2.0], args=(p,), rtol=1e-9).y)(P)
    forward = ag.jacfwd(lambda p: ag.solve_ivp(predation, (0.0, 2.0), Y0, "Tsit5", [1.0, 2.0], args=(p,), rtol=1e-9).y)(P)
    assert jacobian.shape == (2, 2, 4)
    close(jacobian, forward, 1e-11)


# ---- second order ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", EXPLICIT)
def test_hessians(made, method):
    """Against differences of the gradient with the steps held, symmetric, with respect to both arguments."""

    def f(x, method=method):
        return loss(x[:4], x[4:], method, 1e3, first_step=0.25, max_step=0.25)

    x = np.concatenate([P, Y0])
    hessian = made(ag.hessian(f))(x)
    scale = np.outer(x, x)
    close((hessian - hessian.T) * scale, np.zeros((6, 6)), 1e-8)
    differences = np.empty((6, 6))
    for place, step in enumerate(1e-4 * x):
        d = np.zeros(6)
        d[place] = step
        g = ag.grad(f)
        differences[place] = (8 * (g(x + d) - g(x - d)) - (g(x + 2 * d) - g(x - 2 * d))) / (12 * step)
    np.testing.assert_allclose(hessian * scale, differences * scale, rtol=1e-6, atol=1e-6)
    v = np.array([0.1, 0.01, -0.01, 0.2, 1.0, -0.5])
    np.testing.assert_allclose(made(ag.hvp(f))(x, v), hessian @ v, rtol=1e-9, atol=1e-9)


def test_products_agree(made):
    def states(p):
        return ag.solve_ivp(predation, (0.0, 3.0), Y0, "Tsit5", [1.0, 3.0], args=(p,)).y

    v, w = np.array([0.1, -0.01, 0.02, 0.3]), np.array([[1.0, -2.0], [0.5, 1.5]])
    along = ag.jvp(made(states), (P,), (v,))[1]
    back = ag.vjp(made(states), P)[1](w)[0]
    close(np.sum(w * along), back @ v, 1e-12)


def test_nested_transformations_and_vmap(made):
    def f(p):
        return loss(p, Y0, "Tsit5", 1e-8)

    close(made(ag.jacobian(ag.grad(f)))(P), ag.hessian(f)(P), 1e-8)
    rows = np.stack([P, 1.1 * P])
    close(made(ag.vmap(ag.grad(f)))(rows), np.stack([ag.grad(f)(row) for row in rows]))


# ---- faults ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: loss(P, Y0, "Euler"), ValueError, "method is 'Euler', but must be one of 'Adams', 'BDF', 'auto', 'Tsit5'"),
        (
            lambda: loss(P, Y0, first_step=-1.0),
            ag.DomainError,
            "solve_ivp: first_step is -1.0, but must be positive and finite",
        ),
        (lambda: loss(P, Y0, max_step=np.nan), ag.DomainError, "solve_ivp: max_step is nan, but must be positive"),
        (lambda: loss(P, Y0, max_memory=0.0), ag.DomainError, "solve_ivp: max_memory is 0.0, but must be positive"),
        (lambda: loss(P, Y0, "Tsit5", 0.0), ag.DomainError, "solve_ivp: rtol is 0.0, but must be positive and finite"),
        (
            lambda: loss(P, Y0, max_num_steps=3),
            ag.SolverError,
            r"after \d steps \(too_many_steps\); raise max_num_steps .*; the last step was \S+; .* y\[\d\] dom",
        ),
    ],
)
def test_messages(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("method", METHODS)
def test_blow_up_ends_with_where_and_why(method):
    with pytest.raises(ag.SolverError, match=r"stopped at t = (0\.9|1\.0).* \(step_too_short\)|too_many_steps") as caught:
        ag.solve_ivp(lambda t, y: y**2, (0.0, 2.0), [1.0], method)
    assert caught.value.code in ("step_too_short", "too_many_steps")
    assert caught.value.t == pytest.approx(1.0, abs=0.05)
    assert caught.value.steps > 5


def test_nan_in_the_right_hand_side():
    with pytest.raises(ag.SolverError, match=r"the derivative of y\[0\] is nan at t = (0\.9|1)"):
        ag.solve_ivp(lambda t, y: np.sqrt(1.0 - t) + 0 * y, (0.0, 2.0), [1.0], "Tsit5")
    with pytest.raises(ag.SolverError, match=r"after 0 steps \(not_finite\); the derivative of y\[1\] is nan at t = 0"):
        ag.solve_ivp(lambda t, y: [y[0], y[1] * np.nan], (0.0, 2.0), [1.0, 1.0], "Tsit5")


def test_a_fault_leaves_everything_usable():
    f = ag.compile(
        ag.grad(lambda k: ag.solve_ivp(lambda t, y, k: k * y**2, (0.0, 1.0), [1.0], "Tsit5", [1.0], args=(k,)).y[0, 0])
    )
    for _ in range(3):
        with pytest.raises(ag.SolverError):
            f(2.0)
        close(f(0.5), 1.0 / (1 - 0.5) ** 2, 1e-4)


def test_a_long_step_does_not_pass_the_end():
    """The right-hand side is not called behind the last time."""
    result = ag.solve_ivp(lambda t, y: np.sqrt(2.0 - t) + 0 * y, (0.0, 2.0), [0.0], "Tsit5", [2.0], rtol=1e-9, atol=1e-9)
    close(result.y[0, 0], 2 / 3 * 2**1.5, 1e-5)


def test_threads_give_the_same_bits():
    from concurrent.futures import ThreadPoolExecutor

    f = ag.compile(ag.value_and_grad(loss))
    points = [P * (1 + k / 100) for k in range(8)]
    alone = [f(p, Y0) for p in points]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda p: f(p, Y0), points))
    for (value, gradient), (value_2, gradient_2) in zip(alone, together, strict=True):
        assert value == value_2
        np.testing.assert_array_equal(gradient, gradient_2)


# ---- stiff systems -----------------------------------------------------------------------------------------------------


def robertson(t, y, k):
    a, b, c = k[0] * y[0], k[1] * y[1] * y[2], k[2] * y[1] ** 2
    return [-a + b, a - b - c, c]


RATES = np.array([0.04, 1e4, 3e7])
LOG_TIMES = 0.4 * 10.0 ** np.arange(0, 6)


def robertson_loss(log_rates, method, tolerance, **options):
    y = ag.solve_ivp(
        robertson, (0.0, LOG_TIMES[-1]), [1.0, 0.0, 0.0], method, LOG_TIMES, args=(np.exp(log_rates),),
        rtol=tolerance, atol=[tolerance * 1e-2, tolerance * 1e-6, tolerance * 1e-2], **options,
    ).y  # fmt: skip
    return np.sum(y * np.array([[1.0], [1e4], [0.3]]))


def test_robertson(made):
    """The gradient of all rates against CVODES's, and that its error falls with the tolerance."""
    x = np.log(RATES)
    true = ag.grad(lambda x: robertson_loss(x, "BDF", 1e-10))(x)
    gradients = [made(ag.grad(lambda x, tol=tol: robertson_loss(x, "Rodas4", tol)))(x) for tol in (1e-4, 1e-6, 1e-8)]
    errors = [np.max(np.abs(gradient / true - 1)) for gradient in gradients]
    assert errors[0] < 1e-3
    assert errors[2] < 2e-6


def test_robertson_with_default_tolerances_and_little_memory():
    x = np.log(RATES)
    whole = ag.grad(lambda x: robertson_loss(x, "Rodas4", 1e-6))(x)
    thin = ag.grad(lambda x: robertson_loss(x, "Rodas4", 1e-6, max_memory=2e4))(x)
    np.testing.assert_array_equal(whole, thin)
    y = ag.solve_ivp(robertson, (0.0, 40.0), [1.0, 0.0, 0.0], "Rodas4", args=(RATES,)).y[:, -1]
    close(y, [0.7158270, 9.1855e-6, 0.2841637], 1e-4)


def test_a_stiff_system_takes_few_steps():
    f = lambda t, y: -1e6 * (y - np.cos(t))  # noqa: E731
    stiff = ag.solve_ivp(f, (0.0, 3.0), [1.0], "Rodas4", [3.0], rtol=1e-4, atol=1e-4)
    assert stiff.nst < 60
    close(stiff.y[0, 0], np.cos(3.0), 1e-3)
    with pytest.raises(ag.SolverError, match="too_many_steps"):
        ag.solve_ivp(f, (0.0, 3.0), [1.0], "Tsit5", [3.0], max_num_steps=2000)


def test_auto_stays_explicit_where_nothing_is_stiff():
    for tolerance in (1e-4, 1e-8):
        same = ag.solve_ivp(predation, (0.0, 6.0), Y0, "auto", args=(P,), rtol=tolerance, atol=tolerance)
        tsit5 = ag.solve_ivp(predation, (0.0, 6.0), Y0, "Tsit5", args=(P,), rtol=tolerance, atol=tolerance)
        np.testing.assert_array_equal(same.y, tsit5.y)
        assert "stiff" not in same.message


def test_auto_goes_on_with_a_stiff_method_and_says_so():
    result = ag.solve_ivp(robertson, (0.0, 400.0), [1.0, 0.0, 0.0], "auto", LOG_TIMES[:4], args=(RATES,), rtol=1e-6, atol=1e-10)
    assert result.nst < 1000
    assert 0 < result.stats["stiff_from"] < 0.4
    assert "The system turned stiff: the method was Tsit5 until t = 0.0" in result.message
    reference = ag.solve_ivp(
        robertson, (0.0, 400.0), [1.0, 0.0, 0.0], "BDF", LOG_TIMES[:4], args=(RATES,), rtol=1e-10, atol=1e-14
    )
    np.testing.assert_allclose(result.y, reference.y, rtol=1e-4)


def test_gradients_pass_from_one_method_to_the_other(made):
    """A mode of rate k, fast compared with the rest: y1 follows cos t, and stiffness sets in when its transient is over."""

    def f(t, y, k):
        return [-k[0] * (y[0] - np.cos(t)), y[0] - k[1] * y[1]]

    k, y0, times = np.array([2000.0, 0.5]), np.array([0.3, 1.0]), [0.001, 0.5, 1.0, 2.0]
    gradient = made(ag.grad(lambda k, y0: np.sum(ag.solve_ivp(
        f, (0.0, 2.0), y0, "auto", times, args=(k,), rtol=1e-7, atol=1e-7).y ** 2), (0, 1)))(k, y0)  # fmt: skip
    expected = ag.grad(lambda k, y0: np.sum(ag.solve_ivp(
        f, (0.0, 2.0), y0, "DOP853", times, args=(k,), rtol=1e-10, atol=1e-10).y ** 2), (0, 1))(k, y0)  # fmt: skip
    assert "stiff_from" in ag.solve_ivp(f, (0.0, 2.0), y0, "auto", times, args=(k,), rtol=1e-7, atol=1e-7).stats
    for given, wanted in zip(gradient, expected, strict=True):
        np.testing.assert_allclose(given, wanted, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("k", [0.0, 1e-30, 1.0])
def test_rodas4_differentiates_what_depends_on_time_where_it_is_zero(k):
    def end(k):
        f = lambda t, y, k: k * np.sin(10 * t) - y  # noqa: E731
        return ag.solve_ivp(f, (0.0, 1.0), [0.0], "Rodas4", args=(k,), rtol=1e-8, atol=1e-10, max_step=0.02).y[0, -1]

    expected = (np.sin(10.0) - 10 * np.cos(10.0) + 10 * np.exp(-1.0)) / 101  # of y' = sin(10 t) - y
    assert ag.grad(end)(k) == pytest.approx(expected, rel=1e-7)
