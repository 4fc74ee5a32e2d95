"""Faults that the short check must find: each is put into a copy of the sources, whose tests must then fail.

`python tests/mutations.py` tries all, `python tests/mutations.py NAME ...` some. A fault in Python runs tests of Python with a
copy of the installed package; a fault in C++ compiles one test file with the headers of a copy; a fault in the bindings builds
a whole module. The script fails where a fault stays unseen, and where the tests fail without it.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1]
COPIED = ("CMakeLists.txt", "cmake", "cpp")
HEADERS, PACKAGE, BINDINGS = "cpp/include/agrad/", "python/agrad/", "python/bindings/"

PROJECT = """cmake_minimum_required(VERSION 3.21...4.0)
project(mutation LANGUAGES CXX)
add_subdirectory(source)
add_executable(tests {test} {main})
target_include_directories(tests PRIVATE {helpers})
target_compile_options(tests PRIVATE -O0 -UNDEBUG)
target_compile_definitions(tests PRIVATE AGRAD_CHECKED)
target_link_libraries(tests PRIVATE agrad_ode)
"""


@dataclass(frozen=True)
class Mutation:
    """A fault: `old` is once in the file, and is replaced by `new`; the tests must fail."""

    name: str
    file: str
    old: str
    new: str
    tests: str


MUTATIONS = [
    Mutation("rule", HEADERS + "rules/hyperbolic.hpp", "return cosh(x);", "return sinh(x);", "tests/cpp/rules/test_rules.cpp"),
    Mutation(
        "tape",
        HEADERS + "tape/reverse.hpp",
        "if (adjoint != 0) add(end[1], adjoint), add(end[0], adjoint);",
        "if (adjoint != 0) add(end[1], adjoint);",
        "tests/cpp/tape/test_tape.cpp",
    ),
    Mutation(
        "lanes of the tape",
        HEADERS + "tape/reverse.hpp",
        "to[lane] += passed(begin[i].partial, adjoint[lane]);",
        "to[lane] = passed(begin[i].partial, adjoint[lane]);",
        "tests/cpp/tape/test_reach.cpp",
    ),
    Mutation(
        "program",
        HEADERS + "program/products.ipp",
        "rows[(d + k) * m + i]",
        "rows[k * m + i]",
        "tests/cpp/program/test_products.cpp",
    ),
    Mutation(
        "solve",
        HEADERS + "solve/one_step/tableaus.hpp",
        "0.9800255409045097, 1.0, 1.0};",
        "0.98, 1.0, 1.0};",
        "tests/cpp/solve/one_step/test_one_step.cpp",
    ),
    Mutation(
        "pivots that are kept",
        HEADERS + "solve/algebra/sparse_lu.ipp",
        "std::abs(pivot) > 0 && std::abs(pivot) >= least_pivot * largest &&",
        "std::abs(pivot) > 0 &&",
        "tests/cpp/solve/algebra/test_sparse_lu.cpp",
    ),
    Mutation(
        "reduction",
        PACKAGE + "_numpy/calculus.py",
        "np.sum(steps * heights, axis=axis) / 2.0",
        "np.sum(steps * heights, axis=axis) / 2.01",
        "tests/python/arrays/test_numpy_functions.py",
    ),
    Mutation(
        "Jacobian of bounds",
        PACKAGE + "_constraints/bounds.py",
        "+ log_inv_logit(x) + log_inv_logit(-x)",
        "+ log_inv_logit(x) + log_inv_logit(x)",
        "tests/python/constraints",
    ),
    Mutation(
        "affine",
        PACKAGE + "_constraints/bounds.py",
        "np.sum(np.log(self.multiplier) + free * 0.0)",
        "np.sum(np.log(self.multiplier))",
        "tests/python/constraints",
    ),
    Mutation(
        "broadcasting",
        BINDINGS + "arrays/array.cpp",
        "place -= stride[d] * index[d];",
        "place -= stride[d];",
        "tests/python/arrays/test_array.py",
    ),
]


def mutate(path: Path, mutation: Mutation) -> None:
    """Put the fault into a file of the copy."""
    text = path.read_text()
    assert text.count(mutation.old) == 1, f"{mutation.name}: {mutation.old!r} is {text.count(mutation.old)} times in {path}"
    path.write_text(text.replace(mutation.old, mutation.new))


def python_tests_fail(mutation: Mutation | None, tests: str, work: Path) -> str:
    """Return the output of tests of Python with a copy of the package, or nothing if they pass."""
    import agrad

    package = Path(agrad.__file__).parent
    shutil.copytree(package, work / "site" / "agrad", ignore=shutil.ignore_patterns("__pycache__"))
    if mutation:
        mutate(work / "site" / "agrad" / mutation.file.removeprefix(PACKAGE), mutation)
    return output_if_tests_fail(tests, work)


def bindings_tests_fail(mutation: Mutation | None, tests: str, work: Path) -> str:
    """Return the output of tests of Python with a module that is built from a copy, or nothing if they pass."""
    sys.path.insert(0, str(SOURCE / "tests" / "python"))
    from native_tools import build_module, copy_sources

    copy_sources(work / "source")
    if mutation:
        mutate(work / "source" / mutation.file, mutation)
    build_module(work / "source", work / "site")
    return output_if_tests_fail(tests, work)


def output_if_tests_fail(tests: str, work: Path) -> str:
    """Return the output of tests of Python with the package in work / "site", or nothing if they pass."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "2", "-p", "no:cacheprovider", tests]
    done = subprocess.run(
        command, cwd=SOURCE, env=os.environ | {"PYTHONPATH": str(work / "site")}, capture_output=True, text=True
    )
    return "" if done.returncode == 0 else done.stdout + done.stderr


