"""Looks at the later runs of recorded functions in a block of debug_nans: of a right-hand side, of a loop's body.

A recording is checked operation by operation while it is recorded, but its program then runs at other points. A spy is an
operation beside the result that looks for a nan; where one is, the function is recorded again at that point, which names the
operation and the line.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agrad._core import record_callback, stop_gradient
from agrad._record.debug import counts

__all__ = ["is_replaying", "replaying", "spied"]


class _State(threading.local):
    replays: bool = False


_state = _State()


def is_replaying() -> bool:
    """Returns whether a function is recorded again for its message."""
    return _state.replays


@contextmanager
def replaying() -> Iterator[None]:
    """Within the block, functions are recorded again for their messages."""
    before, _state.replays = _state.replays, True
    try:
        yield
    finally:
        _state.replays = before


def spied(name: str, result: Any, inputs: Any, note: Callable[[NDArray[np.float64]], None]) -> Any:
    """Returns a vector's equal that calls `note` with the inputs, a vector, of a run whose result is no number."""
    n = result.size

    def look(x: NDArray[np.float64], _: bool) -> tuple[NDArray[np.float64], None]:
        if n and counts(x[-n:]) and not counts(x[:-n]):
            note(x[:-n].copy())
        return np.zeros(n), None

    x: Any = np.concatenate([inputs, result])
    spy = record_callback(f"debug_nans({name})", look, lambda _, adjoint: np.zeros(x.size), x)
    return result + stop_gradient(spy)
