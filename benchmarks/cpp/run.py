"""Times agrad's gradients beside those of other libraries, and prints one table.

    benchmarks/cpp/setup.sh DIR                                       # once: fetches the other libraries
    python benchmarks/cpp/run.py --peers DIR --out DIR                # everything: four minutes to compile, six to run
    python benchmarks/cpp/run.py --out DIR --libraries agrad,hand --cases normal,product --forms loop --sizes 1000

Builds the drivers with CMake below OUT/build, runs every row in a process of its own, writes OUT/results.csv and OUT/table.md,
and prints the table. A gradient that differs from the one written by hand by more than 1e-10 is printed as WRONG; the exit
status is then 1, as where a driver fails.
"""

import argparse
import csv
import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, fields
from pathlib import Path

from table import Result, markdown

HERE = Path(__file__).resolve().parent
LIBRARIES = ["agrad", "stan", "cppad", "adolc", "sacado", "hand"]  # hand: gradients written by hand
PEERS = {"stan", "cppad", "adolc", "sacado"}
CHAIN = "chain x = sin(x) + x c"
LARGE, LARGEST = "100000", "100000000"  # the sizes at which memory is measured, the second one of the chain alone


def arguments() -> argparse.Namespace:
    """Return what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--peers", type=Path, help="the directory that setup.sh filled; without it, agrad and the gradient by hand"
    )
    parser.add_argument("--out", type=Path, required=True, help="where to build, and to write results.csv and table.md")
    parser.add_argument("--libraries", help="a choice of " + ",".join(LIBRARIES))
    parser.add_argument("--cases", help="parts of titles, as in 'normal,product'")
    parser.add_argument("--forms", help="a choice of loop,eigen,library")
    parser.add_argument("--sizes", help="a choice of n, as in '10,1000'")
    parser.add_argument("--repetitions", type=int, default=15, help="of which the median is taken (%(default)s)")
    parser.add_argument("--timeout", type=float, default=120, help="seconds for one row of one library (%(default)s)")
    parser.add_argument("--cpu", type=int, help="the processor to pin the measurements to")
    parser.add_argument("--chain", action="store_true", help="also the chain of 1e8 operations (agrad only; takes 1 GB)")
    parser.add_argument("--no-build", action="store_true", help="run the drivers that are there")
    chosen = parser.parse_args()
    known = [name for name in LIBRARIES if chosen.peers or name not in PEERS]
    chosen.libraries = chosen.libraries.split(",") if chosen.libraries else known
    for name in chosen.libraries:
        if name not in known:
            parser.error(
                f"--libraries: {name} is not one of {', '.join(known)}" + ("" if chosen.peers else "; others need --peers")
            )
    if chosen.peers and not (chosen.peers / "httpstan").is_dir():
        parser.error(f"--peers: {chosen.peers} holds no libraries; run benchmarks/cpp/setup.sh {chosen.peers} first")
    return chosen


def build(chosen: argparse.Namespace) -> None:
    """Compile the chosen drivers."""
    directory = chosen.out / "build"
    options = {
        "CMAKE_BUILD_TYPE": "Release",
        "AGRAD_BUILD_BENCHMARKS": "ON",
        "AGRAD_ODE": "OFF",
        "AGRAD_PEERS_DIR": chosen.peers.resolve() if chosen.peers else "",
        "Python_EXECUTABLE": sys.executable,
    }
    definitions = [f"-D{name}={value}" for name, value in options.items()]
    subprocess.run(["cmake", "-S", HERE.parents[1], "-B", directory, *definitions], check=True, stdout=subprocess.DEVNULL)
    targets = [f"benchmark_{name}" for name in chosen.libraries]
    if subprocess.run(["cmake", "--build", directory, "--target", *targets], stdout=sys.stderr).returncode:
        sys.exit("run.py: a driver does not compile; the compiler's messages are above")


class Driver:
    """The program of one library."""

    def __init__(self, name: str, chosen: argparse.Namespace) -> None:
        self.program = chosen.out / "build" / "benchmarks" / "cpp" / f"benchmark_{name}"
        self.directory = chosen.out / "build"  # ADOL-C writes long tapes into files
        self.timeout = chosen.timeout
        self.prefix = ["taskset", "-c", str(chosen.cpu)] if chosen.cpu is not None else []
        self.repetitions = ["--repetitions", str(chosen.repetitions)]
        listed = subprocess.run([self.program, "--list"], check=True, capture_output=True, text=True).stdout.splitlines()
        self.library = listed[0]
        self.rows = [tuple(line.split("|")) for line in listed[1:]]

    def ask(self, action: str, row: tuple[str, ...]) -> list[str]:
        """Return the status and the figures that the program prints for a row; a failure is a status."""
        command = [*self.prefix, self.program.resolve(), action, *row, *self.repetitions]
        try:
            ran = subprocess.run(command, capture_output=True, text=True, timeout=self.timeout, cwd=self.directory)
        except subprocess.TimeoutExpired:
            return ["TIMEOUT"]
        return ran.stdout.strip().split(",") if ran.returncode == 0 else [f"FAILED ({ran.returncode})"]

    def time(self, row: tuple[str, ...]) -> Result:
        """Time one row."""
        status, *figures = self.ask("--row", row)
        return Result(*row[:2], int(row[2]), self.library, row[3], status, *(figures if status == "ok" else []))

    def memory(self, row: tuple[str, ...]) -> Result:
        """Measure the memory of one row: the bytes an operation take the place of the ratio."""
        status, *figures = self.ask("--memory", row)
        title = f"bytes an operation: {row[0]}"
        if status != "ok":
            return Result(title, row[1], int(row[2]), self.library, row[3], status)
        _, ns, each = figures
        return Result(title, row[1], int(row[2]), self.library, row[3], status, "", ns, each)


def results(chosen: argparse.Namespace) -> Iterator[Result]:
    """Measure all chosen rows, one row of all libraries after the other."""
    drivers = [Driver(name, chosen) for name in chosen.libraries]
    for row in dict.fromkeys(row[:3] for driver in drivers for row in driver.rows):
        title, form, size = row
        if title == CHAIN or not is_chosen(chosen, title, form, size):
            continue
        for driver in drivers:
            yield from (driver.time(own[:4]) for own in driver.rows if own[:3] == row)
    sizes = {LARGE, LARGEST} if chosen.chain else {LARGE}
    for driver in drivers:
        for *row, has_memory in driver.rows:
            title, form, size, _ = row
            if has_memory == "1" and size in sizes and (title == CHAIN or is_chosen(chosen, title, form, size)):
                yield driver.memory(tuple(row))


def is_chosen(chosen: argparse.Namespace, title: str, form: str, size: str) -> bool:
    """Say whether the command line's filters let a row pass."""
    return (
        (not chosen.cases or any(part in title for part in chosen.cases.split(",")))
        and (not chosen.forms or form in chosen.forms.split(","))
        and (not chosen.sizes or size in chosen.sizes.split(","))
    )


