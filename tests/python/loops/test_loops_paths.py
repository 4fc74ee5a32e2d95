"""Branches that depend on values: cond, and `if` inside of a loop's body, whose paths are recorded as they are met."""

import functools
import sys
import threading

import numpy as np
import pytest

import agrad as ag


def collatz(x, _):
    """A recursion with branches by value: half of it, or three times it and something."""
    x = x / 2 if x > 1.5 else 3 * x + 0.25
    return x, x


def looped(x, a=1.0):
    end, ys = ag.scan(lambda c, _: collatz(a * c, _), x, length=40)
    return end + np.sum(ys)


def unrolled(x, a=1.0):
    total = 0.0
    for _ in range(40):
        x, y = collatz(a * x, None)
        total = total + y
    return x + total


POINTS = [0.3, 1.0, 7.7, 100.0, -0.2]


@pytest.mark.parametrize("transform", [ag.value_and_grad, ag.hessian])
def test_branches_inside_of_a_loop(transform):
    compiled = ag.compile(transform(looped, (0, 1)))
    for x in POINTS:
        for a in (1.0, 0.9):
            expected = transform(unrolled, (0, 1))(x, a)
            for found in (transform(looped, (0, 1))(x, a), compiled(x, a)):
                np.testing.assert_allclose(np.ravel(found[-1]), np.ravel(expected[-1]), rtol=1e-12, atol=1e-12)


def calls_of(f):
    """f, and how often it was called."""
    count = [0]

    @functools.wraps(f)
    def counted(*args):
        count[0] += 1
        return f(*args)

    return counted, count


def test_a_body_is_recorded_once_for_each_path():
    body, count = calls_of(collatz)
    f = ag.compile(lambda x: ag.scan(body, x, length=1000)[0])
    f(7.7)
    assert count == [2]
    for x in np.linspace(-1, 200, 50):
        f(float(x))
    assert count == [2]


def test_a_path_that_is_met_later_is_recorded_alone():
    """The function around the loop is not called again, whatever the closure's values are by then."""

    def around(a, b, start):
        theta = np.stack([np.exp(a), np.exp(b)])

        def step(c, x):
            return (c + x * theta[0] if c < 10 else np.sqrt(c) * theta[1]), None

        step, count = calls_of(step)
        counts.append(count)
        return ag.scan(step, start, np.ones(20))[0]

    counts = []
    around, outer = calls_of(around)
    f = ag.compile(ag.value_and_grad(around, (0, 1, 2)))

    def expected(a, b, c):
        for _ in range(20):
            c = c + np.exp(a) if c < 10 else np.sqrt(c) * np.exp(b)
        return c

    for arguments in [(-3.0, 0.1, 0.0), (0.0, 0.1, 1.05), (0.5, 0.3, 100.0), (-3.0, 0.1, 0.0)]:
        value, gradient = f(*arguments)
        assert value == pytest.approx(expected(*arguments), rel=1e-13)
        steps = 1e-6 * np.eye(3)
        differences = [(expected(*(arguments + h)) - expected(*(arguments - h))) / 2e-6 for h in steps]
        np.testing.assert_allclose(gradient, differences, rtol=1e-6, atol=1e-7)
    assert outer == [1]
    assert counts == [[2]]


def test_a_path_that_needs_what_the_others_do_not_know():
    """It computes with recorded values of the function around it, which have ended: that function is recorded again."""

    class Hidden:  # from those who look for recorded values
        __slots__ = ("value",)

    def around(a, start):
        hidden = Hidden()
        hidden.value = np.exp(a)
        step = lambda c, _: (c + 1.0 if c < 10 else c * np.sqrt(hidden.value), None)  # noqa: E731
        return ag.scan(step, start, length=20)[0]

    around, outer = calls_of(around)
    f = ag.compile(ag.grad(around, (0, 1)))
    assert f(0.3, -15.0) == (0.0, 1.0)
    for _ in range(2):
        end = 100 * np.exp(0.15 * 20)
        np.testing.assert_allclose(f(0.3, 100.0), (end * 10, end / 100), rtol=1e-13)
        np.testing.assert_allclose(f(0.3, -15.0), (0.0, 1.0))
    assert outer == [2]


def test_too_many_paths_name_the_comparison():
    def many(c, x):
        for bit in range(7):
            c = c + 1.0 if x[bit] > 0 else c - 1.0
        return c, None

    bits = np.array([[(n >> k) & 1 for k in range(7)] for n in range(128)], dtype=float)
    assert ag.scan(many, 0.0, bits[:64])[0] == float(np.sum(2 * bits[:64] - 1))
    with pytest.raises(RuntimeError, match=r"scan\(many\): number of paths .* is 65, .*test_loops_paths.py:.*x\[bit\] > 0"):
        ag.scan(many, 0.0, bits)


