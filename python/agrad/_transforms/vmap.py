"""Defines vmap, which calls a function of a single row for all rows at once.

The function is recorded for the first row, and then for all rows together in the recording around the call, so that each
operation is a batch over the rows; a plain call takes blocks of rows in turn. Rows with other results of comparisons are
recorded separately.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ParamSpec

import numpy as np

from agrad._core import Comparison, DomainError, ShapeError
from agrad._record.errors import forgotten, raised_errors
from agrad._record.nested import known
from agrad._record.recording import innermost, name_of, named_after, open_recording
from agrad._record.trees import axes_of, flatten
from agrad._transforms.by_name import ByName
from agrad._transforms.class_methods import cached_for
from agrad._transforms.compiled.compile import Compiled
from agrad._transforms.row_arguments import Batch
from agrad._transforms.row_batches import PlainRows, RecordedRows
from agrad._transforms.row_results import KINDS, RowOutputs, of_kind

__all__ = ["Vmap", "vmap"]

Arguments = ParamSpec("Arguments")

#: The rows of a thread's block, for any number of threads, so that results do not depend on the number of threads.
_BLOCK = 256


class Vmap(ByName):
    """See :func:`vmap`."""

    def __init__(self, function: Callable[..., Any], in_axes: Any, out_axes: Any, threads: int | None) -> None:
        if not callable(function):
            raise TypeError(f"vmap: function is {function!r}, but must be callable")
        if threads is not None and (not isinstance(threads, int) or threads < 0):
            raise TypeError(
                f"vmap: threads is {threads!r}, but must be None or a number of threads; 0 is one thread for each processor"
            )
        named_after(self, function)
        self.function, self.in_axes, self.out_axes, self.threads = function, in_axes, out_axes, threads
        self.label = f"vmap({name_of(function)})"
        self._compiled: Compiled[..., Any] | None = None
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in ("_compiled", "_lock")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _compiled=None, _lock=threading.Lock())

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """Returns the vmap of an instance's method, for an attribute of a class."""
        if instance is None:
            return self
        method = self.function.__get__(instance)
        return cached_for(self, instance, lambda: type(self)(method, self.in_axes, self.out_axes, self.threads))

    def __repr__(self) -> str:
        return f"<{self.label}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        batch = Batch(self.label, args, kwargs, self.in_axes)
        around = innermost()
        if around is not None:
            return known(self._together(*self._recorded(RecordedRows(around), batch)), (args, kwargs))
        if self.threads is not None and batch.rows > _BLOCK and not batch.has_whole:
            return self._in_threads(batch)
        with open_recording(self.label):
            return self._together(*self._recorded(PlainRows(), batch))

    def _recorded(self, around: RecordedRows | PlainRows, batch: Batch) -> tuple[list[Any], RowOutputs]:
        """Records the rows. Returns the leaves of the results, each with a line of entries for each row, and their form."""
        given = around.given(batch)
        parts: list[Any] = []
        order: list[Any] = []
        outputs: RowOutputs | None = None
        for pending in batch.groups():
            while outputs is None or pending.size:
                path = self._path if batch.rows else self._path_of_no_rows
                lines, chosen, outputs = path(around, batch, given, pending, outputs)
                parts.append(lines)
                order.append(chosen)
                pending = np.setdiff1d(pending, chosen, assume_unique=True)
        assert outputs is not None, "there is a group, which may be empty"
        if len(parts) == 1:
            return parts[0], outputs
        by_row = np.argsort(np.concatenate(order))
        return [np.concatenate(leaf)[by_row] for leaf in zip(*parts, strict=True)], outputs

    def _path_of_no_rows(
        self,
        around: RecordedRows | PlainRows,
        batch: Batch,
        given: list[Any],
        pending: np.ndarray[Any, Any],
        before: RowOutputs | None,
    ) -> tuple[list[Any], np.ndarray[Any, Any], RowOutputs]:
        """Does the same as `_path` where there are no rows, at a point in the function's domain, for the form of the result."""
        for point in (_zeros, _halves, _identity):
            try:
                with forgotten():
                    return self._path(around, batch, given, pending, before, point)
            except (DomainError, ArithmeticError, IndexError, np.linalg.LinAlgError) as error:
                last = error
        raise ShapeError(
            f"{self.label}: number of rows is 0, but must be at least 1 where the function refuses the numbers at which it is "
            f"recorded for the shape of the result ({last}); test for rows before the call"
        ) from last

    def _path(
        self,
        around: RecordedRows | PlainRows,
        batch: Batch,
        given: list[Any],
        pending: np.ndarray[Any, Any],
        before: RowOutputs | None,
        point: Callable[[tuple[int, ...]], Any] | None = None,
    ) -> tuple[list[Any], np.ndarray[Any, Any], RowOutputs]:
        """Records the path of the first pending row for all rows on this path. Returns the leaves and these rows.

        Without rows `point` makes the numbers of a row from their shape.
        """
        errors = raised_errors()
        with open_recording(self.label, on_comparison=Comparison.guards, captures=True, is_row=True) as row:
            numbers = [around.numbers(x, pending[0]) if point is None else point(x.shape[1:]) for x in given]
            inputs = [around.input(row, x, at) for x, at in zip(given, numbers, strict=True)]
            args, kwargs = batch.with_rows([x.copy() for x in inputs], int(pending[0]) if pending.size else 0)
            outputs = RowOutputs(self.label, row, self.function(*args, **kwargs))
            if raised_errors() != errors:
                pending = pending[:1]  # for other rows the operation that raised an error may be defined
            outputs.join(self.label, before)
            lines, pending, conditions = around.run(row, inputs, given, pending, outputs.parts)
        for condition, holds in conditions:
            bool(np.all(condition) if holds else np.any(condition))  # a guard in a recording around that runs again
        return lines, pending, outputs

    def _together(self, lines: list[Any], outputs: RowOutputs) -> Any:
        each = zip(lines, outputs.shapes, outputs.kinds, strict=True)
        leaves = [of_kind(kind, np.reshape(rows, (len(rows), *shape))) for rows, shape, kind in each]
        return self._with_axes(leaves, outputs.together)

    def _with_axes(self, leaves: list[Any], together: Callable[[Any], Any]) -> Any:
        """Returns the result from the leaves, with the rows along the axes of `out_axes`."""
        axes = axes_of(self.label, "out_axes", self.out_axes, together(range(len(leaves))))
        for place, (leaf, axis) in enumerate(zip(leaves, axes, strict=True)):
            if axis is None or not -leaf.ndim <= axis < leaf.ndim:
                raise ShapeError(f"{self.label}: out_axes is {axis}, but must be an axis of a result of shape {leaf.shape}")
            leaves[place] = np.moveaxis(leaf, 0, axis)
        return together(leaves)

    # ---- threads -----------------------------------------------------------------------------------------------------

    def _in_threads(self, batch: Batch) -> Any:
        """Runs the recorded function on blocks of rows, each in a thread."""
        with self._lock:
            if self._compiled is None:
                self._compiled = Compiled(_with_kinds(Vmap(self.function, self.in_axes, 0, None)))
        compiled, given = self._compiled, batch.rows_first(np.asarray)
        first, *others = [slice(begin, begin + _BLOCK) for begin in range(0, batch.rows, _BLOCK)]

        def run(block: slice) -> tuple[list[Any], Callable[..., Any], Any]:
            rows = [np.moveaxis(x[block], 0, axis) for x, axis in zip(given, self._axes_of(batch), strict=True)]
            args, kwargs = batch.with_rows([np.ascontiguousarray(x, dtype=float) for x in rows])
            result, kinds = compiled(*args, **kwargs)
            leaves, together, _ = flatten(result)
            return leaves, together, kinds

        leaves, together, kinds = run(first)  # records, before other threads run
        with ThreadPoolExecutor(self.threads or os.cpu_count()) as pool:
            rest = list(pool.map(run, others))
        blocks, kinds = [leaves, *(block[0] for block in rest)], np.max([kinds, *(block[2] for block in rest)], axis=0)
        joined = [np.concatenate([np.atleast_1d(block[place]) for block in blocks]) for place in range(len(leaves))]
        return self._with_axes([of_kind(KINDS[int(k)], x) for k, x in zip(kinds, joined, strict=True)], together)

    @staticmethod
    def _axes_of(batch: Batch) -> Iterator[int]:
        return (batch.axes[place] for place in batch.places)


