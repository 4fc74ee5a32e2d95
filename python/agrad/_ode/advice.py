"""Advises what to try where a solve takes many steps, from the limits of the steps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from agrad._ode.method_table import METHODS, MULTISTEP
from agrad._ode.step_report import StepReport

__all__ = ["advice_for"]

#: Above this part of the stability border on the real axis, stability limits the steps and not the error: step sizes oscillate
#: around the border.
_BELOW_BORDER = 0.7
_EXPLICIT = {name: method for name, method in METHODS.items() if method.is_explicit}
_ROSENBROCK = [name for name in METHODS if name not in _EXPLICIT and name != "auto"]


def advice_for(report: StepReport) -> list[str]:
    """Returns sentences without the full stop, the most important first."""
    return list(_advice(report)) if report.steps else []


def _advice(report: StepReport) -> Iterator[str]:
    limits, steps, columns = report.limits, report.steps, report.columns
    is_stiff = _is_stiff(report.method, columns)
    if is_stiff:
        yield "The fastest mode of the system limits the steps, not accuracy: it is stiff, try 'Rodas4', 'BDF' or 'auto'"
    elif limits["error"] >= 0.5 * steps:
        yield from _about_error(report)
    if report.method in (*_ROSENBROCK, "BDF") and steps >= 20 and np.quantile(columns["damping"], 0.95) < 1:
        yield "Along this solution the system is not stiff: steps of 'Tsit5', or of 'DOP853' for tight tolerances, cost less"
    if limits["max_step"] >= 0.3 * steps:
        yield "Raise max_step, which limits the steps"
    if limits["outputs"] >= 0.3 * steps:
        yield "Reduce the number of output times, where steps end, or use 'BDF' or 'Adams', which interpolate within steps"
    if limits["convergence"] >= 0.05 * steps:
        yield "Where Newton's method fails, look for jumps (name their times in tstops) or try 'Rodas4', which does not iterate"
    if report.method in MULTISTEP and limits["stops"] + limits["events"] >= 0.05 * steps:
        yield "After doses, stops and events multistep methods restart with short steps; try a one-step method, which does not"
    if not is_stiff and _is_abrupt(report):
        yield "Where many attempts are rejected, look for jumps: name known times in tstops, and conditions in events"


def _about_error(report: StepReport) -> Iterator[str]:
    top = report.states[0]
    name = f"y[{top.state}]"
    if top.steps >= 0.5 * report.limits["error"] and top.by_atol:
        yield (
            f"Loosen the atol of {name} (atol may be a vector) if an error of {top.atol / max(top.size, top.atol):.1g} times "
            "the size of that state is small enough there"
        )
        return
    if report.rtol <= 1e-8 and report.method in _EXPLICIT and _EXPLICIT[report.method].order < 8:
        yield "At such a tight tolerance 'DOP853', of order 8, takes longer steps"
    else:
        yield f"Loosen rtol if fewer digits of {name} are enough"


def _is_stiff(method: str, columns: dict[str, np.ndarray[Any, Any]]) -> bool:
    """Returns whether most steps that only the error or the growth limited lie at the border of stability."""
    damping = columns["damping"][columns["limit"] <= 1]
    if method not in _EXPLICIT or damping.size < 15:
        return False
    return bool(np.median(damping) >= _BELOW_BORDER * _EXPLICIT[method].real_stability)


def _is_abrupt(report: StepReport) -> bool:
    """Returns whether many attempts are rejected, in a small part of the interval."""
    if report.rejected_between is None or report.rejected < max(5, 0.1 * report.steps):
        return False
    begin, end = report.rejected_between
    return end - begin <= 0.2 * abs(report.span[1] - report.span[0])
