"""Defines Laplace's approximation of any likelihood, under Stan's names. Read next: ``laplace_counts``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from agrad._functionals.laplace import Mode, Tolerances, draw_of, marginal_of, mode_of, tolerances_of
from agrad._random.sampler import Seed, generator
from agrad._record.structure import find_recording
from agrad._record.trees import flatten

__all__ = ["laplace_latent_rng", "laplace_latent_rng_tol", "laplace_marginal", "laplace_marginal_tol"]

Function = Callable[..., Any]
Draw = np.ndarray[Any, np.dtype[np.float64]]


@dataclass
class Likelihood:
    """A log likelihood: a function of theta and of its arguments."""

    function: Function
    arguments: Any


def found(
    function: str, likelihood: Likelihood, block: int, covariance: Function, arguments: Any, tolerances: Any = None
) -> Mode:
    """Returns the mode; `tolerances` is Stan's tuple, or None."""
    ready = Tolerances() if tolerances is None else tolerances_of(function, tolerances)
    return mode_of(function, likelihood.function, likelihood.arguments, block, covariance, arguments, ready)


def drawn(
    function: str,
    likelihood: Likelihood,
    block: int,
    covariance: Function,
    arguments: Any,
    rng: Seed,
    tolerances: Any = None,
) -> Draw:
    """Returns a draw of theta; raises where an argument is recorded, or a value that the functions capture."""
    ready = generator(function, rng)
    _check_plain(function, *flatten((likelihood.arguments, arguments))[0])
    mode = found(function, likelihood, block, covariance, arguments, tolerances)
    _check_plain(function, mode.z, mode.factor, mode.hessian)
    return draw_of(mode, ready)


def _check_plain(function: str, *values: Any) -> None:
    if find_recording(*values) is not None:
        raise TypeError(f"{function}: an argument is a recorded value, but must be plain; a draw has no derivative")


def laplace_marginal(
    likelihood_function: Function,
    likelihood_arguments: tuple[Any, ...],
    hessian_block_size: int,
    covariance_function: Function,
    covariance_arguments: tuple[Any, ...],
) -> Any:
    """Approximate the log marginal likelihood of a latent Gaussian model, with the latent vector integrated out.

    The latent vector theta is normal with mean 0 and the given covariance. Laplace's approximation replaces the integrand by a
    normal density at its mode; it is exact for a normal likelihood.

    Parameters
    ----------
    likelihood_function : callable
        ``likelihood_function(theta, *likelihood_arguments)`` returns the log likelihood, a number.
    likelihood_arguments : tuple
        Any nested structures of numbers and arrays.
    hessian_block_size : int
        The size of the diagonal blocks of the likelihood's Hessian with respect to theta: 1 where each term of the likelihood
        has one entry of theta; the length of theta always holds. The Hessian costs as many products as a block has columns.
    covariance_function : callable
        ``covariance_function(*covariance_arguments)`` returns the covariance matrix of theta, positive definite.
    covariance_arguments : tuple
        Any nested structures of numbers and arrays.

    Returns
    -------
    float or Array
        The logarithm of the approximate marginal likelihood, differentiable with respect to all arguments and to what the
        functions capture.

    Raises
    ------
    DomainError
        The covariance is not symmetric or not positive definite; the Hessian has entries outside of the blocks.
    SolverError
        The mode was not found, see :func:`minimize`.
    ShapeError, TypeError
        An argument or a result is of a wrong shape or type.

    Notes
    -----
    A gradient takes third derivatives of the likelihood, a Hessian fourth derivatives; a density that has fewer, such as
    :func:`normal_lpdf`, raises NotImplementedError and is to be written with elementwise functions. A covariance with
    eigenvalues near zero needs a small number on its diagonal.

    References
    ----------
    Rasmussen and Williams (2006), Gaussian Processes for Machine Learning, section 3.4. Margossian, Vehtari, Simpson and
    Agrawal (2020), Hamiltonian Monte Carlo using an adjoint-differentiated Laplace approximation, NeurIPS 33.

    Examples
    --------
    >>> import numpy as np, agrad as ag
    >>> from agrad import stan
    >>> y = np.array([1.0, 0.0, 3.0])
    >>> def counts(theta, y):
    ...     return stan.poisson_log_lpmf(y, theta)
    >>> kernel = lambda s: s * s * (np.exp(-0.5 * np.subtract.outer(np.arange(3), np.arange(3)) ** 2) + 0.01 * np.eye(3))
    >>> marginal = lambda s: stan.laplace_marginal(counts, (y,), 1, kernel, (s,))
    >>> round(float(marginal(1.0)), 4), round(ag.grad(marginal)(1.0), 4)
    (-5.1392, -0.6624)
    """
    likelihood = Likelihood(likelihood_function, likelihood_arguments)
    return marginal_of(found("laplace_marginal", likelihood, hessian_block_size, covariance_function, covariance_arguments))