def cpp_tests_fail(mutation: Mutation | None, tests: str, work: Path) -> str:
    """Return the output of a test file of C++ compiled with the headers of a copy, or nothing if it passes."""
    (work / "source").mkdir()
    for name in COPIED:
        source = SOURCE / name
        (shutil.copytree if source.is_dir() else shutil.copy2)(source, work / "source" / name)
    if mutation:
        mutate(work / "source" / mutation.file, mutation)
    helpers = SOURCE / "tests" / "cpp"
    (work / "CMakeLists.txt").write_text(PROJECT.format(test=SOURCE / tests, main=helpers / "main.cpp", helpers=helpers))
    compiler = os.environ.get("CXX") or ("clang++" if shutil.which("clang++") else "c++")
    options = [f"-DCMAKE_CXX_COMPILER={compiler}", f"-DPython_EXECUTABLE={sys.executable}", "-GNinja"]
    if tree := os.environ.get("AGRAD_SUNDIALS_TREE"):
        options.append(f"-DAGRAD_SUNDIALS_TREE={tree}")
    for command in (
        ["cmake", "-S", work, "-B", work / "build", *options],
        ["cmake", "--build", work / "build", "--target", "tests"],
    ):
        subprocess.run(command, check=True, capture_output=True)  # a fault that does not compile is none
    done = subprocess.run([work / "build" / "tests"], capture_output=True, text=True)
    return "" if done.returncode == 0 else done.stdout + done.stderr


def is_caught(mutation: Mutation) -> bool:
    """Whether the tests fail with the fault and pass without it."""
    fail = cpp_tests_fail if mutation.tests.endswith(".cpp") else python_tests_fail
    if mutation.file.startswith(BINDINGS):
        fail = bindings_tests_fail
    outputs = []
    for each in (mutation, None):
        with tempfile.TemporaryDirectory() as folder:
            outputs.append(fail(each, mutation.tests, Path(folder)))
    if outputs[1]:
        print(f"{mutation.name}: {mutation.tests} fails without the fault:\n{outputs[1][-2000:]}")
    print(f"{mutation.name}: {'caught' if outputs[0] else 'NOT caught'} by {mutation.tests}", flush=True)
    return bool(outputs[0]) and not outputs[1]


def main() -> int:
    """Try the faults that are named, or all."""
    chosen = [m for m in MUTATIONS if not sys.argv[1:] or m.name in sys.argv[1:]]
    caught = [is_caught(mutation) for mutation in chosen]
    print(f"{sum(caught)} of {len(caught)} faults are caught")
    return 0 if all(caught) else 1


if __name__ == "__main__":
    sys.exit(main())
