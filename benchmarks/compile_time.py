"""Prints how long it takes to compile files that only include one of agrad's headers.

    python benchmarks/compile_time.py [--runs N] [header ...]

Wall seconds, median of N runs (3), with -O2 and the compiler of CXX (c++), without ccache; the goal is under 4 s for
agrad/agrad.hpp. Eigen and SUNDIALS are those of the installed package (pip install "agrad[cpp]").
"""

import argparse
import importlib.metadata
import os
import statistics
import subprocess
import time
from pathlib import Path

from agrad import _info

HEADERS = ["agrad/tape/var.hpp", "agrad/agrad.hpp", "agrad/ode.hpp"]


def third_party_directories() -> list[Path]:
    """Return the include directories of Eigen (cmeel-eigen) and of the SUNDIALS bundled with agrad."""
    eigen = importlib.metadata.distribution("cmeel-eigen").locate_file("cmeel.prefix/include/eigen3")
    sundials = _info.prefix() / "lib" / "agrad" / "sundials" / "include"
    return [Path(str(eigen)), sundials]


def seconds_to_compile(header: str, headers: Path) -> float:
    """Return the wall seconds of one compilation of a file that includes nothing but the header."""
    system = [f"-isystem{directory}" for directory in third_party_directories()]
    compiler = os.environ.get("CXX", "c++")
    command = [compiler, "-std=c++17", "-O2", f"-I{headers}", *system, "-xc++", "-", "-c", "-o", os.devnull]
    start = time.perf_counter()
    subprocess.run(command, input=f"#include <{header}>\n", text=True, check=True)
    return time.perf_counter() - start


def main() -> None:
    """Print one line for every header."""
    parser = argparse.ArgumentParser(description="Seconds to compile a file that includes one header.")
    parser.add_argument("headers", nargs="*", default=HEADERS)
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    source = Path(__file__).resolve().parents[1] / "cpp" / "include"
    for header in arguments.headers:
        seconds = statistics.median(seconds_to_compile(header, source) for _ in range(arguments.runs))
        print(f"{header:<32} {seconds:6.2f} s")


if __name__ == "__main__":
    main()
