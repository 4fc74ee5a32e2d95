"""Loops recorded once: scan and fori against the same loops unrolled, in every mode."""

import dataclasses

import numpy as np
import pytest

import agrad as ag

THETA = np.array([1.1, 0.4, 0.8, 0.3])
NOISE = np.cos(3.0 * np.arange(23.0)).reshape(23, 1) * [0.1, 0.05]


def step(theta, state, shock):
    """Two coupled recursions; a step's product is stacked."""
    p, q = state
    a, b, c, d = theta
    new = (p * np.exp(0.1 * (a - b * q)) + shock[0], q * np.exp(0.1 * (d * p - c)) + shock[1])
    return new, {"product": new[0] * new[1], "both": ag.array(new)}


def looped(theta, start, shocks, **options):
    (p, q), ys = ag.scan(lambda state, shock: step(theta, state, shock), start, shocks, **options)
    return p * 2 + q, ys


def unrolled(theta, start, shocks, reverse=False, **_):
    state, products, both = start, [], []
    for shock in shocks[::-1] if reverse else shocks:
        state, y = step(theta, state, shock)
        products.append(y["product"])
        both.append(y["both"])
    if reverse:
        products, both = products[::-1], both[::-1]
    return state[0] * 2 + state[1], {"product": ag.array(products), "both": ag.array(both)}


def scalar(loop, **options):
    def function(theta, start, shocks):
        end, ys = loop(theta, start, shocks, **options)
        return np.sin(end) + np.sum(ys["product"] ** 2) + np.sum(np.cos(ys["both"]))

    return function


ARGUMENTS = (THETA, (1.0, 0.5), NOISE)
OPTIONS = [{}, {"reverse": True}, {"checkpoint": True}, {"reverse": True, "checkpoint": True}]


def leaves(tree):
    if isinstance(tree, dict):
        return [leaf for key in sorted(tree) for leaf in leaves(tree[key])]
    return [leaf for each in tree for leaf in leaves(each)] if isinstance(tree, (tuple, list)) else [np.asarray(tree)]


def assert_same(found, expected, tolerance=1e-13):
    found, expected = leaves(found), leaves(expected)
    assert [x.shape for x in found] == [x.shape for x in expected]
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("options", OPTIONS)
def test_values_are_those_of_the_loop(options):
    """Plain arguments give plain values, to the bit: the same operations in the same order."""
    end, ys = looped(*ARGUMENTS, **options)
    expected = ag.jvp(lambda theta: unrolled(theta, *ARGUMENTS[1:], **options), (THETA,), (THETA,))[0]
    assert isinstance(end, float)
    assert end == expected[0]
    assert np.array_equal(ys["product"], expected[1]["product"])
    assert np.array_equal(ys["both"], expected[1]["both"])
    assert_same(ag.compile(lambda *a: looped(*a, **options))(*ARGUMENTS), (end, ys), 0)


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("compiled", [False, True], ids=["plain", "compiled"])
def test_derivatives_are_those_of_the_loop(options, compiled):
    run = ag.compile if compiled else lambda f: f
    for transform in (ag.value_and_grad, ag.hessian):
        found = run(transform(scalar(looped, **options), (0, 1, 2)))(*ARGUMENTS)
        assert_same(found, transform(scalar(unrolled, **options), (0, 1, 2))(*ARGUMENTS), 1e-12)


@pytest.mark.parametrize("transform", [ag.jacobian, ag.jacfwd, ag.jacrev])
def test_jacobians(transform):
    found = transform(lambda theta: looped(theta, *ARGUMENTS[1:], checkpoint=True)[1]["both"])(THETA)
    assert_same(found, transform(lambda theta: unrolled(theta, *ARGUMENTS[1:])[1]["both"])(THETA))


