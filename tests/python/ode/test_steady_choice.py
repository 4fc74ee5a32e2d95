"""Steady states among many: lines of them, totals whose coefficients are parameters, pieces of linear systems, centres."""

import pickle
import re

import numpy as np
import pytest

import agrad as ag


def close(given, expected, rtol=1e-9):
    np.testing.assert_allclose(given, expected, rtol=rtol, atol=1e-12)


@pytest.fixture(params=["plain", "compiled"])
def made(request):
    return ag.compile if request.param == "compiled" else lambda function: function


# ---- lines of steady states


def epidemic(t, y, k):
    """The infected recover, the susceptible become infected or stay at y0 exp(-k y1): all (y0, 0) are at rest."""
    return [-k * y[0] * y[1], -y[1]]


@pytest.mark.parametrize(("rtol", "atol"), [(1e-6, 1e-9), (1e-10, 1e-12), (1e-12, 1e-14)])
def test_on_a_line_of_steady_states_the_way_decides_to_the_tolerances(rtol, atol, made):
    def last(k):
        return ag.steady_state(epidemic, [1.0, 5.0], args=(k,), rtol=rtol, atol=atol).y

    np.testing.assert_allclose(made(last)(1.0), [np.exp(-5.0), 0.0], rtol=rtol, atol=atol)


def test_on_a_line_of_steady_states_there_are_no_derivatives(made):
    def line(t, y, k):
        away = y[0] + y[1] - k
        return [-away * (1 + y[0] ** 2), 2 * away * (y[1] ** 2 - 3)]

    for f, y0 in ((line, [0.5, 0.5]), (epidemic, [1.0, 5.0])):

        def rest(k):
            return ag.steady_state(f, y0, args=(k,)).y  # noqa: B023

        for transformation in (ag.jacrev, ag.jacfwd):
            with pytest.raises(ag.DomainError, match=r"^steady_state: the steady state is singular beyond conserved totals"):
                made(transformation(rest))(2.0)
    close(np.sum(ag.steady_state(line, [0.5, 0.5], args=(2.0,)).y), 2.0)


# ---- totals whose coefficients are parameters


def compartments(t, c, p):
    """Concentrations in two volumes p[0] and p[1] with the flow p[2]: the amount p[0] c[0] + p[1] c[1] is conserved."""
    flow = p[2] * (c[0] - c[1])
    return [-flow / p[0], flow / p[1]]


def mixed(p, c0):
    """The concentration at rest."""
    return (p[0] * c0[0] + p[1] * c0[1]) / (p[0] + p[1])


@pytest.mark.parametrize("method", ["auto", "newton", "integration"])
def test_totals_weighted_by_parameters(method, made):
    def rest(p, c0):
        return ag.steady_state(compartments, c0, args=(p,), method=method).y[0]

    p, c0 = np.array([2.0, 5.0, 0.7]), np.array([3.0, 1.0])
    close(rest(p, c0), mixed(p, c0))
    close(made(rest)(p, c0), mixed(p, c0))
    for transformation in (ag.grad, ag.jacfwd):
        for argument in (0, 1):
            close(made(transformation(rest, argnums=argument))(p, c0), ag.grad(mixed, argnums=argument)(p, c0))
    value, (of_p, of_c0) = made(ag.value_and_grad(rest, argnums=(0, 1)))(p, c0)
    close(value, mixed(p, c0))
    close(of_p, ag.grad(mixed)(p, c0))
    close(of_c0, ag.grad(mixed, argnums=1)(p, c0))
    with pytest.raises(NotImplementedError, match="steady_state: the coefficients of a conserved total depend on a parameter"):
        ag.hessian(rest)(p, c0)


def test_a_compiled_function_finds_the_totals_of_each_run():
    rest = ag.compile(lambda v: ag.steady_state(lambda t, c, v: [c[1] - c[0], (c[0] - c[1]) / v], [1.0, 0.0], args=(v,)).y[0])
    for v in (2.0, 0.5, 10.0):
        close(rest(v), 1 / (1 + v))


