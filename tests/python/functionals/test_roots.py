"""Roots and minima: closed forms, SciPy, derivatives by the implicit function theorem to every order, what is refused."""

import numpy as np
import pytest
import scipy.optimize

import agrad as ag

METHODS = ("newton", "powell")
P = np.array([2.0, 1.5])
START = np.array([1.0, 1.0])


def equations(x, p):
    return [x[0] ** 2 + x[1] - p[0], x[1] ** 3 - p[1] * x[0]]


def hills(x, p):
    return (p[0] - x[0]) ** 2 + p[1] * (x[1] - x[0] ** 2) ** 2


def solution(p, method="powell"):
    return ag.root(equations, START, (p,), method=method).x


def implicit(p):
    """The Jacobian of the solution, from the one of the equations."""
    x = scipy.optimize.root(lambda x: equations(x, p), START, tol=1e-14).x
    by_x = np.array([[2 * x[0], 1.0], [-p[1], 3 * x[1] ** 2]])
    return -np.linalg.solve(by_x, np.array([[-1.0, 0.0], [0.0, -x[0]]]))


@pytest.mark.parametrize("method", METHODS)
def test_roots_and_first_derivatives(method):
    found = ag.root(equations, START, (P,), method=method)
    expected = scipy.optimize.root(lambda x: equations(x, P), START, tol=1e-14).x
    np.testing.assert_allclose(found.x, expected, rtol=1e-13)
    assert found.success
    assert np.max(np.abs(found.fun)) < 1e-14
    assert 1 <= found.nit < 20
    np.testing.assert_allclose(ag.jacobian(solution)(P, method), implicit(P), rtol=1e-10)
    compiled = ag.compile(ag.jacobian(solution))
    for p in (P, 2 * P, P + 0.3):
        np.testing.assert_allclose(compiled(p, method), implicit(p), rtol=1e-10)
    np.testing.assert_allclose(ag.jacfwd(solution)(P, method), implicit(P), rtol=1e-10)
    rows = ag.compile(ag.vmap(ag.jacobian(solution)))(np.stack([P, 2 * P]))
    np.testing.assert_allclose(rows, [implicit(P), implicit(2 * P)], rtol=1e-10)


def cube_root(a):
    return ag.root(lambda x: x**3 - a, 1.0).x


def log_by_minimum(a):
    return ag.minimize(lambda x: np.exp(x) - a * x, 0.0).x


@pytest.mark.parametrize(("f", "slopes"), [
    (cube_root, [2 ** (1 / 3 - k) * np.prod([1 / 3 - j for j in range(k)]) for k in range(5)]),
    (log_by_minimum, [np.log(2), 1 / 2, -1 / 4, 1 / 4, -3 / 8]),
])  # fmt: skip
def test_derivatives_of_every_order(f, slopes):
    derivative = f
    for expected in slopes:
        assert derivative(2.0) == pytest.approx(expected, rel=1e-9)
        derivative = ag.grad(derivative)
    for transform in (ag.hessian, lambda f: ag.compile(ag.hessian(f)), lambda f: ag.jacfwd(ag.jacrev(f))):
        assert transform(f)(2.0) == pytest.approx(slopes[2], rel=1e-9)
    assert ag.grad(ag.hessian(f))(2.0) == pytest.approx(slopes[3], rel=1e-9)
    assert ag.hessian(ag.compile(ag.hessian(ag.compile(f))))(2.0) == pytest.approx(slopes[4], rel=1e-9)
    assert ag.jvp(ag.grad(f), (2.0,), (1.0,))[1] == pytest.approx(slopes[2], rel=1e-9)


def test_second_derivatives_of_systems():
    def f(p):
        return np.sum(np.sin(solution(p)))

    ag.check_grads(f, P, order=2)
    np.testing.assert_allclose(ag.compile(ag.hessian(f))(P), ag.hessian(f)(P), rtol=1e-12)
    rows = ag.compile(ag.vmap(ag.hessian(f)))(np.stack([P, 2 * P]))
    np.testing.assert_allclose(rows, [ag.hessian(f)(P), ag.hessian(f)(2 * P)], rtol=1e-10)