def test_products():
    direction = (np.ones(4), (0.5, -1.0), NOISE[::-1])
    found, expected = (ag.jvp(loop, ARGUMENTS, direction) for loop in (looped, unrolled))
    assert_same(found, expected)
    value, pullback = ag.vjp(looped, *ARGUMENTS)
    seeds = (1.0, {"product": np.ones(23), "both": np.ones((23, 2))})
    again, pull = ag.vjp(unrolled, *ARGUMENTS)
    assert_same(value, again)
    for _ in range(2):  # each reverse pass begins anew
        assert_same(pullback(seeds), pull(seeds))
    vector = np.array([1.0, -1.0, 0.5, 2.0])
    assert_same(ag.hvp(scalar(looped))(*ARGUMENTS, vector), ag.hvp(scalar(unrolled))(*ARGUMENTS, vector), 1e-12)


def test_derivatives_are_right():
    ag.check_grads(scalar(looped, checkpoint=True), *ARGUMENTS)


def test_closed_forms():
    """The power by products, and Newton's iteration for a root, whose derivative is that of the root."""
    power = lambda a: ag.fori(0, 11, lambda i, x: a * x, 1.0)  # noqa: E731
    assert power(1.5) == 1.5**11
    assert ag.grad(power)(1.5) == pytest.approx(11 * 1.5**10, rel=1e-14)
    assert ag.hessian(power)(1.5) == pytest.approx(110 * 1.5**9, rel=1e-14)
    root = lambda a: ag.fori(0, 30, lambda i, x: 0.5 * (x + a / x), 1.0)  # noqa: E731
    assert ag.grad(root)(7.0) == pytest.approx(0.5 / np.sqrt(7.0), rel=1e-14)
    assert ag.hessian(root)(7.0) == pytest.approx(-0.25 * 7.0**-1.5, rel=1e-13)
    factorial = lambda x: ag.fori(1, 11, lambda i, p: p * i * x, 1.0)  # noqa: E731
    assert factorial(1.0) == 3628800
    assert ag.grad(factorial)(1.0) == pytest.approx(36288000)
    assert ag.fori(-3, 2, lambda i, total: total + i, 0.0) == -5


@dataclasses.dataclass
class State:
    mean: float
    spread: np.ndarray


def test_structures():
    """Carries, entries and results in any containers; None is nothing."""

    def advance(carry, x):
        state, nothing = carry["state"], carry["nothing"]
        assert nothing is None
        state = State(state.mean + x["a"], state.spread * x["b"][0])
        return {"state": state, "nothing": None}, (state, None, [state.mean])

    init = {"state": State(1.0, np.array([1.0, 2.0])), "nothing": None}
    xs = {"a": np.array([0.5, 0.25]), "b": (np.array([2.0, 3.0]), None)}
    end, (states, nothing, (means,)) = ag.scan(advance, init, xs)
    assert end["state"].mean == 1.75
    assert end["nothing"] is None
    assert nothing is None
    assert np.array_equal(end["state"].spread, [6.0, 12.0])
    assert np.array_equal(states.spread, [[2.0, 4.0], [6.0, 12.0]])
    assert np.array_equal(means, [1.5, 1.75])
    gradient = ag.grad(lambda b: np.sum(ag.scan(advance, init, {"a": xs["a"], "b": (b, None)})[0]["state"].spread))
    assert np.array_equal(gradient(xs["b"][0]), [9.0, 6.0])


def test_nothing_is_carried_or_stacked():
    carry, ys = ag.scan(lambda carry, x: (None, x**2), None, np.arange(4))
    assert carry is None
    assert np.array_equal(ys, [0.0, 1.0, 4.0, 9.0])
    assert ag.scan(lambda carry, _: (carry + 1, None), 1.0, length=3) == (4.0, None)
    assert np.array_equal(ag.grad(lambda x: np.sum(ag.scan(lambda c, y: (c, y**2), (), x)[1]))(np.arange(3.0)), [0, 2, 4])


