"""ODE solutions and their gradients against closed forms, however a value reaches the right-hand side."""

import threading

import numpy as np
import pytest

import agrad as ag

# CVODES bounds the error of one step by the tolerance. What a few hundred steps add up to stays below 1000 times that.
RELATIVE, ABSOLUTE, MOST_STEPS = 1e-10, 1e-12, 10_000
ACCUMULATED = {"rtol": 1e-7, "atol": 1e-9}
TIMES = np.array([0.4, 1.0, 2.5])
WEIGHTS = np.array([[1.0, -0.5], [0.3, 2.0], [-1.5, 0.7]])  # of the states in a scalar of them, one row for each time


def solve(f, y0, t0, times, *args):
    return ag.ode_adjoint_tol(f, y0, t0, times, RELATIVE, ABSOLUTE, MOST_STEPS, *args)


def decay(t, y, rate):
    return -rate * y


def oscillator(t, y, frequency):
    return [y[1], -(frequency**2) * y[0]]


def oscillator_solution(t, y0, frequency):
    c, s = np.cos(frequency * t), np.sin(frequency * t)
    return np.stack([y0[0] * c + y0[1] / frequency * s, y0[1] * c - y0[0] * frequency * s], axis=-1)


def forced(t, y, amplitude, rate):
    return amplitude * np.cos(t) - rate * y


def forced_solution(t, y0, amplitude, rate):
    """Of forced(), from t = 0."""
    particular = amplitude * (rate * np.cos(t) + np.sin(t)) / (1 + rate**2)
    return particular + (y0 - amplitude * rate / (1 + rate**2)) * np.exp(-rate * t)


# Values


def test_decay():
    y = solve(decay, [1.0, 3.0], 0.5, TIMES + 0.5, 0.8)
    np.testing.assert_allclose(y, np.outer(np.exp(-0.8 * TIMES), [1.0, 3.0]), **ACCUMULATED)


def test_harmonic_oscillator():
    y = solve(oscillator, [1.0, 0.5], 0.0, TIMES, 3.0)
    np.testing.assert_allclose(y, oscillator_solution(TIMES, [1.0, 0.5], 3.0), **ACCUMULATED)


def test_time_dependent_right_hand_side():
    y = solve(forced, [2.0], 0.0, TIMES, 1.5, 0.7)
    np.testing.assert_allclose(y[:, 0], forced_solution(TIMES, 2.0, 1.5, 0.7), **ACCUMULATED)


@pytest.mark.parametrize("y0", [2.0, [2.0], (2.0,), np.array(2.0), np.array([2.0]), np.array([2], np.int32), [np.float32(2)]])
@pytest.mark.parametrize("times", [1.0, [1.0], np.array([1]), 1])
def test_one_state_and_one_time_may_be_numbers(y0, times):
    y = solve(decay, y0, 0, times, 0.5)
    assert y.shape == (1, 1)
    assert y[0, 0] == pytest.approx(2 * np.exp(-0.5), rel=ACCUMULATED["rtol"])


def test_without_recorded_arguments_the_result_is_plain():
    y = solve(decay, [1.0], 0.0, TIMES, 0.8)
    assert type(y) is np.ndarray
    assert y.dtype == np.float64
    assert y.flags.writeable


def test_derivatives_may_come_in_any_form():
    forms = [
        lambda t, y: [-y[0], 2.0],
        lambda t, y: (-y[0], 2.0),
        lambda t, y: ag.array([-y[0], 2.0]),
        lambda t, y: np.stack([-y[0], 2.0 + 0.0 * t]),
        lambda t, y: np.concatenate([-y[:1], [2.0]]),
    ]
    first, *others = [solve(f, [1.0, 0.0], 0.0, TIMES) for f in forms]
    np.testing.assert_allclose(first, np.stack([np.exp(-TIMES), 2 * TIMES], axis=-1), **ACCUMULATED)
    for y in others:
        np.testing.assert_array_equal(y, first)


def test_constant_derivatives():
    y = solve(lambda t, y: [1.0, 2.0], [0.0, 0.5], 0.0, TIMES)
    np.testing.assert_allclose(y, np.stack([TIMES, 0.5 + 2 * TIMES], axis=-1), **ACCUMULATED)


# Gradients with respect to each argument


