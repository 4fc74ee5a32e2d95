"""Defines the result of solve_ivp, with the events that happened, and those that did not by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from agrad._ode.step_report import Explained

__all__ = ["NoHits", "OdeResult", "WithEvents", "named_hits"]


class WithEvents:
    """A result with the times and states of events."""

    _hits: Callable[[], tuple[list[Any], list[Any]]] | None

    @property
    def t_events(self) -> list[Any] | None:
        """For each event the times at which the event happened, differentiable; None without events."""
        return None if self._hits is None else self._hits()[0]

    @property
    def y_events(self) -> list[Any] | None:
        """For each event the states at these times, before the event's own reset, shape (times, n); None without events."""
        return None if self._hits is None else self._hits()[1]


@dataclass
class OdeResult(WithEvents, Mapping[str, Any]):
    """The result of :func:`solve_ivp`: attributes, which are also entries of a mapping, as in SciPy's result.

    Attributes
    ----------
    t : numpy.ndarray, shape (k,)
        Output times. Without `t_eval` and with a terminal event the last entry is the end, and differentiable.
    y : numpy.ndarray or Array, shape (n, k)
        The states at the output times, a column each; differentiable.
    success : bool
        True; a solve that does not succeed raises, or with `return_partial` has False.
    status : int
        0: the end of the interval was reached; 1: a terminal event ended the solution; -1: the solver stopped.
    message : str
        The status in words, and the methods where "auto" changed the method.
    stats : mapping
        The cost of the passes up to now: of the forward pass "steps", "rhs_evaluations", "jacobian_evaluations",
        "factorizations", "error_test_failures", "convergence_failures" and "checkpoints" (and with "auto" "stiff_from" and
        "stiff_method"), and mappings "backward", "quadrature" and "sensitivities". Reverse passes come after the result, so
        their counts grow, from zero, with each reverse pass. In a recorded or compiled function the counts are of the last run
        in any thread; reverse passes of second order are not counted.
    sol : callable or None
        With `dense_output` the states as a function of time: ``sol(t)`` of shape (n,) for a number, (n, k) for k times.
    t_events, y_events : lists of arrays, or None
        For each event the times at which the event happened, and the states there; None without events.
    nfev, njev, nlu, nst : int
        Of the forward pass the evaluations of the right-hand side and of its Jacobian, factorisations and steps, from `stats`.

    Examples
    --------
    >>> import agrad as ag
    >>> result = ag.solve_ivp(lambda t, y: -y, (0.0, 1.0), [1.0])
    >>> print(result["y"][0, -1].round(4), sorted(result.keys())[:5])
    0.3679 ['message', 'nfev', 'njev', 'nlu', 'nst']
    """

    t: Any
    y: Any
    success: bool = True
    status: int = 0
    message: str = "The solver successfully reached the end of the integration interval."
    stats: Mapping[str, Any] = field(default_factory=dict)
    sol: Callable[[Any], Any] | None = None
    #: The states before doses at the different output times that the problem names; None where it names none.
    _before: Any = field(default=None, repr=False, compare=False)
    _hits: Callable[[], tuple[list[Any], list[Any]]] | None = field(default=None, repr=False, compare=False)
    _explained: Explained | None = field(default=None, repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        """Returns the attributes for pickles and copies: the numbers without the problem, whose functions have no pickle."""
        return self.__dict__ | {"_explained": None}

    def __getitem__(self, name: str) -> Any:
        """Returns the attribute of that name."""
        if name not in self._names():
            raise KeyError(name)
        return getattr(self, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __len__(self) -> int:
        return len(self._names())

    @classmethod
    def _names(cls) -> list[str]:
        """Returns the names of the public attributes: the fields, and the properties."""
        members = [each for base in (WithEvents, cls) for each in vars(base).items()]
        read = [name for name, member in members if isinstance(member, property)]
        return [each.name for each in fields(cls) if not each.name.startswith("_")] + read

    @property
    def nfev(self) -> int:
        """The number of evaluations of the right-hand side."""
        return int(self.stats.get("rhs_evaluations", 0))

    @property
    def njev(self) -> int:
        """The number of evaluations of the right-hand side's Jacobian."""
        return int(self.stats.get("jacobian_evaluations", 0))

    @property
    def nlu(self) -> int:
        """The number of factorisations."""
        return int(self.stats.get("factorizations", 0))

    @property
    def nst(self) -> int:
        """The number of steps."""
        return int(self.stats.get("steps", 0))

    def describe_switch(self) -> None:
        """Adds to the message the time at which "auto" changed the method."""
        if "stiff_from" in self.stats:
            at, method = self.stats["stiff_from"], self.stats["stiff_method"]
            self.message += f" The system turned stiff: the method was Tsit5 until t = {at:.6g}, and {method} after that."


class NoHits(np.ndarray[Any, Any]):
    """The times of an event that did not happen, or the states there: an empty array whose index error says so."""

    # An array that is joined with others is a plain one.
    __array_priority__ = -1.0  # pyright: ignore
    said = ""

    @classmethod
    def of(cls, shape: tuple[int, ...], said: str) -> NoHits:
        """Returns the array; `said` is the message of the index error."""
        empty = np.zeros(shape).view(cls)
        empty.said = said
        return empty

    def __array_finalize__(self, of: Any) -> None:
        self.said = getattr(of, "said", "")

    def __getitem__(self, key: Any) -> Any:
        try:
            return super().__getitem__(key)
        except IndexError as error:
            raise IndexError(self.said or str(error)) from None


def named_hits(
    function: str, lists: Callable[[], tuple[list[Any], list[Any]]], span: tuple[float, float]
) -> tuple[list[Any], list[Any]]:
    """Returns the times of events and the states there, with those that did not happen in the span of time named."""
    times, states = lists()
    for e, each in enumerate(times):
        if not len(each):
            said = f"{function}: events[{e}] did not happen from t = {span[0]} to t = {span[1]}"
            said += f", so t_events[{e}] and y_events[{e}] are empty"
            times[e], states[e] = NoHits.of((0,), said), NoHits.of(states[e].shape, said)
    return times, states
