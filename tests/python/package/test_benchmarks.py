"""What benchmarks/python times is right: every case's gradient by hand, and agrad's in every variant."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.thread_unsafe(reason="runs programs")

DIRECTORY = Path(__file__).resolve().parents[3] / "benchmarks" / "python"
#: What an agrad without the function that a case is written with says about it.
NOT_THERE = ("agrad has no derivative of it", "has no attribute")


def output_of(*command):
    ran = subprocess.run([sys.executable, *command], cwd=DIRECTORY, capture_output=True, text=True, check=True)
    return ran.stdout.splitlines()


@pytest.mark.full  # for what is wrong with a benchmark, as the next one
def test_gradients_by_hand_are_those_of_differences():
    errors = dict(line.split(": ") for line in output_of("reference.py"))
    assert len(errors) >= 12
    assert {name: error for name, error in errors.items() if not float(error) < 1e-10} == {}


@pytest.mark.full  # 38 CPU s for what is wrong with a benchmark; the command below checks the gradients that it times
def test_gradients_of_agrad_are_those_by_hand():
    errors = json.loads(output_of("worker.py", "agrad", "--check")[-1])
    assert len(errors) >= 20
    messages = {name: error for name, error in errors.items() if isinstance(error, str)}
    assert {name: text for name, text in messages.items() if not any(part in text for part in NOT_THERE)} == {}
    figures = {name: error for name, error in errors.items() if name not in messages}
    assert len(figures) >= 20
    assert {name: error for name, error in figures.items() if not error < 1e-12} == {}


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="run.py pins its processes as Linux does")
def test_the_command_prints_its_tables(tmp_path):
    command = ("run.py", "--out", str(tmp_path), "--peers", "", "--case", "eight_schools")
    text = "\n".join(output_of(*command))
    assert "| eight schools |" in text
    assert "WRONG" not in text
    rows = json.loads((tmp_path / "results.json").read_text())["rows"]
    assert {row["variant"] for row in rows} >= {"compiled", "plain", "by hand"}
    assert all(row["status"] == "ok" and row["median"] > 0 for row in rows)
