"""Random programs by every way that agrad has to differentiate them, against differences in extended precision.

`python -m random_programs 1000000` (in tests/python) takes as many as one likes.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from random_programs import RandomProgram
from random_programs.check import check
from random_programs.library import Agrad, Extended
from random_programs.steps import KINDS
from random_programs.witness import along

pytestmark = pytest.mark.thread_unsafe(reason="turns warnings into errors")

#: Programs in all, in so many tests, of which the short check runs a few; each by three ways of every order.
PROGRAMS, TESTS, SHORT = 2000, 20, 4
FIRST = [pytest.param(PROGRAMS // TESTS * k, marks=[pytest.mark.full] * (k >= SHORT)) for k in range(TESTS)]


@pytest.mark.parametrize("first", FIRST)
def test_derivatives_are_those_of_differences(first):
    faults = [fault for seed in range(first, first + PROGRAMS // TESTS) for fault in check(seed, 3)]
    assert not faults, "\n".join(f"{RandomProgram(seed).text()}\n{mode}: {text}" for seed, mode, text in faults[:3])


@pytest.mark.parametrize("mode", ["off", "check"])
def test_derivatives_do_not_depend_on_tiles(mode):
    """In `check`, every run in tiles, of arrays of all lengths, is compared with one of whole operations."""
    here = Path(__file__).parents[1]
    command = [sys.executable, "-m", "random_programs", "60", "5000"]
    ran = subprocess.run(command, cwd=here, env={**os.environ, "AGRAD_TILES": mode}, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_programs_have_steps_of_every_kind():
    drawn = {step.kind.name for seed in range(300) for step in RandomProgram(seed).steps}
    assert drawn == {kind.name for kind in KINDS}


def test_a_seed_is_a_program():
    assert RandomProgram(7).text().splitlines()[1:] == RandomProgram(7).text().splitlines()[1:]


@pytest.mark.parametrize("seed", range(40))
def test_both_libraries_compute_the_same(seed):
    """Plain numbers go through agrad's functions, too."""
    program = RandomProgram(seed)
    assert program(program.at) == pytest.approx(float(program.exact(program.at)), rel=1e-11)


def test_the_libraries_have_the_same_functions():
    names = {name for name in vars(Extended) if not name.startswith("_")}
    assert names == {name for name in vars(Agrad) if not name.startswith("_")}


def test_the_witness_is_right_where_derivatives_are_known():
    found = along(lambda x: np.exp(np.sin(x[0]) * x[1]), [0.3, -0.8], [1.0, 0.0])
    s, c, y = np.sin(0.3), np.cos(0.3), -0.8
    value = np.exp(s * y)
    third = value * (-c * y - 3 * s * c * y**2 + c**3 * y**3)
    np.testing.assert_allclose(found.values, [value, value * c * y, value * (c**2 * y**2 - s * y), third], rtol=1e-9)
    assert np.all(found.errors < 1e-9)