def _with_kinds(batched: Vmap) -> Callable[..., Any]:
    """Returns a function that is recorded: the results of `batched`, and numbers for their kinds, which programs lack."""

    def function(*args: Any, **kwargs: Any) -> Any:
        around = innermost()
        assert around is not None, "a compiled function is recorded"
        lines, outputs = batched._recorded(RecordedRows(around), Batch(batched.label, args, kwargs, batched.in_axes))
        return batched._together(lines, outputs), np.array([float(KINDS.index(kind)) for kind in outputs.kinds])

    named_after(function, batched)
    return function


def _zeros(shape: tuple[int, ...]) -> Any:
    return np.zeros(shape)


def _halves(shape: tuple[int, ...]) -> Any:
    return np.full(shape, 0.5)


def _identity(shape: tuple[int, ...]) -> Any:
    """Returns a number or array that is positive, or an identity where the last two axes are of equal length."""
    *_, n, m = 0, 1, *shape
    return np.broadcast_to(np.eye(n), shape).copy() if n == m and len(shape) > 1 else np.full(shape, 0.5)


def vmap(
    function: Callable[Arguments, Any], in_axes: Any = 0, out_axes: Any = 0, *, threads: int | None = None
) -> Callable[..., Any]:
    """Make a function that calls `function` for every row of its arguments, all at once.

    Parameters
    ----------
    function : callable
        A function of a single row, written with NumPy, of numbers, arrays and nested structures of them.
    in_axes : int, None, or tuple of them and of nested structures of them
        The axis of the arguments that counts the rows; None for an argument that is the same in all rows. A tuple has an
        entry for each positional argument, which may be a structure like the argument, or the beginning of the structure.
        Keyword arguments have their rows along axis 0.
    out_axes : int, or nested structure of int
        The axis of the results that counts the rows.
    threads : int, optional
        Compile the function and run blocks of 256 rows in so many threads (0: a thread for each processor). The caller
        promises that the function is pure, as with :func:`compile`. The results are the same to the bit for every number of
        threads.

    Returns
    -------
    callable
        With the arguments of `function`, with rows; returns the results with rows.

    Raises
    ------
    ShapeError
        (When called) arguments have different numbers of rows, or lack the axis; there are no rows, and the shape of the result
        is unknown, because the function refuses the numbers at which it is recorded.
    TypeError
        An argument with rows is no real number; `in_axes` has another structure than the arguments.
    OverflowError
        (When called) the function returns an integer beyond 2**53, which float64 has not.

    Notes
    -----
    The function is recorded for a single row and runs on all rows, each operation as a loop over the rows. The result can be
    differentiated, compiled and called within other functions, and transformations of the row's function, as
    ``ag.vmap(ag.grad(f))``, work as well. An ``if`` on values is right in every row: rows on another branch are recorded
    separately. The function gets integers and booleans with rows as plain values, which may be indices: the function is then
    recorded once for each different value, and threads are not used. Results that are booleans or integers keep their type.

    Factorisations, densities and solutions of differential equations are computed row by row.

    Examples
    --------
    >>> import numpy as np, agrad as ag
    >>> ag.vmap(ag.grad(lambda x, a: np.sin(a * x)), in_axes=(0, None))(np.zeros(3), 2.0)
    array([2., 2., 2.])
    """
    return Vmap(function, in_axes, out_axes, threads)
