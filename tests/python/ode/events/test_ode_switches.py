"""Right-hand sides that jump where a comparison of states changes: steps end there, and every derivative has the jump's part.

The witnesses are closed forms, differentiated by mpmath.
"""

import pickle

import mpmath as mp
import numpy as np
import pytest

import agrad as ag
import kept_functions

METHODS = ["Tsit5", "RK45", "CKRK", "DOP853", "Rodas4", "Rodas5P", "auto", "BDF", "Adams"]
TIGHT = {"rtol": 1e-9, "atol": 1e-11}

every_method = pytest.mark.parametrize("method", METHODS)


def march(start, rate, edges, span):
    """The state that moves at rate(k) between edges k and k + 1, after a time; up or down."""
    y, left = mp.mpf(start), mp.mpf(span)
    k = sum(1 for e in edges if e < y) - 1 if rate(0) > 0 else sum(1 for e in edges if e <= y) - 1
    while True:
        speed = rate(k)
        edge = edges[k + 1] if speed > 0 else edges[k]
        needed = (edge - y) / speed
        if needed >= left:
            return y + speed * left
        y, left, k = edge, left - needed, k + (1 if speed > 0 else -1)


def rate_law(t, y, a):
    return [-a * y[0], a * y[0], np.where(y[1] >= 4.0, 1.5, 0.05)]


def rate_law_at_2(a):
    crossing = mp.log(mp.mpf(10) / 6) / a
    return mp.mpf("0.05") * crossing + mp.mpf("1.5") * (2 - crossing)


def of_remainder(a):
    """The state of 1 + remainder of y by a / 2: exponential within a period of y."""
    span, period, y = mp.mpf(3), 2 * mp.log(1 + a / 2), mp.mpf(0)
    while period < span:
        span, y = span - period, y + a
    return y + 2 * (mp.exp(span / 2) - 1)


def of_nearest_remainder(a):
    """The state of 1.5 + half of the remainder of y by a, which lies between -a / 2 and a / 2."""
    left, y, rest = mp.mpf(3), mp.mpf(0), mp.mpf(0)
    while True:
        needed = 2 * mp.log((3 + a / 2) / (3 + rest))
        if needed >= left:
            return y + (3 + rest) * (mp.exp(left / 2) - 1)
        left, y, rest = left - needed, y + a / 2 - rest, -a / 2


whole = [mp.mpf(k) for k in range(-6, 12)]
halves = [mp.mpf(k) / 2 for k in range(-13, 22, 2)]

