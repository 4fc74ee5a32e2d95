"""Compares two versions of agrad: measures both in turns on one machine, and prints where one is slower.

    python benchmarks/compare.py BEFORE AFTER --out OUT [--rounds 2] [--case eight,garch] [--task gradient] [--limit 1.03]

BEFORE and AFTER are commits, which are built (some five minutes each), or directories that agrad is installed in. The figures
are those of python/run.py without other systems; each is the least of all rounds. Prints a table of those whose ratio, after
over before, is above the limit or below its inverse, and the median of all ratios. The exit status is 1 if a ratio is above
the limit.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RUN = Path(__file__).resolve().parent / "python" / "run.py"
#: What tells one figure of a run from another.
KEY = ("task", "case", "form", "variant")

Figures = dict[tuple[str, ...], float]


def arguments() -> argparse.Namespace:
    """Return what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("before", help="a commit, or a directory that agrad is installed in")
    parser.add_argument("after", help="the same")
    parser.add_argument("--out", type=Path, required=True, help="where builds and results go")
    parser.add_argument("--rounds", type=int, default=2, help="runs of each version (%(default)s)")
    parser.add_argument("--case", default="", help="parts of names of cases, as run.py takes them")
    parser.add_argument("--task", default="gradient,product,hessian,record", help="a choice of %(default)s and what run.py has")
    parser.add_argument("--limit", type=float, default=1.03, help="the largest ratio that is no fault (%(default)s)")
    return parser.parse_args()


def installed(version: str, out: Path) -> Path:
    """Return the directory that a version is installed in; build it there if the version is a commit."""
    if (Path(version) / "agrad").is_dir():
        return Path(version).resolve()
    commit = subprocess.run(
        ["git", "-C", str(ROOT), "rev-parse", "--verify", f"{version}^{{commit}}"], check=True, capture_output=True, text=True
    ).stdout.strip()
    source, site = out / f"source-{commit[:12]}", out / f"site-{commit[:12]}"
    if not (site / "agrad").is_dir():
        if not source.is_dir():
            subprocess.run(["git", "clone", "--quiet", str(ROOT), str(source)], check=True)
        subprocess.run(["git", "-C", str(source), "checkout", "--quiet", commit], check=True)
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--target", str(site), str(source)], check=True)
    return site


def measure(site: Path, out: Path, chosen: argparse.Namespace) -> Figures:
    """Run the benchmark with the agrad that is installed in a directory, and return its figures."""
    command = [sys.executable, str(RUN), "--agrad", str(site), "--out", str(out), "--peers", "", "--task", chosen.task]
    if chosen.case:
        command += ["--case", chosen.case]
    out.mkdir(parents=True, exist_ok=True)
    with (out / "log").open("w") as log:
        subprocess.run(command, check=True, stdout=log)
    return figures(json.loads((out / "results.json").read_text())["rows"])


def figures(rows: list[dict[str, Any]]) -> Figures:
    """Return the figures of agrad among the rows of a run."""
    of_agrad = [row for row in rows if row["system"] == "agrad" and row["status"] == "ok"]
    return {tuple(str(row[name]) for name in KEY): row.get("least", row["median"]) for row in of_agrad}


def ratios(before: list[Figures], after: list[Figures]) -> list[tuple[float, tuple[str, ...]]]:
    """Return the ratios of the least figures of the rounds, the largest first, of what all rounds of both versions have."""
    common = set.intersection(*(set(each) for each in before + after))
    return sorted(((min(each[key] for each in after) / min(each[key] for each in before), key) for key in common), reverse=True)


def table(found: list[tuple[float, tuple[str, ...]]], limit: float) -> str:
    """Return a table of the ratios beyond the limit, and the median."""
    lines = [f"| after / before | {' | '.join(KEY)} |", f"|{'---|' * (len(KEY) + 1)}"]
    lines += [f"| {ratio:.2f} | {' | '.join(key)} |" for ratio, key in found if not 1 / limit <= ratio <= limit]
    lines += ["", f"{len(found)} figures, median ratio {statistics.median(ratio for ratio, _ in found):.3f}"]
    return "\n".join(lines)


def main() -> int:
    """Measure both versions in turns, and print the table."""
    chosen = arguments()
    sites = [installed(version, chosen.out) for version in (chosen.before, chosen.after)]
    rounds: list[list[Figures]] = [[], []]
    for turn in range(chosen.rounds):
        for results, site, name in zip(rounds, sites, ("before", "after"), strict=True):
            results.append(measure(site, chosen.out / f"{name}-{turn}", chosen))
    found = ratios(*rounds)
    if not found:
        print("no figure is in all runs")
        return 1
    print(table(found, chosen.limit))
    return int(found[0][0] > chosen.limit)


if __name__ == "__main__":
    raise SystemExit(main())
