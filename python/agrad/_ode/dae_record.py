"""Records the residual of a differential-algebraic system."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from agrad._core import Array, Comparison, ShapeError
from agrad._loops.body import bodies_of
from agrad._ode.arguments import real_values, vector
from agrad._record.recording import name_of, open_recording
from agrad._record.trees import flatten

__all__ = ["RecordedResidual"]


class RecordedResidual:
    """A function of time, states and derivatives of states as a program, and the parameters of the program.

    Parameters are the recorded values among the arguments, and the captured values.
    """

    def __init__(
        self, function: str, residual: Callable[..., Any], t0: float, y0: Any, yp0: Any, args: tuple[Any, ...]
    ) -> None:
        label = f"{function}({name_of(residual)})"
        leaves, together, _ = flatten(args)
        with open_recording(label, on_comparison=Comparison.refuses, captures=True) as recording:
            t, y, yp = (recording.input(np.asarray(x)) for x in (t0, y0, yp0))
            self.parameters = [leaf for leaf in leaves if isinstance(leaf, Array)]
            given = [recording.input(real_values(function, "args", x)) if isinstance(x, Array) else x for x in leaves]
            left = residual(t, y, yp, *together(given))
            if left is None:
                raise TypeError(f"{label}: result is None, but must be the residuals of the equations; does it return?")
            left = recording.array(vector(label, "result", left))
            if left.size != len(y0):
                raise ShapeError(
                    f"{label}: result is of shape {left.shape}, but must be of shape ({len(y0)},); one equation for each state"
                )
            self.parameters += recording.captured
            self.program, self.bodies = recording.program(left), bodies_of(recording)