def test_roots_in_loops_and_differential_equations():
    def by_loop(a):
        return ag.scan(lambda c, _: (c + cube_root(a + c), None), 0.0, length=3)[0]

    def by_hand(a):
        c = 0.0
        for _ in range(3):
            c = c + (a + c) ** (1 / 3)
        return c

    for transform in (lambda f: f, ag.grad, ag.hessian, lambda f: ag.compile(ag.hessian(f))):
        assert transform(by_loop)(2.0) == pytest.approx(transform(by_hand)(2.0), rel=1e-10)

    def flow(a):
        def slope(t, y):
            return [-ag.root(lambda x: x**3 - a * y[0] ** 3, y[0]).x]

        return ag.solve_ivp(slope, (0.0, 1.0), [1.0], rtol=1e-9, atol=1e-12).y[0, -1]

    assert flow(8.0) == pytest.approx(np.exp(-2.0), rel=1e-8)
    assert ag.grad(flow)(8.0) == pytest.approx(-np.exp(-2.0) / 12, rel=1e-8)


def test_the_start():
    """A root at the start, at zero, of unknowns of every size; a start has no derivatives."""
    for method in METHODS:
        assert ag.root(lambda x: x, 0.0, method=method).x == 0.0
        assert ag.root(lambda x: np.arctan(x), 20.0, method=method).x == 0.0
        assert ag.root(lambda x: x * x - 4, 2.0, method=method).nit == 1
        np.testing.assert_allclose(ag.root(lambda x: x - [1e-20, 1e20], np.ones(2), method=method).x, [1e-20, 1e20], rtol=1e-9)
        assert ag.root(lambda x: (x - 1e-15) * (x + 1), 3e-15, method=method).x == pytest.approx(1e-15, rel=1e-10)
    assert ag.grad(lambda s: ag.root(lambda x: x * x - 4, s).x)(3.0) == 0.0
    assert ag.root(lambda x: x * 1.0 - [[1.0, 2.0]], np.zeros((1, 2))).x.shape == (1, 2)


SIZES = [1e-10, 1.0, 1e4, 1e10, 1e14]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("start", [0.5, 3.0, -1.0, 0.0])
@pytest.mark.parametrize("size", SIZES)
def test_unknowns_of_very_different_size(size, start, method):
    """A large unknown at its root from the start: log(p) beside it, and p exp(-y) as large as the other's rounding errors."""

    def f(p):
        return ag.root(lambda x: ag.array([x[0] - size, np.exp(x[1]) - p]), [size, start], method=method).x[1]

    for transform in (lambda f: f, ag.compile):
        for p in (2.0, 1.0, 1 + 1e-9):
            assert transform(f)(p) == pytest.approx(np.log1p(p - 1), rel=1e-13, abs=1e-16)
            assert transform(ag.grad(f))(p) == pytest.approx(1 / p, rel=1e-13)
            assert transform(ag.hessian(f))(p) == pytest.approx(-1 / p**2, rel=1e-12)
    rows = ag.vmap(ag.hessian(f))(np.array([2.0, 3.0]))
    np.testing.assert_allclose(rows, [-1 / 4, -1 / 9], rtol=1e-12)


