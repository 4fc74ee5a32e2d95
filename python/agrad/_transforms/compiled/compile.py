"""Defines compile, which records a function once and runs the program, without Python and without the interpreter lock."""

from __future__ import annotations

import itertools
import threading
import warnings
from collections.abc import Callable, Sequence
from typing import Any, Generic, cast, overload

import numpy as np

from agrad._core import Array, DomainError, ErrorControl, KnownCalls, Program, ResultKind
from agrad._record.debug import is_debugging
from agrad._record.recording import innermost, name_of, named_after
from agrad._record.source import parting_lines
from agrad._transforms.base import Arguments, Result, Transformation
from agrad._transforms.by_name import copy_with
from agrad._transforms.class_methods import bound_to, cached_for
from agrad._transforms.compiled.check import check_call, tolerance_of
from agrad._transforms.compiled.code import walked
from agrad._transforms.compiled.inspect import Inspected
from agrad._transforms.compiled.paths import MOST_PATHS, Entry, Path
from agrad._transforms.compiled.plans import plan_of
from agrad._transforms.compiled.reads import names_recorded
from agrad._transforms.compiled.recorder import Recorder
from agrad._transforms.compiled.results import described_result, firsts, places_of, result_on, wanted
from agrad._transforms.compiled.signatures import Signature
from agrad._transforms.compiled.static import StaticArguments
from agrad._transforms.engine import CaptureError, PathLeftError, held
from agrad._transforms.parameters import Parameters

__all__ = ["Compiled", "compile"]

_CONTROLS = tuple(ErrorControl.__members__)
_MOST_SIGNATURES = 256
_MISSING: Any = object()  # stands for the function where compile is called for a decorator


