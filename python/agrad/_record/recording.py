"""Opens and closes recordings, in which a user's function is called with recorded arrays in place of numbers."""

from __future__ import annotations

import functools
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from agrad._core import Comparison, DomainError, Recording, ShapeError
from agrad._record.debug import watch
from agrad._record.errors import forgotten
from agrad._record.foreign import arises_in_foreign, foreign_call, is_of_foreign_call
from agrad._record.within import here

__all__ = ["innermost", "is_any_run_again", "is_in_right_hand_side", "name_of", "named_after", "no_recording", "open_recording"]


class _Open(threading.local):
    """The open recordings of this thread; an entry None marks a function that is called with plain values."""

    def __init__(self) -> None:
        self.recordings: list[Recording | None] = []


_open = _Open()


class _OpenRecording:
    """The block of :func:`open_recording`: a class, because a generator's block takes a microsecond longer."""

    __slots__ = ("_before", "_is_row", "_recording")

    def __init__(self, recording: Recording, is_row: bool) -> None:
        self._recording, self._is_row = recording, is_row

    def __enter__(self) -> Recording:
        watch(self._recording)
        _open.recordings.append(self._recording)
        self._before = here.place
        if not self._is_row:
            here.place = self._before.of_new_recording()
        return self._recording

    def __exit__(self, kind: Any, error: BaseException | None, where: Any) -> None:
        here.place = self._before
        _open.recordings.remove(self._recording)
        self._recording.close()
        if isinstance(error, (TypeError, ValueError, AttributeError, IndexError)):
            _raise_with_hint(self._recording.function, error)
        elif error is not None and is_of_foreign_call(error) and (message := foreign_call(error)):
            raise TypeError(f"{self._recording.function}: {message}") from error


def open_recording(
    function: str,
    *,
    on_comparison: Comparison = Comparison.answers,
    stores_adjoints: bool = False,
    captures: bool = False,
    is_row: bool = False,
) -> _OpenRecording:
    """Opens a recording; when the block ends, also by an exception, arrays of the recording can no longer be used.

    A recording of a row becomes a part of the recording around; other recordings have derivatives of their own.

    Where NumPy cannot store a recorded value in a NumPy array, or cannot compute with np.array([a, b]) of recorded a and b, a
    TypeError says what to write instead.
    """
    return _OpenRecording(Recording(function, on_comparison, stores_adjoints, captures, _next_depth()), is_row)


def _next_depth() -> int:
    """Returns the depth of a recording within the open ones; a body has the depth of its first path, also in a later run."""
    for each in reversed(_open.recordings):
        if each is not None:
            return each.depth + 1
    return 1


def _raise_with_hint(function: str, error: Exception) -> None:
    """Raises an error that says what to write instead, where NumPy's or SciPy's error has such a reason."""
    if (not is_named_already(error) or _is_of_foreign(error)) and (message := foreign_call(error)):
        raise TypeError(f"{function}: {message}") from error
    if _is_stored_plainly(error):
        raise TypeError(f"{function}: {_STORED}") from error
    if hint := _hint(str(error)):
        kind = IndexError if isinstance(error, IndexError) else TypeError
        raise kind(f"{function}: {error}; {hint}") from error


def innermost() -> Recording | None:
    """Returns the recording for a function that is called now; None outside of recordings."""
    return _open.recordings[-1] if _open.recordings else None


def is_in_right_hand_side() -> bool:
    """Returns whether a function of time and states, such as a right-hand side, is being recorded in this thread."""
    return any(each is not None and each.on_comparison == Comparison.refuses for each in _open.recordings)


def is_any_run_again(within: Recording) -> bool:
    """Returns whether an open recording of this thread other than `within` will run with other values."""
    return any(
        each is not None and each is not within and each.on_comparison != Comparison.answers for each in _open.recordings
    )


#: NumPy's message is "setting an array element with a sequence", and the cause of the error is the recorded value's error.
_STORED = (
    "the value of an item assignment is recorded, but must be a plain number where the array is NumPy's own; "
    "write the list [a, b], ag.array([a, b]), or np.zeros(n, like=x) of a recorded x for an array that is filled; "
    "ag.fill(y, where, values) is a copy of y with values in some places"
)
_ENTRIES = "NumPy computes with np.array([a, b]) of recorded values entry by entry and cannot do this; write ag.array([a, b])"
_SPARSE = "SciPy's sparse matrices have no recorded entries and no products with recorded values; write matrix.toarray()"
_INDEX = (
    "where the index is a recorded value, choose between values with np.where, look up data by ag.interpolate(times, values, "
    "'previous'), and pass entries to a loop by ag.scan"
)
#: The beginnings of messages of NumPy and SciPy where recorded values are used with functions for plain numbers.
_HINTS = {
    r"loop of ufunc does not support argument \d+ of type (int|float|bool|agrad)": _ENTRIES,
    r"'(int|float|bool|agrad\._core\.Array)' object has no attribute '(arctan2|hypot|fmod|logical_xor)'": _ENTRIES,
    r"ufunc '\w+' not supported for the input types": _ENTRIES,
    r"Cannot cast (ufunc|array data).* from dtype\('O'\)": _ENTRIES,
    r"unsupported data types in input|scipy\.sparse does not support dtype object": _SPARSE,
    r"only integers, slices \(|arrays used as indices must be of integer": _INDEX,
}


def _is_of_foreign(error: Exception) -> bool:
    """Returns whether another package's function, and not the user's, needed a plain number where agrad refused one."""
    return str(error).startswith(("float: ", "int: ", "np.array: ", "__array__: ")) and arises_in_foreign(error)


def _hint(text: str) -> str | None:
    """Returns the hint what to write, for a message of NumPy or SciPy."""
    return next((hint for beginning, hint in _HINTS.items() if re.match(beginning, text)), None)


def _is_stored_plainly(error: Exception) -> bool:
    """Returns whether NumPy tried to convert a recorded value to a number in an assignment."""
    return (
        isinstance(error, ValueError)
        and isinstance(error.__cause__, TypeError)
        and str(error.__cause__).startswith("float: argument is a recorded value")
    )


def is_named_already(error: Exception) -> bool:
    """Returns whether the error is a message of agrad on an argument."""
    return isinstance(error, (DomainError, ShapeError)) or ", but must be " in str(error)


@contextmanager
def no_recording() -> Iterator[None]:
    """Within the block, functions are called with plain values, and transformations do not record in open recordings."""
    _open.recordings.append(None)
    try:
        with forgotten():
            yield
    finally:
        _open.recordings.pop()


def named_after(wrapper: Any, function: Callable[..., Any]) -> None:
    """Copies a function's name and documentation to `wrapper`, without the attributes of a callable object."""
    functools.update_wrapper(wrapper, function, updated=())


def name_of(function: Callable[..., Any]) -> str:
    """Returns the name of a user's function for messages."""
    return getattr(function, "__name__", type(function).__name__)
