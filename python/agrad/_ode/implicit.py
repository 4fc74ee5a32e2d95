"""Converts implicit systems F(t, y, y') = 0 to systems with a mass matrix, of which the derivatives are states."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from agrad._core import DomainError
from agrad._ode.algebra import MassEntries
from agrad._ode.arguments import Values, vector
from agrad._ode.doses import DoseTable
from agrad._ode.events import Event, Interruptions
from agrad._ode.result import NoHits, OdeResult
from agrad._record.recording import name_of

__all__ = ["ImplicitSystem"]


@dataclass(frozen=True)
class ImplicitSystem:
    """F(t, y, y') = 0 as y_d' = z and 0 = F(t, y, z) of the states (y, z); y_d are the differential states.

    The equation of a differential state's place is that of its derivative; those of F take the other places, in their order.
    """

    solver: str
    residual: Callable[..., Any]
    differential: np.ndarray[Any, Any]  # whether each state is
    own: int = 0  # how many of the further arguments, the first ones, are the residual's alone

    @property
    def n(self) -> int:
        """The number of states y."""
        return self.differential.size

    @property
    def size(self) -> int:
        """The number of states (y, z)."""
        return self.n + int(np.count_nonzero(self.differential))

    @property
    def __name__(self) -> str:
        return name_of(self.residual)

    def __call__(self, t: Any, x: Any, *args: Any) -> Any:
        """Returns the right-hand side of M x' = f(t, x)."""
        label = f"{self.solver}({self.__name__})"
        equations = vector(label, "result", self.residual(t, x[: self.n], self.slopes(x, 0.0), *args))
        is_slope = np.append(self.differential, np.full(self.size - self.n, False))
        places = np.where(is_slope, np.cumsum(is_slope) - 1, self.size - self.n + np.cumsum(~is_slope) - 1)
        return np.concatenate([x[self.n :], equations])[places]

    def slopes(self, x: Any, of_algebraic: float) -> Any:
        """Returns y' from states (y, z), maybe with an axis of times; the derivative of an algebraic state is given."""
        z = x[self.n :]
        rest = np.full((1, *np.shape(z)[1:]), of_algebraic)
        places = np.where(self.differential, np.cumsum(self.differential) - 1, self.size - self.n)
        return np.concatenate([z, rest])[places]

    def start(self, y0: Any, y: Values, yp: Values) -> Any:
        """Returns the initial states (y, z) from those that are given, recorded or not, and consistent values."""
        return np.concatenate([np.where(self.differential, y0, y), yp[self.differential]])

    @property
    def mass(self) -> MassEntries:
        """The entries of M."""
        is_slope = np.append(self.differential, np.full(self.size - self.n, False))
        columns = np.flatnonzero(is_slope)
        return np.cumsum(is_slope).astype(np.uint64), columns.astype(np.uint32), np.ones(columns.size)

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
        reset = None if event.reset is None else _OfBoth(self, event.reset, True)
        return replace(event, root=_OfBoth(self, event.root), reset=reset)

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
