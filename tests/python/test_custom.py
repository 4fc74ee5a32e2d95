"""Derivatives by hand: custom_vjp, custom_jvp and stop_gradient, in every mode, with every kind of argument and mistake."""

import functools
import gc
import threading
import weakref
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import special

import agrad as ag


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


def square_by_jvp():
    """x**2 with the wrong derivative 3 x, so that it can be told from the right one."""

    @ag.custom_jvp
    def square(x):
        return x * x

    @square.defjvp
    def _(primals, tangents):
        (x,), (t,) = primals, tangents
        return x * x, 3.0 * x * t

    return square


# ---- custom_vjp ------------------------------------------------------------------------------------------------------


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
    with pytest.raises(TypeError, match="nondiff_argnums is 2, but must be the place of an argument; 1 were given"):
        beyond = ag.custom_vjp(nondiff_argnums=2)(lambda x: x)
        beyond.defvjp(lambda x: (x, None), lambda _, g: (g,))
        ag.grad(beyond)(1.0)
    with pytest.raises(TypeError, match=r"custom_vjp: nondiff_argnums is \(-1,\), but must be places from 0 on"):
        ag.custom_vjp(nondiff_argnums=(-1,))(lambda x: x)


def test_arguments_by_name_and_defaults():
    @ag.custom_vjp
    def f(x, y=2.0, *, mode="a"):
        return x * y

    f.defvjp(lambda x, y: (x * y, (x, y)), lambda saved, g: (saved[1] * g, saved[0] * g))
    with pytest.raises(TypeError, match=r"custom_vjp\(f\): arguments \['mode'\] are keyword-only, but must have a place"):
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


def test_exceptions_come_out_unchanged():
    class OddError(Exception):
        pass

    @ag.custom_vjp
    def f(x):
        if x > 2:
            raise OddError("too large")
        return x * 2.0

    def fwd(x):
        return f(x), x

    def bwd(x, g):
        if x < 0:
            raise OddError("negative")
        return (2.0 * g,)

    f.defvjp(fwd, bwd)
    compiled = ag.compile(ag.grad(f))
    for g in (ag.grad(f), compiled, compiled):
        with pytest.raises(OddError, match="too large") as caught:
            g(3.0)
        assert caught.traceback[-1].name == "f"
        with pytest.raises(OddError, match="negative"):
            g(-1.0)
        assert g(1.0) == 2.0
    plain = ag.compile(lambda x: f(x) + 1.0)
    assert plain(1.0) == 3.0
    with pytest.raises(OddError):
        plain(3.0)
    assert plain(2.0) == 5.0


def custom(function, fwd=None, bwd=None):
    f = ag.custom_vjp(function)
    f.defvjp(fwd or (lambda x: (function(x), x)), bwd or (lambda x, g: (g,)))
    return f


def test_mistakes_in_the_functions_are_explained():
    def check(f, error, message, x=1.0):
        with pytest.raises(error, match=message):
            ag.grad(lambda x: np.sum(f(x)))(x)

    def wrong(x):
        return x

    label = r"custom_vjp\(wrong\): "
    check(custom(wrong, fwd=lambda x: x), TypeError, label + r"fwd returned 1.0, but must return a pair \(result, residuals\)")
    check(custom(wrong, fwd=lambda x: (None, x)), TypeError, label + "result is None, but must be real numbers; does the")
    check(custom(wrong, fwd=lambda x: (1j, x)), TypeError, label + "result is 1j, but must be real numbers")
    check(custom(wrong, fwd=lambda x: ("a", x)), TypeError, label + "result is 'a', but must be real numbers")
    check(custom(wrong, bwd=lambda x, g: (g, g)), TypeError, label + r"bwd returned \(1.0, 1.0\), but must return a tuple of 1")
    check(
        custom(wrong, bwd=lambda x, g: (np.ones(2),)),
        ag.ShapeError,
        label + r"cotangent of argument 0 is of shape \(2,\), but must be of shape \(\), as the argument",
    )
    check(
        custom(wrong, bwd=lambda x, g: ({"a": g},)),
        TypeError,
        label + "cotangent of argument 0 is .*, but must be of the struc",
    )
    check(custom(wrong, bwd=lambda x, g: ("a",)), TypeError, label + "cotangent of argument 0 is 'a', but must be real numbers")
    with pytest.raises(TypeError, match=r"custom_vjp\(wrong\): derivative is undefined, but must be known; call its defvjp"):
        ag.custom_vjp(wrong)(1.0)
    with pytest.raises(TypeError, match="custom_vjp: function is 3, but must be callable"):
        ag.custom_vjp(3)
    with pytest.raises(TypeError, match=r"custom_vjp\(wrong\).defvjp: argument 1 is None, but must be callable"):
        ag.custom_vjp(wrong).defvjp(wrong, None)
    with pytest.raises(TypeError, match=r"custom_vjp\(<lambda>\): result is a recorded value of grad\(.*\), but must be plain"):
        ag.grad(lambda x: custom(lambda y: x * y)(2.0 * x))(1.0)


