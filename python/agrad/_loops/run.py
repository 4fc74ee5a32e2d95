"""Prepares the inputs of a loop's operation, and reads the results. Read first: ``control_flow``."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from agrad._core import Array, Recording, ScanOperation, ShapeError
from agrad._loops.body import Body, keep
from agrad._loops.tree import Leaves, joined
from agrad._record.structure import find_recording

__all__ = ["Loop", "pieces", "prepared", "values_of"]

_MOST_RESULTS = 2**31  # entries of the stacked results of a loop


class Loop:
    """A loop over a body: the inputs and options of the operation."""

    def __init__(
        self,
        function: str,
        carry: Leaves,
        items: Leaves,
        length: int,
        first: int | None,
        reverse: bool,
        checkpoint: bool,
    ) -> None:
        self.function, self.carry, self.items, self.length = function, carry, items, length
        self.first, self.reverse, self.checkpoint = first, reverse, checkpoint
        self.counter = [] if first is None else [float(first)]

    def body(
        self, call: Callable[[Recording, list[Array], Sequence[Any]], list[Leaves]], *functions: Any, at: Any = None
    ) -> Body:
        """Returns the body with the path of the first step, or with that of the step's inputs `at`, a vector."""
        shapes = [*self.carry.shapes, *(() for _ in self.counter), *(shape[1:] for shape in self.items.shapes)]
        is_truth = [*self.carry.is_truth, *(False for _ in self.counter), *self.items.is_truth]
        body = Body(self.function, call, functions, shapes, is_truth)
        if at is not None:
            body.start(at)
            return body
        entry = self.length - 1 if self.reverse else 0
        items = [values_of(x)[entry] if self.length else np.zeros(x.shape[1:]) for x in self.items.arrays]
        body.start(joined([*map(values_of, self.carry.arrays), *self.counter, *items]))
        return body

    def run(self, body: Body) -> tuple[Any, Recording | None]:
        """Returns a vector of the last carry and the stacked results, and the vector's recording, or None."""
        assert body.outputs is not None
        ys = [size for each in body.outputs[1:] for size in each.sizes]
        if self.length * sum(ys) > _MOST_RESULTS:
            raise ShapeError(
                f"{self.function}: y has {sum(ys)} entries in each of {self.length} steps, but must have at most "
                f"{_MOST_RESULTS} in all; carry the entries that are needed, and return None for y"
            )
        xs = [(x[0].size, None if isinstance(x, Array) else x) for x in self.items.arrays]
        first = self.counter[0] if self.counter else None
        operation = ScanOperation(body.paths, self.length, sum(self.carry.sizes), xs, ys, first, self.reverse, self.checkpoint)
        given = [x for x in self.items.arrays if isinstance(x, Array)]
        entries = joined([*map(values_of, given)])
        return prepared(
            body,
            self.carry.arrays,
            given,
            lambda carry, captured, keeps, required: operation.prepare(carry, entries, captured, keeps, required),
            operation.record,
            self.items.forget,  # the operation has the arrays
        )


def prepared(
    body: Body,
    before: Sequence[Any],
    after: Sequence[Any],
    prepare: Callable[[Any, Any, bool, bool], Any],
    record: Callable[[Any], Any],
    forget: Callable[[], None] = lambda: None,
) -> tuple[Any, Recording | None]:
    """Runs an operation over a body; returns its result, a vector, and the result's recording, or None.

    The operand is the arrays `before`, what the body captures, and the arrays `after`. ``prepare(before, captured, keeps,
    required)`` runs the operation, which may make the body capture more.
    """
    first = joined([*map(values_of, before)])
    around = find_recording(*before, *after, *body.captured)
    while True:
        keeps = around is not None and around.stores_adjoints
        flat = prepare(first, body.captured_values(), keeps, around is None)
        known, around = around, find_recording(*before, *after, *body.captured)
        if around is known or around is None or not around.stores_adjoints:
            break  # else a later step captured a recorded value first, and the run must be stored for the reverse pass
    body.settle(around)
    forget()
    if around is None:
        return flat, None
    parts: list[Any] = [np.ravel(around.array(x)) for x in (*before, *body.captured, *after)]
    keep(around, body)
    argument: Any = np.concatenate(parts)
    return record(argument), around


def values_of(x: Any) -> Any:
    return x.recorded_values if isinstance(x, Array) else x


def pieces(flat: Any, begin: int, is_truth: Sequence[bool], shapes: Sequence[tuple[int, ...]]) -> list[Any]:
    """Returns consecutive parts of a vector in the given shapes; plain numbers for plain scalars."""
    entries = flat.slots if isinstance(flat, Array) else flat
    pieces: list[Any] = []
    for shape, is_own in zip(shapes, is_truth, strict=True):
        end = begin + math.prod(shape)
        part = entries[begin:end].reshape(shape)
        if isinstance(flat, Array):
            pieces.append(flat.with_slots(part, condition=is_own))
        else:
            part = part != 0 if is_own else part
            pieces.append(part if shape else part.item())
        begin = end
    return pieces
