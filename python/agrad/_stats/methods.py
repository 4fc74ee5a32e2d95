"""Defines SciPy's methods: their meanings, their arguments beside the parameters, and their computations for a family.

The computation of a method exists where the rows exist that it needs: densities, distribution functions, quantiles, random
numbers, or rows of the tables of moments and supports.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import Parameter
from typing import Any

import numpy as np

from agrad._core import checked
from agrad._stats.between import between
from agrad._stats.call import Call, given, plain
from agrad._stats.draws import draws
from agrad._stats.families import Family
from agrad._stats.moment_rows import MOMENTS
from agrad._stats.moments import moment, statistics
from agrad._stats.supports import SUPPORTS
from agrad._stats.whole_quantiles import whole_quantile

__all__ = ["METHODS", "Computation", "Extra", "Method"]

#: A function of the first argument (if any), the values of the parameters, and the extras.
Computation = Callable[..., Any]
_ENTRIES = "float, numpy.ndarray or Array\n    Of the broadcast shape."
_ENDS = "tuple\n    The lower and the upper end, of the broadcast shape."


@dataclass(frozen=True)
class Extra:
    """An argument behind the parameters: its default, its type and meaning, and whether it is given by name alone."""

    default: Any
    text: str
    is_named: bool = False

    @property
    def kind(self) -> Any:
        """The kind of the argument in a signature."""
        return Parameter.KEYWORD_ONLY if self.is_named else Parameter.POSITIONAL_OR_KEYWORD


@dataclass(frozen=True)
class Method:
    """A method, with the names of its arguments before the parameters: x, which is k of counts, q, confidence, or two ends.

    Attributes
    ----------
    meaning, of_counts : str
        What it returns, and what that is of whole numbers, if that is another sentence.
    of : function
        Returns what computes the method for a family, or None.
    plain : function
        Of a family and an argument: whether the argument must not be recorded.
    raises : str
        Its errors besides those of all methods.
    """

    meaning: str
    of: Callable[[Family], Computation | None]
    firsts: tuple[str, ...] = ()
    extras: tuple[tuple[str, Extra], ...] = ()
    returns: str = _ENTRIES
    plain: Callable[[Family, str], bool] = lambda family, argument: False
    of_counts: str = ""
    raises: str = ""


def _is_searched(family: Family, argument: str) -> bool:
    return family.is_discrete and argument != "loc"


def _of_rows(method: str, straight: str, reflected: str) -> Callable[[Family], Computation | None]:
    """Return what computes a density or a distribution function, by its row and that of a reflected distribution."""

    def of_family(family: Family) -> Computation | None:
        row = reflected if family.form.is_reflected else straight
        if row not in family.densities:
            return None
        is_exponential = row in ("lpdf", "lpmf", "lcdf", "lccdf") and not method.startswith("log")
        first = "k" if family.is_discrete else "x"
        condition = "finite" if family.density.arguments[0][1] == "finite" else "a number, not nan"

        def of_value(x: Any, values: Sequence[Any]) -> Any:
            x = checked(f"stats.{family.name}.{method}", first, condition, given(x))
            value = Call(family, method, values).of_rule(x, row)
            return plain(np.exp(value) if is_exponential else value)

        return of_value

    return of_family


def _quantile(family: Family, method: str, of_complement: bool = False) -> Computation | None:
    """Return what computes a quantile, under the name of the method that users call."""
    row = "cqf" if of_complement != family.form.is_reflected else "qf"
    if row not in family.quantiles and not (family.is_discrete and {"cdf", "lccdf"} <= family.densities.keys()):
        return None

    def of_probability(q: Any, values: Sequence[Any], argument: str = "q") -> Any:
        q = checked(f"stats.{family.name}.{method}", argument, "between 0 and 1", given(q))
        call = Call(family, method, values)
        return plain(whole_quantile(call, q, of_complement) if family.is_discrete else call.quantile(q, row))

    return of_probability


def _median(family: Family) -> Computation | None:
    quantile = _quantile(family, "median")
    return None if quantile is None else lambda values: quantile(0.5, values)


def _interval(family: Family) -> Computation | None:
    lower = _quantile(family, "interval")
    upper = _quantile(family, "interval", of_complement=True)
    if lower is None or upper is None:
        return None

    def of(confidence: Any, values: Sequence[Any]) -> Any:
        confidence = checked(f"stats.{family.name}.interval", "confidence", "between 0 and 1", given(confidence))
        beyond = (1 - confidence) / 2
        # ends of steps are SciPy's, which has the upper one from below; between steps, the complement has more digits
        return lower(beyond, values), lower((1 + confidence) / 2, values) if family.is_discrete else upper(beyond, values)

    return of


def _support(family: Family) -> Computation | None:
    if family.name not in SUPPORTS:
        quantile = _quantile(family, "support")
        return None if quantile is None else lambda values: (quantile(0.0, values), quantile(1.0, values))

    def of(values: Sequence[Any]) -> Any:
        call = Call(family, "support", values)
        return tuple(call.filled(call.to_x(end * 1.0)) for end in SUPPORTS[family.name](*call.shapes))

    return of


def _moment(which: str) -> Callable[[Family], Computation | None]:
    def of_family(family: Family) -> Computation | None:
        row = MOMENTS.get(family.name)
        if row is None or row.of(which) is None:
            return None
        return lambda values: moment(Call(family, which, values), which)

    return of_family


def _statistics(family: Family) -> Computation | None:
    row = MOMENTS.get(family.name)
    if row is None or row.mean is None or row.var is None:
        return None
    return lambda values, moments: statistics(Call(family, "stats", values), moments)


_SIZE = Extra(None, "int or tuple of int, optional\n    The shape of the draws; by default that of the parameters.")
_STATE = Extra(None, "numpy.random.Generator, seed or None\n    Without one, numbers differ at each call.", is_named=True)
_LETTERS = Extra("mv", "str\n    Letters of m, v, s, k: mean, variance, skewness, excess of the kurtosis over 3.")
_BOTH = "{} of a value from lower to upper, both included"
_IN_ORDER = "DomainError\n    An entry of lower exceeds that of upper.\n"

METHODS = {
    "logpdf": Method("The logarithm of the density at x", _of_rows("logpdf", "lpdf", "lpdf"), ("x",)),
    "pdf": Method("The density at x", _of_rows("pdf", "lpdf", "lpdf"), ("x",)),
    "logpmf": Method("The logarithm of the probability of k", _of_rows("logpmf", "lpmf", "lpmf"), ("x",)),
    "pmf": Method("The probability of k", _of_rows("pmf", "lpmf", "lpmf"), ("x",)),
    "cdf": Method("The probability of a value up to {x}", _of_rows("cdf", "cdf", "lccdf"), ("x",)),
    "logcdf": Method("The logarithm of the probability of a value up to {x}", _of_rows("logcdf", "lcdf", "lccdf"), ("x",)),
    "sf": Method("The probability of a value beyond {x}", _of_rows("sf", "lccdf", "cdf"), ("x",)),
    "logsf": Method("The logarithm of the probability of a value beyond {x}", _of_rows("logsf", "lccdf", "lcdf"), ("x",)),
    "between": Method(
        "The probability of a value between lower and upper",
        lambda family: between(family, "between"),
        ("lower", "upper"),
        of_counts=_BOTH.format("The probability"),
        raises=_IN_ORDER,
    ),
    "logbetween": Method(
        "The logarithm of the probability of a value between lower and upper",
        lambda family: between(family, "logbetween"),
        ("lower", "upper"),
        of_counts=_BOTH.format("The logarithm of the probability"),
        raises=_IN_ORDER,
    ),
    "ppf": Method(
        "The value up to which the probability is q, the inverse of cdf",
        lambda family: _quantile(family, "ppf"),
        ("q",),
        plain=_is_searched,
        of_counts="The smallest k with cdf(k) >= q; at q = 0 the number below the support",
    ),
    "isf": Method(
        "The value beyond which the probability is q, the inverse of sf",
        lambda family: _quantile(family, "isf", of_complement=True),
        ("q",),
        plain=_is_searched,
        of_counts="The smallest k with sf(k) <= q; at q = 1 the number below the support",
    ),
    "median": Method("The median", _median, plain=_is_searched),
    "interval": Method(
        "The interval with this probability, outside of which both sides have the same",
        _interval,
        ("confidence",),
        (),
        _ENDS,
        _is_searched,
    ),
    "support": Method("The ends between which values lie", _support, returns=_ENDS),
    "rvs": Method(
        "Random numbers",
        draws,
        extras=(("size", _SIZE), ("random_state", _STATE)),
        returns="number or numpy.ndarray\n    Of shape `size`; whole numbers are int64 where loc is whole.",
        plain=lambda family, argument: True,
        raises="ShapeError\n    Parameters do not broadcast to `size`.\n",
    ),
    "mean": Method("The mean", _moment("mean")),
    "var": Method("The variance", _moment("var")),
    "std": Method("The standard deviation", _moment("std")),
    "stats": Method(
        "Mean, variance, skewness and kurtosis, as far as letters ask for them and there are closed forms",
        _statistics,
        extras=(("moments", _LETTERS),),
        returns="tuple, or its entry if there is one alone\n    In the order m, v, s, k, each of the broadcast shape.",
        raises="ValueError\n    A letter is another one, or there is no closed form.\n",
    ),
    "entropy": Method("The differential entropy, or the entropy of whole numbers, in nats", _moment("entropy")),
}
