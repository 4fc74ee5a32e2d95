"""Zero times an infinite slope is zero (cpp/include/agrad/rules/passing.hpp): the same in every mode and engine."""

import numpy as np
import pytest

import agrad as ag

MODES = {
    "grad": lambda f, x: ag.grad(f)(x),
    "compiled": lambda f, x: ag.compile(ag.grad(f))(x),
    "jacfwd": lambda f, x: ag.jacfwd(f)(x),
    "jvp": lambda f, x: ag.jvp(f, (x,), (1.0,))[1],
    "vmapped": lambda f, x: ag.vmap(ag.grad(f))(np.array([x, x]))[1],
    "vmapped forwards": lambda f, x: ag.vmap(ag.jacfwd(f))(np.array([x]))[0],
    "nested": lambda f, x: ag.compile(lambda z: ag.grad(f)(z))(x),
    "nested forwards": lambda f, x: ag.compile(lambda z: ag.jvp(f, (z,), (1.0,))[1])(x),
    "in many": lambda f, x: ag.grad(lambda z: np.sum(f(z)))(np.full(20, x))[3],
}
#: name: function, point, derivative
CASES = {
    "sqrt of what underflows": (lambda x: np.sqrt(np.exp(-x)), 1600.0, 0.0),
    "sqrt of zero times x": (lambda x: np.sqrt(x * 0.0), 1.0, 0.0),
    "sqrt of a square": (lambda x: np.sqrt(x**2), 0.0, 0.0),
    "sqrt of a sum": (lambda x: np.sqrt(x * x + 0.0 * x), 0.0, 0.0),
    "cbrt of a cube": (lambda x: np.cbrt(x**3), 0.0, 0.0),
    "log of what overflows": (lambda x: np.log(np.cosh(x)), 800.0, np.nan),
    "log2 of what overflows": (lambda x: np.log2(np.exp(x)), 800.0, np.nan),
    "log10 of what overflows": (lambda x: np.log10(np.exp(x)), 800.0, np.nan),
    "log1p of what overflows": (lambda x: np.log1p(np.exp(x)), 800.0, np.nan),
    "arcsinh of what overflows": (lambda x: np.arcsinh(np.exp(x)), 800.0, np.nan),
    "arccosh of what overflows": (lambda x: np.arccosh(np.exp(x)), 800.0, np.nan),
    "sqrt of what overflows": (lambda x: np.sqrt(np.exp(x)), 1500.0, np.nan),
    "cbrt of what overflows": (lambda x: np.cbrt(-np.exp(x)), 1500.0, np.nan),
    "a power of what overflows": (lambda x: np.exp(x) ** 0.5, 1500.0, np.nan),
    "a bounded function of what overflows": (lambda x: 1.0 / (1.0 + np.exp(x)), 800.0, 0.0),
    "tanh of what overflows": (lambda x: np.tanh(np.exp(x)), 800.0, 0.0),
    "a choice not taken": (lambda x: np.where(x > 700, x, np.log(np.cosh(x))), 800.0, 1.0),
    "a root not taken": (lambda x: np.where(x > 0, np.sqrt(x), 2.0 * x), 0.0, 2.0),
    "nothing of an infinite slope": (lambda x: 0.0 * np.sqrt(x), 0.0, 0.0),
    "an infinite slope": (np.sqrt, 0.0, np.inf),
    "an infinite slope of a multiple": (lambda x: 3.0 * np.sqrt(2.0 * x), 0.0, np.inf),
    "the larger of equal exponents": (lambda x: ag.log_diff_exp(x, 1.0), 1.0, np.inf),
    "the smaller of equal exponents": (lambda x: ag.log_diff_exp(1.0, x), 1.0, -np.inf),
    "the larger of equal log odds": (lambda x: ag.log_inv_logit_diff(x, 1.0), 1.0, np.inf),
    "the smaller of equal log odds": (lambda x: ag.log_inv_logit_diff(1.0, x), 1.0, -np.inf),
    "a product": (lambda x: np.sqrt(np.stack([x, x, x]) @ np.zeros(3)), 2.0, 0.0),
    "a product of matrices": (lambda x: np.sqrt(np.sum((np.eye(2) * x) @ np.zeros((2, 2)))), 2.0, 0.0),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", CASES)
def test_one_rule(case, mode):
    f, x, expected = CASES[case]
    if case.startswith("a product") and mode in ("in many", "vmapped", "nested"):
        return  # a product that is recorded as a derivative is a product of numbers
    with np.errstate(all="ignore"):
        given = MODES[mode](f, x)
    assert given == expected or (np.isnan(given) and np.isnan(expected))


OF_TWO = {
    "arctan2": (
        lambda y: np.arctan2(y, 2.0),
        lambda y: (2 / (4 + y**2), -4 * y / (4 + y**2) ** 2, (12 * y**2 - 16) / (4 + y**2) ** 3),
    ),
    "hypot": (
        lambda y: np.hypot(y, 2.0),
        lambda y: (y / np.hypot(y, 2), 4 / np.hypot(y, 2) ** 3, -12 * y / np.hypot(y, 2) ** 5),
    ),
}


@pytest.mark.parametrize("name", OF_TWO)
@pytest.mark.parametrize("y", [0.0, -0.0, 0.3])
def test_third_derivatives_where_an_argument_is_zero(name, y):
    f, derivatives = OF_TWO[name]
    first, second, third = derivatives(y)
    for outer in (ag.grad, ag.jacfwd, ag.jacrev):
        assert outer(f)(y) == pytest.approx(first, abs=1e-15)
        assert outer(ag.grad(f))(y) == pytest.approx(second, abs=1e-15)
        for middle in (ag.grad, ag.jacfwd):
            for inner in (ag.grad, ag.jacfwd):
                assert outer(middle(inner(f)))(y) == pytest.approx(third, abs=1e-14)
        assert outer(ag.hessian(f))(y) == pytest.approx(third, abs=1e-14)
    assert ag.vmap(ag.grad(ag.grad(ag.grad(f))))(np.array([y]))[0] == pytest.approx(third, abs=1e-14)


def test_norms_at_zero():
    for norm in (lambda x: np.sqrt(np.sum(x * x)), lambda x: np.sqrt(x @ x), lambda x: np.sqrt(np.dot(x, x))):
        for transform in (ag.grad, ag.jacfwd, ag.jacrev, lambda f: ag.compile(ag.grad(f))):
            np.testing.assert_array_equal(transform(norm)(np.zeros(3)), np.zeros(3))
