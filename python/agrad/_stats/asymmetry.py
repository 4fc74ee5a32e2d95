"""Defines the asymmetric Laplace distribution by kappa, on either side of 1.

The rules of the compiled part have tau = kappa^2 / (1 + kappa^2), which keeps no digits of its distance from 1 where kappa is
large. -X has the parameter 1 / kappa, so that the rows of this file are those of -X there, with the tails exchanged.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from agrad._core import QuantileRow
from agrad._record.structure import find_recording
from agrad._stats.changed_row import ChangedRow
from agrad._stats.families import Family
from agrad.random import skew_double_exponential_rng

__all__ = ["with_both_sides"]

Entries = Callable[..., Any]


def _side(kappa: Any) -> tuple[Any, Any]:
    """Return whether kappa is above 1, and tau of kappa or, there, of 1 / kappa."""
    is_large = np.greater(kappa, 1)
    small = np.where(is_large, 1 / kappa, kappa)
    return is_large, small**2 / (1 + small**2)


def _either_side(straight: Entries, mirrored: Entries) -> Entries:
    """Return a function of arguments that end in mu, sigma and kappa, from those of tau for X and for -X."""

    def entries(*arguments: Any) -> Any:
        *first, mu, sigma, kappa = arguments
        is_large, tau = _side(kappa)
        if find_recording(kappa) is None and np.all(is_large) == np.any(is_large):
            return mirrored(*first, -mu, sigma, tau) if np.all(is_large) else straight(*first, mu, sigma, tau)
        return np.where(is_large, mirrored(*first, -mu, sigma, tau), straight(*first, mu, sigma, tau))

    return entries


def _draw(mu: Any, sigma: Any, kappa: Any, *, rng: Any, size: Any) -> Any:
    is_large, tau = _side(kappa)
    sign = np.where(is_large, -1.0, 1.0)
    return sign * skew_double_exponential_rng(sign * mu, sigma, tau, rng=rng, size=size)


def _rows(family: Family) -> dict[str, Any]:
    rows = family.densities
    mirrored: dict[str, Entries] = {
        "lpdf": lambda y, *others: rows["lpdf"].terms(-y, *others),
        "cdf": lambda y, *others: np.exp(rows["lccdf"].terms(-y, *others)),
        "lcdf": lambda y, *others: rows["lccdf"].terms(-y, *others),
        "lccdf": lambda y, *others: rows["lcdf"].terms(-y, *others),
        "lbetween": lambda lower, upper, *others: rows["lbetween"].terms(-upper, -lower, *others),
    }
    condition = family.parameters["kappa"]
    return {end: ChangedRow(row, condition, _either_side(row.terms, mirrored[end])) for end, row in rows.items()}


def _quantiles(rows: dict[str, QuantileRow]) -> dict[str, Any]:
    return {
        "qf": _either_side(rows["qf"], lambda p, *others: -rows["cqf"](p, *others)),
        "cqf": _either_side(rows["cqf"], lambda p, *others: -rows["qf"](p, *others)),
    }


def with_both_sides(family: Family) -> Family:
    """Return the asymmetric Laplace family with functions of kappa."""
    location, scale, _ = family.argument_functions
    return replace(
        family,
        densities=_rows(family),
        quantiles=_quantiles(dict(family.quantiles)),
        argument_functions=(location, scale, lambda kappa, loc, scale: kappa),
        draw=_draw,
    )
