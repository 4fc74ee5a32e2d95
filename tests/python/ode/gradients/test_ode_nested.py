"""Solves inside of solves, of events, of loops and branches: values and derivatives, plain and compiled, or refused by name."""

import numpy as np
import pytest

import agrad as ag

FINE = {"rtol": 1e-9, "atol": 1e-11}
K = 0.7


@pytest.fixture(params=["plain", "compiled"])
def made(request):
    return ag.compile if request.param == "compiled" else lambda function: function


def decayed(rate, start=1.0, time=1.0, method="Tsit5"):
    """By a solve, start exp(-rate time)."""
    return ag.solve_ivp(lambda t, z, k: -k * z, (0.0, time), [start], method, [time], args=(rate,), **FINE).y[0, 0]


def second(f, x, h=1e-3):
    return (f(x + h) - 2 * f(x) + f(x - h)) / h**2


# ---- inside of a right-hand side ---------------------------------------------------------------------------------------


def dense(k, y, t):
    return ag.solve_ivp(lambda s, z: -k * y * z, (0.0, 2.0), [1.0], "Tsit5", dense_output=True, **FINE).sol(t)[0]


def from_t_on(k, y, t, t_eval=None):
    return ag.solve_ivp(lambda s, z: -k * s * z, (t, t + 1.0), [1.0], "Tsit5", t_eval, **FINE).y[0, -1]


def fall_in_two_steps(k, y, t):
    fallen = ag.solve_ivp(lambda s, z: -decayed(k * z[0]) * z, (0.0, 0.5), [y], "Tsit5", [0.5], **FINE)
    return fallen.y[0, 0]


def in_two_steps(k, y, t):
    return ag.solve_ivp(lambda s, z: -np.exp(-k * z) * z, (0.0, 0.5), [y], "DOP853", [0.5], rtol=1e-11, atol=1e-13).y[0, 0]


def at_rest(k, y, t):
    return ag.steady_state(lambda s, z, k: [k * z[1] - z[0], z[0] - k * z[1]], [y, 0.3], args=(k,)).y[0]


def dosed(k, y, t):
    dose = ag.Dose(0.5, 0, k)
    return ag.solve_ivp(lambda s, z: -k * y * z, (0.0, 2.0), [1.0], "Tsit5", [2.0], doses=[dose], **FINE).y[0, 0]


def population(k, y, t):
    subjects = [ag.Subject((0.0, end), [1.0], [end], (k * y,)) for end in (0.5, 1.0)]
    return sum(result.y[0, 0] for result in ag.solve_many(lambda s, z, q: -q * z, subjects, **FINE))


def refilled(k, y, t):
    refill = ag.Event(lambda s, z: z[0] - 0.6, reset=lambda s, z: [3.0])
    return ag.solve_ivp(lambda s, z: -k * y * z, (0.0, 2.0), [1.0], "Tsit5", [2.0], events=refill, **FINE).y[0, 0]


def time_to_fall(k, y, t):
    low = ag.Event(lambda s, z: z[0] - 0.6, terminal=True)
    return ag.solve_ivp(lambda s, z: -k * y * z, (0.0, 20.0), [1.0], "Tsit5", events=low, **FINE).t[-1]


def algebraic(k, y, t):
    return ag.solve_dae(lambda s, z, slope, q: slope + q * z, (0.0, 1.0), [1.0], args=(k * y,), **FINE).y[0, -1]


