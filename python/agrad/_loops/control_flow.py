"""Defines scan, fori and cond, with JAX's signatures: loops and branches that are recorded once.

Each loop is a single operation of the recording around the call, or runs at once where no input is recorded. A
:class:`agrad._loops.body.Body` holds the computation of a step.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from agrad._core import Array, Comparison, Recording, ShapeError
from agrad._loops.body import Body
from agrad._loops.run import Loop, pieces, values_of
from agrad._loops.tree import Leaves, joined
from agrad._record.recording import name_of
from agrad._record.trees import flatten

__all__ = ["as_length", "cond", "counted", "fori", "scan"]

Carry = TypeVar("Carry")
Result = TypeVar("Result")


def _check_callable(function: str, name: str, f: Any) -> None:
    if not callable(f):
        raise TypeError(f"{function}: {name} is {f!r}, but must be callable")


def as_length(function: str, name: str, n: Any) -> int:
    """Returns a number of steps, which must be an int."""
    try:
        return operator.index(n)
    except TypeError:
        what = "a recorded value" if isinstance(n, Array) else repr(n)
        raise TypeError(
            f"{function}: {name} is {what}, but must be an int that is known when the function is recorded"
        ) from None


def _common_length(function: str, items: Leaves, length: Any) -> int:
    """Returns the number of steps: the length of the leading axes of xs."""
    n = None if length is None else as_length(function, "length", length)
    if n is not None and n < 0:
        raise ValueError(f"{function}: length is {n}, but must not be negative")
    source = "length"
    for name, x in zip(items.names, items.arrays, strict=True):
        if x.ndim == 0:
            raise ShapeError(f"{function}: {name} is a number, but must be an array with one entry for each step")
        if n is None:
            n, source = x.shape[0], name
        elif x.shape[0] != n:
            raise ShapeError(f"{function}: {name} is of length {x.shape[0]}, but must be of length {n}, as {source} says")
    if n is None:
        raise TypeError(f"{function}: length is None, but must be an int, because xs has no arrays")
    return n


def scan(
    f: Callable[[Carry, Any], tuple[Carry, Any]],
    init: Carry,
    xs: Any = None,
    length: int | None = None,
    *,
    reverse: bool = False,
    checkpoint: bool = False,
) -> tuple[Carry, Any]:
    """Run a loop whose body is recorded once: pass a carry from step to step, and stack the results of the steps.

    The same as ::

        ys = []
        for x in xs:
            carry, y = f(carry, x)
            ys.append(y)
        return carry, np.stack(ys)

    Parameters
    ----------
    f : callable
        ``f(carry, x)`` returns ``(carry, y)``: the new carry, of the structure, shapes and dtypes of `init`, and the result to
        be stacked, in any structure, or None. Both may be nested dicts, lists, tuples and dataclasses. f may capture recorded
        values, branch on recorded values, and contain other loops.
    init : floating-point or boolean numbers, arrays, nested structures of them
        The carry at the beginning.
    xs : arrays, nested structures of them, or None
        The inputs of the steps, along the leading axes; inside of `f`, x is float64, also for integers.
    length : int, optional
        The number of steps; needed where xs has no arrays.
    reverse : bool
        Run from the last entries of xs to the first; each y is stacked at the index of its x.
    checkpoint : bool
        Store the carry for the reverse pass at about sqrt(length) steps only, and compute the steps between again.

    Returns
    -------
    carry
        The carry after the last step.
    ys
        The results of the steps, stacked along a new leading axis.

    Raises
    ------
    ShapeError
        Arrays in xs have other lengths; the carry that `f` returns has a leaf of another shape than init.
    TypeError
        The carry has another structure or dtype than init, or contains integers; f returns no pair.
    RuntimeError
        Comparisons of recorded values took more than 64 different paths through `f`.

    Notes
    -----
    Recording takes the time and the memory of one step for each path that the steps take through `f`, whatever the length.
    For the reverse pass the carry of every step is stored; intermediate values of `f` are stored only where they are few, and
    otherwise computed again. Loops have derivatives of every mode, and of second order where `f` has second derivatives.

    With plain arguments the loop is also recorded and run, and returns plain numbers and arrays.

    Examples
    --------
    >>> import numpy as np, agrad as ag
    >>> def compound(wealth, rate):
    ...     wealth = wealth * (1 + rate)
    ...     return wealth, wealth
    >>> ag.scan(compound, 1.0, np.array([0.5, 1.0]))
    (3.0, array([1.5, 3. ]))
    >>> ag.grad(lambda rates: ag.scan(compound, 1.0, rates)[0])(np.array([0.5, 1.0]))
    array([2. , 1.5])
    """
    label = f"scan({name_of(f)})"
    _check_callable("scan", "f", f)
    carry, items = Leaves(label, "init", init), Leaves(label, "xs", xs, takes_integers=True)
    n = _common_length(label, items, length)
    loop = Loop(label, carry, items, n, None, bool(reverse), bool(checkpoint))

    def call(recording: Recording, inputs: list[Array], functions: Sequence[Any]) -> list[Leaves]:
        split = len(carry.names)
        result = functions[0](carry.together(inputs[:split]), items.together(inputs[split:]))
        if not (isinstance(result, (tuple, list)) and len(result) == 2):
            raise TypeError(f"{label}: result is {result!r}, but must be a pair (carry, y); return None for no y")
        return [_next_carry(label, result[0], carry, recording), Leaves(label, "y", result[1], recording=recording)]

    body = loop.body(call, f)
    assert body.outputs is not None
    stacked = body.outputs[1]
    shapes = [(n, *shape) for shape in stacked.shapes]
    if n == 0:
        return _unchanged(carry), stacked.together(pieces(np.zeros(0), 0, stacked.is_truth, shapes))
    flat, _ = loop.run(body)
    last = carry.together(pieces(flat, 0, carry.is_truth, carry.shapes))
    return last, stacked.together(pieces(flat, sum(carry.sizes), stacked.is_truth, shapes))


def _next_carry(function: str, result: Any, init: Leaves, recording: Recording) -> Leaves:
    carry = Leaves(function, "carry", result, recording=recording)
    carry.check_like(function, init)
    return carry


def _unchanged(carry: Leaves) -> Any:
    """Returns the carry of a loop without steps."""
    arrays = zip(carry.arrays, carry.is_truth, strict=True)
    plain = [x if isinstance(x, Array) else x != 0 if is_truth else x for x, is_truth in arrays]
    return carry.together([x if isinstance(x, Array) or x.ndim else x.item() for x in plain])


def fori(lower: int, upper: int, body: Callable[[Any, Carry], Carry], init: Carry, *, checkpoint: bool = False) -> Carry:
    """Run a loop over integers whose body is recorded once: ``for i in range(lower, upper): carry = body(i, carry)``.

    Parameters
    ----------
    lower, upper : int
        The first number, and the last number plus 1; known when the function is recorded.
    body : callable
        ``body(i, carry)`` returns the new carry, of the structure, shapes and dtypes of `init`. The number i is recorded and
        cannot be an index; :func:`scan` loops over the entries of arrays.
    init : floating-point or boolean numbers, arrays, nested structures of them
        The carry at the beginning.
    checkpoint : bool
        See :func:`scan`.

    Returns
    -------
    the carry after the last step

    Raises
    ------
    ShapeError, TypeError, RuntimeError
        See :func:`scan`.

    Examples
    --------
    >>> import agrad as ag
    >>> ag.fori(0, 100, lambda i, x: 0.5 * (x + 2.0 / x), 1.0)
    1.414213562373095
    >>> ag.grad(lambda a: ag.fori(1, 6, lambda i, x: a * x / i, 1.0))(2.0)  # a**5 / 5!
    0.6666666666666666
    """
    label = f"fori({name_of(body)})"
    _check_callable("fori", "body", body)
    first = as_length(label, "lower", lower)
    n = max(0, as_length(label, "upper", upper) - first)
    return counted(label, first, n, body, init, checkpoint=checkpoint)[0]


def counted(
    label: str, first: int, n: int, body: Callable[[Any, Carry], Carry], init: Carry, *, checkpoint: bool = False
) -> tuple[Carry, Body | None]:
    """Runs a loop of n steps with numbers from `first`; returns the carry and the loop's body, None without steps."""
    carry = Leaves(label, "init", init)
    loop = Loop(label, carry, Leaves(label, "xs", None), n, first, False, bool(checkpoint))

    def call(recording: Recording, inputs: list[Array], functions: Sequence[Any]) -> list[Leaves]:
        result = functions[0](inputs[-1], carry.together(inputs[:-1]))
        return [_next_carry(label, result, carry, recording)]

    if n == 0:
        last: Carry = _unchanged(carry)
        return last, None
    steps = loop.body(call, body)
    flat, _ = loop.run(steps)
    last = carry.together(pieces(flat, 0, carry.is_truth, carry.shapes))
    return last, steps


