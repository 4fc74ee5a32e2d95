"""What can be done with a compiled function beside calling it: printing, drawing, profiling, pickling, copying."""

from __future__ import annotations

import copy
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Generic

from agrad._transforms.base import Arguments
from agrad._transforms.compiled.describe import counted, describe, drawing
from agrad._transforms.compiled.paths import Path, WithPaths
from agrad._transforms.compiled.pickle import example_of, taken_apart
from agrad._transforms.compiled.profile import Profile, profile_of

if TYPE_CHECKING:
    from agrad._core import Program, SourceLines

__all__ = ["Inspected"]


class Inspected(WithPaths, Generic[Arguments]):
    """The part of :class:`agrad._transforms.compiled.compile.Compiled` that looks at what was recorded."""

    @abstractmethod
    def _taken(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Path, Any]:
        """The path of a call, and the call taken apart."""

    @abstractmethod
    def _record_lines(self, call: Any) -> tuple[Program, SourceLines]:
        """A program of its own for a call, and the lines that its operations come from."""

    def __repr__(self) -> str:
        return f"<{self.label}: {counted(sum(len(paths) for _, paths in self.recorded()), 'recorded path')}; print it>"

    def __str__(self) -> str:
        return describe(self)

    def to_dot(self, *args: Arguments.args, **kwargs: Arguments.kwargs) -> str:
        """Draw the program of a call with these arguments.

        Parameters
        ----------
        *args, **kwargs
            As for a call, which decide about the path; recorded first where it is new. Of a transformation it is the
            function's program that is drawn.

        Returns
        -------
        str
            Text for Graphviz: boxes are operations, ellipses arguments, results and constants, arrows say how many numbers
            go that way. ``dot -Tsvg`` makes a picture of it, and so does ``graphviz.Source`` in a notebook.
        """
        path, call = self._taken(args, kwargs)
        return drawing(path, call.key)

    def profile(self, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Profile:
        """Time the operations of the program for these arguments, forwards and backwards, by line of the function.

        Parameters
        ----------
        *args, **kwargs
            As for a call.

        Returns
        -------
        Profile
            Printed it is a table, the costliest operations first; its ``rows`` are for programs to read.

        Notes
        -----
        The function is recorded anew, this time with the lines that its operations come from, and the program is run for
        about half a second with a look at the clock around each operation. An operation that was put together from several
        lines is shared out among them by its entries, and straight code among its steps. What was computed twice belongs to
        the line that came first. Backwards means one sweep back from all results.
        """
        call = self._taken(args, kwargs)[1]
        return profile_of(self.label, *self._record_lines(call), call.inputs)

    def __reduce__(self) -> tuple[Any, ...]:
        return taken_apart(self)

    def __copy__(self) -> Inspected[Arguments]:
        return self._shared_with(type(self)(self.transformation or self.function))

    def __deepcopy__(self, memo: dict[int, Any]) -> Inspected[Arguments]:
        return self._shared_with(type(self)(copy.deepcopy(self.transformation or self.function, memo)))

    def _shared_with(self, made: Inspected[Arguments]) -> Inspected[Arguments]:
        for key, paths in self.recorded():
            args, kwargs = example_of(key)
            made.add_recorded(args, kwargs, paths)
        return made
