"""Compiler, CMake and ctest for the tests that build C++."""

import os
import shutil
import subprocess

import pytest


def require_compiler_and_cmake() -> None:
    """Skip the running test, with one line that says why, where C++ cannot be built."""
    for tool in (os.environ.get("CXX", "c++"), "cmake", "ctest"):
        if shutil.which(tool) is None:
            pytest.skip(f"C++ is not built: there is no {tool}")


def run(*command: object) -> None:
    """Run a command; fail the test with its output if it fails, and skip it where doctest is missing."""
    words = [str(word) for word in command]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if "doctest/doctest.h was not found" in done.stdout:
        pytest.skip("the C++ tests are not built: there is no doctest/doctest.h (Debian: doctest-dev)")
    assert done.returncode == 0, done.stdout