def laplace_marginal_tol(
    likelihood_function: Function,
    likelihood_arguments: tuple[Any, ...],
    hessian_block_size: int,
    covariance_function: Function,
    covariance_arguments: tuple[Any, ...],
    tolerances: tuple[Any, ...],
) -> Any:
    """Approximate the log marginal likelihood of a latent Gaussian model, with given tolerances.

    Parameters
    ----------
    likelihood_function, likelihood_arguments, hessian_block_size, covariance_function, covariance_arguments
        See :func:`laplace_marginal`.
    tolerances : tuple
        ``(theta_0, tolerance, max_num_steps, solver, max_steps_line_search, allow_fallthrough)``: the theta to start from, how
        many standard deviations of the posterior the last step may be long, and the most steps. The last three may be left out
        and have no effect: there is one method, whose steps are damped as needed.

    Returns
    -------
    float or Array
        See :func:`laplace_marginal`.

    Raises
    ------
    DomainError, SolverError, ShapeError, TypeError
        See :func:`laplace_marginal`.
    """
    likelihood = Likelihood(likelihood_function, likelihood_arguments)
    covariance = covariance_function, covariance_arguments
    return marginal_of(found("laplace_marginal_tol", likelihood, hessian_block_size, *covariance, tolerances))


def laplace_latent_rng(
    likelihood_function: Function,
    likelihood_arguments: tuple[Any, ...],
    hessian_block_size: int,
    covariance_function: Function,
    covariance_arguments: tuple[Any, ...],
    rng: Seed,
) -> Draw:
    """Draw the latent vector from Laplace's approximation of its distribution given the data.

    Parameters
    ----------
    likelihood_function, likelihood_arguments, hessian_block_size, covariance_function, covariance_arguments
        See :func:`laplace_marginal`; plain.
    rng : numpy.random.Generator, seed or None
        A generator, which the draw advances, or what makes one; numbers differ at each call for None.

    Returns
    -------
    numpy.ndarray
        A draw of theta, a vector.

    Raises
    ------
    TypeError
        An argument is recorded, or a value that the functions capture, because a draw has no derivative; `rng` is no seed.
    DomainError, SolverError, ShapeError
        See :func:`laplace_marginal`.
    """
    likelihood = Likelihood(likelihood_function, likelihood_arguments)
    covariance = covariance_function, covariance_arguments
    return drawn("laplace_latent_rng", likelihood, hessian_block_size, *covariance, rng)


def laplace_latent_rng_tol(
    likelihood_function: Function,
    likelihood_arguments: tuple[Any, ...],
    hessian_block_size: int,
    covariance_function: Function,
    covariance_arguments: tuple[Any, ...],
    tolerances: tuple[Any, ...],
    rng: Seed,
) -> Draw:
    """Draw the latent vector from Laplace's approximation of its distribution given the data, with given tolerances.

    Parameters
    ----------
    likelihood_function, likelihood_arguments, hessian_block_size, covariance_function, covariance_arguments
        See :func:`laplace_marginal`; plain.
    tolerances : tuple
        See :func:`laplace_marginal_tol`.
    rng : numpy.random.Generator, seed or None
        A generator, which the draw advances, or what makes one; numbers differ at each call for None.

    Returns
    -------
    numpy.ndarray
        A draw of theta, a vector.

    Raises
    ------
    TypeError, DomainError, SolverError, ShapeError
        See :func:`laplace_latent_rng`; `tolerances` is no tuple of three to six entries.
    """
    likelihood = Likelihood(likelihood_function, likelihood_arguments)
    covariance = covariance_function, covariance_arguments
    return drawn("laplace_latent_rng_tol", likelihood, hessian_block_size, *covariance, rng, tolerances)