def cond(pred: Any, true_fun: Callable[..., Result], false_fun: Callable[..., Result], *operands: Any) -> Result:
    """Call one of two functions, depending on a condition: ``true_fun(*operands) if pred else false_fun(*operands)``.

    Parameters
    ----------
    pred : number or boolean, recorded or not
        A scalar; true unless it is zero.
    true_fun, false_fun : callable
        Functions of the operands; both return numbers and arrays in the same structure and shapes. Both may capture recorded
        values.
    *operands : anything
        The arguments of the function. Plain operands are passed unchanged.

    Returns
    -------
    the result of the called function

    Raises
    ------
    ShapeError
        `pred` is no scalar, or the two functions return arrays of different shapes.
    TypeError
        The two functions return different structures.

    Notes
    -----
    In a compiled function each run chooses again, and only the chosen function is computed, unlike with :func:`where`. Each
    function is recorded at its first use; in the right-hand side of a differential equation both are recorded at once. An
    ``if`` makes a second program of the whole compiled function, ``cond`` records the two functions only. Where no program
    runs again (:func:`grad` without :func:`compile`), ``cond`` works as an ``if``.

    Examples
    --------
    >>> import numpy as np, agrad as ag
    >>> f = ag.compile(ag.grad(lambda x: ag.cond(x > 1, lambda x: np.log(x), lambda x: x - 1, x)))
    >>> f(4.0), f(-4.0)
    (0.25, 1.0)
    """
    for name, each in (("true_fun", true_fun), ("false_fun", false_fun)):
        _check_callable("cond", name, each)
    label = f"cond({name_of(true_fun)}, {name_of(false_fun)})"
    if np.shape(pred) != ():
        raise ShapeError(f"{label}: pred is of shape {np.shape(pred)}, but must be a scalar; use np.all, np.any or np.where")
    if isinstance(pred, Array):
        pred = Leaves(label, "pred", pred).arrays[0]
    if not isinstance(pred, Array) or pred.recording.on_comparison == Comparison.answers:
        return true_fun(*operands) if pred else false_fun(*operands)
    chosen: Result = _choice(label, pred, true_fun, false_fun, operands)
    return chosen


