"""Prints how long it takes to compile files that only include one header: agrad's, and Eigen's as a yardstick.

    python benchmarks/compile_time.py [--runs N] [--limit RATIO] [--system DIRECTORY ...] [header ...]

Processor seconds with -O2 and the compiler of CXX (c++), without ccache, least of N runs (3), and their ratio to
<Eigen/Core>; then the same where the compiled library is used (AGRAD_COMPILED). The goal for agrad/agrad.hpp is 2 s. With
--limit nothing is timed: the size of the preprocessed headers, which is the same on a busy machine, must be at most RATIO
times that of <Eigen/Core>. Eigen and SUNDIALS are looked for in the directories that are named, else they are those of the
installed package (pip install "agrad[cpp]").
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


def compiler_of(header: str, system: list[str], *flags: str) -> tuple[list[str], str]:
    """Return the compiler's command for a file that includes nothing but the header, without its last words, and the file."""
    directories = [f"-I{SOURCE}", *(f"-isystem{directory}" for directory in system)]
    return [os.environ.get("CXX", "c++"), "-std=c++17", "-O2", *flags, *directories, "-xc++", "-"], f"#include <{header}>\n"


def size_of(header: str, system: list[str]) -> int:
    """Return the characters of a header with all that it includes."""
    command, file = compiler_of(header, system)
    return len(subprocess.run([*command, "-E", "-P"], input=file, text=True, check=True, capture_output=True).stdout)


def seconds_to_compile(header: str, system: list[str], *flags: str) -> float:
    """Return the processor seconds of one compilation of a file that includes nothing but the header."""
    command, file = compiler_of(header, system, *flags)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = os.environ | {"CCACHE_DISABLE": "1"}
    subprocess.run([*command, "-c", "-o", os.devnull], input=file, text=True, check=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def check_sizes(headers: list[str], system: list[str], limit: float) -> int:
    """Print the size of every header; return how many are beyond the limit, in units of the yardstick."""
    yardstick = size_of(YARDSTICK, system)
    beyond = 0
    for header in headers:
        ratio = size_of(header, system) / yardstick
        print(f"{header:<24} has {ratio:.2f} times the text of {YARDSTICK}, and must have at most {limit:g}")
        beyond += ratio > limit
    return beyond


def print_times(headers: list[str], system: list[str], runs: int) -> None:
    """Print one line for every header."""
    cases = [(YARDSTICK,), *((header, *flags) for header in headers for flags in ([], ["-DAGRAD_COMPILED"]))]
    # In turns, so that a machine which is busy for a while slows all of them down.
    seconds = [[seconds_to_compile(header, system, *flags) for header, *flags in cases] for _ in range(runs)]
    yardstick, *least = (min(column) for column in zip(*seconds, strict=True))
    print(f"{YARDSTICK:<24} {yardstick:6.2f} s")
    for header, alone, compiled in zip(headers, least[::2], least[1::2], strict=True):
        print(f"{header:<24} {alone:6.2f} s {alone / yardstick:6.2f} x", end=", with the compiled library ")
        print(f"{compiled:6.2f} s {compiled / yardstick:6.2f} x")


def main() -> int:
    """Print the times, or with a limit check the sizes; return how many headers are beyond it."""
    parser = argparse.ArgumentParser(description="Seconds to compile a file that includes one header.")
    parser.add_argument("headers", nargs="*", default=HEADERS)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--limit", type=float, help="most text that a header may have, in units of Eigen/Core")
    parser.add_argument("--system", action="append", help="include directory of Eigen or SUNDIALS")
    arguments = parser.parse_args()
    system = arguments.system or installed_directories()
    if arguments.limit is not None:
        return check_sizes(arguments.headers, system, arguments.limit)
    print_times(arguments.headers, system, arguments.runs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
