"""The signatures of compiled functions: which calls share a recording, and what the recordings keep of the arguments."""

from __future__ import annotations

import copy
import decimal
import pickle
from collections import OrderedDict, defaultdict

import numpy as np
import pytest

import agrad as ag

X = np.array([0.3, -0.7])
RANDOM = np.random.default_rng(0)
A, B = RANDOM.normal(size=(2, 2, 2))
NO_PLAN = np.arange(2)  # an argument that plans do not know


def network(layers, x, _=None):
    for w in layers.values():
        x = np.tanh(w @ x)
    return np.sum(x)


def weighted(**parts):
    return np.sum(np.stack(list(parts.values())) * [1.0, 10.0])


kept = ag.compile(network)


# ---- the order of keys


@pytest.mark.parametrize(
    "kind", [dict, OrderedDict, lambda pairs: defaultdict(float, pairs)], ids=["dict", "ordered", "default"]
)
@pytest.mark.parametrize("rest", [(), (NO_PLAN,)], ids=["plan", "careful"])
def test_dicts_of_another_order_are_other_signatures(kind, rest):
    first, second = kind([("l1", A), ("l2", B)]), kind([("l2", A), ("l1", B)])
    third = kind([("l2", B), ("l1", A)])
    value, gradient = ag.compile(network), ag.compile(ag.grad(network))
    for layers in (first, second, third) * 2:
        assert value(layers, X, *rest) == pytest.approx(network(layers, X), rel=1e-14)
        found, right = gradient(layers, X, *rest), ag.grad(network)(layers, X)
        assert list(found) == list(layers)
        for name in layers:
            np.testing.assert_allclose(found[name], right[name], rtol=1e-12)


def test_dicts_within_structures():
    compiled = ag.compile(lambda p: np.sum(np.stack(list(p[1]["inner"].values())) * [1.0, 10.0]))
    for _ in range(2):
        assert compiled((1.0, {"inner": {"a": 1.0, "b": 2.0}})) == 21.0
        assert compiled((1.0, {"inner": {"b": 2.0, "a": 1.0}})) == 12.0


def test_keyword_arguments_of_another_order():
    compiled, gradient = ag.compile(weighted), ag.compile(lambda **kw: ag.grad(lambda p: weighted(**p))(kw))
    for _ in range(2):
        assert compiled(a=1.0, b=2.0) == 21.0
        assert compiled(b=2.0, a=1.0) == 12.0
        assert gradient(a=1.0, b=2.0) == {"a": 1.0, "b": 10.0}
        assert gradient(b=2.0, a=1.0) == {"b": 1.0, "a": 10.0}


@pytest.mark.parametrize("threads", [None, 2])
def test_rows_of_dicts(threads):
    rows = np.arange(300.0)
    batched = ag.vmap(lambda d: weighted(**d), threads=threads)
    for _ in range(2):
        np.testing.assert_array_equal(batched({"a": rows, "b": 2 * rows}), 21 * rows)
        np.testing.assert_array_equal(batched({"b": 2 * rows, "a": rows}), 12 * rows)


def test_copies_keep_the_orders():
    calls = [{"l1": A, "l2": B}, {"l2": A, "l1": B}]
    values = [kept(each, X, NO_PLAN) for each in calls]
    for made in (copy.copy(kept), pickle.loads(pickle.dumps(kept))):
        assert len(made.recorded()) == len(kept.recorded())
        assert [made(each, X, NO_PLAN) for each in calls] == values


def test_subjects_with_dicts_of_another_order():
    def fun(t, y, rates):
        slow, fast = rates.values()
        return -slow * y - 10.0 * fast * y

    def subject(rates):
        return ag.Subject((0.0, 1.0), [1.0], t_eval=[1.0], args=(rates,))

    found = ag.solve_many(fun, [subject({"a": 0.1, "b": 0.02}), subject({"b": 0.02, "a": 0.1})], rtol=1e-9)
    np.testing.assert_allclose([each.y[0, -1] for each in found], np.exp([-0.3, -1.02]), rtol=1e-7)


# ---- arguments that are no inputs


