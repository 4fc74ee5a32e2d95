"""Moments and entropies of calls: the rows of the table, to which loc and scale are applied."""

from __future__ import annotations

from typing import Any

import numpy as np

from agrad._record.structure import find_recording
from agrad._stats.call import Call
from agrad._stats.moment_rows import MOMENTS

__all__ = ["LETTERS", "moment", "statistics"]

#: SciPy's letters of the moments.
LETTERS = {"m": "mean", "v": "var", "s": "skew", "k": "kurtosis"}


def _real(x: Any) -> Any:
    return x if find_recording(x) is not None else np.asarray(x, dtype=float)[()]


def _with_loc_and_scale(call: Call, which: str, y: Any) -> Any:
    scale, is_scaled = call.scale, not (isinstance(call.scale, int) and call.scale == 1)
    if which == "mean":
        y = y * scale if is_scaled else y
        return y if isinstance(call.loc, int) and call.loc == 0 else y + call.loc
    if which == "std":
        y = np.sqrt(y)
    if which in ("var", "std") and is_scaled:
        return y * scale * scale if which == "var" else y * scale
    return y + np.log(scale) if which == "entropy" and is_scaled else y


def moment(call: Call, which: str) -> Any:
    """Return a moment that the family has, of the shape to which the parameters broadcast."""
    of = MOMENTS[call.family.name].of(which)
    assert of is not None
    with np.errstate(all="ignore"):  # what has no value is inf or nan
        return call.filled(_with_loc_and_scale(call, which, _real(of(*map(_real, call.shapes)))))


def statistics(call: Call, letters: Any) -> Any:
    """Return the moments of these letters: one alone, or a tuple in the order m, v, s, k."""
    row = MOMENTS[call.family.name]
    known = "".join(letter for letter, which in LETTERS.items() if row.of(which) is not None)
    if not isinstance(letters, str) or not letters or not set(letters) <= set(known):
        hint = "" if known == "mvsk" else "; the others have no closed form"
        raise ValueError(f"{call.name}: moments is {letters!r}, but must be letters of {known!r}{hint}")
    found = [moment(call, which) for letter, which in LETTERS.items() if letter in letters]
    return tuple(found) if len(found) > 1 else found[0]
