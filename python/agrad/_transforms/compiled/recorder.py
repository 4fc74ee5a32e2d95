"""Records compiled functions: a path for the values of a call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from agrad._core import Array, Comparison, DomainError, Program, Recording, ScopeError
from agrad._loops.body import bodies_of
from agrad._record.control import solves_with
from agrad._record.debug import is_debugging
from agrad._record.errors import raised_errors, with_message
from agrad._record.nested import capture
from agrad._record.recording import innermost, open_recording
from agrad._record.source import line_in_traceback
from agrad._record.structure import Outputs
from agrad._record.within import Place, at
from agrad._transforms.compiled.code import code_of, walked
from agrad._transforms.compiled.paths import Path, WithPaths
from agrad._transforms.compiled.reads import check_same, reads_of, unchanged
from agrad._transforms.compiled.signatures import Aux, Signature
from agrad._transforms.engine import CaptureError

if TYPE_CHECKING:
    from agrad._core import SourceLines

__all__ = ["Recorder"]


class Recorder(WithPaths):
    """The part of :class:`agrad._transforms.compiled.compile.Compiled` that records."""

    def _recorded_with_line(self, call: Signature) -> Path:
        """Returns the path for arguments that a program refused, unless the recording raises, at the line with the fault."""
        try:
            return self._record(call)
        except DomainError as error:
            if place := line_in_traceback(error.__traceback__):
                raise with_message(error, f"{error}, at {place} in {self.label}") from error
            raise

    def _record(self, call: Signature) -> Path:
        """Returns a new path; raises CaptureError where the function uses values of a recording around the call."""
        around = innermost()
        try:
            return self._recorded_path(call, captures=around is not None)
        except ScopeError as error:
            if around is None or isinstance(error, CaptureError):
                raise
            raise CaptureError(str(error)) from error

    def _recorded_path(self, call: Signature, captures: bool) -> Path:
        before = raised_errors()
        has_reverse_pass = is_debugging() and self.transformation is not None
        functions = walked(self.transformation or self.function)
        code, reads = code_of(functions), reads_of(functions)
        with open_recording(
            self.label, on_comparison=Comparison.guards, stores_adjoints=has_reverse_pass, captures=captures
        ) as recording:
            inputs, outputs, aux = self._recorded_in(recording, call)
            capture(recording, aux)
            if recording.captured:
                raise CaptureError(f"{self.label}: function uses a recorded value from around the call, but must not here")
            if has_reverse_pass:
                recording.reverse(outputs.joined, np.ones(outputs.joined.shape), inputs)
            path = Path(recording.program(outputs.joined), outputs, recording.comparisons)
            if self.transformation is not None and self.transformation.has_aux:
                path.aux = Aux(recording, aux)
            path.bodies, path.code, path.reads = bodies_of(recording), code, unchanged(reads, reads_of(functions))
            path.has_caught_error = raised_errors() != before
        check_same(self.label, path.reads, [each.reads for _, paths in self.recorded() for each in paths])
        return path

    def _record_lines(self, call: Signature) -> tuple[Program, SourceLines]:
        """Returns a new program for a call, and the source lines of the operations."""
        with open_recording(self.label, on_comparison=Comparison.guards) as recording:
            recording.note_lines()
            _, outputs, _ = self._recorded_in(recording, call)
            return recording.program_with_lines(outputs.joined)

    def _recorded_in(self, recording: Recording, call: Signature) -> tuple[list[Array], Outputs, Any]:
        """Calls the function once, for a recording. Returns the recorded inputs, the outputs, and aux."""
        inputs = call.recorded_inputs(recording)
        args, kwargs, *instance = call.with_inputs(inputs)
        function: Any = self.function.__get__(*instance) if instance else self.function
        with at(Place()), solves_with(self.error_control):  # the program runs outside of the present place
            result = function(*args, **kwargs)
        if self.transformation is None:
            return inputs, Outputs(recording, result), None
        output, beside = self.transformation.split_result(recording, result)
        return inputs, *self.transformation.outputs_of(recording, output, beside)
