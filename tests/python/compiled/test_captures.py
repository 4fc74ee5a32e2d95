"""Compiled functions within recorded ones that use values of the recording around the call, of their closure or of a global."""

import numpy as np
import pytest

import agrad as ag

SCALE = [1.0]


def reading_a_global(z):
    return z * SCALE[0]


def of_closure(x):
    return ag.compile(lambda z: z * x * z)(2.0)  # 4 x


def of_slope(x):
    return ag.compile(ag.grad(lambda z: z * z * x**2))(3.0)  # 6 x**2


def of_aux(x):
    return ag.compile(ag.grad(lambda z: (z * z, x**2), has_aux=True))(3.0)[1]


def of_branch(x):
    return ag.compile(lambda z: z * x if z > 1 else z)(2.0)


def of_comparison(x):
    return ag.compile(lambda z: z * 3.0 if x > 0 else z * x)(2.0) * x


def of_two_levels(x):
    return ag.compile(lambda y: ag.compile(lambda z: z * x * y)(2.0) * x)(5.0)  # 10 x**2


def of_product(x):
    return ag.jvp(ag.compile(lambda z: z**2 * x), (3.0,), (1.0,))[1]


def of_method(x):
    return np.sum(ag.compile(lambda z: {"a": z * np.sin(x), "b": x})(np.ones(2))["a"])


CASES = [
    (of_closure, lambda x: 4.0, lambda x: 0.0),
    (of_slope, lambda x: 12.0 * x, lambda x: 12.0),
    (of_aux, lambda x: 2 * x, lambda x: 2.0),
    (of_branch, lambda x: 2.0, lambda x: 0.0),
    (of_comparison, lambda x: 6.0 if x > 0 else 4 * x, lambda x: 0.0 if x > 0 else 4.0),
    (of_two_levels, lambda x: 20 * x, lambda x: 20.0),
    (of_product, lambda x: 6.0, lambda x: 0.0),
    (of_method, lambda x: 2 * np.cos(x), lambda x: -2 * np.sin(x)),
]


@pytest.mark.parametrize(("function", "slope", "curvature"), CASES, ids=[case[0].__name__ for case in CASES])
def test_a_compiled_function_captures_as_other_transformations_do(function, slope, curvature):
    compiled = ag.compile(ag.grad(function))
    for x in (0.7, -0.4, 1.3):
        for found in (ag.grad(function)(x), compiled(x), ag.jvp(function, (x,), (1.0,))[1]):
            assert found == pytest.approx(slope(x), rel=1e-13)
        for found in (ag.hessian(function)(x), ag.grad(ag.grad(function))(x)):
            assert found == pytest.approx(curvature(x), rel=1e-13)
    np.testing.assert_allclose(ag.vmap(ag.grad(function))(np.array([0.7, -0.4])), [slope(0.7), slope(-0.4)], rtol=1e-13)


@pytest.mark.thread_unsafe(reason="writes into a global")
def test_a_global_that_is_recorded_for_a_while_leaves_nothing_behind():
    helper = ag.compile(reading_a_global)

    def f(x):
        SCALE[0] = x
        return helper(2.0)

    try:
        assert ag.grad(f)(3.0) == 2.0
        SCALE[0] = 5.0
        assert helper(2.0) == 10.0
    finally:
        SCALE[0] = 1.0


@pytest.mark.thread_unsafe(reason="writes into a global")
def test_a_path_of_a_plain_global_is_not_used_for_a_recorded_one():
    helper, product = ag.compile(reading_a_global), ag.compile(lambda z: z * of_variable)

    def f(x):
        nonlocal of_variable
        SCALE[0] = of_variable = x
        return helper(2.0) + product(3.0)

    of_variable = 1.0
    try:
        assert [helper(2.0), product(3.0)] == [2.0, 3.0]
        assert ag.value_and_grad(f)(3.0) == (15.0, 5.0)
        assert ag.compile(ag.grad(f))(3.0) == 5.0
    finally:
        SCALE[0] = of_variable = 1.0
    assert [helper(2.0), product(3.0)] == [2.0, 3.0]


def test_a_function_that_captures_nothing_keeps_its_program():
    calls = []
    inner = ag.compile(lambda z: (calls.append(1), z**2)[1])

    def f(x):
        return x * inner(3.0)

    assert [ag.grad(f)(x) for x in (1.0, 2.0)] == [9.0, 9.0]
    assert len(calls) == 1
    assert len(inner.recorded()) == 1


def test_a_value_of_an_ended_call_raises():
    kept = []
    ag.grad(lambda x: (kept.append(x), x**2)[1])(1.0)
    inner = ag.compile(lambda z: z * kept[0])
    with pytest.raises(ag.ScopeError, match="that has ended"):
        inner(2.0)
    with pytest.raises(ag.ScopeError, match="that has ended"):
        ag.grad(lambda x: inner(2.0) * x)(1.0)
