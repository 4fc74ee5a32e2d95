"""Defines distributions with SciPy's methods, and distributions with parameters.

A distribution has the methods of ``methods`` that can be computed for its family. This file makes their signatures and
docstrings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from inspect import BoundArguments, Parameter, Signature
from typing import TYPE_CHECKING, Any

from agrad._record.composed import composed
from agrad._stats.families import Family
from agrad._stats.methods import METHODS, Computation
from agrad._stats.typed import Declared

__all__ = ["Distribution", "Frozen"]

_FIRST = {
    "x": "Any numbers but nan.",
    "k": "Any numbers but nan.",
    "lower": "Any numbers but nan.",
    "upper": "Numbers that are not below lower.",
    "q": "Probabilities, between 0 and 1.",
    "confidence": "Probabilities, between 0 and 1.",
}

#: The methods that a distribution may have, for the documentation of the two classes.
_METHODS = "\n".join(f"{name}\n    {row.meaning.format(x='x')}." for name, row in METHODS.items())
_ERRORS = """Raises
------
AttributeError
    The distribution has no method of this name, because there is no rule or closed form for it.
DomainError
    (By a method) an argument does not meet its condition, where SciPy gives nan.
ShapeError
    (By a method) the arguments do not broadcast.
TypeError
    A parameter is missing or one too many; (by a method) an argument is complex or no number, or is recorded where a method
    has no derivative, as ``rvs``."""


def _map_text(family: Family) -> str:
    row = family.density
    first, *others = (name for name, _ in row.arguments)
    at = family.form_text.replace("x", "k") if family.is_discrete else family.form_text
    terms = ", ".join(f"{name} = {term}" for name, (term, _) in zip(others, family.arguments, strict=True))
    return f"{first} = {at}, {terms}"


def _docstring(family: Family, method: str, firsts: Sequence[str]) -> str:
    of = METHODS[method]
    meaning = of.of_counts if of.of_counts and family.is_discrete else of.meaning
    conditions = {name: f"{condition.capitalize()}." for name, condition in family.parameters.items()}
    begin = {first: _FIRST[first] for first in firsts}
    if begin:
        begin[firsts[-1]] += " All arguments broadcast."
    texts = (begin | conditions).items()
    plain = {name for name, _ in texts if of.plain(family, name)}
    kinds = {name: "number or array-like" if name in plain else "number, array-like or recorded array" for name, _ in texts}
    parameters = "".join(f"{name} : {kinds[name]}\n    {text}\n" for name, text in texts)
    no_recording = (
        f"TypeError\n    One of {', '.join(name for name in kinds if name in plain)} is a recorded value.\n" if plain else ""
    )
    extras = "".join(f"{name} : {extra.text}\n" for name, extra in of.extras)
    return (
        f"{meaning.format(x=firsts[0] if firsts else '')}, entry by entry.\n\nParameters\n----------\n"
        f"{parameters}{extras}\n"
        f"Returns\n-------\n{of.returns}\n\n"
        "Raises\n------\nDomainError\n    An argument does not meet its condition, where SciPy gives nan.\n"
        f"{no_recording}{of.raises}\n"
        f"References\n----------\nThe rules of {family.density.name}, where {_map_text(family)}: {family.density.source}"
    )


def _bound(name: str, signature: Signature, arguments: Sequence[Any], named: Mapping[str, Any]) -> BoundArguments:
    """Return the arguments by the names of a signature, or raise TypeError with the name of the function."""
    try:
        return signature.bind(*arguments, **named)
    except TypeError as error:
        raise TypeError(f"{name}: {error}") from None


def _method(family: Family, method: str, of: Computation) -> Callable[..., Any]:
    row = METHODS[method]
    firsts = ["k" if first == "x" and family.is_discrete else first for first in row.firsts]
    kind = Parameter.POSITIONAL_OR_KEYWORD
    defaults = {"loc": 0, "scale": 1}
    parameters = [Parameter(k, kind, default=defaults.get(k, Parameter.empty)) for k in family.parameters]
    extras = [Parameter(name, extra.kind, default=extra.default) for name, extra in row.extras]
    of_marked = composed(of)
    signature = Signature([*(Parameter(first, kind) for first in firsts), *parameters, *extras])

    def function(*arguments: Any, **named: Any) -> Any:
        bound = _bound(f"stats.{family.name}.{method}", signature, arguments, named)
        bound.apply_defaults()
        given = bound.arguments
        values = [given[name] for name in family.parameters]
        return of_marked(*(given[first] for first in firsts), values, **{name: given[name] for name, _ in row.extras})

    function.__name__ = method
    function.__qualname__ = f"{family.name}.{method}"
    function.__module__ = "agrad.stats"
    function.__doc__ = _docstring(family, method, firsts)
    function.__signature__ = signature  # type: ignore[attr-defined]
    return function


class Distribution(Declared):
    """A distribution with SciPy's methods, as far as they can be computed; called with parameters, it is frozen."""

    def __init__(self, family: Family) -> None:
        self._family = family
        self.name = family.name
        self.__module__ = "agrad.stats"  # where pickles look for the name
        self.shapes = ", ".join(family.shapes) or None
        computed = {method: row.of(family) for method, row in METHODS.items()}
        self.methods = {method: _method(family, method, of) for method, of in computed.items() if of is not None}
        vars(self).update(self.methods)
        names = ", ".join(family.parameters)
        self.__doc__ = (
            f"The distribution of {family.density.name}, with SciPy's parameters {names}: {_map_text(family)}.\n\n"
            f"Methods: {', '.join(self.methods)}.\n\n{_ERRORS}\n"
        )

    def __call__(self, *parameters: Any, **named: Any) -> Frozen:
        """Return the distribution with these parameters."""
        return Frozen(self, parameters, named)

    if not TYPE_CHECKING:  # checkers shall refuse unknown names

        def __getattr__(self, name: str) -> Any:
            methods = vars(self).get("methods", {})
            of = f"stats.{vars(self).get('name')}"
            raise AttributeError(f"{of}: attribute is {name!r}, but must be one of {', '.join(methods)}")

    def __reduce__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"agrad.stats.{self.name}"


