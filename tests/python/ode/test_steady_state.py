"""Steady states: closed forms, conserved totals, derivatives of both orders, both ways to find them, what is refused."""

import re

import numpy as np
import pytest
import scipy.optimize

import agrad as ag


def close(given, expected, rtol=1e-9):
    np.testing.assert_allclose(given, expected, rtol=rtol, atol=1e-12)


def exchange(t, y, k):
    """The first goes to the second and back; at rest the first is total * k1 / (k0 + k1)."""
    flow = k[1] * y[1] - k[0] * y[0]
    return [flow, -flow]


def enzyme(t, y, k):
    """Substrate, enzyme, complex; the enzyme is conserved, the substrate is supplied at k[3]."""
    bound, back, product = k[0] * y[0] * y[1], k[1] * y[2], k[2] * y[2]
    return [k[3] - bound + back, back + product - bound, bound - back - product]


def enzyme_at_rest(k, y0):
    total, c = y0[1] + y0[2], k[3] / k[2]
    return np.stack([(k[1] + k[2]) * c / (k[0] * (total - c)), total - c, c])


K, Y0 = np.array([3.0, 0.5, 2.0, 0.8]), np.array([1.0, 0.9, 0.1])


def found(k, y0, **options):
    return ag.steady_state(enzyme, y0, args=(k,), **options).y


@pytest.fixture(params=["plain", "compiled"])
def made(request):
    return ag.compile if request.param == "compiled" else lambda function: function


def test_linear_system_is_solved_in_one_step():
    matrix, b = np.array([[-2.0, 1.0], [1.0, -3.0]]), np.array([1.0, 2.0])
    rest = ag.steady_state(lambda t, y, b: matrix @ y + b, [5.0, -7.0], args=(b,))
    close(rest.y, -np.linalg.solve(matrix, b))
    assert rest.success
    assert rest.method == "newton"
    assert rest.iterations <= 2
    assert rest.residual < 1e-14
    assert (rest.stats["conserved"], rest.stats["integrated_time"], rest.stats["steps"]) == (0, 0.0, 0)
    rows = ag.jacobian(lambda b: ag.steady_state(lambda t, y, b: matrix @ y + b, [5.0, -7.0], args=(b,)).y)(b)
    close(rows, -np.linalg.inv(matrix))


def test_enzyme_and_its_conserved_total():
    rest = ag.steady_state(enzyme, Y0, args=(K,))
    close(rest.y, enzyme_at_rest(K, Y0))
    assert rest.stats["conserved"] == 1
    by_integration = ag.steady_state(enzyme, Y0, args=(K,), method="integration")
    assert by_integration.method == "integration"
    assert by_integration.stats["integrated_time"] > 0
    close(by_integration.y, rest.y)


@pytest.mark.parametrize("transformation", [ag.jacobian, ag.jacrev, ag.jacfwd])
def test_first_derivatives_are_the_closed_forms(transformation, made):
    for argument in (0, 1):
        mine = made(transformation(found, argnums=argument))(K, Y0)
        close(mine, ag.jacobian(enzyme_at_rest, argnums=argument)(K, Y0))


def test_second_derivatives_are_the_closed_forms(made):
    def curved(function):
        return lambda x: np.sum(function(x[:4], x[4:]) ** 2)

    x = np.concatenate([K, Y0])
    close(made(ag.hessian(curved(found)))(x), ag.hessian(curved(enzyme_at_rest))(x), 1e-8)
    v = np.linspace(-1.0, 1.0, 7)
    close(made(ag.hvp(curved(found)))(x, v), ag.hvp(curved(enzyme_at_rest))(x, v), 1e-8)
    ag.check_grads(curved(found), x)


def test_start_does_not_matter_beyond_the_total():
    close(found(K, np.array([5.0, 0.3, 0.7])), found(K, Y0))
    rows = ag.jacobian(found, argnums=1)(K, Y0)
    assert np.all(rows[:, 0] == pytest.approx(0, abs=1e-12))
    close(rows[:, 1], rows[:, 2])


def test_a_fit_through_a_steady_state(made):
    """Gradient descent finds the rate that was used; values that the function captures are differentiated, too."""
    target = found(K, Y0)

    def misfit(log_rate):
        k = np.array([1.0, 1.0, 1.0, 0.0]) * K + np.array([0.0, 0.0, 0.0, 1.0]) * np.exp(log_rate)
        return np.sum((ag.steady_state(lambda t, y: enzyme(t, y, k), Y0).y - target) ** 2)

    slope = made(ag.value_and_grad(misfit))
    best = scipy.optimize.minimize(lambda x: tuple(map(np.asarray, slope(x[0]))), [-0.7], jac=True, tol=1e-14)
    close(np.exp(best.x[0]), 0.8, 1e-5)


