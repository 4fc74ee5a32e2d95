"""Finds the user's lines of code for messages: of a nan, and of comparisons at which the paths of a function separate."""

from __future__ import annotations

import linecache
import os
from collections.abc import Sequence
from types import TracebackType

__all__ = ["Tally", "line_in_traceback", "line_of_code", "parting_lines"]

#: A line with comparisons of recorded values: file, line, how often they were true and false.
Tally = tuple[str | None, int, int, int]

_MOST_LINES = 3  # in a message
#: Packages whose lines stand between the user's and an operation.
_BETWEEN = ("agrad", "numpy", "scipy", "optree", "contextlib", "functools")


def line_of_code(file: str | None, line: int, *, short: bool = False) -> str:
    """Returns a line for messages: ``model.py:12: y = np.log(x)``, without the code where the source is missing."""
    if file is None:
        return "no line of Python"
    code = linecache.getline(file, line).strip()
    name = os.path.basename(file) if short else file
    return f"{name}:{line}: {code}" if code else f"{name}:{line}"


def line_in_traceback(traceback: TracebackType | None) -> str | None:
    """Returns the innermost line of the user's code in a traceback; None if there is none."""
    found = None
    while traceback is not None:
        package = str(traceback.tb_frame.f_globals.get("__name__", "")).partition(".")[0]
        if package not in _BETWEEN:
            found = line_of_code(traceback.tb_frame.f_code.co_filename, traceback.tb_lineno)
        traceback = traceback.tb_next
    return found


def parting_lines(paths: Sequence[Sequence[Tally]]) -> str:
    """Returns the lines with different results of comparisons on these paths, in decreasing order of variants."""
    seen = [{(file, line): (true, false) for file, line, true, false in path} for path in paths]
    lines = list(dict.fromkeys(place for path in seen for place in path))
    variants = {place: len({path.get(place, (0, 0)) for path in seen}) for place in lines}
    parting = sorted((place for place in lines if variants[place] > 1), key=lambda place: -variants[place])
    parting = parting or lines  # only the order differs
    more = f" (and {len(parting) - _MOST_LINES} more)" if len(parting) > _MOST_LINES else ""
    return "; ".join(line_of_code(*place) for place in parting[:_MOST_LINES]) + more
