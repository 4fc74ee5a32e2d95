"""CONTRIBUTING's walk-through, done to the letter on a copy: one rule in one file, and the function is in Python."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from agrad import _info
from native_tools import require_compiler_and_cmake, run

pytestmark = pytest.mark.thread_unsafe(reason="builds the module")

SOURCE = Path(__file__).resolve().parents[3]
BUNDLE = _info.prefix() / "lib" / "agrad" / "sundials"
NEEDED = ("CMakeLists.txt", "cmake", "cpp", "python")
FAMILY = "cpp/include/agrad/rules/hyperbolic.hpp"

# Run by an interpreter that sees the copy: the function, its derivative, its documentation, programs and NumPy's protocol.
USER = """
import math, numpy as np, agrad as ag
x = np.array([0.0, 0.5, -3.0, 400.0, 800.0])
value, slope = 1 / np.cosh(x[:3]), -np.tanh(x[:3]) / np.cosh(x[:3])
np.testing.assert_allclose(ag.sech(x)[:3], value, rtol=1e-15)
np.testing.assert_allclose(ag.sech(x)[3:], [2 * math.exp(-400), 0.0], rtol=1e-13)
for gradient in (ag.grad(lambda x: np.sum(ag.sech(x))), ag.compile(ag.grad(lambda x: np.sum(ag.sech(x))))):
    np.testing.assert_allclose(gradient(x)[:3], slope, rtol=1e-15)
assert "Hyperbolic secant" in ag.sech.__doc__ and "sech" in ag.__all__
"""


def walk_through() -> tuple[str, str]:
    """Return the two blocks of C++ that CONTRIBUTING tells to write: rule with overload, and typelist."""
    text = (SOURCE / "CONTRIBUTING.md").read_text()
    section = text.partition("## A new elementwise function")[2].partition("\n## ")[0]
    rule, typelist = re.findall(r"```cpp\n(.*?)```", section, re.DOTALL)
    return rule, typelist


def add_function(copy: Path) -> None:
    """Follow the walk-through in the copy."""
    rule, typelist = walk_through()
    file = copy / FAMILY
    head, namespace, tail = file.read_text().partition("namespace rules {")
    changed, count = re.subn(r"using hyperbolic = [^;]*;\n", lambda _: typelist, tail)
    assert count == 1
    file.write_text(head + rule + "\n" + namespace + changed)


def build(copy: Path, site: Path) -> None:
    """Build the copy's module and install it, with the Python files, into a directory for PYTHONPATH."""
    options = ["-DAGRAD_BUILD_PYTHON=ON", f"-DPython_EXECUTABLE={sys.executable}", "-DCMAKE_BUILD_TYPE=Release"]
    options.append("-DCMAKE_CXX_FLAGS_RELEASE=-O0")  # half the time; nobody waits for what it computes
    if BUNDLE.is_dir():
        options.append(f"-DAGRAD_SUNDIALS_TREE={BUNDLE}")
    if shutil.which("ninja"):
        options.append("-GNinja")
    if shutil.which("ccache"):
        options.append("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
    run("cmake", "-S", copy, "-B", copy / "build", *options)
    run("cmake", "--build", copy / "build", "--parallel", os.cpu_count() or 1)
    shutil.copytree(copy / "python" / "agrad", site / "agrad")
    run("cmake", "--install", copy / "build", "--prefix", site / "agrad")


def test_a_function_is_added_by_one_rule_in_one_file(tmp_path, monkeypatch):
    require_compiler_and_cmake()
    pytest.importorskip("pybind11", reason="the module cannot be built: there is no pybind11")
    copy, site = tmp_path / "source", tmp_path / "site"
    copy.mkdir()
    for name in NEEDED:
        source = SOURCE / name
        (shutil.copytree if source.is_dir() else shutil.copy2)(source, copy / name)
    monkeypatch.setenv("CCACHE_BASEDIR", str(copy))  # compilations are known by their paths within the tree
    add_function(copy)
    build(copy, site)
    assert "def sech(x: " in (site / "agrad" / "elementwise.pyi").read_text()
    environment = {**os.environ, "PYTHONPATH": str(site)}
    done = subprocess.run([sys.executable, "-c", USER], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
