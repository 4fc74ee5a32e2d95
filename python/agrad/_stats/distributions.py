"""Distributions with SciPy's methods: densities, distribution functions and quantiles, entry by entry.

A method checks SciPy's parameters, makes the rule's arguments of them, and calls the function of entries of a row. There are
the methods whose rules exist; a method is a line of ``_METHODS``, or of ``_QUANTILES``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import Parameter, Signature
from typing import Any

import numpy as np

from agrad._core import checked
from agrad._record.structure import array
from agrad._stats.families import Family

__all__ = ["Distribution", "Frozen"]

#: Of each method: its meaning, the row that it needs, and the row of a reflected distribution.
_METHODS = {
    "logpdf": ("The logarithm of the density at x", "lpdf", "lpdf"),
    "pdf": ("The density at x", "lpdf", "lpdf"),
    "logpmf": ("The logarithm of the probability of k", "lpmf", "lpmf"),
    "pmf": ("The probability of k", "lpmf", "lpmf"),
    "cdf": ("The probability of a value up to {x}", "cdf", "lccdf"),
    "logcdf": ("The logarithm of the probability of a value up to {x}", "lcdf", "lccdf"),
    "sf": ("The probability of a value beyond {x}", "lccdf", "cdf"),
    "logsf": ("The logarithm of the probability of a value beyond {x}", "lccdf", "lcdf"),
}
_QUANTILES = {
    "ppf": ("The value up to which the probability is q, the inverse of cdf", "qf", "cqf"),
    "isf": ("The value beyond which the probability is q, the inverse of sf", "cqf", "qf"),
}
#: Where a mass is defined, by the condition on its first argument.
_SUPPORTS: dict[str, Callable[[Any], Any]] = {
    "a whole number": lambda k: abs(k) < np.inf,
    "a whole number, not negative": lambda k: (k >= 0) & (k < np.inf),
    "0 or 1": lambda k: (k == 0) | (k == 1),
}
_MOST = 2.0**53
_AT_INFINITY = {"cdf": 1.0, "lcdf": 0.0, "lccdf": -np.inf}


def _given(x: Any) -> Any:
    return array(x) if isinstance(x, (list, tuple)) else x


class _Call:
    """The checked parameters of one call, and what follows from them."""

    def __init__(self, family: Family, method: str, values: Sequence[Any]) -> None:
        name = f"stats.{family.name}.{method}"
        self.family = family
        named = {
            parameter: checked(name, parameter, condition, _given(value))
            for (parameter, condition), value in zip(family.parameters.items(), values, strict=True)
        }
        self.loc, self.scale = named["loc"], named.get("scale", 1)
        self.arguments = [
            value(**named) if term in named else checked(name, term, condition, value(**named))
            for (term, condition), value in zip(family.arguments, family.argument_functions, strict=True)
        ]

    def of_rule(self, x: Any, row: str) -> Any:
        """Return the entries of a density or distribution function."""
        family = self.family
        y = family.form.of_x(x, self.loc, self.scale)
        if family.is_discrete:
            return self._of_mass(y) if row == "lpmf" else self._of_steps(y, row)
        value = family.densities[row].terms(y, *self.arguments)
        is_density = row == "lpdf" and family.form.is_scaled
        if not is_density or isinstance(self.scale, int):
            return value
        return value - np.where(value > -np.inf, np.log(self.scale), 0.0)  # so that outside derivatives are 0

    def _of_mass(self, k: Any) -> Any:
        row = self.family.density
        inside = (k == np.floor(k)) & _SUPPORTS[row.arguments[0][1]](k)
        return np.where(inside, row.terms(np.where(inside, k, 0.0), *self.arguments), -np.inf)

    def _of_steps(self, k: Any, row: str) -> Any:
        value = self.family.densities[row].terms(np.floor(np.minimum(np.maximum(k, -_MOST), _MOST)), *self.arguments)
        return np.where(k < np.inf, value, _AT_INFINITY[row])

    def quantile(self, q: Any, row: str) -> Any:
        """Return the entries of a quantile."""
        return self.family.form.to_x(self.family.quantiles[row](q, *self.arguments), self.loc, self.scale)


def _plain(x: Any) -> Any:
    """Return NumPy's array without axes as a number."""
    return x[()] if isinstance(x, np.ndarray) and x.ndim == 0 else x


