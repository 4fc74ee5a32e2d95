"""Other systems on the same problems in the same run, by drivers that are no part of this repository.

A driver gets a problem and a variant, and from the environment its directory (OUT) and tolerances (TOLS). For each tolerance it
prints a line of JSON: the seconds of a value and gradient (t_grad_min), the gradient's relative error (err_grad), the seconds
of a program over CVODES at the same tolerance just before and after (base_grad_min), and those of what was built or compiled
before (compile_s); or why there is none of this (fail).
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tables import Point
from ways import DRIVERS, TOLERANCES, Way

LIMIT = 120.0  # seconds for one tolerance, building included


@dataclass
class Peers:
    """Where the drivers are, where they were built, and where they may write what goes wrong."""

    drivers: Path
    built: Path
    log: Path

    def points(self, problem: str, way: Way) -> Iterator[Point]:
        """The points of a curve as they come, the loosest tolerance first; one with a note where there is no figure."""
        python = self.built / "venv" / "bin" / "python"
        command = [python, "-u", self.drivers / DRIVERS[way.who], problem, way.method]
        left = list(TOLERANCES)
        try:
            for line in lines(command, self.environment(), self.log):
                if line.startswith("{"):
                    yield point_of(problem, way, json.loads(line))
                    left.pop(0)
        except subprocess.CalledProcessError as error:
            note = f"no result in {LIMIT:g} s" if error.returncode == -signal.SIGKILL else f"exit status {error.returncode}"
            if left:
                yield Point(problem, way.who, way.method, left[0], math.nan, math.nan, note=note)

    def environment(self) -> dict[str, str]:
        """One thread, nothing of this process's Python, nothing written beside the drivers."""
        own = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        tolerances = " ".join(map(str, TOLERANCES))
        return {**own, "OUT": str(self.built), "TOLS": tolerances, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}


def point_of(problem: str, way: Way, found: dict[str, Any]) -> Point:
    """What a line says."""
    method, tolerance = found.get("variant", way.method), float(found["rtol"])
    error = found.get("err_grad")
    if "fail" in found or error is None or not math.isfinite(error):
        note = found.get("fail", "the gradient is not finite")
        return Point(problem, way.who, method, tolerance, math.nan, math.nan, note=note)
    milliseconds, bracket = found["t_grad_min"] * 1e3, found["base_grad_min"] * 1e3
    return Point(problem, way.who, method, tolerance, milliseconds, error, bracket, found.get("compile_s", 0.0))


def lines(command: list[Any], environment: dict[str, str], log: Path) -> Iterator[str]:
    """What a process prints; it ends when a line takes too long, or when nobody reads on."""
    with (
        log.open("a") as trouble,
        subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=trouble, text=True, start_new_session=True
        ) as process,
    ):
        assert process.stdout
        try:
            line = "\n"
            while line:
                yield line
                watch = threading.Timer(LIMIT, end, [process])
                watch.start()
                line = process.stdout.readline()
                watch.cancel()
            if process.wait():
                raise subprocess.CalledProcessError(process.returncode, command)
        finally:
            end(process)


def end(process: subprocess.Popen[str]) -> None:
    """With the processes that it has started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
