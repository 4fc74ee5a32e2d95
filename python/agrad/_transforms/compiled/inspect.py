"""Prints, draws, profiles, pickles and copies compiled functions."""

from __future__ import annotations

import copy
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Generic

from agrad._transforms.base import Arguments
from agrad._transforms.compiled.describe import counted, describe, drawing
from agrad._transforms.compiled.paths import Path, WithPaths
from agrad._transforms.compiled.pickle import example_of, pickled_form
from agrad._transforms.compiled.profile import Profile, profile_of

if TYPE_CHECKING:
    from agrad._core import Program, SourceLines

__all__ = ["Inspected"]


class Inspected(WithPaths, Generic[Arguments]):
    """The part of :class:`agrad._transforms.compiled.compile.Compiled` that inspects the recordings."""

    @abstractmethod
    def _path_and_call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Path, Any]:
        """Returns the path of a call, and the call's signature."""

    @abstractmethod
    def _record_lines(self, call: Any) -> tuple[Program, SourceLines]:
        """Returns a new program for a call, and the source lines of the operations."""

    def __repr__(self) -> str:
        return f"<{self.label}: {counted(sum(len(paths) for _, paths in self.recorded()), 'recorded path')}; print it>"

    def __str__(self) -> str:
        return describe(self)

    def to_dot(self, *args: Arguments.args, **kwargs: Arguments.kwargs) -> str:
        """Draw the program of a call with these arguments.

        Parameters
        ----------
        *args, **kwargs
            As for a call; the arguments determine the path, which is recorded first where it is new. For a transformation the
            function's program is drawn.

        Returns
        -------
        str
            Text for Graphviz: boxes are operations, ellipses are arguments, results and constants, arrows have the counts of
            numbers. ``dot -Tsvg``, or ``graphviz.Source`` in a notebook, draws the picture.
        """
        path, call = self._path_and_call(args, kwargs)
        return drawing(path, call.key)

    def profile(self, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Profile:
        """Time the operations of the program for these arguments, in the forward and reverse pass, by line of the function.

        Parameters
        ----------
        *args, **kwargs
            As for a call.

        Returns
        -------
        Profile
            Prints as a table, the costliest operations first; the attribute ``rows`` is for programs.

        Notes
        -----
        The function is recorded again, with the source lines of the operations, and the program runs for about half a second
        with a clock around each operation. The time of an operation from several lines is divided among the lines by the
        entries, and the time of straight code among the steps. A computation that occurs twice belongs to the first line.
        ``backward`` means a reverse pass from all results.
        """
        call = self._path_and_call(args, kwargs)[1]
        return profile_of(self.label, *self._record_lines(call), call.inputs)

    def __reduce__(self) -> tuple[Any, ...]:
        return pickled_form(self)

    def __copy__(self) -> Inspected[Arguments]:
        return self._shared_with(self.transformation or self.function, self.instance)

    def __deepcopy__(self, memo: dict[int, Any]) -> Inspected[Arguments]:
        return self._shared_with(*copy.deepcopy((self.transformation or self.function, self.instance), memo))

    def _shared_with(self, function: Any, instance: tuple[Any, ...]) -> Inspected[Arguments]:
        copied = type(self)(function, self.error_control, self.static.names, self.check)
        for key, paths in self.recorded():
            copied.add_recorded(example_of(key), paths)
        return copied.__get__(*instance) if instance else copied  # type: ignore[attr-defined]
