"""Makes errors with other messages from errors of functions that a function has called."""

from __future__ import annotations

from agrad._core import DomainError, LinAlgError

__all__ = ["with_message"]


def with_message(error: DomainError, message: str) -> DomainError:
    """Returns an error of the same kind with another message."""
    return LinAlgError(message) if isinstance(error, LinAlgError) else DomainError(message)
