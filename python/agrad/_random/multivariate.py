"""Draws of vectors, of covariance and correlation matrices, and of Cholesky factors of these."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator

from agrad._random.conditions import cholesky_factor, fail_unless, positive_definite
from agrad._random.sampler import Argument, Numbers, Seed, Size, sampler
from agrad._random.standard import gamma_power, generator_of, shares

__all__ = [
    "inv_wishart_cholesky_rng",
    "inv_wishart_rng",
    "lkj_corr_cholesky_rng",
    "lkj_corr_rng",
    "multi_normal_cholesky_rng",
    "multi_normal_rng",
    "multi_student_t_cholesky_rng",
    "multi_student_t_rng",
    "wishart_cholesky_rng",
    "wishart_rng",
]

_LOCATION = Argument("finite", "k")
_MATRIX = Argument("a number, not nan", "kk", positive_definite, "Symmetric and positive definite")
_FACTOR = Argument("a number, not nan", "kk", cholesky_factor, "Lower triangular with a positive diagonal")
_DEGREES = Argument("positive and finite")
_WISHART_DEGREES = Argument("positive and finite", kind="Greater than k - 1, finite")


def _times(matrix: Any, vector: Any) -> Any:
    return (matrix @ vector[..., None])[..., 0]


def _square(factor: Any) -> Any:
    """Returns the matrix of a Cholesky factor, symmetric in every bit."""
    product = factor @ np.swapaxes(factor, -1, -2)
    lower = np.tril(product, -1)
    return np.tril(product) + np.swapaxes(lower, -1, -2)


# ---- vectors ---------------------------------------------------------------------------------------------------------


@sampler(mu=_LOCATION, L=_FACTOR)
def multi_normal_cholesky_rng(mu: Numbers, L: Numbers, *, rng: Seed = None, size: Size = None) -> Any:  # noqa: N803
    """Draw normal vectors with mean mu and covariance matrix L @ L.T."""
    return mu + _times(L, generator_of(rng).standard_normal(mu.shape))


@sampler(mu=_LOCATION, Sigma=_MATRIX)
def multi_normal_rng(mu: Numbers, Sigma: Numbers, *, rng: Seed = None, size: Size = None) -> Any:  # noqa: N803
    """Draw normal vectors with mean mu and covariance matrix Sigma."""
    return mu + _times(np.linalg.cholesky(Sigma), generator_of(rng).standard_normal(mu.shape))


def _student_t(rng: Generator, nu: Any, mu: Any, factor: Any) -> Any:
    return mu + _times(factor, rng.standard_normal(mu.shape)) * gamma_power(rng, nu / 2, nu / 2, -0.5)[..., None]


@sampler(nu=_DEGREES, mu=_LOCATION, L=_FACTOR)
def multi_student_t_cholesky_rng(
    nu: Numbers,
    mu: Numbers,
    L: Numbers,  # noqa: N803
    *,
    rng: Seed = None,
    size: Size = None,
) -> Any:
    """Draw vectors of Student's t distribution with nu degrees of freedom, location mu and scale matrix L @ L.T."""
    return _student_t(generator_of(rng), nu, mu, L)


@sampler(nu=_DEGREES, mu=_LOCATION, Sigma=_MATRIX)
def multi_student_t_rng(
    nu: Numbers,
    mu: Numbers,
    Sigma: Numbers,  # noqa: N803
    *,
    rng: Seed = None,
    size: Size = None,
) -> Any:
    """Draw vectors of Student's t distribution with nu degrees of freedom, location mu and scale matrix Sigma."""
    return _student_t(generator_of(rng), nu, mu, np.linalg.cholesky(Sigma))


# ---- covariance matrices ---------------------------------------------------------------------------------------------


def _enough_degrees(function: str, nu: Any, **scale: Any) -> None:
    (matrix,) = scale.values()
    least = matrix.shape[-1] - 1
    fail_unless(nu > least, function, "nu", nu, f"greater than {least}, the number of rows of the matrices less 1")


def _standard_wishart(rng: Generator, nu: Any, k: int) -> Any:
    """Returns Cholesky factors of Wishart matrices with the unit matrix as scale.

    Source: Bartlett (1933), Proceedings of the Royal Society of Edinburgh 53:260.
    """
    degrees = nu[..., None] - np.arange(k)
    factor = np.tril(rng.standard_normal((*nu.shape, k, k)), -1)
    factor[..., np.arange(k), np.arange(k)] = gamma_power(rng, degrees / 2, 0.5, 0.5)
    return factor


