"""python -m random_programs COUNT [FIRST]: checks so many programs from seed FIRST on by every way, on all cores."""

from __future__ import annotations

import multiprocessing
import sys
import time

from random_programs.check import Found, check
from random_programs.program import RandomProgram


def main(count: int, first: int = 0) -> int:
    """Check the programs; the number of those in which something disagrees."""
    start, wrong = time.perf_counter(), set()
    with multiprocessing.Pool() as pool:
        for done, faults in enumerate(pool.imap_unordered(check, range(first, first + count), chunksize=16), 1):
            for fault in faults:
                _tell(fault)
                wrong.add(fault.seed)
            if done % 1000 == 0 or done == count:
                print(f"{done} programs, {len(wrong)} with a fault, {time.perf_counter() - start:.0f} s", flush=True)
    return len(wrong)


def _tell(fault: Found) -> None:
    print(f"--- {fault.mode}: {fault.text}\n{RandomProgram(fault.seed).text()}", flush=True)


if __name__ == "__main__":
    sys.exit(min(1, main(*map(int, sys.argv[1:]))))
