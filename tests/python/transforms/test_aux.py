"""Aux inside of recorded functions: recorded values, also where aux holds values of the recording around only."""

import numpy as np
import pytest

import agrad as ag
from differences import jacobian_by_differences

#: For each transformation, aux of a function at a point.
INNER = {
    "grad": lambda f, y: ag.grad(f, has_aux=True)(y)[1],
    "value_and_grad": lambda f, y: ag.value_and_grad(f, has_aux=True)(y)[0][1],
    "jacobian": lambda f, y: ag.jacobian(f, has_aux=True)(y)[1],
    "jacrev": lambda f, y: ag.jacrev(f, has_aux=True)(y)[1],
    "jacfwd": lambda f, y: ag.jacfwd(f, has_aux=True)(y)[1],
    "hessian": lambda f, y: ag.hessian(f, has_aux=True)(y)[1],
    "hvp": lambda f, y: ag.hvp(f, has_aux=True)(y, 1.0)[1],
    "jvp": lambda f, y: ag.jvp(f, (y,), (1.0,), has_aux=True)[2],
    "vjp": lambda f, y: ag.vjp(f, y, has_aux=True)[2],
    "linearize": lambda f, y: ag.linearize(f, y, has_aux=True)[2],
}
POINTS = np.array([1.1, 1.0, 2.0, 0.3])  # on both sides of the condition


def _of_compiled(h):
    compiled = ag.compile(h)
    return [compiled(float(x)) for x in POINTS]


def _of_plain(h):
    return [h(float(x)) for x in POINTS]


def _by_differences(h):
    return [float(jacobian_by_differences(h, float(x))) for x in POINTS]


#: For each surrounding transformation or loop, its result, and the witness for the same function without aux.
OUTER = {
    "compile": (_of_compiled, _of_plain),
    "grad": (lambda h: [ag.grad(h)(float(x)) for x in POINTS], _by_differences),
    "compiled grad": (lambda h: _of_compiled(ag.grad(h)), _by_differences),
    "jvp": (lambda h: [ag.jvp(h, (float(x),), (1.0,))[1] for x in POINTS], _by_differences),
    "vmap": (lambda h: ag.vmap(h)(POINTS), _of_plain),
    "fori": (lambda h: ag.fori(0, 3, lambda i, c: 0.1 * h(c), 1.0), lambda h: 0.1 * h(0.1 * h(0.1 * h(1.0)))),
    "scan": (lambda h: ag.scan(lambda c, x: (c + x, h(x)), 0.0, POINTS)[1], _of_plain),
    "cond": (lambda h: _of_compiled(lambda x: ag.cond(x > 0.5, h, lambda x: -h(x), x)),
             lambda h: np.where(POINTS > 0.5, 1, -1) * _of_plain(h)),
}  # fmt: skip


@pytest.mark.parametrize("where", ["parameter", "around", "both", "neither"])
@pytest.mark.parametrize("inner", INNER)
@pytest.mark.parametrize("outer", OUTER)
def test_aux_follows_the_recorded_values(outer, inner, where):
    """Aux holds the parameter, a value of the recording around, or both, and a condition."""
    point, beside = {"parameter": (1, 0), "around": (0, 1), "both": (1, 1), "neither": (0, 0)}[where]

    def with_aux(x):
        y, z = (x if point else 1.7), (x if beside else 0.4)
        aux = INNER[inner](lambda q: (q**2, {"sum": [q + 1.0], "other": (z * z, 3), "large": q > 1.5}), y)
        return aux["sum"][0] ** 2 + aux["other"][0] * aux["other"][1] + np.where(aux["large"], 10.0, 0.0)

    def plain(x):
        y, z = (x if point else 1.7), (x if beside else 0.4)
        return (y + 1.0) ** 2 + 3 * z * z + (10.0 if y > 1.5 else 0.0)

    run, witness = OUTER[outer]
    np.testing.assert_allclose(run(with_aux), witness(plain), rtol=1e-9)


def test_aux_of_a_right_hand_side():
    def fun(t, y, rate):
        return ag.jvp(lambda z: (z, -rate * z), (y,), (np.ones(1),), has_aux=True)[2]

    def end(rate):
        return ag.solve_ivp(fun, (0, 1), [1.0], args=(rate,), rtol=1e-10, atol=1e-12).y[0, -1]

    assert end(0.7) == pytest.approx(np.exp(-0.7), rel=1e-8)
    assert ag.grad(end)(0.7) == pytest.approx(-np.exp(-0.7), rel=1e-7)


def test_aux_is_plain_outside_and_where_nothing_is_recorded():
    assert ag.jvp(lambda y: (y * y, y + 1.0), (2.0,), (1.0,), has_aux=True) == (4.0, 4.0, 3.0)

    def f(x):
        forward = ag.jvp(lambda y: (y * y, y + 1.0), (2.0,), (1.0,), has_aux=True)[2]
        backward = ag.grad(lambda y: (y * y, y + 1.0), has_aux=True)(2.0)[1]
        return x * float(forward) * float(backward)  # a recorded value refuses float

    assert ag.grad(f)(1.0) == 9.0


def test_sparse_matrices_refuse_recorded_aux():
    def f(x):
        return np.sum(ag.jacobian(lambda y: (y**2, x * x), has_aux=True, sparse=True)(np.ones(2))[1])

    with pytest.raises(ag.ScopeError, match=r"argument is a recorded value of grad\(f\), but must belong to jacobian"):
        ag.grad(f)(3.0)