def test_within_a_right_hand_side():
    """A fast reaction that is always at rest."""

    def slow(t, y, k):
        return [-ag.steady_state(exchange, [y[0], 0.0], args=(k,)).y[0]]

    def end(k):
        return ag.solve_ivp(slow, (0.0, 1.0), [1.0], "DOP853", [1.0], args=(k,), rtol=1e-10, atol=1e-10).y[0, 0]

    k = np.array([2.0, 6.0])
    close(end(k), np.exp(-0.75), 1e-8)
    close(ag.grad(end)(k), np.exp(-0.75) * np.array([6.0, -2.0]) / 64, 1e-7)


def test_rates_of_very_different_size():
    def fast_and_slow(t, y, k):
        fast, slow = 1e9 * (k * y[1] - y[0]), 1e-6 * (y[3] - y[2])
        return [fast, -fast, slow, -slow]

    def first(k):
        return ag.steady_state(fast_and_slow, [1.0, 0.0, 2.0, 0.0], args=(k,)).y

    close(first(3.0), [0.75, 0.25, 1.0, 1.0])
    close(ag.jacobian(first)(3.0), [1 / 16, -1 / 16, 0.0, 0.0])


def switch(t, y):
    """Stable at -1 and 1, unstable at 0."""
    return y - y**3


@pytest.mark.parametrize("method", ["auto", "integration"])
@pytest.mark.parametrize("start", [0.3, 1e-6, 0.5, 0.57, 0.6, 5.0])  # from 0.5 a Newton step ends on -1 exactly
def test_of_several_steady_states_the_system_goes_to_one(start, method):
    for sign in (1.0, -1.0):
        rest = ag.steady_state(switch, [sign * start], method=method)
        close(rest.y, [sign])
        assert rest.stable
        close(rest.growth_rate, -2.0)
        assert rest.method == "integration"


def toggle(t, y, k):
    """Two genes that repress each other: the one that is ahead stays so."""
    return [k / (1 + y[1] ** 4) - y[0], k / (1 + y[0] ** 4) - y[1]]


def test_a_toggle_goes_where_integration_leads(made):
    def ahead(k, y0):
        return ag.steady_state(toggle, y0, args=(k,)).y

    for y0 in np.random.default_rng(3).uniform(0.0, 3.0, (20, 2)):
        along = ag.solve_ivp(toggle, (0.0, 200.0), y0, "BDF", [200.0], args=(3.0,), rtol=1e-9, atol=1e-12).y[:, 0]
        np.testing.assert_allclose(ahead(3.0, y0), along, rtol=1e-6)
    y0, step = np.array([1.1, 1.0]), 1e-5
    differences = (ahead(3.0 + step, y0) - ahead(3.0 - step, y0)) / (2 * step)
    close(made(ag.jacobian(ahead))(3.0, y0), differences, 1e-7)


def test_an_unstable_state_is_warned_of_by_name(made):
    with pytest.warns(
        RuntimeWarning, match=r"^steady_state: the steady state found is unstable: a small deviation .* rate 1; met"
    ):
        rest = ag.steady_state(switch, [0.01], method="newton")
    close(rest.y, [0.0])
    assert rest.stable is False
    close(rest.growth_rate, 1.0)
    with pytest.warns(RuntimeWarning, match="unstable"):  # where it starts it stays
        close(ag.steady_state(switch, [0.0]).y, [0.0])
    saddle = lambda t, y: [-y[0] - y[0] ** 3, y[1] - y[1] ** 3]  # noqa: E731
    with pytest.warns(RuntimeWarning, match="unstable: .* rate 1$"):  # the way leads there
        rest = ag.steady_state(saddle, [2.0, 0.0])
    assert rest.method == "integration"
    close(rest.y, [0.0, 0.0])
    close(ag.steady_state(saddle, [2.0, 1e-6]).y, [0.0, 1.0])
    of_k = made(ag.grad(lambda k: ag.steady_state(lambda t, y: k * y - y**3, [0.01], method="newton").y[0]))
    with pytest.warns(RuntimeWarning, match="unstable"):
        of_k(1.0)


