"""Times gradients from Python: agrad beside JAX, PyTorch, autograd and CasADi, and prints one set of tables.

    benchmarks/python/setup.sh DIR                                            # once: the other systems
    python benchmarks/python/run.py --agrad SITE --out OUT --venv DIR         # everything: some ten minutes
    python benchmarks/python/run.py --agrad SITE --out OUT --peers "" --with EARLIER/results.json
    python benchmarks/python/run.py --agrad SITE --out OUT --venv DIR --peers jax,casadi --case garch,mixture

Every row is a process of its own on one core. Writes OUT/results.json and OUT/table.md, and prints the tables. A gradient
that differs from the one by hand is printed as WRONG; the exit status is then 1, as where agrad fails.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from table import is_right, tables

HERE = Path(__file__).resolve().parent
PEERS = ("casadi", "jax", "torch", "autograd")
#: One thread everywhere.
FLAGS = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "JAX_PLATFORMS": "cpu",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
}
TASKS = ("gradient", "product", "hessian", "record", "first", "memory")


def arguments() -> argparse.Namespace:
    """Return what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--agrad", type=Path, help="the directory that agrad is installed in, unless Python finds it anyhow")
    parser.add_argument("--out", type=Path, required=True, help="where to write results.json and table.md")
    parser.add_argument("--venv", type=Path, help="the virtual environment that setup.sh made; else this Python's own packages")
    parser.add_argument("--peers", default=",".join(PEERS), help="a choice of %(default)s; '' for none")
    parser.add_argument("--case", default="", help="parts of names, as in 'garch,logistic'")
    parser.add_argument("--task", default=",".join(TASKS), help="a choice of %(default)s")
    parser.add_argument("--gcc", action="store_true", help="also CasADi with generated C, which takes minutes to compile")
    parser.add_argument("--with", type=Path, dest="earlier", help="results.json of an earlier run, for rows not measured now")
    parser.add_argument("--no-agrad", action="store_true", help="the peers and the gradients by hand only")
    parser.add_argument("--timeout", type=float, default=180, help="seconds for one row (%(default)s)")
    parser.add_argument("--cpu", type=int, help="the processor to pin every process to; the last one otherwise")
    chosen = parser.parse_args()
    chosen.peers = [name for name in chosen.peers.split(",") if name]
    for name in chosen.peers:
        if name not in PEERS:
            parser.error(f"--peers: {name} is not one of {', '.join(PEERS)}")
    for name in chosen.task.split(","):
        if name not in TASKS:
            parser.error(f"--task: {name} is not one of {', '.join(TASKS)}")
    return chosen


class System:
    """One system: how its processes are started, and the rows that it has."""

    def __init__(self, name: str, chosen: argparse.Namespace) -> None:
        self.name, self.chosen = name, chosen
        python = sys.executable if name in ("agrad", "numpy") or not chosen.venv else chosen.venv / "bin" / "python"
        pin = shutil.which("taskset")
        cpu = max(os.sched_getaffinity(0)) if pin and chosen.cpu is None else chosen.cpu
        self.start = [*([pin, "-c", str(cpu)] if pin else []), str(python), str(HERE / "worker.py"), name]
        self.environment = {**os.environ, **FLAGS}
        if name == "agrad" and chosen.agrad:
            paths = [str(chosen.agrad.resolve()), os.environ.get("PYTHONPATH", "")]
            self.environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
        listed = self.ask("--list")
        self.versions, self.rows = listed.get("versions", {}), listed.get("rows", [])
        self.titles, self.why = listed.get("titles", {}), listed.get("why", "")

    def ask(self, *action: str) -> dict[str, Any]:
        """What the process prints, or its failure."""
        command = [*self.start, *action]
        scratch = self.chosen.out.resolve() / "scratch"  # CasADi's generated code is written where the process runs
        scratch.mkdir(parents=True, exist_ok=True)
        started = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self.environment,
            cwd=scratch,
            start_new_session=True,
        )
        try:
            printed, complaints = started.communicate(timeout=self.chosen.timeout)
        except BaseException as error:  # also Ctrl-C: a compiler that the process started ends with it
            os.killpg(started.pid, signal.SIGKILL)
            started.communicate()
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            return {"status": "timeout", "why": f"no result within {self.chosen.timeout:g} s"}
        if started.returncode == 0:
            return {"status": "ok", **json.loads(printed.splitlines()[-1])}
        said = complaints.strip().splitlines()
        return {"status": "failed", "why": said[-1] if said else f"exit status {started.returncode}"}

    def measure(self, row: list[str]) -> dict[str, Any]:
        """One row as it stands in results.json."""
        task, case, form, variant = row
        return {"system": self.name, "task": task, "case": case, "form": form, "variant": variant, **self.ask(*row)}


