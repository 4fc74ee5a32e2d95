"""Defines the result of solve_ivp, with the events that happened, and those that did not by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agrad._ode.explain import explain
from agrad._ode.step_report import Explained, StepReport
from agrad._record.printed import Printed, public_names

__all__ = ["NoHits", "OdeResult", "WithEvents", "named_hits"]


class WithEvents:
    """A result with the times and states of events."""

    _hits: Callable[[], tuple[list[Any], list[Any]]] | None

    @property
    def t_events(self) -> list[NDArray[np.float64]] | None:
        """For each event the times at which the event happened, differentiable; None without events."""
        return None if self._hits is None else self._hits()[0]

    @property
    def y_events(self) -> list[NDArray[np.float64]] | None:
        """For each event the states at these times, before the event's own reset, shape (times, n); None without events."""
        return None if self._hits is None else self._hits()[1]


@dataclass(repr=False)
class OdeResult(WithEvents, Printed, Mapping[str, Any]):
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

    t: NDArray[np.float64]
    y: NDArray[np.float64]
    success: bool = True
    status: int = 0
    message: str = "The solver successfully reached the end of the integration interval."
    stats: Mapping[str, Any] = field(default_factory=dict)
    sol: Callable[[Any], NDArray[np.float64]] | None = None
    #: The states before doses at the different output times that the problem names; None where it names none.
    _before: Any = field(default=None, repr=False, compare=False)
    _hits: Callable[[], tuple[list[Any], list[Any]]] | None = field(default=None, repr=False, compare=False)
    _explained: Explained | None = field(default=None, repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        """Returns the attributes for pickles and copies: the numbers without the problem, whose functions have no pickle."""
        return self.__dict__ | {"_explained": None}

    def __getitem__(self, name: str) -> Any:
        """Returns the attribute of that name."""
        if name not in public_names(type(self)):
            raise KeyError(name)
        return getattr(self, name)

    def __iter__(self) -> Iterator[str]:
        return iter(public_names(type(self)))

    def __len__(self) -> int:
        return len(public_names(type(self)))

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

    def explain(self) -> StepReport:
        """Say in words which tolerance, state or event limited the steps of the solve, and what to try.

        The problem is solved again, without derivatives and with a log of the steps. A solve that is not explained costs
        nothing more. A result inside of a recorded or compiled function is explained for the values of the recording.

        Returns
        -------
        StepReport
            A report that prints as a paragraph; the numbers are attributes.

        Raises
        ------
        TypeError
            This is no result of a solve in this process: pickles and copies do not contain the problem.

        Notes
        -----
        CVODES interpolates, so output times do not limit its steps. With `sensitivities="forward"` a solve with derivatives
        takes other, shorter steps than the explained solve. The estimated error of the gradient is `stats["gradient_error"]`
        of the explained solve itself.

        Examples
        --------
        >>> import agrad as ag
        >>> result = ag.solve_ivp(lambda t, y: [-y[0], 1e3 * (y[0] - y[1])], (0.0, 20.0), [1.0, 0.0], "Tsit5", rtol=1e-4)
        >>> result.explain().advice[0]
        "The fastest mode of the system limits the steps, not accuracy: it is stiff, try 'Rodas4', 'BDF' or 'auto'"
        """
        return explain(self)

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
