"""Defines the direct style: a tape that is open while ordinary code runs, variables, reverse passes and adjoints.

A tape is a recording with a reverse pass through the recording itself, as in :func:`agrad.grad`. Tapes within tapes are
separate recordings; a value of an outer tape becomes an input of the inner tape, and the reverse pass through the inner tape
continues from this input in the outer tape.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from agrad._core import Array, Recording, ScopeError, ShapeError
from agrad._record.recording import open_recording
from agrad._record.trees import flatten

__all__ = ["tape", "var"]


class _Tape:
    """An open tape: the recording, and the adjoints of the last reverse pass."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.adjoints: np.ndarray[Any, Any] | None = None  # by slot; the last entry, 0, is for all later slots

    def reverse(self, parts: list[tuple[Array, np.ndarray[Any, Any]]]) -> list[tuple[Array, np.ndarray[Any, Any]]]:
        """Runs the reverse pass from arrays with seeds. Returns the captured arrays of outer tapes with their adjoints."""
        slots = np.concatenate([y.slots.ravel() for y, _ in parts])
        seeds = np.concatenate([seed.ravel() for _, seed in parts])
        output = parts[0][0].with_slots(slots)
        reached = np.arange(int(slots.max(initial=0)) + 1, dtype=np.uint32)  # later operations do not contribute
        self.adjoints = np.append(self.recording.reverse(output, seeds, [output.with_slots(reached)]), 0.0)
        outer = zip(self.recording.captured, self.recording.captured_inputs, strict=True)
        return [(outside, self.adjoint(inside)) for outside, inside in outer]

    def adjoint(self, x: Array) -> np.ndarray[Any, Any]:
        """Returns the adjoints of the entries of x after the last reverse pass."""
        assert self.adjoints is not None, "there was a reverse pass"
        return self.adjoints[np.minimum(x.slots, self.adjoints.size - 1)]


class _Stack(threading.local):
    """The open tapes of this thread, innermost last."""

    def __init__(self) -> None:
        self.tapes: list[_Tape] = []


_stack = _Stack()
_open: dict[int, _Tape] = {}  # by the identity of their recordings, of all threads


@contextmanager
def tape() -> Iterator[None]:
    """Open a tape: until the block ends, :func:`var` makes variables, and code that uses variables is recorded.

    Notes
    -----
    Within the block, a recorded scalar y has ``y.grad()``, the reverse pass from y; then each recorded value x has
    ``x.adj()``, the derivative of y with respect to x, and ``x.val()``, the value of x. ``y.grad([a, b])`` also returns the
    gradient with respect to a and b in a list. Code is ordinary Python: an ``if`` depends on the values, and a name may be
    assigned again.

    ``float(x)`` raises as in a differentiated function: ``math.exp(x)`` would call ``float(x)`` and lose the derivative
    silently. Read the value with ``x.val()``.

    Tapes nest. Values of an inner tape end with the inner block; values of the outer tape can be used in the inner block, and
    the reverse pass continues to the outer values. Each thread has tapes of its own. When the block ends, also by an
    exception, the tape is gone, and the use of a value of the tape raises :class:`ScopeError`.

    Raises
    ------
    ScopeError
        (Later) a value of a tape is used after its block.

    Examples
    --------
    >>> import agrad as ag
    >>> with ag.tape():
    ...     x = ag.var(3.0)
    ...     y = x * x
    ...     y.grad()
    ...     slope = x.adj()
    >>> slope
    6.0
    """
    with open_recording("tape", stores_adjoints=True) as recording:
        recording.become_tape()
        mine = _Tape(recording)
        _open[id(recording)] = mine
        _stack.tapes.append(mine)
        try:
            yield
        finally:
            _stack.tapes.remove(mine)
            del _open[id(recording)]


def var(value: Any) -> Array:
    """Make a variable of the innermost open tape: a number or array for derivatives with respect to the variable.

    Parameters
    ----------
    value : real number or array-like
        The value of the variable; integers become float64.

    Returns
    -------
    Array
        Recorded, of the value's shape; scalars have shape ().

    Raises
    ------
    ScopeError
        This thread has no open tape.
    TypeError
        The value is complex, no number, or recorded already.

    Examples
    --------
    >>> import numpy as np, agrad as ag
    >>> with ag.tape():
    ...     x = ag.var([1.0, 2.0])
    ...     gradient = np.sum(x**3).grad(x)
    >>> gradient
    array([ 3., 12.])
    """
    if not _stack.tapes:
        raise ScopeError("var: number of open tapes is 0, but must be at least 1; write it in a block `with ag.tape():`")
    return _stack.tapes[-1].recording.input(_plain(value))


