"""Defines posed problems, to which public functions convert their arguments once; all that follows only reads the problems."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from agrad._core import Array, ConfiguredMethod
from agrad._ode.events import Interruptions
from agrad._ode.progress import Progress
from agrad._ode.times import Times
from agrad._record.arguments import Values, check_callable, further_arguments, real_values, vector

__all__ = ["InitialValueProblem", "PosedProblem", "posed_problem", "solver_name"]


@dataclass(frozen=True)
class PosedProblem:
    """The checked arguments that all problems have in common."""

    function: str  # the name of the public function, for messages
    f: Callable[..., Any]
    y0: Any  # a vector, recorded or not
    states: Values  # the values of y0
    args: tuple[Any, ...]


def posed_problem(function: str, name: str, f: Any, y0: Any, args: Any, arguments: str = "t, y") -> PosedProblem:
    """Checks a user's function, whose name and arguments are for the message, an initial state and further arguments."""
    check_callable(function, name, f, arguments)
    y0 = vector(function, "y0", y0)
    states = real_values(function, "y0", y0) if isinstance(y0, Array) else y0
    return PosedProblem(function, f, y0, states, further_arguments(function, args))


def solver_name(function: str, times: Times) -> str:
    """Returns a solver's name in C++. A suffix marks a solve in s = -t, whose errors are converted to times of t."""
    return f"{function} (s = -t)" if times.is_backwards else function


@dataclass(frozen=True)
class InitialValueProblem(PosedProblem):
    """The checked arguments of an initial value problem; time increases."""

    times: Times
    method: ConfiguredMethod
    interruptions: Interruptions | None = None
    progress: Progress = False
    method_name: str = ""  # with the user's tolerances, for `explain`
    tolerances: tuple[Any, Any] = (None, None)
    holds_switches: bool = True  # whether steps end where a comparison of states changes its result

    @classmethod
    def of(
        cls, posed: PosedProblem, f: Callable[..., Any], times: Times, method: ConfiguredMethod, **others: Any
    ) -> InitialValueProblem:
        """Returns the problem with times and a method; f is the user's function, or the same function of other arguments."""
        return cls(posed.function, f, posed.y0, posed.states, posed.args, times, method, **others)

    @property
    def solver(self) -> str:
        """The solver's name in C++."""
        return solver_name(self.function, self.times)

    def slope(self, t: Any, y: Any) -> Any:
        """Returns the value of the user's function."""
        return self.f(t, y, *self.args)