def test_a_result_that_changes_its_shape_is_noticed():
    f = custom(lambda x: np.ones(int(x)))
    compiled = ag.compile(lambda x: np.sum(f(x)))
    assert compiled(2.0) == 2.0
    with pytest.raises(
        ag.ShapeError, match=r"result is of shape \(3,\), but must be of shape \(2,\), as it was when it was rec"
    ):
        compiled(3.0)
    g = custom(lambda x: {"a": x} if x > 0 else {"b": x})
    compiled = ag.compile(lambda x: g(x))
    assert compiled(2.0) == {"a": 2.0}
    with pytest.raises(TypeError, match="result is {'b': -1.0}, but must be of the structure that it had when it was recorded"):
        compiled(-1.0)


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


# ---- custom_jvp ------------------------------------------------------------------------------------------------------


def test_jvp_passes_through_every_transformation():
    f = square_by_jvp()
    assert f(2.0) == 4.0

    def g(x):
        return f(x) * np.sin(x)  # g' = 3 x sin x + x^2 cos x as far as f is concerned

    x = 0.7
    slope = 3 * x * np.sin(x) + x**2 * np.cos(x)
    # f'' is the derivative of 3 x: 3. (f sin)'' = 3 sin + 2 * 3 x cos - x^2 sin
    second = 3 * np.sin(x) + 2 * 3 * x * np.cos(x) - x**2 * np.sin(x)
    for transform in (ag.grad, ag.jacobian, ag.jacfwd, ag.jacrev):
        assert transform(g)(x) == pytest.approx(slope, rel=1e-14)
        compiled = ag.compile(transform(g))
        assert compiled(0.1) == pytest.approx(0.3 * np.sin(0.1) + 0.01 * np.cos(0.1), rel=1e-14)
        assert compiled(x) == pytest.approx(slope, rel=1e-14)
    assert ag.jvp(g, (x,), (2.0,)) == (pytest.approx(x**2 * np.sin(x)), pytest.approx(2 * slope))
    assert ag.vjp(g, x)[1](2.0)[0] == pytest.approx(2 * slope)
    assert ag.hessian(g)(x) == pytest.approx(second, rel=1e-14)
    assert ag.hvp(g)(x, 2.0) == pytest.approx(2 * second, rel=1e-14)
    assert ag.compile(ag.hessian(g))(x) == pytest.approx(second, rel=1e-14)
    with ag.tape():
        v = ag.var(x)
        assert g(v).grad(v) == pytest.approx(slope, rel=1e-14)


def test_a_right_derivative_by_hand_passes_check_grads():
    @ag.custom_jvp
    def f(p, w):
        return {"a": np.exp(p["x"]) * w, "b": np.sum(p["x"] * w)}

    @f.defjvp
    def _(primals, tangents):
        p, w = primals
        dp, dw = tangents
        out = f(p, w)
        return out, {
            "a": out["a"] * dp["x"] + np.exp(p["x"]) * dw,
            "b": np.sum(p["x"] * dw + dp["x"] * w),
        }

    x, w = np.array([0.1, -0.4, 0.9]), np.array([1.0, 2.0, -0.5])
    ag.check_grads(f, {"x": x}, w)

    def natural(p, w):
        return {"a": np.exp(p["x"]) * w, "b": np.sum(p["x"] * w)}

    def loss(g):
        return lambda z: np.sum(g({"x": z[:3]}, z[3:])["a"] ** 2) * g({"x": z[:3]}, z[3:])["b"]

    z = np.concatenate([x, w])
    np.testing.assert_allclose(ag.hessian(loss(f))(z), ag.hessian(loss(natural))(z), rtol=1e-12, atol=1e-12)


def test_the_rule_may_call_its_function_and_others():
    @ag.custom_jvp
    def exp(x):
        return np.exp(x)

    @ag.custom_jvp
    def sinh(x):
        return (exp(x) - exp(-x)) / 2

    @exp.defjvp
    def _(primals, tangents):
        y = exp(primals[0])
        return y, y * tangents[0]

    @sinh.defjvp
    def _(primals, tangents):
        (x,), (t,) = primals, tangents
        return sinh(x), t * np.sqrt(1 + sinh(x) ** 2)

    x = 0.8
    assert ag.grad(sinh)(x) == pytest.approx(np.cosh(x), rel=1e-14)
    assert ag.hessian(sinh)(x) == pytest.approx(np.sinh(x), rel=1e-13)
    assert ag.hessian(exp)(x) == pytest.approx(np.exp(x), rel=1e-14)
    assert ag.jvp(sinh, (x,), (1.0,))[1] == pytest.approx(np.cosh(x), rel=1e-14)


