"""Converts implicit systems F(t, y, y') = 0 to systems with a mass matrix, of which the derivatives are states."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from agrad._core import DomainError
from agrad._ode.algebra import MassEntries
from agrad._ode.doses import DoseTable
from agrad._ode.events import Event, Interruptions, with_functions
from agrad._ode.result import NoHits, OdeResult
from agrad._record.arguments import Values, vector
from agrad._record.recording import name_of

__all__ = ["ImplicitSystem"]


@dataclass(frozen=True)
class ImplicitSystem:
    """F(t, y, y') = 0 as Q' y' = z and 0 = F(t, y, Q z) of the states (y, z), where Q' y is the differential part of y.

    Where the entries of the differential part are states, the equation of z is at the state's place; the equations of F take
    the places that are left, in their order.
    """

    solver: str
    residual: Callable[..., Any]
    q: Values
    own: int = 0  # how many of the further arguments, the first ones, are the residual's alone

    @property
    def n(self) -> int:
        """The number of states y."""
        return int(self.q.shape[0])

    @property
    def size(self) -> int:
        """The number of states (y, z)."""
        return int(sum(self.q.shape))

    @property
    def differential(self) -> np.ndarray[Any, Any]:
        """Whether the derivative of each state occurs."""
        return np.asarray(np.any(self.q != 0, axis=1))

    @property
    def is_choice(self) -> bool:
        """Whether the entries of the differential part are states, and no combinations."""
        return bool(np.count_nonzero(self.q) == self.q.shape[1] == np.count_nonzero(self.q == 1))

    @property
    def __name__(self) -> str:
        return name_of(self.residual)

    def __call__(self, t: Any, x: Any, *args: Any) -> Any:
        """Returns the right-hand side of M x' = f(t, x)."""
        label, slope_places = f"{self.solver}({self.__name__})", self._slope_places()
        equations = vector(label, "result", self.residual(t, x[: self.n], self.slopes(x), *args))
        others = np.setdiff1d(np.arange(self.size), slope_places)
        places = np.empty(self.size, int)
        places[slope_places], places[others] = np.arange(slope_places.size), slope_places.size + np.arange(self.n)
        return np.concatenate([x[self.n :], equations])[places]

    def _slope_places(self) -> np.ndarray[Any, Any]:
        """Returns the places of the equations of z: of a large entry of each column of Q."""
        sizes, places = np.abs(self.q), []
        for k in range(sizes.shape[1]):
            places.append(int(np.argmax(sizes[:, k])))
            sizes[places[-1]] = -1.0
        return np.array(places, int)

    def slopes(self, x: Any, unknown: float = 0.0) -> Any:
        """Returns y' from states (y, z), maybe with an axis of times; `unknown` stands for what Q' y' does not determine."""
        z = x[self.n :]
        rest = np.full((1, *np.shape(z)[1:]), unknown)
        if self.is_choice:
            return np.concatenate([z, rest])[np.where(self.differential, np.cumsum(self.differential) - 1, self.size - self.n)]
        is_known = np.abs((self.q**2).sum(axis=1) - 1) < 1e-12
        found = np.concatenate([self.q @ z, rest])
        return found[np.arange(self.n) if unknown == 0 else np.where(is_known, np.arange(self.n), self.n)]

    def start(self, y0: Any, states: Values, y: Values, yp: Values) -> Any:
        """Returns the initial states (y, z) from those that are given, recorded or not, and from consistent ones."""
        return np.concatenate([y0 + (y - states), self.q.T @ yp])

    @property
    def mass(self) -> MassEntries:
        """The entries of M."""
        entry, columns = np.nonzero(self.q.T)
        rows = self._slope_places()[entry]
        order = np.lexsort((columns, rows))
        ends = np.cumsum(np.bincount(rows, minlength=self.size))
        return ends.astype(np.uint64), columns[order].astype(np.uint32), self.q[columns, entry][order]

    def tolerances(self, absolute: Values) -> Values:
        """Returns the absolute tolerances of (y, z). The errors of y are those of its derivatives, too, which do not count.

        An error of a stiff state is as much larger in its derivative as its mode is fast.
        """
        return np.append(absolute, np.full(self.size - self.n, 1e10 * absolute.max()))

    def shortened(self, result: OdeResult) -> OdeResult:
        """Returns the result with the states y alone."""
        n, hits, sol = self.n, result._hits, result.sol
        result.y = result.y[:n]
        if hits is not None:
            result._hits = partial(_shortened_hits, n, hits)
        if sol is not None:
            result.sol = _Solution(n, sol)
        return result

    def interruptions(self, given: Interruptions | None) -> Interruptions | None:
        """Returns the same doses, events and stops, with functions of (y, z)."""
        if given is None:
            return None
        self._check_doses(given.doses)
        events = None if given.events is None else [self._event(event) for event in given.events]
        return replace(given, events=events)

    def _event(self, event: Event) -> Event:
        return with_functions(event, lambda f: _OfBoth(self, f), lambda f: _OfBoth(self, f, True))

    def _check_doses(self, doses: DoseTable) -> None:
        for i, (state, _, _) in enumerate(doses.rows):
            if not (0 <= state < self.n and self.differential[state]):
                chosen = ", ".join(map(str, np.flatnonzero(self.differential)))
                raise DomainError(
                    f"{self.solver}: doses[{i}].state is {state}, but must be a differential state: {chosen}; "
                    "algebraic states follow from these"
                )


def _shortened_hits(n: int, hits: Callable[[], tuple[list[Any], list[Any]]]) -> tuple[list[Any], list[Any]]:
    times, states = hits()
    return times, [each if isinstance(each, NoHits) else each[:, :n] for each in states]


@dataclass(frozen=True)
class _Solution:
    """The function of `dense_output`."""

    n: int
    sol: Callable[[Any], Any]

    def __call__(self, t: Any) -> Any:
        return self.sol(t)[: self.n]


@dataclass(frozen=True)
class _OfBoth:
    """A function of time and y as a function of time and (y, z); a reset keeps z as the guess of the new derivatives."""

    system: ImplicitSystem
    given: Callable[..., Any]
    is_reset: bool = False

    @property
    def __name__(self) -> str:
        return name_of(self.given)

    def __call__(self, t: Any, x: Any, *args: Any) -> Any:
        n = self.system.n
        found = self.given(t, x[:n], *args[self.system.own :])
        if found is None or not self.is_reset:
            return found
        return np.concatenate([vector(f"{self.system.solver}({self.__name__})", "result", found), x[n:]])
