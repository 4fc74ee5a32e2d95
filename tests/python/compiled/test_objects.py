"""Objects as arguments of compiled functions: looked into, constants, or refused; a change of an argument is never missed."""

import collections
import copy
import dataclasses
import datetime
import decimal
import enum
import functools
import math
import pickle
import random
import re
import types

import numpy as np
import pytest
from scipy import sparse

import agrad as ag

X = np.array([0.3, 0.7])


class Config:
    def __init__(self, rate=0.1):
        self.rate = rate

    def scaled(self, x):
        return self.rate * x


class Named:
    """Equal to others of the same name."""

    def __init__(self, name, weight):
        self.name, self.weight = name, weight

    def __eq__(self, other):
        return self.name == other.name

    def __hash__(self):
        return hash(self.name)


class Unhashable(Config):
    __hash__ = None


@dataclasses.dataclass
class Rates:
    rate: float
    more: dict = dataclasses.field(default_factory=dict)


@ag.register_tree
class Net:
    def __init__(self, weights, name="net"):
        self.weights, self.name = weights, name
        self.layers = [{"b": 1.0}]

    @functools.cached_property
    def size(self):
        return len(self.weights)

    @ag.compile
    def loss(self, x):
        return np.sum(self.weights * x) + self.layers[0]["b"]

    @ag.compile
    @ag.grad
    def slope(self, x):
        return np.sum(self.weights * x**2)


class Pair:
    __slots__ = ("a", "b", "kind")

    def __init__(self, a, b, kind):
        self.a, self.b, self.kind = a, b, kind


ag.register_tree(Pair, lambda p: ((p.a, p.b), p.kind), lambda kind, children: Pair(*children, kind))


# ---- refused


@pytest.mark.parametrize("make", [Config, lambda: Named("a", 1.0), type("Other", (), {})])
def test_objects_that_may_change_are_refused(make):
    compiled, thing = ag.compile(lambda x, model: x), make()
    kind = type(thing).__name__
    message = (
        f"compile(<lambda>): argument 1 is of type {kind}, but must be numbers, immutable, or a structure of these, because a "
        f"change would not be seen; make {kind} a dataclass or register it by ag.register_tree({kind})"
    )
    message += ", or promise that it does not change by ag.compile(f, static='model')"
    with pytest.raises(TypeError, match=f"^{re.escape(message)}$"):
        compiled(1.0, thing)
    with pytest.raises(TypeError, match=r"argument model is of type .*static='model'"):
        compiled(1.0, model=thing)
    assert compiled.recorded() == []


def test_an_object_within_a_structure_is_named():
    compiled = ag.compile(ag.grad(lambda p, x: x * p["a"][0], argnums=1))
    with pytest.raises(TypeError, match=r"argument 0\['a'\]\[1\] is of type Config, .*static='p'"):
        compiled({"a": [1.0, Config()]}, 1.0)
    with pytest.raises(TypeError, match=r"argument 0\.more\['c'\] is of type Config"):
        compiled(Rates(1.0, {"c": Config()}), 1.0)
    net = Net(X)
    net.layers = Config()
    with pytest.raises(TypeError, match=r"argument 0\.layers is of type Config"):
        compiled(net, 1.0)


def test_unhashable_objects_are_told_what_to_write():
    compiled = ag.compile(lambda x, s: x)
    with pytest.raises(TypeError, match=r"argument 1 is \{1\}, but must be .* hashable, .*; write frozenset\(\.\.\.\) of it$"):
        compiled(1.0, {1})
    with pytest.raises(TypeError, match=r"argument 1 is .*; make Unhashable a dataclass or register it by .*\(Unhashable\)$"):
        compiled(1.0, Unhashable())
    with pytest.raises(TypeError, match=r"argument 1 is .*; make SimpleNamespace a dataclass or register it"):
        compiled(1.0, types.SimpleNamespace(rate=1.0))
    with pytest.raises(TypeError, match=r"(?s)argument 1 is .*; write toarray\(\) of it, or read the matrix in the function"):
        compiled(1.0, sparse.csr_array(np.eye(2)))


@pytest.mark.parametrize(
    "generator",
    [np.random.default_rng(0), np.random.RandomState(0), random.Random(0), np.random.default_rng(0).normal],
    ids=["generator", "state", "random", "method"],
)
def test_random_numbers_are_drawn_outside(generator):
    with pytest.raises(TypeError, match=r"argument 1 is of type .*; draw the random numbers outside of the function, and pass"):
        ag.compile(lambda x, g: x)(1.0, generator)


def test_a_method_of_an_object_that_may_change_is_refused():
    with pytest.raises(TypeError, match="pass the Config as an argument by itself, and call its method in the function"):
        ag.compile(lambda f, x: f(x))(Config().scaled, 1.0)


