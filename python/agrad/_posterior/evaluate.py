"""Runs the compiled functions of a log density, for vectors and rows, and counts the points that it rejects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from agrad._core import DomainError, ShapeError, SolverError
from agrad._posterior.checks import reason_of
from agrad._posterior.declared import Declared
from agrad._posterior.joint import Joint, OfParameters
from agrad._transforms.compiled.compile import Compiled
from agrad._transforms.gradients import value_and_grad
from agrad._transforms.hessian import hessian, hvp
from agrad._transforms.vmap import vmap

__all__ = ["Evaluated"]


class Evaluated:
    """The part of :class:`agrad.LogDensity` that evaluates functions."""

    size: int
    declared: Declared
    data: Any
    unconstrained_names: list[str]
    reasons: Counter[str]
    _log_joint: Callable[..., Any]
    _functions: dict[str, Callable[..., Any] | None]
    _compiled: dict[tuple[str, bool], Compiled[..., Any]]

    def has(self, name: str) -> bool:
        """Return whether a function, "generated" or "log_likelihood", was given."""
        return self._functions.get(name) is not None

    def _data(self) -> tuple[Any, ...]:
        return () if self.data is None else (self.data,)

    def _checked(self, x: Any) -> np.ndarray:
        at = np.ascontiguousarray(x, dtype=float)
        if at.ndim not in (1, 2) or at.shape[-1] != self.size:
            raise ShapeError(f"LogDensity: x is of shape {at.shape}, but must be of shape ({self.size},) or (k, {self.size})")
        return at

    def _of_rows(self, f: Callable[[np.ndarray], Any], x: Any, shape: tuple[int, ...]) -> np.ndarray:
        at = self._checked(x)
        if at.ndim == 1:
            return np.asarray(f(at))
        return np.reshape([f(row) for row in at], (len(at), *shape))

    def _transformed(self, name: str, jacobian: bool) -> Compiled[..., Any]:
        """Returns a compiled transformation of the log density, which all with other data share."""
        key = (name, jacobian)
        if key not in self._compiled:
            joint = Joint(self._log_joint, self.declared, jacobian)
            transformation = {"gradient": value_and_grad, "hessian": hessian, "hvp": hvp}[name]
            self._compiled[key] = Compiled(transformation(joint))
        return self._compiled[key]

    def _called(self, name: str, x: Any, with_data: bool = True) -> Any:
        """Returns the result of a compiled function of the values, for a vector or rows."""
        function = self._functions.get(name)
        if name != "constrain" and not self.has(name):
            raise TypeError(f"LogDensity.{name}: {name} was not given, but must be an argument of LogDensity")
        at, data = self._checked(x), self._data() if with_data else ()
        key = (name, at.ndim == 2)
        if key not in self._compiled:
            of_values = OfParameters(function, self.declared)
            self._compiled[key] = Compiled(vmap(of_values, (0, *[None] * len(data))) if at.ndim == 2 else of_values)
        return self._compiled[key](at, *data)

    def _value_and_gradient(self, x: np.ndarray, jacobian: bool) -> tuple[float, np.ndarray]:
        try:
            value, gradient = self._transformed("gradient", jacobian)(x, *self._data())
        except (DomainError, SolverError) as error:
            return self._rejected(reason_of(str(error)))
        if not np.isfinite(value):
            return self._rejected(f"log density is {value}")
        if not np.all(np.isfinite(gradient)):
            entry = self.unconstrained_names[int(np.argmin(np.isfinite(gradient)))]
            return self._rejected(f"derivative with respect to {entry} is not finite")
        return value, gradient

    def _rejected(self, reason: str) -> tuple[float, np.ndarray]:
        self.reasons[reason] += 1
        return -np.inf, np.zeros(self.size)
