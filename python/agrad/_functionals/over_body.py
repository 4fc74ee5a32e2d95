"""Runs operations of the compiled part over functions of vectors that are recorded once, as bodies of loops are.

Read next: ``search``, ``quadrature``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from agrad._core import Array, BodyOperation, Recording
from agrad._loops.body import Body
from agrad._loops.run import prepared, values_of
from agrad._loops.tree import Leaves
from agrad._transforms.custom import stop_gradient

__all__ = ["body_of", "run_over"]


def body_of(label: str, f: Callable[[Any], Any], start: Any) -> Body:
    """Returns a function of vectors as a body, with the path for `start`."""

    def call(recording: Recording, inputs: list[Array], functions: Sequence[Any]) -> list[Leaves]:
        return [Leaves(label, "result", functions[0](inputs[0]), recording=recording)]

    body = Body(label, call, [f], [start.shape], [False])
    body.start(values_of(start))
    return body


def run_over(operation: BodyOperation, body: Body, x: Any) -> Any:
    """Returns the operation's result for its arguments x and what the body captures, without derivatives."""

    def prepare(x: Any, captured: Any, _: bool, required: bool) -> Any:
        return operation.prepare(x, captured, required)

    return stop_gradient(prepared(body, [x], [], prepare, operation.record)[0])