def test_plain_transformations_take_any_object():
    slope = ag.grad(lambda model, x: model.weight * x**2, argnums=1)
    assert [slope(Named("a", w), 3.0) for w in (1.0, 2.0)] == [6.0, 12.0]
    batched = ag.vmap(lambda model, x: model.rate * x, in_axes=(None, 0))
    model = Config(2.0)
    np.testing.assert_array_equal(batched(model, X), 2.0 * X)
    model.rate = 3.0
    np.testing.assert_array_equal(batched(model, X), 3.0 * X)


# ---- constants


class Colour(enum.Enum):
    red = 1
    blue = 2


CONSTANTS = [
    "text", b"bytes", None, True, 3, 2 + 1j, decimal.Decimal("1.5"), Colour.red, float, np.float32, np.dtype(float), np.sin,
    math.exp, math, slice(1, None), ..., range(3), frozenset({1, "a"}), datetime.date(2020, 1, 1), datetime.timedelta(1),
    re.compile("a"), np.int64(3), np.datetime64("2020-01-01"), lambda x: x, functools.partial(np.sum, axis=0), ag.grad(np.sum),
    str.upper, list[int], np.array([1, 2]), object,
]  # fmt: skip


@pytest.mark.parametrize("constant", CONSTANTS, ids=lambda x: type(x).__name__)
def test_what_cannot_change_is_a_constant(constant):
    seen = []
    compiled = ag.compile(lambda x, c: (seen.append(c), 2.0 * x)[1])
    for wrapped in (constant, [constant], {"a": (constant, 1.0)}, Rates(1.0, {"c": constant})):
        assert [compiled(1.0, wrapped), compiled(3.0, wrapped)] == [2.0, 6.0]
    assert len(seen) == 4
    if not isinstance(constant, np.ndarray):
        assert seen[0] == constant
        assert type(seen[0]) is type(constant)
    assert len(copy.copy(compiled).recorded()) == 4


def test_slices_are_compared_by_content():
    compiled = ag.compile(lambda x, s: np.sum(x[s]))
    x = np.arange(4.0)
    assert [compiled(x, slice(1, n)) for n in (2, 3, 2)] == [1.0, 3.0, 1.0]
    assert len(compiled.recorded()) == 2


# ---- looked into


def test_changes_of_a_registered_object_are_seen():
    net = Net(np.ones(2))
    compiled = ag.compile(lambda net, x: np.sum(net.weights * x))
    gradient = ag.compile(ag.grad(lambda net, x: np.sum(net.weights**2 * x)))
    for scale in (1.0, 3.0):
        net.weights = scale * np.ones(2)
        assert compiled(net, X) == pytest.approx(scale)
        found = gradient(net, X)
        assert type(found) is Net
        np.testing.assert_allclose(found.weights, 2 * scale * X)
        assert found.name is None
    net.weights[:] = 7.0
    assert compiled(net, X) == pytest.approx(7.0)
    net.name = "other"
    compiled(net, X)
    assert net.size == 2  # a cached property is no part of the object
    compiled(net, X)
    assert len(compiled.recorded()) == 2


def test_a_class_with_functions_of_its_own():
    compiled = ag.compile(lambda p, x: p.a * x if p.kind == "plus" else p.b * x)
    assert [compiled(Pair(2.0, 3.0, kind), 5.0) for kind in ("plus", "minus", "plus")] == [10.0, 15.0, 10.0]
    assert len(compiled.recorded()) == 2
    slope = ag.grad(lambda p: p.a * p.b**2)(Pair(2.0, 3.0, "plus"))
    assert (slope.a, slope.b, slope.kind) == (9.0, 12.0, "plus")
    assert ag.scan(lambda c, x: (Pair(c.a + x, c.b, c.kind), c.a), Pair(0.0, 1.0, "k"), X)[0].a == pytest.approx(1.0)


def test_registrations_are_checked():
    for wrong, error, message in (
        (lambda: ag.register_tree(3), TypeError, "kind is 3, but must be a class"),
        (lambda: ag.register_tree(Config, lambda c: ((), None)), TypeError, "must be both or neither"),
        (
            lambda: ag.register_tree(type("S", (), {"__slots__": ("a",)})),
            TypeError,
            "kind is S, whose objects have no __dict__",
        ),
        (lambda: ag.register_tree(Rates), ValueError, "kind is Rates, but must be no dataclass; dataclasses are known"),
        (lambda: ag.register_tree(Net), ValueError, "kind is Net, which is registered already"),
        (lambda: ag.register_tree(collections.OrderedDict), ValueError, "kind is OrderedDict, but must be a new class"),
    ):
        with pytest.raises(error, match=message):
            wrong()


# ---- methods


