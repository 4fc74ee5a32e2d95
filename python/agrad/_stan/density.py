"""Log probability densities, distribution functions and quantiles: a function for each of these rules of the compiled part.

Names, arguments and conditions come from the rules; this module has no list of its own.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from agrad._core import (
    DensityRow,
    GlmRow,
    MultivariateRow,
    QuantileRow,
    density_rows,
    glm_rows,
    multivariate_rows,
    quantile_rows,
)

AnyRow = DensityRow | GlmRow | MultivariateRow

_SHAPES = "    All arguments broadcast."
#: Texts for the arguments of generalised linear models, which all have the same arguments.
_MODEL_SHAPES = {
    "y": "Outcomes, n of them or one for all rows; they have no derivatives.",
    "x": "Predictors, n x p.",
    "alpha": "Intercept, one or n of them.",
    "beta": "Coefficients, p of them.",
}
#: Words for what may be given instead of a matrix.
_SHORTHANDS = {"diagonal": ", or of length {columns}: its diagonal, the other entries being 0", "number": ", or one for all"}
#: Names of the sizes that the letters of multivariate rules stand for.
_SIZES = "    n is the number of observations; a vector, or one row, stands for all."


def _matrix_shape(letters: str, shorthand: str) -> str:
    rows, columns = letters
    instead = _SHORTHANDS.get(shorthand, "").format(columns=columns)
    if letters == "11":
        return "A single number."
    if columns == "1":
        return f"{rows} numbers, or one."
    if rows == "1":
        return f"Of length {columns}{instead}."
    return f"{rows} x {columns}, or of length {columns}." if rows == "n" else f"{rows} x {columns}{instead}."


def _parameter(name: str, condition: str, shape: str) -> str:
    return f"{name} : number, array-like or recorded array\n    {' '.join(filter(None, (shape, f'{condition.capitalize()}.')))}"


def conditions(row: AnyRow | QuantileRow) -> list[tuple[str, str]]:
    """Return the name and the condition of each argument, with the conditions on two arguments together."""
    if isinstance(row, MultivariateRow):
        return row.arguments
    names = [name for name, _ in row.arguments]
    pairs = [(first, f", {must} {names[second]}") for first, must, second in row.pairs]
    return [
        (name, condition + "".join(text for first, text in pairs if first == k))
        for k, (name, condition) in enumerate(row.arguments)
    ]


def _shapes(row: AnyRow) -> dict[str, str]:
    if isinstance(row, MultivariateRow):
        described = zip(row.arguments, row.shapes, row.shorthands, strict=True)
        return {name: _matrix_shape(letters, shorthand) for (name, _), letters, shorthand in described}
    return _MODEL_SHAPES if isinstance(row, GlmRow) else {}


def _docstring(row: AnyRow) -> str:
    shapes = _shapes(row)
    parameters = "\n".join(_parameter(name, condition, shapes.get(name, "")) for name, condition in conditions(row))
    propto = "propto : bool\n    Leave out constants: the terms that depend on no argument, or on whole numbers alone.\n"
    note = "" if isinstance(row, GlmRow) else (_SIZES if shapes else _SHAPES) + "\n"
    fit = "Shapes do not fit together." if shapes else "The arguments do not broadcast."
    result = "The product over all entries; 1 for none." if row.is_product else "The sum over all entries; 0 for none."
    return (
        f"{row.text}\n\nParameters\n----------\n{parameters}\n{note}"
        f"{propto * row.has_propto}\n"
        f"Returns\n-------\nfloat or Array\n    {result.replace('entries', 'rows') if shapes else result}\n\n"
        f"Raises\n------\nDomainError\n    An argument does not meet its condition.\nShapeError\n    {fit}\n\n"
        f"References\n----------\n{row.source}"
    )


def _quantile_docstring(row: QuantileRow) -> str:
    parameters = "\n".join(_parameter(name, condition, "") for name, condition in conditions(row))
    return (
        f"{row.text}\n\nParameters\n----------\n{parameters}\n    All arguments broadcast.\n\n"
        "Returns\n-------\nfloat, numpy.ndarray or Array\n    The quantile of each entry, of the broadcast shape; nan where\n"
        "    the search for it does not end.\n\n"
        "Raises\n------\nDomainError\n    An argument does not meet its condition.\n\n"
        "Notes\n-----\nWith G(x, theta) the distribution function, or its complement for a name that ends in _cqf, the\n"
        "derivatives are 1 / G_x by p and -G_theta / G_x by a parameter theta."
    )


def _quantile(row: QuantileRow) -> Callable[..., Any]:
    names = [name for name, _ in row.arguments]
    signature = inspect.Signature([inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names])

    def quantile(*arguments: Any, **named: Any) -> Any:
        return row(*arguments) if not named else row(*signature.bind(*arguments, **named).args)

    quantile.__name__ = quantile.__qualname__ = row.name
    quantile.__doc__ = _quantile_docstring(row)
    quantile.__signature__ = signature  # type: ignore[attr-defined]
    return quantile


def _truth(function: str, propto: Any) -> bool:
    """Return the option `propto`, for which NumPy's truth values and the integers 0 and 1 may stand, too."""
    if isinstance(propto, bool):
        return propto
    given = np.asarray(propto) if isinstance(propto, (int, np.generic, np.ndarray)) else None
    if given is not None and given.ndim == 0 and given.dtype.kind in "biu" and given in (0, 1):
        return bool(given)
    raise TypeError(f"{function}: propto is {propto!r}, but must be True or False")


def _function(row: AnyRow) -> Callable[..., Any]:
    names = [name for name, _ in row.arguments]
    positional = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names]
    option = [inspect.Parameter("propto", inspect.Parameter.KEYWORD_ONLY, default=False)] * row.has_propto
    signature = inspect.Signature([*positional, *option])

    def density(*arguments: Any, **named: Any) -> Any:
        if not named:  # the usual calls, without the cost of a binding
            return row(*arguments)
        if row.has_propto and named.keys() == {"propto"}:
            return row(*arguments, propto=_truth(row.name, named["propto"]))
        bound = signature.bind(*arguments, **named).arguments
        return row(*(bound[name] for name in names), propto=_truth(row.name, bound.get("propto", False)))

    density.__name__ = density.__qualname__ = row.name
    density.__doc__ = _docstring(row)
    density.__signature__ = signature  # type: ignore[attr-defined]
    return density


_functions = {row.name: _function(row) for row in [*density_rows(), *glm_rows(), *multivariate_rows()]}
_functions |= {row.name: _quantile(row) for row in quantile_rows()}
__all__ = list(_functions)
globals().update(_functions)
