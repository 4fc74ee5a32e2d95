"""Defines Laplace's approximation for Poisson, binary and negative binomial data, under Stan's names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from agrad import density
from agrad._core import DomainError, ShapeError
from agrad._functionals.laplace import marginal_of
from agrad._functionals.laplace_any import Likelihood, drawn, found
from agrad._ode.arguments import real_values
from agrad._record.structure import find_recording

__all__ = [
    "laplace_latent_bernoulli_logit_rng",
    "laplace_latent_neg_binomial_2_log_rng",
    "laplace_latent_poisson_log_rng",
    "laplace_latent_tol_bernoulli_logit_rng",
    "laplace_latent_tol_neg_binomial_2_log_rng",
    "laplace_latent_tol_poisson_log_rng",
    "laplace_marginal_bernoulli_logit_lpmf",
    "laplace_marginal_neg_binomial_2_log_lpmf",
    "laplace_marginal_poisson_log_lpmf",
    "laplace_marginal_tol_bernoulli_logit_lpmf",
    "laplace_marginal_tol_neg_binomial_2_log_lpmf",
    "laplace_marginal_tol_poisson_log_lpmf",
]

Function = Callable[..., Any]
Draw = np.ndarray[Any, np.dtype[np.float64]]


def _of_counts(function: str, mass: Function, y: Any, y_index: Any, m: Any, *further: Any) -> Likelihood:
    """Returns the log likelihood of counts: the mass of y[i] at theta + m of the group y_index[i], and further parameters."""
    counts, index = (_whole_numbers(function, name, x) for name, x in (("y", y), ("y_index", y_index)))
    if counts.shape != index.shape:
        raise ShapeError(f"{function}: y_index is of shape {index.shape}, but must be of shape {counts.shape}, as y is")

    def log_likelihood(theta: Any, m: Any, *further: Any) -> Any:
        if index.size and np.max(index) >= theta.shape[0]:
            place = int(np.argmax(index))
            raise DomainError(f"{function}: y_index[{place}] is {index[place]}, but must be less than {theta.shape[0]}")
        if np.shape(m) not in ((), theta.shape):
            raise ShapeError(f"{function}: m is of shape {np.shape(m)}, but must be a number or of shape {theta.shape}")
        return mass(counts, (theta + m)[index], *further)

    return Likelihood(log_likelihood, (m, *further))


def _whole_numbers(function: str, name: str, x: Any) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Returns a vector of whole numbers that are not negative."""
    if find_recording(x) is not None:
        raise TypeError(f"{function}: {name} is a recorded value, but must be plain; counts and places have no derivative")
    values = real_values(function, name, x)
    if values.ndim != 1:
        raise ShapeError(f"{function}: {name} is of shape {values.shape}, but must be a vector")
    bad = np.flatnonzero(~((values >= 0) & (values == np.floor(values))))
    if bad.size:
        raise DomainError(f"{function}: {name}[{bad[0]}] is {values[bad[0]]}, but must be a whole number from 0 on")
    return values.astype(np.int64)


def laplace_marginal_poisson_log_lpmf(
    y: Any,
    y_index: Any,
    m: Any,
    hessian_block_size: int,
    covariance_function: Function,
    covariance_arguments: tuple[Any, ...],
) -> Any:
    """Approximate the log marginal likelihood of Poisson counts with log rates in groups, by Laplace's approximation.

    The parameters of the counts are theta + m, where theta is normal with mean 0 and the given covariance.

    Parameters
    ----------
    y : array-like of int
        The observations; plain.
    y_index : array-like of int
        The group of each observation, which is the place of its entry of theta, from 0.
    m : float or array-like
        What is added to theta.
    hessian_block_size : int
        1; see :func:`laplace_marginal`.
    covariance_function, covariance_arguments
        See :func:`laplace_marginal`.

    Returns
    -------
    float or Array
        See :func:`laplace_marginal`.

    Raises
    ------
    DomainError, SolverError, ShapeError, TypeError
        See :func:`laplace_marginal`; an observation or a group is no whole number from 0 on.
    """
    function = "laplace_marginal_poisson_log_lpmf"
    likelihood = _of_counts(function, density.poisson_log_lpmf, y, y_index, m)
    return marginal_of(found(function, likelihood, hessian_block_size, covariance_function, covariance_arguments))


def laplace_latent_poisson_log_rng(
    y: Any,
    y_index: Any,
    m: Any,
    hessian_block_size: int,
    covariance_function: Function,
    covariance_arguments: tuple[Any, ...],
    rng: np.random.Generator,
) -> Draw:
    """Draw theta by the arguments of :func:`laplace_marginal_poisson_log_lpmf`.

    See :func:`laplace_latent_rng`; the draw does not contain m.
    """
    function = "laplace_latent_poisson_log_rng"
    likelihood = _of_counts(function, density.poisson_log_lpmf, y, y_index, m)
    return drawn(function, likelihood, hessian_block_size, covariance_function, covariance_arguments, rng)


