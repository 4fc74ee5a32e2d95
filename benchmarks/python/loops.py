"""What is measured beside the cases: recording, the first call, memory; functions of a system's arrays, as those are."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from cases import Library

__all__ = ["chain", "elementwise"]


def chain(library: Library, operations: int, size: int, spent: list[float]) -> tuple[Callable[[Any], Any], np.ndarray]:
    """`w = x * w + z` in a Python loop, of numbers (size 0) or small arrays; the loop's own seconds go to `spent`."""
    random = np.random.default_rng(operations)
    z = library.asarray(random.random(size)) if size else 0.25

    def function(theta: Any) -> Any:
        x = theta if size else theta[0]
        w = z
        begin = time.process_time()
        for _ in range(operations // 2):
            w = x * w + z
        spent.append(time.process_time() - begin)
        return library.np.sum(w) if size else w

    return function, random.uniform(0.2, 0.6, max(size, 1))


def elementwise(library: Library, size: int) -> tuple[Callable[[Any], Any], np.ndarray]:
    """Five functions of a long vector, and their sum; a sweep needs six values an entry."""
    np_of = library.np

    def function(x: Any) -> Any:
        return np_of.sum(np_of.exp(np_of.sin(x)) * np_of.log1p(x**2))

    return function, np.random.default_rng(size).random(size)
