"""Recording: calling a user's function once with recorded arrays in place of numbers."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from agrad._core import Comparison, Recording
from agrad._debug import watch

__all__ = ["innermost", "name_of", "no_recording", "open_recording"]


class _Open(threading.local):
    """The open recordings of this thread; None where a function that is called with plain values begins."""

    def __init__(self) -> None:
        self.recordings: list[Recording | None] = []


_open = _Open()


@contextmanager
def open_recording(
    function: str,
    *,
    on_comparison: Comparison = Comparison.answers,
    keeps_adjoints: bool = False,
    captures: bool = False,
) -> Iterator[Recording]:
    """Open a recording; when the block ends, also by an exception, its arrays can no longer be used.

    Where NumPy could not store a recorded value in an array of its own, a TypeError says what to write instead.
    """
    recording = Recording(function, on_comparison, keeps_adjoints, captures, len(_open.recordings) + 1)
    watch(recording)
    _open.recordings.append(recording)
    try:
        yield recording
    except ValueError as error:
        if _is_stored_plainly(error):
            raise TypeError(f"{function}: {_STORED}") from error
        raise
    finally:
        _open.recordings.remove(recording)
        recording.close()


def innermost() -> Recording | None:
    """The recording that a function which is called now belongs to."""
    return _open.recordings[-1] if _open.recordings else None


#: NumPy's own words are "setting an array element with a sequence", with what the value said as their cause.
_STORED = (
    "the value of an item assignment is recorded, but must be a plain number where the array is NumPy's own; "
    "write the list [a, b], ag.array([a, b]), or np.zeros(n, like=x) of a recorded x for an array that is filled"
)


def _is_stored_plainly(error: ValueError) -> bool:
    """Whether NumPy asked a recorded value for a number, to store it."""
    return isinstance(error.__cause__, TypeError) and str(error.__cause__).startswith("float: argument is a recorded value")


@contextmanager
def no_recording() -> Iterator[None]:
    """Within the block, functions are called with plain values: what they differentiate is no part of a recording."""
    _open.recordings.append(None)
    try:
        yield
    finally:
        _open.recordings.pop()


def name_of(function: Callable[..., Any]) -> str:
    """How messages call a user's function."""
    return getattr(function, "__name__", type(function).__name__)
