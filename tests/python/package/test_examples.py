"""Every program in python/examples prints what the file beside it says."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.thread_unsafe(reason="builds and runs programs")

EXAMPLES = sorted((Path(__file__).resolve().parents[3] / "python" / "examples").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example_prints_what_it_should(example, tmp_path):
    command = [sys.executable, "-W", "error", str(example)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout == example.with_suffix(".txt").read_text()


def test_there_are_examples():
    assert EXAMPLES
