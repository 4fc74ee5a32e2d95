"""Recording: calling a user's function once with recorded arrays in place of numbers."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from agrad._core import Comparison, Recording
from agrad._debug import watch

__all__ = ["name_of", "open_recording"]


class _Depth(threading.local):
    """How many recordings of this thread are open: what is recorded inside of another is deeper."""

    value = 0


_depth = _Depth()


@contextmanager
def open_recording(
    function: str,
    *,
    on_comparison: Comparison = Comparison.answers,
    keeps_adjoints: bool = False,
    captures: bool = False,
) -> Iterator[Recording]:
    """Open a recording; when the block ends, also by an exception, its arrays can no longer be used."""
    _depth.value += 1
    recording = Recording(function, on_comparison, keeps_adjoints, captures, _depth.value)
    watch(recording)
    try:
        yield recording
    finally:
        _depth.value -= 1
        recording.close()


def name_of(function: Callable[..., Any]) -> str:
    """How messages call a user's function."""
    return getattr(function, "__name__", type(function).__name__)