def test_gradient_of_initial_state():
    g = ag.grad(lambda y0: np.sum(WEIGHTS * solve(oscillator, y0, 0.0, TIMES, 3.0)))(np.array([1.0, 0.5]))
    columns = [oscillator_solution(TIMES, unit, 3.0) for unit in np.eye(2)]  # the solution is linear in y0
    np.testing.assert_allclose(g, [np.sum(WEIGHTS * column) for column in columns], **ACCUMULATED)


def test_gradient_of_initial_time():
    g = ag.grad(lambda t0: np.sum(WEIGHTS * solve(decay, [1.0, 3.0], t0, TIMES, 0.8)))(-0.3)
    y = np.outer(np.exp(-0.8 * (TIMES + 0.3)), [1.0, 3.0])
    assert g == pytest.approx(0.8 * np.sum(WEIGHTS * y), rel=ACCUMULATED["rtol"])


def test_gradient_of_output_times():
    g = ag.grad(lambda times: np.sum(WEIGHTS * solve(oscillator, [1.0, 0.5], 0.0, times, 3.0)))(TIMES)
    y = oscillator_solution(TIMES, [1.0, 0.5], 3.0)
    slopes = np.stack([y[:, 1], -9.0 * y[:, 0]], axis=-1)
    np.testing.assert_allclose(g, np.sum(WEIGHTS * slopes, axis=1), **ACCUMULATED)


def test_gradient_of_everything_at_once():
    def final(y0, t0, times, rate):
        return solve(decay, y0, t0, times, rate)[-1, 0]

    g = ag.grad(final, argnums=(0, 1, 2, 3))(np.array([2.0]), 0.5, np.array([1.0, 1.5]), 0.8)
    y = 2 * np.exp(-0.8)
    for part, wanted in zip(g, ([y / 2], 0.8 * y, [0.0, -0.8 * y], -1.0 * y), strict=True):
        np.testing.assert_allclose(part, wanted, **ACCUMULATED)


def test_gradient_of_time_dependent_right_hand_side():
    arguments = 2.0, 1.5, 0.7
    g = ag.grad(lambda y0, a, k: solve(forced, [y0], 0.0, 2.0, a, k)[0, 0], argnums=(0, 1, 2))(*arguments)
    for place, got in enumerate(g):
        moved = np.array(arguments, dtype=complex)
        moved[place] += 1e-30j  # a complex step: exact to rounding for a closed form
        assert got == pytest.approx(forced_solution(2.0, *moved).imag / 1e-30, rel=ACCUMULATED["rtol"])


def test_gradient_with_time_recorded_in_the_right_hand_side_only():
    """t0 moves the solution of y' = a t, though neither y nor f at t0 depends on it at t0 = 0."""
    g = ag.grad(lambda t0, a: solve(lambda t, y, a: [a * t], [1.0], t0, 2.0, a)[0, 0], argnums=(0, 1))(0.5, 3.0)
    np.testing.assert_allclose(g, [-3.0 * 0.5, (2.0**2 - 0.5**2) / 2], **ACCUMULATED)


@pytest.mark.parametrize("rate", [{"rate": 0.8}, (0.8,), [0.8], {"a": (np.array([[0.3]]), {"b": 0.5})}])
def test_nested_arguments(rate):
    """The rate is the sum of the leaves, whatever the structure."""

    def f(t, y, tree, power):
        leaves = [np.sum(x) for x in _leaves(tree)]
        return -sum(leaves) * y**power

    g = ag.grad(lambda tree: solve(f, [2.0], 0.0, 1.5, tree, 1)[0, 0])(rate)
    got = _leaves(g)
    assert type(g) is type(rate)
    assert [np.shape(x) for x in got] == [np.shape(x) for x in _leaves(rate)]
    for leaf in got:
        np.testing.assert_allclose(leaf, -1.5 * 2 * np.exp(-0.8 * 1.5), **ACCUMULATED)


def _leaves(tree):
    if isinstance(tree, dict):
        tree = list(tree.values())
    return [leaf for each in tree for leaf in _leaves(each)] if isinstance(tree, (list, tuple)) else [tree]


