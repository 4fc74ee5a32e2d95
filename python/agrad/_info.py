"""Finds the C++ part of the installed package, and describes how the package was built."""

import json
from pathlib import Path

from agrad import _processor


def prefix() -> Path:
    """Return the directory into which the build installed the module, the headers and the CMake package."""
    return _processor.FOLDER


def include_dir() -> Path:
    """Return the directory to give to a compiler: it holds ``agrad/agrad.hpp``."""
    return prefix() / "include"


def cmake_dir() -> Path:
    """Return the directory to give to CMake as ``agrad_DIR``: it holds ``agrad-config.cmake``."""
    return prefix() / "lib" / "cmake" / "agrad"


def build_info() -> dict[str, str]:
    """Return what the build chose, by name: version, compiler, SIMD extensions, Eigen, SUNDIALS and the directories."""
    info: dict[str, str] = json.loads((prefix() / "_build_info.json").read_text())
    if _processor.chosen:
        info["SIMD"] = f"{info['SIMD']} {' '.join(_processor.sets)} (the copy for {_processor.chosen})"
    return info | {"include directory": str(include_dir()), "CMake directory": str(cmake_dir())}