class Compiled(Recorder, Inspected[Arguments], Generic[Arguments, Result]):
    """See :func:`compile`."""

    instance: tuple[Any, ...] = ()

    def __init__(
        self,
        function: Callable[Arguments, Result],
        error_control: str = "auto",
        static: str | Sequence[str] = (),
        check: bool | float = False,
    ) -> None:
        if not callable(function):
            raise TypeError(f"compile: function is {function!r}, but must be callable")
        if error_control not in _CONTROLS:
            known = ", ".join(map(repr, _CONTROLS))
            raise ValueError(f"compile: error_control is {error_control!r}, but must be one of {known}")
        self.error_control, self.check = error_control, check
        self._tolerance = tolerance_of(check)
        named_after(self, function)
        self.transformation = function if isinstance(function, Transformation) else None
        self.function = function.function if isinstance(function, Transformation) else function
        self.label = f"compile({name_of(self.function)})"
        self._keeps_integers = self.transformation is not None and self.transformation.keeps_integers
        self.static = StaticArguments(self.function, self.label, static)
        self._entries: dict[Any, Entry] = {}
        self._uses = itertools.count(1)
        self._known = KnownCalls()
        self._has_warned = threading.Event()  # of too many paths

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """Returns the compiled method of an instance, for an attribute of a class.

        The instance is looked into at each call, and instances share recordings. Where ``self`` is static, each instance has
        its own recordings.
        """
        if instance is None:
            return self
        if not self.static.has_first:
            return copy_with(self, instance=(instance,), bound=(self, instance))

        def make() -> Any:
            method = bound_to(self.transformation, instance) if self.transformation else self.function.__get__(instance)
            return type(self)(method, self.error_control, self.static.of_bound_method, self.check)

        return cached_for(self, instance, make)

    def __call__(self, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        if not kwargs and not self.instance and innermost() is None and not is_debugging():
            try:
                result: Result = self._known(args)
            except DomainError:
                result = cast(Result, NotImplemented)  # the code below raises the error with the line
            if result is not NotImplemented:
                return result
        return cast(Result, self._careful(args, kwargs)[0])

    def _careful(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, bool]:
        """Calls the function without a plan. Returns the result, and whether later calls can have it from a stored path."""
        bound, own = (None, args) if self.transformation is None else self.transformation.bind(args)
        call = self._call_of(own, kwargs)
        if any(isinstance(leaf, Array) for leaf in call.leaves) or self._reads_recorded():  # part of an open recording
            return self._plainly(args, kwargs), True
        entry = self._entry_of(own, call)
        if bound is not None and entry.parameters is not None:
            bound.prepare(entry.parameters)
        try:
            path, result = self._on_path(entry, call, lambda path: result_on(bound, entry, path, call))
        except CaptureError:
            return self._plainly(args, kwargs), True
        if self._tolerance is not None:
            check_call(self, self._marked(args, kwargs), path, call, result, self._tolerance)
        elif path.is_stored and not (kwargs or self.instance or self.static):
            self._learn(args, entry, call, path)
        return result, path.is_stored

    def _reads_recorded(self) -> bool:
        """Returns whether the function names recorded values of an open recording, which a program would not have."""
        return innermost() is not None and names_recorded(walked(self.transformation or self.function))

    def _plainly(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Calls the function without a program, as a part of an open recording."""
        function: Any = self.transformation or self.function
        return (function.__get__(*self.instance) if self.instance else function)(*args, **kwargs)

    def bind(self, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Callable[[], Result]:
        """Make a function without arguments that calls this function with the present contents of these arrays.

        Parameters
        ----------
        *args : arrays, nested structures of them
            As for a call, by position; write into the arrays to change the values.

        Returns
        -------
        callable
            Returns the result of a call, in the same arrays at every call: copy results to keep them. For loops in which a
            microsecond counts. Results of paths that are not stored are in new arrays.

        Raises
        ------
        TypeError
            The arguments or the result are more than dicts, lists and tuples of floats and float64 arrays.
        """

        def unstored() -> Any:
            result, is_stored = self._careful(args, kwargs)
            return None if is_stored else result

        if unstored() is not None:
            return lambda: self(*args, **kwargs)
        try:
            if kwargs:
                raise ValueError("bind: arguments must be positional")
            return self._known.bind(args, unstored)
        except ValueError:
            raise TypeError(
                f"{self.label}: bind's arguments must be plain dicts, lists and tuples of floats and float64 arrays, and the "
                "compiled function a plain function, grad or value_and_grad"
            ) from None

    def _call_of(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Signature:
        return Signature(*self._marked(args, kwargs), *self.instance, keeps_integers=self._keeps_integers)

    def _marked(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return self.static.marked(args, kwargs, len(self.instance))

    def _path_and_call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Path, Signature]:
        """Returns the path of a call, and the call's signature."""
        own = args if self.transformation is None else self.transformation.bind(args)[1]
        call = self._call_of(own, kwargs)
        path, _ = self._on_path(self._entry_of(own, call), call, lambda path: held(path.program.forward(call.inputs)))
        return path, call

    def recorded(self) -> list[tuple[Any, list[Path]]]:
        """Returns the paths with the signatures of the recorded calls."""
        return [(key, list(entry.paths)) for key, entry in list(self._entries.items()) if entry.paths]

    def add_recorded(self, example: tuple[Any, ...], paths: list[Path]) -> None:
        """Adds paths of another recording for such a call (args, kwargs, instance), unless there are paths already."""
        entry = self._entry_of(example[0], Signature(*example, keeps_integers=self._keeps_integers))
        if entry.required is not None:
            for path in paths:
                path.program = path.program.for_inputs(wanted(path.program, entry))
        entry.paths = entry.paths or list(paths)

    def _learn(self, args: tuple[Any, ...], entry: Entry, call: Signature, path: Path) -> None:
        """Adds a plan for the next such calls, where the arguments and the result are plain."""
        if entry.is_plain is False or path in entry.learnt or path.has_caught_error:
            return
        result = described_result(entry, path)
        with entry.lock:
            self._add_plan(args, entry, call, path, result)

    def _add_plan(self, args: tuple[Any, ...], entry: Entry, call: Signature, path: Path, result: Any) -> None:
        required = ResultKind.values if self.transformation is None else self.transformation.plan
        if self.transformation is not None and self.transformation.has_aux:
            required = None
        *begins, size = np.cumsum([0, *(x.size for x in call.inputs)]).tolist()
        if entry.plan is None and required is not None:
            of_vector = [size + first for first in firsts(entry)] if required is ResultKind.hessian_product else None
            entry.plan = plan_of(args, begins, required, size, of_vector)
        entry.is_plain = entry.plan is not None and result is not None
        if entry.plan is not None and result is not None and path not in entry.learnt:
            entry.plan.add_path(path.program, result)
            if not entry.learnt:
                self._known.add(entry.plan)
            entry.learnt.append(path)

    def run(self, args: tuple[Any, ...], call: Callable[[Program], Any]) -> tuple[Path, Any]:
        """Returns the first path that holds for the arguments, and the result of `call`; for others it raises PathLeftError."""
        signature = self._call_of(args, {})
        return self._on_path(self._entry_of(args, signature), signature, lambda path: call(path.program))

    def _on_path(self, entry: Entry, call: Signature, run: Callable[[Path], Any]) -> tuple[Path, Any]:
        if is_debugging():
            self._record(call)  # raises at the first nan
        tried = 0
        for path in entry.paths:
            try:
                return path, run(path)
            except PathLeftError:
                tried += 1
            except DomainError:
                path = self._recorded_with_line(call)
                if not path.has_caught_error:
                    raise
                break
        else:
            path = self._record(call)
        if entry.required is not None:
            path.program = path.program.for_inputs(wanted(path.program, entry))
        if path.has_caught_error:
            return path, run(path)  # for other values the operation may be defined
        while others := entry.add(path, tried):  # paths that other threads recorded meanwhile
            for other in others:
                try:
                    return other, run(other)
                except PathLeftError:
                    tried += 1
        if not path.is_stored:
            self._warn_of_paths([*entry.paths, path])
        return path, run(path)  # a path holds for the values that it was recorded with

    def _warn_of_paths(self, paths: list[Path]) -> None:
        """Warns once that the function has more paths than are stored."""
        if not self._has_warned.is_set():
            self._has_warned.set()
            warnings.warn(
                f"{self.label}: number of paths that comparisons took is {len(paths)}, but at most {MOST_PATHS} are stored; "
                "each call on another path records the function again, which is slow; choose with np.where instead of the "
                f"comparison at {parting_lines([path.comparisons for path in paths])}",
                RuntimeWarning,
                stacklevel=2,
            )

    def _entry_of(self, args: tuple[Any, ...], call: Signature) -> Entry:
        try:
            entry = self._entries.get(call.key)
        except TypeError:
            call.check_constants(self.label, self.static, len(self.instance))
            raise
        if entry is None:
            call.check_constants(self.label, self.static, len(self.instance))
            entry = self._entries.setdefault(call.key, self._new_entry(args, call))
            self._forget_old()
        entry.used(next(self._uses))
        return entry

    def _forget_old(self) -> None:
        """Removes the least recently used of too many signatures; a later call records again."""
        while len(self._entries) > _MOST_SIGNATURES:
            key, entry = min(list(self._entries.items())[:-1], key=lambda item: item[1].last_used)
            self._entries.pop(key, None)
            if entry.plan is not None:
                self._known.remove(entry.plan)

    def _new_entry(self, args: tuple[Any, ...], call: Signature) -> Entry:
        if self.transformation is None:
            return Entry(None, None)
        parameters = Parameters(self.transformation.name, args, self.transformation.argnums)
        self.static.check_parameters([place % len(args) for place in parameters.places], len(self.instance))
        return Entry(parameters, places_of(call, parameters))


@overload
def compile(
    function: Callable[Arguments, Result],
    *,
    error_control: str = "auto",
    static: str | Sequence[str] = (),
    check: bool | float = False,
) -> Compiled[Arguments, Result]: ...


@overload
def compile(
    *, error_control: str = "auto", static: str | Sequence[str] = (), check: bool | float = False
) -> Callable[[Callable[Arguments, Result]], Compiled[Arguments, Result]]: ...


def compile(
    function: Any = _MISSING, *, error_control: str = "auto", static: str | Sequence[str] = (), check: bool | float = False
) -> Any:
    """Record a function at its first call and run the recorded program from then on.

    Parameters
    ----------
    function : callable
        Written with NumPy, or a transformation of such a function: ``ag.compile(ag.value_and_grad(f))``. The function must be
        pure: other values than arguments keep their state at the first call, and side effects happen at the recording only.
        Above a method of a class, ``self`` is an argument like the others: the class must be a dataclass or registered by
        :func:`agrad.register_tree`, or ``self`` must be static. Without a function the result is a decorator:
        ``@ag.compile(static="self")``.
    error_control : {"auto", "states", "derivatives"}
        The error control of all solves of differential equations by one-step methods in the function that leave it at "auto",
        see :func:`agrad.solve_ivp`. With the same choice "derivatives" or "states", ``ag.compile(f)`` and the value of
        ``ag.compile(ag.value_and_grad(f))`` are the same to the last bit; with "auto" they differ within the tolerances of the
        solves.
    static : str or sequence of str, optional
        Names of arguments that are never looked into: constants, compared by ``==`` and ``hash``. You promise that equal ones
        compute the same and do not change; a change is not seen. Static arguments have no derivatives.
    check : bool or float, optional
        Call the function plainly as well, at each call, and compare: the function's value, which shows other branches by types
        and values that the recording kept, and the result of a transformation. A float is the tolerance, relative to the
        largest entry of each array; True is 1e-9, because sums have another order in NumPy. Solutions of differential equations
        may differ by their own tolerances. The environment variable ``AGRAD_CHECK_RECORDINGS=1`` is True for all compiled
        functions that are made while it is set.

    Returns
    -------
    callable
        With the arguments and the result of `function`, which is recorded once for each structure and shapes of the arguments;
        beyond 256 such signatures the least recently used are removed.
        Floats and arrays of floats, integers and booleans are inputs of the program, also within dicts, lists, tuples,
        dataclasses and registered classes. Arrays of integers may be indices, labels and counts. Other arguments are part of
        the signature: integers, NumPy's integer scalars and arrays without axes, integers beyond 2**51 (with all of their
        array), strings, None, and what else cannot change, such as enumerators, types and dates. So is the order of the keys of
        dicts and of keyword arguments. Functions are compared by identity. Numbers in results are floats, also where the
        function returns integers or booleans.

    Raises
    ------
    ValueError
        `error_control` is none of the three, `check` is a negative number, or `static` has a name that is no argument.
    TypeError
        (At a call) an argument is an object that may change while a recording keeps it, such as an object of a class that is
        neither a dataclass nor registered, or a random number generator; or a static argument is not hashable.
    RuntimeError
        (At a call with `check`) the plain call has another result, or raises. (At a call that records) a variable of a closure,
        a global or an attribute that the code names has another value than at the recording of an earlier path.

    Warns
    -----
    RuntimeWarning
        Comparisons of recorded values took more than 64 different paths with one signature. The paths beyond are not stored:
        each call on such a path records the function again, with the right values and derivatives.

    Notes
    -----
    An ``if`` on recorded values has a guard: when a later call takes another branch, the function is recorded again for that
    path, and both paths are kept. Where an array of integers or booleans decides a shape or Python's control flow, as in
    ``range(n[0])`` or ``x[mask]``, its values are read, and are a guard, too. A call in which the function catches the error of
    an operation (``except ag.DomainError``) is recorded each time, because the error may not occur for other values. The
    interpreter lock is released while a program runs, and threads may call the same compiled function; where several threads
    record a path at once, one of the recordings is stored.

    Examples
    --------
    >>> import numpy as np, agrad as ag
    >>> f = ag.compile(ag.grad(lambda x: np.sum(np.sin(x))))
    >>> f(np.zeros(2))
    array([1., 1.])
    """
    if function is _MISSING:
        return lambda function: Compiled(function, error_control, static, check)
    return Compiled(function, error_control, static, check)
