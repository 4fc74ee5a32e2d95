"""Compiler, CMake and ctest for the tests that build C++, and a module built from a copy of the sources."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from agrad import _info

SOURCE = Path(__file__).resolve().parents[2]
BUNDLE = _info.prefix() / "lib" / "agrad" / "sundials"
MODULE_SOURCES = ("CMakeLists.txt", "cmake", "cpp", "python")


def require_compiler_and_cmake() -> None:
    """Skip the running test, with one line that says why, where C++ cannot be built."""
    for tool in (os.environ.get("CXX", "c++"), "cmake", "ctest"):
        if shutil.which(tool) is None:
            pytest.skip(f"C++ is not built: there is no {tool}")


def run(*command: object, environment: dict[str, str] | None = None) -> None:
    """Run a command; fail the test with its output if it fails, and skip it where doctest is missing."""
    words = [str(word) for word in command]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)
    if "doctest/doctest.h was not found" in done.stdout:
        pytest.skip("the C++ tests are not built: there is no doctest/doctest.h (Debian: doctest-dev)")
    assert done.returncode == 0, done.stdout


def copy_sources(copy: Path) -> None:
    """Copy what the module is built from into a new directory."""
    copy.mkdir()
    for name in MODULE_SOURCES:
        source = SOURCE / name
        (shutil.copytree if source.is_dir() else shutil.copy2)(source, copy / name)


def build_module(copy: Path, site: Path) -> None:
    """Build the module of a copy and install it, with the Python files, into a directory for PYTHONPATH."""
    options = ["-DAGRAD_BUILD_PYTHON=ON", f"-DPython_EXECUTABLE={sys.executable}", "-DCMAKE_BUILD_TYPE=Release"]
    options.append("-DCMAKE_CXX_FLAGS_RELEASE=-O0")  # half the time; nobody waits for what it computes
    if shutil.which("clang++") and "CXX" not in os.environ:  # a third of what g++ takes
        options.append("-DCMAKE_CXX_COMPILER=clang++")
    options.append("-DAGRAD_GROUP_SIZE=8")  # fewer compilers read pybind11
    if BUNDLE.is_dir():
        options.append(f"-DAGRAD_SUNDIALS_TREE={BUNDLE}")
    if shutil.which("ninja"):
        options.append("-GNinja")
    environment = dict(os.environ)
    if shutil.which("ccache"):
        options.append("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
        environment["CCACHE_BASEDIR"] = str(copy)  # compilations are known by their paths within the tree
    run("cmake", "-S", copy, "-B", copy / "build", *options, environment=environment)
    run("cmake", "--build", copy / "build", "--parallel", os.cpu_count() or 1, environment=environment)
    shutil.copytree(copy / "python" / "agrad", site / "agrad")
    run("cmake", "--install", copy / "build", "--prefix", site / "agrad")
