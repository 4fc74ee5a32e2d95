"""Declares the methods of distributions for type checkers and editors: numbers give a number, arrays an array.

Which methods a distribution has is known when agrad is imported, from the rules; a test compares the names.
"""

# pyright: reportOverlappingOverload=false

from __future__ import annotations

from typing import Any, Protocol, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agrad._core import Array

__all__ = ["Computed", "Declared"]


class Computed(Protocol):
    """A method whose result has an entry for each entry of the arguments."""

    @overload
    def __call__(self, *arguments: float, **named: float) -> float: ...
    @overload
    def __call__(self, *arguments: ArrayLike | Array, **named: ArrayLike | Array) -> NDArray[np.float64]: ...


class Ends(Protocol):
    """A method whose result is a pair of ends."""

    def __call__(self, *arguments: ArrayLike | Array, **named: ArrayLike | Array) -> tuple[Any, Any]: ...


class Other(Protocol):
    """A method whose result depends on its options."""

    def __call__(self, *arguments: Any, **named: Any) -> Any: ...


class Declared:
    """The methods of distributions."""

    logpdf: Computed
    pdf: Computed
    logpmf: Computed
    pmf: Computed
    cdf: Computed
    logcdf: Computed
    sf: Computed
    logsf: Computed
    between: Computed
    logbetween: Computed
    ppf: Computed
    isf: Computed
    median: Computed
    interval: Ends
    support: Ends
    rvs: Other
    mean: Computed
    var: Computed
    std: Computed
    stats: Other
    entropy: Computed
