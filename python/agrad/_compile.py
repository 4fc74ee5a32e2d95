"""compile: record a function once and run the program again, without Python and without the interpreter lock."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, cast

import numpy as np

from agrad._core import Array, CallPlan, Comparison, KnownCalls, Program, Recording, Wanted
from agrad._debug import is_debugging
from agrad._inspect import Inspected
from agrad._loops_body import bodies_of
from agrad._plans import plan_of, result_of
from agrad._recording import name_of, open_recording
from agrad._source import Tally, parting_lines
from agrad._structure import Outputs
from agrad._transforms import Arguments, Parameters, Result, Transformation
from agrad._trees import flatten, is_number, split

if TYPE_CHECKING:
    from agrad._core import SourceLines

__all__ = ["Compiled", "Path", "compile"]

_MOST_PATHS = 64


class Path:
    """One recorded path through the function: the program and what its outputs are."""

    def __init__(self, program: Program, outputs: Outputs, comparisons: list[Tally]) -> None:
        self.program, self.comparisons, self.structure = program, comparisons, outputs.structure
        self.shapes, self.together = outputs.shapes, outputs.together
        self.bodies: list[Any] = []  # of loops, which may grow while the program is run

    def __getstate__(self) -> tuple[Any, ...]:
        return self.program, self.together([0.0] * len(self.shapes)), self.shapes, self.comparisons

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.program, result, self.shapes, self.comparisons = state
        self.bodies = []
        _, self.together, self.structure = flatten(result)


class _Entry:
    """What is known of calls of one signature: the recorded paths, and for a transformation its parameters."""

    def __init__(self, parameters: Parameters | None, wanted: Any) -> None:
        self.paths: list[Path] = []
        self.parameters, self.wanted = parameters, wanted
        self.plan: CallPlan | None = None
        self.is_plain: bool | None = None
        self.learnt: list[Path] = []


def _frozen(leaf: Any) -> Any:
    """What two leaves have in common when a recording made for one holds for the other."""
    if isinstance(leaf, np.ndarray) and leaf.dtype.kind != "O":
        return leaf.dtype.str, leaf.shape, leaf.tobytes()
    return type(leaf), leaf  # 1 and True are equal but not the same


class _Signature:
    """A call taken apart: what the program is called with, and all that it was recorded for."""

    def __init__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.leaves, self.together, self.structure = flatten((args, kwargs))
        self.is_input = [is_number(leaf) for leaf in self.leaves]
        self.inputs = [np.asarray(leaf, dtype=float) for leaf in self.leaves if is_number(leaf)]
        static = tuple(_frozen(leaf) for leaf in self.leaves if not is_number(leaf))
        self.key = (self.structure, tuple(self.is_input), tuple(x.shape for x in self.inputs), static)

    def check_hashable(self, function: str) -> None:
        """Raise for the first leaf that is neither a number nor hashable."""
        for leaf, path in zip(self.leaves, self.structure.accessors(), strict=True):
            try:
                hash(_frozen(leaf))
            except TypeError:
                name = path[2:].codify(f"argument {path[1].entry}")
                raise TypeError(
                    f"{function}: {name} is {leaf!r}, but must be numbers, an array of numbers or hashable"
                ) from None

    def with_inputs(self, inputs: list[Any]) -> Any:
        """The call with its inputs replaced."""
        fresh = iter(inputs)
        return self.together([next(fresh) if given else leaf for leaf, given in zip(self.leaves, self.is_input, strict=True)])


class Compiled(Inspected[Arguments], Generic[Arguments, Result]):
    """See :func:`compile`."""

    def __init__(self, function: Callable[Arguments, Result]) -> None:
        if not callable(function):
            raise TypeError(f"compile: function is {function!r}, but must be callable")
        functools.update_wrapper(self, function)
        self.transformation = function if isinstance(function, Transformation) else None
        self.function = function.function if isinstance(function, Transformation) else function
        self.label = f"compile({name_of(self.function)})"
        self._entries: dict[Any, _Entry] = {}
        self._known = KnownCalls()
        if self.transformation is not None and self.transformation.has_aux:
            raise TypeError(f"{self.label}: has_aux is True, but must be False; return everything as values of the function")

    def __call__(self, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        if not kwargs and not is_debugging():
            result: Result = self._known(args)
            if result is not NotImplemented:
                return result
        bound, own = (None, args) if self.transformation is None else self.transformation.bind(args)
        call = _Signature(own, kwargs)
        if any(isinstance(leaf, Array) for leaf in call.leaves):  # recorded around this: one more part of that recording
            return cast(Result, (self.transformation or self.function)(*args, **kwargs))
        entry = self._entry_of(own, call)
        if bound is not None and entry.parameters is not None:
            bound.prepare(entry.parameters)
        path, result = self._on_path(entry, call, lambda path: _result(bound, entry, path, call))
        if not kwargs:
            self._learn(args, entry, call, path)
        return result

    def bind(self, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Callable[[], Result]:
        """Make a function without arguments that calls this one with these arrays, as they are then.

        Parameters
        ----------
        *args : arrays, nested structures of them
            As for a call, by position; write into the arrays to change the values.

        Returns
        -------
        callable
            Returns what a call returns, in the same arrays at every call: copy what is to be kept. For loops in which a
            microsecond counts.

        Raises
        ------
        TypeError
            The arguments or the result are more than dicts, lists and tuples of floats and float64 arrays.
        """
        self(*args, **kwargs)
        try:
            if kwargs:
                raise ValueError("bind: plans are of positional arguments")
            return self._known.bind(args, lambda: self(*args, **kwargs))
        except ValueError:
            raise TypeError(
                f"{self.label}: bind's arguments must be plain dicts, lists and tuples of floats and float64 arrays, and the "
                "function values, a gradient or both"
            ) from None

    def _taken(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Path, _Signature]:
        """The path of a call, and the call taken apart."""
        own = args if self.transformation is None else self.transformation.bind(args)[1]
        call = _Signature(own, kwargs)
        path, _ = self._on_path(self._entry_of(own, call), call, lambda path: path.program.forward(call.inputs))
        return path, call

    def recorded(self) -> list[tuple[Any, list[Path]]]:
        """The paths, by the signatures of calls that they were recorded for."""
        return [(key, list(entry.paths)) for key, entry in list(self._entries.items()) if entry.paths]

    def add_recorded(self, args: tuple[Any, ...], kwargs: dict[str, Any], paths: list[Path]) -> None:
        """Take over paths that were recorded elsewhere for such arguments, unless some are here."""
        entry = self._entry_of(args, _Signature(args, kwargs))
        entry.paths = entry.paths or list(paths)

    def _learn(self, args: tuple[Any, ...], entry: _Entry, call: _Signature, path: Path) -> None:
        """Make the next such call a known one, where its arguments and its result are plain."""
        if entry.is_plain is False or path in entry.learnt:
            return
        wanted = Wanted.values if self.transformation is None else self.transformation.plan
        *begins, size = np.cumsum([0, *(x.size for x in call.inputs)]).tolist()
        if entry.plan is None and wanted is not None:
            of_vector = [size + first for first in _firsts(entry)] if wanted is Wanted.hessian_product else None
            entry.plan = plan_of(args, begins, wanted, size, of_vector)
        result = _result_of(entry, path)
        entry.is_plain = entry.plan is not None and result is not None
        if entry.plan is not None and result is not None:
            entry.plan.add_path(path.program, result)
            if not entry.learnt:
                self._known.add(entry.plan)
            entry.learnt.append(path)

    def run(self, args: tuple[Any, ...], call: Callable[[Program], Any]) -> tuple[Path, Any]:
        """The first path whose program, in the hands of `call`, holds for the arguments, and what that returned."""
        signature = _Signature(args, {})
        return self._on_path(self._entry_of(args, signature), signature, lambda path: call(path.program))

    def _on_path(self, entry: _Entry, call: _Signature, run: Callable[[Path], Any]) -> tuple[Path, Any]:
        if is_debugging():
            self._record(call)  # raises at the first nan
        for path in entry.paths:
            result = run(path)
            if result is not None:
                return path, result
        path = self._record(call)
        if len(entry.paths) == _MOST_PATHS:
            lines = parting_lines([each.comparisons for each in (*entry.paths, path)])
            raise RuntimeError(
                f"{self.label}: number of paths that comparisons took is {_MOST_PATHS + 1}, but must be at most {_MOST_PATHS}; "
                f"choose with np.where instead of the comparison at {lines}"
            )
        entry.paths.append(path)
        result = run(path)
        assert result is not None, "a path holds for the values that it was recorded with"
        return path, result

    def _record(self, call: _Signature) -> Path:
        sweeps = is_debugging() and self.transformation is not None
        with open_recording(self.label, on_comparison=Comparison.guards, keeps_adjoints=sweeps) as recording:
            inputs, outputs = self._recorded_in(recording, call)
            if sweeps:
                recording.reverse(outputs.joined, np.ones(outputs.joined.shape), inputs)
            path = Path(recording.program(outputs.joined), outputs, recording.comparisons)
            path.bodies = bodies_of(recording)
            return path

    def _record_lines(self, call: _Signature) -> tuple[Program, SourceLines]:
        """A program of its own for a call, and the lines that its operations come from."""
        with open_recording(self.label, on_comparison=Comparison.guards) as recording:
            recording.note_lines()
            return recording.program_with_lines(self._recorded_in(recording, call)[1].joined)

    def _recorded_in(self, recording: Recording, call: _Signature) -> tuple[list[Array], Outputs]:
        """Call the function once, for a recording: its inputs there and what it returned."""
        inputs = [recording.input(x) for x in call.inputs]
        args, kwargs = call.with_inputs(inputs)
        result = self.function(*args, **kwargs)
        if self.transformation is not None:
            result = self.transformation.take_apart(recording, result)[0]
        return inputs, Outputs(recording, result)

    def _entry_of(self, args: tuple[Any, ...], call: _Signature) -> _Entry:
        try:
            entry = self._entries.get(call.key)
        except TypeError:
            call.check_hashable(self.label)
            raise
        return self._entries.setdefault(call.key, self._new_entry(args, call)) if entry is None else entry

    def _new_entry(self, args: tuple[Any, ...], call: _Signature) -> _Entry:
        if self.transformation is None:
            return _Entry(None, None)
        parameters = Parameters(self.transformation.name, args, self.transformation.argnums)
        return _Entry(parameters, _places(call, parameters))


def _result(bound: Transformation | None, entry: _Entry, path: Path, call: _Signature) -> Any:
    """The result of a compiled call for these arguments; None when the path does not hold for them."""
    if bound is None or entry.parameters is None:
        flat = path.program.forward(call.inputs)
        return None if flat is None else path.together(split(flat, path.shapes))
    return bound.of_program(path.program, call.inputs, entry.wanted, path.shapes[0], entry.parameters)


def _result_of(entry: _Entry, path: Path) -> Any:
    """What a plan makes of a run: the function's values, or its gradient with respect to the parameters."""
    if entry.parameters is None:
        begins = np.cumsum([0, *(np.prod(shape, dtype=int) for shape in path.shapes)]).tolist()
        return result_of(path.together, begins[:-1], path.shapes)
    return result_of(entry.parameters.together, _firsts(entry), entry.parameters.shapes)


