"""Covariance matrices of Gaussian processes: Stan's kernels, of one set of points or between two.

Each function takes one set of points, as ``gp_exp_quad_cov(x, sigma, length_scale)``, or two,
``gp_exp_quad_cov(x1, x2, sigma, length_scale)``. Points are numbers, an array of shape (n,), or vectors, (n, d). All may
be recorded. Kernels are functions of squared distances, not of distances, because a distance has a kink where points coincide:
derivatives to second order are finite and right there, except those of the exponential kernel, which has the kink itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from agrad._core import Array, ShapeError, checked
from agrad._record.composed import composed
from agrad._record.documentation import documented
from agrad._stan.elementwise import matern32, matern52

__all__ = [
    "cov_exp_quad",
    "gp_dot_prod_cov",
    "gp_exp_quad_cov",
    "gp_exponential_cov",
    "gp_matern32_cov",
    "gp_matern52_cov",
    "gp_periodic_cov",
]

Kernel = Callable[[Any, Any], Any]

_PARAMETERS = {
    "x": "array-like or recorded, (n,) or (n, d)\nThe points; or two sets of points, x1 and x2, as two arguments.",
    "sigma": "number or recorded\nThe standard deviation of the process; positive.",
    "length_scale": "number, array-like or recorded\n"
    "The distance over which the process varies, in the unit of the points; positive, one for all dimensions or d of them.",
}
_PERIODIC = {
    "length_scale": "number or recorded\nThe scale of the variation within a period, a number without a unit; positive.",
    "period": "number or recorded\nThe period, in the unit of the points; positive.",
}
_OF_DISTANCE = ("x", "sigma", "length_scale")
_RESULT = "Array or numpy.ndarray\nThe covariance matrix, (n, n), or (n1, n2) for two sets of points."
_ERRORS = {
    "TypeError": "The number of arguments is wrong.",
    "ShapeError": "Points have more axes, two sets have points of different lengths, or a parameter is an array, not a number.",
    "DomainError": "A parameter is not positive and finite, or a point not finite; recorded ones are checked at each run.",
}


def _points(name: str, argument: str, x: Any) -> Any:
    """Returns points as the rows of a matrix."""
    x = x if isinstance(x, Array) else np.asarray(x, dtype=float)
    if x.ndim not in (1, 2):
        raise ShapeError(f"{name}: {argument} has shape {x.shape}, but must have shape (n,) or (n, d)")
    x = checked(name, argument, "finite", x)
    return np.reshape(x, (len(x), 1)) if x.ndim == 1 else x


def _positive(name: str, argument: str, x: Any, dimensions: int = 0) -> Any:
    """Returns a parameter, which must be positive: one number, or one for each dimension of the points where that may be."""
    x = x if isinstance(x, Array) else np.asarray(x, dtype=float)
    if x.ndim and (not dimensions or x.shape != (dimensions,)):
        shapes = f"() or ({dimensions},)" if dimensions else "()"
        raise ShapeError(f"{name}: {argument} has shape {x.shape}, but must have shape {shapes}")
    return checked(name, argument, "positive and finite", x)


def _given(name: str, arguments: tuple[Any, ...], parameters: int) -> tuple[Any, Any, tuple[Any, ...]]:
    """Returns the points, the other points or None, and the parameters."""
    if len(arguments) not in (parameters + 1, parameters + 2):
        raise TypeError(
            f"{name}: number of arguments is {len(arguments)}, but must be {parameters + 1}, or {parameters + 2} with two sets"
            " of points"
        )
    if len(arguments) == parameters + 1:
        return _points(name, "x", arguments[0]), None, arguments[1:]
    x1, x2 = _points(name, "x1", arguments[0]), _points(name, "x2", arguments[1])
    if x1.shape[1] != x2.shape[1]:
        raise ShapeError(f"{name}: x2 has points of length {x2.shape[1]}, but must have points of length {x1.shape[1]}, as x1")
    return x1, x2, arguments[2:]


def _matrix(kernel: Kernel, x1: Any, x2: Any) -> Any:
    """Returns the matrix of kernel(a, b), a function of arrays of points, for all pairs of points.

    Of one set, each pair is computed once. The kernel's value at a point itself is 1.
    """
    if x2 is not None:
        return kernel(x1[:, None, :], x2[None, :, :])
    n = len(x1)
    rows, columns = np.tril_indices(n, -1)
    places = np.full((n, n), len(rows))
    places[rows, columns] = places[columns, rows] = np.arange(len(rows))
    return np.concatenate([kernel(x1[rows], x1[columns]), np.ones(1)])[places]


def _of_square(name: str, arguments: tuple[Any, ...], correlation: Callable[[Any], Any]) -> Any:
    """Computes a kernel from its correlation at squared distances, in length scales."""
    x1, x2, (sigma, length_scale) = _given(name, arguments, 2)
    sigma = _positive(name, "sigma", sigma)
    length_scale = _positive(name, "length_scale", length_scale, x1.shape[1])
    x1, x2 = x1 / length_scale, None if x2 is None else x2 / length_scale
    return sigma**2 * _matrix(lambda a, b: correlation(np.sum((a - b) ** 2, -1)), x1, x2)


def _distance(square: Any) -> tuple[Any, Any]:
    """Returns whether points differ, and their distance, 1 where they do not."""
    differ = square > 0
    return differ, np.sqrt(np.where(differ, square, 1.0))


def _exponential(square: Any) -> Any:
    differ, distance = _distance(square)
    return np.where(differ, np.exp(-distance), 1.0)


@documented(_PARAMETERS, _RESULT, _ERRORS, _OF_DISTANCE)
@composed
def gp_exp_quad_cov(*arguments: Any) -> Any:
    """Squared exponential kernel, sigma^2 exp(-r^2 / 2), where r is the distance in length scales.

    Notes
    -----
    Before a Cholesky factorisation a small number is added to the diagonal, because close points make the matrix singular.

    References
    ----------
    Rasmussen and Williams, Gaussian Processes for Machine Learning (2006), chapter 4, as for all kernels here.
    """
    return _of_square("gp_exp_quad_cov", arguments, lambda square: np.exp(-0.5 * square))


@documented(_PARAMETERS, _RESULT, _ERRORS, _OF_DISTANCE)
@composed
def cov_exp_quad(*arguments: Any) -> Any:
    """Squared exponential kernel; the former name of :func:`gp_exp_quad_cov`."""
    return _of_square("cov_exp_quad", arguments, lambda square: np.exp(-0.5 * square))


@documented(_PARAMETERS, _RESULT, _ERRORS, _OF_DISTANCE)
@composed
def gp_matern32_cov(*arguments: Any) -> Any:
    """Matern kernel of smoothness 3/2, sigma^2 (1 + sqrt(3) r) exp(-sqrt(3) r), where r is the distance in length scales."""
    return _of_square("gp_matern32_cov", arguments, matern32)


@documented(_PARAMETERS, _RESULT, _ERRORS, _OF_DISTANCE)
@composed
def gp_matern52_cov(*arguments: Any) -> Any:
    """Matern kernel of smoothness 5/2, sigma^2 (1 + sqrt(5) r + 5 r^2 / 3) exp(-sqrt(5) r), r the distance in length scales."""
    return _of_square("gp_matern52_cov", arguments, matern52)


@documented(_PARAMETERS, _RESULT, _ERRORS, _OF_DISTANCE)
@composed
def gp_exponential_cov(*arguments: Any) -> Any:
    """Exponential kernel, sigma^2 exp(-r), where r is the distance in length scales.

    Notes
    -----
    As a function of the points the kernel has a kink where they coincide; derivatives with respect to points are 0 there.
    """
    return _of_square("gp_exponential_cov", arguments, _exponential)


@documented(_PARAMETERS | _PERIODIC, _RESULT, _ERRORS, (*_OF_DISTANCE, "period"))
@composed
def gp_periodic_cov(*arguments: Any) -> Any:
    """Periodic kernel, sigma^2 exp(-2 sin(pi d / period)^2 / length_scale^2), where d is the distance."""
    name = "gp_periodic_cov"
    x1, x2, parameters = _given(name, arguments, 3)
    names = ("sigma", "length_scale", "period")
    sigma, length_scale, period = (_positive(name, key, x) for key, x in zip(names, parameters, strict=True))

    def correlation(a: Any, b: Any) -> Any:
        if a.shape[-1] == 1:
            sine = np.sin(np.pi / period * (a - b)[..., 0])
            return np.exp(-2.0 * (sine / length_scale) ** 2)
        square = np.sum((a - b) ** 2, -1)
        differ, distance = _distance(square)
        sines = np.where(differ, np.sin(np.pi / period * distance) ** 2, (np.pi / period) ** 2 * square)
        return np.exp(-2.0 * sines / length_scale / length_scale)

    return sigma**2 * _matrix(correlation, x1, x2)


@documented(_PARAMETERS, _RESULT, _ERRORS, ("x", "sigma"))
@composed
def gp_dot_prod_cov(*arguments: Any) -> Any:
    """Dot product kernel of a linear function, sigma^2 + x . x', where sigma is the standard deviation at the origin."""
    name = "gp_dot_prod_cov"
    x1, x2, (sigma,) = _given(name, arguments, 1)
    return _positive(name, "sigma", sigma) ** 2 + x1 @ (x1 if x2 is None else x2).T
