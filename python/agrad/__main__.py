"""The command ``python -m agrad``: what was built, where the C++ side is, and the demonstration."""

import argparse
import shlex
import sys
from importlib import import_module

from agrad import _flags, _info


def main() -> int:
    """Run the command that the arguments name; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m agrad", description="Gradients of programs.")
    parser.add_argument("--version", action="version", version=f"agrad {_info.build_info()['version']}")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("info", help="print version, compiler, libraries and directories of this installation")
    commands.add_parser("include-dir", help="print the directory of the C++ headers")
    commands.add_parser("cmake-dir", help="print the directory for agrad_DIR")
    flags = commands.add_parser("flags", help="print what a C++ compiler needs, for builds without CMake")
    flags.add_argument("--ode", action="store_true", help="with SUNDIALS, for <agrad/ode.hpp> and <agrad/dae.hpp>")
    demo_help = "fit a population model to the lynx and hare pelts of 1900-1920"
    commands.add_parser("demo", help=demo_help, add_help=False)  # has arguments of its own
    known, rest = parser.parse_known_args()
    if known.command == "demo":
        status: int = import_module("agrad.demo").main(rest)
        return status
    if rest:
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    if known.command == "flags":
        try:
            print(shlex.join(_flags.compiler_flags(known.ode)))
        except FileNotFoundError as error:
            parser.error(str(error))
    elif known.command == "info":
        info = _info.build_info()
        width = max(map(len, info))
        print("\n".join(f"{name:<{width}}  {value}" for name, value in info.items()))
    else:
        print(_info.include_dir() if known.command == "include-dir" else _info.cmake_dir())
    return 0


if __name__ == "__main__":
    sys.exit(main())
