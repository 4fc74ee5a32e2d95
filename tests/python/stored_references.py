"""References by mpmath that took long to compute, kept in tests/reference/mpmath.tsv with 40 digits.

A line of the file has the digits of working precision, what is computed (function, expression, point, derivative)
and the number. What is not in the file is computed, so a new rule needs no line, and a rule whose expression changes does not
find its old one. `python tests/python/stored_references.py` writes the file anew. With `AGRAD_REFERENCES=check` every number
of the file is computed, too, and must be the same; `.ci/run full` sets this.
"""

import functools
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from mpmath import mp

from special_reference import UndefinedError

FILE = Path(__file__).resolve().parents[1] / "reference" / "mpmath.tsv"
#: Tests whose references are stored.
TESTS = [
    f"tests/python/functions/test_{name}.py"
    for name in ("between", "elementwise", "ends", "far_tails", "probability", "skew_normal", "von_mises")
]
DIGITS = 40
#: Seconds from which on a number is worth a line.
WORTHWHILE = 0.01
UNDEFINED = "undefined"


@functools.cache
def table() -> dict[str, str]:
    """Return the stored numbers by what they are; none while they are written."""
    if os.environ.get("AGRAD_REFERENCES") == "write" or not FILE.exists():
        return {}
    return dict(line.rsplit("\t", 1) for line in FILE.read_text().splitlines())


def stored(compute: Callable[[], Any], function: str, expression: str, point: Sequence[float], orders: Sequence[int]) -> Any:
    """Return the number of the file, or else what `compute` returns; UndefinedError where that raises it.

    The working precision of the caller belongs to what is looked up.
    """
    at, by = " ".join(f"{float(x):.17g}" for x in point), " ".join(map(str, orders))
    key = "\t".join([str(mp.dps), function, expression, at, by])
    mode, found = os.environ.get("AGRAD_REFERENCES", ""), table().get(key)
    if found is not None and mode != "check":
        if found == UNDEFINED:
            raise UndefinedError("no real number")
        with mp.workdps(DIGITS + 20):
            return mp.mpf(found)
    start = time.process_time()
    try:
        computed = compute()
    except UndefinedError:
        _note(mode, key, found, None, time.process_time() - start)
        raise
    _note(mode, key, found, computed, time.process_time() - start)
    return computed


def _note(mode: str, key: str, found: str | None, computed: Any, seconds: float) -> None:
    """Append a line to the file where it is written; AssertionError where the file has another number."""
    if mode == "write" and seconds > WORTHWHILE:
        text = UNDEFINED if computed is None else mp.nstr(computed, DIGITS)
        handle = os.open(FILE, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(handle, f"{key}\t{text}\n".encode())  # in one piece, because several processes write
        os.close(handle)
    elif found is not None and (found == UNDEFINED or computed is None):
        assert (found == UNDEFINED) == (computed is None), f"{key}: {computed}, but the file has {found}"
    elif found is not None:
        with mp.workdps(DIGITS + 20):
            near = abs(computed - mp.mpf(found)) <= mp.mpf(10) ** (5 - DIGITS) * abs(computed)
        assert near, f"{key}: {mp.nstr(computed, DIGITS)}, but the file has {found}"


def main() -> int:
    """Write the file anew by running the tests."""
    FILE.unlink(missing_ok=True)
    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "-m", "", *TESTS]
    failed = subprocess.run(command, cwd=FILE.parents[2], env=os.environ | {"AGRAD_REFERENCES": "write"}).returncode
    lines = sorted(set(FILE.read_text().splitlines()))
    FILE.write_text("".join(f"{line}\n" for line in lines))
    print(f"{FILE}: {len(lines)} numbers")
    return failed


if __name__ == "__main__":
    sys.exit(main())