def test_no_steps_and_one():
    """Without steps the carry is what it was, and what would be stacked is known by its shape."""
    step = lambda carry, x: (carry * x, {"y": carry * np.ones((2, 3))})  # noqa: E731
    for reverse in (False, True):
        end, ys = ag.scan(step, 2.0, np.zeros(0), reverse=reverse)
        assert end == 2.0
        assert ys["y"].shape == (0, 2, 3)
        end, ys = ag.scan(step, 2.0, np.array([3.0]), reverse=reverse)
        assert end == 6.0
        assert np.array_equal(ys["y"], np.full((1, 2, 3), 2.0))
    assert ag.grad(lambda c: ag.scan(step, c, np.zeros(0))[0])(2.0) == 1.0
    assert ag.grad(lambda c: ag.scan(step, c, np.array([3.0]))[0])(2.0) == 3.0
    assert ag.hessian(lambda c: ag.scan(step, c, np.array([3.0]))[0] ** 2)(2.0) == 18.0
    assert ag.fori(5, 5, lambda i, x: x / 0, 1.0) == 1.0
    assert ag.fori(5, 2, lambda i, x: x / 0, True) is True


def test_truths_are_carried():
    """A flag that says whether a bound was met; booleans go in and come out."""

    def advance(carry, x):
        total, met = carry
        total = total + x
        return (total, met | (total > 2)), met

    (total, met), before = ag.scan(advance, (0.0, False), np.ones(4))
    assert total == 4.0
    assert met is True
    assert before.dtype == bool
    assert before.tolist() == [False, False, False, True]
    flags, _ = ag.scan(lambda c, x: (c ^ x, None), np.array([True, False]), np.array([[True, True], [False, True]]))
    assert flags.dtype == bool
    assert flags.tolist() == [False, False]


def test_writing_into_the_carry():
    """The carry of a step is the step's own."""

    def shift(x, new):
        x[1:] = x[:-1].copy()
        x[0] = new
        return x, None

    def last(start, entries):
        return ag.scan(shift, start, entries)[0]

    start, entries = np.array([1.0, 2.0, 3.0]), np.array([5.0, 6.0])
    assert np.array_equal(last(start, entries), [6.0, 5.0, 1.0])
    assert np.array_equal(start, [1.0, 2.0, 3.0])
    assert np.array_equal(ag.jacobian(last)(start, entries), [[0, 0, 0], [0, 0, 0], [1, 0, 0]])


def test_matrices():
    """A recurrent network: a captured matrix in every step, and a factorisation, against the loop."""
    random = np.random.default_rng(3)
    w, inputs = 0.5 * random.normal(size=(4, 4)), random.normal(size=(9, 4))

    def step(w, h, x):
        h = np.tanh(w @ h + x)
        return h, np.linalg.solve(np.eye(4) + w @ w.T, h)

    def looped(w, inputs):
        h, ys = ag.scan(lambda h, x: step(w, h, x), np.zeros(4), inputs)
        return np.sum(h**2) + np.sum(ys**3)

    def unrolled(w, inputs):
        h, total = np.zeros(4), 0.0
        for x in inputs:
            h, y = step(w, h, x)
            total = total + np.sum(y**3)
        return np.sum(h**2) + total

    for transform in (ag.value_and_grad, ag.hessian):
        assert_same(transform(looped, (0, 1))(w, inputs), transform(unrolled, (0, 1))(w, inputs), 1e-11)


def test_nested_loops():
    """Triangular numbers of powers: the inner loop takes a value of the outer step, which is captured."""

    def inner(a, i):
        return ag.fori(0, 4, lambda j, x: x * a + i, 1.0)

    def looped(a):
        return ag.scan(
            lambda total, i: (total + inner(a, i) * inner(total * 0.01, i), total), 0.0, np.arange(5), checkpoint=True
        )

    def unrolled(a):
        total, before = 0.0, []
        for i in range(5):
            before.append(total)
            x, y = 1.0, 1.0
            for _ in range(4):
                x, y = x * a + i, y * (total * 0.01) + i
            total = total + x * y
        return total, ag.array(before)

    assert_same(looped(1.1), unrolled(1.1))
    for compiled in (lambda f: f, ag.compile):
        for transform in (ag.grad, ag.hessian):
            found, expected = (transform(lambda a, f=f: f(a)[0] + np.sum(f(a)[1])) for f in (looped, unrolled))
            assert_same(compiled(found)(1.1), expected(1.1), 1e-12)


