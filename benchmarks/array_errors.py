"""Prints the largest errors of functions of arrays with AVX-512, AVX2 and SSE2 alone, in units in the last place.

    python benchmarks/array_errors.py [--include DIRECTORY] [--eigen DIRECTORY]

Compiles cpp/array_errors.cpp with the compiler of CXX (c++) for each instruction set and runs the programs. The processor must
have AVX-512.
"""

import sys
from pathlib import Path

from instruction_sets import SETS, compiled_programs, lines_of

PROGRAM = Path(__file__).resolve().parent / "cpp" / "array_errors.cpp"


def main() -> int:
    """Print the table."""
    with compiled_programs("Errors of functions of arrays, by instruction set.", PROGRAM) as programs:
        found = {name: lines_of(program) for name, program in programs.items()}
    print(f"| function | {' | '.join(SETS)} |\n|---|{'---|' * len(SETS)}")
    for function in found["AVX-512"]:
        print(f"| `{function}` | {' | '.join(found[name][function][0] for name in SETS)} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