def test_a_derivative_that_removes_a_singularity():
    @ag.custom_jvp
    def norm(x):
        return np.sqrt(np.sum(x * x))

    @norm.defjvp
    def _(primals, tangents):
        (x,), (t,) = primals, tangents
        y = norm(x)
        return y, np.where(y > 0, np.sum(x * t) / np.where(y > 0, y, 1.0), 0.0)

    for transform in (ag.grad, ag.jacfwd):
        np.testing.assert_array_equal(transform(norm)(np.zeros(2)), [0.0, 0.0])
        np.testing.assert_allclose(transform(norm)(np.array([3.0, 4.0])), [0.6, 0.8], rtol=1e-15)


def test_an_infinite_derivative_stays_one():
    @ag.custom_jvp
    def root(x):
        return np.sqrt(x)

    root.defjvps(lambda t, y, x: t * (0.5 / y))
    for transform in (ag.grad, ag.jacfwd):
        assert transform(root)(0.0) == np.inf
        assert transform(root)(4.0) == 0.25


def test_a_finite_derivative_of_infinite_derivative():
    @ag.custom_jvp
    def f(x):
        return x**1.5

    f.defjvps(lambda t, y, x: t * 1.5 * np.sqrt(x))
    assert ag.grad(f)(0.0) == 0.0
    assert ag.jacfwd(f)(0.0) == 0.0
    assert ag.jvp(f, (0.0,), (2.0,)) == (0.0, 0.0)


def test_defjvps_and_nondiff_argnums():
    @ag.custom_jvp(nondiff_argnums=(1,))
    def f(x, n, y):
        return x**n * y

    f.defjvps(lambda t, ans, x, n, y: t * n * x ** (n - 1) * y, lambda t, ans, x, n, y: t * x**n)
    assert ag.grad(f, (0, 2))(2.0, 3, 5.0) == (60.0, 8.0)
    assert ag.grad(lambda x: f(x, 3, 5.0))(2.0) == 60.0
    assert ag.grad(lambda y: f(2.0, 3, y))(5.0) == 8.0
    f.defjvps(None, lambda t, ans, x, n, y: t * x**n)
    assert ag.grad(f, (0, 2))(2.0, 3, 5.0) == (0.0, 8.0)
    f.defjvps(None, None)
    assert ag.grad(f, (0, 2))(2.0, 3, 5.0) == (0.0, 0.0)
    f.defjvps(None)
    with pytest.raises(TypeError, match=r"custom_jvp\(f\).defjvps: number of functions is 1, but must be 2"):
        ag.grad(f)(2.0, 3, 5.0)


def test_tangents_of_what_is_not_recorded():
    seen = []

    @ag.custom_jvp
    def f(x, y, name):
        return x * np.sum(y)

    @f.defjvp
    def _(primals, tangents):
        seen.append(tangents[1:])
        x, y, _ = primals
        return x * np.sum(y), tangents[0] * np.sum(y) + x * np.sum(tangents[1])

    assert ag.grad(f)(2.0, np.ones(3), "name") == 3.0
    np.testing.assert_array_equal(seen[0][0], np.zeros(3))
    assert seen[0][1] is None


def test_a_compiled_custom_jvp_runs_without_python():
    calls = []
    f = ag.custom_jvp(lambda x: (calls.append("f"), np.sin(x))[1])
    f.defjvps(lambda t, ans, x: (calls.append("jvp"), np.cos(x) * t)[1])
    compiled = ag.compile(ag.grad(lambda x: np.sum(f(x))))
    compiled(np.zeros(2))
    count = len(calls)
    np.testing.assert_array_equal(compiled(np.array([1.0, 2.0])), np.cos([1.0, 2.0]))
    assert len(calls) == count


def test_plain_custom_jvp_sees_numbers():
    @ag.custom_jvp(plain=True)
    def f(x, nu):
        return special.jv(nu, x)

    @f.defjvp
    def _(primals, tangents):
        (x, nu), (t, _) = primals, tangents
        return special.jv(nu, x), special.jvp(nu, x) * t

    x = np.array([0.5, 2.0])
    np.testing.assert_allclose(ag.jacobian(lambda x: f(x, 1))(x), np.diag(special.jvp(1, x)), rtol=1e-14)
    compiled = ag.compile(ag.grad(lambda x: np.sum(f(x, 1))))
    for point in (x, 2 * x):
        np.testing.assert_allclose(compiled(point), special.jvp(1, point), rtol=1e-14)
    with pytest.raises(NotImplementedError, match=r"custom_jvp\(f\) has first derivatives only"):
        ag.hessian(lambda x: np.sum(f(x, 1)))(x)


