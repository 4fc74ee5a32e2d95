"""Prints the largest errors of functions of arrays with AVX-512, AVX2 and SSE2 alone, in units in the last place.

    python benchmarks/array_errors.py [--include DIRECTORY] [--eigen DIRECTORY]

Compiles cpp/array_errors.cpp with the compiler of CXX (c++) for each instruction set that the machine has, and runs the
programs.
"""

import sys
from pathlib import Path

from instruction_sets import compiled_programs, lines_of

PROGRAM = Path(__file__).resolve().parent / "cpp" / "array_errors.cpp"


def main() -> int:
    """Print the table."""
    with compiled_programs("Errors of functions of arrays, by instruction set.", PROGRAM) as programs:
        found = {name: lines_of(program) for name, program in programs.items()}
    print(f"| function | {' | '.join(found)} |\n|---|{'---|' * len(found)}")
    for function in next(iter(found.values())):
        print(f"| `{function}` | {' | '.join(each[function][0] for each in found.values())} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
