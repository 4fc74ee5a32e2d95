"""Defines the model: Lotka-Volterra equations for hare and lynx, lognormal observations, priors.

The unknowns are positive, so the functions take the vector of the logarithms, in the order of `UNKNOWNS`, and the densities
are densities of the logarithms. No derivative is derived by hand; see B. Carpenter, Predator-Prey Population Dynamics (2018),
for the model, and agrad/data/README.md for the data. Read next: fit.py.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import numpy as np

from agrad import stan

__all__ = ["METHODS", "UNKNOWNS", "Vector", "first_guess", "log_likelihood", "log_posterior", "lynx_hare", "populations"]

Vector = np.ndarray[Any, np.dtype[np.float64]]

UNKNOWNS = ("alpha", "beta", "gamma", "delta", "z0 hare", "z0 lynx", "sigma hare", "sigma lynx")

_ONE_STEP = {
    "Tsit5": stan.ode_tsit5_tol,
    "RK45": stan.ode_rk45_tol,
    "CKRK": stan.ode_ckrk_tol,
    "DOP853": stan.ode_dop853_tol,
    "Rodas4": stan.ode_rodas4_tol,
}
#: The methods for the differential equation; the first is the quickest.
METHODS = (*_ONE_STEP, "BDF", "Adams")

_HERMITE, _POLYNOMIAL = 1, 2


def lynx_hare() -> tuple[Vector, Vector]:
    """Return the data.

    Returns
    -------
    years : numpy.ndarray, shape (21,)
        Years since 1900.
    pelts : numpy.ndarray, shape (2, 21)
        Thousands of pelts: hare, lynx.
    """
    with (files("agrad") / "data" / "lynx_hare.csv").open() as table:
        year, hare, lynx = np.loadtxt(table, delimiter=",", skiprows=1, unpack=True)
    return year - year[0], np.stack([hare, lynx])


def _growth(t: Any, z: Any, rates: Any) -> list[Any]:
    """Return the right-hand side: hares grow and are eaten, lynxes starve and eat."""
    hare, lynx = z
    alpha, beta, gamma, delta = rates
    return [(alpha - beta * lynx) * hare, (-gamma + delta * hare) * lynx]


def populations(log_unknowns: Any, years: Vector, method: str = METHODS[0]) -> Any:
    """Return hare and lynx at the given years since 1900, which begin with 0; shape (years, 2)."""
    unknowns = np.exp(log_unknowns)
    rates, z0 = unknowns[:4], unknowns[4:6]
    if method in _ONE_STEP:
        tolerance = 1e-8 if method == "Rodas4" else 1e-11  # the gradient is exact for the computed solution
        later = _ONE_STEP[method](_growth, z0, 0.0, years[1:], tolerance, tolerance, 10_000, rates)
    else:
        later = _by_cvodes(rates, z0, years[1:], method)
    return np.concatenate([np.reshape(z0, (1, 2)), later])


def _by_cvodes(rates: Any, z0: Any, years: Vector, method: str) -> Any:
    """Return the populations by CVODES and its adjoint method, with all options."""
    code, interpolation = (2, _HERMITE) if method == "BDF" else (1, _POLYNOMIAL)
    return stan.ode_adjoint_tol_ctl(
        _growth, z0, 0.0, years,
        1e-12, 1e-12,  # relative and absolute tolerance of the forward pass, so tight that finite differences of the
        1e-12, 1e-12,  # solution can judge the gradient; of the reverse pass
        1e-12, 1e-12,  # and of its quadrature
        10_000,  # the most steps between two output times
        250,  # steps between checkpoints
        interpolation, code, code,
        rates,
    )  # fmt: skip


def log_likelihood(log_unknowns: Any, method: str = METHODS[0]) -> Any:
    """Return the log density of the pelts: each observation is lognormal about the logarithm of the population."""
    years, pelts = lynx_hare()
    log_z, sigma = np.log(populations(log_unknowns, years, method)), np.exp(log_unknowns[6:])
    return sum(stan.lognormal_lpdf(pelts[k], log_z[:, k], sigma[k]) for k in range(2))


def log_posterior(log_unknowns: Any, method: str = METHODS[0]) -> Any:
    """Return the log density of the unknowns' logarithms given the pelts, up to a constant."""
    unknowns = np.exp(log_unknowns)
    rates, z0, sigma = unknowns[:4], unknowns[4:6], unknowns[6:]
    log_prior = (
        stan.normal_lpdf(rates[::2], 1.0, 0.5)  # alpha, gamma
        + stan.normal_lpdf(rates[1::2], 0.05, 0.05)  # beta, delta
        + stan.lognormal_lpdf(z0, np.log(10.0), 1.0)
        + stan.lognormal_lpdf(sigma, -1.0, 1.0)
    )
    log_jacobian = np.sum(log_unknowns)  # of the exponential function, for the density of the logarithms
    return log_likelihood(log_unknowns, method) + log_prior + log_jacobian


def first_guess() -> Vector:
    """Return logarithms to start from: rates by linear regression of log growth on the other species, z0 as observed.

    The posterior has other modes, in which the populations do not oscillate; a start at the priors' centres ends there.
    """
    years, pelts = lynx_hare()
    growth = np.gradient(np.log(pelts), years, axis=1)
    minus_beta, alpha = np.polyfit(pelts[1], growth[0], 1)
    delta, minus_gamma = np.polyfit(pelts[0], growth[1], 1)
    sigma = np.exp(-1.0)  # the prior's median
    return np.log([alpha, -minus_beta, -minus_gamma, delta, *pelts[:, 0], sigma, sigma])
