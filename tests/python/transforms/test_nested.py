"""Transformations inside of transformations: any order, closures, every kind of operation, plain and compiled."""

import numpy as np
import pytest
from scipy.special import expit

import agrad as ag
from agrad._core import elementwise_rows
from elementwise_reference import points
from linalg_arguments import definite, general
from numpy_cases import EINSUM, TABLES

X = np.array([0.7, -0.4, 1.3])
GENERAL, DEFINITE = general(3), definite(3)


@pytest.fixture(params=["plain", "compiled"])
def made(request):
    """What a transformation is made by: as it is, or compiled."""
    return ag.compile if request.param == "compiled" else lambda transformation: transformation


def close(given, expected, rtol=1e-12):
    np.testing.assert_allclose(given, expected, rtol=rtol, atol=rtol)


# ---- order upon order --------------------------------------------------------------------------------------------------


def test_four_orders_of_a_number(made):
    f = np.sin
    for derivative in (np.cos, lambda x: -np.sin(x), lambda x: -np.cos(x), np.sin):
        f = ag.grad(f)
        close(made(f)(0.3), derivative(0.3))


def test_hessian_of_a_component_of_a_gradient(made):
    def f(x):
        return x[0] ** 3 * x[1] * x[2] + np.exp(x[0] * x[1])

    third = made(ag.hessian(lambda x: ag.grad(f)(x)[0]))(X)
    x, y, z = X
    e = np.exp(x * y)
    close(third[0, 0], 6 * y * z + y**3 * e)
    close(third[0, 1], 6 * x * z + (2 * y + x * y**2) * e)
    close(third[1, 2], 3 * x**2)
    close(third, third.T)


@pytest.mark.parametrize("outer", [ag.jacobian, ag.jacfwd, ag.jacrev])
@pytest.mark.parametrize("inner", [ag.grad, ag.jacobian, ag.jacfwd, ag.jacrev])
def test_every_pair_gives_the_hessian(made, outer, inner):
    def f(x):
        return np.sum(np.sin(x) * x[::-1] ** 2) * x[1]

    close(made(outer(inner(f)))(X), ag.hessian(f)(X))


def test_products_of_products(made):
    def f(x):
        return np.sin(x) * x[::-1] ** 2

    v, w = np.array([1.0, -2.0, 0.5]), np.array([0.3, 0.7, -1.0])

    def gradient(x):
        return ag.vjp(f, x)[1](w)[0]

    hessian = ag.hessian(lambda x: w @ f(x))(X)
    close(made(lambda x: ag.jvp(gradient, (x,), (v,))[1])(X), hessian @ v)  # a jvp of a vjp
    close(made(ag.grad(lambda x: w @ ag.jvp(f, (x,), (v,))[1]))(X), hessian @ v)  # a gradient of a jvp
    close(made(lambda x: ag.vjp(gradient, x)[1](v)[0])(X), hessian @ v)
    close(made(ag.grad(lambda x: ag.hvp(lambda y: w @ f(y))(x, v) @ v))(X), third_along(lambda x: w @ f(x), X, v), 1e-8)


def third_along(f, x, v):
    """The gradient of v' H v, by differences of the Hessian."""
    h = 1e-5
    return np.array([v @ (ag.hessian(f)(x + h * e) - ag.hessian(f)(x - h * e)) @ v / (2 * h) for e in np.eye(len(x))])


def test_hessian_inside(made):
    def laplacian(x):
        return np.trace(ag.hessian(lambda y: np.sum(y**4) * y[0])(x))

    def expected(x):
        return 12 * np.sum(x**2) * x[0] + 8 * x[0] ** 3

    close(made(laplacian)(X), expected(X))
    close(made(ag.grad(laplacian))(X), ag.grad(expected)(X))


# ---- closures and structures -------------------------------------------------------------------------------------------


