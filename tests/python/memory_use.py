"""How much the memory of this process grows while something is done again and again."""

import ctypes
import gc
import os
from pathlib import Path

import pytest

STATM = Path("/proc/self/statm")
LIBC = ctypes.CDLL(None)
# The allocator may take some pages more; the solver's memory of one solve, 10 kB at least, would be 10 MB after all rounds.
SLACK = 512 * 1024
ROUNDS = 1000

on_linux = pytest.mark.skipif(not STATM.exists(), reason="the resident size is read from /proc/self/statm")


def resident():
    """Bytes, without what tests before have freed and the allocator keeps, which could hide a leak of megabytes."""
    gc.collect()
    if hasattr(LIBC, "malloc_trim"):
        LIBC.malloc_trim(0)
    return int(STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def growth(call):
    """What `call`, done a thousand times, adds to the resident size after it has been done often enough to settle.

    The least of up to three: what is not freed adds the same each time, and where an allocator settles late it does so once.
    """
    for _ in range(ROUNDS // 4):
        call()
    grown = []
    while not grown or (min(grown) >= SLACK and len(grown) < 3):
        before = resident()
        for _ in range(ROUNDS):
            call()
        grown.append(resident() - before)
    return min(grown)
