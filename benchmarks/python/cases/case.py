"""What a case is: a function of one float64 vector, its data, and its gradient by hand.

A function is written once, with NumPy, and each system brings the module that it calls `np`. Where a system needs or has
another way to say the same, the case has a further form: `density` (agrad's fused densities), `scan` (JAX's loop),
`columns` (CasADi, which knows matrices only).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

__all__ = ["Case", "Data", "Form", "Library"]

Data = SimpleNamespace


@dataclass(frozen=True)
class Library:
    """What a function needs of a system: its NumPy, and what NumPy has no dispatching name for."""

    np: Any
    array: Callable[[list[Any]], Any]  # joins numbers of the system to a vector
    logsumexp: Callable[..., Any]  # SciPy's
    solve_triangular: Callable[..., Any]  # SciPy's, with lower=True
    asarray: Callable[[Any], Any] = np.asarray  # data as the system wants them
    own: Any = None  # the system's module itself, for forms of its own


Form = Callable[[Library, Data], Callable[[Any], Any]]


@dataclass(frozen=True)
class Case:
    """A function to differentiate. Values of forms other than `numpy` may differ by a constant."""

    name: str
    title: str
    make: Callable[[], tuple[Data, np.ndarray]]  # the data, and the point at which everything is evaluated
    forms: dict[str, Form]
    by_hand: Callable[[Data], Callable[[np.ndarray], tuple[float, np.ndarray]]]
    second_order: tuple[str, ...] = ()  # also its "product" (Hessian times vector) and "hessian"
    step: float = 2e-3  # of differences that check the case
    operations: int = 0  # scalar operations of the recording where they are the point of the case

    def function(self, form: str, library: Library) -> tuple[Callable[[Any], Any], np.ndarray]:
        """Return a form of the function with its data in the system's arrays, and the point."""
        data, point = self.make()
        for name, value in vars(data).items():
            if isinstance(value, np.ndarray):
                setattr(data, name, library.asarray(value))
        return self.forms[form](library, data), point
