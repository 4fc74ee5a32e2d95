"""Draws random numbers in SciPy's terms: by the rule's function, whose arguments follow from SciPy's parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from agrad import random
from agrad._core import DomainError
from agrad._random.sampler import NO_DERIVATIVE, generator, shape_of
from agrad._record.errors import with_message
from agrad._record.structure import find_recording
from agrad._stats.call import Call
from agrad._stats.families import Family

__all__ = ["draws"]

_MOST = 2.0**53


def draws(family: Family) -> Callable[..., Any] | None:
    """Return the function that draws from a family; None if its rule has no random numbers."""
    rng_of_rule = family.draw or getattr(random, f"{family.rule}_rng", None)
    if rng_of_rule is None:
        return None
    name = f"stats.{family.name}.rvs"

    def of(values: Sequence[Any], size: Any, random_state: Any) -> Any:
        for parameter, value in zip(family.parameters, values, strict=True):
            if find_recording(value) is not None:
                raise TypeError(f"{name}: {parameter} is a recorded value, {NO_DERIVATIVE}")
        call = Call(family, "rvs", values)
        rng = generator(name, random_state, "random_state")
        shape = shape_of(name, size, {"all": call.shape})
        try:
            draw = rng_of_rule(*call.arguments_of(family.density), rng=rng, size=shape)
        except DomainError as error:
            raise with_message(error, f"{name}: {error}") from None
        if family.is_discrete and np.all((np.floor(call.loc) == call.loc) & (np.abs(call.loc) <= _MOST)):
            return draw + np.asarray(call.loc).astype(np.int64)
        return call.to_x(draw)

    return of
