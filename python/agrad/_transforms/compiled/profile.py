"""Measures the time of a compiled function's program by operation and line of the user's code."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from agrad._record.source import line_of_code
from agrad._transforms.compiled.describe import counted

if TYPE_CHECKING:
    from agrad._core import Program, SourceLines

__all__ = ["Profile", "ProfileRow", "profile_of"]

_MOST_RUNS, _LEAST_RUNS, _SECONDS = 501, 5, 0.5


class ProfileRow(NamedTuple):
    """The time in a run of a line's operations of the same kind."""

    operation: str
    #: The number of these operations in the program.
    operations: int
    #: The number of entries of the results.
    entries: int
    #: Nanoseconds of a forward pass.
    forward: float
    #: Nanoseconds of a reverse pass.
    backward: float
    #: The user's file; None for operations without a line.
    file: str | None
    line: int

    @property
    def source(self) -> str:
        """Returns the line as text: ``model.py:12: y = np.log(x)``."""
        return line_of_code(self.file, self.line)


class Profile:
    """The times of a program, which print as a table; see :meth:`agrad._transforms.compiled.compile.Compiled.profile`.

    Attributes
    ----------
    function : str
        The name of the profiled function.
    rows : list of ProfileRow
        For each line and kind of operation: ``operation, operations, entries, forward, backward, file, line``, the costliest
        first. Times are nanoseconds.
    forward, backward : float
        Nanoseconds of a whole forward pass and of a whole reverse pass, timed without a clock around each operation.
    runs : int
        The number of runs for the medians.
    in_tiles : int
        The number of operations that run in tiles. Their rows have the times of one operation after another, which together
        are longer than the whole pass.
    """

    def __init__(
        self, function: str, rows: Sequence[ProfileRow], forward: float, backward: float, runs: int, in_tiles: int = 0
    ) -> None:
        self.function, self.forward, self.backward, self.runs = function, forward, backward, runs
        self.in_tiles = in_tiles
        self.rows = sorted(rows, key=lambda row: -(row.forward + row.backward))

    def __str__(self) -> str:
        head = f"{self.function}: forward {_time(self.forward)}, backward {_time(self.backward)} (medians of {self.runs} runs)"
        if self.in_tiles:
            head += f"\n{counted(self.in_tiles, 'operation')} run in tiles; rows: one operation after another"
        total = sum(row.forward + row.backward for row in self.rows) or 1.0
        table = [("forward", "backward", "share", "operation", "times", "entries", "line")]
        for row in self.rows:
            share = f"{100 * (row.forward + row.backward) / total:.0f} %"
            numbers = (str(row.operations), str(row.entries))
            table.append(
                (
                    _time(row.forward),
                    _time(row.backward),
                    share,
                    row.operation,
                    *numbers,
                    line_of_code(row.file, row.line, short=True),
                )
            )
        widths = [max(len(line[k]) for line in table) for k in range(7)]
        return "\n".join([head, *("  ".join(_aligned(line, widths)).rstrip() for line in table)])

    def __repr__(self) -> str:
        return f"<profile of {self.function}: {counted(len(self.rows), 'row')}; print it>"


def _aligned(line: Sequence[str], widths: Sequence[int]) -> list[str]:
    return [cell.ljust(w) if k in (3, 6) else cell.rjust(w) for k, (cell, w) in enumerate(zip(line, widths, strict=True))]


def _time(nanoseconds: float) -> str:
    """Returns a text of a time with a unit and three digits."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if nanoseconds >= 0.9995 * size:
            digits = max(0, 2 - math.floor(math.log10(nanoseconds / size * 1.0005)))
            return f"{nanoseconds / size:.{digits}f} {unit}"
    return f"{nanoseconds:.0f} ns"


def profile_of(function: str, program: Program, lines: SourceLines, inputs: Sequence[object]) -> Profile:
    """Times a program at the inputs of the recording, for about half a second."""
    first = _run(program, lines, inputs, 1)
    runs = int(min(_MOST_RUNS, max(_LEAST_RUNS, _SECONDS * 1e9 / (3 * (first[0] + first[1]) + 1.0))))
    forward, backward, rows = _run(program, lines, inputs, runs)
    return Profile(function, [ProfileRow(*row) for row in rows], forward, backward, runs, program.summary["grouped"])


def _run(
    program: Program, lines: SourceLines, inputs: Sequence[object], runs: int
) -> tuple[float, float, list[tuple[str, int, int, float, float, str | None, int]]]:
    result = program.profile(inputs, lines, runs)
    assert result is not None, "a path holds for the values that it was recorded with"
    return result
