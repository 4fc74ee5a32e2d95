"""Bounds that are parameters, also infinite ones, at each run of compiled functions; widths beyond the largest number."""

import re

import numpy as np
import pytest

import agrad as ag
from agrad import constraints as tr

PATTERNS = [(0.5, 2.0), (-np.inf, 2.0), (0.5, np.inf), (-np.inf, np.inf)]


def by_hand(low, high, x):
    """Value, log Jacobian, and their derivatives by low, high and x, for bounds of which infinite ones are none."""
    s, e = 1 / (1 + np.exp(-x)), np.exp(x)
    if low == -np.inf:
        return (x, 0.0, [0, 0, 1], [0, 0, 0]) if high == np.inf else (high - e, x, [0, 1, -e], [0, 0, 1])
    if high == np.inf:
        return low + e, x, [1, 0, e], [0, 0, 1]
    w = high - low
    return low + w * s, np.log(w * s * (1 - s)), [1 - s, s, w * s * (1 - s)], [-1 / w, 1 / w, 1 - 2 * s]


def test_infinite_bounds_that_are_parameters_are_none_at_each_run():
    def both(p):
        t = tr.interval(p[0], p[1])
        return ag.array([t.constrain(p[2]), t.log_jacobian(p[2]), t.unconstrain(t.constrain(p[2]))])

    def lowers(p):
        return tr.lower(p[0]).constrain(p[2]) + tr.upper(p[1]).constrain(p[2]) + tr.interval(p[0], 3.0).log_jacobian(p[2])

    value, slope = ag.compile(both), ag.compile(ag.jacobian(both))
    one, rows = ag.compile(lowers), np.array([[*pattern, 0.3] for pattern in PATTERNS])
    for p in rows:
        x, log, by_x, by_log = by_hand(*p)
        np.testing.assert_allclose(value(p), [x, log, 0.3], rtol=1e-14, atol=1e-15)
        np.testing.assert_allclose(slope(p), [by_x, by_log, [0, 0, 1]], rtol=1e-14, atol=1e-15)
        np.testing.assert_allclose(ag.jacfwd(both)(p), slope(p), rtol=1e-14, atol=1e-15)
        exact = by_hand(p[0], np.inf, 0.3)[0] + by_hand(-np.inf, p[1], 0.3)[0] + by_hand(p[0], 3.0, 0.3)[1]
        assert one(p) == pytest.approx(exact, rel=1e-14)
        assert np.all(np.isfinite(ag.compile(ag.hessian(lambda p: both(p) @ np.arange(1.0, 4.0)))(p)))
    np.testing.assert_allclose(ag.vmap(both)(rows), [both(p) for p in rows], rtol=1e-14)


def test_arrays_of_bounds_that_are_parameters_may_have_infinite_entries():
    low, high = np.transpose(PATTERNS)
    x = np.array([0.3, -0.7, 1.1, 2.0])

    def f(low, high, x):
        t = tr.interval(low, high)
        return np.sum(t.constrain(x) * [1.0, 2.0, 3.0, 4.0]) + t.log_jacobian(x)

    each = [by_hand(*p) for p in zip(low, high, x, strict=True)]
    exact = np.transpose([k * np.array(by_x) + by_log for k, (_, _, by_x, by_log) in enumerate(each, 1)])
    compiled, slope = ag.compile(f), ag.compile(ag.grad(f, argnums=(0, 1, 2)))
    for turn in range(4):
        given = [np.roll(y, turn) for y in (low, high, x)]
        assert compiled(*given) == pytest.approx(f(*given), rel=1e-14)
        np.testing.assert_allclose(slope(low, high, x), exact, rtol=1e-14, atol=1e-15)
    assert f(low, high, x) == pytest.approx(sum(k * v + log for k, (v, log, _, _) in enumerate(each, 1)), rel=1e-14)
    of_list = ag.grad(lambda b: tr.interval([b, -np.inf], [9.0, b]).log_jacobian([0.3, 1.1]))
    assert of_list(4.0) == pytest.approx(-1 / 5, rel=1e-14)
    assert ag.grad(lambda b: np.sum(tr.offset_multiplier([b, 0.0], [1.0, b]).constrain([0.3, 1.1])))(2.0) == 2.1
    far = np.array([0.0, 0.0, 0.0, 800.0])  # exp of the last entry, which has no bound, is inf
    np.testing.assert_array_equal(ag.grad(f, argnums=2)(low, high, far)[3:], 4.0)