def leaking(t, y, k, leak):
    """The exchange of two states, and a loss of the first."""
    flow = k[1] * y[1] - k[0] * y[0]
    return [flow - leak * y[0], -flow]


def test_a_total_at_one_value_of_a_parameter_only():
    def rest(k, leak):
        return ag.steady_state(leaking, [5.0, 0.0], args=(k, leak)).y[0]

    k = np.array([1.0, 3.0])
    of_k = np.array([-15.0, 5.0]) / 16
    close(rest(k, 0.0), 3.75)
    compiled = ag.compile(rest)
    close(compiled(k, 0.0), 3.75)
    close(compiled(k, 0.5), 0.0)
    close(ag.grad(rest)(k, 0.0), of_k)
    close(ag.compile(ag.jacfwd(rest))(k, 0.0), of_k)
    message = "steady_state: parameters[2] is at a value where a total is conserved, but must be one near which"
    with pytest.raises(ag.DomainError, match=f"^{re.escape(message)}"):
        ag.grad(rest, argnums=(0, 1))(k, 0.0)
    with pytest.raises(ag.DomainError, match=r"^steady_state: parameters\[0\] is at a value"):
        ag.jvp(lambda leak: rest(k, leak), (0.0,), (1.0,))


def rest_of_exchange(k, loss):
    """The exchange of two states at the rates k and 1, with a loss; without one y0 is (y0 + y1) / (1 + k) at rest."""
    f = lambda t, y, k, loss: [y[1] - k * y[0], k * y[0] - y[1] - loss * y[1]]  # noqa: E731
    return ag.steady_state(f, [1.0, 0.5], args=(k, loss)).y[0]


def test_a_parameter_whose_derivative_nobody_wants_may_have_none():
    compiled = ag.compile(ag.value_and_grad(rest_of_exchange))
    for k in (2.0, 3.0):
        assert compiled(k, 0.0) == (pytest.approx(1.5 / (1 + k)), pytest.approx(-1.5 / (1 + k) ** 2))
    assert pickle.loads(pickle.dumps(compiled))(2.0, 0.0)[1] == pytest.approx(-1.5 / 9)
    assert ag.compile(ag.jacobian(rest_of_exchange))(2.0, 0.0) == pytest.approx(-1.5 / 9)
    assert ag.compile(ag.hessian(rest_of_exchange))(2.0, 0.0) == pytest.approx(3.0 / 27)
    nested = ag.compile(lambda k, loss: ag.grad(rest_of_exchange)(k, loss) ** 2)
    assert nested(2.0, 0.0) == pytest.approx((1.5 / 9) ** 2)
    for wanted in (1, (0, 1)):
        with pytest.raises(ag.DomainError, match=r"^steady_state: parameters\[1\] is at a value where a total is conserved"):
            ag.compile(ag.grad(rest_of_exchange, argnums=wanted))(2.0, 0.0)


# ---- what is no linear system


@pytest.mark.parametrize("threshold", [1.0, 2.9])
def test_a_system_that_is_linear_in_pieces(threshold, made):
    def pieces(t, y):
        return [np.where(y[0] > threshold, 3.0, 0.0) - y[0] + 10 * y[1], -y[1]]

    close(made(lambda y0: ag.steady_state(pieces, y0).y)(np.array([0.0, 1.0])), [3.0, 0.0])


def test_round_a_centre_there_is_no_rest():
    turning = lambda t, y: [y[1], -y[0]]  # noqa: E731
    with pytest.raises(ag.SolverError, match="NO_STEADY_STATE"):
        ag.steady_state(turning, [1.0, 0.0])
    cycles = lambda t, y: [y[0] * (1.0 - y[1]), y[1] * (y[0] - 1.0)]  # noqa: E731
    with pytest.raises(ag.SolverError, match="NO_STEADY_STATE"):
        ag.steady_state(cycles, [1.5, 1.0])
    middle = ag.steady_state(cycles, [1.0, 1.0])  # where it starts it stays, and beside it, too
    close(middle.y, [1.0, 1.0])
    assert middle.stable
    close(middle.growth_rate, 0.0)
