"""What a solve of a differential equation has done, for those who tune one."""

from agrad._ode.explain import StepReport, explain

__all__ = ["StepReport", "explain"]