def _computation(family: Family, method: str) -> Callable[[Any, Sequence[Any]], Any] | None:
    """Return what a method computes from its first argument and the parameters; None if the family has no such rule."""
    name = f"stats.{family.name}.{method}"
    if method in _QUANTILES:
        quantile = _QUANTILES[method][1 + family.form.is_reflected]
        if quantile not in family.quantiles:
            return None

        def of_probability(q: Any, values: Sequence[Any]) -> Any:
            q = checked(name, "q", "between 0 and 1", _given(q))
            return _plain(_Call(family, method, values).quantile(q, quantile))

        return of_probability
    _, straight, reflected = _METHODS[method]
    row = reflected if family.form.is_reflected else straight
    if row not in family.densities:
        return None
    is_exponential = row in ("lpdf", "lpmf", "lcdf", "lccdf") and not method.startswith("log")
    first = "k" if family.is_discrete else "x"
    condition = "finite" if family.density.arguments[0][1] == "finite" else "a number, not nan"

    def of_value(x: Any, values: Sequence[Any]) -> Any:
        x = checked(name, first, condition, _given(x))
        value = _Call(family, method, values).of_rule(x, row)
        return _plain(np.exp(value) if is_exponential else value)

    return of_value


def _map_text(family: Family) -> str:
    row = family.density
    first, *others = (name for name, _ in row.arguments)
    at = family.form_text.replace("x", "k") if family.is_discrete else family.form_text
    terms = ", ".join(f"{name} = {term}" for name, (term, _) in zip(others, family.arguments, strict=True))
    return f"{first} = {at}, {terms}"


def _docstring(family: Family, method: str, first: str) -> str:
    meaning = (_METHODS | _QUANTILES)[method][0].format(x=first)
    of_first = {"x": "Any numbers but nan.", "k": "Any numbers but nan.", "q": "Probabilities, between 0 and 1."}[first]
    parameters = "".join(
        f"{name} : number, array-like or recorded array\n    {condition.capitalize()}.\n"
        for name, condition in family.parameters.items()
    )
    return (
        f"{meaning}, entry by entry.\n\nParameters\n----------\n"
        f"{first} : number, array-like or recorded array\n    {of_first} All arguments broadcast.\n{parameters}\n"
        "Returns\n-------\nfloat, numpy.ndarray or Array\n    Of the broadcast shape.\n\n"
        "Raises\n------\nDomainError\n    An argument does not meet its condition, where SciPy gives nan.\n\n"
        f"References\n----------\nThe rules of {family.density.name}, where {_map_text(family)}: {family.density.source}"
    )


def _method(family: Family, method: str, of: Callable[[Any, Sequence[Any]], Any]) -> Callable[..., Any]:
    first = "q" if method in _QUANTILES else "k" if family.is_discrete else "x"
    kind = Parameter.POSITIONAL_OR_KEYWORD
    defaults = {"loc": 0, "scale": 1}
    parameters = [Parameter(k, kind, default=defaults.get(k, Parameter.empty)) for k in family.parameters]
    signature = Signature([Parameter(first, kind), *parameters])

    def function(*arguments: Any, **named: Any) -> Any:
        bound = signature.bind(*arguments, **named)
        bound.apply_defaults()
        x, *values = bound.arguments.values()
        return of(x, values)

    function.__name__ = method
    function.__qualname__ = f"{family.name}.{method}"
    function.__module__ = "agrad.stats"
    function.__doc__ = _docstring(family, method, first)
    function.__signature__ = signature  # type: ignore[attr-defined]
    return function


class Distribution:
    """A distribution with SciPy's methods, as far as there are rules for them; called with parameters, it is frozen."""

    def __init__(self, family: Family) -> None:
        self._family = family
        self.name = family.name
        self.__module__ = "agrad.stats"  # where pickles look for the name
        self.shapes = ", ".join(family.shapes) or None
        self.methods: dict[str, Callable[..., Any]] = {}
        for method in [*_METHODS, *_QUANTILES]:
            of = _computation(family, method)
            if of is not None:
                self.methods[method] = _method(family, method, of)
        vars(self).update(self.methods)
        names = ", ".join(family.parameters)
        self.__doc__ = (
            f"The distribution of {family.density.name}, with SciPy's parameters {names}: {_map_text(family)}.\n\n"
            f"Methods: {', '.join(self.methods)}."
        )

    def __call__(self, *parameters: Any, **named: Any) -> Frozen:
        """Return the distribution with these parameters."""
        return Frozen(self, parameters, named)

    def __getattr__(self, name: str) -> Any:
        methods = vars(self).get("methods", {})
        raise AttributeError(f"stats.{vars(self).get('name')}: attribute is {name!r}, but must be one of {', '.join(methods)}")

    def __reduce__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"agrad.stats.{self.name}"


class Frozen:
    """A distribution with parameters, whose methods take x, k or q alone."""

    def __init__(self, distribution: Distribution, parameters: tuple[Any, ...], named: dict[str, Any]) -> None:
        self.dist = distribution
        self.args = parameters
        self.kwds = named
        any_method = next(iter(distribution.methods.values()))
        any_method.__signature__.bind(0, *parameters, **named)  # type: ignore[attr-defined]

    def __getattr__(self, name: str) -> Callable[[Any], Any]:
        if name.startswith("_") or name in ("dist", "args", "kwds"):
            raise AttributeError(name)
        method = getattr(self.dist, name)
        return lambda x: method(x, *self.args, **self.kwds)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.dist.methods]
