"""Random programs with integers and booleans as arguments, which change from call to call: three orders against differences.

The witness computes in extended precision with plain integers. What reads no integers has one path for all contents.
"""

import numpy as np
import pytest

import agrad as ag
from random_programs.whole import _KINDS, Whole, WholeProgram
from random_programs.witness import along

pytestmark = pytest.mark.thread_unsafe(reason="takes extended precision for a witness")

TOLERANCE = {0: 1e-12, 1: 1e-9, 2: 1e-8, 3: 1e-6}


def contents(seed, count=3):
    rng = np.random.default_rng(seed + 10_000)
    return [Whole.drawn(rng) for _ in range(count)]


def check(found, order, witness, scale):
    """Raises where a derivative along a direction is not that of the differences, unless a kink is near."""
    smooth = witness.errors[: order + 2] <= 1e-6 * (1 + np.abs(witness.values[: order + 2]))
    if np.all(smooth):
        assert abs(found - witness.values[order]) <= TOLERANCE[order] * scale + 10 * witness.errors[order]


def paths(compiled):
    return sum(len(each) for _, each in compiled.recorded())


@pytest.mark.parametrize("seed", range(30))
def test_derivatives_follow_the_integers(seed):
    program = WholeProgram(seed)
    x, v = program.at, np.random.default_rng(seed + 1).uniform(-1, 1, program.size)
    ways = {0: lambda f: f, 1: ag.grad}
    if program.has_forward_mode:
        ways[2] = ag.hessian
        ways[3] = lambda f: ag.grad(lambda q, *whole: ag.hvp(f)(q, *whole, v) @ v)
    compiled = {order: ag.compile(way(program)) for order, way in ways.items()}
    for whole in contents(seed):
        witness = along(program.exact_for(whole), x, v)
        for order, c in compiled.items():
            found = np.asarray(c(x, *whole))
            for plain in (ways[order](program)(x, *whole),) if order < 3 else ():
                np.testing.assert_allclose(found, plain, rtol=1e-9, atol=1e-9 * (1 + np.max(np.abs(found))))
            assert np.all(np.isfinite(found))
            along_v = v @ found @ v if order == 2 else found @ v if order else found
            check(along_v, order, witness, 1 + np.max(np.abs(found)))
    if not program.reads:
        assert {paths(c) for c in compiled.values()} == {1}


@pytest.mark.parametrize("seed", range(40, 55))
def test_rows_have_integers_of_their_own(seed):
    program = WholeProgram(seed)
    rows = contents(seed)
    x = np.stack([program.at, 0.5 * program.at, program.at - 0.1])
    stacked = [np.stack(each) for each in zip(*rows, strict=True)]
    expected = [ag.grad(program)(each, *whole) for each, whole in zip(x, rows, strict=True)]
    largest = 1 + np.max(np.abs(expected))
    for function in (ag.vmap(ag.grad(program)), ag.compile(ag.vmap(ag.grad(program)))):
        np.testing.assert_allclose(function(x, *stacked), expected, rtol=1e-9, atol=1e-9 * largest)


def test_programs_have_steps_of_every_kind():
    drawn = {step.kind.name for seed in range(150) for step in WholeProgram(seed).steps}
    assert drawn >= {kind.name for kind in _KINDS}
