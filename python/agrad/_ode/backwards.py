"""Solves problems in which time decreases: with s = -t, which increases; the results are converted back to t."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from agrad._ode.doses import DoseTable
from agrad._ode.events import Event, Interruptions, with_functions
from agrad._ode.result import NoHits, OdeResult
from agrad._ode.statistics import Statistics
from agrad._record.arguments import vector
from agrad._record.recording import name_of

__all__ = [
    "ResidualOfMinusTime",
    "SlopeOfMinusTime",
    "check_no_doses",
    "turned_interruptions",
    "turned_result",
    "turned_statistics",
]


@dataclass(frozen=True)
class OfMinusTime:
    """A function of time and state as a function of s = -t and the state."""

    function: Callable[..., Any]
    solver: str = ""

    @property
    def __name__(self) -> str:
        return name_of(self.function)

    def __call__(self, s: Any, y: Any, *args: Any) -> Any:
        return self.function(0.0 - s, y, *args)  # so that s = 0.0 is t = 0.0 and not -0.0


class SlopeOfMinusTime(OfMinusTime):
    """A right-hand side in s: dy/ds = -dy/dt."""

    def __call__(self, s: Any, y: Any, *args: Any) -> Any:
        slope = self.function(0.0 - s, y, *args)
        return None if slope is None else 0.0 - vector(f"{self.solver}({name_of(self.function)})", "result", slope)


class ResidualOfMinusTime(OfMinusTime):
    """A residual in s, of y and dy/ds = -dy/dt."""

    def __call__(self, s: Any, y: Any, *slope_and_args: Any) -> Any:
        slope, *args = slope_and_args
        return self.function(0.0 - s, y, 0.0 - slope, *args)


def check_no_doses(function: str, doses: DoseTable) -> None:
    """Raises where there are doses: backwards in time a dose would have to be subtracted."""
    if doses.rows:
        raise ValueError(
            f"{function}: doses is given, but must not be where t_span decreases; change the state by an event with a reset"
        )


def turned_interruptions(function: str, given: Interruptions | None) -> Interruptions | None:
    """Returns the same events and stops in s = -t."""
    if given is None:
        return None
    check_no_doses(function, given.doses)
    events = None if given.events is None else [_turned_event(event) for event in given.events]
    return replace(given, events=events, stops=0.0 - given.stops)


def _turned_event(event: Event) -> Event:
    """Returns the same event in s = -t. The direction is not changed: as in SciPy, `direction` is along the solution."""
    return with_functions(event, OfMinusTime, OfMinusTime)


def turned_result(result: OdeResult) -> OdeResult:
    """Returns the result of a solve in s = -t with times of t."""
    result.t, hits = 0.0 - result.t, result._hits
    if hits is not None:
        result._hits = partial(_turned_hits, hits)
    return result


def _turned_hits(hits: Callable[[], tuple[list[Any], list[Any]]]) -> tuple[list[Any], list[Any]]:
    times, states = hits()
    return [t if isinstance(t, NoHits) else 0.0 - t for t in times], states


def turned_statistics(statistics: Statistics) -> Statistics:
    """Returns the same counts, with times of t."""

    def read() -> dict[str, Any]:
        counts = dict(statistics)
        return counts | {name: 0.0 - counts[name] for name in ("stiff_from",) if name in counts}

    return Statistics(read)
