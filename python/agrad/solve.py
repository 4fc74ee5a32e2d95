"""What a solve of a differential equation has done, for those who tune one."""

from agrad._ode.explain import explain
from agrad._ode.step_report import StepReport

__all__ = ["StepReport", "explain"]
