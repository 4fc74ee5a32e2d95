"""Defines functions with derivatives by hand, the results of :func:`custom_vjp` and :func:`custom_jvp`.

A ``custom_vjp`` is a single operation of the recording, which calls the user's functions with plain values at each run
(``callback``). A ``custom_jvp`` is recorded in full: the function, and the derivative at arguments that determine what may be
differentiated again (``custom_calls``), so that every mode and every order follow.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Generic, ParamSpec, TypeVar

import numpy as np

from agrad._record.recording import name_of, named_after
from agrad._record.trees import flatten
from agrad._transforms.callback import Call, JvpCall, VjpCall
from agrad._transforms.custom_calls import record_call

__all__ = ["CustomJvp", "CustomVjp"]

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class Custom(Generic[Arguments, Result]):
    """A function with a derivative by hand: the common part of both kinds."""

    kind = ""
    definition = ""  # the call that defines the derivative, for messages

    def __init__(self, function: Callable[Arguments, Result], nondiff_argnums: int | Sequence[int] = ()) -> None:
        if not callable(function):
            raise TypeError(f"{self.kind}: function is {function!r}, but must be callable")
        named_after(self, function)
        self.function = function
        self.label = f"{self.kind}({name_of(function)})"
        given = (nondiff_argnums,) if isinstance(nondiff_argnums, int) else tuple(nondiff_argnums)
        if not all(isinstance(place, int) and place >= 0 for place in given):
            raise TypeError(f"{self.kind}: nondiff_argnums is {nondiff_argnums!r}, but must be positions of arguments, from 0")
        self.nondiff_argnums = given
        self.is_defined = False
        try:
            self._signature: inspect.Signature | None = inspect.signature(function)
        except (TypeError, ValueError):
            self._signature = None

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __call__(self, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        if not self.is_defined:
            raise TypeError(f"{self.label}: derivative is undefined, but must be known; call its {self.definition}")
        given = self._positional(args, kwargs)
        call = Call(self.label, given, self.nondiff_argnums)
        if call.is_plain:
            return self.function(*given)  # type: ignore[call-arg]
        return self._record(call)  # type: ignore[no-any-return]

    def _positional(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """Returns all arguments by position, including defaults, as the functions of the derivative expect."""
        if self._signature is None:
            if kwargs:
                raise TypeError(f"{self.label}: arguments are passed by name, but must be positional")
            return args
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        if bound.kwargs:
            raise TypeError(
                f"{self.label}: arguments {sorted(bound.kwargs)} are keyword-only, but must be positional; move them before *"
            )
        return bound.args

    def _check_functions(self, method: str, functions: Iterable[Any], optional: bool = False) -> None:
        for n, function in enumerate(functions):
            if not (callable(function) or (optional and function is None)):
                raise TypeError(f"{self.label}.{method}: argument {n} is {function!r}, but must be callable")

    def _record(self, call: Call) -> Any:
        raise NotImplementedError


class CustomVjp(Custom[Arguments, Result]):
    """See :func:`custom_vjp`."""

    kind = "custom_vjp"
    definition = "defvjp(fwd, bwd)"
    forward: Callable[..., Any]
    backward: Callable[..., Any]

    def defvjp(self, fwd: Callable[..., Any], bwd: Callable[..., Any]) -> None:
        """Define the derivative by two functions.

        Parameters
        ----------
        fwd : callable
            Takes the function's arguments; returns ``(result, residuals)``, where residuals are data for bwd.
        bwd : callable
            Takes the arguments of nondiff_argnums, the residuals, and the cotangent, which has the structure of the result.
            Returns a tuple with an entry for each other argument, of the argument's structure and shapes: the transposed
            Jacobian times the cotangent. None stands for zeros. For a single argument the tuple may be left out.
        """
        self._check_functions("defvjp", (fwd, bwd))
        self.forward, self.backward, self.is_defined = fwd, bwd, True

    def defvjps(self, *vjps: Callable[..., Any] | None) -> None:
        """Define the derivative argument by argument.

        Parameters
        ----------
        *vjps : callable or None
            A function for each argument that is not in nondiff_argnums, ``vjp(cotangent, result, *arguments)``, which returns
            the cotangent of its argument. None: the argument has no derivative.
        """
        self._check_functions("defvjps", vjps, optional=True)

        def fwd(*args: Any) -> tuple[Any, Any]:
            result = self.function(*args)  # type: ignore[call-arg]
            return result, (result, args)

        def bwd(*given: Any) -> tuple[Any, ...]:
            (result, args), cotangent = given[-2:]
            return tuple(None if vjp is None else vjp(cotangent, result, *args) for vjp in vjps)

        self.defvjp(fwd, bwd)

    def _record(self, call: Call) -> Any:
        return VjpCall(call, self.function, self.forward, self.backward).record()


class CustomJvp(Custom[Arguments, Result]):
    """See :func:`custom_jvp`."""

    kind = "custom_jvp"
    definition = "defjvp(jvp)"
    derivative: Callable[..., Any]

    def __init__(
        self, function: Callable[Arguments, Result], nondiff_argnums: int | Sequence[int] = (), plain: bool = False
    ) -> None:
        super().__init__(function, nondiff_argnums)
        self.plain = plain

    def defjvp(self, jvp: Callable[..., Any]) -> Callable[..., Any]:
        """Define the derivative by a single function; returns this function, as a decorator does.

        Parameters
        ----------
        jvp : callable
            Takes the arguments of nondiff_argnums, then a tuple of the other arguments and a tuple of their tangents, of
            the same structure and shapes. Returns ``(result, tangent)``, where the tangent has the structure and shapes of
            the result: the Jacobian times the tangents. The tangent must be linear in the tangents.
        """
        self._check_functions("defjvp", (jvp,))
        self.derivative, self.is_defined = jvp, True
        return jvp

    def defjvps(self, *jvps: Callable[..., Any] | None) -> None:
        """Define the derivative argument by argument.

        Parameters
        ----------
        *jvps : callable or None
            A function for each argument that is not in nondiff_argnums, ``jvp(tangent, result, *arguments)``, which returns
            the contribution of its argument's tangent to the result's tangent. None: no contribution.
        """
        self._check_functions("defjvps", jvps, optional=True)
        nondiff = self.nondiff_argnums

        def jvp(*given: Any) -> tuple[Any, Any]:
            primals, tangents = given[-2:]
            if len(jvps) != len(primals):
                raise TypeError(
                    f"{self.label}.defjvps: number of functions is {len(jvps)}, but must be {len(primals)}, one for "
                    "each argument"
                )
            args = list(primals)
            for place, argument in sorted(zip(nondiff, given[:-2], strict=True)):
                args.insert(place, argument)
            result = self.function(*args)  # type: ignore[call-arg]
            parts = [each(t, result, *args) for each, t in zip(jvps, tangents, strict=True) if each is not None]
            return result, _sum_of(parts, result)

        self.defjvp(jvp)

    def _record(self, call: Call) -> Any:
        if self.plain:
            return JvpCall(call, self.function, self.derivative).record()
        return record_call(self.label, self, call)


def _sum_of(parts: list[Any], result: Any) -> Any:
    """Returns the sum of nested structures; zeros like the result if there are no parts."""
    leaves, together, _ = flatten(result)
    if not parts:
        return together([np.zeros(np.shape(leaf)) for leaf in leaves])
    return together([functools.reduce(lambda a, b: a + b, each) for each in zip(*(flatten(p)[0] for p in parts), strict=True)])
