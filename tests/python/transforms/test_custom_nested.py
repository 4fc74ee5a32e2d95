"""custom_jvp and custom_vjp within nested transformations, to the third order, against closed forms."""

import itertools

import numpy as np
import pytest

import agrad as ag

X = np.array([1.0, 2.0, -0.5])
E = np.eye(3)


def make_norm():
    @ag.custom_jvp
    def norm(x):
        return np.sqrt(np.sum(x * x))

    @norm.defjvp
    def _(primals, tangents):
        (x,), (t,) = primals, tangents
        y = norm(x)
        return y, np.sum(x * t) / y

    return norm


def make_coupled():
    @ag.custom_jvp
    def h(z, q):
        return np.sin(z) * q

    @h.defjvp
    def _(primals, tangents):
        (z, q), (tz, tq) = primals, tangents
        return h(z, q), np.cos(z) * q * tz + np.sin(z) * tq

    return lambda x: np.sum(h(x, np.sum(x)))


def make_cubes():
    """Sum of (2 x)^3: a derivative that calls a function of the tangents, which calls itself and another one."""

    @ag.custom_jvp
    def double(x):
        return 2.0 * x

    @double.defjvp
    def _(primals, tangents):
        return double(primals[0]), double(tangents[0])

    @ag.custom_jvp
    def square(x):
        return x * x

    square.defjvps(lambda t, y, x: 2.0 * x * t)

    @ag.custom_jvp
    def scaled(t, x):  # 3 x^2 t
        return 3.0 * square(x) * t

    @scaled.defjvp
    def _(primals, tangents):
        (t, x), (dt, dx) = primals, tangents
        return scaled(t, x), scaled(dt, x) + 6.0 * x * t * dx

    @ag.custom_jvp
    def cube(x):
        return x * square(x)

    @cube.defjvp
    def _(primals, tangents):
        (x,), (t,) = primals, tangents
        return cube(x), scaled(t, x)

    return lambda x: np.sum(cube(double(x)))


def norm_derivatives(x):
    r = np.linalg.norm(x)
    u = x / r
    third = 3 * np.einsum("i,j,k->ijk", u, u, u) - sum(np.einsum(s, E, u) for s in ("ij,k->ijk", "ik,j->ijk", "jk,i->ijk"))
    return u, (E - np.outer(u, u)) / r, third / r**2


def coupled_derivatives(x):
    s, sin, cos = np.sum(x), np.sin(x), np.cos(x)
    third = np.einsum("ij,ik,i->ijk", E, E, -cos * s)
    third -= np.einsum("ij,i,k->ijk", E, sin, np.ones(3)) + np.einsum("ik,i,j->ijk", E, sin, np.ones(3))
    third -= np.einsum("jk,j,i->ijk", E, sin, np.ones(3))
    return cos * s + np.sum(sin), np.diag(-sin * s) + cos[:, None] + cos, third


def cubes_derivatives(x):
    return 24 * x**2, np.diag(48 * x), 48 * np.einsum("ij,ik->ijk", E, E)


CASES = {
    "norm": (make_norm, norm_derivatives),
    "coupled": (make_coupled, coupled_derivatives),
    "cubes": (make_cubes, cubes_derivatives),
}
JACOBIANS = (ag.jacrev, ag.jacfwd, ag.jacobian)


@pytest.fixture(params=CASES)
def case(request):
    make, derivatives = CASES[request.param]
    return make(), derivatives


def close(given, expected):
    np.testing.assert_allclose(given, expected, rtol=1e-11, atol=1e-11)


def pulled(f):
    """Rows of a function's Jacobian by vjp."""

    def jacobian(x):
        y, pullback = ag.vjp(f, x)
        return ag.array([pullback(row)[0] for row in np.eye(np.size(y))]) if np.ndim(y) else pullback(1.0)[0]

    return jacobian


def pushed(f):
    """Columns of a function's Jacobian by jvp."""
    return lambda x: np.stack([ag.jvp(f, (x,), (column,))[1] for column in E], axis=-1)


FIRST = (ag.grad, *JACOBIANS, pulled, pushed)


@pytest.mark.parametrize("outer", [*JACOBIANS, pulled, pushed])
@pytest.mark.parametrize("inner", FIRST)
def test_second_order(case, inner, outer):
    f, derivatives = case
    expected = derivatives(X)[1]
    second = outer(inner(f))
    close(second(X), expected)
    compiled = ag.compile(second)
    close(compiled(X[::-1].copy()), derivatives(X[::-1])[1])
    close(compiled(X), expected)
    rows = np.stack([X, 2 * X, X[::-1]])
    close(ag.vmap(second)(rows), [derivatives(x)[1] for x in rows])
    close(ag.compile(ag.vmap(second))(rows), [derivatives(x)[1] for x in rows])