def _firsts(entry: _Entry) -> list[int]:
    """The places of the parameters' leaves among the program's inputs."""
    if entry.parameters is None:
        return []
    places = np.r_[entry.wanted]
    begins = np.cumsum([0, *(leaf.size for leaf in entry.parameters.leaves)]).tolist()
    return [int(places[begin]) if leaf.size else 0 for begin, leaf in zip(begins, entry.parameters.leaves, strict=False)]


def _places(call: _Signature, parameters: Parameters) -> Any:
    """The places of the parameters' entries among the program's inputs, as a slice where they are consecutive."""
    begins = np.cumsum([0, *(x.size for x in call.inputs)])
    numbered = [np.arange(begin, begin + x.size).reshape(x.shape) for begin, x in zip(begins, call.inputs, strict=False)]
    args, _ = call.with_inputs(numbered)
    leaves, _, _ = flatten([args[place] for place in parameters.places])
    flat = np.concatenate([leaf.ravel() for leaf in leaves]) if leaves else np.zeros(0, int)
    return slice(flat[0], flat[-1] + 1) if flat.size and np.all(np.diff(flat) == 1) else flat


def compile(function: Callable[Arguments, Result]) -> Compiled[Arguments, Result]:
    """Record a function at its first call and run the recorded program from then on.

    Parameters
    ----------
    function : callable
        Written with NumPy, or a transformation of such a function: ``ag.compile(ag.value_and_grad(f))``. It must be pure:
        what it reads beside its arguments is taken as it was at the first call, and what it does beside returning is not
        done again.

    Returns
    -------
    callable
        With the arguments and the result of `function`. It records once for each structure and shapes of its arguments.
        Floats and arrays of them are values that the program is run with; everything else (integers and arrays of them,
        strings, None) is part of what it was recorded for, so an integer array may be used as an index.

    Raises
    ------
    RuntimeError
        Comparisons of recorded values took more than 64 different paths.

    Notes
    -----
    An ``if`` on recorded values is noticed: when a later call decides otherwise, the function is recorded again for that
    path and both are kept. The interpreter lock is released while a program runs, and threads may call the same compiled
    function.

    Examples
    --------
    >>> import numpy as np, agrad as ag
    >>> f = ag.compile(ag.grad(lambda x: np.sum(np.sin(x))))
    >>> f(np.zeros(2))
    array([1., 1.])
    """
    return Compiled(function)