def _is_item(leaf: Any) -> bool:
    """Returns whether an operand is recorded and real; branches capture integers and booleans, which keep their type."""
    return isinstance(leaf, Array) and not leaf.is_data


def _choice(label: str, pred: Array, true_fun: Any, false_fun: Any, operands: tuple[Any, ...]) -> Any:
    """Records a choice that each run makes again, as a loop with a single step and no carry."""
    leaves, together, _ = flatten(operands)
    recorded = [pred, *(leaf for leaf in leaves if _is_item(leaf))]
    items = Leaves(label, "operands", [x[np.newaxis] for x in recorded])
    loop = Loop(label, Leaves(label, "carry", None), items, 1, None, False, False)

    def call(recording: Recording, inputs: list[Array], functions: Sequence[Any]) -> list[Leaves]:
        fresh = iter(inputs[1:])
        given = together([next(fresh) if _is_item(leaf) else leaf for leaf in leaves])
        result = functions[0 if inputs[0] else 1](*given)
        return [Leaves(label, "carry", None), Leaves(label, "result", result, recording=recording)]

    body = loop.body(call, true_fun, false_fun)
    if pred.recording.on_comparison == Comparison.refuses:
        body.explore(joined([not pred.recorded_values, *map(values_of, recorded[1:])]))
    flat, _ = loop.run(body)
    assert body.outputs is not None
    result = body.outputs[1]
    value: Any = result.together(pieces(flat, 0, result.is_truth, result.shapes))
    return value
