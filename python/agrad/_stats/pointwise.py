"""Defines densities observation by observation, where the functions with Stan's names return the sum."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from agrad._core import GlmRow, MultivariateRow, ShapeError, density_rows, glm_rows, multivariate_rows
from agrad._stan import density
from agrad._stats.call import given
from agrad._transforms.vmap import vmap

__all__ = ["pointwise"]

_ROWS: dict[str, Any] = {
    **{row.name: row for row in density_rows()},
    **{row.name: row for row in glm_rows()},
    **{row.name: row for row in multivariate_rows()},
}
_OF_MODEL = ("n1", "nk", "n1", "1k")  # the letters of the arguments of a generalised linear model


def _axes(row: Any) -> list[int | None]:
    """Return the number of axes that each argument has for one observation; None where all observations share it."""
    if not isinstance(row, (GlmRow, MultivariateRow)):
        return [0 for _ in row.arguments]
    letters = _OF_MODEL if isinstance(row, GlmRow) else row.shapes
    return [int(pair[1] != "1") if pair[0] == "n" else None for pair in letters]


def _row_of(function: Callable[..., Any]) -> Any:
    name = getattr(function, "__name__", "")
    row = _ROWS.get(name)
    if row is None or getattr(density, name, None) is not function or all(axes is None for axes in _axes(row)):
        raise TypeError(
            f"stats.pointwise: the function is {name or repr(function)}, but must be a density or distribution function of"
            " several observations with Stan's name, such as stan.multi_normal_lpdf"
        )
    return row


def _observations(row: Any, arguments: list[Any]) -> tuple[tuple[int, ...] | None, list[Any], list[int | None]]:
    """Return the shape of the observations (None for a single one), the arguments by rows, and where their rows are."""
    axes = _axes(row)
    if not isinstance(row, (GlmRow, MultivariateRow)):
        shape = np.broadcast_shapes(*map(np.shape, arguments))
        flat = [x if np.ndim(x) == 0 else np.reshape(np.broadcast_to(x, shape), -1) for x in arguments]
        return shape or None, flat, [None if np.ndim(x) == 0 else 0 for x in arguments]
    counts = {np.shape(x)[0] for x, of_one in zip(arguments, axes, strict=True) if of_one is not None and np.ndim(x) > of_one}
    if not counts:
        return None, arguments, [None for _ in axes]
    n = max(counts) if 0 not in counts else 0
    if counts - {1, n}:
        numbers = ", ".join(map(str, sorted(counts)))
        raise ShapeError(f"stats.pointwise: arguments of {row.name} have {numbers} rows, but must have as many, or one")
    in_axes = [
        0 if of_one is not None and np.ndim(x) > of_one and np.shape(x)[0] == n else None
        for x, of_one in zip(arguments, axes, strict=True)
    ]
    return (n,), arguments, in_axes


def pointwise(function: Callable[..., Any], /) -> Callable[..., Any]:
    """Make a function that returns the value of each observation, of a density that returns the sum over them.

    Parameters
    ----------
    function : callable
        A density, mass or distribution function with Stan's name: of numbers (``stan.poisson_log_lpmf``), ordered or other
        categories, vectors (``stan.multi_normal_lpdf``) or a generalised linear model (``stan.poisson_log_glm_lpmf``).

    Returns
    -------
    callable
        With the arguments of `function`; returns an array with an entry for each observation: of the broadcast shape for
        numbers, else of length n, the number of rows. A single observation gives a number.

    Raises
    ------
    TypeError
        The function is another one, or has a single observation, as ``stan.wishart_lpdf`` has.
    DomainError, ShapeError
        (When called) as `function` raises them; an index is that within the observation.

    Notes
    -----
    With weights of observations (frequencies, or inverse probabilities of a sample) a log likelihood is
    ``np.sum(weights * stats.pointwise(stan.poisson_log_glm_lpmf)(y, x, alpha, beta))``. The values are what leave-one-out
    cross-validation and WAIC ask for. What observations share, such as a covariance, is factored once.

    Examples
    --------
    >>> import numpy as np, agrad as ag
    >>> from agrad import stan
    >>> ag.stats.pointwise(stan.ordered_logistic_lpmf)(np.array([0, 2]), 0.0, np.array([-1.0, 1.0]))
    array([-1.31326169, -1.31326169])
    """
    row = _row_of(function)
    signature = inspect.signature(function)

    @wraps(function)
    def values(*arguments: Any, **named: Any) -> Any:
        bound = signature.bind(*arguments, **named).arguments
        options = {"propto": bound.pop("propto")} if "propto" in bound else {}
        shape, rows, in_axes = _observations(row, [given(bound[name]) for name, _ in row.arguments])
        if shape is None or any(length == 0 for length in shape):
            total = function(*rows, **options)  # with the checks, also of no observations
            return total if shape is None else np.zeros(shape)

        def of_one(*each: Any) -> Any:
            if isinstance(row, GlmRow):  # whose predictors must be a matrix
                each = tuple(x[np.newaxis] if k == 1 and in_axes[k] == 0 else x for k, x in enumerate(each))
            return function(*each, **options)

        return np.reshape(vmap(of_one, tuple(in_axes))(*rows), shape)

    values.__doc__ = f"{function.__doc__}\n\nNotes\n-----\nValues are those of single observations, see `stats.pointwise`."
    return values