def test_perturbations_are_not_confused(made):
    close(made(ag.grad(lambda x: x * ag.grad(lambda y: x + y)(1.0)))(5.0), 1.0)
    close(made(ag.grad(lambda x: x * ag.grad(lambda y: x * y)(2.0)))(5.0), 10.0)
    close(made(ag.grad(lambda x: ag.grad(lambda y: x * y**2)(x)))(3.0), 12.0)
    close(made(lambda x: ag.jvp(lambda y: x * y, (x,), (1.0,))[1])(3.0), 3.0)


def test_structures_aux_and_argnums(made):
    def f(p, scale):
        return np.sum(p["a"] ** 2) * p["b"] * scale, {"twice": 2 * p["b"]}

    def outer(p, scale):
        (value, aux), (g, by_scale) = ag.value_and_grad(f, (0, 1), has_aux=True)(p, scale)
        return value + np.sum(g["a"] ** 3) + g["b"] * by_scale + aux["twice"]

    p = {"a": np.array([1.0, 2.0]), "b": 0.5}
    gradient = made(ag.grad(outer))(p, 1.5)
    by_hand = ag.grad(
        lambda p, s: (
            np.sum(p["a"] ** 2) * p["b"] * s
            + np.sum((2 * p["a"] * p["b"] * s) ** 3)
            + np.sum(p["a"] ** 2) ** 2 * s * p["b"]
            + 2 * p["b"]
        )
    )(p, 1.5)
    close(gradient["a"], by_hand["a"])
    close(gradient["b"], by_hand["b"])


def test_plain_arguments_inside_give_plain_values():
    seen = []

    def f(x):
        seen.append(ag.grad(np.sin)(0.5))
        seen.append(ag.jacobian(lambda y: y**2)(np.ones(2)))
        return x * seen[0]

    close(ag.grad(f)(2.0), np.cos(0.5))
    assert [type(each) for each in seen] == [float, np.ndarray]
    close(seen[1], 2 * np.eye(2))


def test_comparisons_inside_are_noticed():
    def f(x):
        slope = ag.grad(lambda y: y**2 if y > 1 else y**3)(x)
        return slope * x

    g = ag.compile(ag.grad(f))
    close([g(2.0), g(0.5), g(3.0)], [8.0, 2.25, 12.0])


def test_newtons_method_inside(made):
    """The square root by Newton's method, whose steps differentiate."""

    def root(a):
        x = 1.0 + 0 * a
        for _ in range(8):
            value, slope = ag.value_and_grad(lambda y: y**2 - a)(x)
            x = x - value / slope
        return x

    close(made(ag.value_and_grad(root))(2.0), (np.sqrt(2), 1 / np.sqrt(8)))


def test_inside_a_tape():
    with ag.tape():
        x = ag.var(1.5)
        y = ag.grad(lambda z: z**3 * x)(x) + x
        y.grad()
        close([y.val(), x.adj()], [3 * 1.5**3 + 1.5, 9 * 1.5**2 + 1])


def test_inside_a_right_hand_side():
    """Hamilton's equations from the energy alone: an oscillator, whose period does not depend on the amplitude."""

    def slope(t, state, k):
        by_q, by_p = ag.grad(lambda z: z[1] ** 2 / 2 + k * z[0] ** 2 / 2)(state)
        return [by_p, -by_q]

    def position(k):
        return ag.solve_ivp(slope, (0.0, 2.0), [1.0, 0.0], t_eval=[2.0], args=(k,), rtol=1e-10, atol=1e-12).y[0, -1]

    value, gradient = ag.value_and_grad(position)(2.0)
    w = np.sqrt(2.0)
    close([value, gradient], [np.cos(2 * w), -np.sin(2 * w) / w], 1e-7)


def test_pullback_is_used_many_times(made):
    def f(x):
        value, pullback = ag.vjp(lambda y: (y**2, np.sum(y)), x)
        return np.sum(pullback((np.ones(3), 0.0))[0] * pullback((np.zeros(3), x[0]))[0]) + value[1]

    close(made(ag.grad(f))(X), ag.grad(lambda x: np.sum(2 * x * x[0]) + np.sum(x))(X))


