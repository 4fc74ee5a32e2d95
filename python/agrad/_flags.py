"""Finds what a compiler needs for a C++ program with agrad where the build does not use CMake."""

import sys
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from agrad import _info


def eigen_dir() -> Path:
    """Return the directory that holds ``Eigen/Core``: of the wheel cmeel-eigen, of the environment, or of the system.

    Raises FileNotFoundError if there is none.
    """
    folders = [Path(prefix, "include", "eigen3") for prefix in (sys.prefix, "/usr/local", "/usr")]
    with suppress(PackageNotFoundError):
        folders.insert(0, Path(str(distribution("cmeel-eigen").locate_file("cmeel.prefix/include/eigen3"))))
    for folder in folders:
        if (folder / "Eigen" / "Core").is_file():
            return folder
    raise FileNotFoundError('flags: Eigen was not found; pip install "agrad[cpp]", or install Eigen 3.4 for the system')


def compiler_flags(ode: bool) -> list[str]:
    """Return the words to give to a C++ compiler, behind the program's sources; with ``ode`` those of SUNDIALS, too.

    Raises FileNotFoundError if Eigen, or a SUNDIALS that was installed with agrad, was not found.
    """
    words = ["-std=c++17", f"-I{_info.include_dir()}", f"-I{eigen_dir()}", "-pthread"]
    if not ode:
        return words
    sundials = _info.prefix() / "lib" / "agrad" / "sundials"
    if not sundials.is_dir():
        raise FileNotFoundError("flags: SUNDIALS is not part of this agrad, which was built with another; add its own flags")
    libraries = ("sundials_cvodes", "sundials_idas", "sundials_core", "agrad_sundials_hooks", "m")
    words += [f"-I{sundials / 'include'}", "-DSUNDIALS_STATIC_DEFINE", f"-L{sundials / 'lib'}"]
    return words + [f"-l{name}" for name in libraries]