def test_within_a_differential_equation_and_around_one():
    """A right-hand side with a loop; a loop whose step solves an equation, which has first derivatives."""

    def rhs(t, y, k):
        return -k * ag.fori(0, 3, lambda i, x: x / 2.0, y)

    def decay(k):
        return ag.solve_ivp(rhs, (0.0, 8.0), [1.0], method="BDF", args=(k,), rtol=1e-10, atol=1e-12).y[0, -1]

    assert decay(0.7) == pytest.approx(np.exp(-0.7), rel=1e-8)
    assert ag.grad(decay)(0.7) == pytest.approx(-np.exp(-0.7), rel=1e-7)

    def three(k):
        def step(y, x):
            y = ag.solve_ivp(lambda t, y, k: -k * y, (0.0, 1.0), y, method="BDF", args=(k * x,), rtol=1e-10, atol=1e-12).y[
                :, -1
            ]
            return y, y[0]

        return ag.scan(step, np.ones(1), np.array([0.5, 1.0, 1.5]))[1]

    exponents = np.array([0.5, 1.5, 3.0])
    np.testing.assert_allclose(three(0.3), np.exp(-0.3 * exponents), rtol=1e-8)
    np.testing.assert_allclose(ag.jacobian(three)(0.3), -exponents * np.exp(-0.3 * exponents), rtol=1e-6)
    with pytest.raises(NotImplementedError, match="solve_ivp has first derivatives only"):
        ag.hessian(lambda k: three(k)[-1])(0.3)


def test_gradients_within_and_of_loops():
    """Gradient descent, whose derivative is that of the minimum; and transformations of transformations of a loop."""
    matrix = np.array([[2.0, 0.3], [0.3, 1.0]])
    loss = lambda x, b: 0.5 * x @ matrix @ x - b @ x  # noqa: E731
    minimum = lambda b: ag.fori(0, 200, lambda i, x: x - 0.3 * ag.grad(loss)(x, b), np.zeros(2))  # noqa: E731
    b = np.array([1.0, 2.0])
    np.testing.assert_allclose(minimum(b), np.linalg.solve(matrix, b), rtol=1e-13)
    for jacobian in (ag.jacobian(minimum), ag.compile(ag.jacobian(minimum))):
        np.testing.assert_allclose(jacobian(b), np.linalg.inv(matrix), rtol=1e-12)
    cube = lambda x: ag.fori(0, 3, lambda i, c: c * x, 1.0)  # noqa: E731
    for f in (ag.grad(ag.grad(cube)), ag.compile(ag.grad(ag.grad(cube))), ag.compile(lambda x: ag.grad(ag.grad(cube))(x))):
        assert f(1.5) == pytest.approx(9.0, rel=1e-14)


def test_on_a_tape():
    with ag.tape():
        a = ag.var(1.5)
        end = ag.fori(0, 3, lambda i, x: a * x, a)
        end.grad()
        assert a.adj() == 4 * 1.5**3
        assert end.val() == 1.5**4


def test_derivatives_by_hand_within_a_loop():
    @ag.custom_vjp
    def cube(x):
        return x**3

    cube.defvjp(lambda x: (x**3, x), lambda x, cotangent: (3 * x**2 * cotangent,))
    f = lambda x: ag.fori(0, 2, lambda i, y: cube(y), x)  # noqa: E731
    assert ag.grad(f)(1.1) == pytest.approx(9 * 1.1**8, rel=1e-14)
    assert ag.compile(ag.grad(f))(1.1) == pytest.approx(9 * 1.1**8, rel=1e-14)
    assert ag.grad(lambda x: ag.fori(0, 3, lambda i, y: y * ag.stop_gradient(x), x))(2.0) == 8.0


def test_sparse_patterns_take_a_loop_as_dense():
    matrix = ag.jacobian(lambda x: ag.scan(lambda c, y: (c, y * 2), 0.0, x)[1], sparse=True)(np.arange(4.0))
    assert np.array_equal(matrix.toarray(), 2 * np.eye(4))
