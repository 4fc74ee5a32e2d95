"""Defines vmap, which calls a function of a single row for all rows at once.

The function is recorded for the first row, and then for all rows together in the recording around the call, so that each
operation is a batch over the rows. Rows with other results of comparisons are recorded separately.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ParamSpec

import numpy as np

from agrad._core import Array, Comparison, Recording, ShapeError
from agrad._record.nested import known
from agrad._record.recording import innermost, name_of, named_after, open_recording
from agrad._record.structure import Outputs
from agrad._record.trees import axes_of, flatten
from agrad._transforms.by_name import ByName
from agrad._transforms.class_methods import cached_for
from agrad._transforms.compiled.compile import Compiled

__all__ = ["Vmap", "vmap"]

Arguments = ParamSpec("Arguments")

#: The rows of a thread's block, for any number of threads, so that results do not depend on the number of threads.
_BLOCK = 256


class _Batch:
    """The arguments of a call as leaves: which leaves have rows, and the leaves with the axis of rows first."""

    def __init__(self, label: str, args: tuple[Any, ...], kwargs: dict[str, Any], in_axes: Any) -> None:
        self.leaves, self._together, self._structure = flatten((args, kwargs))
        self._label = label
        by_argument = in_axes if isinstance(in_axes, (tuple, list)) else (in_axes,) * len(args)
        if len(by_argument) != len(args):
            raise TypeError(
                f"{label}: in_axes has {len(by_argument)} entries, but must have one entry for each positional argument; "
                f"{len(args)} were given"
            )
        axes = axes_of(label, "in_axes", (tuple(by_argument), dict.fromkeys(kwargs, 0)), (args, kwargs))
        self.axes = {place: axis for place, axis in enumerate(axes) if axis is not None}  # of the leaves that have rows
        self.places = list(self.axes)
        if not self.places:
            raise ValueError(f"{label}: in_axes is {in_axes!r}, but must have an axis for at least one argument")
        self.rows = self._count_rows()
        whole = [place for place in self.places if _is_whole(self.leaves[place])]
        self.places = [place for place in self.places if place not in whole]
        self._whole = {place: np.moveaxis(np.asarray(self.leaves[place]), self.axes[place], 0) for place in whole}

    def groups(self) -> list[np.ndarray[Any, Any]]:
        """Returns groups of rows with equal integers and booleans, which the function gets as plain values."""
        if not self._whole:
            return [np.arange(self.rows)]
        found: dict[Any, list[int]] = {}
        for row in range(self.rows):
            found.setdefault(tuple(values[row].tobytes() for values in self._whole.values()), []).append(row)
        return [np.array(rows) for rows in found.values()]

    @property
    def has_whole(self) -> bool:
        """Whether leaves of integers or booleans have rows."""
        return bool(self._whole)

    def _name(self, place: int) -> str:
        path = self._structure.accessors()[place]
        return str(path[2:].codify(f"argument {path[1].entry}"))

    def _count_rows(self) -> int:
        rows = None
        for place in self.places:
            leaf, axis = self.leaves[place], self.axes[place]
            values = leaf if isinstance(leaf, Array) else np.asarray(leaf)
            if values.dtype.kind not in "fiub":
                raise TypeError(
                    f"{self._label}: {self._name(place)} is {leaf!r}, but must be real numbers; None for it in in_axes "
                    "passes it unchanged"
                )
            if not -values.ndim <= axis < values.ndim:
                raise ShapeError(
                    f"{self._label}: {self._name(place)} is of shape {values.shape}, but must have an axis {axis}, as in_axes "
                    "says; None for it in in_axes uses it in all rows"
                )
            if rows is not None and values.shape[axis] != rows:
                raise ShapeError(
                    f"{self._label}: {self._name(place)} has {values.shape[axis]} rows along axis {axis}, but must have "
                    f"{rows}, as {self._name(self.places[0])}"
                )
            rows = values.shape[axis]
        assert rows is not None, "one leaf at least has rows"
        return int(rows)

    def with_rows(self, rows: Sequence[Any], number: int = 0) -> Any:
        """Returns the arguments of a row: `rows` in place of the leaves of numbers, and the row's integers and booleans."""
        leaves = list(self.leaves)
        for place, values in self._whole.items():
            leaves[place] = values[number].copy() if values.ndim > 1 else values[number].item()
        for place, row in zip(self.places, rows, strict=True):
            leaves[place] = row
        return self._together(leaves)

    def rows_first(self, leaf_at: Callable[[Any], Any]) -> list[Any]:
        """Returns the leaves that have rows, with the rows along the first axis."""
        return [np.moveaxis(leaf_at(self.leaves[place]), self.axes[place], 0) for place in self.places]