# cond


def branches(x):
    return ag.cond(x > 1, lambda x: np.log(x), lambda x: x - 1, x)


@pytest.mark.parametrize("transform", [ag.grad, ag.hessian])
def test_cond_takes_the_branch_of_the_values(transform):
    compiled = ag.compile(transform(branches))
    expected = {4.0: 0.25, -4.0: 1.0} if transform is ag.grad else {4.0: -1 / 16, -4.0: 0.0}
    for x in (4.0, -4.0, 4.0, -4.0):
        assert transform(branches)(x) == expected[x]
        assert compiled(x) == expected[x]
    assert branches(np.e) == 1.0
    assert ag.cond(True, lambda: "a", lambda: "b") == "a"  # plain: an if


def test_cond_records_what_is_needed_when_it_is_needed():
    high, highs = calls_of(lambda x: {"y": np.sqrt(x)})
    low, lows = calls_of(lambda x: {"y": x * x})
    around, outer = calls_of(lambda x: np.sum(ag.cond(x[0] > 0, high, low, x)["y"]))
    f = ag.compile(ag.grad(around))
    assert np.array_equal(f(np.array([4.0, 16.0])), [0.25, 0.125])
    assert (highs, lows, outer) == ([1], [0], [1])
    assert np.array_equal(f(np.array([-1.0, 3.0])), [-2.0, 6.0])
    f(np.array([4.0, 16.0]))
    assert (highs, lows, outer) == ([1], [1], [1])


@pytest.mark.parametrize("transform", [lambda f: f, ag.grad, ag.compile])
def test_a_branch_within_a_body_that_is_recorded_later_has_loops_of_its_own(transform):
    """The inner loop uses a value of the branch around it; the body around both need not be recorded again."""
    recorded = []

    def step(i, x):
        recorded.append(i)
        return ag.cond(x > 3, lambda x: ag.fori(0, 3, lambda j, y: y + x, 0.0), lambda x: x + 1, x)

    result = transform(lambda x: ag.fori(0, 6, step, x))(0.5)  # 1.5, 2.5, 3.5, then three times 3 x
    assert result == (27.0 if transform is ag.grad else 94.5)
    assert len(recorded) == 1


def test_cond_operands_stay_what_they_are():
    def true_fun(x, name, options):
        assert name == "a"
        return x * options["n"], None

    f = ag.compile(lambda x: ag.cond(x > 0, true_fun, lambda x, *_: (x, None), x, "a", {"n": 3})[0])
    assert f(2.0) == 6.0
    assert f(-2.0) == -2.0


def test_a_branch_that_is_recorded_later_finds_what_it_closed_over():
    """Python looks a closure's variables up when it is called; by then the loop in which it was made has gone on."""

    def f(x):
        total = 0.0
        for k in range(1, 4):
            helper, scale = lambda y: y * y * k, k * x  # noqa: B023
            total = total + ag.cond(x > k, lambda x: x * scale, lambda x: helper(x) + scale, x)  # noqa: B023
            total = total + ag.fori(0, 2, lambda i, c: c + k if c < k + 2 else c * helper(x), x)  # noqa: B023
            scale, helper = None, None
        return total

    def plain(x):
        total = 0.0
        for k in range(1, 4):
            total, c = total + (x * k * x if x > k else x * x * k + k * x), x
            for _ in range(2):
                c = c + k if c < k + 2 else c * x * x * k
            total = total + c
        return total

    compiled = ag.compile(ag.value_and_grad(f))
    for x in (9.5, 0.5, 2.5, 3.25):
        value, slope = compiled(x)
        assert value == pytest.approx(plain(x), rel=1e-14)
        assert slope == pytest.approx((plain(x + 1e-6) - plain(x - 1e-6)) / 2e-6, rel=1e-7)


