"""custom_vjp: Python functions as operations, in every mode, with every kind of argument and mistake."""

import functools
import gc
import threading
import weakref
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import special

import agrad as ag


def custom(function, fwd=None, bwd=None):
    f = ag.custom_vjp(function)
    f.defvjp(fwd or (lambda x: (function(x), x)), bwd or (lambda x, g: (g,)))
    return f


def bessel_by_vjp():
    """J0 of numbers and arrays, by SciPy, which cannot be recorded."""

    @ag.custom_vjp
    def bessel(x):
        """J0."""
        assert not isinstance(x, ag.Array)
        return special.jv(0, x)

    def fwd(x):
        return special.jv(0, x), x

    def bwd(x, cotangent):
        return (-special.jv(1, x) * cotangent,)

    bessel.defvjp(fwd, bwd)
    return bessel


def test_vjp_passes_through_every_reverse_transformation():
    f = bessel_by_vjp()
    x = np.array([0.5, 1.0, 3.0])

    def loss(x):
        return np.sum(f(2.0 * x) * x)

    slope = special.jv(0, 2 * x) - 2 * special.jv(1, 2 * x) * x
    np.testing.assert_array_equal(f(x), special.jv(0, x))
    np.testing.assert_allclose(ag.grad(loss)(x), slope, rtol=1e-14)
    value, gradient = ag.value_and_grad(loss)(x)
    assert value == pytest.approx(np.sum(special.jv(0, 2 * x) * x), rel=1e-14)
    np.testing.assert_allclose(gradient, slope, rtol=1e-14)
    matrix = np.diag(-special.jv(1, x))
    np.testing.assert_allclose(ag.jacobian(f)(x), matrix, rtol=1e-14)
    np.testing.assert_allclose(ag.jacrev(f)(x), matrix, rtol=1e-14)
    np.testing.assert_allclose(ag.vjp(f, x)[1](np.array([1.0, 2.0, 3.0]))[0], matrix @ [1, 2, 3], rtol=1e-14)
    with ag.tape():
        v = ag.var(x)
        np.testing.assert_allclose(loss(v).grad(v), slope, rtol=1e-14)


def test_vjp_is_called_at_each_run_of_a_compiled_function():
    calls = []

    @ag.custom_vjp
    def f(x):
        calls.append(("f", x))
        return x**2

    f.defvjp(lambda x: (calls.append(("fwd", x)), (x**2, x))[1], lambda x, g: (calls.append(("bwd", x)), (2 * x * g,))[1])
    value = ag.compile(lambda x: f(x) + 1.0)
    assert [value(2.0), value(3.0), value(4.0)] == [5.0, 10.0, 17.0]
    assert [name for name, _ in calls] == ["f"] * 4  # recorded once with the first value, then run three times
    assert [x for _, x in calls] == [2.0, 2.0, 3.0, 4.0]
    calls.clear()
    slope = ag.compile(ag.grad(f))
    assert [slope(2.0), slope(-3.0)] == [4.0, -6.0]
    assert calls[-4:] == [("fwd", 2.0), ("bwd", 2.0), ("fwd", -3.0), ("bwd", -3.0)]
    for compiled, x, expected in ((ag.compile(ag.jacobian(f)), 5.0, 10.0), (ag.compile(ag.jacrev(f)), 5.0, 10.0)):
        assert compiled(1.0) == 2.0
        assert compiled(x) == expected
    assert ag.vjp(ag.compile(f), 3.0)[1](2.0) == (12.0,)


def test_fwd_is_called_once_for_a_plain_gradient():
    calls = []

    @ag.custom_vjp
    def f(x):
        raise AssertionError("fwd is called instead")

    f.defvjp(lambda x: (calls.append(x), (2 * x, None))[1], lambda _, g: (2 * g,))
    assert ag.grad(lambda x: f(x) * f(3.0 * x))(1.0) == 24.0
    assert calls == [1.0, 3.0]


def test_arguments_are_plain_numbers_and_arrays_of_their_own():
    seen = []

    @ag.custom_vjp
    def f(x, y, name, table):
        seen.append((type(x), type(y), y.dtype, name, table))
        return x * np.sum(y)

    def fwd(x, y, name, table):
        y += 1.0  # the function's own copy
        return f(x, y - 1.0, name, table), (x, y - 1.0)

    f.defvjp(fwd, lambda saved, g: (np.sum(saved[1]) * g, saved[0] * g * np.ones(2), None, None))
    y = np.array([1.0, 2.0])
    table = {"n": 3}
    first, second = ag.grad(f, (0, 1))(2.0, y, "linear", table)
    assert first == 3.0
    np.testing.assert_array_equal(second, [2.0, 2.0])
    np.testing.assert_array_equal(y, [1.0, 2.0])
    assert seen == [(float, np.ndarray, np.dtype(float), "linear", table)]


