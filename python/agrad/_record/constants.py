"""Decides which arguments of compiled functions are constants: those that do not change while a recording keeps them.

Numbers, strings, arrays of integers (which are copied) and other immutable objects that ``==`` compares by content are
constants, and so are functions, classes and modules, which are equal to themselves only.
"""

from __future__ import annotations

import functools
import re
import types
from collections.abc import Hashable
from datetime import date, time, timedelta, tzinfo
from enum import Enum
from numbers import Number
from pathlib import PurePath
from random import Random
from typing import Any
from uuid import UUID

import numpy as np

__all__ = ["advice", "is_constant"]

_IMMUTABLE = (
    Number, str, bytes, type(None), type(...), type(NotImplemented), Enum, type, range, date, time, timedelta, tzinfo, UUID,
    PurePath, re.Pattern, types.ModuleType, types.FunctionType, types.GenericAlias, types.UnionType,
    types.WrapperDescriptorType, types.MethodDescriptorType, type(functools.lru_cache(abs)), type(np.sum), np.ufunc, np.dtype,
    np.generic,
)  # fmt: skip
_OF_RANDOM_NUMBERS = (np.random.Generator, np.random.RandomState, np.random.BitGenerator, np.random.SeedSequence, Random)


def is_constant(x: Any) -> bool:
    """Returns whether a leaf of a call's arguments that is no input can be a constant of a recording."""
    if isinstance(x, np.ndarray):
        return x.dtype.kind == "T" or not x.dtype.hasobject
    if isinstance(x, slice):
        return all(map(is_constant, (x.start, x.stop, x.step)))
    if isinstance(x, frozenset):
        return all(map(is_constant, x))
    if isinstance(x, (types.MethodType, types.BuiltinFunctionType, types.MethodWrapperType)):
        return is_constant(x.__self__)
    if isinstance(x, functools.partial):
        return is_constant(x.func)
    if type(x).__module__.partition(".")[0] == "agrad":  # a transformation, a derivative by hand, a solution
        return is_constant(getattr(x, "function", None))
    return isinstance(x, _IMMUTABLE) or type(x) is object


def advice(x: Any, name: str) -> str:
    """Returns the text what to write instead of an object that is no constant, as an argument with this name."""
    kind = type(x).__name__
    if isinstance(x, _OF_RANDOM_NUMBERS):
        return "draw the random numbers outside of the function, and pass the numbers"
    if isinstance(x, (types.MethodType, types.BuiltinFunctionType)):
        if isinstance(x.__self__, _OF_RANDOM_NUMBERS):
            return advice(x.__self__, name)
        return f"pass the {type(x.__self__).__name__} as an argument by itself, and call its method in the function"
    if isinstance(x, (set, bytearray)):
        return f"write {'frozenset' if isinstance(x, set) else 'bytes'}(...) of it"
    if hasattr(x, "toarray"):  # a sparse matrix
        return "write toarray() of it, or read the matrix in the function from around it"
    own = f"make {kind} a dataclass or register it by ag.register_tree({kind})"
    if not isinstance(x, Hashable):
        return own
    return f"{own}, or promise that it does not change by ag.compile(f, static={name!r})"
