"""Builds the C++ tests and examples of this source tree and runs them by ctest.

AGRAD_CTEST_BUILD_DIR names a build directory to keep between runs; without it, a temporary one is used.
"""

import os
import shutil
import sys
from pathlib import Path

import pytest

from agrad import _info
from native_tools import require_compiler_and_cmake, run

# The same tests run under sanitizers in the short check.
pytestmark = [pytest.mark.full, pytest.mark.thread_unsafe(reason="builds and runs the C++ tests in one folder")]

SOURCE = Path(__file__).resolve().parents[3]
SUNDIALS = _info.prefix() / "lib" / "agrad" / "sundials"


def test_ctest(tmp_path):
    require_compiler_and_cmake()
    build = Path(os.environ.get("AGRAD_CTEST_BUILD_DIR", tmp_path))
    options = ["-DAGRAD_BUILD_TESTS=ON", "-DAGRAD_BUILD_EXAMPLES=ON", f"-DPython_EXECUTABLE={sys.executable}"]
    if SUNDIALS.is_dir():  # the libraries that this package was built with
        options.append(f"-DAGRAD_SUNDIALS_TREE={SUNDIALS}")
    if shutil.which("ninja"):
        options.append("-GNinja")
    if shutil.which("ccache"):
        options.append("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
    run("cmake", "-S", SOURCE, "-B", build, *options)
    parallel = "--parallel", os.cpu_count() or 1
    run("cmake", "--build", build, *parallel)
    # The consumer project has a test of its own, against the installed package.
    run("ctest", "--test-dir", build, "--output-on-failure", "--no-tests=error", "--label-exclude", "consumer", *parallel)
