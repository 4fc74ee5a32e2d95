"""The functions of a vector of free numbers that a log density compiles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agrad._posterior.declared import Declared
from agrad._transforms.by_name import ByName

__all__ = ["Joint", "OfParameters"]


class OfParameters(ByName):
    """A user's function of the parameters and data, as a function of the free numbers and data."""

    def __init__(self, function: Callable[..., Any] | None, parameters: Declared) -> None:
        self.function, self.parameters = function, parameters
        self.__name__ = getattr(function, "__name__", "constrain")

    def __call__(self, free: Any, *data: Any) -> Any:
        values = self.parameters.constrain(free)
        return values if self.function is None else self.function(values, *data)


class Joint(OfParameters):
    """The user's log density, as one of the free numbers where `jacobian` is true."""

    def __init__(self, function: Callable[..., Any], parameters: Declared, jacobian: bool) -> None:
        super().__init__(function, parameters)
        self.jacobian = jacobian

    def __call__(self, free: Any, *data: Any) -> Any:
        density = super().__call__(free, *data)
        return density + self.parameters.log_jacobian(free) if self.jacobian else density