def _is_whole(leaf: Any) -> bool:
    return not isinstance(leaf, Array) and np.asarray(leaf).dtype.kind in "iub"


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
        batch = _Batch(self.label, args, kwargs, self.in_axes)
        around = innermost()
        if around is not None:
            return known(self._recorded(around, batch), (args, kwargs))
        if self.threads is not None and batch.rows > _BLOCK and not batch.has_whole:
            return self._in_threads(batch)
        with open_recording(self.label) as recording:
            return self._recorded(recording, batch, plain=True)

    def _recorded(self, recording: Recording, batch: _Batch, *, plain: bool = False) -> Any:
        given = batch.rows_first(recording.array)
        flat: Any
        parts: list[Any] = []
        order: list[Any] = []
        outputs: _RowOutputs | None = None
        for pending in batch.groups():
            while outputs is None or pending.size:
                flat, chosen, outputs = self._path(recording, batch, given, pending, outputs)
                parts.append(flat)
                order.append(chosen)
                pending = np.setdiff1d(pending, chosen, assume_unique=True)
        assert outputs is not None, "there is a group, which may be empty"
        flat = parts[0] if len(parts) == 1 else np.concatenate(parts)[np.argsort(np.concatenate(order))]
        return self._together(flat.recorded_values if plain else flat, outputs)

    def _path(
        self, recording: Recording, batch: _Batch, given: list[Any], pending: np.ndarray[Any, Any], before: _RowOutputs | None
    ) -> tuple[Any, np.ndarray[Any, Any], _RowOutputs]:
        """Records the path of the first pending row for all rows on this path. Returns the output and these rows."""
        with open_recording(self.label, on_comparison=Comparison.guards, captures=True, is_row=True) as row:
            inputs = [row.input(_first(x.recorded_values, pending)) for x in given]
            args, kwargs = batch.with_rows([x.copy() for x in inputs], int(pending[0]) if pending.size else 0)
            outputs = _RowOutputs(row, self.function(*args, **kwargs))
            outputs.join(self.label, before)
            flat, conditions = recording.batch(row, inputs, _of(given, pending), outputs.joined, len(pending))
            on_path = np.ones(len(pending), bool)
            for condition, holds in conditions:
                on_path &= (condition.recorded_values != 0) == holds
            if not on_path.all():
                pending = pending[on_path]
                flat, conditions = recording.batch(row, inputs, _of(given, pending), outputs.joined, len(pending))
        for condition, holds in conditions:
            bool(np.all(condition) if holds else np.any(condition))  # a guard in a recording around that runs again
        return flat, pending, outputs

    def _together(self, flat: Any, outputs: _RowOutputs) -> Any:
        rows, begin, leaves = flat.shape[0], 0, []
        for shape, kind in zip(outputs.shapes, outputs.kinds, strict=True):
            end = begin + int(np.prod(shape, dtype=int))
            leaves.append(_of_kind(kind, np.reshape(flat[:, begin:end], (rows, *shape))))
            begin = end
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

    def _in_threads(self, batch: _Batch) -> Any:
        """Runs the recorded function on blocks of rows, each in a thread."""
        with self._lock:
            if self._compiled is None:
                self._compiled = Compiled(Vmap(self.function, self.in_axes, 0, None))
        compiled, given = self._compiled, batch.rows_first(np.asarray)
        first, *others = [slice(begin, begin + _BLOCK) for begin in range(0, batch.rows, _BLOCK)]

        def run(block: slice) -> Any:
            rows = [np.moveaxis(x[block], 0, axis) for x, axis in zip(given, self._axes_of(batch), strict=True)]
            args, kwargs = batch.with_rows([np.ascontiguousarray(x, dtype=float) for x in rows])
            return flatten(compiled(*args, **kwargs))

        leaves, together, _ = run(first)  # records, before other threads run
        with ThreadPoolExecutor(self.threads or os.cpu_count()) as pool:
            blocks = [leaves, *(block[0] for block in pool.map(run, others))]
        joined = [np.concatenate([np.atleast_1d(block[place]) for block in blocks]) for place in range(len(leaves))]
        return self._with_axes(joined, together)

    @staticmethod
    def _axes_of(batch: _Batch) -> Iterator[int]:
        return (batch.axes[place] for place in batch.places)


class _RowOutputs(Outputs):
    """The function's result for a row, with the kind of each leaf: booleans, integers or real numbers."""

    def __init__(self, row: Recording, result: Any) -> None:
        super().__init__(row, result)
        kinds = [leaf.dtype.kind if isinstance(leaf, Array) else np.asarray(leaf).dtype.kind for leaf in flatten(result)[0]]
        self.kinds = ["i" if kind == "u" else kind if kind in "bi" else "f" for kind in kinds]

    def join(self, label: str, before: _RowOutputs | None) -> None:
        """Raises unless the structure is that of the rows before; leaves of different kinds become integers or real numbers."""
        if before is None:
            return
        if (self.structure, self.shapes) != (before.structure, before.shapes):
            raise TypeError(
                f"{label}: result is of different structures or shapes in different rows, but must be of one structure "
                "and shape"
            )
        self.kinds = [a if a == b else "f" if "f" in (a, b) else "i" for a, b in zip(self.kinds, before.kinds, strict=True)]


def _of_kind(kind: str, x: Any) -> Any:
    if isinstance(x, Array):
        return x.with_slots(x.slots, condition=kind == "b")
    return x if kind == "f" else x != 0 if kind == "b" else x.astype(np.int64)


def _first(values: np.ndarray[Any, Any], pending: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return values[pending[0]] if pending.size else np.zeros(values.shape[1:])


def _of(given: list[Any], rows: np.ndarray[Any, Any]) -> list[Any]:
    return [x if len(rows) == len(x) else x[rows] for x in given]


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
        (When called) arguments have different numbers of rows, or lack the axis.
    TypeError
        An argument with rows is no real number; `in_axes` has another structure than the arguments.

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