#: What a right-hand side does, what that is in closed form, and whether it has second derivatives.
INNER = {
    "Tsit5": (lambda k, y, t: decayed(k * y), lambda k, y, t: np.exp(-k * y), True),
    "Rodas4": (lambda k, y, t: decayed(k * y, method="Rodas4"), lambda k, y, t: np.exp(-k * y), True),
    "BDF": (lambda k, y, t: decayed(k * y, method="BDF"), lambda k, y, t: np.exp(-k * y), False),
    "two deep": (fall_in_two_steps, in_two_steps, True),
    "dense output": (dense, lambda k, y, t: np.exp(-k * y * t), True),
    "span": (from_t_on, lambda k, y, t: np.exp(-k * (t + 0.5)), True),
    "outputs": (lambda k, y, t: from_t_on(k, y, t, [t, t + 0.5, t + 1]), lambda k, y, t: np.exp(-k * (t + 0.5)), True),
    "steady state": (at_rest, lambda k, y, t: (y + 0.3) * k / (1 + k), True),
    "doses": (dosed, lambda k, y, t: np.exp(-2 * k * y) + k * np.exp(-1.5 * k * y), True),
    "population": (population, lambda k, y, t: np.exp(-k * y / 2) + np.exp(-k * y), True),
    "reset": (refilled, lambda k, y, t: 5 * np.exp(-2 * k * y), True),
    "terminal event": (time_to_fall, lambda k, y, t: -np.log(0.6) / (k * y), True),
    "algebraic": (algebraic, lambda k, y, t: np.exp(-k * y), False),
    "scan": (
        lambda k, y, t: ag.scan(lambda c, x: (decayed(k * x, c, 0.5), None), y, np.array([1.0, 2.0]))[0],
        lambda k, y, t: y * np.exp(-1.5 * k),
        True,
    ),
    "gradient": (
        lambda k, y, t: ag.grad(lambda q: decayed(q * k, time=0.5))(y),
        lambda k, y, t: -0.5 * k * np.exp(-0.5 * k * y),
        False,
    ),
}


#: What no tangent passes through; by BDF the Jacobian and products with adjoints serve.
WITHOUT_TANGENTS = ("algebraic", "gradient")


def outer(inner, method, k):
    y = ag.solve_ivp(lambda t, y: [-y[0] * inner(k, y[0], t)], (0.1, 0.4), [1.0], method, [0.4], **FINE).y
    return y[0, 0]


@pytest.mark.parametrize("method", ["Tsit5", "Rodas4", "BDF"])
@pytest.mark.parametrize("inside", list(INNER))
def test_a_solve_inside_of_a_right_hand_side(made, inside, method):
    by_solve, closed, has_second = INNER[inside]

    def f(k):
        return outer(by_solve, method, k)

    def expected(k):
        return outer(closed, "DOP853", k)

    np.testing.assert_allclose(made(f)(K), expected(K), rtol=2e-7)
    np.testing.assert_allclose(made(ag.grad(f))(K), ag.grad(expected)(K), rtol=2e-6)
    if has_second and method == "Tsit5":
        np.testing.assert_allclose(made(ag.hessian(f))(K), second(expected, K), rtol=1e-4, atol=1e-7)
    else:  # Rodas4's Jacobian has no derivative where a solve is part of it
        with pytest.raises(NotImplementedError, match=r"hessian: solve_ivp has first .* only(, by reverse mode)?, but"):
            made(ag.hessian(f))(K)
    passes = inside not in WITHOUT_TANGENTS and method != "Rodas4"
    if passes or method == "BDF":
        np.testing.assert_allclose(made(ag.jacfwd(f))(K), ag.grad(expected)(K), rtol=2e-6)


def test_a_solve_that_fails_inside_of_a_right_hand_side(made):
    def f(k):
        def inner(y):
            return ag.solve_ivp(lambda s, z: k * z**2, (0.0, 1.0), [y], "Tsit5", [1.0]).y[0, 0]

        return ag.solve_ivp(lambda t, y: [inner(y[0])], (0.0, 0.1), [0.5], "BDF", [0.1]).y[0, 0]

    gradient = made(ag.value_and_grad(f))
    good = gradient(0.5)
    assert np.isfinite(good).all()
    for _ in range(2):
        with pytest.raises(ag.SolverError, match=r"^solve_ivp: stopped at t = 0\.\d+ after \d+ steps \(step_too_short\)"):
            gradient(3.0)
        assert gradient(0.5) == good


# ---- inside of events, loops and branches ------------------------------------------------------------------------------


def fall(k, method, **event):
    """exp(-2 k) unless something happens."""
    return ag.solve_ivp(lambda t, y: -k * y, (0.0, 2.0), [1.0], method, [2.0], events=ag.Event(**event), **FINE).y[0, 0]


SOLVES = {
    # At y = 0.5 exp(k / 2) the state becomes three times as large.
    "root": lambda k, outer, inner: fall(
        k, outer, root=lambda t, y: decayed(k, y[0], 0.5, inner) - 0.5, reset=lambda t, y: [3.0 * y[0]]
    ),
    # At y = 0.6 it becomes 2.4 exp(-k / 2).
    "reset": lambda k, outer, inner: fall(
        k, outer, root=lambda t, y: y[0] - 0.6, reset=lambda t, y: [4 * decayed(k, y[0], 0.5, inner)]
    ),
}
CLOSED = {"root": lambda k: 3 * np.exp(-2 * k), "reset": lambda k: 4 * np.exp(-2.5 * k)}