#: Name: right-hand side, initial state, end, index of the state, closed form, parameter.
CASES = {
    "where": (rate_law, [10.0, 0.0, 0.0], 2.0, 2, rate_law_at_2, 1.0),
    "sign": (
        lambda t, y, a: [1.0 + 0.5 * np.sign(y[0] - a)],
        [0.0], 2.0, 0, lambda a: a + mp.mpf("1.5") * (2 - 2 * a), 0.8,
    ),
    "heaviside": (
        lambda t, y, a: [1.0 + a * np.heaviside(y[0] - a, 0.5)],
        [0.0], 2.0, 0, lambda a: a + (1 + a) * (2 - a), 0.8,
    ),
    "signbit": (
        lambda t, y, a: [1.0 + a * np.where(np.signbit(y[0] - a), 0.0, 1.0)],
        [0.0], 2.0, 0, lambda a: a + (1 + a) * (2 - a), 0.8,
    ),
    "floor": (
        lambda t, y, a: [a + 0.5 * np.floor(y[0])],
        [0.25], 3.0, 0, lambda a: march(0.25, lambda k: a + (k - 6) / mp.mpf(2), whole, 3), 1.1,
    ),
    "floor, downwards": (
        lambda t, y, a: [-a + 0.125 * np.floor(y[0])],
        [2.5], 3.0, 0, lambda a: march(2.5, lambda k: -a + (k - 6) / mp.mpf(8), whole, 3), 1.1,
    ),
    "ceil": (
        lambda t, y, a: [a + 0.5 * np.ceil(y[0])],
        [0.125], 2.0, 0, lambda a: march(0.125, lambda k: a + (k - 5) / mp.mpf(2), whole, 2), 1.1,
    ),
    "rint": (
        lambda t, y, a: [a - 0.25 * np.rint(y[0])],
        [0.125], 3.0, 0, lambda a: march(0.125, lambda k: a - (k - 6) / mp.mpf(4), halves, 3), 1.1,
    ),
    "trunc": (
        lambda t, y, a: [a + 0.25 * np.trunc(y[0])],
        [-2.5], 3.0, 0,
        lambda a: march(-2.5, lambda k: a + (k - 6 + (1 if k < 6 else 0)) / mp.mpf(4), whole, 3), 2.1,
    ),
    "floor_divide": (
        lambda t, y, a: [1.0 + 0.5 * (y[0] // a)],
        [0.125], 2.0, 0,
        lambda a: march(0.125, lambda k: 1 + k / mp.mpf(2), [a * k for k in range(12)], 2), 0.8,
    ),
    "mod": (lambda t, y, a: [1.0 + 0.5 * np.mod(y[0], a)], [0.0], 3.0, 0, of_remainder, 0.8),
    "fmod": (lambda t, y, a: [1.0 + 0.5 * np.fmod(y[0], a)], [0.0], 3.0, 0, of_remainder, 0.8),
    "remainder": (
        lambda t, y, a: [1.5 + 0.5 * ag.remainder(y[0], a)],
        [0.0], 3.0, 0, of_nearest_remainder, 0.8,
    ),
    "remainder of t": (
        lambda t, y, a: [ag.remainder(t, a) + 0.0 * y[0]],
        [0.0], 2.0, 0, lambda a: (2 - 2 * a) ** 2 / 2, 0.9,
    ),
    "a square of t": (
        lambda t, y, a: [np.where(t**2 < a, 1.0, 0.25) + 0.0 * y[0]],
        [0.0], 2.0, 0, lambda a: mp.sqrt(a) + (2 - mp.sqrt(a)) / 4, 1.7,
    ),
    "an exponential of t": (
        lambda t, y, a: [np.where(np.exp(-t) > a / 2, 1.0, 0.25) * y[0]],
        [1.0], 2.0, 0, lambda a: mp.exp(-mp.log(a / 2) + (2 + mp.log(a / 2)) / 4), 0.9,
    ),
    "a comparison in a comparison": (
        lambda t, y, a: [1.0 + np.where(y[1] > np.where(y[0] > a, 2.0, 1.0) * a, 1.0, 0.0), 1.0],
        [0.0, -1.0], 4.0, 0, lambda a: 4 + (4 - (2 * a + 1)), 0.8,
    ),
    "logic": (
        lambda t, y, a: [np.where((y[0] > a) & ~(y[1] < 1.0), 0.25, 1.0), 0.5],
        [0.0, 0.0], 4.0, 0, lambda a: 2 + mp.mpf("0.25") * 2 + 0 * a, 0.8,
    ),
    "a comparison of a whole number": (
        lambda t, y, a: [np.where(np.floor(y[0]) >= 2.0, 3.0 * a * a, a)],
        [0.0], 4.0, 0, lambda a: 2 + 3 * a * a * (4 - 2 / a), 1.1,
    ),
    "a whole number that equals another": (
        lambda t, y, a: [np.where(np.floor(y[0] / a) == 2.0, a, 2.0)],
        [0.0], 3.0, 0, lambda a: 2 * a + a + 2 * (3 - a - 1), 0.8,
    ),
    "a choice that is compared": (
        lambda t, y, a: [np.where(np.where(y[0] >= 2.0, 1.0, 0.0) >= 1.0, 3.0 * a * a, a)],
        [0.0], 4.0, 0, lambda a: 2 + 3 * a * a * (4 - 2 / a), 1.1,
    ),
    "a comparison of a remainder": (
        lambda t, y, a: [np.where(np.mod(y[0], 2.0) >= 1.0, 2.0 * a * a, a)],
        [0.0], 2.75, 0, lambda a: 3 + 2 * a * a * (mp.mpf("2.75") - 2 / a - 1 / (2 * a * a)), 1.0,
    ),
    "a whole number times the state": (
        lambda t, y, a: [np.where(np.floor(y[0]) * y[0] >= 3.0, 3.0 * a * a, a)],
        [0.0], 4.0, 0, lambda a: 2 + 3 * a * a * (4 - 2 / a), 1.1,
    ),
    "cond": (
        lambda t, y, a: [ag.cond(y[0] > a, lambda k: 2.0 * k, lambda k: k, a)],
        [0.0], 2.0, 0, lambda a: a + 2 * a, 0.8,
    ),
}  # fmt: skip


def end_of(name, method, **options):
    f, y0, end, i, _, _ = CASES[name]
    return lambda a: ag.solve_ivp(f, (0.0, end), y0, method, args=(a,), **(TIGHT | options)).y[i, -1]


def witness(name):
    """Value, first and second derivative of the closed form."""
    closed, a = CASES[name][4:]
    with mp.workdps(30):
        return [float(mp.diff(closed, mp.mpf(a), order)) if order else float(closed(mp.mpf(a))) for order in range(3)]


@pytest.mark.thread_unsafe(reason="sets mpmath's precision")
@pytest.mark.parametrize("name", CASES)
@every_method
def test_values_and_derivatives(name, method):
    end, a = end_of(name, method), CASES[name][5]
    value, first, second = witness(name)
    close = {"rel": 1e-5, "abs": 1e-7} if method in ("BDF", "Adams") else {"rel": 2e-8, "abs": 1e-9}
    assert end(a) == pytest.approx(value, **close)
    assert ag.grad(end)(a) == pytest.approx(first, **close)
    assert ag.compile(ag.grad(end))(a) == pytest.approx(first, **close)
    if name == "cond" and method in ("auto", "Rodas4", "Rodas5P"):
        return  # branches have no second derivatives, which these methods need
    assert ag.jvp(end, (a,), (1.0,))[1] == pytest.approx(first, **close)
    if method not in ("BDF", "Adams"):
        assert ag.hessian(end)(a) == pytest.approx(second, rel=1e-6, abs=1e-7)


@every_method
def test_dry_friction(method):
    """Every half swing loses twice the friction; x'' = -x - mu sign(x')."""

    def end(p, friction):
        f = lambda t, s: [s[1], -s[0] - friction(s[1], p[0])]  # noqa: E731
        return ag.solve_ivp(f, (0.0, 5.0), [p[1], 0.0], method, **TIGHT).y[0, -1]

    c, p = np.cos(5.0 - np.pi), np.array([0.3, 5.0])
    for friction in (lambda v, mu: mu * np.sign(v), lambda v, mu: np.where(v > 0, mu, -mu)):
        value, slope = ag.value_and_grad(end)(p, friction)
        assert value == pytest.approx(-0.3 + (0.3 - 4.4) * c, abs=1e-5)
        np.testing.assert_allclose(slope, [-1 + 3 * c, -c], atol=1e-6)


@every_method
def test_a_vector_of_comparisons(method):
    levels = np.array([1.0, 2.0, 3.0, 9.0])

    def total(a):
        f = lambda t, y: np.where(y > a * levels, 0.5, 1.0)  # noqa: E731
        return np.sum(ag.solve_ivp(f, (0.0, 4.0), np.zeros(4), method, **TIGHT).y[:, -1])

    assert total(0.8) == pytest.approx(np.sum(0.8 * levels[:3] + 0.5 * (4 - 0.8 * levels[:3])) + 4.0, rel=1e-7)
    assert ag.grad(total)(0.8) == pytest.approx(3.0, rel=1e-6)


@pytest.mark.parametrize("method", ["Tsit5", "Rodas5P", "BDF"])
def test_populations_doses_and_many_outputs(method):
    """Elimination that is faster above a threshold; the dose lifts the state over it."""

    def amounts(k, many):
        f = lambda t, y, k: -k * y * np.where(y > 2.0, 1.5, 1.0)  # noqa: E731
        times, doses = np.linspace(0.5, 3.0, 6), [ag.Dose(1.0, 0, 5.0)]
        if many:
            subject = ag.Subject((0.0, 3.0), [1.0], times, (k,), doses)
            return ag.solve_many(f, [subject, subject], method, **TIGHT)[1].y[0]
        return ag.solve_ivp(f, (0.0, 3.0), [1.0], method, times, args=(k,), doses=doses, **TIGHT).y[0]

    def closed(k):
        after = np.exp(-k) + 5.0
        crossing = 1.0 + np.log(after / 2.0) / (1.5 * k)
        t = np.linspace(0.5, 3.0, 6)
        above, below = after * np.exp(-1.5 * k * (t - 1.0)), 2.0 * np.exp(-k * (t - crossing))
        return np.where(t < 1.0, np.exp(-k * t), np.where(t < crossing, above, below))

    step = 1e-5
    by = (closed(0.8 + step) - closed(0.8 - step)) / (2 * step)
    for many in (False, True):
        np.testing.assert_allclose(amounts(0.8, many), closed(0.8), rtol=1e-6)
        np.testing.assert_allclose(ag.jacobian(amounts)(0.8, many), by, rtol=2e-5)


KINKS = [
    lambda t, y, a: [np.where(y[0] > a, y[0] - a, 0.0) + 1.0],
    lambda t, y, a: [np.where(y[0] > a, y[0], a) + 0.1],
    lambda t, y, a: [(y[0] - a) * (y[0] > a) + 1.0],
    lambda t, y, a: [np.where(a < y[0], np.sqrt(np.maximum(y[0] - a, 0.0)), 0.0) + 1.0],
    lambda t, y, a: [1.0 - 0.3 * (y[0] - a) * np.sign(y[0] - a)],
    lambda t, y, a: [np.clip(y[0], 0.0, a) + 1.0 + np.abs(y[0] - a)],
    lambda t, y, a: [np.where((y[0] > a) & (t >= 0.0), y[0] - a, 0.0) + 1.0],
    lambda t, y, a: [np.where(y[0] > a * 1.5, y[0] - 1.5 * a, 0.0) + 1.0],
    lambda t, y, a: [(y[0] - a * a) * np.sign(y[0] - a * a) + 1.0],
]


@pytest.mark.parametrize("f", KINKS)
@pytest.mark.parametrize("method", ["Tsit5", "Rodas5P", "BDF"])
def test_a_kink_changes_nothing(f, method):
    def solve(switches):
        def end(a):
            solve.last = ag.solve_ivp(f, (0.0, 2.0), [0.0], method, args=(a,), switches=switches)
            return solve.last.y[0, -1]

        value, slope = ag.value_and_grad(end)(0.8)
        return value, slope, solve.last.stats["steps"]

    assert solve("auto") == solve("ignore")


def test_no_kink_is_claimed_where_there_is_a_jump():
    for f in (
        lambda t, y, a: [np.where(y[0] > a, y[0] - 2.0 * a, 0.0) + 2.0],
        lambda t, y, a: [np.where(y[0] > a, 1.0, 0.0) + np.where(y[0] >= a, 0.5, 0.0) + 0.5],
    ):
        end = lambda a, f=f: ag.solve_ivp(f, (0.0, 2.0), [0.0], args=(a,), **TIGHT).y[0, -1]  # noqa: E731
        step = 1e-5
        assert ag.grad(end)(0.8) == pytest.approx((end(0.8 + step) - end(0.8 - step)) / (2 * step), rel=1e-6)


def test_the_old_behaviour_has_a_name():
    f, y0, end, i, _, a = CASES["where"]
    ignored = lambda a: ag.solve_ivp(f, (0.0, end), y0, "Tsit5", args=(a,), switches="ignore", **TIGHT).y[i, -1]  # noqa: E731
    assert ag.grad(ignored)(a) == 0.0
    with pytest.raises(ValueError, match="switches is 'never', but must be one of"):
        ag.solve_ivp(f, (0.0, end), y0, args=(a,), switches="never")


@pytest.mark.thread_unsafe(reason="sets mpmath's precision")
def test_kept_functions_keep_their_switches():
    for f, slope in ((kept_functions.held_switch, witness("where")[1]), (kept_functions.ignored_switch, 0.0)):
        function = ag.compile(ag.grad(f))
        function(0.9)
        kept = pickle.loads(pickle.dumps(function))
        assert kept(1.0) == pytest.approx(slope, rel=1e-7)


@pytest.mark.thread_unsafe(reason="sets mpmath's precision")
def test_forward_sensitivities_of_cvodes_do_not_find_switches():
    f, y0, end, i, _, a = CASES["where"]
    solve = lambda a: ag.solve_ivp(f, (0.0, end), y0, "BDF", args=(a,), sensitivities="forward", **TIGHT).y[i, -1]  # noqa: E731
    assert solve(a) == pytest.approx(witness("where")[0], rel=1e-4)
    with pytest.raises(ValueError, match="forward sensitivities are given, but must not be where fun jumps"):
        ag.grad(solve)(a)


@pytest.mark.thread_unsafe(reason="sets mpmath's precision")
@pytest.mark.parametrize("method", ["Tsit5", "Rodas5P", "BDF"])
def test_gradient_check_agrees(method):
    checked = end_of("where", method, gradient_check=1e-4)
    assert ag.grad(checked)(1.0) == pytest.approx(witness("where")[1], rel=1e-5)


@every_method
def test_events_and_switches_at_one_time(method):
    """A reset at the threshold of a switch: the side follows from the state after the reset."""
    fall = ag.Event(lambda t, y, a: y[0] - a, reset=lambda t, y, a: [0.5 * y[0]], direction=1)

    def end(a):
        f = lambda t, y, a: [np.where(y[0] < a, 1.0, 9.0)]  # noqa: E731
        return ag.solve_ivp(f, (0.0, 2.0), [0.0], method, args=(a,), events=fall, **TIGHT).y[0, -1]

    # Up to a by t = a, again after each a / 2: at 2.0, k resets with a + k a / 2 <= 2 < a + (k + 1) a / 2; k = 3 at a = 0.7
    assert end(0.7) == pytest.approx(2.0 - 4 * 0.35, rel=1e-7)
    assert ag.grad(end)(0.7) == pytest.approx(-2.0, rel=1e-6)


def test_times_in_the_right_hand_side_do_not_depend_on_the_value_at_the_time():
    """The integral of s(T - t) is known, whatever s is at zero."""
    for s, slope in [(np.sign, 2.0), *((lambda u, h=h: np.heaviside(u, h), 1.0) for h in (0.0, 0.5, 1.0))]:
        for method in METHODS:

            def end(at, s=s, method=method):
                return ag.solve_ivp(lambda t, y: [s(at - t)], (0.0, 2.0), [0.0], method).y[0, -1]

            assert ag.grad(end)(0.73) == pytest.approx(slope, rel=1e-9)


@pytest.mark.parametrize("size", [1, 2, 5, 11, 12, 30])
def test_kinks_of_vectors_change_nothing(size):
    """Expressions that are written twice are recorded entry by entry in short vectors, and as batches in long ones."""
    levels = np.linspace(0.5, 3.0, size)

    def total(a, switches):
        f = lambda t, y, a: np.where(y > a * levels, y - a * levels, 0.0) * 0.1 + 1.0  # noqa: E731
        return np.sum(ag.solve_ivp(f, (0.0, 4.0), np.zeros(size), args=(a,), switches=switches).y[:, -1])

    by_default, ignored = (ag.value_and_grad(lambda a, s=s: total(a, s))(0.8) for s in ("auto", "ignore"))
    assert by_default == ignored


@every_method
def test_comparisons_with_infinity_and_nan(method):
    """No state reaches infinity; a comparison with nan is false until its sides are numbers."""

    def bounded(a, bound):
        f = lambda t, y, a, bound: [np.where(y[0] <= bound, a, 9.0) * np.where(y[0] < np.inf, 1.0, 9.0)]  # noqa: E731
        return ag.solve_ivp(f, (0.0, 2.0), [0.0], method, args=(a, bound), **TIGHT).y[0, -1]

    assert ag.value_and_grad(bounded)(0.5, np.inf) == (pytest.approx(1.0), pytest.approx(2.0))

    def late(a):
        f = lambda t, y, a: [1.0, np.where(np.log(y[0] - a) > 0.0, 1.0, 0.0)]  # noqa: E731
        with np.errstate(invalid="ignore", divide="ignore"):
            return ag.solve_ivp(f, (0.0, 4.0), [4.0, 0.0], method, args=(a,), **TIGHT).y[1, -1]

    assert ag.value_and_grad(late)(5.0) == (pytest.approx(2.0), pytest.approx(-1.0))
