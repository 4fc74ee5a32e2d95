"""The module loads the copy for its processor, and says so at import where it has none, before any of its instructions runs."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from agrad import _info, _processor
from agrad._instruction_sets import builds
from native_tools import require_compiler_and_cmake, run

pytestmark = pytest.mark.thread_unsafe(reason="starts processes")

SOURCE = Path(__file__).resolve().parents[3]

#: Imports agrad where the table of builds is another one; prints the error, whether the module was loaded, and its file.
IMPORT = """
import json, sys, types
sets = types.ModuleType("agrad._instruction_sets")
sets.builds, sets.__file__ = json.loads(sys.argv[1]), sys.argv[2]
sys.modules["agrad._instruction_sets"] = sets
error = None
try:
    import agrad
except ImportError as raised:
    error = str(raised)
loaded = "agrad._core" in sys.modules
print(json.dumps([error, loaded, sys.modules["agrad._core"].__file__ if loaded and error is None else None]))
"""
LESSER = {"AVX": True, "AVX2": True, "AVX512F": False, "AVX512VL": False}
FOR_ALL = {"x86-64-v4": LESSER, "x86-64-v3": {"AVX": True, "AVX2": True}, "": {}}


def import_with(table: dict[str, dict[str, bool]], folder: Path = _processor.FOLDER, asked: str = "") -> list:
    """Return the error of an import with this table of builds in the folder, whether `_core` was loaded, and its file."""
    command = [sys.executable, "-c", IMPORT, json.dumps(table), str(folder / "_instruction_sets.so")]
    environment = {**os.environ, "AGRAD_PROCESSOR": asked}
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout)


def test_this_processor_has_what_the_module_was_built_for():
    assert all(builds[_processor.chosen].values())
    assert builds[_processor.chosen].keys() <= set(_info.build_info()["SIMD"].split())


def test_a_lesser_processor_is_told_before_the_module_is_loaded():
    error, loaded, _ = import_with({"": LESSER})
    assert error == (
        "import agrad: the processor has no AVX512F, AVX512VL, but must have all that the module was compiled for "
        "(AVX, AVX2, AVX512F, AVX512VL); build agrad on this machine, or once for all processors: "
        "pip install . --config-settings=cmake.define.AGRAD_NATIVE=OFF"
    )
    assert not loaded


@pytest.mark.parametrize("sets", [{}, {"AVX": True, "AVX2": True}], ids=["for all processors", "for this one"])
def test_a_processor_that_has_all_loads_the_module(sets):
    assert import_with({"": sets})[0] is None


@pytest.mark.parametrize(
    ("asked", "folder"), [("", "x86-64-v3"), ("x86-64", ""), ("x86-64-v3", "x86-64-v3")], ids=["best", "for all", "asked for"]
)
def test_the_best_copy_that_the_processor_can_run_is_loaded(tmp_path, asked, folder):
    module = _processor.library(_processor.chosen)
    for each in FOR_ALL:  # one module in the place of all, so that any processor can load it
        (tmp_path / each).mkdir(exist_ok=True)
        (tmp_path / each / module.name).symlink_to(module)
    error, loaded, file = import_with(FOR_ALL, tmp_path, asked)
    assert error is None
    assert loaded
    assert folder == "" or Path(file).parent == tmp_path / folder


def test_what_was_asked_for_must_exist_and_run():
    assert import_with(FOR_ALL, asked="sparc")[0] == (
        "import agrad: AGRAD_PROCESSOR is sparc, but must be one of x86-64-v4, x86-64-v3, x86-64"
    )
    assert "the processor has no AVX512F, AVX512VL" in import_with(FOR_ALL, asked="x86-64-v4")[0]


def test_a_build_for_all_processors_has_copies_for_better_ones(tmp_path):
    require_compiler_and_cmake()
    pytest.importorskip("pybind11", reason="the module cannot be built: there is no pybind11")
    options = ["-DAGRAD_BUILD_PYTHON=ON", "-DAGRAD_NATIVE=OFF", f"-DPython_EXECUTABLE={sys.executable}"]
    bundle = _info.prefix() / "lib" / "agrad" / "sundials"
    if bundle.is_dir():
        options.append(f"-DAGRAD_SUNDIALS_TREE={bundle}")
    run("cmake", "-S", SOURCE, "-B", tmp_path, *options)
    table = (tmp_path / "instruction_sets" / "builds.inc").read_text()
    if "x86-64" not in table:
        pytest.skip("the processor has no copies of its own")
    assert [line.split('"')[1] for line in table.splitlines()] == ["x86-64-v4", "x86-64-v3", ""]
    for line, added in zip(table.splitlines(), ('"AVX512F"', '"AVX2"', "{}"), strict=True):
        assert added in line
