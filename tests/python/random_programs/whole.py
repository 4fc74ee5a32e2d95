"""Random programs of arrays of integers and booleans beside the numbers: indices, labels, counts and masks, as arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

import agrad as ag
from random_programs.library import Agrad, Extended
from random_programs.program import RandomProgram
from random_programs.steps import KINDS, Kind

__all__ = ["Whole", "WholeProgram"]


class Whole(NamedTuple):
    """The arguments without derivatives."""

    labels: Any
    counts: Any
    mask: Any

    @classmethod
    def drawn(cls, rng: np.random.Generator) -> Whole:
        """Labels count from both ends and repeat; masks may be empty."""
        share = rng.choice([0.0, 0.5, 1.0])
        return cls(rng.integers(-9, 9, 4), rng.integers(0, 4, 3), rng.random(4) < share)


class _With:
    """A library, and the integers of a call."""

    def __init__(self, library: Any, whole: Whole) -> None:
        self._library, self.whole = library, whole

    def __getattr__(self, name: str) -> Any:
        return getattr(self._library, name)

    def poisson(self, counts: Any, rates: Any) -> Any:
        """The log probability of counts."""
        if self._library is Agrad:
            return ag.stats.poisson(rates).logpmf(counts)
        factorials = np.array([np.sum(np.log(np.arange(1, k + 1, dtype=np.longdouble))) for k in counts])
        return counts * np.log(rates) - rates - factorials


_KINDS: list[Kind] = []
#: Kinds that read integers, so that other contents may take another path.
_READING = {"decided", "chosen"}


def _kind(operands: int, *ranks: tuple[int, ...]) -> Any:
    """A step whose operands have one of the given ranks each."""

    def suits(rng: np.random.Generator, shapes: list[tuple[int, ...]]) -> Any:
        fits = all(len(shape) in allowed and 0 not in shape for shape, allowed in zip(shapes, ranks, strict=True))
        return 0 if fits else None

    def keep(compute: Any) -> Any:
        _KINDS.append(Kind(compute.__name__, operands, suits, compute))
        return compute

    return keep


def _labels(lib: Any, n: int) -> Any:
    return lib.whole.labels % n


# ---- indices


@_kind(1, (1, 2))
def gathered(lib: Any, _: Any, a: Any) -> Any:
    return a[_labels(lib, len(a))]


@_kind(1, (1, 2))
def from_the_end(lib: Any, _: Any, a: Any) -> Any:
    return a[_labels(lib, len(a)) - len(a)]


@_kind(1, (2,))
def columns(lib: Any, _: Any, a: Any) -> Any:
    return a[:, _labels(lib, a.shape[1])]


@_kind(1, (2,))
def entries(lib: Any, _: Any, a: Any) -> Any:
    return a[_labels(lib, len(a))[:3], lib.whole.counts % a.shape[1]]


@_kind(1, (0, 1, 2))
def taken(lib: Any, _: Any, a: Any) -> Any:
    return np.take(a, _labels(lib, np.size(a)))


@_kind(2, (1, 2), (0,))
def added(lib: Any, _: Any, a: Any, b: Any) -> Any:
    result = a + 0 * b
    np.add.at(result, _labels(lib, len(a)), b * b)
    return result


@_kind(2, (1,), (1,))
def added_all(lib: Any, _: Any, a: Any, b: Any) -> Any:
    result = a + 0 * b[0]
    np.subtract.at(result, _labels(lib, len(a))[: len(b)], b[:4])
    return result


@_kind(2, (1, 2), (0,))
def assigned(lib: Any, _: Any, a: Any, b: Any) -> Any:
    result = a + 0 * b
    result[_labels(lib, len(a))] = np.sin(b)
    return result


@_kind(2, (1,), (1,))
def assigned_all(lib: Any, _: Any, a: Any, b: Any) -> Any:
    result = a + 0 * b[0]
    result[_labels(lib, len(a))[: len(b)]] = b[:4] * 2
    return result


@_kind(2, (1,), (0, 1))
def in_loop(lib: Any, _: Any, a: Any, b: Any) -> Any:
    def step(carry: Any, label: Any) -> Any:
        table, sums = carry
        sums = np.tanh(sums + table[label] * b)
        return (0.9 * table, sums), sums * label

    (table, end), stacked = lib.scan(step, (a, 0.3 * b), _labels(lib, len(a)))
    return end + 0.1 * np.sum(stacked, axis=0) + np.sum(table)


# ---- counts and masks


@_kind(1, (0, 1, 2))
def weighed(lib: Any, _: Any, a: Any) -> Any:
    return a * lib.whole.counts[0] - np.sum(lib.whole.counts)


@_kind(1, (0, 1, 2))
def powers(lib: Any, _: Any, a: Any) -> Any:
    return (1 + 0.1 * a * a) ** lib.whole.counts[1]


@_kind(1, (0,))
def likelihood(lib: Any, _: Any, a: Any) -> Any:
    return 0.2 * lib.poisson(lib.whole.counts, np.exp(np.sin(a)) + np.zeros(3))


@_kind(1, (0, 1, 2))
def masked(lib: Any, _: Any, a: Any) -> Any:
    return np.where(lib.whole.mask[2], a * a, np.sin(a))


@_kind(2, (1,), (0, 1, 2))
def mean_of_mask(lib: Any, _: Any, a: Any, b: Any) -> Any:
    mask = lib.whole.mask[: len(a)]
    return np.sum(np.where(mask, a[:4], 0.0)) / np.maximum(np.count_nonzero(mask), 1) + b if len(a) < 5 else b


@_kind(1, (0, 1, 2))
def compared(lib: Any, _: Any, a: Any) -> Any:
    return a * np.mean((lib.whole.labels > 1) & ~lib.whole.mask) - np.abs(lib.whole.labels).max() // 2


@_kind(1, (0, 1, 2))
def real(lib: Any, _: Any, a: Any) -> Any:
    return np.cos(lib.whole.counts.astype(float))[-1] * a + lib.whole.counts[2] / 4


@_kind(2, (1,), (1,))
def mask_assigned(lib: Any, _: Any, a: Any, b: Any) -> Any:
    result = a[:4] + 0 * b[0]
    result[lib.whole.mask[: len(result)]] = 0.25
    return result


# ---- what is read


@_kind(2, (0, 1), (0, 1))
def decided(lib: Any, _: Any, a: Any, b: Any) -> Any:
    return a * np.sum(np.sin(b)) if lib.whole.counts[0] > 1 else a - np.sum(b)


@_kind(1, (1,))
def chosen(lib: Any, _: Any, a: Any) -> Any:
    return np.sum(a[:4][lib.whole.mask[: len(a)]])


class WholeProgram(RandomProgram):
    """A function of a vector and of `Whole` arguments; half of the steps use these."""

    kinds: Sequence[Kind] = (*KINDS, *_KINDS * 2)

    @property
    def reads(self) -> bool:
        """Whether a step reads integers, or decides by numbers that may depend on them."""
        return not {step.kind.name for step in self.steps}.isdisjoint(_READING | {"branch"})

    @property
    def uses_integers(self) -> bool:
        return any(step.kind in _KINDS for step in self.steps)

    def _prepare(self, rng: np.random.Generator) -> Any:
        self.whole = Whole.drawn(rng)
        return _With(Extended, self.whole)

    def _begin(self, x: Any) -> list[Any]:
        """Arrays that are data are recorded, too, because an index into NumPy's own arrays reads the integers."""
        values = super()._begin(x)
        return [*values[: -len(self.data)], *(each + 0 * x[0] for each in self.data)]

    def __call__(self, x: Any, *whole: Any) -> Any:
        return self._total(x, _With(Agrad, Whole(*whole or self.whole)))

    def exact_for(self, whole: Whole) -> Any:
        """The function in extended precision for these integers."""
        return lambda x: self._total(np.asarray(x, np.longdouble), _With(Extended, whole))

    def exact(self, x: Any) -> Any:
        return self.exact_for(self.whole)(x)
