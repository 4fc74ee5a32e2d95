"""Timing and memory of one process.

A figure is the median of batches of calls, each batch at least 40 ms long, so that neither the clock nor one interruption
matters. It is the processor's time of all of the process's threads, which share one core: what others do there meanwhile
does not count. The first call is apart: it compiles, records or allocates.
"""

from __future__ import annotations

import contextlib
import resource
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Timing", "begin_memory", "first_call", "peak", "processor_time", "timed"]

_BATCH = 0.040  # seconds
_BATCHES = 9


@dataclass(frozen=True)
class Timing:
    """Processor seconds a call."""

    median: float
    least: float
    batches: int
    calls: int  # in each batch


def _batch(call: Callable[[], Any], calls: int) -> float:
    begin = time.process_time()
    for _ in range(calls):
        call()
    return (time.process_time() - begin) / calls


def timed(call: Callable[[], Any], limit: float = 10.0) -> Timing:
    """Time a call that has been made once already; at least three batches, no more than fit into `limit` seconds."""
    calls, each = 1, _batch(call, 1)
    while calls * each < _BATCH:
        calls = max(calls + 1, min(int(1.1 * _BATCH / max(each, 1e-9)), 1000 * calls))
        each = _batch(call, calls)
    begin, figures = time.process_time(), [each]
    while len(figures) < _BATCHES and (len(figures) < 3 or time.process_time() - begin < limit):
        figures.append(_batch(call, calls))
    return Timing(statistics.median(figures), min(figures), len(figures), calls)


def first_call(call: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of one call, and what it returned."""
    begin = processor_time()
    result = call()
    return processor_time() - begin, result


def processor_time() -> float:
    """Seconds of this process and of compilers that it started and waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def _status(name: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) / 1024


def begin_memory() -> float:
    """Megabytes that the process holds now; `peak` tells from here on what it held at most, where Linux can forget."""
    if not Path("/proc/self/clear_refs").exists():
        return peak()
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS")


def peak() -> float:
    """Megabytes that the process held at most; elsewhere than on Linux, what its parent held when it started it counts."""
    if Path("/proc/self/status").exists():
        return _status("VmHWM")
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
