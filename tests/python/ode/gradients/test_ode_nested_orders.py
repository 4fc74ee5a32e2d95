"""Transformations inside of others, of solves with times that move, and of what has first derivatives only: refused by name."""

import numpy as np
import pytest

import agrad as ag


def decay(t, y, k):
    return -k * y


FINE = {"rtol": 1e-10, "atol": 1e-12}


def end(k, method="Tsit5", span=(0.0, 1.0), **options):
    return ag.solve_ivp(decay, span, [1.0], method, args=(k,), **options).y[0, -1]


WITHOUT = {
    "Rodas4 in Rodas4": lambda k: ag.solve_ivp(lambda t, y: [-y[0] * end(k * y[0], "Rodas4")], (0.0, 1.0), [1.0], "Rodas4").y[
        0, -1
    ],
}
WITH_TANGENTS = {
    "BDF": lambda k: end(k, "BDF", rtol=1e-10, atol=1e-12),
    "end": lambda k: end(1.0, "BDF", span=(0.0, k)),
    "population": lambda k: ag.solve_many(decay, [ag.Subject((0.0, 1.0), [1.0], None, (k,))], "BDF", rtol=1e-10, atol=1e-12)[
        0
    ].y[0, -1],
    "root": lambda k: end(
        k,
        events=ag.Event(lambda t, y, k: y[0] - 0.6 * end(k, "BDF", rtol=1e-9), reset=lambda t, y, k: [2 * y[0]]),
        span=(0.0, 3.0),
    ),
}
#: With their second derivatives.
MOVING = {
    "end": (lambda k: end(1.0, span=(0.0, k), **FINE), lambda k: np.exp(-k)),
    "reset": (
        lambda k: end(k, events=ag.Event(lambda t, y, k: y[0] - 0.6, reset=lambda t, y, k: [2 * k * y[0]]), **FINE),
        lambda k: 2 * k * np.exp(-k),
    ),
    "terminal": (
        lambda k: ag.solve_ivp(
            decay, (0, 9.0), [1.0], "Tsit5", args=(k,), events=ag.Event(lambda t, y, k: y[0] - 0.6, terminal=True), **FINE
        ).t[-1],
        lambda k: -np.log(0.6) / k,
    ),
    "dose time": (
        lambda k: end(1.0, doses=[ag.Dose(k / 2, 0, 1.0)], **FINE),
        lambda k: np.exp(-1.0) + np.exp(k / 2 - 1),
    ),
}
#: Nested, so that no transformation sees the whole program beforehand.
SECOND = {
    "grad of grad": lambda f: ag.grad(ag.grad(f)),
    "compiled grad of grad": lambda f: ag.compile(ag.grad(ag.grad(f))),
    "compiled hvp": lambda f: ag.compile(lambda k: ag.hvp(f)(k, 1.0)),
    "compiled hessian": lambda f: ag.compile(lambda k: 1.0 * ag.hessian(f)(k)),
}
FORWARD = {
    "compiled jvp": lambda f: ag.compile(lambda k: ag.jvp(f, (k,), (1.0,))[1]),
    "compiled jacfwd": lambda f: ag.compile(lambda k: 1.0 * ag.jacfwd(f)(k)),
}


@pytest.mark.parametrize("transformation", list(SECOND | FORWARD))
@pytest.mark.parametrize("f", list(WITHOUT))
def test_nested_transformations_of_what_has_first_derivatives_only(f, transformation):
    with pytest.raises(NotImplementedError, match=r"solve_.*: has first derivatives only, by reverse mode, but must"):
        (SECOND | FORWARD)[transformation](WITHOUT[f])(0.8)


@pytest.mark.parametrize("transformation", list(SECOND))
@pytest.mark.parametrize("f", list(MOVING))
def test_nested_second_derivatives_where_times_move(f, transformation):
    by_solve, closed = MOVING[f]
    assert SECOND[transformation](by_solve)(0.8) == pytest.approx(ag.hessian(closed)(0.8), rel=1e-6)


@pytest.mark.parametrize("transformation", list(SECOND))
@pytest.mark.parametrize("f", list(WITH_TANGENTS))
def test_nested_second_derivatives_of_what_has_tangents_alone(f, transformation):
    with pytest.raises(NotImplementedError, match=r"solve_\w+: has first derivatives only, but must have second"):
        SECOND[transformation](WITH_TANGENTS[f])(0.8)


@pytest.mark.parametrize("transformation", list(FORWARD))
@pytest.mark.parametrize("f", list(WITH_TANGENTS))
def test_nested_forward_mode_of_what_has_tangents_alone(f, transformation):
    close = 1e-7 if f in ("BDF", "population") else 1e-12  # two integrals, or the same steps
    assert FORWARD[transformation](WITH_TANGENTS[f])(0.8) == pytest.approx(ag.grad(WITH_TANGENTS[f])(0.8), rel=close)