def machine() -> str:
    """Describe the processor, the compiler, the flags and how busy the machine is."""
    processor = platform.processor()
    information = Path("/proc/cpuinfo")
    if information.exists():
        lines = [line for line in information.read_text().splitlines() if line.startswith("model name")]
        processor = lines[0].split(":")[1].strip() if lines else processor
    compiler = subprocess.run([os.environ.get("CXX", "c++"), "--version"], capture_output=True, text=True).stdout.splitlines()[
        0
    ]
    return f"{processor}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; {compiler}, -O3 -march=native -DNDEBUG"


def main() -> None:
    """Build, measure, print."""
    chosen = arguments()
    chosen.out.mkdir(parents=True, exist_ok=True)
    if not chosen.no_build:
        build(chosen)
    measured = []
    with (chosen.out / "results.csv").open("w", newline="") as file:
        rows = csv.DictWriter(file, [field.name for field in fields(Result)])
        rows.writeheader()
        for result in results(chosen):
            rows.writerow(asdict(result))
            file.flush()
            measured.append(result)
            print(f"{result.library}: {result.title}, {result.form}, n = {result.n}: {result.text()}", file=sys.stderr)
    text = markdown(measured) + f"\n{machine()}\n"
    (chosen.out / "table.md").write_text(text)
    print(text, end="")
    sys.exit(any(result.status not in ("ok", "TIMEOUT") for result in measured))


if __name__ == "__main__":
    main()