@dataclass
class Point:
    x: float
    y: np.ndarray


def test_vjp_of_nested_structures():
    @ag.custom_vjp
    def f(p, scale):
        return {"sum": scale * (p.x + np.sum(p.y)), "both": (p.x * p.y, p.x)}

    def bwd(saved, g):
        p, scale = saved
        of_x = scale * g["sum"] + g["both"][0] @ p.y + g["both"][1]
        return Point(of_x, scale * g["sum"] + g["both"][0] * p.x), g["sum"] * (p.x + np.sum(p.y))

    f.defvjp(lambda p, scale: (f(p, scale), (p, scale)), bwd)

    def natural(p, scale):
        return {"sum": scale * (p.x + np.sum(p.y)), "both": (p.x * p.y, p.x)}

    def loss(g):
        return lambda p, scale: g(p, scale)["sum"] ** 2 + np.sum(g(p, scale)["both"][0] ** 3) * g(p, scale)["both"][1]

    p = Point(0.7, np.array([1.0, -2.0, 0.5]))
    got, expected = (ag.grad(loss(g), (0, 1))(p, 1.5) for g in (f, natural))
    assert got[0].x == pytest.approx(expected[0].x, rel=1e-13)
    np.testing.assert_allclose(got[0].y, expected[0].y, rtol=1e-13)
    assert got[1] == pytest.approx(expected[1], rel=1e-13)
    only_scale = ag.compile(ag.grad(loss(f), 1))  # p is an input of the program, too
    assert only_scale(p, 1.5) == pytest.approx(expected[1], rel=1e-13)
    fixed = ag.grad(lambda scale: loss(f)(p, scale))(1.5)  # and here a constant
    assert fixed == pytest.approx(expected[1], rel=1e-13)


def test_none_stands_for_zeros_and_a_single_cotangent_needs_no_tuple():
    @ag.custom_vjp
    def f(x, options):
        return x["a"] * 2.0

    f.defvjp(lambda x, options: (f(x, options), None), lambda _, g: ({"a": 2.0 * g, "b": None}, None))
    gradient = ag.grad(lambda x: f(x, {"o": 1.0}))({"a": 3.0, "b": np.ones(2)})
    assert gradient["a"] == 2.0
    np.testing.assert_array_equal(gradient["b"], [0.0, 0.0])

    @ag.custom_vjp
    def g(x):
        return 3.0 * x

    g.defvjp(lambda x: (3.0 * x, None), lambda _, c: 3.0 * c)
    assert ag.grad(g)(1.0) == 3.0


def test_nondiff_argnums_go_first():
    @functools.partial(ag.custom_vjp, nondiff_argnums=(0, 2))
    def apply(function, x, power):
        return function(x) ** power

    @ag.custom_vjp(nondiff_argnums=0)
    def of_one(function, x):
        return function(x)

    def bwd(function, power, x, g):
        assert (function, power) == (np.sin, 2)
        return (2 * np.sin(x) * np.cos(x) * g,)

    apply.defvjp(lambda function, x, power: (apply(function, x, power), x), bwd)
    assert ag.grad(lambda x: apply(np.sin, x, 2))(0.3) == pytest.approx(np.sin(0.6), rel=1e-14)
    of_one.defvjp(lambda function, x: (function(x), x), lambda function, x, g: (np.cos(x) * g,))
    assert ag.compile(ag.grad(lambda x: of_one(np.sin, x)))(0.3) == np.cos(0.3)
    with pytest.raises(TypeError, match=r"custom_vjp\(apply\): an argument of nondiff_argnums is recorded, but must be plain"):
        ag.grad(lambda x: apply(np.sin, 1.0, x))(2.0)
    beyond = ag.custom_vjp(nondiff_argnums=2)(lambda x: x)
    beyond.defvjp(lambda x: (x, None), lambda _, g: (g,))
    with pytest.raises(TypeError, match="nondiff_argnums is 2, but must be the place of an argument; 1 were given"):
        ag.grad(beyond)(1.0)
    with pytest.raises(TypeError, match=r"custom_vjp: nondiff_argnums is \(-1,\), but must be positions of arguments, from 0"):
        ag.custom_vjp(nondiff_argnums=(-1,))(lambda x: x)


