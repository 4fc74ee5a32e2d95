"""Recording: calling a user's function once with recorded arrays in place of numbers."""

from __future__ import annotations

import functools
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from agrad._core import Comparison, DomainError, Recording, ShapeError
from agrad._record.debug import watch
from agrad._record.foreign import foreign_call
from agrad._record.within import Place, here

__all__ = ["innermost", "is_any_run_again", "name_of", "named_after", "no_recording", "open_recording"]


class _Open(threading.local):
    """The open recordings of this thread; None where a function that is called with plain values begins."""

    def __init__(self) -> None:
        self.recordings: list[Recording | None] = []


_open = _Open()


@contextmanager
def open_recording(
    function: str,
    *,
    on_comparison: Comparison = Comparison.answers,
    keeps_adjoints: bool = False,
    captures: bool = False,
    is_row: bool = False,
) -> Iterator[Recording]:
    """Open a recording; when the block ends, also by an exception, its arrays can no longer be used.

    A recording of a row becomes a part of the one around it; others have a derivative of their own.

    Where NumPy could not store a recorded value in an array of its own, or not compute with np.array([a, b]) of recorded a and
    b, a TypeError says what to write instead.
    """
    recording = Recording(function, on_comparison, keeps_adjoints, captures, len(_open.recordings) + 1)
    watch(recording)
    _open.recordings.append(recording)
    before = here.place
    if not is_row:
        here.place = Place(functions=before.functions)
    try:
        yield recording
    except (TypeError, ValueError, AttributeError, IndexError) as error:
        if not is_named_already(error) and (message := foreign_call(error)):
            raise TypeError(f"{function}: {message}") from error
        if _is_stored_plainly(error):
            raise TypeError(f"{function}: {_STORED}") from error
        if hint := _hint(str(error)):
            kind = IndexError if isinstance(error, IndexError) else TypeError
            raise kind(f"{function}: {error}; {hint}") from error
        raise
    finally:
        here.place = before
        _open.recordings.remove(recording)
        recording.close()


def innermost() -> Recording | None:
    """The recording that a function which is called now belongs to."""
    return _open.recordings[-1] if _open.recordings else None


def is_any_run_again(within: Recording) -> bool:
    """Whether one of this thread's open recordings around that one will be run with other values."""
    return any(
        each is not None and each is not within and each.on_comparison != Comparison.answers for each in _open.recordings
    )


#: NumPy's own words are "setting an array element with a sequence", with what the value said as their cause.
_STORED = (
    "the value of an item assignment is recorded, but must be a plain number where the array is NumPy's own; "
    "write the list [a, b], ag.array([a, b]), or np.zeros(n, like=x) of a recorded x for an array that is filled"
)
_ENTRIES = "NumPy computes with np.array([a, b]) of recorded values entry by entry and cannot do this; write ag.array([a, b])"
_SPARSE = "SciPy's sparse matrices have no recorded entries and no products with recorded values; write matrix.toarray()"
_INDEX = "where the index is a recorded value, choose between values with np.where, and hand entries over to a loop by ag.scan"
#: The beginnings of what NumPy and SciPy say when recorded values meet what they have for numbers only.
_SAID = {
    r"loop of ufunc does not support argument \d+ of type (int|float|bool|agrad)": _ENTRIES,
    r"'(int|float|bool|agrad\._core\.Array)' object has no attribute '(arctan2|hypot|fmod|logical_xor)'": _ENTRIES,
    r"ufunc '\w+' not supported for the input types": _ENTRIES,
    r"Cannot cast (ufunc|array data).* from dtype\('O'\)": _ENTRIES,
    r"unsupported data types in input|scipy\.sparse does not support dtype object": _SPARSE,
    r"only integers, slices \(|arrays used as indices must be of integer": _INDEX,
}


def _hint(said: str) -> str | None:
    """What to write where NumPy raised this."""
    return next((hint for beginning, hint in _SAID.items() if re.match(beginning, said)), None)


def _is_stored_plainly(error: Exception) -> bool:
    """Whether NumPy asked a recorded value for a number, to store it."""
    return (
        isinstance(error, ValueError)
        and isinstance(error.__cause__, TypeError)
        and str(error.__cause__).startswith("float: argument is a recorded value")
    )


def is_named_already(error: Exception) -> bool:
    """Whether agrad has said what is wrong with an argument, in its own grammar."""
    return isinstance(error, (DomainError, ShapeError)) or ", but must be " in str(error)


@contextmanager
def no_recording() -> Iterator[None]:
    """Within the block, functions are called with plain values: what they differentiate is no part of a recording."""
    _open.recordings.append(None)
    try:
        yield
    finally:
        _open.recordings.pop()


def named_after(made: Any, function: Callable[..., Any]) -> None:
    """Give what is made of a function its name and documentation; the attributes of a callable object are its own."""
    functools.update_wrapper(made, function, updated=())


def name_of(function: Callable[..., Any]) -> str:
    """How messages call a user's function."""
    return getattr(function, "__name__", type(function).__name__)
