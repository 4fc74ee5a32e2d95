"""CONTRIBUTING's walk-throughs, done to the letter on a copy: a rule is a function in Python, a tableau is a method there."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from native_tools import SOURCE, build_module, copy_sources, require_compiler_and_cmake

pytestmark = [pytest.mark.full, pytest.mark.thread_unsafe(reason="builds the module")]

FAMILY = "cpp/include/agrad/rules/hyperbolic.hpp"
ONE_STEP = "cpp/include/agrad/solve/one_step/"

# Run by an interpreter that sees the copy: the function, its derivative, its documentation, programs and NumPy's protocol; the
# method, its derivatives to second order, and its order by the error of the solution with steps of half the size.
USER = """
import math, numpy as np, agrad as ag
x = np.array([0.0, 0.5, -3.0, 400.0, 800.0])
value, slope = 1 / np.cosh(x[:3]), -np.tanh(x[:3]) / np.cosh(x[:3])
np.testing.assert_allclose(ag.sech(x)[:3], value, rtol=1e-15)
np.testing.assert_allclose(ag.sech(x)[3:], [2 * math.exp(-400), 0.0], rtol=1e-13)
for gradient in (ag.grad(lambda x: np.sum(ag.sech(x))), ag.compile(ag.grad(lambda x: np.sum(ag.sech(x))))):
    np.testing.assert_allclose(gradient(x)[:3], slope, rtol=1e-15)
assert "Hyperbolic secant" in ag.sech.__doc__ and "sech" in ag.stan.__all__

def end(k, **options):
    return ag.solve_ivp(lambda t, y, k: -k * y, (0.0, 1.0), [1.0], "BS23", args=(k,), **options).y[0, -1]

tight = {"rtol": 1e-9, "atol": 1e-11}
value, slope = ag.value_and_grad(end)(0.7, **tight)
np.testing.assert_allclose([value, slope, ag.hessian(end)(0.7, **tight)], math.exp(-0.7) * np.array([1, -1, 1]), rtol=1e-7)
fixed = [abs(end(0.7, rtol=1e3, atol=1e3, first_step=h, max_step=h) - math.exp(-0.7)) for h in (0.1, 0.05)]
assert 2.8 < math.log2(fixed[0] / fixed[1]) < 3.2, fixed
"""


def walk_through(of: str) -> list[str]:
    """Return the blocks of C++ that a section of CONTRIBUTING tells to write."""
    text = (SOURCE / "CONTRIBUTING.md").read_text()
    section = text.partition(f"## {of}")[2].partition("\n## ")[0]
    return re.findall(r"```cpp\n(.*?)```", section, re.DOTALL)


def add_function(copy: Path) -> None:
    """Follow the walk-through of functions in the copy: rule with overload, and typelist."""
    rule, typelist = walk_through("A new elementwise function")
    file = copy / FAMILY
    head, namespace, tail = file.read_text().partition("namespace rules {")
    changed, count = re.subn(r"using hyperbolic = [^;]*;\n", lambda _: typelist, tail)
    assert count == 1
    file.write_text(head + rule + "\n" + namespace + changed)


def add_method(copy: Path) -> None:
    """Follow the walk-through of one-step methods in the copy: tableau, entry and enumerators."""
    tableau, entry, enumerators = walk_through("A new one-step method")
    for name, before, added in (
        ("tableaus.hpp", "\n}  // namespace agrad\n", "\n" + tableau),
        ("methods.ipp", '    {"auto", ', entry),
    ):
        file = copy / ONE_STEP / name
        head, mark, tail = file.read_text().rpartition(before)
        assert mark
        file.write_text(head + added + mark + tail)
    file = copy / ONE_STEP / "methods.hpp"
    changed, count = re.subn(r"enum class ode_one_step_method {[^}]*};\n", lambda _: enumerators, file.read_text())
    assert count == 1
    file.write_text(changed)


def test_a_function_is_one_rule_and_a_method_one_tableau(tmp_path):
    require_compiler_and_cmake()
    pytest.importorskip("pybind11", reason="the module cannot be built: there is no pybind11")
    copy, site = tmp_path / "source", tmp_path / "site"
    copy_sources(copy)
    add_function(copy)
    add_method(copy)
    build_module(copy, site)
    assert "def sech(x: " in (site / "agrad" / "_stan" / "elementwise.pyi").read_text()
    environment = {**os.environ, "PYTHONPATH": str(site)}
    done = subprocess.run([sys.executable, "-c", USER], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
