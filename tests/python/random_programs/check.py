"""A random program's derivatives by some ways against differences: what disagrees, or is refused."""

from __future__ import annotations

import traceback
import warnings
from typing import Any, NamedTuple

import numpy as np

from random_programs.modes import FIRST, SECOND, THIRD
from random_programs.program import RandomProgram
from random_programs.witness import Witness, along

__all__ = ["Found", "check"]

ORDERS = {1: FIRST, 2: SECOND, 3: THIRD}
#: Relative to the largest entry; programs of a dozen steps amplify rounding.
TOLERANCE = {0: 1e-12, 1: 1e-9, 2: 1e-8, 3: 1e-6}


class Found(NamedTuple):
    """A disagreement: the program's seed, the way, and what it says."""

    seed: int
    mode: str
    text: str


def _contracted(order: int, found: Any, v: Any) -> Any:
    return v @ found @ v if order == 2 else found @ v


def _fault(order: int, found: Any, v: Any, size: int, witness: Witness) -> str:
    """What is wrong with a derivative, or nothing."""
    found = np.asarray(found)
    if found.shape != (size,) * (2 if order == 2 else 1):
        return f"has shape {found.shape}"
    if not np.all(np.isfinite(found)):
        return f"is not finite: {found}"
    largest = 1 + np.max(np.abs(found))
    if order == 2 and np.max(np.abs(found - found.T)) > TOLERANCE[2] * largest:
        return f"is not symmetric: {found}"
    off = abs(_contracted(order, found, v) - witness.values[order])
    if off <= TOLERANCE[order] * largest + 10 * witness.errors[order]:
        return ""
    return f"is {_contracted(order, found, v)!r} along v, but differences say {witness.values[order]!r}"


def check(seed: int, modes_of_each_order: int | None = None, steps: int = 12) -> list[Found]:
    """Compare so many ways of each order, or all of them."""
    program, rng = RandomProgram(seed, steps), np.random.default_rng(seed + 1)
    v = rng.uniform(-1, 1, program.size)
    witness = along(program.exact, program.at, v)
    faults = []
    for order, ways in ORDERS.items():
        # Where differences do not agree with themselves, a kink is near; it shows in the next order first.
        orders = slice(1, order + 2)
        is_smooth = np.all(witness.errors[orders] <= 1e-6 * (1 + np.abs(witness.values[orders])))
        if not is_smooth or (order > 1 and not program.has_forward_mode):
            continue
        names = list(ways)
        if modes_of_each_order is not None:
            names = [str(name) for name in rng.choice(names, min(modes_of_each_order, len(names)), replace=False)]
        for name in names:
            text = _told(ways[name], program, v, order, witness)
            if text:
                faults.append(Found(seed, name, text))
    return faults


def _told(way: Any, program: RandomProgram, v: Any, order: int, witness: Witness) -> str:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = way(program, program.at, v)
    except NotImplementedError as error:
        # A derivative by hand, backwards, has no other.
        return f"is refused: {error}" if program.has_forward_mode else ""
    except Exception as error:
        return f"raises {type(error).__name__}: {error}\n{traceback.format_exc(limit=-3)}"
    return _fault(order, found, v, program.size, witness)
