"""Imported before the compiled module: loads the copy of it that was compiled for this processor, or raises ImportError.

A build for one processor has one copy, in the package's own folder. A build for all has copies for better processors beside it,
in folders of the processors' names. The environment variable ``AGRAD_PROCESSOR`` takes the one of that name (``x86-64`` is the
one for all), for the same last bits on different machines.
"""

import os
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from agrad._instruction_sets import __file__ as _file_beside
from agrad._instruction_sets import builds

FOLDER = Path(_file_beside).parent
FOR_ALL = "x86-64"


def choose(builds: dict[str, dict[str, bool]], asked: str) -> str:
    """Return the folder of the first build, or of the one ``asked`` for, whose instruction sets the processor has.

    Raises ImportError if there is none.
    """
    names = {folder or FOR_ALL: folder for folder in builds}
    if asked and len(builds) > 1 and asked not in names:
        raise ImportError(f"import agrad: AGRAD_PROCESSOR is {asked}, but must be one of {', '.join(names)}")
    considered = {names[asked]: builds[names[asked]]} if asked and len(builds) > 1 else builds
    for folder, sets in considered.items():
        if all(sets.values()):
            return folder
    *_, least = considered.values()
    missing = [name for name, is_here in least.items() if not is_here]
    raise ImportError(
        f"import agrad: the processor has no {', '.join(missing)}, but must have all that the module was compiled for "
        f"({', '.join(least)}); build agrad on this machine, or once for all processors: "
        "pip install . --config-settings=cmake.define.AGRAD_NATIVE=OFF"
    )


def library(folder: str) -> Path:
    """Return the compiled module in the folder."""
    (file,) = (file for file in (FOLDER / folder).glob("_core.*") if file.suffix != ".pyi")
    return file


def load(folder: str) -> None:
    """Load the compiled module from the folder. The import system finds the one in the package's own folder itself."""
    if folder:
        file = library(folder)
        spec = spec_from_file_location("agrad._core", file)
        assert spec is not None
        assert spec.loader is not None
        module = sys.modules["agrad._core"] = module_from_spec(spec)
        spec.loader.exec_module(module)
        sys.modules["agrad"]._core = module  # type: ignore[attr-defined]


chosen = choose(builds, os.environ.get("AGRAD_PROCESSOR", ""))
sets = list(builds[chosen])
load(chosen)
