"""An initial value problem as it was given: what those who solve a part of it know of it."""

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
    """What `solve_ivp` is given, but for the times."""

    function: str
    fun: Callable[..., Any]
    y0: Any
    make_options: Callable[[int], OdeMethod]
    happenings: Happenings | None
    args: tuple[Any, ...]
    progress: Progress = False
    method: str = ""  # and the tolerances, for those who ask what limited the steps
    tolerances: tuple[Any, Any] = (None, None)
    is_backwards: bool = False  # whether time is s = -t of what the user gave

    @abstractmethod
    def answer(self, t_span: Any, t_eval: Any, *, partial: bool, dense: bool) -> OdeResult:
        """What `solve_ivp` returns, for increasing times."""

    @abstractmethod
    def solve(self, t_span: Any, t_eval: Any) -> OdeResult:
        """The solution at the output times, some of which may be repeated."""
