"""Defines debug_nans, with which recordings stop at the first nan and name the operation and the user's line."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from agrad._core import Recording
from agrad._record.source import line_of_code

__all__ = ["counts", "debug_nans", "is_debugging", "watch"]


class _Block(threading.local):
    """The innermost block of this thread: whether infinities count as well; None outside of all blocks."""

    infinities: bool | None = None


_block = _Block()


def is_debugging() -> bool:
    """Returns whether this thread is in a block of :func:`debug_nans`."""
    return _block.infinities is not None


def counts(x: NDArray[np.float64]) -> bool:
    """Returns whether an entry is one at which this thread's block stops."""
    return bool(np.any(np.isnan(x)) or (_block.infinities is True and np.any(np.isinf(x))))


def watch(recording: Recording) -> None:
    """Adds the checks to a new recording if this thread is in a block of :func:`debug_nans`."""
    if _block.infinities is not None:
        recording.watch(_block.infinities, _fail)


@contextmanager
def debug_nans(*, infinities: bool = True) -> Iterator[None]:
    """Within the block, recorded functions raise at the first nan, and name the operation and the line of code.

    Each operation is checked after the forward pass through the operation, and again after the reverse pass. Compiled functions
    are recorded again at each call, so that they can be checked as well. Outside of the block nothing is checked, at no cost.

    Parameters
    ----------
    infinities : bool
        Raise at an infinity, too, if all operands are finite (``exp(1000.0)``, ``1 / x`` at 0). Pass False where infinities
        are intended, such as the logarithm of a probability of zero.

    Raises
    ------
    FloatingPointError
        (Within the block) with the operation, the entry of the result, the operands, and the line.

    Notes
    -----
    The block belongs to the thread that opened the block. An entry that ``np.where`` does not choose is checked like any other.
    Tangents (``jvp``, ``hessian``) are not checked; values and gradients of the same function are. Plain numbers outside of
    recordings are not checked. The steps of a loop are checked. A right-hand side of a differential equation may be nan where
    the solver goes on with a smaller step; where the solve stops, its operation is named. Within the block, tangents and
    Hessians do not pass through solves by methods that need the Jacobian.

    Examples
    --------
    >>> import numpy as np, agrad as ag
    >>> with ag.debug_nans():
    ...     ag.grad(lambda x: np.log(x) * 2.0)(-1.0)
    Traceback (most recent call last):
    FloatingPointError: log: result is nan, but must be finite; it was computed from -1.0 in grad(<lambda>) at ...
    """
    before, _block.infinities = _block.infinities, infinities
    try:
        yield
    finally:
        _block.infinities = before


_UNKNOWN = (
    "; a derivative of zero met an infinite one here, and their product is unknown: write the composition as one function"
    " (logsumexp(a, b=w) for logsumexp(log(w) + a), np.linalg.norm, ag.gaussian_processes for kernels), or stay off the point"
)


def _fail(
    function: str,
    what: str,
    operation: str,
    operand: int,
    index: int,
    count: int,
    value: float,
    operand_values: Sequence[float],
    file: str | None,
    line: int,
) -> NoReturn:
    """Raises for entry `index` of `count` of an operation's result, of an operand's adjoint, or of an input."""
    entry = f"[{index}]" if count > 1 else ""
    at = f"in {function} at {line_of_code(file, line)}"
    if what == "input":
        raise FloatingPointError(f"{function}: input{entry} is {value}, but must be a number; it was passed {at}")
    numbers = ", ".join(map(repr, operand_values))
    if what == "result":
        source = f"it was computed from {numbers}" if numbers else "it was computed"
        raise FloatingPointError(f"{operation}: result{entry} is {value}, but must be finite; {source} {at}")
    source = f"the reverse pass computed it for the arguments {numbers}," if numbers else "the reverse pass computed it"
    hint = _UNKNOWN if value != value and all(number == number for number in operand_values) else ""
    raise FloatingPointError(
        f"{operation}: adjoint of argument {operand}{entry} is {value}, but must be finite; {source} {at}{hint}"
    )
