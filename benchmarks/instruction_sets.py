"""Prints what the functions that are computed in octets cost by instruction set and with the module's own flags.

    python benchmarks/instruction_sets.py [--include DIRECTORY] [--eigen DIRECTORY]

Compiles cpp/octets.cpp with the compiler of CXX (c++) for each instruction set, with the flags of the Python module, and with
those of a C++ project on this machine, runs the programs in turns, and prints a table: nanoseconds a number with the first set
that the machine has, and the ratios of the others, least of five runs. Fails where a result is not that of plain loops, or
where AVX2, which has the same fused multiply-adds, gives other bits for a density than AVX-512.
"""

import argparse
import contextlib
import importlib.metadata
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "cpp" / "include"
PROGRAM = Path(__file__).resolve().parent / "cpp" / "octets.cpp"
SETS = {
    "AVX-512": ["-O3", "-march=x86-64-v4", "-fno-math-errno"],
    "AVX2": ["-O3", "-march=x86-64-v3", "-fno-math-errno"],
    "SSE2": ["-O3", "-march=x86-64", "-fno-math-errno"],
    "module": ["-O3", "-march=native"],  # what cmake/AgradOptions.cmake gives
    "native -O2": ["-O2", "-march=native"],
}
FLAGS = ["-std=c++17", "-DNDEBUG"]


def supported() -> dict[str, list[str]]:
    """Return the sets that this machine has, as far as Linux tells."""
    processor = Path("/proc/cpuinfo")
    lacks = processor.exists() and "avx512dq" not in processor.read_text()
    return {name: flags for name, flags in SETS.items() if not (lacks and name == "AVX-512")}


def compiled(source: Path, name: str, include: Path, eigen: Path, directory: Path) -> Path:
    """Compile a program with the flags of that name; return it."""
    program = directory / name.replace(" ", "_")
    places = [f"-I{include}", f"-isystem{eigen}"]
    command = [os.environ.get("CXX", "c++"), *FLAGS, *SETS[name], *places, str(source), "-o", str(program)]
    subprocess.run(command, check=True)
    return program


@contextlib.contextmanager
def compiled_programs(description: str, source: Path) -> Iterator[dict[str, Path]]:
    """Read the command line and compile a program for each instruction set; yield the programs by the set's name."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--include", type=Path, default=SOURCE, help="agrad's headers, those of this copy by default")
    parser.add_argument("--eigen", type=Path, help="Eigen's headers, those of cmeel-eigen by default")
    given = parser.parse_args()
    eigen = given.eigen or importlib.metadata.distribution("cmeel-eigen").locate_file("cmeel.prefix/include/eigen3")
    with tempfile.TemporaryDirectory() as directory:
        places = given.include, Path(str(eigen)), Path(directory)
        yield {name: compiled(source, name, *places) for name in supported()}


def lines_of(program: Path) -> dict[str, list[str]]:
    """Run a program; return nanoseconds, error and bits by the name of the function."""
    output = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    return {name: rest for name, *rest in (line.split(";") for line in output.splitlines())}


def main() -> int:
    """Print the table; return the number of functions whose results are wrong."""
    with compiled_programs("Functions in octets, by instruction set.", PROGRAM) as programs:
        runs = [{name: lines_of(program) for name, program in programs.items()} for _ in range(5)]
    sets = list(runs[0])
    print(f"| | {' | '.join([f'{sets[0]}, ns', *sets[1:]])} |\n|---|{'---|' * len(sets)}")
    wrong = 0
    for function in runs[0][sets[0]]:
        least = {name: min(float(run[name][function][0]) for run in runs) for name in sets}
        ratios = [f"{least[name] / least[sets[0]]:.2f}" for name in sets[1:]]
        print(f"| {function} | {' | '.join([format(least[sets[0]], '.2f'), *ratios])} |")
        is_wrong = any(not float(runs[0][name][function][1]) < 1e-12 for name in sets)
        bits = {runs[0][name][function][2] for name in ("AVX-512", "AVX2") if name in sets}
        is_other = "lpdf" in function and len(bits) > 1
        if is_wrong or is_other:
            wrong += 1
            print(f"instruction_sets: {function} is {'wrong' if is_wrong else 'another number with AVX2'}")
    return wrong


if __name__ == "__main__":
    sys.exit(main())