def test_what_the_caller_writes_into_an_index_is_not_seen():
    compiled = ag.compile(lambda x, i: ag.cond(x[0] > 0, lambda: x[i].sum(), lambda: -x[i].sum()))
    i = np.array([0, 1])
    assert compiled(np.array([1.0, 2.0, 3.0]), i) == 3.0
    i[:] = 2
    assert compiled(np.array([-1.0, 2.0, 3.0]), np.array([0, 1])) == -1.0


def test_an_index_of_a_loop_and_of_a_derivative_by_hand():
    @ag.custom_vjp
    def chosen(x, i):
        return np.sum(x[i])

    def backward(i, y):
        back = np.zeros(3)
        np.add.at(back, i, y)
        return back, None

    chosen.defvjp(lambda x, i: (np.sum(x[i]), i), backward)

    def step(i):
        return lambda c, x: (c + x[i].sum() if x[0] > 0 else c - x[i].sum(), None)

    by_loop = ag.compile(lambda x, i: ag.scan(step(i), 0.0, x[np.newaxis])[0])
    by_hand = ag.compile(ag.grad(chosen))
    i = np.array([0, 1])
    assert by_loop(np.array([1.0, 2.0, 3.0]), i) == 3.0
    np.testing.assert_array_equal(by_hand(np.ones(3), i), [1.0, 1.0, 0.0])
    i[:] = 2
    assert by_loop(np.array([-1.0, 2.0, 3.0]), np.array([0, 1])) == -1.0
    np.testing.assert_array_equal(by_hand(np.ones(3), np.array([0, 1])), [1.0, 1.0, 0.0])


def test_aux_of_calls_does_not_share_memory():
    compiled = ag.compile(ag.grad(lambda x, i: (x * x, {"i": i}), has_aux=True))
    i = np.array([1, 2])
    for _ in range(3):
        aux = compiled(1.0, i)[1]["i"]
        np.testing.assert_array_equal(aux, [1, 2])
        aux[:] = 7
    np.testing.assert_array_equal(i, [1, 2])


# ---- equal arguments that differ

STRINGS = np.dtypes.StringDType()


@pytest.mark.parametrize(
    ("function", "first", "second"),
    [
        (lambda s: float(s["a"][0]), np.array([(1.0, 2.0)], [("a", float), ("b", float)]),
         np.array([(1.0, 2.0)], [("b", float), ("a", float)])),
        (lambda s: len(s[0]), np.array(["long" * 20], STRINGS), np.array(["short" * 20], STRINGS)),
        (np.angle, complex(-1.0, 0.0), complex(-1.0, -0.0)),
        (lambda s: float(np.angle(s)), np.complex128(complex(-1.0, 0.0)), np.complex128(complex(-1.0, -0.0))),
        (lambda s: 1 / float(s + decimal.Decimal("-0")) if s else np.copysign(1.0, float(s)), decimal.Decimal("0"),
         decimal.Decimal("-0")),
        (lambda s: float(all(type(each) is bool for each in s)), frozenset({1}), frozenset({True})),
        (lambda s: float(type(s) is bool), 1, True),
    ],
    ids=["structured", "strings", "complex", "numpy complex", "decimal", "frozenset", "truth"],
)  # fmt: skip
def test_arguments_that_differ_have_recordings_of_their_own(function, first, second):
    if isinstance(first, np.ndarray) and first.dtype.hasobject and STRINGS is object:
        pytest.skip("NumPy has no StringDType")
    compiled = ag.compile(lambda x, s: x * function(s))
    assert function(first) != function(second)
    for _ in range(2):
        assert compiled(2.0, first) == 2.0 * function(first)
        assert compiled(2.0, second) == 2.0 * function(second)
    assert len(compiled.recorded()) == 2
    assert len(copy.copy(compiled).recorded()) == 2
    assert str(compiled).count("argument 1: ") == 2


def test_equal_arguments_share_a_recording():
    compiled = ag.compile(lambda x, s: x)
    for make in (lambda: np.datetime64("NaT"), lambda: complex(1.0, 2.0), lambda: np.array([1, 2]), lambda: decimal.Decimal(3)):
        before = len(compiled.recorded())
        compiled(1.0, make())
        compiled(1.0, make())
        assert len(compiled.recorded()) == before + 1
