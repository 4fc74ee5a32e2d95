"""Integrals whose derivatives have a narrow peak, which the integral has not: the peak's factor in every spelling."""

import numpy as np
import pytest

import agrad as ag

WIDTH = 1e-3
AREA = WIDTH * np.sqrt(2 * np.pi)
LOOPS = 3


def peak(x):
    return np.exp(-0.5 * ((x - 0.41) / WIDTH) ** 2)


def area(factor, **options):
    """The integral of exp(-x) and of the peak times factor(x), less that of exp(-x), for areas of 1."""
    value = ag.quad(lambda x: np.exp(-x) + factor(x) * peak(x), 0.0, 1.0, **options)[0]
    return (value - (1 - np.exp(-1))) / AREA


def by_args(p):
    value = ag.quad(lambda x, k, far: np.exp(-x) + np.sin(k["k"]) * far[0] * peak(x), 0.0, 1.0, ({"k": p}, (2 * p + 1,)))[0]
    return (value - (1 - np.exp(-1))) / AREA


def by_branch(p):
    """The parameter has a part in one branch only, not in that at the first place."""
    value = ag.quad(lambda x: np.exp(-x) + (np.sin(p) * peak(x) if x > 0.4 else 0.0), 0.0, 1.0)[0]
    return (value - (1 - np.exp(-1))) / AREA


def by_components(p):
    values = ag.quad(lambda x: [np.exp(-x) + (2 * p) * peak(x), np.exp(-x) + np.sin(p) * peak(x)], 0.0, 1.0)[0]
    return (np.sum(values) - 2 * (1 - np.exp(-1))) / AREA


def steps(x, p):
    """A chain of operations on p, inside of the integrand."""
    y = np.array([0.2, 0.4]) + p
    for _ in range(LOOPS):
        y = np.tanh(y) + 0.1 * p * p
    return np.sum(y) + 0 * x


def captured_array(p):
    q = ag.array([p, 2 * p, p * p])
    return area(lambda x: q @ np.ones(3))


def by_scan(p):
    return ag.scan(lambda c, k: (c + area(lambda x: (k * p) * 1.0), None), 0.0, np.array([1.0, 2.0]))[0]


def by_carry(p):
    return ag.fori(0, 2, lambda _, c: c + area(lambda x: np.sin(c)), p)


def by_cond(p):
    return ag.cond(p < 5, lambda p: area(lambda x: np.sin(p)), lambda p: p, p)


def inner(p):
    return ag.quad(lambda y: (2 * y) * area(lambda x: np.sin(p) + 0 * y), 0.0, 1.0)[0]


def outer(p):
    return area(lambda y: ag.quad(lambda x: np.sin(p) + (2 * p) * x, 0.0, 1.0)[0])


def carried(p):
    return p + np.sin(p) + np.sin(p + np.sin(p))


SPELLINGS = {
    "(2 p) B": (lambda p: area(lambda x: 2 * p), lambda p: 2 * p),
    "sin(p) B": (lambda p: area(lambda x: np.sin(p)), np.sin),
    "(p p) B": (lambda p: area(lambda x: p * p), lambda p: p * p),
    "log(1 + p) B": (lambda p: area(lambda x: np.log(1 + p)), lambda p: np.log(1 + p)),
    "p and 2 p": (lambda p: area(lambda x: p + (2 * p) * np.cos(x - 0.41 + 0 * x) ** 0), lambda p: 3 * p),
    "captured array": (captured_array, lambda p: 3 * p + p * p),
    "chain": (lambda p: area(lambda x: steps(x, p)), lambda p: steps(0.0, p)),
    "args": (by_args, lambda p: np.sin(p) * (2 * p + 1)),
    "branch": (by_branch, np.sin),
    "branch on p": (lambda p: area(lambda x: np.sin(p) if p < 1 else p), np.sin),
    "components": (by_components, lambda p: 2 * p + np.sin(p)),
    "double exponential": (lambda p: area(lambda x: np.sin(p), method="double_exponential"), np.sin),
    "points": (lambda p: area(lambda x: np.sin(p), points=[0.2]), np.sin),
    "scan": (by_scan, lambda p: 3 * p),
    "carry": (by_carry, carried),
    "cond": (by_cond, np.sin),
    "inner integral": (inner, np.sin),
    "outer integral": (outer, lambda p: np.sin(p) + p),
}
TRANSFORMS = {
    "grad": ag.grad,
    "jacfwd": ag.jacfwd,
    "hessian": ag.hessian,
    "grad of grad": lambda f: ag.grad(lambda p: np.sin(ag.grad(f)(p))),
    "compiled hessian": lambda f: ag.compile(ag.hessian(f)),
    "compiled grad": lambda f: ag.compile(ag.grad(f)),
    "grad of compiled": lambda f: ag.grad(ag.compile(f)),
    "compiled rows": lambda f: lambda p: ag.compile(ag.vmap(ag.grad(f)))(np.array([p, p + 0.1])),
    "grad of rows": lambda f: lambda p: ag.grad(lambda v: np.sum(ag.vmap(f)(v)))(np.array([p, p + 0.1])),
}


@pytest.mark.parametrize("spelling", SPELLINGS.values(), ids=SPELLINGS)
def test_errors_of_derivatives_are_controlled(spelling):
    f, exact = spelling
    short = (TRANSFORMS["compiled grad"],)
    for transform in short if f in (inner, outer) else (ag.grad, ag.hessian, *short):
        given, expected = transform(f), transform(exact)
        for p in (0.0, 0.3):  # the second call of a compiled function runs what the first one recorded
            assert given(p) == pytest.approx(expected(p), rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("transform", TRANSFORMS.values(), ids=TRANSFORMS)
@pytest.mark.parametrize("name", ["sin(p) B", "(p p) B", "args", "branch", "carry"])
def test_all_transformations_control_them(name, transform):
    f, exact = SPELLINGS[name]
    np.testing.assert_allclose(transform(f)(0.0), transform(exact)(0.0), rtol=1e-5, atol=1e-5)


def test_the_size_of_a_factor_may_be_zero_or_infinite():
    def f(p):
        return ag.quad(lambda x: np.exp(-x / 50) + np.log(p) * np.exp(-0.5 * (x - 41.0) ** 2 / 0.04), 0.0, 100.0)[0]

    assert ag.grad(f)(1.0) == pytest.approx(0.2 * np.sqrt(2 * np.pi), rel=1e-7)
    guarded = ag.grad(lambda p: area(lambda x: np.where(p > 0, 0.0 * x, 1.0) * np.sin(p) + np.where(p < -1, np.log(p), 0.0)))
    assert guarded(0.0) == pytest.approx(1.0, rel=1e-7)