def laplace_marginal_tol_poisson_log_lpmf(
    y: Any,
    y_index: Any,
    m: Any,
    hessian_block_size: int,
    covariance_function: Function,
    covariance_arguments: tuple[Any, ...],
    tolerances: tuple[Any, ...],
) -> Any:
    """Approximate the log marginal likelihood as :func:`laplace_marginal_poisson_log_lpmf`, with given tolerances.

    `tolerances` are those of :func:`laplace_marginal_tol`.
    """
    function = "laplace_marginal_tol_poisson_log_lpmf"
    likelihood = _of_counts(function, density.poisson_log_lpmf, y, y_index, m)
    return marginal_of(found(function, likelihood, hessian_block_size, covariance_function, covariance_arguments, tolerances))


def laplace_latent_tol_poisson_log_rng(
    y: Any,
    y_index: Any,
    m: Any,
    hessian_block_size: int,
    covariance_function: Function,
    covariance_arguments: tuple[Any, ...],
    tolerances: tuple[Any, ...],
    rng: np.random.Generator,
) -> Draw:
    """Draw theta by the arguments of :func:`laplace_marginal_tol_poisson_log_lpmf`.

    See :func:`laplace_latent_rng`; the draw does not contain m.
    """
    function = "laplace_latent_tol_poisson_log_rng"
    likelihood = _of_counts(function, density.poisson_log_lpmf, y, y_index, m)
    return drawn(function, likelihood, hessian_block_size, covariance_function, covariance_arguments, rng, tolerances)


def laplace_marginal_bernoulli_logit_lpmf(
    y: Any,
    y_index: Any,
    m: Any,
    hessian_block_size: int,
    covariance_function: Function,
    covariance_arguments: tuple[Any, ...],
) -> Any:
    """Approximate the log marginal likelihood of binary outcomes with logits in groups, by Laplace's approximation.

    The parameters of the counts are theta + m, where theta is normal with mean 0 and the given covariance.

    Parameters
    ----------
    y : array-like of int
        The observations; plain.
    y_index : array-like of int
        The group of each observation, which is the place of its entry of theta, from 0.
    m : float or array-like
        What is added to theta.
    hessian_block_size : int
        1; see :func:`laplace_marginal`.
    covariance_function, covariance_arguments
        See :func:`laplace_marginal`.

    Returns
    -------
    float or Array
        See :func:`laplace_marginal`.

    Raises
    ------
    DomainError, SolverError, ShapeError, TypeError
        See :func:`laplace_marginal`; an observation or a group is no whole number from 0 on.
    """
    function = "laplace_marginal_bernoulli_logit_lpmf"
    likelihood = _of_counts(function, density.bernoulli_logit_lpmf, y, y_index, m)
    return marginal_of(found(function, likelihood, hessian_block_size, covariance_function, covariance_arguments))


def laplace_latent_bernoulli_logit_rng(
    y: Any,
    y_index: Any,
    m: Any,
    hessian_block_size: int,
    covariance_function: Function,
    covariance_arguments: tuple[Any, ...],
    rng: np.random.Generator,
) -> Draw:
    """Draw theta by the arguments of :func:`laplace_marginal_bernoulli_logit_lpmf`.

    See :func:`laplace_latent_rng`; the draw does not contain m.
    """
    function = "laplace_latent_bernoulli_logit_rng"
    likelihood = _of_counts(function, density.bernoulli_logit_lpmf, y, y_index, m)
    return drawn(function, likelihood, hessian_block_size, covariance_function, covariance_arguments, rng)


def laplace_marginal_tol_bernoulli_logit_lpmf(
    y: Any,
    y_index: Any,
    m: Any,
    hessian_block_size: int,
    covariance_function: Function,
    covariance_arguments: tuple[Any, ...],
    tolerances: tuple[Any, ...],
) -> Any:
    """Approximate the log marginal likelihood as :func:`laplace_marginal_bernoulli_logit_lpmf`, with given tolerances.

    `tolerances` are those of :func:`laplace_marginal_tol`.
    """
    function = "laplace_marginal_tol_bernoulli_logit_lpmf"
    likelihood = _of_counts(function, density.bernoulli_logit_lpmf, y, y_index, m)
    return marginal_of(found(function, likelihood, hessian_block_size, covariance_function, covariance_arguments, tolerances))