def test_arguments_by_name_and_defaults():
    @ag.custom_vjp
    def f(x, y=2.0, *, mode="a"):
        return x * y

    f.defvjp(lambda x, y: (x * y, (x, y)), lambda saved, g: (saved[1] * g, saved[0] * g))
    with pytest.raises(TypeError, match=r"custom_vjp\(f\): arguments \['mode'\] are keyword-only, but must be positional"):
        f(1.0)

    @ag.custom_vjp
    def h(x, y=2.0):
        return x * y

    h.defvjp(lambda x, y: (x * y, (x, y)), lambda saved, g: (saved[1] * g, saved[0] * g))
    assert ag.grad(lambda x: h(x))(3.0) == 2.0
    assert ag.grad(lambda x: h(y=x, x=5.0))(3.0) == 5.0


def test_defvjps_gives_each_argument_its_own():
    @ag.custom_vjp
    def f(x, y, label):
        return np.exp(x) * y

    f.defvjps(lambda g, ans, x, y, label: g * ans, lambda g, ans, x, y, label: g * np.exp(x), None)
    assert ag.grad(f, (0, 1))(0.5, 2.0, "label") == (2 * np.exp(0.5), np.exp(0.5))


def test_a_custom_function_is_a_method_too():
    class Model:
        factor = 3.0

        @ag.custom_vjp
        def f(self, x):
            return self.factor * x

        f.defvjp(lambda self, x: (self.factor * x, self), lambda self, g: (None, self.factor * g))

    assert ag.grad(Model().f)(1.0) == 3.0
    assert Model().f(2.0) == 6.0


def test_metadata_of_the_function_stay():
    f = bessel_by_vjp()
    assert (f.__name__, f.__doc__) == ("bessel", "J0.")


def test_vjp_has_no_other_modes():
    f = bessel_by_vjp()
    for transform in (
        ag.hessian,
        lambda g: lambda x: ag.hvp(g)(x, 1.0),
        ag.jacfwd,
        lambda g: lambda x: ag.jvp(g, (x,), (1.0,)),
    ):
        with pytest.raises(NotImplementedError, match=r"custom_vjp\(bessel\) has first derivatives only"):
            transform(f)(1.0)


def test_empty_results_and_arguments():
    f = custom(lambda x: x[:0], bwd=lambda x, g: (np.zeros(2),))
    np.testing.assert_array_equal(ag.grad(lambda x: np.sum(f(x)) + x[0])(np.ones(2)), [1.0, 0.0])
    g = custom(lambda x: {}, bwd=lambda x, g: (None,))
    assert ag.grad(lambda x: x + len(g(x)))(1.0) == 1.0
    h = custom(lambda x: np.sum(x) + 1.0, bwd=lambda x, g: (g * np.ones(0),))
    assert ag.grad(lambda x: h(x))(np.ones(0)).shape == (0,)


def test_a_result_that_is_not_used_is_not_swept_back():
    f = custom(lambda x: x * 2.0, bwd=lambda x, g: pytest.fail("nothing depends on it"))
    assert ag.grad(lambda x: (f(x), x * 3.0)[1])(1.0) == 3.0
    assert ag.compile(ag.grad(lambda x: (f(x), x * 3.0)[1]))(1.0) == 3.0


def test_callbacks_in_threads():
    f = bessel_by_vjp()
    compiled = ag.compile(ag.grad(lambda x: np.sum(f(x) ** 2)))
    points = [np.linspace(0.1, 3.0 + n, 20) for n in range(4)]
    expected = [-2 * special.jv(0, x) * special.jv(1, x) for x in points]
    failures = []

    def work(n):
        try:
            for _ in range(50):
                np.testing.assert_allclose(compiled(points[n]), expected[n], rtol=1e-13)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_a_callback_within_a_right_hand_side():
    @ag.custom_vjp
    def decay(k, y):
        return -k * y

    decay.defvjp(lambda k, y: (-k * y, (k, y)), lambda saved, g: (-np.sum(g * saved[1]), -saved[0] * g))

    def end(k):
        return ag.solve_ivp(lambda t, y, k: decay(k, y), (0.0, 1.0), [1.0], "Adams", args=(k,), rtol=1e-9, atol=1e-11).y[0, -1]

    assert end(0.5) == pytest.approx(np.exp(-0.5), rel=1e-6)
    assert ag.grad(end)(0.5) == pytest.approx(-np.exp(-0.5), rel=1e-5)


def test_nothing_is_kept_alive():
    class Large:
        pass

    large = Large()
    alive = weakref.ref(large)

    def run(large):
        f = custom(lambda x: x * 2.0, fwd=lambda x: (x * 2.0, large))
        ag.grad(f)(1.0)
        ag.compile(ag.grad(f))(1.0)

    run(large)
    del large
    gc.collect()
    assert alive() is None
