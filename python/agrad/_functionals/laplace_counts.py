"""Defines Laplace's approximation for Poisson, binary and negative binomial data, under Stan's names."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from agrad._core import DomainError, ShapeError
from agrad._functionals.laplace import marginal_of
from agrad._functionals.laplace_any import Likelihood, drawn, found
from agrad._record.arguments import real_values
from agrad._record.structure import find_recording
from agrad._stan import density

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

#: What the functions' documentation says of each parameter.
_PARAMETERS = {
    "y": "array-like of int\n        The observations; plain.",
    "y_index": "array-like of int\n        The group of each observation, which is the place of its entry of theta, from 0.",
    "eta": "float\n        The inverse of the overdispersion, positive: the variance is mean + mean^2 / eta.",
    "m": "float or array-like\n        What is added to theta.",
    "hessian_block_size": "int\n        1; see :func:`laplace_marginal`.",
    "covariance_function": "callable\n        See :func:`laplace_marginal`.",
    "covariance_arguments": "tuple\n        See :func:`laplace_marginal`.",
    "tolerances": "tuple\n        See :func:`laplace_marginal_tol`.",
    "rng": "numpy.random.Generator, seed or None\n        See :func:`laplace_latent_rng`.",
}

_TEXT = """{what}, by Laplace's approximation{how}.

    The {link} are theta + m, where theta is normal with mean 0 and the given covariance.

    Parameters
    ----------
{parameters}

    Returns
    -------
    {result}

    Raises
    ------
    DomainError, SolverError, ShapeError, TypeError
        See :func:`{like}`; an observation or a group is no whole number from 0 on.
    """


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
    bad = np.flatnonzero(~((values >= 0) & (values < 2.0**63) & (values == np.floor(values))))
    if bad.size:
        raise DomainError(f"{function}: {name}[{bad[0]}] is {values[bad[0]]}, but must be a whole number from 0 on, below 2^63")
    return values.astype(np.int64)


def _function(family: str, data: str, link: str, further: tuple[str, ...], *, is_draw: bool, has_tolerances: bool) -> Function:
    """Returns the function of a family of masses that computes the marginal likelihood, or that draws theta.

    `data` and `link` say in its documentation what is observed and what theta + m is; `further` are the names of the mass's
    further parameters.
    """
    start, end = ("latent", "rng") if is_draw else ("marginal", "lpmf")
    name = f"laplace_{start}{'_tol' * has_tolerances}_{family}_{end}"
    model = ("hessian_block_size", "covariance_function", "covariance_arguments")
    names = ("y", "y_index", *further, "m", *model, *("tolerances",) * has_tolerances, *("rng",) * is_draw)
    signature = inspect.Signature([inspect.Parameter(each, inspect.Parameter.POSITIONAL_OR_KEYWORD) for each in names])
    mass = getattr(density, f"{family}_lpmf")

    def laplace(*arguments: Any, **named: Any) -> Any:
        try:
            given = signature.bind(*arguments, **named).arguments
        except TypeError as error:
            raise TypeError(f"{name}: {error}") from None
        likelihood = _of_counts(name, mass, given["y"], given["y_index"], given["m"], *(given[each] for each in further))
        block, covariance, covariance_arguments = (given[each] for each in model)
        tolerances = given.get("tolerances")
        if is_draw:
            return drawn(name, likelihood, block, covariance, covariance_arguments, given["rng"], tolerances)
        return marginal_of(found(name, likelihood, block, covariance, covariance_arguments, tolerances))

    what = "Draw the latent vector" if is_draw else "Approximate the log marginal likelihood"
    laplace.__name__ = laplace.__qualname__ = name
    laplace.__doc__ = _TEXT.format(
        what=f"{what} of {data} with {link} in groups",
        how=" with given tolerances" if has_tolerances else "",
        link=link,
        parameters="\n".join(f"    {each} : {_PARAMETERS[each]}" for each in names),
        result="numpy.ndarray\n        theta, without m."
        if is_draw
        else "float or Array\n        The logarithm, differentiable.",
        like="laplace_latent_rng" if is_draw else "laplace_marginal",
    )
    laplace.__signature__ = signature  # type: ignore[attr-defined]
    return laplace


def _functions(family: str, data: str, link: str, *further: str) -> list[Function]:
    """Returns the marginal likelihood and the draw of a family, each without and with tolerances."""
    ways = ((is_draw, has_tolerances) for is_draw in (False, True) for has_tolerances in (False, True))
    return [_function(family, data, link, further, is_draw=first, has_tolerances=second) for first, second in ways]


# Written out for readers and type checkers; a test compares these names with the functions' own.
(
    laplace_marginal_poisson_log_lpmf,
    laplace_marginal_tol_poisson_log_lpmf,
    laplace_latent_poisson_log_rng,
    laplace_latent_tol_poisson_log_rng,
) = _functions("poisson_log", "Poisson counts", "log rates")
(
    laplace_marginal_bernoulli_logit_lpmf,
    laplace_marginal_tol_bernoulli_logit_lpmf,
    laplace_latent_bernoulli_logit_rng,
    laplace_latent_tol_bernoulli_logit_rng,
) = _functions("bernoulli_logit", "binary outcomes", "logits")
(
    laplace_marginal_neg_binomial_2_log_lpmf,
    laplace_marginal_tol_neg_binomial_2_log_lpmf,
    laplace_latent_neg_binomial_2_log_rng,
    laplace_latent_tol_neg_binomial_2_log_rng,
) = _functions("neg_binomial_2_log", "negative binomial counts", "log means", "eta")
