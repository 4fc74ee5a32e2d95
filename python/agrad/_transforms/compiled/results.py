"""Computes results of compiled calls from programs, and the places of the parameters among a program's inputs."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from agrad._core import Program
from agrad._record.trees import split
from agrad._transforms.base import Transformation
from agrad._transforms.compiled.paths import Entry, Path
from agrad._transforms.compiled.plans import result_of
from agrad._transforms.compiled.signatures import Signature
from agrad._transforms.engine import ProgramEngine, held
from agrad._transforms.parameters import Parameters

__all__ = ["described_result", "firsts", "places_of", "result_on", "wanted"]


def result_on(bound: Transformation | None, entry: Entry, path: Path, call: Signature) -> Any:
    """Returns the result of a compiled call for these arguments; raises PathLeftError where the path does not hold for them."""
    if bound is None or entry.parameters is None:
        flat = held(path.program.forward(call.inputs))
        return path.together(split(flat, path.shapes))
    aux = None if path.aux is None else path.aux.of(call.inputs)
    engine = ProgramEngine(path.program, call.inputs, bound.check_order, entry.required)
    return bound.of_engine(engine, entry.parameters, bound.beside(aux, path))


def described_result(entry: Entry, path: Path) -> Any:
    """Returns the description of a plan's result: the function's values, or the gradient with respect to the parameters."""
    if entry.parameters is None:
        begins = np.cumsum([0, *(np.prod(shape, dtype=int) for shape in path.shapes)]).tolist()
        return result_of(path.together, begins[:-1], path.shapes)
    return result_of(entry.parameters.together, firsts(entry), entry.parameters.shapes)


def wanted(program: Program, entry: Entry) -> Any:
    """Returns which inputs of the program are entries of the parameters."""
    wanted = np.zeros(program.input_size, bool)
    wanted[entry.required] = True
    return wanted


def firsts(entry: Entry) -> list[int]:
    """Returns the first index of each of the parameters' leaves among the program's inputs."""
    if entry.parameters is None:
        return []
    required = entry.required
    begins = itertools.accumulate((leaf.size for leaf in entry.parameters.leaves), initial=0)
    return [
        0 if leaf.size == 0 else required.start + begin if isinstance(required, slice) else int(required[begin])
        for begin, leaf in zip(begins, entry.parameters.leaves, strict=False)
    ]


def places_of(call: Signature, parameters: Parameters) -> Any:
    """Returns the indices of the parameters' entries among the program's inputs, as a slice where they are consecutive."""
    begins = np.cumsum([0, *(x.size for x in call.inputs)])
    numbered = [np.broadcast_to(begin, x.shape) for begin, x in zip(begins, call.inputs, strict=False)]
    args, *_ = call.with_inputs(numbered)
    ranges = [range(leaf.flat[0], leaf.flat[0] + leaf.size) for leaf in parameters.of(args) if leaf.size]
    if ranges and all(one.stop == next.start for one, next in itertools.pairwise(ranges)):
        return slice(ranges[0].start, ranges[-1].stop)
    return np.concatenate([np.zeros(0, int), *(np.arange(each.start, each.stop) for each in ranges)])