def _plain(value: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    if isinstance(value, Array):
        raise TypeError(
            f"var: value is a recorded value of {value.recording.function}, but must be plain; use the recorded value "
            "itself, or its val()"
        )
    try:
        values = np.asarray(value)
    except ValueError:
        raise ShapeError(f"var: value is {value!r}, but must be rectangular; its parts are of different shapes") from None
    if values.dtype.kind == "c":
        raise TypeError("var: value is complex, but must be real; make variables of real and imaginary parts")
    if values.dtype.kind not in "fiu":
        raise TypeError(f"var: value is {value!r}, but must be a real number or an array of them")
    return values.astype(np.float64)


# ---- members of recorded arrays --------------------------------------------------------------------------------------


def _tape_of(function: str, x: Array) -> _Tape:
    """Returns the open tape of a recorded array."""
    recording = x.recording
    found = _open.get(id(recording))
    if found is not None:
        return found
    if recording.is_tape:
        raise ScopeError(
            f"{function}: argument is a recorded value of {recording.function}, which has ended, but must be of an open tape; "
            "read values, gradients and adjoints before the tape's block ends"
        )
    raise TypeError(
        f"{function}: argument is a recorded value of {recording.function}, but must be of a tape; a transformation returns "
        "its derivatives"
    )


def _read(values: np.ndarray[Any, Any]) -> Any:
    return float(values) if values.ndim == 0 else values


def _grad(self: Array, wrt: Any = None) -> Any:
    """Run the reverse pass from this scalar of a tape: afterwards ``x.adj()`` is the scalar's derivative with respect to x.

    Parameters
    ----------
    wrt : recorded array or nested structure of them, optional
        The values for the returned derivatives, which have the same structure: ``y.grad([a, b])`` is a list.

    Returns
    -------
    None, or float or numpy.ndarray in the structure of wrt

    Raises
    ------
    ShapeError
        The recorded value is no scalar.
    ScopeError
        The tape has ended.
    TypeError
        The recorded value, or a part of wrt, is no value of a tape.
    """
    mine = _tape_of("grad", self)
    if self.shape != ():
        raise ShapeError(f"grad: argument is of shape {self.shape}, but must be a scalar; sum it, or take its entries")
    leaves, together, structure = flatten(wrt if wrt is not None else ())
    for path, leaf in zip(structure.accessors(), leaves, strict=True):
        if not isinstance(leaf, Array):
            raise TypeError(f"grad: {path.codify('wrt')} is {leaf!r}, but must be a recorded value of a tape; see agrad.var")
    tapes = [_tape_of("grad", leaf) for leaf in leaves]
    _reverse(mine, self)
    if wrt is None:
        return None
    return together([_read(_adjoint_of(tape, leaf)) for tape, leaf in zip(tapes, leaves, strict=True)])


def _reverse(mine: _Tape, y: Array) -> None:
    """Runs the reverse pass from y through y's tape and then through outer tapes whose values were used, inner tapes first."""
    for each in _stack.tapes:
        each.adjoints = np.zeros(1)
    waiting: dict[int, list[tuple[Array, np.ndarray[Any, Any]]]] = {id(mine.recording): [(y, np.ones(()))]}
    while waiting:
        inner = max((_open[recording] for recording in waiting), key=lambda tape: tape.recording.depth)
        for outside, adjoint in inner.reverse(waiting.pop(id(inner.recording))):
            waiting.setdefault(id(_tape_of("grad", outside).recording), []).append((outside, adjoint))


def _adjoint_of(tape: _Tape, x: Array) -> np.ndarray[Any, Any]:
    if tape.adjoints is None:
        raise RuntimeError("adj: number of reverse passes is 0, but must be at least 1; call grad() of the result first")
    return tape.adjoint(x)


def _adj(self: Array) -> Any:
    """Return the derivative, with respect to this value, of the scalar whose ``grad()`` was called last.

    Returns
    -------
    float or numpy.ndarray
        Of the shape of this value; zeros where the scalar does not depend on this value.

    Raises
    ------
    RuntimeError
        ``grad()`` has not been called since the tape was opened.
    ScopeError
        The tape has ended.
    """
    return _read(_adjoint_of(_tape_of("adj", self), self))


def _val(self: Array) -> Any:
    """Return the value of a recorded number or array of a tape.

    Returns
    -------
    float or numpy.ndarray

    Raises
    ------
    ScopeError
        The tape has ended.
    TypeError
        The recorded number is no value of a tape: in a compiled function the value would become a constant.
    """
    _tape_of("val", self)
    return _read(self.recorded_values)


for _name, _member in (("grad", _grad), ("adj", _adj), ("val", _val)):
    _member.__name__ = _name
    _member.__qualname__ = f"Array.{_name}"
    setattr(Array, _name, _member)
