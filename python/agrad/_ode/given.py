"""Holds an initial value problem as the user gives it: the interface for modules that solve a part of the problem."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from agrad._core import OdeMethod
from agrad._ode.events import Happenings
from agrad._ode.progress import Progress
from agrad._ode.result import OdeResult

__all__ = ["GivenProblem"]


@dataclass
class GivenProblem(ABC):
    """The arguments of `solve_ivp`, without the times."""

    function: str
    fun: Callable[..., Any]
    y0: Any
    make_options: Callable[[int], OdeMethod]
    happenings: Happenings | None
    args: tuple[Any, ...]
    progress: Progress = False
    method: str = ""  # with the tolerances, for `explain`
    tolerances: tuple[Any, Any] = (None, None)
    is_backwards: bool = False  # whether time is s = -t of the user's t

    @abstractmethod
    def answer(self, t_span: Any, t_eval: Any, *, partial: bool, dense: bool) -> OdeResult:
        """Returns the result of `solve_ivp` for increasing times."""

    @abstractmethod
    def solve(self, t_span: Any, t_eval: Any) -> OdeResult:
        """Returns the solution at the output times, some of which may be repeated."""
