"""Right-hand sides that jump within the body of a loop or a branch: derivatives have the jump's part, or a warning names it.

The witnesses are closed forms.
"""

import pickle

import numpy as np
import pytest

import agrad as ag
import kept_functions

METHODS = ["Tsit5", "RK45", "CKRK", "DOP853", "Rodas4", "Rodas5P", "auto", "BDF", "Adams"]
TIGHT = {"rtol": 1e-9, "atol": 1e-11}

every_method = pytest.mark.parametrize("method", METHODS)


def rate(y, a):
    """Three times this is the slope: twice as fast below a."""
    return np.where(y > a, a, 2.0 * a)


def newton(b):
    def step(x):
        return 0.5 * (x + b / x)

    return step(ag.while_loop(lambda x: np.abs(x * x - b) > 1e-12 * b, step, b, max_steps=50))


#: Loops whose sum is 3 a above a and 6 a below.
LOOPS = {
    "fori": lambda t, y, a: ag.fori(0, 3, lambda i, c: (c[0], c[1] + rate(c[0], a)), (y[0], 0.0))[1],
    "scan": lambda t, y, a: ag.scan(lambda c, x: ((c[0], c[1] + rate(c[0], a) * x), None), (y[0], 0.0), np.ones(3))[0][1],
    "ys": lambda t, y, a: np.sum(ag.scan(lambda c, x: (c, rate(c, a)), y[0], np.ones(3))[1]),
    "xs": lambda t, y, a: np.sum(ag.scan(lambda c, x: (c, rate(x, a)), 0.0, ag.array([y[0], y[0], y[0]]))[1]),
    "reverse": lambda t, y, a: np.sum(
        ag.scan(lambda c, x: (c + x, rate(y[0] + 0.0 * c, a)), 0.0, np.ones(3), reverse=True)[1]
    ),
    "a loop in a loop": lambda t, y, a: ag.fori(
        0, 3, lambda i, c: (c[0], ag.fori(0, 1, lambda j, d: d + rate(c[0], a), c[1])), (y[0], 0.0)
    )[1],
    "cond in a loop": lambda t, y, a: ag.fori(
        0, 3, lambda i, c: (c[0], c[1] + ag.cond(c[0] > a, lambda: a, lambda: 2.0 * a)), (y[0], 0.0)
    )[1],
    "in a branch": lambda t, y, a: 3 * ag.cond(t >= 0.0, lambda u: rate(u, a), lambda u: u, y[0]),
    "in two branches": lambda t, y, a: 3 * ag.cond(t < 0.25, lambda u: rate(u, a), lambda u: rate(1.0 * u, a), y[0]),
    "vmap": lambda t, y, a: np.sum(
        ag.vmap(lambda k: ag.fori(0, 3, lambda i, c: (c[0], c[1] + rate(c[0], a)), (k * y[0], 0.0))[1])(np.ones(2))
    )
    / 2,
    "while": lambda t, y, a: 3 * ag.while_loop(
        lambda c: c[1] < 1.5, lambda c: (c[0], c[1] + rate(c[0], a) / a), (y[0], 0.0), max_steps=5
    )[1] * a,
    "a path for each step": lambda t, y, a: ag.fori(
        0, 6, lambda i, c: (c[0], c[1] + (rate(c[0], a) if i < 3 else 0.0 * c[1])), (y[0], 0.0)
    )[1],
    "a density in the loop": lambda t, y, a: ag.fori(
        0, 3, lambda i, c: (c[0], c[1] + rate(c[0], a) + 0.0 * ag.normal_lpdf(c[0], 0.0, 1.0)), (y[0], 0.0)
    )[1],
}  # fmt: skip
#: Those that contain a loop, a branch or a density without jumps.
LOOPS_REMAIN = {"a loop in a loop", "cond in a loop", "a density in the loop"}


def closed(name, a):
    """Value and two derivatives of y(0.5) from 0: a is reached at 1 / 6."""
    if name == "while":
        return 3.0 * a, 3.0, 0.0
    return a + 3 * a * (0.5 - 1 / 6), 2.0, 0.0


def end_of(loop, method, **options):
    f = lambda t, y, a: [LOOPS[loop](t, y, a)]  # noqa: E731
    return lambda a: ag.solve_ivp(f, (0.0, 0.5), [0.0], method, args=(a,), **(TIGHT | options)).y[0, -1]


