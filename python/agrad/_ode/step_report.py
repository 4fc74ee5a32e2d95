"""Defines the report of `explain` on the limits of a solve's steps, and the data that a solve keeps for this report."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from agrad._ode.recorded_solve import RecordedSolve

__all__ = ["LIMITS", "Explained", "StateShare", "StepReport", "StepSizes"]

#: The limits of steps, in the order of the core's codes, and the report's words for each.
LIMITS = {
    "error": "The error",
    "growth": "the growth of step sizes from a small one",
    "convergence": "Newton's convergence",
    "max_step": "max_step",
    "outputs": "output times",
    "end": "the end of the interval",
    "stops": "doses and stops",
    "events": "events",
    "derivatives": "the error of derivatives",
}


class Explained(NamedTuple):
    """The data of a solve that :func:`explain` needs."""

    solve: RecordedSolve | None
    method: str
    tolerances: tuple[Any, Any]
    is_backwards: bool = False
    """Whether the problem was solved in s = -t."""


class StateShare(NamedTuple):
    """A state, and the steps limited by the error in which this state's error was the largest relative to the tolerance."""

    state: int
    steps: int
    by_atol: bool
    """Whether atol, and not rtol times the state, was most of the tolerance in most of these steps."""
    atol: float
    size: float
    """The median of the state's absolute value in these steps."""


class StepSizes(NamedTuple):
    """Sizes of steps, and where the smallest and the largest begin."""

    smallest: float
    median: float
    largest: float
    t_smallest: float
    t_largest: float


@dataclass(frozen=True)
class StepReport:
    """The report of :func:`explain`, which prints as a paragraph.

    Attributes
    ----------
    method : str
        The name of the method, as for `solve_ivp`.
    steps : int
        Steps that were accepted.
    span : tuple of float
        The initial time and the time that was reached.
    sizes : tuple of float
        `smallest`, `median` and `largest`, and where the first and the last of these begin, `t_smallest` and `t_largest`.
    limits : dict
        The number of steps that were limited by "error", "growth" (the ratio of a step to the step before is limited, and the
        error was below a thousandth of the tolerance), "convergence" (Newton's method failed before), "max_step", "outputs",
        "end", "stops" (doses and tstops), "events" and "derivatives" (the error of derivatives).
    states : list of StateShare
        The states whose error limited steps, by decreasing number of steps: `state`, `steps`, `by_atol`, `atol` and `size`.
    rejected : int
        The number of rejected attempts.
    rejected_between : tuple of float or None
        The shortest interval that contains three quarters of the rejected attempts.
    stopped : str or None
        Why the solver stopped before the end, if it did.
    rtol : float
        The relative tolerance.
    advice : list of str
        Sentences on what to try.
    gradient_error : float
        The estimate in `stats["gradient_error"]`, nan where there is none. The estimate is of first derivatives; second
        derivatives have none.
    columns : dict of numpy.ndarray
        For each step: "t" the time at the beginning, "h" the size (negative where time decreases), "error" (relative to the
        tolerance), "state" with the largest error, "size" of that state, "by_absolute" the part of the state's tolerance that
        is atol, "damping" (h times the rate at which the fastest mode decays, roughly; nan with a mass matrix), "order",
        "is_stiff" (of "auto"), "limit" the index in `limits`; and for each rejected attempt "rejected_t", "rejected_state" and
        "rejected_by_error".
    """

    method: str
    steps: int
    span: tuple[float, float]
    sizes: StepSizes
    limits: dict[str, int]
    states: list[StateShare]
    rejected: int
    rejected_between: tuple[float, float] | None
    stopped: str | None
    rtol: float
    advice: list[str]
    columns: dict[str, np.ndarray[Any, Any]] = field(repr=False, compare=False)
    gradient_error: float = np.nan

    def __str__(self) -> str:
        if self.steps == 0 and self.rejected == 0 and self.stopped is None:
            return "Nothing was integrated, because no output time is after the initial time."
        sentences = [self._steps(), self._switch() if self.method == "auto" else "", self._limits(), self._rejected()]
        if self.stopped is not None:
            sentences.append(f"{self.stopped[0].upper()}{self.stopped[1:]}.")
        sentences += [self._gradient(), *(f"{each}." for each in self.advice)]
        return " ".join(each for each in sentences if each)

    def _steps(self) -> str:
        count = f"{self.steps} step" + ("s" if self.steps != 1 else "")
        smallest, median, largest, at_smallest, at_largest = self.sizes
        text = f"{count} of {self.method} from {self.span[0]:.6g} to {self.span[1]:.6g}"
        if self.steps < 2:
            return text + "."
        return (
            f"{text}, between {smallest:.2g} (at t = {at_smallest:.4g}) and {largest:.2g} (at t = {at_largest:.4g}), "
            f"in the median {median:.2g}."
        )

    def _switch(self) -> str:
        """Returns the sentence on the time at which "auto" changed to the method for stiff systems."""
        at = np.flatnonzero(np.diff(self.columns["is_stiff"].astype(int)) > 0)
        return f"By Tsit5 until t = {self.columns['t'][at[-1] + 1]:.4g}, where the system turned stiff." if at.size else ""

    def _limits(self) -> str:
        if self.steps == 0:
            return ""
        parts = [self._of_state(share) for share in self.states[:3]]
        others = sum(share.steps for share in self.states[3:])
        if others:
            parts.append(f"that of {len(self.states) - 3} other states {self._share(others)}")
        for name, words in LIMITS.items():
            if name != "error" and self.limits[name]:
                parts.append(f"{words} {self._share(self.limits[name])}")
        text = ", ".join(parts)
        return f"{text[0].upper()}{text[1:]}." if text else ""

    def _of_state(self, share: StateShare) -> str:
        tolerance = f"atol = {share.atol:.3g}" if share.by_atol else f"rtol = {self.rtol:.3g}"
        name, is_first = f"y[{share.state}]", share is self.states[0]
        verb = " limited" if is_first else ""
        weight = f"{tolerance} is most of its tolerance there; |{name}| was {share.size:.1e}"
        of_them = " of them" if is_first else ""
        return f"{'the error' if is_first else 'that'} of {name}{verb} {self._share(share.steps)}{of_them} ({weight})"

    def _share(self, count: int) -> str:
        percent = 100 * count / self.steps
        return f"{percent:.0f} %" if percent >= 1 else "less than 1 %"

    def _gradient(self) -> str:
        if np.isnan(self.gradient_error):
            return ""
        return (
            f"The estimated relative error of the gradient is {self.gradient_error:.1e}; second derivatives have no estimate, "
            "and may be less accurate."
        )

    def _rejected(self) -> str:
        if self.rejected_between is None:
            return ""
        begin, end = self.rejected_between
        what = "1 attempt was" if self.rejected == 1 else f"{self.rejected} attempts were"
        where = f"at t = {begin:.4g}" if end - begin <= 1e-3 * abs(end) else f"most between t = {begin:.4g} and {end:.4g}"
        return f"{what} rejected, {where}."
