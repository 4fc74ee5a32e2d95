"""A module built for one processor says so at import where it is run on a lesser one, before any of its instructions runs."""

import json
import subprocess
import sys

import pytest

from agrad import _info
from agrad._instruction_sets import of_build

pytestmark = pytest.mark.thread_unsafe(reason="starts processes")

#: Imports agrad on a processor that has the given sets, and prints the error and whether the compiled module was loaded.
IMPORT = """
import json, sys, types
sets = types.ModuleType("agrad._instruction_sets")
sets.of_build = json.loads(sys.argv[1])
sys.modules["agrad._instruction_sets"] = sets
error = None
try:
    import agrad
except ImportError as raised:
    error = str(raised)
print(json.dumps([error, "agrad._core" in sys.modules]))
"""


def import_with(sets: dict[str, bool]) -> tuple[str | None, bool]:
    """Return the error of an import where the processor has the sets that are true, and whether `_core` was loaded."""
    done = subprocess.run([sys.executable, "-c", IMPORT, json.dumps(sets)], check=True, capture_output=True, text=True)
    error, loaded = json.loads(done.stdout)
    return error, loaded


def test_this_processor_has_what_the_module_was_built_for():
    assert all(of_build.values())
    assert of_build.keys() <= set(_info.build_info()["SIMD"].split())


def test_a_lesser_processor_is_told_before_the_module_is_loaded():
    error, loaded = import_with({"AVX": True, "AVX2": True, "AVX512F": False, "AVX512VL": False})
    assert error == (
        "import agrad: the processor has no AVX512F, AVX512VL, but must have all that the module was compiled for "
        "(AVX, AVX2, AVX512F, AVX512VL); build agrad on this machine, or once for all processors: "
        "pip install . --config-settings=cmake.define.AGRAD_NATIVE=OFF"
    )
    assert not loaded


@pytest.mark.parametrize("sets", [{}, {"AVX": True, "AVX2": True}], ids=["for all processors", "for this one"])
def test_a_processor_that_has_all_loads_the_module(sets):
    assert import_with(sets) == (None, True)
