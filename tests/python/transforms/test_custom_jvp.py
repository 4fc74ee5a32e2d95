"""custom_jvp and stop_gradient: derivatives by hand that are recorded, in every mode and to the second order."""

import numpy as np
import pytest
from scipy import special

import agrad as ag


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


def test_recorded_values_from_around_the_function_are_refused():
    message = (
        r"custom_jvp\(f\): a recorded value of .* is used that is no argument, but must be an argument to have a derivative"
    )

    def make(a, of_function, of_derivative):
        @ag.custom_jvp
        def f(x):
            return of_function(x, a)

        f.defjvp(lambda primals, tangents: (of_function(primals[0], a), of_derivative(tangents[0], a)))
        return f

    def times(x, a):
        return x * a

    for parts in ((times, times), (lambda x, a: 2.0 * x, times), (lambda x, a: a, lambda t, a: 2.0 * t)):
        for transform in (ag.grad, ag.compile, ag.jacfwd):
            with pytest.raises(TypeError, match=message):
                transform(lambda a, parts=parts: make(a, *parts)(a * 2.0))(3.0)
            with pytest.raises(TypeError, match=message):  # of slots that are gathered together first
                transform(lambda a, parts=parts: np.sum(make(np.stack([a, 2.0 * a]), *parts)(np.stack([a, a]))))(3.0)

    def constant(x, a):
        return x * ag.stop_gradient(a)

    assert ag.grad(lambda a: make(a, constant, constant)(2.0 * a))(3.0) == 6.0
    assert ag.grad(lambda x: make(5.0, times, times)(x) * make(2, times, times)(x))(1.0) == 20.0


def test_many_calls_in_a_loop():
    f = square_by_jvp()

    def loss(x):
        for _ in range(200):
            x = 0.5 * f(x) + 0.1
        return x

    slope, x = 1.0, 0.3
    for _ in range(200):
        slope, x = slope * 1.5 * x, 0.5 * x * x + 0.1
    assert ag.grad(loss)(0.3) == pytest.approx(slope, rel=1e-12)


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


def test_a_stopped_condition_is_still_a_mask():
    def f(x):
        return np.sum(np.where(ag.stop_gradient(x > 0) & (x < 2), x**2, 0.0))

    np.testing.assert_array_equal(ag.grad(f)(np.array([-1.0, 1.0, 3.0])), [0.0, 2.0, 0.0])
