"""einsum: sums of products by labelled axes, as transpositions and products of stacks of matrices, two operands at a time.

The order of the products is NumPy's (``np.einsum_path``). Common labels of two operands that are still needed count the
matrices of a stack; the product sums over common labels that are no longer needed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from agrad._core import Array, ShapeError, matmul, reduce
from agrad._numpy.axes import check_plain_options, recorded

__all__ = ["functions"]

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
Labelled = tuple[Any, list[Any]]


def _from_lists(operands: tuple[Any, ...]) -> tuple[str, list[Any]]:
    """Converts the call ``einsum(x, [0, 1], y, [1, 2], [0, 2])`` to a string of subscripts and the operands."""

    def text(labels: Any) -> str:
        return "".join("..." if label is Ellipsis else _LETTERS[label] for label in labels)

    arrays, lists = operands[: len(operands) // 2 * 2 : 2], operands[1::2]
    subscripts = ",".join(map(text, lists))
    return (subscripts + ("->" + text(operands[-1]) if len(operands) % 2 else "")), list(arrays)


def _labels(text: str, ndim: int, subscripts: str) -> list[Any]:
    """Returns the label of each axis: a letter, or for an axis of an ellipsis the axis counted from the end."""
    head, dots, tail = text.partition("...")
    broadcast = ndim - len(head) - len(tail)
    if any(letter not in _LETTERS for letter in head + tail) or broadcast < 0 or (not dots and broadcast):
        raise ShapeError(
            f"np.einsum: subscripts are {subscripts!r}, but must have a letter for each of {ndim} axes where they say {text!r}"
        )
    return [*head, *range(-broadcast, 0), *tail]


def _parsed(subscripts: str, arrays: list[Array]) -> tuple[list[list[Any]], list[Any]]:
    """Returns the labels of the operands and the labels of the result."""
    given, arrow, output = subscripts.replace(" ", "").partition("->")
    texts = given.split(",")
    if len(texts) != len(arrays):
        raise ValueError(f"np.einsum: number of operands is {len(arrays)}, but must be {len(texts)}, as in {subscripts!r}")
    labels = [_labels(text, x.ndim, subscripts) for text, x in zip(texts, arrays, strict=True)]
    every = [label for each in labels for label in each]
    ellipsis = sorted({label for label in every if isinstance(label, int)})
    if not arrow:
        once = sorted({label for label in every if isinstance(label, str) and every.count(label) == 1})
        return labels, [*ellipsis, *once]
    head, dots, tail = output.partition("...")
    result = [*head, *(ellipsis if dots else []), *tail]
    if len(set(result)) < len(result) or not set(result) <= {*every, *ellipsis}:
        raise ValueError(
            f"np.einsum: subscripts are {subscripts!r}, but must name each axis of the result once, from the operands"
        )
    return labels, result


def _lengths(operands: list[Labelled]) -> dict[Any, int]:
    lengths: dict[Any, int] = {}
    for x, labels in operands:
        for label, length in zip(labels, x.shape, strict=True):
            if lengths.setdefault(label, length) == 1:
                lengths[label] = length
            elif length not in (1, lengths[label]):
                raise ShapeError(
                    f"np.einsum: lengths of the axes {label!r} are {lengths[label]} and {length}, but must be equal"
                )
    return lengths


def _with_diagonals(x: Array, labels: list[Any], lengths: dict[Any, int]) -> Labelled:
    """Returns an operand with each label once: a diagonal for axes of the same label. Axes of length 1 are broadcast."""
    unique = list(dict.fromkeys(labels))
    shape = tuple(lengths[label] for label in labels)
    if shape == x.shape and len(unique) == len(labels):
        return x, labels
    slots = np.broadcast_to(x.slots, shape)
    if len(unique) < len(labels):
        numbers = [unique.index(label) for label in labels]
        slots = np.einsum(slots, numbers, list(range(len(unique))))
    return x.with_slots(slots, condition=False), unique


def _summed(operand: Labelled, needed: set[Any]) -> Labelled:
    """Returns the operand, summed over the labels that are not needed."""
    x, labels = operand
    gone = [n for n, label in enumerate(labels) if label not in needed]
    return (reduce("sum_along", x, gone), [label for label in labels if label in needed]) if gone else operand


def _arranged(operand: Labelled, labels: list[Any]) -> Any:
    """Returns the operand with axes in the order of `labels`, and an axis of length 1 for each label that the operand lacks."""
    x, own = operand
    if own == labels:
        return x
    slots = x.slots.transpose([own.index(label) for label in labels if label in own])
    lengths = iter(slots.shape)
    return x.with_slots(slots.reshape([next(lengths) if label in own else 1 for label in labels]), condition=False)


def _multiplied(a: Labelled, b: Labelled, needed: set[Any]) -> Labelled:
    """Returns the product of two operands, summed over the labels that are not needed."""
    a, b = _summed(a, needed | set(b[1])), _summed(b, needed | set(a[1]))
    both = [label for label in a[1] if label in b[1]]
    stack, inner = [x for x in both if x in needed], [x for x in both if x not in needed]
    rows, columns = [x for x in a[1] if x not in both], [x for x in b[1] if x not in both]
    labels = [*stack, *rows, *columns]
    if not inner:
        return _arranged(a, labels) * _arranged(b, labels), labels

    def size(x: Labelled, some: list[Any]) -> list[int]:
        return [x[0].shape[x[1].index(label)] for label in some]

    of_stack, of_rows, of_columns, of_inner = size(a, stack), size(a, rows), size(b, columns), size(a, inner)
    left = _arranged(a, [*stack, *rows, *inner]).reshape(*of_stack, math.prod(of_rows), math.prod(of_inner))
    right = _arranged(b, [*stack, *inner, *columns]).reshape(*of_stack, math.prod(of_inner), math.prod(of_columns))
    return matmul(left, right).reshape((*of_stack, *of_rows, *of_columns)), labels


def _pairs(subscripts: str, arrays: list[Array], optimize: Any) -> list[Any]:
    """Returns the operands of each product, as indices among the remaining operands."""
    if len(arrays) <= 2:
        return [tuple(range(len(arrays)))]
    if optimize is False:
        return [(0, 1)] + [(0, n) for n in range(len(arrays) - 2, 0, -1)]
    shapes = [np.broadcast_to(0.0, x.shape) for x in arrays]
    path = np.einsum_path(subscripts, *shapes, optimize="greedy" if optimize is True else optimize)[0][1:]
    return [tuple(sorted(step)) for step in path]


def _einsum(*operands: Any, out: Any = None, dtype: Any = None, optimize: Any = True, **options: Any) -> Any:
    check_plain_options("np.einsum", dtype, out)
    if isinstance(operands[0], str):
        subscripts, given = operands[0], list(operands[1:])
    else:
        subscripts, given = _from_lists(operands)
    arrays = recorded(*given)
    labels, result = _parsed(subscripts, arrays)
    lengths = _lengths(list(zip(arrays, labels, strict=True)))
    left = [_with_diagonals(x, own, lengths) for x, own in zip(arrays, labels, strict=True)]
    for step in _pairs(subscripts, arrays, optimize):
        factors = [left.pop(place) for place in reversed(step)][::-1]
        product = factors[0]
        for n, other in enumerate(factors[1:], start=2):
            rest = [label for _, own in [*left, *factors[n:]] for label in own]
            product = _multiplied(product, other, {*result, *rest})
        left.append(product)
    assert len(left) == 1, "a path ends with one operand"
    return _arranged(_summed(left[0], set(result)), result).copy()


#: The functions for recorded arrays by NumPy's functions.
functions: dict[Callable[..., Any], Callable[..., Any]] = {np.einsum: _einsum}
