"""Prints how long it takes to compile files that only include one header: agrad's, and Eigen's as a yardstick.

    python benchmarks/compile_time.py [--runs N] [--limit RATIO] [--system DIRECTORY ...] [header ...]

Processor seconds with -O2 and the compiler of CXX (c++), without ccache, least of N runs (3), and their ratio to
<Eigen/Core>; then the same where the compiled library is used (AGRAD_COMPILED). The goal for agrad/agrad.hpp is 2 s;
because machines differ and are busy, what ctest checks (--limit) is the ratio of the headers alone. Eigen and SUNDIALS are
looked for in the directories that are named, else they are those of the installed package (pip install "agrad[cpp]").
"""

import argparse
import importlib.metadata
import os
import resource
import subprocess
import sys
from pathlib import Path

YARDSTICK = "Eigen/Core"
HEADERS = ["agrad/tape/var.hpp", "agrad/agrad.hpp", "agrad/ode.hpp", "agrad/dae.hpp"]
SOURCE = Path(__file__).resolve().parents[1] / "cpp" / "include"


def installed_directories() -> list[str]:
    """Return the include directories of Eigen (cmeel-eigen) and of the SUNDIALS bundled with agrad."""
    from agrad import _info

    eigen = importlib.metadata.distribution("cmeel-eigen").locate_file("cmeel.prefix/include/eigen3")
    return [str(eigen), str(_info.prefix() / "lib" / "agrad" / "sundials" / "include")]


def seconds_to_compile(header: str, system: list[str], *flags: str) -> float:
    """Return the processor seconds of one compilation of a file that includes nothing but the header."""
    compiler = os.environ.get("CXX", "c++")
    directories = [f"-I{SOURCE}", *(f"-isystem{directory}" for directory in system)]
    command = [compiler, "-std=c++17", "-O2", *flags, *directories, "-xc++", "-", "-c", "-o", os.devnull]
    environment = os.environ | {"CCACHE_DISABLE": "1"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, input=f"#include <{header}>\n", text=True, check=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> int:
    """Print one line for every header; return how many are beyond the limit."""
    parser = argparse.ArgumentParser(description="Seconds to compile a file that includes one header.")
    parser.add_argument("headers", nargs="*", default=HEADERS)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--limit", type=float, default=float("inf"), help="most that a header may cost, in units of Eigen/Core")
    parser.add_argument("--system", action="append", help="include directory of Eigen or SUNDIALS")
    arguments = parser.parse_args()
    system = arguments.system or installed_directories()
    cases = [(YARDSTICK,), *((header, *flags) for header in arguments.headers for flags in ([], ["-DAGRAD_COMPILED"]))]
    # In turns, so that a machine which is busy for a while slows all of them down.
    runs = [[seconds_to_compile(header, system, *flags) for header, *flags in cases] for _ in range(arguments.runs)]
    yardstick, *least = (min(column) for column in zip(*runs, strict=True))
    print(f"{YARDSTICK:<24} {yardstick:6.2f} s")
    beyond = 0
    for header, alone, compiled in zip(arguments.headers, least[::2], least[1::2], strict=True):
        ratio = alone / yardstick
        print(f"{header:<24} {alone:6.2f} s {ratio:6.2f} x", end=", with the compiled library ")
        print(f"{compiled:6.2f} s {compiled / yardstick:6.2f} x")
        if ratio > arguments.limit:
            beyond += 1
            print(f"compile_time: {header} costs {ratio:.2f} times {YARDSTICK}, but must cost at most {arguments.limit:g}")
    return beyond


if __name__ == "__main__":
    sys.exit(main())