def test_cond_inside_of_a_scan():
    def both(c):
        return c, c

    def loop(xs, a):
        end, ys = ag.scan(lambda c, x: both(ag.cond(c > 2, lambda c: c / 3, lambda c: c * a + x, c)), 1.0, xs)
        return end + np.sum(ys)

    def plain(xs, a):
        c, total = 1.0, 0.0
        for x in xs:
            c = c / 3 if c > 2 else c * a + x
            total = total + c
        return c + total

    xs = np.cos(np.arange(30.0))
    compiled = ag.compile(ag.grad(loop, (0, 1))), ag.compile(ag.hessian(loop, 0))
    for a in (1.1, 0.1, 1.1, 1.3):
        for found, expected in zip(compiled[0](xs, a), ag.grad(plain, (0, 1))(xs, a), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(ag.grad(loop)(xs, a), ag.grad(plain)(xs, a), rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(compiled[1](xs, a), ag.hessian(plain)(xs, a), atol=1e-13)


def test_a_branch_by_a_value_from_around_the_loop():
    """The comparison belongs to the function around, which is recorded for each side."""

    def f(x, a):
        return ag.scan(lambda c, _: (c * a if a > 1 else c + a, None), x, length=3)[0]

    compiled = ag.compile(ag.grad(f, 1))
    for _ in range(2):
        assert compiled(2.0, 3.0) == 2 * 3 * 9
        assert compiled(2.0, 0.5) == 3


@pytest.mark.parametrize("branch", ["cond", "if in a loop"])
def test_branches_in_a_right_hand_side(branch):
    """Growth until a time or a size, then decay: the other branch is met in the middle of a solve."""

    def rhs(t, y, k):
        if branch == "cond":
            return ag.cond(t < 1, lambda: k * y, lambda: -2 * k * y)
        return ag.fori(0, 1, lambda i, c: k * y if t < 1 else -2 * k * y, np.zeros(1))

    def end(k):
        return ag.solve_ivp(rhs, (0.0, 2.0), [1.0], args=(k,), rtol=1e-9, atol=1e-11).y[0, -1]

    assert end(0.5) == pytest.approx(np.exp(-0.5), rel=1e-6)
    assert ag.grad(end)(0.5) == pytest.approx(-np.exp(-0.5), rel=1e-5)
    assert ag.compile(ag.grad(end))(0.5) == pytest.approx(-np.exp(-0.5), rel=1e-5)


def test_branches_of_different_shapes_are_refused():
    shapes = ag.compile(lambda x: ag.cond(x > 0, lambda: x, lambda: np.stack([x, x])))
    assert shapes(1.0) == 1.0
    with pytest.raises(ag.ShapeError, match=r"result is of shape \(2,\), but must be of shape \(\), as on another path"):
        shapes(-1.0)
    names = ag.compile(lambda x: ag.cond(x > 0, lambda: {"a": x}, lambda: {"b": x}))
    assert names(1.0) == {"a": 1.0}
    with pytest.raises(TypeError, match=r"has no number in \['a'\], but must be of the structure that it has on another path"):
        names(-1.0)


def test_a_branch_that_raises():
    def false_fun(x):
        raise KeyError("not here")

    f = ag.compile(ag.grad(lambda x: ag.cond(x > 0, lambda x: x * x, false_fun, x)))
    assert f(3.0) == 6.0
    for _ in range(2):
        with pytest.raises(KeyError, match="not here"):
            f(-3.0)
        assert f(3.0) == 6.0


def test_threads_share_a_growing_body():
    f = ag.compile(ag.value_and_grad(looped))
    f(100.0)
    xs = np.linspace(-1, 50, 40)
    expected = [f(float(x)) for x in xs]
    g = ag.compile(ag.value_and_grad(looped))
    g(100.0)
    results, interval = {}, sys.getswitchinterval()

    def work(begin):
        for n in range(begin, len(xs), 4):
            results[n] = g(float(xs[n]))

    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=work, args=(begin,)) for begin in range(4)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    finally:
        sys.setswitchinterval(interval)
    assert [results[n] for n in range(len(xs))] == expected


def test_rows_of_a_batch_take_their_own_paths():
    xs = np.linspace(-1.0, 50.0, 30)
    expected = [ag.value_and_grad(looped)(float(x)) for x in xs]
    values, slopes = ag.vmap(ag.value_and_grad(looped))(xs)
    np.testing.assert_allclose(values, [value for value, _ in expected], rtol=1e-13)
    np.testing.assert_allclose(slopes, [slope for _, slope in expected], rtol=1e-13)


@pytest.mark.parametrize("around", ["grad", "compile"])
def test_a_body_that_raises(around):
    def step(c, x):
        if c > 5:
            raise ArithmeticError("too much")
        return c + x, None

    f = ag.grad(lambda x: ag.scan(step, x, np.ones(4))[0])
    f = ag.compile(f) if around == "compile" else f
    assert f(0.0) == 1.0
    for _ in range(2):
        with pytest.raises(ArithmeticError, match="too much"):
            f(3.0)
        assert f(0.5) == 1.0
