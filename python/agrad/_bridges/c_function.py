"""Defines c_function, which makes a compiled value and gradient callable from C, in any thread and without Python.

The calls are in python/bindings/bridges/plain_function.hpp. This module prepares the programs, and answers what needs Python:
paths that are not recorded yet, and functions that catch the errors of operations.
"""

from __future__ import annotations

import dis
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agrad._bridges.signatures import SIGNATURES
from agrad._core import C_FUNCTIONS, PlainFunction, ShapeError
from agrad._record.recording import name_of
from agrad._record.source import parting_lines
from agrad._transforms.base import Transformation
from agrad._transforms.compiled.code import walked
from agrad._transforms.compiled.compile import Compiled
from agrad._transforms.compiled.paths import Entry, Path
from agrad._transforms.compiled.results import firsts
from agrad._transforms.compiled.signatures import copied
from agrad._transforms.gradients import ValueAndGrad

__all__ = ["CFunction", "c_function"]


class CFunction:
    """See :func:`c_function`."""

    def __init__(self, compiled: Compiled[..., Any], x: NDArray[np.float64], held: tuple[Any, ...]) -> None:
        self.compiled, self._start, self._held = compiled, x.copy(), copied(held)
        #: The number of entries of the vector.
        self.size: int = x.size
        path, self._entry, inputs = _first_path(compiled, (x, *self._held))
        if (fault := path.program.more_than_data()) is not None:
            raise TypeError(
                f"{fault.replace('program', 'c_function', 1).partition(';')[0]}: it calls Python, which a C function must do "
                "without; write it with functions of agrad"
            )
        begin = firsts(self._entry)[0] if self._entry.parameters and self.size else 0
        self._plain = PlainFunction(begin, self.size, inputs, _may_catch(compiled), self)
        self._add_paths()

    @property
    def address(self) -> int:
        """The address of ``int64_t f(uint64_t n, const double* x, double* gradient, double* value, void* context)``."""
        return C_FUNCTIONS["code"]

    @property
    def context(self) -> int:
        """The address to pass as last argument. It is valid as long as this object lives."""
        return self._plain.context

    @property
    def counts(self) -> dict[str, int]:
        """The numbers of calls: all of them, and those with a positive code by its reason, and with a negative one."""
        return self._plain.counts

    @property
    def last_error(self) -> str:
        """The sentence of the last call with a code other than 0, in whichever thread; empty if there was none."""
        return self._plain.last_error

    def signature(self, name: str) -> Any:
        """Return the C function in a tool's signature, for `ctypes`.

        Parameters
        ----------
        name : {"nutpie", "walnutpie", "owalnuts", "numba"}
            The tool. The functions of the first two return a code; those of the others return the value: minus infinity where
            the code is positive, and nan where it is negative, so that a caller must take nan for an error.

        Returns
        -------
        ctypes function
            Of the tool's type, with the attribute ``address``. The last argument is :attr:`context`.
        """
        if name not in SIGNATURES:
            raise ValueError(f"c_function: name is {name!r}, but must be one of {', '.join(map(repr, SIGNATURES))}")
        kind, type_of = SIGNATURES[name]
        function = type_of(C_FUNCTIONS[kind])
        function.address = C_FUNCTIONS[kind]
        return function

    def cancel(self) -> None:
        """End the runs that C code has in progress, with the code -4; later calls end at once, until :meth:`reset`."""
        self._plain.cancel()

    def reset(self) -> None:
        """Take calls again after :meth:`cancel`, and count from zero."""
        self._plain.reset()

    def __call__(self, x: ArrayLike) -> tuple[float, NDArray[np.float64]]:
        """Return the value and the gradient, as C code gets them; raise the function's error where there is one."""
        at = np.ascontiguousarray(x, dtype=float)
        if at.shape != (self.size,):
            raise ShapeError(f"c_function: x is of shape {at.shape}, but must be of shape ({self.size},)")
        code, value, gradient = self._plain.call(at)
        if code == _CANCELLED:
            raise RuntimeError("c_function: function is cancelled, but must not be; call reset()")
        if code not in (0, _NOT_FINITE):
            self.compiled(at, *self._held)  # raises the error with its line
            raise RuntimeError(self.last_error)
        return value, gradient

    def answer(self, x: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """Return the value and the gradient by way of Python, and keep new paths; called by C++."""
        value, gradient = self.compiled(x, *self._held)
        self._add_paths()
        return value, gradient

    def _add_paths(self) -> None:
        for path in list(self._entry.paths)[self._plain.paths :]:
            if path.program.more_than_data() is None:
                self._plain.add_path(path.program, parting_lines([path.comparisons]))

    def __reduce__(self) -> tuple[Any, ...]:
        return c_function, (self.compiled, self._start, *self._held)

    def __repr__(self) -> str:
        return f"<c_function({name_of(self.compiled.function)}): {self.size} numbers, {self.counts['calls']} calls>"


_CANCELLED, _NOT_FINITE = -4, 3


def _first_path(compiled: Compiled[..., Any], args: tuple[Any, ...]) -> tuple[Path, Entry, list[float]]:
    """Returns the path of a call, which is recorded if it is new, the entry with all paths, and the program's inputs."""
    compiled(*args)  # raises the function's errors, and limits the program to the gradient that is wanted
    path, call = compiled._path_and_call(args, {})
    own = args if compiled.transformation is None else compiled.transformation.bind(args)[1]
    return path, compiled._entry_of(own, call), np.concatenate([x.ravel() for x in call.inputs]).tolist()


def _may_catch(compiled: Compiled[..., Any]) -> bool:
    """Returns whether the user's code has a handler of errors, which may catch those of operations."""
    return any(_has_handler(each.__code__) for each in walked(compiled.function))


def _has_handler(code: Any) -> bool:
    if hasattr(code, "co_exceptiontable"):
        own = bool(code.co_exceptiontable)
    else:  # Python 3.10
        own = any(step.opname.startswith("SETUP_") for step in dis.get_instructions(code))
    return own or any(_has_handler(each) for each in code.co_consts if hasattr(each, "co_consts"))


def _compiled_of(function: Any) -> Compiled[..., Any]:
    """Returns the compiled value and gradient of a function that the user gives in one of several forms."""
    compiled: Compiled[..., Any]
    if not isinstance(function, Compiled):
        compiled = Compiled(function if isinstance(function, Transformation) else ValueAndGrad(function))
    elif function.transformation is not None:
        compiled = function
    else:
        compiled = Compiled(ValueAndGrad(function.function), function.error_control, function.static.names, function.check)
        compiled = compiled.__get__(*function.instance) if function.instance else compiled
    of = compiled.transformation
    if not isinstance(of, ValueAndGrad) or of.plan is not ValueAndGrad.plan or of.has_aux or of.argnums != 0:
        raise TypeError(
            f"c_function: function is {compiled.label if of is None else of.label}, but must be a function of a vector, its "
            "value_and_grad without aux and with argnums=0, or one of them compiled"
        )
    return compiled


def c_function(function: Any, x: ArrayLike, *held: Any) -> CFunction:
    """Make the value and gradient of a function of a vector callable from C, without Python.

    Samplers and optimizers that call a C function with a context run the recorded program at its own speed, in any number of
    threads, and get the same numbers as from the compiled function, to the last bit.

    Parameters
    ----------
    function : callable
        Returns a number for a vector, and perhaps further arguments: a function, ``ag.value_and_grad`` of it, or one of them
        compiled, whose recorded paths are shared then.
    x : array of shape (n,)
        A vector of floats at which the function is recorded.
    *held : Any
        The other arguments, which keep these values.

    Returns
    -------
    CFunction
        With ``address`` and ``context``; ``signature(name)`` is the function for a tool. Keep the object as long as C code may
        call the function. It pickles with its recorded paths, and has another context in another process.

    Raises
    ------
    TypeError
        `function` is none of these; `x` is no vector of floats; or the function calls Python code at each run, as
        :func:`custom_vjp` does.

    Notes
    -----
    The C function returns 0; a positive code for a point that a sampler may reject: 1 (a DomainError), 2 (a SolverError), 3
    (the value or gradient is not finite); or a negative code where it must end, because the value is not known: -1 (wrong
    length), -2 (see below), -3 (any other error), -4 (cancelled). Never take a negative code for a rejection: the draws would
    follow another density. ``counts`` and ``last_error`` tell what happened.

    Where a comparison in the function takes a path that is not recorded, Python records it: in the calling thread if it holds
    the interpreter lock, else in a thread that waits for the lock for at most 5 s (-2), because whoever holds the lock may be
    waiting for this call. So a call never waits for ever. Of a function with ``except`` or ``with`` Python is asked at each
    DomainError whether the function catches the error. A gradient pointer may be null; the value is the same then.

    Examples
    --------
    >>> import ctypes, numpy as np, agrad as ag
    >>> f = ag.c_function(lambda x: -0.5 * np.sum(x**2), np.zeros(2))
    >>> x, gradient, value = np.array([1.0, 2.0]), np.zeros(2), ctypes.c_double()
    >>> pointers = [ctypes.cast(each.ctypes.data, ctypes.POINTER(ctypes.c_double)) for each in (x, gradient)]
    >>> f.signature("nutpie")(2, *pointers, ctypes.byref(value), f.context)
    0
    >>> value.value, gradient
    (-2.5, array([-1., -2.]))
    """
    compiled, at = _compiled_of(function), np.asarray(x)
    if at.ndim != 1 or at.dtype.kind != "f":
        raise TypeError(f"c_function: x is of shape {at.shape} and type {at.dtype}, but must be a vector of floats")
    return CFunction(compiled, at.astype(float), held)
