"""Reports on the steps of solves of differential equations, for tuning."""

from agrad._ode.explain import explain
from agrad._ode.step_report import StepReport

__all__ = ["StepReport", "explain"]
