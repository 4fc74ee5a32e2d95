"""Runs searches, operations of the compiled part, over functions that are recorded once. Read next: ``root``, ``minimize``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from agrad._core import BodyOperation, minimum_operation, root_operation
from agrad._functionals.over_body import body_of, run_over
from agrad._loops.body import Body
from agrad._loops.run import pieces
from agrad._transforms.gradients import grad
from agrad._transforms.hessian import hessian

__all__ = ["METHODS", "SINGULAR", "STUCK", "UNDEFINED", "End", "Limits", "search_minimum", "search_root"]

SINGULAR, STUCK, UNDEFINED = 2, 3, 4  # how a search ended; 0: the steps did not suffice
METHODS = {"newton": 0, "powell": 1}
_MOST_STEPS = 2**31 - 1


@dataclass
class Limits:
    """The tolerances of a search: of the unknowns, and of the residual."""

    rtol: float
    atol: float
    ftol: float
    max_steps: int


@dataclass
class End:
    """How a search ended: where, and with which inverse of the derivatives there, all without derivatives."""

    is_found: Any
    how: Any
    steps: Any
    x: Any
    inverse: Any
    value: Any  # of the equations at x; empty for a minimum


def search_root(label: str, f: Callable[[Any], Any], start: Any, method: str, limits: Limits) -> End:
    """Searches for a root of f from a vector `start` in the domain of f."""
    body = body_of(label, f, start)
    options = limits.rtol, limits.atol, limits.ftol, min(limits.max_steps, _MOST_STEPS)
    return _run(root_operation(body.paths, METHODS[method], *options), body, start)


def search_minimum(
    label: str,
    f: Callable[[Any], Any],
    start: Any,
    limits: Limits,
    with_derivatives: Callable[[Any], tuple[Any, Any, Any]] | None = None,
    deviations: float = 0.0,
) -> End:
    """Searches for a minimum of f from a vector `start` in the domain of f.

    `with_derivatives` returns value, gradient and Hessian where there is a cheaper way to them. Where `deviations` is positive,
    the search ends at a step of so many standard deviations, instead of at one that `limits` call short.
    """
    body = None if with_derivatives else body_of(label, f, start)
    if body is None or not body.paths.has_second_derivatives:
        body = body_of(label, with_derivatives or (lambda x: (f(x), grad(f)(x), hessian(f)(x))), start)
    options = limits.rtol, limits.atol, deviations, min(limits.max_steps, _MOST_STEPS)
    return _run(minimum_operation(body.paths, *options), body, start)


def _run(operation: BodyOperation, body: Body, start: Any) -> End:
    flat = run_over(operation, body, start)
    n = start.size
    shapes: list[tuple[int, ...]] = [(), (), (), (n,), (n, n)]
    rest = flat.size - 3 - n - n * n
    return End(*pieces(flat, 0, [True] + [False] * 5, [*shapes, (rest,)]))
