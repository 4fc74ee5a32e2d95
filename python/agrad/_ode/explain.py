"""Explains in words and numbers the limits of the steps of a solve, by a second solve with a log of the steps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from agrad._core import SolverError, StepLog
from agrad._ode.advice import advice_for
from agrad._ode.step_report import LIMITS, Explained, StateShare, StepReport, StepSizes

__all__ = ["explain"]


def explain(result: Any) -> StepReport:
    """Returns the report on the steps of an `OdeResult`, whose method `explain` is the public one."""
    explained = getattr(result, "_explained", None)
    if not isinstance(explained, Explained):
        hint = "pickles and copies leave it out"
        raise TypeError(f"explain: result has no problem, but must have that of a solve in this process; {hint}")
    log, stop = StepLog(), None
    if explained.solve is not None:
        try:
            if not explained.solve.log_steps(log):
                raise TypeError(f"explain: method is {explained.method!r}, but must be one with a log of its steps")
        except SolverError as error:
            stop = error
    return _report(explained, log.columns(), stop, float(result.stats.get("gradient_error", np.nan)))


def _report(
    explained: Explained, columns: dict[str, np.ndarray[Any, Any]], stop: SolverError | None, gradient_error: float
) -> StepReport:
    begin = np.nan if explained.solve is None else explained.solve.initial_time
    if explained.is_backwards:
        begin = 0.0 - begin
        columns |= {name: 0.0 - columns[name] for name in ("t", "rejected_t")} | {"h": -columns["h"]}
    t, h = columns["t"], columns["h"]
    rtol, atol = explained.tolerances
    report = StepReport(
        explained.method,
        t.size,
        (begin, float(t[-1] + h[-1]) if t.size else begin),
        _sizes(t, h),
        dict(zip(LIMITS, np.bincount(columns["limit"], minlength=len(LIMITS)).tolist(), strict=True)),
        list(_states(columns, np.asarray(atol, np.float64))),
        columns["rejected_t"].size,
        _most_between(columns["rejected_t"]),
        None if stop is None else _words(stop, explained),
        float(rtol),
        [],
        columns,
        gradient_error,
    )
    # The solver's message says why the solve stopped; advice helps only where the steps were too many.
    if stop is None or stop.code in ("too_many_steps", "CV_TOO_MUCH_WORK"):
        report.advice.extend(advice_for(report))
    return report


def _words(stop: SolverError, explained: Explained) -> str:
    """Returns the reason why the solver stopped, without the solver's name."""
    return str(stop).removeprefix("" if explained.solve is None else f"{explained.solve.function}: ")


def _sizes(t: np.ndarray[Any, Any], h: np.ndarray[Any, Any]) -> StepSizes:
    h = np.abs(h)
    if h.size == 0:
        return StepSizes(np.nan, np.nan, np.nan, np.nan, np.nan)
    low, high = int(np.argmin(h)), int(np.argmax(h))
    return StepSizes(float(h[low]), float(np.median(h)), float(h[high]), float(t[low]), float(t[high]))


def _states(columns: dict[str, np.ndarray[Any, Any]], atol: np.ndarray[Any, Any]) -> Iterator[StateShare]:
    """Yields the states whose error limited steps, in decreasing order of the number of these steps."""
    state, size, by_absolute = columns["state"], columns["size"], columns["by_absolute"]
    limited = (columns["limit"] == 0) & (state >= 0)
    counts = np.bincount(state[limited]) if limited.any() else np.zeros(0, int)
    for i in np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)].tolist():
        its = limited & (state == i)
        own = float(atol if atol.ndim == 0 else atol[i])
        yield StateShare(i, int(counts[i]), bool(np.median(by_absolute[its]) > 0.5), own, float(np.median(size[its])))


def _most_between(rejected: np.ndarray[Any, Any]) -> tuple[float, float] | None:
    if rejected.size == 0:
        return None
    times, count = np.sort(rejected), -(-3 * rejected.size // 4)
    begin = int(np.argmin(times[count - 1 :] - times[: times.size - count + 1]))
    return float(times[begin]), float(times[begin + count - 1])