def test_vector_argument_beside_a_scalar_and_a_constant():
    def loss(rates, scale):
        return np.sum(WEIGHTS * solve(lambda t, y, c, r, s: -(c * s) * r * y, [1.0, 3.0], 0.0, TIMES, 2.0, rates, scale))

    rates, scale = np.array([0.2, 0.5]), 0.7
    y = np.array([1.0, 3.0]) * np.exp(-2 * scale * np.outer(TIMES, rates))
    of_rates, of_scale = ag.grad(loss, argnums=(0, 1))(rates, scale)
    exponent_slopes = -2 * TIMES[:, None] * WEIGHTS * y
    np.testing.assert_allclose(of_rates, scale * np.sum(exponent_slopes, axis=0), **ACCUMULATED)
    np.testing.assert_allclose(of_scale, np.sum(exponent_slopes * rates), **ACCUMULATED)


def test_argument_without_influence_has_gradient_zero():
    assert ag.grad(lambda k: solve(lambda t, y, k: -y, [1.0], 0.0, 1.0, k)[0, 0])(3.0) == 0.0
    assert ag.grad(lambda k: solve(decay, [1.0], 0.0, TIMES, k)[0, 0] * 0.0)(3.0) == 0.0


def test_output_times_that_the_loss_leaves_out():
    """An adjoint only at one time: the same gradient as a solve that ends there or goes through it alone."""

    def at_second_time(k, times, place):
        return solve(decay, [1.0], 0.0, times, k)[place, 0]

    expected = -np.exp(-0.8 * 1.0)
    for times, place in (([0.4, 1.0, 2.5], 1), ([1.0], 0), ([1.0, 1.0 + 1e-9, 40.0], 0)):
        got = ag.grad(at_second_time)(0.8, times, place)
        assert got == pytest.approx(expected, rel=ACCUMULATED["rtol"])


# Values that the right-hand side uses without being passed them


def test_captured_values_equal_passed_ones():
    def passing(p):
        return np.sum(WEIGHTS * solve(lambda t, y, a, b: [a * y[1], -b * y[0]], [1.0, 0.5], 0.0, TIMES, p[0], p[1] * p[0]))

    def capturing(p):
        a, b = p[0], p[1] * p[0]
        return np.sum(WEIGHTS * solve(lambda t, y: [a * y[1], -b * y[0]], [1.0, 0.5], 0.0, TIMES))

    p = np.array([1.3, 0.9])
    value, gradient = ag.value_and_grad(passing)(p)
    other_value, other_gradient = ag.value_and_grad(capturing)(p)
    assert other_value == value
    np.testing.assert_array_equal(other_gradient, gradient)


def test_value_captured_twice_and_passed_too():
    def loss(k):
        return solve(lambda t, y, passed: -(k + passed) * y - k * np.sum(y), [1.0], 0.0, 1.0, k)[0, 0]

    assert ag.grad(loss)(0.3) == pytest.approx(-3 * np.exp(-0.9), rel=ACCUMULATED["rtol"])


def test_captured_expression():
    got = ag.grad(lambda k: solve(lambda t, y: -np.exp(k) * y, [1.0], 0.0, 1.0)[0, 0])(0.2)
    assert got == pytest.approx(-np.exp(0.2) * np.exp(-np.exp(0.2)), rel=ACCUMULATED["rtol"])


def test_result_of_one_solve_goes_into_the_next():
    """y1(1) = exp(-k) is the rate of the second solve, as argument or captured, and its initial state."""

    def loss(k, captured):
        rate = solve(decay, [1.0], 0.0, 1.0, k)[0]
        if captured:
            return solve(lambda t, y: -rate * y, rate, 0.0, 1.0)[0, 0]
        return solve(decay, rate, 0.0, 1.0, rate)[0, 0]

    r = np.exp(-0.5)
    expected = (np.exp(-r) - r * np.exp(-r)) * -r
    for captured in (False, True):
        assert ag.grad(loss)(0.5, captured) == pytest.approx(expected, rel=ACCUMULATED["rtol"])


# Matrices in the right-hand side

A = np.array([[-0.5, 0.2], [0.1, -0.9]])


def exponential(matrix):
    """exp(matrix) by its eigenvalues, real and different here."""
    values, vectors = np.linalg.eig(matrix)
    return ((vectors * np.exp(values)) @ np.linalg.inv(vectors)).real  # new versions of NumPy return complex numbers


def test_constant_matrix():
    jacobian = ag.jacobian(lambda y0: solve(lambda t, y: A @ y, y0, 0.0, 1.0)[0])(np.array([1.0, 2.0]))
    np.testing.assert_allclose(jacobian, exponential(A), **ACCUMULATED)


