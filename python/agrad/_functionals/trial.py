"""Evaluates functions at the trial points of searches, which may lie outside of the functions' domains.

A search takes a step that leaves the domain for a step that is too long, and shortens it. A recorded function cannot catch the
error of an operation, so the evaluation is an operation of its own, a loop of one step, that recovers from the error in each
run. Read next: ``search``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from agrad._core import Array, Recording
from agrad._loops.run import Loop, pieces, values_of
from agrad._loops.tree import Leaves
from agrad._record.recording import name_of
from agrad._transforms.custom import stop_gradient

__all__ = ["trial"]


def trial(f: Callable[[Any], Any], x: Any, inside: Any) -> Any:
    """Returns f(x) of a vector x, without derivatives; nan where f raises DomainError or SolverError.

    `inside` is a point at which f raises no error; f is recorded there first, for the shape of the result.
    """
    label = f"trial({name_of(f)})"
    point = stop_gradient(x)
    loop = Loop(label, Leaves(label, "carry", None), Leaves(label, "x", point[None]), 1, None, False, False, recovers=True)

    def call(recording: Recording, inputs: list[Array], functions: Sequence[Any]) -> list[Leaves]:
        return [Leaves(label, "carry", None), Leaves(label, "result", functions[0](inputs[0]), recording=recording)]

    body = loop.body(call, f, at=values_of(inside))
    flat, _ = loop.run(body)
    assert body.outputs is not None
    result = body.outputs[1]
    return result.together(pieces(flat, 0, result, result.shapes))
