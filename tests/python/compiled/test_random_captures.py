"""Random functions whose values beside the arguments change between calls: no result mixes values of two times."""

from dataclasses import dataclass

import numpy as np
import pytest

import agrad as ag
from random_programs.captures import HOLDERS, CapturingProgram

WAYS = {"values": lambda f: f, "gradients": ag.value_and_grad}


def flat(result):
    return np.concatenate([np.ravel(np.asarray(part, float)) for part in (result if isinstance(result, tuple) else (result,))])


def says(error, words):
    assert words in str(error)
    return 1


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("seed", range(60))
def test_calls_have_the_values_of_the_first_recording_or_raise(seed, way):
    program = CapturingProgram(seed)
    compiled = ag.compile(WAYS[way](program.f))
    first, refused = program.frozen(), 0
    for _ in range(12):
        x = program.point()
        try:
            found = compiled(x)
        except RuntimeError as error:
            refused += says(error, "has another value than at the recording of an earlier path")
        else:
            np.testing.assert_allclose(flat(found), flat(WAYS[way](first)(x)), rtol=1e-13, atol=1e-13)
        # Without a recording the present values count.
        np.testing.assert_allclose(flat(WAYS[way](program.f)(x)), flat(WAYS[way](program.frozen())(x)), rtol=1e-13, atol=1e-13)
        if program.rng.random() < 0.3:
            program.change()
    again = ag.compile(WAYS[way](program.f))
    np.testing.assert_allclose(flat(again(x)), flat(WAYS[way](program.frozen())(x)), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("seed", range(60, 80))
def test_checked_calls_have_the_present_values_or_raise(seed):
    program = CapturingProgram(seed)
    compiled, refused = ag.compile(ag.grad(program.f), check=True), 0
    for _ in range(10):
        x = program.point()
        try:
            found = compiled(x)
        except RuntimeError as error:
            refused += says(error, "recording")
        else:
            np.testing.assert_allclose(found, ag.grad(program.frozen())(x), rtol=1e-8, atol=1e-8)
        program.change()
    assert refused > 0


def test_some_calls_are_refused_and_every_place_is_read():
    programs = [CapturingProgram(seed) for seed in range(60)]
    assert {name for program in programs for name in program.holders} == set(HOLDERS)
    refused = 0
    for program in programs:
        compiled = ag.compile(program.f)
        compiled(np.ones(3))
        program.change()
        try:
            compiled(-np.ones(3))
        except RuntimeError:
            refused += 1
    assert refused == len(programs)  # each of the places counts, read on the path or not


@dataclass
class Rates:
    """An argument that is looked into at each call."""

    scale: float
    table: np.ndarray
    power: int

    def value(self, x):
        return np.sum(self.scale * x**self.power + self.table) if x[0] > self.scale else np.sum(self.table * np.sin(x))

    @ag.compile
    def compiled(self, x):
        return self.value(x)


@pytest.mark.parametrize("seed", range(20))
def test_attributes_of_arguments_are_those_of_the_call(seed):
    rng = np.random.default_rng(seed)
    rates = Rates(0.3, rng.uniform(-1, 1, 3), 2)
    fast = ag.compile(ag.value_and_grad(lambda x, rates: rates.value(x)))
    for _ in range(8):
        change = rng.integers(4)
        if change == 0:
            rates.scale = float(rng.uniform(-1, 1))
        elif change == 1:
            rates.table[int(rng.integers(3))] = rng.uniform()
        elif change == 2:
            rates.power = int(rng.integers(1, 4))
        x = rng.uniform(-1.5, 1.5, 3)
        value, slope = fast(x, rates)
        expected = rates.scale * rates.power * x ** (rates.power - 1) if x[0] > rates.scale else rates.table * np.cos(x)
        assert value == pytest.approx(rates.value(x), rel=1e-13)
        assert rates.compiled(x) == pytest.approx(rates.value(x), rel=1e-13)
        np.testing.assert_allclose(slope, expected, rtol=1e-13)
