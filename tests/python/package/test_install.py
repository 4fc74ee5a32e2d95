"""The installed package serves C++ users: `python -m agrad` tells where, and a project builds against it and runs."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from agrad import _flags
from native_tools import BUNDLE, SOURCE, require_compiler_and_cmake, run

pytestmark = pytest.mark.thread_unsafe(reason="builds and installs")

CONSUMER = Path(__file__).resolve().parents[2] / "consumer"
VERSION_HEADER = "agrad/version.hpp"


def agrad_command(*arguments: str) -> str:
    """Return what `python -m agrad` prints."""
    command = [sys.executable, "-m", "agrad", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def test_info_names_what_was_chosen():
    info = dict(re.split(r"\s{2,}", line, maxsplit=1) for line in agrad_command("info").splitlines())
    assert re.match(r"\d+\.\d+\.\d+$", info["version"])
    assert re.match(r"[3-9]\.\d+\.\d+ from .+", info["Eigen"])
    assert re.match(r"7\.\d+\.\d+ from .+", info["SUNDIALS"])
    assert {"compiler", "SIMD", "build type", "pybind11"} <= info.keys()
    assert Path(info["include directory"], VERSION_HEADER).is_file()
    assert Path(info["CMake directory"], "agrad-config.cmake").is_file()


def test_version_is_that_of_the_header():
    header = Path(agrad_command("include-dir"), VERSION_HEADER).read_text()
    parts = re.findall(r"#define AGRAD_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header)
    assert re.search(r"^version +(.+)$", agrad_command("info"), re.MULTILINE)[1] == ".".join(parts)


def test_an_unknown_command_is_refused():
    done = subprocess.run([sys.executable, "-m", "agrad", "nonsense"], capture_output=True, text=True)
    assert done.returncode == 2
    assert "invalid choice: 'nonsense'" in done.stderr


@pytest.mark.parametrize("whole", [False, pytest.param(True, marks=pytest.mark.full)])
def test_consumer_project_builds_and_runs(tmp_path, whole):
    """The program with solvers, for which the compiled library is built, is part of the full check; it is always configured."""
    require_compiler_and_cmake()
    run("cmake", "-S", CONSUMER, "-B", tmp_path, f"-Dagrad_DIR={agrad_command('cmake-dir')}")
    targets = [] if whole else ["--target", "product"]
    run("cmake", "--build", tmp_path, "--parallel", os.cpu_count() or 1, *targets)
    run("ctest", "--test-dir", tmp_path, "--output-on-failure", "--no-tests=error", *([] if whole else ["-R", "product"]))


def test_missing_eigen_is_explained(tmp_path):
    require_compiler_and_cmake()
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.21...4.0)\nproject(p LANGUAGES CXX)\n"
        "set(CMAKE_DISABLE_FIND_PACKAGE_Eigen3 ON)\nfind_package(agrad CONFIG REQUIRED)\n"
    )
    with pytest.raises(AssertionError, match=r'pip install "agrad\[cpp\]"'):
        run("cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-Dagrad_DIR={agrad_command('cmake-dir')}")


VERSION_PROGRAM = """
#include <agrad/agrad.hpp>
#if AGRAD_VERSION != 10000 * AGRAD_VERSION_MAJOR + 100 * AGRAD_VERSION_MINOR + AGRAD_VERSION_PATCH || AGRAD_VERSION < 100
#error "AGRAD_VERSION is not one number that grows with versions"
#endif
int main() {
  agrad::var x = 3.0;
  agrad::var y = x * x;
  y.grad();
  return x.adj() == 6 ? 0 : 1;
}
"""


def test_flags_are_all_that_a_compiler_needs(tmp_path):
    require_compiler_and_cmake()
    (tmp_path / "program.cpp").write_text(VERSION_PROGRAM)
    compiler = os.environ.get("CXX", "c++")
    run(compiler, tmp_path / "program.cpp", *shlex.split(agrad_command("flags")), "-o", tmp_path / "program")
    run(tmp_path / "program")
    if not BUNDLE.is_dir():  # agrad was built with another SUNDIALS
        return
    with_ode = agrad_command("flags", "--ode")
    assert "-lsundials_cvodes" in with_ode
    assert Path(re.search(r"-L(\S+)", with_ode)[1], "libsundials_core.a").is_file()


def test_flags_name_what_is_missing(monkeypatch, tmp_path):
    monkeypatch.setattr(_flags._info, "prefix", lambda: tmp_path)
    with pytest.raises(FileNotFoundError, match="flags: SUNDIALS is not part of this agrad"):
        _flags.compiler_flags(ode=True)
    monkeypatch.setattr(_flags.Path, "is_file", lambda self: False)
    with pytest.raises(FileNotFoundError, match=r'flags: Eigen was not found; pip install "agrad\[cpp\]"'):
        _flags.eigen_dir()


@pytest.mark.parametrize("installs", [False, True])
def test_a_subproject_is_installed_where_it_is_asked_to(tmp_path, installs):
    require_compiler_and_cmake()
    option = "set(AGRAD_INSTALL ON)\n" if installs else ""
    (tmp_path / "CMakeLists.txt").write_text(
        f"cmake_minimum_required(VERSION 3.21...4.0)\nproject(outer LANGUAGES CXX)\nset(AGRAD_ODE OFF)\n{option}"
        f"add_subdirectory({SOURCE} agrad)\n"
    )
    run("cmake", "-S", tmp_path, "-B", tmp_path / "build")
    run("cmake", "--install", tmp_path / "build", "--prefix", tmp_path / "prefix")
    assert (tmp_path / "prefix" / "include" / VERSION_HEADER).is_file() is installs
    described = tmp_path / "prefix" / "share" / "pkgconfig" / "agrad.pc"
    assert described.is_file() is installs
    if installs and shutil.which("pkg-config"):
        eigen = _flags.eigen_dir().parents[1] / "share" / "pkgconfig"
        search = {**os.environ, "PKG_CONFIG_PATH": f"{described.parent}:{eigen}"}
        asked = ["pkg-config", "--variable=includedir", "agrad"]
        found = subprocess.run(asked, check=True, capture_output=True, text=True, env=search).stdout.strip()
        assert (Path(found) / VERSION_HEADER).is_file()