def laplace_latent_tol_bernoulli_logit_rng(
    y: Any,
    y_index: Any,
    m: Any,
    hessian_block_size: int,
    covariance_function: Function,
    covariance_arguments: tuple[Any, ...],
    tolerances: tuple[Any, ...],
    rng: np.random.Generator,
) -> Draw:
    """Draw theta by the arguments of :func:`laplace_marginal_tol_bernoulli_logit_lpmf`.

    See :func:`laplace_latent_rng`; the draw does not contain m.
    """
    function = "laplace_latent_tol_bernoulli_logit_rng"
    likelihood = _of_counts(function, density.bernoulli_logit_lpmf, y, y_index, m)
    return drawn(function, likelihood, hessian_block_size, covariance_function, covariance_arguments, rng, tolerances)


def laplace_marginal_neg_binomial_2_log_lpmf(
    y: Any,
    y_index: Any,
    eta: Any,
    m: Any,
    hessian_block_size: int,
    covariance_function: Function,
    covariance_arguments: tuple[Any, ...],
) -> Any:
    """Approximate the log marginal likelihood of negative binomial counts with log means in groups, by Laplace's approximation.

    The parameters of the counts are theta + m, where theta is normal with mean 0 and the given covariance.

    Parameters
    ----------
    y : array-like of int
        The observations; plain.
    y_index : array-like of int
        The group of each observation, which is the place of its entry of theta, from 0.
    eta : float
        The inverse of the overdispersion, positive: the variance is mean + mean^2 / eta.
    m : float or array-like
        What is added to theta.
    hessian_block_size : int
        1; see :func:`laplace_marginal`.
    covariance_function, covariance_arguments
        See :func:`laplace_marginal`.

    Returns
    -------
    float or Array
        See :func:`laplace_marginal`.

    Raises
    ------
    DomainError, SolverError, ShapeError, TypeError
        See :func:`laplace_marginal`; an observation or a group is no whole number from 0 on.
    """
    function = "laplace_marginal_neg_binomial_2_log_lpmf"
    likelihood = _of_counts(function, density.neg_binomial_2_log_lpmf, y, y_index, m, eta)
    return marginal_of(found(function, likelihood, hessian_block_size, covariance_function, covariance_arguments))


def laplace_latent_neg_binomial_2_log_rng(
    y: Any,
    y_index: Any,
    eta: Any,
    m: Any,
    hessian_block_size: int,
    covariance_function: Function,
    covariance_arguments: tuple[Any, ...],
    rng: np.random.Generator,
) -> Draw:
    """Draw theta by the arguments of :func:`laplace_marginal_neg_binomial_2_log_lpmf`.

    See :func:`laplace_latent_rng`; the draw does not contain m.
    """
    function = "laplace_latent_neg_binomial_2_log_rng"
    likelihood = _of_counts(function, density.neg_binomial_2_log_lpmf, y, y_index, m, eta)
    return drawn(function, likelihood, hessian_block_size, covariance_function, covariance_arguments, rng)


def laplace_marginal_tol_neg_binomial_2_log_lpmf(
    y: Any,
    y_index: Any,
    eta: Any,
    m: Any,
    hessian_block_size: int,
    covariance_function: Function,
    covariance_arguments: tuple[Any, ...],
    tolerances: tuple[Any, ...],
) -> Any:
    """Approximate the log marginal likelihood as :func:`laplace_marginal_neg_binomial_2_log_lpmf`, with given tolerances.

    `tolerances` are those of :func:`laplace_marginal_tol`.
    """
    function = "laplace_marginal_tol_neg_binomial_2_log_lpmf"
    likelihood = _of_counts(function, density.neg_binomial_2_log_lpmf, y, y_index, m, eta)
    return marginal_of(found(function, likelihood, hessian_block_size, covariance_function, covariance_arguments, tolerances))


def laplace_latent_tol_neg_binomial_2_log_rng(
    y: Any,
    y_index: Any,
    eta: Any,
    m: Any,
    hessian_block_size: int,
    covariance_function: Function,
    covariance_arguments: tuple[Any, ...],
    tolerances: tuple[Any, ...],
    rng: np.random.Generator,
) -> Draw:
    """Draw theta by the arguments of :func:`laplace_marginal_tol_neg_binomial_2_log_lpmf`.

    See :func:`laplace_latent_rng`; the draw does not contain m.
    """
    function = "laplace_latent_tol_neg_binomial_2_log_rng"
    likelihood = _of_counts(function, density.neg_binomial_2_log_lpmf, y, y_index, m, eta)
    return drawn(function, likelihood, hessian_block_size, covariance_function, covariance_arguments, rng, tolerances)
