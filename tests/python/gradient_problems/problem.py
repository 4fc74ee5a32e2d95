"""What a problem with a known gradient is: a system, a scalar of its solution, and how far a gradient is from the reference.

A system is written with NumPy, so that it runs on recorded arrays and on complex numbers alike. The scalar is a sum of the
states at the output times, each with a weight. The gradient is with respect to (y0, p), or to p alone where y0 is a function
of p.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

__all__ = ["HOPELESS", "Problem", "spread"]

#: Explicit methods are left out where spectral radius times span is more: stability makes them take a third as many steps.
HOPELESS = 1e5

Vector = np.ndarray[Any, np.dtype[np.float64]]


def spread(n: int, scale: Any = 1.0) -> Vector:
    """Weights of different sizes and signs, which rough modes see as well as smooth ones."""
    return np.resize([1.0, -0.3, 0.05, 0.7, 2.0, -1.1, 0.2], n) / scale


@dataclass(frozen=True)
class Problem:
    """A system dy/dt = fun(t, y, p) from time 0, and the scalar sum(weights * states at times)."""

    name: str
    fun: Callable[[Any, Any, Any], Any]
    #: The initial state, or a function of p that gives it.
    start: Any
    p: Vector
    times: Vector
    #: Of shape (n,) for the last of the times alone, or (times, n).
    weights: Vector
    #: How large the states are, one number or one for each: atol is rtol / 100 times that.
    scale: Any = 1.0
    #: How large the parameters are, where one of them is zero.
    p_scale: Vector | None = None
    #: Whether the system is at rest at its initial state, so that the linearised system has constant coefficients.
    is_at_rest: bool = False
    #: Whether its reference is made of differences of solutions.
    by_differences: bool = False
    #: The gradient's error may be so many times rtol.
    allowed: float = 100.0
    #: States at the last of the times as they are published, or None.
    published: Vector | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        weights = np.atleast_2d(np.asarray(self.weights, np.float64))
        whole = np.zeros((len(self.times), self.n))
        whole[-len(weights) :] = weights
        for name, value in (("p", self.p), ("times", self.times), ("weights", whole)):
            object.__setattr__(self, name, np.asarray(value, np.float64))

    @property
    def starts_from_p(self) -> bool:
        return callable(self.start)

    @property
    def y0(self) -> Vector:
        return np.asarray(self.start(np.asarray(self.p)) if self.starts_from_p else self.start, np.float64)

    @property
    def n(self) -> int:
        return int(self.y0.size)

    @property
    def end(self) -> float:
        return float(self.times[-1])

    @property
    def scales(self) -> Vector:
        return np.broadcast_to(np.asarray(self.scale, np.float64), (self.n,))

    @property
    def at(self) -> Vector:
        """Where the gradient is taken: (y0, p), or p."""
        return self.p if self.starts_from_p else np.concatenate([self.y0, self.p])

    @property
    def sizes(self) -> Vector:
        """In which units the entries of a gradient are compared: |p|, and |y0| or the state's scale where that is larger."""
        of_p = np.abs(self.p) if self.p_scale is None else np.asarray(self.p_scale, np.float64)
        assert np.all(of_p > 0), self.name
        return of_p if self.starts_from_p else np.concatenate([np.maximum(np.abs(self.y0), self.scales), of_p])

    def parts(self, at: Any) -> tuple[Any, Any]:
        """The initial state and the parameters that an argument stands for."""
        return (self.start(at), at) if self.starts_from_p else (at[: self.n], at[self.n :])

    def tolerances(self, rtol: float) -> dict[str, Any]:
        return {"rtol": rtol, "atol": rtol / 100 * self.scales}

    def loss(self, solve: Callable[..., Any], method: str, rtol: float, **options: Any) -> Callable[[Any], Any]:
        """The scalar as a function of `at`; `solve` is called as solve_ivp and returns what it does."""
        times = None if len(self.times) == 1 else self.times

        def scalar(at: Any) -> Any:
            y0, p = self.parts(at)
            result = solve(self.fun, (0.0, self.end), y0, method, times, args=(p,), **self.tolerances(rtol), **options)
            states = result.y[:, -1:] if times is None else result.y
            return np.sum(states * self.weights.T)

        return scalar

    def error(self, gradient: Any, reference: Any) -> float:
        """How far a gradient is from the reference, relative to its size."""
        of_reference = np.asarray(reference) * self.sizes
        with np.errstate(over="ignore"):
            return float(np.linalg.norm(np.asarray(gradient) * self.sizes - of_reference) / np.linalg.norm(of_reference))