@pytest.mark.parametrize("outer_method", ["Tsit5", "Rodas4", "BDF"])
@pytest.mark.parametrize("inner_method", ["Tsit5", "BDF"])
@pytest.mark.parametrize("place", list(SOLVES))
def test_a_solve_inside_of_an_event(made, place, inner_method, outer_method):
    def f(k):
        return SOLVES[place](k, outer_method, inner_method)

    np.testing.assert_allclose(made(f)(K), CLOSED[place](K), rtol=1e-6)
    np.testing.assert_allclose(made(ag.grad(f))(K), ag.grad(CLOSED[place])(K), rtol=1e-6)
    is_exact = outer_method != "BDF" and (place == "root" or inner_method != "BDF")  # of a root the gradient is enough
    np.testing.assert_allclose(made(ag.jacfwd(f))(K), made(ag.grad(f))(K), rtol=1e-10 if is_exact else 1e-6)
    if outer_method != "BDF" and inner_method != "BDF":
        np.testing.assert_allclose(made(ag.hessian(f))(K), second(CLOSED[place], K), rtol=1e-5)
        return
    with pytest.raises(NotImplementedError, match="hessian: solve_ivp has first derivatives only, but must have more"):
        made(ag.hessian(f))(K)


#: A loss with a solve in it within a loop or a branch, and its value in closed form.
WITHIN = {
    "scan": (
        lambda k, method: ag.scan(lambda c, x: (decayed(k * x, c, 0.5, method), c), 1.0, np.array([1.0, 2.0, 0.5]))[0],
        lambda k: np.exp(-1.75 * k),
    ),
    "fori": (lambda k, method: ag.fori(0, 3, lambda i, c: decayed(k, c, 0.5, method), 1.0), lambda k: np.exp(-1.5 * k)),
    "cond": (
        lambda k, method: ag.cond(k > 0.5, lambda k: decayed(k, 1.0, 0.5, method), lambda k: k, k),
        lambda k: np.exp(-0.5 * k),
    ),
    "vmap": (
        lambda k, method: np.sum(ag.vmap(lambda x: decayed(k * x, 1.0, 0.5, method))(np.array([1.0, 2.0]))),
        lambda k: np.exp(-0.5 * k) + np.exp(-k),
    ),
}


@pytest.mark.parametrize("method", ["Tsit5", "Rodas4", "BDF"])
@pytest.mark.parametrize("place", list(WITHIN))
def test_a_loss_with_a_solve_in_a_loop_or_a_branch(made, place, method):
    by_solve, closed = WITHIN[place]

    def f(k):
        return by_solve(k, method)

    np.testing.assert_allclose(made(f)(K), closed(K), rtol=1e-6)
    np.testing.assert_allclose(made(ag.grad(f))(K), ag.grad(closed)(K), rtol=1e-6)
    if method == "BDF":
        with pytest.raises(NotImplementedError, match="hessian: solve_ivp has first derivatives only, but must have more"):
            made(ag.hessian(f))(K)
    else:
        np.testing.assert_allclose(made(ag.hessian(f))(K), ag.hessian(closed)(K), rtol=1e-5)
    np.testing.assert_allclose(made(lambda k: ag.jvp(f, (k,), (1.0,))[1])(K), ag.grad(closed)(K), rtol=1e-6)


def test_a_steady_state_in_a_loop(made):
    def f(k):
        return ag.scan(lambda c, x: (c + at_rest(k, x, 0.0), None), 0.5, np.array([1.0, 2.0]))[0]

    def closed(k):
        return 0.5 + 3.6 * k / (1 + k)

    np.testing.assert_allclose(made(f)(K), closed(K), rtol=1e-9)
    np.testing.assert_allclose(made(ag.grad(f))(K), ag.grad(closed)(K), rtol=1e-9)
    np.testing.assert_allclose(made(ag.hessian(f))(K), ag.hessian(closed)(K), rtol=1e-8)
