"""Defines Laplace's approximation of the marginal likelihood of a latent Gaussian model.

With the covariance K = L L' the latent vector is theta = L z, and the mode of z is the minimum of
``z'z / 2 - log p(y | L z)``, whose Hessian is I + L' W L with W that of -log p(y | theta). Derivatives of the mode follow by
the implicit function theorem (``implicit``), and those of the determinant through the recorded W.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from agrad import linalg
from agrad._core import DomainError, LinAlgError, ShapeError
from agrad._functionals.arguments import plain, result_of, scalar_of
from agrad._functionals.minimize import minimum
from agrad._functionals.search import Limits
from agrad._record.arguments import check_callable, positive_number, vector, whole
from agrad._record.on_demand import scipy_linalg
from agrad._record.recording import name_of
from agrad._transforms.custom import stop_gradient
from agrad._transforms.hessian import hvp
from agrad._transforms.settled import settled

__all__ = ["Mode", "Tolerances", "draw_of", "marginal_of", "mode_of", "tolerances_of"]

_TOLERANCE = 1e-9  # standard deviations of the posterior
_ASYMMETRY = 1e-8  # that a covariance may have, relative to the largest entry of the diagonal, as densities allow it
_BESIDE = 0.1  # standard deviations of the posterior that blocks are checked beside the mode


@dataclass
class Tolerances:
    """How the mode is searched for: from where, how exactly, and in how many steps."""

    theta_0: Any = None
    tolerance: float = _TOLERANCE
    max_steps: int = 200


def tolerances_of(function: str, given: Any) -> Tolerances:
    """Returns Stan's tuple of tolerances: theta_0, tolerance, max_num_steps, and three numbers that have no effect here."""
    if not isinstance(given, (tuple, list)) or len(given) < 3 or len(given) > 6:
        raise TypeError(
            f"{function}: tolerances is {given!r}, but must be (theta_0, tolerance, max_num_steps, solver, "
            "max_steps_line_search, allow_fallthrough), of which the first three at least"
        )
    return Tolerances(
        given[0],
        positive_number(function, "tolerance", given[1]),
        whole(function, "max_num_steps", given[2], least=1),
    )


@dataclass
class Mode:
    """The mode of a latent Gaussian model: z, the factor L, and the Hessian I + L' W L."""

    log_likelihood: Any
    z: Any
    factor: Any
    hessian: Any


def mode_of(
    function: str,
    likelihood: Callable[..., Any],
    likelihood_arguments: Sequence[Any],
    block: int,
    covariance: Callable[..., Any],
    covariance_arguments: Sequence[Any],
    tolerances: Tolerances,
) -> Mode:
    """Returns the mode, with derivatives with respect to all recorded values; `function` is the name in messages."""
    for name, f in (("likelihood_function", likelihood), ("covariance_function", covariance)):
        check_callable(function, name, f, "theta" if name.startswith("l") else "arguments")
    for name, given in (("likelihood_arguments", likelihood_arguments), ("covariance_arguments", covariance_arguments)):
        if not isinstance(given, (tuple, list)):
            raise TypeError(f"{function}: {name} is of type {type(given).__name__}, but must be a tuple; write (x,) for one")
    matrix = _square(function, covariance(*covariance_arguments))
    n = matrix.shape[0]
    block = whole(function, "hessian_block_size", block, least=1)
    if n % block:
        raise ShapeError(f"{function}: hessian_block_size is {block}, but must divide the size of the covariance, {n}")
    matrix = _symmetric(function, matrix)
    try:
        factor = np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        raise LinAlgError(
            f"{function}: covariance is singular or indefinite, but must be positive definite; add a small number to its "
            "diagonal"
        ) from None
    label = f"{function}({name_of(likelihood)})"
    log_likelihood = scalar_of(label, lambda theta: likelihood(theta, *likelihood_arguments))

    def potential(z: Any) -> Any:
        return 0.5 * np.sum(z * z) - log_likelihood(factor @ z)

    def curvature(z: Any) -> Any:
        return np.eye(n) + factor.T @ _blocks(log_likelihood, factor @ z, block) @ factor

    start = np.zeros(n)
    if tolerances.theta_0 is not None:
        theta_0 = stop_gradient(vector(function, "theta_0", tolerances.theta_0))
        if theta_0.shape != (n,):
            raise ShapeError(f"{function}: theta_0 is of shape {theta_0.shape}, but must be of shape ({n},)")
        start = np.linalg.solve(stop_gradient(factor), theta_0)
    limits = Limits(tolerances.tolerance, tolerances.tolerance, np.inf, tolerances.max_steps)

    def check(z: Any) -> None:
        _check_blocks(label, log_likelihood, factor @ z, block, np.sum(factor * factor, axis=1))

    z, _ = minimum(label, potential, start, limits, curvature=curvature, deviations=tolerances.tolerance, explain=check)
    check(z)
    theta = factor @ z
    return Mode(log_likelihood(theta), z, factor, curvature(z))


