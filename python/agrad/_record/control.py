"""Stores, for each thread, the error control that a compiled function chose for the solves in its recording."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["chosen_control", "solves_with"]


class _Here(threading.local):
    control = "auto"


_here = _Here()


@contextmanager
def solves_with(control: str) -> Iterator[None]:
    """Sets the error control of solves that leave the choice open, until the block ends."""
    before, _here.control = _here.control, control
    try:
        yield
    finally:
        _here.control = before


def chosen_control(given: str) -> str:
    """Returns the error control of a solve: its own, or where that is "auto" the compiled function's."""
    return _here.control if given == "auto" else given