def test_stability_is_judged_beside_conserved_totals():
    rest = ag.steady_state(exchange, [3.0, 1.0], args=(np.array([2.0, 6.0]),))
    assert rest.stable
    close(rest.growth_rate, -8.0)  # not the zero of the total
    turns = lambda t, y: [y[1], -4.0 * y[0] - 0.2 * y[1]]  # noqa: E731
    close(ag.steady_state(turns, [1.0, 0.0]).growth_rate, -0.1)
    slow = ag.steady_state(lambda t, y: -(y**2), [1.0])  # neither comes back from below nor stays away from above
    assert slow.stable
    assert abs(slow.growth_rate) < 1e-5
    sizes = np.array([1e4, 1.0, 1e-4])
    scaled = lambda t, y: sizes * (np.array([[-2.0, 1.0, 0.0], [0.0, -1.0, 1.0], [0.5, 0.0, -3.0]]) @ (y / sizes - 1.0))  # noqa: E731
    eigenvalues = np.linalg.eigvals([[-2.0, 1.0, 0.0], [0.0, -1.0, 1.0], [0.5, 0.0, -3.0]])
    close(ag.steady_state(scaled, [1.0, 2.0, 3.0]).growth_rate, eigenvalues.real.max(), 1e-8)
    grows = ag.steady_state(lambda t, y: [1e-3 * (y[0] - y[0] ** 3), -1e9 * y[1]], [0.5, 1.0])
    close(grows.y, [1.0, 0.0])


def test_a_system_that_comes_to_no_rest_is_an_error():
    def oscillator(t, y):
        return [y[1], 2.0 * (1.0 - y[0] ** 2) * y[1] - y[0]]

    with pytest.raises(ag.SolverError, match=r"NO_STEADY_STATE.*method newton also finds"):
        ag.steady_state(oscillator, [1.0, 0.0])
    with pytest.warns(RuntimeWarning, match="unstable: .* rate 1;"):
        close(ag.steady_state(oscillator, [1.0, 0.1], method="newton").y, [0.0, 0.0])
    with pytest.raises(ag.SolverError, match="NO_STEADY_STATE"):  # linear, and unstable
        ag.steady_state(lambda t, y: y - 1.0, [2.0])


@pytest.mark.parametrize(
    "forced",
    [
        lambda t, y: np.sin(t) - y,
        lambda t, y: np.where(t > 5.0, 1.0, 2.0) - y,
        lambda t, y: np.where((t > 50.0) & (t < 50.1), 1.0, 0.0) - y,
        lambda t, y: ag.cond(t > 1.0, lambda: 0.0 - y, lambda: -y),
    ],
)
def test_a_right_hand_side_that_depends_on_time_is_refused(forced):
    message = "steady_state: f is a function of t, but must be one of the states and parameters alone; give t to fix the time"
    with pytest.raises(ag.DomainError, match=f"^{re.escape(message)}$"):
        ag.steady_state(forced, [1.0])


def test_time_is_frozen_where_it_is_given():
    forced = lambda t, y, k: k * np.where(t > 5.0, 1.0, 0.5) * t - y  # noqa: E731
    close(ag.steady_state(forced, [1.0], args=(2.0,), t=6.0).y, [12.0])
    close(ag.steady_state(forced, [1.0], args=(2.0,), t=4.0, method="integration").y, [4.0])
    close(ag.hessian(lambda k: ag.steady_state(forced, [1.0], args=(k**2,), t=4.0).y[0])(3.0), 4.0)
    close(ag.jvp(lambda k: ag.steady_state(forced, [1.0], args=(k,), t=4.0).y[0], (3.0,), (1.0,))[1], 2.0)
    with pytest.raises(ValueError, match="steady_state: t is nan, but must be finite"):
        ag.steady_state(forced, [1.0], args=(2.0,), t=np.nan)


