"""Defines while_loop and switch by fori and cond: a loop that ends by a condition, and a choice among several functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np

from agrad._core import Array, Comparison, DomainError
from agrad._loops.control_flow import as_length, cond, counted
from agrad._loops.run import values_of
from agrad._record.recording import innermost, is_in_right_hand_side, name_of
from agrad._record.trees import flatten

__all__ = ["switch", "while_loop"]

Carry = TypeVar("Carry")
Result = TypeVar("Result")


def while_loop(
    cond_fun: Callable[[Carry], Any], body_fun: Callable[[Carry], Carry], init_val: Carry, *, max_steps: int | None = None
) -> Carry:
    """Run a loop as long as a condition holds: ``while cond_fun(carry): carry = body_fun(carry)``.

    Parameters
    ----------
    cond_fun : callable
        A function of the carry; returns a scalar boolean, recorded or not.
    body_fun : callable
        A function of the carry; returns the new carry, of the structure, shapes and dtypes of `init_val`.
    init_val : floating-point or boolean numbers, arrays, nested structures of them
        The carry at the beginning.
    max_steps : int, optional
        The most steps; condition and body are then recorded once. Without `max_steps` the loop is a Python loop: each step is
        recorded, and in a compiled function each number of steps is a separate path, of at most 64.

    Returns
    -------
    the carry for which the condition does not hold

    Raises
    ------
    RuntimeError
        The condition still holds after `max_steps` steps. In the right-hand side of a differential equation, which has no
        guards, the result is nan instead.

    Notes
    -----
    All transformations work. With `max_steps` the cost of a run is that of its steps, plus little for the remaining steps.

    Examples
    --------
    >>> import numpy as np, agrad as ag
    >>> def halvings(x):
    ...     return ag.while_loop(lambda c: c[0] > 1, lambda c: (c[0] / 2, c[1] + 1), (x, 0.0), max_steps=100)[1]
    >>> ag.compile(halvings)(1000.0)
    10.0
    """
    for name, each in (("cond_fun", cond_fun), ("body_fun", body_fun)):
        if not callable(each):
            raise TypeError(f"while_loop: {name} is {each!r}, but must be callable")
    label = f"while_loop({name_of(body_fun)})"
    carry = init_val
    if max_steps is None:
        while cond_fun(carry):
            carry = body_fun(carry)
        return carry

    def step(_: Any, now: Carry) -> Carry:
        after: Carry = cond(cond_fun(now), body_fun, lambda same: same, now)
        return after

    carry, steps = counted(label, 0, max(0, as_length(label, "max_steps", max_steps)), step, init_val)
    if steps is not None and is_in_right_hand_side() and _converges(label, body_fun, carry):
        steps.paths.mark_converging()
    goes_on = cond_fun(carry)
    recording = innermost()
    if isinstance(goes_on, Array) and recording is not None and recording.on_comparison == Comparison.refuses:
        leaves, together, _ = flatten(carry)
        result: Carry = together([np.where(goes_on, np.nan, leaf) for leaf in leaves])
        return result
    if goes_on:
        raise RuntimeError(f"{label}: number of steps is more than {max_steps}, but must be at most max_steps; raise max_steps")
    return carry


#: The largest relative change of the carry by one more step that counts as convergence.
_LITTLE = 1e-3


def _converges(label: str, body_fun: Callable[[Carry], Carry], carry: Carry) -> bool:
    """Returns whether one more step changes the carry by little, as that of Newton's iteration at its root does.

    Whole numbers that change by whole numbers are counters, which tell nothing; a loop with nothing but these counts.
    """
    try:
        after, _ = counted(label, 0, 1, lambda _, now: body_fun(now), carry)
    except Exception:  # the end of the loop may be where its function ends
        return False
    before, now = (np.concatenate([np.ravel(values_of(x)) for x in flatten(part)[0]]) for part in (carry, after))
    change = np.abs(now - before)
    is_little = change <= _LITTLE * np.maximum(np.abs(before), np.abs(now))
    is_counter = (change >= 1) & (np.floor(before) == before) & (np.floor(now) == now)
    return bool(np.all(is_little | is_counter) and (np.any(is_little & (change > 0)) or not np.any(is_counter)))


def switch(index: Any, branches: Sequence[Callable[..., Result]], *operands: Any) -> Result:
    """Call one of several functions, chosen by a number: ``branches[index](*operands)``.

    Parameters
    ----------
    index : whole number, recorded or not
        Numbers below 0 mean the first function, too large numbers mean the last. A recorded number is rounded down.
    branches : sequence of callable
        Functions of the operands; all return numbers and arrays in the same structure and shapes.
    *operands : anything
        The arguments of the called function.

    Returns
    -------
    the result of the called function

    Raises
    ------
    TypeError
        `branches` is empty or contains something that is not callable; `index` is no scalar or no number; the functions return
        different structures for a recorded index.
    ValueError
        A plain index is no whole number.
    DomainError
        A recorded index is nan; in the right-hand side of a differential equation nan means the last function.
    ShapeError
        The functions return arrays of different shapes for a recorded index.

    Notes
    -----
    Works by :func:`cond`: in a compiled function each run chooses again, and only the chosen function is computed.

    Examples
    --------
    >>> import numpy as np, agrad as ag
    >>> f = ag.compile(lambda n, x: ag.switch(n, [np.sin, np.cos, np.exp], x))
    >>> f(0.0, 0.0), f(1.0, 0.0), f(7.0, 0.0)
    (0.0, 1.0, 1.0)
    """
    functions = list(branches) if isinstance(branches, Iterable) else []
    if not functions or not all(map(callable, functions)):
        raise TypeError(f"switch: branches is {branches!r}, but must be a sequence of callables, one at least")
    if np.shape(index) != ():
        raise TypeError(f"switch: index is of shape {np.shape(index)}, but must be a scalar")
    if not isinstance(index, Array):
        if np.asarray(index).dtype.kind not in "fiub":
            raise TypeError(f"switch: index is {index!r}, but must be a whole number")
        if index != np.floor(index):
            raise ValueError(f"switch: index is {index!r}, but must be a whole number")
        return functions[int(np.clip(index, 0, len(functions) - 1))](*operands)

    if index.recording.on_comparison != Comparison.refuses and np.isnan(index):  # a guard, for later runs
        raise DomainError("switch: index is nan, but must be a number; every comparison with nan is false")

    def among(first: int, last: int) -> Callable[..., Result]:
        if first == last:
            return functions[first]
        middle = (first + last + 1) // 2
        return lambda *given: cond(index < middle, among(first, middle - 1), among(middle, last), *given)

    return among(0, len(functions) - 1)(*operands)