def test_gradients_of_gradients_and_hessians(case):
    f, derivatives = case
    first, second, _ = derivatives(X)

    def g(x):
        return np.sum(np.sin(ag.grad(f)(x)))

    close(ag.grad(g)(X), second @ np.cos(first))
    close(ag.compile(ag.grad(g))(X), second @ np.cos(first))
    for hessian in (ag.hessian(f), ag.compile(ag.hessian(f)), ag.compile(lambda x: ag.hessian(f)(x))):
        close(hessian(X), second)
    close(ag.vmap(ag.hessian(f))(X[None]), second[None])
    close(ag.hvp(f)(X, first), second @ first)
    with ag.tape():
        x = ag.var(X)
        close(np.sum(np.sin(ag.grad(f)(x))).grad(x), second @ np.cos(first))


@pytest.mark.parametrize("transforms", [*itertools.product(JACOBIANS, JACOBIANS, (ag.grad, ag.jacfwd))])
def test_third_order(case, transforms):
    f, derivatives = case
    expected = derivatives(X)[2]
    for transform in reversed(transforms):
        f = transform(f)
    close(f(X), expected)
    close(ag.compile(f)(X), expected)
    close(ag.vmap(f)(X[None]), expected[None])


def test_third_order_by_hessians(case):
    f, derivatives = case
    expected = derivatives(X)[2]
    for jacobian in JACOBIANS:
        close(jacobian(ag.hessian(f))(X), expected)
        close(ag.compile(jacobian(ag.hessian(f)))(X), expected)
    for k in range(3):
        close(ag.hessian(lambda x, k=k: ag.grad(f)(x)[k])(X), expected[k])
        close(ag.vmap(ag.hessian(lambda x, k=k: ag.grad(f)(x)[k]))(X[None]), expected[k][None])


def test_fourth_order(case):
    f, derivatives = case
    fourth = ag.hessian(lambda x: ag.hessian(f)(x)[0, 1] + ag.hessian(f)(x)[2, 2])(X)
    step = 1e-4
    differences = [(derivatives(X + step * e)[2] - derivatives(X - step * e)[2]) / (2 * step) for e in E]
    np.testing.assert_allclose(fourth, [d[0, 1] + d[2, 2] for d in differences], rtol=1e-6, atol=1e-6)


def test_in_loops_and_branches(case):
    f, derivatives = case
    first, second, _ = derivatives(X)

    def looped(x):
        return ag.scan(lambda carry, _: (carry + f(x * carry), None), 1.0, length=1)[0]

    def chosen(x):
        return ag.cond(x[0] > 0, f, lambda x: np.sum(x), x)

    for g in (looped, chosen):
        close(ag.grad(g)(X), first)
        close(ag.jacfwd(g)(X), first)
        close(ag.jacrev(ag.grad(g))(X), second)
        close(ag.hessian(g)(X), second)
        close(ag.vmap(ag.hessian(g))(X[None]), second[None])


def test_an_unused_call_changes_nothing():
    norm = make_norm()

    def make(uses):
        def inner(z):
            if uses:
                norm(z)
            a = np.concatenate([z, z[::-1] * 2])
            return np.sum(a @ np.outer(a, a) * np.tanh(np.sum(a[::2]))) * z[0] * np.sum(z)

        return lambda x: np.sum(np.sin(x) * ag.grad(inner)(x))

    rows = np.stack([X, 2 * X])
    for transform in (ag.grad, ag.hessian, ag.jacfwd):
        np.testing.assert_array_equal(transform(make(True))(X), transform(make(False))(X))
        np.testing.assert_array_equal(ag.vmap(transform(make(True)))(rows), ag.vmap(transform(make(False)))(rows))


def test_the_rule_decides_and_not_the_function():
    """A derivative that is not the function's own shows which of them was differentiated."""

    @ag.custom_jvp
    def square(x):
        return x * x

    @square.defjvp
    def _(primals, tangents):
        (x,), (t,) = primals, tangents
        return square(x), 3.0 * square(x) * t  # y' = 3 y

    for power, f in enumerate((square, ag.grad(square), ag.grad(ag.grad(square)), ag.grad(ag.grad(ag.grad(square))))):
        assert f(2.0) == pytest.approx(4.0 * 3.0**power, rel=1e-14)
        assert ag.jacfwd(f)(2.0) == pytest.approx(4.0 * 3.0 ** (power + 1), rel=1e-14)
        assert ag.hessian(f)(2.0) == pytest.approx(4.0 * 3.0 ** (power + 2), rel=1e-14)

    @ag.custom_jvp
    def nothing(x):  # a constant with a derivative
        return 0.0

    nothing.defjvps(lambda t, y, x: x**2 * t)
    assert [f(3.0) for f in (nothing, ag.grad(nothing), ag.grad(ag.grad(nothing)), ag.hessian(nothing))] == [0.0, 9.0, 6.0, 6.0]