def test_no_steady_state_is_an_error():
    with pytest.raises(ag.SolverError, match=r"steady_state: stopped at t = .*\(NO_STEADY_STATE\); integration") as caught:
        ag.steady_state(lambda t, y: 1.0 + 0.0 * y, [1.0])
    assert caught.value.code == "NO_STEADY_STATE"
    assert caught.value.t > 0
    with pytest.raises(ag.SolverError, match=re.escape("Newton's method did not converge; use a method that integrates")):
        ag.steady_state(lambda t, y: 1.0 + y**2, [1.0], method="newton")
    with pytest.raises(ag.SolverError, match="the derivative of y\\[1\\] is nan at y0"):
        ag.steady_state(lambda t, y: np.stack([-y[0], 1.0 - np.sqrt(y[1])]), [1.0, -1.0])
    with pytest.raises(ag.SolverError, match="NO_STEADY_STATE"):
        ag.grad(lambda k: ag.steady_state(lambda t, y: k + 0.0 * y, [1.0]).y[0])(1.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rtol": 0.0}, "steady_state: rtol is 0.0, but must be positive and finite"),
        ({"atol": [1.0, 1.0, 1.0]}, "steady_state: atol is of length 3, but must be of length 2; one for each state"),
        ({"max_iterations": 0}, "steady_state: max_iterations is 0, but must be positive"),
        ({"method": "krylov"}, "steady_state: method is 'krylov', but must be one of 'auto', 'newton', 'integration'"),
        ({"y0": []}, "steady_state: y0 is of length 0, but must be of length 1 or more"),
        ({"y0": [1.0, np.nan]}, "steady_state: y0[1] is nan, but must be finite"),
        ({"y0": [[1.0, 2.0]]}, "steady_state: y0 is of shape (1, 2), but must be a vector"),
    ],
)
def test_options_that_are_refused(options, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        ag.steady_state(exchange, **{"y0": [3.0, 1.0], "args": (np.array([2.0, 6.0]),)} | options)
    with pytest.raises(TypeError, match="but must be callable"):
        ag.steady_state(None, [1.0])


# ---- statistics, progress, partial results


def circling(t, y):
    """Goes round the origin for ever, farther out faster."""
    return (1 + 0.01 * y[0] ** 2) * np.stack([y[1], -y[0]])


def rising(t, y, k):
    """tan(t) and, slowly, k t."""
    return [1 + y[0] ** 2, k + 0 * y[1]]


def test_statistics_are_those_of_the_integration(made):
    rest = ag.steady_state(switch, [0.3])
    assert rest.stats["steps"] > 10
    assert rest.stats["rhs_evaluations"] >= rest.stats["steps"]
    assert (rest.status, rest.message) == (0, "The solver found a steady state.")
    kept = []

    def state(y):
        kept.append(ag.steady_state(switch, y))
        return kept[-1].y

    made(state)(np.array([0.3]))
    assert kept[-1].stats["steps"] == rest.stats["steps"]


def test_progress_is_the_time_integrated():
    seen = []
    rest = ag.steady_state(switch, [1e-9], progress=lambda *call: seen.append(call))
    assert seen[-1] == (rest.stats["integrated_time"], np.inf, "forward")
    with pytest.raises(ag.SolverError):  # for longer than a tenth of a second
        ag.steady_state(circling, [1.0, 0.5], progress=lambda *call: seen.append(call))
    times = [call[0] for call in seen]
    assert times[1:] == sorted(times[1:])
    with pytest.raises(TypeError, match="progress is 3, but must be True, False or callable"):
        ag.steady_state(switch, [0.3], progress=3)


def test_progress_as_a_bar(capsys):
    pytest.importorskip("tqdm")
    from agrad._ode.progress import reporter_of

    bar = reporter_of("steady_state", True, 0.0, np.inf).maker("forward", 0.0, np.inf)
    bar(1234.5)
    bar.close()
    assert "steady_state forward: t = 1234.5 [" in capsys.readouterr().err


@pytest.mark.parametrize("method", ["auto", "integration"])
def test_the_state_that_was_reached(method):
    with pytest.raises(ag.SolverError) as stop:
        ag.steady_state(rising, [0.0, 1.0], args=(3.0,), method=method)
    found = ag.steady_state(rising, [0.0, 1.0], args=(3.0,), method=method, return_partial=True)
    assert (found.success, found.status, found.message) == (False, -1, str(stop.value))
    assert found.y[0] > 1e3
    assert found.y[1] == pytest.approx(1 + 1.5 * np.pi, rel=1e-4)
    assert found.stable is None

    def slow(k):
        return ag.steady_state(rising, [0.0, 1.0], args=(k,), method=method, return_partial=True).y[1]

    assert ag.grad(slow)(3.0) == pytest.approx(np.pi / 2, rel=1e-4)


def test_where_nothing_was_integrated_the_start_is_returned():
    found = ag.steady_state(lambda t, y: y**2 + 1, [3.0], method="newton", return_partial=True)
    assert (found.success, found.y.tolist()) == (False, [3.0])
    assert "NO_STEADY_STATE" in found.message
    found = ag.steady_state(lambda t, y: np.log(y), [-1.0], return_partial=True)
    assert (found.success, found.y.tolist()) == (False, [-1.0])
    with pytest.raises(ag.ShapeError):
        ag.steady_state(lambda t, y: [1.0], [3.0, 4.0], return_partial=True)


def test_a_time_that_is_given_stays_so_in_the_part():
    found = ag.steady_state(lambda t, y: 1 + (t - 2) * y**2, [0.0], t=3.0, return_partial=True)
    assert found.y[0] > 1e3
