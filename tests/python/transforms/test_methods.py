"""Transformations above methods of a class: methods of two instances, copies and pickles of them, directions of a call."""

import copy
import dataclasses
import pickle

import numpy as np
import pytest

import agrad as ag

X = np.array([0.3, 0.7, 1.1])


@dataclasses.dataclass
class Model:
    k: float = 2.0

    @ag.compile
    def value(self, x):
        return self.k * np.sum(x**3)

    @ag.grad
    def slope(self, x):
        return self.k * np.sum(x**3)

    @ag.compile
    @ag.value_and_grad
    def both(self, x, power=3):
        return self.k * np.sum(x**power)

    @ag.hessian
    def curvature(self, x):
        return self.k * np.sum(x**3)

    @ag.compile
    @ag.grad
    def compiled_slope(self, x):
        return self.k * np.sum(x**3)

    @ag.hvp
    def product(self, x):
        return self.k * np.sum(x**3)

    @ag.vmap
    def rows(self, x):
        return self.k * x

    def plain(self, x):
        return self.k * np.sum(x**3)


def test_methods_are_differentiated_and_compiled():
    a, b = Model(), Model(3.0)
    for model in (a, b, a):
        assert model.value(X) == pytest.approx(model.plain(X))
        np.testing.assert_allclose(model.slope(X), 3 * model.k * X**2)
        np.testing.assert_allclose(model.both(X)[1], 3 * model.k * X**2)
        np.testing.assert_allclose(model.both(X, power=2)[1], 2 * model.k * X)
        np.testing.assert_allclose(model.curvature(X), np.diag(6 * model.k * X))
        np.testing.assert_array_equal(model.rows(X), model.k * X)


_METHODS = {
    "value": lambda k: k * np.sum(X**3),
    "slope": lambda k: 3 * k * X**2,
    "both": lambda k: (k * np.sum(X**3), 3 * k * X**2),
    "curvature": lambda k: np.diag(6 * k * X),
    "compiled_slope": lambda k: 3 * k * X**2,
    "product": lambda k: 6 * k * X**2,
    "rows": lambda k: k * X,
}


def _called(name, method):
    return method(X, X) if name == "product" else method(X)


def _same(found, expected):
    for a, b in zip(*((x if isinstance(x, tuple) else (x,)) for x in (found, expected)), strict=True):
        np.testing.assert_allclose(a, b)


@pytest.mark.parametrize("name", _METHODS)
def test_methods_of_two_instances_are_two_functions(name):
    a, b = (getattr(Model(k), name) for k in (2.0, 3.0))
    for method, k in ((a, 2.0), (b, 3.0), (a, 2.0)):
        _same(_called(name, method), _METHODS[name](k))


@pytest.mark.parametrize("name", _METHODS)
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_of_methods_are_methods_of_the_instance(name, copied):
    model = Model(3.0)
    _called(name, getattr(model, name))
    made = copied(getattr(model, name))
    _same(_called(name, made), _METHODS[name](3.0))
    _same(_called(name, copied(getattr(Model, name)).__get__(Model(4.0))), _METHODS[name](4.0))


@ag.hvp
def cubes(x):
    return np.sum(x**3)


def test_directions_belong_to_a_call():
    np.testing.assert_allclose(cubes(X, X), 6 * X**2)
    assert cubes.direction is None


def test_a_method_that_is_no_attribute_of_its_class_is_not_pickled():
    made = ag.grad(Model.plain).__get__(Model())
    with pytest.raises(
        pickle.PicklingError, match=r"<grad\(plain\)> is no attribute of Model, but must be one; pickle the instance"
    ):
        pickle.dumps(made)


def test_a_method_is_recorded_once_for_each_instance():
    calls = []

    class Counting:
        @ag.compile(static="self")
        def f(self, x):
            calls.append(self)
            return x * 2.0

    a, b = Counting(), Counting()
    assert [a.f(1.0), a.f(2.0), b.f(3.0), a.f(4.0)] == [2.0, 4.0, 6.0, 8.0]
    assert calls == [a, b]
    assert a.f.bind(3.0)() == 6.0


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_and_pickles_of_an_instance_are_recorded_by_themselves(again):
    model = Model()
    model.value(X)
    other = again(model)
    other.k = 5.0
    assert other.value(X) == pytest.approx(5.0 * np.sum(X**3))
    assert model.value(X) == pytest.approx(2.0 * np.sum(X**3))


def test_a_method_of_a_class_without_dict_says_so():
    class Slotted:
        __slots__ = ()

        @ag.compile(static="self")
        def f(self, x):
            return x

    with pytest.raises(TypeError, match=r"^compile\(f\): Slotted has no __dict__, but must have one"):
        Slotted().f(1.0)