# ---- every kind of operation -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", elementwise_rows(), ids=lambda row: row.name)
def test_every_elementwise_function_to_third_order(row):
    """The recorded derivatives are those of the loops; the third order by differences of the second."""
    real = [k for k, (_, _, whole) in enumerate(row.domain) if not whole]
    tested = 0
    for point in points(row, 40, 4.0):
        x = np.array(point)
        rest = [x[k] for k in range(len(x))]

        def f(y, rest=rest):
            given = list(rest)
            for place, value in zip(real, y, strict=True):
                given[place] = value
            value = row(*given) if any(isinstance(g, ag.Array) for g in given) else 0.0
            return np.where(value, 1.0, 0.0) if getattr(value, "is_condition", False) else value  # booleans have no derivative

        y = x[real]
        hessian = ag.hessian(f)(y)
        if not np.all(np.isfinite(hessian)) or np.max(np.abs(hessian)) > 1e3:
            continue
        close(ag.jacobian(ag.grad(f))(y), hessian, 1e-9)
        close(ag.jacfwd(ag.jacfwd(f))(y), hessian, 1e-9)
        third = ag.hessian(lambda y: ag.grad(f)(y)[0])(y)
        h = 1e-5
        differences = np.array([(ag.hessian(f)(y + h * e)[0] - ag.hessian(f)(y - h * e)[0]) / (2 * h) for e in np.eye(len(y))])
        kink = np.max(np.abs(ag.hessian(f)(y + h) - ag.hessian(f)(y - h))) > 0.1 * (1 + np.max(np.abs(hessian)))
        if kink or not np.all(np.isfinite(third)) or np.max(np.abs(third)) > 1e4:
            continue
        np.testing.assert_allclose(third, differences, rtol=2e-4, atol=2e-5 * (1 + np.max(np.abs(hessian))))
        tested += 1
        if tested == 4:
            break
    assert tested >= 1


CALLS = [
    pytest.param(f, arrays, id=f"{table}-{name}-{n}")
    for table, functions in TABLES.items()
    for name, calls in functions.items()
    for n, (f, arrays) in enumerate(calls)
    if sum(x.size for x in arrays) <= 30
]


@pytest.mark.parametrize(("f", "arrays"), CALLS)
def test_numpy_functions_nested(f, arrays):
    def total(x):
        result = f(x, *arrays[1:])
        parts = result if isinstance(result, (list, tuple)) else [result]
        return sum(np.sum(np.sin(part) + part**2) for part in parts)

    x = arrays[0]
    hessian = ag.hessian(total)(x)
    v = np.cos(np.arange(x.size)).reshape(x.shape)
    along = np.tensordot(hessian, v, x.ndim)
    close(ag.grad(lambda y: np.sum(ag.grad(total)(y) * v))(x), along, 1e-10)
    close(ag.grad(lambda y: ag.jvp(total, (y,), (v,))[1])(x), along, 1e-10)


@pytest.mark.parametrize("text", EINSUM)
def test_einsum_nested(text):
    letters = {letter: 2 + n % 2 for n, letter in enumerate(sorted(set(text) - set("->,. ")))}
    generator = np.random.default_rng(1)
    inputs = text.replace(" ", "").split("->")[0].split(",")
    if "." in text:
        pytest.skip("shapes of ellipses are tested elsewhere")
    arrays = [generator.normal(size=[letters[letter] for letter in each]) for each in inputs]

    def total(x):
        return np.sum(np.sin(np.einsum(text, x, *arrays[1:])))

    x = arrays[0]
    sums = np.sum(ag.hessian(total)(x), axis=tuple(range(x.ndim)))
    close(ag.grad(lambda y: np.sum(ag.grad(total)(y)))(x), sums)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: ag.linalg.log_determinant(DEFINITE + np.outer(x, x)),
        lambda x: np.sum(np.sin(np.linalg.solve(GENERAL + np.diag(x), x))),
        lambda x: np.sum(np.linalg.cholesky(2 * np.eye(3) + np.outer(x, x)) ** 3),
        lambda x: np.sum(np.linalg.inv(3 * np.eye(3) + np.outer(x, x)) ** 2),
        lambda x: ag.normal_lpdf(np.sin(x), x[0], 1 + x[1] ** 2),
        lambda x: np.sum(np.sort(x) ** 3 * np.arange(3)) + np.max(x) ** 3,
        lambda x: ag.special.logsumexp(x * x[1]) ** 2 + np.prod(x) ** 2,
        lambda x: np.sum(np.interp(x, [-1.0, 0.0, 2.0], [1.0, 3.0, -1.0]) ** 3),
    ],
)
def test_operations_with_loops_of_their_own(made, f):
    hessian = ag.hessian(f)(X)
    close(made(ag.jacobian(ag.grad(f)))(X), hessian, 1e-11)
    close(made(ag.grad(lambda x: np.sum(ag.jacfwd(f)(x) * X)))(X), hessian @ X, 1e-11)