def test_mistakes_in_a_jvp_are_explained():
    def check(function, jvp, error, message, plain=False):
        f = ag.custom_jvp(plain=plain)(function)
        f.defjvp(jvp)
        with pytest.raises(error, match=message):
            ag.grad(lambda x: np.sum(f(x)))(np.ones(2))

    def wrong(x):
        return 2.0 * x

    for plain in (False, True):
        check(
            wrong,
            lambda p, t: t[0],
            TypeError,
            r"custom_jvp\(wrong\): the derivative returned .*, but must return a pair",
            plain,
        )
        message = r"custom_jvp\(wrong\): tangent is of shape \(\), but must be of shape \(2,\), as the result"
        check(wrong, lambda p, t: (wrong(p[0]), np.sum(t[0])), ag.ShapeError, message, plain)
        message = r"custom_jvp\(wrong\): tangent is .*, but must be of the structure of the result"
        check(wrong, lambda p, t: (wrong(p[0]), [t[0]]), TypeError, message, plain)
    check(lambda x: None, lambda p, t: (None, None), TypeError, "result of .* is None, but must be real numbers")
    with pytest.raises(TypeError, match=r"custom_jvp\(wrong\): derivative is undefined, but must be known; call its defjvp"):
        ag.grad(ag.custom_jvp(wrong))(1.0)


def test_the_rule_is_used_anew_after_an_exception():
    f = ag.custom_jvp(lambda x: x * x)

    @f.defjvp
    def _(primals, tangents):
        raise KeyError("within")

    with pytest.raises(KeyError, match="within"):
        ag.grad(f)(1.0)
    f.defjvps(lambda t, ans, x: 7.0 * t)
    assert ag.grad(f)(1.0) == 7.0


def test_comparisons_within_a_custom_jvp_are_guards():
    @ag.custom_jvp
    def f(x):
        return x * x if x > 0 else -x

    @f.defjvp
    def _(primals, tangents):
        (x,), (t,) = primals, tangents
        return f(x), (5.0 * t if x > 0 else 6.0 * t)

    compiled = ag.compile(ag.grad(f))
    assert [compiled(1.0), compiled(-1.0), compiled(2.0), compiled(-3.0)] == [5.0, 6.0, 5.0, 6.0]


# ---- stop_gradient ---------------------------------------------------------------------------------------------------


def test_stop_gradient_stops_every_derivative_and_no_value():
    def f(x):
        return np.sum(ag.stop_gradient(x**2) * x + ag.stop_gradient(x))

    x = np.array([1.0, 3.0])
    assert f(x) == ag.compile(f)(x) == 32.0
    np.testing.assert_array_equal(ag.grad(f)(x), x**2)
    np.testing.assert_array_equal(ag.jacfwd(f)(x), x**2)
    np.testing.assert_array_equal(ag.hessian(f)(x), np.zeros((2, 2)))
    np.testing.assert_array_equal(ag.jvp(f, (x,), (np.ones(2),))[1], 10.0)
    compiled = ag.compile(ag.grad(f))
    np.testing.assert_array_equal(compiled(x), x**2)
    np.testing.assert_array_equal(compiled(2 * x), 4 * x**2)  # the value follows


def test_stop_gradient_of_structures_and_plain_values():
    plain = {"a": 1.0, "b": (np.ones(2), "name", None)}
    assert ag.stop_gradient(plain)["b"][0] is plain["b"][0]

    def f(p):
        stopped = ag.stop_gradient(p)
        return stopped["a"] * p["b"][0] + p["a"] * stopped["b"][0]

    assert ag.grad(f)({"a": 2.0, "b": [3.0]}) == {"a": 3.0, "b": [2.0]}
    with ag.tape():
        x = ag.var(np.broadcast_to(2.0, (3,)))
        assert ag.stop_gradient(x[::-1]).shape == (3,)
        np.testing.assert_array_equal((ag.stop_gradient(np.broadcast_to(x[0], (3,))) @ x).grad(x), [2.0, 2.0, 2.0])


def test_a_comparison_of_a_stopped_value_is_still_a_guard():
    f = ag.compile(lambda x: 2.0 * x if ag.stop_gradient(x) > 0 else -x)
    assert [f(1.0), f(-1.0), f(2.0)] == [2.0, 1.0, 4.0]