def test_recorded_matrix():
    y0, weights = np.array([1.0, 2.0]), np.array([0.4, -1.1])

    def loss(matrix):
        return weights @ solve(lambda t, y, m: m @ y, y0, 0.0, 1.0, matrix)[0]

    # d exp(A)[E] is the upper right block of the exponential of [[A, E], [0, A]] (Van Loan, 1978); made from
    # differences of closed forms in a step of 1e-5, whose error is 1e-10.
    expected = np.empty((2, 2))
    for i, j in np.ndindex(2, 2):
        step = np.zeros((2, 2))
        step[i, j] = 1e-5
        expected[i, j] = weights @ (exponential(A + step) - exponential(A - step)) @ y0 / 2e-5
    np.testing.assert_allclose(ag.grad(loss)(A), expected, **ACCUMULATED)


# Several reverse passes, recorded programs, threads


def test_jacobian_is_several_reverse_passes_of_one_solve():
    jacobian = ag.jacobian(lambda p: solve(oscillator, p[:2], 0.0, TIMES, p[2]))
    p = np.array([1.0, 0.5, 3.0])
    got = jacobian(p)
    assert got.shape == (3, 2, 3)
    for place in range(3):
        moved = p.astype(complex)
        moved[place] += 1e-30j
        expected = oscillator_solution(TIMES, moved[:2], moved[2]).imag / 1e-30
        np.testing.assert_allclose(got[..., place], expected, **ACCUMULATED)
    for k, i in np.ndindex(3, 2):
        row = ag.grad(lambda p, k=k, i=i: solve(oscillator, p[:2], 0.0, TIMES, p[2])[k, i])(p)
        np.testing.assert_allclose(got[k, i], row, **ACCUMULATED)


def loss_of(p):
    return np.sum(WEIGHTS * np.sin(solve(oscillator, p[:2], 0.0, TIMES, p[2])))


def test_compiled_equals_plain_bit_for_bit():
    compiled = ag.compile(ag.value_and_grad(loss_of))
    for p in (np.array([1.0, 0.5, 3.0]), np.array([-1.0, 0.1, 0.4]), np.array([1.0, 0.5, 3.0])):
        value, gradient = compiled(p)
        plain_value, plain_gradient = ag.value_and_grad(loss_of)(p)
        assert value == plain_value == ag.compile(loss_of)(p)
        np.testing.assert_array_equal(gradient, plain_gradient)


def test_compiled_jacobian():
    def states(p):
        return solve(oscillator, p[:2], 0.0, TIMES, p[2])

    p = np.array([1.0, 0.5, 3.0])
    # Compiled, rows that jump at the same time run back as one problem, so they differ by its tolerances.
    np.testing.assert_allclose(ag.compile(ag.jacobian(states))(p), ag.jacobian(states)(p), rtol=1e-7)


def test_threads_get_the_same_bits():
    compiled = ag.compile(ag.value_and_grad(loss_of))
    points = [np.array([1.0, 0.5, frequency]) for frequency in np.linspace(0.5, 4.0, 8)]
    expected = [compiled(p) for p in points]
    found, start = {}, threading.Barrier(4)

    def work(number):
        start.wait()
        order = np.roll(np.arange(len(points)), 2 * number)
        found[number] = {n: compiled(points[n]) for n in order}

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number in range(4):
        for n, (value, gradient) in enumerate(expected):
            assert found[number][n][0] == value
            np.testing.assert_array_equal(found[number][n][1], gradient)


def test_solve_inside_of_a_right_hand_side():
    """A solve has no tangents, so Newton's method takes the Jacobian of such a right-hand side backwards."""

    def by_a_solve(t, y):
        return -y * solve(lambda t, z, k: -k * z, [1.0], 0.0, [1.0], np.sum(y))[0]

    def in_closed_form(t, y):
        return -y * np.exp(-np.sum(y))

    def end(f):
        return lambda y0: solve(f, y0, 0.0, [1.0])[-1, -1]

    start = np.array([1.0, 0.5])
    np.testing.assert_allclose(end(by_a_solve)(start), end(in_closed_form)(start), **ACCUMULATED)
    np.testing.assert_allclose(ag.grad(end(by_a_solve))(start), ag.grad(end(in_closed_form))(start), **ACCUMULATED)