def test_a_third_derivative_of_a_solve_raises_by_name():
    def f(x):
        return np.sum(ag.solve_ivp(lambda t, y: -x[0] * y * y, (0.0, 1.0), np.exp(x)).y[:, -1])

    with pytest.raises(
        NotImplementedError, match="hessian: third derivatives of solve_ivp are not available; take differences"
    ):
        ag.hessian(lambda x: ag.grad(f)(x)[0])(X)


def test_infinite_derivatives_of_unused_entries_are_no_nan(made):
    def f(x):
        return np.sum(np.where(x > 0, np.sqrt(x), x**2))

    x = np.array([0.0, 4.0])
    close(made(ag.grad(lambda x: np.sum(ag.grad(f)(x) ** 2)))(x), [0.0, -1 / 64])


def test_many_uses_of_one_number(made):
    places = np.repeat(np.arange(3), 40)

    def f(x):
        return np.sum(np.sin(x[places] * np.arange(1.0, 121.0)))

    close(made(ag.jacobian(ag.grad(f)))(X), ag.hessian(f)(X), 1e-10)


# ---- derivatives by hand -----------------------------------------------------------------------------------------------


@ag.custom_jvp
def cube(x):
    return x**3


cube.defjvp(lambda primals, tangents: (primals[0] ** 3, 3 * primals[0] ** 2 * tangents[0]))


@ag.custom_vjp
def logistic(x):
    return expit(x)


logistic.defvjp(lambda x: (expit(x), expit(x)), lambda p, g: (g * p * (1 - p),))


def test_custom_jvp_inside(made):
    close(made(ag.grad(ag.grad(lambda x: cube(x) * x)))(2.0), 48.0)
    close(made(ag.grad(ag.grad(ag.grad(lambda x: cube(x) * x))))(2.0), 48.0)
    close(made(ag.grad(lambda x: ag.jvp(cube, (x,), (1.0,))[1]))(2.0), 12.0)


def test_custom_vjp_inside():
    p = expit(0.3)
    close(ag.compile(lambda x: ag.grad(logistic)(x) * 2)(0.3), 2 * p * (1 - p))
    with pytest.raises(NotImplementedError, match="logistic"):
        ag.grad(lambda x: ag.grad(logistic)(x))(0.3)


def test_functions_of_plain_values_differentiate_for_themselves():
    @ag.custom_vjp
    def slope(x):
        return ag.grad(np.sin)(x)

    slope.defvjp(lambda x: (ag.grad(np.sin)(x), x), lambda x, g: (g * ag.grad(ag.grad(np.sin))(x),))
    close(ag.grad(lambda x: slope(x) ** 2)(0.4), -2 * np.cos(0.4) * np.sin(0.4))


# ---- errors ------------------------------------------------------------------------------------------------------------


def test_messages():
    with pytest.raises(TypeError, match="a recorded value is used within its function only"):
        ag.grad(lambda x: ag.jacobian(np.sin, sparse=True)(x).sum())(X)
    with pytest.raises(ag.ShapeError, match="grad\\(sin\\): result is of shape"):
        ag.grad(lambda x: np.sum(ag.grad(np.sin)(x)))(X)
    with pytest.raises(TypeError, match="grad: argument 0 is of dtype int64"):
        ag.grad(lambda x: x * ag.grad(np.sin)(3))(1.0)
