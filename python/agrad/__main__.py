"""The command ``python -m agrad``: what was built, where the C++ side is, and the demonstration."""

import argparse
import sys
from importlib import import_module

from agrad import _info


def main() -> None:
    """Run the command that the arguments name."""
    parser = argparse.ArgumentParser(prog="python -m agrad", description="Gradients of programs.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("info", help="print version, compiler, libraries and directories of this installation")
    commands.add_parser("include-dir", help="print the directory of the C++ headers")
    commands.add_parser("cmake-dir", help="print the directory for agrad_DIR")
    demo = "fit a population model to the lynx and hare pelts of 1900-1920"
    commands.add_parser("demo", help=demo, add_help=False)  # its own options are its own affair
    arguments, rest = parser.parse_known_args()
    command = arguments.command
    if command == "demo":
        sys.exit(import_module("agrad.demo").main(rest))
    if rest:
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    if command == "info":
        info = _info.build_info()
        width = max(map(len, info))
        print("\n".join(f"{name:<{width}}  {value}" for name, value in info.items()))
    else:
        print(_info.include_dir() if command == "include-dir" else _info.cmake_dir())


if __name__ == "__main__":
    main()