class Frozen(Declared):
    """A distribution with parameters, whose methods take their other arguments alone."""

    def __init__(self, distribution: Distribution, parameters: tuple[Any, ...], named: dict[str, Any]) -> None:
        self.dist = distribution
        self.args = parameters
        self.kwds = named
        family = distribution._family
        kind = Parameter.POSITIONAL_OR_KEYWORD
        needed = [Parameter(name, kind) for name in family.shapes]
        optional = [Parameter(name, kind, default=None) for name in family.parameters if name not in family.shapes]
        _bound(f"stats.{family.name}", Signature([*needed, *optional]), parameters, named)

    if not TYPE_CHECKING:  # checkers shall refuse unknown names

        def __getattr__(self, name: str) -> Callable[..., Any]:
            if name.startswith("_") or name in ("dist", "args", "kwds"):
                raise AttributeError(name)
            return _method_of(self, name)

    def __repr__(self) -> str:
        parameters = [*map(repr, self.args), *(f"{name}={value!r}" for name, value in self.kwds.items())]
        return f"{self.dist!r}({', '.join(parameters)})"

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.dist.methods]


def _method_of(frozen: Frozen, name: str) -> Callable[..., Any]:
    """Return a method of a frozen distribution, which can be pickled, as a parallel map of a method needs."""
    method = getattr(frozen.dist, name)
    function = partial(_call, frozen, name)
    attributes = {"__name__": name, "__doc__": method.__doc__, "__signature__": _frozen_signature(frozen.dist, name)}
    vars(function).update(attributes)
    return function


@cache
def _frozen_signature(distribution: Distribution, method: str) -> Signature:
    """Return the signature of a method without the parameters."""
    parameters = Signature.from_callable(distribution.methods[method]).parameters.values()
    others = [each for each in parameters if each.name not in distribution._family.parameters]
    return Signature([each.replace(kind=Parameter.POSITIONAL_OR_KEYWORD) for each in others])


def _call(frozen: Frozen, name: str, /, *arguments: Any, **named: Any) -> Any:
    """Return the value of a method of a frozen distribution."""
    method = getattr(frozen.dist, name)
    signature = _frozen_signature(frozen.dist, name)
    given = _bound(f"stats.{frozen.dist.name}.{name}", signature, arguments, named).arguments
    extras = {extra for extra, _ in METHODS[name].extras}
    firsts = (value for each, value in given.items() if each not in extras)
    return method(*firsts, *frozen.args, **frozen.kwds, **{each: given[each] for each in given if each in extras})


Distribution.__doc__ = f"""{Distribution.__doc__}

Parameters of the methods broadcast, and results are entries; ``help`` of a distribution's method has the details.

Methods
-------
{_METHODS}

{_ERRORS}
"""
Frozen.__doc__ = f"""{Frozen.__doc__}

The methods are those of :class:`Distribution`. The methods check the conditions on parameters, not the call that
freezes the distribution.

Attributes
----------
dist : Distribution
    The distribution.
args : tuple
    The parameters by position.
kwds : dict
    The parameters by name.

{_ERRORS}
"""
