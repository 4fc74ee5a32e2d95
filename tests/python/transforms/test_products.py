"""jvp, vjp, jacfwd and jacrev: closed forms, the dot-product test, structures, compiled functions, errors."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import agrad as ag
from differences import jacobian_by_differences

GENERATOR = np.random.default_rng(19640217)
X = np.array([0.3, -0.7, 1.1, 0.4, 2.0])
A = GENERATOR.standard_normal((7, 5))


@pytest.fixture(params=["plain", "compiled"])
def made(request):
    """What a function is made by: as it is, or compiled."""
    return ag.compile if request.param == "compiled" else lambda function: function


def layers(x):
    """R^5 -> R^7, with products, gathers, functions of two arguments and a density."""
    y = np.tanh(A @ x) * x[0] + np.hypot(x[1], x[[0, 1, 2, 3, 4, 0, 1]])
    return y + ag.normal_lpdf(x[:3], y[0], np.exp(x[3]))


def of_tree(p, scale):
    return {"product": p["a"] * np.sum(p["b"]) * scale, "rest": [p["b"] ** 2, (scale,)]}


P = {"a": 2.0, "b": np.array([1.0, 3.0])}


# ---- values ------------------------------------------------------------------------------------------------------------


def test_forward_and_reverse_pass_the_dot_product_test(made):
    f = made(layers)
    for _ in range(20):
        x, v, w = GENERATOR.standard_normal(5), GENERATOR.standard_normal(5), GENERATOR.standard_normal(7)
        value, tangent = ag.jvp(f, (x,), (v,))
        same, pullback = ag.vjp(f, x)
        (adjoint,) = pullback(w)
        np.testing.assert_allclose(value, layers(x), rtol=1e-14, atol=1e-14)
        np.testing.assert_allclose(same, value, rtol=1e-14, atol=1e-14)
        assert abs(w @ tangent - adjoint @ v) <= 1e-12 * (np.abs(w) @ np.abs(tangent) + np.abs(adjoint) @ np.abs(v))


def test_products_are_products_with_the_jacobian(made):
    jacobian = jacobian_by_differences(layers, X)
    v, w = GENERATOR.standard_normal(5), GENERATOR.standard_normal(7)
    np.testing.assert_allclose(ag.jvp(made(layers), (X,), (v,))[1], jacobian @ v, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(ag.vjp(made(layers), X)[1](w)[0], w @ jacobian, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("transformation", [ag.jacfwd, ag.jacrev])
def test_both_jacobians_are_the_jacobian(made, transformation):
    jacobian = made(transformation(layers))(X)
    np.testing.assert_allclose(jacobian, ag.jacobian(layers)(X), rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(jacobian, jacobian_by_differences(layers, X), rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("transformation", [ag.jacfwd, ag.jacrev])
def test_jacobians_have_output_then_input_shape(made, transformation):
    a = np.arange(6.0).reshape(2, 3)
    jacobian = made(transformation(lambda x: a @ x))(np.ones((3, 2)))
    np.testing.assert_array_equal(jacobian, np.einsum("ik,jl->ijkl", a, np.eye(2)))
    parts = made(transformation(lambda p, q: [p["x"] * q, p["y"]], argnums=(1, 0)))({"x": 2.0, "y": 3.0}, 5.0)
    np.testing.assert_array_equal(parts[0], [2.0, 0.0])
    np.testing.assert_array_equal(parts[1]["x"], [5.0, 0.0])
    np.testing.assert_array_equal(parts[1]["y"], [0.0, 1.0])
    assert made(transformation(lambda x: x * 2))(1.0) == 2.0
    assert made(transformation(lambda x: np.ones(2)))(np.ones((0, 3))).shape == (2, 0, 3)
    assert made(transformation(lambda x: x[:0]))(np.ones(3)).shape == (0, 3)


@pytest.mark.parametrize("transformation", [ag.jacfwd, ag.jacrev])
def test_compiled_jacobians_record_the_other_branch(transformation):
    calls = []

    def f(x):
        calls.append(1)
        return x**2 if x[0] > 1 else x**3

    compiled = ag.compile(transformation(f))
    for x, slope in [(2.0, 4.0), (0.5, 0.75), (3.0, 6.0), (-1.0, 3.0)]:
        np.testing.assert_array_equal(compiled(np.array([x])), [[slope]])
    assert len(calls) == 2


# ---- structures --------------------------------------------------------------------------------------------------------


def test_structures_of_primals_and_values(made):
    value, tangent = ag.jvp(made(of_tree), (P, 10.0), ({"a": 1.0, "b": np.array([0.0, 1.0])}, -1))
    assert value["product"] == 80.0
    assert isinstance(value["product"], float)
    assert tangent["product"] == 40.0 + 20.0 - 8.0
    np.testing.assert_array_equal(tangent["rest"][0], [0.0, 6.0])
    assert tangent["rest"][1] == (-1.0,)
    value, pullback = ag.vjp(made(of_tree), P, 10.0)
    np.testing.assert_array_equal(value["rest"][0], [1.0, 9.0])
    first, scale = pullback({"product": 1.0, "rest": [np.array([0.0, 1.0]), (100.0,)]})
    assert first["a"] == 40.0
    np.testing.assert_array_equal(first["b"], [20.0, 26.0])
    assert scale == 108.0


def test_pullbacks_are_called_again_and_outlive_changes_of_the_primals(made):
    x = np.array([1.0, 2.0])
    value, pullback = ag.vjp(made(lambda x: x**3), x)
    x[:] = 100.0
    for seeds in (np.array([1.0, 0.0]), np.array([0, 1]), np.array([2.0, 3.0])):
        np.testing.assert_array_equal(pullback(seeds)[0], [3.0, 12.0] * seeds)
    np.testing.assert_array_equal(value, [1.0, 8.0])


def test_threads_share_a_pullback(made):
    _, pullback = ag.vjp(made(lambda x: np.exp(np.sin(x)) * np.sum(x)), np.linspace(0, 1, 3000))
    seeds = [GENERATOR.standard_normal(3000) for _ in range(64)]
    expected = [pullback(each)[0] for each in seeds]
    with ThreadPoolExecutor(8) as pool:
        for found, wanted in zip(pool.map(lambda each: pullback(each)[0], seeds), expected, strict=True):
            np.testing.assert_array_equal(found, wanted)


def test_edges(made):
    assert ag.jvp(made(lambda: 3.0), (), ()) == (3.0, 0.0)
    value, pullback = ag.vjp(made(lambda: 3.0))
    assert (value, pullback(1.0)) == (3.0, ())
    assert ag.jvp(made(lambda x: {}), (1.0,), (1.0,)) == ({}, {})
    value, pullback = ag.vjp(made(lambda x: (5.0, x[:0])), np.ones(2))
    np.testing.assert_array_equal(pullback((1.0, np.zeros(0)))[0], np.zeros(2))
    value, tangent = ag.jvp(made(lambda x: x * 2), (np.ones((0, 2)),), (np.ones((0, 2)),))
    assert value.shape == tangent.shape == (0, 2)
    assert ag.jvp(made(lambda x: x * 2), [1.0], [3.0]) == (2.0, 6.0)


def test_aux_is_handed_on():
    assert ag.jvp(lambda x: (x**2, {"x": x}), (3.0,), (1.0,), has_aux=True) == (9.0, 6.0, {"x": 3.0})
    value, pullback, aux = ag.vjp(lambda x: (x**2, "aux"), 3.0, has_aux=True)
    assert (value, pullback(2.0), aux) == (9.0, (12.0,), "aux")
    jacobian, aux = ag.jacfwd(lambda x: (x**2, x), has_aux=True)(3.0)
    assert (jacobian, aux) == (6.0, 3.0)


def test_compiled_functions_are_run_as_they_were_recorded():
    calls = []

    def f(x):
        calls.append(1)
        return x**2 if x > 1 else x**3

    compiled = ag.compile(f)
    for x, value, slope in [(2.0, 4.0, 4.0), (0.5, 0.125, 0.75), (3.0, 9.0, 6.0), (-1.0, -1.0, 3.0)]:
        assert ag.jvp(compiled, (x,), (10.0,)) == (value, 10 * slope)
        same, pullback = ag.vjp(compiled, x)
        assert (same, pullback(10.0)) == (value, (10 * slope,))
        assert compiled(x) == value
    assert len(calls) == 2


# ---- differential equations --------------------------------------------------------------------------------------------


def end_of_decay(rate):
    return ag.solve_ivp(lambda t, y, k: -k * y, (0.0, 1.0), [1.0], method="BDF", args=(rate,)).y[0, -1]


def test_a_differential_equation_goes_both_ways(made):
    value, pullback = ag.vjp(made(end_of_decay), 0.5)
    assert value == pytest.approx(np.exp(-0.5), rel=1e-5)
    assert pullback(2.0)[0] == pytest.approx(-2 * np.exp(-0.5), rel=1e-4)
    assert pullback(2.0) == pullback(2.0)
    assert made(ag.jacrev(end_of_decay))(0.5) == pytest.approx(-np.exp(-0.5), rel=1e-4)
    assert ag.jvp(made(end_of_decay), (0.5,), (2.0,))[1] == pytest.approx(-2 * np.exp(-0.5), rel=1e-4)
    assert made(ag.jacfwd(end_of_decay))(0.5) == pytest.approx(-np.exp(-0.5), rel=1e-4)


def test_a_system_of_index_1_goes_both_ways(made):
    def end(k):
        return ag.solve_dae(lambda t, y, yp: yp + k * y, (0.0, 1.0), [1.0]).y[0, -1]

    assert ag.jvp(made(end), (0.5,), (2.0,))[1] == pytest.approx(-2 * np.exp(-0.5), rel=1e-4)
    assert made(ag.jacfwd(end))(0.5) == pytest.approx(-np.exp(-0.5), rel=1e-4)
    assert made(ag.jacrev(end))(0.5) == pytest.approx(-np.exp(-0.5), rel=1e-4)


# ---- errors ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: ag.jvp(3, (1.0,), (1.0,)), TypeError, "jvp: function is 3, but must be callable"),
        (lambda: ag.vjp(3, 1.0), TypeError, "vjp: function is 3, but must be callable"),
        (lambda: ag.jvp(np.sin, 1.0, (1.0,)), TypeError, "jvp: primals is 1.0, but must be a tuple or list"),
        (lambda: ag.jvp(np.sin, (1.0,), 1.0), TypeError, "jvp: tangents is 1.0, but must be a tuple or list"),
        (
            lambda: ag.jvp(np.sin, (1.0,), (1.0, 2.0)),
            TypeError,
            r"jvp: tangents is \(1.0, 2.0\), but must be of the structure of the differentiated arguments",
        ),
        (
            lambda: ag.jvp(of_tree, (P, 1.0), ({"a": 1.0, "b": np.ones(3)}, 1.0)),
            ag.ShapeError,
            r"jvp: tangents\[0\]\['b'\] is of shape \(3,\), but must be of shape \(2,\), as in the differentiated arguments",
        ),
        (lambda: ag.jvp(np.sin, (1,), (1.0,)), TypeError, "jvp: argument 0 is of dtype int64, but must be floating-point"),
        (lambda: ag.vjp(np.sin, 1), TypeError, "vjp: argument 0 is of dtype int64, but must be floating-point"),
        (lambda: ag.vjp(lambda x: None, 1.0), TypeError, "result is None, but must be real numbers; does the function return"),
        (
            lambda: ag.vjp(of_tree, P, 1.0)[1]({"product": 1.0, "rest": [np.ones(1), (1.0,)]}),
            ag.ShapeError,
            r"vjp: cotangent\['rest'\]\[0\] is of shape \(1,\), but must be of shape \(2,\), as in the value",
        ),
        (
            lambda: ag.vjp(np.sin, 1.0)[1]([1.0]),
            TypeError,
            r"vjp: cotangent is \[1.0\], but must be of the structure of the value",
        ),
        (lambda: ag.jvp(lambda x: x, (1.0,), (1.0,), has_aux=True), TypeError, r"must be a pair \(value, aux\)"),
        (
            lambda: ag.vjp(ag.compile(lambda x: (x, 1)), 1.0, has_aux=True),
            TypeError,
            "vjp: has_aux is True, but must be False for a compiled function",
        ),
    ],
)
def test_misuse_is_explained(call, error, message):
    with pytest.raises(error, match=message):
        call()
    assert ag.grad(lambda x: x * x)(3.0) == 6.0