@pytest.mark.parametrize("size", SIZES)
def test_minima_of_unknowns_of_very_different_size(size):
    def f(p):
        return ag.minimize(lambda x: (x[0] - size) ** 2 + np.exp(x[1]) - p * x[1], [size, 1.0]).x[1]

    for transform in (lambda f: f, ag.compile):
        assert transform(f)(2.0) == pytest.approx(np.log(2), rel=1e-13)
        assert transform(ag.grad(f))(2.0) == pytest.approx(1 / 2, rel=1e-13)
        assert transform(ag.hessian(f))(2.0) == pytest.approx(-1 / 4, rel=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_entries_near_zero_end_among_rounding_errors(method):
    """The root's second entry is zero, but rounding errors of the first one hide it, by 1e-16 of its size."""
    for size in (1.0, 1e5, 1e10):
        for f, start in (
            (lambda x, s: ag.array([x[0] + np.exp(x[1]) - s - 1, x[0] - s]), [0.7, 0.0]),
            (lambda x, s: ag.array([x[0] + x[1] - s, x[0] - s + 0.1 * s * np.sin(x[1] / s)]), [0.7, 0.3]),
            (lambda x, s: ag.array([np.sin(x[0] / s) + x[1] / s - np.sin(1), x[0] - s]), [1.2, 1.0]),
            (lambda x, s: ag.array([np.sin(x[0] / s) + x[1] / s - np.sin(1), x[0] - s]), [1.0, 1e-17]),
        ):
            found = ag.root(f, size * np.array(start), (size,), method=method)
            np.testing.assert_allclose(found.x, [size, 0.0], rtol=1e-14, atol=1e-15 * size)
            assert found.nit < 15
    slopes = np.sin(np.arange(50))
    z, y = np.concatenate([slopes, -slopes]), np.concatenate([slopes**2, slopes**2])

    def off(b):
        return np.sum(np.log(1 + (y - b[0] - b[1] * z) ** 2))

    for start in ([1.0, 0.0], [0.5, 0.2], [0.5, 1e-17]):
        found = ag.minimize(off, start)
        assert abs(found.x[1]) < 1e-15
        assert found.nit < 15


@pytest.mark.parametrize("method", METHODS)
def test_no_root_beside_a_large_unknown(method):
    with pytest.raises(ag.SolverError, match=r"largest equation|singular"):
        ag.root(lambda x: ag.array([x[0] - 1e10, x[1] ** 2 + 1e-3]), [1e10, 1.0], method=method)


ROOTLESS = {
    "none": (lambda x: x**2 + 1, 1.0, r"singular|largest equation at x"),
    "far away": (lambda x: np.exp(x), 0.0, r"number of steps is 200, but must suffice"),
    "double": (lambda x: x**2, 1.0, r"Jacobian at x = .* is singular"),
    "double at the start": (lambda x: x**2, 0.0, r"Jacobian at x = 0.0 is singular"),
    "triple in two dimensions": (lambda x: [x[0] + x[1], (x[0] - x[1]) ** 3], np.array([1.0, 0.5]), r"is singular"),
    "dependent": (lambda x: [x[0] + x[1], 2 * x[0] + 2 * x[1]], np.ones(2), r"is singular"),
    "contradictory": (lambda x: [x[0] + x[1], 2 * x[0] + 2 * x[1] - 1], np.ones(2), r"is singular"),
    "undefined": (lambda x: np.log(x - 3), 1.0, r"result or Jacobian at x = 1.0 is not finite"),
}


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("case", ROOTLESS.values(), ids=ROOTLESS)
def test_no_roots(case, method):
    f, x0, match = case
    with pytest.raises(ag.SolverError, match=match):
        ag.root(f, x0, method=method)


def test_a_jacobian_that_is_singular_at_the_end_only():
    """The last step leads to it from a regular one, which is hardly larger."""
    least = 2 * np.finfo(float).eps

    def f(x):
        return [x[0] + x[1], least * (0.9 * x[1] + 0.1 * x[1] ** 2)]

    for method in METHODS:
        with pytest.raises(ag.SolverError, match="is singular"):
            ag.root(f, np.array([-1.0, 1.0]), rtol=1.0, method=method)


def test_failures_of_compiled_functions_and_rows():
    slope = ag.grad(lambda a: ag.root(lambda x: x**2 - a, 1.0).x)
    compiled = ag.compile(slope)
    assert compiled(4.0) == pytest.approx(0.25)
    for call in (lambda: slope(-1.0), lambda: compiled(-1.0), lambda: ag.vmap(slope)(np.array([1.0, -1.0]))):
        with pytest.raises(ag.SolverError, match=r"root\(<lambda>\): "):
            call()
    assert compiled(9.0) == pytest.approx(1 / 6)


def test_any_number_of_steps():
    assert ag.root(lambda x: x - 3.0, 1.0, max_steps=10**15).x == 3.0
    assert ag.minimize(lambda x: (x - 3.0) ** 2, 1.0, max_steps=10**15).x == 3.0


def test_arguments_are_checked():
    for call, kind, match in (
        (lambda: ag.root(lambda x: x, np.zeros(0)), ag.ShapeError, r"x0 is of shape \(0,\)"),
        (lambda: ag.root(lambda x: x[:1], np.zeros(2)), ag.ShapeError, r"result is of shape \(1,\)"),
        (lambda: ag.root(lambda x: None, 1.0), TypeError, r"result is None"),
        (lambda: ag.root(lambda x: x, 1.0, 2.0), TypeError, r"args is of type float"),
        (lambda: ag.root(lambda x: x, 1.0, method="bisect"), ValueError, r"method is 'bisect'"),
        (lambda: ag.root(lambda x: x, 1.0, rtol=0.0), ag.DomainError, r"rtol is 0"),
        (lambda: ag.minimize(lambda x: x, np.ones(2)), ag.ShapeError, r"result is of shape \(2,\)"),
        (lambda: ag.root(3, 1.0), TypeError, r"f is 3"),
    ):
        with pytest.raises(kind, match=match):
            call()


def test_names_of_stan():
    def f(y, theta, x_r, x_i):
        return equations(y, theta)

    for given in (
        ag.solve_newton(equations, START, P),
        ag.solve_newton_tol(equations, START, 1e-10, 1e-6, 100, P),
        ag.solve_powell(equations, START, P),
        ag.solve_powell_tol(equations, START, 1e-10, 1e-6, 100, P),
        ag.algebra_solver(f, START, P, [], []),
        ag.algebra_solver_newton(f, START, P, [], [], 1e-10, 1e-6, 100),
    ):
        np.testing.assert_allclose(given, solution(P), rtol=1e-12)
    with pytest.raises(ag.SolverError, match=r"solve_newton_tol\(equations\): number of steps is 1, but must suffice"):
        ag.solve_newton_tol(equations, START, 1e-10, 1e-6, 1, P)
    for call, kind, match in (
        (lambda: ag.solve_newton(equations, np.zeros(0), P), ag.ShapeError, r"y_guess is of shape \(0,\)"),
        (lambda: ag.solve_powell(equations, "a", P), TypeError, r"y_guess is of dtype"),
        (lambda: ag.solve_powell(lambda y: None, START), TypeError, r"None, .* an equation for each entry of y_guess; does"),
        (lambda: ag.algebra_solver(lambda *_: 1.0, START, P, [], []), ag.ShapeError, r"for each entry of y_guess$"),
        (lambda: ag.solve_newton(lambda y: y**2 + 1e9, 1e-9), ag.SolverError, r"start elsewhere$|is singular"),
        (lambda: ag.solve_newton(np.exp, 0.0), ag.SolverError, r"raise max_steps, allow a larger error, or start elsewhere$"),
        (lambda: ag.root(np.exp, 0.0), ag.SolverError, r"raise max_steps, allow a larger error, or start elsewhere$"),
    ):
        with pytest.raises(kind, match=match):
            call()


def test_minima():
    found = ag.minimize(hills, np.array([-1.2, 1.0]), (np.array([1.0, 100.0]),))
    np.testing.assert_allclose(found.x, [1.0, 1.0], rtol=1e-10)
    assert found.fun < 1e-20

    def size(p):
        return np.sum(ag.minimize(hills, np.array([-1.2, 1.0]), (p,)).x ** 2)  # p0**2 + p0**4

    p = np.array([1.1, 20.0])
    np.testing.assert_allclose(ag.grad(size)(p), [2.2 + 4 * 1.1**3, 0.0], atol=1e-9)
    np.testing.assert_allclose(ag.compile(ag.hessian(size))(p), [[2 + 12 * 1.21, 0.0], [0.0, 0.0]], atol=1e-8)
    fun = ag.grad(lambda k: ag.minimize(lambda x: np.cosh(x - k) + k * k, 0.3).fun)
    assert fun(2.0) == pytest.approx(4.0)
    two = ag.minimize(lambda x: x[0] ** 4 - 2 * x[0] ** 2 + x[1] ** 2, np.array([0.1, 0.1])).x
    np.testing.assert_allclose(two, [1.0, 0.0], atol=1e-10)
    assert ag.minimize(lambda x: x**2, 0.0).nit == 1


BOTTOMLESS = {
    "saddle at the start": (lambda x: x[0] ** 2 - x[1] ** 2, np.zeros(2), r"Hessian at x = \[0.0, 0.0\] is singular or"),
    "maximum at the start": (lambda x: -(x**2), 0.0, r"Hessian at x = 0.0 is singular or indefinite"),
    "saddle": (lambda x: x[0] ** 2 - x[1] ** 2, np.ones(2), r"number of steps is 200"),
    "far away": (lambda x: np.exp(x), 0.0, r"number of steps is 200"),
    "valley": (lambda x: x[0] ** 2 + 0 * x[1], np.ones(2), r"is singular or indefinite"),
    "flat": (lambda x: x**4, 1.0, r"is singular or indefinite"),
    "kink": (lambda x: np.abs(x), 1.0, r"does not fall along its slope"),
    "undefined": (lambda x: np.log(x), -1.0, r"are not finite"),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("case", BOTTOMLESS.values(), ids=BOTTOMLESS)
def test_no_minima(case):
    f, x0, match = case
    with pytest.raises(ag.SolverError, match=match):
        ag.minimize(f, x0)
