"""Transformations: structures of parameters, outputs, errors, and gradients of random functions against differences."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import agrad as ag


def quadratic(p, q=1.0):
    return np.sum(p**2) * q


class Point(NamedTuple):
    x: float
    y: np.ndarray


@dataclass(frozen=True)
class Rates:
    up: float
    down: np.ndarray

    def __post_init__(self):
        if not isinstance(self.up, float):
            raise TypeError("a rate is a float")


# ---- structures of parameters ------------------------------------------------------------------------------------------


def test_gradient_has_the_structure_of_the_parameters():
    parameters = {"a": 2.0, "b": [np.array([1.0, 3.0]), (4.0,)]}
    value, gradient = ag.value_and_grad(lambda p: p["a"] * np.sum(p["b"][0] ** 2) * p["b"][1][0])(parameters)
    assert value == 80.0
    assert gradient["a"] == 40.0
    assert isinstance(gradient["a"], float)
    assert isinstance(gradient["b"], list)
    np.testing.assert_array_equal(gradient["b"][0], [16.0, 48.0])
    assert gradient["b"][1] == (20.0,)


def test_named_tuples_come_back_as_such():
    gradient = ag.grad(lambda p: p.x * np.sum(p.y))(Point(2.0, np.array([1.0, 5.0])))
    assert isinstance(gradient, Point)
    assert gradient.x == 6.0
    np.testing.assert_array_equal(gradient.y, [2.0, 2.0])


def test_dataclasses_come_back_as_such():
    for gradient_of in (ag.grad, lambda f: ag.compile(ag.grad(f))):
        gradient = gradient_of(lambda p: p["rates"].up * np.sum(p["rates"].down ** 2))({"rates": Rates(2.0, np.ones(2))})[
            "rates"
        ]
        assert isinstance(gradient, Rates)
        assert gradient.up == 2.0
        np.testing.assert_array_equal(gradient.down, [4.0, 4.0])


@dataclass
class Squared:
    a: float
    scale = 1.0

    @cached_property
    def square(self):
        return self.a**2


def test_attributes_of_dataclasses_that_are_no_fields_are_not_lost_silently():
    def f(p):
        return p.a * p.square * p.scale

    p = Squared(2.0)
    assert p.square == 4.0  # stored in p; computed again from the recorded value
    assert ag.grad(f)(p).a == 12.0
    p.scale = 3.0
    for call in (lambda: ag.grad(f)(p), lambda: ag.compile(f)(p), lambda: ag.jvp(f, (p,), (p,)), lambda: ag.fori(0, 2, max, p)):
        with pytest.raises(TypeError, match="Squared: attribute scale is set, but must be a field"):
            call()
    assert ag.grad(lambda x: ag.grad(lambda y, q: x * q.scale * y**2)(x, p))(2.0) == 24.0  # p is passed on as it is


@pytest.mark.parametrize("shape", [(), (1,), (3,), (2, 3), (2, 0), (0,), (1, 2, 2)])
def test_gradient_has_the_shape_of_an_array(shape):
    x = np.linspace(0.5, 1.5, int(np.prod(shape))).reshape(shape)
    gradient = ag.grad(quadratic)(x)
    assert np.shape(gradient) == shape
    np.testing.assert_array_equal(gradient, 2 * x)


def test_argnums():
    def f(x, y, z):
        return x * y + np.sin(z)

    assert ag.grad(f, 1)(2.0, 3.0, 0.0) == 2.0
    assert ag.grad(f, (0, 2))(2.0, 3.0, 0.0) == (3.0, 1.0)
    assert ag.grad(f, argnums=-1)(2.0, 3.0, 0.0) == 1.0
    with pytest.raises(TypeError, match="grad: argnums is 3, but must be the place of a positional argument; 3 were given"):
        ag.grad(f, 3)(2.0, 3.0, 0.0)


def test_keywords_and_other_arguments_are_passed_on():
    np.testing.assert_array_equal(ag.grad(quadratic)(np.ones(2), q=3.0), [6.0, 6.0])
    assert ag.grad(lambda x, name, n: x**n if name == "power" else 0.0)(3.0, "power", 2) == 6.0


def test_unused_parameters_and_constant_functions_have_zero_gradient():
    np.testing.assert_array_equal(ag.grad(lambda p: p["a"] * 1.0)({"a": 1.0, "b": np.ones(3)})["b"], np.zeros(3))
    assert ag.value_and_grad(lambda x: 5.0)(1.0) == (5.0, 0.0)
    assert ag.value_and_grad(lambda x: np.float64(2))(1.0) == (2.0, 0.0)


def test_float32_parameters_are_computed_in_double_precision():
    gradient = ag.grad(lambda x: np.sum(x**3))(np.array([0.1], dtype=np.float32))
    assert gradient.dtype == np.float64


# ---- outputs -----------------------------------------------------------------------------------------------------------


def test_aux_comes_back_as_plain_values():
    def f(x):
        y = np.exp(x)
        return np.sum(y), {"y": y, "first": y[0], "name": "f"}

    (value, aux), gradient = ag.value_and_grad(f, has_aux=True)(np.zeros(2))
    assert value == 2.0
    np.testing.assert_array_equal(gradient, [1.0, 1.0])
    assert type(aux["y"]) is np.ndarray
    assert aux["first"] == 1.0
    assert aux["name"] == "f"
    assert ag.grad(lambda x: (x, 7), has_aux=True)(2.0) == (1.0, 7)
    jacobian, aux = ag.jacobian(lambda x: (2.0 * x, x), has_aux=True)(np.ones(2))
    np.testing.assert_array_equal(jacobian, 2 * np.eye(2))
    np.testing.assert_array_equal(aux, np.ones(2))
    with pytest.raises(TypeError, match=r"must be a pair \(value, aux\) because has_aux is True"):
        ag.grad(lambda x: x, has_aux=True)(2.0)


def test_jacobian_has_output_then_input_shape():
    a = np.arange(6.0).reshape(2, 3)
    jacobian = ag.jacobian(lambda x: a @ x)(np.ones((3, 2)))
    assert jacobian.shape == (2, 2, 3, 2)
    np.testing.assert_array_equal(jacobian, np.einsum("ik,jl->ijkl", a, np.eye(2)))
    parts = ag.jacobian(lambda p: [p["x"] * p["y"], p["y"]])({"x": 2.0, "y": 3.0})
    np.testing.assert_array_equal(parts["x"], [3.0, 0.0])
    np.testing.assert_array_equal(parts["y"], [2.0, 1.0])
    assert ag.jacobian(lambda x: x * 2)(1.0) == 2.0


def test_control_flow_is_followed_at_each_call():
    def f(x):
        while x < 10:
            x = x * x
        return x if x < 50 else -x

    gradient = ag.grad(f)
    assert gradient(2.0) == pytest.approx(4 * 2.0**3)  # ((2^2)^2)
    assert gradient(3.0) == pytest.approx(-4 * 3.0**3)


# ---- misuse ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "argument", "error", "message"),
    [
        (lambda x: x, np.ones(3), ValueError, r"result is of shape \(3,\), but must be a scalar; use agrad.jacobian, or sum"),
        (lambda x: None, 1.0, TypeError, "result is None, but must be real numbers; does the function return?"),
        (lambda x: x, 3, TypeError, "argument 0 is of dtype int64, but must be floating-point; write 3.0 for 3"),
        (lambda x: x[0], np.array([1, 2]), TypeError, "argument 0 is of dtype int64, but must be floating-point"),
        (lambda x: x[0], [1, 2], TypeError, r"argument 0\[0\] is of dtype int64, but must be floating-point"),
        (lambda x: x, True, TypeError, "argument 0 is of dtype bool, but must be floating-point"),
        (lambda x: x, 1j, TypeError, "argument 0 is complex, but must be real"),
        (lambda x: x, "one", TypeError, "argument 0 is 'one', but must be a number or an array"),
        (lambda x: x * 1j, 1.0, TypeError, "result is <complex recorded array"),
        (lambda x: "text", 1.0, TypeError, "result is 'text', but must be real numbers"),
        (float, 1.0, TypeError, "float: argument is a recorded value, but must be a plain number"),
        (lambda x: range(x), 1.0, TypeError, "index: argument is a recorded value, but must be a plain number"),
    ],
)
def test_misuse_is_explained(function, argument, error, message):
    with pytest.raises(error, match=message):
        ag.grad(function)(argument)
    assert ag.grad(lambda x: x * x)(3.0) == 6.0


def test_what_is_no_function_is_refused():
    with pytest.raises(TypeError, match=r"grad: function is 3, but must be callable"):
        ag.grad(3)


def test_exceptions_come_out_unchanged():
    error = KeyError("mine")

    def f(x):
        np.exp(x)
        raise error

    with pytest.raises(KeyError) as caught:
        ag.grad(f)(1.0)
    assert caught.value is error
    assert caught.traceback[-1].name == "f"
    assert ag.grad(lambda x: x * x)(3.0) == 6.0


def test_recorded_values_do_not_outlive_their_call():
    kept = []
    ag.grad(lambda x: kept.append(x) or x)(1.0)
    with pytest.raises(ag.ScopeError, match=r"is a recorded value of a call of grad\(<lambda>\) that has ended"):
        kept[0] + 1.0
    with pytest.raises(ag.ScopeError, match="that has ended"):
        ag.grad(lambda x: x * kept[0])(1.0)


# ---- random functions --------------------------------------------------------------------------------------------------

UNARY = [np.sin, np.cos, np.tanh, np.exp, np.arctan, np.square, np.negative, lambda x: np.sqrt(1 + x * x)]
BINARY = [np.add, np.subtract, np.multiply, lambda x, y: x / (2 + np.cos(y)), np.hypot, np.arctan2]


@st.composite
def programs(draw):
    """A random straight-line program on a vector of three numbers."""
    return draw(st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99), st.integers(0, 99)), min_size=1, max_size=12))


def run(program, x):
    values = [x, x[::-1], x[0] * np.ones(3)]
    for kind, i, j in program:
        a, b = values[i % len(values)], values[j % len(values)]
        new = UNARY[kind % len(UNARY)](a) if kind % 3 == 0 else BINARY[kind % len(BINARY)](a, b)
        values.append(np.tanh(new))  # keeps everything of order one
    return np.sum(values[-1]) + np.mean(values[len(values) // 2])


@settings(max_examples=60, deadline=None, derandomize=True)
@given(programs())
def test_random_functions_agree_with_differences(program):
    x = np.array([0.3, -0.7, 1.1])
    value, gradient = ag.value_and_grad(lambda x: run(program, x))(x)
    assert value == pytest.approx(run(program, x), rel=1e-14, abs=1e-14)
    h = 1e-5
    differences = [(run(program, x + h * e) - run(program, x - h * e)) / (2 * h) for e in np.eye(3)]
    np.testing.assert_allclose(gradient, differences, rtol=2e-7, atol=2e-8)  # second order, third derivatives of order 1e2
    compiled = ag.compile(ag.value_and_grad(lambda x: run(program, x)))(x)
    assert compiled[0] == value
    np.testing.assert_allclose(compiled[1], gradient, rtol=1e-13, atol=1e-15)  # equal terms may be summed in another order


class Scaled:
    """A callable object whose attributes have the names of a transformation's own."""

    def __init__(self, factor):
        self.factor = factor
        self.function = self.plan = self.nests = self.direction = self._entries = None

    def __call__(self, x):
        return self.factor * x**2


@pytest.mark.parametrize("transform", [ag.grad, ag.hessian, ag.compile, ag.vmap], ids=["grad", "hessian", "compile", "vmap"])
def test_a_callable_object_keeps_its_attributes_to_itself(transform):
    function = Scaled(3.0)
    taken = transform(function)
    at = np.array([2.0]) if transform is ag.vmap else 2.0
    expected = {ag.grad: 12.0, ag.hessian: 6.0}.get(transform, 12.0)
    assert taken(at) == pytest.approx(expected)
    assert "factor" not in vars(taken)
    assert ag.grad(lambda x: np.sum(transform(function)(x)))(at) == pytest.approx(
        {ag.grad: 6.0, ag.hessian: 0.0}.get(transform, 12.0)
    )
