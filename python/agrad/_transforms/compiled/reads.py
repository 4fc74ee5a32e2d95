"""Compares the values that a function reads beside its arguments, at the recordings of its paths.

A recording keeps the values of variables that the function closes over, of globals, and of attributes of these. Paths that were
recorded for other values of them are paths of two functions. A value that changes while the function is recorded, such as a
counter of calls, is a side effect and not compared.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import types
from collections.abc import Mapping, Sequence
from typing import Any

from agrad._record.nested import has_recorded
from agrad._transforms.compiled.code import named_by
from agrad._transforms.compiled.seal import described

__all__ = ["Reads", "check_same", "names_recorded", "reads_of", "unchanged"]

#: The checksums of values by the place where they are read; None for one that changed while it was recorded.
Reads = dict[tuple[str, int], str | None]
_MOST_PARTS = 100_000  # of the description of a list or dict, behind which changes are not found


def reads_of(functions: Sequence[types.FunctionType]) -> Reads:
    """Returns the checksums of the values that functions name."""
    found: Reads = {}
    for n, function in enumerate(functions):
        for name, value in named_by(function).items():
            if not isinstance(value, types.ModuleType) and not callable(value):
                found[name, n] = _checksum(value)
    return found


def names_recorded(functions: Sequence[types.FunctionType]) -> bool:
    """Returns whether functions name a recorded value, or a structure with one."""
    for function in functions:
        for value in named_by(function).values():
            with contextlib.suppress(RecursionError):  # of a list that contains itself
                if has_recorded(value):
                    return True
    return False


def _checksum(value: Any) -> str:
    sum_of = hashlib.blake2b(digest_size=8)
    with contextlib.suppress(RecursionError):  # of a list that contains itself
        for part in itertools.islice(described(value), _MOST_PARTS):
            sum_of.update(part)
    return sum_of.hexdigest()


def unchanged(before: Reads, after: Reads) -> Reads:
    """Returns the checksums, None where a value changed."""
    return {place: checksum if after.get(place) == checksum else None for place, checksum in before.items()}


def check_same(label: str, now: Reads, earlier: Sequence[Mapping[tuple[str, int], str | None]]) -> None:
    """Raises where a value is another one than at the recording of an earlier path."""
    for reads in earlier:
        for place in now.keys() & reads.keys():
            if now[place] != reads[place] and None not in (now[place], *(each.get(place, "") for each in earlier)):
                raise RuntimeError(
                    f"{label}: {place[0]} has another value than at the recording of an earlier path, but must have the same, "
                    f"because recordings keep it; pass {place[0]} as an argument, or compile the function again"
                )