def _wishart(rng: Generator, nu: Any, factor: Any) -> Any:
    return factor @ _standard_wishart(rng, nu, factor.shape[-1])


def _inv_wishart(rng: Generator, nu: Any, factor: Any) -> Any:
    """Returns Cholesky factors of inverse Wishart matrices: (U U^T)^-1 has the factor U^-T if U is upper triangular."""
    upper = np.flip(_standard_wishart(rng, nu, factor.shape[-1]), (-1, -2))
    return np.tril(np.swapaxes(np.linalg.solve(upper, np.swapaxes(factor, -1, -2)), -1, -2))


@sampler("", _enough_degrees, nu=_WISHART_DEGREES, L_S=_FACTOR)
def wishart_cholesky_rng(nu: Numbers, L_S: Numbers, *, rng: Seed = None, size: Size = None) -> Any:  # noqa: N803
    """Draw Cholesky factors of Wishart matrices with nu degrees of freedom and scale matrix L_S @ L_S.T."""
    return _wishart(generator_of(rng), nu, L_S)


@sampler("", _enough_degrees, nu=_WISHART_DEGREES, Sigma=_MATRIX)
def wishart_rng(nu: Numbers, Sigma: Numbers, *, rng: Seed = None, size: Size = None) -> Any:  # noqa: N803
    """Draw Wishart matrices with nu degrees of freedom and scale matrix Sigma."""
    return _square(_wishart(generator_of(rng), nu, np.linalg.cholesky(Sigma)))


@sampler("", _enough_degrees, nu=_WISHART_DEGREES, L_S=_FACTOR)
def inv_wishart_cholesky_rng(nu: Numbers, L_S: Numbers, *, rng: Seed = None, size: Size = None) -> Any:  # noqa: N803
    """Draw Cholesky factors of inverse Wishart matrices with nu degrees of freedom and scale matrix L_S @ L_S.T."""
    return _inv_wishart(generator_of(rng), nu, L_S)


@sampler("", _enough_degrees, nu=_WISHART_DEGREES, Sigma=_MATRIX)
def inv_wishart_rng(nu: Numbers, Sigma: Numbers, *, rng: Seed = None, size: Size = None) -> Any:  # noqa: N803
    """Draw inverse Wishart matrices with nu degrees of freedom and scale matrix Sigma."""
    return _square(_inv_wishart(generator_of(rng), nu, np.linalg.cholesky(Sigma)))


# ---- correlation matrices --------------------------------------------------------------------------------------------


def _correlation_factor(rng: Generator, k: int, eta: Any) -> Any:
    """Returns Cholesky factors of correlation matrices, row by row: a length below 1, a direction, and what the length leaves.

    Source: Lewandowski, Kurowicka and Joe (2009), Journal of Multivariate Analysis 100:1989, section 3.2.
    """
    factor = np.zeros((*eta.shape, k, k))
    factor[..., 0, 0] = 1
    for i in range(1, k):
        squares = shares(rng, np.stack(np.broadcast_arrays(i / 2, eta + (k - 1 - i) / 2), -1))
        direction = rng.standard_normal((*eta.shape, i))
        direction /= np.sqrt(np.sum(direction * direction, -1, keepdims=True))
        factor[..., i, :i] = np.sqrt(squares[..., :1]) * direction
        factor[..., i, i] = np.sqrt(squares[..., 1])
    return factor


def _has_rows(function: str, argument: str, x: Any) -> None:
    fail_unless(x > 0, function, argument, x, "a whole number, positive")


_SIZE = Argument("a whole number", check=_has_rows, kind="A whole number, positive", is_single=True)
_SHAPE = Argument("positive and finite")


@sampler(K=_SIZE, eta=_SHAPE)
def lkj_corr_cholesky_rng(K: Numbers, eta: Numbers, *, rng: Seed = None, size: Size = None) -> Any:  # noqa: N803
    """Draw Cholesky factors of K x K correlation matrices with density proportional to det^(eta - 1)."""
    return _correlation_factor(generator_of(rng), K, eta)


@sampler(K=_SIZE, eta=_SHAPE)
def lkj_corr_rng(K: Numbers, eta: Numbers, *, rng: Seed = None, size: Size = None) -> Any:  # noqa: N803
    """Draw K x K correlation matrices with density proportional to det^(eta - 1)."""
    matrix = _square(_correlation_factor(generator_of(rng), K, eta))
    matrix[..., np.arange(K), np.arange(K)] = 1
    return matrix
