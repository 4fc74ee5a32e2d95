"""Marks arguments that the user promised not to change, which a compiled function compares by == and hash."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from agrad._core import Array

__all__ = ["Static", "StaticArguments"]


class Static:
    """A leaf in place of a static argument."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Static) and type(self.value) is type(other.value) and bool(self.value == other.value)

    def __hash__(self) -> int:
        return hash(self.value)

    def __repr__(self) -> str:
        return repr(self.value)

    def __reduce__(self) -> tuple[Any, ...]:
        return Static, (self.value,)


class StaticArguments:
    """The static arguments of a function, by name and place."""

    def __init__(self, function: Callable[..., Any], label: str, names: str | Sequence[str]) -> None:
        self.label, self.names = label, (names,) if isinstance(names, str) else tuple(names)
        self._function = function
        known = _parameters_of(function) if self.names else None
        for name in self.names:
            if not isinstance(name, str) or (known is not None and name not in known):
                listed = ", ".join(map(repr, known or ())) or "none"
                raise ValueError(f"{label}: static has {name!r}, but must be names of arguments; known are {listed}")
        order = list(known or ())
        self._places = {order.index(name): name for name in self.names if name in order}

    def __bool__(self) -> bool:
        return bool(self.names)

    @property
    def has_first(self) -> bool:
        """Whether the first argument is static, which is ``self`` in a method."""
        return 0 in self._places

    @property
    def of_bound_method(self) -> list[str]:
        """Returns the static arguments besides the first one."""
        return [name for name in self.names if name != self._places.get(0)]

    def name_of(self, place: int) -> str:
        """Returns the name of the argument at a place, for messages."""
        known = _parameters_of(self._function) or []
        return known[place] if place < len(known) else "name"

    def marked(self, args: tuple[Any, ...], kwargs: dict[str, Any], begin: int = 0) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Returns the arguments of a call, from place `begin` on, with the static ones as leaves; raises for a recorded one."""
        if not self.names:
            return args, kwargs
        return (
            tuple(self._leaf(f"argument {n}", x) if n + begin in self._places else x for n, x in enumerate(args)),
            {name: self._leaf(f"argument {name}", x) if name in self.names else x for name, x in kwargs.items()},
        )

    def _leaf(self, name: str, x: Any) -> Static:
        if isinstance(x, Array):
            raise TypeError(f"{self.label}: {name} is a recorded value, but must be plain, because it is static")
        try:
            hash(x)
        except TypeError:
            raise TypeError(f"{self.label}: {name} is {x!r}, but must be hashable, because it is static") from None
        return Static(x)

    def check_parameters(self, places: Sequence[int], begin: int = 0) -> None:
        """Raises where an argument that is differentiated, with these places after place `begin`, is static."""
        for place in places:
            if place + begin in self._places:
                raise TypeError(
                    f"{self.label}: argument {place} is static, but must not be, because it is differentiated; leave it out of "
                    "static or of argnums"
                )


def _parameters_of(function: Callable[..., Any]) -> list[str] | None:
    """Returns the names of the arguments in their order; None where other names are accepted or the names are unknown."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(each.kind is each.VAR_KEYWORD for each in parameters):
        return None
    return [each.name for each in parameters if each.kind is not each.VAR_POSITIONAL]