def is_chosen(chosen: argparse.Namespace, row: list[str]) -> bool:
    task, case, _, variant = row
    parts = chosen.case.split(",")
    return task in chosen.task.split(",") and any(p in case for p in parts) and (chosen.gcc or not variant.endswith("gcc"))


def measured(chosen: argparse.Namespace, systems: list[System]) -> Iterator[dict[str, Any]]:
    """Measure all chosen rows: one case of all systems after the other, so that they share the machine's moods."""
    everything = [(system, row) for system in systems for row in system.rows if is_chosen(chosen, row)]
    places = {key: n for n, key in enumerate(dict.fromkeys((row[0], row[1]) for _, row in everything))}
    for system, row in sorted(everything, key=lambda pair: (TASKS.index(pair[1][0]), places[pair[1][0], pair[1][1]])):
        result = system.measure(row)
        figure = f"{1e6 * result['median']:.4g}e-6" if result["status"] == "ok" else f"{result['status']}: {result['why']}"
        print(f"{system.name}: {' '.join(row)}: {figure}", file=sys.stderr, flush=True)
        yield result


def machine() -> str:
    """The processor, its cores, Python and the system."""
    processor = platform.processor() or platform.machine()
    information = Path("/proc/cpuinfo")
    if information.exists():
        lines = [line for line in information.read_text().splitlines() if line.startswith("model name")]
        processor = lines[0].split(":")[1].strip() if lines else processor
    return f"{processor}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"


def command(chosen: argparse.Namespace) -> str:
    """The command line, with names in place of this machine's directories."""
    names = {chosen.agrad: "SITE", chosen.venv: "PEERS", chosen.out: "OUT", chosen.earlier: "EARLIER/results.json"}
    names = {str(path): name for path, name in names.items() if path}
    return shlex.join(["python", "benchmarks/python/run.py", *(names.get(each, each) for each in sys.argv[1:])])


def run_notes(chosen: argparse.Namespace, systems: list[System], before: tuple[float, ...], began: float) -> list[str]:
    """What one must know about a run to trust its figures."""
    after = os.getloadavg()
    versions = "; ".join(f"{name}: {', '.join(f'{k} {v}' for k, v in s.versions.items())}" for s in systems if (name := s.name))
    missing = [f"{system.name} is not there ({system.why})" for system in systems if not system.rows]
    return [
        f"Command: `{command(chosen)}`; {machine()}; load {before[0]:.1f} before, {after[0]:.1f} after "
        f"{time.time() - began:.0f} s.",
        f"Versions: {versions}. Flags: {', '.join(f'{k}={v}' for k, v in FLAGS.items())}; every process on one core"
        + (" (taskset)." if shutil.which("taskset") else " was not possible: there is no taskset."),
        *missing,
    ]


def merged(rows: list[dict[str, Any]], chosen: argparse.Namespace) -> tuple[list[dict[str, Any]], list[Any]]:
    """The rows with those of the earlier run that were not measured now, and the earlier run's notes."""
    if not chosen.earlier:
        return rows, []
    document = json.loads(chosen.earlier.read_text())
    keys = ("system", "task", "case", "form", "variant")
    known = {tuple(row[key] for key in keys) for row in rows}
    older = [row for row in document["rows"] if tuple(row[key] for key in keys) not in known]
    names = ", ".join(dict.fromkeys(row["system"] for row in older))
    return rows + older, [{"notes": [f"Of an earlier run: {names}.", *run["notes"]]} for run in document["runs"]]


def main() -> None:
    """Measure, write, print."""
    chosen = arguments()
    chosen.out.mkdir(parents=True, exist_ok=True)
    before, began = os.getloadavg(), time.time()
    names = [*([] if chosen.no_agrad else ["agrad"]), *chosen.peers]
    if not chosen.earlier:
        names.append("numpy")
    systems = [System(name, chosen) for name in names]
    titles = next((system.titles for system in systems if system.titles), {})
    rows: list[dict[str, Any]] = []
    document: dict[str, Any] = {"titles": titles}
    for row in measured(chosen, systems):
        rows.append(row)
        everything, older = merged(rows, chosen)
        document |= {"rows": everything, "runs": [{"notes": run_notes(chosen, systems, before, began)}, *older]}
        (chosen.out / "results.json").write_text(json.dumps(document, indent=1) + "\n")  # an interrupted run has its figures
    if not rows:
        sys.exit("run.py: no row is chosen; --case, --task and --peers leave none")
    text = tables(document)
    (chosen.out / "table.md").write_text(text)
    print(text, end="")
    sys.exit(any(not is_right(row) or (row["system"] == "agrad" and row["status"] != "ok") for row in rows))


if __name__ == "__main__":
    main()
