"""Records a call of a ``custom_jvp``: the function's value, and the derivative once for tangents and once for adjoints.

cpp/include/agrad/program/machine/custom.hpp explains the parts and joins them. The derivative may call its own function and
other functions with derivatives by hand. In the part for the reverse pass such a call needs a derivative of its own if the
call depends on the tangents, or if the reverse pass will be differentiated within the same recording
(cpp/include/agrad/program/derive/released.hpp).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agrad import _core
from agrad._core import Array, ShapeError
from agrad._record.structure import find_recording, output_of
from agrad._record.trees import flatten
from agrad._record.within import Place, Stage, at, here
from agrad._transforms.callback import Call, not_linear

__all__ = ["record_call"]


def record_call(label: str, owner: Any, call: Call) -> Any:
    """Records a call of ``owner.function``, with the derivative ``owner.derivative``; `label` is the name in messages."""
    now = here.place
    is_own = owner in now.functions
    if now.stage is Stage.values or (is_own and now.stage is not Stage.held):
        return owner.function(*call.args)  # the operations have the right values, and a linear function stays linear
    return _RecordedCall(label, owner, call).record(now, is_own)


class _RecordedCall:
    def __init__(self, label: str, owner: Any, call: Call) -> None:
        recording = find_recording(*call.inputs)
        assert recording is not None, "one of the arguments is recorded"
        self.label, self.owner, self.call, self.recording = label, owner, call, recording
        self.inputs = [recording.array(x) for x in call.inputs]
        self.functions = (*here.place.functions, owner)

    def record(self, now: Place, is_own: bool) -> Any:
        recording, begin = self.recording, self.recording.position
        with at(Place(Stage.values, functions=self.functions)):
            values, together, self.structure = flatten(self._function([_core.stop_gradient(x) for x in self.inputs]))
        self.names = [path.codify(f"{self.label}: tangent") for path in self.structure.accessors()]
        outputs = self._outputs(values)
        self.along = [_core.perturbation(x) for x in self.inputs]
        first = recording.operations
        forwards = self._tangents(outputs, Stage.stopped, _core.stop_gradient)
        if not recording.is_linear(first, self.along, forwards):
            raise TypeError(not_linear(self.label))
        is_of_tangents = now.stage is Stage.held and now.depends(recording, self.inputs)
        backwards = None
        if now.stage is Stage.stopped or (now.stage is Stage.held and not is_of_tangents and now.orders == 0):
            backwards = [_core.stop_gradient(y) for y in outputs]  # no reverse pass reaches this operand
        elif not (is_own and is_of_tangents):
            less = 1 if now.stage is Stage.held and not is_of_tangents else 0
            backwards = self._tangents(outputs, Stage.held, _core.hold, now.orders - less)
        if backwards is None:  # a function of tangents in its own derivative: the reverse pass uses the function's operations
            self._check_reach(begin)
            backwards = self._outputs(flatten(self._function(self.inputs))[0])
            return together(self._results(outputs, forwards, backwards))
        results = self._results(outputs, forwards, backwards)
        self._check_reach(begin)
        return together(results)

    @staticmethod
    def _results(*parts: list[Array]) -> list[Array]:
        return [_core.with_derivative(*each) for each in zip(*parts, strict=True)]

    def _check_reach(self, begin: tuple[int, int, int]) -> None:
        if self.recording.reaches_before(begin):
            raise TypeError(
                f"{self.label}: a recorded value of {self.recording.function} is used that is no argument, but must be an "
                "argument to have a derivative; pass it as an argument, or use ag.stop_gradient of it"
            )

    def _function(self, inputs: list[Array]) -> Any:
        return self.owner.function(*self.call.with_inputs(inputs))

    def _outputs(self, values: list[Any]) -> list[Array]:
        return [output_of(self.recording, f"result of {name}", x) for name, x in zip(self.names, values, strict=True)]

    def _tangents(self, outputs: list[Array], stage: Stage, point: Callable[[Array], Array], orders: int = 0) -> list[Array]:
        """Returns the leaves of the derivative at the arguments `point(x)`."""
        inputs = [point(x) for x in self.inputs]
        with at(Place(stage, orders, self.functions, self.recording.operations, self.along)):
            parts = self.call.jvp(self.owner.derivative, inputs, self.along, self.structure)
        return [_of_shape(y, self.recording.array(x), name) for y, x, name in zip(outputs, parts, self.names, strict=True)]


def _of_shape(y: Array, tangent: Array, name: str) -> Array:
    if tangent.shape != y.shape:
        raise ShapeError(f"{name} is of shape {tangent.shape}, but must be of shape {y.shape}, as the result")
    return tangent
