"""debug_nans: recordings stop at the first nan and name the operation and the user's line that made it."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NoReturn

from agrad._core import Recording
from agrad._record.source import line_of_code

__all__ = ["debug_nans", "is_debugging", "watch"]


class _Block(threading.local):
    """The innermost block of this thread: whether infinities are looked for as well; None outside of any."""

    infinities: bool | None = None


_block = _Block()


def is_debugging() -> bool:
    """Whether this thread is in a block of :func:`debug_nans`."""
    return _block.infinities is not None


def watch(recording: Recording) -> None:
    """Let a new recording be watched if this thread is in such a block."""
    if _block.infinities is not None:
        recording.watch(_block.infinities, _fail)


@contextmanager
def debug_nans(*, infinities: bool = True) -> Iterator[None]:
    """Within the block, functions that agrad records raise at the first nan, naming the operation and the line of code.

    Each operation is looked at after it was carried out, and again after the sweep back has gone through it. Functions that
    were compiled are recorded again at each call, so that they can be looked at as well. Outside of the block there are no
    checks, and they cost nothing.

    Parameters
    ----------
    infinities : bool
        Raise at an infinity, too, if all that it was made of is finite (``exp(1000.0)``, ``1 / x`` at 0). Pass False where
        infinities are meant, such as the logarithm of a probability of zero.

    Raises
    ------
    FloatingPointError
        (Within the block) naming the operation, which of its entries, the numbers that it was made of, and the line.

    Notes
    -----
    The block belongs to the thread that opened it. An entry that ``np.where`` does not choose is looked at like any other.
    Tangents (``jvp``, ``hessian``) are not looked at; values and gradients of the same function are. Nor are plain numbers
    with which no recording has to do.

    Examples
    --------
    >>> import numpy as np, agrad as ag
    >>> with ag.debug_nans():
    ...     ag.grad(lambda x: np.log(x) * 2.0)(-1.0)
    Traceback (most recent call last):
    FloatingPointError: log: result is nan, but must be finite; it was made of -1.0 in grad(<lambda>) at ...
    """
    before, _block.infinities = _block.infinities, infinities
    try:
        yield
    finally:
        _block.infinities = before


def _fail(
    function: str,
    what: str,
    operation: str,
    operand: int,
    index: int,
    count: int,
    value: float,
    made_of: Sequence[float],
    file: str | None,
    line: int,
) -> NoReturn:
    """Raise for entry `index` of `count` of an operation's result, of its operand's adjoint, or of an input."""
    entry = f"[{index}]" if count > 1 else ""
    at = f"in {function} at {line_of_code(file, line)}"
    if what == "input":
        raise FloatingPointError(f"{function}: input{entry} is {value}, but must be a number; it came {at}")
    numbers = ", ".join(map(repr, made_of))
    if what == "result":
        made = f"it was made of {numbers}" if numbers else "it was made"
        raise FloatingPointError(f"{operation}: result{entry} is {value}, but must be finite; {made} {at}")
    made = f"the sweep back made it where the arguments were {numbers}," if numbers else "the sweep back made it"
    raise FloatingPointError(f"{operation}: adjoint of argument {operand}{entry} is {value}, but must be finite; {made} {at}")
