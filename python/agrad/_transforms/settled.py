"""Defines how conditions of values are checked at each run of what is recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from agrad._core import Array, Comparison
from agrad._record.recording import innermost

__all__ = ["settled", "surely"]


def settled(holds: Any, result: Any, complain: Callable[[], NoReturn]) -> Any:
    """Returns the result where the condition `holds`, one truth value; else calls `complain`, which raises.

    In the right-hand side of a differential equation, which has no guards, the result is nan instead.
    """
    if not _has_guards(holds):
        return np.where(holds, result, np.nan)
    if not holds:
        complain()
    return result


def surely(holds: Any) -> bool:
    """Whether the condition `holds`, one truth value, at each run of what is recorded; unknown is no, as without guards."""
    return _has_guards(holds) and bool(holds)


def _has_guards(holds: Any) -> bool:
    """Whether each run can check a condition."""
    recording = innermost()
    return not isinstance(holds, Array) or recording is None or recording.on_comparison != Comparison.refuses