def test_a_method_sees_changes_of_its_instance_and_instances_share_recordings():
    a, b = Net(np.ones(2)), Net(5.0 * np.ones(2))
    before = sum(len(paths) for _, paths in Net.loss.recorded())
    for net, scale in ((a, 1.0), (b, 5.0)):
        assert net.loss(X) == pytest.approx(scale + 1.0)
        np.testing.assert_allclose(net.slope(X), 2 * scale * X)
    a.weights = a.weights * 4
    assert a.loss(X) == pytest.approx(5.0)
    a.layers[0]["b"] = 3.0
    assert a.loss(X) == pytest.approx(7.0)
    assert sum(len(paths) for _, paths in Net.loss.recorded()) <= before + 1
    np.testing.assert_allclose(ag.grad(lambda net: net.loss(X))(a).weights, X)
    np.testing.assert_allclose(ag.jvp(a.loss, (X,), (np.ones(2),))[1], 8.0)
    np.testing.assert_allclose(ag.vjp(a.loss, X)[1](1.0)[0], a.weights)


def test_copies_and_pickles_of_methods_see_changes():
    net = Net(np.ones(2))
    net.loss(X)
    for copied in (copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))):
        assert copied(net.loss)(X) == pytest.approx(2.0)
        other = copied(net)
        other.weights = 3.0 * np.ones(2)
        assert other.loss(X) == pytest.approx(4.0)
    assert copy.copy(Net.loss).__get__(net)(X) == net.loss(X)


def test_a_method_of_another_object_is_refused():
    class Plain:
        k = 2.0

        @ag.compile
        def f(self, x):
            return self.k * x

    with pytest.raises(TypeError, match=r"^compile\(f\): self is of type Plain, but must be .*static='self'\)$"):
        Plain().f(1.0)


# ---- static arguments


def test_static_arguments_are_constants_by_equality():
    calls = []

    def f(x, model, *, scale=1.0):
        calls.append(model)
        return model.weight * x * scale

    compiled = ag.compile(ag.grad(f), static=("model", "scale"))
    assert compiled(1.0, Named("a", 2.0), scale=3.0) == 6.0
    assert compiled(5.0, Named("a", 2.0), scale=3.0) == 6.0
    assert compiled(1.0, model=Named("b", 4.0)) == 4.0
    assert compiled(1.0, Named("b", 4.0)) == 4.0
    assert compiled(1.0, Named("b", 4.0), scale=2.0) == 8.0
    assert len(calls) == 4
    for made in (copy.copy(compiled), copy.deepcopy(compiled)):
        assert made(1.0, Named("a", 2.0), scale=3.0) == 6.0
    assert len(calls) == 4


def kept(x, model):
    return model.weight * x


def test_static_arguments_are_pickled():
    compiled = ag.compile(kept, static="model")
    assert compiled(2.0, Named("a", 3.0)) == 6.0
    loaded = pickle.loads(pickle.dumps(compiled))
    assert len(loaded.recorded()) == 1
    assert loaded(2.0, Named("a", 3.0)) == 6.0
    assert len(loaded.recorded()) == 1
    assert "argument 1: " in str(loaded)


def test_static_numbers_and_structures_are_no_inputs():
    compiled = ag.compile(lambda x, n: x if n > 1.5 else -x, static="n")
    assert [compiled(1.0, n) for n in (1.0, 2.0, 1.0, 2)] == [-1.0, 1.0, -1.0, 1.0]
    assert len(compiled.recorded()) == 3
    with pytest.raises(TypeError, match=r"argument 1 is \[1.0\], but must be hashable, because it is static"):
        compiled(1.0, [1.0])


def test_static_is_checked():
    with pytest.raises(ValueError, match=r"static has 'y', but must be names of arguments; known are 'x', 'model'"):
        ag.compile(kept, static="y")
    with pytest.raises(TypeError, match="argument 0 is static, but must not be, because it is differentiated"):
        ag.compile(ag.grad(kept), static="x")(1.0, None)
    with pytest.raises(TypeError, match="argument 1 is a recorded value, but must be plain, because it is static"):
        ag.grad(lambda x: ag.compile(lambda a, b: a * b, static="b")(x, x))(1.0)
    with pytest.raises(TypeError, match="function is None, but must be callable"):
        ag.compile(None)


def test_a_static_self_is_recorded_for_each_instance():
    class Model(Config):
        @ag.compile(static=("self", "power"))
        def f(self, x, power):
            return self.rate * x**power

    a, b = Model(2.0), Model(3.0)
    assert [a.f(2.0, 2), b.f(2.0, 2), a.f(2.0, 1)] == [8.0, 12.0, 4.0]


@dataclasses.dataclass(frozen=True)
class Powers:
    rate: float

    @ag.compile(static="power")
    def f(self, x, power):
        return self.rate * (x if power == "one" else x**2)

    @ag.compile(static="power")
    @ag.hvp
    def product(self, x, power):
        return np.sum(self.rate * (x if power == "one" else x**2))


def test_static_arguments_of_methods():
    assert [Powers(k).f(3.0, p) for k in (2.0, 5.0) for p in ("one", "two")] == [6.0, 18.0, 15.0, 45.0]
    np.testing.assert_array_equal(Powers(5.0).product(X, "two", np.ones(2)), [10.0, 10.0])