@pytest.mark.parametrize("loop", LOOPS)
@every_method
def test_values_and_derivatives(loop, method):
    end, a = end_of(loop, method), 0.75
    value, first, second = closed(loop, a)
    close = {"rel": 1e-5, "abs": 1e-7} if method in ("BDF", "Adams") else {"rel": 2e-8, "abs": 1e-9}
    assert end(a) == pytest.approx(value, **close)
    assert ag.grad(end)(a) == pytest.approx(first, **close)
    assert ag.compile(ag.grad(end))(a) == pytest.approx(first, **close)
    if loop in LOOPS_REMAIN and method in ("auto", "Rodas4", "Rodas5P"):
        return  # loops and branches have no third derivatives, which these methods need
    assert ag.jvp(end, (a,), (1.0,))[1] == pytest.approx(first, **close)
    if method not in ("BDF", "Adams"):
        assert ag.hessian(end)(a) == pytest.approx(second, abs=1e-6)


@every_method
def test_each_step_of_a_loop_has_its_own_time(method):
    """The slope is 1 + half of the number of levels passed, and level i is at a i."""

    def end(a):
        f = lambda t, y, a: [ag.fori(1, 6, lambda i, c: c + np.where(y[0] + 0.0 * c > a * i, 0.5, 0.0), 1.0)]  # noqa: E731
        return ag.solve_ivp(f, (0.0, 2.0), [0.0], method, args=(a,), **TIGHT).y[0, -1]

    a, times = 0.8, 0.8 * np.cumsum(1 / (1 + 0.5 * np.arange(3)))  # of the first three levels
    passed = np.count_nonzero(times < 2.0)
    slope = 1 + 0.5 * passed
    assert end(a) == pytest.approx(a * passed + slope * (2.0 - times[passed - 1]), rel=1e-7)
    assert ag.grad(end)(a) == pytest.approx(passed - slope * times[passed - 1] / a, rel=1e-6)


@pytest.mark.parametrize("method", ["Tsit5", "Rodas5P", "BDF"])
def test_a_loop_that_counts(method):
    """How often y / a must be halved to be at most 1: k above a 2^(k - 1)."""

    def end(a):
        def f(t, y, a):
            return [1.0 + ag.while_loop(lambda c: c[0] > 1.0, lambda c: (c[0] / 2, c[1] + 1), (y[0] / a, 0.0), max_steps=30)[1]]

        return ag.solve_ivp(f, (0.0, 2.5), [0.0], method, args=(a,), **TIGHT).y[0, -1]

    # to a by t = a, to 2 a by 1.5 a, to 4 a by 1.5 a + 2 a / 3, then at the rate 4
    a, last = 0.9, 1.5 + 2 / 3
    assert end(a) == pytest.approx(4 * a + 4 * (2.5 - last * a), rel=1e-7)
    assert ag.grad(end)(a) == pytest.approx(4 - 4 * last, rel=1e-6)


@pytest.mark.parametrize("method", ["Tsit5", "Rodas5P", "BDF"])
def test_an_iteration_that_converges_has_no_jumps(method):
    """The square root of 1 + y grows as a t / 2 where y' = a sqrt(1 + y)."""
    end = lambda a: ag.solve_ivp(  # noqa: E731
        lambda t, y, a: [a * newton(1.0 + y[0])], (0.0, 2.0), [0.5], method, args=(a,), **TIGHT
    ).y[0, -1]
    root = np.sqrt(1.5) + 0.9
    assert end(0.9) == pytest.approx(root**2 - 1, rel=1e-7)
    assert ag.grad(end)(0.9) == pytest.approx(2 * root, rel=1e-6)


SILENT = {
    "maximum": lambda t, y, a: ag.fori(0, 2000, lambda i, c: 0.999 * np.maximum(c, a), y[0]),
    "relu": lambda t, y, a: ag.scan(lambda c, x: (np.where(c > a, c, a) * x, None), y[0], np.full(300, 0.999))[0],
    "clip and abs": lambda t, y, a: ag.fori(0, 50, lambda i, c: np.clip(c, 0.0, a) + 0.1 * np.abs(c - a), y[0]),
    "the step's number": lambda t, y, a: ag.fori(0, 9, lambda i, c: c + np.where(i > 3, 1.0, 2.0) * y[0], 0.0),
    "data": lambda t, y, a: ag.scan(lambda c, x: (c + (1.0 if x > 0 else 2.0) * y[0], None), 0.0, np.sin(np.arange(9.0)))[0],
    "parameters": lambda t, y, a: ag.fori(0, 9, lambda i, c: c + np.where(a * i > 3.0, 1.0, 2.0) * y[0], 0.0),
    "a branch": lambda t, y, a: ag.cond(a > 0.5, lambda u: np.maximum(u, a), lambda u: u, y[0]),
}