def test_bounds_that_are_parameters_of_a_right_hand_side():
    def f(p):
        def fun(t, y, p):
            return np.reshape(-tr.lower(p[0]).constrain(y[0]) - 0.0 * tr.interval(p[0], 9.0).constrain(y[0]), (1,))

        return ag.solve_ivp(fun, (0.0, 1.0), np.array([0.2]), t_eval=[1.0], args=(p,), rtol=1e-11, atol=1e-13).y[0, -1]

    unbounded, bounded = np.array([-np.inf]), np.array([0.0])
    assert f(unbounded) == pytest.approx(0.2 * np.exp(-1.0), rel=1e-9)
    assert ag.grad(f)(unbounded) == 0
    assert f(bounded) == pytest.approx(-np.log(np.exp(-0.2) + 1), rel=1e-9)  # y' = -exp(y)


@pytest.mark.parametrize("bad", [np.inf, np.nan, -np.inf])
def test_parameters_that_are_no_bounds_are_refused_at_each_run(bad):
    number = "must be a number, not nan"
    cases = [
        (lambda p: tr.lower(p), f"lower: bound is {bad}, but {number if bad != bad else 'must be less than infinity = inf'}"),
        (
            lambda p: tr.upper(p),
            f"upper: {f'bound is nan, but {number}' if bad != bad else 'minus infinity is -inf, but must be'}",
        ),
        (
            lambda p: tr.interval(p, 2.0),
            f"interval: low is {bad}, but {number if bad != bad else 'must be less than high = 2.0'}",
        ),
        (lambda p: tr.offset_multiplier(p, 1.0), f"offset_multiplier: offset is {bad}, but must be finite"),
        (lambda p: tr.offset_multiplier(0.0, p), f"offset_multiplier: multiplier is {bad}, but must be positive and finite"),
    ]
    no_bounds = {np.inf: (1,), -np.inf: (0, 2)}.get(bad, ())  # the places of cases without an error
    for k, (of, message) in enumerate(cases):
        if k in no_bounds:
            continue
        for method in ("constrain", "log_jacobian", "unconstrain"):

            def f(p, of=of, method=method):
                return getattr(of(p), method)(0.8)

            compiled = ag.compile(f)
            assert np.isfinite(compiled(0.5)) or method == "unconstrain"
            for call in (f, compiled, ag.grad(f), ag.compile(ag.hessian(f))):
                with pytest.raises(ag.DomainError, match=re.escape(message)):
                    call(bad)


@pytest.mark.parametrize("far", [0.9e308, 1.5e308])
def test_the_width_of_an_interval_may_be_larger_than_the_largest_number(far):
    s = 1 / (1 + np.exp(1.3))

    def f(low, high, x):
        t = tr.interval(low, high)
        return ag.array([t.constrain(x), t.log_jacobian(x), t.unconstrain(t.constrain(x))])

    plain = lambda x: f(-far, far, x)  # noqa: E731
    exact = [far * (2 * s - 1), np.log(far) + np.log(2 * s * (1 - s)), -1.3]
    for given in (plain(-1.3), ag.compile(f)(-far, far, -1.3), ag.compile(plain)(-1.3)):
        np.testing.assert_allclose(given, exact, rtol=1e-13)
    assert plain(0.0)[0] == 0
    assert tr.interval(-far, far).constrain(800.0) == far
    slopes = ag.compile(ag.jacobian(lambda p: f(p[0], p[1], p[2])))(np.array([-far, far, -1.3]))
    np.testing.assert_allclose(slopes[0], [1 - s, s, far * (2 * s * (1 - s))], rtol=1e-14)
    mixed = tr.interval([-far, 0.0, -np.inf], [far, 1.0, 2.0])
    np.testing.assert_allclose(mixed.constrain([-1.3] * 3), [exact[0], s, 2 - np.exp(-1.3)], rtol=1e-14)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: tr.real(1.5), ag.ShapeError, "real: shape[0] is 1.5, but must be a whole number, 0 or more"),
        (lambda: tr.lower("x"), TypeError, "lower: bound is of dtype <U1, but must be real numbers"),
        (lambda: tr.upper(None), TypeError, "upper: bound is of dtype object, but must be real numbers"),
        (lambda: tr.offset_multiplier(1j, 1.0), TypeError, "offset is of dtype complex128, but must be real numbers"),
        (lambda: tr.interval([0.0, 1.0], [2.0] * 3), ag.ShapeError, "low has shape (2,) and high has shape (3,), but"),
        (lambda: tr.positive().constrain(None), TypeError, "positive.constrain: free is of dtype object, but must be real"),
        (lambda: tr.positive().log_jacobian("a"), TypeError, "positive.log_jacobian: free is of dtype <U1, but must be real"),
        (lambda: tr.simplex(3).unconstrain([1.0, [2.0, 3.0]]), ag.ShapeError, "simplex.unconstrain: value is ragged"),
    ],
)
def test_arguments_that_are_no_numbers_are_named(call, error, message):
    with pytest.raises(error, match=re.escape(message)):
        call()
