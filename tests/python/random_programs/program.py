"""A random program: steps over earlier values, drawn from a seed, that NumPy's numbers and recorded arrays go through alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from random_programs.library import Agrad, Extended
from random_programs.steps import KINDS, KINKED, Kind

__all__ = ["RandomProgram"]

#: No entry of a value is larger, nor is a value of more entries kept, so that rounding stays small and programs quick.
LARGEST, MOST = 20.0, 40


def _names(kind: Kind, drawn: Any) -> set[str]:
    return {name for name in (kind.name, drawn, drawn[0] if isinstance(drawn, tuple) else None) if isinstance(name, str)}


def _point(rng: np.random.Generator, size: int) -> tuple[Any, bool]:
    """Mostly anywhere; else with zeros, equal entries or small integers, as users have them, and whether it is such a point."""
    point, special = rng.uniform(-1.5, 1.5, size), rng.random()
    if special < 0.05:
        point[rng.random(size) < 0.6] = 0.0
    elif special < 0.1:
        point[:] = point[0]
    elif special < 0.15:
        point = np.round(point)
    return point, bool(special < 0.15)


class Step(NamedTuple):
    kind: Kind
    operands: tuple[int, ...]
    drawn: Any


class RandomProgram:
    """A function of a vector, called with plain or recorded numbers.

    Parameters
    ----------
    seed : int
        What the program is drawn from; equal seeds are equal programs.
    steps : int
        How many steps it has.
    """

    #: What steps are drawn from.
    kinds: Sequence[Kind] = KINDS

    def __init__(self, seed: int, steps: int = 12) -> None:
        self.seed, self.count = seed, steps
        rng = np.random.default_rng(seed)
        self.size = int(rng.integers(2, 6))
        self.at, self.is_special = _point(rng, self.size)
        self.data = [rng.uniform(-1.5, 1.5, shape) for shape in ((), (3,), (2, 3))]
        self.steps: list[Step] = []
        self.exactly = self._prepare(rng)
        self.values = self._begin(self.at.astype(np.longdouble))
        while len(self.steps) < steps:
            self._draw(rng)
        used = [len(self.values) - 1, *map(int, rng.integers(0, len(self.values), 3))]
        self.outputs = [(i, rng.uniform(0.5, 1.5, self.values[i].shape)) for i in used]
        del self.values

    def __reduce__(self) -> Any:
        return type(self), (self.seed, self.count)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.seed}, {self.count})"

    @property
    def has_forward_mode(self) -> bool:
        """Whether all steps have derivatives forwards, and so second ones."""
        return all(step.kind.has_forward_mode for step in self.steps)

    def __call__(self, x: Any) -> Any:
        return self._total(x, Agrad)

    def exact(self, x: Any) -> Any:
        """The same in extended precision, without agrad."""
        return self._total(np.asarray(x, np.longdouble), Extended)

    def text(self) -> str:
        """The steps, a line each."""
        first = 3 + len(self.data)
        lines = [f"v{first + i} = {step.kind.name}{list(step.operands)} {step.drawn!r}" for i, step in enumerate(self.steps)]
        return "\n".join([f"{self!r} of {self.size}", *lines, f"outputs {[i for i, _ in self.outputs]}"])

    def _prepare(self, rng: np.random.Generator) -> Any:
        """The library in extended precision for the values from which steps are drawn."""
        return Extended

    def _begin(self, x: Any) -> list[Any]:
        return [x, x[0], np.outer(x, x[:2]) if self.seed % 2 else x[1:], *self.data]

    def _draw(self, rng: np.random.Generator) -> None:
        kind = self.kinds[int(rng.integers(len(self.kinds)))]
        latest = rng.random() < 0.5
        places = [
            int(rng.integers(max(0, len(self.values) - 4) if latest else 0, len(self.values))) for _ in range(kind.operands)
        ]
        operands = [self.values[i] for i in places]
        drawn = kind.draw(rng, [np.shape(operand) for operand in operands])
        if drawn is None or (self.is_special and not KINKED.isdisjoint(_names(kind, drawn))):
            return
        try:
            with np.errstate(all="raise"):
                value = np.asarray(kind.compute(self.exactly, drawn, *operands))
        except (ValueError, IndexError, FloatingPointError, TypeError):
            return
        if 0 < value.size <= MOST and value.ndim <= 3 and np.all(np.abs(value) < LARGEST):
            self.steps.append(Step(kind, tuple(places), drawn))
            self.values.append(value)

    def _total(self, x: Any, library: Any) -> Any:
        values = self._begin(x)
        for step in self.steps:
            values.append(step.kind.compute(library, step.drawn, *(values[i] for i in step.operands)))
        return np.sum(np.cos(x)) + sum(np.sum(np.sin(values[i]) * weight) for i, weight in self.outputs)