@pytest.mark.parametrize("name", SILENT)
@pytest.mark.parametrize("method", ["Tsit5", "Rodas5P", "BDF"])
def test_kinks_and_comparisons_without_states_change_nothing(name, method):
    def solve(switches):
        def end(a):
            f = lambda t, y, a: [0.1 * SILENT[name](t, y, a) + 1.0]  # noqa: E731
            solve.last = ag.solve_ivp(f, (0.0, 2.0), [0.0], method, args=(a,), switches=switches)
            return solve.last.y[0, -1]

        value, slope = ag.value_and_grad(end)(0.8)
        return value, slope, solve.last.stats["steps"]

    assert solve("auto") == solve("ignore")


def hidden(t, y, a):
    return [ag.fori(0, 3, lambda i, c: (c[0], c[1] + (1.0 if c[0] > a else 2.0)), (y[0], 0.0))[1]]


def captured(t, y, a):
    return [ag.fori(0, 3, lambda i, c: c + (1.0 if y[0] > a else 2.0), 0.0)]


def long(t, y, a):
    return [1e-4 * ag.fori(0, 30_000, lambda i, c: (c[0], c[1] + np.where(c[0] > a, 1.0, 2.0)), (y[0], 0.0))[1]]


@pytest.mark.thread_unsafe(reason="catches warnings")
@pytest.mark.parametrize(
    ("f", "text"),
    [
        (hidden, r"solve_ivp\(hidden\): comparisons in fori\(<lambda>\) are hidden because an `if` has a side that was not "
         r"recorded at .*test_ode_loop_switches.py:\d+: return \[ag.fori.*if c\[0\] > a.*write np.where or ag.cond"),
        (captured, r"solve_ivp\(captured\): comparisons in fori\(<lambda>\) are hidden because an `if` has a side that"),
        (long, r"solve_ivp\(long\): comparisons in fori\(<lambda>\) are hidden because its steps have more than 20000"),
    ],
)  # fmt: skip
def test_jumps_that_are_not_found_are_named(f, text):
    def end(a, switches="auto"):
        return ag.solve_ivp(f, (0.0, 0.1), [0.0], args=(a,), switches=switches).y[0, -1]

    end(0.5)  # values do not need the jumps
    with pytest.warns(RuntimeWarning, match=text):
        ag.grad(end)(0.5)
    ag.grad(end)(0.5, "ignore")


@pytest.mark.thread_unsafe(reason="catches warnings")
def test_populations():
    def total(a, f):
        subject = ag.Subject((0.0, 0.5), [0.0], [0.5], (a,))
        return sum(each.y[0, -1] for each in ag.solve_many(f, [subject, subject], **TIGHT))

    f = lambda t, y, a: [LOOPS["scan"](t, y, a)]  # noqa: E731
    assert ag.value_and_grad(total)(0.75, f) == (pytest.approx(2 * closed("scan", 0.75)[0]), pytest.approx(4.0))
    with pytest.warns(RuntimeWarning, match=r"solve_many\(hidden\): comparisons in fori"):
        ag.grad(total)(0.5, hidden)


def test_kept_functions_keep_their_switches():
    function = ag.compile(ag.grad(kept_functions.held_loop_switch))
    function(0.75)
    assert pickle.loads(pickle.dumps(function))(0.75) == pytest.approx(2.0, rel=1e-7)


@every_method
def test_a_comparison_of_t_in_a_loop(method):
    """The state grows at the rate 6 to t = a, then at the rate 3."""

    def end(a):
        f = lambda t, y, a: [ag.fori(0, 3, lambda i, c: (c[0], c[1] + np.where(c[0] > a, 1.0, 2.0)), (t, 0.0 * y[0]))[1]]  # noqa: E731
        return ag.solve_ivp(f, (0.0, 2.0), [0.0], method, args=(a,)).y[0, -1]

    assert ag.value_and_grad(end)(0.75) == (pytest.approx(6 * 0.75 + 3 * 1.25, rel=1e-9), pytest.approx(3.0, rel=1e-9))