def test_a_rule_of_tangents_alone():
    @ag.custom_jvp
    def solve(b, a):
        return b / a

    @solve.defjvp
    def _(primals, tangents):
        (b, a), (tb, ta) = primals, tangents
        x = solve(b, a)
        return x, solve(tb - x * ta, a)

    def f(z):
        return solve(z[0], z[1]) * z[0]

    b, a = 1.3, 0.7
    z = np.array([b, a])
    first = np.array([2 * b / a, -((b / a) ** 2)])
    second = np.array([[2 / a, -2 * b / a**2], [-2 * b / a**2, 2 * b**2 / a**3]])
    close(ag.jvp(f, (z,), (np.array([1.0, 2.0]),))[1], first @ [1.0, 2.0])
    for transform in FIRST[:-1]:
        close(transform(f)(z), first)
        for outer in JACOBIANS:
            close(outer(transform(f))(z), second)
            close(ag.vmap(outer(transform(f)))(z[None]), second[None])
    third = ag.jacrev(ag.jacfwd(ag.grad(f)))(z)
    assert third[0, 0, 1] == pytest.approx(-2 / a**2, rel=1e-12)
    assert third[1, 1, 1] == pytest.approx(-6 * b**2 / a**4, rel=1e-12)


def test_a_rule_made_by_a_transformation():
    @ag.custom_jvp
    def f(x):
        return np.sum(np.exp(x) * x)

    @f.defjvp
    def _(primals, tangents):
        return ag.jvp(lambda x: np.sum(np.exp(x) * x), primals, tangents)

    close(ag.grad(f)(X), np.exp(X) * (1 + X))
    for outer, inner in itertools.product(JACOBIANS, JACOBIANS):
        close(outer(inner(f))(X), np.diag(np.exp(X) * (2 + X)))


@pytest.mark.parametrize(
    "rule",
    [
        lambda t, y, x: x * t * t,
        lambda t, y, x: x * abs(t),
        lambda t, y, x: 2.0 * x * t + 1.0,
        lambda t, y, x: np.where(t > 0, t, 2.0 * t),
        lambda t, y, x: np.maximum(t, 0.0),
        lambda t, y, x: x + 0.0 * t,
        lambda t, y, x: np.sin(t) * x,
    ],
)
def test_a_rule_that_is_not_linear_is_refused(rule):
    f = ag.custom_jvp(lambda x: x * x)
    f.defjvps(rule)
    message = (
        r"custom_jvp\(<lambda>\): the tangent that the derivative returned is not linear in the given tangents, but must be"
    )
    for transform in (ag.grad, ag.jacfwd, ag.hessian, ag.compile, ag.vmap):
        with pytest.raises(TypeError, match=message):
            transform(lambda x: np.sum(f(x)))(X)


@pytest.mark.parametrize("rule", [lambda t, x: x * t * t, lambda t, x: np.where(t > 0, t, 3.0 * t)])
def test_a_plain_rule_that_is_not_linear_is_refused(rule):
    f = ag.custom_jvp(plain=True)(lambda x: x * x)
    f.defjvp(lambda primals, tangents: (primals[0] ** 2, rule(tangents[0], primals[0])))
    with pytest.raises(
        TypeError, match=r"custom_jvp\(<lambda>\): the tangent .* is not linear in the given tangents, but must be"
    ):
        ag.grad(lambda x: np.sum(f(x)))(X)


@pytest.mark.parametrize(
    "rule",
    [
        lambda t, y, x: (x + t) - x,
        lambda t, y, x: np.log(np.exp(np.sin(x) * t)),
        lambda t, y, x: np.where(x > 0, t, 0.0),
        lambda t, y, x: np.cumsum(t)[::-1] - np.dot(x, t) + np.linalg.solve(np.eye(3) + np.outer(x, x), t),
        lambda t, y, x: np.stack([t[0], 0.0 * t[1], -t[2]]),
    ],
)
def test_a_rule_that_is_linear_is_taken_however_it_is_written(rule):
    f = ag.custom_jvp(lambda x: x * x)
    f.defjvps(rule)
    expected = np.stack([rule(e, X * X, X) for e in E], axis=-1)
    for transform in JACOBIANS:
        close(transform(f)(X), expected)


def test_custom_vjp_has_one_order_and_says_so():
    f = ag.custom_vjp(lambda x: np.sum(x**3))
    f.defvjp(lambda x: (np.sum(x**3), x), lambda x, cotangent: 3 * x**2 * cotangent)
    close(ag.grad(f)(X), 3 * X**2)
    close(ag.vmap(ag.grad(f))(X[None]), 3 * X[None] ** 2)
    close(ag.compile(lambda x: ag.grad(f)(x) * x)(X), 3 * X**3)
    message = r"custom_vjp\(<lambda>\).* derivatives only"
    for outer in (ag.jacrev, ag.jacfwd, ag.jacobian, pulled, pushed, ag.vmap):
        for inner in (ag.grad, ag.jacrev):
            g = outer(lambda x, inner=inner: np.sin(inner(f)(x))) if outer is not ag.vmap else ag.vmap(ag.jacrev(inner(f)))
            with pytest.raises(NotImplementedError, match=message):
                g(X if outer is not ag.vmap else X[None])
    with pytest.raises(NotImplementedError, match=message):
        ag.hessian(f)(X)