def marginal_of(mode: Mode) -> Any:
    """Returns the logarithm of the approximate marginal likelihood."""
    return mode.log_likelihood - 0.5 * np.sum(mode.z * mode.z) - 0.5 * linalg.log_determinant(mode.hessian, spd=True)


def draw_of(mode: Mode, rng: np.random.Generator) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Returns a draw of theta from the normal distribution at the mode."""
    upper = np.linalg.cholesky(mode.hessian).T
    z = mode.z + scipy_linalg.solve_triangular(upper, rng.standard_normal(upper.shape[0]))
    draw: np.ndarray[Any, np.dtype[np.float64]] = mode.factor @ z
    return draw


def _square(function: str, matrix: Any) -> Any:
    matrix = result_of(function, matrix, "a square matrix", "covariance")
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.shape[0] == 0:
        raise ShapeError(f"{function}: covariance is of shape {matrix.shape}, but must be a square matrix")
    return matrix


def _symmetric(function: str, matrix: Any) -> Any:
    """Returns the symmetric part of a matrix that is symmetric up to rounding, as covariances of densities are; else raises."""
    difference = np.abs(stop_gradient(matrix - matrix.T))
    largest = _ASYMMETRY * np.max(np.abs(np.diag(stop_gradient(matrix))))

    def complain() -> NoReturn:
        values = plain(matrix)
        is_odd, is_off = ~np.isfinite(values), np.tril(~(plain(difference) <= plain(largest)))
        i, j = map(int, np.argwhere(is_odd if np.any(is_odd) else is_off)[0])
        must = f"equal to covariance[{j}, {i}], which is {values[j, i]:.15g}; the matrix must be symmetric"
        must = "finite" if np.any(is_odd) else must
        raise DomainError(f"{function}: covariance[{i}, {j}] is {values[i, j]:.15g}, but must be {must}")

    return settled(np.all(difference <= largest), (matrix + matrix.T) / 2, complain)


def _blocks(log_likelihood: Callable[[Any], Any], theta: Any, block: int) -> Any:
    """Returns the Hessian of the negative log likelihood, of diagonal blocks, by as many products as a block has columns."""
    n = theta.shape[0]
    place = np.arange(n)
    parts: Any = np.zeros((n, n))
    for column in range(block):
        is_own = place % block == column
        product = hvp(log_likelihood)(theta, np.where(is_own, 1.0, 0.0))
        same_block = (place[:, np.newaxis] // block) == (place // block)
        parts = parts - np.where(same_block & is_own, product[:, np.newaxis], 0.0)
    return (parts + parts.T) / 2


def _check_blocks(label: str, log_likelihood: Callable[[Any], Any], theta: Any, block: int, variances: Any) -> None:
    """Raises where the Hessian has entries outside of the blocks, by its product with a vector of different entries.

    The Hessian is that at a point beside theta, because entries that are 0 at the mode alone make derivatives wrong. The
    recorded pattern does not decide: for a product with a matrix of groups it has entries that are 0 everywhere.
    """
    n = theta.shape[0]
    if block == n:
        return
    theta = stop_gradient(theta)
    along = 1.0 + 0.5 * np.cos(2.4 * np.arange(n))
    precisions = 1.0 / stop_gradient(variances) + np.abs(np.diag(stop_gradient(_blocks(log_likelihood, theta, block))))
    beside = theta + _BESIDE * along / np.sqrt(precisions)
    whole_product = -stop_gradient(hvp(log_likelihood)(beside, along))
    blocks = stop_gradient(_blocks(log_likelihood, beside, block))
    difference = np.max(np.abs(whole_product - blocks @ along))
    size = np.max(np.abs(blocks) @ along) + np.max(np.abs(whole_product))

    def complain() -> NoReturn:
        raise DomainError(
            f"{label}: the Hessian's entries outside of blocks of {block} are up to {float(plain(difference)):.3g}, but must "
            "be 0; each entry of theta's block may occur only in terms without entries of others; raise hessian_block_size"
        )

    settled((difference <= 1e-8 * size) | ~np.isfinite(difference), theta, complain)
