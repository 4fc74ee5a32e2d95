"""Finds errors that a recorded function has caught, and makes errors with other messages.

A function that catches the error of an operation, as a loop that adds to a diagonal until a matrix has a Cholesky factor, goes
on in another way for other values. No operation of the recording knows this, so such a recording holds only for the values at
which it was made.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from agrad._core import DomainError, LinAlgError, PlaceError, raised_errors, set_raised_errors

__all__ = ["forgotten", "raised_errors", "refuse_caught", "with_message"]


def with_message(error: DomainError, message: str) -> DomainError:
    """Returns an error of the same kind with another message."""
    kind = next((kind for kind in (LinAlgError, PlaceError) if isinstance(error, kind)), DomainError)
    return kind(message)


@contextmanager
def forgotten() -> Iterator[None]:
    """Within the block, errors are those of a trial, and no recorded function has caught them."""
    before = raised_errors()
    try:
        yield
    finally:
        set_raised_errors(before)


def refuse_caught(function: str, before: int) -> None:
    """Raises TypeError where a function that runs with other values has caught an error since there were `before` errors."""
    if raised_errors() != before:
        set_raised_errors(before)
        raise TypeError(
            f"{function}: an error of an operation is caught, but must be raised, because the recorded function runs with "
            "other values, for which the operation may be defined; choose with np.where or ag.cond, or catch the error outside"
        )
