"""Applies what was recorded for one row to many rows: as a part of a recording around, or block by block to plain arrays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from agrad._core import Recording
from agrad._record.recording import open_recording
from agrad._transforms.row_arguments import Batch

__all__ = ["PlainRows", "RecordedRows"]

#: The rows of a block of a plain call: few enough for their numbers to remain in the caches, and enough for a block's recording
#: to take little of the time. Memory does not grow with the number of rows.
_BLOCK = 4096

Rows = np.ndarray[Any, Any]


class RecordedRows:
    """Rows whose results are a recorded array, for derivatives and further operations."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording

    def given(self, batch: Batch) -> list[Any]:
        """Returns the arguments that have rows, with the rows along the first axis."""
        return batch.rows_first(self._recording.array)

    def numbers(self, x: Any, row: int) -> Any:
        """Returns a row of an argument as plain numbers."""
        return x.recorded_values[row]

    def input(self, row: Recording, x: Any, numbers: Any) -> Any:
        """Returns numbers for an argument as an input of the recording of a row."""
        y = row.input(numbers)
        return y.as_data(x.dtype) if x.is_data else y

    def run(
        self, row: Recording, inputs: list[Any], given: list[Any], rows: Rows, outputs: list[Any]
    ) -> tuple[list[Any], Rows, list[tuple[Any, bool]]]:
        """Returns the outputs of the rows on the path of the recorded row, these rows, and the conditions of the path."""
        results, conditions = self._recording.batch(row, inputs, _of(given, rows), outputs, len(rows))
        on_path = _on_path(conditions, len(rows))
        if not on_path.all():
            rows = rows[on_path]
            results, conditions = self._recording.batch(row, inputs, _of(given, rows), outputs, len(rows))
        return results, rows, conditions


class PlainRows:
    """Rows whose results are a NumPy array: blocks of rows are recorded one after the other, and given up."""

    def given(self, batch: Batch) -> list[Any]:
        """Does the same as `RecordedRows.given`."""
        return batch.rows_first(lambda leaf: np.asarray(leaf, dtype=float))

    def numbers(self, x: Any, row: int) -> Any:
        """Does the same as `RecordedRows.numbers`."""
        return x[row]

    def input(self, row: Recording, x: Any, numbers: Any) -> Any:
        """Does the same as `RecordedRows.input`."""
        return row.input(numbers)

    def run(
        self, row: Recording, inputs: list[Any], given: list[Any], rows: Rows, outputs: list[Any]
    ) -> tuple[list[Any], Rows, list[tuple[Any, bool]]]:
        """Does the same as `RecordedRows.run`; no recording around has to guard the conditions."""
        results, chosen, end = [np.empty((len(rows), x.size)) for x in outputs], np.empty_like(rows), 0
        for block in _blocks(rows):
            with open_recording(row.function) as recording:
                at = [recording.array(x) for x in _of(given, block)]
                found, conditions = recording.batch(row, inputs, at, outputs, len(block))
                on_path = _on_path(conditions, len(block))
                begin, end = end, end + int(on_path.sum())
                for result, values in zip(results, found, strict=True):
                    result[begin:end] = values.recorded_values[on_path]
                chosen[begin:end] = block[on_path]
        return [result[:end] for result in results], chosen[:end], []


def _blocks(rows: Rows) -> Iterator[Rows]:
    for begin in range(0, max(len(rows), 1), _BLOCK):
        yield rows[begin : begin + _BLOCK]


def _on_path(conditions: list[tuple[Any, bool]], count: int) -> Rows:
    on_path = np.ones(count, bool)
    for condition, holds in conditions:
        on_path &= (condition.recorded_values != 0) == holds
    return on_path


def _of(given: list[Any], rows: Rows) -> list[Any]:
    return [x if len(rows) == len(x) else x[rows] for x in given]
