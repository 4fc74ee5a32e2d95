"""Draws the plot: pelts, fitted populations and a band in which nine of ten observations are expected."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import agrad as ag
from agrad.demo.fit import Fit
from agrad.demo.model import Vector, lynx_hare, populations

__all__ = ["write_plot"]

_DRAWS = 400


def write_plot(path: Path, fit: Fit) -> None:
    """Write the plot to a file whose suffix names the format; needs matplotlib."""
    from matplotlib.figure import Figure  # an optional extra

    years, pelts = lynx_hare()
    fine = np.linspace(years[0], years[-1], 201)
    fitted, lower, upper = _curves(fit, fine)
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.add_subplot()
    for k, (species, colour) in enumerate([("hare", "tab:blue"), ("lynx", "tab:orange")]):
        axes.fill_between(1900 + fine, lower[:, k], upper[:, k], color=colour, alpha=0.2, linewidth=0)
        axes.plot(1900 + fine, fitted[:, k], color=colour, label=f"{species}: fit, 90 % of observations")
        axes.plot(1900 + years, pelts[k], "o", color=colour, markeredgecolor="white", label=f"{species}: pelts")
    axes.set(xlabel="year", ylabel="pelts, thousands", ylim=(0, None), xticks=range(1900, 1921, 2))
    axes.set_title("Hudson's Bay Company, 1900-1920, and the Lotka-Volterra model", loc="left")
    axes.legend(frameon=False, ncols=2)
    figure.savefig(path, dpi=150)


def _curves(fit: Fit, years: Vector) -> tuple[Vector, Vector, Vector]:
    """Return populations at the mode, and the 5 % and 95 % quantiles of observations; each of shape (years, 2).

    The quantiles are from draws from the normal approximation of the posterior, each with an observation error. All years of a
    draw have the same error: at each year the distribution is right, and the curves are smooth.
    """
    solve = ag.compile(populations)
    random = np.random.default_rng(1900)
    draws = random.multivariate_normal(fit.mode, fit.covariance, _DRAWS)
    errors = np.exp(draws[:, 6:]) * random.standard_normal((_DRAWS, 2))
    observations = np.array([solve(draw, years) for draw in draws]) * np.exp(errors)[:, None, :]
    lower, upper = np.quantile(observations, [0.05, 0.95], axis=0)
    return solve(fit.mode, years), lower, upper
